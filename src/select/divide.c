/* Split and merge over an objective (Kurihara and Welling 2006, with other moves).
 *
 *     repeat  a loop over all items with the clusters there are, to its end
 *             price:  every cluster divided (parts.c), near pairs joined, near pairs divided anew
 *             make    all moves that gain, of clusters that lie apart, the best first
 *     until   none gains
 *
 * With one cluster for each item prices are exact: a cluster's cost is its statistics',
 * moves of different clusters add up, and the loop that follows lowers the cost further.
 * Where items share clusters, and where the search does not try all of them, prices are
 * guesses, and the loop tells: if the objective is not better after it, everything is as
 * before, and half of the moves, the better ones, are tried; down to one. So the
 * objective falls from round to round and the search ends.
 *
 * A cluster that was best undivided is not looked at again until its mass changes; pairs
 * are divided anew only where nothing else is left, and each such pair once. */
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "select/divide_inside.h"

typedef vem_i_divider divider;
typedef vem_i_divide_loop loop;

vem_status vem_i_divide_take(divider *t, loop *l, double worth, vem_i_move_name move,
                             int64_t count)
{
    vem_i_attempt *a = &l->attempt;
    vem_status status = VEM_OK;
    if (t->trace.count > 0 && move != VEM_I_MOVE_NONE)
        vem_i_trace_name(&t->trace, move, count);
    for (int64_t i = 0; status == VEM_OK && i < a->trace.count; i++) {
        vem_trace_step line = a->trace.steps[i];
        line.step += t->steps;
        status = vem_i_trace_add(t->run, &t->trace, &line);
    }
    if (t->steps == 0)
        t->free_energy_first = a->free_energy_first;
    t->steps += a->steps;
    t->free_energy = worth;
    vem_model_free(t->model);
    t->model = a->model;
    a->model = NULL;
    if (a->labels) /* as there are after a step */
        memcpy(t->labels, a->labels, (size_t)t->view->n * sizeof *t->labels);
    return status;
}

vem_status vem_i_divide_keep(divider *t, loop *l, double worth, vem_i_move_name move,
                             int64_t count)
{
    vem_status status = vem_i_divide_take(t, l, worth, move, count);
    const int32_t at = vem_i_path_find(t->selection->fits->path, t->model->clusters);
    if (at >= 0 && t->objective->tests) /* the last one is the result, not the best */
        t->selection->fits->path->points[at].free_energy = -INFINITY;
    if (status == VEM_OK && (!t->fixed || t->model->clusters >= t->least))
        status = vem_i_path_add(t->run, t->selection->fits->path, t->model,
                                t->free_energy, t->steps);
    return status;
}

void vem_i_divide_look(divider *t, const double *seen, int32_t count)
{
    vem_i_partition_read(t->run, t->parts, t->labels, t->model, &t->groups);
    for (int32_t c = 0; c < t->groups.count; c++)
        t->groups.seen[c] = seen && count == t->groups.count ? seen[c] : NAN;
}

/* ---- where it begins ---- */

/* All items in one cluster. */
static vem_status begin(divider *t)
{
    vem_model *one = NULL;
    loop l = {0};
    vem_status status =
        vem_i_model_blank(t->run, vem_i_shape_of(t->objective->family, 1, t->view->d),
                          &one);
    if (status != VEM_OK)
        return status;
    vem_i_partition_read(t->run, t->parts, t->labels, one, &t->groups);
    vem_model_free(one);
    one = NULL;
    status =
        vem_i_partition_model(t->run, t->objective, t->view->kernels, &t->groups, &one);
    if (status == VEM_OK)
        status = vem_i_divide_run(t, one, NULL, 0, &l);
    if (status == VEM_OK && l.attempt.steps > 0)
        status = vem_i_divide_keep(t, &l, vem_i_divide_worth(t, &l), VEM_I_MOVE_NONE, 0);
    vem_i_attempt_free(&l.attempt);
    vem_model_free(one);
    if (status == VEM_OK && t->model)
        vem_i_divide_look(t, NULL, 0);
    return status;
}

/* The result as that of a fit. */
static void adopt(divider *t)
{
    vem_i_restarts *fits = t->selection->fits;
    vem_summary *s = &fits->report->summary;
    s->outcome = t->run->watch->stop  ? VEM_OUTCOME_STOPPED
                 : vem_i_late(t->run) ? VEM_OUTCOME_BUDGET
                                      : VEM_OUTCOME_CONVERGED;
    s->clusters = t->model->clusters;
    s->steps = t->steps;
    if (fits->cells)
        s->items = s->cells = fits->cells->cut.count;
    s->free_energy = t->free_energy;
    s->free_energy_first = t->free_energy_first;
    s->restart = 1;
    s->scored_pairs += t->pairs;
    fits->report->trace = t->trace;
    t->trace = (vem_i_trace){0};
    fits->report->labels = t->labels;
    t->labels = NULL;
    fits->model = t->model;
    t->model = NULL;
}

/* ---- rounds ---- */

static void record(vem_i_record *r, void *user)
{
    vem_i_divide_record(r, user);
}

/* From one cluster, or from where a state left it. */
static vem_status enter(divider *t)
{
    vem_i_restarts *fits = t->selection->fits;
    vem_i_checkpoint *k = fits->checkpoint;
    vem_status status = VEM_OK;
    if (k)
        status = vem_i_checkpoint_begin(k, t->view, 1, &fits->model, fits->report);
    if (status != VEM_OK || !vem_i_checkpoint_resumes(k))
        return status == VEM_OK ? begin(t) : status;
    if (vem_i_checkpoint_limit_differs(k))
        return vem_i_checkpoint_refuse_steps(k,
                                             "each loop between two moves had so many");
    vem_i_record *r = vem_i_checkpoint_reading(k);
    vem_i_divide_record(r, t);
    if (r->status == VEM_OK && r->left != 0)
        vem_i_record_refuse(r, "end");
    if (r->status != VEM_OK)
        return r->status;
    memcpy(t->next.seen, t->groups.seen, (size_t)t->model->clusters * sizeof(double));
    vem_i_divide_look(t, t->next.seen, t->model->clusters);
    vem_i_divide_check(r, t);
    if (r->status == VEM_OK)
        vem_i_checkpoint_resumed(k, t->steps > 1 ? t->steps : 1);
    return r->status;
}

/* The moves of a round, in the order in which they are tried, until there is something to price
 * again. */
static const vem_i_move *const round_moves[] = {&vem_i_move_split_join,
                                                &vem_i_move_resplit, &vem_i_move_settle,
                                                &vem_i_move_soften};
enum { ROUND_MOVES = sizeof round_moves / sizeof(const vem_i_move *) };

static void try(divider *t, const vem_i_move *move)
{
    double promised;
    vem_i_move_try(&(vem_i_listed){move, t}, &promised);
}

static void run_round(divider *t)
{
    t->another = 0;
    t->fresh = 1;
    for (int k = 0; k < ROUND_MOVES; k++) {
        if (t->status != VEM_OK || t->another || (k > 0 && vem_i_divide_is_over(t)))
            break;
        try(t, round_moves[k]);
    }
    vem_i_free(t->near);
    t->near = NULL;
    t->near_count = 0;
}

static vem_status run_rounds(divider *t)
{
    vem_i_checkpoint *k = t->selection->fits->checkpoint;
    t->another = 1;
    while (t->status == VEM_OK && t->model && t->another && !vem_i_divide_is_over(t)) {
        if (k)
            vem_i_checkpoint_write(k, 1, record, t);
        run_round(t);
    }
    if (t->status == VEM_OK && k && t->model && !vem_i_divide_is_over(t))
        vem_i_checkpoint_write(k, 1, record, t);
    return t->status;
}

/* Rounds, and from what is beside the best where that is better than it, again. */
static vem_status search(divider *t)
{
    vem_status status = run_rounds(t);
    while (status == VEM_OK && t->model && !vem_i_divide_is_over(t)) {
        t->another = 0;
        try(t, &vem_i_move_beside);
        if (t->status != VEM_OK || !t->another)
            return t->status;
        status = run_rounds(t);
    }
    return status;
}

vem_status vem_i_divide_try(divider *t, const vem_model *start)
{
    loop l = {0};
    vem_status status = vem_i_divide_run(t, start, NULL, 0, &l);
    const double worth = status == VEM_OK ? vem_i_divide_worth(t, &l) : -INFINITY;
    if (worth > -INFINITY)
        status = vem_i_path_add(t->run, t->selection->fits->path, l.attempt.model, worth,
                                t->steps);
    if (status == VEM_OK && worth > -INFINITY)
        vem_i_divide_offer(t, &l.attempt.model, worth);
    vem_i_attempt_free(&l.attempt);
    return status;
}

static divider divider_of(vem_i_selection *selection, vem_i_objective *objective)
{
    const vem_i_restarts *fits = selection->fits;
    const int32_t least = selection->select->min_clusters;
    return (divider){.run = fits->run,
                     .selection = selection,
                     .objective = objective,
                     .view = fits->view,
                     .least = least > 0 ? least : 1,
                     .most = (int32_t)fits->programme->options.clusters};
}

static vem_status finish(divider *t, vem_status status, double clock)
{
    vem_path *path = t->selection->fits->path;
    t->selection->fits->report->summary.seconds_em += vem_i_clock() - clock;
    if (status == VEM_OK && t->model && path->count == 0) /* fewer than there should be */
        status = vem_i_path_add(t->run, path, t->model, t->free_energy, t->steps);
    if (status == VEM_OK && t->model)
        adopt(t);
    else if (status == VEM_OK)
        status = vem_i_fail_stopped(t->run, "before there was a result");
    vem_i_divider_free(t);
    return status;
}

vem_status vem_i_divide(vem_i_selection *selection, vem_i_objective *objective)
{
    divider t = divider_of(selection, objective);
    const double clock = vem_i_clock();
    t.hard = selection->asked->held != 1;
    t.stays = selection->asked->finish == VEM_FINISH_SOFT &&
              vem_i_select_type_of((int)selection->select->method)->softens;
    vem_status status = vem_i_divider_new(&t);
    if (status == VEM_OK)
        status = enter(&t);
    if (status == VEM_OK)
        status = search(&t);
    if (status == VEM_OK && t.model)
        status = vem_i_divide_fewest(&t);
    if (status == VEM_OK && t.model && t.stays)
        status = vem_i_divide_finish(&t);
    return finish(&t, status, clock);
}

/* From a fit of so many clusters, where that is better than what there is. */
static vem_status begin_afresh(divider *t, vem_i_fit_afresh fit, int32_t clusters,
                               int *better)
{
    loop l = {0};
    vem_status status = fit(t->selection, clusters, &l.programme, &l.attempt);
    vem_i_attempt *a = &l.attempt;
    t->pairs += a->pairs;
    *better = status == VEM_OK && a->steps > 0 &&
              (!t->model ||
               (a->model->clusters == clusters &&
                (t->model->clusters < clusters || a->free_energy > t->free_energy)));
    if (*better)
        status = vem_i_divide_keep(t, &l, a->free_energy, VEM_I_MOVE_NONE, 0);
    vem_i_attempt_free(a);
    if (status == VEM_OK && *better)
        vem_i_divide_look(t, NULL, 0);
    return status;
}

/* The next number, with all that may be gained there. */
static vem_status reach(divider *t, vem_i_fit_afresh fit, int32_t clusters)
{
    const int far = clusters > t->model->clusters + 1;
    int better = 0;
    t->least = t->most = clusters;
    t->settled = 0;
    for (int32_t c = 0; c < t->groups.count; c++)
        t->groups.seen[c] = NAN;
    vem_status status = run_rounds(t);
    if (status == VEM_OK && far && !vem_i_divide_is_over(t))
        status = begin_afresh(t, fit, clusters, &better);
    t->settled = t->settled && !better;
    if (status == VEM_OK && better)
        status = run_rounds(t);
    return status;
}

vem_status vem_i_divide_into(vem_i_selection *selection, vem_i_objective *objective,
                             vem_i_fit_afresh fit, const int32_t *numbers, int64_t count)
{
    divider t = divider_of(selection, objective);
    vem_path *path = selection->fits->path;
    const double clock = vem_i_clock();
    double before = clock;
    int begun = 0;
    t.fixed = 1;
    vem_status status = vem_i_divider_new(&t);
    t.least = t.most = numbers[0];
    if (status == VEM_OK)
        status = begin_afresh(&t, fit, numbers[0], &begun);
    for (int64_t k = 0;
         status == VEM_OK && t.model && k < count && !vem_i_divide_is_over(&t); k++) {
        status = reach(&t, fit, numbers[k]);
        const int32_t at = vem_i_path_find(path, numbers[k]);
        const double now = vem_i_clock();
        if (at >= 0)
            path->points[at].seconds = now - before;
        before = now;
        if (t.model && t.model->clusters < numbers[k])
            break; /* the rows have no more places */
    }
    return finish(&t, status, clock);
}
