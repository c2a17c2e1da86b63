/* A tree of merges that grows (tree_grow.c), and what it will take (tree_grow_plan.c). */
#ifndef VEM_SELECT_TREE_GROW_H
#define VEM_SELECT_TREE_GROW_H

#include "data/points.h"
#include "model/dendrogram.h"
#include "model/family.h"
#include "select/leaves.h"

typedef struct vem_i_growing {
    vem_i_run *run;
    const vem_data *data;
    const vem_options *options;
    vem_dendrogram_options asked;
    const vem_i_family *family;
    vem_i_points *points;
    const vem_view *view; /* of the points */
    vem_i_leaves leaves;
    vem_dendrogram *tree;
    int32_t *labels; /* of the rows: their leaves; NULL: leaves are rows */
    int32_t groups;  /* 0: leaves are rows */
    double began;
} vem_i_growing;

/* The rows as points, and the leaves: rows, or the groups that `labels` say. */
vem_status vem_i_tree_load(vem_i_growing *growing);
/* From the leaves to the whole tree. Under a run that counts (base/memory.h): what that
 * takes, and nothing is made. */
vem_status vem_i_tree_grow(vem_i_growing *growing);

/* What it will take is told, and refused where there is less. */
vem_status vem_i_tree_plan(const vem_i_growing *growing);

/* Rows are put into groups first? */
static inline int vem_i_is_grouped(const vem_i_growing *growing)
{
    return growing->asked.leaves > 0 && growing->asked.leaves < growing->data->n;
}

#endif
