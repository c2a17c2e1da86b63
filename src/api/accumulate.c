/* Statistics that add up: the E-step of one model over some rows, without the M-step.
 *
 * With q_ic the probabilities of the E-step and mu_c the means of the model, the statistics
 *
 *     N_c = sum_i w_i q_ic,   f_c = sum_i w_i q_ic (x_i - mu_c),
 *     S_c = sum_i w_i q_ic (x_i - mu_c)(x_i - mu_c)'   (its trace or diagonal where enough)
 *
 * and F are sums over rows, so those of disjoint parts add up to those of the whole, and the
 * M-step of the sum (next.c) is one step of a fit over all rows.
 *
 * From the view to the data. The engine works on y = (x - origin) / s in its compute type
 * and takes moments about nu_c, its rounded copy of (mu_c - origin) / s, or, where that is far
 * from the rows, about a number near their mean (em/steady.h). With
 * e = nu_c - (mu_c - origin) / s,
 *
 *     f <- f + N e,     S <- S + f e' + e f' + N e e'      (f before the change)
 *
 * moves them to mu_c, and f_j s_j, S_ij s_i s_j are in the units of the data. One variance
 * for several columns stays in the divided units, as in a model (units.c). The origin is the
 * weighted mean of the means of the model, so every part has the same nu_c. */
#include <math.h>
#include <string.h>

#include "api/chunks.h"
#include "api/units.h"
#include "base/memory.h"
#include "em/steady.h"
#include "model/part.h"

/* Sums of weights that keep their digits when they are multiplied by squares. */
static const double LEAST_MASS = 1e-100, MOST_MASS = 1e100;

typedef struct work {
    vem_stats *part;
    vem_i_search search;
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

/* Moments of cluster c about the mean as stored, into the part. `e` has room for d. */
static void add_cluster(const work *w, const vem_view *view, const vem_model *inside,
                        const vem_i_scorer *scorer, const vem_i_stats *from, int32_t c,
                        double *e)
{
    vem_stats *part = w->part;
    const int64_t d = view->d;
    const double unit = view->mass_unit, mass = *vem_i_stats_mass(from, c);
    const double *first = vem_i_stats_first(from, c),
                 *second = vem_i_stats_second(from, c);
    double *to_first = vem_i_stats_first(&part->sums, c),
           *to_second = vem_i_stats_second(&part->sums, c), error = 0;
    for (int64_t j = 0; j < d; j++)
        e[j] = vem_i_value(scorer->kernels, scorer->about, c * scorer->ldc + j) -
               inside->means[c * d + j];
    if (inside->family == VEM_FULL) {
        for (int64_t i = 0, at = 0; i < d; i++)
            for (int64_t j = 0; j <= i; j++, at++) {
                double s = second[at] + first[i] * e[j] + e[i] * (first[j] + mass * e[j]);
                if (i == j) { /* rounding may leave a hair below 0 */
                    s = fmax(s, 0);
                    error += s * told_unit(view, i);
                }
                to_second[at] +=
                    unit * s * scale_at(view->scale, i) * scale_at(view->scale, j);
            }
    } else if (inside->family == VEM_DIAG) {
        for (int64_t j = 0; j < d; j++) {
            double s = fmax(second[j] + e[j] * (2 * first[j] + mass * e[j]), 0);
            error += s * told_unit(view, j);
            to_second[j] +=
                unit * s * scale_at(view->scale, j) * scale_at(view->scale, j);
        }
    } else {
        error = *second;
        for (int64_t j = 0; j < d; j++)
            error += e[j] * (2 * first[j] + mass * e[j]);
        error = fmax(error, 0) * told_unit(view, 0);
        *to_second += unit * error;
    }
    for (int64_t j = 0; j < d; j++)
        to_first[j] += unit * (first[j] + mass * e[j]) * scale_at(view->scale, j);
    *vem_i_stats_mass(&part->sums, c) += unit * mass;
    part->squared_error += unit * error;
}

static vem_status add_chunk(vem_ctx *ctx, const work *w, const vem_view *view,
                            const vem_model *inside, const vem_i_scorer *scorer,
                            const vem_i_stats *sums, const vem_i_estep_result *e)
{
    vem_stats *part = w->part;
    double *shift;
    vem_status status = vem_i_take(ctx, &shift, (size_t)view->d, sizeof *shift);
    if (status != VEM_OK)
        return status;
    for (int32_t c = 0; c < inside->clusters; c++)
        add_cluster(w, view, inside, scorer, sums, c, shift);
    vem_i_free(shift);
    part->mass += view->mass_unit * view->total_mass;
    part->free_energy += view->mass_unit *
                         (e->log_sum + view->total_mass * (vem_i_view_log_jacobian(view) -
                                                           0.5 * scorer->base));
    part->rows += view->n;
    part->rows_used += view->used;
    part->pairs += e->pairs;
    return VEM_OK;
}

/* ---- the E-step of a chunk ---- */

static vem_status step(vem_ctx *ctx, void *arg, const vem_view *view,
                       const vem_model *inside, int64_t first)
{
    const work *w = arg;
    (void)first;
    vem_i_scorer scorer = {0};
    vem_i_posterior posterior = {0};
    vem_i_stats sums = {0};
    vem_i_estep *estep = NULL;
    vem_status status = vem_i_scorer_new(ctx, view->kernels, inside->family,
                                         inside->clusters, inside->d, &scorer);
    if (status == VEM_OK)
        status = vem_i_posterior_new(ctx, view, &w->search, &posterior);
    if (status == VEM_OK)
        status = vem_i_stats_new(ctx, inside->family, inside->clusters, inside->d, &sums);
    if (status == VEM_OK)
        status = vem_i_estep_new(ctx, view, &scorer, &w->search, 1, &estep);
    if (status == VEM_OK) {
        vem_progress told = {.phase = "em",
                             .step = 1,
                             .max_steps = 1,
                             .free_energy = NAN};
        vem_i_scorer_prepare(ctx, inside, &scorer);
        vem_i_estep_result e = vem_i_estep_run(estep, &posterior, &sums, &told, 1);
        /* As near as the M-step needs them, if the other rows are like these. */
        const vem_i_constraints likely = {.prior = w->part->prior,
                                          .floor = w->part->floor * view->variance,
                                          .total_mass = view->total_mass,
                                          .relax = 1};
        if (e.skipped)
            status =
                vem_i_fail(ctx, VEM_STOPPED, "Stopped while statistics were collected.");
        if (status == VEM_OK)
            status =
                vem_i_steady(ctx, estep, &posterior, &likely, &scorer, &sums, &e.pairs);
        if (status == VEM_OK)
            status = add_chunk(ctx, w, view, inside, &scorer, &sums, &e);
    }
    vem_i_estep_free(estep);
    vem_i_stats_free(&sums);
    vem_i_posterior_free(&posterior);
    vem_i_scorer_free(&scorer);
    return status;
}

/* ---- options ---- */

static vem_status check_resolved(vem_ctx *ctx, const vem_options *o)
{
    if (o->coreset != VEM_AUTO)
        return vem_i_fail(ctx, VEM_BAD_OPTION,
                          "Statistics are taken of all rows, not of a coreset: leave out "
                          "--coreset, or accumulate the output of vem coreset.");
    if (o->standardize)
        return vem_i_fail(ctx, VEM_BAD_OPTION,
                          "--standardize divides columns by their deviation over all "
                          "rows, which a part does not know; the scale of the model, if "
                          "it has one, is used without it.");
    if (o->search != VEM_SEARCH_ALL && o->search != VEM_SEARCH_CLOSEST)
        return vem_i_fail(ctx, VEM_BAD_OPTION,
                          "--search %s begins with what rows held in the step before, "
                          "which statistics do not keep: use --search closest or all.",
                          vem_choice_name("search", o->search));
    if (o->margin > 0)
        return vem_i_fail(ctx, VEM_BAD_OPTION,
                          "--margin is %g, but it compares with what rows held in the "
                          "step before, which statistics do not keep: use --margin 0.",
                          o->margin);
    return VEM_OK;
}

static vem_status settle(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                         const vem_options *options, vem_options *resolved)
{
    vem_options asked = *options;
    if (model->d != data->d)
        return vem_i_fail(ctx, VEM_BAD_DATA,
                          "The model has %d columns, but the data have %d.", model->d,
                          data->d);
    if (options->clusters != VEM_AUTO && options->clusters != model->clusters)
        return vem_i_fail(ctx, VEM_BAD_OPTION,
                          "--clusters is %lld, but the model has %d clusters.",
                          (long long)options->clusters, model->clusters);
    asked.clusters = model->clusters;
    asked.normalize = asked.normalize || model->normalizes;
    if (asked.family == VEM_AUTO && asked.algorithm == VEM_AUTO)
        asked.family = (int)model->family;
    vem_status status =
        vem_options_resolve(ctx, &asked, data->n, data->d, data->type, resolved);
    if (status != VEM_OK)
        return status;
    if (asked.search == VEM_AUTO && asked.algorithm == VEM_AUTO)
        resolved->search =
            resolved->held == model->clusters ? VEM_SEARCH_ALL : VEM_SEARCH_CLOSEST;
    return check_resolved(ctx, resolved);
}

/* ---- the part ---- */

/* The model as the step uses it: of the family and prior asked for, in the units of the
 * data. */
static vem_status base_model(vem_ctx *ctx, const vem_model *model, const vem_options *o,
                             vem_model **base)
{
    vem_model *wide = NULL;
    double *zeros;
    const vem_i_names table = vem_i_model_table(model);
    vem_status status = vem_i_take_zeroed(ctx, &zeros, (size_t)model->d, sizeof *zeros);
    if (status != VEM_OK)
        return status;
    if (o->family != (int)model->family) {
        const vem_view view = {.d = model->d, .origin = zeros, .scale = model->scale};
        status =
            vem_i_model_to_view(ctx, model, &view, (vem_family_kind)o->family, &wide);
        if (status == VEM_OK)
            status = vem_i_model_to_data(ctx, &view, wide);
        model = wide;
    }
    vem_i_free(zeros);
    vem_model *made = NULL;
    if (status == VEM_OK)
        status =
            vem_model_new(ctx, model->family, model->clusters, model->d, model->means,
                          o->prior == VEM_PRIOR_FLAT ? NULL : model->weights,
                          model->variances, &made);
    if (status == VEM_OK && model->scale)
        status = vem_model_set_scale(ctx, made, model->scale);
    vem_model_free(wide);
    if (status == VEM_OK)
        status = vem_i_names_copy(ctx, &table, &made->table);
    if (status != VEM_OK) {
        vem_model_free(made);
        return status;
    }
    made->normalizes = o->normalize;
    *base = made;
    return VEM_OK;
}

static vem_status check_part(vem_ctx *ctx, const vem_stats *part)
{
    if (!(part->mass >= LEAST_MASS && part->mass <= MOST_MASS))
        return vem_i_fail(ctx, VEM_BAD_DATA,
                          "The weights sum to %g; statistics keep their digits between "
                          "%g and %g: rescale the weights.",
                          part->mass, LEAST_MASS, MOST_MASS);
    if (!vem_i_part_is_sound(part))
        return vem_i_fail(ctx, VEM_BAD_DATA,
                          "The sums of squares of the rows overflow: rescale the data.");
    return VEM_OK;
}

static vem_status accumulate(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                             const vem_options *o, vem_stats **stats)
{
    vem_model *base;
    vem_stats *part = NULL;
    vem_status status = base_model(ctx, model, o, &base);
    if (status == VEM_OK)
        status = vem_i_part_new(ctx, base, &part);
    if (status != VEM_OK)
        return status;
    part->prior = (vem_prior_kind)o->prior;
    part->search = (vem_search_kind)o->search;
    part->precision = (vem_precision)o->precision;
    part->held = (int32_t)o->held;
    part->floor = o->floor;
    work w = {.part = part, .search = vem_i_search_for(o, (uint64_t)o->seed)};
    status = vem_i_for_chunks(ctx, base, data, part->precision, step, &w);
    if (status == VEM_OK)
        status = check_part(ctx, part);
    if (status == VEM_OK)
        *stats = part;
    else
        vem_stats_free(part);
    return status;
}

vem_status vem_accumulate(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                          const vem_options *options, vem_stats **stats)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, model, "model");
    VEM_I_NEED(ctx, data, "data");
    VEM_I_NEED(ctx, options, "options");
    VEM_I_NEED(ctx, stats, "stats");
    vem_i_begin(ctx);
    vem_options resolved;
    vem_status status = settle(ctx, model, data, options, &resolved);
    const int threads_before = ctx->threads;
    if (status == VEM_OK && resolved.threads > 0)
        status = vem_ctx_set_threads(ctx, (int)resolved.threads);
    if (status == VEM_OK && resolved.memory != VEM_AUTO)
        ctx->limit = (uint64_t)resolved.memory;
    if (status == VEM_OK)
        status = accumulate(ctx, model, data, &resolved, stats);
    ctx->limit = ctx->memory;
    ctx->threads = threads_before;
    return status;
}
