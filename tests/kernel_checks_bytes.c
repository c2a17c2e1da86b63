/* Checks of the kernels on rows of bytes. */
#include "kernel_checks.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void *take(int64_t count, size_t size)
{
    void *made = malloc((size_t)count * size);
    if (!made)
        exit(1);
    return made;
}

/* What a center may look like: anywhere, whole, halfway, at the ends. */
static double center_at(int32_t j)
{
    static const double special[] = {0, 255, 127.5, 17, 0x1p-46, 255 - 0x1p-44, 16.5};
    const int32_t count = (int32_t)(sizeof special / sizeof *special);
    return j % 3 == 0 ? special[j / 3 % count] : 127.5 + 127.5 * kernel_uniform();
}

static int check_byte_moments(const vem_i_kernels *table, const char *where,
                              const uint8_t *x, int64_t ld, int64_t n, int32_t d)
{
    const vem_i_kernels *ref = kernel_reference(table);
    uint32_t *got = take(2 * d, sizeof *got), *want = take(2 * d, sizeof *want);
    int bad = 0;
    for (int32_t j = 0; j < 2 * d; ++j)
        got[j] = want[j] = 7;
    table->byte_moments(x, ld, n, d, got, got + d);
    ref->byte_moments(x, ld, n, d, want, want + d);
    for (int32_t j = 0; j < 2 * d; ++j)
        bad += got[j] == want[j]
                   ? 0
                   : kernel_mismatch(table, "byte moments", where, j, got[j], want[j], 0);
    free(got);
    free(want);
    return bad;
}

static int check_byte_spread(const vem_i_kernels *table, const char *where,
                             const uint8_t *x, int64_t ld, int64_t n, int32_t d,
                             const double *center)
{
    const vem_i_kernels *ref = kernel_reference(table);
    double *got = take(n, sizeof *got), *want = take(n, sizeof *want), one;
    int bad = 0;
    table->byte_spread(x, ld, n, d, center, got);
    ref->byte_spread(x, ld, n, d, center, want);
    for (int64_t i = 0; i < n; ++i) {
        const double bound = 100 * DBL_EPSILON * want[i];
        bad +=
            fabs(got[i] - want[i]) <= bound
                ? 0
                : kernel_mismatch(table, "byte spread", where, i, got[i], want[i], bound);
    }
    /* A row does not mind its neighbors. */
    table->byte_spread(x + (n - 1) * ld, ld, 1, d, center, &one);
    bad += one == got[n - 1] ? 0
                             : kernel_mismatch(table, "byte spread, alone", where, n - 1,
                                               one, got[n - 1], 0);
    free(got);
    free(want);
    return bad;
}

static int check_at(const vem_i_kernels *table, int32_t d, int64_t n)
{
    const int64_t ld = d + 1, count = (n - 1) * ld + d;
    uint8_t *x = take(count, 1);
    double *center = take(d, sizeof *center);
    char where[64];
    snprintf(where, sizeof where, "d %d, n %d", d, (int)n);
    for (int32_t j = 0; j < d; ++j)
        center[j] = center_at(j);
    for (int64_t i = 0; i < count; ++i)
        x[i] = (uint8_t)kernel_below(256);
    /* A row at the center, as near as bytes are: next to nothing is left of it. */
    for (int32_t j = 0; j < d && n > 1; ++j)
        x[ld + j] = (uint8_t)(center[j] + 0.5);
    int bad = check_byte_moments(table, where, x, ld, n, d) +
              check_byte_spread(table, where, x, ld, n, d, center);
    /* The largest sums. */
    for (int64_t i = 0; i < count; ++i)
        x[i] = 255;
    for (int32_t j = 0; j < d; ++j)
        center[j] = 0.4999999;
    bad += check_byte_moments(table, where, x, ld, n, d) +
           check_byte_spread(table, where, x, ld, n, d, center);
    free(x);
    free(center);
    return bad;
}

int check_bytes(const vem_i_kernels *table)
{
    static const int32_t wide[] = {127, 128, 255, 256, 257, 300, 768};
    int bad = 0;
    kernel_seed(31);
    for (const int32_t *g = grid_n; *g; ++g) {
        for (const int32_t *d = grid_d; *d; ++d)
            bad += check_at(table, *d, grid_items(table, *g));
        for (size_t k = 0; k < sizeof wide / sizeof *wide; ++k)
            bad += check_at(table, wide[k], grid_items(table, *g));
    }
    /* As many rows as 32 bits hold. */
    bad += check_at(table, 1, 1 << 16);
    return bad;
}
