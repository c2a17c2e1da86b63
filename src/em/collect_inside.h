/* Shared by the files of the collector: all of a run (collect.c), and sums of clusters over processes
 * (collect_apart.c). */
#ifndef VEM_EM_COLLECT_INSIDE_H
#define VEM_EM_COLLECT_INSIDE_H

#include "em/collect.h"

enum {
    VEM_I_COLLECT_PIECES =
        16, /* owned: pieces that count and place their entries by themselves */
    VEM_I_COLLECT_CLUSTERS = 32, /* of a task */
    VEM_I_COLLECT_TOGETHER = 256 /* rows that a cluster takes at a time */
};

struct vem_i_collector {
    vem_i_run *run;
    const vem_view *view;
    const vem_i_scorer *scorer;
    int32_t width;
    int toured;
    int64_t per_shard;    /* items sorted together: of a shard, or of a wave */
    int64_t shards;       /* there is room for; 0: owned */
    int64_t from, to;     /* those that this process counts (data/together.h) */
    int64_t wave;         /* owned: items of the whole that are sorted together */
    vem_i_stats *partial; /* sharded: one per shard */
    uint32_t *entries;    /* sorted items, relative to the first of the shard or wave */
    void *q;              /* their weights, T; NULL when all are 1 */
    int64_t *starts;      /* per thread (sharded) or per piece (owned): clusters + 1 */
    void *panels;         /* per thread: one block of packed items */
    /* The run at hand. */
    const vem_i_posterior *posterior;
    const vem_i_tour *tour; /* toured */
    vem_i_stats *stats;
    const uint8_t *only;  /* C: the clusters that are taken; NULL: all */
    int64_t first, count; /* owned: items of this wave, */
    const int64_t *ends;  /* and where the entries of each cluster end */
};

/* Sorts the items of the wave by cluster: where each ends in `entries` (0: where the first begins). */
const int64_t *vem_i_collector_sort(vem_i_collector *collector);
/* One cluster takes entries [from, to) of the sorted list, items counted from `base`. */
void vem_i_collector_take(const vem_i_collector *collector, int64_t base, int32_t cluster,
                          int64_t from, int64_t to, int thread, vem_i_stats *stats);
/* owned, of processes that share the items: one after the other (collect_apart.c). */
void vem_i_collector_run_apart(vem_i_collector *collector);
/* What that takes, run dry. */
vem_status vem_i_collector_count_apart(const vem_i_collector *collector);

#endif
