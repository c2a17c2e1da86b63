/* The verb `select` on parts of the rows: how stable what it chose is. */
#include "select/stability.h"

#include <math.h>

#include "api/select.h"
#include "base/options.h"
#include "base/structs.h"

static const double SHARE = 0.9;

static vem_status check(vem_i_run *run, const vem_model *model, const vem_data *data,
                        const vem_stability *s)
{
    if (s->resamples < 1)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "There are to be %d resamples, but at least 1 is needed.",
                          s->resamples);
    if (!(s->share > 0 && s->share < 1))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The share of the rows in a resample is %g, but it must lie "
                          "between 0 and 1.",
                          s->share);
    if (model->d != data->d)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The model has %d columns, but the data have %d.", model->d,
                          data->d);
    return VEM_OK;
}

/* Mixtures are measured where the choice needs it. */
static vem_status choose(vem_i_run *run, const vem_data *data, const vem_options *options,
                         const vem_select_options *select, vem_model **model,
                         vem_report **report)
{
    return vem_i_select(run, data, options, select, 0, model, NULL, report);
}

vem_status vem_select_stability(vem_ctx *ctx, const vem_data *data,
                                const vem_options *options,
                                const vem_select_options *select, const vem_model *model,
                                vem_stability *stability)
{
    VEM_I_NEED(ctx, ctx, data, options, select, model, stability);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_stability s = {0};
    vem_options asked;
    vem_status status = vem_i_struct_in(run, "vem_stability", stability, &s, sizeof s);
    if (status == VEM_OK)
        status = vem_i_options_in(run, options, &asked);
    if (status == VEM_OK && s.share == 0)
        s.share = SHARE;
    if (status == VEM_OK)
        status = check(run, model, data, &s);
    if (status != VEM_OK)
        return status;
    if (asked.time != VEM_AUTO)
        run->deadline = verb.watch.start + fmax(asked.time - ctx->spent, 1e-9);
    status = vem_i_stability(run, data, &asked, select, model, choose, &s);
    if (status == VEM_OK)
        vem_i_struct_out(&s, stability, sizeof s);
    return status;
}
