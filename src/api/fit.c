/* The verb `fit`: resolve, load, run, measure, report. */
#include "api/fitting.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/together.h"
#include "fit/advice.h"
#include "fit/processes.h"
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
    vem_i_use use = {.only_seeds = f->only_seeds,
                     .by_columns = f->path != NULL,
                     .different = f->alike.repeats.rows.n > 0};
    if (status == VEM_OK) {
        vem_i_programme_use(&f->plan.programme, &use);
        status =
            vem_i_processes_cut(run, f->data, f->asked, &f->plan.programme, &f->rows);
    }
    if (status == VEM_OK &&
        f->rows.whole) { /* memory and time are those of this process */
        use.own = (vem_i_span){f->rows.first, f->rows.count, f->rows.halo};
        use.whole = f->rows.whole;
        vem_i_programme_use(&f->plan.programme, &use);
        if (f->data->weights) /* which it has of all rows */
            f->plan.beside += (uint64_t)(f->data->n - f->rows.count) * sizeof(double);
    }
    f->plan.clusters_by = f->clusters_by;
    f->plan.taken = f->alike.repeats.kept;
    f->plan.highest = f->alike.repeats.highest;
    /* Methods of select look at rows in ways of their own. */
    f->plan.widens |= f->method || f->path;
    if (status == VEM_OK)
        status = vem_i_plan_settle(&f->plan, f->data);
    if (status == VEM_OK)
        status = tell_forecast(f);
    if (status == VEM_OK && state_path(f))
        status = vem_i_checkpoint_open(&f->checkpoint, run, f->all, f->asked,
                                       &f->resolved, f->start);
    f->checkpoint.different = f->alike.repeats.rows.n;
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
    vem_i_alike_tell(&f->run, f->all, &f->resolved, &f->alike, f->report);
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
        status = vem_i_fitting_measure(f);
    if (status == VEM_OK)
        status =
            vem_i_model_know_columns(&f->run, f->data, f->points, f->start, f->model);
    if (status == VEM_OK)
        report_after(f);
    if (status == VEM_STOPPED && !f->run.watch->stop)
        status = vem_i_budget_fail(&f->run, &f->budget, f->resolved.clusters);
    return status;
}

/* A method of select looks at the rows as they are, and so does a fit that is part of a verb. */
static vem_status merge(fit *f)
{
    f->all = f->data;
    if (f->method || f->path || (f->inside && !f->only_seeds))
        return VEM_OK;
    const vem_status status =
        vem_i_alike_find(&f->run, f->data, f->asked, f->start, &f->alike);
    if (status == VEM_OK && f->alike.repeats.rows.n > 0)
        f->data = &f->alike.repeats.rows;
    return status;
}

vem_status vem_i_fitting_run(vem_i_fitting *f, vem_model **model, vem_report **report)
{
    f->clock = vem_i_clock();
    vem_status status = merge(f);
    if (status == VEM_OK)
        status = resolve(f);
    if (status == VEM_OK)
        status = run_all(f);
    if (status == VEM_OK)
        status = vem_i_comm_lost(&f->run);
    vem_i_checkpoint_close(&f->checkpoint);
    vem_i_cells_free(f->cells);
    vem_i_points_free(f->points);
    vem_i_repeats_free(&f->alike.repeats);
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
