/* Coarse cells of the clusters of a model: k-means over their means. The clusters of a
 * cell are contiguous, so that a cell is one dense tile. */
#ifndef VEM_SEARCH_CELLS_H
#define VEM_SEARCH_CELLS_H

#include "model/family.h"

typedef struct vem_i_cells {
    int32_t count;       /* cells; each has a cluster */
    int32_t clusters;    /* clusters of positive weight: those in cells */
    int32_t *order;      /* clusters: by cell, ascending within a cell */
    int32_t *starts;     /* count + 1: where the clusters of a cell begin in `order` */
    int32_t *cell_of;    /* of every cluster of the model; -1: of weight 0, in none */
    vem_i_scorer scorer; /* the cells as clusters of one shape: which are near an item */
    int64_t pairs;       /* distances taken to make them */
} vem_i_cells;

/* About how many cells make the search of n items cheapest, and the pairs their making
 * takes. */
int32_t vem_i_cells_wanted(int64_t n, int32_t clusters);
int64_t vem_i_cells_pairs(int32_t clusters, int32_t count);

/* The model is in the units of the views whose items will meet the cells. */
vem_status vem_i_cells_new(vem_ctx *ctx, const vem_i_kernels *kernels,
                           const vem_model *model, int32_t count, uint64_t seed,
                           vem_i_cells *cells);
void vem_i_cells_free(vem_i_cells *cells);
/* The nearest cell of every item. */
vem_status vem_i_cells_nearest(vem_ctx *ctx, const vem_i_cells *cells,
                               const vem_view *view, int32_t *nearest);
/* Which cells the n <= VEM_I_BLOCK packed items want: at least `probes` of the nearest.
 * Item p is bit p % 64 of wants[cell * stride + p / 64]; words of items that there are not
 * are 0. costs: scratch for VEM_I_BLOCK values of every cell. */
void vem_i_cells_choose(const vem_i_cells *cells, const void *panels, int32_t n,
                        int32_t probes, void *costs, uint64_t *wants, int64_t stride);

#endif
