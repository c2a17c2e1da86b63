/* vem predict MODEL DATA -o OUT */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define IO "Input and output"

static const cli_option own[] = {
    {"top", 0, "Model", "T",
     "the T most probable clusters of each row, with their probabilities; at least 1, or "
     "all"},
    {"nearest", 0, "Model", NULL,
     "by the distance to the means alone, without weights, prices or shapes; of a model "
     "of vem "
     "fit --standardize in its units, in which columns are divided by their deviations"},
    {"exact", 0, "Model", NULL,
     "look at every cluster of the model, and give probabilities of the full posterior"},
    {"recall", 0, "Model", "R",
     "share of the right clusters that a guided search must find, as a sample of the "
     "rows "
     "shows with 99 % confidence; above 0 and at most 1; default 0.999"},
    {"spill", 0, "Model", "LAMBDA",
     "instead: two lists for each row, as an index with overlapping cells has them, by "
     "the means alone: that of the nearest mean, and of the 32 nearest "
     "the one of least squared distance plus LAMBDA times the square of its part along "
     "the first residual; 0 (the second "
     "nearest) to 1000000. As an index of these means does it: in the units of the data, "
     "also after --standardize"},
    CLI_READ_OPTIONS,
    {"output", 'o', IO, "FILE",
     "labels as .npy, .csv or .csv.gz; with --top .npz instead of .npy, and with --top "
     "all "
     "also .npy, where column c is the probability of cluster c; default: CSV on "
     "standard "
     "output"},
    {"json", 0, IO, NULL, "print what was done as one JSON object"},
    {"quiet", 'q', IO, NULL, "no progress and no summary"},
};

static const cli_file files[] = {
    {"output", CLI_WRITES, NULL},
    {NULL, CLI_READS, NULL},
};

static const char *const no_part[] = {"top", "nearest", "exact", "recall", NULL};
static const cli_mode modes[] = {
    {"spill", NULL, no_part, "goes by the means alone and gives two lists"},
    {NULL, NULL, NULL, NULL},
};

static const char *const shared[] = {"precision", "threads", "memory", "seed", NULL};

/* What a reader of the labels should know of a search that left clusters out. */
static void describe(const vem_assign_report *report, char *text, size_t capacity)
{
    char rows[48];
    snprintf(text, capacity,
             "the result is approximate: recall %.5g on a sample of %s, above %.5g "
             "for all rows with 99 %% confidence; --exact looks at every cluster.",
             report->recall, cli_counted(report->recall_rows, "row", rows),
             report->recall_least);
}

static int print_result(const cli_args *args, const vem_model *model,
                        const vem_data *data, int32_t top,
                        const vem_assign_report *report, double seconds)
{
    const char *output = cli_value(args, "output");
    char n[48], c[48], t[32], note[256] = "";
    if (report->guided)
        describe(report, note, sizeof note);
    if (*note)
        cli_note(args, "%s", note);
    if (cli_value(args, "json")) {
        json_t *o = cli_json_begin(args);
        json_object_set_new(o, "n", json_integer(vem_data_rows(data)));
        json_object_set_new(o, "d", json_integer(vem_data_columns(data)));
        json_object_set_new(o, "clusters", json_integer(vem_model_clusters(model)));
        json_object_set_new(o, "top", json_integer(top));
        json_object_set_new(o, "search", json_string(report->guided ? "guided" : "scan"));
        json_object_set_new(o, "recall", cli_json_real(report->recall));
        json_object_set_new(o, "recall_rows", json_integer(report->recall_rows));
        json_object_set_new(o, "recall_least", cli_json_real(report->recall_least));
        json_object_set_new(o, "approximate", json_boolean(report->guided));
        json_object_set_new(o, "note", cli_json_text(*note ? note : NULL));
        json_object_set_new(o, "covered", cli_json_real(report->covered));
        json_object_set_new(o, "buckets", json_integer(report->buckets));
        json_object_set_new(o, "probes", json_integer(report->probes));
        json_object_set_new(o, "scored_pairs", json_integer(report->scored_pairs));
        json_object_set_new(o, "output", cli_json_text(output));
        json_object_set_new(o, "threads", json_integer(vem_ctx_threads(args->ctx)));
        json_object_set_new(o, "seconds", cli_json_real(seconds));
        return cli_json_print(o);
    }
    if (output && !cli_value(args, "quiet")) {
        printf("vem predict: %s, %s, %s, %s seconds; written to %s\n",
               cli_counted(vem_data_rows(data), "row", n),
               cli_counted(vem_model_clusters(model), "cluster", c),
               report->guided ? "guided search" : "every cluster looked at",
               cli_seconds(seconds, t), output);
    }
    return CLI_DONE;
}

/* Results of `top` clusters a row, or NULL, to the rows of the file: those left out get the
 * label -1 and `absent` for a probability. */
static vem_status spread(const cli_args *args, const vem_data *data, int32_t top,
                         void *clusters, void *probabilities, double absent)
{
    if (vem_data_rows_read(data) == vem_data_rows(data))
        return VEM_OK;
    const size_t count = (size_t)top;
    void *entry;
    vem_status status = vem_array_new(args->ctx, count * sizeof(double), &entry);
    for (size_t k = 0; status == VEM_OK && k < count; k++)
        ((int32_t *)entry)[k] = -1;
    if (status == VEM_OK && clusters)
        status =
            vem_data_spread(args->ctx, data, clusters, count * sizeof(int32_t), entry);
    for (size_t k = 0; status == VEM_OK && k < count; k++)
        ((double *)entry)[k] = absent;
    if (status == VEM_OK && probabilities)
        status = vem_data_spread(args->ctx, data, probabilities, count * sizeof(double),
                                 entry);
    vem_array_free(args->ctx, entry);
    return status;
}

static int predict(cli_args *args, const vem_model *model, const vem_data *data,
                   vem_assign_options *how, int soft, double began)
{
    const int32_t top = how->top;
    const int64_t all = vem_data_rows_read(data);
    const char *output = cli_value(args, "output");
    const char *target = output ? output : "/dev/stdout"; /* which the library knows */
    size_t entries = 0;
    int too_many = __builtin_mul_overflow((size_t)all, (size_t)top, &entries) ||
                   entries > SIZE_MAX / 16;
    void *clusters = NULL, *probabilities = NULL;
    int code = CLI_DONE;
    if (too_many) {
        cli_error("memory for %lld rows times %d clusters could not be had.",
                  (long long)all, (int)top);
        code = CLI_FAILED;
    }
    vem_status made = VEM_OK;
    if (code == CLI_DONE)
        made = vem_array_new(args->ctx, entries * sizeof(int32_t), &clusters);
    if (code == CLI_DONE && made == VEM_OK && soft)
        made = vem_array_new(args->ctx, entries * sizeof(double), &probabilities);
    if (made != VEM_OK)
        code = cli_failure(args, made);
    if (code == CLI_DONE) {
        vem_assign_report report = {.size = sizeof report};
        how->precision = cli_precision(args);
        vem_status status = vem_assign_guided(args->ctx, model, data, how, clusters,
                                              probabilities, &report);
        cli_progress_end();
        if (status == VEM_OK && cli_writes())
            status = spread(args, data, top, clusters, probabilities, 0);
        if (status == VEM_OK && cli_writes())
            status = soft ? vem_soft_write_rows(args->ctx, target, data, clusters,
                                                probabilities, all, top)
                          : vem_labels_write_rows(args->ctx, target, data, clusters, all);
        code = status == VEM_OK
                   ? print_result(args, model, data, top, &report, cli_clock() - began)
                   : cli_failure(args, status);
    }
    vem_array_free(args->ctx, clusters);
    vem_array_free(args->ctx, probabilities);
    return code;
}

/* All probabilities as one matrix. */
static int predict_dense(cli_args *args, const vem_model *model, const vem_data *data,
                         double began)
{
    const int64_t n = vem_data_rows(data), all = vem_data_rows_read(data);
    const int32_t clusters = vem_model_clusters(model);
    vem_assign_report report = {.size = sizeof report,
                                .recall = 1,
                                .recall_least = 1,
                                .covered = 1,
                                .scored_pairs = n * clusters};
    size_t bytes = 0;
    void *probabilities = NULL;
    if (__builtin_mul_overflow((size_t)all, (size_t)clusters * sizeof(double), &bytes)) {
        cli_error("memory for %lld rows times %d clusters could not be had.",
                  (long long)all, (int)clusters);
        return CLI_FAILED;
    }
    vem_status status = vem_array_new(args->ctx, bytes, &probabilities);
    if (status == VEM_OK)
        status =
            vem_posterior(args->ctx, model, data, cli_precision(args), probabilities);
    cli_progress_end();
    if (status == VEM_OK)
        status = spread(args, data, clusters, NULL, probabilities, NAN);
    if (status == VEM_OK)
        status = vem_array_write(args->ctx, cli_value(args, "output"), VEM_FLOAT64,
                                 probabilities, all, clusters);
    vem_array_free(args->ctx, probabilities);
    return status == VEM_OK
               ? print_result(args, model, data, clusters, &report, cli_clock() - began)
               : cli_failure(args, status);
}

/* One variance for all, as large as those of the model, in the units in which rows are compared;
 * counts have none. */
static double mean_variance(const vem_model *model)
{
    const int axes = vem_family_axes(vem_model_family(model));
    const int64_t d = vem_model_columns(model), columns = axes > 0 ? d : 1;
    const int64_t size = axes == 2 ? d * d : columns;
    const int64_t count = (int64_t)vem_model_variance_count(model);
    const double *scale = axes > 0 ? vem_model_scale(model) : NULL;
    double mean = 0;
    if (axes < 0)
        return 1;
    for (int64_t first = 0; first < count; first += size)
        for (int64_t j = 0; j < columns; j++) {
            const double unit = scale ? scale[j] : 1;
            mean += vem_model_variances(model)[first + (axes == 2 ? j * d + j : j)] /
                    unit / unit / (double)(count / size * columns);
        }
    return mean;
}

/* That of balls of one size. */
static vem_family_kind round_family(void)
{
    int family = 0;
    while (vem_family_axes((vem_family_kind)family) != 0 ||
           !vem_family_shared((vem_family_kind)family))
        family++;
    return (vem_family_kind)family;
}

/* The means of the model as balls of one size: no weights, prices or shapes. */
static vem_status means_alone(const cli_args *args, const vem_model *model,
                              vem_model **plain)
{
    const double variance = mean_variance(model);
    vem_status status = vem_model_new(args->ctx, round_family(),
                                      vem_model_clusters(model), vem_model_columns(model),
                                      vem_model_means(model), NULL, &variance, plain);
    if (status == VEM_OK && vem_model_scale(model))
        status = vem_model_set_scale(args->ctx, *plain, vem_model_scale(model));
    if (status == VEM_OK)
        vem_model_set_normalizes(*plain, vem_model_normalizes(model));
    if (status == VEM_OK)
        status = vem_model_set_metric(args->ctx, *plain, vem_model_metric(model));
    return status;
}

/* Two lists for each row. */
static int predict_spill(cli_args *args, const vem_model *model, const vem_data *data,
                         double lambda, double began)
{
    const int64_t all = vem_data_rows_read(data);
    const char *output = cli_value(args, "output");
    void *clusters = NULL, *squares = NULL;
    vem_status status =
        vem_array_new(args->ctx, (size_t)all * 2 * sizeof(int32_t), &clusters);
    if (status == VEM_OK)
        status = vem_array_new(args->ctx, (size_t)all * 2 * sizeof(double), &squares);
    if (status == VEM_OK)
        status = vem_assign_spill(args->ctx, model, data, lambda, cli_precision(args),
                                  clusters, squares);
    cli_progress_end();
    if (status == VEM_OK)
        status = spread(args, data, 2, clusters, squares, NAN);
    if (status == VEM_OK)
        status = vem_spill_write_rows(args->ctx, output ? output : "/dev/stdout", data,
                                      clusters, squares, all);
    vem_array_free(args->ctx, clusters);
    vem_array_free(args->ctx, squares);
    if (status != VEM_OK)
        return cli_failure(args, status);
    if (cli_value(args, "json")) {
        json_t *o = cli_json_begin(args);
        json_object_set_new(o, "n", json_integer(vem_data_rows(data)));
        json_object_set_new(o, "d", json_integer(vem_data_columns(data)));
        json_object_set_new(o, "clusters", json_integer(vem_model_clusters(model)));
        json_object_set_new(o, "spill", cli_json_real(lambda));
        json_object_set_new(o, "output", cli_json_text(output));
        json_object_set_new(o, "threads", json_integer(vem_ctx_threads(args->ctx)));
        json_object_set_new(o, "seconds", cli_json_real(cli_clock() - began));
        return cli_json_print(o);
    }
    if (output && !cli_value(args, "quiet")) {
        char n[48], t[32];
        printf("vem predict: %s, two lists each, %s seconds; written to %s\n",
               cli_counted(vem_data_rows(data), "row", n),
               cli_seconds(cli_clock() - began, t), output);
    }
    return CLI_DONE;
}

static int read_recall(const char *text, double *recall)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0 && value <= 1)) {
        cli_error("--recall is %s, but it must be a number above 0 and at most 1.", text);
        return CLI_USAGE;
    }
    *recall = value;
    return CLI_DONE;
}

static int run(cli_args *args)
{
    const double began = cli_clock();
    const char *output = cli_value(args, "output"), *wanted = cli_value(args, "top");
    const char *recall = cli_value(args, "recall"), *spill = cli_value(args, "spill");
    double lambda = 0;
    vem_model *model = NULL, *plain = NULL;
    vem_data *data = NULL;
    vem_assign_options how = {.size = sizeof how,
                              .top = 1,
                              .seed = (uint64_t)args->options.seed};
    how.search = cli_value(args, "exact") ? VEM_ASSIGN_SCAN : VEM_ASSIGN_AUTO;
    int64_t top = 1;
    int code = cli_read_whole_or_all(args, "top", INT32_MAX, 0, &top);
    how.top = (int32_t)top; /* 0 stands for all */
    if (code == CLI_DONE && recall)
        code = read_recall(recall, &how.recall);
    if (code == CLI_DONE && spill)
        code = cli_read_spill(spill, &lambda);
    if (code == CLI_DONE)
        code = cli_check_ending(output, spill      ? "npz csv csv.gz"
                                        : !wanted  ? "npy csv csv.gz"
                                        : !how.top ? "npz csv csv.gz npy"
                                                   : "npz csv csv.gz");
    if (code == CLI_DONE && cli_processes() > 1 &&
        (spill || (!how.top && output && cli_has_ending(output, "npy")))) {
        cli_error(
            "over several processes rows are not assigned by %s: go without mpirun.",
            spill ? "--spill" : "--top all into an .npy");
        code = CLI_USAGE;
    }
    if (code != CLI_DONE)
        return code;
    cli_progress_begin(args);
    code = cli_read_model(args, args->operands[0], args->operands[1], &model);
    if (code == CLI_DONE && how.top > vem_model_clusters(model)) {
        cli_error("--top is %d, but the model has %d clusters.", (int)how.top,
                  (int)vem_model_clusters(model));
        code = CLI_USAGE;
    }
    if (code == CLI_DONE)
        code = cli_read_data(args, args->operands[1], &data, NULL);
    const int dense = how.top == 0 && output && cli_has_ending(output, "npy");
    if (code == CLI_DONE && how.top == 0)
        how.top = vem_model_clusters(model);
    if (code == CLI_DONE && cli_value(args, "nearest")) {
        const vem_status status = means_alone(args, model, &plain);
        code = status == VEM_OK ? CLI_DONE : cli_failure(args, status);
    }
    const vem_model *by = plain ? plain : model;
    if (code == CLI_DONE)
        code = spill   ? predict_spill(args, model, data, lambda, began)
               : dense ? predict_dense(args, by, data, began)
                       : predict(args, by, data, &how, wanted != NULL, began);
    vem_data_free(data);
    vem_model_free(plain);
    vem_model_free(model);
    return code;
}

const cli_command cli_predict = {
    .name = "predict",
    .operands = "MODEL DATA...",
    .purpose = "the cluster of each row, or the most probable ones with --top",
    .details =
        "A table's columns are found by the names that the model knows, in any order;\n"
        "others are left out. Labels as CSV have the row number, counted from 1, the "
        "label,\n"
        "counted from 0, and the id columns.\n"
        "With many clusters a row is compared only with those of the coarse buckets of\n"
        "clusters nearest to it: a guided search. It is approximate: as many are tried\n"
        "as a sample of the rows, for which every cluster is looked at, needs to\n"
        "show with 99 % confidence that --recall is reached; by default no more than\n"
        "0.1 % of the labels are others than --exact gives. Where that is no less work\n"
        "than looking at every cluster for all rows, this is done instead. With --top T\n"
        "recall is that of the T most probable clusters, and the probabilities of a\n"
        "guided search add up to 1 over the clusters tried for the row. --json says\n"
        "which search was used, its recall on the sample (recall), what it is at least\n"
        "(recall_least), and the share of the posterior the tried clusters hold\n"
        "(covered).\n"
        "A model of vem fit --balance has prices, which rows go by: labels are those of\n"
        "the fit but for rows that a number moved. --nearest goes by the means alone, "
        "as\n"
        "an index does that knows no prices.\n"
        "--spill writes two lists for each row, with the squared distances (.npz:\n"
        "clusters, squares); vem score --index --spill says what they are worth.\n",
    .examples = "  vem predict model.npz data.npy -o labels.npy\n"
                "  vem predict model.npz data.csv --top 3 -o soft.npz\n"
                "  vem predict model.npz data.npy --top all -o posterior.npy\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .shared = shared,
    .modes = modes,
    .operand_count = 2,
    .more_operands = 1,
    .run = run,
};
