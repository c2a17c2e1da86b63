/* vem info FILE */
#include <math.h>
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

enum { SHOWN_COLUMNS = 20 };

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
    printf("  %-12s %.6g to %.6g%s\n", "weights", weights.low, weights.high,
           vem_model_prior(model) == VEM_PRIOR_EVEN
               ? ": prices of clusters (--balance), not shares of rows"
               : "");
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

/* Several files are the rows of one set; of anything else there is one to look at. */
static int refuse_several(const cli_args *args)
{
    for (int i = 0; i < args->operand_count; i++) {
        const char *kind = vem_file_kind(args->operands[i]);
        if (strcmp(kind, "data") == 0)
            continue;
        cli_error(
            "%s is a file of another kind than data (%s): look at it alone, vem info "
            "%s. Several files are looked at together where all are data, as one "
            "set of rows.",
            args->operands[i], kind, args->operands[i]);
        return CLI_USAGE;
    }
    return CLI_DONE;
}

static int run(cli_args *args)
{
    cli_progress_begin(args);
    const char *kind = vem_file_kind(args->operands[0]);
    if (args->operand_count > 1 && refuse_several(args) != CLI_DONE)
        return CLI_USAGE;
    if (strcmp(kind, "statistics") == 0)
        return cli_stats_info(args);
    if (strcmp(kind, "tree") == 0)
        return cli_tree_info(args);
    if (strcmp(kind, "state") == 0)
        return state_info(args);
    /* What is neither is read as data, for the reader's sentence on what is wrong. */
    return strcmp(kind, "model") == 0 ? model_info(args) : cli_data_info(args);
}

const cli_command cli_info = {
    .name = "info",
    .operands = "FILE...",
    .purpose = "what is in this file: data, a model, a tree, statistics, a checkpoint",
    .details = "Several files of data, or a pattern in quotes ('part-*.npy'), are looked "
               "at as one\n"
               "set of rows, as vem fit takes them (sparse counts are one file). Models, "
               "trees,\n"
               "statistics and checkpoints are looked at one at a time.\n",
    .examples = "  vem info data.csv\n  vem info model.npz --json\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .shared = shared,
    .operand_count = 1,
    .more_operands = 1,
    .run = run,
};
