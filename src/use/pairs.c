/* A hash table with open addressing, at most half full. */
#include "use/pairs.h"

#include "base/memory.h"

enum { ROOM_FIRST = 1 << 10 };

static vem_i_pair *find(const vem_i_pairs *pairs, int32_t a, int32_t b)
{
    uint64_t key = (uint64_t)(uint32_t)a << 32 | (uint32_t)b;
    key = (key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t at = (size_t)(key >> 20);; at++) {
        vem_i_pair *slot = &pairs->slots[at & (pairs->room - 1)];
        if (slot->a < 0 || (slot->a == a && slot->b == b))
            return slot;
    }
}

static vem_status grow(vem_i_run *run, vem_i_pairs *pairs)
{
    vem_i_pairs more = {.room = pairs->room ? 2 * pairs->room : ROOM_FIRST,
                        .used = pairs->used};
    vem_status status = vem_i_take(run, &more.slots, more.room, sizeof *more.slots);
    if (status != VEM_OK)
        return status;
    for (size_t i = 0; i < more.room; i++)
        more.slots[i] = (vem_i_pair){.a = -1, .b = -1};
    for (size_t i = 0; i < pairs->room; i++)
        if (pairs->slots[i].a >= 0)
            *find(&more, pairs->slots[i].a, pairs->slots[i].b) = pairs->slots[i];
    vem_i_free(pairs->slots);
    *pairs = more;
    return VEM_OK;
}

vem_status vem_i_pairs_add(vem_i_run *run, vem_i_pairs *pairs, int32_t a, int32_t b,
                           double value)
{
    if (2 * (pairs->used + 1) > pairs->room) {
        vem_status status = grow(run, pairs);
        if (status != VEM_OK)
            return status;
    }
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    vem_i_pair *slot = find(pairs, low, high);
    if (slot->a < 0) {
        *slot = (vem_i_pair){.a = low, .b = high};
        pairs->used++;
    }
    slot->sum += value;
    return VEM_OK;
}

void vem_i_pairs_free(vem_i_pairs *pairs)
{
    vem_i_free(pairs->slots);
    *pairs = (vem_i_pairs){0};
}
