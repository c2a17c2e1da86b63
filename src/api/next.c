/* Statistics of parts: their sum, and the M-step.
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
#include <sys/stat.h>

#include "base/memory.h"
#include "base/structs.h"
#include "metrics/chunks.h"
#include "model/family.h"
#include "model/part.h"
#include "model/units.h"

/* ---- what they say ---- */

void vem_stats_describe(const vem_stats *stats, vem_stats_summary *summary)
{
    if (!summary)
        return;
    vem_stats_summary found = {0};
    if (!stats) {
        vem_i_struct_out(&found, summary, sizeof found);
        return;
    }
    const vem_model *model = stats->model;
    int64_t empty = 0;
    for (int32_t c = 0; c < model->clusters; c++)
        empty += !(*vem_i_stats_mass(&stats->sums, c) > 0);
    found = (vem_stats_summary){.size = sizeof found,
                                .family = model->family->kind,
                                .prior = stats->prior,
                                .search = stats->search,
                                .precision = stats->precision,
                                .clusters = model->clusters,
                                .d = model->d,
                                .held = stats->held,
                                .floor = stats->floor,
                                .mass = stats->mass,
                                .free_energy = stats->free_energy / stats->mass,
                                .squared_error = stats->squared_error,
                                .rows = stats->rows,
                                .rows_used = stats->rows_used,
                                .pairs = stats->pairs,
                                .parts = stats->parts,
                                .empty = empty};
    vem_i_struct_out(&found, summary, sizeof found);
}

const vem_model *vem_stats_model(const vem_stats *stats)
{
    return stats ? stats->model : NULL;
}

/* ---- sums ---- */

vem_status vem_stats_add(vem_ctx *ctx, vem_stats *to, const vem_stats *from)
{
    VEM_I_NEED(ctx, ctx, to, from);
    char why[256];
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    if (vem_i_part_differ(to, from, why, sizeof why))
        return vem_i_fail(run, VEM_BAD_OPTION, "These statistics do not add up: %s.",
                          why);
    return vem_i_part_add(run, to, from);
}

/* A file of a merge: which it is, and where it stands in the sum. */
typedef struct place {
    uint64_t digest, device, node;
    int64_t path;
} place;

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_file(const void *a, const void *b)
{
    const place *x = a, *y = b;
    const int order = compare(x->device, y->device);
    return order ? order : compare(x->node, y->node);
}

static int by_digest(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return compare(x->digest, y->digest);
}

/* A file named twice would count twice. */
static vem_status check_distinct(vem_i_run *run, const char *const *paths, int64_t count,
                                 place *places)
{
    qsort(places, (size_t)count, sizeof *places, by_file);
    for (int64_t i = 1; i < count; i++)
        if (by_file(&places[i - 1], &places[i]) == 0)
            return vem_i_fail(
                run, VEM_BAD_OPTION,
                "%s and %s are the same file, whose rows would count twice.",
                paths[places[i - 1].path], paths[places[i].path]);
    return VEM_OK;
}

/* Reads every file once: do they belong together, and in which order will they be added? */
static vem_status survey(vem_i_run *run, const char *const *paths, int64_t count,
                         place *places)
{
    vem_stats *first = NULL, *part = NULL;
    vem_status status = VEM_OK;
    struct stat facts = {0};
    char why[256];
    for (int64_t i = 0; status == VEM_OK && i < count; i++) {
        status = vem_stats_read(run->ctx, paths[i], &part);
        if (status != VEM_OK)
            break;
        places[i] = (place){.digest = vem_i_part_digest(part), .path = i};
        if (stat(paths[i], &facts) == 0) {
            places[i].device = (uint64_t)facts.st_dev;
            places[i].node = (uint64_t)facts.st_ino;
        }
        if (first && vem_i_part_differ(first, part, why, sizeof why))
            status = vem_i_fail(run, VEM_BAD_DATA, "%s and %s do not add up: %s.",
                                paths[0], paths[i], why);
        if (first)
            vem_stats_free(part);
        else
            first = part;
    }
    vem_stats_free(first);
    if (status == VEM_OK)
        status = check_distinct(run, paths, count, places);
    if (status == VEM_OK)
        qsort(places, (size_t)count, sizeof *places, by_digest);
    return status;
}

static vem_status add_files(vem_i_run *run, const char *const *paths, int64_t count,
                            const place *places, vem_stats **stats)
{
    vem_stats *sum = NULL, *part;
    vem_status status = vem_stats_read(run->ctx, paths[places[0].path], &sum);
    for (int64_t i = 1; status == VEM_OK && i < count; i++) {
        status = vem_stats_read(run->ctx, paths[places[i].path], &part);
        if (status != VEM_OK)
            break;
        status = vem_stats_add(run->ctx, sum, part);
        vem_stats_free(part);
    }
    if (status == VEM_OK)
        *stats = sum;
    else
        vem_stats_free(sum);
    return status;
}

vem_status vem_stats_merge(vem_ctx *ctx, const char *const *paths, int64_t count,
                           vem_stats **stats)
{
    VEM_I_NEED(ctx, ctx, paths, stats);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    place *places;
    if (count < 1)
        return vem_i_fail(run, VEM_BAD_OPTION, "There are no statistics to merge.");
    vem_status status = vem_i_take(run, &places, (size_t)count, sizeof *places);
    if (status != VEM_OK)
        return status;
    status = survey(run, paths, count, places);
    if (status == VEM_OK)
        status = add_files(run, paths, count, places, stats);
    vem_i_free(places);
    return status;
}

/* ---- the M-step ---- */

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
    if (before->family->counts) {
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
    n->scorer.family->maximize(run, &n->scorer, &n->sums, &constraints, n->model);
    status = vem_i_model_to_data(run, &n->view, n->model);
    if (status == VEM_OK)
        keep_empty(n);
    return status;
}

vem_status vem_stats_next(vem_ctx *ctx, const vem_stats *stats, vem_model **model)
{
    VEM_I_NEED(ctx, ctx, stats, model);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    if (!(stats->mass > 0))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The statistics are of no mass: there is nothing to fit.");
    next n = {.from = stats};
    vem_model *made = NULL;
    vem_status status = maximize(run, &n);
    /* Statistics from a file may say anything: the model is checked as one from a file. */
    if (status == VEM_OK)
        status =
            vem_model_new(ctx, n.model->family->kind, n.model->clusters, n.model->d,
                          n.model->means, n.model->weights, n.model->variances, &made);
    if (status == VEM_OK && n.model->scale)
        status = vem_model_set_scale(ctx, made, n.model->scale);
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
