/* vem sample MODEL -n N -o OUT.npy */
#include <string.h>

#include "cli.h"

#define IO "Input and output"

static const cli_option own[] = {
    {"rows", 'n', "Model", "N", "number of rows to draw; at least 1"},
    {"output", 'o', IO, "FILE", "the rows (.npy, .csv or .csv.gz)"},
    {"labels", 0, IO, "FILE",
     "the cluster each row was drawn from, from 0 (.npy, .csv or .csv.gz)"},
    {"json", 0, IO, NULL, "print what was drawn as one JSON object"},
    {"quiet", 'q', IO, NULL, "no progress and no summary"},
};

static const cli_file files[] = {
    {"output", CLI_WRITES, "npy csv csv.gz"},
    {"labels", CLI_WRITES_CLASSES, "npy csv csv.gz"},
    {NULL, CLI_READS, NULL},
};

static const char *const shared[] = {"seed", "threads", "memory", NULL};

static int print_result(const cli_args *args, const vem_model *model, int64_t n,
                        double seconds)
{
    char a[32], b[32];
    if (cli_value(args, "json")) {
        json_t *o = cli_json_begin(args);
        json_object_set_new(o, "n", json_integer(n));
        json_object_set_new(o, "d", json_integer(vem_model_columns(model)));
        json_object_set_new(o, "clusters", json_integer(vem_model_clusters(model)));
        json_object_set_new(o, "seed", json_integer(args->options.seed));
        json_object_set_new(o, "output", cli_json_text(cli_value(args, "output")));
        json_object_set_new(o, "labels", cli_json_text(cli_value(args, "labels")));
        json_object_set_new(o, "seconds", cli_json_real(seconds));
        return cli_json_print(o);
    }
    if (!cli_value(args, "quiet"))
        printf("vem sample %s: %s row%s of %s column%s, seed %lld; written to %s\n",
               args->operands[0], cli_count(n, a), n == 1 ? "" : "s",
               cli_count(vem_model_columns(model), b),
               vem_model_columns(model) == 1 ? "" : "s", (long long)args->options.seed,
               cli_value(args, "output"));
    return CLI_DONE;
}

/* Under the names of the model's columns, where it knows them. */
static vem_status write_rows(const cli_args *args, const vem_model *model,
                             const void *rows, int64_t n)
{
    const int32_t d = vem_model_columns(model);
    void *names;
    vem_status status = vem_array_new(args->ctx, (size_t)d * sizeof(char *), &names);
    if (status != VEM_OK)
        return status;
    for (int32_t j = 0; j < d; j++)
        ((const char **)names)[j] = vem_model_column_name(model, j);
    status = vem_array_write_named(args->ctx, cli_value(args, "output"), VEM_FLOAT64,
                                   rows, n, d, names);
    vem_array_free(args->ctx, names);
    return status;
}

static int sample(cli_args *args, const vem_model *model, int64_t n, double began)
{
    const int32_t d = vem_model_columns(model);
    const char *labels_path = cli_value(args, "labels");
    size_t bytes = 0;
    void *rows = NULL, *labels = NULL;
    if (__builtin_mul_overflow((size_t)n, (size_t)d * sizeof(double), &bytes)) {
        cli_error("memory for %lld rows of %d columns could not be had.", (long long)n,
                  (int)d);
        return CLI_FAILED;
    }
    vem_status status = vem_array_new(args->ctx, bytes, &rows);
    if (status == VEM_OK && labels_path)
        status = vem_array_new(args->ctx, (size_t)n * sizeof(int32_t), &labels);
    if (status == VEM_OK)
        status = vem_sample(args->ctx, model, (uint64_t)args->options.seed, 0, n, rows,
                            labels);
    cli_progress_end();
    if (status == VEM_OK)
        status = write_rows(args, model, rows, n);
    if (status == VEM_OK && labels)
        status = vem_classes_write(args->ctx, labels_path, labels, n);
    vem_array_free(args->ctx, rows);
    vem_array_free(args->ctx, labels);
    return status == VEM_OK ? print_result(args, model, n, cli_clock() - began)
                            : cli_failure(args, status);
}

static int run(cli_args *args)
{
    const double began = cli_clock();
    vem_model *model = NULL;
    int64_t n = 0;
    int code = cli_read_whole(args, "rows", 1e12, &n);
    if (code == CLI_DONE && !n) {
        cli_error("the number of rows is missing: give it with -n N.");
        code = CLI_USAGE;
    }
    if (code == CLI_DONE && !cli_value(args, "output")) {
        cli_error("the file to write is missing: name it with -o OUT.npy.");
        code = CLI_USAGE;
    }
    if (code != CLI_DONE)
        return code;
    cli_progress_begin(args);
    code = cli_read_model(args, args->operands[0], NULL, &model);
    if (code == CLI_DONE)
        code = sample(args, model, n, began);
    vem_model_free(model);
    return code;
}

const cli_command cli_sample = {
    .name = "sample",
    .operands = "MODEL -n N -o OUT.npy",
    .purpose = "rows drawn from a mixture",
    .details = "A cluster is drawn by the weights, then a row from its normal "
               "distribution, in the\n"
               "units of the data the model was fitted on (of rows of length 1 after "
               "--normalize:\n"
               "what is drawn has that length only about). The same seed gives the same "
               "rows for\n"
               "any number of threads, and the first rows do not depend on how many "
               "there are.\n"
               "Clusters of --balance, whose weights are prices, are drawn alike.\n",
    .examples = "  vem sample model.npz -n 10000 -o rows.npy --labels clusters.npy\n"
                "  vem sample model.npz -n 100 -o rows.csv --seed 7\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .shared = shared,
    .operand_count = 1,
    .run = run,
};
