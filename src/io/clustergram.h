/* How members move between mixtures, as a picture: a column of clusters for each
 * mixture, each as high as its share of the rows, and ribbons between neighbouring
 * columns. */
#ifndef VEM_IO_CLUSTERGRAM_H
#define VEM_IO_CLUSTERGRAM_H

#include <stdio.h>

#include "model/flows.h"

enum {
    VEM_I_GRAM_BLOCKS = 60, /* of a column: of more clusters the smallest are one block */
    VEM_I_GRAM_HEIGHT = 440 /* of the columns, in pixels */
};

typedef struct vem_i_gram_block {
    int32_t cluster; /* -1: the rest */
    double share;
    int32_t color; /* -1: none */
    double y, high;
} vem_i_gram_block;

typedef struct vem_i_gram_column {
    int32_t clusters, count;
    vem_i_gram_block blocks[VEM_I_GRAM_BLOCKS];
    int order[VEM_I_GRAM_BLOCKS]; /* which block stands at a place, from above */
} vem_i_gram_column;

typedef struct vem_i_clustergram {
    const vem_flows *flows;
    int32_t count, chosen; /* columns; which of them was chosen, or -1 */
    int32_t of;            /* mixtures of the path */
    vem_i_gram_column *columns;
    double *ribbons; /* between columns i and i + 1: BLOCKS x BLOCKS shares */
    int rest;        /* some blocks are several clusters */
} vem_i_clustergram;

static inline double *vem_i_gram_ribbons(const vem_i_clustergram *g, int32_t column)
{
    return g->ribbons + (size_t)column * VEM_I_GRAM_BLOCKS * VEM_I_GRAM_BLOCKS;
}

/* `chosen` clusters are those of the chosen mixture, of a path of `count`. Keeps the
 * flows, which must outlive it. */
vem_status vem_i_clustergram_new(vem_i_run *run, const vem_flows *flows, int32_t chosen,
                                 int32_t count, vem_i_clustergram **gram);
void vem_i_clustergram_free(vem_i_clustergram *gram);
/* As it is drawn (clustergram_print.c): how high, and so wide from y = top on. */
int vem_i_clustergram_height(void);
void vem_i_clustergram_print(FILE *out, const vem_i_clustergram *gram, int width,
                             double top);

#endif
