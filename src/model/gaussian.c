/* What the Gaussian families have in common: a model has one shape or one for each cluster
 * (`shared`), and a shape is a variance, a variance for each column, or a covariance matrix, row
 * by row (`shape_axes` 0, 1, 2; without shapes, -1, there are none). Everything here is written over these two. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/contract.h"
#include "model/linalg.h"
#include "model/model.h"
#include "model/stats.h"

size_t vem_i_variance_count(const vem_i_family *family, int32_t clusters, int32_t d)
{
    size_t count = family->shape_axes < 0 ? 0 : family->shared ? 1 : (size_t)clusters;
    int overflow = 0;
    for (int axis = 0; axis < family->shape_axes; axis++)
        overflow |= __builtin_mul_overflow(count, (size_t)d, &count);
    return overflow ? SIZE_MAX : count;
}

int64_t vem_i_shape_values(const vem_i_family *family, int32_t d)
{
    return (int64_t)vem_i_variance_count(family, 1, d);
}

int64_t vem_i_parameter_count(const vem_i_family *family, vem_prior_kind prior,
                              int32_t clusters, int32_t d)
{
    const int64_t c = clusters, shapes = family->shared ? 1 : c;
    const int64_t means =
        c * (family->of_counts && family->of_counts->shares ? d - 1 : d);
    return means + (prior == VEM_PRIOR_FREE ? c - 1 : 0) +
           shapes * vem_i_second_count(family, d);
}

int32_t vem_i_model_shapes(const vem_model *model)
{
    return model->family->shared ? 1 : model->clusters;
}

double *vem_i_cluster_shape(const vem_model *model, int64_t c)
{
    return model->variances +
           (model->family->shared ? 0 : c) * vem_i_shape_values(model->family, model->d);
}

int64_t vem_i_shape_at(const vem_i_family *family, int32_t d, int64_t column)
{
    return family->shape_axes == 0   ? 0
           : family->shape_axes == 1 ? column
                                     : column * ((int64_t)d + 1);
}

int64_t vem_i_variance_at(const vem_model *model, int64_t column)
{
    return vem_i_shape_at(model->family, model->d, column);
}

int vem_i_shape_from(const vem_i_family *family, int32_t d, const double *given,
                     int64_t count, double *shape)
{
    const int64_t n = d, values = vem_i_shape_values(family, d);
    if (count != 1 && (family->shape_axes <= 0 || (count != n && count != values)))
        return 0;
    if (count == values) {
        memcpy(shape, given, (size_t)values * sizeof *shape);
        return 1;
    }
    for (int64_t k = 0; k < values; k++)
        shape[k] = 0;
    for (int32_t j = 0; j < vem_i_square_count(family, d); j++)
        shape[vem_i_shape_at(family, d, j)] = given[count == 1 ? 0 : j];
    return 1;
}

double vem_i_model_variance(const vem_model *model)
{
    return model->variances[0];
}

static void set_round(const vem_model *model, double variance, double *shape)
{
    memset(shape, 0, (size_t)vem_i_shape_values(model->family, model->d) * sizeof *shape);
    for (int32_t j = 0; j < vem_i_square_count(model->family, model->d); j++)
        shape[vem_i_variance_at(model, j)] = variance;
}

void vem_i_model_set_variance(vem_model *model, double variance)
{
    for (int32_t s = 0; s < vem_i_model_shapes(model); s++)
        set_round(model, variance, vem_i_cluster_shape(model, s));
}

/* ---- soundness ---- */

static vem_status check_variance(vem_i_run *run, const vem_model *model, int32_t s,
                                 int32_t column)
{
    const double value = vem_i_cluster_shape(model, s)[vem_i_variance_at(model, column)];
    char cluster[32] = "", place[32] = "";
    if (value > 0 && !isinf(value))
        return VEM_OK;
    if (!model->family->shared)
        snprintf(cluster, sizeof cluster, " of cluster %" PRId32, s + 1);
    if (model->family->shape_axes > 0)
        snprintf(place, sizeof place, "%s column %" PRId32, *cluster ? "," : " of",
                 column + 1);
    return vem_i_fail(run, VEM_BAD_DATA,
                      "The variance%s%s is %g, but it must be positive and finite.",
                      cluster, place, value);
}

/* `work` has room for one matrix. */
static vem_status check_matrix(vem_i_run *run, const vem_model *model, int32_t s,
                               double *work)
{
    const size_t d = (size_t)model->d;
    const double *matrix = vem_i_cluster_shape(model, s);
    char cluster[32] = "";
    if (!model->family->shared)
        snprintf(cluster, sizeof cluster, " of cluster %" PRId32, s + 1);
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < j; k++) {
            double lower = matrix[j * d + k], upper = matrix[k * d + j];
            double size = sqrt(matrix[j * d + j]) * sqrt(matrix[k * d + k]);
            if (!(fabs(lower - upper) <= 1e-6 * size) || !(fabs(lower) <= 2 * size))
                return vem_i_fail(
                    run, VEM_BAD_DATA,
                    "The covariance matrix%s holds %g and %g at (%zu, %zu) and (%zu, "
                    "%zu), but it must be finite, symmetric and positive definite.",
                    cluster, lower, upper, j + 1, k + 1, k + 1, j + 1);
        }
    memcpy(work, matrix, d * d * sizeof *work);
    if (!vem_i_cholesky(work, model->d))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The covariance matrix%s is not positive definite.", cluster);
    return VEM_OK;
}

vem_status vem_i_model_matrix_room(vem_i_run *run, const vem_model *model, double **work)
{
    *work = NULL;
    return model->family->shape_axes == 2
               ? vem_i_take(run, work, (size_t)model->d, (size_t)model->d * sizeof **work)
               : VEM_OK;
}

vem_status vem_i_model_check_shapes(vem_i_run *run, const vem_model *model)
{
    double *work;
    vem_status status = vem_i_model_matrix_room(run, model, &work);
    for (int32_t s = 0; status == VEM_OK && s < vem_i_model_shapes(model); s++) {
        for (int32_t j = 0;
             status == VEM_OK && j < vem_i_square_count(model->family, model->d); j++)
            status = check_variance(run, model, s, j);
        if (status == VEM_OK && work)
            status = check_matrix(run, model, s, work);
    }
    vem_i_free(work);
    return status;
}

int vem_i_cluster_has_least(const vem_model *model, int64_t c, double least, double *work)
{
    const int64_t d = model->d;
    const double *shape = vem_i_cluster_shape(model, c);
    for (int32_t j = 0; j < vem_i_square_count(model->family, model->d); j++)
        if (!(shape[vem_i_variance_at(model, j)] >= least))
            return 0;
    if (!work)
        return 1;
    memcpy(work, shape, (size_t)(d * d) * sizeof *work);
    for (int64_t j = 0; j < d; j++)
        work[j * d + j] -= least;
    return vem_i_cholesky(work, model->d);
}
