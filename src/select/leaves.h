/* What the leaves of a tree are: rows of a view, or groups of them. */
#ifndef VEM_SELECT_LEAVES_H
#define VEM_SELECT_LEAVES_H

#include "data/view.h"

typedef struct vem_i_leaves {
    const vem_view *view; /* of doubles */
    int64_t count;
    int64_t *starts; /* of a leaf in `rows`, and the end; NULL: leaves are rows */
    int32_t *rows;
} vem_i_leaves;

/* By labels below `groups` (0: leaves are the rows). Groups without rows are left out,
 * the others numbered by their first rows: labels become those numbers. Under a run
 * that counts there are no labels, and as many leaves as groups. */
vem_status vem_i_leaves_new(vem_i_run *run, const vem_view *view, int32_t *labels,
                            int32_t groups, vem_i_leaves *leaves);
void vem_i_leaves_free(vem_i_leaves *leaves);

/* Rows of a leaf: how many, and which is the i-th. */
static inline int64_t vem_i_leaf_rows(const vem_i_leaves *leaves, int64_t leaf)
{
    return leaves->starts ? leaves->starts[leaf + 1] - leaves->starts[leaf] : 1;
}
static inline int64_t vem_i_leaf_row(const vem_i_leaves *leaves, int64_t leaf, int64_t i)
{
    return leaves->starts ? leaves->rows[leaves->starts[leaf] + i] : leaf;
}
/* How many leaves are made ready is told. VEM_OK, or VEM_STOPPED: by whom is told, or
 * the deadline has passed. */
vem_status vem_i_leaves_tell(vem_i_run *run, const vem_i_leaves *leaves, int64_t done);
/* Its mass, in the caller's weights, and its mean (d values). */
double vem_i_leaf_mean(const vem_i_leaves *leaves, int64_t leaf, double *mean);

#endif
