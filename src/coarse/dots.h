/* What the dot form of a squared distance can be trusted with.
 *
 *     v = scale (|x|^2 + |m|^2 - 2 x.m) + bias,    scale and |x|^2 the same for all centers m
 *
 * as dot_top takes it. With u the unit roundoff and s = vem_i_sum_steps(d), the product x.m
 * errs by at most s u |x| |m| (Cauchy-Schwarz bounds the sum of the terms' sizes), and what
 * follows it, a few operations on numbers no larger than scale (|x| + |m|)^2 + bias, by a few
 * u of those. The error of |x|^2 itself is the same for every center and decides nothing.
 * Since 2 |x| |m| <= |x|^2 + |m|^2, together
 *
 *     e(m) = u (s + 8) scale (|x|^2 + |m|^2) + 4 u bias.
 *
 * A list is right unless a center c outside it costs truly less than a center k in it. Then
 * |x - c|^2 <= (v_k - bias_c) / scale, so that |c| <= |x| + sqrt(v_k / scale) =: r, and
 *
 *     v_next <= v_c (as computed) <= v_k + e(r) <= v_last (as computed) + e(k) + e(r),
 *
 * v_last being the last kept and v_next the first left out. So a center that lies far away
 * never makes others doubtful, however long it is: only the kept ones and r count. */
#ifndef VEM_COARSE_DOTS_H
#define VEM_COARSE_DOTS_H

#include <float.h>
#include <math.h>

#include "kernels/kernels.h"

typedef struct vem_i_dot_guard {
    double unit;     /* u, a little more where d is so large that u d counts */
    double rounding; /* u (s + 8) scale */
    double scale;
} vem_i_dot_guard;

static inline vem_i_dot_guard vem_i_dot_guard_for(const vem_i_kernels *kernels, int32_t d,
                                                  double scale)
{
    double u = (kernels->precision == VEM_SINGLE ? FLT_EPSILON : DBL_EPSILON) / 2;
    double unit = u * 1.01 * (1 + u * d);
    return (vem_i_dot_guard){unit, unit * (vem_i_sum_steps(d) + 8) * scale, scale};
}

/* May a center that was left out be nearer than one that was kept? square: |x|^2;
 * kept_square: the largest |m|^2 of the kept ones; last and next: the costs of the last one
 * kept and of the first left out. Also where a cost is not a number. */
static inline int vem_i_dot_doubtful(const vem_i_dot_guard *g, double square,
                                     double kept_square, double last, double next)
{
    double own = g->rounding * (square + kept_square) + 4 * g->unit * fabs(last);
    double most = fmax(last, 0) + own; /* of the true cost of one that is kept */
    double reach = sqrt(square) + sqrt(most / g->scale);
    double other = g->rounding * (square + reach * reach) + 4 * g->unit * most;
    return !(next - last > own + other);
}

#endif
