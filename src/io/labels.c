/* Labels in, and the small files that results go to: labels, soft assignments, arrays,
 * text. */
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/plain.h"

static const char HEADER[] = "row,label";

/* Integers are read as they are, since a double holds only 53 bits of an int64. */
static int64_t integer_at(const vem_data *data, int64_t row)
{
    const char *at = data->base + row * data->row_stride;
    const size_t width = vem_i_dtype_bytes(data->type);
    if (width == 1)
        return data->type == VEM_INT8 ? *(const int8_t *)at : *(const uint8_t *)at;
    if (width == 2) {
        uint16_t word;
        memcpy(&word, at, sizeof word);
        word = data->swapped ? __builtin_bswap16(word) : word;
        return data->type == VEM_INT16 ? (int16_t)word : word;
    }
    if (width == 4) {
        uint32_t word;
        memcpy(&word, at, sizeof word);
        word = data->swapped ? __builtin_bswap32(word) : word;
        return data->type == VEM_INT32 ? (int32_t)word : (int64_t)word;
    }
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return (int64_t)(data->swapped ? __builtin_bswap64(word) : word);
}

/* `ours`: a table that vem_labels_write wrote. */
static vem_status fill_labels(vem_ctx *ctx, const char *path, const vem_data *data,
                              int ours, int64_t *labels)
{
    const int exact = data->type != VEM_FLOAT32 && data->type != VEM_FLOAT64 &&
                      data->type != VEM_FLOAT16;
    for (int64_t i = 0; i < data->n; i++) {
        if (exact) {
            labels[i] = integer_at(data, i);
            continue;
        }
        double value;
        vem_i_data_load(data, i, 1, VEM_DOUBLE, &value, 1);
        if (isnan(value) && ours) {
            labels[i] = -1; /* of a row that was left out */
            continue;
        }
        if (!(fabs(value) <= 0x1p53) || value != floor(value))
            return vem_i_fail(ctx, VEM_BAD_DATA,
                              "%s, row %" PRId64
                              ": %g is no label; labels are whole numbers.",
                              path, i + 1, value);
        labels[i] = (int64_t)value;
    }
    return VEM_OK;
}

/* The first bytes of a file, compressed or not, as text; empty where there are none. */
static void read_head(const char *path, char *text, size_t capacity)
{
    gzFile file = strcmp(path, "-") == 0 ? NULL : gzopen(path, "rb");
    const int length = file ? gzread(file, text, (unsigned)capacity - 1) : 0;
    text[length > 0 ? length : 0] = '\0';
    if (file)
        gzclose(file);
}

/* The first line of our own tables of labels; columns of ids may follow. */
static int has_our_header(const char *text)
{
    const size_t length = strlen(HEADER);
    return strncmp(text, HEADER, length) == 0 && strchr(",\r\n", text[length]);
}

int vem_file_is_labels(const char *path)
{
    char head[256];
    if (!path)
        return 0;
    read_head(path, head, sizeof head);
    if (!vem_i_path_ends(path, ".npy"))
        return has_our_header(head);
    /* Bytes may lie behind the header that are not in `head`, so their number is not asked
     * for: only what the header says of them. */
    const char *text =
        head[0] == '\x93' && strncmp(head + 1, "NUMPY", 5) == 0 ? head + 10 : NULL;
    return text && strstr(text, "'descr': '<i4'") && strstr(text, ",), }");
}

vem_status vem_labels_read(vem_ctx *ctx, const char *path, int64_t **labels, int64_t *n)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, path, "path");
    VEM_I_NEED(ctx, labels, "labels");
    VEM_I_NEED(ctx, n, "n");
    vem_i_begin(ctx);
    vem_data *data;
    char head[64];
    read_head(path, head, sizeof head);
    const int ours = has_our_header(head);
    const vem_read_options wanted = {.size = sizeof wanted,
                                     .columns = ours ? "2" : NULL,
                                     .missing = VEM_MISSING_KEEP};
    vem_status status = vem_i_data_read(ctx, path, &wanted, &data);
    if (status != VEM_OK)
        return status;
    int64_t *made = NULL;
    if (data->d != 1)
        status = vem_i_fail(ctx, VEM_BAD_DATA,
                            "%s has %" PRId32 " columns, but labels have exactly 1.",
                            path, data->d);
    if (status == VEM_OK) {
        made = malloc((size_t)data->n * sizeof *made);
        status = made ? fill_labels(ctx, path, data, ours, made)
                      : vem_i_fail_memory(ctx, (size_t)data->n * sizeof *made);
    }
    if (status == VEM_OK) {
        *labels = made;
        *n = data->n;
    } else {
        free(made);
    }
    vem_data_free(data);
    return status;
}

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
    }
}

static void print_rows(vem_ctx *ctx, FILE *stream, vem_dtype type, const char *values,
                       int64_t n, int32_t d)
{
    const size_t width = vem_i_dtype_bytes(type);
    for (int64_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < d; j++, values += width) {
            print_value(stream, type, values);
            fputc(j + 1 < d ? ',' : '\n', stream);
        }
        vem_i_residence_check(ctx);
    }
}

enum { PIECE = 1 << 20 }; /* bytes written at a time */

static void save_npy(vem_ctx *ctx, FILE *stream, const vem_i_array *array)
{
    char header[256];
    size_t count = 1;
    for (int i = 0; i < array->rank; i++)
        count *= (size_t)array->dims[i];
    const size_t length = vem_i_npy_header(array->type, array->rank, array->dims, header);
    fwrite(header, 1, length, stream);
    const char *values = array->values;
    for (size_t left = count * vem_i_dtype_bytes(array->type), piece; left > 0;
         left -= piece) {
        piece = left < PIECE ? left : PIECE;
        fwrite(values, 1, piece, stream);
        values += piece;
        vem_i_residence_check(ctx);
    }
}

static vem_status bad_ending(vem_ctx *ctx, const char *path, const char *what,
                             const char *endings)
{
    return vem_i_fail(ctx, VEM_BAD_OPTION, "%s is no name for %s: the ending must be %s.",
                      path, what, endings);
}

static int is_text(const char *path)
{
    return vem_i_path_ends(path, ".csv") || vem_i_path_ends(path, ".txt") ||
           vem_i_path_ends(path, ".csv.gz") || strncmp(path, "/dev/", 5) == 0;
}

/* An array to .npy or, row by row, to .csv. */
static vem_status write_array(vem_ctx *ctx, const char *path, const char *what,
                              const vem_i_array *array)
{
    const int npy = vem_i_path_ends(path, ".npy");
    if (!npy && !is_text(path))
        return bad_ending(ctx, path, what, ".npy, .csv or .csv.gz");
    vem_i_output *output;
    vem_status status = vem_i_output_open(ctx, path, &output);
    if (status != VEM_OK)
        return status;
    const locale_t before = vem_i_plain_begin();
    if (npy)
        save_npy(ctx, vem_i_output_stream(output), array);
    else
        print_rows(ctx, vem_i_output_stream(output), array->type, array->values,
                   array->dims[0], array->rank == 2 ? (int32_t)array->dims[1] : 1);
    vem_i_plain_end(before);
    return vem_i_output_commit(ctx, output); /* notices what fwrite could not do */
}

/* A field of a table, in quotes where it needs them. */
static void print_field(FILE *stream, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
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

/* The ids of a row, or (row -1) their names, to the end of the line. */
static void print_ids(FILE *stream, const vem_data *data, int64_t row)
{
    for (int32_t k = 0; data && k < vem_data_ids(data); k++) {
        const char *text =
            row < 0 ? vem_data_id_name(data, k) : vem_data_id(data, k, row);
        fputc(',', stream);
        if (text)
            print_field(stream, text);
        else if (row < 0)
            fprintf(stream, "id_%" PRId32, k + 1);
    }
    fputc('\n', stream);
}

static void print_labels(vem_ctx *ctx, FILE *stream, const vem_data *data,
                         const int32_t *labels, int64_t n)
{
    fputs(HEADER, stream);
    print_ids(stream, data, -1);
    for (int64_t i = 0; i < n; i++) {
        fprintf(stream, "%" PRId64 ",", i + 1);
        if (labels[i] >= 0) /* else a row that was left out */
            fprintf(stream, "%" PRId32, labels[i]);
        print_ids(stream, data, i);
        vem_i_residence_check(ctx);
    }
}

static vem_status check_rows(vem_ctx *ctx, const vem_data *data, int64_t n)
{
    if (!data || n == vem_data_rows_read(data))
        return VEM_OK;
    return vem_i_fail(ctx, VEM_BAD_OPTION,
                      "%" PRId64 " rows are to be written, but %" PRId64 " were read.", n,
                      vem_data_rows_read(data));
}

vem_status vem_labels_write_rows(vem_ctx *ctx, const char *path, const vem_data *data,
                                 const int32_t *labels, int64_t n)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, path, "path");
    VEM_I_NEED(ctx, labels, "labels");
    const vem_i_array array = {"labels", VEM_INT32, labels, 1, {n}};
    vem_i_begin(ctx);
    vem_status status = check_rows(ctx, data, n);
    if (status != VEM_OK)
        return status;
    if (vem_i_path_ends(path, ".npy"))
        return write_array(ctx, path, "labels", &array);
    if (!is_text(path))
        return bad_ending(ctx, path, "labels", ".npy, .csv or .csv.gz");
    vem_i_output *output;
    status = vem_i_output_open(ctx, path, &output);
    if (status != VEM_OK)
        return status;
    print_labels(ctx, vem_i_output_stream(output), data, labels, n);
    return vem_i_output_commit(ctx, output);
}

vem_status vem_labels_write(vem_ctx *ctx, const char *path, const int32_t *labels,
                            int64_t n)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, path, "path");
    VEM_I_NEED(ctx, labels, "labels");
    return vem_labels_write_rows(ctx, path, NULL, labels, n);
}

vem_status vem_array_write(vem_ctx *ctx, const char *path, vem_dtype type,
                           const void *values, int64_t n, int32_t d)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, path, "path");
    VEM_I_NEED(ctx, values, "values");
    const vem_i_array array = {"rows", type, values, 2, {n, d}};
    vem_i_begin(ctx);
    return write_array(ctx, path, "an array", &array);
}

static void print_soft(vem_ctx *ctx, FILE *stream, const vem_data *data,
                       const int32_t *clusters, const double *probabilities, int64_t n,
                       int32_t top)
{
    fputs("row", stream);
    for (int32_t t = 0; t < top; t++)
        fprintf(stream, ",cluster_%" PRId32 ",probability_%" PRId32, t + 1, t + 1);
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
        vem_i_residence_check(ctx);
    }
}

vem_status vem_soft_write_rows(vem_ctx *ctx, const char *path, const vem_data *data,
                               const int32_t *clusters, const double *probabilities,
                               int64_t n, int32_t top)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, path, "path");
    VEM_I_NEED(ctx, clusters, "clusters");
    VEM_I_NEED(ctx, probabilities, "probabilities");
    vem_i_begin(ctx);
    const vem_i_array arrays[2] = {
        {"clusters", VEM_INT32, clusters, 2, {n, top}},
        {"probabilities", VEM_FLOAT64, probabilities, 2, {n, top}}};
    vem_status status = check_rows(ctx, data, n);
    if (status != VEM_OK)
        return status;
    if (vem_i_path_ends(path, ".npz"))
        return vem_i_npz_write(ctx, path, arrays, 2);
    if (!is_text(path))
        return bad_ending(ctx, path, "soft assignments", ".npz, .csv or .csv.gz");
    vem_i_output *output;
    status = vem_i_output_open(ctx, path, &output);
    if (status != VEM_OK)
        return status;
    const locale_t before = vem_i_plain_begin();
    print_soft(ctx, vem_i_output_stream(output), data, clusters, probabilities, n, top);
    vem_i_plain_end(before);
    return vem_i_output_commit(ctx, output);
}

vem_status vem_soft_write(vem_ctx *ctx, const char *path, const int32_t *clusters,
                          const double *probabilities, int64_t n, int32_t top)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, path, "path");
    VEM_I_NEED(ctx, clusters, "clusters");
    VEM_I_NEED(ctx, probabilities, "probabilities");
    return vem_soft_write_rows(ctx, path, NULL, clusters, probabilities, n, top);
}

vem_status vem_text_write(vem_ctx *ctx, const char *path, const char *text, size_t length)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, path, "path");
    VEM_I_NEED(ctx, text, "text");
    vem_i_begin(ctx);
    vem_i_output *output;
    vem_status status = vem_i_output_open(ctx, path, &output);
    if (status != VEM_OK)
        return status;
    fwrite(text, 1, length, vem_i_output_stream(output));
    return vem_i_output_commit(ctx, output);
}
