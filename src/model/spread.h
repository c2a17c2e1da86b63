/* What the spread of items adds to their costs and to the second moments.
 *
 * An item whose points have the covariance S about its mean x costs cluster c, on average over
 * them,  v(x,c) + tr(P_c S),  P_c the inverse of the cluster's covariance; and it brings  q S  more
 * to the second moment. Both are linear in S, which a view keeps as its family needs it (view.h):
 * the trace, the diagonal, or the lower triangle by rows. */
#ifndef VEM_MODEL_SPREAD_H
#define VEM_MODEL_SPREAD_H

#include "model/contract.h"
#include "model/stats.h"

/* Room for the precisions of a scorer whose items have a spread; vem_i_scorer_prepare fills it. A
 * scorer without it proposes clusters and does not judge them. */
vem_status vem_i_scorer_take_spread(vem_i_run *run, vem_i_scorer *scorer);
void vem_i_scorer_prepare_spread(vem_i_run *run, vem_i_scorer *scorer);

/* Behind the costs and moments of the items' means, by the functions of contract.h. */
void vem_i_spread_score_tile(const vem_i_scorer *scorer, const vem_i_items *items,
                             int32_t first, int32_t count, void *costs, int64_t ldv);
void vem_i_spread_score_pairs(const vem_i_scorer *scorer, const vem_i_items *items,
                              int32_t m, const int32_t *index, void *costs, int64_t ldv);
void vem_i_spread_collect(const vem_i_scorer *scorer, const vem_i_items *items,
                          const void *q, int32_t cluster, vem_i_stats *stats);

#endif
