/* The verb `score`: how well a model describes rows. */
#include "base/structs.h"
#include "metrics/chunks.h"

vem_status vem_score(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                     int32_t held, vem_precision precision, vem_scores *scores)
{
    VEM_I_NEED(ctx, ctx, model, data, scores);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_scores found;
    vem_status status = vem_i_struct_check(run, "vem_scores", scores, sizeof found);
    if (status == VEM_OK)
        status = vem_i_score(run, model, data, held, precision, &found);
    if (status == VEM_OK)
        vem_i_struct_out(&found, scores, sizeof found);
    return status;
}
