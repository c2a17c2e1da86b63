/* A tree split level by level. */
#include <string.h>

#include "data/tree_inside.h"

/* Doubles that are not negative are in the order of their bits. */
static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Keep the `room` nodes of largest scatter, earlier ones before later, in their order. */
static int64_t keep_largest(const vem_i_tree *tree, int32_t *list, int64_t count,
                            int64_t room)
{
    uint64_t low = 0, high = UINT64_MAX; /* at most `room` lie above high - 1 */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        int64_t above = 0;
        for (int64_t i = 0; i < count; i++)
            above += bits_of(tree->scatter[list[i]]) > middle;
        if (above > room)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t above = 0, kept = 0;
    for (int64_t i = 0; i < count; i++)
        above += bits_of(tree->scatter[list[i]]) > low;
    int64_t equal = room - above;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = bits_of(tree->scatter[list[i]]);
        if (bits > low || (bits == low && equal-- > 0))
            list[kept++] = list[i];
    }
    return kept;
}

vem_status vem_i_tree_build(vem_i_run *run, vem_i_tree *tree, int64_t cells,
                            int32_t depth)
{
    int32_t *list = tree->work->list;
    int64_t from = 0; /* all before are split or leaves */
    depth = depth > tree->spec.depth || depth <= 0 ? tree->spec.depth : depth;
    for (int32_t level = 0; level < depth; level++) {
        int64_t count = 0, room = cells - (tree->count + 1) / 2;
        const int64_t free_nodes = (tree->work->capacity - tree->count) / 2;
        room = room < free_nodes ? room : free_nodes;
        while (from < tree->count && tree->left[from] != VEM_I_TREE_OPEN)
            from++;
        if (room <= 0 || from == tree->count)
            break;
        for (int64_t i = from; i < tree->count; i++)
            if (tree->left[i] == VEM_I_TREE_OPEN && tree->depth[i] == level)
                list[count++] = (int32_t)i;
        if (count > room)
            count = keep_largest(tree, list, count, room);
        vem_status status = vem_i_tree_split(run, tree, list, count);
        if (status != VEM_OK)
            return status;
    }
    return VEM_OK;
}
