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
 * With --blocks a step, but for the first, is an epoch of as many E- and M-steps (epoch.c). Where a
 * loop rests a move may let it go on: another cluster, or items that were divided (em_rest.c).
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

static int64_t count_empty(const vem_i_stats *stats)
{
    int64_t empty = 0;
    for (int32_t c = 0; c < stats->clusters; c++)
        empty += *vem_i_stats_mass(stats, c) <= 0;
    return empty;
}

void vem_i_em_tell_size(const vem_i_em *em, vem_progress *told)
{
    told->clusters = em->grows ? em->model->clusters : 0;
    told->max_clusters = em->grows ? em->model->capacity : 0;
}

/* The E-step of step em->step with its line in the trace, unless the loop was entered after it;
 * VEM_STOPPED: it was given up. */
static vem_status expect(vem_i_em *em)
{
    vem_i_em_observe(em, VEM_I_STEP_BEGINS);
    if (em->within)
        return VEM_OK;
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
                         .max_steps = em->steps_before + em->max_steps,
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

static int is_mixed(const vem_i_em *em)
{
    const vem_i_blocks *blocks = vem_i_estep_blocks(em->estep);
    return blocks && blocks->mixed;
}

/* The statistics of what is held, unless nothing follows. */
static void collect(vem_i_em *em)
{
    const int last = em->next == VEM_I_NEXT_END;
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

/* A step was given up: the result is that of the one before, if there was one. */
static vem_status give_up(vem_i_em *em)
{
    em->next = VEM_I_NEXT_END;
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
        collect(em);
    }
    return VEM_OK;
}

/* To where a record left the loop, or to its first step. Steps before that (--init-steps) are E-steps
 * of the model as it is; after a stop whoever goes on does the others. */
static vem_status enter(vem_i_em *em)
{
    for (; em->step < 1; em->step++) {
        if (vem_i_em_stopped(em)) {
            vem_i_em_observe(em, VEM_I_STEP_LAST);
            em->step = 1;
            break;
        }
        const vem_status status = expect(em);
        if (status != VEM_OK)
            return status;
    }
    return expect(em);
}

static vem_status next_step(vem_i_em *em)
{
    vem_i_em_observe(em, VEM_I_STEP_ENDS);
    em->step++;
    return expect(em);
}

/* Each step is an E-step; then the end, or that of other items; else the moves, and the M-step. */
vem_status vem_i_em_run(vem_i_em *em)
{
    vem_status status;
    for (status = enter(em); status == VEM_OK; status = next_step(em)) { /* E */
        if ((status = vem_i_em_rest(em)) != VEM_OK)                      /* the end? */
            return status;
        if (em->next == VEM_I_NEXT_E)
            continue;
        vem_i_em_moves(em, VEM_I_AFTER_E);
        collect(em);
        status = vem_i_comm_lost(em->run);
        if (status != VEM_OK || em->next == VEM_I_NEXT_END)
            return status;
        if ((status = maximize(em)) != VEM_OK) /* M */
            return status;
        vem_i_em_moves(em, VEM_I_AFTER_M);
    }
    return status == VEM_STOPPED ? give_up(em) : status;
}
