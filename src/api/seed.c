/* The verb `seed`: the first model of a fit, and nothing after it. */
#include "api/fitting.h"

#include "base/options.h"

vem_status vem_seed(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                    vem_model **model)
{
    VEM_I_NEED(ctx, ctx, data, options, model);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_options asked;
    const vem_status status = vem_i_options_in(run, options, &asked);
    if (status != VEM_OK)
        return status;
    vem_i_fitting f = {
        .run = *run, .data = data, .asked = &asked, .only_seeds = 1, .inside = 1};
    return vem_i_fitting_run(&f, model, NULL);
}
