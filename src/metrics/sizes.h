/* How even clusters are, by labels. */
#ifndef VEM_METRICS_SIZES_H
#define VEM_METRICS_SIZES_H

#include "base/run.h"

/* Rows of this process, with weights (NULL: 1); a label below 0 is none. */
typedef struct vem_i_sized_rows {
    const int32_t *labels;
    const double *weights;
    int64_t n;
} vem_i_sized_rows;

typedef struct vem_i_sizes {
    double mean;        /* mass of a cluster */
    double cv, largest; /* deviation and largest of the masses, as shares of it */
} vem_i_sizes;

/* masses: of the clusters, over all processes. */
vem_status vem_i_sizes_measure(vem_i_run *run, const vem_i_sized_rows *rows,
                               int32_t clusters, double *masses, vem_i_sizes *sizes);

#endif
