/* The memory of cells and groups, and what happens when clusters move between them. */
#include "search/hierarchy_inside.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum {
    CELLS_PER_ROOT = 3,
#ifndef VEM_SMALL_HIERARCHY
    GROUPS = 4096, /* about, whatever the number of clusters */
#else
    GROUPS = 8, /* the fuzz target has few clusters, and needs groups of several */
#endif
    TOP = VEM_I_TOP_MAX
};

int32_t vem_i_group_size(int32_t clusters)
{
    return (clusters + GROUPS - 1) / GROUPS;
}

int32_t vem_i_cells_for(int32_t clusters)
{
    /* Items crowd into the cells that have many clusters; more and smaller cells than
     * sqrt(C) are cheaper for the same recall. */
    double cells = CELLS_PER_ROOT * ceil(sqrt((double)clusters));
    return cells < clusters ? (int32_t)cells : clusters;
}

static int32_t most_groups(int32_t clusters, int32_t per)
{
    return clusters / per + vem_i_cells_for(clusters) + 1;
}

/* Panels, norms, lists and sums of one thread. */
static size_t scratch_bytes(const vem_i_kernels *kernels, int32_t d)
{
    size_t columns = (size_t)d, block = VEM_I_BLOCK, element = kernels->element;
    size_t bytes = columns * sizeof(double) + block * (columns + 1) * element +
                   TOP * block * (element + sizeof(int32_t)) +
                   VEM_I_NEAR_CELLS * (columns + 1) * element;
    return (bytes + 127) / 64 * 64;
}

vem_i_hierarchy_desk vem_i_hierarchy_desk_at(const vem_i_hierarchy *h, int thread)
{
    size_t element = h->kernels->element, columns = (size_t)h->d;
    char *at = h->scratch + (size_t)thread * h->scratch_size;
    vem_i_hierarchy_desk s = {.panels = at};
    s.norms = s.panels + VEM_I_BLOCK * columns * element;
    s.best = s.norms + VEM_I_BLOCK * element;
    s.sums = (double *)(void *)(s.best + TOP * VEM_I_BLOCK * element);
    s.index = (int32_t *)(void *)(s.sums + columns);
    s.some = (char *)(s.index + TOP * VEM_I_BLOCK);
    s.some_norms = s.some + VEM_I_NEAR_CELLS * columns * element;
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
                         .most_cells = vem_i_cells_for(clusters),
                         .scratch_size = scratch_bytes(kernels, d)};
    size_t count = (size_t)clusters, groups = (size_t)h.most_groups;
    size_t cells = (size_t)vem_i_cells_for(clusters), element = kernels->element;
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
        status =
            vem_i_take(ctx, &h.cells_near, cells, VEM_I_NEAR_CELLS * sizeof(int32_t));
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
    vem_i_free(h->cells_near);
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
             cells = (uint64_t)vem_i_cells_for(clusters);
    uint64_t row = ((uint64_t)d + 3) * kernels->element;
    return 20 * (uint64_t)clusters + (groups + cells) * (row + 8) +
           (groups * TOP + cells * VEM_I_NEAR_CELLS) * sizeof(int32_t) +
           (uint64_t)ctx->threads * scratch_bytes(kernels, d);
}

void vem_i_hierarchy_norms_of(const vem_i_hierarchy *h, const void *rows, int32_t n,
                              void *norms)
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

void vem_i_hierarchy_average(const vem_i_hierarchy *h, const int32_t *list, int64_t n,
                             char *to, double *sums)
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

void vem_i_hierarchy_clear(const vem_i_hierarchy *h, vem_i_hierarchy_desk s, int32_t top)
{
    for (int64_t i = 0; i < (int64_t)top * VEM_I_BLOCK; i++) {
        vem_i_store(h->kernels, s.best, i, INFINITY);
        s.index[i] = -1;
    }
}

void vem_i_hierarchy_nearest(const vem_i_hierarchy *h, const void *x, int64_t ld,
                             const uint32_t *items, int32_t n, const void *centers,
                             const void *norms, int32_t count, int32_t top,
                             vem_i_hierarchy_desk s)
{
    const vem_i_kernels *kernels = h->kernels;
    kernels->pack(x, ld, items, n, h->d, NULL, s.panels, s.norms);
    vem_i_hierarchy_clear(h, s, top);
    kernels->dot_top(s.panels, s.norms, n, h->d, centers, h->d, norms, h->ones, h->zeros,
                     count, 0, top, s.best, s.index, VEM_I_BLOCK);
}

void vem_i_hierarchy_ranks(vem_i_hierarchy *h)
{
    for (int32_t i = 0; i < h->clusters; i++)
        h->rank[h->members[i]] = i;
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
    vem_i_hierarchy_ranks(h);
}

void vem_i_hierarchy_forget(vem_i_hierarchy *h)
{
    h->cells = 0;
}
