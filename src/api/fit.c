/* The verb `fit`: data -> view -> seed -> loop -> model in the units of the data. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/advice.h"
#include "api/columns.h"
#include "api/course.h"
#include "api/effort.h"
#include "api/keeper.h"
#include "api/measure.h"
#include "api/plan.h"
#include "api/reduce.h"
#include "api/report.h"
#include "api/units.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/rng.h"
#include "data/points.h"
#include "em/em.h"
#include "moves/moves.h"
#include "seed/seed.h"

typedef struct fit {
    vem_ctx *ctx;
    const vem_options *asked, *options; /* as given; resolved */
    const vem_data *data;
    const vem_view *view;
    vem_i_points *points;
    int reduced;            /* the view is a coreset */
    const vem_model *start; /* in the units of the data, or NULL */
    const vem_i_effort *effort;
    vem_i_keeper *keeper; /* of the state, or NULL */
    /* The best restart so far. */
    vem_model *model;
    vem_report *report;
    int missed; /* by the sample of its starts (course.h) */
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

/* The course's result becomes the fit's. */
static void adopt(fit *f, vem_i_course *course, int64_t restart)
{
    vem_report *report = f->report;
    vem_summary *s = &report->summary;
    s->outcome = course->outcome;
    s->clusters = course->model->clusters;
    if (s->options.held > s->clusters)
        s->options.held = s->clusters; /* some were dropped */
    s->steps = course->steps;
    s->init_steps = f->options->init_steps;
    s->free_energy = course->free_energy;
    s->free_energy_first = course->free_energy_first;
    s->restart = restart;
    f->missed = (int)course->missed;
    free(report->trace);
    vem_i_free(report->labels);
    vem_model_free(f->model);
    report->trace = course->trace;
    report->trace_count = course->trace_count;
    report->labels = NULL;
    if (course->steps > 0) {
        report->labels = course->labels;
        course->labels = NULL;
    }
    f->model = course->model;
    course->trace = NULL;
    course->model = NULL;
}

static vem_status run_once(fit *f, int64_t restart)
{
    vem_summary *s = &f->report->summary;
    const vem_options *o = f->options;
    int ours = f->asked->algorithm == VEM_AUTO;
    vem_i_course course = {.ctx = f->ctx,
                           .options = o,
                           .view = f->view,
                           .points = f->points,
                           .start = f->start,
                           .ours = ours,
                           .reduced = f->reduced,
                           .seed = (uint64_t)o->seed,
                           .keeper = f->keeper};
    if (f->keeper && !vem_i_keeper_resumes(f->keeper)) {
        f->keeper->restart = restart;
        f->keeper->fresh = 1;
    }
    if (restart > 1) {
        vem_i_rng rng = vem_i_rng_at(course.seed, VEM_RNG_RESTART, 0, (uint64_t)restart);
        course.seed = (uint64_t)vem_i_rng_bits(&rng) << 32 | vem_i_rng_bits(&rng);
    }
    vem_status status = vem_i_course_run(&course);
    s->seed_pairs += course.seed_pairs;
    s->scored_pairs += course.pairs;
    s->seconds_seed += course.seconds_seed;
    s->seconds_em += course.seconds_em;
    if (status == VEM_OK && (!f->model || course.free_energy > s->free_energy))
        adopt(f, &course, restart);
    vem_i_course_free(&course);
    return status;
}

/* Courses from different seeds. Another one only where there is time for one as long as
 * the last. */
static vem_status run_all(fit *f)
{
    vem_ctx *ctx = f->ctx;
    const int64_t restarts = f->start ? 1 : f->options->restarts;
    vem_status status = VEM_OK;
    int64_t first = 1;
    int late = 0;
    if (f->keeper) {
        status = vem_i_keeper_begin(f->keeper, f->view, &f->model, f->report);
        first = f->keeper->restart;
    }
    for (int64_t r = first; r <= restarts && status == VEM_OK; r++) {
        const double began = vem_i_clock();
        if (r > first && (late || ctx->stop_requested))
            break;
        ctx->restart = r;
        ctx->restarts = restarts;
        status = run_once(f, r);
        if (status == VEM_STOPPED && f->model)
            status = VEM_OK;
        const double now = vem_i_clock();
        late = r < restarts && ctx->deadline > 0 && 2 * now - began > ctx->deadline;
    }
    if (late && status == VEM_OK)
        f->report->summary.outcome = VEM_OUTCOME_BUDGET;
    return status;
}

static vem_status count_floored(const fit *f)
{
    vem_summary *s = &f->report->summary;
    const vem_i_constraints limits =
        vem_i_constraints_of(f->view, f->options, f->model->family);
    vem_status status = vem_i_floor_count(f->ctx, &limits, f->model, &s->floored);
    if (status != VEM_OK || s->floored == 0)
        return status;
    char cause[80], names[320];
    const int32_t level =
        vem_i_level_columns(f->data, f->model, &limits, names, sizeof names);
    /* All of them: not the columns but the clusters are too small. */
    if (level > 0 && level < f->model->d) {
        vem_i_report_note(f->report,
                          "column%s %s %s constant, or nearly so, in every cluster: "
                          "%s variance there is what --floor %g leaves %s, and adds to "
                          "the free energy; --columns can leave %s out.",
                          level == 1 ? "" : "s", names, level == 1 ? "is" : "are",
                          level == 1 ? "its" : "their", f->options->floor,
                          level == 1 ? "it" : "them", level == 1 ? "it" : "them");
        return VEM_OK;
    }
    const double asked = f->options->floor * (limits.units ? 1 : f->view->variance);
    if (limits.floor > asked)
        snprintf(cause, sizeof cause, "The least number that %s precision divides by",
                 vem_choice_name("precision", (int)f->options->precision));
    else
        snprintf(cause, sizeof cause, "--floor %g", f->options->floor);
    vem_i_report_note(f->report,
                      "%s keeps variances of %lld of %lld clusters from falling further: "
                      "those hold too few or too similar rows for family %s.",
                      cause, (long long)s->floored, (long long)f->model->clusters,
                      vem_choice_name("family", (int)f->model->family));
    return VEM_OK;
}

/* What was planned and turned out otherwise. */
static void say_starts(const fit *f)
{
    if (f->ctx->stop_requested && f->keeper && f->keeper->in_starts)
        vem_i_report_note(f->report,
                          "it was stopped during the starts on a sample, of which no "
                          "state is kept: --resume begins again.");
    if (f->missed == VEM_I_MISSED_SOME)
        vem_i_report_say(f->report,
                         "a round of swaps over all rows followed, because far rows "
                         "took many of the sample's places.");
    else if (f->missed)
        vem_i_report_say(f->report,
                         "the starts were given up, because the sample had %s; the fit "
                         "began again with all rows, and with swaps.",
                         f->missed == VEM_I_MISSED_ROWS
                             ? "missed rows that count, far ones or small groups"
                             : "fewer distinct rows than there are clusters");
}

static vem_status run(fit *f)
{
    vem_status status = check_rows(f->ctx, f->view, f->options->clusters, f->reduced);
    if (status != VEM_OK)
        return status;
    status = run_all(f);
    vem_i_effort_end_steps(f->ctx, f->effort);
    if (status == VEM_OK)
        status = vem_i_measure_view(f->ctx, f->view, f->model, f->reduced,
                                    &f->report->summary);
    if (status == VEM_OK)
        status = count_floored(f);
    if (status == VEM_OK)
        say_starts(f);
    if (status == VEM_OK && f->ctx->stop_requested)
        f->report->summary.outcome = VEM_OUTCOME_STOPPED;
    if (status == VEM_OK)
        status = vem_i_model_to_data(f->ctx, f->view, f->model);
    if (status == VEM_OK) {
        vem_model_set_normalizes(f->model, f->options->normalize);
        vem_model_set_prior(f->model, (vem_prior_kind)f->options->prior);
    }
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

vem_status vem_i_fit_resolve(vem_ctx *ctx, const vem_data *data,
                             const vem_options *options, const vem_model *start,
                             vem_options *resolved)
{
    vem_options asked = *options;
    if (start) {
        vem_status status = check_start(ctx, data, options, start);
        if (status != VEM_OK)
            return status;
        asked.clusters = start->clusters;
        asked.normalize = asked.normalize || start->normalizes;
        if (asked.swaps == VEM_AUTO)
            asked.swaps = 0; /* a given start is a place to stay near */
        if (asked.family == VEM_AUTO && asked.algorithm == VEM_AUTO)
            asked.family = (int)start->family;
    }
    vem_status status =
        vem_options_resolve(ctx, &asked, data->n, data->d, data->type, resolved);
    if (status == VEM_OK && start && resolved->swaps > 0 &&
        vem_i_wants_hard_start(resolved, 0))
        return vem_i_fail(
            ctx, VEM_BAD_OPTION,
            "--swaps is %lld, but with --init it needs another search than all, and with "
            "--search closest at most %d held clusters, fewer than there are.",
            (long long)resolved->swaps, (int)VEM_I_LISTED_MAX);
    if (status == VEM_OK && data->n < resolved->clusters)
        return vem_i_fail(ctx, VEM_BAD_DATA,
                          "There are fewer rows than clusters: %lld rows, %lld clusters.",
                          (long long)data->n, (long long)resolved->clusters);
    return status;
}

vem_status vem_fit(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                   const vem_model *start, vem_model **model, vem_report **report)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, data, "data");
    VEM_I_NEED(ctx, options, "options");
    vem_i_begin(ctx);
    double clock = vem_i_clock();
    vem_i_reduction reduction = {0};
    vem_options resolved, told = *options;
    vem_i_effort effort = {0};
    vem_status status = vem_i_fit_resolve(ctx, data, options, start, &resolved);
    vem_i_plan plan = {0};
    if (status == VEM_OK)
        status = vem_i_effort_measure(ctx, data, options, start, &resolved, &effort);
    if (status == VEM_OK) {
        plan = vem_i_plan_of(ctx, data, options, &resolved, start != NULL);
        status = vem_i_plan_settle(&plan, data);
    }
    vem_i_keeper keeper = {0};
    if (status == VEM_OK && ctx->checkpoint.path)
        status = vem_i_keeper_open(&keeper, ctx, data, options, &resolved, start);
    int threads_before = ctx->threads;
    if (status == VEM_OK && resolved.threads > 0)
        status = vem_ctx_set_threads(ctx, (int)resolved.threads);
    if (status != VEM_OK) {
        vem_i_keeper_close(&keeper);
        return status;
    }
    ctx->limit = plan.limit;
    vem_i_effort_begin(ctx, &effort);
    if (effort.coreset)
        told.coreset = effort.coreset;
    if (effort.held)
        told.held = resolved.held;
    vem_i_points *points = NULL;
    vem_report *made = vem_i_calloc(1, sizeof *made);
    status = made ? VEM_OK : vem_i_fail_memory(ctx, sizeof *made);
    /* Columns of a model with a variance for each are divided by their deviation, so that
     * nothing depends on their units; that of other models is theirs to keep. */
    const double *scale = start && !resolved.standardize ? start->scale : NULL;
    const int whiten = !scale && !resolved.standardize &&
                       (resolved.family == VEM_DIAG || resolved.family == VEM_FULL);
    if (status == VEM_OK)
        status = vem_i_reduce(ctx, data, &resolved, whiten, scale, &reduction);
    vem_i_points_request request = {.precision = (vem_precision)resolved.precision,
                                    .normalize = resolved.normalize,
                                    .standardize = resolved.standardize,
                                    .whiten = whiten,
                                    .shaped = resolved.family == VEM_DIAG ||
                                              resolved.family == VEM_FULL,
                                    .even = !whiten && !resolved.standardize && !scale,
                                    .scale = scale ? scale : reduction.scale,
                                    .floor_share = resolved.floor,
                                    .spill = plan.spill,
                                    .phase = "read"};
    if (status == VEM_OK)
        status = vem_i_points_new(ctx, reduction.rows, &request, &points);
    fit f = {.ctx = ctx,
             .reduced = reduction.coreset != NULL,
             .asked = options,
             .options = &resolved,
             .data = data,
             .start = start,
             .effort = &effort,
             .keeper = ctx->checkpoint.path ? &keeper : NULL,
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
        vem_i_reduction_free(&reduction);
        s->seconds_reduce = vem_i_clock() - clock;
        vem_i_data_rest(data); /* the view has its own copy */
        f.view = &points->view;
        f.points = points;
        vem_i_report_choices(made, &told, start != NULL);
        vem_i_report_spill(made, &plan);
        vem_i_effort_say(made, &effort);
        status = vem_i_advise_units(ctx, data, &points->view, &resolved, made);
        if (status == VEM_OK)
            status = run(&f);
        if (status == VEM_OK)
            status = vem_i_model_check_finite(ctx, f.model);
        if (status == VEM_OK && f.reduced) {
            vem_i_free(made->labels); /* of the coreset's rows, not of the data's */
            made->labels = NULL;
        }
        if (status == VEM_OK)
            status = vem_i_measure_data(ctx, data, f.model, f.reduced, s);
        if (status == VEM_OK)
            status = vem_i_model_know_columns(ctx, data, points, start, f.model);
        if (ctx->stop_requested)
            s->outcome = VEM_OUTCOME_STOPPED;
        vem_i_effort_say_end(made, &effort);
        s->seconds_total = vem_i_clock() - (f.keeper ? keeper.began : clock);
        s->peak_bytes = vem_i_peak_bytes();
        s->options.threads = ctx->threads;
    }
    vem_i_keeper_close(&keeper);
    vem_i_points_free(points);
    vem_i_reduction_free(&reduction);
    ctx->threads = threads_before;
    ctx->limit = ctx->memory;
    ctx->deadline = 0;
    if (status == VEM_STOPPED && !ctx->stop_requested)
        status = vem_i_effort_fail(ctx, &effort, resolved.clusters);
    if (status != VEM_OK) {
        vem_model_free(f.model);
        vem_report_free(made);
        return status;
    }
    if (model)
        *model = f.model;
    else
        vem_model_free(f.model);
    if (report)
        *report = made;
    else
        vem_report_free(made);
    return VEM_OK;
}
