/* Ctrl-C: once to end well, twice to end now. Files are written whole or not at all by
 * the library, so ending at any moment leaves none half written. */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupts, nothing_to_lose;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    if (interrupts++ > 0 || nothing_to_lose)
        _exit(CLI_INTERRUPTED);
}

void cli_nothing_to_lose(int yes)
{
    nothing_to_lose = yes;
}

int cli_interrupted(void)
{
    return interrupts > 0;
}

static const vem_ctx *volatile watched;

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

void cli_signals_begin(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    struct sigaction inherited;
    sigemptyset(&action.sa_mask);
    /* A shell that runs us in the background, or nohup, has Ctrl-C ignored: leave it so.
     */
    if (sigaction(SIGINT, NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
    /* A file that grows beyond the limit is an error of that file, with a sentence. */
    signal(SIGXFSZ, SIG_IGN);
}
