/* Every item's nearest of a set of centers, exactly. */
#ifndef VEM_SEED_NEAREST_H
#define VEM_SEED_NEAREST_H

#include "model/family.h"

/* centers: an iso-shared model in the units of the view. labels and squares (distances;
 * may be NULL) have one entry per item. */
vem_status vem_i_nearest(vem_ctx *ctx, const vem_view *view, const vem_model *centers,
                         int32_t *labels, double *squares);

#endif
