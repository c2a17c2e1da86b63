/* Models whose means are directions: the metric cosine (sphere.h has the mathematics). */
#include <math.h>

#include "data/unit.h"
#include "model/family.h"

/* Squared lengths that are so near to 1 are left alone: they are rounding in double. */
static const double NEAR = 1e-12;

vem_status vem_i_model_to_sphere(vem_i_run *run, vem_model *model)
{
    const int64_t d = model->d;
    if (!vem_i_is_plain(model->family))
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "The metric cosine is for family iso-shared, whose clusters are "
            "round and alike; this model is of family %s.",
            vem_choice_name("family", (int)model->family->kind));
    if (model->scale)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "Columns of this model are divided by their deviations "
            "(--standardize), and the metric cosine takes rows as they are.");
    for (int64_t c = 0; c < model->clusters; c++)
        if (vem_i_row_is_zero(model->means + c * d, model->d))
            return vem_i_fail(run, VEM_BAD_DATA,
                              "The mean of cluster %lld is 0, and so has no direction, "
                              "which the metric cosine goes by.",
                              (long long)c + 1);
    for (int64_t c = 0; c < model->clusters; c++) {
        double *mean = model->means + c * d, square = 0;
        for (int64_t j = 0; j < d; j++)
            square += mean[j] * mean[j];
        if (!(fabs(square - 1) <= NEAR))
            vem_i_normalize_row(mean, model->d);
    }
    model->normalizes = VEM_I_DIRECTIONS;
    return VEM_OK;
}

vem_metric vem_model_metric(const vem_model *model)
{
    return model && model->normalizes == VEM_I_DIRECTIONS ? VEM_METRIC_COSINE
                                                          : VEM_METRIC_L2;
}

vem_status vem_model_set_metric(vem_ctx *ctx, vem_model *model, vem_metric metric)
{
    VEM_I_NEED(ctx, ctx, model);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    const char *name = vem_choice_name("metric", (int)metric);
    if (!name)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The metric is %d, but it must be VEM_METRIC_L2 or "
                          "VEM_METRIC_COSINE.",
                          (int)metric);
    if (metric == VEM_METRIC_COSINE)
        return vem_i_model_to_sphere(run, model);
    if (model->normalizes == VEM_I_DIRECTIONS)
        model->normalizes = VEM_I_LENGTH_1;
    return VEM_OK;
}
