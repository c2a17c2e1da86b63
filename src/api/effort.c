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
#include "api/effort.h"

#include <math.h>
#include <string.h>

/* A forecast is about right: it may fill this share of the time. */
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
        o->family != VEM_ISO_SHARED || o->held > 1)
        return 0; /* as many as it takes */
    return each >= 128 ? 12 : each >= 64 ? 8 : 6;
}

/* What is asked of a candidate. */
typedef struct search {
    vem_ctx *ctx;
    const vem_data *data;
    const vem_options *asked;
    const vem_model *start;
    const vem_i_pace *pace;
    double seconds;
} search;

static vem_i_plan plan_for(const search *s, const vem_options *resolved, int64_t steps)
{
    vem_i_plan plan =
        vem_i_plan_of(s->ctx, s->data, s->asked, resolved, s->start != NULL);
    plan.pace = s->pace;
    if (steps > 0 && steps < plan.options.max_steps)
        plan.options.max_steps = steps;
    return plan;
}

/* Takes the candidate when it fits, or when it must do. */
static int take(const search *s, const vem_options *candidate, int64_t steps, int must,
                vem_options *resolved, vem_i_effort *effort)
{
    const vem_i_plan plan = plan_for(s, candidate, steps);
    const int fits = vem_i_plan_seconds(&plan) <= PLANNED * s->seconds;
    if (!fits && !must)
        return 0;
    *resolved = *candidate;
    effort->steps = steps;
    effort->after = vem_i_plan_seconds_after(&plan);
    effort->fits = fits;
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
    const int64_t each =
        o->family == VEM_FULL && 2 * (int64_t)d > FEWEST ? 2 * (int64_t)d : FEWEST;
    return each * o->clusters;
}

/* Is the number of rows ours to choose? */
static int may_reduce(const vem_options *asked, const vem_options *resolved)
{
    return asked->coreset == VEM_AUTO &&
           (asked->algorithm == VEM_AUTO || resolved->coreset != VEM_AUTO);
}

static int may_hold_fewer(const vem_options *asked, const vem_options *resolved)
{
    return asked->algorithm == VEM_AUTO && asked->held == VEM_AUTO &&
           asked->search == VEM_AUTO && resolved->family == VEM_FULL &&
           resolved->held > FEW_HELD;
}

/* There are no rows to give up any more. */
static vem_status take_last(const search *s, const vem_options *asked,
                            vem_options *candidate, int64_t steps, vem_options *resolved,
                            vem_i_effort *effort)
{
    if (take(s, candidate, steps, 0, resolved, effort))
        return VEM_OK;
    if (may_hold_fewer(s->asked, candidate)) {
        vem_options fewer = *asked;
        const int measure = candidate->measure;
        effort->held = candidate->held;
        fewer.held = FEW_HELD;
        vem_status status =
            vem_i_fit_resolve(s->ctx, s->data, &fewer, s->start, candidate);
        if (status != VEM_OK)
            return status;
        candidate->measure = measure;
    }
    take(s, candidate, steps, 1, resolved, effort);
    return VEM_OK;
}

static vem_status choose_rows(const search *s, vem_options *resolved,
                              vem_i_effort *effort)
{
    vem_options whole = *resolved, asked = *s->asked;
    const int64_t least = least_rows(&whole, s->data->d);
    const int64_t enough = enough_steps(effort->rows, s->asked, &whole);
    int64_t size = may_reduce(s->asked, &whole) ? power_below(effort->rows) : 0;
    if (size < least)
        return take_last(s, &asked, &whole, enough, resolved, effort);
    if (take(s, &whole, enough, 0, resolved, effort))
        return VEM_OK;
    for (;; size /= 2) {
        vem_options candidate;
        asked.coreset = effort->coreset = size;
        vem_status status =
            vem_i_fit_resolve(s->ctx, s->data, &asked, s->start, &candidate);
        if (status != VEM_OK)
            return status;
        candidate.measure = whole.measure;
        const int64_t steps = enough_steps(size, s->asked, &candidate);
        if (size / 2 < least)
            return take_last(s, &asked, &candidate, steps, resolved, effort);
        if (take(s, &candidate, steps, 0, resolved, effort))
            return VEM_OK;
    }
}

vem_status vem_i_effort_choose(vem_ctx *ctx, const vem_data *data,
                               const vem_options *asked, const vem_model *start,
                               const vem_i_pace *pace, vem_options *resolved,
                               vem_i_effort *effort)
{
    const search s = {ctx, data, asked, start, pace, asked->time};
    const vem_i_plan plan = plan_for(&s, resolved, 0);
    const int reduced = resolved->coreset != VEM_AUTO && resolved->coreset < data->n;
    vem_options whole = *resolved;
    *effort = (vem_i_effort){.seconds = asked->time,
                             .whole = vem_i_plan_seconds(&plan),
                             .rows = reduced ? resolved->coreset : data->n};
    if (take(&s, &whole, 0, 0, resolved, effort))
        return VEM_OK;
    if (whole.measure == VEM_MEASURE_EXACT) {
        resolved->measure = whole.measure = VEM_MEASURE_SAMPLE;
        effort->sampled = 1;
        if (take(&s, &whole, 0, 0, resolved, effort))
            return VEM_OK;
    }
    return choose_rows(&s, resolved, effort);
}

vem_status vem_i_effort_measure(vem_ctx *ctx, const vem_data *data,
                                const vem_options *asked, const vem_model *start,
                                vem_options *resolved, vem_i_effort *effort)
{
    *effort = (vem_i_effort){0};
    if (resolved->time == VEM_AUTO)
        return VEM_OK;
    const vem_i_plan plan = vem_i_plan_of(ctx, data, asked, resolved, start != NULL);
    vem_i_pace pace = vem_i_pace_usual(&plan);
    vem_status status =
        vem_i_pace_measure(ctx, data, (vem_precision)resolved->precision,
                           resolved->threads > 0 ? (int)resolved->threads : ctx->threads,
                           MEASURED * resolved->time, &pace);
    if (status == VEM_OK)
        status = vem_i_effort_choose(ctx, data, asked, start, &pace, resolved, effort);
    return status;
}

/* ---- the clock ---- */

void vem_i_effort_begin(vem_ctx *ctx, const vem_i_effort *e)
{
    if (e->seconds > 0)
        ctx->deadline = ctx->progress_start +
                        fmax(ENDS * e->seconds - e->after, EARLIEST * e->seconds);
}

void vem_i_effort_end_steps(vem_ctx *ctx, const vem_i_effort *e)
{
    if (e->seconds > 0)
        ctx->deadline = ctx->progress_start + e->seconds;
}

/* ---- in words ---- */

void vem_i_effort_say(vem_report *report, const vem_i_effort *e)
{
    if (e->seconds <= 0)
        return;
    if (e->sampled)
        vem_i_report_note(report,
                          "measures are estimated from a sample instead of all "
                          "%lld rows: --time %.3g.",
                          (long long)report->summary.n, e->seconds);
    if (e->coreset)
        vem_i_report_note(report, "a coreset of %lld rows instead of %lld: --time %.3g.",
                          (long long)e->coreset, (long long)e->rows, e->seconds);
    if (e->held)
        vem_i_report_note(report,
                          "each row holds its %lld most probable clusters instead of "
                          "%lld: --time %.3g.",
                          (long long)report->summary.options.held, (long long)e->held,
                          e->seconds);
    if (e->steps)
        vem_i_report_note(report,
                          "perhaps fewer steps than usual, but %s %lld: --time %.3g.",
                          e->fits ? "about" : "not even", (long long)e->steps,
                          e->seconds);
    if (e->sampled || e->coreset || e->held || e->steps)
        vem_i_report_note(report,
                          "all that was asked would have taken about %.2g seconds; what "
                          "fits --time depends on this machine.",
                          e->whole);
    else
        vem_i_report_say(report,
                         "nothing is given up for --time %.3g: about %.2g "
                         "seconds were expected%s.",
                         e->seconds, e->whole,
                         e->fits ? "" : ", but all of it was asked for");
}

void vem_i_effort_say_end(vem_report *report, const vem_i_effort *e)
{
    const vem_summary *s = &report->summary;
    if (e->seconds <= 0)
        return;
    if (s->outcome == VEM_OUTCOME_BUDGET && s->steps == 0)
        vem_i_report_note(report,
                          "--time %.3g was over before the first step: the model is what "
                          "the seeding gave.",
                          e->seconds);
    else if (s->outcome == VEM_OUTCOME_BUDGET)
        vem_i_report_note(report,
                          "ended by --time %.3g after %lld step%s, before it had "
                          "converged.",
                          e->seconds, (long long)s->steps, s->steps == 1 ? "" : "s");
    if (s->options.measure != VEM_MEASURE_NONE && isnan(s->quantization_error) &&
        s->outcome != VEM_OUTCOME_STOPPED)
        vem_i_report_note(report, "not measured: --time %.3g was over.", e->seconds);
}

vem_status vem_i_effort_fail(vem_ctx *ctx, const vem_i_effort *e, int64_t clusters)
{
    static const char stopped[] = "Stopped ";
    char where[sizeof ctx->message] = "in the middle.";
    const int64_t small = FEWEST * clusters;
    if (strncmp(ctx->message, stopped, sizeof stopped - 1) == 0)
        memcpy(where, ctx->message + sizeof stopped - 1,
               strlen(ctx->message) - (sizeof stopped - 1) + 1);
    where[strcspn(where, ".")] = '\0';
    if (e->rows > 2 * small && !e->coreset)
        return vem_i_fail(ctx, VEM_STOPPED,
                          "--time %.3g was over %.100s, and there is no model yet; more "
                          "time or a coreset (--coreset %lld) would help.",
                          e->seconds, where, (long long)small);
    return vem_i_fail(ctx, VEM_STOPPED,
                      "--time %.3g was over %.100s, and there is no model yet; more time "
                      "or fewer clusters would help.",
                      e->seconds, where);
}
