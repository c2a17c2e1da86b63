#include "metrics/numbering.h"

#include "base/memory.h"

typedef struct numbering {
    int64_t *labels;  /* slot -> label */
    int64_t *numbers; /* slot -> number, -1: free */
    uint64_t slots;   /* a power of two */
    int64_t count;
} numbering;

static uint64_t scatter(int64_t label)
{
    /* Labels are often consecutive or multiples of a power of two: mix all bits. */
    uint64_t x = (uint64_t)label + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t find_slot(const numbering *map, int64_t label)
{
    uint64_t slot = scatter(label) & (map->slots - 1);
    while (map->numbers[slot] >= 0 && map->labels[slot] != label)
        slot = (slot + 1) & (map->slots - 1);
    return slot;
}

static void numbering_free(numbering *map)
{
    vem_i_free(map->labels);
    vem_i_free(map->numbers);
}

static vem_status numbering_new(vem_i_run *run, uint64_t slots, numbering *map)
{
    *map = (numbering){.slots = slots};
    vem_status status = vem_i_take(run, &map->labels, (size_t)slots, sizeof *map->labels);
    if (status == VEM_OK)
        status = vem_i_take(run, &map->numbers, (size_t)slots, sizeof *map->numbers);
    if (status != VEM_OK) {
        numbering_free(map);
        return status;
    }
    for (uint64_t slot = 0; slot < slots; slot++)
        map->numbers[slot] = -1;
    return VEM_OK;
}

static vem_status numbering_grow(vem_i_run *run, numbering *map)
{
    numbering larger;
    vem_status status = numbering_new(run, map->slots * 2, &larger);
    if (status != VEM_OK)
        return status;
    larger.count = map->count;
    for (uint64_t slot = 0; slot < map->slots; slot++) {
        if (map->numbers[slot] < 0)
            continue;
        const uint64_t place = find_slot(&larger, map->labels[slot]);
        larger.labels[place] = map->labels[slot];
        larger.numbers[place] = map->numbers[slot];
    }
    numbering_free(map);
    *map = larger;
    return VEM_OK;
}

vem_status vem_i_number_labels(vem_i_run *run, const int64_t *labels, int64_t n,
                               int64_t *numbers, int64_t *count)
{
    numbering map;
    vem_status status = numbering_new(run, 256, &map);
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0; i < n; i++) {
        if ((uint64_t)map.count * 2 >= map.slots) {
            status = numbering_grow(run, &map);
            if (status != VEM_OK)
                break;
        }
        const uint64_t slot = find_slot(&map, labels[i]);
        if (map.numbers[slot] < 0) {
            map.labels[slot] = labels[i];
            map.numbers[slot] = map.count++;
        }
        numbers[i] = map.numbers[slot];
    }
    *count = map.count;
    numbering_free(&map);
    return status;
}
