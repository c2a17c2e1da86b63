#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/residence.h"

enum { ALIGNMENT = 64 };
/* From this size on memory is asked for in huge pages where the system has them: its first
 * touch costs several times less. */
static const size_t HUGE_FROM = (size_t)8 << 20, PAGE = 4096;
static const size_t NOTICEABLE = (size_t)1 << 20;

void *vem_i_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    if (bytes == 0)
        bytes = 1;
    void *memory = NULL;
    if (posix_memalign(&memory, ALIGNMENT, bytes) != 0)
        return NULL;
    if (bytes >= HUGE_FROM) { /* advice: nothing depends on it */
        char *first = (char *)memory + (PAGE - (uintptr_t)memory % PAGE) % PAGE;
        madvise(first, (bytes - (size_t)(first - (char *)memory)) / PAGE * PAGE,
                MADV_HUGEPAGE);
    }
    return memory;
}

void *vem_i_calloc(size_t count, size_t size)
{
    void *memory = vem_i_alloc(count, size);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

void vem_i_free(void *memory)
{
    free(memory);
}

vem_status vem_i_take(vem_ctx *ctx, void *out_pointer, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    if (ctx && ctx->limit && bytes >= NOTICEABLE)
        vem_i_residence_rest(ctx); /* mapped pages make room for what is planned */
    void *memory = vem_i_alloc(count, size);
    if (!memory)
        return vem_i_fail_memory(ctx, bytes);
    memcpy(out_pointer, &memory, sizeof memory);
    return VEM_OK;
}

vem_status vem_i_take_zeroed(vem_ctx *ctx, void *out_pointer, size_t count, size_t size)
{
    void *memory = NULL;
    vem_status status = vem_i_take(ctx, &memory, count, size);
    if (status == VEM_OK) {
        memset(memory, 0, count * size);
        memcpy(out_pointer, &memory, sizeof memory);
    }
    return status;
}

vem_status vem_i_take_rooms(vem_ctx *ctx, const vem_i_room *list, size_t count)
{
    vem_status status = VEM_OK;
    for (const vem_i_room *a = list; status == VEM_OK && a < list + count; a++)
        if (a->count > 0)
            status = a->zeroed ? vem_i_take_zeroed(ctx, a->out, a->count, a->size)
                               : vem_i_take(ctx, a->out, a->count, a->size);
    return status;
}

void vem_i_free_rooms(const vem_i_room *list, size_t count)
{
    for (const vem_i_room *a = list; a < list + count; a++) {
        void *memory;
        memcpy(&memory, a->out, sizeof memory);
        vem_i_free(memory);
        memset(a->out, 0, sizeof memory);
    }
}

uint64_t vem_i_rooms_bytes(const vem_i_room *list, size_t count)
{
    uint64_t bytes = 0;
    for (const vem_i_room *a = list; a < list + count; a++)
        bytes += (uint64_t)a->count * a->size;
    return bytes;
}
