/* Where a node is cut: across the first principal axis of its items, at their mean.
 *
 * The axis is found by power iteration, v <- A v / |A v|, from the column with the
 * largest variance. A few steps are enough: any direction is a valid cut, and where no
 * direction stands out the axis itself is arbitrary, while what is near a column cuts
 * boxes into boxes, which leave less scatter than slanted cells do
 * (bench/results/tree_steps.md). A is
 *
 *     the spread of the node, where it is full and items have no spreads of their own,
 *     the scatter of some of its rows, up to FORMED columns,
 *     and else never formed: A v = sum_i w_i e_i (e_i . v), from the row farthest off.
 *
 * Where rounding sends all rows to one side, the middle of the longest side of their
 * box does not. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "data/tree_inside.h"

enum {
    FORMED = 16,
    STEPS = 4,
    ROW_STEPS = 3, /* each is a pass */
    PLANE_STEPS = 1,
    AXIS_ROWS = 1024 /* of a node say well enough where its axis is */
};
/* The axis rests when its cosine with the one before is this near to 1. */
static const double NEAR = 1e-4;
/* Variances that differ by no more than this share are the same, in either type. */
static const double SAME = 1e-5;

static double normalize(double *v, int32_t d)
{
    double most = 0, sum = 0;
    for (int32_t j = 0; j < d; j++)
        most = fabs(v[j]) > most ? fabs(v[j]) : most;
    if (!(most > DBL_MIN))
        return 0;
    for (int32_t j = 0; j < d; j++) {
        v[j] /= most;
        sum += v[j] * v[j];
    }
    const double length = sqrt(sum);
    for (int32_t j = 0; j < d; j++)
        v[j] /= length;
    return length * most;
}

/* ---- of a triangle ---- */

static double entry(const vem_i_kernels *kernels, const void *values, int64_t at)
{
    return kernels ? vem_i_value(kernels, values, at) : ((const double *)values)[at];
}

int32_t vem_i_tree_widest(const vem_i_kernels *kernels, const void *values, int32_t d,
                          int full)
{
    double most = 0;
    for (int64_t j = 0; j < d; j++) {
        const double value = entry(kernels, values, full ? j * (j + 3) / 2 : j);
        most = value > most ? value : most;
    }
    int32_t widest = 0;
    while (widest + 1 < d &&
           entry(kernels, values, full ? (int64_t)widest * (widest + 3) / 2 : widest) <
               (1 - SAME) * most)
        widest++;
    return widest;
}

/* out = A v */
static void multiply(const vem_i_kernels *kernels, const void *triangle, int32_t d,
                     const double *v, double *out)
{
    int64_t at = 0;
    for (int32_t j = 0; j < d; j++) {
        double sum = 0;
        for (int32_t k = 0; k < j; k++, at++) {
            const double a = entry(kernels, triangle, at);
            sum += a * v[k];
            out[k] += a * v[j];
        }
        const double a = entry(kernels, triangle, at);
        at++;
        out[j] = sum + a * v[j];
    }
}

/* kernels NULL: the triangle is of doubles. 0 where it is nothing. */
static int axis_of_triangle(const vem_i_kernels *kernels, const void *triangle, int32_t d,
                            double *v, double *next)
{
    memset(v, 0, (size_t)d * sizeof *v);
    v[vem_i_tree_widest(kernels, triangle, d, 1)] = 1;
    const int steps = d == 2 ? PLANE_STEPS : STEPS;
    for (int step = 0; step < steps; step++) {
        multiply(kernels, triangle, d, v, next);
        if (normalize(next, d) == 0)
            return 0;
        double cosine = 0;
        for (int32_t j = 0; j < d; j++)
            cosine += v[j] * next[j];
        memcpy(v, next, (size_t)d * sizeof *v);
        if (cosine > 1 - NEAR * NEAR / 2)
            break;
    }
    return 1;
}

/* ---- of rows ---- */

static double along(const vem_i_tree *tree, int64_t place, const double *center,
                    const double *v)
{
    const void *x = vem_i_tree_row(tree, place);
    double sum[4] = {0};
    for (int32_t j = 0; j < tree->view->d; j++) {
        const double e = vem_i_value(tree->view->kernels, x, j) - center[j];
        sum[j % 4] += v ? e * v[j] : e * e;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double weight_at(const vem_i_tree *tree, int64_t place)
{
    return tree->weights ? tree->weights[place] : 1.0;
}

static int axis_of_rows(const vem_i_tree *tree, int64_t begin, int64_t rows, int64_t step,
                        const double *center, double *v, double *next)
{
    const vem_i_kernels *kernels = tree->view->kernels;
    const int32_t d = tree->view->d;
    int64_t farthest = begin;
    double most = -1;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t place = begin + i * step;
        const double square = along(tree, place, center, NULL);
        if (weight_at(tree, place) > 0 && square > most) {
            most = square;
            farthest = place;
        }
    }
    for (int32_t j = 0; j < d; j++)
        v[j] = vem_i_value(kernels, vem_i_tree_row(tree, farthest), j) - center[j];
    if (normalize(v, d) == 0)
        return 0;
    for (int s = 0; s < ROW_STEPS; s++) {
        memset(next, 0, (size_t)d * sizeof *next);
        for (int64_t i = 0; i < rows; i++) {
            const int64_t place = begin + i * step;
            const void *x = vem_i_tree_row(tree, place);
            const double p = weight_at(tree, place) * along(tree, place, center, v);
            for (int32_t j = 0; j < d; j++)
                next[j] += p * (vem_i_value(kernels, x, j) - center[j]);
        }
        if (normalize(next, d) == 0)
            return 1; /* of no mass: the farthest row says enough */
        memcpy(v, next, (size_t)d * sizeof *v);
    }
    return 1;
}

static int axis_of_node(const vem_i_tree *tree, int32_t node, int64_t rows, int64_t step,
                        double *own, const vem_i_tree_cut *cut)
{
    const vem_view *view = tree->view;
    const int32_t d = view->d;
    if (tree->work->spread_says &&
        axis_of_triangle(view->kernels,
                         (const char *)tree->spreads +
                             (size_t)(node * tree->spread_ld) * view->kernels->element,
                         d, cut->axis, own))
        return 1;
    if (d > FORMED)
        return axis_of_rows(tree, tree->first[node], rows, step, cut->center, cut->axis,
                            own);
    double *sum = own + d, *second = sum + d;
    memset(sum, 0, (size_t)(d + d * (d + 1) / 2) * sizeof *sum);
    vem_i_tree_triangle(tree, tree->first[node], rows, step, cut->center, sum, second);
    return axis_of_triangle(NULL, second, d, cut->axis, own);
}

void vem_i_tree_axis(const vem_i_tree *tree, int32_t node, double *own,
                     vem_i_tree_cut *cut)
{
    const vem_view *view = tree->view;
    const char *mean =
        (const char *)tree->means + (size_t)(node * tree->ld) * view->kernels->element;
    cut->column = -1;
    if (tree->spec.kind == VEM_I_TREE_BOXES) {
        cut->column = tree->work->column[node];
        cut->at = vem_i_value(view->kernels, mean, cut->column);
        return;
    }
    vem_i_widen(view->kernels, mean, view->d, cut->center);
    const int64_t step = vem_i_shards(tree->rows[node], AXIS_ROWS),
                  rows = vem_i_shards(tree->rows[node], step);
    if (!axis_of_node(tree, node, rows, step, own, cut))
        memset(cut->axis, 0, (size_t)view->d * sizeof *cut->axis);
    else if (tree->spec.kind == VEM_I_TREE_MEANS)
        vem_i_tree_refine(tree, tree->first[node], rows, step, own, cut);
}

int vem_i_tree_middle(const vem_i_tree *tree, int32_t node, double *own,
                      vem_i_tree_cut *cut)
{
    const vem_view *view = tree->view;
    const int32_t d = view->d;
    double *low = own, *high = own + d, longest = 0;
    for (int32_t j = 0; j < d; j++) {
        low[j] = DBL_MAX;
        high[j] = -DBL_MAX;
    }
    const int64_t end = tree->first[node] + tree->rows[node];
    for (int64_t i = tree->first[node]; i < end; i++) {
        const void *x = vem_i_tree_row(tree, i);
        if (!(weight_at(tree, i) > 0))
            continue;
        for (int32_t j = 0; j < d; j++) {
            const double value = vem_i_value(view->kernels, x, j);
            low[j] = value < low[j] ? value : low[j];
            high[j] = value > high[j] ? value : high[j];
        }
    }
    for (int32_t j = 0; j < d; j++)
        if (high[j] - low[j] > longest) {
            longest = high[j] - low[j];
            cut->column = j;
            cut->at = low[j] + longest / 2;
            if (!(cut->at < high[j])) /* neighbors among the doubles */
                cut->at = low[j];
        }
    return longest > 0;
}
