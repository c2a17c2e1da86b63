/* The few matrix operations the full family needs, on one thread and with LAPACK. Small
 * matrices are what mixtures have; below D = 32 or so the call costs more than the work,
 * hence the plain loops there. */
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "model/family.h"

enum { SMALL = 32 };

int vem_i_cholesky(double *matrix, int32_t d)
{
    if (d > SMALL)
        return LAPACKE_dpotrf_work(LAPACK_ROW_MAJOR, 'L', d, matrix, d) == 0;
    for (int32_t j = 0; j < d; j++) {
        double *row_j = matrix + j * d, pivot = row_j[j];
        for (int32_t k = 0; k < j; k++)
            pivot -= row_j[k] * row_j[k];
        if (!(pivot > 0) || !isfinite(pivot))
            return 0;
        row_j[j] = sqrt(pivot);
        for (int32_t i = j + 1; i < d; i++) {
            double *row_i = matrix + i * d, sum = row_i[j];
            for (int32_t k = 0; k < j; k++)
                sum -= row_i[k] * row_j[k];
            row_i[j] = sum / row_j[j];
        }
    }
    return 1;
}

void vem_i_invert_lower(double *matrix, int32_t d)
{
    /* Row i of the inverse from the rows above it: u_ij = -(sum_k l_ik u_kj) / l_ii. */
    for (int32_t i = 0; i < d; i++) {
        double *row = matrix + (int64_t)i * d, inverse = 1 / row[i];
        for (int32_t j = 0; j < i; j++) {
            double sum = 0;
            for (int32_t k = j; k < i; k++)
                sum += row[k] * matrix[(int64_t)k * d + j];
            row[j] = -sum; /* l_ij is needed no more: later columns start at k > j */
        }
        for (int32_t j = 0; j < i; j++)
            row[j] *= inverse;
        row[i] = inverse;
    }
}

int64_t vem_i_floor_work(int32_t d)
{
    int64_t n = d;
    return n + n * n + n * 34; /* eigenvalues, a copy, and dsyev's work */
}

static void clamp_eigenvalues(double *matrix, int32_t d, double floor, double *work)
{
    double *values = work, *vectors = work + d, *rest = vectors + (int64_t)d * d;
    memcpy(vectors, matrix, (size_t)d * (size_t)d * sizeof(double));
    /* Row-major lower is column-major upper: rows of `vectors` become the eigenvectors.
     */
    lapack_int n = d, size = 34 * n, info = 0;
    LAPACK_dsyev("V", "U", &n, vectors, &n, values, rest, &size, &info);
    if (info !=
        0) { /* did not converge: fall back to the nearest shape that is certain */
        double trace = 0;
        for (int32_t j = 0; j < d; j++)
            trace += matrix[(int64_t)j * d + j];
        memset(matrix, 0, (size_t)d * (size_t)d * sizeof(double));
        for (int32_t j = 0; j < d; j++)
            matrix[(int64_t)j * d + j] = fmax(trace / d, floor);
        return;
    }
    memset(matrix, 0, (size_t)d * (size_t)d * sizeof(double));
    for (int32_t k = 0; k < d; k++) {
        double value = values[k] > floor ? values[k] : floor;
        const double *v = vectors + (int64_t)k * d;
        for (int32_t i = 0; i < d; i++)
            for (int32_t j = 0; j < d; j++)
                matrix[(int64_t)i * d + j] += value * v[i] * v[j];
    }
}

void vem_i_floor_eigenvalues(double *matrix, int32_t d, double floor, double *work)
{
    double trace = 0;
    for (int64_t j = 0; j < d; j++)
        trace += matrix[j * d + j];
    floor = fmax(floor, 64 * d * DBL_EPSILON * trace);
    memcpy(work, matrix, (size_t)d * (size_t)d * sizeof(double));
    for (int64_t j = 0; j < d; j++)
        work[j * d + j] -= floor;
    if (!vem_i_cholesky(work, d))
        clamp_eigenvalues(matrix, d, floor, work);
}
