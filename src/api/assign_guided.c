/* Assignment without a look at every cluster, with a measured recall.
 *
 *   1. The clusters are put into up to sqrt(2 C) coarse cells (search/cells.c).
 *   2. A sample of the rows, one drawn from each of S equal stretches of the data, is
 *      assigned by a scan. Where the cells of the right clusters stand in the order of
 *      nearness tells, for every number of probes P, the recall and the pairs per row.
 *   3. P is the least that reaches the goal. The sample is then assigned by the guided
 *      search itself with that P: what it found of what the scan found is the recall that
 *      is reported.
 *   4. All rows are assigned with P probes, or by a scan where that is less work:
 *
 *          n (RATIO (2 K + E_P) + CHOICE K) + C K STEPS + S C  >=  n C,
 *
 *      E_P: clusters in the P nearest cells of a row, K cells; RATIO: what a pair of the
 *      guided search costs beside one of the scan; CHOICE: what the choice among cells
 *      costs, per cell, in pairs of the scan. Both were measured, with 2 to 100 columns:
 *      about 1.6, and 5 ns where a pair takes (0.3 + 0.011 D) ns. */
#include <math.h>

#include "api/assign.h"
#include "base/memory.h"
#include "base/rng.h"
#include "search/guided.h"

enum { SAMPLE_MOST = 2000, SAMPLE_LEAST = 100, SAMPLE_SHARE = 16 };
static const double RATIO = 1.6;
static const double GOAL = 0.99;
/* Below this many operations a scan takes milliseconds. */
static const double SCAN_WORK = 1e9;

typedef struct guide {
    vem_i_assign out; /* of all rows */
    const vem_assign_options *options;
    int64_t n, sample;
    int32_t cells, probes; /* probes 0: a scan */
    vem_i_guided guided;
    double recall, covered;
    int64_t pairs;
} guide;

static int64_t sample_size(int64_t n, int32_t d)
{
    int64_t size = n / SAMPLE_SHARE, chunk = vem_i_chunk_rows(d);
    size = size > SAMPLE_MOST ? SAMPLE_MOST : size < SAMPLE_LEAST ? SAMPLE_LEAST : size;
    size = size < chunk ? size : chunk;
    return size < n ? size : n;
}

/* Work that is done once, in pairs. */
static double once(const guide *g, int32_t clusters)
{
    return (double)vem_i_cells_pairs(clusters, g->cells) + (double)g->sample * clusters;
}

/* Work that all rows take when they have `tried` clusters in their cells on average. */
static double work_of_rows(const guide *g, int32_t d, int32_t cells, double tried)
{
    double choice = 450.0 / (27 + d);
    return (double)g->n * (RATIO * (2 * cells + tried) + choice * cells);
}

/* Is it possible at all that a guided search is less work? */
static int worth_trying(const guide *g, const vem_model *model)
{
    double scan = (double)g->n * model->clusters;
    int32_t per_pair = model->family == VEM_FULL ? model->d / 2 + 1 : 1;
    if (g->out.top > VEM_I_GUIDED_TOP || g->options->search == VEM_ASSIGN_SCAN)
        return 0;
    if (g->options->search == VEM_ASSIGN_GUIDED)
        return 1;
    return scan * 2 * model->d * per_pair > SCAN_WORK &&
           once(g, model->clusters) + work_of_rows(g, model->d, g->cells, 0) < scan / 2;
}

/* The least number of probes that reaches the goal on the sample; 0: a scan is less. */
static int32_t choose_probes(const guide *g, const vem_model *model, int64_t right,
                             const int64_t *found, const int64_t *tried)
{
    const vem_assign_options *o = g->options;
    const double goal = o->recall > 0 ? o->recall : GOAL;
    const int32_t cells = g->guided.cells.count;
    int32_t least = vem_i_guided_least(&g->guided, g->out.top), probes = 0;
    int64_t seen = 0, scored = 0;
    for (; probes < cells; probes++) {
        int enough = o->probes > 0 ? probes >= o->probes
                                   : (double)seen >= goal * (double)right && probes > 0;
        if (enough && probes >= least)
            break;
        seen += found[probes];
        scored += tried[probes];
    }
    double tried_by_row = (double)scored / (double)g->sample;
    if (o->search != VEM_ASSIGN_GUIDED &&
        work_of_rows(g, model->d, cells, tried_by_row) + once(g, model->clusters) >=
            (double)g->n * model->clusters)
        return 0;
    return probes;
}

/* What the guided search found of what the scan found, and how much of the posterior it
 * saw: the tried clusters hold the share p / q of the mass, where p and q are the
 * probabilities that the scan and the guided search give to the same cluster. Where they
 * have none in common the share counts as 0. */
static double compare(guide *g, const vem_i_assign *scan, const vem_i_assign *found)
{
    const int32_t top = scan->top;
    int64_t right = 0, hits = 0;
    g->covered = scan->probabilities ? 0 : NAN;
    for (int64_t i = 0; i < g->sample; i++) {
        double share = 0;
        for (int64_t a = i * top; a < (i + 1) * top; a++) {
            right += scan->clusters[a] >= 0;
            for (int64_t b = i * top; b < (i + 1) * top; b++) {
                if (scan->clusters[a] < 0 || scan->clusters[a] != found->clusters[b])
                    continue;
                hits++;
                if (share == 0 && scan->probabilities && found->probabilities[b] > 0)
                    share = fmin(1, scan->probabilities[a] / found->probabilities[b]);
            }
        }
        g->covered += share / (double)g->sample;
    }
    return right > 0 ? (double)hits / (double)right : 1;
}

static vem_status measure(vem_ctx *ctx, guide *g, const vem_view *view,
                          const vem_model *model, vem_i_assign *scan, vem_i_assign *found)
{
    const double goal = g->options->recall > 0 ? g->options->recall : GOAL;
    const size_t cells = (size_t)g->guided.cells.count;
    int64_t *at = NULL, right = 0;
    vem_status status = vem_i_take(ctx, &at, 2 * cells, sizeof *at);
    if (status == VEM_OK)
        status = vem_i_assign_scan(ctx, scan, view, model, 0);
    g->pairs += view->n * model->clusters;
    if (status == VEM_OK)
        status = vem_i_guided_rank(ctx, &g->guided, view, scan->clusters, scan->top, at,
                                   at + cells);
    for (int64_t i = 0; status == VEM_OK && i < view->n * scan->top; i++)
        right += scan->clusters[i] >= 0;
    if (status == VEM_OK)
        g->probes = choose_probes(g, model, right, at, at + cells);
    while (status == VEM_OK && g->probes > 0) {
        status = vem_i_guided_find(ctx, &g->guided, view, g->probes, scan->top,
                                   found->clusters, found->probabilities, &g->pairs);
        if (status != VEM_OK)
            break;
        g->recall = compare(g, scan, found);
        if (g->recall >= goal || g->options->probes > 0 ||
            g->probes >= g->guided.cells.count)
            break;
        /* Rounding chose otherwise among equals: the ranks promised more. */
        g->probes += g->probes / 8 + 1;
    }
    vem_i_free(at);
    return status;
}

/* The sample is one chunk; the origin of the views is the model's, so what is learned here
 * holds for all others. */
static vem_status learn(vem_ctx *ctx, void *arg, const vem_view *view,
                        const vem_model *model, int64_t first)
{
    (void)first;
    guide *g = arg;
    const size_t entries = (size_t)view->n * (size_t)g->out.top;
    vem_i_assign scan = {.top = g->out.top}, found = {.top = g->out.top};
    vem_status status = vem_i_guided_new(ctx, view->kernels, model, g->cells,
                                         g->options->seed, &g->guided);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &scan.clusters, entries, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &found.clusters, entries, sizeof(int32_t));
    if (status == VEM_OK && g->out.probabilities)
        status = vem_i_take(ctx, &scan.probabilities, entries, sizeof(double));
    if (status == VEM_OK && g->out.probabilities)
        status = vem_i_take(ctx, &found.probabilities, entries, sizeof(double));
    if (status == VEM_OK) {
        g->pairs += g->guided.cells.pairs;
        status = measure(ctx, g, view, model, &scan, &found);
    }
    vem_i_free(scan.clusters);
    vem_i_free(found.clusters);
    vem_i_free(scan.probabilities);
    vem_i_free(found.probabilities);
    return status;
}

/* Rows of the sample as data of their own. */
static vem_status learn_from_sample(vem_ctx *ctx, guide *g, const vem_model *model,
                                    const vem_data *data)
{
    double *rows = NULL;
    vem_data *sample = NULL;
    vem_status status =
        vem_i_take(ctx, &rows, (size_t)g->sample, (size_t)data->d * sizeof *rows);
    for (int64_t i = 0; status == VEM_OK && i < g->sample; i++) {
        vem_i_rng rng = vem_i_rng_at(g->options->seed, VEM_RNG_GUIDED, 1, (uint64_t)i);
        /* n / S each, the remainder to the first; no product that could overflow. */
        int64_t part = g->n / g->sample, rest = g->n % g->sample;
        int64_t begin = i * part + (i < rest ? i : rest), length = part + (i < rest);
        status = vem_data_get(ctx, data,
                              begin + (int64_t)vem_i_rng_below(&rng, (uint64_t)length), 1,
                              rows + i * data->d);
        vem_i_residence_check(ctx);
    }
    if (status == VEM_OK)
        status =
            vem_data_borrow(ctx, VEM_FLOAT64, rows, g->sample, data->d, 0, 0, &sample);
    if (status == VEM_OK)
        status = vem_i_for_chunks(ctx, model, sample, g->options->precision, learn, g);
    vem_data_free(sample);
    vem_i_free(rows);
    return status;
}

static vem_status find_chunk(vem_ctx *ctx, void *arg, const vem_view *view,
                             const vem_model *model, int64_t first)
{
    (void)model;
    guide *g = arg;
    double *probabilities =
        g->out.probabilities ? g->out.probabilities + first * g->out.top : NULL;
    return vem_i_guided_find(ctx, &g->guided, view, g->probes, g->out.top,
                             g->out.clusters + first * g->out.top, probabilities,
                             &g->pairs);
}

static vem_status check_options(vem_ctx *ctx, const vem_model *model,
                                const vem_assign_options *o,
                                const vem_assign_report *report)
{
    if (o->size < sizeof *o || (report && report->size < sizeof *report))
        return vem_i_fail(ctx, VEM_BAD_OPTION,
                          "The member size of the options or of the report is smaller "
                          "than this library's struct.");
    if (!(o->recall >= 0 && o->recall <= 1))
        return vem_i_fail(ctx, VEM_BAD_OPTION,
                          "--recall is %g, but it must lie between 0 and 1.", o->recall);
    if ((int)o->search < VEM_ASSIGN_AUTO || o->search > VEM_ASSIGN_GUIDED ||
        (int)o->precision < VEM_SINGLE || o->precision > VEM_DOUBLE || o->probes < 0)
        return vem_i_fail(ctx, VEM_BAD_OPTION,
                          "The search, the precision or the number of probes is none "
                          "that there is.");
    return vem_i_assign_check(ctx, model, o->top == 0 ? 1 : o->top);
}

vem_status vem_assign_guided(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                             const vem_assign_options *options, int32_t *clusters,
                             double *probabilities, vem_assign_report *report)
{
    vem_i_begin(ctx);
    vem_status status = check_options(ctx, model, options, report);
    if (status != VEM_OK)
        return status;
    guide g = {.options = options,
               .n = data->n,
               .recall = 1,
               .covered = probabilities ? 1 : NAN};
    g.out = (vem_i_assign){.top = options->top == 0 ? 1 : options->top,
                           .clusters = clusters,
                           .probabilities = probabilities};
    g.sample = sample_size(data->n, data->d);
    g.cells = vem_i_cells_wanted(data->n, model->clusters);
    int tried = model->d == data->d && worth_trying(&g, model);
    if (tried) {
        status = learn_from_sample(ctx, &g, model, data);
        /* What is wrong with a row is said by the pass over all, which knows its number. */
        if (status == VEM_BAD_DATA) {
            status = VEM_OK;
            g.probes = tried = 0;
        }
    }
    int guided = g.probes > 0;
    if (status == VEM_OK && guided)
        status = vem_i_for_chunks(ctx, model, data, options->precision, find_chunk, &g);
    else if (status == VEM_OK)
        status = vem_i_for_chunks(ctx, model, data, options->precision, vem_i_assign_scan,
                                  &g.out);
    if (status == VEM_OK && report)
        *report =
            (vem_assign_report){.size = report->size,
                                .guided = guided,
                                .cells = guided ? g.guided.cells.count : 0,
                                .probes = guided ? g.probes : 0,
                                .recall = guided ? g.recall : 1,
                                .covered = guided          ? g.covered
                                           : probabilities ? 1
                                                           : NAN,
                                .recall_rows = tried ? g.sample : 0,
                                .scored_pairs =
                                    g.pairs + (guided ? 0 : data->n * model->clusters)};
    vem_i_guided_free(&g.guided);
    return status;
}
