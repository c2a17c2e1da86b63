/* The memory of buckets and groups, and what happens when clusters move between them. */
#include "coarse/hierarchy_inside.h"

#include <math.h>
#include <string.h>

#include "base/bucket_sort.h"
#include "base/memory.h"

enum {
    BUCKETS_PER_ROOT = 3,
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

int32_t vem_i_hierarchy_buckets(int32_t clusters)
{
    /* Items crowd into the buckets that have many clusters; more and smaller buckets than
     * sqrt(C) are cheaper for the same recall. */
    double buckets = BUCKETS_PER_ROOT * ceil(sqrt((double)clusters));
    return buckets < clusters ? (int32_t)buckets : clusters;
}

static int32_t most_groups(int32_t clusters, int32_t per)
{
    return clusters / per + vem_i_hierarchy_buckets(clusters) + 1;
}

/* Panels, norms, lists and sums of one thread. */
static size_t scratch_bytes(const vem_i_kernels *kernels, int32_t d)
{
    size_t columns = (size_t)d, block = VEM_I_BLOCK, element = kernels->element;
    size_t bytes = columns * sizeof(double) + block * (columns + 1) * element +
                   TOP * block * (element + sizeof(int32_t)) +
                   VEM_I_NEAR_BUCKETS * (columns + 1) * element;
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
    s.some_norms = s.some + VEM_I_NEAR_BUCKETS * columns * element;
    return s;
}

enum { ARRAYS = 17 };

/* All it takes, for as many clusters, buckets, groups and columns as it says itself. */
static void list_arrays(vem_i_hierarchy *h, size_t threads, size_t element,
                        vem_i_room *list)
{
    const size_t clusters = (size_t)h->clusters, index = sizeof(int32_t);
    const size_t buckets = (size_t)h->most_buckets, groups = (size_t)h->most_groups;
    const size_t row = (size_t)h->d * element;
    const vem_i_room arrays[ARRAYS] = {
        {&h->members, clusters, index, 0},
        {&h->rank, clusters, index, 0},
        {&h->bucket_of, clusters, index, 0},
        {&h->group_of, clusters, index, 0},
        {&h->fresh, clusters, index, 0},
        {&h->bucket_starts, buckets + 1, index, 0},
        {&h->bucket_groups, buckets + 1, index, 0},
        {&h->group_starts, groups + 1, index, 0},
        {&h->bucket_means, buckets, row, 0},
        {&h->bucket_norms, buckets, element, 0},
        {&h->buckets_near, buckets, VEM_I_NEAR_BUCKETS * index, 0},
        {&h->group_means, groups, row, 0},
        {&h->group_norms, groups, element, 0},
        {&h->ones, groups, element, 0},
        {&h->zeros, groups, element, 1},
        {&h->near, groups, TOP * index, 0},
        {&h->scratch, threads, h->scratch_size, 0},
    };
    memcpy(list, arrays, sizeof arrays);
}

static vem_i_hierarchy sized(vem_i_run *run, const vem_i_kernels *kernels,
                             int32_t clusters, int32_t d, int32_t per)
{
    return (vem_i_hierarchy){.run = run,
                             .kernels = kernels,
                             .clusters = clusters,
                             .d = d,
                             .per = per,
                             .most_groups = most_groups(clusters, per),
                             .most_buckets = vem_i_hierarchy_buckets(clusters),
                             .scratch_size = scratch_bytes(kernels, d)};
}

vem_status vem_i_hierarchy_new(vem_i_run *run, const vem_i_kernels *kernels,
                               int32_t clusters, int32_t d, int32_t per,
                               vem_i_hierarchy *hierarchy)
{
    vem_i_hierarchy h = sized(run, kernels, clusters, d, per);
    vem_i_room list[ARRAYS];
    list_arrays(&h, (size_t)run->threads, kernels->element, list);
    vem_status status = vem_i_take_rooms(run, list, ARRAYS);
    if (status != VEM_OK) {
        vem_i_hierarchy_free(&h);
        return status;
    }
    for (int64_t g = 0; h.ones && g < h.most_groups; g++)
        vem_i_store(kernels, h.ones, g, 1);
    *hierarchy = h;
    return VEM_OK;
}

void vem_i_hierarchy_free(vem_i_hierarchy *h)
{
    vem_i_room list[ARRAYS];
    list_arrays(h, 0, 0, list);
    vem_i_free_rooms(list, ARRAYS);
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

void vem_i_hierarchy_nearest(const vem_i_hierarchy *h, const void *x, int64_t ld,
                             const uint32_t *items, int32_t n, const void *centers,
                             const void *norms, int32_t count, int32_t top,
                             vem_i_hierarchy_desk s)
{
    const vem_i_kernels *kernels = h->kernels;
    kernels->pack(x, ld, items, n, h->d, NULL, s.panels, s.norms);
    vem_i_block_clear(kernels, s.best, s.index, top, VEM_I_BLOCK, VEM_I_BLOCK);
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
    if (cluster == h->clusters) { /* one more: built anew, and last until then */
        h->members[cluster] = h->rank[cluster] = h->clusters++;
        vem_i_hierarchy_forget(h);
    }
    if (h->buckets == 0 || h->per == 1)
        return; /* a group of its own moves with its mean */
    h->group_of[cluster] = h->group_of[beside];
    h->bucket_of[cluster] = h->bucket_of[beside];
}

void vem_i_hierarchy_sort(vem_i_hierarchy *h)
{
    if (h->buckets == 0 || h->per == 1)
        return;
    vem_i_bucket_sort(h->group_of, 0, NULL, h->clusters, h->groups, h->group_starts,
                      h->members);
    for (int32_t b = 0; b < h->buckets; b++)
        h->bucket_starts[b] = h->group_starts[h->bucket_groups[b]];
    vem_i_hierarchy_ranks(h);
}

void vem_i_hierarchy_forget(vem_i_hierarchy *h)
{
    h->buckets = 0;
}
