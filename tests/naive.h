/* Truncated EM written down as the papers have it, in double, with no thought for
 * speed: every family is a full covariance matrix here, every cost a triangular solve.
 * Shares nothing with the engine, so agreement means something. */
#ifndef VEM_TESTS_NAIVE_H
#define VEM_TESTS_NAIVE_H

#include "grid.h"

typedef struct naive_model {
    vem_family_kind family;
    vem_prior_kind prior;
    int32_t clusters, d, held;
    double floors[GRID_COLUMNS]; /* of the variances of the columns; of counts their
                                              means */
    double *means, *weights, *covariances; /* C x D, C, C x D x D */
} naive_model;

naive_model naive_from(const vem_model *model, vem_prior_kind prior, int32_t held,
                       const double *floors);
void naive_free(naive_model *model);
/* The E-step: F per unit of mass; labels (n) and the masses w q (n x C). 0 when a
 * covariance is not positive definite. */
int naive_estep(const naive_model *model, const grid_data *data, double *free_energy,
                int32_t *labels, double *wq);
/* The M-step. 0 when the floor binds on a full matrix, which is not done here. */
int naive_mstep(naive_model *model, const grid_data *data, const double *wq);
/* Its variances in the engine's layout. */
void naive_variances(const naive_model *model, double *variances);

/* Lloyd's algorithm: labels by the nearest of `means` (ties to the lowest), the error,
 * then means of the members; empty clusters stay. With a margin, lazy-k-means: an item
 * leaves its label only for a mean nearer by (1 + margin). First step: labels[0] < 0. */
double naive_assign(const grid_data *data, const double *means, int32_t clusters,
                    double margin, int32_t *labels);
void naive_move(const grid_data *data, const int32_t *labels, int32_t clusters,
                double *means);

#endif
