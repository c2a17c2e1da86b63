/* The verbs that say what a fit would take before it takes it. */
#include "base/structs.h"
#include "fit/budget.h"
#include "fit/memory_plan.h"
#include "fit/presets.h"

vem_status vem_plan(vem_ctx *ctx, const vem_options *options, int64_t n, int32_t d,
                    vem_dtype type, uint64_t *bytes)
{
    VEM_I_NEED(ctx, ctx, options, bytes);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    vem_options asked, resolved;
    vem_status status = vem_i_options_in(run, options, &asked);
    if (status == VEM_OK)
        status = vem_i_options_resolve(run, &asked, n, d, type, d, &resolved);
    if (status != VEM_OK)
        return status;
    const vem_data rows = {.n = n, .d = d, .type = type};
    const vem_i_plan plan = vem_i_plan_of(run, &rows, &asked, &resolved, 0);
    const uint64_t found = vem_i_plan_bytes(&plan);
    status = vem_i_plan_made(run);
    if (status == VEM_OK)
        *bytes = found;
    return status;
}

vem_status vem_plan_fit(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                        const vem_model *start, vem_forecast *forecast)
{
    VEM_I_NEED(ctx, ctx, data, options, forecast);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_options asked, resolved;
    vem_i_budget budget;
    vem_i_plan plan;
    vem_status status =
        vem_i_struct_check(run, "vem_forecast", forecast, sizeof *forecast);
    if (status == VEM_OK)
        status = vem_i_options_in(run, options, &asked);
    if (status == VEM_OK)
        status = vem_i_plan_fit(run, data, &asked, start, &resolved, &budget, &plan);
    if (status != VEM_OK)
        return status;
    if (vem_i_plan_settle(&plan, data) != VEM_OK)
        ctx->message[0] =
            '\0'; /* a forecast refuses nothing: `bytes` and `allowed` tell */
    const vem_forecast found = vem_i_plan_forecast(&plan, data, &budget);
    status = vem_i_plan_made(run);
    if (status == VEM_OK)
        vem_i_struct_out(&found, forecast, sizeof found);
    return status;
}
