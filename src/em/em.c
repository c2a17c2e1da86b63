/* Maximising the free energy.
 *
 *     F(K, theta) = sum_i w_i log sum_{c in K_i} p(c, x_i | theta)
 *
 *     repeat   E:  K_i from the search, q(i,c) prop. to p(c, x_i) on K_i    F does not fall
 *              M:  theta from the statistics of q                           F does not fall
 *     until    |F_t - F_(t-1)| <= eps D / 2 (presets: eps max(|F_t|, 1e-3)), or, for
 *              eps = 0, no K_i changes
 *
 * F_t is measured by the E-step, so it belongs to the model that entered it; the loop
 * ends before the M-step and that model is the one given back. What may lower F (dropping
 * or moving a cluster that holds nothing) is not part of the loop: it is a policy, called
 * between steps and named in the trace.
 *
 * A stop ends the loop after the step at hand; where a step is long, it is given up as below.
 *
 * With a deadline the loop also ends where the next step, if it lasts as long as the last
 * of its kind, would end too late. A step that lasts longer than that is given up, and the
 * model of the step before is given back: it is always what max_steps gives for some
 * number of steps. */
#include "em/em.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "em/keep.h"
#include "em/steady.h"

/* A second or so of one core. */
double vem_i_worth_leaving = 1e10;

/* Is a step so long that a stop should not wait for its end? What the last step left is kept
 * for that, which costs nothing beside scores of so many clusters. The other searches are
 * quick, and learn while they look. */
static int may_leave(const vem_ctx *ctx, const vem_i_search *search, int64_t n,
                     int32_t clusters, int32_t d)
{
    static const double COSTLY = 1024; /* per item, beside a copy of what it holds */
    const double item = (double)clusters * d;
    return ctx->progress &&
           (search->kind == VEM_SEARCH_ALL || search->kind == VEM_SEARCH_CLOSEST) &&
           (item >= COSTLY || vem_i_worth_leaving == 0) &&
           item * (double)n >= vem_i_worth_leaving;
}

/* What is kept of an item: all it holds where a state may be written in the middle of a step. */
static int32_t kept_width(const vem_ctx *ctx, int leave, int32_t width)
{
    return leave && ctx->checkpoint.path ? width : 1;
}

/* All clusters share one variance and one weight, and that variance was only a guess. It
 * does not matter for what the items hold; now that this is known, put the one of HFL (8)
 * in its place and normalise again. */
static void settle_variance(vem_i_em *em, vem_i_estep_result *e)
{
    double guess = vem_i_model_variance(em->model), d = em->view->d;
    double variance = e->distance * guess / (d * em->view->total_mass);
    vem_i_model_set_variance(em->model,
                             fmax(variance,
                                  vem_i_floor_shared(&em->constraints, em->view->d)));
    vem_i_scorer_prepare(em->ctx, em->model, &em->scorer);
    vem_i_estep_result again = vem_i_estep_again(em->estep, &em->posterior, NULL);
    e->log_sum = again.log_sum;
    if (em->search.dense)
        e->pairs += again.pairs;
    em->variance_unknown = 0;
}

static double free_energy(const vem_i_em *em, const vem_i_estep_result *e)
{
    return e->log_sum / em->view->total_mass - 0.5 * em->scorer.base +
           vem_i_view_log_jacobian(em->view);
}

double vem_i_em_again(vem_i_em *em)
{
    vem_i_estep_result e = vem_i_estep_again(em->estep, &em->posterior, NULL);
    return free_energy(em, &e);
}

double vem_i_em_threshold(const vem_i_em *em, double now)
{
    /* D / 2: a relative change of the squared error, whatever the units of the data. */
    double scale = em->scale_free ? 0.5 * em->view->d : fmax(fabs(now), 1e-3);
    return em->options->tolerance * scale;
}

static int converged(const vem_i_em *em, int64_t step, double now, int64_t changed)
{
    if (step <= em->shared_steps + 1 || em->trace[em->trace_count - 2].moved > 0)
        return 0;
    const vem_trace_step *last = &em->trace[em->trace_count - 2];
    double before = last->free_energy, threshold = vem_i_em_threshold(em, now);
    /* With random candidates a fit may rest for a step: then twice running. */
    int once = em->search.explore == 0;
    if (threshold == 0)
        return em->search.dense ? now <= before
                                : changed == 0 && (once || last->changed == 0);
    if (!(fabs(now - before) <= threshold))
        return 0;
    if (once || step < 3)
        return once;
    return fabs(before - em->trace[em->trace_count - 3].free_energy) <= threshold;
}

static int64_t count_empty(const vem_i_stats *stats)
{
    int64_t empty = 0;
    for (int32_t c = 0; c < stats->clusters; c++)
        empty += *vem_i_stats_mass(stats, c) <= 0;
    return empty;
}

static vem_status record(vem_i_em *em, const vem_trace_step *step)
{
    if (em->trace_count == em->trace_capacity) {
        int64_t capacity = 2 * em->trace_capacity + 64;
        vem_trace_step *grown = realloc(em->trace, (size_t)capacity * sizeof *grown);
        if (!grown)
            return vem_i_fail_memory(em->ctx, (size_t)capacity * sizeof *grown);
        em->trace = grown;
        em->trace_capacity = capacity;
    }
    em->trace[em->trace_count++] = *step;
    return VEM_OK;
}

/* One E-step with its line in the trace; VEM_STOPPED: the deadline, or a stop, came first. */
static vem_status expect(vem_i_em *em, int64_t step)
{
    double start = vem_i_clock();
    vem_progress told = {.phase = "em",
                         .step = em->steps_before +
                                 (step > 0 || !em->steps_before ? step : 0),
                         .max_steps = em->steps_before + em->options->max_steps,
                         .free_energy = em->trace_count ? em->free_energy : NAN,
                         .steps_left = vem_i_em_outlook(em)};
    vem_i_scorer_prepare(em->ctx, em->model, &em->scorer);
    if (em->kept)
        vem_i_kept_begin(em->kept);
    vem_i_estep_result e = vem_i_estep_run(em->estep, &em->posterior, NULL, &told,
                                           em->may_leave ? VEM_I_SKIP
                                           : em->kept    ? VEM_I_SKIP_LATE
                                                         : VEM_I_SKIP_NEVER);
    if (e.skipped)
        return VEM_STOPPED;
    if (em->variance_unknown)
        settle_variance(em, &e);
    em->free_energy = free_energy(em, &e);
    em->pairs += e.pairs;
    vem_trace_step line = {.step = step,
                           .free_energy = em->free_energy,
                           .pairs = e.pairs,
                           .changed = e.changed,
                           .seconds = vem_i_clock() - start};
    vem_status status = record(em, &line);
    told.free_energy = em->free_energy;
    told.done = told.total = 1;
    told.steps_left = vem_i_em_outlook(em);
    vem_i_progress(em->ctx, &told, 1);
    return status;
}

/* Moves where the stage has any, and the statistics of what is held then. */
static void collect(vem_i_em *em, const vem_i_stage *stage, int ends,
                    vem_trace_step *line)
{
    double start = vem_i_clock();
    if (stage->swap && em->swaps && !ends) {
        double promised;
        line->moved = em->swap(em->swaps, &promised);
        line->move = line->moved > 0 ? "swap" : NULL;
        vem_i_schedule_gain(&em->schedule, promised / em->view->total_mass);
    }
    vem_i_estep_collect(em->estep, &em->posterior, &em->stats);
    line->empty = count_empty(&em->stats);
    line->seconds += vem_i_clock() - start;
}

static vem_status maximize(vem_i_em *em, int64_t step, vem_trace_step *line)
{
    const double start = vem_i_clock();
    int64_t pairs = 0;
    em->constraints.shared = step <= em->shared_steps;
    em->constraints.relax = em->stage.relax;
    vem_status status = vem_i_steady(em->ctx, em->estep, &em->posterior, &em->constraints,
                                     &em->scorer, &em->stats, &pairs);
    if (status != VEM_OK)
        return status;
    em->pairs += pairs;
    line->pairs += pairs;
    line->seconds += vem_i_clock() - start;
    em->scorer.family->maximize(em->ctx, &em->scorer, &em->stats, &em->constraints,
                                em->model);
    return VEM_OK;
}

static void keep(vem_i_em *em, int must)
{
    if (em->keep)
        em->keep(em->keep_user, em, must);
}

/* A stop in the middle of a step: the state is that before it. */
static void keep_before(vem_i_em *em)
{
    const int known = em->steps > 0 && em->kept->width == em->posterior.width &&
                      em->trace[em->trace_count - 1].moved == 0;
    if (em->steps > 0 && !known)
        return; /* what is held then is not known any more: the last file stays */
    if (known)
        vem_i_kept_restore_held(em->kept, em);
    em->schedule = em->kept->schedule;
    if (known || !em->posterior.known)
        keep(em, 1);
}

/* A step was given up: back to the one before, if there was one. */
static vem_status give_back(vem_i_em *em)
{
    const int stopped = em->may_leave && em->ctx->stop_requested;
    em->outcome = stopped ? VEM_OUTCOME_STOPPED : VEM_OUTCOME_BUDGET;
    if (stopped)
        keep_before(em);
    if (stopped && em->steps == 0 && em->steps_before == 0)
        return vem_i_fail(em->ctx, VEM_STOPPED,
                          "Stopped in the first step, before there was a result.");
    if (em->steps == 0) {
        em->free_energy = em->free_energy_first = NAN;
        return VEM_OK;
    }
    vem_i_kept_restore(em->kept, em);
    vem_trace_step *line = &em->trace[em->trace_count - 1];
    line->move = NULL; /* what it did is undone */
    line->moved = 0;
    return VEM_OK;
}

/* Is there no time for the step after this one? */
static int out_of_time(vem_i_em *em, const vem_i_stage *stage)
{
    if (!em->kept)
        return 0;
    vem_i_schedule peek = em->schedule;
    const vem_i_stage next = vem_i_schedule_next(&peek);
    vem_i_kept_lasted(em->kept, stage, 0);
    vem_i_kept_save(em->kept, em);
    return em->ctx->deadline > 0 && vem_i_kept_too_late(em->kept, em->ctx, &next);
}

static vem_outcome outcome_of(const vem_i_em *em, int rests, int late)
{
    return rests                     ? VEM_OUTCOME_CONVERGED
           : em->ctx->stop_requested ? VEM_OUTCOME_STOPPED
           : late                    ? VEM_OUTCOME_BUDGET
                                     : VEM_OUTCOME_STEP_LIMIT;
}

/* The E-step of step em->step, as the schedule wants it. */
static vem_status begin_step(vem_i_em *em)
{
    keep(em, 0);
    if (em->kept)
        em->kept->schedule = em->schedule;
    em->stage = vem_i_schedule_next(&em->schedule);
    vem_i_estep_plan(em->estep, &em->stage.step);
    return expect(em, em->step);
}

vem_status vem_i_em_run(vem_i_em *em)
{
    vem_status status = VEM_OK;
    for (; em->step <= 0 && !em->ctx->stop_requested; em->step++) {
        keep(em, 0);
        if (em->kept)
            em->kept->schedule = em->schedule;
        if ((status = expect(em, em->step)) != VEM_OK)
            return status == VEM_STOPPED ? give_back(em) : status;
    }
    if (em->step < 1) /* stopped: the steps that are left out belong to who goes on */
        keep(em, 1);
    for (em->step = em->step < 1 ? 1 : em->step;; em->step++) {
        int64_t step = em->step;
        int entered = em->within; /* from a record */
        if (entered && em->kept)
            vem_i_kept_begin(em->kept);
        if (!entered && (status = begin_step(em)) != VEM_OK)
            return status == VEM_STOPPED ? give_back(em) : status;
        vem_trace_step *line = &em->trace[em->trace_count - 1];
        em->steps = step;
        if (step == 1)
            em->free_energy_first = em->free_energy;
        int rests = step > 1 && em->stage.may_end &&
                    converged(em, step, em->free_energy, line->changed);
        int limit = step >= em->options->max_steps;
        int late = out_of_time(em, &em->stage) && !limit;
        int ends = rests || em->ctx->stop_requested || limit || late;
        em->within = 1;
        if (ends && !entered)
            keep(em, 1);
        em->within = 0;
        collect(em, &em->stage, ends, line);
        if (ends) {
            em->outcome = outcome_of(em, rests, late);
            break;
        }
        if ((status = maximize(em, step, line)) != VEM_OK)
            return status;
        if (em->policy && line->empty > 0 && !line->move)
            line->moved = em->policy(em, step, &line->move);
        if (em->kept)
            vem_i_kept_lasted(em->kept, &em->stage, 1);
    }
    return VEM_OK;
}

vem_status vem_i_em_new(vem_i_em *em)
{
    vem_model *model = em->model;
    vem_ctx *ctx = em->ctx;
    em->step = 1 - em->options->init_steps;
    vem_status status = vem_i_scorer_new(ctx, em->view->kernels, model->family,
                                         model->clusters, model->d, &em->scorer);
    if (status == VEM_OK)
        status = vem_i_posterior_new(ctx, em->view, &em->search, &em->posterior);
    if (status == VEM_OK)
        status =
            vem_i_stats_new(ctx, model->family, model->clusters, model->d, &em->stats);
    if (status == VEM_OK)
        status = vem_i_estep_new(ctx, em->view, &em->scorer, &em->search, 1, &em->estep);
    /* A stop from before the first step waits for that step: there is no other result. */
    em->may_leave = may_leave(ctx, &em->search, em->view->n, model->clusters, model->d) &&
                    !(ctx->stop_requested && em->steps_before == 0);
    if (status == VEM_OK && (ctx->deadline > 0 || em->may_leave))
        status = vem_i_kept_new(ctx, model, em->view->n,
                                kept_width(ctx, em->may_leave, em->posterior.width),
                                &em->kept);
    if (status != VEM_OK)
        vem_i_em_free(em);
    return status;
}

void vem_i_em_free(vem_i_em *em)
{
    vem_i_estep_free(em->estep);
    vem_i_scorer_free(&em->scorer);
    vem_i_posterior_free(&em->posterior);
    vem_i_stats_free(&em->stats);
    vem_i_kept_free(em->kept);
    free(em->trace);
    em->estep = NULL;
    em->kept = NULL;
    em->trace = NULL;
}

uint64_t vem_i_em_bytes(const vem_ctx *ctx, const vem_options *options,
                        const vem_i_search *search, const vem_i_kernels *kernels,
                        int64_t n, int32_t d, int weighted)
{
    vem_family_kind family = (vem_family_kind)options->family;
    int32_t clusters = (int32_t)options->clusters;
    uint64_t stats =
        (uint64_t)clusters * (uint64_t)(1 + d + vem_i_second_count(family, d)) * 8;
    const int leave = may_leave(ctx, search, n, clusters, d);
    uint64_t kept = options->time == VEM_AUTO && !leave
                        ? 0
                        : vem_i_kept_bytes(family, clusters, d, n,
                                           kept_width(ctx, leave, search->held));
    return stats + kept + vem_i_scorer_bytes(family, clusters, d, kernels->element) +
           (uint64_t)ctx->threads * vem_i_scorer_work_bytes(family, d, kernels->element) +
           vem_i_posterior_bytes(n, search, kernels->element) +
           vem_i_estep_bytes(ctx, search, kernels, family, n, clusters, d, weighted);
}
