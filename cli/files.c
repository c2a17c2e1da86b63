/* Data and models the command reads. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

int cli_has_ending(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail + 1 && path[length - tail - 1] == '.' &&
           strcasecmp(path + length - tail, ending) == 0;
}

/* Which of the words, in the order of their values, an own option is; *choice stays without
 * it. */
static int read_choice(const cli_args *args, const char *name, const char *const *words,
                       int count, int *choice)
{
    const char *text = cli_value(args, name);
    char what[32];
    snprintf(what, sizeof what, "--%s", name);
    return text ? cli_read_choice(what, text, words, count, choice) : CLI_DONE;
}

/* Tables that are written have the ids of the rows, and so have exemplars and leaves. */
static int wants_ids(const cli_args *args)
{
    if (args->command == &cli_describe ||
        (args->command == &cli_tree && !cli_value(args, "leaves")))
        return 1;
    const int predicts = args->command == &cli_predict;
    const char *path = cli_value(args, predicts ? "output" : "labels");
    if (!path)
        return predicts; /* to standard output */
    return !cli_has_ending(path, "npy") && !cli_has_ending(path, "npz");
}

static int read_options(const cli_args *args, vem_read_options *options)
{
    static const char *const headers[] = {
        [VEM_HEADER_AUTO] = "auto", [VEM_HEADER_YES] = "yes", [VEM_HEADER_NO] = "no"};
    static const char *const missing[] = {[VEM_MISSING_ERROR] = "error",
                                          [VEM_MISSING_DROP] = "drop",
                                          [VEM_MISSING_MEAN] = "mean"};
    static const char *const decimals[] = {"auto", ".", ","};
    int header = VEM_HEADER_AUTO, what = VEM_MISSING_ERROR, decimal = 0;
    *options = (vem_read_options){.size = sizeof *options,
                                  .columns = cli_value(args, "columns"),
                                  .id = cli_value(args, "id"),
                                  .weights = cli_value(args, "weights"),
                                  .keep_ids = wants_ids(args),
                                  .model = args->model};
    int code = read_choice(args, "header", headers, 3, &header);
    if (code == CLI_DONE)
        code = read_choice(args, "missing", missing, 3, &what);
    if (code == CLI_DONE)
        code = read_choice(args, "decimal", decimals, 3, &decimal);
    options->header = (vem_header)header;
    options->missing = (vem_missing)what;
    options->decimal = '\0';
    if (decimal > 0)
        options->decimal = decimals[decimal][0];
    options->counts = args->options.family != VEM_AUTO &&
                      vem_family_axes((vem_family_kind)args->options.family) < 0;
    if (args->command == &cli_info && !cli_value(args, "missing")) { /* it counts them */
        options->missing = VEM_MISSING_KEEP;
        options->text_is_missing = 1;
    }
    return code;
}

/* A table without names meets a model that has some: by position, which cannot be checked. */
static void tell_positions(const cli_args *args, const char *name, const vem_model *model)
{
    enum { SHOWN = 8 };
    const int32_t d = vem_model_columns(model);
    char list[400] = "", one[40];
    size_t used = 0;
    for (int32_t j = 0; j < d && j < SHOWN; j++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", j ? ", " : "",
                             cli_clean(vem_model_column_name(model, j), one, sizeof one));
    cli_note(args, "%s has no names: its columns are taken to be %s%s.", name, list,
             d > SHOWN ? ", ..." : "");
}

/* What was decided about the header of a table, and its decimal sign unless that is `usual`. */
static void tell_table(const cli_args *args, const char *name,
                       const vem_read_options *options, vem_header header, char decimal,
                       char usual)
{
    /* Names that are those of the model are not to be doubted. */
    const int expected = options->model && vem_model_column_name(options->model, 0);
    if (options->header == VEM_HEADER_AUTO && header == VEM_HEADER_YES && !expected)
        cli_note(args,
                 "%s: the first row is taken for the names of the columns (else say "
                 "--header no).",
                 name);
    if (options->header == VEM_HEADER_AUTO && header == VEM_HEADER_NO)
        cli_note(args, "%s: the first row is taken for data (else say --header yes).",
                 name);
    if (expected && header == VEM_HEADER_NO)
        tell_positions(args, name, options->model);
    if (!options->decimal && decimal && decimal != usual)
        cli_note(args, "%s: numbers have a decimal %s.", name,
                 decimal == ',' ? "comma" : "point");
}

/* Of several files, those that are other than the first. */
static void tell_tables(const cli_args *args, const char *path,
                        const vem_read_options *options, const vem_data *data)
{
    int32_t count;
    const char *const *files = cli_data_files(args, path, &count);
    const vem_header first = vem_data_header(data);
    const char usual = vem_data_decimal(data) == ',' ? ',' : '.';
    tell_table(args, strcmp(path, "-") == 0 ? "standard input" : path, options, first,
               usual, '.');
    for (int32_t i = 1; i < count; i++) {
        const vem_header header = vem_data_part_header(data, i);
        tell_table(args, files[i], options, header == first ? VEM_HEADER_AUTO : header,
                   vem_data_part_decimal(data, i), usual);
    }
}

/* What the file of labels has for a row that was left out; standard output is CSV. */
static const char *words_of_left_out(const cli_args *args, char text[static 160])
{
    const int predicts = args->command == &cli_predict;
    const char *file = cli_value(args, predicts ? "output" : "labels");
    const char *top = predicts ? cli_value(args, "top") : NULL;
    char name[64];
    text[0] = '\0';
    if (!file && !predicts)
        return text;
    const int csv =
        !file || cli_has_ending(file, "csv") || cli_has_ending(file, "csv.gz");
    const int dense =
        top && strcmp(top, "all") == 0 && !csv && cli_has_ending(file, "npy");
    snprintf(text, 160, "; a row left out has %s%s%s",
             csv     ? "an empty label"
             : dense ? "NaN for probabilities"
                     : "the label -1",
             file ? " in " : "", file ? cli_clean(file, name, sizeof name) : "");
    return text;
}

/* What reading decided by itself, or did to the rows. */
static void tell_reading(const cli_args *args, const char *path,
                         const vem_read_options *options, const vem_data *data)
{
    char values[48], rows[48];
    const int64_t n = vem_data_rows(data), all = vem_data_rows_read(data);
    const int64_t missing = vem_data_missing(data);
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    char labels[160];
    tell_tables(args, path, options, data);
    if (all > n)
        cli_note(args, "%s: %s of %lld left out, because of %s%s.", name,
                 cli_counted(all - n, "row", rows), (long long)all,
                 cli_counted(missing, "missing value", values),
                 words_of_left_out(args, labels));
    else if (missing > 0 && options->missing == VEM_MISSING_MEAN)
        cli_note(args, "%s: %s replaced by %s.", name,
                 cli_counted(missing, "missing value", values),
                 options->model ? "the model's means of the columns"
                                : "the means of the columns");
}

int cli_read_data(cli_args *args, const char *path, vem_data **data, double *seconds)
{
    const double start = cli_clock();
    vem_read_options options;
    const int code = read_options(args, &options);
    if (code != CLI_DONE)
        return code;
    int32_t count;
    const char *const *files = cli_data_files(args, path, &count);
    for (int32_t i = 1; i < count; i++)
        if (cli_check_readable(files[i]) != CLI_DONE)
            return CLI_FAILED;
    cli_nothing_to_lose(1);
    const vem_status status =
        vem_data_read_parts(args->ctx, files, count, &options, data);
    cli_nothing_to_lose(0);
    if (status != VEM_OK)
        return cli_failure(args, status);
    if (seconds)
        *seconds = cli_clock() - start;
    if (cli_interrupted()) {
        vem_data_free(*data);
        *data = NULL;
        return cli_failure(args, VEM_STOPPED);
    }
    args->data = *data;
    tell_reading(args, path, &options, *data);
    return CLI_DONE;
}

int cli_read_model(cli_args *args, const char *path, const char *data_path,
                   vem_model **model)
{
    /* The likeliest slip deserves its own sentence. */
    if (data_path && strcmp(vem_file_kind(path), "data") == 0 &&
        strcmp(vem_file_kind(data_path), "model") == 0) {
        cli_error("%s is data and %s is a model; the model comes first.", path,
                  data_path);
        return CLI_USAGE;
    }
    if (strcmp(vem_file_kind(path), "data") == 0) {
        cli_error(
            "%s is data, but a model is wanted here; vem fit DATA -k C -o MODEL.npz "
            "makes one.",
            path);
        return CLI_USAGE;
    }
    if (strcmp(vem_file_kind(path), "tree") == 0) {
        cli_error("%s is a tree, but a model is wanted here; vem tree %s --clusters K "
                  "--labels FILE cuts it.",
                  path, path);
        return CLI_USAGE;
    }
    const vem_status status = vem_model_read(args->ctx, path, model);
    if (status != VEM_OK)
        return cli_failure(args, status);
    args->model = *model;
    return CLI_DONE;
}

vem_precision cli_precision(const cli_args *args)
{
    return (vem_precision)args->options.precision; /* VEM_AUTO: the library knows */
}
