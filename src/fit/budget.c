/* What loses least, by measurement (docs/math/budgets.md). In the order in which it goes:
 *
 *     measures   of all rows -> of a sample; the model is the same
 *     rows       as long as 256 are left for each cluster: a coreset loses less than a
 *                percent of the squared error, and steps cost in proportion
 *     steps      below that the last steps are worth less than rows are: 12 steps are
 *                enough to keep 128 rows, 8 for 64
 *     rows       down to 8 for each cluster, with room for 6 steps
 *     steps      whatever is left
 *
 * That is so for k-means. Variances and soft assignments take many more steps to settle, and
 * a fit that was cut short is worse than one of few rows: there all rows that may go do so
 * before any step. Covariances need twice as many rows as columns. Full ones also may hold
 * fewer clusters before they lose steps: 3 instead of all take half to a third of the time
 * of a step; for other families a step that holds all of them takes no longer.
 *
 * So of all coresets (all rows, then powers of two) the largest is taken for which its
 * number of steps fits: more time never gives a smaller one. What time is left over then
 * goes into more steps, until the fit has converged or the deadline is near.
 *
 * What the caller set is not touched: a coreset of his own, a preset (a paper's algorithm,
 * exactly) and its rows, a tolerance or number of steps (which then must fit). */
#include "fit/budget.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "comm/comm.h"
#include "fit/resolve.h"
#include "model/family.h"

/* An estimate is about right: it may fill this share of the time. */
static const double PLANNED = 0.8;
/* The machine is looked at for this share of the time. */
static const double MEASURED = 0.01;
/* Steps end by then, so that the rest fits; and never before half of the time. */
static const double ENDS = 0.95, EARLIEST = 0.5;
/* Rows for each cluster, at least; clusters that a row holds instead of all. */
enum { FEWEST = 8, FEW_HELD = 3 };

static int64_t enough_steps(int64_t rows, const vem_options *asked, const vem_options *o)
{
    const int64_t each = rows / o->clusters;
    if (each >= 256 || asked->max_steps != VEM_AUTO || asked->tolerance != VEM_AUTO ||
        !vem_i_is_plain(vem_i_family_of(o->family)) || o->held > 1)
        return 0; /* as many as it takes */
    return each >= 128 ? 12 : each >= 64 ? 8 : 6;
}

/* What is asked of a candidate. */
typedef struct search {
    vem_i_run *run;
    const vem_data *data;
    const vem_options *asked;
    const vem_model *start;
    const vem_i_speed *speed;
    double seconds;
} search;

static vem_i_plan plan_for(const search *s, const vem_options *resolved, int64_t steps)
{
    vem_options o = *resolved;
    if (steps > 0 && steps < o.max_steps)
        o.max_steps = steps;
    vem_i_plan plan = vem_i_plan_of(s->run, s->data, s->asked, &o, s->start != NULL);
    plan.speed = s->speed;
    if (s->run->comm && !plan.programme.reduced) /* each has its part of the rows */
        plan.programme.rows = plan.programme.items =
            vem_i_shards(plan.programme.rows, s->run->comm->size);
    return plan;
}

/* Takes the candidate when it fits, or when it must do. */
static int take(const search *s, const vem_options *candidate, int64_t steps, int must,
                vem_options *resolved, vem_i_budget *budget)
{
    const vem_i_plan plan = plan_for(s, candidate, steps);
    const int fits = vem_i_plan_seconds(&plan) <= PLANNED * s->seconds;
    if (!fits && !must)
        return 0;
    *resolved = *candidate;
    budget->steps = steps;
    budget->after = vem_i_plan_seconds_after(&plan);
    budget->fits = fits;
    return 1;
}

static int64_t power_below(int64_t rows)
{
    int64_t power = 1;
    while (power < rows / 2 + rows % 2)
        power *= 2;
    return power;
}

static int64_t least_rows(const vem_options *o, int32_t d)
{
    const int64_t wanted = 2 * (int64_t)d;
    const int64_t each = vem_i_has_matrices(vem_i_family_of(o->family)) && wanted > FEWEST
                             ? wanted
                             : FEWEST;
    return each * o->clusters;
}

/* Is the number of rows ours to choose? */
static int may_reduce(const search *s, const vem_options *resolved)
{
    const vem_options *asked = s->asked;
    return asked->coreset == VEM_AUTO &&
           (vem_i_is_ours(asked) || resolved->coreset != VEM_AUTO);
}

static int may_hold_fewer(const vem_options *asked, const vem_options *resolved)
{
    return vem_i_is_ours(asked) && asked->held == VEM_AUTO && asked->search == VEM_AUTO &&
           vem_i_takes_products(vem_i_family_of(resolved->family)) &&
           resolved->held > FEW_HELD;
}

/* Resolves options of which something was given up. What was asked for may not go with that
 * (a number of --balance, what is said of cells that are taken by default, sparse rows): who
 * refuses it says so here, and it is not given up. */
static vem_status try_less(const search *s, const vem_options *less,
                           vem_options *candidate, int *refused)
{
    vem_options found;
    const vem_status status = vem_i_fit_resolve(s->run, s->data, less, s->start, &found);
    *refused = status == VEM_BAD_OPTION;
    if (*refused)
        s->run->ctx->message[0] = '\0';
    if (status != VEM_OK)
        return *refused ? VEM_OK : status;
    found.measure = candidate->measure;
    *candidate = found;
    return VEM_OK;
}

/* There are no rows to give up any more. */
static vem_status take_last(const search *s, const vem_options *asked,
                            vem_options *candidate, int64_t steps, vem_options *resolved,
                            vem_i_budget *budget)
{
    if (take(s, candidate, steps, 0, resolved, budget))
        return VEM_OK;
    if (may_hold_fewer(s->asked, candidate)) {
        vem_options fewer = *asked;
        const int64_t held = candidate->held;
        int refused;
        fewer.held = FEW_HELD;
        const vem_status status = try_less(s, &fewer, candidate, &refused);
        if (status != VEM_OK)
            return status;
        budget->held = refused ? 0 : held;
    }
    take(s, candidate, steps, 1, resolved, budget);
    return VEM_OK;
}

/* Fewer rows, half as many each time, until it fits or there are no rows to give up. */
static vem_status choose_rows(const search *s, vem_options *resolved,
                              vem_i_budget *budget)
{
    vem_options last = *resolved, asked = *s->asked, fewer = *s->asked;
    const int64_t least = least_rows(&last, s->data->d);
    int64_t steps = enough_steps(budget->rows, s->asked, &last);
    int64_t size = may_reduce(s, &last) ? power_below(budget->rows) : 0;
    for (; !take(s, &last, steps, 0, resolved, budget); size /= 2) {
        fewer.coreset = size;
        if (size < least)
            return take_last(s, &asked, &last, steps, resolved, budget);
        const vem_status status = try_less(s, &fewer, &last, &budget->rows_stay);
        if (status != VEM_OK)
            return status;
        if (budget->rows_stay)
            return take_last(s, &asked, &last, steps, resolved, budget);
        steps = enough_steps(size, s->asked, &last);
        asked.coreset = budget->coreset = size;
    }
    return VEM_OK;
}

static double seconds_left(const vem_i_run *run, const vem_options *o)
{
    return fmax(o->time - run->ctx->spent, 1e-9);
}

vem_status vem_i_budget_choose(vem_i_run *run, const vem_data *data,
                               const vem_options *asked, const vem_model *start,
                               const vem_i_speed *speed, vem_options *resolved,
                               vem_i_budget *budget)
{
    const search s = {run, data, asked, start, speed, seconds_left(run, asked)};
    const vem_i_plan plan = plan_for(&s, resolved, 0);
    const int reduced = vem_i_reduces(resolved, data->n);
    vem_options whole = *resolved;
    *budget = (vem_i_budget){.asked = asked->time,
                             .seconds = s.seconds,
                             .whole = vem_i_plan_seconds(&plan),
                             .rows = reduced ? resolved->coreset : data->n};
    if (take(&s, &whole, 0, 0, resolved, budget))
        return VEM_OK;
    if (whole.measure == VEM_MEASURE_EXACT) {
        resolved->measure = whole.measure = VEM_MEASURE_SAMPLE;
        budget->sampled = 1;
        if (take(&s, &whole, 0, 0, resolved, budget))
            return VEM_OK;
    }
    return choose_rows(&s, resolved, budget);
}

/* Machines differ, and what was read before the fit took each its time: the first process's choice
 * is that of all. */
static vem_status choose_as_first(vem_i_run *run, vem_options *resolved,
                                  vem_i_budget *budget)
{
    run->comm->broadcast(run->comm, 0, resolved, sizeof *resolved);
    run->comm->broadcast(run->comm, 0, budget, sizeof *budget);
    return vem_i_comm_agree(run);
}

/* The same after a measurement of the machine. Without --time it does nothing. */
static vem_status choose_measured(vem_i_run *run, const vem_data *data,
                                  const vem_options *asked, const vem_model *start,
                                  vem_options *resolved, vem_i_budget *budget)
{
    *budget = (vem_i_budget){0};
    if (resolved->time == VEM_AUTO)
        return VEM_OK;
    const vem_i_plan plan = vem_i_plan_of(run, data, asked, resolved, start != NULL);
    vem_i_speed speed = vem_i_speed_usual(&plan);
    vem_status status =
        vem_i_speed_measure(run, data, (vem_precision)resolved->precision,
                            resolved->threads > 0 ? (int)resolved->threads : run->threads,
                            MEASURED * seconds_left(run, resolved), &speed);
    if (status == VEM_OK)
        status = vem_i_budget_choose(run, data, asked, start, &speed, resolved, budget);
    if (status == VEM_OK && run->comm)
        status = choose_as_first(run, resolved, budget);
    return status;
}

vem_status vem_i_plan_fit(vem_i_run *run, const vem_data *data, const vem_options *asked,
                          const vem_model *start, vem_options *resolved,
                          vem_i_budget *budget, vem_i_plan *plan)
{
    vem_status status = vem_i_fit_resolve(run, data, asked, start, resolved);
    if (status == VEM_OK)
        status = choose_measured(run, data, asked, start, resolved, budget);
    if (status == VEM_OK)
        *plan = vem_i_plan_of(run, data, asked, resolved, start != NULL);
    if (status == VEM_OK)
        plan->widens = start && start->scale && !resolved->standardize;
    return status;
}

vem_forecast vem_i_plan_forecast(const vem_i_plan *plan, const vem_data *data,
                                 const vem_i_budget *b)
{
    const double seconds = b->whole > 0 ? b->whole : vem_i_plan_seconds(plan);
    const uint64_t bytes = plan->taken + vem_i_plan_bytes(plan);
    const uint64_t left = vem_i_plan_allowed(plan, data);
    return (vem_forecast){.size = sizeof(vem_forecast),
                          .bytes = bytes > plan->highest ? bytes : plan->highest,
                          .spilled = vem_i_plan_spilled(plan),
                          .allowed = left ? left + plan->taken : 0,
                          .seconds =
                              b->seconds > 0 ? fmin(seconds, b->seconds) : seconds};
}

/* ---- the clock ---- */

void vem_i_budget_begin(vem_i_run *run, const vem_i_budget *e)
{
    if (e->seconds > 0)
        run->deadline =
            vem_i_began(run) + fmax(ENDS * e->seconds - e->after, EARLIEST * e->seconds);
}

void vem_i_budget_end_steps(vem_i_run *run, const vem_i_budget *e)
{
    if (e->seconds > 0)
        run->deadline = vem_i_began(run) + e->seconds;
}

/* ---- in words ---- */

/* Measures of a sample, or none. */
static void say_measures(vem_report *report, const vem_i_budget *e)
{
    const vem_summary *s = &report->summary;
    const int measured = !isnan(s->quantization_error);
    if (report->options.measure == VEM_MEASURE_NONE)
        return;
    if (!measured && s->outcome != VEM_OUTCOME_STOPPED)
        vem_i_report_note(report, "the model was not measured: --time %.3g was over.",
                          e->asked);
    if (measured && e->sampled && s->measured_rows < s->n)
        vem_i_report_note(report,
                          "measures are estimated from %lld of %lld rows: --time %.3g.",
                          (long long)s->measured_rows, (long long)s->n, e->asked);
}

void vem_i_budget_say(vem_report *report, const vem_i_budget *e)
{
    const vem_summary *s = &report->summary;
    const int late = s->outcome == VEM_OUTCOME_BUDGET;
    if (e->seconds <= 0)
        return;
    if (e->coreset)
        vem_i_report_note(report, "a coreset of %lld rows instead of %lld: --time %.3g.",
                          (long long)e->coreset, (long long)e->rows, e->asked);
    if (e->held)
        vem_i_report_note(report,
                          "each row holds its %lld most probable clusters instead of "
                          "%lld: --time %.3g.",
                          (long long)report->options.held, (long long)e->held, e->asked);
    if (late && s->steps == 0)
        vem_i_report_note(report,
                          "--time %.3g was over before the first step: the model is what "
                          "the seeding gave.",
                          e->asked);
    else if (late)
        vem_i_report_note(report,
                          "ended by --time %.3g after %lld step%s, before it had "
                          "converged.",
                          e->asked, (long long)s->steps, s->steps == 1 ? "" : "s");
    say_measures(report, e);
    if (e->sampled || e->coreset || e->held || e->steps)
        vem_i_report_note(report,
                          "all that was asked would have taken about %.2g seconds; what "
                          "fits --time depends on this machine.",
                          e->whole);
    else if (!late)
        vem_i_report_say(report,
                         "nothing is given up for --time %.3g: about %.2g "
                         "seconds were expected%s.",
                         e->asked, e->whole,
                         e->fits ? "" : ", but all of it was asked for");
}

vem_status vem_i_budget_fail(vem_i_run *run, const vem_i_budget *e, int64_t clusters)
{
    const char *where = *run->watch->where ? run->watch->where : "in the middle";
    const int64_t small = FEWEST * clusters;
    if (e->rows > 2 * small && !e->coreset && !e->rows_stay)
        return vem_i_fail(run, VEM_STOPPED,
                          "--time %.3g was over %s, and there is no model yet; more "
                          "time or a coreset (--coreset %lld) would help.",
                          e->asked, where, (long long)small);
    return vem_i_fail(run, VEM_STOPPED,
                      "--time %.3g was over %s, and there is no model yet; more time "
                      "or fewer clusters would help.",
                      e->asked, where);
}
