/* A binary tree over the items of a view: every node is a cell with its mass, mean and
 * spread, and every cut through the tree is a partition of the items. Nodes are split
 * when someone asks. */
#ifndef VEM_DATA_TREE_H
#define VEM_DATA_TREE_H

#include "base/residence.h"
#include "data/view.h"

/* How a node is cut in two: at its mean, across the direction in which its items vary
 * most; the same cut, moved halfway between the means of its sides; or at its mean
 * across the column of largest variance, and then nodes keep bounding boxes. Means
 * leave the least scatter inside cells in most cases, boxes in the plane
 * (bench/results/tree.md). Cells of a fit are of the first kind, those of
 * moore-em and of the search of boxes keep boxes; means are for tests and the bench alone. */
typedef enum vem_i_tree_kind {
    VEM_I_TREE_PRINCIPAL,
    VEM_I_TREE_BOXES,
    VEM_I_TREE_MEANS
} vem_i_tree_kind;

typedef struct vem_i_tree_spec {
    vem_i_tree_kind kind;
    vem_i_spread_kind spread; /* what nodes carry */
    int64_t nodes; /* most there is room for: 2 * cells - 1 for so many cells */
    int32_t depth; /* nodes at this depth are not split; 0: 64 */
} vem_i_tree_spec;

enum { VEM_I_TREE_OPEN = -1, VEM_I_TREE_LEAF = -2 };

typedef struct vem_i_tree {
    const vem_view *view;
    vem_i_tree_spec spec;
    int64_t count;   /* nodes; the root is node 0 */
    uint32_t *order; /* n: the items of a node are order[first .. first + rows) */
    double *mass;
    double *scatter; /* mass times the trace of the covariance of its points */
    int64_t *first, *rows;
    int32_t
        *left; /* the right child is left + 1; OPEN: not split yet; LEAF: cannot be split,
                      because its items lie in one place or it is at the greatest depth */
    int32_t *depth;
    void *means; /* T, rows ld apart */
    int64_t ld;
    void
        *spreads; /* T, rows spread_ld apart: covariances about the mean, laid out as in a
                      view; NULL where the kind is none */
    int64_t spread_ld;
    void *boxes; /* T, rows 2 d apart: the least, then the largest value of each column;
                    NULL: the kind keeps none */
    /* The items in the order of the tree: those of a node lie together. */
    void *x;         /* T, rows d apart */
    double *weights; /* their masses; NULL: all 1 */

    /* For the tree itself. */
    vem_i_mapping *spill; /* the file that x rests in; NULL: memory */
    struct vem_i_tree_work *work;
} vem_i_tree;

/* The root alone. A node of no mass does not exist unless the view has none. The view
 * must outlive the tree; it has at most 2^32 - 1 items. */
vem_status vem_i_tree_new(vem_i_run *run, const vem_view *view,
                          const vem_i_tree_spec *spec, vem_i_tree **tree);
void vem_i_tree_free(vem_i_tree *tree);

/* Split those of the listed nodes that are open and can be split, as far as there is
 * room, in the order of the list; each is named once. Children are numbered by that
 * order, whatever threads do, and what a node holds depends on its ancestors alone.
 * After a stop or a deadline nothing was split. */
vem_status vem_i_tree_split(vem_i_run *run, vem_i_tree *tree, const int32_t *nodes,
                            int64_t count);
/* Split level by level, to at most so many leaves of this depth at most. Of a level
 * that does not fit those with the largest scatter are split. For tests and the bench: fits
 * split cells where F gains (moves/refine.c). */
vem_status vem_i_tree_build(vem_i_run *run, vem_i_tree *tree, int64_t cells,
                            int32_t depth);

#endif
