/* The verb `update`: a fit from a model whose clusters keep their numbers (use/numbers.h). */
#include "api/fitting.h"
#include "base/options.h"
#include "fit/presets.h"
#include "fit/report.h"
#include "use/numbers.h"

enum { SWAPS = 20 }; /* rounds */

/* A fit from a given start stays near it unless it is told; here clusters may move, where each row has
 * one. Soft mixtures give only empty ones another place. */
static void allow_swaps(vem_i_run *run, const vem_model *before, const vem_data *data,
                        vem_options *asked)
{
    vem_options plain = *asked, resolved;
    plain.clusters = before->clusters;
    plain.family = (int)before->family->kind;
    plain.swaps = SWAPS;
    if (asked->swaps != VEM_AUTO)
        return;
    if (vem_i_options_resolve(run, &plain, data->n, data->d, data->type,
                              vem_i_data_row_values(data), &resolved) != VEM_OK)
        run->ctx->message[0] = '\0'; /* without them, then */
    else if (resolved.held == 1 && !vem_i_wants_hard_start(&resolved, 0))
        asked->swaps = SWAPS;
}

/* What the model says of itself, about which nobody was asked: a mixture whose weights were fitted stays
 * one, and so does one with equal weights. Prices are of a balance, which is asked for again. */
static void keep_what_it_is(const vem_model *before, vem_options *asked)
{
    if (asked->metric == VEM_METRIC_L2)
        asked->metric = vem_model_metric(before);
    if (asked->prior == VEM_AUTO && before->prior != VEM_PRIOR_EVEN &&
        asked->balance == VEM_BALANCE_NONE && vem_i_is_ours(asked))
        asked->prior = before->prior;
}

vem_status vem_update(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                      const vem_model *before, vem_model **model, vem_report **report,
                      double *distances, int32_t *moved)
{
    VEM_I_NEED(ctx, ctx, data, options, before, model);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_options asked;
    vem_model *made = NULL;
    vem_report *told = NULL;
    vem_status status = vem_i_options_in(run, options, &asked);
    if (status != VEM_OK)
        return status;
    if (asked.empty == VEM_EMPTY_DROP ||
        (asked.clusters != VEM_AUTO && asked.clusters != before->clusters))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "An update has the clusters of the model, %d of them: none is "
                          "added, and none is dropped.",
                          before->clusters);
    keep_what_it_is(before, &asked);
    allow_swaps(run, before, data, &asked);
    vem_i_fitting fitting = {.run = *run, .data = data, .asked = &asked, .start = before};
    status = vem_i_fitting_run(&fitting, &made, &told);
    /* A stop that ended the fit shall not lose it: what follows does not know of it. */
    vem_i_run *after = vem_i_within(ctx, &(vem_i_verb){0});
    after->progress = NULL;
    if (status == VEM_OK)
        status = vem_i_numbers_keep(after, before, made, told->labels, told->summary.n,
                                    distances, moved);
    if (status == VEM_OK) {
        *model = made;
        made = NULL;
    }
    if (status == VEM_OK && report) {
        *report = told;
        told = NULL;
    }
    vem_model_free(made);
    vem_report_free(told);
    return status;
}
