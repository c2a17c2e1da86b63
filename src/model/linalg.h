/* Dense symmetric matrices, lower triangle of a full row-major d x d array. */
#ifndef VEM_MODEL_LINALG_H
#define VEM_MODEL_LINALG_H

#include <stdint.h>

/* Cholesky factor in place (lower). 0 when not positive definite. */
int vem_i_cholesky(double *matrix, int32_t d);
/* Inverse of a lower triangular matrix in place. */
void vem_i_invert_lower(double *matrix, int32_t d);
/* Eigenvalues and, as the rows of `vectors` (d x d), their eigenvectors, in no order. The
 * lower triangle and the diagonal are used up; work: 3 d. 0: they were not found, which takes
 * numbers at the edge of the type. */
int vem_i_eigen(double *matrix, int32_t d, double *values, double *vectors, double *work);
/* Eigenvalues no less than `floor`, nor than what rounding can tell from 0 beside the
 * largest; in place, both triangles written. A Cholesky factorisation says first whether
 * there is anything to do. What that leaves of the matrix before in units of that after,
 * d - tr(after^-1 before): 0 where nothing was raised. */
double vem_i_floor_eigenvalues(double *matrix, int32_t d, double floor, double *work);
/* Doubles of work for that. */
int64_t vem_i_floor_work(int32_t d);

#endif
