/* Checks of the kernels of sparse rows, against their definition. */
#include "kernel_checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 3 }; /* one of so many values is kept, on average */

/* how: 0 floats, 1 doubles, 2 all are 1, 3 bytes. */
static int check_at(const vem_i_kernels *table, int32_t d, int32_t n, int32_t m, int how)
{
    const int64_t rows = 2 * (int64_t)n, lda = m + 3, ldv = n + 5, ldb = m + 1;
    int64_t *starts = calloc((size_t)rows + 1, sizeof *starts);
    int32_t *columns = malloc((size_t)(rows * d) * sizeof *columns);
    float *values = malloc((size_t)(rows * d) * sizeof *values);
    uint8_t *bytes = malloc((size_t)(rows * d));
    double *wide = malloc((size_t)(rows * d) * sizeof *wide);
    uint32_t *list = malloc((size_t)n * sizeof *list);
    void *a = kernel_values(table, d * lda), *bias = kernel_values(table, m);
    void *costs = kernel_values(table, m * ldv), *q = kernel_values(table, m * ldv);
    double *block = calloc((size_t)((1 + d) * ldb), sizeof *block);
    int64_t count = 0;
    for (int64_t i = 0; i < rows; ++i) {
        for (int32_t j = 0; j < d; ++j)
            if (kernel_below(KEPT) == 0) {
                columns[count] = j;
                bytes[count] = (uint8_t)(1 + kernel_below(9));
                values[count] = (float)bytes[count];
                wide[count] = how == 1 ? values[count] + 0.1 : (double)values[count];
                count++;
            }
        starts[i + 1] = count;
    }
    for (int32_t p = 0; p < n; ++p)
        list[p] = (uint32_t)kernel_below(rows);
    kernel_fill(table, a, d * lda, 2);
    kernel_fill(table, bias, m, 2);
    kernel_fill(table, q, m * ldv, 1);
    const vem_i_sparse x = {.starts = starts,
                            .ends = starts + 1,
                            .columns = columns,
                            .bytes = how == 3 ? bytes : NULL,
                            .values = how == 0 ? values : NULL,
                            .wide = how == 1 ? wide : NULL};
    const uint32_t *items = m & 1 ? list : NULL;
    table->sparse_tile(&x, items, n, a, lda, bias, m, costs, ldv);
    table->sparse_collect(&x, items, n, q, ldv, m, block, ldb);
    int bad = 0;
    char where[80];
    snprintf(where, sizeof where, "d %d, n %d, m %d, how %d", d, n, m, how);
    for (int32_t c = 0; c < m; ++c) {
        double *want = calloc((size_t)d + 1, sizeof *want),
               *weight = calloc((size_t)d + 1, sizeof *weight);
        for (int32_t p = 0; p < n; ++p) {
            const int64_t row = items ? (int64_t)items[p] : p;
            const double share = kernel_get(table, q, c * ldv + p);
            double sum = kernel_get(table, bias, c), size = fabs(sum);
            want[0] += share;
            weight[0] += fabs(share);
            for (int64_t e = starts[row]; e < starts[row + 1]; ++e) {
                const double value = how == 2   ? 1
                                     : how == 1 ? wide[e]
                                                : (double)values[e];
                const double term = value * kernel_get(table, a, columns[e] * lda + c);
                sum += term;
                size += fabs(term);
                want[1 + columns[e]] += share * value;
                weight[1 + columns[e]] += fabs(share * value);
            }
            const double got = kernel_get(table, costs, c * ldv + p),
                         bound = kernel_epsilon(table) * (d + 8) * size;
            if (!(fabs(got - sum) <= bound))
                bad += kernel_mismatch(table, "a sparse cost", where, p, got, sum, bound);
        }
        for (int32_t j = 0; j <= d; ++j) {
            const double got = block[j * ldb + c], bound = 1e-15 * (n + 8) * weight[j];
            if (!(fabs(got - want[j]) <= bound))
                bad +=
                    kernel_mismatch(table, "a sparse sum", where, j, got, want[j], bound);
        }
        free(want);
        free(weight);
    }
    void *owned[] = {starts, columns, bytes, values, wide, list,
                     a,      bias,    costs, q,      block};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i)
        free(owned[i]);
    return bad;
}

int check_sparse(const vem_i_kernels *table)
{
    static const int32_t clusters[] = {1, 2, 5, 8, 9, 63, 64, 65, 130, 0};
    int bad = 0;
    kernel_seed(31);
    for (const int32_t *m = clusters; *m; ++m)
        for (int how = 0; how < 4; ++how) {
            bad += check_at(table, 1, 1, *m, how);
            bad += check_at(table, 7, 5, *m, how);
            bad += check_at(table, 90, 17, *m, how);
        }
    return bad;
}
