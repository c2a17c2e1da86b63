/* A coreset as .npz: rows, weights, indices and, in meta, what is known of the columns (as in a
 * model's). It is read as data. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/io.h"
#include "io/names_json.h"

static int knows_columns(const vem_i_names *table)
{
    return table->columns || table->ids || table->picked || table->picked_id ||
           table->means;
}

static char *make_meta(const vem_data *coreset)
{
    json_t *json = json_pack("{s:s, s:s}", "kind", "coreset", "version", VEM_VERSION);
    const vem_i_names table = vem_i_data_table(coreset);
    char *text = json && vem_i_names_to_json(&table, coreset->d, json)
                     ? json_dumps(json, JSON_COMPACT)
                     : NULL;
    json_decref(json);
    return text;
}

static vem_status read_meta(vem_i_run *run, const char *path, vem_i_npz *npz,
                            vem_data *data)
{
    json_t *json;
    vem_i_names table = {0};
    if (!vem_i_npz_has(npz, "meta")) /* 0.1 wrote none, nor does numpy.savez */
        return VEM_OK;
    vem_status status = vem_i_npz_json(run, npz, "meta", &json);
    if (status != VEM_OK)
        return status;
    if (!json)
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "Array meta of %s is no JSON object as bytes (uint8).", path);
    else
        status = vem_i_names_from_json(run, path, json, data->d, &table);
    json_decref(json);
    if (status == VEM_OK)
        vem_i_data_take_table(data, &table);
    return status;
}

static vem_status read_weights(vem_i_run *run, const char *path, vem_i_npz *npz,
                               vem_data *data)
{
    char source[400];
    int rank;
    int64_t dims[4];
    vem_data *weights;
    if (!vem_i_npz_has(npz, "weights"))
        return VEM_OK;
    snprintf(source, sizeof source, "Array weights of %.300s", path);
    vem_status status = vem_i_npz_get(run, npz, "weights", &weights, &rank, dims);
    if (status != VEM_OK)
        return status;
    status = vem_i_weights_take(run, source, weights, data);
    vem_data_free(weights);
    return status;
}

vem_status vem_i_coreset_read(vem_i_run *run, const char *path, vem_data *data)
{
    vem_i_npz *npz;
    vem_data *rows = NULL;
    int rank = 0;
    int64_t dims[4];
    vem_status status = vem_i_npz_open(run, path, &npz);
    if (status != VEM_OK)
        return status;
    if (vem_i_npz_is_sparse(npz)) {
        status = vem_i_npz_get_sparse(run, path, npz, data);
        vem_i_npz_close(npz);
        return status;
    }
    if (!vem_i_npz_has(npz, "rows"))
        status = vem_i_fail(run, VEM_BAD_DATA,
                            vem_i_npz_is_stats(npz)
                                ? "%s holds statistics, but data are needed here."
                            : vem_i_npz_has(npz, "means")
                                ? "%s is a model, but data are needed here."
                            : vem_i_npz_is_tree(npz)
                                ? "%s is a tree, but data are needed here."
                                : "%s holds no data: an .npz needs an array named rows, "
                                  "or those of a sparse matrix as scipy writes it.",
                            path);
    if (status == VEM_OK)
        status = vem_i_npz_get(run, npz, "rows", &rows, &rank, dims);
    if (status == VEM_OK && rank > 2)
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "Array rows of %s has %d dimensions, but 1 or 2 are needed.",
                            path, rank);
    if (status == VEM_OK)
        status = read_weights(run, path, npz, rows);
    if (status == VEM_OK)
        status = read_meta(run, path, npz, rows);
    if (status == VEM_OK) {
        *data = *rows;
        vem_i_free(rows); /* what it held lives on in `data` */
    } else {
        vem_data_free(rows);
    }
    vem_i_npz_close(npz);
    return status;
}

vem_status vem_coreset_write(vem_ctx *ctx, const vem_data *coreset, const char *path)
{
    VEM_I_NEED(ctx, ctx, coreset, path);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    if (!vem_i_path_ends(path, ".npz") && strncmp(path, "/dev/", 5) != 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%s is no name for a coreset: coresets are written as .npz.",
                          path);
    if (!coreset || !coreset->indices)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Only what vem_coreset made can be written as a coreset.");
    const int64_t n = coreset->n;
    char *meta = make_meta(coreset);
    if (!meta)
        return vem_i_fail_memory(run, 64);
    const vem_i_array arrays[] = {
        {"rows", coreset->type, coreset->base, 2, {n, coreset->d}},
        {"weights", VEM_FLOAT64, coreset->weights, 1, {n}},
        {"indices", VEM_INT64, coreset->indices, 1, {n}},
        {"meta", VEM_UINT8, meta, 1, {(int64_t)strlen(meta)}},
    };
    const vem_i_names table = vem_i_data_table(coreset);
    const vem_status status =
        vem_i_npz_write(run, path, arrays, knows_columns(&table) ? 4 : 3);
    free(meta);
    return status;
}
