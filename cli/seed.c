/* vem seed DATA -k C -o MODEL.npz */
#include "cli.h"

#define IO "Input and output"

static const cli_option own[] = {
    CLI_WEIGHTS_OPTION,
    CLI_READ_OPTIONS,
    {"output", 'o', IO, "FILE", "the model, as .npz that numpy.load opens"},
    {"json", 0, IO, NULL, "print what was made as one JSON object"},
    {"quiet", 'q', IO, NULL, "no progress and no summary"},
};

static const cli_file files[] = {
    {"weights", CLI_READS, NULL},
    {"output", CLI_WRITES, "npz"},
    {NULL, CLI_READS, NULL},
};

/* Those that a fit has for its start and its rows; what belongs to steps has no part here. */
static const char *const shared[] = {"clusters", "algorithm", "family",      "prior",
                                     "metric",   "search",    "held",        "seeding",
                                     "chain",    "coreset",   "cells",       "depth",
                                     "floor",    "normalize", "standardize", "precision",
                                     "seed",     "threads",   "memory",      NULL};

static int check_early(const cli_args *args)
{
    vem_options resolved = {.size = sizeof resolved};
    if (args->options.clusters == VEM_AUTO) {
        cli_error("the number of clusters is missing: say it with -k C.");
        return CLI_USAGE;
    }
    if (!cli_value(args, "output")) {
        cli_error("the file to write is missing: name it with -o MODEL.npz.");
        return CLI_USAGE;
    }
    const vem_status status =
        vem_options_resolve(args->ctx, &args->options, INT64_C(1) << 30, 2, VEM_FLOAT64,
                            &resolved);
    return status == VEM_OK ? CLI_DONE : cli_failure(args, status);
}

/* The "meta" of the model: it has made no step. */
static vem_status set_meta(const cli_args *args, const vem_data *data, vem_model *model)
{
    json_t *meta = cli_json_begin(args);
    json_object_set_new(meta, "rows_used", json_integer(vem_data_rows(data)));
    json_object_set_new(meta, "seed", json_integer(args->options.seed));
    json_object_set_new(meta, "steps", json_integer(0));
    json_object_set_new(meta, "outcome",
                        json_string(vem_outcome_name(VEM_OUTCOME_STEP_LIMIT)));
    json_object_set_new(meta, "options", cli_json_options(&args->options));
    return cli_json_into_model(args, meta, model);
}

static int tell(const cli_args *args, const vem_data *data, const vem_model *model,
                double seconds_read, double began)
{
    const double seconds_total = cli_clock() - began;
    const char *output = cli_value(args, "output");
    if (cli_value(args, "json")) {
        json_t *o = cli_json_begin(args), *seconds = json_object();
        json_object_set_new(o, "n", json_integer(vem_data_rows(data)));
        json_object_set_new(o, "d", json_integer(vem_data_columns(data)));
        json_object_set_new(o, "clusters", json_integer(vem_model_clusters(model)));
        json_object_set_new(o, "seed", json_integer(args->options.seed));
        json_object_set_new(o, "output", cli_json_text(output));
        json_object_set_new(seconds, "read", cli_json_real(seconds_read));
        json_object_set_new(seconds, "total", cli_json_real(seconds_total));
        json_object_set_new(o, "seconds", seconds);
        return cli_json_print(o);
    }
    if (!cli_value(args, "quiet")) {
        char a[48], b[48], c[32], name[256];
        printf("vem seed %s: %s at rows of %s, seed %lld; %s s; written to %s\n",
               cli_data_name(args, args->operands[0], name),
               cli_counted(vem_model_clusters(model), "cluster", a),
               cli_counted(vem_data_rows(data), "row", b), (long long)args->options.seed,
               cli_seconds(seconds_total, c), output);
    }
    return CLI_DONE;
}

static int run(cli_args *args)
{
    const double began = cli_clock();
    vem_data *data = NULL;
    vem_model *model = NULL;
    double seconds_read = 0;
    int code = check_early(args);
    if (code != CLI_DONE)
        return code;
    cli_progress_begin(args);
    code = cli_read_data(args, args->operands[0], &data, &seconds_read);
    if (code != CLI_DONE)
        return code;
    vem_status status = vem_seed(args->ctx, data, &args->options, &model);
    cli_progress_end();
    if (status == VEM_OK)
        status = set_meta(args, data, model);
    if (status == VEM_OK)
        status = vem_model_write(args->ctx, model, cli_value(args, "output"));
    code = status == VEM_OK ? tell(args, data, model, seconds_read, began)
                            : cli_failure(args, status);
    vem_model_free(model);
    vem_data_free(data);
    return code;
}

const cli_command cli_seed = {
    .name = "seed",
    .operands = "DATA... -k C -o MODEL.npz",
    .purpose = "the first model of a fit, before any step",
    .details =
        "Draws the clusters that vem fit with these options would begin with, by its\n"
        "seeding, and writes them as a model: vem fit --init MODEL.npz goes on from "
        "there,\n"
        "here, elsewhere, or in parts (vem step). DATA is as for vem fit; of data "
        "spread\n"
        "over machines it may be their coresets. Where all clusters share one variance\n"
        "(--algorithm kmeans) such a fit has the means that vem fit without --init "
        "finds.\n"
        "Other families begin from rows with two steps of one shared variance, which "
        "--init\n"
        "leaves out. A fit without --algorithm may begin otherwise, too: with fits of a\n"
        "sample, or along the leading axes of many columns.\n",
    .examples = "  vem seed data.npy -k 100 -o start.npz\n"
                "  vem seed data.npy -k 4096 --seeding afkmc2 --seed 7 -o start.npz\n"
                "  vem fit data.npy --init start.npz --algorithm kmeans -o model.npz\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .shared = shared,
    .operand_count = 1,
    .more_operands = 1,
    .run = run,
};
