/* What an E-step is made of (estep_new.c) and runs on (estep.c). */
#ifndef VEM_EM_ESTEP_INSIDE_H
#define VEM_EM_ESTEP_INSIDE_H

#include <stdatomic.h>

#include "em/collect.h"
#include "em/estep.h"

struct vem_i_estep {
    vem_i_run *run;
    const vem_view *view;
    const vem_i_scorer *scorer;
    vem_i_search *search;
    const vem_i_search_type *type; /* of the search */
    int64_t shards, per_shard;     /* of the items there are now */
    int64_t sums,
        per_sum;  /* shards of log sums and distances: these or, of items that the search
                              takes in an order of its own, others in that of their places */
    void *costs;  /* then: n of T, of what items hold first, */
    double *logs; /* and n log sums; NULL: of one cluster, whose cost tells */
    double *log_sums; /* per thread: one block */
    int32_t capacity; /* items of a block */
    vem_i_step_plan plan;
    double average;       /* cost of the nearest held cluster in the last step */
    vem_i_stats *partial; /* dense: one per shard of a block */
    int64_t partials;     /* of them: shards of a block */
    vem_i_stats turned; /* of sparse items and several processes: their sum, by column */
    vem_i_blocks *blocks; /* NULL: all items are one */
    vem_i_collector *collector;
    vem_i_stats
        labelled; /* of a step in which all items were labelled at once (labels.c) */
    double *shard_log_sum, *shard_distance;
    int64_t *shard_pairs, *shard_changed;
    vem_i_stats *foreseen; /* are collected next, with nothing between; or NULL */
    /* Of the run at hand. */
    vem_i_posterior *posterior;
    int again;                /* score what is held, search nothing */
    const vem_progress *told; /* NULL: nobody; items are counted */
    int may_leave;            /* a stop ends a shard in its middle */
    _Atomic int64_t items_done;
    _Atomic int left;   /* one was */
    int64_t wave_first; /* shards run together, */
    int64_t from, to;   /* of these, which are all or those of a block */
};

/* ---- estep_kept.c ---- */

/* What all items hold, and what the shards have found, from an earlier call of this process: 1. */
int vem_i_estep_recall(vem_i_estep *estep);
void vem_i_estep_keep(vem_i_estep *estep);

/* ---- estep.c, of the items there are now ---- */

void vem_i_estep_count_shards(vem_i_estep *estep);

/* ---- estep_items.c ---- */

vem_status vem_i_estep_take_items(vem_i_estep *estep);
/* What the items of a block have found, and then the sums of all shards of the items. */
void vem_i_estep_leave_costs(const vem_i_estep *estep, const vem_i_block *block);
void vem_i_estep_leave_logs(const vem_i_estep *estep, const vem_i_block *block,
                            const double *log_sum);
void vem_i_estep_sum_items(vem_i_estep *estep);

/* ---- labels.c ---- */

vem_status vem_i_labels_new(vem_i_estep *estep);
/* The step, if the search can label all items at once; 0: it cannot. */
int vem_i_labels_run(vem_i_estep *estep, vem_i_posterior *posterior,
                     const vem_progress *told, int may_skip, vem_i_estep_result *result);
/* The statistics of such a step. */
void vem_i_labels_collect(const vem_i_estep *estep, vem_i_stats *stats);

#endif
