/* vem VERB ...: finds the verb and runs it. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "step.h"

const cli_command *const cli_commands[] = {&cli_fit,      &cli_predict, &cli_score,
                                           &cli_describe, &cli_sample,  &cli_update,
                                           &cli_select,   &cli_tree,    &cli_coreset,
                                           &cli_seed,     &cli_step,    &cli_merge,
                                           &cli_generate, &cli_info,    NULL};

const char *cli_program = "vem";

static const cli_command *find_command(const char *name)
{
    for (int i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

static int unknown_command(const char *word)
{
    const char *names[16];
    int count = 0;
    for (; cli_commands[count]; count++)
        names[count] = cli_commands[count]->name;
    char hint[128];
    cli_error("there is no command %s%s", word,
              vem_name_hint(word, names, count, "", "; \"vem --help\" lists them.",
                            hint));
    return CLI_USAGE;
}

static vem_ctx *new_context(void)
{
    vem_ctx *ctx = NULL;
    const vem_status status = vem_ctx_new(&ctx);
    const char *cpu = getenv("VEM_CPU");
    if (status == VEM_UNSUPPORTED && cpu)
        cli_error("VEM_CPU is \"%s\", which this machine or this build does not have.",
                  cpu);
    else if (status != VEM_OK)
        cli_error("failed: %s.", vem_status_name(status));
    vem_ctx_set_dashes(ctx, 1);
    if (status == VEM_OK && cli_processes_join(ctx) != VEM_OK) {
        cli_error("%s", vem_ctx_message(ctx));
        vem_ctx_free(ctx);
        return NULL;
    }
    return status == VEM_OK ? ctx : NULL;
}

int cli_run_command(const cli_command *command, int count, char **words)
{
    /* From the first moment on a signal has its status (128 + its number); until there is
     * progress to tell, which comes before anything is written, it ends the command at once. */
    cli_nothing_to_lose(1);
    cli_signals_begin(1);
    cli_args args = {.command = command, .ctx = new_context()};
    if (!args.ctx)
        return CLI_FAILED;
    vem_options_init(&args.options);
    int code = cli_parse(&args, count, words);
    if (code == CLI_DONE && !args.wants_help)
        code = cli_expand(&args);
    else
        args.operand_count = 0; /* words of ours, not to be freed */
    if (code == CLI_DONE && args.wants_help) {
        cli_help_command(stdout, command);
    } else if (code == CLI_DONE) {
        const int64_t threads = args.options.threads, memory = args.options.memory;
        vem_status status =
            vem_ctx_set_threads(args.ctx, threads == VEM_AUTO ? 0 : (int)threads);
        const int had = vem_ctx_threads(args.ctx);
        if (status == VEM_OK && threads > had)
            cli_error("only %d of %lld threads could be had; the result is the same.",
                      had, (long long)threads);
        if (status == VEM_OK && memory != VEM_AUTO) {
            status = vem_ctx_set_memory(args.ctx, memory);
            /* What is freed goes back to the system and does not count any more. */
            mallopt(M_MMAP_THRESHOLD, 1 << 18);
            mallopt(M_TRIM_THRESHOLD, 1 << 18);
        }
        cli_watch_inputs(args.ctx);
        code = status == VEM_OK ? CLI_DONE : cli_failure(&args, status);
        if (code == CLI_DONE)
            code = cli_check_files(&args);
        if (code == CLI_DONE)
            code = command->run(&args);
        cli_progress_end();
        cli_watch_inputs(NULL);
    }
    cli_forget(&args);
    vem_ctx_free(args.ctx);
    return code;
}

static int run(int count, char **words)
{
    if (count < 2) {
        cli_help_all(stderr);
        return CLI_USAGE;
    }
    const char *word = words[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
        strcmp(word, "help") == 0) {
        if (count < 3) {
            cli_help_all(stdout);
            return CLI_DONE;
        }
        const cli_command *command = find_command(words[2]);
        if (!command)
            return unknown_command(words[2]);
        cli_help_command(stdout, command);
        return CLI_DONE;
    }
    if (strcmp(word, "--version") == 0) {
        printf("vem %s\n", vem_version());
        return CLI_DONE;
    }
    if (strcmp(word, "--man") == 0) {
        const cli_command *command = count > 2 ? find_command(words[2]) : NULL;
        if (command)
            cli_man_command(stdout, command);
        else if (count < 3)
            cli_man_page(stdout);
        else
            return unknown_command(words[2]);
        return CLI_DONE;
    }
    if (strcmp(word, "--completion") == 0)
        return cli_complete(stdout, count > 2 ? words[2] : "");
    const cli_command *command = find_command(word);
    if (!command && word[0] == '-') {
        cli_error("there is no option %s before a command; \"vem --help\" helps.", word);
        return CLI_USAGE;
    }
    if (command && command != &cli_fit && command != &cli_select &&
        command != &cli_coreset && command != &cli_predict && command != &cli_score &&
        cli_processes() > 1) {
        cli_error("vem fit, select, coreset, predict and score run over several "
                  "processes; run vem %s without mpirun.",
                  command->name);
        return CLI_USAGE;
    }
    return command ? cli_run_command(command, count - 2, words + 2)
                   : unknown_command(word);
}

/* Threads of libgomp that wait for others spin about a millisecond before they sleep, which on a
 * machine with other work holds up the very thread they wait for (docs/long-runs.md has the
 * numbers). It reads how long they may spin when it is loaded, before main, so the program
 * begins again with that in its environment. Where that cannot be, it goes on as it is. */
static void spin_less(char **words)
{
    char path[4096];
    if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY"))
        return;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || length == (ssize_t)sizeof path - 1 ||
        setenv("GOMP_SPINCOUNT", "10000", 1) != 0)
        return;
    path[length] = '\0';
    execv(path, words);
}

int main(int count, char **words)
{
    spin_less(words);
    if (count > 0)
        cli_program = words[0];
    cli_processes_begin(&count, &words);
    const int code = cli_processes_end(run(count, words));
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_error("standard output could not be written: %s.",
                  errno ? strerror(errno) : "a write failed");
        return code == CLI_DONE ? CLI_FAILED : code;
    }
    return code;
}
