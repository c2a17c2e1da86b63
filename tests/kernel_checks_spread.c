/* Checks of the kernels that work in double on rows as they are stored: moments, spread,
 * recenter. */
#include "kernel_checks.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int close_to(const vem_i_kernels *table, const char *what, const char *where,
                    int64_t at, double got, double want, double size)
{
    const double bound = 100 * DBL_EPSILON * size;
    if (fabs(got - want) <= bound)
        return 0;
    return kernel_mismatch(table, what, where, at, got, want, bound);
}

static double *doubles(int64_t count, double size)
{
    double *made = malloc((size_t)count * sizeof *made);
    if (!made)
        exit(1);
    for (int64_t i = 0; i < count; ++i)
        made[i] = size * kernel_uniform();
    return made;
}

/* Of the same values in double: the same to the last bit, whatever they are stored as. */
static int check_wider(const vem_i_kernels *table, const char *where, const void *x,
                       int64_t ld, int64_t n, int32_t d, const double *w,
                       const double *center, const double *known)
{
    const vem_i_kernels *wider = vem_i_kernels_find(table->name, VEM_DOUBLE);
    const int64_t count = (n - 1) * ld + d;
    double *values = doubles(count, 1), *got = doubles(2 * d, 1);
    int bad = 0;
    for (int64_t i = 0; i < count; ++i)
        values[i] = kernel_get(table, x, i);
    for (int32_t j = 0; j < 2 * d; ++j)
        got[j] = 0.5;
    wider->moments(values, ld, n, d, w, center, got, got + d);
    for (int32_t j = 0; j < 2 * d; ++j)
        if (got[j] != known[j])
            bad += kernel_mismatch(table, "moments of double", where, j, known[j], got[j],
                                   0);
    free(values);
    free(got);
    return bad;
}

/* Values lie `offset` from 0: in T they are what they are, and nothing more is lost. */
static int check_at(const vem_i_kernels *table, int32_t d, int64_t n, int weighted,
                    double offset)
{
    const vem_i_kernels *ref = kernel_reference(table);
    const int64_t ld = d + 1, count = (n - 1) * ld + d;
    void *x = kernel_values(table, count);
    for (int64_t i = 0; i < count; ++i)
        kernel_set(table, x, i, offset + kernel_uniform());
    double *center = doubles(d, 1), *factors = doubles(d, 3), *w = doubles(n, 1);
    double *got = doubles(2 * d, 1), *want = doubles(2 * d, 1);
    double *out = doubles(n, 1), *wanted = doubles(n, 1);
    for (int64_t i = 0; i < n; ++i)
        w[i] = i % 5 == 0 ? 0 : fabs(w[i]);
    for (int32_t j = 0; j < d; ++j)
        center[j] += offset;
    for (int32_t j = 0; j < 2 * d; ++j)
        got[j] = want[j] = 0.5;
    char where[96];
    snprintf(where, sizeof where, "d %d, n %d, weighted %d, offset %g", d, (int)n,
             weighted, offset);
    table->moments(x, ld, n, d, weighted ? w : NULL, center, got, got + d);
    ref->moments(x, ld, n, d, weighted ? w : NULL, center, want, want + d);
    int bad = check_wider(table, where, x, ld, n, d, weighted ? w : NULL, center, got);
    for (int32_t j = 0; j < d; ++j) {
        bad += close_to(table, "sum of moments", where, j, got[j], want[j],
                        2 * (double)n + 1);
        bad += close_to(table, "squares of moments", where, j, got[d + j], want[d + j],
                        fabs(want[d + j]));
    }
    table->spread(x, ld, n, d, center, weighted ? factors : NULL, out);
    ref->spread(x, ld, n, d, center, weighted ? factors : NULL, wanted);
    for (int64_t i = 0; i < n; ++i)
        bad += close_to(table, "spread", where, i, out[i], wanted[i], wanted[i]);
    /* A row does not mind its neighbors. */
    table->spread((const char *)x + (size_t)((n - 1) * ld) * table->element, ld, 1, d,
                  center, weighted ? factors : NULL, wanted);
    bad += wanted[0] == out[n - 1] ? 0
                                   : kernel_mismatch(table, "spread, alone", where, n - 1,
                                                     wanted[0], out[n - 1], 0);
    /* One bad value, of weight 0, is not overlooked; its neighbors do not mind. */
    kernel_set(table, x, d - 1, NAN);
    table->moments(x, ld, n, d, weighted ? w : NULL, center, got, got + d);
    bad += isnan(got[d - 1])
               ? 0
               : kernel_mismatch(table, "NaN in moments", where, 0, got[d - 1], NAN, 0);
    bad += d < 2 || isfinite(got[0])
               ? 0
               : kernel_mismatch(table, "NaN beside", where, 0, got[0], want[0], 0);
    void *owned[] = {x, center, factors, w, got, want, out, wanted};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i)
        free(owned[i]);
    return bad;
}

int check_spread(const vem_i_kernels *table)
{
    int bad = 0;
    kernel_seed(23);
    for (const int32_t *d = grid_d; *d; ++d)
        for (const int32_t *g = grid_n; *g; ++g)
            for (int weighted = 0; weighted < 2; ++weighted)
                bad += check_at(table, *d, grid_items(table, *g), weighted,
                                weighted ? 0 : 1000);
    return bad;
}

/* Values that are written are the same to the last bit: one rounding each. */
static int check_recenter_at(const vem_i_kernels *table, int32_t d, int64_t n,
                             int weighted, int divided, double offset)
{
    const vem_i_kernels *ref = kernel_reference(table);
    const int64_t ld = d + 1, ldo = d + 2, count = (n - 1) * ld + d,
                  written = (n - 1) * ldo + d;
    void *x = kernel_values(table, count), *out = kernel_values(table, written),
         *wanted = kernel_values(table, written);
    for (int64_t i = 0; i < count; ++i)
        kernel_set(table, x, i, offset + kernel_uniform());
    for (int64_t i = 0; i < written; ++i) {
        kernel_set(table, out, i, 77);
        kernel_set(table, wanted, i, 77); /* nothing is written between the rows */
    }
    double *center = doubles(d, 1), *divisors = doubles(d, 3), *w = doubles(n, 1);
    double *got = doubles(d, 1), *want = doubles(d, 1);
    for (int64_t i = 0; i < n; ++i)
        w[i] = i % 5 == 0 ? 0 : fabs(w[i]);
    for (int32_t j = 0; j < d; ++j) {
        center[j] += offset;
        got[j] = want[j] = 0.5;
    }
    char where[96];
    snprintf(where, sizeof where, "d %d, n %d, weighted %d, divided %d, offset %g", d,
             (int)n, weighted, divided, offset);
    const double *weights = weighted ? w : NULL, *by = divided ? divisors : NULL;
    double far = table->recenter(x, ld, n, d, weights, center, by, out, ldo, got);
    const double far_wanted =
        ref->recenter(x, ld, n, d, weights, center, by, wanted, ldo, want);
    int bad = close_to(table, "largest", where, 0, far, far_wanted, 0);
    for (int64_t i = 0; i < written; ++i)
        bad += close_to(table, "recentered", where, i, kernel_get(table, out, i),
                        kernel_get(table, wanted, i), 0);
    for (int32_t j = 0; j < d; ++j)
        bad += close_to(table, "squares of recenter", where, j, got[j], want[j],
                        fabs(want[j]));
    /* Without writing, then in place. */
    for (int32_t j = 0; j < d; ++j)
        got[j] = 0.5;
    far = table->recenter(x, ld, n, d, weights, center, by, NULL, 0, got);
    bad += close_to(table, "largest, unwritten", where, 0, far, far_wanted, 0);
    bad += close_to(table, "squares, unwritten", where, d - 1, got[d - 1], want[d - 1],
                    fabs(want[d - 1]));
    table->recenter(x, ld, n, d, weights, center, by, x, ld, got);
    for (int64_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < d; ++j)
            bad += close_to(table, "recentered in place", where, i,
                            kernel_get(table, x, i * ld + j),
                            kernel_get(table, wanted, i * ldo + j), 0);
    /* A bad value of weight 0 is not overlooked. */
    kernel_set(table, x, d - 1, INFINITY);
    table->recenter(x, ld, n, d, weights, center, by, out, ldo, got);
    bad += !isfinite(got[d - 1]) ? 0
                                 : kernel_mismatch(table, "infinity in recenter", where,
                                                   0, got[d - 1], INFINITY, 0);
    void *owned[] = {x, out, wanted, center, divisors, w, got, want};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i)
        free(owned[i]);
    return bad;
}

int check_recenter(const vem_i_kernels *table)
{
    int bad = 0;
    kernel_seed(29);
    for (const int32_t *d = grid_d; *d; ++d)
        for (const int32_t *g = grid_n; *g; ++g)
            for (int kind = 0; kind < 4; ++kind)
                bad += check_recenter_at(table, *d, grid_items(table, *g), kind & 1,
                                         kind >> 1, kind == 0 ? 1000 : 0);
    return bad;
}
