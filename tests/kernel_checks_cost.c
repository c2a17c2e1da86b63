/* Checks of the kernels that make costs and posteriors. */
#include "kernel_checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum shape { ISO, DIAG, FULL, PRODUCT } shape;

/* The definition, in double: |f|^2 for one item and cluster, where f is x - mean (ISO),
 * x a - mean (DIAG), U (x - mean) (FULL); or x . a (PRODUCT). *weight: the same with all terms positive,
 * which is what rounding is relative to. */
static double define(shape kind, int32_t d, const double *x, const double *mean,
                     const double *a, double *weight)
{
    double sum = 0;
    *weight = 0;
    for (int32_t i = 0; i < d; ++i) {
        double y = 0, most = 0;
        if (kind == PRODUCT) {
            sum += x[i] * a[i];
            *weight += fabs(x[i] * a[i]);
            continue;
        }
        if (kind == ISO) {
            y = x[i] - mean[i];
            most = fabs(y);
        } else if (kind == DIAG) {
            y = x[i] * a[i] - mean[i];
            most = fabs(x[i] * a[i]) + fabs(mean[i]);
        } else {
            const double *row = a + (int64_t)i * (i + 1) / 2;
            for (int32_t j = 0; j <= i; ++j) {
                y += row[j] * (x[j] - mean[j]);
                most += fabs(row[j] * (x[j] - mean[j]));
            }
        }
        sum += y * y;
        *weight += most * most;
    }
    return sum;
}

/* A tile of costs against the definition. size: of the values. */
static int check_tile_at(const vem_i_kernels *table, shape kind, int32_t d, int32_t n,
                         int32_t m, double size)
{
    const int64_t ld = d + 1, ldc = d + 2, factor = (int64_t)d * (d + 1) / 2;
    const int64_t ldf = n % 3 ? factor : 0; /* 0: one factor for all */
    const int64_t rows = (n - 1) * ld + d, centers = (m - 1) * ldc + d;
    const int64_t shapes = kind == FULL ? m * factor : centers;
    const int32_t slots = kernel_slots(table, n);
    const int64_t ldv = slots + table->panel;
    void *x = kernel_values(table, rows), *means = kernel_values(table, centers);
    void *a = kernel_values(table, shapes);
    void *scale = kernel_values(table, m), *bias = kernel_values(table, m);
    void *costs = kernel_values(table, (m - 1) * ldv + slots);
    kernel_fill(table, x, rows, size);
    kernel_fill(table, means, centers, size);
    kernel_fill(table, a, shapes, 1);
    kernel_fill(table, scale, m, 1);
    kernel_fill(table, bias, m, size * size);
    void *panels = kernel_panels(table, x, ld, n, d, NULL);
    if (kind == ISO)
        table->iso_tile(panels, n, d, means, ldc, scale, bias, m, costs, ldv);
    else if (kind == DIAG)
        table->diag_tile(panels, n, d, a, means, ldc, bias, m, costs, ldv);
    else if (kind == PRODUCT)
        table->dot_tile(panels, n, d, a, ldc, bias, m, costs, ldv);
    else
        table->full_tile(panels, n, d, means, ldc, a, ldf, bias, m, costs, ldv);
    double *dx = kernel_doubles(table, x, rows),
           *dm = kernel_doubles(table, means, centers);
    double *da = kernel_doubles(table, a, shapes);
    int bad = 0;
    char where[80];
    snprintf(where, sizeof where, "d %d, n %d, m %d, size %g", d, n, m, size);
    for (int32_t c = 0; c < m; ++c) {
        const double s = kind == ISO ? kernel_get(table, scale, c) : 1;
        const double shift = kernel_get(table, bias, c);
        const double *shape_of_c = da + c * (kind == FULL ? ldf : ldc);
        for (int32_t p = 0; p < slots; ++p) {
            const double got = kernel_get(table, costs, c * ldv + p);
            if (p >= n) {
                if (got != kernel_get(table, costs, c * ldv + n - 1))
                    bad += kernel_mismatch(table, "a padding slot", where, p, got, 0, 0);
                continue;
            }
            double weight;
            const double want =
                s * define(kind, d, dx + p * ld, dm + c * ldc, shape_of_c, &weight) +
                shift;
            const double bound = kernel_epsilon(table) *
                                     ((kind == FULL ? 3 : 1) * d + 8) *
                                     (fabs(s) * weight + fabs(shift)) +
                                 kernel_tiny(table) * d;
            if (!(fabs(got - want) <= bound))
                bad += kernel_mismatch(table, "a cost", where, p, got, want, bound);
        }
    }
    void *owned[] = {x, means, a, scale, bias, costs, panels, dx, dm, da};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i)
        free(owned[i]);
    return bad;
}

static int check_tile(const vem_i_kernels *table, shape kind)
{
    const int single = table->precision == VEM_SINGLE;
    const double small = single ? 1e-21 : 1e-160, large = single ? 1e16 : 1e150;
    int bad = 0;
    for (const int32_t *d = grid_d; *d; ++d) {
        for (const int32_t *g = grid_n; *g; ++g)
            for (const int32_t *m = grid_m; *m; ++m) {
                const int32_t n = grid_items(table, *g);
                /* The largest problems say nothing new and take long. */
                const int64_t steps =
                    (int64_t)n * *m * *d * (kind == FULL ? *d + 1 : 2) / 2;
                if (steps > 300000)
                    continue;
                bad += check_tile_at(table, kind, *d, n, *m, 2);
            }
        bad += check_tile_at(table, kind, *d, table->panel + 1, 5, small);
        bad += check_tile_at(table, kind, *d, table->panel + 1, 5, large);
    }
    if (kind == FULL) /* longer than the differences that the kernel keeps */
        bad += check_tile_at(table, kind, 1600, 2, 1, 1);
    return bad;
}

int check_iso_tile(const vem_i_kernels *table)
{
    kernel_seed(11);
    return check_tile(table, ISO);
}

int check_diag_tile(const vem_i_kernels *table)
{
    kernel_seed(12);
    return check_tile(table, DIAG);
}

int check_full_tile(const vem_i_kernels *table)
{
    kernel_seed(13);
    return check_tile(table, FULL);
}

int check_dot_tile(const vem_i_kernels *table)
{
    kernel_seed(28);
    return check_tile(table, PRODUCT) + check_tile_at(table, PRODUCT, 1600, 2, 1, 1);
}

static int check_pairs_at(const vem_i_kernels *table, shape kind, int32_t d, int32_t n,
                          int32_t m, int32_t clusters)
{
    const int64_t ld = d + 1, ldc = d + 1, ldv = kernel_slots(table, n);
    const int64_t total = 2 * (int64_t)n, pairs = (m - 1) * ldv + n;
    const int64_t rows = (total - 1) * ld + d, centers = (clusters - 1) * ldc + d;
    const int64_t factor = (int64_t)d * (d + 1) / 2;
    const int64_t shapes = kind == FULL ? clusters * factor : centers;
    const int64_t ldf = n % 3 ? factor : 0;
    const int listed = m & 1;
    void *x = kernel_values(table, rows), *means = kernel_values(table, centers);
    void *a = kernel_values(table, shapes), *costs = kernel_values(table, pairs);
    void *scale = kernel_values(table, clusters), *bias = kernel_values(table, clusters);
    int32_t *index = malloc((size_t)pairs * sizeof *index);
    uint32_t *list = malloc((size_t)n * sizeof *list);
    kernel_fill(table, x, rows, 2);
    kernel_fill(table, means, centers, 2);
    kernel_fill(table, a, shapes, 1);
    kernel_fill(table, scale, clusters, 2);
    kernel_fill(table, bias, clusters, 2);
    for (int64_t i = 0; i < pairs; ++i)
        index[i] = (int32_t)kernel_below(clusters + 1) - 1;
    for (int32_t p = 0; p < n; ++p)
        list[p] = (uint32_t)kernel_below(total);
    const uint32_t *items = listed ? list : NULL;
    if (kind == ISO)
        table->iso_pairs(x, ld, items, n, d, means, ldc, scale, bias, m, index, costs,
                         ldv);
    else if (kind == DIAG)
        table->diag_pairs(x, ld, items, n, d, a, means, ldc, bias, m, index, costs, ldv);
    else if (kind == PRODUCT)
        table->dot_pairs(x, ld, items, n, d, a, ldc, bias, m, index, costs, ldv);
    else
        table->full_pairs(x, ld, items, n, d, means, ldc, a, ldf, bias, m, index, costs,
                          ldv);
    double *dx = kernel_doubles(table, x, rows),
           *dm = kernel_doubles(table, means, centers);
    double *da = kernel_doubles(table, a, shapes);
    int bad = 0;
    char where[80];
    snprintf(where, sizeof where, "d %d, n %d, m %d, listed %d", d, n, m, listed);
    for (int32_t r = 0; r < m; ++r)
        for (int32_t p = 0; p < n; ++p) {
            const int32_t c = index[r * ldv + p];
            const double got = kernel_get(table, costs, r * ldv + p);
            if (c < 0) {
                if (!(got > 0 && isinf(got)))
                    bad +=
                        kernel_mismatch(table, "no cluster", where, p, got, INFINITY, 0);
                continue;
            }
            const int64_t row = items ? (int64_t)items[p] : p;
            const double s = kind == ISO ? kernel_get(table, scale, c) : 1;
            const double shift = kernel_get(table, bias, c);
            double weight;
            const double want = s * define(kind, d, dx + row * ld, dm + c * ldc,
                                           da + c * (kind == FULL ? ldf : ldc), &weight) +
                                shift;
            const double bound = kernel_epsilon(table) *
                                 ((kind == FULL ? 3 : 1) * d + 8) *
                                 (fabs(s) * weight + fabs(shift));
            if (!(fabs(got - want) <= bound))
                bad += kernel_mismatch(table, "a pair", where, p, got, want, bound);
        }
    void *owned[] = {x, means, a, costs, scale, bias, index, list, dx, dm, da};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i)
        free(owned[i]);
    return bad;
}

static int check_pairs(const vem_i_kernels *table, shape kind)
{
    int bad = 0;
    for (const int32_t *d = grid_d; *d; ++d)
        for (const int32_t *g = grid_n; *g; ++g)
            for (int32_t m = 1; m <= 7; ++m) {
                const int32_t n = grid_items(table, *g);
                if (kind == FULL && *d > 17 && (n > 63 || m > 2))
                    continue;
                bad += check_pairs_at(table, kind, *d, n, m, 9);
            }
    if (kind == FULL) /* longer than the differences that the kernel keeps */
        bad += check_pairs_at(table, kind, 2060, 1, 2, 1);
    return bad;
}

int check_iso_pairs(const vem_i_kernels *table)
{
    kernel_seed(14);
    return check_pairs(table, ISO);
}

int check_diag_pairs(const vem_i_kernels *table)
{
    kernel_seed(18);
    return check_pairs(table, DIAG);
}

int check_full_pairs(const vem_i_kernels *table)
{
    kernel_seed(19);
    return check_pairs(table, FULL);
}

int check_dot_pairs(const vem_i_kernels *table)
{
    kernel_seed(29);
    return check_pairs(table, PRODUCT) + check_pairs_at(table, PRODUCT, 2060, 1, 2, 1);
}

static double square(const vem_i_kernels *table, const void *x, int64_t at, const void *y,
                     int64_t other, int32_t d)
{
    double sum = 0;
    for (int32_t j = 0; j < d; ++j) {
        const double e = kernel_get(table, x, at + j) - kernel_get(table, y, other + j);
        sum += e * e;
    }
    return sum;
}

static int check_distances_at(const vem_i_kernels *table, int32_t d, int32_t n, int32_t m)
{
    const int64_t ld = d + 2, ldc = d + 1, ldo = n + 3;
    void *x = kernel_values(table, (n - 1) * ld + d);
    void *centers = kernel_values(table, (m - 1) * ldc + d);
    void *out = kernel_values(table, (m - 1) * ldo + n);
    kernel_fill(table, x, (n - 1) * ld + d, 2);
    kernel_fill(table, centers, (m - 1) * ldc + d, 2);
    table->distances(x, ld, n, d, centers, ldc, m, out, ldo);
    int bad = 0;
    char where[80];
    snprintf(where, sizeof where, "d %d, n %d, m %d", d, n, m);
    for (int32_t c = 0; c < m; ++c)
        for (int32_t i = 0; i < n; ++i) {
            const double want = square(table, x, i * ld, centers, c * ldc, d);
            const double got = kernel_get(table, out, c * ldo + i);
            const double bound = kernel_epsilon(table) * (d + 4) * want;
            if (!(fabs(got - want) <= bound))
                bad += kernel_mismatch(table, "a distance", where, i, got, want, bound);
        }
    free(x);
    free(centers);
    free(out);
    return bad;
}

int check_distances(const vem_i_kernels *table)
{
    int bad = 0;
    kernel_seed(15);
    for (const int32_t *d = grid_d; *d; ++d)
        for (const int32_t *n = grid_n; *n; ++n)
            for (const int32_t *m = grid_m; *m; ++m)
                bad += check_distances_at(table, *d, grid_items(table, *n), *m);
    return bad;
}

/* Posteriors below this are 0. */
static double least_posterior(const vem_i_kernels *table)
{
    return table->precision == VEM_SINGLE ? VEM_I_LEAST_SINGLE : VEM_I_LEAST_DOUBLE;
}

static int check_softmax_at(const vem_i_kernels *table, int32_t n, int32_t m,
                            double spread, int with_mass)
{
    const vem_i_kernels *reference = kernel_reference(table);
    const int64_t ldv = 320;
    void *costs = kernel_values(table, m * ldv), *want = kernel_values(table, m * ldv);
    double *mass = malloc((size_t)n * sizeof *mass),
           *log_sum = malloc((size_t)n * sizeof *mass);
    double *want_log = malloc((size_t)n * sizeof *mass);
    kernel_fill(table, costs, m * ldv, spread);
    for (int64_t i = ldv; i < m * ldv; ++i)
        if (kernel_below(6) == 0)
            kernel_set(table, costs, i, INFINITY);
    memcpy(want, costs, (size_t)(m * ldv) * table->element);
    for (int32_t p = 0; p < n; ++p)
        mass[p] = p % 5 == 3 ? 0 : 1 + kernel_uniform();
    table->softmax(costs, n, m, ldv, with_mass ? mass : NULL, log_sum);
    void *before = kernel_values(table, m * ldv);
    memcpy(before, want, (size_t)(m * ldv) * table->element);
    reference->softmax(want, n, m, ldv, with_mass ? mass : NULL, want_log);
    int bad = 0;
    char where[80];
    snprintf(where, sizeof where, "n %d, m %d, spread %g", n, m, spread);
    for (int32_t p = 0; p < n; ++p) {
        double total = 0;
        for (int32_t c = 0; c < m; ++c) {
            const double got = kernel_get(table, costs, c * ldv + p);
            const double q = kernel_get(table, want, c * ldv + p);
            /* Half the rounding of a cost difference of up to 2 * spread, and a few ulp.
             */
            const double bound =
                kernel_epsilon(table) * (8 + spread) * q + 2 * least_posterior(table);
            if (!(fabs(got - q) <= bound))
                bad += kernel_mismatch(table, "a posterior", where, p, got, q, bound);
            if (isinf(kernel_get(table, before, c * ldv + p)) && got != 0)
                bad +=
                    kernel_mismatch(table, "an impossible cluster", where, p, got, 0, 0);
            total += got;
        }
        const double all = with_mass ? mass[p] : 1;
        if (!(fabs(total - all) <= kernel_epsilon(table) * (8 + spread) * all))
            bad +=
                kernel_mismatch(table, "the sum of posteriors", where, p, total, all, 0);
        const double bound = kernel_epsilon(table) * (8 + spread);
        if (!(fabs(log_sum[p] - want_log[p]) <= bound))
            bad += kernel_mismatch(table, "log_sum", where, p, log_sum[p], want_log[p],
                                   bound);
    }
    free(costs);
    free(want);
    free(before);
    free(mass);
    free(log_sum);
    free(want_log);
    return bad;
}

int check_softmax(const vem_i_kernels *table)
{
    int bad = 0;
    kernel_seed(16);
    for (const int32_t *n = grid_n; *n; ++n)
        for (const int32_t *m = grid_m; *m; ++m)
            for (int how = 0; how < 2; ++how) {
                bad += check_softmax_at(table, grid_items(table, *n), *m, 3, how);
                bad += check_softmax_at(table, grid_items(table, *n), *m, 300, how);
                bad += check_softmax_at(table, grid_items(table, *n), *m, 1e5, how);
            }
    return bad;
}

/* One cluster of cost 0 and one of cost v: q ratio = exp(-v/2), to 2 ulp (+1 of the
 * division), from the smallest argument to where it must be exactly 0. */
int check_exp(const vem_i_kernels *table)
{
    const int32_t n = 256;
    const double end = table->precision == VEM_SINGLE ? 200 : 1600;
    void *costs = kernel_values(table, 2 * n);
    double log_sum[256];
    int bad = 0;
    kernel_seed(17);
    for (int round = 0; round < 200; ++round) {
        double want[256];
        for (int32_t p = 0; p < n; ++p) {
            const double v = round == 0 ? p * 1e-9 : end * fabs(kernel_uniform());
            kernel_set(table, costs, p, 0);
            kernel_set(table, costs, n + p, v);
            want[p] = exp(-0.5 * kernel_get(table, costs, n + p));
        }
        table->softmax(costs, n, 2, n, NULL, log_sum);
        for (int32_t p = 0; p < n; ++p) {
            const double q = kernel_get(table, costs, n + p),
                         exact = want[p] / (1 + want[p]);
            const double bound = 3 * kernel_epsilon(table) * exact;
            /* At the edge a table may round to 0 or not. */
            const double least = least_posterior(table);
            const int right = want[p] < 0.99 * least   ? q == 0
                              : want[p] < 1.01 * least ? q >= 0 && q < 1.02 * least
                                                       : fabs(q - exact) <= bound;
            if (!right)
                bad += kernel_mismatch(table, "exp", "its round", p, q, exact, bound);
        }
    }
    /* An item for which every cluster is impossible. */
    for (int32_t p = 0; p < 2 * n; ++p)
        kernel_set(table, costs, p, INFINITY);
    table->softmax(costs, n, 2, n, NULL, log_sum);
    for (int32_t p = 0; p < n; ++p)
        if (kernel_get(table, costs, p) != 0 || log_sum[p] != -INFINITY)
            bad += kernel_mismatch(table, "no possible cluster", "all", p,
                                   kernel_get(table, costs, p), 0, 0);
    free(costs);
    return bad;
}
