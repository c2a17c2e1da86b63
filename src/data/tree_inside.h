/* What the files of the tree share: sums over rows that lie together, and the cutting
 * of a node. */
#ifndef VEM_DATA_TREE_INSIDE_H
#define VEM_DATA_TREE_INSIDE_H

#include "data/tree.h"

/* Up to so many columns second moments are summed row by row. */
enum { VEM_I_TREE_PLAIN = 4 };

/* Sums over some rows, one array of doubles: mass, the sum of squares of the places
 * about their mean, the mean (d), then the scatter of all points about it, weighted
 * and not divided: its diagonal (d) or its lower triangle by rows; for boxes the least
 * values (d) and the largest (d). */
typedef struct vem_i_tree_sums {
    double *mass, *places, *mean, *scatter, *low, *high;
} vem_i_tree_sums;

/* Where to cut a node: an item goes right if axis . (x - center) > 0, or, where there
 * is a column, if x[column] > at. */
typedef struct vem_i_tree_cut {
    int32_t column; /* -1: none */
    double at;
    double *axis, *center; /* d */
} vem_i_tree_cut;

/* A part of a node of many rows: who works on it depends on nobody. */
typedef struct vem_i_tree_piece {
    int32_t large;       /* which of the nodes of many rows */
    int64_t begin, rows; /* of those of the node, or of the tree where sums are taken */
    int64_t
        from; /* its first row that goes right is swapped with the first one from here on
                            that goes left */
} vem_i_tree_piece;

/* A node of many rows that is being split. */
typedef struct vem_i_tree_large {
    int32_t node, slot; /* slot: the number its left child will have */
    int64_t piece, pieces;
    int64_t sums, sums_left,
        sums_right; /* pieces of the children, as they are summed up */
    int64_t left;   /* rows that go left; -1: another cut is needed */
    uint64_t *sides;
    vem_i_tree_cut cut;
} vem_i_tree_large;

typedef struct vem_i_tree_work {
    int threads;
    int64_t capacity; /* nodes */
    int64_t
        piece_rows; /* a node of more is cut into pieces of so many: a multiple of 64 */
    int64_t most_pieces; /* of all nodes at once */
    int64_t most_large;
    int full;             /* the scatter is a triangle */
    int64_t sums_doubles; /* of one vem_i_tree_sums */
    int spread_says;      /* the spread of a node is that of its places */
    int32_t *column;      /* of each node: that of the largest variance; kind boxes */
    int32_t *list;        /* nodes to split */
    int32_t *groups;      /* where the groups of small ones begin in it */
    vem_i_tree_large *large;
    vem_i_tree_piece *pieces;
    double *piece_sums;  /* of each piece */
    uint64_t *sides;     /* a bit for each row of large nodes: it goes right */
    double *axes;        /* of large nodes: axis and center */
    uint64_t *own_sides; /* of each thread: a bit for each row of a small node */
    double *own;         /* of each thread: own_doubles */
    int64_t own_doubles;
    const vem_i_kernels *wide; /* in double */
    int64_t block;             /* rows that are packed at a time; 0: none are */
    double *own_rows;          /* of each thread: weights, rows and panels of a block */
    int64_t own_row_doubles;
} vem_i_tree_work;

#define VEM_I_TREE_INLINE static inline __attribute__((always_inline))

/* Where `single` is a constant, a load without a question. */
VEM_I_TREE_INLINE double vem_i_tree_value(const void *x, int64_t i, int single)
{
    return single ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static inline void *vem_i_tree_row(const vem_i_tree *tree, int64_t place)
{
    return (char *)tree->x +
           (size_t)place * (size_t)tree->view->d * tree->view->kernels->element;
}

static inline vem_i_tree_sums vem_i_tree_sums_in(const vem_i_tree *tree, double *doubles)
{
    const int64_t d = tree->view->d;
    vem_i_tree_sums sums = {.mass = doubles, .places = doubles + 1, .mean = doubles + 2};
    sums.scatter = sums.mean + d;
    sums.low = sums.scatter + (tree->work->full ? d * (d + 1) / 2 : d);
    sums.high = sums.low + d;
    return sums;
}

/* Of d values on the diagonal of a triangle, or (full 0) in a row, the first that is
 * as large as any: all columns of a whole view may have variance 1, and rounding must
 * not choose among them. kernels NULL: of type double. */
int32_t vem_i_tree_widest(const vem_i_kernels *kernels, const void *values, int32_t d,
                          int full);

/* Sums of some rows in the order of the tree. */
void vem_i_tree_sum(const vem_i_tree *tree, int64_t begin, int64_t rows, int thread,
                    vem_i_tree_sums out);
/* Add those of other rows. */
void vem_i_tree_merge(const vem_i_tree *tree, vem_i_tree_sums into, vem_i_tree_sums from);
/* sum_j += sum_i w_i e_j, second_jk += sum_i w_i e_j e_k, the lower triangle by rows,
 * e = x_i - center, over rows `step` apart. weights NULL: all 1. */
void vem_i_tree_triangle(const vem_i_tree *tree, int64_t begin, int64_t rows,
                         int64_t step, const double *center, double *sum, double *second);

/* Which of some rows go right, as bits; how many. */
int64_t vem_i_tree_sides(const vem_i_tree *tree, const vem_i_tree_cut *cut, int64_t begin,
                         int64_t rows, uint64_t *sides);
/* How many in [begin, end) do. */
int64_t vem_i_tree_count_right(const uint64_t *sides, int64_t begin, int64_t end);
/* Of the rows from `first` on, with sides as bits from 0 on: those in [begin, end)
 * that go right change places with those from `from` on that go left. */
void vem_i_tree_swap(const vem_i_tree *tree, int64_t first, const uint64_t *sides,
                     int64_t begin, int64_t end, int64_t from);

/* The direction in which the items of a node vary most, or its column; `own` has 4 d +
 * 300 doubles. */
void vem_i_tree_axis(const vem_i_tree *tree, int32_t node, double *own,
                     vem_i_tree_cut *cut);
/* Move a cut to halfway between the means of its two sides, as rows `step` apart say;
 * `own` has 2 d doubles. */
void vem_i_tree_refine(const vem_i_tree *tree, int64_t begin, int64_t rows, int64_t step,
                       double *own, vem_i_tree_cut *cut);
/* The middle of the column in which items with a mass lie farthest apart: 0 if they
 * all lie in one place. */
int vem_i_tree_middle(const vem_i_tree *tree, int32_t node, double *own,
                      vem_i_tree_cut *cut);

/* Make a node of the sums of its rows. */
void vem_i_tree_put(const vem_i_tree *tree, int32_t node, int32_t depth, int64_t first,
                    int64_t rows, vem_i_tree_sums sums);

#endif
