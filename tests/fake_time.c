/* A clock for the command, put before the system's with LD_PRELOAD: every look at it takes
 * VEM_FAKE_TICK seconds (0: it stands still), so that what a command does by the clock is
 * the same on any machine, however busy. The look of number VEM_FAKE_KILL is the last. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now);

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static _Atomic long long looks;
    if (clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, now);
    const char *text = getenv("VEM_FAKE_TICK"), *last = getenv("VEM_FAKE_KILL");
    const long long look = ++looks;
    if (last && look == atoll(last))
        kill(getpid(), SIGKILL);
    const double seconds = 1000 + (double)look * (text ? strtod(text, NULL) : 0);
    now->tv_sec = (time_t)seconds;
    now->tv_nsec = (long)((seconds - (double)now->tv_sec) * 1e9);
    return 0;
}
