/* Assignment without a look at every cluster, with a measured recall.
 *
 *   1. The clusters are put into coarse buckets, and these into regions (coarse/buckets.c).
 *   2. A sample of the rows, one drawn from each of S equal stretches of the data, is
 *      assigned by a scan. Where the buckets of the right clusters stand in the order of
 *      nearness tells the recall for every number of probes P (search/guided_rank.c).
 *   3. P is the least for which the goal R is reached with confidence: with m the share of
 *      right clusters that were missed on the sample, k = S m,
 *
 *          U(k) / S  <=  1 - R,    U(k) = (k + 1) (1 - 1 / (9 (k + 1)) + z / (3 sqrt(k + 1)))^3,
 *
 *      U being the upper 99 % bound (z = 2.326) of the mean of a Poisson number of which k
 *      was seen (Wilson and Hilferty's form of the chi-square quantile; 4.61 for k = 0, and
 *      right to a percent). It is an upper bound for the sum of S numbers in [0, 1], so
 *      several clusters of a row need not be missed independently of each other. That P is
 *      chosen on the same sample does no harm: misses fall with P, so a P that is too small
 *      passes only if the largest such P does. Without a miss S must be 4.61 / (1 - R): 4,605
 *      rows for R = 0.999. Where the sample is all rows, m itself is compared.
 *   4. The sample is then assigned by the guided search itself with that P: what it found
 *      of what the scan found is the recall that is reported, with its lower bound.
 *   5. All rows are assigned with P probes, or by a scan where that is less work:
 *
 *          n RATIO E + B + S C  >=  n C,
 *
 *      E: pairs with regions, buckets and clusters that a row of the sample took, B those
 *      of the making of the buckets; RATIO: what a pair of the guided search, with all that
 *      is done to choose it, costs beside one of the scan. It was measured with 32 columns,
 *      where it is 2.4: 1.3 for thinner tiles, and 0.65 ns where a pair of the scan takes
 *      (0.3 + 0.011 D) ns. */
#include <math.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/structs.h"
#include "base/whole.h"
#include "comm/comm.h"
#include "search/guided.h"
#include "use/assign.h"

/* Rows of the sample: a share of all, within bounds; and for a share of 1 - R that may be
 * missed at least LEAST / (1 - R), where one miss is not yet too many, and no more than
 * MOST / (1 - R), where about half of what is allowed may be seen. */
enum { SAMPLE_MOST = 2000, SAMPLE_LEAST = 100, SAMPLE_SHARE = 16 };
static const double MISSES_LEAST = 7, MISSES_MOST = 16;
static const double GOAL = 0.999;
/* Below this many operations a scan takes milliseconds. */
static const double SCAN_WORK = 1e9;

typedef struct guide {
    vem_i_assign out; /* of all rows */
    const vem_assign_options *options;
    double goal;
    int64_t n, sample;
    int64_t first;           /* of the sample: where the rows at hand begin */
    int32_t buckets, probes; /* probes 0: a scan */
    vem_i_guided guided;
    vem_i_assign scan, got; /* of the sample, by a scan and by the guided search */
    int64_t *found;         /* of the sample, by the probes that find them */
    double recall, covered;
    int64_t pairs;
    vem_i_chunk_fn then; /* follows each chunk, whose lists alone are in `out`; or NULL */
    void *then_arg;
} guide;

/* With given probes no goal has to be reached. */
static int64_t sample_size(const guide *g)
{
    const double room = 1 - g->goal, n = (double)g->n;
    double least = SAMPLE_LEAST, most = SAMPLE_MOST;
    if (g->options->probes == 0) {
        least = fmax(least, round(MISSES_LEAST / room));
        most = fmax(most, round(MISSES_MOST / room));
    }
    const double size = fmin(fmax(n / SAMPLE_SHARE, least), most);
    return size < n ? (int64_t)size : g->n;
}

/* The share of right clusters that is missed on all rows, at most, when `missed` of the
 * sample's are. */
static double most_missed(const guide *g, double missed)
{
    const double k = (double)g->sample * missed + 1, z = 2.326;
    if (g->sample == g->n)
        return missed;
    return fmin(1, k * pow(1 - 1 / (9 * k) + z / (3 * sqrt(k)), 3) / (double)g->sample);
}

/* Work that is done once, in pairs. */
static double once(const guide *g, int32_t clusters)
{
    return vem_i_buckets_pairs(clusters, g->buckets) + (double)g->sample * clusters;
}

/* What a pair costs beside one of the scan. */
static double ratio(const vem_model *model)
{
    return 1.3 + 60.0 / (27 + model->d);
}

/* Is it possible at all that a guided search is less work? */
static int worth_trying(const guide *g, const vem_model *model)
{
    double scan = (double)g->n * model->clusters;
    int32_t per_pair = vem_i_takes_products(model->family) ? model->d / 2 + 1 : 1;
    if (g->out.top > VEM_I_GUIDED_TOP || g->options->search == VEM_ASSIGN_SCAN ||
        !model->family->has_places) /* buckets are of places */
        return 0;
    if (g->options->search == VEM_ASSIGN_GUIDED)
        return 1;
    return scan * 2 * model->d * per_pair > SCAN_WORK &&
           once(g, model->clusters) +
                   ratio(model) * (double)g->n * 2 * vem_i_regions_wanted(g->buckets) <
               scan / 2;
}

/* Is it less, when the rows of the sample took so many pairs together? */
static int is_worth(const guide *g, const vem_model *model, int64_t pairs)
{
    const double rows = (double)g->n / (double)g->sample * (double)pairs;
    return g->options->search == VEM_ASSIGN_GUIDED ||
           ratio(model) * rows + once(g, model->clusters) <
               (double)g->n * model->clusters;
}

/* The least number of probes that reaches the goal on the sample. */
static int32_t choose_probes(const guide *g)
{
    const vem_assign_options *o = g->options;
    const int32_t buckets = g->guided.buckets.count;
    int32_t least = vem_i_guided_least(&g->guided, g->out.top), probes = 0;
    int64_t right = 0, seen = 0;
    for (int64_t i = 0; i < g->sample * g->out.top; i++)
        right += g->scan.clusters[i] >= 0;
    for (; probes < buckets; probes++) {
        double missed = right > 0 ? (double)(right - seen) / (double)right : 0;
        int enough = o->probes > 0 ? probes >= o->probes
                                   : probes > 0 && most_missed(g, missed) <= 1 - g->goal;
        if (enough && probes >= least)
            break;
        seen += g->found[probes];
    }
    return probes;
}

/* What the guided search found of what the scan found, and how much of the posterior it
 * saw: the tried clusters hold the share p / q of the mass, where p and q are the
 * probabilities that the scan and the guided search give to the same cluster. Where they
 * have none in common the share counts as 0. */
static double compare(guide *g)
{
    const vem_i_assign *scan = &g->scan, *got = &g->got;
    const int32_t top = g->out.top;
    int64_t right = 0, hits = 0;
    g->covered = scan->probabilities ? 0 : NAN;
    for (int64_t i = 0; i < g->sample; i++) {
        double share = 0;
        for (int64_t a = i * top; a < (i + 1) * top; a++) {
            right += scan->clusters[a] >= 0;
            for (int64_t b = i * top; b < (i + 1) * top; b++) {
                if (scan->clusters[a] < 0 || scan->clusters[a] != got->clusters[b])
                    continue;
                hits++;
                if (share == 0 && scan->probabilities && got->probabilities[b] > 0)
                    share = fmin(1, scan->probabilities[a] / got->probabilities[b]);
            }
        }
        g->covered += share / (double)g->sample;
    }
    return right > 0 ? (double)hits / (double)right : 1;
}

/* The part of a result that belongs to the rows of the sample at hand. */
static vem_i_assign part_of(const guide *g, const vem_i_assign *all)
{
    const int64_t at = g->first * g->out.top;
    return (vem_i_assign){.top = g->out.top,
                          .clusters = all->clusters + at,
                          .probabilities =
                              all->probabilities ? all->probabilities + at : NULL};
}

/* Rows of the sample meet every cluster, and their ranks are added up. The origin of the
 * views is the model's, so that the index of the first holds for all others. */
static vem_status scan_sample(vem_i_run *run, void *arg, const vem_view *view,
                              const vem_model *model, int64_t first)
{
    (void)first;
    guide *g = arg;
    vem_i_assign scan = part_of(g, &g->scan);
    vem_status status = VEM_OK;
    if (!g->found) {
        status = vem_i_guided_new(run, view->kernels, model, g->buckets, g->options->seed,
                                  &g->guided);
        if (status != VEM_OK)
            return status;
        g->pairs += g->guided.buckets.pairs;
        status = vem_i_take_zeroed(run, &g->found, 2 * (size_t)g->guided.buckets.count,
                                   sizeof *g->found);
        if (status != VEM_OK)
            return status;
    }
    const int32_t buckets = g->guided.buckets.count;
    int64_t *found = g->found + buckets;
    status = vem_i_assign_scan(run, &scan, view, model, 0);
    g->pairs += view->n * model->clusters;
    if (status == VEM_OK)
        status = vem_i_guided_rank(run, &g->guided, view, scan.clusters, scan.top, found);
    for (int32_t k = 0; status == VEM_OK && k < buckets; k++)
        g->found[k] += found[k];
    return status;
}

static vem_status find_sample(vem_i_run *run, void *arg, const vem_view *view,
                              const vem_model *model, int64_t first)
{
    (void)first;
    (void)model;
    guide *g = arg;
    const vem_i_assign got = part_of(g, &g->got);
    return vem_i_guided_find(run, &g->guided, view, g->probes, got.top, got.clusters,
                             got.probabilities, &g->pairs);
}

/* Rows of the sample as data of their own, a chunk of them at a time. */
static vem_status for_sample(vem_i_run *run, guide *g, const vem_model *model,
                             const vem_data *data, vem_i_chunk_fn work)
{
    const int64_t chunk = vem_i_chunk_rows(data->d);
    const int64_t piece = g->sample < chunk ? g->sample : chunk;
    double *rows = NULL;
    vem_status status =
        vem_i_take(run, &rows, (size_t)piece, (size_t)data->d * sizeof *rows);
    for (g->first = 0; status == VEM_OK && g->first < g->sample; g->first += piece) {
        const int64_t left = g->sample - g->first, count = left < piece ? left : piece;
        vem_data *sample = NULL;
        for (int64_t r = 0; status == VEM_OK && r < count; r++) {
            const int64_t i = g->first + r;
            vem_i_rng rng =
                vem_i_rng_at(g->options->seed, VEM_RNG_GUIDED, 1, (uint64_t)i);
            /* n / S each, the remainder to the first; no product that could overflow. */
            int64_t part = g->n / g->sample, rest = g->n % g->sample;
            int64_t begin = i * part + (i < rest ? i : rest), length = part + (i < rest);
            status =
                vem_data_get(run->ctx, data,
                             begin + (int64_t)vem_i_rng_below(&rng, (uint64_t)length), 1,
                             rows + r * data->d);
            vem_i_residence_check(run);
        }
        if (status == VEM_OK)
            status = vem_data_borrow(run->ctx, VEM_FLOAT64, rows, count, data->d, 0, 0,
                                     &sample);
        if (status == VEM_OK)
            status = vem_i_for_chunks(run, model, sample, g->options->precision, "assign",
                                      2, work, g);
        vem_data_free(sample);
    }
    vem_i_free(rows);
    return status;
}

static vem_status learn_from_sample(vem_i_run *run, guide *g, const vem_model *model,
                                    const vem_data *data)
{
    const size_t entries = (size_t)g->sample * (size_t)g->out.top;
    const vem_i_room list[] = {
        {&g->scan.clusters, entries, sizeof(int32_t), 0},
        {&g->got.clusters, entries, sizeof(int32_t), 0},
        {&g->scan.probabilities, g->out.probabilities ? entries : 0, sizeof(double), 0},
        {&g->got.probabilities, g->out.probabilities ? entries : 0, sizeof(double), 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = for_sample(run, g, model, data, scan_sample);
    if (status == VEM_OK)
        g->probes = choose_probes(g);
    while (status == VEM_OK && g->probes > 0) {
        const int64_t before = g->pairs;
        status = for_sample(run, g, model, data, find_sample);
        if (status != VEM_OK)
            break;
        if (!is_worth(g, model, g->pairs - before)) {
            g->probes = 0;
            break;
        }
        g->recall = compare(g);
        if (most_missed(g, 1 - g->recall) <= 1 - g->goal || g->options->probes > 0 ||
            g->probes >= g->guided.buckets.count)
            break;
        /* Rounding chose otherwise among equals: the ranks promised more. */
        g->probes += g->probes / 8 + 1;
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    vem_i_free(g->found);
    return status;
}

static vem_status find_chunk(vem_i_run *run, void *arg, const vem_view *view,
                             const vem_model *model, int64_t first)
{
    (void)model;
    guide *g = arg;
    double *probabilities =
        g->out.probabilities ? g->out.probabilities + first * g->out.top : NULL;
    return vem_i_guided_find(run, &g->guided, view, g->probes, g->out.top,
                             g->out.clusters + first * g->out.top, probabilities,
                             &g->pairs);
}

static vem_status assign_chunk(vem_i_run *run, void *arg, const vem_view *view,
                               const vem_model *model, int64_t first)
{
    guide *g = arg;
    const int64_t at = g->then ? 0 : first;
    const vem_status status = g->probes > 0
                                  ? find_chunk(run, g, view, model, at)
                                  : vem_i_assign_scan(run, &g->out, view, model, at);
    return status == VEM_OK && g->then ? g->then(run, g->then_arg, view, model, first)
                                       : status;
}

static vem_status check_options(vem_i_run *run, const vem_model *model,
                                const vem_assign_options *o)
{
    if (!(o->recall >= 0 && o->recall <= 1))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--recall is %g, but it must lie between 0 and 1.", o->recall);
    if ((int)o->search < VEM_ASSIGN_AUTO || o->search > VEM_ASSIGN_GUIDED ||
        (int)o->precision < VEM_SINGLE || o->precision > VEM_DOUBLE || o->probes < 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The search, the precision or the number of probes is none "
                          "that there is.");
    return vem_i_assign_check(run, model, o->top == 0 ? 1 : o->top);
}

/* g: where results go, and what follows. */
static vem_status assign(vem_i_run *run, const vem_model *model, const vem_data *data,
                         const vem_assign_options *options, guide g,
                         vem_assign_report *report)
{
    vem_assign_options o;
    const double *probabilities = g.out.probabilities;
    vem_status status = vem_i_struct_in(run, "vem_assign_options", options, &o, sizeof o);
    o.precision = vem_i_precision_for(model, data, o.precision);
    if (status == VEM_OK && report)
        status = vem_i_struct_check(run, "vem_assign_report", report, sizeof *report);
    if (status == VEM_OK)
        status = check_options(run, model, &o);
    if (status != VEM_OK)
        return status;
    g.options = &o;
    g.goal = o.recall > 0 ? o.recall : GOAL;
    g.n = data->n;
    g.recall = 1;
    g.covered = probabilities ? 1 : NAN;
    g.out.top = o.top == 0 ? 1 : o.top;
    g.sample = sample_size(&g);
    g.buckets = vem_i_buckets_wanted(model->clusters);
    vem_i_run alone = vem_i_comm_alone(run); /* all learn the same from the sample */
    int tried = model->d == data->d && worth_trying(&g, model);
    /* The sample is a part of the work, told before that of all rows. */
    const int owner = vem_i_whole_begin(run, "assign", data->n);
    const double learning =
        tried ? (double)g.sample / ((double)g.sample + (double)data->n) : 0;
    const vem_i_whole whole = vem_i_whole_narrow(run, 0, learning, 1);
    if (tried) {
        status = learn_from_sample(&alone, &g, model, data);
        /* What is wrong with a row is said by the pass over all, which knows its number. */
        if (status == VEM_BAD_DATA) {
            status = VEM_OK;
            g.probes = tried = 0;
        }
    }
    int guided = g.probes > 0;
    const int64_t learned = g.pairs;
    vem_i_whole_widen(run, &whole);
    vem_i_whole_narrow(run, learning, 1, 1);
    if (status == VEM_OK)
        status = vem_i_for_chunks(run, model, data, o.precision, "assign", g.then ? 2 : 1,
                                  assign_chunk, &g);
    vem_i_whole_widen(run, &whole);
    vem_i_whole_end(run, owner);
    if (status == VEM_OK)
        status = vem_i_assign_gather(run, data, &g.out);
    if (status == VEM_OK && run->comm) {
        g.pairs -= learned;
        run->comm->combine(run->comm, VEM_I_SUM_INT, &g.pairs, 1);
        g.pairs += learned;
    }
    if (status == VEM_OK && report) {
        const vem_assign_report found = {
            .size = sizeof found,
            .guided = guided,
            .buckets = guided ? g.guided.buckets.count : 0,
            .probes = guided ? g.probes : 0,
            .recall = guided ? g.recall : 1,
            .recall_least = guided ? 1 - most_missed(&g, 1 - g.recall) : 1,
            .covered = guided          ? g.covered
                       : probabilities ? 1
                                       : NAN,
            .recall_rows = tried ? g.sample : 0,
            .scored_pairs = g.pairs + (guided ? 0 : data->n * model->clusters)};
        vem_i_struct_out(&found, report, sizeof found);
    }
    vem_i_guided_free(&g.guided);
    return status;
}

vem_status vem_i_assign_guided(vem_i_run *run, const vem_model *model,
                               const vem_data *data, const vem_assign_options *options,
                               int32_t *clusters, double *probabilities,
                               vem_assign_report *report)
{
    const guide g = {.out = {.clusters = clusters, .probabilities = probabilities}};
    return assign(run, model, data, options, g, report);
}

vem_status vem_i_assign_each(vem_i_run *run, const vem_model *model, const vem_data *data,
                             const vem_assign_options *options, int32_t *clusters,
                             vem_i_chunk_fn then, void *arg)
{
    const guide g = {.out = {.clusters = clusters}, .then = then, .then_arg = arg};
    return assign(run, model, data, options, g, NULL);
}
