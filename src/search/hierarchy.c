/* Cells and groups of clusters: k-means over the means, twice.
 *
 * The means of the clusters are items here, and cells and groups their clusters; all
 * distances come from the tile kernel. Nothing depends on how well the cells fit: they
 * only propose. */
#include "search/hierarchy.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"

enum {
    CELLS_PER_ROOT = 3,
    GROUPS = 4096,   /* about, whatever the number of clusters */
    FIRST_STEPS = 3, /* steps of k-means for the first cells */
    GROUP_STEPS = 3, /* and for groups inside a cell */
    NEAR_CELLS = 24, /* cells in which a group looks for its neighbors */
    TOP = VEM_I_TOP_MAX
};

int32_t vem_i_group_size(int32_t clusters)
{
    return (clusters + GROUPS - 1) / GROUPS;
}

static int32_t cells_for(int32_t clusters)
{
    /* Items crowd into the cells that have many clusters; more and smaller cells than
     * sqrt(C) are cheaper for the same recall. */
    double cells = CELLS_PER_ROOT * ceil(sqrt((double)clusters));
    return cells < clusters ? (int32_t)cells : clusters;
}

static int32_t most_groups(int32_t clusters, int32_t per)
{
    return clusters / per + cells_for(clusters) + 1;
}

/* Panels, norms, lists and sums of one thread. */
static size_t scratch_bytes(const vem_i_kernels *kernels, int32_t d)
{
    size_t columns = (size_t)d, block = VEM_I_BLOCK, element = kernels->element;
    size_t bytes = columns * sizeof(double) + block * (columns + 1) * element +
                   TOP * block * (element + sizeof(int32_t));
    return (bytes + 127) / 64 * 64;
}

typedef struct scratch {
    double *sums;
    char *panels, *norms, *best;
    int32_t *index;
} scratch;

static scratch scratch_of(const vem_i_hierarchy *h, int thread)
{
    size_t element = h->kernels->element, columns = (size_t)h->d;
    char *at = h->scratch + (size_t)thread * h->scratch_size;
    scratch s = {.panels = at};
    s.norms = s.panels + VEM_I_BLOCK * columns * element;
    s.best = s.norms + VEM_I_BLOCK * element;
    s.sums = (double *)(void *)(s.best + TOP * VEM_I_BLOCK * element);
    s.index = (int32_t *)(void *)(s.sums + columns);
    return s;
}

vem_status vem_i_hierarchy_new(vem_ctx *ctx, const vem_i_kernels *kernels,
                               int32_t clusters, int32_t d, int32_t per,
                               vem_i_hierarchy *hierarchy)
{
    vem_i_hierarchy h = {.ctx = ctx,
                         .kernels = kernels,
                         .clusters = clusters,
                         .d = d,
                         .per = per,
                         .most_groups = most_groups(clusters, per),
                         .most_cells = cells_for(clusters),
                         .scratch_size = scratch_bytes(kernels, d)};
    size_t count = (size_t)clusters, groups = (size_t)h.most_groups;
    size_t cells = (size_t)cells_for(clusters), element = kernels->element;
    size_t row = (size_t)d * element;
    vem_status status = vem_i_take(ctx, &h.members, count, 5 * sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &h.cell_starts, 2 * (cells + 1), sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &h.group_starts, groups + 1, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &h.cell_means, cells, row);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &h.cell_norms, cells, element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &h.group_means, groups, row);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &h.group_norms, groups, element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &h.ones, groups, element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &h.zeros, groups, element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &h.near, groups, TOP * sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &h.scratch, (size_t)ctx->threads, h.scratch_size);
    if (status != VEM_OK) {
        vem_i_hierarchy_free(&h);
        return status;
    }
    h.rank = h.members + count;
    h.cell_of = h.rank + count;
    h.group_of = h.cell_of + count;
    h.fresh = h.group_of + count;
    h.cell_groups = h.cell_starts + cells + 1;
    for (size_t g = 0; g < groups; g++) {
        vem_i_store(kernels, h.ones, (int64_t)g, 1);
        vem_i_store(kernels, h.zeros, (int64_t)g, 0);
    }
    *hierarchy = h;
    return VEM_OK;
}

void vem_i_hierarchy_free(vem_i_hierarchy *h)
{
    vem_i_free(h->members);
    vem_i_free(h->cell_starts);
    vem_i_free(h->group_starts);
    vem_i_free(h->cell_means);
    vem_i_free(h->cell_norms);
    vem_i_free(h->group_means);
    vem_i_free(h->group_norms);
    vem_i_free(h->ones);
    vem_i_free(h->zeros);
    vem_i_free(h->near);
    vem_i_free(h->scratch);
    memset(h, 0, sizeof *h);
}

uint64_t vem_i_hierarchy_bytes(const vem_ctx *ctx, const vem_i_kernels *kernels,
                               int32_t clusters, int32_t d)
{
    uint64_t groups = (uint64_t)most_groups(clusters, vem_i_group_size(clusters)),
             cells = (uint64_t)cells_for(clusters);
    uint64_t row = ((uint64_t)d + 3) * kernels->element;
    return 20 * (uint64_t)clusters + (groups + cells) * (row + 8) +
           groups * TOP * sizeof(int32_t) +
           (uint64_t)ctx->threads * scratch_bytes(kernels, d);
}

/* |row|^2 for n rows of T. */
static void norms_of(const vem_i_hierarchy *h, const void *rows, int32_t n, void *norms)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < h->d; j++) {
            double value = vem_i_value(h->kernels, rows, i * h->d + j);
            sum += value * value;
        }
        vem_i_store(h->kernels, norms, i, sum);
    }
}

void vem_i_hierarchy_norms(vem_i_hierarchy *h)
{
    norms_of(h, h->cell_means, h->cells, h->cell_norms);
}

/* Row `to` of T becomes the mean of the listed means of clusters; an empty list changes
 * nothing. */
static void average(const vem_i_hierarchy *h, const int32_t *list, int64_t n, char *to,
                    double *sums)
{
    if (n <= 0)
        return;
    double second = 0;
    memset(sums, 0, (size_t)h->d * sizeof *sums);
    h->kernels->iso_rows(h->scorer->means, h->scorer->ldc, (const uint32_t *)list, NULL,
                         n, h->d, to, sums, &second);
    for (int64_t j = 0; j < h->d; j++)
        vem_i_store(h->kernels, to, j,
                    vem_i_value(h->kernels, to, j) + sums[j] / (double)n);
}

static void clear(const vem_i_hierarchy *h, scratch s, int32_t top)
{
    for (int64_t i = 0; i < (int64_t)top * VEM_I_BLOCK; i++) {
        vem_i_store(h->kernels, s.best, i, INFINITY);
        s.index[i] = -1;
    }
}

/* The `top` nearest of `count` centers for n <= VEM_I_BLOCK listed rows of x. */
static void nearest(const vem_i_hierarchy *h, const void *x, int64_t ld,
                    const uint32_t *items, int32_t n, const void *centers,
                    const void *norms, int32_t count, int32_t top, scratch s)
{
    const vem_i_kernels *kernels = h->kernels;
    kernels->pack(x, ld, items, n, h->d, NULL, s.panels, s.norms);
    clear(h, s, top);
    kernels->dot_top(s.panels, s.norms, n, h->d, centers, h->d, norms, h->ones, h->zeros,
                     count, 0, top, s.best, s.index, VEM_I_BLOCK);
}

static char *row_of(const vem_i_hierarchy *h, void *rows, int64_t i)
{
    return (char *)rows + (size_t)(i * h->d) * h->kernels->element;
}

static const char *mean_of(const vem_i_hierarchy *h, int64_t cluster)
{
    return (const char *)h->scorer->means +
           (size_t)(cluster * h->scorer->ldc) * h->kernels->element;
}

/* ---- cells ---- */

static void find_cells(void *arg, int64_t block, int thread)
{
    vem_i_hierarchy *h = arg;
    scratch s = scratch_of(h, thread);
    int64_t begin = block * VEM_I_BLOCK, left = h->clusters - begin;
    int32_t n = left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK;
    nearest(h, mean_of(h, begin), h->scorer->ldc, NULL, n, h->cell_means, h->cell_norms,
            h->cells, 1, s);
    for (int32_t p = 0; p < n; p++)
        h->cell_of[begin + p] = s.index[p] < 0 ? 0 : s.index[p];
}

static void move_cell(void *arg, int64_t cell, int thread)
{
    vem_i_hierarchy *h = arg;
    int32_t begin = h->cell_starts[cell], end = h->cell_starts[cell + 1];
    average(h, h->members + begin, end - begin, row_of(h, h->cell_means, cell),
            scratch_of(h, thread).sums);
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

static void assign_cells(vem_i_hierarchy *h)
{
    double work = (double)VEM_I_BLOCK * h->cells * h->d;
    vem_i_hierarchy_norms(h);
    vem_i_parallel_light(h->ctx, vem_i_shards(h->clusters, VEM_I_BLOCK), work, find_cells,
                         h);
    sort_by_cell(h);
}

/* ---- groups ---- */

/* The groups of one cell: k-means over its clusters, from clusters at even spaces. The
 * list of the cell ends in the order of its groups. */
static void group_cell(void *arg, int64_t cell, int thread)
{
    vem_i_hierarchy *h = arg;
    scratch s = scratch_of(h, thread);
    int32_t begin = h->cell_starts[cell], n = h->cell_starts[cell + 1] - begin;
    int32_t first = h->cell_groups[cell], groups = h->cell_groups[cell + 1] - first;
    int32_t *list = h->members + begin, *sorted = h->fresh + begin;
    size_t row = (size_t)h->d * h->kernels->element;
    for (int32_t g = 0; g < groups; g++)
        memcpy(row_of(h, h->group_means, first + g),
               mean_of(h, list[(int64_t)g * n / groups]), row);
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
        norms_of(h, row_of(h, h->group_means, first), groups, norms);
        memset(starts, 0, (size_t)groups * sizeof *starts);
        for (int32_t i = 0; i < n; i += VEM_I_BLOCK) {
            int32_t count = n - i < VEM_I_BLOCK ? n - i : VEM_I_BLOCK;
            nearest(h, h->scorer->means, h->scorer->ldc, (const uint32_t *)list + i,
                    count, row_of(h, h->group_means, first), norms, groups, 1, s);
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
            average(h, h->members + starts[g], end - starts[g],
                    row_of(h, h->group_means, first + g), s.sums);
        }
    }
}

static void set_ranks(vem_i_hierarchy *h)
{
    for (int32_t i = 0; i < h->clusters; i++)
        h->rank[h->members[i]] = i;
}

int64_t vem_i_hierarchy_build(vem_i_hierarchy *h, const vem_i_scorer *scorer, int steps)
{
    h->scorer = scorer;
    h->clusters = scorer->clusters;
    size_t row = (size_t)h->d * h->kernels->element;
    if (h->cells == 0) {
        h->cells = cells_for(h->clusters);
        for (int64_t b = 0; b < h->cells; b++)
            memcpy(row_of(h, h->cell_means, b), mean_of(h, b * h->clusters / h->cells),
                   row);
        steps = FIRST_STEPS;
    }
    for (int step = 0; step < steps; step++) {
        assign_cells(h);
        vem_i_parallel_light(h->ctx, h->cells, (double)h->clusters / h->cells * h->d,
                             move_cell, h);
    }
    vem_i_hierarchy_norms(h);
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
    set_ranks(h);
    return (int64_t)h->clusters * h->cells * steps;
}

/* The groups of one cell look for their neighbors in the cells nearest to it. */
static void find_near(void *arg, int64_t cell, int thread)
{
    vem_i_hierarchy *h = arg;
    const vem_i_kernels *kernels = h->kernels;
    scratch s = scratch_of(h, thread);
    int32_t cells[NEAR_CELLS], looked = h->cells < NEAR_CELLS ? h->cells : NEAR_CELLS;
    int32_t count = h->near_count, own = -1;
    nearest(h, row_of(h, h->cell_means, cell), h->d, NULL, 1, h->cell_means,
            h->cell_norms, h->cells, looked, s);
    for (int32_t k = 0; k < looked; k++) {
        cells[k] = s.index[k * VEM_I_BLOCK];
        own = cells[k] == cell ? k : own;
    }
    if (own < 0) /* means that coincide: its own must be there */
        cells[looked - 1] = (int32_t)cell;
    for (int64_t begin = h->cell_groups[cell]; begin < h->cell_groups[cell + 1];
         begin += VEM_I_BLOCK) {
        int64_t left = h->cell_groups[cell + 1] - begin;
        int32_t n = left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK;
        kernels->pack(row_of(h, h->group_means, begin), h->d, NULL, n, h->d, NULL,
                      s.panels, s.norms);
        clear(h, s, count);
        for (int32_t k = 0; k < looked; k++) {
            int32_t first = h->cell_groups[cells[k]];
            if (h->cell_groups[cells[k] + 1] > first)
                kernels->dot_top(s.panels, s.norms, n, h->d,
                                 row_of(h, h->group_means, first), h->d,
                                 (const char *)h->group_norms +
                                     (size_t)first * kernels->element,
                                 h->ones, h->zeros, h->cell_groups[cells[k] + 1] - first,
                                 first, count, s.best, s.index, VEM_I_BLOCK);
        }
        for (int32_t p = 0; p < n; p++) {
            int32_t group = (int32_t)begin + p, *near = h->near + (int64_t)group * TOP;
            int32_t found = 0, last = 0;
            for (int32_t r = 0; r < count; r++) {
                near[r] = s.index[r * VEM_I_BLOCK + p];
                found |= near[r] == group;
                last = near[r] < 0 ? last : r;
            }
            if (!found)
                near[last] = group;
        }
    }
}

static void move_groups(void *arg, int64_t block, int thread)
{
    vem_i_hierarchy *h = arg;
    scratch s = scratch_of(h, thread);
    int64_t begin = block * VEM_I_BLOCK, end = begin + VEM_I_BLOCK;
    for (int64_t g = begin; g < end && g < h->groups; g++)
        average(h, h->members + h->group_starts[g],
                h->group_starts[g + 1] - h->group_starts[g], row_of(h, h->group_means, g),
                s.sums);
    int32_t n = (int32_t)((end < h->groups ? end : h->groups) - begin);
    norms_of(h, row_of(h, h->group_means, begin), n,
             (char *)h->group_norms + (size_t)begin * h->kernels->element);
}

int64_t vem_i_hierarchy_near(vem_i_hierarchy *h, const vem_i_scorer *scorer,
                             int32_t reach)
{
    h->scorer = scorer;
    int32_t count = (reach + h->per - 1) / h->per;
    count = count < 1 ? 1 : count > TOP ? TOP : count;
    h->near_count = count < h->groups ? count : h->groups;
    double work = (double)VEM_I_BLOCK * h->d;
    int64_t blocks = vem_i_shards(h->groups, VEM_I_BLOCK);
    vem_i_parallel_light(h->ctx, blocks, work, move_groups, h);
    vem_i_parallel_light(h->ctx, h->cells, work * NEAR_CELLS, find_near, h);
    int64_t pairs = (int64_t)h->cells * h->cells;
    for (int32_t b = 0; b < h->cells; b++) {
        int64_t groups = h->cell_groups[b + 1] - h->cell_groups[b];
        pairs += groups * NEAR_CELLS * h->groups / h->cells;
    }
    return pairs;
}

void vem_i_hierarchy_move(vem_i_hierarchy *h, int32_t cluster, int32_t beside)
{
    if (h->cells == 0 || h->per == 1)
        return; /* a group of its own moves with its mean */
    h->group_of[cluster] = h->group_of[beside];
    h->cell_of[cluster] = h->cell_of[beside];
}

void vem_i_hierarchy_sort(vem_i_hierarchy *h)
{
    if (h->cells == 0 || h->per == 1)
        return;
    int32_t *starts = h->group_starts;
    memset(starts, 0, ((size_t)h->groups + 1) * sizeof *starts);
    for (int32_t c = 0; c < h->clusters; c++)
        starts[h->group_of[c] + 1]++;
    for (int32_t g = 0; g < h->groups; g++)
        starts[g + 1] += starts[g];
    for (int32_t c = 0; c < h->clusters; c++)
        h->members[starts[h->group_of[c]]++] = c;
    for (int32_t g = h->groups; g > 0; g--)
        starts[g] = starts[g - 1];
    starts[0] = 0;
    for (int32_t b = 0; b < h->cells; b++)
        h->cell_starts[b] = starts[h->cell_groups[b]];
    set_ranks(h);
}

void vem_i_hierarchy_forget(vem_i_hierarchy *h)
{
    h->cells = 0;
}
