/* What a model knows of its columns: names, ids, and what stands for missing values. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "model/model.h"

vem_i_names vem_i_model_table(const vem_model *model)
{
    vem_i_names table = model->table;
    table.count = model->d;
    if (!table.owner)
        table.owner = "the model";
    return table;
}

const char *vem_model_column_name(const vem_model *model, int32_t column)
{
    return model && model->table.columns && column >= 0 && column < model->d
               ? model->table.columns[column]
               : NULL;
}

vem_status vem_model_set_column_names(vem_ctx *ctx, vem_model *model,
                                      const char *const *names)
{
    VEM_I_NEED(ctx, ctx, model);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    char **list = NULL;
    for (int32_t j = 0; names && j < model->d; j++)
        if (!names[j])
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "The name of column %" PRId32 " is NULL.", j + 1);
    vem_status status = names ? vem_i_names_list(run, names, model->d, &list) : VEM_OK;
    if (status != VEM_OK)
        return status;
    vem_i_free(model->table.columns);
    model->table.columns = list;
    return VEM_OK;
}

const double *vem_model_column_means(const vem_model *model)
{
    return model ? model->table.means : NULL;
}

vem_status vem_model_set_column_means(vem_ctx *ctx, vem_model *model, const double *means)
{
    VEM_I_NEED(ctx, ctx, model);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    double *copy;
    for (int32_t j = 0; means && j < model->d; j++)
        if (!isfinite(means[j]))
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "The mean of column %" PRId32
                              " is %g, but it must be finite.",
                              j + 1, means[j]);
    vem_status status = vem_i_names_means(run, means, model->d, &copy);
    if (status != VEM_OK)
        return status;
    vem_i_free(model->table.means);
    model->table.means = copy;
    return VEM_OK;
}

vem_status vem_i_model_fill(vem_i_run *run, const vem_model *model, double **fill)
{
    const int64_t d = model->d;
    *fill = NULL;
    if (model->table.means)
        return vem_i_names_means(run, model->table.means, model->d, fill);
    if (model->normalizes)
        return VEM_OK;
    vem_status status = vem_i_take_zeroed(run, fill, (size_t)d, sizeof **fill);
    for (int64_t c = 0; status == VEM_OK && c < model->clusters; c++)
        for (int64_t j = 0; j < d; j++)
            (*fill)[j] += model->weights[c] * model->means[c * d + j];
    return status;
}

double vem_i_model_total(const vem_model *model)
{
    double total = 0;
    for (int64_t j = 0; model->table.means && j < model->d; j++)
        total += model->table.means[j];
    return total > 0 ? total : 0;
}

int32_t vem_model_ids(const vem_model *model)
{
    return model && model->table.ids ? model->table.id_count : 0;
}

const char *vem_model_id_name(const vem_model *model, int32_t id)
{
    return id >= 0 && id < vem_model_ids(model) ? model->table.ids[id] : NULL;
}
