/* Distances of sparse rows of counts as `stabilize` of their family sees them (model/contract.h):
 *
 *     y_j = sqrt(x_j / t),    t = 1, of shares the total of the row
 *
 * (bits are their own roots; rows of the same shares have the same y, to the bit). To a center m, over the entries e of the row alone,
 *
 *     |y - m|^2 = sum_e (y_e - m_e)^2 + (|m|^2 - sum_e m_e^2).
 *
 * What is subtracted are the same terms in the same order where the center has no columns that the row
 * lacks: then the second part is exactly 0, and of equal rows the first one, too. */
#include "seed/roots.h"

#include "data/view.h"

enum { TOGETHER = 16 }; /* centers that a row meets at a time */

double vem_i_root_total(const vem_i_family *family, const vem_i_sparse *x, int64_t row)
{
    double total = 0;
    if (!vem_i_has_shares(family))
        return 1;
    for (int64_t e = x->starts[row]; e < x->ends[row]; e++)
        total += vem_i_sparse_value(x, e);
    return total > 0 ? total : 1;
}

static double root(const vem_i_sparse *x, int64_t e, double total)
{
    return sqrt(vem_i_sparse_value(x, e) / total);
}

double vem_i_root_square(const vem_i_sparse *x, int64_t row, double total,
                         const double *m, double square)
{
    double sum = 0, met = 0;
    for (int64_t e = x->starts[row]; e < x->ends[row]; e++) {
        const double at = m[x->columns[e]], apart = root(x, e, total) - at;
        sum += apart * apart;
        met += at * at;
    }
    return sum + (square > met ? square - met : 0);
}

double vem_i_roots_place(const vem_i_roots *roots, int64_t row, double *centers,
                         int32_t most, int32_t c)
{
    const vem_i_sparse *x = &roots->x;
    double square = 0;
    for (int64_t e = x->starts[row]; e < x->ends[row]; e++) {
        const double y = root(x, e, roots->totals[row]);
        centers[(int64_t)x->columns[e] * most + c] = y;
        square += y * y;
    }
    return square;
}

void vem_i_roots_lift(const vem_i_roots *roots, int64_t row, double *centers,
                      int32_t most, int32_t c)
{
    const vem_i_sparse *x = &roots->x;
    for (int64_t e = x->starts[row]; e < x->ends[row]; e++)
        centers[(int64_t)x->columns[e] * most + c] = 0;
}

/* Row `row` to so many centers from `centers` on. */
static void meet(const vem_i_roots *roots, int64_t row, const double *centers,
                 int32_t most, int32_t m, double *sums, double *met)
{
    const vem_i_sparse *x = &roots->x;
    for (int32_t c = 0; c < m; c++)
        sums[c] = met[c] = 0;
    for (int64_t e = x->starts[row]; e < x->ends[row]; e++) {
        const double *at = centers + (int64_t)x->columns[e] * most;
        const double y = root(x, e, roots->totals[row]);
        for (int32_t c = 0; c < m; c++) {
            sums[c] += (y - at[c]) * (y - at[c]);
            met[c] += at[c] * at[c];
        }
    }
}

void vem_i_roots_distances(const vem_i_roots *roots, const vem_i_kernels *kernels,
                           int64_t first, int64_t n, const double *centers, int32_t most,
                           const double *squares, int32_t m, void *out, int64_t ldo)
{
    double sums[TOGETHER], met[TOGETHER];
    for (int32_t c = 0; c < m; c += TOGETHER) {
        const int32_t some = m - c < TOGETHER ? m - c : TOGETHER;
        for (int64_t i = 0; i < n; i++) {
            meet(roots, first + i, centers + c, most, some, sums, met);
            for (int32_t k = 0; k < some; k++) {
                const double rest = squares[c + k] > met[k] ? squares[c + k] - met[k] : 0;
                vem_i_store(kernels, out, (c + k) * ldo + i, sums[k] + rest);
            }
        }
    }
}
