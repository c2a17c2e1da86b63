/* Alone in its file: a test program that brings a clock of its own is linked without it. */
#include <time.h>

#include "base/run.h"

double vem_i_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
