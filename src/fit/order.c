#include "fit/order.h"

#include "base/memory.h"

vem_status vem_i_order_of(vem_i_run *run, int64_t n, int32_t clusters,
                          const int32_t *labels, vem_i_tour *tour)
{
    int32_t *rank = NULL;
    vem_status status = vem_i_take(run, &rank, (size_t)clusters, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_tour_new(run, n, clusters, tour);
    if (status == VEM_OK && !run->counted) {
        for (int32_t k = 0; k < clusters; k++)
            rank[k] = k;
        vem_i_tour_sort(tour, clusters, labels, 1, rank);
    }
    vem_i_free(rank);
    return status;
}

vem_status vem_i_order_rows(vem_i_run *run, vem_i_points *points, int32_t clusters,
                            const vem_i_tour *tour, int32_t *labels)
{
    const int64_t n = points->view.n;
    const vem_status status = vem_i_points_reorder(run, points, tour->items, 1);
    if (status != VEM_OK || run->counted)
        return status;
    /* Labels are ascending now, the unknown ones last. */
    for (int64_t i = 0, k = 0; i < n; i++) {
        while (k < clusters && i >= tour->starts[k + 1])
            k++;
        labels[i] = k < clusters ? (int32_t)k : -1;
    }
    return VEM_OK;
}
