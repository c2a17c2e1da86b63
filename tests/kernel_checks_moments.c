/* Checks of the kernels that collect moments: iso_rows and the *_collect family. */
#include "kernel_checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* got within eps * terms * weight of want, where weight is the sum of absolute terms. */
static int close_to(const vem_i_kernels *table, const char *what, const char *where,
                    double got, double want, double weight, double terms)
{
    const double bound =
        kernel_epsilon(table) * terms * weight + kernel_tiny(table) * terms;
    if (fabs(got - want) <= bound)
        return 0;
    return kernel_mismatch(table, what, where, 0, got, want, bound);
}

static void fill_q(const vem_i_kernels *table, void *q, int64_t n, int zeros)
{
    for (int64_t i = 0; i < n; ++i) {
        /* Whole vectors of zeros, single zeros, and ordinary values. */
        const int none =
            zeros == 2 || (zeros == 1 && (i / 40 % 2 == 1 || kernel_below(3) == 0));
        kernel_set(table, q, i, none ? 0 : fabs(kernel_uniform()));
    }
}

static int check_rows_at(const vem_i_kernels *table, int32_t d, int64_t n, int listed,
                         int weighted)
{
    const int64_t ld = d + 1, rows = listed ? n + 5 : n;
    void *x = kernel_values(table, (rows - 1) * ld + d), *q = kernel_values(table, n);
    void *mean = kernel_values(table, d);
    uint32_t *items = malloc((size_t)n * sizeof *items);
    double *sum = calloc((size_t)d, sizeof *sum), *want = calloc((size_t)d, sizeof *sum);
    double *weight = calloc((size_t)d, sizeof *sum);
    double second = 0.5, want_second = 0.5, total = 0;
    kernel_fill(table, x, (rows - 1) * ld + d, 2);
    kernel_fill(table, mean, d, 1);
    fill_q(table, q, n, 1);
    for (int64_t i = 0; i < n; ++i)
        items[i] = (uint32_t)kernel_below(rows);
    for (int64_t i = 0; i < n; ++i) {
        const double w = weighted ? kernel_get(table, q, i) : 1;
        for (int32_t j = 0; j < d; ++j) {
            const int64_t at = (listed ? (int64_t)items[i] : i) * ld + j;
            const double e = kernel_get(table, x, at) - kernel_get(table, mean, j);
            want[j] += w * e;
            weight[j] += fabs(w * e);
            want_second += w * e * e;
        }
        total += w;
    }
    const double got = table->iso_rows(x, ld, listed ? items : NULL, weighted ? q : NULL,
                                       n, d, mean, sum, &second);
    char where[80];
    snprintf(where, sizeof where, "d %d, n %d, listed %d, weighted %d", d, (int)n, listed,
             weighted);
    int bad = close_to(table, "the weight of iso_rows", where, got, total, total, 40);
    bad += close_to(table, "second of iso_rows", where, second, want_second, want_second,
                    80);
    for (int32_t j = 0; j < d; ++j)
        bad += close_to(table, "sum of iso_rows", where, sum[j], want[j], weight[j], 80);
    free(x);
    free(q);
    free(mean);
    free(items);
    free(sum);
    free(want);
    free(weight);
    return bad;
}

/* Terms of one size and sign, whose roundings do not cancel: 80 u is half of 80 eps. */
static int check_rows_level(const vem_i_kernels *table, int32_t d, int64_t n)
{
    void *x = kernel_values(table, n * d), *mean = kernel_values(table, d);
    double *sum = calloc((size_t)d, sizeof *sum), second = 0;
    for (int64_t i = 0; i < n * d; ++i)
        kernel_set(table, x, i, 0.7);
    for (int32_t j = 0; j < d; ++j)
        kernel_set(table, mean, j, 0);
    const double e = kernel_get(table, x, 0), terms = (double)n * d;
    char where[80];
    snprintf(where, sizeof where, "level rows, d %d, n %d", d, (int)n);
    table->iso_rows(x, d, NULL, NULL, n, d, mean, sum, &second);
    int bad = close_to(table, "second of iso_rows", where, second, terms * e * e,
                       terms * e * e, table->precision == VEM_SINGLE ? 40 : 4e6);
    for (int32_t j = 0; j < d; ++j)
        bad += close_to(table, "sum of iso_rows", where, sum[j], (double)n * e,
                        (double)n * e, table->precision == VEM_SINGLE ? 40 : 4e6);
    free(x);
    free(mean);
    free(sum);
    return bad;
}

int check_iso_rows(const vem_i_kernels *table)
{
    static const int64_t longer[] = {1, 2, 3, 4, 5, 63, 256, 257, 1003, 0};
    int bad = 0;
    kernel_seed(21);
    for (const int32_t *d = grid_d; *d; ++d)
        for (const int64_t *n = longer; *n; ++n)
            for (int how = 0; how < 4; ++how)
                bad += check_rows_at(table, *d, *n, how & 1, how >> 1);
    bad += check_rows_level(table, 1000, 256) + check_rows_level(table, 3000, 900) +
           check_rows_level(table, 5, 5000);
    return bad + check_rows_at(table, 2500, 300, 1, 1) +
           check_rows_at(table, 2049, 30, 0, 0);
}

/* The collect kernels on one block. `size` scales the data. */
static int check_collect_at(const vem_i_kernels *table, int32_t d, int32_t n, int zeros,
                            double size)
{
    const int64_t pairs = (int64_t)d * (d + 1) / 2;
    void *x = kernel_values(table, (int64_t)n * d), *q = kernel_values(table, n);
    void *mean = kernel_values(table, d);
    double *sums = calloc((size_t)(4 * d), sizeof *sums);
    double *full = calloc((size_t)pairs, sizeof *full);
    double *want = calloc((size_t)pairs, sizeof *want);
    double *weight = calloc((size_t)pairs, sizeof *weight);
    double *first = calloc((size_t)d, sizeof *first),
           *first_weight = calloc((size_t)d, 8);
    double second = 0, total = 0, trace = 0;
    kernel_fill(table, x, (int64_t)n * d, 2 * size);
    kernel_fill(table, mean, d, size);
    fill_q(table, q, n, zeros);
    double *dx = kernel_doubles(table, x, (int64_t)n * d),
           *dm = kernel_doubles(table, mean, d);
    double *plain = calloc((size_t)(3 * d), sizeof *plain); /* sums, wanted, weights */
    for (int32_t i = 0; i < n; ++i) {
        const double w = kernel_get(table, q, i);
        total += w;
        for (int32_t j = 0; j < d; ++j) {
            const double x_ij = dx[(int64_t)i * d + j], e = x_ij - dm[j];
            plain[d + j] += w * x_ij;
            plain[2 * d + j] += fabs(w * x_ij);
            first[j] += w * e;
            first_weight[j] += fabs(w * e);
            trace += w * e * e;
            for (int32_t k = 0; k <= j; ++k) {
                const double f = dx[(int64_t)i * d + k] - dm[k];
                want[(int64_t)j * (j + 1) / 2 + k] += w * e * f;
                weight[(int64_t)j * (j + 1) / 2 + k] += fabs(w * e * f);
            }
        }
    }
    void *panels = kernel_panels(table, x, d, n, d, NULL);
    char where[80];
    snprintf(where, sizeof where, "d %d, n %d, zeros %d, size %g", d, n, zeros, size);
    int bad = 0;
    double *diag = sums + 3 * d;
    const double iso_total = table->iso_collect(panels, q, n, d, mean, sums, &second);
    const double diag_total = table->diag_collect(panels, q, n, d, mean, sums + d, diag);
    const double full_total =
        table->full_collect(panels, q, n, d, mean, sums + 2 * d, full);
    bad +=
        close_to(table, "the weight of iso_collect", where, iso_total, total, total, 40);
    bad += close_to(table, "the weight of diag_collect", where, diag_total, total, total,
                    40);
    bad += close_to(table, "the weight of full_collect", where, full_total, total, total,
                    40);
    bad += close_to(table, "second of iso_collect", where, second, trace, trace, 140);
    bad += close_to(table, "the weight of sum_collect", where,
                    table->sum_collect(panels, q, n, d, plain), total, total, 40);
    for (int32_t j = 0; j < d; ++j)
        bad += close_to(table, "sum of sum_collect", where, plain[j], plain[d + j],
                        plain[2 * d + j], 140);
    for (int32_t j = 0; j < d; ++j) {
        const int64_t jj = (int64_t)j * (j + 1) / 2 + j;
        for (int32_t kind = 0; kind < 3; ++kind)
            bad += close_to(table, "sum of a collect", where, sums[kind * d + j],
                            first[j], first_weight[j], 140);
        bad += close_to(table, "second of diag_collect", where, diag[j], want[jj],
                        weight[jj], 140);
    }
    for (int64_t jk = 0; jk < pairs; ++jk)
        bad += close_to(table, "second of full_collect", where, full[jk], want[jk],
                        weight[jk], 140);
    /* A second call adds the same again. */
    double *before = malloc((size_t)pairs * sizeof *before);
    memcpy(before, full, (size_t)pairs * sizeof *before);
    table->full_collect(panels, q, n, d, mean, sums + 2 * d, full);
    for (int64_t jk = 0; jk < pairs; ++jk)
        bad += close_to(table, "adding again", where, full[jk], 2 * before[jk],
                        weight[jk], 280);
    void *owned[] = {before, x,    q,      mean,  dx,           dm,     sums,
                     full,   want, weight, first, first_weight, panels, plain};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i)
        free(owned[i]);
    return bad;
}

int check_collect(const vem_i_kernels *table)
{
    const int single = table->precision == VEM_SINGLE;
    int bad = 0;
    kernel_seed(22);
    for (const int32_t *d = grid_d; *d; ++d)
        for (const int32_t *g = grid_n; *g; ++g)
            for (int zeros = 0; zeros < 3; ++zeros)
                bad += check_collect_at(table, *d, grid_items(table, *g), zeros, 1);
    bad += check_collect_at(table, 9, 100, 1, single ? 1e-20 : 1e-155);
    bad += check_collect_at(table, 9, 100, 1, single ? 1e15 : 1e150);
    return bad;
}
