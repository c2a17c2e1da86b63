/* Changing units: x_view = (x - origin) / scale.
 *
 * Means follow. Variances of diag and full follow too. One variance for several columns
 * cannot take a different factor in each, so an isotropic model keeps its variances in
 * the scaled units and carries the factors (vem_model_scale). */
#include "api/units.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/points.h"

static double scale_of(const double *scale, int32_t j)
{
    return scale ? scale[j] : 1;
}

double vem_i_model_covariance(const vem_model *m, int64_t c, int32_t i, int32_t j)
{
    int64_t d = m->d;
    double factor = scale_of(m->scale, i) * scale_of(m->scale, j);
    switch (m->family) {
    case VEM_ISO_SHARED: return i == j ? m->variances[0] * factor : 0;
    case VEM_ISO: return i == j ? m->variances[c] * factor : 0;
    case VEM_DIAG: return i == j ? m->variances[c * d + i] : 0;
    case VEM_FULL: return m->variances[(c * d + i) * d + j];
    }
    return 0;
}

/* Of balls, in the units of the model's scale. */
static double variance_of(const vem_model *m, int64_t c)
{
    return m->variances[m->family == VEM_ISO ? c : 0];
}

double vem_i_model_deviation(const vem_model *m, int64_t c, int32_t j)
{
    if (m->family == VEM_ISO_SHARED || m->family == VEM_ISO)
        return sqrt(variance_of(m, c)) * scale_of(m->scale, j);
    return sqrt(vem_i_model_covariance(m, c, j, j));
}

static void fill_variances(const vem_model *from, const double *scale, vem_model *to)
{
    int64_t d = to->d;
    const int balls = from->family == VEM_ISO_SHARED || from->family == VEM_ISO;
    for (int64_t c = 0; c < to->clusters; c++) {
        double mean = 0;
        for (int32_t i = 0; i < d; i++) {
            double s = scale_of(scale, i), ratio = scale_of(from->scale, i) / s;
            const double value = balls ? variance_of(from, c) * ratio * ratio
                                       : vem_i_model_covariance(from, c, i, i) / s / s;
            mean += value / (double)d;
            if (to->family == VEM_DIAG)
                to->variances[c * d + i] = value;
            else if (to->family == VEM_FULL)
                for (int32_t j = 0; j < d; j++)
                    to->variances[(c * d + i) * d + j] =
                        vem_i_model_covariance(from, c, i, j) / (s * scale_of(scale, j));
        }
        if (to->family == VEM_ISO)
            to->variances[c] = mean;
        else if (to->family == VEM_ISO_SHARED)
            to->variances[0] += from->weights[c] * mean;
    }
}

vem_status vem_i_model_to_view(vem_ctx *ctx, const vem_model *model, const vem_view *view,
                               vem_family_kind family, vem_model **out)
{
    if (family < model->family)
        return vem_i_fail(
            ctx, VEM_BAD_OPTION,
            "The model to start from is of family %s, which %s cannot express.",
            vem_choice_name("family", model->family), vem_choice_name("family", family));
    vem_model *made;
    vem_status status = vem_i_model_blank(ctx, family, model->clusters, model->d, &made);
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

vem_status vem_i_model_to_data(vem_ctx *ctx, const vem_view *view, vem_model *model)
{
    int64_t d = model->d;
    if (view->scale && !view->whitened) {
        vem_status status = vem_model_set_scale(ctx, model, view->scale);
        if (status != VEM_OK)
            return status;
    }
    /* Columns of balls are divided by one number, if only to compute with. */
    const int64_t balls = model->family == VEM_ISO          ? model->clusters
                          : model->family == VEM_ISO_SHARED ? 1
                                                            : 0;
    for (int64_t c = 0; view->whitened && c < balls; c++)
        model->variances[c] = model->variances[c] * view->scale[0] * view->scale[0];
    for (int64_t c = 0; c < model->clusters; c++)
        for (int32_t i = 0; i < d; i++) {
            double s = scale_of(view->scale, i), *mean = &model->means[c * d + i];
            *mean = *mean * s + view->origin[i];
            if (model->family == VEM_DIAG)
                model->variances[c * d + i] = model->variances[c * d + i] * s * s;
            else if (model->family == VEM_FULL)
                for (int32_t j = 0; j < d; j++)
                    model->variances[(c * d + i) * d + j] *= s * scale_of(view->scale, j);
        }
    return VEM_OK;
}

vem_i_constraints vem_i_constraints_of(const vem_view *view, const vem_options *options,
                                       vem_family_kind family)
{
    const double safe = vem_i_safe_variance((vem_precision)options->precision);
    vem_i_constraints limits = {.prior = (vem_prior_kind)options->prior,
                                .floor = fmax(options->floor * view->variance, safe),
                                .total_mass = view->total_mass,
                                .relax = 1};
    if (family == VEM_DIAG || family == VEM_FULL) {
        double least = 1;
        for (int32_t j = 0; j < view->d; j++)
            least = fmin(least, view->deviations[j] * view->deviations[j]);
        limits.units = view->deviations;
        limits.floor = fmax(options->floor, safe / least);
    }
    return limits;
}

/* Is every variance, or eigenvalue, of cluster c no less than `least`? work: d x d for full, else
 * NULL. */
static int has_least(const vem_model *m, int64_t c, double least, double *work)
{
    const int64_t d = m->d;
    if (m->family == VEM_ISO_SHARED || m->family == VEM_ISO)
        return m->variances[m->family == VEM_ISO ? c : 0] >= least;
    const double *own = m->variances + c * d * (m->family == VEM_FULL ? d : 1);
    for (int64_t j = 0; j < d; j++)
        if (!(own[m->family == VEM_FULL ? j * d + j : j] >= least))
            return 0;
    if (!work)
        return 1;
    memcpy(work, own, (size_t)(d * d) * sizeof *work);
    for (int64_t j = 0; j < d; j++)
        work[j * d + j] -= least;
    return vem_i_cholesky(work, m->d);
}

/* Costs are at most (|x| + |mu|)^2 over the least eigenvalue of the cluster. With r the
 * largest value of the rows and of mu this is 4 d r^2 over it; as much again is left for the
 * intermediate results. */
vem_status vem_i_model_check_range(vem_ctx *ctx, const vem_model *model,
                                   const vem_view *view)
{
    const int single = view->kernels->precision == VEM_SINGLE;
    const double top = single ? FLT_MAX : DBL_MAX, d = model->d;
    const double safe = vem_i_safe_variance(view->kernels->precision);
    const char *type = vem_choice_name("precision", view->kernels->precision);
    const char *advice =
        single ? "use --precision double or rescale the data" : "rescale the data";
    double *work = NULL;
    vem_status status = VEM_OK;
    if (model->family == VEM_FULL)
        status = vem_i_take(ctx, &work, (size_t)d, (size_t)d * sizeof *work);
    for (int64_t c = 0; c < model->clusters && status == VEM_OK; c++) {
        double far = 0;
        for (int64_t j = 0; j < model->d; j++)
            far = fmax(far, fabs(model->means[c * model->d + j]));
        const double reach = fmax(far, view->extreme), square = 16 * d * reach * reach;
        if (!(square <= top))
            status = vem_i_fail(ctx, VEM_BAD_DATA,
                                "The mean of cluster %lld lies %.3g from the origin; "
                                "squares of that size "
                                "overflow in %s precision: %s.",
                                (long long)c + 1, far, type, advice);
        /* The model was raised to what is safe in itself. */
        else if (square / top > safe && !has_least(model, c, square / top, work))
            status = vem_i_fail(
                ctx, VEM_BAD_DATA,
                "Cluster %lld has a variance below %.3g in some direction, too small "
                "beside values that lie up to %.3g from the origin: their ratio "
                "overflows "
                "in %s precision: %s.",
                (long long)c + 1, square / top, reach, type, advice);
    }
    vem_i_free(work);
    return status;
}
