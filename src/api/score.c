/* The verb `score`: how well a model describes rows, all of them or each. */
#include "base/structs.h"
#include "comm/comm.h"
#include "metrics/chunks.h"
#include "metrics/metrics.h"

vem_status vem_score(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                     int32_t held, vem_precision precision, vem_scores *scores)
{
    VEM_I_NEED(ctx, ctx, model, data, scores);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_scores found;
    vem_i_comm_join(run);
    vem_status status = vem_i_struct_check(run, "vem_scores", scores, sizeof found);
    if (status == VEM_OK)
        status = vem_i_score(run, model, data, held, precision, &found);
    if (status == VEM_OK)
        vem_i_struct_out(&found, scores, sizeof found);
    return status;
}

static vem_status put_chunk(vem_i_run *run, void *arg, const vem_view *view,
                            const vem_model *model, int64_t first)
{
    double *log_densities = arg;
    vem_i_posteriors_sums sums;
    return vem_i_posteriors(run, view, model, log_densities + first, NULL, &sums);
}

vem_status vem_log_densities(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                             vem_precision precision, double *log_densities)
{
    VEM_I_NEED(ctx, ctx, model, data, log_densities);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    return vem_i_for_chunks(run, model, data, precision, "measure", 1, put_chunk,
                            log_densities);
}
