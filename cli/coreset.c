/* vem coreset DATA -m N -o CORESET.npz */
#include <string.h>

#include "cli.h"

#define IO "Input and output"

static const cli_option own[] = {
    {"size", 'm', "Model", "N", "rows of the coreset, at least 1"},
    {"method", 0, "Model", "lightweight|uniform",
     "how rows are drawn; default lightweight"},
    {"weights", 0, "Data", "FILE",
     "one weight per row (.npy, .csv or .txt), none negative"},
    CLI_READ_OPTIONS,
    {"output", 'o', IO, "FILE", "the coreset: .npz with rows, weights and indices"},
    {"json", 0, IO, NULL, "print what was made as one JSON object"},
    {"quiet", 'q', IO, NULL, "no progress and no summary"},
};

static const cli_file files[] = {
    {"weights", CLI_READS, NULL},
    {"output", CLI_WRITES, "npz"},
    {NULL, CLI_READS, NULL},
};

static const char *const shared[] = {"seed", "threads", "memory", NULL};

static const char *const methods[] = {
    [VEM_CORESET_LIGHTWEIGHT] = "lightweight", [VEM_CORESET_UNIFORM] = "uniform"};

static int read_method(const cli_args *args, vem_coreset_method *method)
{
    const char *text = cli_value(args, "method");
    int value = VEM_CORESET_LIGHTWEIGHT;
    const int code =
        text ? cli_read_choice("--method", text, methods, 2, &value) : CLI_DONE;
    *method = (vem_coreset_method)value;
    return code;
}

/* Everything that can be known to be wrong before the data are read. */
static int check_early(const cli_args *args, int64_t *size, vem_coreset_method *method)
{
    int code = cli_read_whole(args, "size", 1e15, size);
    if (code == CLI_DONE)
        code = read_method(args, method);
    if (code != CLI_DONE)
        return code;
    if (*size == 0) {
        cli_error("the size of the coreset is missing: say it with -m N.");
        return CLI_USAGE;
    }
    if (!cli_value(args, "output")) {
        cli_error("the file to write is missing: name it with -o CORESET.npz.");
        return CLI_USAGE;
    }
    return CLI_DONE;
}

typedef struct result {
    const vem_data *data, *coreset;
    vem_coreset_method method;
    double seconds_read, seconds_reduce, seconds_total;
} result;

static double mass_of(const vem_data *data)
{
    const double *weights = vem_data_weights(data);
    double sum = 0;
    if (!weights)
        return (double)vem_data_rows(data);
    for (int64_t i = 0; i < vem_data_rows(data); i++)
        sum += weights[i];
    return sum;
}

static int print_json(const cli_args *args, const result *r)
{
    json_t *o = cli_json_begin(args), *seconds = json_object();
    const int64_t n = vem_data_rows(r->data), items = vem_data_rows(r->coreset);
    const int looked = items < n && r->method == VEM_CORESET_LIGHTWEIGHT;
    json_object_set_new(o, "method", json_string(methods[r->method]));
    json_object_set_new(o, "n", json_integer(n));
    json_object_set_new(o, "d", json_integer(vem_data_columns(r->data)));
    json_object_set_new(o, "items", json_integer(items));
    json_object_set_new(o, "all_rows", json_boolean(items == n));
    json_object_set_new(o, "mass", cli_json_real(mass_of(r->data)));
    json_object_set_new(o, "coreset_mass", cli_json_real(mass_of(r->coreset)));
    json_object_set_new(o, "reduce_pairs", json_integer(looked ? n : 0));
    json_object_set_new(o, "output", cli_json_text(cli_value(args, "output")));
    json_object_set_new(seconds, "read", cli_json_real(r->seconds_read));
    json_object_set_new(seconds, "reduce", cli_json_real(r->seconds_reduce));
    json_object_set_new(seconds, "total", cli_json_real(r->seconds_total));
    json_object_set_new(o, "seconds", seconds);
    json_object_set_new(o, "threads", json_integer(vem_ctx_threads(args->ctx)));
    json_object_set_new(o, "seed", json_integer(args->options.seed));
    cli_processes_json(args->ctx, o);
    return cli_json_print(o);
}

static void print_words(const cli_args *args, const result *r)
{
    char a[48], b[48], c[32];
    const int64_t n = vem_data_rows(r->data), items = vem_data_rows(r->coreset);
    char text[256];
    const char *name = cli_data_name(args, args->operands[0], text);
    if (items == n)
        printf("vem coreset %s: all %s with their own weights, because at least "
               "that many were asked for; written to %s\n",
               name, cli_counted(n, "row", a), cli_value(args, "output"));
    else
        printf("vem coreset %s: %s of %s, %s, seed %lld; mass %.10g for %.10g; %s s; "
               "written to %s\n",
               name, cli_count(items, a), cli_counted(n, "row", b), methods[r->method],
               (long long)args->options.seed, mass_of(r->coreset), mass_of(r->data),
               cli_seconds(r->seconds_total, c), cli_value(args, "output"));
}

static int draw(cli_args *args, int64_t size, result *r, double began)
{
    vem_data *coreset = NULL;
    const double start = cli_clock();
    vem_status status =
        vem_coreset(args->ctx, r->data, size, r->method, args->options.seed, &coreset);
    cli_progress_end();
    r->seconds_reduce = cli_clock() - start;
    if (status == VEM_OK && cli_writes())
        status = vem_coreset_write(args->ctx, coreset, cli_value(args, "output"));
    r->coreset = coreset;
    r->seconds_total = cli_clock() - began;
    int code = CLI_DONE;
    if (status != VEM_OK)
        code = cli_failure(args, status);
    else if (cli_value(args, "json"))
        code = print_json(args, r);
    else if (!cli_value(args, "quiet"))
        print_words(args, r);
    vem_data_free(coreset);
    return code;
}

static int run(cli_args *args)
{
    const double began = cli_clock();
    int64_t size = 0;
    vem_data *data = NULL;
    result r = {0};
    int code = check_early(args, &size, &r.method);
    if (code != CLI_DONE)
        return code;
    cli_progress_begin(args);
    code = cli_read_data(args, args->operands[0], &data, &r.seconds_read);
    if (code == CLI_DONE) {
        r.data = data;
        code = draw(args, size, &r, began);
        vem_data_free(data);
    }
    return code;
}

const cli_command cli_coreset = {
    .name = "coreset",
    .operands = "DATA... -m N -o CORESET.npz",
    .purpose = "a weighted sample that stands for all rows",
    .details =
        "Draws N rows with replacement, in two passes over DATA. A row's chance is half\n"
        "its share of the weight, half its share of the squared distances to the mean\n"
        "(lightweight), or its share of the weight alone (uniform); its weight makes up\n"
        "for it, so that costs are right in the mean. Every command takes CORESET.npz "
        "as\n"
        "DATA, with its weights. Where DATA has no more rows than N: all of them.\n",
    .examples = "  vem coreset data.npy -m 10000 -o small.npz\n"
                "  vem fit small.npz -k 100 -o model.npz\n"
                "  vem score model.npz data.npy\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .shared = shared,
    .operand_count = 1,
    .more_operands = 1,
    .run = run,
};
