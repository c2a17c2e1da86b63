/* Every item's nearest of a set of centers, as well as the dot form can tell: where two
 * centers are equally near to within its rounding, either may be named. Good enough to cut
 * items into cells, and twice as fast as being sure. */
#ifndef VEM_SEED_NEAREST_H
#define VEM_SEED_NEAREST_H

#include "model/family.h"

/* centers: an iso-shared model in the units of the view. labels and squares (T, distances;
 * may be NULL) have one entry per item. */
vem_status vem_i_nearest(vem_ctx *ctx, const vem_view *view, const vem_model *centers,
                         const vem_progress *told, int32_t *labels, void *squares);
/* Bytes it takes. */
uint64_t vem_i_nearest_bytes(const vem_ctx *ctx, const vem_i_kernels *kernels,
                             int32_t clusters, int32_t d);

#endif
