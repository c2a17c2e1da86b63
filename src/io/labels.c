/* Labels out of a file, and whether it is one of ours. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/io.h"

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

/* `ours`: a table that we wrote, in which rows left out have no label. */
static vem_status fill_labels(vem_i_run *run, const char *path, const vem_data *data,
                              int ours, int64_t *labels)
{
    const int exact = data->type != VEM_FLOAT32 && data->type != VEM_FLOAT64 &&
                      data->type != VEM_FLOAT16 && data->type != VEM_BFLOAT16;
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
            return vem_i_fail(run, VEM_BAD_DATA,
                              "%s, row %" PRId64
                              ": %g is no label; labels are whole numbers.",
                              path, i + 1, value);
        labels[i] = (int64_t)value;
    }
    return VEM_OK;
}

const char *vem_i_labelling_header(vem_i_labelling kind)
{
    return kind == VEM_I_CLASSES ? "row,class" : "row,label";
}

/* By the first line of a table; columns of ids may follow. */
static vem_i_labelling table_kind(const char *text, size_t size)
{
    for (int kind = VEM_I_LABELS; kind <= VEM_I_CLASSES; kind++) {
        const char *header = vem_i_labelling_header((vem_i_labelling)kind);
        const size_t length = strlen(header);
        if (size > length && memcmp(text, header, length) == 0 &&
            (text[length] == ',' || text[length] == '\r' || text[length] == '\n'))
            return (vem_i_labelling)kind;
    }
    return VEM_I_NOT_OURS;
}

/* By the header of an .npy: is it, byte by byte, one that we write? */
static vem_i_labelling npy_kind(const char *head, size_t size)
{
    static const char mark[] = "'shape': (";
    char ours[256];
    int64_t dims[4] = {0};
    const char *at = size > 64 ? memmem(head, size, mark, sizeof mark - 1) : NULL;
    if (!at || sscanf(at + sizeof mark - 1, "%20" SCNd64, dims) != 1)
        return VEM_I_NOT_OURS;
    for (int kind = VEM_I_LABELS; kind <= VEM_I_CLASSES; kind++) {
        const size_t length = vem_i_npy_header(VEM_INT32, 1, dims, kind, ours);
        if (size >= length && memcmp(head, ours, length) == 0)
            return (vem_i_labelling)kind;
    }
    return VEM_I_NOT_OURS;
}

static vem_i_labelling kind_of_file(const char *path)
{
    char head[257];
    gzFile file = path ? gzopen(path, "rb") : NULL; /* plain files, too */
    const int length = file ? gzread(file, head, sizeof head - 1) : 0;
    const size_t size = length > 0 ? (size_t)length : 0;
    if (file)
        gzclose(file);
    head[size] = '\0';
    return path && vem_i_path_ends(path, ".npy") ? npy_kind(head, size)
                                                 : table_kind(head, size);
}

int vem_file_is_labels(const char *path)
{
    return kind_of_file(path) == VEM_I_LABELS;
}

int vem_file_is_classes(const char *path)
{
    return kind_of_file(path) == VEM_I_CLASSES;
}

/* One column of numbers, or the second of a table of ours. */
static vem_status read_column(vem_i_run *run, const char *path, vem_data **data,
                              int *ours)
{
    vem_i_file file;
    char separator;
    int is_text;
    vem_read_options wanted = {.size = sizeof wanted, .missing = VEM_MISSING_KEEP};
    *ours = 0;
    vem_status status = vem_i_text_open(run, path, &file, &separator, &is_text);
    if (status != VEM_OK)
        return status;
    if (!is_text)
        return vem_i_data_read(run, path, &wanted, data);
    *ours = table_kind(file.bytes, file.size) != VEM_I_NOT_OURS;
    wanted.columns = *ours ? "2" : NULL;
    vem_data *made;
    status = vem_i_data_new(run, &made);
    if (status == VEM_OK) {
        status =
            vem_i_csv_parse(run, path, file.bytes, file.size, separator, &wanted, made);
        if (status == VEM_OK)
            *data = made;
        else
            vem_data_free(made);
    }
    vem_i_file_close(&file);
    return status;
}

vem_status vem_i_labels_read(vem_i_run *run, const char *path, int64_t **labels,
                             int64_t *n)
{
    vem_data *data;
    int ours;
    vem_status status = read_column(run, path, &data, &ours);
    if (status != VEM_OK)
        return status;
    int64_t *made = NULL;
    if (data->d != 1)
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s has %" PRId32 " columns, but labels have exactly 1.",
                            path, data->d);
    if (status == VEM_OK) {
        made = malloc((size_t)data->n * sizeof *made);
        status = made ? fill_labels(run, path, data, ours, made)
                      : vem_i_fail_memory(run, (size_t)data->n * sizeof *made);
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

vem_status vem_labels_read(vem_ctx *ctx, const char *path, int64_t **labels, int64_t *n)
{
    VEM_I_NEED(ctx, ctx, path, labels, n);
    return vem_i_labels_read(vem_i_begin(ctx, &(vem_i_verb){0}), path, labels, n);
}
