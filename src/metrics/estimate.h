/* A mean over all rows from the values of a sample of them, with its standard error. */
#ifndef VEM_METRICS_ESTIMATE_H
#define VEM_METRICS_ESTIMATE_H

#include "data/sample.h"

typedef struct vem_i_estimate {
    double mean;  /* per unit of mass */
    double error; /* its standard error; 0: the sample is everything */
} vem_i_estimate;

/* `values`: one for each row of the sample. */
vem_i_estimate vem_i_estimate_mean(const vem_i_sample *sample, const double *values);

#endif
