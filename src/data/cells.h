/* Cells: rows that lie together, as items of a view with mean, mass and spread.
 *
 * The cells are a cut through a tree (tree.h): every row is in one of them. A fit that sees them
 * instead of the rows maximises a lower bound of the rows' likelihood (docs/math/cells.md), which
 * rises when a cell is replaced by its two children and is the likelihood itself where all rows
 * of a cell are alike. Cells are in double whatever the type of the rows: they are few, and what
 * is narrow in a spread must not drown in what is wide. */
#ifndef VEM_DATA_CELLS_H
#define VEM_DATA_CELLS_H

#include "base/record.h"
#include "data/tree.h"

/* Some nodes of the tree as items. */
typedef struct vem_i_cell_list {
    int64_t capacity, count;
    int32_t *nodes;
    double *means; /* x d */
    double *mass;
    double *spread; /* x values, of the kind that was asked for */
    double *traces;
} vem_i_cell_list;

/* A way from the root is a number of 64 bits. */
enum { VEM_I_CELLS_DEPTH = 62 };

typedef struct vem_i_cells {
    const vem_i_kernels *kernels; /* of doubles */
    const vem_view *rows;
    vem_i_tree *tree;
    vem_i_spread_kind kind;
    int64_t values; /* of a spread */
    int32_t *first; /* the nodes of the first cut */
    int64_t firsts;
    vem_i_cell_list cut;
    vem_i_cell_list
        children;      /* of all cells of the cut: those of cell i at 2 i and 2 i + 1; one
                                 that cannot be divided, or was not yet, has itself and nothing */
    vem_view views[2]; /* of the cut: with its spread; with the trace of it */
    vem_view child_views[2];
    double seconds; /* that the tree took so far */
} vem_i_cells;

typedef struct vem_i_cells_request {
    vem_i_spread_kind kind; /* of the spread that cells carry beside its trace */
    int64_t most;           /* cells, at most */
    int32_t depth;          /* of the first ones */
    int boxes;     /* nodes are cut across columns and keep the boxes of their rows */
    int64_t times; /* cuts that begin with the first cells, one after the other: what the
                               tree knows below them stays, and there is room for all; 0: 1 */
} vem_i_cells_request;

/* A tree over the rows and its first cut. Can run dry. */
vem_status vem_i_cells_new(vem_i_run *run, const vem_view *rows,
                           const vem_i_cells_request *request, vem_i_cells **cells);
void vem_i_cells_free(vem_i_cells *cells);
/* These first nodes of cut.nodes are the cut. */
void vem_i_cells_put_cut(vem_i_cells *cells, int64_t n);
/* The first cut again. */
void vem_i_cells_reset(vem_i_cells *cells);
/* The cells as a view whose items carry this spread; it changes with the cut. */
const vem_view *vem_i_cells_view(const vem_i_cells *cells, vem_i_spread_kind kind);
const vem_view *vem_i_cells_child_view(const vem_i_cells *cells, vem_i_spread_kind kind);
/* Views pretend to have all items there is room for: while constructors take memory. */
void vem_i_cells_stretch(vem_i_cells *cells, int stretched);
/* The children of all cells. Returns how many cells have some through *divisible. */
vem_status vem_i_cells_look_below(vem_i_run *run, vem_i_cells *cells, int64_t *divisible);
static inline int vem_i_cells_divisible(const vem_i_cells *cells, int64_t cell)
{
    return cells->children.mass[2 * cell + 1] > 0;
}
/* Cell i becomes its first child, and the second one more cell, which is last. */
void vem_i_cells_divide(vem_i_cells *cells, int64_t cell);
/* The cut, to be found again in a tree that is built anew: cells are named by their way from the
 * root. */
void vem_i_cells_record(vem_i_record *record, vem_i_cells *cells);

#endif
