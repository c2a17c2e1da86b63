/* Rows that are held out of a selection, and tell what its mixtures are worth. */
#ifndef VEM_SELECT_HELD_OUT_H
#define VEM_SELECT_HELD_OUT_H

#include "data/data.h"
#include "model/path.h"

/* All rows are there twice: with the weights of those that are fitted, and of the
 * others. */
typedef struct vem_i_held_out {
    vem_data fitted, others;
    double *weights; /* 2 n; whoever holds out frees them, also on failure */
} vem_i_held_out;

vem_status vem_i_hold_out(vem_i_run *run, const vem_data *data, double share,
                          uint64_t seed, vem_i_held_out *h);
/* The likelihood of the others, into the points of the path. A stop leaves the rest unmeasured. */
vem_status vem_i_measure_others(vem_i_run *run, const vem_i_held_out *h, vem_path *path);

#endif
