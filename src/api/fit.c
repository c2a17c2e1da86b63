/* The verb `fit`: resolve, load, run, measure, report. */
#include <math.h>
#include <stdio.h>

#include "api/fit_repeats.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/plain.h"
#include "data/together.h"
#include "fit/advice.h"
#include "fit/processes.h"
#include "metrics/gap.h"
#include "metrics/measure.h"
#include "model/columns.h"
#include "model/units.h"

typedef vem_i_fitting fit;

/* ---- resolve ---- */

/* The file that takes its state; NULL: none does. */
static const char *state_path(const fit *f)
{
    return f->inside ? NULL : f->run.ctx->checkpoint.path;
}

static vem_status tell_forecast(fit *f)
{
    const vem_ctx *ctx = f->run.ctx;
    const int told = ctx->forecast && !f->inside;
    vem_forecast forecast;
    if (told)
        forecast = vem_i_plan_forecast(&f->plan, f->data, &f->budget);
    const vem_status status = vem_i_plan_made(&f->run);
    if (status == VEM_OK && told)
        ctx->forecast(ctx->forecast_user, &forecast);
    return status;
}

/* What will be done, what it takes, and whether the state of an earlier fit goes with it. */
static vem_status resolve(fit *f)
{
    vem_i_run *run = &f->run;
    vem_status status = vem_i_processes_meet(run, f->data, f->asked);
    if (status == VEM_OK)
        status = vem_i_processes_choose(run, f->data, f->start, &f->asked, &f->spread);
    if (status == VEM_OK)
        status = vem_i_plan_fit(run, f->data, f->asked, f->start, &f->resolved,
                                &f->budget, &f->plan);
    if (status == VEM_OK && f->method)
        f->plan.beside = f->method->bytes(run, &f->plan.programme, f->data->d) +
                         (f->select->holdout > 0 /* two weights for each row */
                              ? 2 * (uint64_t)f->data->n * sizeof(double)
                              : 0);
    if (f->only_seeds)
        vem_i_programme_only_seeds(&f->plan.programme);
    if (status == VEM_OK)
        status =
            vem_i_processes_cut(run, f->data, f->asked, &f->plan.programme, &f->rows);
    /* Memory and time are those of this process. */
    if (status == VEM_OK && run->comm && !f->plan.programme.reduced) {
        f->plan.programme.rows = f->plan.programme.items = f->rows.count;
        if (f->data->weights) /* which it has of all rows */
            f->plan.beside += (uint64_t)(f->data->n - f->rows.count) * sizeof(double);
    }
    f->plan.clusters_by = f->clusters_by;
    f->plan.taken = f->repeats.kept;
    f->plan.highest = f->repeats.highest;
    /* Methods of select look at rows in ways of their own. */
    f->plan.widens |= f->method || f->path;
    f->plan.programme.scale_free |= f->path != NULL;
    if (status == VEM_OK)
        status = vem_i_plan_settle(&f->plan, f->data);
    if (status == VEM_OK)
        status = tell_forecast(f);
    if (status == VEM_OK && state_path(f))
        status = vem_i_checkpoint_open(&f->checkpoint, run, f->all, f->asked,
                                       &f->resolved, f->start);
    f->checkpoint.different = f->repeats.rows.n;
    f->plan.programme.different = f->repeats.rows.n > 0;
    if (status == VEM_OK && f->resolved.threads > 0)
        run->threads = vem_i_threads_had((int)f->resolved.threads);
    return status;
}

/* ---- run ---- */

static vem_status run_method(fit *f, vem_i_selection *selection)
{
    const vem_view *view = &f->points->view;
    const vem_status status =
        f->data->weights && view->used > 1 /* one row is one cluster */
            ? vem_i_select_check_total(&f->run, view->total_mass * view->mass_unit, 1)
            : VEM_OK;
    return status == VEM_OK ? f->method->run(selection) : status;
}

static vem_status run_stages(fit *f)
{
    vem_i_restarts restarts = {.run = &f->run,
                               .programme = &f->plan.programme,
                               .view = f->cells
                                           ? vem_i_cells_view(f->cells, f->cells->kind)
                                           : &f->points->view,
                               .points = f->cells ? NULL : f->points,
                               .cells = f->cells,
                               .start = f->start,
                               .checkpoint = state_path(f) ? &f->checkpoint : NULL,
                               .path = f->path,
                               .report = f->report,
                               .inside = f->inside};
    vem_i_selection selection = {&restarts, f->asked, f->select};
    vem_status status =
        f->method ? run_method(f, &selection) : vem_i_restarts_run(&restarts);
    f->model = restarts.model;
    f->softened = restarts.softened;
    f->distinct = restarts.most;
    vem_i_budget_end_steps(&f->run, &f->budget);
    return status == VEM_OK && f->choose ? f->choose(f) : status;
}

/* ---- measure ---- */

/* Under a prior no floor is needed, and none tells of constant columns. */
static vem_status note_constant(fit *f)
{
    char names[320];
    int32_t count = 0;
    const vem_status status =
        vem_i_constant_columns(&f->run, f->data, names, sizeof names, &count);
    if (status == VEM_OK && count > 0 && f->data->n > 1)
        vem_i_report_note(f->report,
                          "column%s %s %s constant: %s variance there is what the prior "
                          "says, and adds to the evidence; --columns can leave %s out.",
                          count == 1 ? "" : "s", names, count == 1 ? "is" : "are",
                          count == 1 ? "its" : "their", count == 1 ? "it" : "them");
    return status;
}

static vem_status count_floored(fit *f)
{
    vem_summary *s = &f->report->summary;
    if (f->method && f->method->takes_prior && !f->softened)
        return note_constant(f);
    const vem_i_constraints limits =
        vem_i_constraints_of(&f->points->view, &f->resolved, f->model->family);
    vem_status status = vem_i_floor_count(&f->run, &limits, f->model, &s->floored);
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
                          level == 1 ? "its" : "their", f->resolved.floor,
                          level == 1 ? "it" : "them", level == 1 ? "it" : "them");
        return VEM_OK;
    }
    const double asked =
        f->resolved.floor * (limits.units ? 1 : f->points->view.variance);
    if (limits.floor > asked)
        snprintf(cause, sizeof cause, "The least number that %s precision divides by",
                 vem_choice_name("precision", (int)f->resolved.precision));
    else if (f->resolved.floor > f->asked->floor)
        vem_i_plain_print(cause, sizeof cause, "The least --floor in %s precision, %.2g,",
                          vem_choice_name("precision", (int)f->resolved.precision),
                          f->resolved.floor);
    else
        vem_i_plain_print(cause, sizeof cause, "--floor %g", f->resolved.floor);
    char where[160];
    vem_i_floored_place(f->data, f->model, &limits, where, sizeof where);
    vem_i_report_note(
        f->report,
        "%s keeps variances of %lld of %lld clusters from falling further%s: "
        "those hold too few or too similar rows for family %s. A larger --floor, "
        "fewer clusters%s would help.",
        cause, (long long)s->floored, (long long)f->model->clusters, where,
        vem_choice_name("family", (int)f->model->family->kind),
        *where ? ", or to leave that column out with --id," : "");
    return VEM_OK;
}

/* What the labels hold. */
typedef struct sizes {
    const fit *f;
    int64_t rows; /* that are labelled here */
} sizes;

/* Row after row, as one process adds them up: the sum of all weights, then those of the clusters. */
static void add_sizes(void *arg, void *state)
{
    const sizes *s = arg;
    const int32_t *labels = s->f->report->labels;
    const double *weights = s->f->data->weights;
    double *total = state, *masses = total + 1;
    if (weights && s->f->run.comm)
        weights += s->f->points->view.first;
    for (int64_t i = 0; i < s->rows; i++) {
        const double w = weights ? weights[i] : 1;
        if (labels[i] >= 0)
            masses[labels[i]] += w;
        *total += w;
    }
}

/* How even the clusters are, by the labels; NAN where there are none. */
static vem_status measure_sizes(fit *f)
{
    vem_summary *s = &f->report->summary;
    vem_i_comm *comm = f->run.comm;
    sizes own = {f, comm ? vem_i_view_own(&f->points->view) : f->data->n};
    const size_t values = (size_t)s->clusters + 1;
    double *sums = NULL, squares = 0;
    s->cv = s->largest = NAN;
    if (!f->report->labels)
        return VEM_OK;
    const vem_status status = vem_i_take_zeroed(&f->run, &sums, values, sizeof *sums);
    if (status != VEM_OK)
        return status;
    if (comm)
        vem_i_comm_turn(comm, sums, values * sizeof *sums, add_sizes, &own);
    else
        add_sizes(&own, sums);
    const double total = sums[0], *masses = sums + 1;
    s->largest = 0;
    for (int32_t c = 0; c < s->clusters; c++) {
        const double size = masses[c] * s->clusters / total;
        squares += (size - 1) * (size - 1);
        s->largest = fmax(s->largest, size);
    }
    s->cv = sqrt(squares / s->clusters);
    vem_i_fit_note_sizes(f, masses, total / s->clusters);
    vem_i_free(sums);
    return VEM_OK;
}

/* How far the bound on the cells is from the likelihood of the rows. */
static vem_status measure_gap(fit *f)
{
    vem_summary *s = &f->report->summary;
    vem_i_gap gap = {.mean = NAN, .se = NAN};
    vem_status status = VEM_OK;
    if (f->cells && s->steps > 0 && isfinite(s->log_likelihood))
        gap = (vem_i_gap){.mean = s->log_likelihood - s->free_energy};
    else if (f->cells && s->steps > 0)
        status = vem_i_gap_of(&f->run, f->cells, f->model, s->free_energy,
                              (uint64_t)f->resolved.seed, &gap);
    s->gap = gap.mean < 0 ? 0 : gap.mean; /* below 0 by rounding */
    s->gap_se = gap.se;
    return status == VEM_STOPPED ? VEM_OK : status;
}

/* The model in the units of the data, as it is given back. */
static vem_status finish_model(fit *f)
{
    vem_status status = vem_i_model_to_data(&f->run, &f->points->view, f->model);
    if (status != VEM_OK)
        return status;
    f->model->normalizes = vem_i_normalize_of(&f->resolved);
    if (f->model->normalizes == VEM_I_DIRECTIONS)
        status = vem_i_model_to_sphere(&f->run, f->model);
    if (status != VEM_OK)
        return status;
    vem_model_set_prior(f->model,
                        vem_i_programme_find(&f->plan.programme, VEM_I_STAGE_BALANCE)
                            ? VEM_PRIOR_EVEN
                            : (vem_prior_kind)f->resolved.prior);
    return vem_i_model_check_finite(&f->run, f->model);
}

/* Part of it in the units of the view, part in those of the data, in which the model ends. */
static vem_status measure(fit *f)
{
    const vem_view *view = &f->points->view;
    const int reduced = f->plan.programme.reduced;
    vem_summary *s = &f->report->summary;
    if (f->only_seeds) /* there is nothing yet to be measured */
        return finish_model(f);
    vem_status status =
        vem_i_measure_view(&f->run, view, f->model, &f->resolved, reduced, s);
    if (status == VEM_OK)
        status = measure_gap(f);
    if (status == VEM_OK)
        status = count_floored(f);
    if (status == VEM_OK)
        vem_i_fit_notes(f);
    if (status == VEM_OK)
        status = finish_model(f);
    if (status == VEM_OK && (reduced || f->cells)) {
        vem_i_free(
            f->report->labels); /* of the coreset's rows or of cells, not of the data's */
        f->report->labels = NULL;
    }
    if (status == VEM_OK)
        status = measure_sizes(f);
    if (status == VEM_OK)
        status = vem_i_measure_data(&f->run, f->data, f->model, &f->resolved, reduced, s);
    if (status == VEM_OK && f->path && f->method->by_energy && !f->softened)
        vem_i_path_know(s, f->path);
    return status;
}

/* ---- report ---- */

static vem_status report_before(fit *f)
{
    vem_options told = *f->asked; /* what --time chose is not explained as a default */
    if (f->budget.coreset)
        told.coreset = f->budget.coreset;
    if (f->budget.held ||
        (f->method && f->method->held)) /* soft steps come last, if any */
        told.held = f->resolved.held;
    vem_i_report_choices(f->report, &told, &f->plan.programme,
                         f->method ? &f->method->told : NULL);
    if (f->celled)
        vem_i_report_cells(f->report, &f->plan.programme);
    if (!f->budget.coreset)
        vem_i_report_coreset(f->report, f->asked);
    vem_i_report_spill(f->report, &f->plan);
    vem_i_processes_note(&f->run, f->data, &f->spread, f->report);
    return vem_i_advise_units(&f->run, f->data, &f->points->view, &f->resolved,
                              f->report);
}

static void report_after(fit *f)
{
    vem_summary *s = &f->report->summary;
    vem_i_fit_unmerge(f);
    if (f->run.watch->stop)
        s->outcome = VEM_OUTCOME_STOPPED;
    vem_i_budget_say(f->report, &f->budget);
    s->seconds_total = vem_i_clock() - (state_path(f) ? f->checkpoint.began : f->clock);
    s->peak_bytes = vem_i_peak_bytes();
    f->report->options.threads = f->run.threads;
    if (f->run.comm) {
        f->report->apart = 1;
        f->report->first = f->points->view.first;
        f->report->count = vem_i_view_own(&f->points->view);
    }
    vem_i_say_plainly(f->run.ctx, f->report->choices);
    vem_i_say_plainly(f->run.ctx, f->report->notes);
    vem_i_say_plainly(f->run.ctx, f->report->stopping);
}

static vem_status run_all(fit *f)
{
    f->run.limit = f->plan.limit;
    vem_i_budget_begin(&f->run, &f->budget);
    f->report = vem_i_calloc(1, sizeof *f->report);
    vem_status status =
        f->report ? vem_i_fitting_load(f) : vem_i_fail_memory(&f->run, sizeof *f->report);
    if (status == VEM_OK)
        status = report_before(f);
    if (status == VEM_OK)
        status = vem_i_fitting_divide(f);
    if (status == VEM_OK)
        status = run_stages(f);
    if (status == VEM_OK)
        status = measure(f);
    if (status == VEM_OK)
        status =
            vem_i_model_know_columns(&f->run, f->data, f->points, f->start, f->model);
    if (status == VEM_OK)
        report_after(f);
    if (status == VEM_STOPPED && !f->run.watch->stop)
        status = vem_i_budget_fail(&f->run, &f->budget, f->resolved.clusters);
    return status;
}

vem_status vem_i_fitting_run(vem_i_fitting *f, vem_model **model, vem_report **report)
{
    f->clock = vem_i_clock();
    vem_status status = vem_i_fit_merge(f);
    if (status == VEM_OK)
        status = resolve(f);
    if (status == VEM_OK)
        status = run_all(f);
    if (status == VEM_OK)
        status = vem_i_comm_lost(&f->run);
    vem_i_checkpoint_close(&f->checkpoint);
    vem_i_cells_free(f->cells);
    vem_i_points_free(f->points);
    vem_i_repeats_free(&f->repeats);
    if (status == VEM_OK && model) {
        *model = f->model;
        f->model = NULL;
    }
    if (status == VEM_OK && report) {
        *report = f->report;
        f->report = NULL;
    }
    vem_model_free(f->model);
    vem_report_free(f->report);
    return status;
}

vem_status vem_fit(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                   const vem_model *start, vem_model **model, vem_report **report)
{
    VEM_I_NEED(ctx, ctx, data, options);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_options asked;
    const vem_status status = vem_i_options_in(run, options, &asked);
    if (status != VEM_OK)
        return status;
    vem_i_comm_join(run);
    fit f = {.run = *run, .data = data, .asked = &asked, .start = start};
    return vem_i_fitting_run(&f, model, report);
}
