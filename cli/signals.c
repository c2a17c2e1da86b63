/* Ctrl-C, and likewise a request to terminate or a terminal that goes away: once to end well,
 * twice to end now. Files are written whole or not at all by the library, so ending at any
 * moment leaves none half written. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupts, nothing_to_lose, answers, on_terminal;
static volatile sig_atomic_t never_to_lose; /* nor later */
static volatile sig_atomic_t first_signal;  /* the one that asked to end */
static volatile sig_atomic_t in_steps; /* of a fit, which then has a model to write */

static void put(const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        const ssize_t done = write(STDERR_FILENO, text, left);
        if (done <= 0)
            return;
        text += done;
        left -= (size_t)done;
    }
}

/* Answers at once, whatever the command is doing; on a terminal on a line of its own. */
static void on_interrupt(int signal_number)
{
    const int error = errno;
    if (on_terminal)
        put("\r\033[K");
    if (interrupts++ > 0 || nothing_to_lose || never_to_lose)
        _exit(128 + signal_number);
    first_signal = signal_number;
    if (answers) {
        put(signal_number == SIGINT ? "vem: " : "vem: asked to terminate: ");
        put(in_steps ? "ending after this step with a model; " : "ending; ");
        put(signal_number == SIGINT ? "Ctrl-C again" : "a second time");
        put(in_steps ? " quits now, without one\n" : " quits now\n");
    }
    errno = error;
}

int cli_interrupt_status(void)
{
    return 128 + (first_signal ? (int)first_signal : SIGINT);
}

const char *cli_interrupt_name(void)
{
    return first_signal == SIGTERM  ? "SIGTERM"
           : first_signal == SIGHUP ? "SIGHUP"
                                    : "Ctrl-C";
}

void cli_signals_in_steps(int yes)
{
    in_steps = yes;
}

void cli_nothing_to_lose(int yes)
{
    nothing_to_lose = yes;
}

void cli_never_to_lose(void)
{
    never_to_lose = 1;
}

int cli_interrupted(void)
{
    return interrupts > 0;
}

static const vem_ctx *volatile watched;

/* A page of a mapped file that is no longer there. Outputs are begun when all input has been
 * read, and have no name before they are whole, so there is nothing to clean up. */
static void on_lost_page(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    const char *path = vem_ctx_mapped_file(watched, info->si_addr);
    if (path) {
        static atomic_flag spoken = ATOMIC_FLAG_INIT;
        while (atomic_flag_test_and_set(&spoken))
            pause(); /* another thread met it first and is about to end us */
        put("vem: ");
        put(path);
        put(" became shorter while it was read, or its disk failed.\n");
        _exit(CLI_FAILED);
    }
    signal(signal_number, SIG_DFL); /* not ours: the instruction meets it again */
}

void cli_watch_inputs(const vem_ctx *ctx)
{
    struct sigaction action = {.sa_sigaction = on_lost_page, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    watched = ctx;
    sigaction(SIGBUS, &action, NULL);
}

void cli_signals_begin(int quiet)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    enum { ENDS = sizeof ends / sizeof *ends };
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    struct sigaction inherited;
    answers = !quiet;
    on_terminal = !quiet && isatty(STDERR_FILENO);
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < ENDS; i++)
        sigaddset(&action.sa_mask, ends[i]);
    /* A shell that runs us in the background has Ctrl-C ignored, and nohup the loss of the
     * terminal: leave it so. */
    for (int i = 0; i < ENDS; i++)
        if (sigaction(ends[i], NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    /* A file that grows beyond the limit is an error of that file, with a sentence. */
    signal(SIGXFSZ, SIG_IGN);
}
