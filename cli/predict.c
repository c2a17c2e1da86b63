/* vem predict MODEL DATA -o OUT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define IO "Input and output"

static const cli_option own[] = {
    {"top", 0, "Model", "T",
     "the T most probable clusters of each row, with their probabilities; at least 1"},
    {"exact", 0, "Model", NULL,
     "look at every cluster of the model (always so in this version)"},
    {"columns", 0, "Data", "LIST", "columns to use, by number or name: 1,3,5-8 or x,y"},
    {"id", 0, "Data", "COLUMN", "one column to leave out, by number or name"},
    {"output", 'o', IO, "FILE",
     "labels as .npy or .csv; with --top .npz or .csv; default: CSV on standard output"},
    {"json", 0, IO, NULL, "print what was done as one JSON object"},
    {"quiet", 'q', IO, NULL, "no progress and no summary"},
};

static const char *const shared[] = {"precision", "threads", NULL};

static int print_result(const cli_args *args, const vem_model *model,
                        const vem_data *data, int32_t top, double seconds)
{
    const char *output = cli_value(args, "output");
    char n[32], c[32], t[32];
    if (cli_value(args, "json")) {
        json_t *o = cli_json_begin(args);
        json_object_set_new(o, "n", json_integer(vem_data_rows(data)));
        json_object_set_new(o, "d", json_integer(vem_data_columns(data)));
        json_object_set_new(o, "clusters", json_integer(vem_model_clusters(model)));
        json_object_set_new(o, "top", json_integer(top));
        json_object_set_new(o, "output", cli_json_text(output));
        json_object_set_new(o, "threads", json_integer(vem_ctx_threads(args->ctx)));
        json_object_set_new(o, "seconds", cli_json_real(seconds));
        return cli_json_print(o);
    }
    if (output && !cli_value(args, "quiet"))
        printf("vem predict: %s rows, %s clusters, %s seconds; written to %s\n",
               cli_count(vem_data_rows(data), n), cli_count(vem_model_clusters(model), c),
               cli_seconds(seconds, t), output);
    return CLI_DONE;
}

static int predict(cli_args *args, const vem_model *model, const vem_data *data,
                   int32_t top, int soft, double began)
{
    const int64_t n = vem_data_rows(data);
    const char *output = cli_value(args, "output");
    const char *target = output ? output : "/dev/stdout"; /* which the library knows */
    size_t entries = 0;
    int too_many = __builtin_mul_overflow((size_t)n, (size_t)top, &entries) ||
                   entries > SIZE_MAX / 16;
    int32_t *clusters = too_many ? NULL : malloc(entries * sizeof *clusters + 1);
    double *probabilities =
        soft && !too_many ? malloc(entries * sizeof *probabilities + 1) : NULL;
    int code = CLI_DONE;
    if (!clusters || (soft && !probabilities)) {
        cli_error("memory for %lld rows times %d clusters could not be had.",
                  (long long)n, (int)top);
        code = CLI_FAILED;
    }
    if (code == CLI_DONE) {
        vem_status status =
            vem_assign(args->ctx, model, data, top, cli_precision(args, data), clusters,
                       probabilities);
        cli_progress_end();
        if (status == VEM_OK)
            status =
                soft ? vem_soft_write(args->ctx, target, clusters, probabilities, n, top)
                     : vem_labels_write(args->ctx, target, clusters, n);
        code = status == VEM_OK
                   ? print_result(args, model, data, top, cli_clock() - began)
                   : cli_failure(args, status);
    }
    free(clusters);
    free(probabilities);
    return code;
}

static int read_top(const char *text, int32_t *top)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > INT32_MAX) {
        cli_error("--top is %s, but it must be a whole number of at least 1.", text);
        return CLI_USAGE;
    }
    *top = (int32_t)value;
    return CLI_DONE;
}

static int run(cli_args *args)
{
    const double began = cli_clock();
    const char *output = cli_value(args, "output"), *wanted = cli_value(args, "top");
    vem_model *model = NULL;
    vem_data *data = NULL;
    int32_t top = 1;
    int code = wanted ? read_top(wanted, &top) : CLI_DONE;
    if (code == CLI_DONE)
        code =
            cli_check_output(output, args->operands[1], wanted ? "npz csv" : "npy csv");
    if (code == CLI_DONE)
        code = cli_check_output(output, args->operands[0], NULL);
    if (code != CLI_DONE)
        return code;
    cli_progress_begin(args);
    code = cli_read_model(args, args->operands[0], args->operands[1], &model);
    if (code == CLI_DONE)
        code = cli_read_data(args, args->operands[1], &data, NULL);
    if (code == CLI_DONE && top > vem_model_clusters(model)) {
        cli_error("--top is %d, but the model has %d clusters.", (int)top,
                  (int)vem_model_clusters(model));
        code = CLI_USAGE;
    }
    if (code == CLI_DONE)
        code = predict(args, model, data, top, wanted != NULL, began);
    vem_data_free(data);
    vem_model_free(model);
    return code;
}

const cli_command cli_predict = {
    .name = "predict",
    .operands = "MODEL DATA",
    .purpose = "the cluster of each row, or the most probable ones with --top",
    .examples = "  vem predict model.npz data.npy -o labels.npy\n"
                "  vem predict model.npz data.csv --top 3 -o soft.npz\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .shared = shared,
    .operand_count = 2,
    .run = run,
};
