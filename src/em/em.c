/* Maximising the free energy.
 *
 *     F(K, theta) = sum_i w_i log sum_{c in K_i} p(c, x_i | theta)
 *
 *     repeat   E:  K_i from the search, q(i,c) prop. to p(c, x_i) on K_i    F does not fall
 *              M:  theta from the statistics of q                           F does not fall
 *     until    |F_t - F_(t-1)| <= eps D / 2 (presets: eps max(|F_t|, 1e-3)), or, for
 *              eps = 0, no K_i changes; items that stand for many rows are divided then, as
 *              long as F gains by it                                       F does not fall
 *
 * F_t is measured by the E-step, so it belongs to the model that entered it; the loop
 * ends before the M-step and that model is the one given back. What may lower F (dropping
 * or moving a cluster that holds nothing) is a move, made between steps and named in the
 * trace; moves that are made for what F gains come between E and M.
 *
 * With --blocks a step, but for the first, is an epoch of as many E- and M-steps (epoch.c).
 *
 * A stop ends the loop after the step at hand. Whoever watches the steps (em.h) may end it too,
 * or have a step given up in its middle (last_step.h): then the model of the step before is
 * given back, so that the result is always what max_steps gives for some number of steps. */
#include "em/em.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "comm/comm.h"
#include "em/steady.h"
#include "model/evidence.h"
#include "model/spread.h"

/* Where posteriors are not the best, F needs the statistics. */
static vem_i_stats *stats_for_energy(vem_i_em *em)
{
    return em->scorer.at_means ? &em->stats : NULL;
}

/* All clusters share one variance and one weight, and that variance was only a guess. It
 * does not matter for what the items hold; now that this is known, put the one of HFL (8)
 * in its place and normalise again. */
static void settle_variance(vem_i_em *em, vem_i_estep_result *e)
{
    const double guess = vem_i_model_variance(em->model), mass = em->view->total_mass;
    const double variance = (e->distance * guess + mass * em->view->beyond.square) /
                            (vem_i_view_columns(em->view) * mass);
    vem_i_model_set_variance(em->model,
                             fmax(variance,
                                  vem_i_floor_shared(&em->constraints, em->view->d)));
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    vem_i_estep_result again =
        vem_i_estep_again(em->estep, &em->posterior, stats_for_energy(em));
    e->log_sum = again.log_sum;
    if (em->search->dense)
        e->pairs += again.pairs;
    em->variance_unknown = 0;
}

static double free_energy(const vem_i_em *em, const vem_i_estep_result *e)
{
    return e->log_sum / em->view->total_mass - 0.5 * em->scorer.base + em->model->offset +
           vem_i_view_log_shift(em->view);
}

void vem_i_em_count(vem_i_em *em, int64_t pairs)
{
    em->pairs += pairs;
    if (em->trace.count > 0)
        vem_i_trace_last(&em->trace)->pairs += pairs;
}

double vem_i_em_again(vem_i_em *em)
{
    vem_i_estep_result e =
        vem_i_estep_again(em->estep, &em->posterior, stats_for_energy(em));
    vem_i_em_count(em, e.pairs);
    return free_energy(em, &e);
}

double vem_i_em_threshold(const vem_i_em *em, double now)
{
    /* D / 2: a relative change of the squared error, whatever the units of the data. */
    double scale =
        em->scale_free ? 0.5 * vem_i_view_columns(em->view) : fmax(fabs(now), 1e-3);
    return em->options->tolerance * scale;
}

static int converged(const vem_i_em *em)
{
    if (em->step <= em->shared_steps + 1 || !em->doing.may_end)
        return 0;
    const vem_i_move *planned = vem_i_em_move(em, VEM_I_AFTER_E);
    if (planned && planned->ends_loop)
        return 1;
    const vem_trace_step *line = vem_i_trace_last(&em->trace), *last = line - 1;
    if (last->moved > 0 && last->move != vem_i_move_names[em->routine])
        return 0;
    double before = last->free_energy, now = line->free_energy;
    double threshold = vem_i_em_threshold(em, now);
    /* With random candidates a fit may rest for a step: then twice running. */
    int once = em->search->explore == 0;
    if (threshold == 0)
        return em->search->dense ? now <= before
                                 : line->changed == 0 && (once || last->changed == 0);
    if (!(fabs(now - before) <= threshold))
        return 0;
    if (once || em->step < 3)
        return once;
    return fabs(before - last[-1].free_energy) <= threshold;
}

static int64_t count_empty(const vem_i_stats *stats)
{
    int64_t empty = 0;
    for (int32_t c = 0; c < stats->clusters; c++)
        empty += *vem_i_stats_mass(stats, c) <= 0;
    return empty;
}

void vem_i_em_tell_size(const vem_i_em *em, vem_progress *told)
{
    const int grows = vem_i_em_move(em, VEM_I_AT_REST) != NULL;
    told->clusters = grows ? em->model->clusters : 0;
    told->max_clusters = grows ? em->model->capacity : 0;
}

/* The E-step of step em->step with its line in the trace; VEM_STOPPED: it was given up. */
static vem_status expect(vem_i_em *em)
{
    double start = vem_i_clock();
    const int64_t step = em->step;
    if (step > 0) { /* before that, steps without an M-step, which plan nothing */
        em->doing = vem_i_schedule_next(&em->schedule);
        vem_i_estep_plan(em->estep, &em->doing.plan);
    }
    vem_trace_step last = {0};
    if (em->trace.count > 0) {
        last = *vem_i_trace_last(&em->trace);
        last.step += em->steps_before;
    }
    vem_progress told = {.phase = "em",
                         .last = em->trace.count > 0 ? &last : em->before,
                         .step = em->steps_before +
                                 (step > 0 || !em->steps_before ? step : 0),
                         .max_steps = em->steps_before + em->options->max_steps,
                         .free_energy = em->trace.count ? em->free_energy : NAN,
                         .steps_left = vem_i_em_steps_left(em)};
    vem_i_em_tell_size(em, &told);
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    em->midway = 0;
    vem_i_estep_foresee(em->estep, step < 1 || em->doing.swap || em->variance_unknown
                                       ? NULL
                                       : &em->stats);
    const vem_i_blocks *blocks = vem_i_estep_blocks(em->estep);
    vem_i_estep_result e =
        blocks && blocks->known && step > 1
            ? vem_i_em_epoch(em, &told)
            : vem_i_estep_run(em->estep, &em->posterior, stats_for_energy(em), &told,
                              em->may_skip);
    if (e.skipped)
        return VEM_STOPPED;
    vem_status status = vem_i_comm_agree(em->run);
    if (status != VEM_OK)
        return status;
    if (em->variance_unknown)
        settle_variance(em, &e);
    em->free_energy = free_energy(em, &e);
    em->pairs += e.pairs;
    vem_trace_step line = {.step = step,
                           .free_energy = em->free_energy,
                           .pairs = e.pairs,
                           .changed = em->scorer.at_means ? -1 : e.changed,
                           .seconds = vem_i_clock() - start};
    status = vem_i_trace_add(em->run, &em->trace, &line);
    told.free_energy = em->free_energy;
    told.done = told.total = 1;
    told.steps_left = vem_i_em_steps_left(em);
    vem_i_progress(em->run, &told, 1);
    return status;
}

/* The loop rests: may it look closer? Then the next step is an E-step of the same model. share:
 * clusters that will be inserted need items too. late: it was cut short. */
static vem_status refine(vem_i_em *em, int share, int64_t *finer, int *late)
{
    *finer = 0;
    if (!em->refiner.refine)
        return VEM_OK;
    if (share && em->view->n * (int64_t)em->model->capacity >=
                     em->options->cells * (int64_t)em->model->clusters)
        return VEM_OK;
    const double start = vem_i_clock();
    vem_status status = em->refiner.refine(em->refiner.user, em, finer);
    if (status == VEM_STOPPED) { /* the step ends the loop, as it is */
        *late = 1;
        status = VEM_OK;
    }
    if (*finer > 0) {
        vem_trace_step *line = vem_i_trace_last(&em->trace);
        line->move = vem_i_move_names[em->refiner.name];
        line->moved = *finer;
        line->seconds += vem_i_clock() - start;
        vem_i_em_resize(em);
    }
    return status;
}

/* Has it made all the steps that it may? Where a move at rest lets it go on, it may make so many
 * after each. */
static int at_limit(const vem_i_em *em)
{
    const vem_trace_step *line = vem_i_trace_last(&em->trace);
    const vem_i_move *more = vem_i_em_move(em, VEM_I_AT_REST);
    int64_t steps = em->step;
    if (more)
        for (steps = 1;
             steps < em->step && line[-steps].move != vem_i_move_names[more->name];)
            steps++;
    return steps >= em->options->max_steps;
}

/* After more than a step: what is wanted by now, where that was cut short. */
static vem_i_wish wish_after(vem_i_em *em, int cut)
{
    return vem_i_em_stopped(em) ? VEM_I_STOP : cut ? VEM_I_ENOUGH : VEM_I_GO_ON;
}

/* Is this step the last one? Then em->outcome says why. finer: items were divided. */
static vem_status ends(vem_i_em *em, int *last, int64_t *finer)
{
    em->steps = em->step;
    if (em->step == 1)
        em->free_energy_first = em->free_energy;
    const int grows = vem_i_em_move(em, VEM_I_AT_REST) != NULL;
    int rests = em->step > 1 && converged(em), cut = 0;
    const int limit = at_limit(em);
    vem_i_wish wish = vem_i_em_observe(em, VEM_I_STEP_SCORED);
    *finer = 0;
    *last = 0;
    if (rests && !limit && !wish) {
        const vem_status status = refine(em, grows, finer, &cut);
        if (status != VEM_OK)
            return status;
        rests = *finer == 0 && !cut;
        wish = wish_after(em, cut);
    } else if (em->refiner.refine && em->view->n < em->options->cells) {
        rests = 0; /* finer items might have moved it */
    }
    if (grows && (rests || limit) && !wish) {
        vem_i_em_observe(em, VEM_I_STEP_RESTS);
        if (vem_i_em_moves(em, VEM_I_AT_REST))
            return VEM_OK;
        wish =
            vem_i_em_observe(em, VEM_I_STEP_ASKED); /* it may have taken all the time */
        if (!wish && em->model->clusters < em->model->capacity) { /* items may hide one */
            const vem_status status = refine(em, 0, finer, &cut);
            if (status != VEM_OK || *finer > 0)
                return status;
            wish = wish_after(em, cut);
        }
    }
    if (grows && wish)
        rests = 0; /* other clusters might have come */
    em->outcome = rests                ? VEM_OUTCOME_CONVERGED
                  : wish == VEM_I_STOP ? VEM_OUTCOME_STOPPED
                  : wish && !limit     ? VEM_OUTCOME_BUDGET
                                       : VEM_OUTCOME_STEP_LIMIT;
    *last = rests || wish || limit;
    return VEM_OK;
}

static int is_mixed(const vem_i_em *em)
{
    const vem_i_blocks *blocks = vem_i_estep_blocks(em->estep);
    return blocks && blocks->mixed;
}

/* The statistics of what is held, unless nothing follows. */
static void collect(vem_i_em *em, int last)
{
    double start = vem_i_clock();
    vem_trace_step *line = vem_i_trace_last(&em->trace);
    if (last && is_mixed(em)) { /* F and labels of the model that is given back */
        const vem_i_estep_result e = vem_i_estep_again(em->estep, &em->posterior, NULL);
        em->free_energy = line->free_energy = free_energy(em, &e);
        em->pairs += e.pairs;
        line->pairs += e.pairs;
    }
    line->empty = last ? vem_i_estep_empty(em->estep, &em->posterior) : -1;
    if (line->empty < 0) {
        vem_i_estep_collect(em->estep, &em->posterior, &em->stats);
        line->empty = count_empty(&em->stats);
    }
    line->seconds += vem_i_clock() - start;
}

static vem_status maximize(vem_i_em *em)
{
    const double start = vem_i_clock();
    vem_trace_step *line = vem_i_trace_last(&em->trace);
    int64_t pairs = 0;
    em->constraints.shared = em->step <= em->shared_steps;
    /* Under a prior of the parameters F is that of their posterior, whose mean is one place. */
    em->constraints.relax = em->constraints.conjugate ? 1 : em->doing.relax;
    vem_status status = VEM_OK;
    if (!is_mixed(em)) /* posteriors of earlier models are gone */
        status = vem_i_steady(em->run, em->estep, &em->posterior, &em->constraints,
                              &em->scorer, &em->stats, &pairs);
    if (status != VEM_OK)
        return status;
    vem_i_em_count(em, pairs);
    line->seconds += vem_i_clock() - start;
    vem_i_maximize(em->run, &em->scorer, &em->stats, &em->constraints, em->model);
    return VEM_OK;
}

/* Items or clusters are others: the next step looks at all items. */
static void forget_blocks(const vem_i_em *em)
{
    vem_i_blocks *blocks = vem_i_estep_blocks(em->estep);
    if (blocks)
        blocks->known = blocks->mixed = 0;
}

/* A step was given up: the result is that of the one before, if there was one. */
static vem_status give_up(vem_i_em *em)
{
    const int stopped = em->may_skip == VEM_I_SKIP && vem_i_em_stopped(em);
    em->outcome = stopped ? VEM_OUTCOME_STOPPED : VEM_OUTCOME_BUDGET;
    vem_i_em_observe(em, VEM_I_STEP_LEFT);
    if (stopped && em->steps == 0 && em->steps_before == 0)
        return vem_i_fail_stopped(em->run,
                                  "in the first step, before there was a result");
    if (em->steps == 0) {
        em->free_energy = em->free_energy_first = NAN;
        return VEM_OK;
    }
    vem_trace_step *line = vem_i_trace_last(&em->trace);
    line->move = NULL; /* what it did is undone */
    line->moved = 0;
    if (is_mixed(em)) { /* labels and F of several models */
        vem_i_scorer_prepare(em->run, em->model, &em->scorer);
        collect(em, 1);
    }
    return VEM_OK;
}

vem_status vem_i_em_run(vem_i_em *em)
{
    for (;; em->step++) {
        if (em->step < 1 && vem_i_em_stopped(em)) {
            vem_i_em_observe(em, VEM_I_STEP_LAST); /* whoever goes on does the others */
            em->step = 1;
        }
        const int entered = em->within; /* from a record of after the E-step */
        vem_i_em_observe(em, VEM_I_STEP_BEGINS);
        vem_status status = entered ? VEM_OK : expect(em);
        if (status != VEM_OK)
            return status == VEM_STOPPED ? give_up(em) : status;
        if (em->step < 1)
            continue;
        int last;
        int64_t finer;
        if ((status = ends(em, &last, &finer)) != VEM_OK)
            return status;
        if (finer > 0 && !last) {
            vem_i_em_observe(em, VEM_I_STEP_ENDS);
            continue;
        }
        em->within = 1;
        if (last && !entered)
            vem_i_em_observe(em, VEM_I_STEP_LAST);
        em->within = 0;
        if (!last || (em->hands_on && em->outcome == VEM_OUTCOME_STEP_LIMIT))
            vem_i_em_moves(em, VEM_I_AFTER_E);
        collect(em, last);
        if ((status = vem_i_comm_lost(em->run)) != VEM_OK || last)
            return status;
        if ((status = maximize(em)) != VEM_OK)
            return status;
        if (vem_i_em_moves(em, VEM_I_AFTER_M))
            forget_blocks(em);
        vem_i_em_observe(em, VEM_I_STEP_ENDS);
    }
}

vem_status vem_i_em_new(vem_i_em *em, const vem_i_search_spec *asked)
{
    vem_model *model = em->model;
    vem_i_run *run = em->run;
    em->step = 1 - em->options->init_steps;
    vem_i_search_spec search = *asked;
    vem_i_search_make_room(&search, model->capacity);
    vem_i_em_watch_run(em);
    const int64_t blocks = search.dense ? em->options->blocks : 1;
    vem_status status =
        vem_i_scorer_for(run, em->view, vem_i_model_shape_with_room(model), &em->scorer);
    if (status == VEM_OK && (blocks > 1 || em->view->spread_kind != VEM_I_SPREAD_NONE))
        status = vem_i_scorer_take_spread(run, &em->scorer);
    if (status == VEM_OK)
        status = vem_i_posterior_new(run, em->view, &search, &em->posterior);
    if (status == VEM_OK)
        status = vem_i_stats_new(run, vem_i_model_shape_with_room(model), &em->stats);
    if (status == VEM_OK)
        status = vem_i_estep_new(run, em->view, &em->scorer, &search, blocks, &em->estep);
    if (status == VEM_OK)
        em->search = vem_i_estep_search(em->estep);
    else
        vem_i_em_free(em);
    return status;
}

void vem_i_em_resize(vem_i_em *em)
{
    em->posterior.n = em->view->n;
    forget_blocks(em);
}

void vem_i_em_free(vem_i_em *em)
{
    for (int i = 0; i < VEM_I_MOVES; i++)
        if (em->moves[i].state)
            em->moves[i].move->free(em->moves[i].state);
    memset(em->moves, 0, sizeof em->moves);
    vem_i_estep_free(em->estep);
    vem_i_scorer_free(&em->scorer);
    vem_i_posterior_free(&em->posterior);
    vem_i_stats_free(&em->stats);
    vem_i_trace_free(&em->trace);
    em->estep = NULL;
    em->search = NULL;
}
