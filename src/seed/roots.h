/* Sparse rows of counts as distances see them, without the table that they would be: of a value
 * its root, of shares that of the value over the row's total (roots.c). */
#ifndef VEM_SEED_ROOTS_H
#define VEM_SEED_ROOTS_H

#include <math.h>

#include "data/sparse.h"
#include "model/contract.h"

typedef struct vem_i_roots {
    vem_i_sparse x;
    const double *totals; /* a row: what its values are divided by */
} vem_i_roots;

/* What the values of a row are divided by. */
double vem_i_root_total(const vem_i_family *family, const vem_i_sparse *x, int64_t row);
/* |y - m|^2 of row y with this total; square = |m|^2. Of an equal row, whose square was added up
 * in the order of its columns, it is 0. */
double vem_i_root_square(const vem_i_sparse *x, int64_t row, double total,
                         const double *m, double square);

/* A row becomes center c of `most`, where all are 0: centers[j * most + c]. Gives |m|^2. */
double vem_i_roots_place(const vem_i_roots *roots, int64_t row, double *centers,
                         int32_t most, int32_t c);
/* And 0 again. */
void vem_i_roots_lift(const vem_i_roots *roots, int64_t row, double *centers,
                      int32_t most, int32_t c);
/* Squared distances of n rows from `first` on to the first m centers: out[c * ldo + i], of T. */
void vem_i_roots_distances(const vem_i_roots *roots, const vem_i_kernels *kernels,
                           int64_t first, int64_t n, const double *centers, int32_t most,
                           const double *squares, int32_t m, void *out, int64_t ldo);

#endif
