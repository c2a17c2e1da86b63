/* The .npy format: "\x93NUMPY", a version, the length of the header, a Python literal
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * and the values. Versions 2.0 and 3.0 only widen the length and the alphabet. */
#include "io/io.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/plain.h"

static const char supported[] =
    "vem reads floats (f2, f4, f8, bfloat16), integers (i1, i2, "
    "i4, i8, u1, u2, u4) and truth values (b1)";

/* By vem_dtype. numpy knows no bfloat16: what ml_dtypes has of it is written as two bytes of no type, of
 * which there is no other use for rows of numbers. */
static const char *const codes[] = {"f4", "f8", "u1", "i4", "i8", "f2",
                                    "i1", "i2", "u2", "u4", "V2"};

/* A reader of the header's text. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_blanks(cursor *text)
{
    while (text->at < text->end && vem_i_plain_is_blank(*text->at))
        text->at++;
}

static int accept(cursor *text, char wanted)
{
    skip_blanks(text);
    if (text->at == text->end || *text->at != wanted)
        return 0;
    text->at++;
    return 1;
}

static int accept_word(cursor *text, const char *word)
{
    const size_t length = strlen(word);
    skip_blanks(text);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return 0;
    text->at += length;
    return 1;
}

/* A quoted string, cut to what fits. */
static int read_string(cursor *text, char *out, size_t capacity)
{
    const char quote = accept(text, '\'') ? '\'' : accept(text, '"') ? '"' : '\0';
    size_t length = 0;
    if (!quote)
        return 0;
    for (; text->at < text->end && *text->at != quote; text->at++)
        if (length + 1 < capacity)
            out[length++] = *text->at >= ' ' && *text->at <= '~' ? *text->at : '?';
    out[length] = '\0';
    return accept(text, quote);
}

static int read_shape(cursor *text, vem_i_npy *npy)
{
    if (!accept(text, '('))
        return 0;
    npy->rank = 0;
    while (!accept(text, ')')) {
        int64_t dim = 0;
        int digits = 0;
        skip_blanks(text);
        for (; text->at < text->end && vem_i_plain_is_digit(*text->at);
             text->at++, digits++)
            if (__builtin_mul_overflow(dim, 10, &dim) ||
                __builtin_add_overflow(dim, *text->at - '0', &dim))
                return 0;
        if (digits == 0)
            return 0;
        accept(text, 'L'); /* Python 2 wrote long integers so */
        if (npy->rank < 4)
            npy->dims[npy->rank] = dim;
        npy->rank++;
        if (npy->rank > 64) /* numpy's own bound is 32 */
            return 0;
        if (!accept(text, ',')) {
            if (!accept(text, ')'))
                return 0;
            break;
        }
    }
    return 1;
}

static int read_boolean(cursor *text, int *value)
{
    *value = accept_word(text, "True");
    return *value || accept_word(text, "False");
}

static int read_header(cursor *text, vem_i_npy *npy, char *type, size_t capacity)
{
    int seen = 0;
    if (!accept(text, '{'))
        return 0;
    while (!accept(text, '}')) {
        char key[32];
        if (!read_string(text, key, sizeof key) || !accept(text, ':'))
            return 0;
        int read;
        if (strcmp(key, "descr") == 0) {
            seen |= 1;
            skip_blanks(text);
            if (text->at < text->end && *text->at == '[') {
                snprintf(type, capacity, "a record of several fields");
                return 1; /* refused by the caller: nothing after it matters */
            }
            read = read_string(text, type, capacity);
        } else if (strcmp(key, "fortran_order") == 0) {
            seen |= 2;
            read = read_boolean(text, &npy->fortran);
        } else if (strcmp(key, "shape") == 0) {
            seen |= 4;
            read = read_shape(text, npy);
        } else {
            read = 0;
        }
        if (!read || (!accept(text, ',') && text->at < text->end && *text->at != '}'))
            return 0;
    }
    return seen == 7;
}

static int find_type(const char *text, vem_i_npy *npy)
{
    int big = vem_i_big_endian();
    if (*text == '<' || *text == '>')
        big = *text++ == '>';
    else if (*text == '=' || *text == '|')
        text++;
    if (strcmp(text, "b1") == 0) /* a byte, 0 or 1 */
        text = "u1";
    else if (strcmp(text, "bfloat16") == 0) /* by who writes the header himself */
        text = "V2";
    for (int type = VEM_FLOAT32; type <= (int)VEM_BFLOAT16; type++)
        if (strcmp(text, codes[type]) == 0) {
            npy->type = (vem_dtype)type;
            npy->swapped = vem_i_dtype_bytes(npy->type) > 1 && big != vem_i_big_endian();
            return 1;
        }
    return 0;
}

static vem_status check_shape(vem_i_run *run, const char *name, size_t left,
                              vem_i_npy *npy)
{
    if (npy->rank < 1 || npy->rank > 4)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "%s holds an array of %d dimensions, but 1 (one column) or 2 (rows "
            "and columns) are needed.",
            name, npy->rank);
    size_t bytes = vem_i_dtype_bytes(npy->type);
    int overflow = 0;
    for (int i = 0; i < npy->rank; i++) {
        if (npy->dims[i] == 0)
            return vem_i_fail(run, VEM_BAD_DATA, "%s holds an array with 0 %s.", name,
                              i == 0 ? "rows" : "columns");
        overflow |= __builtin_mul_overflow(bytes, (size_t)npy->dims[i], &bytes);
    }
    if (overflow || bytes > INT64_MAX)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s is broken: its header asks for more bytes than a computer "
                          "can count (%" PRId64 " rows).",
                          name, npy->dims[0]);
    if (bytes > left)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s is truncated: its header asks for %zu bytes of values, but "
                          "only %zu follow.",
                          name, bytes, left);
    npy->bytes = bytes;
    return VEM_OK;
}

vem_status vem_i_npy_open(vem_i_run *run, const char *name, const char *bytes,
                          size_t size, vem_i_npy *npy)
{
    const unsigned char *u = (const unsigned char *)bytes;
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "%s is not a .npy file: it does not begin with \\x93NUMPY and a "
            "version.",
            name);
    const int version = u[6];
    if (version < 1 || version > 3)
        return vem_i_fail(
            run, VEM_UNSUPPORTED,
            "%s has version %d.%d of the .npy format; vem reads versions 1.0, "
            "2.0 and 3.0.",
            name, version, u[7]);
    const size_t start = version == 1 ? 10 : 12;
    size_t length = u[8] | (size_t)u[9] << 8;
    if (version > 1 && size >= start)
        length |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
    if (size < start || length > size - start)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "%s is truncated: its header should be %zu bytes long, but the file "
            "has only %zu.",
            name, length, size);

    vem_i_npy found = {.values = bytes + start + length};
    cursor text = {bytes + start, found.values};
    char type[48];
    if (!read_header(&text, &found, type, sizeof type))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s is broken: its .npy header cannot be understood.", name);
    if (!find_type(type, &found))
        return vem_i_fail(run, VEM_UNSUPPORTED, "%s holds values of type %s; %s.", name,
                          type, supported);
    vem_status status = check_shape(run, name, size - start - length, &found);
    *npy = found;
    return status;
}

size_t vem_i_npy_header(vem_dtype type, int rank, const int64_t dims[4], int blocks,
                        char out[256])
{
    char shape[120];
    int used = 0;
    for (int i = 0; i < rank; i++)
        used += snprintf(shape + used, sizeof shape - (size_t)used, "%s%" PRId64,
                         i ? ", " : "", dims[i]);
    const int length =
        snprintf(out + 10, 246,
                 "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s%s), }",
                 vem_i_dtype_bytes(type) > 1 ? '<' : '|', codes[type], shape,
                 rank == 1 ? "," : "");
    const size_t needed = (size_t)length + 11; /* 10 before, '\n' after */
    const size_t total = ((needed + 63) / 64 + (size_t)blocks) * 64;
    memset(out + 10 + length, ' ', total - 11 - (size_t)length);
    out[total - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01", 8); /* version 1.0: the NUL of the string is its 0 */
    out[8] = (char)((total - 10) & 0xff);
    out[9] = (char)((total - 10) >> 8);
    return total;
}

vem_status vem_i_npy_parse(vem_i_run *run, const char *name, const char *bytes,
                           size_t size, vem_data *data)
{
    vem_i_npy npy;
    vem_status status = vem_i_npy_open(run, name, bytes, size, &npy);
    if (status != VEM_OK)
        return status;
    if (npy.rank > 2)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "%s holds an array of %d dimensions, but 1 (one column) or 2 (rows "
            "and columns) are needed.",
            name, npy.rank);
    const int64_t columns = npy.rank == 2 ? npy.dims[1] : 1;
    if (columns > INT32_MAX)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s has %" PRId64 " columns, but at most %" PRId32
                          " can be used.",
                          name, columns, INT32_MAX);
    const int64_t width = (int64_t)vem_i_dtype_bytes(npy.type);
    data->type = npy.type;
    data->swapped = npy.swapped;
    data->n = npy.dims[0];
    data->d = (int32_t)columns;
    data->base = npy.values;
    data->row_stride = npy.fortran ? width : width * columns;
    data->column_stride = npy.fortran ? width * data->n : width;
    data->format = "npy";
    return VEM_OK;
}
