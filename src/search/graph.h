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

/* What the estimated graph learns from: item's nearest cluster, another it tried, how
 * far. */
typedef struct vem_i_touch {
    int32_t nearest, other;
    float distance;
} vem_i_touch;

/* A running average for one pair of clusters. */
typedef struct vem_i_slot {
    int32_t other;
    int32_t count;
    double sum;
} vem_i_slot;

/* How far one other cluster was from the items of the cluster at hand. */
typedef struct vem_i_cell {
    int64_t mark; /* of the cluster and wave that it belongs to */
    double sum;
    int32_t count;
} vem_i_cell;

/* Touches in a row whose items have the same nearest cluster. */
typedef struct vem_i_run {
    const vem_i_touch *touches;
    int32_t count, next;
} vem_i_run;

/* Scratch of a thread that merges a wave. */
typedef struct vem_i_merge {
    int64_t mark;
    vem_i_cell *cells;      /* clusters */
    int32_t *touched;       /* clusters */
    vem_i_run *runs;        /* items of a wave */
    int32_t *heads, *tails; /* clusters of a bucket: first and last run */
} vem_i_merge;

typedef struct vem_i_graph {
    vem_ctx *ctx;
    int32_t clusters, reach;
    int estimated;
    uint64_t seed;
    uint32_t step;      /* E-steps begun; keys the random candidates */
    int32_t *neighbors; /* clusters x reach, own first */
    int64_t *stamps;    /* threads x clusters: item that tried the cluster last, plus 1 */
    /* Estimated: evidence of one step. Bounded slots per cluster: the nearest are kept.
     */
    int32_t slots;
    vem_i_slot *evidence; /* clusters x slots */
    int32_t *used;        /* clusters */
    /* Estimated: what a wave of shards touched, waiting to be merged in their order. */
    int64_t wave, touch_capacity; /* shards in a wave; touches of a shard */
    vem_i_touch *touches;         /* wave x touch_capacity, by bucket of nearest */
    int64_t *bucket_starts;       /* wave x (buckets + 1) */
    vem_i_touch *fresh;           /* threads x touch_capacity, as they come */
    vem_i_merge *merges;          /* threads */
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
/* Evidence (estimated): a shard's touches are put by bucket, a wave is merged in the
 * order of its shards, and at the end of the step the averages become the next graph. */
void vem_i_graph_end_shard(vem_i_graph *graph, int64_t slot, int thread, int64_t count);
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
