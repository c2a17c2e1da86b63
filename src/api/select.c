/* The verb `select`: a fit that keeps a mixture of every number of clusters, and the
 * choice among them. */
#include "api/select.h"

#include <string.h>

#include "base/memory.h"
#include "base/structs.h"
#include "comm/comm.h"
#include "data/sample.h"
#include "fit/advice.h"
#include "fit/cells_plan.h"
#include "fit/presets.h"
#include "fit/resolve.h"
#include "model/columns.h"
#include "model/units.h"
#include "select/held_out.h"

/* ---- before ---- */

/* Cells are taken where a fit of as many clusters of the same family takes them: what a step
 * over all rows costs, and what cells do not see, is the same for both. */
static vem_status choose_cells(vem_i_fitting *f, vem_options *asked)
{
    vem_options resolved, plain = *asked;
    if (!f->method->celled || asked->cells != VEM_AUTO)
        return VEM_OK;
    vem_status status =
        vem_i_options_resolve(&f->run, asked, f->data->n, f->data->d, f->data->type,
                              vem_i_data_row_values(f->data), &resolved);
    if (status == VEM_OK) {
        plain.algorithm = VEM_AUTO;
        plain.tolerance = VEM_AUTO;
        plain.family = resolved.family;
        status = vem_i_fit_resolve(&f->run, f->data, &plain, NULL, &resolved);
    }
    if (status == VEM_OK && resolved.cells > 0) {
        asked->cells = resolved.cells;
        f->celled = 1;
    }
    /* What does not go together is said where the options themselves are resolved. */
    return status == VEM_NO_MEMORY ? status : VEM_OK;
}

/* ---- after ---- */

/* The mixtures end as models of their own, in the units of the data. */
static vem_status finish_models(vem_i_fitting *f)
{
    vem_status status = VEM_OK;
    for (int32_t i = 0; status == VEM_OK && i < f->path->count; i++) {
        vem_model *m = f->path->models[i];
        status = vem_i_model_to_data(&f->run, &f->points->view, m);
        if (status != VEM_OK)
            break;
        vem_model_set_normalizes(m, f->resolved.normalize);
        vem_model_set_prior(m, (vem_prior_kind)f->resolved.prior);
        status = vem_i_model_check_finite(&f->run, m);
        if (status == VEM_OK)
            status = vem_i_model_know_columns(&f->run, f->data, f->points, f->start, m);
    }
    return status;
}

/* Does the floor hold more of the likelihood of the chosen mixture than of that of the next best? It
 * does where more clusters at the floor have more rows: a flat one that is in both, or is divided,
 * gives both as much. Of soft clusters less than a row is no more. */
static vem_status look_at_floor(vem_i_fitting *f, int32_t at)
{
    const vem_path *path = f->path;
    const vem_i_constraints limits =
        vem_i_constraints_of(&f->points->view, &f->resolved, f->model->family);
    double margin;
    const int32_t next = vem_i_path_next(path, f->method->lower, &margin);
    int64_t here = 0, there = 0;
    double rows = 0, rows_there = 0;        /* as shares of all */
    if (f->method->takes_prior || next < 0) /* shapes are the prior's */
        return VEM_OK;
    vem_status status =
        vem_i_floor_count(&f->run, &limits, path->models[at], &here, &rows);
    if (status == VEM_OK && here > 0)
        status =
            vem_i_floor_count(&f->run, &limits, path->models[next], &there, &rows_there);
    const int more = here > there && (rows - rows_there) * f->points->view.total_mass *
                                             f->points->view.mass_unit >
                                         0.5;
    f->path->floored = more ? here : 0;
    return status;
}

/* Of the path, in the units of the view. */
static vem_status choose(vem_i_fitting *f)
{
    vem_path *path = f->path;
    vem_summary *s = &f->report->summary;
    if (path->count == 0) /* there was no time for one step */
        return VEM_OK;
    vem_status status =
        vem_i_path_measure(&f->run, f->data, &f->points->view, &f->resolved,
                           f->plan.programme.reduced, s, f->method->by_energy, path);
    if (status != VEM_OK)
        return status;
    const vem_view *view = &f->points->view;
    const double unit =
        vem_i_select_unit(view, f->plan.programme.reduced && f->method->by_energy);
    vem_i_path_judge(f->method, view->total_mass * unit, path);
    path->limit = f->resolved.clusters;
    const int32_t last = path->points[path->count - 1].clusters;
    if (f->method->inserts && last < path->limit && f->distinct != last)
        path->limit = last;
    path->chosen = f->method->last ? f->model->clusters
                                   : vem_i_path_best(path, f->least, f->method->lower);
    const int32_t at = vem_i_path_find(path, path->chosen);
    if (path->chosen != f->model->clusters) {
        vem_model *copy;
        status = vem_model_copy(f->run.ctx, path->models[at], &copy);
        if (status != VEM_OK)
            return status;
        vem_model_free(f->model);
        f->model = copy;
        vem_i_free(f->report->labels); /* those of the last mixture */
        f->report->labels = NULL;
    }
    s->clusters = path->chosen;
    if (!f->softened)
        s->free_energy = path->points[at].free_energy;
    f->report->options.clusters = path->chosen;
    if (f->report->options.held > path->chosen)
        f->report->options.held = path->chosen;
    vem_i_select_notes(f);
    status = look_at_floor(f, at);
    return status == VEM_OK ? finish_models(f) : status;
}

/* ---- the verb ---- */

static void give_back(vem_model **model, vem_report **report)
{
    if (model) {
        vem_model_free(*model);
        *model = NULL;
    }
    if (report) {
        vem_report_free(*report);
        *report = NULL;
    }
}

vem_status vem_i_select(vem_i_run *run, const vem_data *data, const vem_options *options,
                        const vem_select_options *select, int measured, vem_model **model,
                        vem_path **path, vem_report **report)
{
    vem_select_options s = {0};
    vem_status status = vem_i_struct_in(run, "vem_select_options", select, &s, sizeof s);
    if (status == VEM_OK)
        status = vem_i_select_check(run, data, options, &s);
    if (status == VEM_OK && measured && s.min_clusters > data->n)
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "There are fewer rows than clusters: %lld rows, "
                            "--min-clusters %d.",
                            (long long)data->n, s.min_clusters);
    if (status != VEM_OK)
        return status;
    if (s.families)
        return vem_i_select_families(run, data, options, &s, measured, model, path,
                                     report);
    vem_options asked = *options;
    vem_i_fitting f = {.run = *run,
                       .data = data,
                       .asked = &asked,
                       .method = vem_i_select_type_of((int)s.method),
                       .select = &s,
                       .choose = choose,
                       .inside = !measured,
                       .least = s.min_clusters ? s.min_clusters : 1};
    asked.clusters = vem_i_select_most(options, &s, data);
    if (asked.measure == VEM_MEASURE_NONE && (measured || !f.method->by_energy))
        asked.measure = VEM_MEASURE_EXACT;
    f.few = f.method->takes_prior &&
            vem_i_has_few_rows(data, options, s.prior, VEM_I_ROWS_FOR_MATRICES);
    if (f.few)
        asked.family = vem_i_columns_family();
    f.method->prepare(&asked);
    vem_i_held_out held = {.weights = NULL};
    status = choose_cells(&f, &asked);
    if (status == VEM_OK)
        status = vem_i_path_new(run, (int32_t)asked.clusters, &f.path);
    if (status == VEM_OK && s.holdout > 0) {
        status = vem_i_hold_out(run, data, s.holdout, (uint64_t)options->seed, &held);
        f.data = &held.fitted;
    }
    if (status == VEM_OK)
        status = vem_i_fitting_run(&f, model, report);
    if (status == VEM_OK && s.holdout > 0) {
        status = vem_i_measure_others(&f.run, &held, f.path);
        if (status != VEM_OK) /* nothing is handed out with an error */
            give_back(model, report);
    }
    vem_i_free(held.weights);
    if (status == VEM_OK && path) {
        *path = f.path;
        f.path = NULL;
    }
    vem_path_free(f.path);
    return status;
}

vem_status vem_select(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                      const vem_select_options *select, vem_model **model,
                      vem_path **path, vem_report **report)
{
    VEM_I_NEED(ctx, ctx, data, options, select);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_options asked;
    const vem_status status = vem_i_options_in(run, options, &asked);
    vem_i_comm_join(run);
    return status == VEM_OK
               ? vem_i_select(run, data, &asked, select, 1, model, path, report)
               : status;
}
