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

/* Operations of one step of a loop. Lists are as long as they are after a seeding: the usual numbers of
 * steps go with these. */
static double step_of(const vem_i_plan *plan, const vem_i_stage *stage, double n)
{
    const double c = (double)stage->options.clusters,
                 pair = pair_of(plan, vem_i_family_of(stage->options.family));
    const vem_i_search_spec *search = &stage->looks[VEM_I_FOUND_LITTLE].search;
    /* Statistics: each held pair once more, at the rate of memory. */
    const double again = search->dense ? c : STREAM * (double)search->held;
    const double pairs = n * again + search->type->work(search, n, pair);
    return pairs * pair;
}

static double usual_steps(const vem_i_stage *stage, vem_i_found found)
{
    const double tolerance = stage->options.tolerance;
    const double usual = found != VEM_I_FOUND_LITTLE ? AFTER_STARTS
                         : stage->swapped            ? 20
                         : tolerance > 0             ? 7 * fmax(1, -log10(tolerance))
                                                     : 80;
    return fmin(usual, (double)stage->options.max_steps);
}

/* Operations of a loop. Shapes of halves are fitted to the items of each cluster in turn, from
 * several beginnings, in every round of swaps. */
static double loop_of(const vem_i_plan *plan, const vem_i_stage *stage, vem_i_found found,
                      int grows, double n)
{
    const vem_i_family *family = vem_i_family_of(stage->options.family);
    const double clusters = (double)stage->options.clusters,
                 step = step_of(plan, stage, n);
    const double swaps = (double)stage->looks[found].swaps;
    if (grows) /* the clusters there are, on average half of them, and candidates */
        return clusters *
               (GROWN_STEPS * step / 2 +
                fmin(n, clusters * CANDIDATE_ROWS) * CANDIDATES * pair_of(plan, family));
    double operations = usual_steps(stage, found) * step;
    if (!family->shared)
        operations += fmin(ROUNDS, swaps) * HALVES * n * pair_of(plan, family);
    return operations;
}

/* Operations of all loops; a hard finish is short beside them, and so are steps with prices. What runs
 * where starts have found nothing is not expected to. */
static double loops_of(const vem_i_plan *plan, const vem_i_programme *p, double n)
{
    vem_i_found found = p->starts.runs > 0 ? VEM_I_FOUND_STARTS : VEM_I_FOUND_LITTLE;
    double operations = 0;
    for (int i = 0; i < p->count; i++) {
        const vem_i_stage *stage = &p->stages[i];
        if (stage->axes > 0) {
            vem_i_plan along = *plan;
            along.d = stage->axes;
            along.row_values = stage->axes;
            operations += loop_of(&along, stage, found, p->grows, n) +
                          2 * n * (double)plan->d * stage->axes;
            found = VEM_I_FOUND_ALONG;
        } else if (stage->is.whole && !stage->is.after && !stage->instead)
            operations += loop_of(plan, stage, found, p->grows, n);
        if (stage->kind == VEM_I_STAGE_FIT)
            operations += (double)stage->options.init_steps * step_of(plan, stage, n);
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
static double starting(const vem_i_plan *plan, const vem_i_programme *p)
{
    const vem_i_starts_plan *starts = &p->starts;
    const vem_i_starts_programmes each = vem_i_programmes_of_starts(p);
    const vem_options *o = &each.fresh.options;
    const double rows = (double)starts->rows;
    const vem_i_family *family = vem_i_family_of(o->family);
    const double slower = vem_i_is_plain(family)         ? SMALL
                          : vem_i_takes_products(family) ? SMALL_FULL
                                                         : SMALL_SHAPED;
    return slower * ((double)starts->fresh * seeding(o, rows) * distance_of(plan) +
                     (double)starts->runs * loops_of(plan, &each.fresh, rows) +
                     loops_of(plan, &each.larger, (double)starts->larger));
}

/* Of the seeding of rows, or of those of them that the family looks at. */
static double seeding_of(const vem_i_plan *plan, const vem_i_stage *stage, int64_t items)
{
    const vem_options *o = &stage->options;
    const vem_i_family *family = vem_i_family_of(o->family);
    const double seen =
        family->has_places
            ? (double)items
            : (double)vem_i_seed_rows(items, plan->d, family, plan->sparse,
                                      (vem_seeding)o->seeding, (int32_t)o->clusters);
    return seeding(o, seen) * distance_of(plan);
}

/* Operations until the last step has ended. Where there are starts, they seed. */
static double fitting(const vem_i_plan *plan)
{
    const vem_i_programme *p = &plan->programme;
    const double restarts = p->from == VEM_I_FROM_MODEL ? 1 : (double)p->options.restarts;
    double first = 0;
    for (int i = 0; i < p->count; i++)
        if (p->stages[i].kind == VEM_I_STAGE_STARTS)
            first += starting(plan, p);
        else if (p->stages[i].kind == VEM_I_STAGE_SEED && p->starts.runs == 0)
            first += seeding_of(plan, &p->stages[i], p->items);
    return restarts * (first + loops_of(plan, p, (double)p->items));
}

static double measuring(const vem_i_plan *plan)
{
    const vem_options *o = &plan->programme.options;
    const vem_i_family *family = vem_i_family_of(o->family);
    const double pair =
        pair_of(plan, family) + (family->has_places ? distance_of(plan) : 0) + 20;
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
