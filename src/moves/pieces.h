/* Sums over all items in the order of one process, whoever has the items. */
#ifndef VEM_MOVES_PIECES_H
#define VEM_MOVES_PIECES_H

#include "data/view.h"

/* Pieces that the items are cut into. */
enum { VEM_I_PIECES = 16 };

/* Adds what items [from, to) say. */
typedef void (*vem_i_items_add)(void *arg, int64_t from, int64_t to, double *sums);

typedef struct vem_i_pieces {
    vem_i_run *run;
    const vem_view *view;
    int64_t count, values;
    double *partial; /* count x values */
    double *turn;    /* 2 x values; of one process NULL */
    double work;     /* of an item, as operations */
    vem_i_items_add add;
    void *arg;
} vem_i_pieces;

/* Each piece in the order of its items, and the pieces in theirs: the first `values` of `partial`. */
void vem_i_pieces_sum(const vem_i_pieces *pieces);
/* All items in their order, added to `sums`. */
void vem_i_items_sum(const vem_i_run *run, const vem_view *view, double *sums,
                     int64_t values, vem_i_items_add add, void *arg);

#endif
