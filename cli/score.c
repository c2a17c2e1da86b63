/* vem score MODEL DATA */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define IO "Input and output"

static const cli_option own[] = {
    {"weights", 0, "Data", "FILE",
     "one weight per row (.npy, .csv or .txt), none negative"},
    CLI_READ_OPTIONS,
    {"truth", 0, IO, "FILE",
     "classes of the rows: NMI, ARI and purity of the most probable clusters"},
    CLI_TRUTH_COLUMN_OPTION(IO),
    {"index", 0, "Index", "QUERIES",
     "instead: how the means serve as the lists of an index (IVF) of DATA; rows to look "
     "up"},
    {"neighbors", 0, "Index", "K",
     "nearest rows that a query should find, 1 to 64; default 10"},
    {"spill", 0, "Index", "LAMBDA",
     "rows are in two lists, as those of vem predict --spill LAMBDA; a query scans a row "
     "once"},
    {"lists", 0, "Index", "FILE",
     "the list of each row, as the --labels of a fit or vem predict say (-1: it is in "
     "none); default: that of the nearest mean in the units of the data"},
    {"picture", 0, "Index", "FILE", "recall against rows scanned (.svg)"},
    {"json", 0, IO, NULL, "print the result as one JSON object"},
    {"quiet", 'q', IO, NULL, "no progress"},
};

static const cli_file files[] = {
    {"weights", CLI_READS, NULL},   {"truth", CLI_READS, NULL},
    {"index", CLI_READS, NULL},     {"lists", CLI_READS, NULL},
    {"picture", CLI_WRITES, "svg"}, {NULL, CLI_READS, NULL},
};

/* --labels is what fit and generate write. */
static const char *const former[] = {"labels", "truth", NULL};
static const char *const shared[] = {"held", "precision", "threads", "memory", NULL};

static const char *const no_part[] = {"truth", "truth-column", "weights", "held", NULL};
static const cli_mode modes[] = {
    {"index", NULL, no_part, "goes by distances and counts rows"},
    {NULL, NULL, NULL, NULL},
};

/* Most probable clusters against the given classes. */
static int compare(cli_args *args, const vem_model *model, const vem_data *data,
                   const int64_t *classes, vem_agreement *agreement)
{
    const int64_t n = vem_data_rows(data);
    int32_t *labels = malloc((size_t)n * sizeof *labels + 1);
    int64_t *clusters = malloc((size_t)n * sizeof *clusters + 1);
    int code = CLI_DONE;
    if (!labels || !clusters) {
        cli_error("memory for %lld labels could not be had.", (long long)n);
        code = CLI_FAILED;
    } else {
        vem_status status =
            vem_assign(args->ctx, model, data, 1, cli_precision(args), labels, NULL);
        for (int64_t i = 0; status == VEM_OK && cli_writes() && i < n; i++)
            clusters[i] = labels[i];
        if (status == VEM_OK && cli_writes()) /* it has all of them */
            status = vem_compare(args->ctx, clusters, classes, n, agreement);
        if (status != VEM_OK)
            code = cli_failure(args, status);
    }
    free(labels);
    free(clusters);
    return code;
}

static int print_json(const cli_args *args, const vem_model *model, const vem_data *data,
                      const vem_scores *s, const vem_agreement *a, const cli_truth *truth,
                      double seconds)
{
    json_t *o = cli_json_begin(args);
    json_object_set_new(o, "family",
                        cli_json_text(
                            vem_choice_name("family", (int)vem_model_family(model))));
    json_object_set_new(o, "n", json_integer(vem_data_rows(data)));
    json_object_set_new(o, "d", json_integer(vem_data_columns(data)));
    json_object_set_new(o, "clusters", json_integer(vem_model_clusters(model)));
    json_object_set_new(o, "held", json_integer(s->held));
    json_object_set_new(o, "mass", cli_json_real(s->mass));
    json_object_set_new(o, "parameters", json_integer(s->parameters));
    json_object_set_new(o, "free_energy", cli_json_real(s->free_energy));
    json_object_set_new(o, "log_likelihood", cli_json_real(s->log_likelihood));
    json_object_set_new(o, "quantization_error", cli_json_real(s->quantization_error));
    json_object_set_new(o, "metric",
                        cli_json_text(
                            vem_choice_name("metric", (int)vem_model_metric(model))));
    json_object_set_new(o, "cosine_loss",
                        vem_model_metric(model) == VEM_METRIC_COSINE
                            ? cli_json_real(s->quantization_error / (2 * s->mass))
                            : json_null());
    json_object_set_new(o, "entropy", cli_json_real(s->entropy));
    json_object_set_new(o, "aic", cli_json_real(s->aic));
    json_object_set_new(o, "bic", cli_json_real(s->bic));
    json_object_set_new(o, "icl", cli_json_real(s->icl));
    json_object_set_new(o, "nmi", cli_json_real(a->nmi));
    json_object_set_new(o, "ari", cli_json_real(a->ari));
    json_object_set_new(o, "purity", cli_json_real(a->purity));
    json_object_set_new(o, "truth_column", cli_json_text(truth->column));
    json_object_set_new(o, "threads", json_integer(vem_ctx_threads(args->ctx)));
    json_object_set_new(o, "seconds", cli_json_real(seconds));
    return cli_json_print(o);
}

static void print_words(const vem_data *data, const vem_model *model, const vem_scores *s,
                        const vem_agreement *a, const cli_truth *truth)
{
    char n[48], c[48], name[64];
    printf("%s, %s\n", cli_counted(vem_data_rows(data), "row", n),
           cli_counted(vem_model_clusters(model), "cluster", c));
    printf("  %-19s %.10g per row\n", "log-likelihood", s->log_likelihood);
    printf("  %-19s %.10g per row, %s held\n", "free energy", s->free_energy,
           cli_counted(s->held, "cluster", c));
    if (isfinite(s->quantization_error)) /* clusters of counts are no places */
        printf("  %-19s %.10g\n", "quantisation error", s->quantization_error);
    if (vem_model_metric(model) == VEM_METRIC_COSINE)
        printf("  %-19s %.10g on average: 1 - cosine of the angle to the mean\n",
               "cosine loss", s->quantization_error / (2 * s->mass));
    printf("  %-19s %.10g (%.4g per row)\n", "entropy", s->entropy, s->entropy / s->mass);
    printf("  %-19s %s\n", "parameters", cli_count(s->parameters, c));
    printf("  %-19s %.10g (lower is better, as for BIC and ICL)\n", "AIC", s->aic);
    printf("  %-19s %.10g\n  %-19s %.10g\n", "BIC", s->bic, "ICL", s->icl);
    if (isfinite(a->nmi))
        printf("  %-19s NMI %.4f, ARI %.4f, purity %.4f\n", "against the truth", a->nmi,
               a->ari, a->purity);
    if (truth->column)
        printf("  %-19s \"%s\"\n", "truth column",
               cli_clean(truth->column, name, sizeof name));
}

static int score(cli_args *args, const vem_model *model, const vem_data *data,
                 const cli_truth *truth, double began)
{
    vem_scores scores = {.size = sizeof scores};
    vem_agreement agreement = {.size = sizeof agreement,
                               .nmi = NAN,
                               .ari = NAN,
                               .purity = NAN};
    const int32_t held = args->options.held == VEM_AUTO ? 0 : (int32_t)args->options.held;
    const vem_status status =
        vem_score(args->ctx, model, data, held, cli_precision(args), &scores);
    int code = status == VEM_OK ? CLI_DONE : cli_failure(args, status);
    if (code == CLI_DONE && truth->classes)
        code = compare(args, model, data, truth->classes, &agreement);
    cli_progress_end();
    if (code == CLI_DONE && cli_value(args, "json"))
        code = print_json(args, model, data, &scores, &agreement, truth,
                          cli_clock() - began);
    else if (code == CLI_DONE)
        print_words(data, model, &scores, &agreement, truth);
    return code;
}

static int run(cli_args *args)
{
    const double began = cli_clock();
    vem_model *model = NULL;
    vem_data *data = NULL;
    cli_truth truth = {0};
    int code = cli_check_truth(args);
    if (code != CLI_DONE)
        return code;
    static const char *const of_index[] = {"neighbors", "spill", "lists", "picture"};
    for (int k = 0; !cli_value(args, "index") && k < 4; k++)
        if (cli_value(args, of_index[k])) {
            cli_error("--%s belongs to --index.", of_index[k]);
            return CLI_USAGE;
        }
    if (cli_value(args, "index") && cli_processes() > 1) {
        cli_error("--index is looked up by one process: go without mpirun.");
        return CLI_USAGE;
    }
    cli_progress_begin(args);
    code = cli_read_model(args, args->operands[0], args->operands[1], &model);
    if (code == CLI_DONE)
        code = cli_read_data(args, args->operands[1], &data, NULL);
    if (code == CLI_DONE)
        code = cli_read_truth(args, data, vem_data_rows_read(data), &truth);
    if (code == CLI_DONE && cli_value(args, "index"))
        code = cli_score_index(args, model, data, cli_value(args, "index"), began);
    else if (code == CLI_DONE)
        code = score(args, model, data, &truth, began);
    cli_truth_free(&truth);
    vem_data_free(data);
    vem_model_free(model);
    return code;
}

const cli_command cli_score = {
    .name = "score",
    .operands = "MODEL DATA...",
    .purpose =
        "log-likelihood, free energy, quantisation error, AIC, BIC and ICL of DATA under "
        "MODEL",
    .details =
        "free energy the log-likelihood as far as the clusters held explain it: all, if "
        "not\n"
        "            --held; that of a fit in which rows held a few is lower\n"
        "quantisation error  squared distances of the rows to the mean nearest to them,\n"
        "            summed, whatever cluster a mixture's labels say\n"
        "entropy     of the rows' probabilities over all clusters, summed, in "
        "nats; 0 where\n"
        "            every row belongs to one cluster\n"
        "AIC         2 parameters - 2 log-likelihood of all rows\n"
        "BIC         parameters log(rows) - 2 log-likelihood of all rows\n"
        "ICL         BIC + 2 entropy\n"
        "Lower is better. Parameters are the numbers that were fitted: means, "
        "variances and,\n"
        "where they are free, the weights of the clusters. Rows count by their "
        "weights.\n"
        "\n"
        "With --index: the rows of DATA lie in lists, one for each cluster, and a query\n"
        "looks into those whose means are nearest. Told are the sizes of the lists (CV:\n"
        "standard deviation over mean) and, for shares of the rows that are scanned on\n"
        "average, the share of the nearest rows that are found. Rows scanned are what a\n"
        "search costs: compare models at equal shares.\n",
    .examples = "  vem score model.npz data.npy\n"
                "  vem score model.npz data.npy --truth truth.npy --json\n"
                "  vem score model.npz data.csv --truth table.csv --truth-column type\n"
                "  vem score model.npz vectors.npy --index queries.npy --picture "
                "recall.svg\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .former = former,
    .shared = shared,
    .modes = modes,
    .operand_count = 2,
    .more_operands = 1,
    .run = run,
};
