/* A stratified sample of rows without replacement: strata of nearly equal weight. */
#ifndef VEM_DATA_SAMPLE_H
#define VEM_DATA_SAMPLE_H

#include "base/run.h"

enum { VEM_I_STRATA = 64 };

typedef struct vem_i_sample {
    int64_t size;
    int64_t *rows;   /* `size` rows, ascending */
    uint8_t *strata; /* the stratum of each of them */
    double *weights; /* of each of them, as shares of the greatest; NULL: all 1 */
    int64_t count[VEM_I_STRATA]; /* rows of positive weight in each stratum */
    int64_t
        taken[VEM_I_STRATA]; /* how many of them are in the sample: 2 at least, or all */
    double unit;             /* the greatest weight */
    double mass;             /* sum of all weights, in units */
} vem_i_sample;

/* About `size` of n rows (`weights`: n of them, or NULL: all 1; `size` is positive), a
 * function of the seed, the weights and the sizes alone. size >= n takes every row of
 * positive weight. */
vem_status vem_i_sample_new(vem_i_run *run, const double *weights, int64_t n,
                            int64_t size, uint64_t seed, vem_i_sample *sample);
void vem_i_sample_free(vem_i_sample *sample);

#endif
