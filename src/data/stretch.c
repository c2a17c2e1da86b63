#include "data/stretch.h"

#include "data/unit.h"

enum {
    BLOCK_VALUES = 1 << 13,
    WIDE = 64,       /* columns of a wide row, at least */
    WIDE_FROM = 512, /* from here on the last, partial vector is nothing */
    VECTOR = 16,     /* columns in a vector of any width and type */
};

int64_t vem_i_block_rows(int32_t d)
{
    const int64_t rows = BLOCK_VALUES / d;
    return rows < 1 ? 1 : rows < 4 ? rows : rows / 4 * 4;
}

int32_t vem_i_group_rows(int32_t d)
{
    int32_t group = 1;
    while (d < WIDE_FROM && (group * d < WIDE || group * d % VECTOR != 0))
        group++;
    return group;
}

int vem_i_lies_well(const vem_data *data)
{
    const int64_t bytes = (int64_t)vem_i_dtype_bytes(data->type);
    return !data->sparse.starts && !data->pieces &&
           (data->type == VEM_FLOAT32 || data->type == VEM_FLOAT64) && !data->swapped &&
           !data->columns && (data->column_stride == bytes || data->d == 1) &&
           data->row_stride % bytes == 0 && (uintptr_t)data->base % (uintptr_t)bytes == 0;
}

const uint8_t *vem_i_bytes_at(const vem_data *data, int normalize, int64_t first)
{
    if (normalize || data->pieces || data->type != VEM_UINT8 || data->columns ||
        (data->column_stride != 1 && data->d > 1))
        return NULL;
    return (const uint8_t *)data->base + first * data->row_stride;
}

vem_i_stretch vem_i_stretch_at(const vem_i_run *run, const vem_data *data, int normalize,
                               int64_t first, int64_t count, void *scratch)
{
    if (!normalize && vem_i_lies_well(data))
        return (vem_i_stretch){.kernels = data->type == VEM_FLOAT32
                                              ? run->ctx->kernels_single
                                              : run->ctx->kernels_double,
                               .x = data->base + first * data->row_stride,
                               .ld = data->row_stride /
                                     (int64_t)vem_i_dtype_bytes(data->type)};
    if (!normalize && data->pieces &&
        (data->type == VEM_FLOAT32 || data->type == VEM_FLOAT64))
        return (vem_i_stretch){.kernels = data->type == VEM_FLOAT32
                                              ? run->ctx->kernels_single
                                              : run->ctx->kernels_double,
                               .x = vem_i_pieces_rows(data, first, count, scratch),
                               .ld = data->d};
    const vem_precision to =
        data->type == VEM_UINT8 && !normalize ? VEM_SINGLE : VEM_DOUBLE; /* exact */
    vem_i_data_load(data, first, count, to, scratch, data->d);
    for (int64_t i = 0; normalize && i < count; i++)
        vem_i_row_to_length(normalize, (double *)scratch + i * data->d, data->d);
    return (vem_i_stretch){.kernels = to == VEM_SINGLE ? run->ctx->kernels_single
                                                       : run->ctx->kernels_double,
                           .x = scratch,
                           .ld = data->d};
}
