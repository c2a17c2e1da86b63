/* Changing units: x_view = (x - origin) / scale.
 *
 * Means follow. Shapes that have columns follow too. One variance for several columns
 * cannot take a different factor in each, so an isotropic model keeps its variances in
 * the scaled units and carries the factors (vem_model_scale). */
#include "model/units.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/points.h"

static double scale_of(const double *scale, int32_t j)
{
    return scale ? scale[j] : 1;
}

/* Covariance of columns i and j in cluster c; without columns in the units of the model's
 * scale. */
static double entry(const vem_model *m, int64_t c, int32_t i, int32_t j)
{
    const double *shape = vem_i_cluster_shape(m, c);
    if (m->family->of_counts)
        return i == j ? m->family->of_counts->variance(m->means[c * m->d + i]) : 0;
    if (m->family->shape_axes == 2)
        return shape[(int64_t)i * m->d + j];
    return i == j ? shape[vem_i_variance_at(m, i)] : 0;
}

double vem_i_model_covariance(const vem_model *m, int64_t c, int32_t i, int32_t j)
{
    const double value = entry(m, c, i, j);
    return m->family->by_column || i != j
               ? value
               : value * (scale_of(m->scale, i) * scale_of(m->scale, j));
}

double vem_i_model_deviation(const vem_model *m, int64_t c, int32_t j)
{
    if (!m->family->by_column)
        return sqrt(entry(m, c, j, j)) * scale_of(m->scale, j);
    return sqrt(vem_i_model_covariance(m, c, j, j));
}

/* A shape that all clusters share is the average of theirs. */
static void fill_variances(const vem_model *from, const double *scale, vem_model *to)
{
    const int64_t d = to->d;
    for (int64_t c = 0; to->family->shape_axes >= 0 && c < to->clusters; c++) {
        const double share = to->family->shared ? from->weights[c] : 1;
        double *shape = vem_i_cluster_shape(to, c), mean = 0;
        for (int32_t i = 0; i < d; i++) {
            const double s = scale_of(scale, i), ratio = scale_of(from->scale, i) / s;
            const double value = from->family->by_column
                                     ? vem_i_model_covariance(from, c, i, i) / s / s
                                     : entry(from, c, i, i) * ratio * ratio;
            mean += value / (double)d;
            if (to->family->shape_axes == 1)
                shape[i] += share * value;
            for (int32_t j = 0; to->family->shape_axes == 2 && j < d; j++)
                shape[i * d + j] += share * (vem_i_model_covariance(from, c, i, j) /
                                             (s * scale_of(scale, j)));
        }
        if (to->family->shape_axes == 0)
            *shape += share * mean;
    }
}

vem_status vem_i_model_to_view(vem_i_run *run, const vem_model *model,
                               const vem_view *view, const vem_i_family *family,
                               vem_model **out)
{
    if (!vem_i_can_express(family, model->family))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The model to start from is of family %s, which %s cannot express.",
            vem_choice_name("family", (int)model->family->kind),
            vem_choice_name("family", (int)family->kind));
    vem_model *made;
    vem_status status =
        vem_i_model_blank(run, vem_i_shape_of(family, model->clusters, model->d), &made);
    if (status != VEM_OK)
        return status;
    for (int64_t c = 0; c < made->clusters; c++) {
        made->weights[c] = model->weights[c];
        for (int32_t j = 0; j < made->d; j++)
            made->means[c * made->d + j] =
                (model->means[c * made->d + j] - view->origin[j]) /
                scale_of(view->scale, j);
    }
    fill_variances(model, view->scale, made);
    *out = made;
    return VEM_OK;
}

void vem_i_shape_to_view(const vem_i_family *family, int32_t d, const double *scale,
                         double *shape)
{
    for (int32_t i = 0; i < vem_i_square_count(family, d); i++) {
        if (family->shape_axes < 2)
            shape[i] /= scale_of(scale, i) * scale_of(scale, i);
        for (int32_t j = 0; family->shape_axes == 2 && j < d; j++)
            shape[(int64_t)i * d + j] /= scale_of(scale, i) * scale_of(scale, j);
    }
}

vem_status vem_i_model_to_data(vem_i_run *run, const vem_view *view, vem_model *model)
{
    int64_t d = model->d;
    if (view->scale && !view->whitened) {
        vem_status status = vem_model_set_scale(run->ctx, model, view->scale);
        if (status != VEM_OK)
            return status;
    }
    for (int64_t c = 0; c < model->clusters; c++)
        for (int32_t i = 0; i < d; i++) {
            double *mean = &model->means[c * d + i];
            *mean = *mean * scale_of(view->scale, i) + view->origin[i];
        }
    for (int32_t k = 0; k < vem_i_model_shapes(model); k++) {
        double *shape = vem_i_cluster_shape(model, k);
        /* Columns of balls are divided by one number, if only to compute with. */
        if (model->family->shape_axes == 0 && view->whitened)
            *shape = *shape * view->scale[0] * view->scale[0];
        for (int32_t i = 0; model->family->shape_axes > 0 && i < d; i++) {
            const double s = scale_of(view->scale, i);
            if (model->family->shape_axes == 1)
                shape[i] = shape[i] * s * s;
            else
                for (int32_t j = 0; j < d; j++)
                    shape[i * d + j] *= s * scale_of(view->scale, j);
        }
    }
    return VEM_OK;
}

vem_i_constraints vem_i_constraints_of(const vem_view *view, const vem_options *options,
                                       const vem_i_family *family)
{
    const double safe = vem_i_safe_variance((vem_precision)options->precision);
    vem_i_constraints limits = {.prior = (vem_prior_kind)options->prior,
                                .floor = fmax(options->floor * view->variance, safe),
                                .total_mass = view->total_mass,
                                .relax = 1};
    if (options->metric ==
        VEM_METRIC_COSINE) /* columns are divided by one number, if any */
        limits.sphere = (vem_i_sphere){view->origin, scale_of(view->scale, 0)};
    if (family->of_counts) {
        limits.units = view->deviations;
        limits.floor = options->floor;
    } else if (family->by_column) {
        double least = 1;
        for (int32_t j = 0; j < view->d; j++)
            least = fmin(least, view->deviations[j] * view->deviations[j]);
        limits.units = view->deviations;
        limits.floor = fmax(options->floor, safe / least);
    }
    return limits;
}

/* Costs are at most (|x| + |mu|)^2 over the least eigenvalue of the cluster. With r the
 * largest value of the rows and of mu this is 4 d r^2 over it; as much again is left for the
 * intermediate results. */
vem_status vem_i_model_check_range(vem_i_run *run, const vem_model *model,
                                   const vem_view *view)
{
    const int single = view->kernels->precision == VEM_SINGLE;
    const double top = single ? FLT_MAX : DBL_MAX, d = model->d;
    const double safe = vem_i_safe_variance(view->kernels->precision);
    const char *type = vem_choice_name("precision", view->kernels->precision);
    const char *advice =
        single ? "use --precision double or rescale the data" : "rescale the data";
    double *work;
    vem_status status = vem_i_model_matrix_room(run, model, &work);
    for (int64_t c = 0; c < model->clusters && status == VEM_OK; c++) {
        double far = 0;
        for (int64_t j = 0; j < model->d; j++)
            far = fmax(far, fabs(model->means[c * model->d + j]));
        const double reach = fmax(far, view->extreme), square = 16 * d * reach * reach;
        if (!(square <= top))
            status = vem_i_fail(run, VEM_BAD_DATA,
                                "The mean of cluster %lld lies %.3g from the origin; "
                                "squares of that size "
                                "overflow in %s precision: %s.",
                                (long long)c + 1, far, type, advice);
        /* The model was raised to what is safe in itself. */
        else if (square / top > safe &&
                 !vem_i_cluster_has_least(model, c, square / top, work))
            status = vem_i_fail(
                run, VEM_BAD_DATA,
                "Cluster %lld has a variance below %.3g in some direction, too small "
                "beside values that lie up to %.3g from the origin: their ratio "
                "overflows "
                "in %s precision: %s.",
                (long long)c + 1, square / top, reach, type, advice);
    }
    vem_i_free(work);
    return status;
}
