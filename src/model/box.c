/* The form z' P z, z = x - mu, is convex: over a box it is largest at a corner, and its minimum is a
 * quadratic programme.
 *
 * Independent columns:  each for itself, the nearest and the farthest value.
 * Least:    coordinate descent, z_j <- clip(-(sum_{k != j} P_jk z_k) / P_jj), from the point of the box
 *           that is nearest column by column. Whatever it has found, with g = 2 P z
 *               z' P z + sum_j min(g_j (low_j - z_j), g_j (high_j - z_j))
 *           is no more than the minimum.
 * Largest:  the corners, of few columns; else sum_jk |P_jk| u_j u_k, u_j the farthest value of a column. */
#include "model/box.h"

#include <math.h>

enum { SWEEPS = 30 };
/* A bound is good enough when it is that near, as a share of itself. */
static const double NEAR = 1e-9;

static double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* ---- columns that know nothing of each other ---- */

static vem_i_box_bounds of_columns(const vem_i_scorer *s, const void *precisions,
                                   const double *low, const double *high)
{
    const int one = s->family->needs == VEM_I_SPREAD_TRACE;
    vem_i_box_bounds out = {0, 0};
    for (int32_t j = 0; j < s->d; j++) {
        const double p = vem_i_value(s->kernels, precisions, one ? 0 : j);
        const double near = clip(0, low[j], high[j]), far = fmax(-low[j], high[j]);
        out.low += p * near * near;
        out.high += p * far * far;
    }
    return out;
}

/* ---- a matrix: a row of it by its lower triangle, others doubled ---- */

static double entry(const vem_i_scorer *s, const void *precisions, int64_t j, int64_t k)
{
    const int64_t at = j >= k ? j * (j + 1) / 2 + k : k * (k + 1) / 2 + j;
    return vem_i_value(s->kernels, precisions, at) * (j == k ? 1 : 0.5);
}

/* P z in g, and z' P z. */
static double multiply(const vem_i_scorer *s, const void *precisions, const double *z,
                       double *g)
{
    double form = 0;
    for (int32_t j = 0; j < s->d; j++) {
        g[j] = 0;
        for (int32_t k = 0; k < s->d; k++)
            g[j] += entry(s, precisions, j, k) * z[k];
        form += g[j] * z[j];
    }
    return form;
}

static double least(const vem_i_scorer *s, const void *precisions, const double *low,
                    const double *high, double *z, double *g)
{
    double bound = 0;
    for (int32_t j = 0; j < s->d; j++)
        z[j] = clip(0, low[j], high[j]);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        const double form = multiply(s, precisions, z, g);
        double certain = form;
        for (int32_t j = 0; j < s->d; j++)
            certain += 2 * fmin(g[j] * (low[j] - z[j]), g[j] * (high[j] - z[j]));
        bound = fmax(bound, certain);
        if (form - bound <= NEAR * form)
            break;
        for (int32_t j = 0; j < s->d; j++) {
            const double own = entry(s, precisions, j, j);
            double others = 0;
            for (int32_t k = 0; k < s->d; k++)
                others += k == j ? 0 : entry(s, precisions, j, k) * z[k];
            z[j] = clip(-others / own, low[j], high[j]);
        }
    }
    return bound;
}

static double largest(const vem_i_scorer *s, const void *precisions, const double *low,
                      const double *high, double *z, double *g)
{
    double most = 0;
    if (s->d <= VEM_I_BOX_VERTICES) {
        for (unsigned corner = 0; corner < 1U << s->d; corner++) {
            for (int32_t j = 0; j < s->d; j++)
                z[j] = corner >> j & 1 ? high[j] : low[j];
            most = fmax(most, multiply(s, precisions, z, g));
        }
        return most;
    }
    for (int32_t j = 0; j < s->d; j++)
        z[j] = fmax(-low[j], high[j]);
    for (int32_t j = 0; j < s->d; j++)
        for (int32_t k = 0; k < s->d; k++)
            most += fabs(entry(s, precisions, j, k)) * z[j] * z[k];
    return most;
}

vem_i_box_bounds vem_i_box_bounds_of(const vem_i_scorer *s, int32_t c, const double *box,
                                     double *work)
{
    const void *precisions =
        (const char *)s->precisions + (size_t)(c * s->ldp) * s->kernels->element;
    double *low = work, *high = low + s->d, *z = high + s->d, *g = z + s->d;
    for (int64_t j = 0; j < s->d; j++) {
        const double mean = vem_i_value(s->kernels, s->means, c * s->ldc + j);
        low[j] = box[j] - mean;
        high[j] = box[s->d + j] - mean;
    }
    if (s->family->needs != VEM_I_SPREAD_FULL)
        return of_columns(s, precisions, low, high);
    return (vem_i_box_bounds){least(s, precisions, low, high, z, g),
                              largest(s, precisions, low, high, z, g)};
}
