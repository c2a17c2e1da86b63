/* What a fit runs on when it does not run on all rows. */
#ifndef VEM_FIT_REDUCE_H
#define VEM_FIT_REDUCE_H

#include "data/coreset.h"
#include "data/support.h"
#include "fit/programme.h"

typedef struct vem_i_reduction {
    const vem_data *rows; /* what to fit: the data, or the coreset */
    vem_data *coreset;    /* NULL: all rows */
    double *scale;        /* of all rows, where columns are divided by it; else NULL */
    int64_t pairs;        /* distances it took */
} vem_i_reduction;

/* By the resolved options; `scale` is that of a model to start from, or NULL; `whiten` as in
 * vem_i_points_request. */
vem_status vem_i_reduce(vem_i_run *run, const vem_data *data, const vem_options *options,
                        int whiten, const double *scale, vem_i_reduction *reduction);
/* Values of all rows are looked at, of several processes by each those of its own. */
vem_status vem_i_reduce_support(vem_i_run *run, const vem_data *data,
                                const vem_i_support *support);
void vem_i_reduction_free(vem_i_reduction *reduction);

#endif
