/* The reference kernels: each entry of the table in plain C, in the order of kernels.h.
 *
 * These loops are the definition that every other table is tested against, and the table
 * behind VEM_CPU=reference. Inner sums run in double for both types, so that a difference
 * from a vector kernel is that kernel's rounding. */
#include "kernels/kernels.h"
#include "kernels/kernels_inside.h"

#include <math.h>

enum { PANEL = 8 };

/* Element (item p, dimension j) of a block of panels. */
#define SLOT(p, j, d)                                                                    \
    ((int64_t)((p) / PANEL) * PANEL * (d) + (int64_t)(j)*PANEL + (p) % PANEL)

static void byte_moments(const uint8_t *x, int64_t ld, int64_t n, int32_t d,
                         uint32_t *sum, uint32_t *squares)
{
    for (int64_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < d; ++j) {
            const uint32_t value = x[i * ld + j];
            sum[j] += value;
            squares[j] += value * value;
        }
}

static void byte_spread(const uint8_t *x, int64_t ld, int64_t n, int32_t d,
                        const double *center, double *out)
{
    const double step = ldexp(1, VEM_I_BYTE_BITS);
    for (int64_t i = 0; i < n; ++i) {
        out[i] = 0;
        for (int32_t j = 0; j < d; ++j) {
            const double near = floor(center[j] + 0.5);
            const double off = floor((center[j] - near) * step + 0.5) / step;
            const double e = ((double)x[i * ld + j] - near) - off;
            out[i] += e * e;
        }
    }
}

#define T float
#define NAME(x) x##_single
#define PRECISION VEM_SINGLE
#include "kernels/kernels_ref.inc"
#undef T
#undef NAME
#undef PRECISION

#define T double
#define NAME(x) x##_double
#define PRECISION VEM_DOUBLE
#include "kernels/kernels_ref.inc"
