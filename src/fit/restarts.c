#include "fit/restarts.h"

#include "base/rng.h"
#include "fit/starts.h"

vem_status vem_i_check_rows(vem_i_restarts *f, int64_t clusters, int64_t most)
{
    vem_i_run *run = f->run;
    const vem_view *view = f->cells ? f->cells->rows : f->view;
    if (view->used < clusters)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "There are fewer rows%s than clusters: %lld rows, %lld clusters.",
            view->mass ? " of positive weight" : "", (long long)view->used,
            (long long)clusters);
    vem_status status = vem_i_count_distinct(run, view, most, &f->most);
    if (status == VEM_OK && f->most < clusters)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "There are fewer distinct rows%s than clusters: %lld distinct row%s, %lld "
            "clusters.",
            f->programme->reduced ? " in the coreset" : "", (long long)f->most,
            f->most == 1 ? "" : "s", (long long)clusters);
    return status;
}

/* A seeding chooses among the first cells. */
static vem_status check_cells(const vem_i_restarts *f)
{
    const vem_options *o = &f->programme->options;
    if (!f->cells || f->start || f->programme->grows || f->view->n >= o->clusters)
        return VEM_OK;
    return vem_i_fail(
        f->run, VEM_BAD_OPTION,
        "--depth %lld gives %lld first cells, too few to begin %lld clusters "
        "with: a larger --depth, or a model to start from (--init), would do.",
        (long long)o->depth, (long long)f->view->n, (long long)o->clusters);
}

/* What the attempt found becomes the result. */
static void adopt(vem_i_restarts *f, vem_i_attempt *attempt, int64_t restart)
{
    vem_report *report = f->report;
    vem_summary *s = &report->summary;
    s->outcome = attempt->outcome;
    s->clusters = attempt->model->clusters;
    if (report->options.held > s->clusters)
        report->options.held = s->clusters; /* some were dropped */
    s->steps = attempt->steps;
    if (f->cells)
        s->items = s->cells = f->cells->cut.count;
    s->init_steps = f->programme->options.init_steps;
    s->free_energy = attempt->free_energy;
    s->free_energy_first = attempt->free_energy_first;
    s->restart = restart;
    report->missed = (int)attempt->missed;
    report->axes = attempt->axes;
    vem_i_trace_free(&report->trace);
    vem_i_free(report->labels);
    vem_model_free(f->model);
    report->trace = attempt->trace;
    report->labels = NULL;
    if (attempt->steps > 0 && !f->cells) { /* labels of cells are of no use behind it */
        report->labels = attempt->labels;
        attempt->labels = NULL;
    }
    f->model = attempt->model;
    attempt->trace = (vem_i_trace){0};
    attempt->model = NULL;
}

static vem_status run_once(vem_i_restarts *f, int64_t restart)
{
    vem_summary *s = &f->report->summary;
    vem_i_attempt attempt = {.run = f->run,
                             .programme = f->programme,
                             .view = f->view,
                             .points = f->points,
                             .cells = f->cells,
                             .start = f->start,
                             .seed = (uint64_t)f->programme->options.seed,
                             .checkpoint = f->checkpoint,
                             .path = f->path,
                             .most = f->most,
                             .run_starts = vem_i_starts_run};
    if (f->checkpoint && !vem_i_checkpoint_resumes(f->checkpoint)) {
        f->checkpoint->restart = restart;
        f->checkpoint->fresh = 1;
        f->checkpoint->closed = 0; /* it may have been where the one before it was cut */
    }
    if (restart > 1) {
        vem_i_rng rng = vem_i_rng_at(attempt.seed, VEM_RNG_RESTART, 0, (uint64_t)restart);
        attempt.seed = (uint64_t)vem_i_rng_bits(&rng) << 32 | vem_i_rng_bits(&rng);
    }
    const double tree = f->cells ? f->cells->seconds : 0;
    vem_status status = vem_i_attempt_run(&attempt);
    const double grown = f->cells ? f->cells->seconds - tree : 0;
    s->seed_pairs += attempt.seed_pairs;
    s->scored_pairs += attempt.pairs;
    s->seconds_seed += attempt.seconds_seed;
    s->seconds_em += attempt.seconds_em - grown;
    s->seconds_tree += grown;
    if (status == VEM_OK && (!f->model || attempt.free_energy > s->free_energy))
        adopt(f, &attempt, restart);
    vem_i_attempt_free(&attempt);
    return status;
}

/* Another one only where there is time for one as long as the last. */
vem_status vem_i_restarts_run(vem_i_restarts *f)
{
    vem_i_run *run = f->run;
    const vem_options *o = &f->programme->options;
    const int64_t restarts = f->start ? 1 : o->restarts;
    /* A path may end before the number that was asked for, and rows that are alike are one
     * cluster. */
    vem_status status = vem_i_check_rows(f, f->path ? 1 : o->clusters, o->clusters);
    if (status == VEM_OK)
        status = check_cells(f);
    int64_t first = 1;
    int late = 0;
    if (status == VEM_OK && f->checkpoint) {
        /* With fewer steps nobody looked for axes. */
        const int64_t fewest = vem_i_programme_find(f->programme, VEM_I_STAGE_LEADING)
                                   ? VEM_I_LEADING_STEPS
                                   : 1;
        f->checkpoint->cells = f->cells;
        status =
            vem_i_checkpoint_begin(f->checkpoint, f->view, fewest, &f->model, f->report);
        first = f->checkpoint->restart;
    }
    for (int64_t r = first; r <= restarts && status == VEM_OK; r++) {
        const double began = vem_i_now(run);
        if (r > first && (late || run->watch->stop))
            break;
        run->watch->restart = r;
        run->watch->restarts = restarts;
        status = run_once(f, r);
        if (status == VEM_STOPPED && f->model)
            status = VEM_OK;
        const double now = vem_i_now(run);
        late = r < restarts && run->deadline > 0 && 2 * now - began > run->deadline;
    }
    if (late && status == VEM_OK)
        f->report->summary.outcome = VEM_OUTCOME_BUDGET;
    return status;
}
