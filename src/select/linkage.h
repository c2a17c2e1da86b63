/* Linkages: trees by the distances of points. */
#ifndef VEM_SELECT_LINKAGE_H
#define VEM_SELECT_LINKAGE_H

#include "base/parallel.h"
#include "model/dendrogram.h"

/* The leaves of a tree as points: n rows of d values, ld apart, with masses (NULL: all
 * 1). */
typedef struct vem_i_leaf_points {
    const double *x;
    int64_t n, ld;
    int32_t d;
    const double *mass;
} vem_i_leaf_points;

/* Merges of the tree with their deltas and ids; VEM_STOPPED without a sentence.
 * `unit`: by which distances are multiplied. Under a run that counts it takes nothing
 * and does nothing. */
vem_status vem_i_linkage(vem_i_run *run, vem_dendrogram_method method,
                         const vem_i_leaf_points *points, double unit,
                         vem_dendrogram *tree);
#endif
