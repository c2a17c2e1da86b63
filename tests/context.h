/* One context for the tests of a program; CONTEXT_THREADS, defined before, sets its threads
 * where their number is not left to the machine. */
#ifndef VEM_TESTS_CONTEXT_H
#define VEM_TESTS_CONTEXT_H

#include "grid.h"

static vem_ctx *ctx;

static int set_up(void **state)
{
    (void)state;
    if (vem_ctx_new(&ctx) != VEM_OK)
        return -1;
    vem_ctx_set_dashes(ctx, 1);
#ifdef CONTEXT_THREADS
    return vem_ctx_set_threads(ctx, CONTEXT_THREADS) == VEM_OK ? 0 : -1;
#else
    return 0;
#endif
}

static int tear_down(void **state)
{
    (void)state;
    vem_ctx_free(ctx);
    return 0;
}

#endif
