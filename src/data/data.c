#include "data/data.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"

vem_status vem_i_data_new(vem_i_run *run, vem_data **data)
{
    return vem_i_take_structs(run, data, 1, sizeof **data);
}

void vem_i_data_rest(const vem_data *data)
{
    vem_i_mapping_rest(data->mapping);
    for (int32_t p = 0; data->pieces && p < data->part_count; p++)
        vem_i_data_rest(data->pieces[p]);
}

vem_status vem_i_data_weigh(vem_i_run *run, vem_data *data, const char *source,
                            const double *weights, int64_t n)
{
    if (n != data->n)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s has %" PRId64 " weights, but the data have %" PRId64
                          " rows.",
                          source, n, data->n);
    for (int64_t i = 0; i < n; i++)
        if (!(weights[i] >= 0) || isinf(weights[i]))
            return vem_i_fail(run, VEM_BAD_DATA,
                              "%s, row %" PRId64
                              ": the weight is %g, but it must be finite and 0 or more.",
                              source, i + 1, weights[i]);
    const double sum = vem_i_sum(weights, n);
    if (!(sum > 0) || isinf(sum))
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "%s: the weights sum to %g, but the sum must be positive and finite.", source,
            sum);
    double *copy;
    vem_status status = vem_i_take(run, &copy, (size_t)n, sizeof *copy);
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0; i < n; i++)
        copy[i] = weights[i];
    vem_i_free(data->weights);
    data->weights = copy;
    return VEM_OK;
}

vem_status vem_data_set_weights(vem_ctx *ctx, vem_data *data, const double *weights,
                                int64_t n)
{
    VEM_I_NEED(ctx, ctx, data);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    if (weights)
        return vem_i_data_weigh(run, data, "The array of weights", weights, n);
    vem_i_free(data->weights);
    data->weights = NULL;
    return VEM_OK;
}

static uint64_t magnitude(int64_t stride)
{
    return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

/* Whole rows behind each other, or whole columns: so no value is part of two. The products have
 * been checked, but for (n - 1) rows beside a column, which is no larger. */
static int lies_apart(int64_t n, int64_t row_stride, int32_t d, int64_t column_stride,
                      int64_t bytes)
{
    const uint64_t row = magnitude(row_stride), column = magnitude(column_stride);
    const uint64_t size = (uint64_t)bytes;
    const int rows = n == 1 || row >= ((uint64_t)d - 1) * column + size;
    const int columns = d == 1 || column >= ((uint64_t)n - 1) * row + size;
    /* A single row or column says nothing of how its own values lie. */
    return (rows && (d == 1 || column >= size)) || (columns && (n == 1 || row >= size));
}

vem_status vem_i_sizes_check(vem_i_run *run, vem_dtype type, int64_t n, int32_t d)
{
    if ((int)type < VEM_FLOAT32 || type > VEM_BFLOAT16)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The type of the values is %d, but it must lie between 0 and %d.", (int)type,
            (int)VEM_BFLOAT16);
    if (n < 1 || d < 1)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The data have %" PRId64 " rows and %" PRId32
                          " columns, but at least 1 of each is needed.",
                          n, d);
    if (n > INT64_MAX / d)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%" PRId64 " rows of %" PRId32
                          " columns do not fit into memory.",
                          n, d);
    return VEM_OK;
}

vem_status vem_data_borrow(vem_ctx *ctx, vem_dtype type, const void *values, int64_t n,
                           int32_t d, int64_t row_stride, int64_t column_stride,
                           vem_data **data)
{
    VEM_I_NEED(ctx, ctx, values, data);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    vem_status status = vem_i_sizes_check(run, type, n, d);
    if (status != VEM_OK)
        return status;
    const int64_t bytes = (int64_t)vem_i_dtype_bytes(type);
    if (column_stride == 0)
        column_stride = bytes;
    int64_t extent;
    int overflow = __builtin_mul_overflow(column_stride, (int64_t)d, &extent);
    if (row_stride == 0)
        row_stride = extent;
    overflow |= __builtin_mul_overflow(row_stride, n, &extent);
    if (overflow)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%" PRId64 " rows, %" PRId64 " bytes apart, of %" PRId32
                          " columns, %" PRId64 " bytes apart, do not fit into memory.",
                          n, row_stride, d, column_stride);

    if (!lies_apart(n, row_stride, d, column_stride, bytes))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "Rows %" PRId64 " bytes apart of %" PRId32 " columns %" PRId64
                          " bytes apart overlap: a value of this type takes %" PRId64
                          " bytes.",
                          row_stride, d, column_stride, bytes);

    vem_data *made;
    status = vem_i_data_new(run, &made);
    if (status != VEM_OK)
        return status;
    ctx->message[0] = '\0';
    made->type = type;
    made->n = n;
    made->d = d;
    made->base = values;
    made->row_stride = row_stride;
    made->column_stride = column_stride;
    made->format = "memory";
    *data = made;
    return VEM_OK;
}

void vem_i_ids_free(vem_i_ids *ids)
{
    if (!ids)
        return;
    if (!ids->spill)
        vem_i_free(ids->places);
    vem_i_mapping_free(ids->spill);
    vem_i_free(ids->names);
    vem_i_free(ids);
}

void vem_i_data_release(vem_data *data)
{
    vem_i_ids_free(data->ids);
    if (!data->kept_spill)
        vem_i_free(data->kept);
    vem_i_mapping_free(data->kept_spill);
    vem_i_free(data->means);
    vem_i_free(data->advice);
    vem_i_mapping_free(data->mapping);
    vem_i_free(data->owned);
    vem_i_free((void *)(uintptr_t)data->sparse.starts);
    vem_i_free((void *)(uintptr_t)data->sparse.columns);
    vem_i_free((void *)(uintptr_t)data->sparse.bytes);
    vem_i_free((void *)(uintptr_t)data->sparse.values);
    vem_i_free((void *)(uintptr_t)data->sparse.wide);
    vem_i_free(data->columns);
    vem_i_free(data->numbers);
    vem_i_free(data->weights);
    vem_i_free(data->indices);
    vem_i_free(data->names);
    vem_i_free(data->id_names);
    vem_i_free(data->picked);
    vem_i_free(data->picked_id);
    vem_i_pieces_free(data);
    for (int32_t p = 0; p < data->part_count; p++)
        vem_i_free(data->parts[p].name);
    vem_i_free(data->parts);
}

void vem_data_free(vem_data *data)
{
    if (!data)
        return;
    vem_i_data_release(data);
    vem_i_free(data);
}

int64_t vem_data_rows(const vem_data *data)
{
    return data ? data->n : 0;
}

int32_t vem_i_data_column_number(const vem_data *data, int32_t column)
{
    if (data->numbers)
        return data->numbers[column];
    return (data->columns ? data->columns[column] : column) + 1;
}

int64_t vem_i_data_row_number(const vem_data *data, int64_t row)
{
    if (data->indices)
        return data->indices[row];
    return data->kept ? data->kept[row] : row;
}

void vem_i_data_place(const vem_data *data, int64_t number, int32_t column, char *text,
                      size_t size)
{
    const char *name = vem_data_column_name(data, column);
    const int named = name && *name;
    char shown[VEM_I_SHOWN];
    const vem_i_part *part = NULL;
    for (int32_t p = 0; p < data->part_count && data->parts[p].first <= number; p++)
        part = &data->parts[p];
    snprintf(text, size, "%.200s%sow %" PRId64 ", column %" PRId32 "%s%s%s",
             part ? part->name : "", part ? ", r" : "R",
             number + 1 - (part ? part->first : 0),
             vem_i_data_column_number(data, column), named ? " (" : "",
             named ? vem_i_names_shown(name, strlen(name), shown) : "", named ? ")" : "");
}

vem_i_names vem_i_data_table(const vem_data *data)
{
    return (vem_i_names){.owner = "the first file",
                         .count = data->d,
                         .columns = data->names,
                         .id_count = data->id_name_count,
                         .ids = data->id_names,
                         .picked = data->picked,
                         .picked_id = data->picked_id,
                         .means = data->means};
}

void vem_i_data_take_table(vem_data *data, vem_i_names *table)
{
    vem_i_free(data->names);
    vem_i_free(data->id_names);
    vem_i_free(data->picked);
    vem_i_free(data->picked_id);
    vem_i_free(data->means);
    data->names = table->columns;
    data->id_names = table->ids;
    data->id_name_count = table->id_count;
    data->picked = table->picked;
    data->picked_id = table->picked_id;
    data->means = table->means;
    *table = (vem_i_names){0};
}

int32_t vem_data_columns(const vem_data *data)
{
    return data ? data->d : 0;
}

vem_dtype vem_data_dtype(const vem_data *data)
{
    return data ? data->type : (vem_dtype)0;
}

const double *vem_data_weights(const vem_data *data)
{
    return data ? data->weights : NULL;
}

const int64_t *vem_data_indices(const vem_data *data)
{
    return data ? data->indices : NULL;
}

int64_t vem_data_rows_read(const vem_data *data)
{
    return !data ? 0 : data->kept ? data->rows_read : data->n;
}

int64_t vem_data_row(const vem_data *data, int64_t i)
{
    return data && data->kept && i >= 0 && i < data->n ? data->kept[i] : i;
}

/* From the last to the first, because no row moves forward. */
vem_status vem_data_spread(vem_ctx *ctx, const vem_data *data, void *results,
                           size_t bytes, const void *absent)
{
    VEM_I_NEED(ctx, ctx, data, results, absent);
    char *all = results;
    if (!data->kept)
        return VEM_OK;
    for (int64_t to = data->rows_read, i = data->n; to-- > 0;) {
        const int stays = i > 0 && data->kept[i - 1] == to;
        i -= stays;
        if (!stays)
            memcpy(all + (size_t)to * bytes, absent, bytes);
        else if (i != to)
            memcpy(all + (size_t)to * bytes, all + (size_t)i * bytes, bytes);
    }
    return VEM_OK;
}

int64_t vem_data_missing(const vem_data *data)
{
    return data ? data->missing : 0;
}

const double *vem_data_means(const vem_data *data)
{
    return data ? data->means : NULL;
}

vem_header vem_data_header(const vem_data *data)
{
    return data ? data->header : (vem_header)0;
}

char vem_data_decimal(const vem_data *data)
{
    return data ? data->decimal : 0;
}

vem_header vem_data_part_header(const vem_data *data, int32_t part)
{
    if (!data || part < 0 || part >= data->part_count)
        return data && part == 0 ? data->header : VEM_HEADER_AUTO;
    return data->parts[part].header;
}

char vem_data_part_decimal(const vem_data *data, int32_t part)
{
    if (!data || part < 0 || part >= data->part_count)
        return data && part == 0 ? data->decimal : '\0';
    return data->parts[part].decimal;
}

int32_t vem_data_ids(const vem_data *data)
{
    return data && data->ids ? data->ids->count : 0;
}

const char *vem_data_id_name(const vem_data *data, int32_t id)
{
    const vem_i_ids *ids = data ? data->ids : NULL;
    return ids && ids->names && id >= 0 && id < ids->count ? ids->names[id] : NULL;
}

const char *vem_data_id(const vem_data *data, int32_t id, int64_t row)
{
    const vem_i_ids *ids = data ? data->ids : NULL;
    if (!ids || id < 0 || id >= ids->count || row < 0 || row >= vem_data_rows_read(data))
        return NULL;
    return ids->text + ids->places[row * ids->count + id];
}

const char *vem_data_column_name(const vem_data *data, int32_t column)
{
    return data && data->names && column >= 0 && column < data->d ? data->names[column]
                                                                  : NULL;
}

const char *vem_data_column_advice(const vem_data *data, int32_t column)
{
    return data && data->advice && column >= 0 && column < data->d ? data->advice[column]
                                                                   : NULL;
}

const char *vem_data_format(const vem_data *data)
{
    return data ? data->format : NULL;
}

vem_status vem_data_get(vem_ctx *ctx, const vem_data *data, int64_t first, int64_t count,
                        double *rows)
{
    VEM_I_NEED(ctx, ctx, data, rows);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    if (first < 0 || count < 0 || first > data->n || count > data->n - first)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%" PRId64 " rows after the first %" PRId64
                          " were asked for, but the data have %" PRId64 " rows.",
                          count, first, data->n);
    vem_i_data_load(data, first, count, VEM_DOUBLE, rows, data->d);
    vem_i_residence_check(run);
    return VEM_OK;
}
