/* vem describe MODEL [DATA]: the facts; describe_print.c puts them into words, JSON and CSV. */
#include "describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IO "Input and output"

static const cli_option own[] = {
    {"first", 0, IO, "N",
     "clusters to show, the largest first: a number, or all; default 20"},
    {"weights", 0, "Data", "FILE",
     "one weight per row (.npy, .csv or .txt), none negative"},
    CLI_READ_OPTIONS,
    {"csv", 0, IO, "FILE", "every cluster and every mean as a table (.csv or .csv.gz)"},
    {"json", 0, IO, NULL, "print it as one JSON object"},
    {"quiet", 'q', IO, NULL, "no progress"},
};

static const cli_file files[] = {
    {"weights", CLI_READS, NULL},
    {"csv", CLI_WRITES, "csv csv.gz"},
    {NULL, CLI_READS, NULL},
};

static const char *const shared[] = {"precision", "threads", "memory", NULL};

/* By size where there are rows, else by weight; then by number. */
static const cli_findings
    *sorting; /* what the comparison looks at: qsort has no argument */

static int compare_clusters(const void *a_, const void *b_)
{
    const int32_t a = *(const int32_t *)a_, b = *(const int32_t *)b_;
    const vem_cluster *x = &sorting->clusters[a], *y = &sorting->clusters[b];
    const double u = sorting->data ? x->mass : x->weight;
    const double v = sorting->data ? y->mass : y->weight;
    if (u != v)
        return u > v ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int compare_merges(const void *a_, const void *b_)
{
    const cli_merge_pair *a = a_, *b = b_;
    if (a->common != b->common)
        return a->common > b->common ? -1 : 1;
    return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b < b->b ? -1 : a->b > b->b;
}

/* Each cluster with the one it has most in common with, every pair once. */
static void list_merges(cli_findings *f)
{
    const int32_t clusters = vem_model_clusters(f->model);
    for (int32_t c = 0; c < clusters; c++) {
        const vem_cluster *it = &f->clusters[c];
        const int32_t other = f->data ? it->rival : it->nearest;
        const double common = f->data ? it->shared : it->overlap;
        if (other < 0 || !(common >= CLI_LEAST_IN_COMMON))
            continue;
        const vem_cluster *twin = &f->clusters[other];
        if (other < c && (f->data ? twin->rival : twin->nearest) == c)
            continue; /* it has been there */
        f->merges[f->merge_count++] = (cli_merge_pair){.a = c < other ? c : other,
                                                       .b = c < other ? other : c,
                                                       .common = common};
    }
    qsort(f->merges, (size_t)f->merge_count, sizeof *f->merges, compare_merges);
}

static int find(cli_args *args, cli_findings *f)
{
    const size_t clusters = (size_t)vem_model_clusters(f->model);
    const size_t d = (size_t)vem_model_columns(f->model);
    f->clusters = calloc(clusters, sizeof *f->clusters);
    f->order = calloc(clusters, sizeof *f->order);
    f->merges = calloc(clusters, sizeof *f->merges);
    f->about = (vem_description){.size = sizeof f->about,
                                 .means = calloc(d, sizeof(double)),
                                 .sds = calloc(d, sizeof(double))};
    if (!f->clusters || !f->order || !f->merges || !f->about.means || !f->about.sds) {
        cli_error("memory for %zu clusters could not be had.", clusters);
        return CLI_FAILED;
    }
    f->clusters->size = sizeof *f->clusters;
    const vem_precision precision = f->data ? cli_precision(args) : VEM_DOUBLE;
    const vem_status status =
        vem_describe(args->ctx, f->model, f->data, precision, f->clusters, &f->about);
    cli_progress_end();
    if (status != VEM_OK)
        return cli_failure(args, status);
    for (size_t c = 0; c < clusters; c++)
        f->order[c] = (int32_t)c;
    sorting = f;
    qsort(f->order, clusters, sizeof *f->order, compare_clusters);
    list_merges(f);
    return CLI_DONE;
}

static int run(cli_args *args)
{
    cli_findings f = {.model_path = args->operands[0],
                      .data_path = args->operand_count > 1 ? args->operands[1] : NULL};
    f.first = 20;
    int code = cli_read_whole_or_all(args, "first", INT32_MAX, INT32_MAX, &f.first);
    if (f.data_path)
        f.data_name = cli_data_name(args, f.data_path, f.names);
    if (code != CLI_DONE)
        return code;
    cli_progress_begin(args);
    code = cli_read_model(args, f.model_path, f.data_path, &f.model);
    if (code == CLI_DONE && f.data_path)
        code = cli_read_data(args, f.data_path, &f.data, NULL);
    if (code == CLI_DONE)
        code = find(args, &f);
    if (code == CLI_DONE && cli_value(args, "csv"))
        code = cli_describe_csv(args, &f);
    if (code == CLI_DONE && cli_value(args, "json"))
        code = cli_describe_json(args, &f);
    else if (code == CLI_DONE)
        cli_describe_words(&f);
    free(f.clusters);
    free(f.order);
    free(f.merges);
    free(f.about.means);
    free(f.about.sds);
    vem_data_free(f.data);
    vem_model_free(f.model);
    return code;
}

const cli_command cli_describe = {
    .name = "describe",
    .operands = "MODEL [DATA...]",
    .purpose = "what was found: the clusters by size, their means, exemplars, neighbors",
    .details =
        "spread      the cluster's standard deviation in units of the columns', root "
        "mean\n"
        "            square over columns: 1 is as wide as everything\n"
        "differs     columns in which its mean is farthest from that of everything, in\n"
        "            standard deviations of the column\n"
        "nearest     the other cluster that its mean most probably belongs to\n"
        "With DATA (all of it in the JSON):\n"
        "rows        whose most probable cluster it is\n"
        "doubtful    share of them with a probability below 0.9\n"
        "exemplars   those nearest to its mean; rows count from 1\n"
        "Likely merges are pairs of clusters that rows cannot tell apart: the rows that "
        "have\n"
        "both as their best, by the probability of the second, as a share of the "
        "smaller\n"
        "cluster. Without DATA: the overlap of the two distributions (the Bhattacharyya\n"
        "coefficient, 1 for equal ones). Means are in the units of the data.\n",
    .examples = "  vem describe model.npz\n"
                "  vem describe model.npz data.csv --id name\n"
                "  vem describe model.npz data.npy --first all --csv clusters.csv\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .shared = shared,
    .operand_count = 1,
    .more_operands = 1,
    .run = run,
};
