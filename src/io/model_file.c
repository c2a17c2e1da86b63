/* Models as .npz: means, weights, variances, scale and prices (where there are such) and meta, a JSON
 * object as bytes. Families of counts have no variances. What the arrays cannot tell (the family, the prior, whether rows are
 * normalized) is in meta; a file without it, made by hand, still reads: the shape of the variances
 * tells the family. Prices say in nats what the weights of an even prior say, which are what is read. */
#include "io/io.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/unit.h"
#include "io/names_json.h"
#include "model/family.h"

/* The object in `text`, or NULL with a message. */
static json_t *read_json(vem_i_run *run, const char *source, const char *text,
                         size_t length)
{
    json_error_t error;
    json_t *json = json_loadb(text, length, 0, &error);
    if (!json) {
        vem_i_fail(run, VEM_BAD_DATA, "%s is not JSON: %s (line %d).", source, error.text,
                   error.line);
    } else if (!json_is_object(json)) {
        vem_i_fail(run, VEM_BAD_DATA, "%s is JSON, but not an object {...}.", source);
        json_decref(json);
        json = NULL;
    }
    return json;
}

vem_status vem_model_set_meta(vem_ctx *ctx, vem_model *model, const char *json)
{
    VEM_I_NEED(ctx, ctx, model);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    char *copy = NULL;
    if (json) {
        json_t *parsed = read_json(run, "The meta of the model", json, strlen(json));
        if (!parsed)
            return VEM_BAD_DATA;
        json_decref(parsed);
        copy = strdup(json);
        if (!copy)
            return vem_i_fail_memory(run, strlen(json) + 1);
    }
    free(model->meta);
    model->meta = copy;
    return VEM_OK;
}

/* The arrays of a model file as doubles, with their shapes. */
typedef struct parts {
    double *means, *weights, *variances, *scale;
    int64_t dims[4]; /* of means */
    int64_t variance_dims[4];
    int variance_rank;
    const vem_i_family *family;
    int prior; /* VEM_AUTO: the file does not say */
    int normalizes;
    vem_i_names table;
    char *meta;
} parts;

static void free_parts(parts *found)
{
    vem_i_free(found->means);
    vem_i_free(found->weights);
    vem_i_free(found->variances);
    vem_i_free(found->scale);
    vem_i_names_free(&found->table);
    free(found->meta);
}

vem_status vem_i_npz_doubles(vem_i_run *run, vem_i_npz *npz, const char *name, int *rank,
                             int64_t dims[4], double **values)
{
    vem_data *data;
    vem_status status = vem_i_npz_get(run, npz, name, &data, rank, dims);
    if (status != VEM_OK)
        return status;
    status = vem_i_take(run, values, (size_t)data->n * (size_t)data->d, sizeof **values);
    if (status == VEM_OK)
        vem_i_data_load(data, 0, data->n, VEM_DOUBLE, *values, data->d);
    vem_data_free(data);
    return status;
}

/* A vector of `expected` values. */
static vem_status get_vector(vem_i_run *run, const char *path, vem_i_npz *npz,
                             const char *name, int64_t expected, double **values)
{
    int rank;
    int64_t dims[4];
    vem_status status = vem_i_npz_doubles(run, npz, name, &rank, dims, values);
    if (status == VEM_OK && (rank != 1 || dims[0] != expected))
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s: %s has %" PRId64
                            " values in %d dimensions, but the means ask "
                            "for %" PRId64 " in 1.",
                            path, name, dims[0], rank, expected);
    return status;
}

static vem_status get_means(vem_i_run *run, const char *path, vem_i_npz *npz,
                            parts *found)
{
    int rank;
    vem_status status =
        vem_i_npz_doubles(run, npz, "means", &rank, found->dims, &found->means);
    if (status != VEM_OK)
        return status;
    if (rank != 2 || found->dims[0] > INT32_MAX)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s: means has %d dimensions and %" PRId64
                          " rows, but 2 dimensions (clusters and columns) are needed.",
                          path, rank, found->dims[0]);
    return VEM_OK;
}

/* Dimensions of the variances of so many clusters: these and then D for each axis. Returns
 * how many there are; one number is written as an array of one. */
static int variance_dims(const vem_i_family *family, int64_t clusters, int64_t d,
                         int64_t dims[3])
{
    int rank = 0;
    if (!vem_i_has_shapes(family))
        return 0;
    if (!family->shared)
        dims[rank++] = clusters;
    for (int axis = 0; axis < vem_i_shape_rank(family); axis++)
        dims[rank++] = d;
    if (rank == 0)
        dims[rank++] = 1;
    return rank;
}

static int shape_fits(const parts *found, const vem_i_family *family)
{
    int64_t dims[3];
    const int rank = variance_dims(family, found->dims[0], found->dims[1], dims);
    int fits = rank == found->variance_rank;
    for (int i = 0; fits && i < rank; i++)
        fits = dims[i] == found->variance_dims[i];
    return fits;
}

/* The family that the shape of the variances tells: one with a shape for each cluster, if any
 * fits. Where none does, the one of as many dimensions is named when it is refused. */
static const vem_i_family *family_of_shape(const parts *found)
{
    const vem_i_family *family;
    for (int shared = 0; shared < 2; shared++)
        for (int kind = 0; (family = vem_i_family_of(kind)); kind++)
            if (vem_i_has_shapes(family) && family->shared == shared &&
                shape_fits(found, family))
                return family;
    for (int kind = 0; (family = vem_i_family_of(kind)); kind++)
        if (vem_i_has_shapes(family) && !family->shared &&
            vem_i_shape_rank(family) + 1 >= found->variance_rank)
            break;
    return family ? family : vem_i_family_of(0);
}

/* Whether the weights were fitted; files of 0.1 say it among their options only. */
static int prior_of(const json_t *meta)
{
    const json_t *said = json_object_get(meta, "prior");
    if (!said)
        said = json_object_get(json_object_get(meta, "options"), "prior");
    const char *name = json_string_value(said);
    for (int kind = VEM_PRIOR_FLAT; name && kind <= VEM_PRIOR_EVEN; kind++)
        if (strcmp(name, vem_choice_name("prior", kind)) == 0)
            return kind;
    return VEM_AUTO;
}

static vem_status get_metric(vem_i_run *run, const char *path, const json_t *json,
                             parts *found)
{
    const char *metric = json_string_value(json_object_get(json, "metric"));
    if (metric && strcmp(metric, vem_choice_name("metric", VEM_METRIC_COSINE)) == 0)
        found->normalizes = VEM_I_DIRECTIONS;
    else if (metric && strcmp(metric, vem_choice_name("metric", VEM_METRIC_L2)) != 0)
        return vem_i_fail(run, VEM_UNSUPPORTED,
                          "%s is a model of metric %.60s, which this version of vem does "
                          "not know.",
                          path, metric);
    return VEM_OK;
}

static vem_status get_meta(vem_i_run *run, const char *path, vem_i_npz *npz, parts *found)
{
    vem_data *data;
    int rank;
    int64_t dims[4];
    char source[400];
    snprintf(source, sizeof source, "Array meta of %.300s", path);
    vem_status status = vem_i_npz_get(run, npz, "meta", &data, &rank, dims);
    if (status != VEM_OK)
        return status;
    json_t *json = NULL;
    if (data->type != VEM_UINT8 || rank != 1)
        vem_i_fail(run, VEM_BAD_DATA, "%s is not a vector of bytes (uint8).", source);
    else
        json = read_json(run, source, data->base, (size_t)data->n);
    if (json) {
        const char *family = json_string_value(json_object_get(json, "family"));
        if (family && !(found->family = vem_i_family_named(family)))
            status = vem_i_fail(
                run, VEM_UNSUPPORTED,
                "%s is a model of family %.60s, which this version of vem does "
                "not know.",
                path, family);
        found->prior = prior_of(json);
        found->normalizes = json_is_true(json_object_get(json, "normalize"))
                                ? VEM_I_LENGTH_1
                                : VEM_I_AS_THEY_ARE;
        if (status == VEM_OK)
            status = get_metric(run, path, json, found);
        if (status == VEM_OK)
            status =
                vem_i_names_from_json(run, path, json, found->dims[1], &found->table);
        found->meta = strndup(data->base, (size_t)data->n);
        if (!found->meta)
            status = vem_i_fail_memory(run, (size_t)data->n + 1);
        json_decref(json);
    } else {
        status = VEM_BAD_DATA;
    }
    vem_data_free(data);
    return status;
}

static vem_status get_parts(vem_i_run *run, const char *path, vem_i_npz *npz,
                            parts *found)
{
    vem_status status = get_means(run, path, npz, found);
    if (status == VEM_OK)
        status = get_vector(run, path, npz, "weights", found->dims[0], &found->weights);
    if (status == VEM_OK && vem_i_npz_has(npz, "variances"))
        status = vem_i_npz_doubles(run, npz, "variances", &found->variance_rank,
                                   found->variance_dims, &found->variances);
    if (status == VEM_OK && vem_i_npz_has(npz, "scale"))
        status = get_vector(run, path, npz, "scale", found->dims[1], &found->scale);
    if (status != VEM_OK)
        return status;
    found->family = family_of_shape(found);
    if (vem_i_npz_has(npz, "meta"))
        status = get_meta(run, path, npz, found);
    if (status == VEM_OK && !shape_fits(found, found->family))
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s: the shape of variances does not fit %" PRId64
                            " clusters of family %s in %" PRId64 " columns.",
                            path, found->dims[0],
                            vem_choice_name("family", (int)found->family->kind),
                            found->dims[1]);
    return status;
}

static vem_status build(vem_i_run *run, const char *path, parts *found, vem_model **model)
{
    vem_model *made = NULL;
    vem_status status =
        vem_model_new(run->ctx, found->family->kind, (int32_t)found->dims[0],
                      (int32_t)found->dims[1], found->means, found->weights,
                      found->variances, &made);
    if (status == VEM_OK && found->scale)
        status = vem_model_set_scale(run->ctx, made, found->scale);
    if (status == VEM_OK && found->normalizes == VEM_I_DIRECTIONS)
        status = vem_i_model_to_sphere(run, made);
    else if (status == VEM_OK)
        made->normalizes = found->normalizes;
    if (status != VEM_OK) {
        char reason[512];
        snprintf(reason, sizeof reason, "%.500s", vem_ctx_message(run->ctx));
        vem_model_free(made);
        return vem_i_fail(run, status, "%s holds no valid model. %s", path, reason);
    }
    made->table = found->table;
    found->table = (vem_i_names){0};
    /* Weights that differ were fitted, whatever the file says. */
    if (found->prior == VEM_PRIOR_FREE || found->prior == VEM_PRIOR_EVEN)
        made->prior = (vem_prior_kind)found->prior;
    made->meta = found->meta;
    found->meta = NULL;
    *model = made;
    return VEM_OK;
}

vem_status vem_i_model_get(vem_i_run *run, const char *path, vem_i_npz *npz,
                           vem_model **model)
{
    parts found = {.prior = VEM_AUTO};
    vem_status status = get_parts(run, path, npz, &found);
    if (status == VEM_OK)
        status = build(run, path, &found, model);
    free_parts(&found);
    return status;
}

vem_status vem_model_read(vem_ctx *ctx, const char *path, vem_model **model)
{
    VEM_I_NEED(ctx, ctx, path, model);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_i_npz *npz;
    vem_status status = vem_i_npz_open(run, path, &npz);
    if (status != VEM_OK)
        return status;
    if (vem_i_npz_is_stats(npz))
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s holds statistics, but a model is needed here: vem merge "
                            "makes one of them.",
                            path);
    else if (!vem_i_npz_is_model(npz))
        status =
            vem_i_fail(run, VEM_BAD_DATA,
                       "%s is not a model: it holds no arrays named means and variances "
                       "(or, of counts, means and meta).",
                       path);
    else
        status = vem_i_model_get(run, path, npz, model);
    vem_i_npz_close(npz);
    return status;
}

int vem_i_npz_is_model(const vem_i_npz *npz)
{
    return vem_i_npz_has(npz, "means") &&
           (vem_i_npz_has(npz, "variances") || vem_i_npz_has(npz, "meta"));
}

int vem_i_model_arrays(const vem_model *model, vem_i_array arrays[VEM_I_MODEL_ARRAYS])
{
    const int64_t clusters = model->clusters, d = model->d;
    arrays[0] = (vem_i_array){"means", VEM_FLOAT64, model->means, 2, {clusters, d}};
    arrays[1] = (vem_i_array){"weights", VEM_FLOAT64, model->weights, 1, {clusters}};
    int count = 2;
    arrays[2] = (vem_i_array){"variances", VEM_FLOAT64, model->variances, 0, {0}};
    arrays[2].rank = variance_dims(model->family, clusters, d, arrays[2].dims);
    count += arrays[2].rank > 0;
    if (model->scale)
        arrays[count++] = (vem_i_array){"scale", VEM_FLOAT64, model->scale, 1, {d}};
    return count;
}

/* The model's own meta with what reading relies on set from the model itself. */
static char *complete_meta(const vem_model *model)
{
    json_t *json = model->meta ? json_loads(model->meta, 0, NULL) : json_object();
    if (!json)
        return NULL;
    char *text = NULL;
    if (!json_object_get(json, "version"))
        json_object_set_new(json, "version", json_string(VEM_VERSION));
    const char *family = vem_choice_name("family", (int)model->family->kind);
    if (json_object_set_new(json, "family", json_string(family)) == 0 &&
        json_object_set_new(json, "prior",
                            json_string(vem_choice_name("prior", (int)model->prior))) ==
            0 &&
        json_object_set_new(json, "normalize", json_boolean(model->normalizes)) == 0 &&
        json_object_set_new(json, "metric",
                            json_string(vem_choice_name("metric", (int)vem_model_metric(
                                                                      model)))) == 0 &&
        vem_i_names_to_json(&model->table, model->d, json))
        text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}

vem_status vem_i_model_write(vem_i_run *run, const vem_model *model, const char *path,
                             const vem_i_array *more, int more_count)
{
    if (!vem_i_path_ends(path, ".npz") && strncmp(path, "/dev/", 5) != 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%s is no name for a model: models are written as .npz.", path);
    vem_status status = vem_i_model_check_finite(run, model);
    if (status != VEM_OK)
        return status;
    char *meta = complete_meta(model);
    if (!meta)
        return vem_i_fail_memory(run, model->meta ? strlen(model->meta) : 64);
    vem_i_array arrays[VEM_I_MODEL_ARRAYS + 2 + VEM_I_MORE_ARRAYS];
    int count = vem_i_model_arrays(model, arrays);
    double *prices = NULL;
    if (model->prior == VEM_PRIOR_EVEN) { /* for whoever assigns rows without us */
        status = vem_i_take(run, &prices, (size_t)model->clusters, sizeof *prices);
        if (status != VEM_OK) {
            free(meta);
            return status;
        }
        vem_model_prices(model, prices);
        arrays[count++] =
            (vem_i_array){"prices", VEM_FLOAT64, prices, 1, {model->clusters}};
    }
    arrays[count++] = (vem_i_array){"meta", VEM_UINT8, meta, 1, {(int64_t)strlen(meta)}};
    for (int i = 0; i < more_count; i++)
        arrays[count++] = more[i];
    status = vem_i_npz_write(run, path, arrays, count);
    vem_i_free(prices);
    free(meta);
    return status;
}

vem_status vem_model_write(vem_ctx *ctx, const vem_model *model, const char *path)
{
    VEM_I_NEED(ctx, ctx, model, path);
    vem_i_verb verb;
    return vem_i_model_write(vem_i_begin(ctx, &verb), model, path, NULL, 0);
}
