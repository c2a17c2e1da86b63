/* vem info FILE */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define IO "Input and output"

static const cli_option own[] = {
    CLI_READ_OPTIONS,
    {"json", 0, IO, NULL, "print it as one JSON object"},
    {"quiet", 'q', IO, NULL, "no progress"},
};

static const char *const shared[] = {"memory", NULL};

enum { SHOWN_COLUMNS = 20, BLOCK_VALUES = 1 << 15 };

/* ---- Data ---- */

/* Of the finite values of a column. */
typedef struct column {
    double low, high, mean, squares;
    int64_t count, nans;
} column;

typedef struct survey {
    column *columns;
    int64_t nans, infinities;
    int64_t bad_row,
        bad_column; /* of the first value that is not finite, from 1; 0: none */
} survey;

static double deviation(const column *c)
{
    return c->count > 1 ? sqrt(c->squares / (double)c->count) : c->count ? 0 : NAN;
}

static void take_row(survey *s, const double *row, int32_t d, int64_t i)
{
    for (int32_t j = 0; j < d; j++) {
        const double x = row[j];
        column *c = &s->columns[j];
        if (!isfinite(x)) {
            *(isnan(x) ? &s->nans : &s->infinities) += 1;
            c->nans += isnan(x) != 0;
            if (!s->bad_row) {
                s->bad_row = i + 1;
                s->bad_column = j + 1;
            }
            continue;
        }
        c->low = c->count ? fmin(c->low, x) : x;
        c->high = c->count ? fmax(c->high, x) : x;
        c->count++;
        const double off = x - c->mean;
        c->mean += off / (double)c->count;
        c->squares += off * (x - c->mean);
    }
}

static int all_finite(const double *values, int64_t count)
{
    double probe = 0;
    for (int64_t i = 0; i < count; i++)
        probe += values[i] * 0; /* NaN when a value is NaN or infinite */
    return probe == 0;
}

/* Rows without a bad value: sums about the block's first row, then added to what is known
 * by the parallel-axis rule. `scratch` has room for four rows. */
static void take_finite(survey *s, const double *rows, int32_t d, int64_t count,
                        double *scratch)
{
    double *sum = scratch, *squares = sum + d, *low = squares + d, *high = low + d;
    for (int32_t j = 0; j < d; j++) {
        sum[j] = squares[j] = 0;
        low[j] = high[j] = rows[j];
    }
    for (int64_t i = 1; i < count; i++) {
        const double *row = rows + i * d;
        for (int32_t j = 0; j < d; j++) {
            const double x = row[j], off = x - rows[j];
            sum[j] += off;
            squares[j] += off * off;
            low[j] = x < low[j] ? x : low[j];
            high[j] = x > high[j] ? x : high[j];
        }
    }
    for (int32_t j = 0; j < d; j++) {
        column *c = &s->columns[j];
        const double n = (double)count, before = (double)c->count, all = n + before;
        const double mean = rows[j] + sum[j] / n, off = mean - c->mean;
        c->low = c->count ? fmin(c->low, low[j]) : low[j];
        c->high = c->count ? fmax(c->high, high[j]) : high[j];
        c->squares +=
            fmax(squares[j] - sum[j] * sum[j] / n, 0) + off * off * before * n / all;
        c->mean += off * n / all;
        c->count += count;
    }
}

static int take_all(cli_args *args, const vem_data *data, survey *s)
{
    const int64_t n = vem_data_rows(data);
    const int32_t d = vem_data_columns(data);
    const int64_t block = d >= BLOCK_VALUES ? 1 : BLOCK_VALUES / d;
    double *rows = malloc((size_t)(block + 4) * (size_t)d * sizeof *rows);
    s->columns = calloc((size_t)d, sizeof *s->columns);
    int code = CLI_DONE;
    if (!rows || !s->columns) {
        cli_error("memory for %d columns could not be had.", (int)d);
        code = CLI_FAILED;
    }
    for (int64_t first = 0; code == CLI_DONE && first < n; first += block) {
        const int64_t count = n - first < block ? n - first : block;
        const vem_status status = vem_data_get(args->ctx, data, first, count, rows);
        if (status != VEM_OK)
            code = cli_failure(args, status);
        else if (cli_progress_tell("look", first, n))
            code = cli_failure(args, VEM_STOPPED);
        if (code == CLI_DONE && all_finite(rows, count * d))
            take_finite(s, rows, d, count, rows + block * d);
        else
            for (int64_t i = 0; code == CLI_DONE && i < count; i++)
                take_row(s, rows + i * d, d, first + i);
    }
    free(rows);
    return code;
}

static int data_json(const cli_args *args, const vem_data *data, const survey *s,
                     double bytes)
{
    json_t *o = cli_json_begin(args), *list = json_array();
    json_object_set_new(o, "kind", json_string("data"));
    json_object_set_new(o, "format", json_string(vem_data_format(data)));
    json_object_set_new(o, "dtype", json_string(cli_dtype(vem_data_dtype(data))));
    json_object_set_new(o, "n", json_integer(vem_data_rows(data)));
    json_object_set_new(o, "d", json_integer(vem_data_columns(data)));
    json_object_set_new(o, "bytes", cli_json_real(bytes));
    json_object_set_new(o, "weighted", json_boolean(vem_data_weights(data) != NULL));
    json_object_set_new(o, "nan", json_integer(s->nans));
    json_object_set_new(o, "infinite", json_integer(s->infinities));
    json_object_set_new(o, "first_bad_row",
                        s->bad_row ? json_integer(s->bad_row) : json_null());
    json_object_set_new(o, "first_bad_column",
                        s->bad_row ? json_integer(s->bad_column) : json_null());
    for (int32_t j = 0; j < vem_data_columns(data); j++) {
        const column *c = &s->columns[j];
        json_t *row = json_object();
        json_object_set_new(row, "name", cli_json_text(vem_data_column_name(data, j)));
        json_object_set_new(row, "min", cli_json_real(c->count ? c->low : NAN));
        json_object_set_new(row, "mean", cli_json_real(c->count ? c->mean : NAN));
        json_object_set_new(row, "max", cli_json_real(c->count ? c->high : NAN));
        json_object_set_new(row, "sd", cli_json_real(deviation(c)));
        json_object_set_new(row, "missing", json_integer(c->nans));
        json_object_set_new(row, "advice",
                            cli_json_text(vem_data_column_advice(data, j)));
        json_array_append_new(list, row);
    }
    json_object_set_new(o, "columns", list);
    return cli_json_print(o);
}

/* Why columns that look like numbers were taken for text; columns of one advice share a line. */
static void advice_words(const vem_data *data)
{
    enum { MOST = 8 };
    const char *advice[MOST];
    int32_t first[MOST], count[MOST], kinds = 0;
    for (int32_t j = 0; j < vem_data_columns(data); j++) {
        const char *one = vem_data_column_advice(data, j);
        int32_t k = 0;
        while (k < kinds && advice[k] != one)
            k++;
        if (!one || k == MOST)
            continue;
        if (k == kinds) {
            advice[kinds] = one;
            first[kinds] = j;
            count[kinds++] = 0;
        }
        count[k]++;
    }
    for (int32_t k = 0; k < kinds; k++) {
        const char *name = vem_data_column_name(data, first[k]);
        char text[512], clean[48], number[48], named[64] = "", others[80] = "";
        if (name)
            snprintf(named, sizeof named, " (%s)", cli_clean(name, clean, sizeof clean));
        if (count[k] > 1)
            snprintf(others, sizeof others, " and %s",
                     cli_counted(count[k] - 1, "more column", number));
        snprintf(text, sizeof text,
                 "column %d%s%s: values that are not numbers as they are written count "
                 "as text. %s",
                 (int)first[k] + 1, named, others, advice[k]);
        cli_wrap(stdout, text, 2, printf("  "), cli_width(STDOUT_FILENO));
    }
}

static void data_words(const cli_args *args, const vem_data *data, const survey *s,
                       double bytes)
{
    char a[48], b[48], files[256];
    const int32_t d = vem_data_columns(data);
    printf("%s: data (%s), %s, %s of %s", cli_data_name(args, args->operands[0], files),
           vem_data_format(data), cli_counted(vem_data_rows(data), "row", a),
           cli_counted(d, "column", b), cli_dtype(vem_data_dtype(data)));
    if (bytes > 0)
        printf(", %s", vem_bytes_print(bytes, a));
    printf("%s\n", vem_data_weights(data) ? ", weighted" : "");
    printf("  %-16s %12s %12s %12s %12s %8s\n", "column", "min", "mean", "max", "sd",
           "missing");
    for (int32_t j = 0; j < d && j < SHOWN_COLUMNS; j++) {
        const column *c = &s->columns[j];
        const char *name = vem_data_column_name(data, j);
        char label[64], clean[48];
        snprintf(label, sizeof label, name ? "%d %s" : "%d", (int)j + 1,
                 name ? cli_clean(name, clean, 14) : NULL);
        if (!c->count)
            printf("  %-16s %12s\n", label, "no numbers");
        else
            printf("  %-16s %12.6g %12.6g %12.6g %12.6g %8s\n", label, c->low, c->mean,
                   c->high, deviation(c), cli_count(c->nans, a));
    }
    if (d > SHOWN_COLUMNS)
        printf("  and %s (--json lists all)\n",
               cli_counted(d - SHOWN_COLUMNS, "more column", a));
    if (s->bad_row)
        printf("  %s values are NaN (missing, or text) and %s infinite; the first is in "
               "row %lld, column "
               "%lld\n",
               cli_count(s->nans, a), cli_count(s->infinities, b), (long long)s->bad_row,
               (long long)s->bad_column);
    else
        puts("  every value is finite");
    advice_words(data);
}

static int data_info(cli_args *args)
{
    vem_data *data = NULL;
    survey s = {0};
    struct stat facts;
    double bytes = 0;
    for (int i = 0; i < args->operand_count; i++)
        bytes += stat(args->operands[i], &facts) == 0 ? (double)facts.st_size : NAN;
    int code = cli_read_data(args, args->operands[0], &data, NULL);
    if (code == CLI_DONE)
        code = take_all(args, data, &s);
    cli_progress_end();
    if (code == CLI_DONE && cli_value(args, "json"))
        code = data_json(args, data, &s, bytes);
    else if (code == CLI_DONE)
        data_words(args, data, &s, bytes);
    free(s.columns);
    vem_data_free(data);
    return code;
}

/* ---- Model ---- */

typedef struct range {
    double low, high;
} range;

static range range_of(const double *values, size_t count, size_t step)
{
    range r = {.low = count ? values[0] : NAN, .high = count ? values[0] : NAN};
    for (size_t i = 0; i < count; i += step) {
        r.low = fmin(r.low, values[i]);
        r.high = fmax(r.high, values[i]);
    }
    return r;
}

/* Of a covariance matrix only the diagonal holds variances. */
static range variance_range(const vem_model *model)
{
    const double *variances = vem_model_variances(model);
    const size_t count = vem_model_variance_count(model);
    if (vem_family_axes(vem_model_family(model)) < 2)
        return range_of(variances, count, 1);
    const size_t d = (size_t)vem_model_columns(model);
    range all = {.low = INFINITY, .high = -INFINITY};
    for (size_t first = 0; first < count; first += d * d) {
        const range r = range_of(variances + first, d * d, d + 1);
        all.low = fmin(all.low, r.low);
        all.high = fmax(all.high, r.high);
    }
    return all;
}

/* The numbers of clusters of the mixtures beside the model, or null. */
static json_t *path_json(const vem_path *path)
{
    if (!path)
        return json_null();
    json_t *list = json_array();
    for (int32_t i = 0; i < vem_path_count(path); i++)
        json_array_append_new(list, json_integer(vem_path_at(path, i)->clusters));
    return list;
}

static void path_words(const vem_path *path)
{
    const int32_t count = vem_path_count(path);
    char a[48];
    if (count > 0)
        printf("  %-12s %s, of %d to %d clusters; that of %d is the model (vem select "
               "--pick K "
               "takes another)\n",
               "path", cli_counted(count, "mixture", a), vem_path_at(path, 0)->clusters,
               vem_path_at(path, count - 1)->clusters, vem_path_chosen(path));
}

static int model_json(const cli_args *args, const vem_model *model, const vem_path *path,
                      range weights, range variances, json_t *meta)
{
    json_t *o = cli_json_begin(args);
    json_object_set_new(o, "kind", json_string("model"));
    json_object_set_new(o, "family",
                        cli_json_text(
                            vem_choice_name("family", (int)vem_model_family(model))));
    json_object_set_new(o, "clusters", json_integer(vem_model_clusters(model)));
    json_object_set_new(o, "d", json_integer(vem_model_columns(model)));
    json_object_set_new(o, "weight_min", cli_json_real(weights.low));
    json_object_set_new(o, "weight_max", cli_json_real(weights.high));
    json_object_set_new(o, "variance_min", cli_json_real(variances.low));
    json_object_set_new(o, "variance_max", cli_json_real(variances.high));
    json_object_set_new(o, "standardized", json_boolean(vem_model_scale(model) != NULL));
    json_object_set_new(o, "normalize", json_boolean(vem_model_normalizes(model)));
    json_object_set_new(o, "metric",
                        cli_json_text(
                            vem_choice_name("metric", (int)vem_model_metric(model))));
    json_object_set_new(o, "path", path_json(path));
    json_object_set(o, "meta", meta ? meta : json_null());
    return cli_json_print(o);
}

static void meta_words(const cli_args *args, const json_t *meta, const vem_path *path)
{
    const char *version = json_string_value(json_object_get(meta, "version"));
    const char *outcome = json_string_value(json_object_get(meta, "outcome"));
    const json_t *options = json_object_get(meta, "options");
    const char *algorithm = json_string_value(json_object_get(options, "algorithm"));
    const json_t *energy = json_object_get(meta, "free_energy");
    char a[48], b[48], c[40], d[40];
    printf("  %-12s by vem %s%s%s, seed %lld, %s\n", "made",
           cli_clean(version ? version : "?", c, sizeof c), algorithm ? ", " : "",
           cli_clean(algorithm ? algorithm : "", d, sizeof d),
           (long long)json_integer_value(json_object_get(meta, "seed")),
           cli_counted(json_integer_value(json_object_get(meta, "rows_used")), "row", a));
    printf("  %-12s %s after %s", "outcome",
           cli_clean(outcome ? outcome : "unknown", c, sizeof c),
           cli_counted(json_integer_value(json_object_get(meta, "steps")), "step", b));
    const char *name = json_string_value(json_object_get(meta, "free_energy_is"));
    if (json_is_number(energy))
        printf(", %s %.10g per row",
               name ? cli_clean(name, d, sizeof d)
                    : cli_energy_name(args, path, json_number_value(energy)),
               json_number_value(energy));
    putchar('\n');
}

/* The first of its columns or ids, where they have names. */
static void names_words(const char *label, const vem_model *model, int32_t count,
                        const char *(*name_of)(const vem_model *model, int32_t number))
{
    char text[2048] = "", name[64];
    size_t used = 0;
    if (count == 0 || !name_of(model, 0))
        return;
    for (int32_t j = 0; j < count && j < SHOWN_COLUMNS; j++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", j ? ", " : "",
                                 cli_clean(name_of(model, j), name, sizeof name));
    if (count > SHOWN_COLUMNS)
        snprintf(text + used, sizeof text - used, " and %d more (--json lists all)",
                 (int)(count - SHOWN_COLUMNS));
    cli_wrap(stdout, text, 15, printf("  %-12s ", label), cli_width(STDOUT_FILENO));
}

static void model_words(const cli_args *args, const vem_model *model,
                        const vem_path *path, range weights, range variances,
                        const json_t *meta)
{
    char a[48], b[48];
    const char *family = vem_choice_name("family", (int)vem_model_family(model));
    printf("%s: model (%s), %s, %s\n", args->operands[0], family ? family : "unknown",
           cli_counted(vem_model_clusters(model), "cluster", a),
           cli_counted(vem_model_columns(model), "column", b));
    names_words("columns", model, vem_model_columns(model), vem_model_column_name);
    names_words("ids", model, vem_model_ids(model), vem_model_id_name);
    printf("  %-12s %.6g to %.6g\n", "weights", weights.low, weights.high);
    if (vem_model_variance_count(model) > 0)
        printf("  %-12s %.6g to %.6g%s\n", "variances", variances.low, variances.high,
               vem_model_scale(model) ? ", in units of each column's scale" : "");
    if (vem_model_metric(model) == VEM_METRIC_COSINE)
        printf("  %-12s cosine: rows and means are of length 1\n", "metric");
    else if (vem_model_normalizes(model))
        printf("  %-12s to length 1 before they meet the model\n", "rows");
    path_words(path);
    if (json_is_object(meta) && json_object_get(meta, "version"))
        meta_words(args, meta, path);
}

static int model_info(cli_args *args)
{
    const char *file = args->operands[0];
    vem_model *model = NULL;
    vem_path *path = NULL;
    int code = cli_read_model(args, file, NULL, &model);
    if (code != CLI_DONE)
        return code;
    const vem_status status =
        vem_file_has_path(file) ? vem_path_read(args->ctx, file, &path) : VEM_OK;
    if (status != VEM_OK) {
        vem_model_free(model);
        return cli_failure(args, status);
    }
    const range weights =
        range_of(vem_model_weights(model), (size_t)vem_model_clusters(model), 1);
    const range variances = variance_range(model);
    const char *text = vem_model_meta(model);
    json_t *meta = text ? json_loads(text, 0, NULL) : NULL;
    if (cli_value(args, "json"))
        code = model_json(args, model, path, weights, variances, meta);
    else
        model_words(args, model, path, weights, variances, meta);
    json_decref(meta);
    vem_path_free(path);
    vem_model_free(model);
    return code;
}

/* What is in it belongs to the fit that wrote it. */
static int state_info(const cli_args *args)
{
    const char *path = args->operands[0];
    struct stat about;
    char size[32];
    const double bytes = stat(path, &about) == 0 ? (double)about.st_size : 0;
    if (cli_value(args, "json")) {
        json_t *o = cli_json_begin(args);
        json_object_set_new(o, "kind", json_string("state"));
        json_object_set_new(o, "bytes", json_integer((json_int_t)bytes));
        return cli_json_print(o);
    }
    printf("%s: the state of a fit (%s); the command that wrote it goes on with "
           "--checkpoint "
           "%s --resume\n",
           path, vem_bytes_print(bytes, size), path);
    return CLI_DONE;
}

static int run(cli_args *args)
{
    cli_progress_begin(args);
    const char *kind = vem_file_kind(args->operands[0]);
    if (args->operand_count > 1 && strcmp(kind, "data") != 0) {
        cli_error("%s is no data: only files of data are taken as one.",
                  args->operands[0]);
        return CLI_USAGE;
    }
    if (strcmp(kind, "statistics") == 0)
        return cli_stats_info(args);
    if (strcmp(kind, "tree") == 0)
        return cli_tree_info(args);
    if (strcmp(kind, "state") == 0)
        return state_info(args);
    /* What is neither is read as data, for the reader's sentence on what is wrong. */
    return strcmp(kind, "model") == 0 ? model_info(args) : data_info(args);
}

const cli_command cli_info = {
    .name = "info",
    .operands = "FILE...",
    .purpose = "what is in this file: data, a model, a tree, statistics, a checkpoint",
    .examples = "  vem info data.csv\n  vem info model.npz --json\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .shared = shared,
    .operand_count = 1,
    .more_operands = 1,
    .run = run,
};
