/* Which clusters lie near which: the graph behind the neighborhood searches.
 *
 * G_c holds `reach` clusters, c itself first. An item that holds the clusters K tries the
 * union of G_c over c in K (and a few drawn at random), so the cost of a step does not
 * grow with the number of clusters. That c is in G_c is the one invariant everything
 * rests on: what an item held is always among what it tries, and F cannot fall. */
#ifndef VEM_SEARCH_GRAPH_H
#define VEM_SEARCH_GRAPH_H

#include "search/search.h"

/* A search by a graph; the two kinds put their own state behind it. */
typedef struct vem_i_graph {
    vem_i_search search;
    int32_t clusters, reach;
    uint32_t step;      /* E-steps begun; keys the random candidates */
    int32_t *neighbors; /* clusters x reach, own first */
} vem_i_graph;

/* What a thread has to list the clusters an item tries: the beginning of its scratch. */
typedef struct vem_i_tries {
    uint32_t *stamps; /* clusters: mark of the item that tried it last */
    int32_t *drawn;   /* room for C' clusters */
    uint32_t mark;    /* the last one given */
} vem_i_tries;

/* Most clusters an item may try. */
int32_t vem_i_graph_candidates(const vem_i_search_spec *spec);
/* Items of a shard, so that what it touches stays small. */
int64_t vem_i_graph_shard(const vem_i_search_spec *spec);
/* Entries of vem_i_search_type that both kinds have, or begin with. */
vem_i_block_shape vem_i_graph_shape(const vem_i_search_spec *spec,
                                    const vem_i_kernels *kernels);
size_t vem_i_graph_scratch(const vem_i_search_spec *spec, int32_t d,
                           const vem_i_kernels *kernels, void *tries, vem_i_room *list);
vem_status vem_i_graph_create(vem_i_search *search);
void vem_i_graph_free(vem_i_search *search);
/* One cluster more has neighbors at random, like all to begin with. */
void vem_i_graph_place(vem_i_search *search, int32_t cluster, int32_t beside);
void vem_i_graph_renumber(vem_i_search *search, const int32_t *map, int32_t clusters);
void vem_i_graph_record(vem_i_record *record, vem_i_search *search, int32_t clusters,
                        const int32_t *held);
/* The lists of a block; counts: how many clusters each item tried. */
void vem_i_graph_find(vem_i_graph *graph, vem_i_block *block, const int32_t *before,
                      int32_t *counts);

/* ---- The estimated graph ---- */

/* What it learns from: a cluster that an item tried, how far it was. */
typedef struct vem_i_touch {
    int32_t other;
    float distance;
} vem_i_touch;

/* All that one item touched, its nearest cluster among it. */
typedef struct vem_i_strip {
    int64_t first; /* touch of its shard */
    int32_t nearest, count;
    int32_t
        next; /* strip of the wave whose item has the same nearest cluster; -1: none */
} vem_i_strip;

/* A running average for one pair of clusters. */
typedef struct vem_i_slot {
    int32_t other;
    int32_t count;
    double sum;
} vem_i_slot;

/* What waves have found of the clusters of a range and nobody has joined yet, because those of other
 * processes come first: for each cluster that was somebody's nearest a head (its number, how many averages)
 * and these, wave after wave. */
typedef struct vem_i_learned {
    vem_i_slot *slots;
    int64_t count, capacity;
    int lost; /* there was no memory for more */
} vem_i_learned;

/* Shards merged together, and ranges of clusters in which that is done at the same time. */
enum { VEM_I_WAVE = 64, VEM_I_RANGES = 64 };

/* How far one other cluster was from the items of the cluster at hand. */
typedef struct vem_i_far {
    double sum;
    int32_t count;
    uint32_t mark; /* of the cluster and wave that it belongs to */
} vem_i_far;

/* What a thread notes of its shard, and merges with: its scratch. */
typedef struct vem_i_notes {
    vem_i_tries tries;
    vem_i_touch *touches; /* of its shard, within those of the wave */
    int64_t touched;      /* so far */
    vem_i_strip *strips;  /* which item touched what, as they come */
    int32_t strip_count;
    uint32_t stamp;         /* the last mark given */
    vem_i_far *others;      /* clusters */
    int32_t *listed;        /* clusters + 1 */
    double *averages;       /* slots */
    int32_t *heads, *tails; /* clusters of a range: first and last run */
} vem_i_notes;

typedef struct vem_i_estimated {
    vem_i_graph graph;
    /* Evidence of one step. Bounded slots per cluster: the nearest are kept. */
    int32_t slots;
    vem_i_slot *evidence; /* clusters x slots */
    int32_t *used;        /* clusters */
    /* What a wave of shards touched, waiting to be merged in their order. */
    int64_t touch_capacity, strip_capacity; /* of a shard */
    vem_i_touch *touches;                   /* wave x touch_capacity */
    vem_i_strip *strips;   /* wave x strip_capacity, by range of the nearest */
    int64_t *range_starts; /* wave x (ranges + 1): strips */
    vem_i_learned *found;  /* ranges; NULL: one process has all waves */
} vem_i_estimated;

/* The first cluster of a range, and, of the one behind the last, how many clusters there are. */
static inline int64_t vem_i_range_first(const vem_i_estimated *g, int64_t range)
{
    return (range * g->graph.clusters + VEM_I_RANGES - 1) / VEM_I_RANGES;
}

/* The end of a wave, and of a step (graph_merge.c). */
void vem_i_estimated_merge(vem_i_search *search, int64_t shards);
void vem_i_estimated_settle(vem_i_search *search, int found);
/* What items of a cluster touched in a wave (those listed in `notes`) joins its averages. */
void vem_i_estimated_join(vem_i_estimated *graph, vem_i_notes *notes, int32_t cluster,
                          int32_t touched);
/* A mark for a cluster and wave that no other cluster has. */
void vem_i_estimated_mark(const vem_i_estimated *graph, vem_i_notes *notes);
/* The averages become the next graph. */
void vem_i_estimated_renew(vem_i_estimated *graph);

/* ---- Waves of several processes (graph_together.c) ---- */

vem_status vem_i_learned_new(vem_i_estimated *graph);
void vem_i_learned_free(vem_i_estimated *graph);
void vem_i_learned_keep(vem_i_learned *found, const vem_i_notes *notes, int32_t cluster,
                        int32_t touched);
/* All of it joins in the order of the waves, and all processes have the next graph. */
void vem_i_learned_settle(vem_i_estimated *graph);
/* What is kept of it (vem_i_search_type). */
int vem_i_learned_list(const vem_i_search *search, vem_i_kept *list);
int vem_i_learned_again(vem_i_search *search, const vem_i_kept *kept);

#endif
