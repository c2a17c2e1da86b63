/* Cells that overlap: items of a view that share rows by weights.
 *
 * Row i belongs to some cells A with weights beta_iA >= 0 that add up to 1. A cell of mass
 * n_A = sum_i w_i beta_iA, with mean and spread weighted the same way, is an item like any other, and F of
 * the view is a lower bound of the likelihood of the rows for all weights (docs/math/cells.md). Weights
 * of 0 and 1 are a partition. */
#ifndef VEM_DATA_OVERLAP_H
#define VEM_DATA_OVERLAP_H

#include "data/view.h"

typedef struct vem_i_overlap {
    vem_i_run *run;
    const vem_view *rows; /* points: without a spread */
    /* Borrowed: row i belongs to cells members[starts[i]] to before members[starts[i + 1]], to one at
     * least. */
    const int64_t *starts;
    const int32_t *members;
    double *weights; /* beta, beside the members */
    int64_t cells, values;
    double *mass, *means, *spread;
    vem_view view; /* in double */
} vem_i_overlap;

/* Each row is shared evenly by its cells. kind: of the spread that they carry. */
vem_status vem_i_overlap_new(vem_i_run *run, const vem_view *rows, vem_i_spread_kind kind,
                             int64_t cells, const int64_t *starts, const int32_t *members,
                             vem_i_overlap **overlap);
void vem_i_overlap_free(vem_i_overlap *overlap);
/* Cells from the weights as they are now. One that nothing belongs to weighs nothing. */
void vem_i_overlap_sum(vem_i_overlap *overlap);

#endif
