/* Symmetric matrices as lower triangles by rows: row i begins at i (i + 1) / 2. */
#ifndef VEM_SELECT_TRIANGLE_H
#define VEM_SELECT_TRIANGLE_H

#include <stdint.h>

static inline int64_t vem_i_triangle(int64_t d)
{
    return d * (d + 1) / 2;
}

static inline double vem_i_dot(const double *a, const double *b, int64_t n)
{
    double sum[4] = {0};
    int64_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (int lane = 0; lane < 4; lane++)
            sum[lane] += a[k + lane] * b[k + lane];
    for (; k < n; k++)
        sum[0] += a[k] * b[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Cholesky factor of 1 + something positive, in place; its log determinant. Pivots are
 * 1 or more but for rounding, and are kept so. */
double vem_i_triangle_factorize(double *matrix, int64_t d);
/* Inverse of such a factor, in place. */
void vem_i_triangle_invert(double *factor, int64_t d);
/* matrix += v v' */
void vem_i_triangle_add(double *matrix, const double *v, int64_t d);

#endif
