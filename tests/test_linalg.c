/* The matrices of the full family: against the plain formulas, and by what must hold of any
 * factor, inverse and decomposition, well and ill conditioned. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/family.h"

static const int32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 64, 65, 127, 300};
enum { SIZES = sizeof sizes / sizeof *sizes };
/* Spread of the eigenvalues; 0: half of them are 0. */
static const double spreads[] = {1, 1e4, 1e12, 0};
enum { SPREADS = sizeof spreads / sizeof *spreads };

static uint64_t state;

static double uniform(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)state * 0x1p-63;
}

static double *square(int32_t d)
{
    double *m = calloc((size_t)d * (size_t)d, sizeof *m);
    assert_non_null(m);
    return m;
}

/* V diag(l) V' with V a product of reflections and l from 1 down to 1 / spread. */
static void fill(double *m, int32_t d, double spread, double size)
{
    const int64_t n = d;
    double *u = malloc((size_t)d * sizeof *u), *au = malloc((size_t)d * sizeof *au);
    memset(m, 0, (size_t)(n * n) * sizeof *m);
    for (int64_t j = 0; j < n; j++) {
        const double share = d > 1 ? (double)j / (double)(d - 1) : 0;
        m[j * n + j] = spread > 0 ? size * pow(spread, -share) : 2 * j < n ? size : 0;
    }
    for (int turn = 0; turn < 3; turn++) {
        double length = 0, uau = 0;
        for (int64_t j = 0; j < n; j++) {
            u[j] = uniform();
            length += u[j] * u[j];
        }
        for (int64_t i = 0; i < n; i++) {
            au[i] = 0;
            for (int64_t j = 0; j < n; j++)
                au[i] += m[i * n + j] * u[j];
            uau += u[i] * au[i];
        }
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++)
                m[i * n + j] += -2 * (u[i] * au[j] + au[i] * u[j]) / length +
                                4 * uau * u[i] * u[j] / (length * length);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++)
                m[j * n + i] = m[i * n + j];
    }
    free(u);
    free(au);
}

/* The largest |a - b|, of the lower triangle or all. */
static double apart(const double *a, const double *b, int64_t d, int lower)
{
    double most = 0;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < (lower ? i + 1 : d); j++)
            if (!(fabs(a[i * d + j] - b[i * d + j]) <= most))
                most = fabs(a[i * d + j] - b[i * d + j]);
    return most;
}

/* L L' is the matrix, backward stable whatever its condition; U L = 1. */
static void factor_and_inverse(void **unused)
{
    (void)unused;
    for (int s = 0; s < SIZES; s++)
        for (int k = 0; k < SPREADS - 1; k++) {
            const int32_t d = sizes[s];
            const int64_t n = d;
            double *a = square(d), *l = square(d), *back = square(d), *u = square(d);
            state = (uint64_t)(s * 10 + k);
            fill(a, d, spreads[k], 3);
            memcpy(l, a, (size_t)(n * n) * sizeof *a);
            assert_true(vem_i_cholesky(l, d));
            memcpy(u, l, (size_t)(n * n) * sizeof *u);
            vem_i_invert_lower(u, d);
            double largest = 0;
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j <= i; j++) {
                    double product = 0, sum = 0, size = 0;
                    for (int64_t m = 0; m <= j; m++)
                        product += l[i * n + m] * l[j * n + m];
                    back[i * n + j] = product;
                    for (int64_t m = j; m <= i; m++) {
                        sum += u[i * n + m] * l[m * n + j];
                        size += fabs(u[i * n + m] * l[m * n + j]);
                    }
                    const double off = fabs(sum - (i == j)) / (size + (i == j));
                    largest = fmax(largest, off);
                }
            assert_true(apart(a, back, n, 1) <= 8 * d * DBL_EPSILON * 3);
            /* (Higham 14.1): the left residual of a row-wise inverse is small beside |U||L|,
             * which the diagonal of ill-conditioned factors makes far more than 1. */
            assert_true(largest <= 8 * d * DBL_EPSILON * (spreads[k] > 1e6 ? 1e3 : 1));
            free(a);
            free(l);
            free(back);
            free(u);
        }
}

/* By the formula, term after term. */
static void same_as_plain(void **unused)
{
    (void)unused;
    for (int s = 0; s < SIZES; s++) {
        const int32_t d = sizes[s];
        const int64_t n = d;
        double *l = square(d), *plain = square(d);
        state = (uint64_t)s;
        fill(l, d, 10, 1);
        memcpy(plain, l, (size_t)(n * n) * sizeof *l);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) {
                double sum = plain[i * n + j];
                for (int64_t k = 0; k < j; k++)
                    sum -= plain[i * n + k] * plain[j * n + k];
                plain[i * n + j] = i == j ? sqrt(sum) : sum / plain[j * n + j];
            }
        assert_true(vem_i_cholesky(l, d));
        assert_true(apart(l, plain, n, 1) <= 1e-13 * d);
        free(l);
        free(plain);
    }
}

/* What is not positive definite is told, wherever the bad pivot stands. */
static void refuses(void **unused)
{
    (void)unused;
    for (int s = 0; s < SIZES; s++)
        for (int32_t at = 0; at<sizes[s]; at += sizes[s]> 40 ? 13 : 1) {
            const int32_t d = sizes[s];
            double *m = square(d);
            fill(m, d, 10, 1);
            m[(int64_t)at * d + at] = at % 3 ? -1e-9 : NAN;
            assert_false(vem_i_cholesky(m, d));
            free(m);
        }
}

/* Q A Q' = diag(l), Q Q' = 1, for matrices of every kind. */
static void eigenvalues(void **unused)
{
    (void)unused;
    for (int s = 0; s < SIZES; s++)
        for (int k = 0; k < SPREADS; k++) {
            const int32_t d = sizes[s];
            const int64_t n = d;
            const double size = k == 1 ? 1e-140 : 5, bound = 20 * d * DBL_EPSILON;
            double *a = square(d), *used = square(d), *q = square(d), *aq = square(d);
            double *l = malloc((size_t)d * sizeof *l);
            double *work = malloc(3 * (size_t)d * sizeof *work);
            state = (uint64_t)(s * 10 + k);
            fill(a, d, spreads[k], size);
            memcpy(used, a, (size_t)(n * n) * sizeof *a);
            assert_true(vem_i_eigen(used, d, l, q, work));
            for (int64_t v = 0; v < n; v++)
                for (int64_t i = 0; i < n; i++)
                    for (int64_t j = 0; j < n; j++)
                        aq[v * n + i] += a[i * n + j] * q[v * n + j];
            for (int64_t v = 0; v < n; v++)
                for (int64_t w = 0; w < n; w++) {
                    double form = 0, product = 0;
                    for (int64_t j = 0; j < n; j++) {
                        form += q[w * n + j] * aq[v * n + j];
                        product += q[w * n + j] * q[v * n + j];
                    }
                    assert_true(fabs(form - (v == w ? l[v] : 0)) <= bound * size);
                    assert_true(fabs(product - (v == w)) <= bound);
                }
            for (int64_t i = 0; i < n; i++) /* the upper triangle is untouched */
                for (int64_t j = i + 1; j < n; j++)
                    assert_true(used[i * n + j] == a[i * n + j]);
            void *owned[] = {a, used, q, aq, l, work};
            for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
                free(owned[i]);
        }
}

/* A matrix above the floor keeps its bits; one below is at it, and symmetric. */
static void floors(void **unused)
{
    (void)unused;
    for (int s = 0; s < SIZES; s++)
        for (int k = 0; k < SPREADS; k++) {
            const int32_t d = sizes[s];
            const int64_t n = d;
            const double floor = 1e-3;
            double *a = square(d), *m = square(d), *q = square(d);
            double *work = malloc((size_t)vem_i_floor_work(d) * sizeof *work);
            double *l = malloc(4 * (size_t)d * sizeof *l), least = INFINITY, most = 0;
            state = (uint64_t)(s * 10 + k);
            fill(a, d, spreads[k], 1);
            memcpy(m, a, (size_t)(n * n) * sizeof *a);
            vem_i_floor_eigenvalues(m, d, floor, work);
            if (k == 0 || d == 1)
                assert_true(memcmp(a, m, (size_t)(n * n) * sizeof *a) == 0);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < i; j++)
                    assert_true(m[i * n + j] == m[j * n + i]);
            assert_true(vem_i_eigen(m, d, l, q, l + d));
            for (int64_t v = 0; v < n; v++) {
                least = fmin(least, l[v]);
                most = fmax(most, l[v]);
            }
            assert_true(least >= floor * (1 - 1e-10) && fabs(most - 1) <= 1e-10);
            if (k > 0 && d > 1)
                assert_true(least <= floor * (1 + 1e-10));
            void *owned[] = {a, m, q, work, l};
            for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
                free(owned[i]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factor_and_inverse),
        cmocka_unit_test(same_as_plain),
        cmocka_unit_test(refuses),
        cmocka_unit_test(eigenvalues),
        cmocka_unit_test(floors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
