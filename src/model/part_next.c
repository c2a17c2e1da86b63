/* The M-step of statistics of parts.
 *
 * The variance of all rows, of which the floor is a share, is in the statistics, too. With
 * mu_c what the moments are about, W the mass and m = sum_c (f_c + N_c mu_c) / W the mean of
 * all rows,
 *
 *     sum_i w_i (x_i - m)_j^2 = sum_c [ S_cjj + 2 f_cj (mu_c - m)_j + N_c (mu_c - m)_j^2 ],
 *
 * and its sum over the columns needs no more than the traces of S. So a merge of parts has the
 * floor that a fit of all rows has, and no part needs to know the others. The M-step itself is
 * that of the family, in double about the center of the model, with columns divided as in a
 * fit. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/unit.h"
#include "model/evidence.h"
#include "model/family.h"
#include "model/middle.h"
#include "model/part.h"
#include "model/units.h"

typedef struct next {
    const vem_stats *from;
    double *origin;
    vem_view view;    /* no rows: units only */
    vem_i_stats sums; /* in its units */
    vem_i_scorer scorer;
    vem_model *model; /* in its units, then in those of the data */
} next;

static double inverse_scale(const next *n, int64_t j)
{
    return n->view.scale ? 1 / n->view.scale[j] : 1;
}

/* `inverse`: d values of scratch. Squared distances are divided by a scale of the model
 * already, but not by what is only computed with. */
static void to_view(next *n, double *inverse)
{
    const vem_model *model = n->from->model;
    const double even = n->view.whitened ? inverse_scale(n, 0) : 1;
    const vem_i_shift shift = {.mass = 1, .units = inverse, .distance = even * even};
    for (int64_t j = 0; j < model->d; j++)
        inverse[j] = inverse_scale(n, j);
    for (int32_t c = 0; c < model->clusters; c++)
        vem_i_moments_add(model->family, model->d, vem_i_stats_mass(&n->from->sums, c),
                          &shift, vem_i_stats_mass(&n->sums, c));
}

/* The mean of all rows, in the units of the data; taken about one of the places that moments
 * are about, so that a constant column has no variance by rounding. */
static void mean_of_all(const next *n, double *mean)
{
    const vem_stats *from = n->from;
    const int64_t d = from->model->d;
    const double *about = from->about;
    for (int64_t j = 0; j < d; j++)
        mean[j] = about[j];
    for (int32_t c = 0; c < from->model->clusters; c++)
        for (int64_t j = 0; j < d; j++)
            mean[j] += (vem_i_stats_first(&from->sums, c)[j] +
                        *vem_i_stats_mass(&from->sums, c) *
                            (from->about[c * d + j] - about[j])) /
                       from->mass;
}

/* What cluster c adds to the variance of column j besides its second moment. */
static double about_all(const next *n, const double *mean, int32_t c, int64_t j)
{
    const vem_stats *from = n->from;
    const double off = from->about[c * from->model->d + j] - mean[j];
    return off *
           (2 * vem_i_stats_first(&from->sums, c)[j] +
            *vem_i_stats_mass(&from->sums, c) * off) /
           from->mass;
}

/* Rounding of a mean is no variance. What is not finite stays, to be refused. */
static double told_from_zero(double variance, double mean)
{
    const double rounding = 16 * DBL_EPSILON * mean;
    return isfinite(variance) && variance <= rounding * rounding ? 0 : variance;
}

/* Where shapes have columns: the variance of each, in the units of the data. */
static void variances_of_all(const next *n, const double *mean, double *variances)
{
    const vem_stats *from = n->from;
    const vem_i_family *family = from->model->family;
    for (int64_t j = 0; j < from->model->d; j++) {
        double sum = 0;
        for (int32_t c = 0; c < from->model->clusters; c++)
            sum += vem_i_stats_second(&from->sums, c)[vem_i_square_at(family, j)] /
                       from->mass +
                   about_all(n, mean, c, j);
        variances[j] = told_from_zero(sum, mean[j]);
    }
}

/* Else: tr(Cov) / d, in the units of the view. */
static double variance_of_all(const next *n, const double *mean)
{
    const vem_stats *from = n->from;
    const int64_t d = from->model->d;
    double sum = 0;
    for (int32_t c = 0; c < from->model->clusters; c++) {
        sum += *vem_i_stats_second(&from->sums, c) / from->mass;
        for (int64_t j = 0; j < d; j++)
            sum += about_all(n, mean, c, j) * inverse_scale(n, j) * inverse_scale(n, j);
    }
    return told_from_zero(sum / (double)d, 0);
}

/* Balls whose squares are too small for the type that the parts were computed in, and its
 * floor, are divided as in a fit. */
static void divide_evenly(next *n, double *scale)
{
    const double unit = vem_i_even_unit(n->from->precision, sqrt(n->view.variance));
    if (unit == 1)
        return;
    for (int32_t j = 0; j < n->view.d; j++)
        scale[j] = unit;
    n->view.scale = scale;
    n->view.whitened = 1;
    n->view.variance = n->view.variance / unit / unit;
}

/* A cluster that held nothing is, to the bit, where and what it was. */
static void keep_empty(const next *n)
{
    const vem_model *before = n->from->model;
    for (int32_t c = 0; c < before->clusters; c++) {
        const double weight = n->model->weights[c];
        if (*vem_i_stats_mass(&n->from->sums, c) > 0)
            continue;
        vem_i_model_put(before, c, n->model, c);
        n->model->weights[c] = weight;
    }
}

/* The units of the view, and what the floor is a share of. */
static vem_status settle_units(vem_i_run *run, next *n)
{
    const vem_model *before = n->from->model;
    const int32_t d = before->d;
    vem_status status = vem_i_take(run, &n->origin, 4 * (size_t)d, sizeof(double));
    if (status != VEM_OK)
        return status;
    double *mean = n->origin + d, *deviations = mean + d, *scale = deviations + d;
    vem_i_model_center(before, n->origin);
    mean_of_all(n, mean);
    n->view = (vem_view){.kernels = run->ctx->kernels_double,
                         .d = d,
                         .total_mass = n->from->mass,
                         .origin = n->origin,
                         .scale = before->scale,
                         .deviations = deviations};
    double probe = 0;
    if (before->family->of_counts) {
        for (int32_t j = 0; j < d; j++)
            probe += deviations[j] = mean[j];
    } else if (before->family->by_column) {
        variances_of_all(n, mean, deviations);
        if (!before->scale) {
            n->view.scale = scale;
            n->view.whitened = 1;
        }
        for (int32_t j = 0; j < d; j++) {
            probe += deviations[j];
            scale[j] = before->scale ? before->scale[j]
                                     : vem_i_column_unit(deviations[j], mean[j]);
            deviations[j] = deviations[j] > 0 ? sqrt(deviations[j]) / scale[j] : 1;
        }
    } else {
        probe = n->view.variance = variance_of_all(n, mean);
        if (!before->scale)
            divide_evenly(n, scale);
    }
    if (!isfinite(probe))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The statistics give no model: the variance of all rows is %g.",
                          probe);
    return VEM_OK;
}

/* The M-step reads the moments about where they are. row: d values of scratch. */
static vem_status place_moments(vem_i_run *run, next *n, double *row)
{
    const vem_stats *from = n->from;
    const int64_t d = from->model->d;
    if (!vem_i_part_moved(from))
        return VEM_OK;
    vem_status status = vem_i_scorer_part(run, &n->scorer);
    for (int32_t c = 0; status == VEM_OK && c < from->model->clusters; c++) {
        for (int64_t j = 0; j < d; j++)
            row[j] = (from->about[c * d + j] - n->origin[j]) * inverse_scale(n, j);
        vem_i_scorer_approach(&n->scorer, c, row);
    }
    return status;
}

static vem_status maximize(vem_i_run *run, next *n)
{
    const vem_stats *from = n->from;
    const vem_model *before = from->model;
    vem_status status = settle_units(run, n);
    if (status == VEM_OK)
        status = vem_i_model_to_view(run, before, &n->view, before->family, &n->model);
    if (status == VEM_OK)
        status = vem_i_stats_new(run, vem_i_model_shape(before), &n->sums);
    if (status == VEM_OK)
        status = vem_i_scorer_new(run, run->ctx->kernels_double,
                                  vem_i_model_shape(before), &n->scorer);
    if (status != VEM_OK)
        return status;
    double *row = n->origin + before->d; /* the mean of all is done with */
    to_view(n, row);
    const vem_options options = {.prior = (int)from->prior,
                                 .floor = from->floor,
                                 .metric = (int)vem_model_metric(before),
                                 .precision = (int)from->precision};
    const vem_i_constraints constraints =
        vem_i_constraints_of(&n->view, &options, before->family);
    vem_i_scorer_prepare(run, n->model, &n->scorer);
    status = place_moments(run, n, row);
    if (status != VEM_OK)
        return status;
    vem_i_maximize(run, &n->scorer, &n->sums, &constraints, n->model);
    status = vem_i_model_to_data(run, &n->view, n->model);
    if (status == VEM_OK)
        keep_empty(n);
    return status;
}

vem_status vem_i_part_next(vem_i_run *run, const vem_stats *stats, vem_model **model)
{
    next n = {.from = stats};
    vem_model *made = NULL;
    vem_status status = maximize(run, &n);
    /* Statistics from a file may say anything: the model is checked as one from a file. */
    if (status == VEM_OK)
        status =
            vem_model_new(run->ctx, n.model->family->kind, n.model->clusters, n.model->d,
                          n.model->means, n.model->weights, n.model->variances, &made);
    if (status == VEM_OK && n.model->scale)
        status = vem_model_set_scale(run->ctx, made, n.model->scale);
    vem_model_free(n.model);
    vem_i_scorer_free(&n.scorer);
    vem_i_stats_free(&n.sums);
    vem_i_free(n.origin);
    if (status != VEM_OK) {
        vem_model_free(made);
        return status;
    }
    made->normalizes = stats->model->normalizes;
    const vem_i_names table = vem_i_model_table(stats->model);
    status = vem_i_names_copy(run, &table, &made->table);
    if (status != VEM_OK) {
        vem_model_free(made);
        return status;
    }
    made->prior = stats->prior;
    *model = made;
    return VEM_OK;
}
