/* Ctrl-C: once to end well, twice to end now. Files are written whole or not at all by
 * the library, so ending at any moment leaves none half written. */
#include <signal.h>
#include <stddef.h>
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
