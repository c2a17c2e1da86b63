/* vem generate KIND -o OUT.npy */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define IO "Input and output"

static const cli_option own[] = {
    {"rows", 'n', "Model", "N", "number of rows; default 100 for each cluster"},
    {"dimensions", 'd', "Model", "D", "number of columns; default 2 (birch: always 2)"},
    {"separation", 0, "Model", "S",
     "how far apart the clusters are, at least: c of separated, tau of tau-separated; "
     "default 2"},
    {"box", 0, "Model", "B",
     "tau-separated: side of the box of centers, in mean standard deviations; default "
     "30, "
     "and wider when the centers find no room"},
    {"output", 'o', IO, "FILE", "the rows (.npy, .csv or .csv.gz)"},
    {"labels", 0, IO, "FILE",
     "the true cluster of each row, from 0 (.npy, .csv or .csv.gz)"},
    {"centers", 0, IO, "FILE", "the true centers (.npy, .csv or .csv.gz)"},
    {"precision", 0, IO, "single|double", "type of the rows; default double"},
    {"json", 0, IO, NULL, "print what was made as one JSON object"},
    {"quiet", 'q', IO, NULL, "no progress and no summary"},
};

static const cli_file files[] = {
    {"output", CLI_WRITES, "npy csv csv.gz"},
    {"labels", CLI_WRITES_CLASSES, "npy csv csv.gz"},
    {"centers", CLI_WRITES, "npy csv csv.gz"},
    {NULL, CLI_READS, NULL},
};

static const char *const shared[] = {"clusters", "seed", "threads", NULL};

static const char *const kinds[] = {[VEM_BIRCH_GRID] = "birch-grid",
                                    [VEM_BIRCH_RANDOM] = "birch-random",
                                    [VEM_SEPARATED] = "separated",
                                    [VEM_TAU_SEPARATED] = "tau-separated",
                                    NULL};
enum { KINDS = sizeof kinds / sizeof *kinds - 1 };

static int read_positive(const cli_args *args, const char *name, double high,
                         double *value)
{
    const char *text = cli_value(args, name);
    if (!text)
        return CLI_DONE;
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(number > 0 && number <= high)) {
        cli_error("--%s is %s, but it must be a number above 0 and at most %g.", name,
                  text, high);
        return CLI_USAGE;
    }
    *value = number;
    return CLI_DONE;
}

static int read_kind(const char *word, vem_generator *kind)
{
    int value = VEM_BIRCH_GRID;
    const int code = cli_read_choice("KIND", word, kinds, KINDS, &value);
    *kind = (vem_generator)value;
    return code;
}

static int read_precision(const cli_args *args, vem_dtype *type)
{
    static const char *const names[] = {"single", "double"};
    const char *text = cli_value(args, "precision");
    int value = 1;
    const int code =
        text ? cli_read_choice("--precision", text, names, 2, &value) : CLI_DONE;
    *type = value == 0 ? VEM_FLOAT32 : VEM_FLOAT64;
    return code;
}

/* In place: a float ends before the next double begins, so nothing unread is overwritten.
 */
static void narrow(double *rows, int64_t count)
{
    char *bytes = (char *)rows;
    for (int64_t i = 0; i < count; i++) {
        const float value = (float)rows[i];
        memcpy(bytes + i * (int64_t)sizeof value, &value, sizeof value);
    }
}

static int print_result(const cli_args *args, const vem_generate_options *o, int64_t n,
                        int32_t d, double seconds)
{
    char a[48], b[48], c[48];
    if (cli_value(args, "json")) {
        json_t *object = cli_json_begin(args);
        json_object_set_new(object, "kind", json_string(args->operands[0]));
        json_object_set_new(object, "n", json_integer(n));
        json_object_set_new(object, "d", json_integer(d));
        json_object_set_new(object, "clusters", json_integer(o->clusters));
        json_object_set_new(object, "seed", json_integer(o->seed));
        json_object_set_new(object, "output", cli_json_text(cli_value(args, "output")));
        json_object_set_new(object, "seconds", cli_json_real(seconds));
        return cli_json_print(object);
    }
    if (!cli_value(args, "quiet"))
        printf("vem generate %s: %s, %s, %s, seed %lld; written to %s\n",
               args->operands[0], cli_counted(n, "row", a), cli_counted(d, "column", b),
               cli_counted(o->clusters, "cluster", c), (long long)o->seed,
               cli_value(args, "output"));
    return CLI_DONE;
}

static int generate(cli_args *args, vem_generator kind, vem_dtype type,
                    const vem_generate_options *options)
{
    const double began = cli_clock();
    int64_t n;
    int32_t d;
    double *rows = NULL, *centers = NULL;
    int32_t *labels = NULL;
    vem_status status =
        vem_generate(args->ctx, kind, options, &n, &d, &rows, &labels, &centers);
    cli_progress_end();
    if (status != VEM_OK)
        return cli_failure(args, status);
    if (type == VEM_FLOAT32)
        narrow(rows, n * d);
    status = vem_array_write(args->ctx, cli_value(args, "output"), type, rows, n, d);
    if (status == VEM_OK && cli_value(args, "labels"))
        status = vem_classes_write(args->ctx, cli_value(args, "labels"), labels, n);
    if (status == VEM_OK && cli_value(args, "centers"))
        status = vem_array_write(args->ctx, cli_value(args, "centers"), VEM_FLOAT64,
                                 centers, options->clusters, d);
    free(rows);
    free(labels);
    free(centers);
    return status == VEM_OK ? print_result(args, options, n, d, cli_clock() - began)
                            : cli_failure(args, status);
}

static int run(cli_args *args)
{
    vem_generator kind = VEM_BIRCH_GRID;
    vem_dtype type = VEM_FLOAT64;
    int64_t d = 0;
    vem_generate_options options = {.size = sizeof options, .seed = args->options.seed};
    int code = read_kind(args->operands[0], &kind);
    if (code == CLI_DONE)
        code = cli_read_whole(args, "rows", 1e12, &options.n);
    if (code == CLI_DONE)
        code = cli_read_whole(args, "dimensions", 1e6, &d);
    if (code == CLI_DONE)
        code = read_positive(args, "separation", 1e6, &options.separation);
    if (code == CLI_DONE)
        code = read_positive(args, "box", 1e9, &options.box);
    if (code == CLI_DONE)
        code = read_precision(args, &type);
    if (code == CLI_DONE && !cli_value(args, "output")) {
        cli_error("the file to write is missing: name it with -o OUT.npy.");
        code = CLI_USAGE;
    }
    if (code != CLI_DONE)
        return code;
    const int birch = kind == VEM_BIRCH_GRID || kind == VEM_BIRCH_RANDOM;
    options.clusters = args->options.clusters != VEM_AUTO
                           ? (int32_t)args->options.clusters
                       : birch ? 25
                               : 10;
    options.d = (int32_t)d;
    cli_progress_begin(args);
    return generate(args, kind, type, &options);
}

const cli_command cli_generate = {
    .name = "generate",
    .operands = "KIND -o OUT.npy",
    .purpose = "a data set whose clusters are known",
    .details =
        "KIND is one of\n"
        "  birch-grid     unit Gaussians on a square lattice, 4 sqrt(2) apart (-k "
        "square)\n"
        "  birch-random   the same, with centers anywhere in the square\n"
        "  separated      Gaussians of any shape, at least S sqrt(D) of their largest\n"
        "                 standard deviation apart, with unequal weights\n"
        "  tau-separated  centers at least S mean standard deviations apart in a wide\n"
        "                 box, then each cluster multiplied by a random matrix\n"
        "Without -k there are 25 clusters (birch) or 10.\n",
    .examples =
        "  vem generate birch-grid -o data.npy --labels truth.npy\n"
        "  vem generate separated -k 20 -n 100000 -d 8 --separation 3 -o data.npy\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .shared = shared,
    .operand_count = 1,
    .words = kinds,
    .run = run,
};
