#include "data/view.h"

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
