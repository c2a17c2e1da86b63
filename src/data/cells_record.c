/* The cut of a tree that is built anew when it is read. */
#include <string.h>

#include "base/memory.h"
#include "data/cells.h"

/* The way of each node: 1 for the root, then 0 for the first child and 1 for the second. Children
 * come after their parent. */
static void find_ways(const vem_i_tree *tree, uint64_t *ways)
{
    ways[0] = 1;
    for (int64_t node = 0; node < tree->count; node++)
        if (tree->left[node] >= 0) {
            ways[tree->left[node]] = 2 * ways[node];
            ways[tree->left[node] + 1] = 2 * ways[node] + 1;
        }
}

static int bits_of(uint64_t way)
{
    return way ? 64 - __builtin_clzll(way) : 0;
}

/* One level down for all cells whose way goes further. `listed` has one place for each node. */
static vem_status descend(vem_i_record *r, vem_i_cells *cells, const uint64_t *ways,
                          int64_t n, int level, unsigned char *listed)
{
    vem_i_tree *tree = cells->tree;
    int32_t *list = cells->children.nodes;
    int64_t count = 0;
    memset(listed, 0, (size_t)tree->count);
    for (int64_t i = 0; i < n; i++) {
        const int32_t node = cells->cut.nodes[i];
        if (bits_of(ways[i]) > level && !listed[node]++)
            list[count++] = node;
    }
    vem_status status = vem_i_tree_split(r->run, tree, list, count);
    for (int64_t i = 0; status == VEM_OK && i < n; i++) {
        const int more = bits_of(ways[i]) - level;
        const int32_t left = more > 0 ? tree->left[cells->cut.nodes[i]] : 0;
        if (more <= 0)
            continue;
        if (left < 0) {
            vem_i_record_refuse(r, "cells");
            return r->status;
        }
        cells->cut.nodes[i] = left + (int32_t)(ways[i] >> (more - 1) & 1);
    }
    return status;
}

/* Every row in one cell, and every cell once? */
static void check(vem_i_record *r, const vem_i_cells *cells, int64_t n,
                  unsigned char *seen)
{
    int64_t rows = 0;
    memset(seen, 0, (size_t)cells->tree->count);
    for (int64_t i = 0; i < n && r->status == VEM_OK; i++) {
        const int32_t node = cells->cut.nodes[i];
        rows += cells->tree->rows[node];
        if (seen[node]++)
            vem_i_record_refuse(r, "cells");
    }
    if (r->status == VEM_OK && rows != cells->tree->rows[0])
        vem_i_record_refuse(r, "cells");
}

static vem_status find_cut(vem_i_record *r, vem_i_cells *cells, const uint64_t *ways,
                           int64_t n, unsigned char *marks)
{
    vem_status status = VEM_OK;
    for (int64_t i = 0; i < n; i++)
        if (ways[i] == 0) {
            vem_i_record_refuse(r, "cells");
            return r->status;
        }
    memset(cells->cut.nodes, 0, (size_t)n * sizeof *cells->cut.nodes);
    for (int level = 1; status == VEM_OK && level <= VEM_I_CELLS_DEPTH; level++)
        status = descend(r, cells, ways, n, level, marks);
    if (status == VEM_OK) {
        check(r, cells, n, marks);
        status = r->status;
    }
    return status;
}

void vem_i_cells_record(vem_i_record *r, vem_i_cells *cells)
{
    const size_t nodes = (size_t)cells->tree->spec.nodes;
    uint64_t *ways = NULL, *cut = NULL;
    unsigned char *marks = NULL;
    int64_t n = cells->cut.count;
    vem_i_record_count(r, "cells", &n, 1, cells->cut.capacity);
    if (r->status != VEM_OK)
        return;
    vem_status status = vem_i_take(r->run, &ways, nodes, sizeof *ways);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(r->run, &cut, (size_t)n, sizeof *cut);
    if (status == VEM_OK)
        status = vem_i_take(r->run, &marks, nodes, 1);
    if (status == VEM_OK && !r->reading) {
        find_ways(cells->tree, ways);
        for (int64_t i = 0; i < n; i++)
            cut[i] = ways[cells->cut.nodes[i]];
    }
    if (status == VEM_OK) {
        vem_i_record_block(r, "ways", cut, (size_t)n, sizeof *cut);
        status = r->status;
    }
    if (status == VEM_OK && r->reading)
        status = find_cut(r, cells, cut, n, marks);
    if (status == VEM_OK && r->reading)
        vem_i_cells_put_cut(cells, n);
    if (status != VEM_OK && r->status == VEM_OK)
        r->status = status;
    vem_i_free(ways);
    vem_i_free(cut);
    vem_i_free(marks);
}
