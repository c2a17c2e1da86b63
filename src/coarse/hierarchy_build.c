/* Buckets and groups of clusters: k-means over the means, twice.
 *
 * The means of the clusters are items here, and buckets and groups their clusters; all
 * distances come from the tile kernel. Nothing depends on how well the buckets fit: they
 * only propose. Buckets live on from E-step to E-step, also in files, so that their centers
 * are numbers of the compute type, moved by the kernel's sums about where they were, and a
 * cluster may look only near its last bucket: other roundings than those of lloyd.h. */
#include <math.h>
#include <string.h>

#include "base/bucket_sort.h"
#include "base/parallel.h"
#include "coarse/hierarchy_inside.h"

/* The mean of a cluster. */
static const char *mean_of(const vem_i_hierarchy *h, int64_t cluster)
{
    return (const char *)h->scorer->means +
           (size_t)(cluster * h->scorer->ldc) * h->kernels->element;
}

enum {
    FIRST_STEPS = 3, /* steps of k-means for the first buckets */
    GROUP_STEPS = 3  /* and for groups inside a bucket */
};

/* Where clusters look for the nearest of some centers, and what those are called there:
 * first, first + 1, ... or as the names say. */
typedef struct place {
    const void *means, *norms;
    int32_t count, first;
    const int32_t *names;
} place;

/* Each of the listed clusters (NULL: begin, begin + 1, ...) to the nearest center. Where no
 * distance is a number it takes the first one, or, by names, stays where it is. */
static void assign(const vem_i_hierarchy *h, const int32_t *list, int32_t begin,
                   int32_t n, const place *at, int32_t *center_of, vem_i_hierarchy_desk s)
{
    for (int32_t i = 0; i < n; i += VEM_I_BLOCK) {
        const int32_t count = n - i < VEM_I_BLOCK ? n - i : VEM_I_BLOCK;
        vem_i_hierarchy_nearest(h, mean_of(h, list ? 0 : begin + i), h->scorer->ldc,
                                list ? (const uint32_t *)list + i : NULL, count,
                                at->means, at->norms, at->count, 1, s);
        for (int32_t p = 0; p < count; p++) {
            int32_t *own = &center_of[list ? list[i + p] : begin + i + p];
            if (!at->names)
                *own = at->first + (s.index[p] < 0 ? 0 : s.index[p]);
            else if (s.index[p] >= 0)
                *own = at->names[s.index[p]];
        }
    }
}

/* ---- buckets ---- */

static void find_buckets(void *arg, int64_t block, int thread)
{
    vem_i_hierarchy *h = arg;
    const place all = {h->bucket_means, h->bucket_norms, h->buckets, 0, NULL};
    const int64_t begin = block * VEM_I_BLOCK, left = h->clusters - begin;
    assign(h, NULL, (int32_t)begin, left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK,
           &all, h->bucket_of, vem_i_hierarchy_desk_at(h, thread));
}

/* The clusters of one bucket look for their new one among those near it. */
static void find_buckets_near(void *arg, int64_t bucket, int thread)
{
    vem_i_hierarchy *h = arg;
    const vem_i_hierarchy_desk s = vem_i_hierarchy_desk_at(h, thread);
    const int32_t *near = h->buckets_near + bucket * VEM_I_NEAR_BUCKETS;
    const int32_t begin = h->bucket_starts[bucket];
    const place some = {s.some, s.some_norms, h->near_buckets, 0, near};
    h->kernels->gather(h->bucket_means, h->d, near, h->near_buckets, h->d, NULL, s.some,
                       h->d, s.some_norms);
    assign(h, h->members + begin, 0, h->bucket_starts[bucket + 1] - begin, &some,
           h->bucket_of, s);
}

static void move_bucket(void *arg, int64_t bucket, int thread)
{
    vem_i_hierarchy *h = arg;
    int32_t begin = h->bucket_starts[bucket], end = h->bucket_starts[bucket + 1];
    vem_i_hierarchy_average(h, h->members + begin, end - begin,
                            vem_i_hierarchy_row(h, h->bucket_means, bucket),
                            vem_i_hierarchy_desk_at(h, thread).sums);
}

/* Clusters to their nearest buckets, and the buckets to the means of those. Returns the
 * distances taken. */
static int64_t step_buckets(vem_i_hierarchy *h, int near)
{
    const int32_t looked = near ? h->near_buckets : h->buckets;
    double work = (double)VEM_I_BLOCK * looked * h->d;
    if (near)
        vem_i_parallel_light(h->run, h->buckets, work, find_buckets_near, h);
    else
        vem_i_parallel_light(h->run, vem_i_shards(h->clusters, VEM_I_BLOCK), work,
                             find_buckets, h);
    vem_i_bucket_sort(h->bucket_of, 0, NULL, h->clusters, h->buckets, h->bucket_starts,
                      h->members);
    h->bucket_starts[h->buckets] = h->clusters;
    vem_i_parallel_light(h->run, h->buckets, (double)h->clusters / h->buckets * h->d,
                         move_bucket, h);
    return (int64_t)h->clusters * looked + vem_i_hierarchy_settle(h);
}

/* ---- groups ---- */

/* The groups of one bucket: k-means over its clusters, from clusters at even spaces. The
 * list of the bucket ends in the order of its groups. */
static void group_bucket(void *arg, int64_t bucket, int thread)
{
    vem_i_hierarchy *h = arg;
    vem_i_hierarchy_desk s = vem_i_hierarchy_desk_at(h, thread);
    int32_t begin = h->bucket_starts[bucket], n = h->bucket_starts[bucket + 1] - begin;
    int32_t first = h->bucket_groups[bucket],
            groups = h->bucket_groups[bucket + 1] - first;
    int32_t *list = h->members + begin, *sorted = h->fresh + begin;
    int32_t *starts = h->group_starts + first;
    size_t row = (size_t)h->d * h->kernels->element;
    for (int32_t g = 0; g < groups; g++)
        memcpy(vem_i_hierarchy_row(h, h->group_means, first + g),
               mean_of(h, list[(int64_t)g * n / groups]), row);
    if (groups == n) {
        for (int32_t i = 0; i < n; i++) {
            h->group_of[list[i]] = first + i;
            starts[i] = begin + i;
        }
        return;
    }
    char *means = vem_i_hierarchy_row(h, h->group_means, first);
    char *norms = (char *)h->group_norms + (size_t)first * h->kernels->element;
    const place own = {means, norms, groups, first, NULL};
    for (int step = 0; step < GROUP_STEPS; step++) {
        vem_i_hierarchy_norms_of(h, means, groups, norms);
        assign(h, list, 0, n, &own, h->group_of, s);
        vem_i_bucket_sort(h->group_of, first, list, n, groups, starts, sorted);
        memcpy(list, sorted, (size_t)n * sizeof *list);
        for (int32_t g = 0; g < groups; g++)
            vem_i_hierarchy_average(h, list + starts[g],
                                    (g + 1 < groups ? starts[g + 1] : n) - starts[g],
                                    vem_i_hierarchy_row(h, h->group_means, first + g),
                                    s.sums);
    }
    for (int32_t g = 0; g < groups; g++)
        starts[g] += begin;
}

int64_t vem_i_hierarchy_build(vem_i_hierarchy *h, const vem_i_scorer *scorer, int steps)
{
    h->scorer = scorer;
    h->clusters = scorer->clusters;
    size_t row = (size_t)h->d * h->kernels->element;
    int64_t pairs = 0;
    int near = 0;
    if (h->buckets == 0) {
        h->buckets = vem_i_hierarchy_buckets(h->clusters);
        for (int64_t b = 0; b < h->buckets; b++)
            memcpy(vem_i_hierarchy_row(h, h->bucket_means, b),
                   mean_of(h, b * h->clusters / h->buckets), row);
        steps = FIRST_STEPS;
        pairs += vem_i_hierarchy_settle(h);
    }
    for (int step = 0; step < steps; step++) {
        pairs += step_buckets(h, near);
        near = vem_i_hierarchy_is_large(h); /* from where the step before left them */
    }
    h->groups = 0;
    for (int32_t b = 0; b < h->buckets; b++) {
        int32_t n = h->bucket_starts[b + 1] - h->bucket_starts[b];
        h->bucket_groups[b] = h->groups;
        h->groups += (n + h->per - 1) / h->per;
    }
    h->bucket_groups[h->buckets] = h->groups;
    vem_i_parallel(h->run, h->buckets, group_bucket, h);
    h->group_starts[h->groups] = h->clusters;
    h->near_count = 0;
    vem_i_hierarchy_ranks(h);
    return pairs;
}
