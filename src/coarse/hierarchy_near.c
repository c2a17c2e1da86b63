/* Which buckets and which groups lie near which.
 *
 * The buckets nearest to a bucket, its own among them, stand for "around here": groups look
 * for their neighbors in some of them, and where there are many buckets, so do clusters for
 * their bucket in the later steps of a first build, and items that probe once more. */
#include <string.h>

#include "base/parallel.h"
#include "coarse/hierarchy_inside.h"

enum {
#ifndef VEM_SMALL_HIERARCHY
    LARGE = 16, /* times as many buckets as are known to be near: look at those only */
#else
    LARGE = 1,
#endif
    GROUP_BUCKETS = 24, /* buckets in which a group looks for its neighbors */
    TOP = VEM_I_TOP_MAX
};

int vem_i_hierarchy_is_large(const vem_i_hierarchy *h)
{
    return h->buckets >= LARGE * VEM_I_NEAR_BUCKETS;
}

/* ---- buckets ---- */

static void find_buckets_near(void *arg, int64_t block, int thread)
{
    vem_i_hierarchy *h = arg;
    vem_i_hierarchy_desk s = vem_i_hierarchy_desk_at(h, thread);
    int64_t begin = block * VEM_I_BLOCK, left = h->buckets - begin;
    int32_t n = left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK;
    vem_i_hierarchy_nearest(h, vem_i_hierarchy_row(h, h->bucket_means, begin), h->d, NULL,
                            n, h->bucket_means, h->bucket_norms, h->buckets,
                            h->near_buckets, s);
    for (int32_t p = 0; p < n; p++) {
        int32_t bucket = (int32_t)begin + p, own = h->near_buckets - 1;
        int32_t *near = h->buckets_near + (int64_t)bucket * VEM_I_NEAR_BUCKETS;
        for (int32_t k = 0; k < h->near_buckets; k++) {
            near[k] = s.index[k * VEM_I_BLOCK + p];
            near[k] = near[k] < 0 ? bucket : near[k];
            own = near[k] == bucket ? k : own;
        }
        near[own] = bucket; /* means may coincide: its own must be there */
    }
}

int64_t vem_i_hierarchy_settle(vem_i_hierarchy *h)
{
    vem_i_hierarchy_norms_of(h, h->bucket_means, h->buckets, h->bucket_norms);
    h->near_buckets = h->buckets < VEM_I_NEAR_BUCKETS ? h->buckets : VEM_I_NEAR_BUCKETS;
    vem_i_parallel_light(h->run, vem_i_shards(h->buckets, VEM_I_BLOCK),
                         (double)VEM_I_BLOCK * h->buckets * h->d, find_buckets_near, h);
    return (int64_t)h->buckets * h->buckets;
}

/* ---- groups ---- */

/* The groups of one bucket look for their neighbors in the buckets nearest to it. */
static void find_near(void *arg, int64_t bucket, int thread)
{
    vem_i_hierarchy *h = arg;
    const vem_i_kernels *kernels = h->kernels;
    vem_i_hierarchy_desk s = vem_i_hierarchy_desk_at(h, thread);
    const int32_t *buckets = h->buckets_near + bucket * VEM_I_NEAR_BUCKETS;
    int32_t looked = h->near_buckets < GROUP_BUCKETS ? h->near_buckets : GROUP_BUCKETS;
    int32_t count = h->near_count;
    for (int64_t begin = h->bucket_groups[bucket]; begin < h->bucket_groups[bucket + 1];
         begin += VEM_I_BLOCK) {
        int64_t left = h->bucket_groups[bucket + 1] - begin;
        int32_t n = left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK;
        kernels->pack(vem_i_hierarchy_row(h, h->group_means, begin), h->d, NULL, n, h->d,
                      NULL, s.panels, s.norms);
        vem_i_block_clear(kernels, s.best, s.index, count, VEM_I_BLOCK, VEM_I_BLOCK);
        for (int32_t k = 0; k < looked; k++) {
            int32_t first = h->bucket_groups[buckets[k]];
            if (h->bucket_groups[buckets[k] + 1] > first)
                kernels->dot_top(s.panels, s.norms, n, h->d,
                                 vem_i_hierarchy_row(h, h->group_means, first), h->d,
                                 (const char *)h->group_norms +
                                     (size_t)first * kernels->element,
                                 h->ones, h->zeros,
                                 h->bucket_groups[buckets[k] + 1] - first, first, count,
                                 s.best, s.index, VEM_I_BLOCK);
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
    vem_i_hierarchy_desk s = vem_i_hierarchy_desk_at(h, thread);
    int64_t begin = block * VEM_I_BLOCK, end = begin + VEM_I_BLOCK;
    for (int64_t g = begin; g < end && g < h->groups; g++)
        vem_i_hierarchy_average(h, h->members + h->group_starts[g],
                                h->group_starts[g + 1] - h->group_starts[g],
                                vem_i_hierarchy_row(h, h->group_means, g), s.sums);
    int32_t n = (int32_t)((end < h->groups ? end : h->groups) - begin);
    vem_i_hierarchy_norms_of(h, vem_i_hierarchy_row(h, h->group_means, begin), n,
                             (char *)h->group_norms +
                                 (size_t)begin * h->kernels->element);
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
    vem_i_parallel_light(h->run, blocks, work, move_groups, h);
    vem_i_parallel_light(h->run, h->buckets, work * GROUP_BUCKETS, find_near, h);
    int64_t pairs = 0;
    for (int32_t b = 0; b < h->buckets; b++) {
        int64_t groups = h->bucket_groups[b + 1] - h->bucket_groups[b];
        pairs += groups * GROUP_BUCKETS * h->groups / h->buckets;
    }
    return pairs;
}
