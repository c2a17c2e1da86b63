/* Rows as boxes: a tree whose nodes know the box, the mass and the moments of their
 * rows, so that all rows of a node can get one label at once (boxes.c). One serves any
 * number of loops over the same rows with clusters of as many axes. */
#ifndef VEM_SEARCH_BOXES_H
#define VEM_SEARCH_BOXES_H

#include "data/tree.h"
#include "model/box_cost.h"
#include "search/search.h"

/* Subtrees are shared out among so many tasks. */
enum { VEM_I_BOXES_TASKS = 64, VEM_I_BOXES_DEPTH = 48 };

typedef struct vem_i_boxes {
    vem_i_tree *tree;
    vem_view view; /* the rows in the order of the tree */
    const vem_i_family *family;
    int64_t leaf; /* nodes of no more rows are not divided */
    /* Of each node, about its mean, as statistics of a cluster: mass, first, second
     * moment. */
    int64_t stride;
    double *sums;
    double *means; /* x d */
    /* The subtrees of the tasks, in the order of their rows. */
    int32_t *roots;
    int64_t root_count;
    int64_t tasks,
        starts[VEM_I_BOXES_TASKS + 1]; /* task t has roots starts[t] .. starts[t+1]-1 */
} vem_i_boxes;

/* Are boxes for such items and clusters? */
int vem_i_boxes_suit(const vem_view *view, const vem_i_family *family);
/* leaf: rows of a node that is not divided; 0: what suits the columns. Can run dry. A stop or a deadline is VEM_STOPPED. */
vem_status vem_i_boxes_new(vem_i_run *run, const vem_view *view,
                           const vem_i_family *family, int64_t leaf, vem_i_boxes **boxes);
void vem_i_boxes_free(vem_i_boxes *boxes);

/* Do boxes pay for hard loops of some ten steps or more, the tree included? By the
 * sizes alone; loops that share a tree do with fewer clusters. */
int vem_i_boxes_pay(const vem_i_family *family, int64_t n, int32_t d, int64_t clusters);
/* The most clusters for which they can. */
int64_t vem_i_boxes_most(int64_t n);

/* ---- one step over all boxes (boxes_walk.c) ---- */

typedef struct vem_i_walker vem_i_walker;

/* What a step works on, and what threads share of it. */
typedef struct vem_i_walk {
    vem_i_run *run;
    const vem_i_boxes *boxes;
    const vem_i_scorer *scorer;
    vem_i_box_coster coster;
    vem_i_block *blocks;   /* of the search, per thread: rows that are looked at again */
    vem_i_walker *walkers; /* per thread */
    vem_i_stats *partial;  /* of each task, and of what is decided above them */
    uint8_t *touched;      /* clusters that have something there */
    uint64_t *alive;       /* of each root: clusters that are left, a bit each */
    int64_t words;         /* of them */
    int32_t *decided;      /* of each root: its label; -1: not decided above it */
    double *work;          /* d */
    int32_t *label;        /* of each node that was labelled as one: with what, */
    uint32_t *stamp;       /* and in which step */
    /* Of the step. */
    uint32_t step;
    int32_t *held;
    int known, same;
} vem_i_walk;

vem_status vem_i_walk_new(vem_i_run *run, const vem_i_boxes *boxes,
                          const vem_i_scorer *scorer, vem_i_block *blocks,
                          vem_i_walk **walk);
void vem_i_walk_free(vem_i_walk *walk);
/* Labels of all rows and the statistics of what they hold. known: there are labels;
 * same: they are what the last walk left, so that boxes that keep theirs need not be
 * written. */
void vem_i_walk_run(vem_i_walk *walk, int32_t *held, int known, int same,
                    const vem_progress *told, int may_skip, vem_i_stats *stats,
                    vem_i_labelled *result);

#endif
