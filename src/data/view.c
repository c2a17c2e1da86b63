#include "data/view.h"

#include "base/record.h"

uint64_t vem_i_view_mix(const vem_view *view, int64_t item, uint64_t sum)
{
    const double mass = vem_i_view_mass(view, item);
    if (vem_i_view_is_sparse(view))
        for (int64_t e = view->sparse.starts[item]; e < view->sparse.ends[item]; e++) {
            const double entry[] = {view->sparse.columns[e],
                                    vem_i_sparse_value(&view->sparse, e)};
            sum = vem_i_mix(sum, entry, sizeof entry);
        }
    else
        sum = vem_i_mix(sum, vem_i_view_row(view, item),
                        (size_t)view->d * view->kernels->element);
    return vem_i_mix(sum, &mass, sizeof mass);
}
