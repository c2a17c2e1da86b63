/* .fvecs and .bvecs: each row is its dimension (int32, little-endian) and then that many
 * float32 or uint8 values. All rows have the same dimension, so the file can be mapped as
 * rows with a stride that skips the 4 bytes. */
#include "io/io.h"

#include <inttypes.h>
#include <string.h>

enum { A_LOOK = 256 }; /* rows between two looks at the resident size */

static int32_t dimension_at(const char *bytes)
{
    const unsigned char *u = (const unsigned char *)bytes;
    return (int32_t)((uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 |
                     (uint32_t)u[3] << 24);
}

vem_status vem_i_vecs_parse(vem_i_run *run, const char *name, const char *bytes,
                            size_t size, vem_dtype type, vem_data *data)
{
    if (size < 4)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s is truncated: it has %zu bytes, but a row begins with 4.",
                          name, size);
    const int32_t d = dimension_at(bytes);
    if (d < 1)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s, row 1 has dimension %" PRId32
                          ", but it must be 1 or more.",
                          name, d);
    const size_t stride = 4 + (size_t)d * vem_i_dtype_bytes(type);
    const size_t n = size / stride;
    for (size_t i = 0; i < n; i++) {
        int32_t found = dimension_at(bytes + i * stride);
        if (i % A_LOOK == 0) /* every row is looked at, and brings its page in */
            vem_i_residence_check(run);
        if (found != d)
            return vem_i_fail(run, VEM_BAD_DATA,
                              "%s, row %zu has dimension %" PRId32
                              ", but row 1 has %" PRId32 "; all rows must have the same.",
                              name, i + 1, found, d);
    }
    if (size % stride != 0)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "%s is truncated: row %zu has %zu bytes, but a row of dimension "
            "%" PRId32 " has %zu.",
            name, n + 1, size % stride, d, stride);
    data->type = type;
    data->swapped = vem_i_big_endian() && type != VEM_UINT8;
    data->n = (int64_t)n;
    data->d = d;
    data->base = bytes + 4;
    data->row_stride = (int64_t)stride;
    data->column_stride = (int64_t)vem_i_dtype_bytes(type);
    data->format = type == VEM_UINT8 ? "bvecs" : "fvecs";
    return VEM_OK;
}
