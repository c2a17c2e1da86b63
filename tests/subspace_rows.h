/* Rows that lie near a space of few dimensions, for the tests of fits along leading axes. */
#ifndef VEM_TESTS_SUBSPACE_ROWS_H
#define VEM_TESTS_SUBSPACE_ROWS_H

#include "grid.h"

/* Clusters in `rank` dimensions, turned into d columns, and noise of this deviation in all. */
static inline grid_data rows_of_rank(grid_weights weights, int64_t n, int32_t d,
                                     int32_t rank, double noise)
{
    enum { CLUMPS = 150 };
    grid_data data = grid_data_new(SET_OVERLAPPING, weights, n, d, 91);
    double *places = grid_rows(SET_OVERLAPPING, CLUMPS, rank, 92);
    double *within = grid_rows(SET_OVERLAPPING, n, rank, 93);
    double *turn = grid_rows(SET_OVERLAPPING, rank, d, 94);
    for (int64_t i = 0; i < n; i++) {
        double *row = data.x + i * d;
        const double *place = places + i * 7 % CLUMPS * rank;
        for (int64_t j = 0; j < d; j++)
            row[j] *= noise;
        for (int64_t k = 0; k < rank; k++) {
            const double along = place[k] + 0.2 * within[i * rank + k];
            for (int64_t j = 0; j < d; j++)
                row[j] += along * turn[k * d + j];
        }
    }
    free(places);
    free(within);
    free(turn);
    return data;
}

static inline vem_options subspace_options(int64_t clusters)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = clusters;
    o.precision = VEM_SINGLE;
    o.max_steps = 40;
    return o;
}

#endif
