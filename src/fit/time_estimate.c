/* Time, estimated: the pairs that each part of a fit will score, times what a pair costs.
 *
 *     pair      2 d + 16 operations (of sparse rows their values for d), for full covariances d (d + 2) + 16, at the rate of the
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
 * --time they are measured (machine_speed.c). The
 * result is meant to tell seconds from minutes from hours, and is announced as "about". */
#include <math.h>
#include <string.h>

#include "fit/memory_plan.h"
#include "search/search.h"
#include "seed/seed.h"

static const double STREAM = 6; /* factor of what memory bounds */
/* Bytes a second that are read; checking, centering and summing them takes as long as
 * reading them this many times. */
static const double COLD = 9e9, WARM = 13e9, PASSES = 12;
/* A level of a tree takes as long as reading its rows so many times. */
static const double LEVEL = 8;
/* Rounds of swaps that are usual, and pairs for each row in one that fits shapes: counted off
 * the passes of src/moves/shape.c, not measured. */
static const double ROUNDS = 5, HALVES = 100;
/* Steps of each number of clusters where they are inserted; pairs for each row that candidates are
 * drawn from, and such rows of a cluster. Counted off src/moves/insert.c but for the steps, of which
 * there were 8 to 30 on pendigits, protein, SUSY and s4. */
static const double GROWN_STEPS = 15, CANDIDATES = 180, CANDIDATE_ROWS = 2048;
/* Runs on a sample are short loops over few rows and clusters, and take this many times what
 * their operations take in whole blocks: k-means, iso and diag, full. Measured on one core, for
 * pendigits, SUSY and protein with 8 to 12 clusters: 2.4; 3.3 to 4.2; 1.9 and 2.2. */
static const double SMALL = 2.4, SMALL_SHAPED = 3.7, SMALL_FULL = 2;
/* Steps over all rows from what starts on a sample have found. */
static const double AFTER_STARTS = 6;

static double threads_of(const vem_i_plan *plan)
{
    return plan->programme.options.threads > 0 ? (double)plan->programme.options.threads
                                               : (double)plan->run->threads;
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
        if (strcmp(plan->run->ctx->cpu, rates[i].cpu) == 0)
            rate = rates[i].rate;
    return plan->programme.options.precision == VEM_SINGLE ? rate : rate / 2;
}

static double pair_of(const vem_i_plan *plan, const vem_i_family *family)
{
    const double d = plan->d;
    return (vem_i_takes_products(family) ? d * (d + 2) : 2 * (double)plan->row_values) +
           VEM_I_PAIR_OVERHEAD;
}

/* Of rows as seeds are chosen among: written out, or as they are. */
static double distance_of(const vem_i_plan *plan)
{
    const int stays = plan->sparse && vem_i_seed_stays_sparse(
                                          (vem_seeding)plan->programme.options.seeding);
    return 2 * (double)(stays ? plan->row_values : plan->d) + VEM_I_PAIR_OVERHEAD;
}

static double seeding(const vem_options *o, double n)
{
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
    const double c = (double)o->clusters,
                 pair = pair_of(plan, vem_i_family_of(o->family));
    const vem_i_search_spec search = vem_i_search_for(o, 0);
    /* Statistics: each held pair once more, at the rate of memory. */
    const double again = search.dense ? c : STREAM * (double)search.held;
    const double pairs = n * again + search.type->work(&search, n, pair);
    return pairs * pair;
}

/* `swaps`: there are some, in this loop or in one before it. */
static double usual_steps(const vem_options *o, int swaps)
{
    const double usual = swaps              ? 20
                         : o->tolerance > 0 ? 7 * fmax(1, -log10(o->tolerance))
                                            : 80;
    return fmin(usual, (double)o->max_steps);
}

/* Operations of a loop. Shapes of halves are fitted to the items of each cluster in turn, from
 * several beginnings, in every round of swaps. */
static double loop_of(const vem_i_plan *plan, const vem_options *o, int swaps, double n)
{
    const vem_i_search_spec search = vem_i_search_for(o, 0);
    double operations = usual_steps(o, swaps) * step_of(plan, o, n);
    const vem_i_family *family = vem_i_family_of(o->family);
    if (vem_i_grows(
            o)) /* the clusters there are, on average half of them, and candidates */
        return (double)o->clusters * (GROWN_STEPS * step_of(plan, o, n) / 2 +
                                      fmin(n, (double)o->clusters * CANDIDATE_ROWS) *
                                          CANDIDATES * pair_of(plan, family));
    if (vem_i_swaps_in_loop(o, &search) && !family->shared)
        operations += fmin(ROUNDS, (double)o->swaps) * HALVES * n * pair_of(plan, family);
    return operations;
}

/* Operations of all loops; a hard finish is short beside them, and so are steps with prices. */
static double loops_of(const vem_i_plan *plan, const vem_i_programme *p, double n)
{
    double operations = 0;
    for (int i = 0; i < p->count; i++) {
        const vem_i_stage *stage = &p->stages[i];
        if (stage->kind == VEM_I_STAGE_FIT &&
            vem_i_programme_find(p, VEM_I_STAGE_LEADING)) {
            vem_options last = stage->options;
            last.max_steps = (int64_t)fmin(AFTER_STARTS, (double)last.max_steps);
            operations += loop_of(plan, &last, 0, n);
        } else if (stage->kind == VEM_I_STAGE_LEADING) {
            vem_i_plan along = *plan;
            along.d = stage->axes;
            along.row_values = stage->axes;
            operations += loop_of(&along, &stage->options, 1, n) +
                          2 * n * (double)plan->d * stage->axes;
        } else if (stage->is.whole && !stage->is.after)
            operations += loop_of(plan, &stage->options, p->options.swaps > 0, n);
        if (stage->kind == VEM_I_STAGE_FIT)
            operations +=
                (double)stage->options.init_steps * step_of(plan, &stage->options, n);
    }
    return operations;
}

vem_i_speed vem_i_speed_usual(const vem_i_plan *plan)
{
    return (vem_i_speed){.operations = usual_rate(plan) * threads_of(plan),
                         .cold = COLD,
                         .warm = WARM};
}

static vem_i_speed speed_of(const vem_i_plan *plan)
{
    return plan->speed ? *plan->speed : vem_i_speed_usual(plan);
}

/* Reading and centering: once over rows nobody has seen, then again and again. */
static double reading(const vem_i_plan *plan, const vem_i_speed *speed)
{
    const double bytes =
        (double)plan->n * (double)plan->row_values *
        (double)(plan->sparse ? sizeof(double) : vem_i_dtype_bytes(plan->type));
    return bytes / speed->cold + PASSES * bytes / (speed->warm * threads_of(plan));
}

/* A tree of cells: each level reads all rows and writes them, and knows more than reading does;
 * the cells and their children. */
static double dividing(const vem_i_plan *plan, const vem_i_speed *speed)
{
    const vem_i_programme *p = &plan->programme;
    const double bytes =
        (double)p->rows * plan->d *
        (p->options.precision == VEM_SINGLE ? sizeof(float) : sizeof(double));
    if (!p->celled)
        return 0;
    return LEVEL * bytes * (1 + log2((double)p->items)) /
           (speed->warm * threads_of(plan));
}

/* Operations of the starts on a sample. What begins with the best so far takes no seeding, and
 * about as long. */
static double starting(const vem_i_plan *plan)
{
    const vem_i_starts_plan *starts = &plan->programme.starts;
    const vem_options o = vem_i_starts_options(&plan->programme.options);
    const vem_i_programme each =
        vem_i_programme_on_sample(&o, VEM_I_FROM_ROWS, starts->rows);
    const vem_i_programme last = vem_i_programme_on_larger(&o, starts->larger);
    const double rows = (double)starts->rows;
    const vem_i_family *family = vem_i_family_of(o.family);
    const double slower = vem_i_is_plain(family)         ? SMALL
                          : vem_i_takes_products(family) ? SMALL_FULL
                                                         : SMALL_SHAPED;
    return slower * ((double)starts->fresh * seeding(&o, rows) * distance_of(plan) +
                     (double)starts->runs * loops_of(plan, &each, rows) +
                     loops_of(plan, &last, (double)starts->larger));
}

/* Operations until the last step has ended. */
static double fitting(const vem_i_plan *plan)
{
    const vem_i_programme *p = &plan->programme;
    const double n = (double)p->items;
    const double restarts = p->from == VEM_I_FROM_MODEL ? 1 : (double)p->options.restarts;
    if (p->starts.runs > 0) {
        vem_options last = p->options;
        last.swaps = 0;
        last.max_steps = (int64_t)fmin(AFTER_STARTS, (double)last.max_steps);
        return (starting(plan) + loop_of(plan, &last, 0, n)) * restarts;
    }
    const vem_i_stage *seed = vem_i_programme_find(p, VEM_I_STAGE_SEED);
    const vem_i_family *family = vem_i_family_of(p->options.family);
    const double seen =
        vem_i_has_places(family)
            ? n
            : (double)vem_i_seed_rows(p->items, plan->d, family, plan->sparse,
                                      (vem_seeding)p->options.seeding,
                                      (int32_t)p->options.clusters);
    return restarts * ((seed ? seeding(&seed->options, seen) * distance_of(plan) : 0) +
                       loops_of(plan, p, n));
}

static double measuring(const vem_i_plan *plan)
{
    const vem_options *o = &plan->programme.options;
    const vem_i_family *family = vem_i_family_of(o->family);
    const double pair =
        pair_of(plan, family) + (vem_i_has_places(family) ? distance_of(plan) : 0) + 20;
    double rows = (double)plan->n;
    if (o->measure == VEM_MEASURE_NONE)
        return 0;
    if (o->measure == VEM_MEASURE_SAMPLE)
        return 0.05 * fitting(plan);
    if (plan->programme.reduced)
        rows += (double)plan->programme.rows;
    return rows * (double)o->clusters * pair;
}

double vem_i_plan_seconds_after(const vem_i_plan *plan)
{
    return measuring(plan) / speed_of(plan).operations;
}

double vem_i_plan_seconds(const vem_i_plan *plan)
{
    const vem_i_speed speed = speed_of(plan);
    return (fitting(plan) + measuring(plan)) / speed.operations + reading(plan, &speed) +
           dividing(plan, &speed);
}
