/* Statistics that add up: the E-step of one model over some rows, without the M-step.
 *
 * With q_ic the probabilities of the E-step and mu_c the means of the model, the statistics
 *
 *     N_c = sum_i w_i q_ic,   f_c = sum_i w_i q_ic (x_i - mu_c),
 *     S_c = sum_i w_i q_ic (x_i - mu_c)(x_i - mu_c)'   (its trace or diagonal where enough)
 *
 * and F are sums over rows, so those of disjoint parts add up to those of the whole, and the
 * M-step of the sum (model/part_next.c) is one step of a fit over all rows.
 *
 * From the view to the data. The engine works on y = (x - origin) / s in its compute type
 * and takes moments about nu_c, its rounded copy of (mu_c - origin) / s, or, where that is far
 * from the rows, about a number near their mean (em/steady.h). With
 * e = nu_c - (mu_c - origin) / s,
 *
 *     f <- f + N e,     S <- S + f e' + e f' + N e e'      (f before the change)
 *
 * moves them to mu_c, and f_j s_j, S_ij s_i s_j are in the units of the data. Moments about
 * another number stay about it, and the part says so (model/part.h). One variance
 * for several columns stays in the divided units, as in a model (units.c). The origin depends
 * on the model alone, so every part has the same nu_c. */
#include "use/sums.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/record.h"
#include "data/unit.h"
#include "em/steady.h"
#include "metrics/chunks.h"
#include "model/part.h"
#include "model/units.h"

/* Sums of weights that keep their digits when they are multiplied by squares. */
static const double LEAST_MASS = 1e-100, MOST_MASS = 1e100;

typedef struct work {
    vem_stats *part;
    vem_i_search_spec search;
} work;

/* ---- from the view to the data ---- */

static double scale_at(const double *scale, int64_t j)
{
    return scale ? scale[j] : 1;
}

/* Squares of the view to those that people are told. */
static double told_unit(const vem_view *view, int64_t j)
{
    return view->whitened ? view->scale[j] * view->scale[j] : 1;
}

/* Scratch of a cluster. */
typedef struct desk {
    double *e, *about, *moments, *join;
} desk;

/* Where the moments of cluster c are about in the data, and what they are off that in the
 * view: the mean of the model, or, where they were taken again, a place near the rows. */
static void settle_place(const work *w, const vem_view *view, const vem_model *inside,
                         const vem_i_scorer *scorer, int32_t c, const desk *on)
{
    const int64_t d = view->d;
    int moved = 0;
    for (int64_t j = 0; j < d && scorer->about != scorer->means; j++)
        moved |= vem_i_about(scorer, c, j) !=
                 vem_i_value(scorer->kernels, scorer->means, c * scorer->ldc + j);
    for (int64_t j = 0; j < d; j++) {
        const double s = scale_at(view->scale, j), at = vem_i_about(scorer, c, j);
        on->about[j] =
            moved ? at * s + view->origin[j] : w->part->model->means[c * d + j];
        on->e[j] = at - (moved ? (on->about[j] - view->origin[j]) / s
                               : inside->means[c * d + j]);
    }
}

/* Squared error about the mean of the model of what has these moments about another place. */
static double error_of(const vem_view *view, const vem_model *inside,
                       const vem_i_scorer *scorer, const vem_i_stats *from, int32_t c)
{
    const int64_t d = view->d;
    const double mass = *vem_i_stats_mass(from, c), *first = vem_i_stats_first(from, c),
                 *second = vem_i_stats_second(from, c);
    const int columns = !vem_i_is_round(inside->family);
    if (!vem_i_has_shapes(inside->family))
        return 0;
    double error = columns ? 0 : *second * told_unit(view, 0);
    for (int64_t j = 0; j < d; j++) {
        const double e = vem_i_about(scorer, c, j) - inside->means[c * d + j];
        const double square = columns ? second[vem_i_square_at(inside->family, j)] : 0;
        error += (square + e * (2 * first[j] + mass * e)) * told_unit(view, j);
    }
    return fmax(error, 0);
}

/* Moments of cluster c into the part. */
static void add_cluster(const work *w, const vem_view *view, const vem_model *inside,
                        const vem_i_scorer *scorer, const vem_i_stats *from, int32_t c,
                        const desk *on)
{
    const vem_i_shift shift = {.e = on->e,
                               .mass = view->mass_unit,
                               .units = view->scale,
                               .distance = told_unit(view, 0)};
    settle_place(w, view, inside, scorer, c, on);
    memset(on->moments, 0, (size_t)from->stride * sizeof *on->moments);
    vem_i_moments_add(inside->family, view->d, vem_i_stats_mass(from, c), &shift,
                      on->moments);
    vem_i_part_join(w->part, c, on->moments, on->about, on->join);
    w->part->squared_error += view->mass_unit * error_of(view, inside, scorer, from, c);
}

/* The digest of the rows goes on with a chunk. Its rows are about the middle of the model, so
 * it tells rows of one merge apart, not those of any. */
static void mark_rows(vem_stats *part, const vem_view *view)
{
    vem_i_mark *mark = part->marks.list;
    mark->rows = vem_i_mix(mark->rows, &view->mass_unit, sizeof view->mass_unit);
    for (int64_t i = 0; i < view->n; i++)
        mark->rows = vem_i_view_mix(view, i, mark->rows);
}

static vem_status add_chunk(vem_i_run *run, const work *w, const vem_view *view,
                            const vem_model *inside, const vem_i_scorer *scorer,
                            const vem_i_stats *sums, const vem_i_estep_result *e)
{
    vem_stats *part = w->part;
    const size_t d = (size_t)view->d, stride = (size_t)sums->stride;
    double *room;
    vem_status status =
        vem_i_take(run, &room, 2 * d + stride + (size_t)vem_i_part_work(part),
                   sizeof *room);
    if (status != VEM_OK)
        return status;
    const desk on = {room, room + d, room + 2 * d, room + 2 * d + stride};
    for (int32_t c = 0; c < inside->clusters; c++)
        add_cluster(w, view, inside, scorer, sums, c, &on);
    vem_i_free(room);
    part->mass += view->mass_unit * view->total_mass;
    part->free_energy +=
        view->mass_unit * (e->log_sum + view->total_mass * (vem_i_view_log_shift(view) -
                                                            0.5 * scorer->base));
    mark_rows(part, view);
    part->rows += view->n;
    part->rows_used += view->used;
    part->pairs += e->pairs;
    return VEM_OK;
}

/* ---- the E-step of a chunk ---- */

/* Variances of the rows about their own mean: the view has those about the middle of the model,
 * which may be far away. Sums are about the first row that has a mass. deviations: 2 d. */
static void look_at_spread(vem_view *view, double *deviations)
{
    const int64_t d = view->d;
    double *mean = deviations + d, sum = 0;
    int64_t first = 0;
    while (first < view->n - 1 && !(vem_i_view_mass(view, first) > 0))
        first++;
    const void *about = vem_i_view_row(view, first);
    for (int64_t j = 0; j < d; j++)
        deviations[j] = mean[j] = 0;
    for (int64_t i = first; i < view->n; i++) {
        const void *row = vem_i_view_row(view, i);
        const double mass = vem_i_view_mass(view, i);
        for (int64_t j = 0; j < d; j++) {
            const double off =
                vem_i_value(view->kernels, row, j) - vem_i_value(view->kernels, about, j);
            mean[j] += mass * off;
            deviations[j] += mass * off * off;
        }
    }
    const double total = view->total_mass > 0 ? view->total_mass : 1;
    for (int64_t j = 0; j < d; j++) {
        const double off = mean[j] / total;
        const double variance = fmax(deviations[j] / total - off * off, 0);
        sum += variance;
        deviations[j] = variance > 0 ? sqrt(variance) : 1;
        if (!(variance > 0) &&
            view->whitened) { /* its unit is that of a fit (model/part_next.c) */
            const double at = vem_i_value(view->kernels, about, j) + off;
            const double scale = view->scale[j];
            deviations[j] = vem_i_column_unit(0, view->origin[j] + at * scale) / scale;
        }
    }
    view->variance = sum / (double)d;
    view->deviations = deviations;
}

static vem_status step(vem_i_run *run, void *arg, const vem_view *view,
                       const vem_model *inside, int64_t first)
{
    const work *w = arg;
    (void)first;
    vem_i_scorer scorer = {0};
    vem_i_posterior posterior = {0};
    vem_i_stats sums = {0};
    vem_i_estep *estep = NULL;
    double *deviations = NULL;
    vem_status status = vem_i_scorer_for(run, view, vem_i_model_shape(inside), &scorer);
    if (status == VEM_OK)
        status = vem_i_take(run, &deviations, 2 * (size_t)view->d, sizeof *deviations);
    if (status == VEM_OK)
        status = vem_i_posterior_new(run, view, &w->search, &posterior);
    if (status == VEM_OK)
        status = vem_i_stats_new(run, vem_i_model_shape(inside), &sums);
    if (status == VEM_OK)
        status = vem_i_estep_new(run, view, &scorer, &w->search, 1, &estep);
    if (status == VEM_OK) {
        vem_progress told = {.phase = "em",
                             .step = 1,
                             .max_steps = 1,
                             .free_energy = NAN};
        vem_i_scorer_prepare(run, inside, &scorer);
        vem_i_estep_result e = vem_i_estep_run(estep, &posterior, &sums, &told, 1);
        /* As near as the M-step needs them, if the other rows are like these. */
        vem_view seen = *view;
        const vem_options how = {.prior = (int)w->part->prior,
                                 .floor = w->part->floor,
                                 .metric = (int)vem_model_metric(w->part->model),
                                 .precision = (int)w->part->precision};
        if (vem_i_has_shapes(inside->family))
            look_at_spread(&seen, deviations);
        const vem_i_constraints likely =
            vem_i_constraints_of(&seen, &how, inside->family);
        if (e.skipped)
            status = vem_i_fail_stopped(run, "while statistics were collected");
        if (status == VEM_OK)
            status =
                vem_i_steady(run, estep, &posterior, &likely, &scorer, &sums, &e.pairs);
        if (status == VEM_OK)
            status = add_chunk(run, w, view, inside, &scorer, &sums, &e);
    }
    vem_i_free(deviations);
    vem_i_estep_free(estep);
    vem_i_stats_free(&sums);
    vem_i_posterior_free(&posterior);
    vem_i_scorer_free(&scorer);
    return status;
}

/* ---- the part ---- */

/* The model as the step uses it: of the family and prior asked for, in the units of the
 * data. */
static vem_status base_model(vem_i_run *run, const vem_model *model, const vem_options *o,
                             vem_model **base)
{
    vem_model *wide = NULL;
    double *zeros;
    const vem_i_names table = vem_i_model_table(model);
    vem_status status = vem_i_take_zeroed(run, &zeros, (size_t)model->d, sizeof *zeros);
    if (status != VEM_OK)
        return status;
    const vem_i_family *family = vem_i_family_of(o->family);
    if (family != model->family) {
        const vem_view view = {.d = model->d, .origin = zeros, .scale = model->scale};
        status = vem_i_model_to_view(run, model, &view, family, &wide);
        if (status == VEM_OK)
            status = vem_i_model_to_data(run, &view, wide);
        model = wide;
    }
    vem_i_free(zeros);
    vem_model *made = NULL;
    if (status == VEM_OK)
        status = vem_model_new(run->ctx, model->family->kind, model->clusters, model->d,
                               model->means,
                               o->prior == VEM_PRIOR_FLAT ? NULL : model->weights,
                               model->variances, &made);
    if (status == VEM_OK && model->scale)
        status = vem_model_set_scale(run->ctx, made, model->scale);
    vem_model_free(wide);
    if (status == VEM_OK)
        status = vem_i_names_copy(run, &table, &made->table);
    if (status != VEM_OK) {
        vem_model_free(made);
        return status;
    }
    made->normalizes = vem_i_normalize_of(o);
    if (made->normalizes == VEM_I_DIRECTIONS &&
        (status = vem_i_model_to_sphere(run, made)) != VEM_OK) {
        vem_model_free(made);
        return status;
    }
    *base = made;
    return VEM_OK;
}

static vem_status check_part(vem_i_run *run, const vem_stats *part)
{
    if (!(part->mass >= LEAST_MASS && part->mass <= MOST_MASS))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The weights sum to %g; statistics keep their digits between "
                          "%g and %g: rescale the weights.",
                          part->mass, LEAST_MASS, MOST_MASS);
    if (!vem_i_part_is_sound(part))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The sums of squares of the rows overflow: rescale the data.");
    return VEM_OK;
}

vem_status vem_i_sums_of_rows(vem_i_run *run, const vem_model *model,
                              const vem_data *data, const vem_options *o,
                              vem_stats **stats)
{
    vem_model *base;
    vem_stats *part = NULL;
    vem_status status = base_model(run, model, o, &base);
    if (status == VEM_OK)
        status = vem_i_part_new(run, base, &part);
    if (status != VEM_OK)
        return status;
    part->prior = (vem_prior_kind)o->prior;
    part->search = (vem_search_kind)o->search;
    part->precision = (vem_precision)o->precision;
    part->held = (int32_t)o->held;
    part->floor = o->floor;
    work w = {.part = part, .search = vem_i_search_for(o, (uint64_t)o->seed)};
    status = vem_i_for_chunks(run, base, data, part->precision, "em", 1, step, &w);
    if (status == VEM_OK)
        status = check_part(run, part);
    if (status == VEM_OK)
        *stats = part;
    else
        vem_stats_free(part);
    return status;
}
