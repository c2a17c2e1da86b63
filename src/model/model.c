#include "model/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/unit.h"
#include "model/contract.h"

/* All are 1/C, to rounding. */
static int weights_are_flat(const double *weights, int32_t clusters)
{
    for (int32_t c = 0; c < clusters; c++)
        if (!(fabs(weights[c] * clusters - 1) <= 1e-12))
            return 0;
    return 1;
}

vem_status vem_i_model_blank(vem_i_run *run, vem_i_shape shape, vem_model **model)
{
    vem_model *made;
    vem_status status = vem_i_take_structs(run, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    made->family = shape.family;
    made->clusters = shape.clusters;
    made->capacity = shape.capacity;
    made->d = shape.d;
    const size_t room = (size_t)shape.capacity;
    size_t variances = vem_i_variance_count(shape.family, shape.capacity, shape.d);
    if (variances == 0)
        variances = 1; /* no shapes: an array to point to */
    status =
        vem_i_take_zeroed(run, &made->means, room * (size_t)shape.d, sizeof *made->means);
    if (status == VEM_OK)
        status = vem_i_take(run, &made->weights, room, sizeof *made->weights);
    if (status == VEM_OK)
        status =
            vem_i_take_zeroed(run, &made->variances, variances, sizeof *made->variances);
    if (status != VEM_OK) {
        vem_model_free(made);
        return status;
    }
    for (int32_t c = 0; made->weights && c < shape.clusters; c++)
        made->weights[c] = 1.0 / shape.clusters;
    *model = made;
    return VEM_OK;
}

uint64_t vem_i_model_bytes(const vem_i_run *run, vem_i_shape shape)
{
    uint64_t bytes;
    vem_model *none = NULL;
    vem_i_run dry = vem_i_run_dry(run, &bytes);
    vem_i_model_blank(&dry, shape, &none);
    vem_model_free(none);
    return bytes;
}

vem_i_shape vem_i_model_shape(const vem_model *model)
{
    return (vem_i_shape){model->family, model->clusters, model->clusters, model->d};
}

vem_i_shape vem_i_model_shape_with_room(const vem_model *model)
{
    vem_i_shape shape = vem_i_model_shape(model);
    shape.capacity = model->capacity;
    return shape;
}

void vem_i_model_put(const vem_model *from, int32_t c, vem_model *to, int32_t at)
{
    const size_t d = (size_t)to->d, row = d * sizeof(double);
    memmove(to->means + (size_t)at * d, from->means + (size_t)c * d, row);
    if (!to->family->shared)
        memmove(vem_i_cluster_shape(to, at), vem_i_cluster_shape(from, c),
                (size_t)vem_i_shape_values(to->family, to->d) * sizeof(double));
    to->weights[at] = from->weights[c];
    if (at ==
        to->clusters) /* else nothing is written: tasks put different clusters at once */
        to->clusters++;
}

void vem_i_normalize_weights(vem_model *model)
{
    double sum = 0;
    for (int32_t c = 0; c < model->clusters; c++)
        sum += model->weights[c];
    for (int32_t c = 0; c < model->clusters; c++)
        model->weights[c] /= sum;
}

void vem_i_model_assign(const vem_model *from, vem_model *to)
{
    const size_t clusters = (size_t)from->clusters;
    to->clusters = from->clusters;
    to->offset = from->offset;
    memcpy(to->means, from->means, clusters * (size_t)from->d * sizeof(double));
    memcpy(to->weights, from->weights, clusters * sizeof(double));
    memcpy(to->variances, from->variances,
           vem_model_variance_count(from) * sizeof(double));
}

static vem_status check_shape(vem_i_run *run, vem_family_kind family, int32_t clusters,
                              int32_t d)
{
    if (!vem_i_family_of((int)family))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The family is %d, but it must lie between 0 and %d.",
                          (int)family, VEM_FAMILIES - 1);
    if (clusters < 1 || d < 1)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The model has %" PRId32 " clusters and %" PRId32
                          " columns, but at least 1 of each is needed.",
                          clusters, d);
    return VEM_OK;
}

vem_status vem_i_model_check_finite(vem_i_run *run, const vem_model *model)
{
    const size_t clusters = (size_t)model->clusters, d = (size_t)model->d;
    const struct {
        const char *name;
        const double *values;
        size_t count;
    } parts[] = {{"mean", model->means, clusters * d},
                 {"weight", model->weights, clusters},
                 {"variance", model->variances, vem_model_variance_count(model)},
                 {"scale", model->scale, model->scale ? d : 0},
                 {"mean of all rows", model->table.means, model->table.means ? d : 0}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        for (size_t i = 0; i < parts[k].count; i++)
            if (!isfinite(parts[k].values[i]))
                return vem_i_fail(run, VEM_BAD_DATA,
                                  "The model is of no use: one %s is %g, because sums of "
                                  "the data overflow; rescale the data.",
                                  parts[k].name, parts[k].values[i]);
    return VEM_OK;
}

/* Of counts: no mean is negative or above what it can be, and shares add up to 1. */
static vem_status check_counts(vem_i_run *run, vem_model *model)
{
    const vem_i_counts *counts = model->family->of_counts;
    for (int32_t c = 0; c < model->clusters; c++) {
        double *mean = model->means + (int64_t)c * model->d, sum = 0;
        for (int32_t j = 0; j < model->d; j++) {
            if (!(mean[j] >= 0 && mean[j] <= counts->most))
                return vem_i_fail(run, VEM_BAD_DATA,
                                  "The mean of cluster %" PRId32 ", column %" PRId32
                                  " is %g, but it must be 0 or more%s in family %s.",
                                  c + 1, j + 1, mean[j],
                                  counts->most == 1 ? ", and at most 1," : "",
                                  vem_choice_name("family", (int)model->family->kind));
            sum += mean[j];
        }
        if (counts->shares && !(fabs(sum - 1) <= 1e-6))
            return vem_i_fail(run, VEM_BAD_DATA,
                              "The means of cluster %" PRId32
                              " sum to %.9g, but the sum must be 1 in family %s.",
                              c + 1, sum,
                              vem_choice_name("family", (int)model->family->kind));
        for (int32_t j = 0; counts->shares && fabs(sum - 1) > 1e-12 && j < model->d; j++)
            mean[j] /= sum;
    }
    return VEM_OK;
}

static vem_status check_means(vem_i_run *run, const vem_model *model)
{
    for (int32_t c = 0; c < model->clusters; c++)
        for (int32_t j = 0; j < model->d; j++) {
            double value = model->means[(size_t)c * (size_t)model->d + (size_t)j];
            if (!isfinite(value))
                return vem_i_fail(run, VEM_BAD_DATA,
                                  "The mean of cluster %" PRId32 ", column %" PRId32
                                  " is %g, but it must be finite.",
                                  c + 1, j + 1, value);
        }
    return VEM_OK;
}

/* A sum that is off by rounding in the file or the caller's arithmetic is put right; one
 * that is exact to double stays as it is, so that a model survives writing and reading
 * bit by bit. */
static vem_status check_weights(vem_i_run *run, vem_model *model)
{
    for (int32_t c = 0; c < model->clusters; c++)
        if (!(model->weights[c] >= 0) || isinf(model->weights[c]))
            return vem_i_fail(run, VEM_BAD_DATA,
                              "The weight of cluster %" PRId32
                              " is %g, but it must be finite and 0 or more.",
                              c + 1, model->weights[c]);
    const double sum = vem_i_sum(model->weights, model->clusters);
    if (!(fabs(sum - 1) <= 1e-6))
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "The weights of the clusters sum to %.9g, but the sum must be 1.", sum);
    if (fabs(sum - 1) > 1e-12)
        for (int32_t c = 0; c < model->clusters; c++)
            model->weights[c] /= sum;
    return VEM_OK;
}

vem_status vem_model_new(vem_ctx *ctx, vem_family_kind family, int32_t clusters,
                         int32_t d, const double *means, const double *weights,
                         const double *variances, vem_model **model)
{
    VEM_I_NEED(ctx, ctx, means, model);
    if (vem_family_axes(family) >= 0)
        VEM_I_NEED(ctx, variances);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    vem_status status = check_shape(run, family, clusters, d);
    if (status != VEM_OK)
        return status;
    vem_model *made;
    status =
        vem_i_model_blank(run, vem_i_shape_of(vem_i_family_of((int)family), clusters, d),
                          &made);
    if (status != VEM_OK)
        return status;
    memcpy(made->means, means, (size_t)clusters * (size_t)d * sizeof *means);
    if (weights)
        memcpy(made->weights, weights, (size_t)clusters * sizeof *weights);
    if (vem_model_variance_count(made) > 0)
        memcpy(made->variances, variances,
               vem_model_variance_count(made) * sizeof *variances);
    status = check_means(run, made);
    if (status == VEM_OK && made->family->of_counts)
        status = check_counts(run, made);
    if (status == VEM_OK)
        status = check_weights(run, made);
    if (status == VEM_OK)
        status = vem_i_model_check_shapes(run, made);
    if (status != VEM_OK) {
        vem_model_free(made);
        return status;
    }
    made->prior =
        weights_are_flat(made->weights, clusters) ? VEM_PRIOR_FLAT : VEM_PRIOR_FREE;
    *model = made;
    return VEM_OK;
}

vem_status vem_model_copy(vem_ctx *ctx, const vem_model *model, vem_model **copy)
{
    VEM_I_NEED(ctx, ctx, model, copy);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    vem_model *made;
    vem_status status = vem_i_model_blank(run, vem_i_model_shape(model), &made);
    if (status != VEM_OK)
        return status;
    const size_t d = (size_t)model->d;
    vem_i_model_assign(model, made);
    made->prior = model->prior;
    made->normalizes = model->normalizes;
    if (model->scale) {
        status = vem_i_take(run, &made->scale, d, sizeof *made->scale);
        if (status == VEM_OK)
            memcpy(made->scale, model->scale, d * sizeof *made->scale);
    }
    if (status == VEM_OK) {
        const vem_i_names table = vem_i_model_table(model);
        status = vem_i_names_copy(run, &table, &made->table);
    }
    if (status == VEM_OK && model->meta) {
        made->meta = strdup(model->meta);
        if (!made->meta)
            status = vem_i_fail_memory(run, strlen(model->meta) + 1);
    }
    if (status != VEM_OK) {
        vem_model_free(made);
        return status;
    }
    *copy = made;
    return VEM_OK;
}

void vem_model_free(vem_model *model)
{
    if (!model)
        return;
    vem_i_free(model->means);
    vem_i_free(model->weights);
    vem_i_free(model->variances);
    vem_i_free(model->scale);
    vem_i_names_free(&model->table);
    free(model->meta);
    vem_i_free(model);
}

vem_family_kind vem_model_family(const vem_model *model)
{
    return model ? model->family->kind : (vem_family_kind)0;
}

int32_t vem_model_clusters(const vem_model *model)
{
    return model ? model->clusters : 0;
}

int32_t vem_model_columns(const vem_model *model)
{
    return model ? model->d : 0;
}

const double *vem_model_means(const vem_model *model)
{
    return model ? model->means : NULL;
}

const double *vem_model_weights(const vem_model *model)
{
    return model ? model->weights : NULL;
}

const double *vem_model_variances(const vem_model *model)
{
    return model ? model->variances : NULL;
}

size_t vem_model_variance_count(const vem_model *model)
{
    return model ? vem_i_variance_count(model->family, model->clusters, model->d) : 0;
}

const double *vem_model_scale(const vem_model *model)
{
    return model ? model->scale : NULL;
}

vem_status vem_model_set_scale(vem_ctx *ctx, vem_model *model, const double *scale)
{
    VEM_I_NEED(ctx, ctx, model);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    double *copy = NULL;
    if (scale) {
        for (int32_t j = 0; j < model->d; j++)
            if (!(scale[j] > 0) || isinf(scale[j]))
                return vem_i_fail(run, VEM_BAD_DATA,
                                  "The scale of column %" PRId32
                                  " is %g, but it must be positive and finite.",
                                  j + 1, scale[j]);
        vem_status status = vem_i_take(run, &copy, (size_t)model->d, sizeof *copy);
        if (status != VEM_OK)
            return status;
        memcpy(copy, scale, (size_t)model->d * sizeof *copy);
    }
    vem_i_free(model->scale);
    model->scale = copy;
    return VEM_OK;
}

vem_prior_kind vem_model_prior(const vem_model *model)
{
    return model ? model->prior : (vem_prior_kind)0;
}

void vem_model_set_prior(vem_model *model, vem_prior_kind prior)
{
    if (model)
        model->prior =
            prior == VEM_PRIOR_FREE || prior == VEM_PRIOR_EVEN ? prior : VEM_PRIOR_FLAT;
}

int vem_model_prices(const vem_model *model, double *prices)
{
    if (!model || !prices || model->prior != VEM_PRIOR_EVEN)
        return 0;
    for (int32_t c = 0; c < model->clusters; c++)
        prices[c] = -log(model->clusters * model->weights[c]);
    return 1;
}

double vem_i_model_share(const vem_model *model, int64_t c)
{
    return model->prior == VEM_PRIOR_EVEN ? 1.0 / model->clusters : model->weights[c];
}

int64_t vem_model_parameters(const vem_model *model)
{
    if (!model)
        return 0;
    return vem_i_parameter_count(model->family, model->prior, model->clusters, model->d) -
           (model->normalizes == VEM_I_DIRECTIONS ? model->clusters : 0);
}

int vem_model_normalizes(const vem_model *model)
{
    return model ? model->normalizes != VEM_I_AS_THEY_ARE : 0;
}

void vem_model_set_normalizes(vem_model *model, int normalizes)
{
    if (model && !(normalizes && model->normalizes)) /* a metric stays */
        model->normalizes = normalizes ? VEM_I_LENGTH_1 : VEM_I_AS_THEY_ARE;
}

const char *vem_model_meta(const vem_model *model)
{
    return model ? model->meta : NULL;
}
