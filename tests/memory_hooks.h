/* A posix_memalign of the test program's own, the one function the library's allocator
 * calls: it counts, it can fail at the k-th call, and it notes the highest use. For one
 * file of a program. */
#ifndef VEM_TESTS_MEMORY_HOOKS_H
#define VEM_TESTS_MEMORY_HOOKS_H

#include <errno.h>
#include <malloc.h>

#include "grid.h"

static int64_t calls, fail_at; /* fail_at 0: never */
static size_t highest,
    asked; /* while watching: most in use, and all that was asked for */
static int watching;
static int filling = -1; /* with this byte, what is given out; -1: as it comes */

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (++calls == fail_at)
        return ENOMEM;
    void *made = memalign(alignment, bytes);
    if (!made)
        return ENOMEM;
    *memory = made;
    if (filling >= 0)
        memset(made, filling, bytes);
    if (watching) {
        asked += bytes;
        size_t now = in_use();
        highest = now > highest ? now : highest;
    }
    return 0;
}

/* Bytes go into a digest, so that two results are known to have the same bits. */
static inline void mix(uint64_t *digest, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *digest = (*digest ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
}

static vem_ctx *ctx;

static int set_up(void **state)
{
    (void)state;
    if (vem_ctx_new(&ctx) != VEM_OK)
        return -1;
    vem_ctx_set_dashes(ctx, 1);
    return vem_ctx_set_threads(ctx, 1) == VEM_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    vem_ctx_free(ctx);
    return 0;
}

#endif
