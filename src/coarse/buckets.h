/* Coarse buckets of the clusters of a model, and regions of buckets: k-means over the means,
 * twice. The clusters of a bucket are contiguous, so that a bucket is one dense tile, and so
 * are the buckets of a region. */
#ifndef VEM_COARSE_BUCKETS_H
#define VEM_COARSE_BUCKETS_H

#include "base/memory.h"
#include "model/family.h"

typedef struct vem_i_buckets {
    int32_t count;      /* buckets; each has a cluster */
    int32_t regions;    /* each has a bucket */
    int32_t clusters;   /* clusters of positive weight: those in buckets */
    int32_t *order;     /* clusters: by bucket, ascending within a bucket */
    int32_t *starts;    /* count + 1: where the clusters of a bucket begin in `order` */
    int32_t *bucket_of; /* of every cluster of the model; -1: of weight 0, in none */
    int32_t *region_starts; /* regions + 1: the first bucket of a region */
    int32_t *reach;         /* count + 1: regions in which the nearest P buckets are
                               looked for; never falls with P */
    vem_i_scorer scorer;    /* the buckets as clusters of one shape, and the regions: */
    vem_i_scorer coarse;    /* which are near an item */
    int64_t pairs;          /* distances taken to make them */
} vem_i_buckets;

/* About how many buckets make the search of many items cheapest, how many regions they are
 * in, and the pairs their making takes. */
int32_t vem_i_buckets_wanted(int32_t clusters);
int32_t vem_i_regions_wanted(int32_t count);
double vem_i_buckets_pairs(int32_t clusters, int32_t count);

/* About `count` of them. The model is in the units of the views whose items will meet the
 * buckets. */
vem_status vem_i_buckets_new(vem_i_run *run, const vem_i_kernels *kernels,
                             const vem_model *model, int32_t count, uint64_t seed,
                             vem_i_buckets *buckets);
void vem_i_buckets_free(vem_i_buckets *buckets);
/* The nearest region of every item. */
vem_status vem_i_buckets_region(vem_i_run *run, const vem_i_buckets *buckets,
                                const vem_view *view, int32_t *nearest);

/* What one thread needs to choose buckets for items. */
typedef struct vem_i_choice {
    void *panels, *norms; /* VEM_I_BLOCK packed items */
    void *tile;           /* VEM_I_BLOCK costs of each region, or of the buckets of one */
    void *costs; /* VEM_I_BLOCK x stride: those of an item together, as it meets them */
    int64_t stride; /* more than there are buckets */
    int32_t *met;   /* VEM_I_BLOCK x regions: the regions an item looks into */
    int32_t *met_count, *cost_count; /* VEM_I_BLOCK */
    uint64_t *wants;                 /* regions x VEM_I_BLOCK / 64 */
    int32_t *rows;                   /* VEM_I_BLOCK */
    uint32_t *items;                 /* VEM_I_BLOCK: rows of the view */
    int64_t pairs;                   /* distances taken so far */
} vem_i_choice;

enum { VEM_I_CHOICE_ROOMS = 10 };
/* The arrays of a choice, to be taken or freed. */
void vem_i_choice_rooms(const vem_i_buckets *buckets, const vem_view *view,
                        vem_i_choice *choice, vem_i_room *rooms);
/* Which buckets n <= VEM_I_BLOCK listed items of a view want: at least `probes` of the
 * nearest among those of the nearest regions. Item p is bit p % 64 of
 * wants[bucket * stride + p / 64], which is set; other bits are left as they are. */
void vem_i_buckets_choose(const vem_i_buckets *buckets, const vem_view *view,
                          const uint32_t *items, int32_t n, int32_t probes,
                          vem_i_choice *choice, uint64_t *wants, int64_t stride);

#endif
