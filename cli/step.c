/* vem step STATE: a fit in parts that any scheduler calls.
 *
 * STATE is a small JSON file: how many parts there are, the words of vem fit, and where it was begun. What
 * parts say and keep is in the folder STATE.parts (vem/parts.h). `vem step STATE` only looks there and says
 * which parts are to be called; `vem step STATE --part I` is vem fit with these words as part I. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "step.h"

#define IO "Input and output"
enum { MOST_PARTS = 64 };

static const cli_option own[] = {
    {"parts", 0, "Parts", "N",
     "begin: cut the rows into so many parts, 1 to 64; the words of vem fit come last, "
     "behind --"},
    {"part", 0, "Parts", "I", "do what part I has to do, as far as it can go on alone"},
    {"wait", 0, "Parts", "SECONDS",
     "a part waits so long for what others have not said yet; where all run at the same "
     "time none ends before it is done; default 0"},
    {"again", 0, "Parts", NULL, "call parts again that have failed"},
    {"json", 0, IO, NULL, "print what is to be done as one JSON object"},
    {"quiet", 'q', IO, NULL, "print the commands and nothing else"},
};

static const char *const shared[] = {NULL};

typedef struct step {
    cli_args *args;
    json_t *state; /* what the file says */
    char path[PATH_MAX], folder[PATH_MAX + 16];
    int32_t parts;
    double wait;
} step;

/* ---- the file ---- */

static const char *text_of(const step *s, const char *name)
{
    const char *text = json_string_value(json_object_get(s->state, name));
    return text ? text : "";
}

/* CLI_DONE also where there is none: then s->state is NULL. */
static int read_state(step *s)
{
    const char *path = s->args->operands[0];
    json_error_t error;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return CLI_DONE;
    s->state = json_load_file(path, 0, &error);
    const json_t *words = json_object_get(s->state, "words");
    const json_int_t parts = json_integer_value(json_object_get(s->state, "parts"));
    int sound = json_is_array(words) && json_array_size(words) >= 1 && parts >= 1 &&
                parts <= MOST_PARTS && *text_of(s, "folder") == '/';
    for (size_t i = 0; sound && i < json_array_size(words); i++)
        sound = json_is_string(json_array_get(words, i));
    if (!sound) {
        cli_error("%s is no state of vem step.", path);
        return CLI_FAILED;
    }
    if (strcmp(text_of(s, "version"), vem_version()) != 0) {
        cli_error("%s was begun by vem %s, and this is vem %s, which may not go on with "
                  "it.",
                  path, text_of(s, "version"), vem_version());
        return CLI_FAILED;
    }
    if (!realpath(path, s->path)) {
        cli_error("%s could not be opened: %s.", path, cli_reason(errno));
        return CLI_FAILED;
    }
    snprintf(s->folder, sizeof s->folder, "%s.parts", s->path);
    s->parts = (int32_t)parts;
    return CLI_DONE;
}

static int write_state(const step *s, const json_t *state)
{
    char other[PATH_MAX];
    const char *path = s->args->operands[0];
    snprintf(other, sizeof other, "%.4000s.part", path);
    if (json_dump_file(state, other, JSON_INDENT(1)) == 0 && rename(other, path) == 0)
        return CLI_DONE;
    cli_error("%s could not be written: %s.", path, strerror(errno));
    unlink(other);
    return CLI_FAILED;
}

/* ---- beginning ---- */

/* Are these words of a fit in parts? Then which model it writes. */
static int check_words(const step *s, int count, char **words, char output[PATH_MAX])
{
    char **copy = malloc((size_t)(count + 1) * sizeof *copy);
    cli_args fit = {.command = &cli_fit, .ctx = s->args->ctx};
    static const char *const refused[] = {"checkpoint", "resume", "accumulate", "part"};
    if (!copy) {
        cli_error("memory for %d words could not be had.", count);
        return CLI_FAILED;
    }
    memcpy(copy, words, (size_t)count * sizeof *copy);
    vem_options_init(&fit.options);
    int code = cli_parse(&fit, count, copy);
    for (size_t i = 0; code == CLI_DONE && i < sizeof refused / sizeof *refused; i++)
        if (cli_value(&fit, refused[i])) {
            cli_error("--%s has no place in a fit in parts, each of which keeps its own "
                      "state.",
                      refused[i]);
            code = CLI_USAGE;
        }
    for (int i = 0; code == CLI_DONE && i < count; i++)
        if (strcmp(words[i], "-") == 0 || strcmp(words[i], "/dev/stdin") == 0) {
            cli_error("every part reads the data again, which standard input cannot do: "
                      "name a file.");
            code = CLI_USAGE;
        }
    if (code == CLI_DONE && fit.options.time != VEM_AUTO) {
        cli_error(
            "--time is by a clock, and parts have none in common: say --max-steps.");
        code = CLI_USAGE;
    } else if (code == CLI_DONE && fit.numbers) {
        cli_error("parts fit one number of clusters, not -k %s.", fit.numbers);
        code = CLI_USAGE;
    } else if (code == CLI_DONE && (!cli_value(&fit, "output") || fit.wants_help)) {
        cli_error("the file to write is missing: name it behind -- with -o MODEL.npz.");
        code = CLI_USAGE;
    }
    if (code == CLI_DONE)
        snprintf(output, PATH_MAX, "%s", cli_value(&fit, "output"));
    free(copy);
    return code;
}

/* Is something there that parts have left? Files done.I outlive their fit, and its state. */
static int has_files(const char *folder)
{
    int has = 0;
    DIR *listing = opendir(folder);
    for (const struct dirent *e; listing && !has && (e = readdir(listing));)
        has = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (listing)
        closedir(listing);
    return has;
}

static int begin(step *s)
{
    cli_args *args = s->args;
    int64_t parts = 0;
    char output[PATH_MAX] = "", folder[PATH_MAX];
    int code = cli_read_whole(args, "parts", MOST_PARTS, &parts);
    if (code == CLI_DONE)
        code = check_words(s, args->operand_count - 1, args->operands + 1, output);
    if (code != CLI_DONE)
        return code;
    if (!getcwd(folder, sizeof folder)) {
        cli_error("the current folder could not be found: %s.", strerror(errno));
        return CLI_FAILED;
    }
    json_t *state = json_object(), *words = json_array();
    for (int i = 1; i < args->operand_count; i++)
        json_array_append_new(words, cli_json_text(args->operands[i]));
    json_object_set_new(state, "version", json_string(vem_version()));
    json_object_set_new(state, "parts", json_integer(parts));
    json_object_set_new(state, "words", words);
    json_object_set_new(state, "folder", cli_json_text(folder));
    json_object_set_new(state, "output", cli_json_text(output));
    if (s->state && !json_equal(state, s->state)) {
        cli_error("%s is of another fit (other parts, words or folder); remove it, and "
                  "%s.parts, to begin this one.",
                  args->operands[0], args->operands[0]);
        code = CLI_FAILED;
    } else if (!s->state) {
        snprintf(folder, sizeof folder, "%.4000s.parts", args->operands[0]);
        if (has_files(folder)) {
            cli_error("%s is not there, but %s has files of an earlier fit; remove it to "
                      "begin this one.",
                      args->operands[0], folder);
            code = CLI_FAILED;
        }
        if (code == CLI_DONE)
            code = write_state(s, state);
        if (code == CLI_DONE)
            code = read_state(s);
    }
    json_decref(state);
    return code;
}

/* ---- a part ---- */

static struct {
    vem_parts_options options;
    vem_ctx *ctx;
    int quiet;
} working;

static int fail_part(const char *sentence)
{
    vem_parts_end(working.ctx, &working.options, sentence);
    return CLI_FAILED;
}

/* Nothing that is written half is lost by this: files come whole, by another name first. */
static void leave(void *user, int32_t awaited, const char *sentence)
{
    (void)user;
    int code = CLI_MORE;
    cli_progress_end();
    if (awaited > 0 && !working.quiet)
        fprintf(stderr, "vem step: part %d waits for part %d\n", working.options.part,
                awaited);
    if (awaited == 0) {
        cli_error("%s", sentence);
        code = fail_part(sentence);
    }
    fflush(stdout);
    fflush(stderr);
    _exit(code);
}

/* Then what it said and kept may be gone already, and it would wait for all of it. */
static int is_done(const step *s, int64_t part)
{
    vem_part_state states[MOST_PARTS];
    char sentence[1024];
    return vem_parts_look(s->args->ctx, s->folder, s->parts, states, sentence,
                          sizeof sentence) == VEM_OK &&
           states[part - 1] == VEM_PART_DONE;
}

static int work(step *s, int64_t part)
{
    const json_t *list = json_object_get(s->state, "words");
    const int count = (int)json_array_size(list);
    if (is_done(s, part)) {
        if (!cli_value(s->args, "quiet"))
            fprintf(stderr, "vem step: part %d is done\n", (int)part);
        return CLI_DONE;
    }
    char **words = malloc((size_t)(count + 2) * sizeof *words), quiet[] = "-q";
    if (chdir(text_of(s, "folder")) != 0) {
        cli_error("%s, where the fit was begun, is not here: %s.", text_of(s, "folder"),
                  strerror(errno));
        free(words);
        return CLI_FAILED;
    }
    if (!words) {
        cli_error("memory for %d words could not be had.", count);
        return CLI_FAILED;
    }
    working.ctx = s->args->ctx;
    working.quiet = cli_value(s->args, "quiet") != NULL;
    working.options = (vem_parts_options){.size = sizeof working.options,
                                          .folder = s->folder,
                                          .part = (int32_t)part,
                                          .parts = s->parts,
                                          .wait = s->wait,
                                          .leaves = leave};
    for (int i = 0; i < count; i++) {
        const char *word = json_string_value(json_array_get(list, (size_t)i));
        memcpy(&words[i], &word, sizeof word); /* drops the const: nobody writes there */
    }
    words[count] = quiet;
    cli_processes_part(&working.options);
    cli_never_to_lose(); /* it may wait for hours, and its last step is kept */
    int code = cli_run_command(&cli_fit, count + (part > 1 || working.quiet), words);
    if (code == CLI_DONE && vem_parts_end(working.ctx, &working.options, NULL) != VEM_OK)
        code = cli_failure(s->args, VEM_IO_ERROR);
    else if (code == CLI_FAILED || code == CLI_USAGE)
        code = fail_part(cli_last_error());
    free(words);
    return code;
}

/* ---- what is to be done ---- */

/* A word as a shell reads it. */
static void quote(const char *word, char *out, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./,:@%";
    size_t used = 0;
    if (*word && word[strspn(word, plain)] == '\0') {
        snprintf(out, size, "%s", word);
        return;
    }
    out[used++] = '\'';
    for (; *word && used + 8 < size; word++) {
        if (*word != '\'') {
            out[used++] = *word;
            continue;
        }
        memcpy(out + used, "'\\''", 4);
        used += 4;
    }
    out[used++] = '\'';
    out[used] = '\0';
}

static void command_of(const step *s, int part, char *text, size_t size)
{
    char program[2 * PATH_MAX], path[2 * PATH_MAX], wait[64] = "";
    const char *given = getenv("VEM"); /* as the scripts of examples/ have it */
    quote(given && *given ? given : cli_program, program, sizeof program);
    quote(s->path, path, sizeof path);
    if (s->wait > 0)
        snprintf(wait, sizeof wait, " --wait %s", cli_value(s->args, "wait"));
    snprintf(text, size, "%s step %s --part %d%s%s", program, path, part, wait,
             cli_value(s->args, "quiet") ? " -q" : "");
}

static const char *const names[] = {[VEM_PART_CALL] = "call",
                                    [VEM_PART_WAITS] = "waits",
                                    [VEM_PART_DONE] = "done",
                                    [VEM_PART_FAILED] = "failed"};

static int tell_json(const step *s, const vem_part_state *states, const char *sentence,
                     int code)
{
    char text[5 * PATH_MAX];
    json_t *o = cli_json_begin(s->args), *calls = json_array();
    for (int p = 0; p < s->parts; p++) {
        json_t *call = json_object();
        json_object_set_new(call, "part", json_integer(p + 1));
        json_object_set_new(call, "state", json_string(names[states[p]]));
        command_of(s, p + 1, text, sizeof text);
        json_object_set_new(call, "command",
                            states[p] == VEM_PART_CALL ? cli_json_text(text)
                                                       : json_null());
        json_array_append_new(calls, call);
    }
    json_object_set_new(o, "state",
                        json_string(code == CLI_DONE   ? "done"
                                    : code == CLI_MORE ? "more"
                                                       : "failed"));
    json_object_set_new(o, "parts", calls);
    json_object_set_new(o, "output", cli_json_text(text_of(s, "output")));
    json_object_set_new(o, "failure", *sentence ? cli_json_text(sentence) : json_null());
    const int printed = cli_json_print(o);
    return printed == CLI_DONE ? code : printed;
}

static int tell_words(const step *s, const vem_part_state *states, const char *sentence,
                      int code)
{
    char text[5 * PATH_MAX], a[48];
    int32_t counts[4] = {0};
    for (int p = 0; p < s->parts; p++) {
        counts[states[p]]++;
        command_of(s, p + 1, text, sizeof text);
        if (code == CLI_MORE && states[p] == VEM_PART_CALL)
            printf("%s\n", text);
    }
    fflush(stdout);
    if (code == CLI_FAILED)
        cli_error("%s failed: %s --again calls it once more.",
                  cli_counted(counts[VEM_PART_FAILED], "part", a),
                  *sentence ? sentence : "nobody knows why.");
    else if (!cli_value(s->args, "quiet"))
        fprintf(stderr,
                code == CLI_DONE
                    ? "vem step: done; %s is written\n"
                    : "vem step %s: of %d parts %d to be called, %d waiting, %d done\n",
                code == CLI_DONE ? text_of(s, "output") : s->args->operands[0], s->parts,
                counts[VEM_PART_CALL], counts[VEM_PART_WAITS], counts[VEM_PART_DONE]);
    return code;
}

static int look(const step *s)
{
    vem_part_state states[MOST_PARTS];
    char sentence[1024] = "";
    int32_t done = 0, failed = 0;
    vem_status status = VEM_OK;
    if (cli_value(s->args, "again"))
        status = vem_parts_clear(s->args->ctx, s->folder, s->parts, 0);
    if (status == VEM_OK)
        status = vem_parts_look(s->args->ctx, s->folder, s->parts, states, sentence,
                                sizeof sentence);
    for (int p = 0; status == VEM_OK && p < s->parts; p++) {
        done += states[p] == VEM_PART_DONE;
        failed += states[p] == VEM_PART_FAILED;
    }
    if (status == VEM_OK && done == s->parts)
        status = vem_parts_clear(s->args->ctx, s->folder, s->parts, 1);
    if (status != VEM_OK)
        return cli_failure(s->args, status);
    const int code = failed ? CLI_FAILED : done == s->parts ? CLI_DONE : CLI_MORE;
    return cli_value(s->args, "json") ? tell_json(s, states, sentence, code)
                                      : tell_words(s, states, sentence, code);
}

/* ---- the command ---- */

static int read_wait(step *s)
{
    const char *text = cli_value(s->args, "wait");
    char *end;
    if (!text)
        return CLI_DONE;
    s->wait = strtod(text, &end);
    if (end != text && *end == '\0' && s->wait >= 0 && s->wait < 1e9)
        return CLI_DONE;
    cli_error("--wait is %s, but it must be a number of seconds, not negative.", text);
    return CLI_USAGE;
}

static int do_step(step *s)
{
    cli_args *args = s->args;
    const int begins = cli_value(args, "parts") != NULL;
    int64_t part = 0;
    int code = read_wait(s);
    if (code == CLI_DONE)
        code = cli_read_whole(args, "part", MOST_PARTS, &part);
    if (code == CLI_DONE)
        code = read_state(s);
    if (code != CLI_DONE)
        return code;
    if (begins != (args->operand_count > 1)) {
        cli_error(begins ? "the words of vem fit are missing: put them behind --."
                         : "words of vem fit begin a fit in parts: say --parts N, too.");
        return CLI_USAGE;
    }
    if (begins)
        code = begin(s);
    else if (!s->state) {
        cli_error("%s is not there: --parts N -- DATA -k C -o MODEL.npz begins a fit in "
                  "parts.",
                  args->operands[0]);
        code = CLI_USAGE;
    }
    if (code == CLI_DONE && part > s->parts) {
        cli_error("--part is %d, but there are %d.", (int)part, s->parts);
        code = CLI_USAGE;
    }
    if (code != CLI_DONE)
        return code;
    return part > 0 ? work(s, part) : look(s);
}

static int run(cli_args *args)
{
    step s = {.args = args};
    const int code = do_step(&s);
    json_decref(s.state);
    return code;
}

const cli_command cli_step = {
    .name = "step",
    .operands = "STATE",
    .purpose = "a fit in parts, called by any scheduler, with the bits of vem fit",
    .details =
        "vem step STATE --parts N -- WORDS begins the fit that vem fit WORDS makes, in "
        "N\n"
        "parts, and writes STATE. After that vem step STATE prints the commands that can "
        "be\n"
        "run now, one in a line, and ends with status 10; 0: the fit is done, and its "
        "files\n"
        "are written; 1: a part has failed, and why. Each command does one part as far "
        "as\n"
        "it can go on alone (vem step STATE --part I; status 0: it is done, 10: it waits "
        "for\n"
        "others). They may run in any order, one by one or at the same time, on any\n"
        "machines that see STATE, its folder STATE.parts and the data under the same "
        "names.\n"
        "They begin with $VEM, or with the name by which this command was called.\n"
        "A command that was lost is printed again, and goes on from its last step; one "
        "that\n"
        "runs twice does no harm; a part that says something else than before, as its "
        "rows\n"
        "or its build changed, is refused.\n"
        "Where all parts run at the same time, --wait 600 makes each wait for the "
        "others\n"
        "instead of ending, so that one round is the whole fit.\n"
        "Model, labels and trace have the bits of vem fit WORDS, for any N: families,\n"
        "searches, seedings and swaps that several processes have (docs/math/\n"
        "many-machines.md); what they have not is refused.\n",
    .examples =
        "  vem step fit.step --parts 8 -- rows.npy -k 100 --algorithm kmeans -o m.npz\n"
        "  while vem step fit.step >todo; [ $? -eq 10 ]; do parallel -j 4 <todo; done\n"
        "  vem step fit.step --json\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .shared = shared,
    .operand_count = 1,
    .more_operands = 1,
    .run = run,
};
