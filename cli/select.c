/* vem select DATA -o MODEL.npz */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define IO "Input and output"
#define METHOD_NAME(NAME, name, what) #name,
#define METHOD_CHOICE(NAME, name, what) "|" #name

static const char *const methods[] = {VEM_SELECT_TABLE(METHOD_NAME)};

static const cli_option own[] = {
    {"method", 0, "Model", &(VEM_SELECT_TABLE(METHOD_CHOICE))[1],
     "how mixtures are found and one is chosen; default: greedy"},
    {"min-clusters", 0, "Model", "A", "fewest clusters that may be chosen; default 1"},
    {"max-clusters", 0, "Model", "K", "most clusters that are tried; default 20"},
    {"pick", 0, "Model", "K",
     "no fit: the mixture of K clusters of a path that select wrote"},
    {"weights", 0, "Data", "FILE",
     "one weight per row (.npy, .csv or .txt), none negative"},
    CLI_READ_OPTIONS,
    {"output", 'o', IO, "FILE", "the chosen model, with all mixtures beside it, as .npz"},
    {"labels", 0, IO, "FILE", "the cluster of each row, from 0 (.npy, .csv or .csv.gz)"},
    {"trace", 0, IO, "FILE",
     "free energy, pairs and seconds of each step (.csv or .json)"},
    {"checkpoint", 0, IO, "FILE",
     "keep the state in FILE: after the first step, every two minutes, at the end"},
    {"resume", 0, IO, NULL,
     "go on from FILE of --checkpoint, to the same result; from the beginning where it "
     "is not there yet"},
    {"json", 0, IO, NULL, "print the result as one JSON object"},
    {"quiet", 'q', IO, NULL, "no progress and no summary"},
    {"verbose", 'v', IO, NULL, "also what is about to be done, and every step"},
};

static const cli_file files[] = {
    {"weights", CLI_READS, NULL},
    {"output", CLI_WRITES, "npz"},
    {"labels", CLI_WRITES_LABELS, "npy csv csv.gz"},
    {"trace", CLI_WRITES, "csv json"},
    {"checkpoint", CLI_WRITES, NULL},
    {NULL, CLI_READS, NULL},
};

static const char *const shared[] = {"family",      "prior",     "search",  "held",
                                     "reach",       "explore",   "probe",   "tolerance",
                                     "max-steps",   "empty",     "floor",   "coreset",
                                     "cells",       "depth",     "expand",  "precision",
                                     "standardize", "normalize", "threads", "memory",
                                     "time",        "seed",      "measure", NULL};

static const char *const of_a_path[] = {"output", "json", "quiet", "verbose", NULL};

static const cli_mode modes[] = {
    {"pick", of_a_path, NULL,
     "fits nothing and reads no rows: it takes a mixture out of MODEL"},
    {NULL, NULL, NULL, NULL},
};

/* ---- what was found ---- */

static json_t *path_json(const vem_path *path)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < vem_path_count(path); i++) {
        const vem_path_point *p = vem_path_at(path, i);
        json_t *row = json_object();
        json_object_set_new(row, "clusters", json_integer(p->clusters));
        json_object_set_new(row, "steps", json_integer(p->steps));
        json_object_set_new(row, "parameters", json_integer(p->parameters));
        json_object_set_new(row, "free_energy", cli_json_real(p->free_energy));
        json_object_set_new(row, "log_likelihood", cli_json_real(p->log_likelihood));
        json_object_set_new(row, "log_likelihood_se",
                            cli_json_real(p->log_likelihood_se));
        json_object_set_new(row, "entropy", cli_json_real(p->entropy));
        json_object_set_new(row, "aic", cli_json_real(p->aic));
        json_object_set_new(row, "bic", cli_json_real(p->bic));
        json_object_set_new(row, "icl", cli_json_real(p->icl));
        json_array_append_new(list, row);
    }
    return list;
}

/* A number of the table, or nothing. */
static const char *cell(double value, char text[32])
{
    if (!isfinite(value))
        return "";
    snprintf(text, 32, "%.8g", value);
    return text;
}

static void print_path(const vem_path *path)
{
    char a[5][32];
    printf("  %8s %14s %14s %14s %14s %14s\n", "clusters", "free energy", "log-lik.",
           "BIC", "AIC", "ICL");
    for (int32_t i = 0; i < vem_path_count(path); i++) {
        const vem_path_point *p = vem_path_at(path, i);
        printf("  %8d %14s %14s %14s %14s %14s%s\n", p->clusters,
               cell(p->free_energy, a[0]), cell(p->log_likelihood, a[1]),
               cell(p->bic, a[2]), cell(p->aic, a[3]), cell(p->icl, a[4]),
               p->clusters == vem_path_chosen(path) ? "  chosen by BIC" : "");
    }
}

/* ---- select ---- */

static int read_request(cli_args *args, vem_select_options *select)
{
    int64_t least = 0, most = 0;
    int method = 0, code = CLI_DONE;
    if (cli_value(args, "method"))
        code = cli_read_choice("--method", cli_value(args, "method"), methods,
                               VEM_SELECT_COUNT, &method);
    if (code == CLI_DONE)
        code = cli_read_whole(args, "min-clusters", 2147483000.0, &least);
    if (code == CLI_DONE)
        code = cli_read_whole(args, "max-clusters", 2147483000.0, &most);
    *select = (vem_select_options){.size = sizeof *select,
                                   .method = (vem_select_method)method,
                                   .min_clusters = (int32_t)least,
                                   .max_clusters = (int32_t)most};
    return code == CLI_DONE ? cli_set_checkpoint(args) : code;
}

static int write_results(cli_args *args, const vem_report *report, vem_model *model,
                         const vem_path *path, const vem_data *data)
{
    const char *output = cli_value(args, "output"), *labels = cli_value(args, "labels");
    const char *trace = cli_value(args, "trace");
    vem_status status = VEM_OK;
    if (output)
        status = cli_set_meta(args, report, model);
    if (status == VEM_OK && output)
        status = vem_path_write(args->ctx, path, model, output);
    if (status == VEM_OK && labels)
        status = cli_write_labels(args, report, model, data, labels);
    if (status != VEM_OK)
        return cli_failure(args, status);
    return trace ? cli_trace_write(args, report, trace) : CLI_DONE;
}

static int tell(cli_args *args, const vem_report *report, const vem_path *path,
                const vem_select_options *select, double seconds_read, double began)
{
    const double seconds = cli_clock() - began;
    if (cli_value(args, "json")) {
        json_t *o = cli_report_json(args, report, seconds_read, seconds);
        json_object_set_new(o, "method", json_string(methods[select->method]));
        json_object_set_new(o, "path", path_json(path));
        return cli_json_print(o);
    }
    if (!cli_value(args, "quiet")) {
        cli_print_summary(args, report, seconds_read, seconds);
        print_path(path);
    }
    return CLI_DONE;
}

static int find(cli_args *args, const vem_select_options *select, const vem_data *data,
                double seconds_read, double began)
{
    vem_model *model = NULL;
    vem_path *path = NULL;
    vem_report *report = NULL;
    cli_announce(args, 1);
    const vem_status status =
        vem_select(args->ctx, data, &args->options, select, &model, &path, &report);
    cli_announce(args, 0);
    cli_progress_end();
    if (status != VEM_OK)
        return cli_failure(args, status);
    int code = write_results(args, report, model, path, data);
    if (code == CLI_DONE)
        code = tell(args, report, path, select, seconds_read, began);
    if (code == CLI_DONE && cli_interrupted())
        code = cli_interrupt_status();
    vem_report_free(report);
    vem_path_free(path);
    vem_model_free(model);
    return code;
}

/* ---- pick ---- */

/* Its meta is that of the chosen model, but for what it says of the fit. */
static vem_status set_meta(cli_args *args, const vem_path_point *point, vem_model *model)
{
    const char *text = vem_model_meta(model);
    json_t *meta = text ? json_loads(text, 0, NULL) : NULL;
    if (!meta)
        return VEM_OK;
    json_object_del(meta, "trace");
    json_object_del(meta, "floored");
    json_object_set_new(meta, "picked", json_integer(point->clusters));
    json_object_set_new(meta, "steps", json_integer(point->steps));
    json_object_set_new(meta, "free_energy", cli_json_real(point->free_energy));
    return cli_json_into_model(args, meta, model);
}

static int pick(cli_args *args)
{
    const char *file = args->operands[0], *output = cli_value(args, "output");
    int64_t clusters = 0;
    vem_path *path = NULL;
    vem_model *model = NULL;
    int code = cli_read_whole(args, "pick", 2147483000.0, &clusters);
    if (code == CLI_DONE && args->operand_count > 1) {
        cli_error("--pick takes one file, the MODEL that vem select wrote.");
        code = CLI_USAGE;
    }
    if (code == CLI_DONE && !output) {
        cli_error("--pick writes a model: name it with -o OTHER.npz.");
        code = CLI_USAGE;
    }
    if (code != CLI_DONE)
        return code;
    vem_status status = vem_path_read(args->ctx, file, &path);
    if (status == VEM_OK)
        status = vem_path_pick(args->ctx, path, (int32_t)clusters, &model);
    const vem_path_point *point = NULL;
    for (int32_t i = 0; status == VEM_OK && i < vem_path_count(path); i++)
        if (vem_path_at(path, i)->clusters == clusters)
            point = vem_path_at(path, i);
    if (point)
        status = set_meta(args, point, model);
    if (status == VEM_OK)
        status = vem_model_write(args->ctx, model, output);
    code = status == VEM_OK ? CLI_DONE : cli_failure(args, status);
    if (code == CLI_DONE && cli_value(args, "json")) {
        json_t *o = cli_json_begin(args);
        json_object_set_new(o, "clusters", json_integer(clusters));
        json_object_set_new(o, "free_energy", cli_json_real(point->free_energy));
        json_object_set_new(o, "log_likelihood", cli_json_real(point->log_likelihood));
        json_object_set_new(o, "bic", cli_json_real(point->bic));
        code = cli_json_print(o);
    } else if (code == CLI_DONE && !cli_value(args, "quiet")) {
        char c[48];
        printf("%s: %s, free energy %.10g per row, BIC %.8g\n", output,
               cli_counted(clusters, "cluster", c), point->free_energy, point->bic);
    }
    vem_path_free(path);
    vem_model_free(model);
    return code;
}

static int run(cli_args *args)
{
    const double began = cli_clock();
    vem_select_options select;
    vem_data *data = NULL;
    double seconds_read = 0;
    if (cli_value(args, "pick"))
        return pick(args);
    int code = read_request(args, &select);
    if (code != CLI_DONE)
        return code;
    cli_progress_begin(args);
    code = cli_read_in_time(args, &data, &seconds_read, began);
    if (code == CLI_DONE)
        code = find(args, &select, data, seconds_read, began);
    vem_data_free(data);
    return code;
}

const cli_command cli_select = {
    .name = "select",
    .operands = "DATA... -o MODEL.npz",
    .purpose = "find the number of clusters too",
    .details =
        "--method greedy begins with one cluster and inserts one after the other where "
        "the\n"
        "free energy gains most, with steps of all clusters in between: mixtures of 1 to "
        "K\n"
        "clusters in one run. The one of the least BIC is the model; the file holds all "
        "of\n"
        "them beside it, and --pick takes another one out of it afterwards. Clusters "
        "have\n"
        "full covariances and fitted weights unless --family and --prior say otherwise.\n"
        "The path ends before K where no cluster more raises the free energy. Each "
        "mixture\n"
        "is measured on all rows, with --measure sample on some of them. Ctrl-C, or "
        "--time,\n"
        "ends the path; what was found until then is written.\n",
    .examples = "  vem select data.npy -o model.npz\n"
                "  vem select data.csv --max-clusters 50 --family diag -o model.npz\n"
                "  vem select --pick 7 model.npz -o seven.npz\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .shared = shared,
    .modes = modes,
    .operand_count = 1,
    .more_operands = 1,
    .run = run,
};
