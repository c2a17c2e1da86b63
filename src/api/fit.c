/* The verb `fit`: data -> view -> seed -> loop -> model in the units of the data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/reduce.h"
#include "api/report.h"
#include "api/units.h"
#include "base/blas.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/rng.h"
#include "data/points.h"
#include "em/em.h"
#include "metrics/metrics.h"
#include "moves/moves.h"
#include "seed/seed.h"

/* M-steps with one variance and flat weights before a richer family is set free; bad
 * first sets would otherwise leave some clusters with tiny variances (METHODS 3). */
enum { SHARED_STEPS = 2 };

typedef struct fit {
    vem_ctx *ctx;
    const vem_options *asked, *options; /* as given; resolved */
    const vem_view *view;
    int reduced;            /* the view is a coreset */
    const vem_model *start; /* in the units of the data, or NULL */
    double floor;
    /* The best restart so far. */
    vem_model *model;
    vem_report *report;
} fit;

static vem_status check_rows(vem_ctx *ctx, const vem_view *view, int64_t clusters,
                             int reduced)
{
    if (view->used < clusters)
        return vem_i_fail(
            ctx, VEM_BAD_DATA,
            "There are fewer rows%s than clusters: %lld rows, %lld clusters.",
            view->mass ? " of positive weight" : "", (long long)view->used,
            (long long)clusters);
    int64_t distinct;
    vem_status status = vem_i_count_distinct(ctx, view, clusters, &distinct);
    if (status == VEM_OK && distinct < clusters)
        return vem_i_fail(
            ctx, VEM_BAD_DATA,
            "There are fewer distinct rows%s than clusters: %lld distinct rows, %lld "
            "clusters.",
            reduced ? " in the coreset" : "", (long long)distinct, (long long)clusters);
    return status;
}

static double floor_of(const vem_options *options, const vem_view *view)
{
    return fmax(options->floor * view->variance,
                vem_i_safe_variance((vem_precision)options->precision));
}

/* A first model from rows of the data. */
static vem_status seed_model(fit *f, uint64_t seed, vem_i_em *em, int64_t *seed_pairs)
{
    const vem_options *o = f->options;
    const vem_view *view = f->view;
    vem_i_seeds seeds = {0};
    vem_model *model = NULL;
    int32_t clusters = (int32_t)o->clusters;
    vem_status status =
        vem_i_take(f->ctx, &seeds.items, (size_t)clusters, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_seed(f->ctx, view, (vem_seeding)o->seeding, clusters, o->chain,
                            seed, &seeds);
    if (status == VEM_OK)
        status = vem_i_model_blank(f->ctx, (vem_family_kind)o->family, clusters, view->d,
                                   &model);
    if (status == VEM_OK) {
        for (int64_t c = 0; c < clusters; c++)
            for (int64_t j = 0; j < view->d; j++)
                model->means[c * view->d + j] =
                    vem_i_value(view->kernels, vem_i_view_row(view, seeds.items[c]), j);
        *seed_pairs += seeds.pairs;
        /* Where the seeding does not know the variance, any guess will do for the first
         * step. */
        em->variance_unknown = isnan(seeds.variance);
        double variance = em->variance_unknown ? view->variance : seeds.variance;
        vem_i_model_set_variance(model, fmax(variance, f->floor));
        em->shared_steps = o->family == VEM_ISO_SHARED ? 0 : SHARED_STEPS;
    }
    vem_i_free(seeds.items);
    if (status != VEM_OK) {
        vem_model_free(model);
        return status;
    }
    em->model = model;
    return VEM_OK;
}

static vem_status start_model(fit *f, vem_i_em *em)
{
    const vem_options *o = f->options;
    vem_status status = vem_i_model_to_view(f->ctx, f->start, f->view,
                                            (vem_family_kind)o->family, &em->model);
    if (status == VEM_OK)
        status = vem_i_model_clamp(f->ctx, f->floor, em->model);
    if (status == VEM_OK && o->prior == VEM_PRIOR_FLAT)
        for (int32_t c = 0; c < em->model->clusters; c++)
            em->model->weights[c] = 1.0 / em->model->clusters;
    return status;
}

/* The loop's result becomes the fit's. */
static void adopt(fit *f, vem_i_em *em, int64_t restart)
{
    vem_report *report = f->report;
    vem_summary *s = &report->summary;
    s->outcome = em->outcome;
    s->clusters = em->model->clusters;
    if (s->options.held > s->clusters)
        s->options.held = s->clusters; /* some were dropped */
    s->steps = em->steps;
    s->init_steps = f->options->init_steps;
    s->free_energy = em->free_energy;
    s->free_energy_first = em->free_energy_first;
    s->restart = restart;
    for (int64_t i = 0; i < f->view->n; i++)
        report->labels[i] = em->posterior.held[i * em->posterior.width];
    free(report->trace);
    report->trace = em->trace;
    report->trace_count = em->trace_count;
    em->trace = NULL;
    vem_model_free(f->model);
    f->model = em->model;
    em->model = NULL;
}

static vem_status run_once(fit *f, int64_t restart)
{
    vem_summary *s = &f->report->summary;
    const vem_options *o = f->options;
    uint64_t seed = (uint64_t)o->seed;
    if (restart > 1) {
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_RESTART, 0, (uint64_t)restart);
        seed = (uint64_t)vem_i_rng_bits(&rng) << 32 | vem_i_rng_bits(&rng);
    }
    vem_i_em em = {.ctx = f->ctx,
                   .options = o,
                   .view = f->view,
                   .search = vem_i_search_for(o, seed),
                   .scale_free =
                       f->asked->algorithm == VEM_AUTO && f->asked->tolerance == VEM_AUTO,
                   .policy = vem_i_empty_policy((vem_empty_policy)o->empty)};
    em.constraints = (vem_i_constraints){.prior = (vem_prior_kind)o->prior,
                                         .floor = f->floor,
                                         .total_mass = f->view->total_mass};
    double clock = vem_i_clock();
    vem_status status =
        f->start ? start_model(f, &em) : seed_model(f, seed, &em, &s->seed_pairs);
    s->seconds_seed += vem_i_clock() - clock;
    clock = vem_i_clock();
    if (status == VEM_OK)
        status = vem_i_em_new(&em);
    if (status == VEM_OK) {
        status = vem_i_em_run(&em);
        s->seconds_em += vem_i_clock() - clock;
        s->scored_pairs += em.pairs;
        if (status == VEM_OK && (!f->model || em.free_energy > s->free_energy))
            adopt(f, &em, restart);
        vem_i_em_free(&em);
    }
    vem_model_free(em.model);
    return status;
}

static vem_status measure(fit *f)
{
    vem_summary *s = &f->report->summary;
    s->quantization_error = s->log_likelihood = NAN;
    if (f->reduced || !f->options->measure || f->ctx->stop_requested)
        return VEM_OK;
    double clock = vem_i_clock();
    vem_i_measures measures;
    vem_status status =
        vem_i_measure(f->ctx, f->view, f->model, f->model->clusters, &measures);
    if (status == VEM_OK) {
        s->quantization_error = measures.quantization_error;
        s->log_likelihood =
            measures.log_likelihood / (f->view->total_mass * f->view->mass_unit);
    } else if (status == VEM_STOPPED) {
        status = VEM_OK; /* the model is there; only its measures are missing */
    }
    s->seconds_measure = vem_i_clock() - clock;
    return status;
}

static vem_status run(fit *f)
{
    vem_status status = check_rows(f->ctx, f->view, f->options->clusters, f->reduced);
    if (status != VEM_OK)
        return status;
    f->floor = floor_of(f->options, f->view);
    int64_t restarts = f->start ? 1 : f->options->restarts;
    for (int64_t r = 1; r <= restarts && status == VEM_OK; r++)
        if (r == 1 || !f->ctx->stop_requested)
            status = run_once(f, r);
    if (status == VEM_OK)
        status = measure(f);
    if (status == VEM_OK && f->ctx->stop_requested)
        f->report->summary.outcome = VEM_OUTCOME_STOPPED;
    if (status == VEM_OK)
        status = vem_i_model_to_data(f->ctx, f->view, f->model);
    if (status == VEM_OK)
        vem_model_set_normalizes(f->model, f->options->normalize);
    return status;
}

static vem_status check_start(vem_ctx *ctx, const vem_data *data,
                              const vem_options *options, const vem_model *start)
{
    if (start->d != data->d)
        return vem_i_fail(ctx, VEM_BAD_DATA,
                          "The model to start from has %d columns, but the data have %d.",
                          start->d, data->d);
    if (options->clusters != VEM_AUTO && options->clusters != start->clusters)
        return vem_i_fail(
            ctx, VEM_BAD_OPTION,
            "--clusters is %lld, but the model to start from has %d clusters.",
            (long long)options->clusters, start->clusters);
    return VEM_OK;
}

static vem_status resolve(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                          const vem_model *start, vem_options *resolved)
{
    vem_options asked = *options;
    if (start) {
        vem_status status = check_start(ctx, data, options, start);
        if (status != VEM_OK)
            return status;
        asked.clusters = start->clusters;
        asked.normalize = asked.normalize || start->normalizes;
        if (asked.family == VEM_AUTO && asked.algorithm == VEM_AUTO)
            asked.family = (int)start->family;
    }
    vem_status status =
        vem_options_resolve(ctx, &asked, data->n, data->d, data->type, resolved);
    if (status == VEM_OK && data->n < resolved->clusters)
        return vem_i_fail(ctx, VEM_BAD_DATA,
                          "There are fewer rows than clusters: %lld rows, %lld clusters.",
                          (long long)data->n, (long long)resolved->clusters);
    return status;
}

vem_status vem_fit(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                   const vem_model *start, vem_model **model, vem_report **report)
{
    vem_i_begin(ctx);
    if (!data || !options)
        return vem_i_fail(ctx, VEM_BAD_OPTION,
                          "A fit needs data and options; one is NULL.");
    double clock = vem_i_clock();
    vem_i_reduction reduction = {0};
    vem_options resolved;
    vem_status status = resolve(ctx, data, options, start, &resolved);
    int threads_before = ctx->threads;
    if (status == VEM_OK && resolved.threads > 0)
        status = vem_ctx_set_threads(ctx, (int)resolved.threads);
    if (status != VEM_OK)
        return status;
    vem_i_blas_state blas = vem_i_blas_single(resolved.family == VEM_FULL);
    vem_i_points *points = NULL;
    vem_report *made = vem_i_calloc(1, sizeof *made);
    status = made ? VEM_OK : vem_i_fail_memory(ctx, sizeof *made);
    if (status == VEM_OK)
        status =
            vem_i_reduce(ctx, data, &resolved, start ? start->scale : NULL, &reduction);
    if (status == VEM_OK)
        status =
            vem_i_take(ctx, &made->labels, (size_t)reduction.rows->n, sizeof(int32_t));
    vem_i_points_request request = {.precision = (vem_precision)resolved.precision,
                                    .normalize = resolved.normalize,
                                    .standardize = resolved.standardize,
                                    .scale = start && !resolved.standardize
                                                 ? start->scale
                                                 : reduction.scale,
                                    .floor_share = resolved.floor,
                                    .phase = "read"};
    if (status == VEM_OK)
        status = vem_i_points_new(ctx, reduction.rows, &request, &points);
    fit f = {.ctx = ctx,
             .reduced = reduction.coreset != NULL,
             .asked = options,
             .options = &resolved,
             .start = start,
             .report = made};
    if (status == VEM_OK) {
        vem_summary *s = &made->summary;
        s->size = sizeof *s;
        s->options = resolved;
        s->n = data->n;
        s->d = data->d;
        s->items = points->view.n;
        s->rows_used = (double)points->view.used;
        s->reduce_pairs = reduction.pairs;
        vem_i_reduction_free(&reduction); /* the view has its own copy */
        s->seconds_reduce = vem_i_clock() - clock;
        f.view = &points->view;
        vem_i_report_choices(made, options, start != NULL);
        status = run(&f);
        if (status == VEM_OK && f.reduced) {
            vem_i_free(made->labels); /* of the coreset's rows, not of the data's */
            made->labels = NULL;
            status = vem_i_reduce_measure(ctx, data, f.model, &resolved, s);
            if (ctx->stop_requested)
                s->outcome = VEM_OUTCOME_STOPPED;
        }
        s->seconds_total = vem_i_clock() - clock;
        s->peak_bytes = vem_i_peak_bytes();
        s->options.threads = ctx->threads;
    }
    vem_i_points_free(points);
    vem_i_reduction_free(&reduction);
    vem_i_blas_restore(blas);
    ctx->threads = threads_before;
    if (status != VEM_OK) {
        vem_model_free(f.model);
        vem_report_free(made);
        return status;
    }
    *model = f.model;
    *report = made;
    return VEM_OK;
}

vem_status vem_plan(vem_ctx *ctx, const vem_options *options, int64_t n, int32_t d,
                    vem_dtype type, uint64_t *bytes)
{
    vem_options o;
    vem_status status = vem_options_resolve(ctx, options, n, d, type, &o);
    if (status != VEM_OK)
        return status;
    const vem_i_kernels *kernels =
        o.precision == VEM_SINGLE ? ctx->kernels_single : ctx->kernels_double;
    int32_t clusters = (int32_t)o.clusters;
    uint64_t reduce = vem_i_reduce_bytes(ctx, &o, n, d, type);
    n = reduce > 0 ? o.coreset : n;
    vem_i_search search = vem_i_search_for(&o, 0);
    uint64_t model = ((uint64_t)clusters * (uint64_t)(d + 1) +
                      vem_i_variance_count((vem_family_kind)o.family, clusters, d)) *
                     sizeof(double);
    /* Seeding gives back what it took before the loop begins. */
    int threads_before = ctx->threads;
    if (o.threads > 0)
        ctx->threads = (int)o.threads;
    uint64_t seed =
        vem_i_seed_bytes(ctx, (vem_seeding)o.seeding, kernels, n, d, clusters, o.chain);
    uint64_t loop = vem_i_em_bytes(ctx, &o, &search, kernels, n, d);
    ctx->threads = threads_before;
    uint64_t most = 2 * model + (loop > seed ? loop : seed);
    *bytes = vem_i_points_bytes(n, d, (vem_precision)o.precision) +
             (uint64_t)n * sizeof(int32_t) + (most > reduce ? most : reduce);
    return VEM_OK;
}
