/* fit --coreset: the fit sees a weighted sample drawn by the rows as the engine would see
 * them (divided by their length, columns by their deviation over all rows); measures are
 * taken over all rows afterwards. Restarts share one coreset. Labels of all rows would cost
 * more than the fit, so they are left to vem_assign. */
#include "fit/reduce.h"

#include "base/memory.h"
#include "data/unit.h"

vem_status vem_i_reduce(vem_i_run *run, const vem_data *data, const vem_options *options,
                        int whiten, const double *scale, vem_i_reduction *reduction)
{
    *reduction = (vem_i_reduction){.rows = data};
    if (!vem_i_reduces(options, data->n))
        return VEM_OK;
    const vem_i_coreset_request request = {.size = options->coreset,
                                           .method = VEM_CORESET_LIGHTWEIGHT,
                                           .seed = (uint64_t)options->seed,
                                           .normalize = vem_i_normalize_of(options),
                                           .standardize = options->standardize,
                                           .whiten = whiten,
                                           .scale = scale};
    vem_status status = VEM_OK;
    if (options->standardize || whiten)
        status = vem_i_take(run, &reduction->scale, (size_t)data->d, sizeof(double));
    if (status == VEM_OK)
        status =
            vem_i_coreset(run, data, &request, reduction->scale, &reduction->coreset);
    if (status != VEM_OK) {
        vem_i_reduction_free(reduction);
        return status;
    }
    reduction->rows = reduction->coreset;
    reduction->pairs = data->n; /* each row to the mean */
    return VEM_OK;
}

vem_status vem_i_reduce_support(vem_i_run *run, const vem_data *data,
                                const vem_i_support *support)
{
    const vem_i_chunk own = vem_i_coreset_own(run, data);
    return vem_i_support_read(run, data, support, own.first, own.count, "read", NULL);
}

void vem_i_reduction_free(vem_i_reduction *reduction)
{
    vem_data_free(reduction->coreset);
    vem_i_free(reduction->scale);
    *reduction = (vem_i_reduction){0};
}
