#include "data/data.h"
#include "kernels/kernels.h"

#include <string.h>

/* Files and callers give no promise of alignment. */
typedef float loose_f4 __attribute__((aligned(1), may_alias));
typedef double loose_f8 __attribute__((aligned(1), may_alias));
typedef int32_t loose_i4 __attribute__((aligned(1), may_alias));
typedef int64_t loose_i8 __attribute__((aligned(1), may_alias));
typedef uint8_t loose_u1;
typedef int8_t loose_i1;
typedef int16_t loose_i2 __attribute__((aligned(1), may_alias));
typedef uint16_t loose_u2 __attribute__((aligned(1), may_alias));
typedef uint32_t loose_u4 __attribute__((aligned(1), may_alias));

typedef void (*convert_fn)(const char *in, int64_t n, void *out);

#define CONVERT(name, from, to)                                                          \
    static void name(const char *in, int64_t n, void *out)                               \
    {                                                                                    \
        for (int64_t j = 0; j < n; j++)                                                  \
            ((to *)out)[j] = (to)((const from *)(const void *)in)[j];                    \
    }

CONVERT(f4_single, loose_f4, float)
CONVERT(f8_single, loose_f8, float)
CONVERT(u1_single, loose_u1, float)
CONVERT(i4_single, loose_i4, float)
CONVERT(i8_single, loose_i8, float)
CONVERT(i1_single, loose_i1, float)
CONVERT(i2_single, loose_i2, float)
CONVERT(u2_single, loose_u2, float)
CONVERT(u4_single, loose_u4, float)
CONVERT(f4_double, loose_f4, double)
CONVERT(f8_double, loose_f8, double)
CONVERT(u1_double, loose_u1, double)
CONVERT(i4_double, loose_i4, double)
CONVERT(i8_double, loose_i8, double)
CONVERT(i1_double, loose_i1, double)
CONVERT(i2_double, loose_i2, double)
CONVERT(u2_double, loose_u2, double)
CONVERT(u4_double, loose_u4, double)

static void f2_single(const char *in, int64_t n, void *out)
{
    for (int64_t j = 0; j < n; j++)
        ((float *)out)[j] = vem_i_half(((const loose_u2 *)(const void *)in)[j]);
}

static void f2_double(const char *in, int64_t n, void *out)
{
    for (int64_t j = 0; j < n; j++)
        ((double *)out)[j] = vem_i_half(((const loose_u2 *)(const void *)in)[j]);
}

static void bf_single(const char *in, int64_t n, void *out)
{
    for (int64_t j = 0; j < n; j++)
        ((float *)out)[j] = vem_i_bfloat(((const loose_u2 *)(const void *)in)[j]);
}

static void bf_double(const char *in, int64_t n, void *out)
{
    for (int64_t j = 0; j < n; j++)
        ((double *)out)[j] = vem_i_bfloat(((const loose_u2 *)(const void *)in)[j]);
}

/* Indexed by vem_precision, then vem_dtype. */
static const convert_fn converters[2][11] = {
    {f4_single, f8_single, u1_single, i4_single, i8_single, f2_single, i1_single,
     i2_single, u2_single, u4_single, bf_single},
    {f4_double, f8_double, u1_double, i4_double, i8_double, f2_double, i1_double,
     i2_double, u2_double, u4_double, bf_double},
};

size_t vem_i_dtype_bytes(vem_dtype type)
{
    static const size_t bytes[] = {4, 8, 1, 4, 8, 2, 1, 2, 2, 4, 2};
    return bytes[type];
}

int vem_i_dtype_is_single(vem_dtype type)
{
    return type == VEM_FLOAT32 || type == VEM_FLOAT16 || type == VEM_UINT8 ||
           type == VEM_INT8 || type == VEM_BFLOAT16;
}

/* `count` values `stride` bytes apart, side by side and in this machine's byte order. */
static void gather(const char *in, int64_t stride, int64_t count, size_t bytes,
                   int swapped, char *out)
{
    for (int64_t i = 0; i < count; i++, in += stride, out += bytes) {
        if (bytes == 1) {
            *out = *in;
        } else if (bytes == 2) {
            uint16_t word;
            memcpy(&word, in, 2);
            word = swapped ? __builtin_bswap16(word) : word;
            memcpy(out, &word, 2);
        } else if (bytes == 4) {
            uint32_t word;
            memcpy(&word, in, 4);
            word = swapped ? __builtin_bswap32(word) : word;
            memcpy(out, &word, 4);
        } else {
            uint64_t word;
            memcpy(&word, in, 8);
            word = swapped ? __builtin_bswap64(word) : word;
            memcpy(out, &word, 8);
        }
    }
}

static void scatter(const void *in, int64_t count, vem_precision to, void *out,
                    int64_t ld)
{
    if (to == VEM_SINGLE)
        for (int64_t i = 0; i < count; i++)
            ((float *)out)[i * ld] = ((const float *)in)[i];
    else
        for (int64_t i = 0; i < count; i++)
            ((double *)out)[i * ld] = ((const double *)in)[i];
}

/* Any strides, byte order and choice of columns. Walks tiles of rows column by column,
 * which suits Fortran order and, since the rows of a tile stay in the cache, C order as
 * well. */
static void load_general(const vem_data *data, const char *start, int64_t count,
                         vem_precision to, char *out, int64_t ld)
{
    enum { TILE = 64 };
    const convert_fn convert = converters[to][data->type];
    const size_t bytes = vem_i_dtype_bytes(data->type);
    const size_t width = to == VEM_SINGLE ? sizeof(float) : sizeof(double);
    char raw[TILE * 8];
    double converted[TILE]; /* floats use the first half */

    for (int64_t i = 0; i < count; i += TILE) {
        int64_t rows = count - i < TILE ? count - i : TILE;
        for (int32_t j = 0; j < data->d; j++) {
            int64_t column = data->columns ? data->columns[j] : j;
            const char *in = start + i * data->row_stride + column * data->column_stride;
            gather(in, data->row_stride, rows, bytes, data->swapped, raw);
            convert(raw, rows, converted);
            scatter(converted, rows, to, out + (size_t)(i * ld + j) * width, ld);
        }
    }
}

void vem_i_data_copy_row(const vem_data *data, int64_t row, char *out)
{
    if (data->sparse.starts) {
        for (int64_t k = 0; k < data->d; k++)
            memset(out + k * (int64_t)sizeof(double), 0, sizeof(double));
        for (int64_t e = data->sparse.starts[row]; e < data->sparse.ends[row]; e++) {
            const double value = vem_i_sparse_value(&data->sparse, e);
            memcpy(out + data->sparse.columns[e] * (int64_t)sizeof value, &value,
                   sizeof value);
        }
        return;
    }
    if (data->pieces) {
        int64_t local;
        const vem_data *piece = vem_i_piece_of(data, row, &local);
        vem_i_data_copy_row(piece, local, out);
        return;
    }
    const char *start = data->base + row * data->row_stride;
    const size_t bytes = vem_i_dtype_bytes(data->type);
    if (!data->columns && !data->swapped && data->column_stride == (int64_t)bytes) {
        memcpy(out, start, (size_t)data->d * bytes);
        return;
    }
    if (!data->columns) {
        gather(start, data->column_stride, data->d, bytes, data->swapped, out);
        return;
    }
    for (int32_t j = 0; j < data->d; j++, out += bytes)
        gather(start + data->columns[j] * data->column_stride, 0, 1, bytes, data->swapped,
               out);
}

/* Zeros, and what is other than that. */
static void load_sparse(const vem_i_sparse *sparse, int32_t d, int64_t first,
                        int64_t count, vem_precision to, void *out, int64_t ld)
{
    for (int64_t i = 0; i < count; i++)
        if (to == VEM_SINGLE) {
            float *row = (float *)out + i * ld;
            memset(row, 0, (size_t)d * sizeof *row);
            for (int64_t e = sparse->starts[first + i]; e < sparse->ends[first + i]; e++)
                row[sparse->columns[e]] = (float)vem_i_sparse_value(sparse, e);
        } else {
            vem_i_sparse_widen(sparse, first + i, d, (double *)out + i * ld);
        }
}

void vem_i_data_load(const vem_data *data, int64_t first, int64_t count, vem_precision to,
                     void *out, int64_t ld)
{
    if (data->sparse.starts) {
        load_sparse(&data->sparse, data->d, first, count, to, out, ld);
        return;
    }
    if (data->pieces) {
        vem_i_pieces_load(data, first, count, to, out, ld);
        return;
    }
    const char *start = data->base + first * data->row_stride;
    const int64_t bytes = (int64_t)vem_i_dtype_bytes(data->type);
    const int whole_rows =
        !data->columns && (data->column_stride == bytes || data->d == 1);
    if (data->swapped || !whole_rows) {
        load_general(data, start, count, to, out, ld);
        return;
    }
    const convert_fn convert = converters[to][data->type];
    if (data->row_stride == data->d * bytes && ld == data->d) {
        convert(start, count * data->d, out);
        return;
    }
    const size_t width = to == VEM_SINGLE ? sizeof(float) : sizeof(double);
    for (int64_t i = 0; i < count; i++)
        convert(start + i * data->row_stride, data->d,
                (char *)out + (size_t)(i * ld) * width);
}
