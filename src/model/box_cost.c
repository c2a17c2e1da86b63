/* Bounds of costs over a box, from the very numbers that the kernels multiply.
 *
 * Every Gaussian cost is  v(x) = s |y(x)|^2 + bias  with y affine:
 *
 *     axes 0   y_j = x_j - m_j            s = 1 / variance
 *     axes 1   y_j = a_j x_j - b_j        s = 1
 *     axes 2   y   = U (x - m)            s = 1, U lower triangular
 *
 * Over the box |x - x0| <= h each y_i stays within r_i = sum_j |U_ij| h_j of y_i(x0),
 * so that
 *
 *     low  = bias + s sum_i max(0, |y_i(x0)| - r_i)^2
 *     high = bias + s sum_i (|y_i(x0)| + r_i)^2
 *
 * which are exact for axes 0 and 1 (Y_i = |y_i(x0)| + r_i below). Two clusters
 * together: with g the slopes at x0,
 *
 *     v_c(x) - v_w(x) = v_c(x0) - v_w(x0) + (g_c - g_w)'e + e'(P_c - P_w)e,    e = x - x0,
 *
 * of which axes 0 and 1 have the exact minimum, column by column; of matrices the
 * second order is no less than - e'P_w e >= - sum_i r_i^2 of w, and nothing where
 * clusters share a shape. To first order in h this is exact, while `low` and `high`
 * are taken at different corners.
 *
 * Slack. u is the unit roundoff of T, and A_i bounds the sum of the sizes of the terms
 * of y_i over the box: |a_i| (|x0_i| + h_i) + |b_i|, or sum_j |U_ij| (|z0_j| + h_j);
 * of axes 0 it is Y_i. A kernel has, with or without fused operations, computed y_i to
 * within k u A_i, k = d + 4 of matrices and 3 else (a difference, d products, d sums;
 * a chain of vem_i_sum_steps for the squares), so that its cost is off by no more than
 *
 *     2 s k u sum Y_i A_i + s (k u)^2 sum A_i^2 + (m + 4) u (s sum Y_i^2 + |bias|),
 *
 * m the length of the sum of squares. What is computed here in double errs by the same
 * with u = 2^-53, once for each of middle, low or high, r, and twice for slopes times
 * h (r_i <= Y_i and |y_i| <= A_i): 8 such units cover it, and they are added to those
 * of T. Numbers below the smallest of T are worth nothing: A_i is raised by that over
 * u, and each square by as much as it may lose. Where numbers may leave the range of T
 * at its other end nothing is certain and the slack is infinite. docs/math/boxes.md
 * has the steps one by one. */
#include "model/box_cost.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"

static const double OWN = 8 * 0x1p-53;

static int axes_of(const vem_i_box_coster *t)
{
    return t->scorer->family->shape_axes;
}

static size_t rooms_of(vem_i_box_coster *t, vem_i_room list[4])
{
    const vem_i_scorer *s = t->scorer;
    const size_t c = (size_t)s->capacity, d = (size_t)s->d;
    const int axes = axes_of(t);
    const size_t values = axes == 0 ? 0 : axes == 1 ? d : d * (d + 1) / 2;
    const vem_i_room rooms[] = {
        {&t->centers, c, d * sizeof(double), 0},
        {&t->factors, values ? (t->ldf ? c : 1) : 0, values * sizeof(double), 0},
        {&t->bias, c, sizeof(double), 0},
        {&t->scale, c, sizeof(double), 0},
    };
    memcpy(list, rooms, sizeof rooms);
    return VEM_I_COUNT(rooms);
}

void vem_i_box_coster_free(vem_i_box_coster *t)
{
    vem_i_room list[4];
    if (!t->scorer)
        return;
    vem_i_free_rooms(list, rooms_of(t, list));
    memset(t, 0, sizeof *t);
}

vem_status vem_i_box_coster_new(vem_i_run *run, const vem_i_scorer *scorer,
                                vem_i_box_coster *coster)
{
    const int axes = scorer->family->shape_axes,
              single = scorer->kernels->precision == VEM_SINGLE;
    const int64_t d = scorer->d;
    const double u = single ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    const double steps = axes == 2 ? (double)d + 8 : vem_i_sum_steps(scorer->d) + 8;
    vem_i_room list[4];
    *coster = (vem_i_box_coster){.scorer = scorer,
                                 .ldf = axes == 1   ? d
                                        : axes == 2 ? (scorer->lda ? d * (d + 1) / 2 : 0)
                                                    : 0,
                                 .tiny = (single ? (double)FLT_MIN : DBL_MIN) / u,
                                 .limit = (single ? (double)FLT_MAX : DBL_MAX) / 16};
    /* Shares of sum Y^2, and of sum Y A; 1 % for products of roundings. */
    coster->own = 1.01 * steps * (u + OWN);
    coster->kernel = axes == 2 ? coster->own : 1.01 * 4 * (u + OWN);
    vem_status status = vem_i_take_rooms(run, list, rooms_of(coster, list));
    if (status != VEM_OK)
        vem_i_box_coster_free(coster);
    return status;
}

static void prepare_cluster(void *arg, int64_t c, int thread)
{
    (void)thread;
    const vem_i_box_coster *t = arg;
    const vem_i_scorer *s = t->scorer;
    const vem_i_kernels *kernels = s->kernels;
    const int64_t d = s->d, values = axes_of(t) == 2 ? d * (d + 1) / 2 : d;
    const void *center = axes_of(t) == 1 ? s->b : s->means;
    const size_t element = kernels->element;
    vem_i_widen(kernels, (const char *)center + (size_t)(c * s->ldc) * element, d,
                t->centers + c * d);
    t->bias[c] = vem_i_value(kernels, s->bias, c);
    t->scale[c] = axes_of(t) == 0 ? vem_i_value(kernels, s->scale, c) : 1;
    if (axes_of(t) == 0 || (!t->ldf && c > 0))
        return;
    const int64_t lda = axes_of(t) == 1 ? s->ldc : s->lda;
    vem_i_widen(kernels, (const char *)s->a + (size_t)(c * lda) * element, values,
                t->factors + c * t->ldf);
}

void vem_i_box_coster_prepare(vem_i_run *run, vem_i_box_coster *t)
{
    const double d = t->scorer->d, values = axes_of(t) == 2 ? d * d / 2 : d;
    vem_i_parallel_light(run, t->scorer->clusters, 2 * values, prepare_cluster, t);
}

void vem_i_box_around(const vem_i_kernels *kernels, const void *box, int32_t d,
                      double *center, double *half)
{
    for (int64_t j = 0; j < d; j++) {
        const double low = vem_i_value(kernels, box, j),
                     high = vem_i_value(kernels, box, d + j);
        center[j] = 0.5 * low + 0.5 * high;
        half[j] = (1 + 4 * DBL_EPSILON) * fmax(high - center[j], center[j] - low);
    }
}

/* Sums over the y_i of a cluster. */
typedef struct sums {
    double middle, low, high; /* squares */
    double mixed, sizes;      /* Y A, A^2 */
    double bend;              /* r^2 */
} sums;

static inline void add(sums *t, double y, double r, double size)
{
    const double most = fabs(y) + r, near = fabs(y) - r;
    t->middle += y * y;
    t->low += near > 0 ? near * near : 0;
    t->high += most * most;
    t->mixed += most * size;
    t->sizes += size * size;
    t->bend += r * r;
}

static sums sums_of_matrix(const vem_i_box_coster *t, int32_t c, vem_i_box box)
{
    const int64_t d = t->scorer->d;
    const double *mean = t->centers + c * d, *u = t->factors + c * t->ldf;
    sums sum = {0};
    for (int64_t i = 0; i < d; i++) {
        double y = 0, r = 0, size = 0;
        for (int64_t j = 0; j <= i; j++) {
            const double product = u[j] * (box.center[j] - mean[j]);
            y += product;
            size += fabs(product);
            r += fabs(u[j]) * box.half[j];
        }
        u += i + 1;
        add(&sum, y, r, size + r + t->tiny);
    }
    return sum;
}

static sums sums_of(const vem_i_box_coster *t, int32_t c, vem_i_box box)
{
    const int64_t d = t->scorer->d;
    const double *b = t->centers + c * d;
    sums sum = {0};
    if (axes_of(t) == 2)
        return sums_of_matrix(t, c, box);
    if (axes_of(t) == 0) {
        for (int64_t j = 0; j < d; j++) {
            const double y = box.center[j] - b[j], r = box.half[j];
            add(&sum, y, r, fabs(y) + r + t->tiny);
        }
        return sum;
    }
    const double *a = t->factors + c * t->ldf;
    for (int64_t j = 0; j < d; j++) {
        const double product = a[j] * box.center[j], r = fabs(a[j]) * box.half[j];
        add(&sum, product - b[j], r, fabs(product) + r + fabs(b[j]) + t->tiny);
    }
    return sum;
}

void vem_i_box_cost_of(const vem_i_box_coster *t, int32_t c, vem_i_box box,
                       vem_i_box_cost *cost)
{
    const sums sum = sums_of(t, c, box);
    const double s = t->scale[c], bias = t->bias[c], d = t->scorer->d;
    cost->middle = bias + s * sum.middle;
    cost->low = bias + s * sum.low;
    cost->high = bias + s * sum.high;
    cost->bend = t->ldf == 0 && axes_of(t) == 2 ? 0 : s * sum.bend;
    cost->slack = s * (2 * t->kernel * sum.mixed + t->kernel * t->kernel * sum.sizes) +
                  t->own * (s * sum.high + fabs(bias)) + (s + 1) * (d + 4) * t->tiny;
    /* Also where a bound is not a number. */
    if (!(s * sum.sizes + fabs(bias) < t->limit && sum.sizes < t->limit))
        cost->slack = INFINITY;
}

/* y at the center. */
static void values_of_matrix(const vem_i_box_coster *t, int32_t c, vem_i_box box,
                             double *y)
{
    const int64_t d = t->scorer->d;
    const double *mean = t->centers + c * d, *u = t->factors + c * t->ldf;
    for (int64_t i = 0; i < d; i++) {
        y[i] = 0;
        for (int64_t j = 0; j <= i; j++)
            y[i] += u[j] * (box.center[j] - mean[j]);
        u += i + 1;
    }
}

void vem_i_box_slopes(const vem_i_box_coster *t, int32_t c, vem_i_box box, double *work,
                      double *slopes)
{
    const int64_t d = t->scorer->d;
    const double *b = t->centers + c * d, s = t->scale[c],
                 *a = t->factors ? t->factors + c * t->ldf : NULL;
    if (axes_of(t) == 0) {
        for (int64_t j = 0; j < d; j++)
            slopes[j] = 2 * s * (box.center[j] - b[j]);
        return;
    }
    if (axes_of(t) == 1) {
        for (int64_t j = 0; j < d; j++)
            slopes[j] = 2 * a[j] * (a[j] * box.center[j] - b[j]);
        return;
    }
    values_of_matrix(t, c, box, work);
    memset(slopes, 0, (size_t)d * sizeof *slopes);
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = 0; j <= i; j++)
            slopes[j] += 2 * a[j] * work[i];
        a += i + 1;
    }
}

/* min of  slope e + bend e^2  over |e| <= half. */
static double least(double slope, double bend, double half)
{
    const double end = bend * half * half - fabs(slope) * half;
    if (bend > 0 && fabs(slope) < 2 * bend * half)
        return -0.25 * slope * (slope / bend);
    return end;
}

double vem_i_box_margin(const vem_i_box_coster *t, vem_i_box box, int32_t c,
                        const vem_i_box_cost *of_c, const double *slopes_c, int32_t w,
                        const vem_i_box_cost *of_w, const double *slopes_w)
{
    const int64_t d = t->scorer->d;
    double margin = of_c->middle - of_w->middle;
    if (axes_of(t) == 2) {
        for (int64_t j = 0; j < d; j++)
            margin -= fabs(slopes_c[j] - slopes_w[j]) * box.half[j];
        return margin - of_w->bend;
    }
    const double *a = t->factors ? t->factors + c * t->ldf : NULL,
                 *b = t->factors ? t->factors + w * t->ldf : NULL;
    for (int64_t j = 0; j < d; j++) {
        const double bend = a ? a[j] * a[j] - b[j] * b[j] : t->scale[c] - t->scale[w];
        margin += least(slopes_c[j] - slopes_w[j], bend, box.half[j]);
    }
    return margin;
}

/* ---- of statistics ---- */

/* tr(U S U'), S the lower triangle of second moments about the mean. */
static double matrix_cost(const double *u, int64_t d, const double *second, double *work)
{
    double sum = 0;
    for (int64_t i = 0; i < d; i++) {
        memset(work, 0, (size_t)(i + 1) * sizeof *work);
        for (int64_t j = 0, at = 0; j <= i; j++) {
            for (int64_t k = 0; k < j; k++, at++) {
                work[j] += u[k] * second[at];
                work[k] += u[j] * second[at];
            }
            work[j] += u[j] * second[at++];
        }
        double row = 0;
        for (int64_t j = 0; j <= i; j++)
            row += u[j] * work[j];
        sum += row > 0 ? row : 0;
        u += i + 1;
    }
    return sum;
}

/* a (x - m) + (a m - b), squared and summed over what the moments are of. */
static double column_cost(double a, double b, double mean, double mass, double first,
                          double second)
{
    const double off = a * mean - b;
    return a * a * second + off * (2 * a * first + mass * off);
}

double vem_i_box_held_cost(const vem_i_box_coster *t, const vem_i_stats *stats,
                           double *work)
{
    const vem_i_scorer *s = t->scorer;
    const int64_t d = s->d;
    double sum = 0;
    for (int32_t c = 0; c < stats->clusters; c++) {
        const double mass = *vem_i_stats_mass(stats, c),
                     *first = vem_i_stats_first(stats, c),
                     *second = vem_i_stats_second(stats, c);
        const double *a = t->factors ? t->factors + c * t->ldf : NULL,
                     *b = t->centers + c * d;
        if (!(mass > 0))
            continue; /* the bias of a weight of 0 is no number */
        double cost = axes_of(t) == 0   ? t->scale[c] * *second
                      : axes_of(t) == 2 ? matrix_cost(a, d, second, work)
                                        : 0;
        for (int64_t j = 0; axes_of(t) == 1 && j < d; j++)
            cost +=
                column_cost(a[j], b[j], vem_i_about(s, c, j), mass, first[j], second[j]);
        sum += mass * t->bias[c] + cost;
    }
    return sum;
}
