#include "base/memory.h"

#include <string.h>

#include "base/residence.h"

/* From this size on mapped pages make room first. */
static const size_t NOTICEABLE = (size_t)1 << 20;

/* As the allocator takes them: no fewer than one. More than any machine has counts as so much that
 * a few such sums can be added. */
static void count_bytes(vem_i_run *run, size_t bytes)
{
    static const uint64_t MOST = UINT64_MAX / 64;
    if (__builtin_add_overflow(*run->counted, bytes ? bytes : 1, run->counted) ||
        *run->counted > MOST)
        *run->counted = MOST;
}

vem_status vem_i_take(vem_i_run *run, void *out_pointer, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    if (run && run->counted) {
        count_bytes(run, bytes);
        memset(out_pointer, 0, sizeof(void *));
        return VEM_OK;
    }
    if (run && run->limit && bytes >= NOTICEABLE)
        vem_i_residence_rest(run);
    void *memory = vem_i_alloc(count, size);
    if (!memory)
        return vem_i_fail_memory(run, bytes);
    memcpy(out_pointer, &memory, sizeof memory);
    return VEM_OK;
}

vem_status vem_i_take_zeroed(vem_i_run *run, void *out_pointer, size_t count, size_t size)
{
    void *memory = NULL;
    vem_status status = vem_i_take(run, &memory, count, size);
    if (status == VEM_OK) {
        if (memory)
            memset(memory, 0, count * size);
        memcpy(out_pointer, &memory, sizeof memory);
    }
    return status;
}

vem_status vem_i_take_structs(vem_i_run *run, void *out_pointer, size_t count,
                              size_t size)
{
    void *memory = vem_i_calloc(count, size);
    if (!memory && run && run->counted)
        run->watch->unplanned = count * size;
    if (!memory)
        return vem_i_fail_memory(run, count * size);
    if (run && run->counted)
        count_bytes(run, count * size);
    memcpy(out_pointer, &memory, sizeof memory);
    return VEM_OK;
}

vem_status vem_i_plan_made(vem_i_run *run)
{
    const size_t bytes = run->watch->unplanned;
    return bytes ? vem_i_fail_memory(run, bytes) : VEM_OK;
}

vem_status vem_i_take_rooms(vem_i_run *run, const vem_i_room *list, size_t count)
{
    vem_status status = VEM_OK;
    for (const vem_i_room *a = list; status == VEM_OK && a < list + count; a++)
        if (a->count > 0)
            status = a->zeroed ? vem_i_take_zeroed(run, a->out, a->count, a->size)
                               : vem_i_take(run, a->out, a->count, a->size);
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
