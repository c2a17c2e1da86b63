/* --min-clusters: where a search ends with fewer clusters, those that are there are divided on, whatever
 * the objective says of it. Each time the best division in two is made, as in divide_beside.c; where the
 * objective would have all rows of each in one, the cluster with the widest column is cut there. Steps of a
 * hard loop would empty what the objective has no use for; so none follow where items are in one cluster
 * each, and where they share clusters one, in which every cluster keeps a share. It ends early where no
 * cluster has two rows that differ. */
#include <string.h>

#include "fit/report.h"
#include "select/divide_inside.h"

/* In two at the mean of the column in which the squares of a cluster are most. A stop: none is. */
static int cut_widest(vem_i_divider *t)
{
    const vem_i_partition *g = &t->groups;
    const vem_view *view = t->view;
    const vem_progress told = {.phase = "divide",
                               .step = t->steps,
                               .clusters = g->count,
                               .max_clusters = t->most,
                               .free_energy = t->free_energy};
    double most = 0, where = 0;
    int32_t cluster = -1, column = 0;
    for (int32_t c = 0; c < g->count; c++) {
        if (vem_i_progress(t->run, &told, 0))
            return 0;
        for (int32_t j = 0; j < view->d; j++) {
            double mass = 0, mean = 0, squares = 0;
            for (int64_t i = g->tour.starts[c]; i < g->tour.starts[c + 1]; i++) {
                const double w = vem_i_view_mass(view, g->tour.items[i]);
                const double e = vem_i_view_value(view, g->tour.items[i], j) - mean;
                mass += w;
                mean += w > 0 ? e * w / mass : 0;
                squares += w > 0 ? e * e * w * (mass - w) / mass : 0;
            }
            if (squares > most) {
                most = squares;
                where = mean;
                cluster = c;
                column = j;
            }
        }
    }
    if (cluster < 0 || g->count >= t->most)
        return 0;
    int64_t above = 0;
    const int64_t begin = g->tour.starts[cluster], count = vem_i_group_items(g, cluster);
    for (int64_t i = begin; i < begin + count; i++) {
        t->part[i] = vem_i_view_value(view, g->tour.items[i], column) > where;
        above += t->part[i];
    }
    if (above == 0 || above == count)
        return 0;
    t->moves[0] =
        (vem_i_change){.kind = VEM_I_MOVE_SPLIT, .a = cluster, .b = -1, .parts = 2};
    vem_i_make_moves(t, 1);
    vem_i_moved_labels(t, 1, t->labels);
    return 1;
}

/* The partition t->next, with the labels t->first, is the result. */
static vem_status take_partition(vem_i_divider *t, vem_model **model)
{
    vem_i_tally all = {0};
    for (int32_t c = 0; c < t->next.count; c++)
        all = vem_i_tally_add(all, 1, t->next.tallies[c]);
    t->free_energy = vem_i_view_log_shift(t->view) -
                     vem_i_objective_total(t->objective, all) / t->objective->total;
    vem_model_free(t->model);
    t->model = *model;
    *model = NULL;
    memcpy(t->labels, t->first, (size_t)t->view->n * sizeof *t->first);
    return vem_i_path_add(t->run, t->selection->fits->path, t->model, t->free_energy,
                          t->steps);
}

/* One step from it is. */
static vem_status take_step(vem_i_divider *t, const vem_model *model)
{
    vem_i_divide_loop l = {0};
    vem_status status = vem_i_divide_run(t, model, t->first, 0, &l);
    const double worth = status == VEM_OK ? vem_i_divide_worth(t, &l) : -INFINITY;
    if (status == VEM_OK && worth > -INFINITY) {
        status = vem_i_divide_take(t, &l, worth, VEM_I_MOVE_SPLIT, 1);
        if (status == VEM_OK)
            status = vem_i_path_add(t->run, t->selection->fits->path, t->model,
                                    t->free_energy, t->steps);
    }
    vem_i_attempt_free(&l.attempt);
    return status;
}

static vem_status divide_once(vem_i_divider *t)
{
    vem_model *model = NULL;
    vem_status status =
        vem_i_partition_model(t->run, t->objective, t->view->kernels, &t->next, &model);
    if (status == VEM_OK)
        status = vem_i_divide_alone(t) ? take_partition(t, &model) : take_step(t, model);
    vem_model_free(model);
    return status;
}

static int64_t make(void *state)
{
    vem_i_divider *t = state;
    vem_i_partition_read(t->run, t->parts, t->labels, t->model, &t->groups);
    if (!vem_i_divide_best(t) && !cut_widest(t))
        return -1;
    t->status = divide_once(t);
    return t->status == VEM_OK ? 1 : -1;
}

/* It was asked for, and the objective may fall. */
static const vem_i_move fill = {.name = VEM_I_MOVE_SPLIT,
                                .when = VEM_I_BETWEEN_LOOPS,
                                .make = make};

/* The labels that its model gives. */
static vem_status label(vem_i_divider *t)
{
    vem_i_divide_loop l = {0};
    const vem_status status = vem_i_divide_run(t, t->model, t->labels, 0, &l);
    if (status == VEM_OK && l.attempt.steps > 0 && l.attempt.labels)
        memcpy(t->labels, l.attempt.labels, (size_t)t->view->n * sizeof *t->labels);
    vem_i_attempt_free(&l.attempt);
    return status;
}

vem_status vem_i_divide_fewest(vem_i_divider *t)
{
    const int32_t ended = t->model->clusters;
    const int tests = t->objective->tests;
    int32_t before = 0;
    t->objective->tests = 0; /* the best division, not one that a test asks for */
    t->filling = 1;
    while (t->status == VEM_OK && t->model->clusters < t->least &&
           t->model->clusters > before && !vem_i_divide_is_over(t)) {
        double promised;
        before = t->model->clusters;
        vem_i_move_try(&(vem_i_listed){&fill, t}, &promised);
    }
    vem_status status = t->status;
    if (status == VEM_OK && t->model->clusters > ended && vem_i_divide_alone(t))
        status = label(t);
    t->filling = 0;
    t->objective->tests = tests;
    const int reached = t->model->clusters >= t->least;
    if (status == VEM_OK && t->model->clusters > ended)
        vem_i_report_note(t->selection->fits->report,
                          "the search ended with %d cluster%s; those were divided on, "
                          "best first, to %s%d%s.",
                          ended, ended == 1 ? "" : "s", reached ? "the " : "",
                          t->model->clusters, reached ? " of --min-clusters" : "");
    return status;
}
