/* How near to a cluster, and how far from it, the points of a box can lie, in its own units. */
#ifndef VEM_MODEL_BOX_H
#define VEM_MODEL_BOX_H

#include "model/contract.h"

/* low <= min and max <= high of (x - mu)' P (x - mu) over low_j <= x_j <= high_j. */
typedef struct vem_i_box_bounds {
    double low, high;
} vem_i_box_bounds;

/* Of cluster c of a scorer that has precisions (spread.h). box: d least values, then d largest; work:
 * 4 d doubles. Exact where columns are independent, and up to VEM_I_BOX_VERTICES columns `high` is,
 * too. */
vem_i_box_bounds vem_i_box_bounds_of(const vem_i_scorer *scorer, int32_t c,
                                     const double *box, double *work);
enum { VEM_I_BOX_VERTICES = 6 };

#endif
