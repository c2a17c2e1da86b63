/* Cells and groups of clusters: k-means over the means, twice.
 *
 * The means of the clusters are items here, and cells and groups their clusters; all
 * distances come from the tile kernel. Nothing depends on how well the cells fit: they
 * only propose. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "search/hierarchy_inside.h"

enum {
    FIRST_STEPS = 3, /* steps of k-means for the first cells */
    GROUP_STEPS = 3  /* and for groups inside a cell */
};

/* ---- cells ---- */

static void find_cells(void *arg, int64_t block, int thread)
{
    vem_i_hierarchy *h = arg;
    vem_i_hierarchy_desk s = vem_i_hierarchy_desk_at(h, thread);
    int64_t begin = block * VEM_I_BLOCK, left = h->clusters - begin;
    int32_t n = left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK;
    vem_i_hierarchy_nearest(h, vem_i_hierarchy_mean(h, begin), h->scorer->ldc, NULL, n,
                            h->cell_means, h->cell_norms, h->cells, 1, s);
    for (int32_t p = 0; p < n; p++)
        h->cell_of[begin + p] = s.index[p] < 0 ? 0 : s.index[p];
}

/* The clusters of one cell look for their new one among those near it. */
static void find_cells_near(void *arg, int64_t cell, int thread)
{
    vem_i_hierarchy *h = arg;
    vem_i_hierarchy_desk s = vem_i_hierarchy_desk_at(h, thread);
    const int32_t *near = h->cells_near + cell * VEM_I_NEAR_CELLS;
    h->kernels->gather(h->cell_means, h->d, near, h->near_cells, h->d, NULL, s.some, h->d,
                       s.some_norms);
    for (int32_t i = h->cell_starts[cell]; i < h->cell_starts[cell + 1];
         i += VEM_I_BLOCK) {
        int32_t left = h->cell_starts[cell + 1] - i;
        int32_t n = left < VEM_I_BLOCK ? left : VEM_I_BLOCK;
        vem_i_hierarchy_nearest(h, h->scorer->means, h->scorer->ldc,
                                (const uint32_t *)h->members + i, n, s.some, s.some_norms,
                                h->near_cells, 1, s);
        for (int32_t p = 0; p < n; p++)
            if (s.index[p] >= 0)
                h->cell_of[h->members[i + p]] = near[s.index[p]];
    }
}

static void move_cell(void *arg, int64_t cell, int thread)
{
    vem_i_hierarchy *h = arg;
    int32_t begin = h->cell_starts[cell], end = h->cell_starts[cell + 1];
    vem_i_hierarchy_average(h, h->members + begin, end - begin,
                            vem_i_hierarchy_row(h, h->cell_means, cell),
                            vem_i_hierarchy_desk_at(h, thread).sums);
}

/* Clusters by cell, in their order. */
static void sort_by_cell(vem_i_hierarchy *h)
{
    int32_t *starts = h->cell_starts;
    memset(starts, 0, ((size_t)h->cells + 1) * sizeof *starts);
    for (int32_t c = 0; c < h->clusters; c++)
        starts[h->cell_of[c] + 1]++;
    for (int32_t b = 0; b < h->cells; b++)
        starts[b + 1] += starts[b];
    for (int32_t c = 0; c < h->clusters; c++)
        h->members[starts[h->cell_of[c]]++] = c;
    for (int32_t b = h->cells; b > 0; b--)
        starts[b] = starts[b - 1];
    starts[0] = 0;
}

/* Clusters to their nearest cells, and the cells to the means of those. Returns the
 * distances taken. */
static int64_t step_cells(vem_i_hierarchy *h, int near)
{
    const int32_t looked = near ? h->near_cells : h->cells;
    double work = (double)VEM_I_BLOCK * looked * h->d;
    if (near)
        vem_i_parallel_light(h->ctx, h->cells, work, find_cells_near, h);
    else
        vem_i_parallel_light(h->ctx, vem_i_shards(h->clusters, VEM_I_BLOCK), work,
                             find_cells, h);
    sort_by_cell(h);
    vem_i_parallel_light(h->ctx, h->cells, (double)h->clusters / h->cells * h->d,
                         move_cell, h);
    return (int64_t)h->clusters * looked + vem_i_hierarchy_settle(h);
}

/* ---- groups ---- */

/* The groups of one cell: k-means over its clusters, from clusters at even spaces. The
 * list of the cell ends in the order of its groups. */
static void group_cell(void *arg, int64_t cell, int thread)
{
    vem_i_hierarchy *h = arg;
    vem_i_hierarchy_desk s = vem_i_hierarchy_desk_at(h, thread);
    int32_t begin = h->cell_starts[cell], n = h->cell_starts[cell + 1] - begin;
    int32_t first = h->cell_groups[cell], groups = h->cell_groups[cell + 1] - first;
    int32_t *list = h->members + begin, *sorted = h->fresh + begin;
    size_t row = (size_t)h->d * h->kernels->element;
    for (int32_t g = 0; g < groups; g++)
        memcpy(vem_i_hierarchy_row(h, h->group_means, first + g),
               vem_i_hierarchy_mean(h, list[(int64_t)g * n / groups]), row);
    if (groups == n) {
        for (int32_t i = 0; i < n; i++) {
            h->group_of[list[i]] = first + i;
            h->group_starts[first + i] = begin + i;
        }
        return;
    }
    char *norms = (char *)h->group_norms + (size_t)first * h->kernels->element;
    for (int step = 0; step < GROUP_STEPS; step++) {
        int32_t *starts = h->group_starts + first;
        vem_i_hierarchy_norms_of(h, vem_i_hierarchy_row(h, h->group_means, first), groups,
                                 norms);
        memset(starts, 0, (size_t)groups * sizeof *starts);
        for (int32_t i = 0; i < n; i += VEM_I_BLOCK) {
            int32_t count = n - i < VEM_I_BLOCK ? n - i : VEM_I_BLOCK;
            vem_i_hierarchy_nearest(h, h->scorer->means, h->scorer->ldc,
                                    (const uint32_t *)list + i, count,
                                    vem_i_hierarchy_row(h, h->group_means, first), norms,
                                    groups, 1, s);
            for (int32_t p = 0; p < count; p++) {
                int32_t g = s.index[p] < 0 ? 0 : s.index[p];
                h->group_of[list[i + p]] = first + g;
                starts[g]++;
            }
        }
        for (int32_t g = 0, at = begin; g < groups; g++) {
            int32_t count = starts[g];
            starts[g] = at;
            at += count;
        }
        for (int32_t i = 0; i < n; i++)
            sorted[starts[h->group_of[list[i]] - first]++ - begin] = list[i];
        memcpy(list, sorted, (size_t)n * sizeof *list);
        for (int32_t g = groups - 1; g > 0; g--)
            starts[g] = starts[g - 1];
        starts[0] = begin;
        for (int32_t g = 0; g < groups; g++) {
            int32_t end = g + 1 < groups ? starts[g + 1] : begin + n;
            vem_i_hierarchy_average(h, h->members + starts[g], end - starts[g],
                                    vem_i_hierarchy_row(h, h->group_means, first + g),
                                    s.sums);
        }
    }
}

int64_t vem_i_hierarchy_build(vem_i_hierarchy *h, const vem_i_scorer *scorer, int steps)
{
    h->scorer = scorer;
    h->clusters = scorer->clusters;
    size_t row = (size_t)h->d * h->kernels->element;
    int64_t pairs = 0;
    int near = 0;
    if (h->cells == 0) {
        h->cells = vem_i_cells_for(h->clusters);
        for (int64_t b = 0; b < h->cells; b++)
            memcpy(vem_i_hierarchy_row(h, h->cell_means, b),
                   vem_i_hierarchy_mean(h, b * h->clusters / h->cells), row);
        steps = FIRST_STEPS;
        pairs += vem_i_hierarchy_settle(h);
    }
    for (int step = 0; step < steps; step++) {
        pairs += step_cells(h, near);
        near = vem_i_hierarchy_is_large(h); /* from where the step before left them */
    }
    h->groups = 0;
    for (int32_t b = 0; b < h->cells; b++) {
        int32_t n = h->cell_starts[b + 1] - h->cell_starts[b];
        h->cell_groups[b] = h->groups;
        h->groups += (n + h->per - 1) / h->per;
    }
    h->cell_groups[h->cells] = h->groups;
    vem_i_parallel(h->ctx, h->cells, group_cell, h);
    h->group_starts[h->groups] = h->clusters;
    h->near_count = 0;
    vem_i_hierarchy_ranks(h);
    return pairs;
}
