/* The files that results go to: labels, classes, soft assignments, arrays, text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/plain.h"
#include "io/io.h"
#include "kernels/kernels.h"

/* The shortest of two lengths that reads back as the same number. In the plain locale. */
static void print_number(FILE *stream, double value, int is_float)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", is_float ? 6 : 15, value);
    const double back = strtod(text, NULL);
    if (is_float ? (float)back != (float)value : back != value)
        snprintf(text, sizeof text, "%.*g", is_float ? 9 : 17, value);
    fputs(text, stream);
}

static void print_value(FILE *stream, vem_dtype type, const char *at)
{
    switch (type) {
    case VEM_FLOAT32: print_number(stream, *(const float *)(const void *)at, 1); break;
    case VEM_FLOAT64: print_number(stream, *(const double *)(const void *)at, 0); break;
    case VEM_UINT8: fprintf(stream, "%d", *(const uint8_t *)at); break;
    case VEM_INT32:
        fprintf(stream, "%" PRId32, *(const int32_t *)(const void *)at);
        break;
    case VEM_INT64:
        fprintf(stream, "%" PRId64, *(const int64_t *)(const void *)at);
        break;
    case VEM_FLOAT16:
        print_number(stream, vem_i_half(*(const uint16_t *)(const void *)at), 1);
        break;
    case VEM_INT8: fprintf(stream, "%d", *(const int8_t *)at); break;
    case VEM_INT16: fprintf(stream, "%d", *(const int16_t *)(const void *)at); break;
    case VEM_UINT16: fprintf(stream, "%d", *(const uint16_t *)(const void *)at); break;
    case VEM_UINT32:
        fprintf(stream, "%" PRIu32, *(const uint32_t *)(const void *)at);
        break;
    case VEM_BFLOAT16:
        print_number(stream, vem_i_bfloat(*(const uint16_t *)(const void *)at), 1);
        break;
    }
}

static void print_rows(vem_i_run *run, FILE *stream, vem_dtype type, const char *values,
                       int64_t n, int32_t d)
{
    const size_t width = vem_i_dtype_bytes(type);
    for (int64_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < d; j++, values += width) {
            print_value(stream, type, values);
            fputc(j + 1 < d ? ',' : '\n', stream);
        }
        vem_i_residence_check(run);
    }
}

enum { PIECE = 1 << 20 }; /* bytes written at a time */

static void save_npy(vem_i_run *run, FILE *stream, const vem_i_array *array, int blocks)
{
    char header[256];
    size_t count = 1;
    for (int i = 0; i < array->rank; i++)
        count *= (size_t)array->dims[i];
    const size_t length =
        vem_i_npy_header(array->type, array->rank, array->dims, blocks, header);
    fwrite(header, 1, length, stream);
    const char *values = array->values;
    for (size_t left = count * vem_i_dtype_bytes(array->type), piece; left > 0;
         left -= piece) {
        piece = left < PIECE ? left : PIECE;
        fwrite(values, 1, piece, stream);
        values += piece;
        vem_i_residence_check(run);
    }
}

static vem_status bad_ending(vem_i_run *run, const char *path, const char *what,
                             const char *endings)
{
    return vem_i_fail(run, VEM_BAD_OPTION, "%s is no name for %s: the ending must be %s.",
                      path, what, endings);
}

static int is_text(const char *path)
{
    return vem_i_path_ends(path, ".csv") || vem_i_path_ends(path, ".txt") ||
           vem_i_path_ends(path, ".csv.gz") || strncmp(path, "/dev/", 5) == 0;
}

/* Blanks at its ends would be left out by readers, and '#' begins a comment. */
static int needs_quotes(const char *text)
{
    const size_t length = strlen(text);
    return strpbrk(text, ",\"\r\n") || *text == '#' ||
           (length > 0 && (strchr(" \t", text[0]) || strchr(" \t", text[length - 1])));
}

void vem_csv_put(FILE *stream, const char *text)
{
    if (!stream || !text)
        return;
    if (!needs_quotes(text)) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

static void print_header(FILE *stream, const char *const *names, int32_t d)
{
    for (int32_t j = 0; j < d; j++) {
        if (names && names[j])
            vem_csv_put(stream, names[j]);
        else
            fprintf(stream, "column_%" PRId32, j + 1);
        fputc(j + 1 < d ? ',' : '\n', stream);
    }
}

/* An array to .npy (`blocks` as in vem_i_npy_header) or, row by row, to .csv, under the
 * names of the columns where a header is wanted. */
static vem_status write_array(vem_i_run *run, const char *path, const char *what,
                              const vem_i_array *array, int blocks, int header,
                              const char *const *names)
{
    const int npy = vem_i_path_ends(path, ".npy");
    if (!npy && !is_text(path))
        return bad_ending(run, path, what, ".npy, .csv or .csv.gz");
    vem_i_output *output;
    vem_status status = vem_i_output_open(run, path, &output);
    if (status != VEM_OK)
        return status;
    const locale_t before = vem_i_plain_begin();
    if (!npy && header)
        print_header(vem_i_output_stream(output), names, (int32_t)array->dims[1]);
    if (npy)
        save_npy(run, vem_i_output_stream(output), array, blocks);
    else
        print_rows(run, vem_i_output_stream(output), array->type, array->values,
                   array->dims[0], array->rank == 2 ? (int32_t)array->dims[1] : 1);
    vem_i_plain_end(before);
    return vem_i_output_commit(run, output); /* notices what fwrite could not do */
}

/* One more cell: a text, or (column k, counted from 0, of the header) a name in place of it. */
static void print_id(FILE *stream, const char *text, int32_t k)
{
    fputc(',', stream);
    if (text)
        vem_csv_put(stream, text);
    else if (k >= 0)
        fprintf(stream, "id_%" PRId32, k + 1);
}

/* The ids of a row, or (row -1) their names, to the end of the line. */
static void print_ids(FILE *stream, const vem_data *data, int64_t row)
{
    for (int32_t k = 0; data && k < vem_data_ids(data); k++)
        if (row < 0)
            print_id(stream, vem_data_id_name(data, k), k);
        else
            print_id(stream, vem_data_id(data, k, row), -1);
    fputc('\n', stream);
}

static void print_labels(vem_i_run *run, FILE *stream, vem_i_labelling kind,
                         const vem_data *data, const int32_t *labels, int64_t n)
{
    fputs(vem_i_labelling_header(kind), stream);
    print_ids(stream, data, -1);
    for (int64_t i = 0; i < n; i++) {
        fprintf(stream, "%" PRId64 ",", i + 1);
        if (labels[i] >= 0) /* else a row that was left out */
            fprintf(stream, "%" PRId32, labels[i]);
        print_ids(stream, data, i);
        vem_i_residence_check(run);
    }
}

static vem_status check_rows(vem_i_run *run, const vem_data *data, int64_t n)
{
    if (n < 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%" PRId64 " rows are to be written, but no fewer than 0 can.",
                          n);
    if (!data || n == vem_data_rows_read(data))
        return VEM_OK;
    return vem_i_fail(run, VEM_BAD_OPTION,
                      "%" PRId64 " rows are to be written, but %" PRId64 " were read.", n,
                      vem_data_rows_read(data));
}

static vem_status write_labels(vem_i_run *run, const char *path, vem_i_labelling kind,
                               const vem_data *data, const int32_t *labels, int64_t n)
{
    const vem_i_array array = {"labels", VEM_INT32, labels, 1, {n}};
    vem_status status = check_rows(run, data, n);
    if (status != VEM_OK)
        return status;
    if (vem_i_path_ends(path, ".npy"))
        return write_array(run, path, "labels", &array, (int)kind, 0, NULL);
    if (!is_text(path))
        return bad_ending(run, path, "labels", ".npy, .csv or .csv.gz");
    vem_i_output *output;
    status = vem_i_output_open(run, path, &output);
    if (status != VEM_OK)
        return status;
    print_labels(run, vem_i_output_stream(output), kind, data, labels, n);
    return vem_i_output_commit(run, output);
}

vem_status vem_i_labels_write_ids(vem_i_run *run, const char *path, const int32_t *labels,
                                  int64_t n, const char *const *ids, const char *name)
{
    vem_i_output *output;
    if (!ids || !is_text(path))
        return write_labels(run, path, VEM_I_LABELS, NULL, labels, n);
    const vem_status status = vem_i_output_open(run, path, &output);
    if (status != VEM_OK)
        return status;
    FILE *stream = vem_i_output_stream(output);
    fputs(vem_i_labelling_header(VEM_I_LABELS), stream);
    print_id(stream, name, 0);
    fputc('\n', stream);
    for (int64_t i = 0; i < n; i++) {
        fprintf(stream, "%" PRId64 ",", i + 1);
        if (labels[i] >= 0)
            fprintf(stream, "%" PRId32, labels[i]);
        print_id(stream, ids[i], -1);
        fputc('\n', stream);
        vem_i_residence_check(run);
    }
    return vem_i_output_commit(run, output);
}

vem_status vem_i_labels_write(vem_i_run *run, const char *path, const vem_data *data,
                              const int32_t *labels, int64_t n)
{
    return write_labels(run, path, VEM_I_LABELS, data, labels, n);
}

vem_status vem_labels_write_rows(vem_ctx *ctx, const char *path, const vem_data *data,
                                 const int32_t *labels, int64_t n)
{
    VEM_I_NEED(ctx, ctx, path, labels);
    vem_i_verb verb;
    return vem_i_labels_write(vem_i_begin(ctx, &verb), path, data, labels, n);
}

vem_status vem_labels_write(vem_ctx *ctx, const char *path, const int32_t *labels,
                            int64_t n)
{
    VEM_I_NEED(ctx, ctx, path, labels);
    vem_i_verb verb;
    return write_labels(vem_i_begin(ctx, &verb), path, VEM_I_LABELS, NULL, labels, n);
}

vem_status vem_classes_write(vem_ctx *ctx, const char *path, const int32_t *classes,
                             int64_t n)
{
    VEM_I_NEED(ctx, ctx, path, classes);
    vem_i_verb verb;
    return write_labels(vem_i_begin(ctx, &verb), path, VEM_I_CLASSES, NULL, classes, n);
}

static vem_status write_rows(vem_i_run *run, const char *path, const vem_i_array *array,
                             int header, const char *const *names)
{
    const int64_t n = array->dims[0], d = array->dims[1];
    if (n < 0 || d < 1)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "An array of %" PRId64 " rows and %" PRId64
                          " columns cannot be written: at least 0 and 1 are needed.",
                          n, d);
    if ((int)array->type < VEM_FLOAT32 || array->type > VEM_BFLOAT16)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The type of the array is %d, which is none.",
                          (int)array->type);
    return write_array(run, path, "an array", array, 0, header, names);
}

vem_status vem_array_write(vem_ctx *ctx, const char *path, vem_dtype type,
                           const void *values, int64_t n, int32_t d)
{
    VEM_I_NEED(ctx, ctx, path, values);
    vem_i_verb verb;
    const vem_i_array array = {"rows", type, values, 2, {n, d}};
    return write_rows(vem_i_begin(ctx, &verb), path, &array, 0, NULL);
}

vem_status vem_array_write_named(vem_ctx *ctx, const char *path, vem_dtype type,
                                 const void *values, int64_t n, int32_t d,
                                 const char *const *names)
{
    VEM_I_NEED(ctx, ctx, path, values);
    vem_i_verb verb;
    const vem_i_array array = {"rows", type, values, 2, {n, d}};
    return write_rows(vem_i_begin(ctx, &verb), path, &array, 1, names);
}

/* `each`: what the number beside a cluster is called. */
static void print_soft(vem_i_run *run, FILE *stream, const vem_data *data,
                       const char *each, const int32_t *clusters,
                       const double *probabilities, int64_t n, int32_t top)
{
    fputs("row", stream);
    for (int32_t t = 0; t < top; t++)
        fprintf(stream, ",cluster_%" PRId32 ",%s_%" PRId32, t + 1, each, t + 1);
    print_ids(stream, data, -1);
    for (int64_t i = 0; i < n; i++) {
        fprintf(stream, "%" PRId64, i + 1);
        for (int32_t t = 0; t < top; t++) {
            if (clusters[i * top + t] < 0) {
                fputs(",,", stream);
                continue;
            }
            fprintf(stream, ",%" PRId32 ",", clusters[i * top + t]);
            print_number(stream, probabilities[i * top + t], 0);
        }
        print_ids(stream, data, i);
        vem_i_residence_check(run);
    }
}

/* `names`: of the numbers beside the clusters, all of them and each. */
static vem_status write_soft(vem_i_run *run, const char *path, const vem_data *data,
                             const char *const *names, const int32_t *clusters,
                             const double *probabilities, int64_t n, int32_t top)
{
    const vem_i_array arrays[2] = {{"clusters", VEM_INT32, clusters, 2, {n, top}},
                                   {names[0], VEM_FLOAT64, probabilities, 2, {n, top}}};
    vem_status status = check_rows(run, data, n);
    if (status == VEM_OK && top < 1)
        status = vem_i_fail(run, VEM_BAD_OPTION,
                            "%" PRId32 " clusters for each row are to be written, but at "
                            "least 1 is needed.",
                            top);
    if (status != VEM_OK)
        return status;
    if (vem_i_path_ends(path, ".npz"))
        return vem_i_npz_write(run, path, arrays, 2);
    if (!is_text(path))
        return bad_ending(run, path, "soft assignments", ".npz, .csv or .csv.gz");
    vem_i_output *output;
    status = vem_i_output_open(run, path, &output);
    if (status != VEM_OK)
        return status;
    const locale_t before = vem_i_plain_begin();
    print_soft(run, vem_i_output_stream(output), data, names[1], clusters, probabilities,
               n, top);
    vem_i_plain_end(before);
    return vem_i_output_commit(run, output);
}

static const char *const SOFT[] = {"probabilities", "probability"};

vem_status vem_soft_write_rows(vem_ctx *ctx, const char *path, const vem_data *data,
                               const int32_t *clusters, const double *probabilities,
                               int64_t n, int32_t top)
{
    VEM_I_NEED(ctx, ctx, path, clusters, probabilities);
    vem_i_verb verb;
    return write_soft(vem_i_begin(ctx, &verb), path, data, SOFT, clusters, probabilities,
                      n, top);
}

vem_status vem_soft_write(vem_ctx *ctx, const char *path, const int32_t *clusters,
                          const double *probabilities, int64_t n, int32_t top)
{
    VEM_I_NEED(ctx, ctx, path, clusters, probabilities);
    vem_i_verb verb;
    return write_soft(vem_i_begin(ctx, &verb), path, NULL, SOFT, clusters, probabilities,
                      n, top);
}

vem_status vem_spill_write_rows(vem_ctx *ctx, const char *path, const vem_data *data,
                                const int32_t *clusters, const double *squares, int64_t n)
{
    static const char *const names[] = {"squares", "square"};
    VEM_I_NEED(ctx, ctx, path, clusters, squares);
    vem_i_verb verb;
    return write_soft(vem_i_begin(ctx, &verb), path, data, names, clusters, squares, n,
                      2);
}

vem_status vem_text_write(vem_ctx *ctx, const char *path, const char *text, size_t length)
{
    VEM_I_NEED(ctx, ctx, path, text);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_i_output *output;
    vem_status status = vem_i_output_open(run, path, &output);
    if (status != VEM_OK)
        return status;
    fwrite(text, 1, length, vem_i_output_stream(output));
    return vem_i_output_commit(run, output);
}
