/* Which clusters lie near which: the graph behind the neighborhood searches.
 *
 * G_c holds `reach` clusters, c itself first. An item that holds the clusters K tries the
 * union of G_c over c in K (and a few drawn at random), so the cost of a step does not
 * grow with the number of clusters. That c is in G_c is the one invariant everything
 * rests on: what an item held is always among what it tries, and F cannot fall. */
#ifndef VEM_SEARCH_GRAPH_H
#define VEM_SEARCH_GRAPH_H

#include "base/record.h"
#include "search/search.h"

/* What the estimated graph learns from: a cluster that an item tried, how far it was. */
typedef struct vem_i_touch {
    int32_t other;
    float distance;
} vem_i_touch;

/* All that one item touched, its nearest cluster among it. */
typedef struct vem_i_run {
    int64_t first; /* touch of its shard */
    int32_t nearest, count;
    int32_t next; /* run of the wave whose item has the same nearest cluster; -1: none */
} vem_i_run;

/* A running average for one pair of clusters. */
typedef struct vem_i_slot {
    int32_t other;
    int32_t count;
    double sum;
} vem_i_slot;

/* How far one other cluster was from the items of the cluster at hand. */
typedef struct vem_i_cell {
    double sum;
    int32_t count;
    uint32_t mark; /* of the cluster and wave that it belongs to */
} vem_i_cell;

/* Scratch of a thread that merges a wave. */
typedef struct vem_i_merge {
    uint32_t mark;
    vem_i_cell *cells;      /* clusters */
    int32_t *touched;       /* clusters + 1 */
    double *averages;       /* slots */
    int32_t *heads, *tails; /* clusters of a bucket: first and last run */
} vem_i_merge;

typedef struct vem_i_graph {
    vem_ctx *ctx;
    int32_t clusters, reach;
    int estimated;
    uint64_t seed;
    uint32_t step;      /* E-steps begun; keys the random candidates */
    int32_t *neighbors; /* clusters x reach, own first */
    uint32_t *stamps;   /* threads x clusters: mark of the item that tried it last */
    uint32_t *marks;    /* threads: the last mark given */
    /* Estimated: evidence of one step. Bounded slots per cluster: the nearest are kept.
     */
    int32_t slots;
    vem_i_slot *evidence; /* clusters x slots */
    int32_t *used;        /* clusters */
    /* Estimated: what a wave of shards touched, waiting to be merged in their order. */
    int64_t wave, touch_capacity, run_capacity; /* shards of a wave; sizes of a shard */
    vem_i_touch *touches;                       /* wave x touch_capacity */
    vem_i_run *runs;        /* wave x run_capacity, by bucket of the nearest */
    int64_t *bucket_starts; /* wave x (buckets + 1): runs */
    vem_i_run *fresh;       /* threads x run_capacity, as they come */
    vem_i_merge *merges;    /* threads */
    /* Exact: scratch to find the nearest means, one per thread. */
    vem_i_block *blocks;
} vem_i_graph;

vem_status vem_i_graph_new(vem_ctx *ctx, const vem_i_search *search, const vem_view *view,
                           const vem_i_scorer *scorer, vem_i_graph **graph);
void vem_i_graph_free(vem_i_graph *graph);
uint64_t vem_i_graph_bytes(const vem_ctx *ctx, const vem_i_search *search,
                           int32_t clusters, int32_t d, const vem_i_kernels *kernels);

/* Most clusters an item may try. */
int32_t vem_i_graph_candidates(const vem_i_search *search, int32_t clusters);
/* Items of a shard, so that what it touches stays small. */
int64_t vem_i_graph_shard(const vem_i_search *search, int32_t clusters);

/* Once per step, before the items: counts the step, and finds the nearest means (exact).
 * Returns the pairs scored for that. */
int64_t vem_i_graph_prepare(vem_i_graph *graph, const vem_i_scorer *scorer);
/* `count` marks that no item has used on this thread, one after another; the first. */
uint32_t vem_i_graph_marks(vem_i_graph *graph, int thread, int32_t count);
/* Evidence (estimated): the block is told where in the wave its shard writes what it
 * touches, the items of the shard are put by bucket, a wave is merged in the order of its
 * shards, and at the end of the step the averages become the next graph. */
void vem_i_graph_begin_shard(const vem_i_graph *graph, int64_t slot, vem_i_block *block);
void vem_i_graph_end_shard(vem_i_graph *graph, int64_t slot, const vem_i_block *block);
void vem_i_graph_end_wave(vem_i_graph *graph, int64_t shards);
void vem_i_graph_settle(vem_i_graph *graph);
/* Neighbors to begin with, from the coarse cells of the means instead of at random:
 * C sqrt(C) distances (estimated). */
vem_status vem_i_graph_start(vem_i_graph *graph, const vem_i_scorer *scorer,
                             int64_t *pairs);
/* Clusters were dropped: `map` gives the new number of each, -1: gone. */
void vem_i_graph_renumber(vem_i_graph *graph, const int32_t *map, int32_t clusters);
/* A cluster was put beside another: they become neighbors (estimated). */
void vem_i_graph_place(vem_i_graph *graph, int32_t cluster, int32_t beside);
/* What the next step needs to know; `clusters` are those of the model now. */
void vem_i_graph_record(vem_i_record *record, vem_i_graph *graph, int32_t clusters);

#endif
