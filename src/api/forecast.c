/* Time, forecast: the pairs that each part of a fit will score, times what a pair costs.
 *
 *     pair      2 d + 16 operations, for full covariances d (d + 2) + 16, at the rate of the
 *               kernels where rows meet the same clusters (a product of matrices); six times
 *               that where one center meets all rows, which is at the rate of memory; and
 *               what the neighborhood searches pay for each candidate of a row, whatever d
 *     seeding   k-means++ N C, greedy (2 + ln C) N C, AFK-MC2 N + M C^2 / 2, two levels
 *               about 6 N sqrt(C)
 *     step      N C, or what the search tries, and C^2 more for an exact graph; where all
 *               clusters are held, as much again for the statistics
 *     steps     what fits have usually taken at their tolerance: nobody knows before
 *     measure   2 N C, or a twentieth of the rest
 *     reading   the bytes of the rows, once, and what is done with them on the way
 *
 * The usual rates were taken on one processor with AVX-512 and guessed for the others; under
 * --time they are measured (pace.c). The
 * result is meant to tell seconds from minutes from hours, and is announced as "about". */
#include <math.h>
#include <string.h>

#include "api/course.h"
#include "api/plan.h"
#include "api/reduce.h"
#include "api/starts.h"
#include "search/graph.h"
#include "search/search.h"
#include "seed/seed.h"

static const double OVERHEAD = 16, STREAM = 6; /* factor of what memory bounds */
/* A step that compares all rows with all clusters does nothing else, and is faster. */
static const double WHOLE = 0.6;
/* Where lists are shared: rows that a cluster takes beside its own, and operations for each
 * pair that do not depend on d. */
static const double FILL = 16, LISTED = 24;
/* Bytes a second that are read; checking, centering and summing them takes as long as
 * reading them this many times. */
static const double COLD = 9e9, WARM = 13e9, PASSES = 12;
/* Rounds of swaps that are usual, and pairs for each row in one that fits shapes: counted off
 * the passes of src/moves/shape.c, not measured. */
static const double ROUNDS = 5, HALVES = 100;
/* Steps over all rows from what starts on a sample have found. */
static const double AFTER_STARTS = 6;
/* Operations per candidate: looking one up, and learning from it. */
static const double CANDIDATE = 700, LEARNED = 1500;

static double threads_of(const vem_i_plan *plan)
{
    return plan->options.threads > 0 ? (double)plan->options.threads
                                     : (double)plan->ctx->threads;
}

/* Operations a second of one thread, for whole blocks of distances. */
static double usual_rate(const vem_i_plan *plan)
{
    static const struct {
        const char *cpu;
        double rate;
    } rates[] = {{"avx512", 60e9}, {"avx2", 40e9}, {"neon", 20e9}, {"baseline", 10e9}};
    double rate = 2e9;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (strcmp(plan->ctx->cpu, rates[i].cpu) == 0)
            rate = rates[i].rate;
    return plan->options.precision == VEM_SINGLE ? rate : rate / 2;
}

static double pair_of(const vem_i_plan *plan, int family)
{
    const double d = plan->d;
    return (family == VEM_FULL ? d * (d + 2) : 2 * d) + OVERHEAD;
}

static double seeding(const vem_i_plan *plan, double n)
{
    const vem_options *o = &plan->options;
    const double c = (double)o->clusters;
    switch ((vem_seeding)o->seeding) {
    case VEM_SEED_RANDOM: return n;
    case VEM_SEED_PLUSPLUS: return STREAM * n * c;
    case VEM_SEED_PLUSPLUS_GREEDY:
        return STREAM * n * c * vem_i_greedy_candidates((int32_t)c);
    case VEM_SEED_AFKMC2: return STREAM * (n + (double)o->chain * c * c / 2);
    case VEM_SEED_TWO_LEVEL: return 6 * n * sqrt(c);
    }
    return 0;
}

/* Operations of one step. */
static double step_of(const vem_i_plan *plan, const vem_options *o, double n)
{
    const double c = (double)o->clusters, pair = pair_of(plan, o->family);
    const vem_i_search search = vem_i_search_for(o, 0);
    /* Statistics: each held pair once more, at the rate of memory. */
    double pairs = search.dense ? n * c : STREAM * n * (double)search.held;
    if (search.dense)
        pairs += n * c * (1 + 20 / pair); /* exponentials */
    else if (search.kind == VEM_SEARCH_GROUPS)
        /* Rows of a cluster fill whole panels, and lists are made for each cluster. Cells
         * are looked at now and then, by some of the rows. */
        pairs +=
            (n + FILL * c) * ((double)search.group_reach + sqrt(c)) * (1 + LISTED / pair);
    else if (search.reach)
        pairs += n * vem_i_graph_candidates(&search, (int32_t)c) *
                 (1 + (search.kind == VEM_SEARCH_EXACT ? CANDIDATE : LEARNED) / pair);
    else
        pairs += WHOLE * n * c;
    if (search.kind == VEM_SEARCH_EXACT)
        pairs += c * c;
    return pairs * pair;
}

static double usual_steps(const vem_options *o, double tolerance)
{
    if (o->swaps > 0)
        return fmin(20, (double)o->max_steps);
    double usual = tolerance > 0 ? 7 * fmax(1, -log10(tolerance)) : 80;
    return fmin(usual, (double)o->max_steps);
}

/* Operations of a loop. Shapes of halves are fitted to the items of each cluster in turn, from
 * several beginnings, in every round of swaps. */
static double loop_of(const vem_i_plan *plan, const vem_options *o, double n)
{
    const vem_i_search search = vem_i_search_for(o, 0);
    double operations = usual_steps(o, o->tolerance) * step_of(plan, o, n);
    if (vem_i_swaps_in_loop(o, &search) && o->family != VEM_ISO_SHARED)
        operations +=
            fmin(ROUNDS, (double)o->swaps) * HALVES * n * pair_of(plan, o->family);
    return operations;
}

vem_i_pace vem_i_pace_usual(const vem_i_plan *plan)
{
    return (vem_i_pace){.operations = usual_rate(plan) * threads_of(plan),
                        .cold = COLD,
                        .warm = WARM};
}

static vem_i_pace pace_of(const vem_i_plan *plan)
{
    return plan->pace ? *plan->pace : vem_i_pace_usual(plan);
}

double vem_i_plan_steps(const vem_i_plan *plan)
{
    return usual_steps(&plan->options, plan->options.tolerance);
}

/* Reading and centering: once over rows nobody has seen, then again and again. */
static double reading(const vem_i_plan *plan, const vem_i_pace *pace)
{
    const double bytes =
        (double)plan->n * plan->d * (double)vem_i_dtype_bytes(plan->type);
    return bytes / pace->cold + PASSES * bytes / (pace->warm * threads_of(plan));
}

/* Operations of the starts on a sample. What begins with the best so far takes no seeding, and
 * about as long. */
static double starting(const vem_i_plan *plan, const vem_i_starts_plan *starts)
{
    const vem_options o = vem_i_starts_options(&plan->options);
    const double rows = (double)starts->rows;
    vem_options last = o;
    last.swaps = 0;
    double each = loop_of(plan, &o, rows);
    if (vem_i_wants_hard_start(&o, 1)) {
        const vem_options hard = vem_i_hard_start(&o);
        each += loop_of(plan, &hard, rows);
        if (vem_i_wants_listed_start(&o)) {
            const vem_options listed = vem_i_listed_start(&o, 0);
            each += loop_of(plan, &listed, rows);
        }
    }
    return (double)starts->fresh * seeding(plan, rows) * pair_of(plan, VEM_ISO_SHARED) +
           (double)starts->runs * each + loop_of(plan, &last, (double)starts->larger);
}

/* Operations until the last step has ended. */
static double fitting(const vem_i_plan *plan)
{
    const vem_options *o = &plan->options;
    const int reduced = vem_i_reduces(o, plan->n);
    const double n = (double)(reduced ? o->coreset : plan->n);
    const vem_i_starts_plan starts =
        vem_i_starts_of(o, plan->ours && !plan->warm, reduced, (int64_t)n, plan->d);
    double operations = 0;
    if (starts.runs > 0) {
        vem_options last = *o;
        last.swaps = 0;
        last.max_steps = (int64_t)fmin(AFTER_STARTS, (double)o->max_steps);
        return (starting(plan, &starts) + loop_of(plan, &last, n)) * (double)o->restarts;
    }
    if (!plan->warm)
        operations += seeding(plan, n) * pair_of(plan, VEM_ISO_SHARED);
    if (!plan->warm && vem_i_wants_hard_start(o, plan->ours)) {
        const vem_options hard = vem_i_hard_start(o);
        operations += loop_of(plan, &hard, n);
        if (vem_i_wants_listed_start(o)) {
            const vem_options listed = vem_i_listed_start(o, 0);
            operations += loop_of(plan, &listed, n);
        }
    }
    operations += loop_of(plan, o, n) + (double)o->init_steps * step_of(plan, o, n);
    return operations * (plan->warm ? 1 : (double)o->restarts);
}

static double measuring(const vem_i_plan *plan)
{
    const vem_options *o = &plan->options;
    const double pair = pair_of(plan, o->family) + pair_of(plan, VEM_ISO_SHARED) + 20;
    double rows = (double)plan->n;
    if (o->measure == VEM_MEASURE_NONE)
        return 0;
    if (o->measure == VEM_MEASURE_SAMPLE)
        return 0.05 * fitting(plan);
    if (vem_i_reduces(o, plan->n))
        rows += (double)o->coreset;
    return rows * (double)o->clusters * pair;
}

double vem_i_plan_seconds_after(const vem_i_plan *plan)
{
    return measuring(plan) / pace_of(plan).operations;
}

double vem_i_plan_seconds(const vem_i_plan *plan)
{
    const vem_i_pace pace = pace_of(plan);
    return (fitting(plan) + measuring(plan)) / pace.operations + reading(plan, &pace);
}
