#include "data/items.h"

void vem_i_items_add_traces(const vem_view *view, const vem_i_items *items, void *norms)
{
    const vem_i_kernels *kernels = view->kernels;
    for (int64_t p = 0; p < items->n; p++) {
        const int64_t at =
            (items->index ? (int64_t)items->index[p] : p) * items->spread_ld;
        vem_i_store(kernels, norms, p,
                    vem_i_value(kernels, norms, p) +
                        vem_i_value(kernels, items->spread, at));
    }
}
