/* The centers of least cost of an item among all: centers are the clusters of a scorer.
 *
 *     sure    as direct differences say, ties to the lowest number
 *     rough   where the dot form serves: what it says. Of two centers equally near to within
 *             its rounding either may be named; good enough to cut items into buckets, and
 *             faster */
#ifndef VEM_COARSE_NEAREST_H
#define VEM_COARSE_NEAREST_H

#include "coarse/block.h"

/* Up to this many dimensions direct differences cost no more than the dot product's
 * bookkeeping, and they need no second look. */
enum { VEM_I_DIRECT_MAX = 16 };
/* Do tiles of these clusters take the dot form? */
static inline int vem_i_by_dots(const vem_i_scorer *s)
{
    return s->family->dots && s->d > VEM_I_DIRECT_MAX;
}

/* Clusters first .. end-1 of a scorer against packed items, into lists of `top` rows,
 * where they are called number, number + 1, ...: by the dot form, or by direct differences
 * through a tile of VEM_I_TILE rows of VEM_I_BLOCK, and then ldv is that too. */
void vem_i_tiles_top(const vem_i_scorer *scorer, int by_dots, const vem_i_items *items,
                     const void *norms, int32_t first, int32_t end, int32_t number,
                     int32_t top, void *tile, void *costs, int32_t *index, int64_t ldv);

/* What a block needs for lists of `held` that are sure. */
vem_i_block_shape vem_i_closest_shape(int32_t held);
/* The lists of a loaded block: the `held` clusters of least cost and, with `extra`, the best
 * that is not held. */
void vem_i_block_closest(vem_i_block *block, int32_t held, int32_t extra);

/* The nearest center of every item of a view. squares (T, NULL: none): its cost. A stop is
 * VEM_STOPPED, without a message. */
vem_status vem_i_nearest(vem_i_run *run, const vem_view *view, const vem_i_scorer *scorer,
                         int sure, const vem_progress *told, int32_t *labels,
                         void *squares);

#endif
