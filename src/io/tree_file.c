/* A tree as .npz:
 *
 *     linkage (N-1, 4)       as scipy's: the two nodes, the height, the leaves under it
 *     delta, log_evidence    (N-1): what each merge cost, and the evidence after it
 *     leaves (n)             of each row, where leaves are groups of rows (int32)
 *     rows (n)               which of the rows that were read are in it, where some were left out
 *     row_ids                of each row, where it has one and leaves are groups: texts as bytes, a
 *                            zero after each (uint8)
 *     meta                   how it was made (with the prior), "rows_read", "id_name" where rows have
 *                            ids, and these as "leaf_ids" where leaves are rows, as JSON
 *
 * scipy.cluster.hierarchy takes `linkage` as it is. A file with nothing but that is read,
 * too. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/io.h"
#include "io/names_json.h"
#include "model/contract.h"
#include "model/dendrogram.h"

static const char LEAF_IDS[] = "leaf_ids", ROW_IDS[] = "row_ids";

int vem_i_npz_is_tree(const vem_i_npz *npz)
{
    return vem_i_npz_has(npz, "linkage") && !vem_i_npz_has(npz, "means");
}

/* ---- writing ---- */

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* The prior of bayes, as it was. */
static const struct {
    const char *name;
    size_t at;
} prior[] = {{"prior_strength", offsetof(vem_dendrogram_info, prior_strength)},
             {"prior_dof", offsetof(vem_dendrogram_info, prior_dof)},
             {"prior_count", offsetof(vem_dendrogram_info, prior_count)},
             {"prior_scale", offsetof(vem_dendrogram_info, prior_scale)}};

static int set(json_t *json, const char *key, json_t *value)
{
    return json_object_set_new(json, key, value) == 0;
}

/* How rows were seen, by about->units; the name of the option that says so. */
static const char *const SEEN[] = {NULL, "none", "standardize", "normalize"};

/* How bayes made it. */
static int set_bayes(json_t *json, const vem_dendrogram_info *about)
{
    int done = set(json, "pairs", json_string(vem_pairs_method_name(about->pairs)));
    if (done && about->family >= 0)
        done = set(json, "family", json_string(vem_choice_name("family", about->family)));
    for (size_t k = 0; done && k < VEM_I_COUNT(prior); k++) {
        double value;
        memcpy(&value, (const char *)about + prior[k].at, sizeof value);
        done = set(json, prior[k].name, real(value));
    }
    return done;
}

/* NULL: memory could not be had. */
static char *make_meta(const vem_dendrogram *tree)
{
    const vem_dendrogram_info *about = &tree->about;
    const char *method = vem_dendrogram_method_name(about->method);
    json_t *json = json_pack("{s:s, s:s}", "kind", "tree", "version", VEM_VERSION);
    const int done =
        set(json, "method", method ? json_string(method) : json_null()) &&
        (about->method != VEM_DENDROGRAM_BAYES || set_bayes(json, about)) &&
        (about->units < 1 || set(json, "units", json_string(SEEN[about->units]))) &&
        set(json, "rows_read", json_integer(tree->rows_read)) &&
        (!tree->id_name || set(json, "id_name", vem_i_text_to_json(tree->id_name))) &&
        set(json, "n", json_integer(about->n)) &&
        set(json, "d", json_integer(about->d)) &&
        set(json, "distances", json_integer(about->distances)) &&
        set(json, "log_evidence_leaves", real(about->log_evidence_leaves)) &&
        set(json, "notes", vem_i_text_to_json(tree->notes)) &&
        (tree->leaf_of ||
         vem_i_texts_to_json(tree->ids, (int32_t)tree->leaves, LEAF_IDS, json));
    char *text = done ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    return text;
}

vem_status vem_dendrogram_write(vem_ctx *ctx, const vem_dendrogram *tree,
                                const char *path)
{
    VEM_I_NEED(ctx, ctx, tree, path);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    const int64_t merges = tree->leaves - 1;
    double *block;
    if (!vem_i_path_ends(path, ".npz"))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%s: a tree is written as .npz, so name it so.", path);
    vem_status status = vem_i_take(run, &block, (size_t)merges * 6, sizeof *block);
    if (status != VEM_OK)
        return status;
    double *delta = block + 4 * merges, *evidence = delta + merges;
    for (int64_t k = 0; k < merges; k++) {
        const vem_dendrogram_merge *m = &tree->merges[k];
        block[4 * k] = (double)m->a;
        block[4 * k + 1] = (double)m->b;
        block[4 * k + 2] = m->height;
        block[4 * k + 3] = (double)m->size;
        delta[k] = m->delta;
        evidence[k] = m->log_evidence;
    }
    char *meta = make_meta(tree);
    int count = 4;
    vem_i_array arrays[7] = {
        {"linkage", VEM_FLOAT64, block, 2, {merges, 4}},
        {"delta", VEM_FLOAT64, delta, 1, {merges}},
        {"log_evidence", VEM_FLOAT64, evidence, 1, {merges}},
        {"meta", VEM_UINT8, meta, 1, {meta ? (int64_t)strlen(meta) : 0}},
    };
    if (tree->leaf_of)
        arrays[count++] =
            (vem_i_array){"leaves", VEM_INT32, tree->leaf_of, 1, {tree->rows}};
    if (tree->leaf_of && tree->ids) { /* one block, the texts one after another */
        const char *last = tree->ids[tree->rows - 1];
        const int64_t bytes = last + strlen(last) + 1 - tree->ids[0];
        arrays[count++] = (vem_i_array){ROW_IDS, VEM_UINT8, tree->ids[0], 1, {bytes}};
    }
    if (tree->row_of)
        arrays[count++] = (vem_i_array){"rows", VEM_INT64, tree->row_of, 1, {tree->rows}};
    status = meta ? vem_i_npz_write(run, path, arrays, count) : vem_i_fail_memory(run, 1);
    free(meta);
    vem_i_free(block);
    return status;
}

/* ---- reading ---- */

typedef struct reading {
    vem_i_run *run;
    const char *path;
    vem_i_npz *npz;
    double *linkage, *delta, *evidence, *leaves, *kept;
    int64_t merges, rows;
} reading;

/* One value for each merge, where the array is there. */
static vem_status get_values(const reading *r, const char *name, double **values)
{
    int rank;
    int64_t dims[4];
    if (!vem_i_npz_has(r->npz, name))
        return VEM_OK;
    vem_status status = vem_i_npz_doubles(r->run, r->npz, name, &rank, dims, values);
    if (status == VEM_OK && (rank != 1 || dims[0] != r->merges))
        status = vem_i_fail(r->run, VEM_BAD_DATA,
                            "%s holds no valid tree: its array %s has %" PRId64
                            " values, but linkage has %" PRId64 " merges.",
                            r->path, name, dims[0], r->merges);
    return status;
}

static vem_status get_linkage(reading *r)
{
    int rank;
    int64_t dims[4];
    vem_status status =
        vem_i_npz_doubles(r->run, r->npz, "linkage", &rank, dims, &r->linkage);
    if (status != VEM_OK)
        return status;
    if (rank != 2 || dims[1] != 4 || dims[0] >= INT32_MAX / 2)
        return vem_i_fail(r->run, VEM_BAD_DATA,
                          "%s holds no tree: linkage needs two dimensions, N-1 merges of "
                          "4 numbers each.",
                          r->path);
    r->merges = dims[0];
    return VEM_OK;
}

static vem_status get_leaves(reading *r)
{
    int rank;
    int64_t dims[4];
    r->rows = r->merges + 1;
    if (!vem_i_npz_has(r->npz, "leaves"))
        return VEM_OK;
    vem_status status =
        vem_i_npz_doubles(r->run, r->npz, "leaves", &rank, dims, &r->leaves);
    if (status != VEM_OK)
        return status;
    r->rows = dims[0];
    for (int64_t i = 0; status == VEM_OK && i < r->rows; i++)
        if (rank != 1 || !(r->leaves[i] >= 0 && r->leaves[i] <= (double)r->merges) ||
            r->leaves[i] != floor(r->leaves[i]))
            status = vem_i_fail(r->run, VEM_BAD_DATA,
                                "%s holds no valid tree: leaf %.10g of row %" PRId64
                                " is none of its %" PRId64 " leaves.",
                                r->path, r->leaves[i], i + 1, r->merges + 1);
    return status;
}

/* Which rows are in it: they ascend, and so many were read. */
static vem_status take_rows(reading *r, const json_t *json, vem_dendrogram *tree)
{
    const int64_t all = json_integer_value(json_object_get(json, "rows_read"));
    int rank;
    int64_t dims[4];
    if (!vem_i_npz_has(r->npz, "rows"))
        return VEM_OK;
    vem_status status = vem_i_npz_doubles(r->run, r->npz, "rows", &rank, dims, &r->kept);
    if (status != VEM_OK)
        return status;
    int fits = rank == 1 && dims[0] == r->rows && all >= r->rows && all < INT32_MAX;
    for (int64_t i = 0; fits && i < r->rows; i++)
        fits = r->kept[i] == floor(r->kept[i]) && r->kept[i] < (double)all &&
               r->kept[i] >= (i > 0 ? r->kept[i - 1] + 1 : 0);
    if (!fits)
        return vem_i_fail(r->run, VEM_BAD_DATA,
                          "%s holds no valid tree: its array rows does not say which of "
                          "the rows that were read are in it.",
                          r->path);
    status = vem_i_dendrogram_leave_out(r->run, all, tree);
    for (int64_t i = 0; status == VEM_OK && i < r->rows; i++)
        tree->row_of[i] = (int64_t)r->kept[i];
    return status;
}

/* What cannot be a node becomes one that is refused. */
static int64_t node_of(double value)
{
    return value >= 0 && value < 0x1p53 && value == floor(value) ? (int64_t)value : -1;
}

static vem_status take_merges(const reading *r, vem_dendrogram *tree)
{
    for (int64_t k = 0; k < r->merges; k++) {
        const double *row = r->linkage + 4 * k;
        const double delta = r->delta ? r->delta[k] : row[2];
        if (!isfinite(delta) || !(row[2] >= 0) || !isfinite(row[2]))
            return vem_i_fail(r->run, VEM_BAD_DATA,
                              "%s holds no valid tree: merge %" PRId64
                              " has the height %.10g and the cost %.10g.",
                              r->path, k + 1, row[2], delta);
        tree->merges[k] =
            (vem_dendrogram_merge){.a = node_of(row[0]),
                                   .b = node_of(row[1]),
                                   .delta = delta,
                                   .log_evidence = r->evidence ? r->evidence[k] : NAN};
    }
    vem_status status = vem_i_dendrogram_settle(r->run, r->path, tree);
    for (int64_t k = 0; status == VEM_OK && k < r->merges; k++)
        if ((double)tree->merges[k].size != r->linkage[4 * k + 3])
            status =
                vem_i_fail(r->run, VEM_BAD_DATA,
                           "%s holds no valid tree: merge %" PRId64
                           " says that it has %.10g leaves, but it has %" PRId64 ".",
                           r->path, k + 1, r->linkage[4 * k + 3], tree->merges[k].size);
    return status;
}

/* One for each row of a tree of groups, where the array is there. */
static vem_status take_row_ids(const reading *r, vem_dendrogram *tree)
{
    vem_data *bytes;
    int rank;
    int64_t dims[4], texts = 0;
    if (!tree->leaf_of || !vem_i_npz_has(r->npz, ROW_IDS))
        return VEM_OK;
    vem_status status = vem_i_npz_get(r->run, r->npz, ROW_IDS, &bytes, &rank, dims);
    if (status != VEM_OK)
        return status;
    const char *from = bytes->base;
    const int are_texts = bytes->type == VEM_UINT8 && rank == 1 && !from[bytes->n - 1];
    for (int64_t i = 0; are_texts && i < bytes->n; i++)
        texts += !from[i];
    const size_t pointers = (size_t)tree->rows * sizeof(char *);
    if (texts != tree->rows)
        status = vem_i_fail(r->run, VEM_BAD_DATA,
                            "%s holds no valid tree: its array %s has %" PRId64
                            " texts, but it has %" PRId64 " rows.",
                            r->path, ROW_IDS, texts, tree->rows);
    if (status == VEM_OK)
        status = vem_i_take(r->run, &tree->ids, pointers + (size_t)bytes->n, 1);
    if (status == VEM_OK) {
        char *at = memcpy((char *)tree->ids + pointers, from, (size_t)bytes->n);
        for (int64_t i = 0; i < tree->rows; i++, at += strlen(at) + 1)
            tree->ids[i] = at;
    }
    vem_data_free(bytes);
    return status;
}

/* One for each leaf that is a row, or none. */
static vem_status take_ids(const reading *r, const json_t *json, vem_dendrogram *tree)
{
    int32_t count = 0;
    vem_status status = VEM_OK;
    if (!tree->leaf_of)
        status =
            vem_i_texts_from_json(r->run, r->path, json, LEAF_IDS, &tree->ids, &count);
    const char *name = json_string_value(json_object_get(json, "id_name"));
    const size_t length = name ? strlen(name) + 1 : 0;
    if (status == VEM_OK && name)
        status = vem_i_take(r->run, &tree->id_name, length, 1);
    if (status == VEM_OK && name)
        memcpy(tree->id_name, name, length);
    if (status == VEM_OK && tree->ids && count != tree->leaves)
        status = vem_i_fail(r->run, VEM_BAD_DATA,
                            "%s holds no valid tree: its meta has %" PRId32
                            " ids of leaves, but it has %" PRId64 " leaves.",
                            r->path, count, tree->leaves);
    return status;
}

/* What meta says, where it is one of ours. */
static vem_status take_meta(reading *r, vem_dendrogram *tree)
{
    json_t *json;
    vem_dendrogram_info *about = &tree->about;
    about->method = VEM_DENDROGRAM_COUNT;
    if (!vem_i_npz_has(r->npz, "meta"))
        return VEM_OK;
    vem_status status = vem_i_npz_json(r->run, r->npz, "meta", &json);
    if (status != VEM_OK)
        return status;
    const char *method = json_string_value(json_object_get(json, "method"));
    const char *pairs = json_string_value(json_object_get(json, "pairs"));
    const char *notes = json_string_value(json_object_get(json, "notes"));
    const char *family = json_string_value(json_object_get(json, "family"));
    const char *units = json_string_value(json_object_get(json, "units"));
    const json_t *evidence = json_object_get(json, "log_evidence_leaves");
    for (int i = 0; method && i < VEM_DENDROGRAM_COUNT; i++)
        if (strcmp(method, vem_dendrogram_method_name((vem_dendrogram_method)i)) == 0)
            about->method = (vem_dendrogram_method)i;
    for (int i = 0; pairs && i < VEM_PAIRS_COUNT; i++)
        if (strcmp(pairs, vem_pairs_method_name((vem_pairs_method)i)) == 0)
            about->pairs = (vem_pairs_method)i;
    for (int i = 1; units && i < (int)VEM_I_COUNT(SEEN); i++)
        if (strcmp(units, SEEN[i]) == 0)
            about->units = i;
    if (about->method == VEM_DENDROGRAM_BAYES && family && vem_i_family_named(family))
        about->family = (int)vem_i_family_named(family)->kind;
    about->d = (int32_t)json_integer_value(json_object_get(json, "d"));
    about->distances = json_integer_value(json_object_get(json, "distances"));
    if (json_is_number(evidence))
        about->log_evidence_leaves = json_number_value(evidence);
    if (notes && *notes)
        vem_i_dendrogram_note(tree, "%s", notes);
    for (size_t k = 0; k < VEM_I_COUNT(prior); k++) {
        const double value = json_number_value(json_object_get(json, prior[k].name));
        memcpy((char *)about + prior[k].at, &value, sizeof value);
    }
    status = take_ids(r, json, tree);
    if (status == VEM_OK)
        status = take_row_ids(r, tree);
    if (status == VEM_OK)
        status = take_rows(r, json, tree);
    json_decref(json);
    return status;
}

static vem_status build(reading *r, vem_dendrogram **tree)
{
    vem_dendrogram *made = NULL;
    vem_status status = get_linkage(r);
    if (status == VEM_OK)
        status = get_values(r, "delta", &r->delta);
    if (status == VEM_OK)
        status = get_values(r, "log_evidence", &r->evidence);
    if (status == VEM_OK)
        status = get_leaves(r);
    if (status == VEM_OK)
        status = vem_i_dendrogram_new(r->run, r->merges + 1, r->rows, r->leaves != NULL,
                                      &made);
    for (int64_t i = 0; status == VEM_OK && r->leaves && i < r->rows; i++)
        made->leaf_of[i] = (int32_t)r->leaves[i];
    if (status == VEM_OK)
        status = take_meta(r, made);
    if (status == VEM_OK)
        status = take_merges(r, made);
    if (status == VEM_OK)
        *tree = made;
    else
        vem_dendrogram_free(made);
    return status;
}

vem_status vem_dendrogram_read(vem_ctx *ctx, const char *path, vem_dendrogram **tree)
{
    VEM_I_NEED(ctx, ctx, path, tree);
    vem_i_verb verb;
    reading r = {.run = vem_i_begin(ctx, &verb), .path = path};
    vem_status status = vem_i_npz_open(r.run, path, &r.npz);
    if (status != VEM_OK)
        return status;
    if (!vem_i_npz_is_tree(r.npz))
        status = vem_i_fail(r.run, VEM_BAD_DATA,
                            "%s holds no tree: vem tree writes one, with an array named "
                            "linkage.",
                            path);
    else
        status = build(&r, tree);
    vem_i_npz_close(r.npz);
    vem_i_free(r.linkage);
    vem_i_free(r.delta);
    vem_i_free(r.evidence);
    vem_i_free(r.leaves);
    vem_i_free(r.kept);
    return status;
}
