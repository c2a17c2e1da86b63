#include "data/view.h"

#include <math.h>

#include "base/record.h"

enum { PIECE = 512 };

/* As if the row were of T: the digest goes on over pieces of it. */
static uint64_t mix_stored(const vem_view *view, int64_t item, uint64_t sum)
{
    double piece[PIECE]; /* room for as many T */
    const size_t element = view->kernels->element;
    for (int32_t j = 0; j < view->d; j += PIECE) {
        const int32_t some = view->d - j < PIECE ? view->d - j : PIECE;
        for (int32_t k = 0; k < some; k++)
            vem_i_store(view->kernels, piece, k, vem_i_view_value(view, item, j + k));
        sum = vem_i_mix(sum, piece, (size_t)some * element);
    }
    return sum;
}

uint64_t vem_i_view_mix(const vem_view *view, int64_t item, uint64_t sum)
{
    const double mass = vem_i_view_mass(view, item);
    if (vem_i_view_is_sparse(view))
        for (int64_t e = view->sparse.starts[item]; e < view->sparse.ends[item]; e++) {
            const double entry[] = {view->sparse.columns[e],
                                    vem_i_sparse_value(&view->sparse, e)};
            sum = vem_i_mix(sum, entry, sizeof entry);
        }
    else if (!view->stored)
        sum = vem_i_mix(sum, vem_i_view_row(view, item),
                        (size_t)view->d * view->kernels->element);
    else
        sum = mix_stored(view, item, sum);
    return vem_i_mix(sum, &mass, sizeof mass);
}

void vem_i_narrow(const vem_i_kernels *kernels, const double *values, int64_t n,
                  void *out)
{
    if (kernels->precision == VEM_DOUBLE) {
        memcpy(out, values, (size_t)n * sizeof(double));
        return;
    }
    float *narrow = out;
    for (int64_t i = 0; i < n; i++)
        narrow[i] = (float)values[i];
}

void vem_i_widen(const vem_i_kernels *kernels, const void *values, int64_t n, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = vem_i_value(kernels, values, i);
}

void vem_i_view_widen(const vem_view *view, int64_t item, double *out)
{
    if (vem_i_view_is_sparse(view))
        vem_i_sparse_widen(&view->sparse, item, view->d, out);
    else
        for (int32_t j = 0; j < view->d; j++)
            out[j] = vem_i_view_value(view, item, j);
}

int64_t vem_i_view_row_values(const vem_view *view)
{
    int64_t entries = 0;
    if (!vem_i_view_is_sparse(view))
        return view->d;
    for (int64_t i = 0; i < view->n; i++)
        entries += view->sparse.ends[i] - view->sparse.starts[i];
    return entries > view->n ? entries / view->n : 1;
}

double vem_i_view_log_jacobian(const vem_view *view)
{
    double sum = 0;
    if (view->scale)
        for (int32_t j = 0; j < view->d; j++)
            sum -= log(view->scale[j]);
    return sum;
}
