/* Checks of the kernels of what is linear in rows beside the items. */
#include "kernel_checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double dot(const vem_i_kernels *table, const void *x, int64_t at, const void *w,
                  int64_t other, int32_t d, double *weight)
{
    double sum = 0;
    *weight = 0;
    for (int32_t j = 0; j < d; ++j) {
        const double term =
            kernel_get(table, x, at + j) * kernel_get(table, w, other + j);
        sum += term;
        *weight += fabs(term);
    }
    return sum;
}

static int check_linear_at(const vem_i_kernels *table, int32_t d, int32_t n, int32_t m)
{
    const int64_t ld = d + 1, ldw = m % 3 ? d + 2 : 0, total = 2 * (int64_t)n;
    const int64_t ldv = kernel_slots(table, n) + table->panel;
    void *x = kernel_values(table, (total - 1) * ld + d);
    void *w = kernel_values(table, (m - 1) * ldw + d), *q = kernel_values(table, n);
    void *tile = kernel_values(table, m * ldv), *pairs = kernel_values(table, m * ldv);
    void *before = kernel_values(table, m * ldv);
    int32_t *index = malloc((size_t)(m * ldv) * sizeof *index);
    uint32_t *list = malloc((size_t)n * sizeof *list);
    double *sum = calloc((size_t)d, sizeof *sum);
    kernel_fill(table, x, (total - 1) * ld + d, 2);
    kernel_fill(table, w, (m - 1) * ldw + d, 2);
    kernel_fill(table, q, n, 1);
    kernel_fill(table, before, m * ldv, 3);
    memcpy(tile, before, (size_t)(m * ldv) * table->element);
    memcpy(pairs, before, (size_t)(m * ldv) * table->element);
    for (int64_t i = 0; i < m * ldv; ++i)
        index[i] = (int32_t)kernel_below(m + 1) - 1;
    for (int32_t p = 0; p < n; ++p)
        list[p] = (uint32_t)kernel_below(total);
    if (n > 1)
        kernel_set(table, q, 1, 0);
    const uint32_t *items = m & 1 ? list : NULL;
    table->linear_tile(x, ld, items, n, d, w, ldw, m, tile, ldv);
    table->linear_pairs(x, ld, items, n, d, w, ldw, m, index, pairs, ldv);
    table->linear_rows(x, ld, items, q, n, d, sum);
    int bad = 0;
    char where[80];
    snprintf(where, sizeof where, "d %d, n %d, m %d", d, n, m);
    for (int32_t c = 0; c < m; ++c)
        for (int32_t p = 0; p < n; ++p) {
            const int64_t row = (items ? (int64_t)items[p] : p) * ld, at = c * ldv + p;
            const double old = kernel_get(table, before, at);
            double weight;
            double want = old + dot(table, x, row, w, c * ldw, d, &weight);
            double bound = kernel_epsilon(table) * (d + 4) * (weight + fabs(old));
            const double got = kernel_get(table, tile, at);
            if (!(fabs(got - want) <= bound))
                bad += kernel_mismatch(table, "linear_tile", where, p, got, want, bound);
            const double pair = kernel_get(table, pairs, at);
            want = old;
            if (index[at] >= 0)
                want += dot(table, x, row, w, index[at] * ldw, d, &weight);
            bound = kernel_epsilon(table) * (d + 4) * (weight + fabs(old));
            if (!(fabs(pair - want) <= (index[at] < 0 ? 0 : bound)))
                bad +=
                    kernel_mismatch(table, "linear_pairs", where, p, pair, want, bound);
        }
    for (int32_t j = 0; j < d; ++j) {
        double want = 0, weight = 0;
        for (int32_t p = 0; p < n; ++p) {
            const int64_t row = (items ? (int64_t)items[p] : p) * ld;
            const double term = kernel_get(table, q, p) * kernel_get(table, x, row + j);
            want += term;
            weight += fabs(term);
        }
        if (!(fabs(sum[j] - want) <= 1e-15 * (n + 4) * weight))
            bad += kernel_mismatch(table, "linear_rows", where, j, sum[j], want, 0);
    }
    void *owned[] = {x, w, q, tile, pairs, before, index, list, sum};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i)
        free(owned[i]);
    return bad;
}

int check_linear(const vem_i_kernels *table)
{
    int bad = 0;
    kernel_seed(20);
    for (const int32_t *d = grid_d; *d; ++d)
        for (const int32_t *g = grid_n; *g; ++g)
            for (int32_t m = 1; m <= 6; ++m)
                bad += check_linear_at(table, *d, grid_items(table, *g), m);
    return bad + check_linear_at(table, 1500, 3, 2); /* more than a run */
}
