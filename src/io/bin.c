/* .fbin, .u8bin and .i8bin (those of big-ann-benchmarks): the number of rows and of columns (uint32, little-endian), then the
 * values row by row. */
#include "io/io.h"

#include <inttypes.h>

static uint32_t word_at(const char *bytes)
{
    const unsigned char *u = (const unsigned char *)bytes;
    return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 |
           (uint32_t)u[3] << 24;
}

vem_status vem_i_bin_parse(vem_i_run *run, const char *name, const char *bytes,
                           size_t size, vem_dtype type, vem_data *data)
{
    if (size < 8)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s is truncated: it has %zu bytes, but its header has 8.",
                          name, size);
    const uint32_t n = word_at(bytes), d = word_at(bytes + 4);
    if (n < 1 || d < 1 || d > INT32_MAX)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s announces %" PRIu32 " rows and %" PRIu32
                          " columns, but at least 1 of each (and at most %" PRId32
                          " columns) are needed.",
                          name, n, d, INT32_MAX);
    /* 2^32 rows of 2^31 columns of 4 bytes would be 2^65. */
    uint64_t values;
    const size_t width = vem_i_dtype_bytes(type);
    if (__builtin_mul_overflow((uint64_t)n * d, width, &values) || values != size - 8)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s announces %" PRIu32 " rows of %" PRIu32
                          " columns (%.0f bytes), but %zu bytes of values follow.",
                          name, n, d, (double)n * d * (double)width, size - 8);
    data->type = type;
    data->swapped = vem_i_big_endian() && width > 1;
    data->n = n;
    data->d = (int32_t)d;
    data->base = bytes + 8;
    data->row_stride = (int64_t)(d * width);
    data->column_stride = (int64_t)width;
    data->format = type == VEM_UINT8 ? "u8bin" : type == VEM_INT8 ? "i8bin" : "fbin";
    return VEM_OK;
}
