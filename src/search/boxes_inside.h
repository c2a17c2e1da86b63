/* What a walk over boxes is made of: boxes_walk_new.c takes it, boxes_walk.c decides
 * about nodes, boxes_rows.c labels and sums their rows. */
#ifndef VEM_SEARCH_BOXES_INSIDE_H
#define VEM_SEARCH_BOXES_INSIDE_H

#include "search/boxes.h"

/* In place of a task: what is above the roots of all. */
enum { VEM_I_ABOVE = -1 };

/* Scratch of a thread. */
struct vem_i_walker {
    int32_t *lists;        /* candidates, those of a child behind those of its parent */
    vem_i_box_cost *costs; /* of the candidates of a node */
    double *center, *half; /* of its box: d each */
    double *slopes, *others, *work;
    vem_i_scorer some; /* up to VEM_I_TILE candidates */
    void *panels, *tile, *best, *q;
    int32_t *index;
    int32_t *got;    /* of the rows of a block: which candidate they hold */
    int32_t *places; /* C + 2: where rows of a candidate begin */
    uint32_t *sorted;
    int64_t task; /* whose statistics it adds to; VEM_I_ABOVE: what is above them */
    int64_t root; /* VEM_I_ABOVE: the next root */
    int32_t
        owner;  /* of the candidates of the node, the one of least cost in its middle */
    int looked; /* its slopes are known */
    vem_i_labelled count;
};

/* All rows of a node hold cluster c: the statistics; and the labels. */
void vem_i_walk_add_node(const vem_i_walk *walk, const vem_i_walker *walker, int32_t node,
                         int32_t c);
void vem_i_walk_label_all(const vem_i_walk *walk, vem_i_walker *walker, int32_t node,
                          int32_t c);
/* Both, row by row: each holds one of m listed candidates, whose costs over the box
 * are known. */
void vem_i_walk_label_leaf(const vem_i_walk *walk, vem_i_walker *walker, int32_t node,
                           const int32_t *list, int32_t m, int thread);

#endif
