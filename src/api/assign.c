/* The verbs `assign`: the most probable clusters of rows, and how probable they are; by a scan, by a
 * guided search, or two lists for each row (src/use/). */
#include "use/assign.h"

#include "comm/comm.h"

vem_status vem_assign(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                      int32_t top, vem_precision precision, int32_t *clusters,
                      double *probabilities)
{
    VEM_I_NEED(ctx, ctx, model, data, clusters);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_i_assign a = {.top = top, .clusters = clusters, .probabilities = probabilities};
    vem_i_comm_join(run);
    vem_status status = vem_i_assign_check(run, model, top);
    if (status == VEM_OK)
        status = vem_i_for_chunks(run, model, data, precision, "assign", 1,
                                  vem_i_assign_scan, &a);
    return status == VEM_OK ? vem_i_assign_gather(run, data, &a) : status;
}

vem_status vem_posterior(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                         vem_precision precision, double *probabilities)
{
    VEM_I_NEED(ctx, ctx, model, data, probabilities);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_i_assign a = {.top = model->clusters, .probabilities = probabilities};
    return vem_i_for_chunks(run, model, data, precision, "assign", 1, vem_i_assign_scan,
                            &a);
}

vem_status vem_assign_guided(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                             const vem_assign_options *options, int32_t *clusters,
                             double *probabilities, vem_assign_report *report)
{
    VEM_I_NEED(ctx, ctx, model, data, options, clusters);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_i_comm_join(run);
    return vem_i_assign_guided(run, model, data, options, clusters, probabilities,
                               report);
}

vem_status vem_assign_spill(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                            double lambda, vem_precision precision, int32_t *clusters,
                            double *squares)
{
    VEM_I_NEED(ctx, ctx, model, data, clusters);
    vem_i_verb verb;
    return vem_i_assign_spill(vem_i_begin(ctx, &verb), model, data, lambda, precision,
                              clusters, squares);
}
