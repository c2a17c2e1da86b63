/* A cut between two means: with m_l and m_r the means of its sides, the plane halfway
 * between them,
 *
 *     right where (m_r - m_l) . (x - (m_l + m_r) / 2) > 0,
 *
 * which is a step of Lloyd's algorithm for two centers. It leaves less scatter in the
 * two sides together, of the rows that it looks at. More steps gain next to nothing
 * (bench/results/tree_steps.md). */
#include <string.h>

#include "data/tree_inside.h"

typedef struct sides {
    double mass[2];
    double *sum[2]; /* about the center of the cut */
} sides;

VEM_I_TREE_INLINE void gather(const void *x, int64_t ld, int64_t rows, int32_t d,
                              int single, const double *weights, int64_t step,
                              const vem_i_tree_cut *cut, sides *s)
{
    for (int64_t i = 0; i < rows; i++) {
        const double w = weights ? weights[i * step] : 1.0;
        double p[4] = {0};
        for (int32_t j = 0; j < d; j++)
            p[j % 4] +=
                cut->axis[j] * (vem_i_tree_value(x, i * ld + j, single) - cut->center[j]);
        const int right = (p[0] + p[1]) + (p[2] + p[3]) > 0;
        double *sum = s->sum[right];
        s->mass[right] += w;
        for (int32_t j = 0; j < d; j++)
            sum[j] += w * (vem_i_tree_value(x, i * ld + j, single) - cut->center[j]);
    }
}

VEM_I_TREE_INLINE void gather_typed(const void *x, int64_t ld, int64_t rows, int32_t d,
                                    int single, const double *weights, int64_t step,
                                    const vem_i_tree_cut *cut, sides *s)
{
    switch (d) {
    case 1: gather(x, ld, rows, 1, single, weights, step, cut, s); break;
    case 2: gather(x, ld, rows, 2, single, weights, step, cut, s); break;
    case 3: gather(x, ld, rows, 3, single, weights, step, cut, s); break;
    case 4: gather(x, ld, rows, 4, single, weights, step, cut, s); break;
    default: gather(x, ld, rows, d, single, weights, step, cut, s);
    }
}

void vem_i_tree_refine(const vem_i_tree *tree, int64_t begin, int64_t rows, int64_t step,
                       double *own, vem_i_tree_cut *cut)
{
    const vem_view *view = tree->view;
    const int32_t d = view->d;
    const void *x = vem_i_tree_row(tree, begin);
    const double *weights = tree->weights ? tree->weights + begin : NULL;
    sides found = {.sum = {own, own + d}};
    memset(own, 0, 2 * (size_t)d * sizeof *own);
    if (view->kernels->precision == VEM_SINGLE)
        gather_typed(x, d * step, rows, d, 1, weights, step, cut, &found);
    else
        gather_typed(x, d * step, rows, d, 0, weights, step, cut, &found);
    if (!(found.mass[0] > 0) || !(found.mass[1] > 0))
        return;
    for (int32_t j = 0; j < d; j++) {
        const double a = found.sum[0][j] / found.mass[0],
                     b = found.sum[1][j] / found.mass[1];
        cut->axis[j] = b - a;
        cut->center[j] += (a + b) / 2;
    }
}
