/* Statistics as .npz: what adds up, and all that is needed to add it up and to take the
 * M-step without any other file.
 *
 *     mass    C           sum_i w_i q_ic
 *     first   C, D        sum_i w_i q_ic (x_i - mu_c)
 *     second  C           shapes of no axes: sum_i w_i q_ic |x_i - mu_c|^2
 *             C, D        one axis (diag): the same, column by column
 *             C, D, D     two (full): sum_i w_i q_ic (x_i - mu_c)(x_i - mu_c)'
 *                         none of counts, whose first moments are sum_i w_i q_ic x_i
 *     about   C, D        only where some moments are about other places than mu_c; first and
 *                         second are then named first_about and second_about, and are about
 *                         these
 *     totals  3 doubles   mass, free energy (sum), squared error
 *     counts  4 integers  rows, rows of positive weight, scored pairs, parts
 *     part_marks  P, 2    of each part added up: its number (0: nobody said), and a digest
 *                         of its rows; files of version 0.1 have none
 *     means, weights, variances, scale    the model, as in a model file
 *     meta    JSON        how the step was made, and a digest of the model
 *
 * Everything is in the units of the data (of an isotropic model with a scale: the second
 * moments in the units of its variances). */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "io/io.h"
#include "io/names_json.h"
#include "model/family.h"
#include "model/moments.h"
#include "model/part.h"

enum { TOTALS = 3, COUNTS = 4, SUM_ARRAYS = 4 };
static const char MARKS[] = "part_marks";
static const int64_t MOST_PAIRS = INT64_C(1) << 60;

/* ---- between the block of sums and arrays ---- */

typedef struct arrays {
    double *mass, *first, *second;
    size_t second_count; /* per cluster, as written */
} arrays;

static void free_arrays(arrays *a)
{
    vem_i_free(a->mass);
    vem_i_free(a->first);
    vem_i_free(a->second);
}

static vem_status take_arrays(vem_i_run *run, const vem_model *model, arrays *a)
{
    const size_t clusters = (size_t)model->clusters, d = (size_t)model->d;
    *a = (arrays){.second_count = (size_t)vem_i_shape_values(model->family, model->d)};
    vem_status status = vem_i_take(run, &a->mass, clusters, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(run, &a->first, clusters, d * sizeof(double));
    if (status == VEM_OK && a->second_count > 0)
        status = vem_i_take(run, &a->second, clusters, a->second_count * sizeof(double));
    if (status != VEM_OK)
        free_arrays(a);
    return status;
}

static void exchange(const vem_stats *part, arrays *a, int out)
{
    const vem_i_family *family = part->model->family;
    const size_t d = (size_t)part->model->d;
    for (int32_t c = 0; c < part->model->clusters; c++) {
        double *mass = vem_i_stats_mass(&part->sums, c), *first = mass + 1;
        double *first_written = a->first + (size_t)c * d;
        *(out ? &a->mass[c] : mass) = out ? *mass : a->mass[c];
        memcpy(out ? first_written : first, out ? first : first_written,
               d * sizeof(double));
        if (a->second_count == 0)
            continue;
        double *second = vem_i_stats_second(&part->sums, c),
               *second_written = a->second + (size_t)c * a->second_count;
        if (out)
            vem_i_moments_write(family, part->model->d, second, second_written);
        else
            vem_i_moments_read(family, part->model->d, second_written, second);
    }
}

/* ---- meta ---- */

static char *make_meta(const vem_stats *part)
{
    char digest[20];
    snprintf(digest, sizeof digest, "%016" PRIx64, vem_i_model_digest(part->model));
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:f, s:b, s:s, s:s, s:[s,s,s], "
        "s:[s,s,s,s]}",
        "kind", "statistics", "version", VEM_VERSION, "family",
        vem_choice_name("family", (int)part->model->family->kind), "prior",
        vem_choice_name("prior", (int)part->prior), "search",
        vem_choice_name("search", (int)part->search), "precision",
        vem_choice_name("precision", (int)part->precision), "held", (int)part->held, "of",
        (json_int_t)part->marks.of, "floor", part->floor, "normalize",
        part->model->normalizes != 0, "metric",
        vem_choice_name("metric", (int)vem_model_metric(part->model)), "model", digest,
        "totals", "mass", "free_energy", "squared_error", "counts", "rows", "rows_used",
        "pairs", "parts");
    char *text = json && vem_i_names_to_json(&part->model->table, part->model->d, json)
                     ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17))
                     : NULL;
    json_decref(json);
    return text;
}

/* The number of the choice that is named, or -1. */
static int find_choice(const json_t *json, const char *option)
{
    const char *word = json_string_value(json_object_get(json, option)), *name;
    for (int i = 0; word && (name = vem_choice_name(option, i)); i++)
        if (strcmp(name, word) == 0)
            return i;
    return -1;
}

static vem_status read_meta(vem_i_run *run, const char *path, const char *text,
                            vem_stats *part)
{
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    const int prior = find_choice(json, "prior"), search = find_choice(json, "search");
    const int precision = find_choice(json, "precision");
    const json_int_t held = json_integer_value(json_object_get(json, "held"));
    const json_int_t of = json_integer_value(json_object_get(json, "of"));
    const double floor = json_number_value(json_object_get(json, "floor"));
    const char *digest = json_string_value(json_object_get(json, "model"));
    char expected[20];
    snprintf(expected, sizeof expected, "%016" PRIx64, vem_i_model_digest(part->model));
    vem_status status = VEM_OK;
    if (prior < 0 || precision < 0 || held < 1 || held > part->model->clusters ||
        of < 0 || of > VEM_I_MOST_COUNT || !(floor > 0 && floor <= 1) ||
        !vem_i_search_is_whole(search))
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s holds no statistics of vem: its meta does not say how "
                            "they were made.",
                            path);
    else if (!digest || strcmp(digest, expected) != 0)
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s is broken: its statistics were made with the model "
                            "%.40s, but it holds %s.",
                            path, digest ? digest : "(unnamed)", expected);
    part->prior = (vem_prior_kind)prior;
    part->search = (vem_search_kind)search;
    part->precision = (vem_precision)precision;
    part->held = (int32_t)held;
    part->marks.of = (int64_t)of;
    part->floor = floor;
    json_decref(json);
    return status;
}

/* ---- reading ---- */

/* An array of exactly this shape, as doubles (or, `type` VEM_INT64, as integers) into `out`. */
static vem_status read_array(vem_i_run *run, const char *path, vem_i_npz *npz,
                             const vem_i_array *wanted, void *out)
{
    vem_data *data;
    int rank, fits;
    int64_t dims[4];
    vem_status status = vem_i_npz_get(run, npz, wanted->name, &data, &rank, dims);
    if (status != VEM_OK)
        return status;
    fits = rank == wanted->rank && data->type == wanted->type;
    for (int i = 0; fits && i < rank; i++)
        fits = dims[i] == wanted->dims[i];
    if (!fits)
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s: the shape or type of %s does not fit its model.", path,
                            wanted->name);
    else if (wanted->type == VEM_INT64)
        for (int64_t i = 0; i < data->n; i++)
            vem_i_data_copy_row(data, i, (char *)out + i * (int64_t)sizeof(int64_t));
    else
        vem_i_data_load(data, 0, data->n, VEM_DOUBLE, out, data->d);
    vem_data_free(data);
    return status;
}

/* How the sums of a part of this model are written; returns how many arrays these are. */
static int describe_sums(const vem_model *model, const arrays *a, int moved,
                         const double *about, vem_i_array list[SUM_ARRAYS])
{
    const int64_t clusters = model->clusters, d = model->d;
    list[0] = (vem_i_array){"mass", VEM_FLOAT64, a->mass, 1, {clusters}};
    list[1] = (vem_i_array){
        moved ? "first_about" : "first", VEM_FLOAT64, a->first, 2, {clusters, d}};
    if (!vem_i_has_shapes(model->family))
        return 2;
    list[2] = (vem_i_array){moved ? "second_about" : "second",
                            VEM_FLOAT64,
                            a->second,
                            1 + vem_i_shape_rank(model->family),
                            {clusters, d, d}};
    list[3] = (vem_i_array){"about", VEM_FLOAT64, about, 2, {clusters, d}};
    return moved ? SUM_ARRAYS : SUM_ARRAYS - 1;
}

static vem_status read_sums(vem_i_run *run, const char *path, vem_i_npz *npz,
                            vem_stats *part)
{
    const vem_i_array wanted_totals = {"totals", VEM_FLOAT64, NULL, 1, {TOTALS}};
    const vem_i_array wanted_counts = {"counts", VEM_INT64, NULL, 1, {COUNTS}};
    double totals[TOTALS];
    int64_t counts[COUNTS];
    arrays a;
    vem_i_array wanted[SUM_ARRAYS];
    vem_status status = take_arrays(run, part->model, &a);
    if (status != VEM_OK)
        return status;
    const int sums =
        describe_sums(part->model, &a, vem_i_npz_has(npz, "about"), part->about, wanted);
    double *const out[SUM_ARRAYS] = {a.mass, a.first, a.second, part->about};
    for (int i = 0; status == VEM_OK && i < sums; i++)
        status = read_array(run, path, npz, &wanted[i], out[i]);
    if (status == VEM_OK)
        status = read_array(run, path, npz, &wanted_totals, totals);
    if (status == VEM_OK)
        status = read_array(run, path, npz, &wanted_counts, counts);
    if (status == VEM_OK) {
        exchange(part, &a, 0);
        part->mass = totals[0];
        part->free_energy = totals[1];
        part->squared_error = totals[2];
        part->rows = counts[0];
        part->rows_used = counts[1];
        part->pairs = counts[2];
        part->parts = counts[3];
        if (part->rows > VEM_I_MOST_COUNT || part->parts > VEM_I_MOST_COUNT ||
            part->pairs > MOST_PAIRS || !vem_i_part_is_sound(part))
            status = vem_i_fail(run, VEM_BAD_DATA,
                                "%s holds no statistics of rows: a mass or a sum of "
                                "squares is negative, a value is not finite, or the "
                                "masses do not add up to their total.",
                                path);
    }
    free_arrays(&a);
    return status;
}

/* Which parts these are. Files that do not tell are known by their sums. */
static vem_status read_marks(vem_i_run *run, const char *path, vem_i_npz *npz,
                             vem_stats *part)
{
    vem_i_marks *marks = &part->marks;
    vem_data *data = NULL;
    int rank;
    int64_t dims[4];
    if (!vem_i_npz_has(npz, MARKS)) {
        marks->of = 0;
        marks->list->rows = vem_i_part_digest(part);
        return VEM_OK;
    }
    vem_status status = vem_i_npz_get(run, npz, MARKS, &data, &rank, dims);
    if (status != VEM_OK)
        return status;
    int fits = rank == 2 && data->type == VEM_INT64 && dims[1] == 2 && dims[0] >= 1 &&
               dims[0] <= part->parts;
    vem_i_mark *list = NULL;
    if (fits)
        status = vem_i_take(run, &list, (size_t)dims[0], sizeof *list);
    if (fits && status == VEM_OK) {
        for (int64_t i = 0; i < dims[0]; i++) {
            int64_t pair[2];
            vem_i_data_copy_row(data, i, (char *)pair);
            list[i] = (vem_i_mark){.part = pair[0], .rows = (uint64_t)pair[1]};
        }
        vem_i_free(marks->list);
        marks->list = list;
        marks->count = dims[0];
        fits = vem_i_marks_settle(marks);
    }
    if (status == VEM_OK && !fits)
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s is broken: it does not say which parts it holds.", path);
    vem_data_free(data);
    return status;
}

static vem_status read_part(vem_i_run *run, const char *path, vem_i_npz *npz,
                            vem_stats **stats)
{
    vem_model *model;
    vem_stats *part = NULL;
    vem_status status = vem_i_model_get(run, path, npz, &model);
    if (status != VEM_OK)
        return status;
    char *meta = model->meta;
    model->meta = NULL;
    status = vem_i_part_new(run, model, &part);
    if (status == VEM_OK)
        status = read_meta(run, path, meta, part);
    free(meta);
    if (status == VEM_OK)
        status = read_sums(run, path, npz, part);
    if (status == VEM_OK)
        status = read_marks(run, path, npz, part);
    if (status == VEM_OK)
        *stats = part;
    else
        vem_stats_free(part);
    return status;
}

vem_status vem_i_stats_read(vem_i_run *run, const char *path, vem_stats **stats)
{
    vem_i_npz *npz;
    vem_status status = vem_i_npz_open(run, path, &npz);
    if (status != VEM_OK)
        return status;
    if (!vem_i_npz_is_stats(npz) || !vem_i_npz_is_model(npz))
        status =
            vem_i_fail(run, VEM_BAD_DATA,
                       "%s holds no statistics: vem fit --accumulate writes them.", path);
    else
        status = read_part(run, path, npz, stats);
    vem_i_npz_close(npz);
    return status;
}

vem_status vem_stats_read(vem_ctx *ctx, const char *path, vem_stats **stats)
{
    VEM_I_NEED(ctx, ctx, path, stats);
    return vem_i_stats_read(vem_i_begin(ctx, &(vem_i_verb){0}), path, stats);
}

/* ---- writing ---- */

vem_status vem_stats_write(vem_ctx *ctx, const vem_stats *stats, const char *path)
{
    VEM_I_NEED(ctx, ctx, stats, path);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    if (!vem_i_path_ends(path, ".npz") && strncmp(path, "/dev/", 5) != 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%s is no name for statistics: they are written as .npz.",
                          path);
    const double totals[TOTALS] = {stats->mass, stats->free_energy, stats->squared_error};
    const int64_t counts[COUNTS] = {stats->rows, stats->rows_used, stats->pairs,
                                    stats->parts};
    vem_i_array list[SUM_ARRAYS + 4 + VEM_I_MODEL_ARRAYS];
    arrays a;
    vem_status status = vem_i_model_check_finite(run, stats->model);
    if (status == VEM_OK)
        status = take_arrays(run, stats->model, &a);
    if (status != VEM_OK)
        return status;
    char *meta = make_meta(stats);
    if (meta) {
        exchange(stats, &a, 1);
        int count =
            describe_sums(stats->model, &a, vem_i_part_moved(stats), stats->about, list);
        list[count++] = (vem_i_array){"totals", VEM_FLOAT64, totals, 1, {TOTALS}};
        list[count++] = (vem_i_array){"counts", VEM_INT64, counts, 1, {COUNTS}};
        list[count++] = (vem_i_array){
            MARKS, VEM_INT64, stats->marks.list, 2, {stats->marks.count, 2}};
        list[count++] =
            (vem_i_array){"meta", VEM_UINT8, meta, 1, {(int64_t)strlen(meta)}};
        count += vem_i_model_arrays(stats->model, list + count);
        status = vem_i_npz_write(run, path, list, count);
    } else {
        status = vem_i_fail_memory(run, 512);
    }
    free(meta);
    free_arrays(&a);
    return status;
}
