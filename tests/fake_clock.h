/* A vem_i_clock of the test program's own, instead of src/base/clock.c: it stands still,
 * moves with every look at it, or jumps at the k-th. For one file of a program. */
#ifndef VEM_TESTS_FAKE_CLOCK_H
#define VEM_TESTS_FAKE_CLOCK_H

#include "base/run.h"

static double fake_now = 1000;
static _Atomic int64_t fake_looks;
static int64_t fake_jump_at;   /* 0: never */
static double fake_jump = 1e6; /* seconds */
static double fake_tick;       /* seconds that a look takes */

double vem_i_clock(void)
{
    const int64_t look = ++fake_looks;
    return fake_now + fake_tick * (double)look +
           (fake_jump_at > 0 && look >= fake_jump_at ? fake_jump : 0);
}

#endif
