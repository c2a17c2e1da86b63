/* From a sparse posterior to statistics, in an order that does not depend on threads. */
#ifndef VEM_EM_COLLECT_H
#define VEM_EM_COLLECT_H

#include "em/posterior.h"
#include "search/tour.h"

typedef struct vem_i_collector vem_i_collector;

/* Statistics of all shards together: up to so many bytes, else clusters own their sums; and then entries
 * that are sorted at a time, which bounds the memory. Tests have less. */
extern uint64_t vem_i_collect_sharded;
extern int64_t vem_i_collect_wave;

/* toured: every run will be told the items in the order of their first cluster. */
vem_status vem_i_collector_new(vem_i_run *run, const vem_view *view,
                               const vem_i_scorer *scorer, int32_t width, int toured,
                               vem_i_collector **collector);
/* Are the sums those of shards, and not of each cluster? */
int vem_i_collector_is_sharded(const vem_i_collector *collector);
/* How many clusters hold nothing, from the entries alone; -1: only the statistics tell. */
int64_t vem_i_collector_empty(vem_i_collector *collector,
                              const vem_i_posterior *posterior);
/* Items of a shard of n items; 0: clusters own their sums, and there are no shards. */
int64_t vem_i_collector_shard(const vem_i_family *family, int64_t n, int32_t clusters,
                              int32_t d);
void vem_i_collector_free(vem_i_collector *collector);
/* `tour`: that order, or NULL. `only` (C, NULL: all): clusters whose statistics are taken; the others keep theirs. */
void vem_i_collector_run(vem_i_collector *collector, const vem_i_posterior *posterior,
                         const vem_i_tour *tour, const uint8_t *only, vem_i_stats *stats);

#endif
