/* What a tree takes, before the work: memory by its constructors, run dry, and time by
 * the operations of its distances at usual rates. The groups that leaves may be come
 * from a fit, which has a plan of its own (fit/memory_plan.c). */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/residence.h"
#include "data/pass.h"
#include "select/tree_grow.h"

enum { MOST_LEAVES = 1000000000 };

/* ---- memory ---- */

/* A pass over the rows, which comes before the tree and gives back what it took. */
static uint64_t load_bytes(const vem_i_growing *g)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(g->run, &bytes);
    vem_i_pass pass = {.run = &dry, .data = g->data, .n = g->data->n, .d = g->data->d};
    vem_i_pass_new(&pass);
    vem_i_pass_free(&pass);
    return bytes;
}

/* Leaves and tree, beside the rows. */
static uint64_t tree_bytes(const vem_i_growing *g, int64_t leaves)
{
    uint64_t bytes;
    const vem_data *data = g->data;
    vem_i_run dry = vem_i_run_dry(g->run, &bytes);
    const vem_view view = {.kernels = dry.ctx->kernels_double,
                           .n = data->n,
                           .global_n = data->n,
                           .used = data->n,
                           .ld = data->d,
                           .d = data->d,
                           .mass = data->weights,
                           .mass_unit = 1};
    vem_i_growing d = *g;
    d.run = &dry;
    d.view = &view;
    d.groups = leaves < data->n ? (int32_t)leaves : 0;
    vem_status status = vem_i_leaves_new(&dry, &view, NULL, d.groups, &d.leaves);
    if (status == VEM_OK)
        vem_i_tree_grow(&d);
    vem_dendrogram_free(d.tree);
    vem_i_leaves_free(&d.leaves);
    return bytes + (d.groups ? (uint64_t)data->n * sizeof *g->labels : 0);
}

static double bytes_for(const vem_i_growing *g, int64_t leaves)
{
    const uint64_t rows = vem_i_points_bytes(g->data->n, g->data->d, VEM_DOUBLE) +
                          (g->data->weights ? (uint64_t)g->data->n * sizeof(double) : 0);
    const uint64_t load = load_bytes(g), tree = tree_bytes(g, leaves);
    return (double)rows + (double)(load > tree ? load : tree);
}

/* The most leaves, of two digits, that fit; 0: none. */
static int64_t leaves_that_fit(const vem_i_growing *g, int64_t most, double allowed)
{
    int64_t step = 1;
    while (step * 100 <= most)
        step *= 10;
    for (int64_t leaves = most / step * step; leaves >= 2; leaves -= step) {
        if (bytes_for(g, leaves) <= allowed)
            return leaves;
        if (leaves <= 10 * step && step > 1)
            step /= 10;
    }
    return 0;
}

/* ---- time ---- */

/* Costs that conga lines and brute force compute, for one of fastpair's (of which there
 * are 1.2 N^2, about; docs/math/trees.md). */
static double pairs_factor(vem_pairs_method pairs, double leaves)
{
    if (pairs == VEM_PAIRS_CONGA)
        return fmax(1, 0.9 * log2(leaves));
    return pairs == VEM_PAIRS_BRUTE ? fmax(1, leaves / 9) : 1;
}

/* About how many seconds. A matrix of distances that no cache holds costs more to go
 * through, and its pages to be had. */
static double seconds_for(const vem_i_growing *g, double leaves)
{
    const double pairs = 0.5 * leaves * leaves, d = g->data->d;
    const double matrix = pairs * sizeof(double), cache = 0x1p27;
    double each;
    if (g->asked.method == VEM_DENDROGRAM_SINGLE)
        each = 1.1e-8 + 3e-10 * d;
    else if (g->asked.method != VEM_DENDROGRAM_BAYES)
        each = 4.5e-8 + 6e-10 * d + 8e-8 * matrix / (matrix + cache);
    else if (!vem_i_takes_products(g->family))
        each = 3e-7 + (vem_i_is_diagonal(g->family) ? 1.8e-8 : 1e-9) * d;
    else
        each = 1.2e-7 + 1.3e-8 * d + fmin(d, (double)g->data->n) * d * 6e-10;
    if (g->asked.method == VEM_DENDROGRAM_BAYES)
        each *= pairs_factor(g->asked.pairs, leaves);
    return pairs * each / fmax(1, 0.8 * g->run->threads);
}

/* ---- both ---- */

static vem_status refuse(const vem_i_growing *g, int64_t leaves, double bytes,
                         uint64_t allowed)
{
    char need[32], have[32], advice[160];
    const int64_t most = leaves < MOST_LEAVES ? leaves : MOST_LEAVES;
    const int64_t fits = leaves_that_fit(g, most, allowed ? (double)allowed : 1e18);
    if (fits > 0)
        snprintf(advice, sizeof advice,
                 "--leaves %lld, which first puts the rows into so many groups, would "
                 "fit%s",
                 (long long)fits,
                 g->asked.method == VEM_DENDROGRAM_BAYES ||
                         g->asked.method == VEM_DENDROGRAM_SINGLE
                     ? ""
                     : ", and --method single keeps no distances");
    else
        snprintf(advice, sizeof advice, "fewer rows or more memory would help");
    return vem_i_fail(g->run, VEM_NO_MEMORY,
                      "A tree of %lld leaves (%s, %d columns) would take about %s beside "
                      "the input, but %s %s for it; %s.",
                      (long long)leaves, vem_dendrogram_method_name(g->asked.method),
                      g->data->d, vem_bytes_print(bytes, need),
                      g->run->limit ? "--memory leaves" : "the machine has",
                      vem_bytes_print((double)allowed, have), advice);
}

vem_status vem_i_tree_plan(const vem_i_growing *g)
{
    vem_i_run *run = g->run;
    if (g->data->sparse.starts) /* before what it would take */
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "The rows are sparse, and a tree takes dense ones; vem select "
            "--method sweep --family multinomial (poisson, bernoulli) finds "
            "clusters of counts.");
    const int64_t leaves = vem_i_is_grouped(g) ? g->asked.leaves : g->data->n;
    const double bytes = leaves <= MOST_LEAVES ? bytes_for(g, leaves) : 1e18;
    const uint64_t allowed = vem_i_residence_left(run);
    const vem_forecast forecast = {.size = sizeof forecast,
                                   .bytes = (uint64_t)fmin(bytes, 1e18),
                                   .allowed = allowed,
                                   .seconds = seconds_for(g, (double)leaves)};
    const vem_status status = vem_i_plan_made(run);
    if (status != VEM_OK)
        return status;
    if (run->ctx->forecast)
        run->ctx->forecast(run->ctx->forecast_user, &forecast);
    if (leaves <= MOST_LEAVES && (allowed == 0 || bytes <= (double)allowed))
        return VEM_OK;
    return refuse(g, leaves, bytes, allowed);
}
