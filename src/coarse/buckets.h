/* Coarse buckets of the clusters of a model: k-means over their means. The clusters of a
 * bucket are contiguous, so that a bucket is one dense tile. */
#ifndef VEM_COARSE_BUCKETS_H
#define VEM_COARSE_BUCKETS_H

#include "model/family.h"

typedef struct vem_i_buckets {
    int32_t count;      /* buckets; each has a cluster */
    int32_t clusters;   /* clusters of positive weight: those in buckets */
    int32_t *order;     /* clusters: by bucket, ascending within a bucket */
    int32_t *starts;    /* count + 1: where the clusters of a bucket begin in `order` */
    int32_t *bucket_of; /* of every cluster of the model; -1: of weight 0, in none */
    vem_i_scorer
        scorer;    /* the buckets as clusters of one shape: which are near an item */
    int64_t pairs; /* distances taken to make them */
} vem_i_buckets;

/* About how many buckets make the search of n items cheapest, and the pairs their making
 * takes. */
int32_t vem_i_buckets_wanted(int64_t n, int32_t clusters);
int64_t vem_i_buckets_pairs(int32_t clusters, int32_t count);

/* The model is in the units of the views whose items will meet the buckets. */
vem_status vem_i_buckets_new(vem_i_run *run, const vem_i_kernels *kernels,
                             const vem_model *model, int32_t count, uint64_t seed,
                             vem_i_buckets *buckets);
void vem_i_buckets_free(vem_i_buckets *buckets);
/* The nearest bucket of every item. */
vem_status vem_i_buckets_nearest(vem_i_run *run, const vem_i_buckets *buckets,
                                 const vem_view *view, int32_t *nearest);
/* Which buckets the n <= VEM_I_BLOCK packed items want: at least `probes` of the nearest.
 * Item p is bit p % 64 of wants[bucket * stride + p / 64]; words of items that there are not
 * are 0. costs: scratch for VEM_I_BLOCK values of every bucket. */
void vem_i_buckets_choose(const vem_i_buckets *buckets, const vem_i_items *items,
                          int32_t probes, void *costs, uint64_t *wants, int64_t stride);

#endif
