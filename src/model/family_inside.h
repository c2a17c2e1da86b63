/* What families share: all densities; and those with shapes along the columns with those in which all
 * clusters have the same one, since the scorers of diag and full know no difference. */
#ifndef VEM_MODEL_FAMILY_INSIDE_H
#define VEM_MODEL_FAMILY_INSIDE_H

#include "model/family.h"

/* What all densities answer. */
#define VEM_I_DENSITY .has_places = 1, .may_be_scaled = 1, .gains_by_columns = 1

/* family_diag.c; a has 1 / sd, b has mean / sd. */
void vem_i_diag_prepare(vem_i_run *run, const vem_model *model, vem_i_scorer *scorer);
void vem_i_diag_precision(const vem_i_scorer *scorer, int64_t c, void *row);
void vem_i_diag_score_tile(const vem_i_scorer *scorer, const vem_i_items *items,
                           int32_t first, int32_t count, void *costs, int64_t ldv);
void vem_i_diag_score_pairs(const vem_i_scorer *scorer, const vem_i_items *items,
                            int32_t m, const int32_t *index, void *costs, int64_t ldv);
void vem_i_diag_collect_tile(const vem_i_scorer *scorer, const vem_i_items *items,
                             const void *q, int32_t cluster, int thread,
                             vem_i_stats *stats);

/* family_full.c; a has inverse Cholesky factors. */
vem_i_state vem_i_full_state(int32_t d, size_t element);
/* The factor of a covariance into row c of a; returns log|2 pi Sigma|. work: d x d. */
double vem_i_full_factor(const vem_i_scorer *scorer, int64_t c, const double *covariance,
                         double *work);
void vem_i_full_precision(const vem_i_scorer *scorer, int64_t c, void *row);
void vem_i_full_score_tile(const vem_i_scorer *scorer, const vem_i_items *items,
                           int32_t first, int32_t count, void *costs, int64_t ldv);
void vem_i_full_score_pairs(const vem_i_scorer *scorer, const vem_i_items *items,
                            int32_t m, const int32_t *index, void *costs, int64_t ldv);
void vem_i_full_collect_tile(const vem_i_scorer *scorer, const vem_i_items *items,
                             const void *q, int32_t cluster, int thread,
                             vem_i_stats *stats);

#endif
