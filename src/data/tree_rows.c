/* Rows of a tree in bulk: summed, told apart, swapped.
 *
 * Sums are taken in double about the first row with a mass: with r that row and e_i =
 * x_i - r,
 *
 *     W = sum w_i,   s = sum w_i e_i,   mean = r + s / W,
 *     scatter = sum w_i e_i e_i' - s s' / W.
 *
 * r lies among the rows, so that s s' / W is not large beside the scatter (at most as
 * many times as there are rows); where weights make it so, the sums are taken again
 * about the mean they gave. Sums of parts are merged as Chan, Golub and LeVeque do:
 * with d = mean_b - mean_a,
 *
 *     scatter = scatter_a + scatter_b + (W_a W_b / (W_a + W_b)) d d'.
 *
 * Where items have spreads V_i of their own, sum w_i V_i comes on top. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "data/tree_inside.h"

#define INLINE VEM_I_TREE_INLINE
#define value_at vem_i_tree_value

/* ---- sums ---- */

/* With d, single and weighted known to the compiler all sums stay in registers. */
INLINE void triangle(const void *x, int64_t ld, int64_t n, int32_t d, int single,
                     const double *weights, int64_t step, const double *center,
                     double *sum, double *second)
{
    for (int64_t i = 0; i < n; i++) {
        const double w = weights ? weights[i * step] : 1.0;
        double *s = second;
        for (int32_t j = 0; j < d; j++) {
            const double e = value_at(x, i * ld + j, single) - center[j], we = w * e;
            sum[j] += we;
            for (int32_t k = 0; k <= j; k++)
                *s++ += we * (value_at(x, i * ld + k, single) - center[k]);
        }
    }
}

enum { UNROLLED = VEM_I_TREE_PLAIN, FEW_ROWS = 8 };

INLINE void triangle_of(const void *x, int64_t ld, int64_t n, int32_t d, int single,
                        const double *weights, int64_t step, const double *center,
                        double *sum, double *second)
{
    double c[UNROLLED], a[UNROLLED] = {0}, b[UNROLLED * (UNROLLED + 1) / 2] = {0};
    memcpy(c, center, (size_t)d * sizeof *c);
    if (weights)
        triangle(x, ld, n, d, single, weights, step, c, a, b);
    else
        triangle(x, ld, n, d, single, NULL, step, c, a, b);
    for (int32_t j = 0; j < d; j++)
        sum[j] += a[j];
    for (int32_t j = 0; j < d * (d + 1) / 2; j++)
        second[j] += b[j];
}

INLINE void triangle_typed(const void *x, int64_t ld, int64_t n, int32_t d, int single,
                           const double *weights, int64_t step, const double *center,
                           double *sum, double *second)
{
    switch (d) {
    case 1: triangle_of(x, ld, n, 1, single, weights, step, center, sum, second); break;
    case 2: triangle_of(x, ld, n, 2, single, weights, step, center, sum, second); break;
    case 3: triangle_of(x, ld, n, 3, single, weights, step, center, sum, second); break;
    case 4: triangle_of(x, ld, n, 4, single, weights, step, center, sum, second); break;
    default: triangle(x, ld, n, d, single, weights, step, center, sum, second);
    }
}

void vem_i_tree_triangle(const vem_i_tree *tree, int64_t begin, int64_t rows,
                         int64_t step, const double *center, double *sum, double *second)
{
    const vem_view *view = tree->view;
    const void *x = vem_i_tree_row(tree, begin);
    const double *weights = tree->weights ? tree->weights + begin : NULL;
    const int64_t ld = view->d * step;
    if (view->kernels->precision == VEM_SINGLE)
        triangle_typed(x, ld, rows, view->d, 1, weights, step, center, sum, second);
    else
        triangle_typed(x, ld, rows, view->d, 0, weights, step, center, sum, second);
}

/* The same by the kernels, in blocks. */
static void triangle_blocks(const vem_i_tree *tree, int64_t begin, int64_t rows,
                            const double *center, int thread, double *sum, double *second)
{
    const vem_i_tree_work *work = tree->work;
    const int32_t d = tree->view->d;
    double *q = work->own_rows + thread * work->own_row_doubles, *wide = q + work->block,
           *panels = wide + work->block * d;
    for (int64_t i = 0; i < work->block && i < rows; i++)
        q[i] = 1;
    for (int64_t i = 0; i < rows; i += work->block) {
        const int64_t n = rows - i < work->block ? rows - i : work->block;
        const void *x = vem_i_tree_row(tree, begin + i);
        if (tree->view->kernels->precision == VEM_SINGLE) {
            vem_i_widen(tree->view->kernels, x, n * d, wide);
            x = wide;
        }
        work->wide->pack(x, d, NULL, (int32_t)n, d, NULL, panels, NULL);
        work->wide->full_collect(panels, tree->weights ? tree->weights + begin + i : q,
                                 (int32_t)n, d, center, sum, second);
    }
}

static void box(const vem_i_tree *tree, int64_t begin, int64_t rows, vem_i_tree_sums out)
{
    const vem_view *view = tree->view;
    const int32_t d = view->d;
    vem_i_widen(view->kernels, vem_i_tree_row(tree, begin), d, out.low);
    memcpy(out.high, out.low, (size_t)d * sizeof *out.high);
    for (int64_t i = 1; i < rows; i++) {
        const void *x = vem_i_tree_row(tree, begin + i);
        for (int32_t j = 0; j < d; j++) {
            const double value = vem_i_value(view->kernels, x, j);
            out.low[j] = value < out.low[j] ? value : out.low[j];
            out.high[j] = value > out.high[j] ? value : out.high[j];
        }
    }
}

/* sum w_i V_i of items that have spreads, as far as the scatter has room for it. Of a
 * trace each column gets its share. */
static void add_spreads(const vem_i_tree *tree, int64_t begin, int64_t rows,
                        double *scatter)
{
    const vem_view *view = tree->view;
    const int64_t d = view->d, values = vem_i_spread_values(view->spread_kind, view->d);
    const int full = tree->work->full;
    for (int64_t i = begin; i < begin + rows; i++) {
        const int64_t item = tree->order[i];
        const void *spread = (const char *)view->spread +
                             (size_t)(item * view->spread_ld) * view->kernels->element;
        const double w = vem_i_view_mass(view, item);
        if (view->spread_kind == VEM_I_SPREAD_FULL && full) {
            for (int64_t k = 0; k < values; k++)
                scatter[k] += w * vem_i_value(view->kernels, spread, k);
            continue;
        }
        for (int64_t j = 0; j < d; j++) {
            const int64_t diagonal = j * (j + 3) / 2;
            const int64_t at = view->spread_kind == VEM_I_SPREAD_FULL   ? diagonal
                               : view->spread_kind == VEM_I_SPREAD_DIAG ? j
                                                                        : 0;
            const double share =
                view->spread_kind == VEM_I_SPREAD_TRACE ? w / (double)d : w;
            scatter[full ? diagonal : j] +=
                share * vem_i_value(view->kernels, spread, at);
        }
    }
}

/* From sums about a point to sums about the mean. 0 if the point lies so far off that
 * they should be taken again. */
static int about_mean(const vem_i_tree *tree, vem_i_tree_sums out, double *sum)
{
    static const double FAR = 1 << 16;
    const int64_t d = tree->view->d;
    const double mass = *out.mass;
    double *s = out.scatter, places = 0;
    int near = 1;
    for (int64_t j = 0; j < d; j++)
        sum[j] = mass > 0 ? sum[j] / mass : 0;
    for (int64_t j = 0; j < d; j++) {
        if (tree->work->full)
            for (int64_t k = 0; k < j; k++)
                *s++ -= mass * sum[j] * sum[k];
        const double shift = mass * sum[j] * sum[j], left = *s - shift;
        near = near && shift <= FAR * left;
        *s = left > 0 ? left : 0;
        places += *s++;
        out.mean[j] += sum[j];
    }
    *out.places = places;
    return near;
}

/* About the mean as it is in `out`. */
static int sum_about(const vem_i_tree *tree, int64_t begin, int64_t rows, int thread,
                     double *sum, vem_i_tree_sums out)
{
    const vem_view *view = tree->view;
    const int32_t d = view->d;
    memset(sum, 0, (size_t)d * sizeof *sum);
    memset(out.scatter, 0, (size_t)(out.low - out.scatter) * sizeof *out.scatter);
    if (tree->work->block && rows >= FEW_ROWS)
        triangle_blocks(tree, begin, rows, out.mean, thread, sum, out.scatter);
    else if (tree->work->full)
        vem_i_tree_triangle(tree, begin, rows, 1, out.mean, sum, out.scatter);
    else
        view->kernels->moments(vem_i_tree_row(tree, begin), d, rows, d,
                               tree->weights ? tree->weights + begin : NULL, out.mean,
                               sum, out.scatter);
    return about_mean(tree, out, sum);
}

void vem_i_tree_sum(const vem_i_tree *tree, int64_t begin, int64_t rows, int thread,
                    vem_i_tree_sums out)
{
    double *sum = tree->work->own + thread * tree->work->own_doubles;
    int64_t heavy = begin; /* the first row with a mass */
    double mass = (double)rows;
    if (tree->weights) {
        mass = 0;
        for (int64_t i = begin; i < begin + rows; i++)
            mass += tree->weights[i];
        while (heavy + 1 < begin + rows && !(tree->weights[heavy] > 0))
            heavy++;
    }
    *out.mass = mass;
    vem_i_widen(tree->view->kernels, vem_i_tree_row(tree, heavy), tree->view->d,
                out.mean);
    /* A row that weighs next to nothing may lie anywhere. */
    if (!sum_about(tree, begin, rows, thread, sum, out) && tree->weights)
        sum_about(tree, begin, rows, thread, sum, out);
    if (tree->view->spread)
        add_spreads(tree, begin, rows, out.scatter);
    if (tree->boxes)
        box(tree, begin, rows, out);
}

void vem_i_tree_merge(const vem_i_tree *tree, vem_i_tree_sums into, vem_i_tree_sums from)
{
    const int64_t d = tree->view->d;
    const double mass = *into.mass + *from.mass;
    const double share = mass > 0 ? *from.mass / mass : 0, both = share * *into.mass;
    double *s = into.scatter;
    const double *t = from.scatter;
    *into.places += *from.places;
    for (int64_t j = 0; j < d; j++) {
        const double e = from.mean[j] - into.mean[j];
        if (tree->work->full)
            for (int64_t k = 0; k < j; k++)
                *s++ += *t++ + both * e * (from.mean[k] - into.mean[k]);
        *s++ += *t++ + both * e * e;
        *into.places += both * e * e;
    }
    for (int64_t j = 0; j < d; j++)
        into.mean[j] += share * (from.mean[j] - into.mean[j]);
    *into.mass = mass;
    for (int64_t j = 0; tree->boxes && j < d; j++) {
        into.low[j] = from.low[j] < into.low[j] ? from.low[j] : into.low[j];
        into.high[j] = from.high[j] > into.high[j] ? from.high[j] : into.high[j];
    }
}

/* ---- sides ---- */

INLINE double project(const void *x, int64_t at, int32_t d, int single,
                      const vem_i_tree_cut *cut)
{
    double sum[4] = {0};
    int32_t j = 0;
    for (; j + 4 <= d; j += 4)
        for (int32_t k = 0; k < 4; k++)
            sum[k] +=
                cut->axis[j + k] * (value_at(x, at + j + k, single) - cut->center[j + k]);
    for (; j < d; j++)
        sum[j % 4] += cut->axis[j] * (value_at(x, at + j, single) - cut->center[j]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

INLINE int64_t sides_of(const void *x, int64_t rows, int32_t d, int single,
                        const vem_i_tree_cut *cut, uint64_t *sides)
{
    int64_t right = 0;
    for (int64_t i = 0; i < rows; i += 64) {
        const int64_t end = i + 64 < rows ? i + 64 : rows;
        uint64_t bits = 0;
        if (cut->column >= 0)
            for (int64_t p = i; p < end; p++)
                bits |= (uint64_t)(value_at(x, p * d + cut->column, single) > cut->at)
                        << (p - i);
        else
            for (int64_t p = i; p < end; p++)
                bits |= (uint64_t)(project(x, p * d, d, single, cut) > 0) << (p - i);
        sides[i / 64] = bits;
        right += __builtin_popcountll(bits);
    }
    return right;
}

INLINE int64_t sides_typed(const void *x, int64_t rows, int32_t d, int single,
                           const vem_i_tree_cut *cut, uint64_t *sides)
{
    switch (d) {
    case 1: return sides_of(x, rows, 1, single, cut, sides);
    case 2: return sides_of(x, rows, 2, single, cut, sides);
    case 3: return sides_of(x, rows, 3, single, cut, sides);
    case 4: return sides_of(x, rows, 4, single, cut, sides);
    default: return sides_of(x, rows, d, single, cut, sides);
    }
}

int64_t vem_i_tree_sides(const vem_i_tree *tree, const vem_i_tree_cut *cut, int64_t begin,
                         int64_t rows, uint64_t *sides)
{
    const vem_view *view = tree->view;
    const void *x = vem_i_tree_row(tree, begin);
    return view->kernels->precision == VEM_SINGLE
               ? sides_typed(x, rows, view->d, 1, cut, sides)
               : sides_typed(x, rows, view->d, 0, cut, sides);
}

/* ---- swaps ---- */

/* Bits one after the other, from a place on, each word turned by `flip`. */
typedef struct walk {
    const uint64_t *words;
    uint64_t word, flip;
    int64_t at; /* of the word */
} walk;

INLINE walk walk_from(const uint64_t *words, int64_t place, uint64_t flip)
{
    walk w = {.words = words, .flip = flip, .at = place / 64};
    w.word = (words[w.at] ^ flip) & (~UINT64_C(0) << (place % 64));
    return w;
}

INLINE int64_t walk_next(walk *w)
{
    while (!w->word)
        w->word = w->words[++w->at] ^ w->flip;
    const int64_t place = w->at * 64 + __builtin_ctzll(w->word);
    w->word &= w->word - 1;
    return place;
}

INLINE void swap_bytes(char *a, char *b, size_t size)
{
    char held[256];
    for (size_t at = 0; at < size; at += sizeof held) {
        const size_t part = size - at < sizeof held ? size - at : sizeof held;
        memcpy(held, a + at, part);
        memcpy(a + at, b + at, part);
        memcpy(b + at, held, part);
    }
}

INLINE void swap_all(const vem_i_tree *tree, int64_t first, walk *right, walk *left,
                     int64_t count, size_t row)
{
    char *x = (char *)tree->x + (size_t)first * row;
    uint32_t *order = tree->order + first;
    double *weights = tree->weights ? tree->weights + first : NULL;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = walk_next(right), j = walk_next(left);
        const uint32_t item = order[i];
        order[i] = order[j];
        order[j] = item;
        if (weights) {
            const double w = weights[i];
            weights[i] = weights[j];
            weights[j] = w;
        }
        swap_bytes(x + (size_t)i * row, x + (size_t)j * row, row);
    }
}

int64_t vem_i_tree_count_right(const uint64_t *sides, int64_t begin, int64_t end)
{
    int64_t count = 0;
    for (int64_t w = begin / 64; w * 64 < end; w++) {
        uint64_t word = sides[w];
        if (w * 64 < begin)
            word &= ~UINT64_C(0) << (begin % 64);
        if (end - w * 64 < 64)
            word &= (UINT64_C(1) << (end - w * 64)) - 1;
        count += __builtin_popcountll(word);
    }
    return count;
}

void vem_i_tree_swap(const vem_i_tree *tree, int64_t first, const uint64_t *sides,
                     int64_t begin, int64_t end, int64_t from)
{
    const int64_t count = vem_i_tree_count_right(sides, begin, end);
    if (count == 0)
        return;
    walk right = walk_from(sides, begin, 0), left = walk_from(sides, from, ~UINT64_C(0));
    const size_t row = (size_t)tree->view->d * tree->view->kernels->element;
    switch (row) { /* sizes that the compiler knows */
    case 4: swap_all(tree, first, &right, &left, count, 4); break;
    case 8: swap_all(tree, first, &right, &left, count, 8); break;
    case 12: swap_all(tree, first, &right, &left, count, 12); break;
    case 16: swap_all(tree, first, &right, &left, count, 16); break;
    case 24: swap_all(tree, first, &right, &left, count, 24); break;
    case 32: swap_all(tree, first, &right, &left, count, 32); break;
    default: swap_all(tree, first, &right, &left, count, row);
    }
}
