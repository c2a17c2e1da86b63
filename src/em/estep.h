/* The E-step: for each block of items, find what they hold, normalise, store or collect.
 */
#ifndef VEM_EM_ESTEP_H
#define VEM_EM_ESTEP_H

#include "em/blocks.h"
#include "em/posterior.h"
#include "search/tour.h"

typedef struct vem_i_estep vem_i_estep;

typedef struct vem_i_estep_result {
    double log_sum;  /* sum_i w_i log sum_{c in K_i} exp(-v/2): F + W base / 2 */
    double distance; /* sum_i w_i v(i, nearest held) */
    int64_t pairs;
    int64_t changed; /* items whose held set changed */
    int skipped;     /* a stop was requested and blocks were left out */
} vem_i_estep_result;

/* Scratch and shards for these sizes. blocks: parts in which statistics are kept (blocks.h; more than
 * one needs a dense search); 0: the step takes none. */
vem_status vem_i_estep_new(vem_i_run *run, const vem_view *view,
                           const vem_i_scorer *scorer, const vem_i_search_spec *search,
                           int64_t blocks, vem_i_estep **estep);
void vem_i_estep_free(vem_i_estep *estep);
/* What its search was asked for. */
const vem_i_search_spec *vem_i_estep_search(const vem_i_estep *estep);
/* Items of a shard in which it adds up the statistics of n items, which no process can hold in part
 * (data/together.h). 0: they are not added up by shards. entries: of all rows that are
 * sparse, else -1. */
int64_t vem_i_estep_shard(const vem_i_search_spec *search, vem_i_shape shape, int64_t n,
                          int64_t entries);
enum { VEM_I_ESTEP_SHARD = 4 * VEM_I_BLOCK }; /* of one that keeps no statistics */

/* What the steps to come do. */
void vem_i_estep_plan(vem_i_estep *estep, const vem_i_step_plan *plan);
/* After that step nothing comes before its statistics are collected (into these, which are overwritten), so
 * that processes may say all of it at once; NULL: something may. */
void vem_i_estep_foresee(vem_i_estep *estep, vem_i_stats *stats);
/* One step with the scorer as it is now. `stats` (NULL when not collecting) is
 * overwritten. `told` names phase and step for the progress function; may_skip: see
 * parallel.h. */
vem_i_estep_result vem_i_estep_run(vem_i_estep *estep, vem_i_posterior *posterior,
                                   vem_i_stats *stats, const vem_progress *told,
                                   int may_skip);
/* The same without a search: what is held is scored again, for a model whose numbers
 * changed but not the order of its costs. A dense search has no other way than to score
 * all. */
vem_i_estep_result vem_i_estep_again(vem_i_estep *estep, vem_i_posterior *posterior,
                                     vem_i_stats *stats);
/* The parts of its statistics; NULL: there is one. */
vem_i_blocks *vem_i_estep_blocks(const vem_i_estep *estep);
/* The same step for the items of one block; the others keep what they have. `stats` are those of
 * all, and the log sum is F with the posteriors that all have. */
vem_i_estep_result vem_i_estep_run_block(vem_i_estep *estep, vem_i_posterior *posterior,
                                         int64_t block, vem_i_stats *stats, int may_skip);
/* The items hold clusters that are near: let the search begin with what it can learn from
 * the means alone. Adds to the distances taken. */
vem_status vem_i_estep_start(vem_i_estep *estep, int64_t *pairs);
/* How many clusters hold nothing; -1: only the statistics tell. */
int64_t vem_i_estep_empty(vem_i_estep *estep, const vem_i_posterior *posterior);
/* The statistics of what is held now. */
void vem_i_estep_collect(vem_i_estep *estep, const vem_i_posterior *posterior,
                         vem_i_stats *stats);
/* The same again for some clusters (only[c] != 0), when the scorer takes moments about other
 * means but scores as before. Returns the pairs scored: a dense search scores all. */
int64_t vem_i_estep_recollect(vem_i_estep *estep, vem_i_posterior *posterior,
                              const uint8_t *only, vem_i_stats *stats);
/* The loop was entered after an E-step: what that left beside the posterior is made again. */
void vem_i_estep_enter(vem_i_estep *estep, vem_i_posterior *posterior);
/* The items in the order of the cluster they hold first; NULL: the search keeps none. */
const vem_i_tour *vem_i_estep_order(vem_i_estep *estep, const vem_i_posterior *posterior);
/* A move has changed what items hold, but no cluster. */
void vem_i_estep_moved(vem_i_estep *estep);
/* Clusters were dropped: the posterior and the search take their new numbers (map; -1:
 * gone). */
void vem_i_estep_renumber(vem_i_estep *estep, vem_i_posterior *posterior,
                          const int32_t *map, int32_t clusters);
/* A cluster was put beside another: the search takes note. It may be one more than there were
 * (search.h): then this comes before anything else is told of it. */
void vem_i_estep_beside(vem_i_estep *estep, int32_t cluster, int32_t beside);
/* A cluster was put on an item: the item holds it instead of the last it held, so that
 * searches that do not try all clusters can find it there. */
void vem_i_estep_place(vem_i_estep *estep, vem_i_posterior *posterior, int32_t cluster,
                       int64_t item);
/* What the next step needs to know besides the model and the posterior, which were recorded
 * before. */
void vem_i_estep_record(vem_i_record *record, vem_i_estep *estep,
                        const vem_i_posterior *posterior, int32_t clusters);

#endif
