#include "select/held_out.h"

#include "base/memory.h"
#include "comm/comm.h"
#include "data/sample.h"
#include "metrics/chunks.h"

vem_status vem_i_hold_out(vem_i_run *run, const vem_data *data, double share,
                          uint64_t seed, vem_i_held_out *h)
{
    const size_t n = (size_t)data->n;
    int64_t size = (int64_t)((1 - share) * (double)data->n);
    vem_i_sample sample = {0};
    *h = (vem_i_held_out){.fitted = *data, .others = *data};
    vem_status status = vem_i_take_zeroed(run, &h->weights, 2 * n, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_sample_new(run, data->weights, data->n, size < 1 ? 1 : size, seed,
                                  &sample);
    if (status != VEM_OK)
        return status;
    double *fitted = h->weights, *others = h->weights + n;
    for (int64_t i = 0; i < data->n; i++)
        others[i] = data->weights ? data->weights[i] : 1;
    for (int64_t i = 0; i < sample.size; i++) {
        fitted[sample.rows[i]] = others[sample.rows[i]];
        others[sample.rows[i]] = 0;
    }
    h->fitted.weights = fitted;
    h->others.weights = others;
    vem_i_sample_free(&sample);
    return VEM_OK;
}

vem_status vem_i_measure_others(vem_i_run *run, const vem_i_held_out *h, vem_path *path)
{
    vem_i_run whole = vem_i_comm_whole(run);
    for (int32_t i = 0; i < path->count; i++) {
        vem_scores scores = {.size = sizeof scores};
        const vem_status status = run->watch->stop
                                      ? VEM_STOPPED
                                      : vem_i_score(&whole, path->models[i], &h->others,
                                                    0, (vem_precision)VEM_AUTO, &scores);
        if (status == VEM_STOPPED) /* what was found stays; the rest is not measured */
            return VEM_OK;
        if (status != VEM_OK)
            return status;
        path->points[i].held_out = scores.log_likelihood;
    }
    return VEM_OK;
}
