/* .safetensors: the length of the header (8 bytes, little-endian), the header, and the values.
 * The header is JSON, and tells of each tensor where it begins and ends behind the header:
 *
 *     {"__metadata__": {...}, "rows": {"dtype": "BF16", "shape": [3, 4], "data_offsets": [0, 24]}}
 *
 * Rows are one tensor of two axes, or of one (one column). Nothing of the header is believed. */
#include "io/io.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/memory.h"

/* Headers of the largest models have some megabytes; what is read of one takes up to so many times that. */
enum { MOST_HEADER = 1 << 24, TIMES = 64 };

static const char METADATA[] = "__metadata__";

static const struct {
    const char *code;
    vem_dtype type;
} types[] = {{"F32", VEM_FLOAT32},   {"F64", VEM_FLOAT64}, {"F16", VEM_FLOAT16},
             {"BF16", VEM_BFLOAT16}, {"U8", VEM_UINT8},    {"I8", VEM_INT8},
             {"I16", VEM_INT16},     {"U16", VEM_UINT16},  {"I32", VEM_INT32},
             {"U32", VEM_UINT32},    {"I64", VEM_INT64},   {"BOOL", VEM_UINT8}};

/* The name of a tensor as sentences have it: short, and of printable letters. */
typedef struct label {
    char text[48];
} label;

static label label_of(const char *name)
{
    label l = {""};
    size_t length = 0;
    for (; name[length] && length + 1 < sizeof l.text; length++)
        l.text[length] = name[length] >= ' ' && name[length] <= '~' ? name[length] : '?';
    if (name[length])
        memcpy(l.text + length - 3, "...", 3);
    return l;
}

static vem_status open_header(vem_i_run *run, const char *name, const char *bytes,
                              size_t size, json_t **header, size_t *start)
{
    uint64_t length = 0;
    if (size < 8)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "%s is truncated: it has %zu bytes, but the length of its header "
            "has 8.",
            name, size);
    for (int i = 8; i-- > 0;)
        length = length << 8 | (unsigned char)bytes[i];
    if (length > size - 8)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "%s is truncated, or no .safetensors: its header should be %" PRIu64
            " bytes long, but %zu follow.",
            name, length, size - 8);
    if (length > MOST_HEADER)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s has a header of %" PRIu64
                          " bytes, but at most %d are read.",
                          name, length, (int)MOST_HEADER);
    if (run->limit && length > run->limit / TIMES)
        return vem_i_fail(run, VEM_NO_MEMORY,
                          "%s has a header of %" PRIu64
                          " bytes, and to read it takes more memory than is allowed.",
                          name, length);
    json_error_t error;
    *header = json_loadb(bytes + 8, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (!*header && json_error_code(&error) == json_error_out_of_memory)
        return vem_i_fail_memory(run, (size_t)length);
    if (!json_is_object(*header))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s is broken: its header is not the JSON of a .safetensors.",
                          name);
    *start = 8 + (size_t)length;
    return VEM_OK;
}

/* "a, b, c", of those that there is room for. */
static void list_names(json_t *header, char *out, size_t capacity)
{
    const char *key;
    json_t *value;
    size_t used = 0;
    *out = '\0';
    json_object_foreach(header, key, value)
    {
        const label l = label_of(key);
        const char *between = used ? ", " : "";
        if (strcmp(key, METADATA) == 0)
            continue;
        /* Behind each one there is room for the dots. */
        if (used + strlen(between) + strlen(l.text) + sizeof ", ..." > capacity) {
            snprintf(out + used, capacity - used, ", ...");
            return;
        }
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", between,
                                 *l.text ? l.text : "\"\"");
    }
}

/* That of this name; without one the only tensor, or the only one of two axes. */
static vem_status choose(vem_i_run *run, const char *name, json_t *header,
                         const char *wanted, const char **found)
{
    const char *key, *any = NULL, *table = NULL;
    json_t *value;
    int all = 0, tables = 0;
    char names[160];
    json_object_foreach(header, key, value)
    {
        if (strcmp(key, METADATA) == 0 || (wanted && strcmp(key, wanted) != 0))
            continue;
        any = key;
        all++;
        if (json_array_size(json_object_get(value, "shape")) == 2) {
            table = key;
            tables++;
        }
    }
    *found = tables == 1 ? table : any;
    if (tables == 1 || all == 1)
        return VEM_OK;
    list_names(header, names, sizeof names);
    if (wanted)
        return vem_i_fail(run, VEM_BAD_DATA, "%s has no tensor %s, but %s.", name,
                          *wanted ? label_of(wanted).text : "without a name",
                          *names ? names : "none at all");
    if (all == 0)
        return vem_i_fail(run, VEM_BAD_DATA, "%s has no tensor.", name);
    return vem_i_fail(
        run, VEM_BAD_OPTION,
        "%s has %d tensors (%s), %d of them with rows and columns: say which one, "
        "as in FILE.safetensors:NAME.",
        name, all, names, tables);
}

/* Whole numbers, none below 0. */
static int read_sizes(const json_t *list, size_t count, int64_t *out)
{
    if (json_array_size(list) != count)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *size = json_array_get(list, i);
        out[i] = json_integer_value(size);
        if (!json_is_integer(size) || out[i] < 0)
            return 0;
    }
    return 1;
}

static int find_type(const char *code, vem_dtype *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].code, code) == 0) {
            *type = types[i].type;
            return 1;
        }
    return 0;
}

static vem_status take_tensor(vem_i_run *run, const char *name, const char *tensor,
                              const json_t *about, const char *values, size_t left,
                              vem_data *data)
{
    const label l = label_of(tensor);
    const char *code = json_string_value(json_object_get(about, "dtype"));
    const json_t *shape = json_object_get(about, "shape");
    const size_t rank = json_array_size(shape);
    int64_t dims[2] = {0, 1}, ends[2];
    vem_dtype type;
    if (rank != 1 && rank != 2 && json_is_array(shape))
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "%s: tensor %s has %zu dimensions, but 1 (one column) or 2 (rows "
            "and columns) are needed.",
            name, l.text, rank);
    if (!code || rank == 0 || !read_sizes(shape, rank, dims) ||
        !read_sizes(json_object_get(about, "data_offsets"), 2, ends))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s is broken: type, shape or place of tensor %s cannot be "
                          "understood.",
                          name, l.text);
    if (!find_type(code, &type))
        return vem_i_fail(
            run, VEM_UNSUPPORTED,
            "%s: tensor %s holds values of type %s; vem reads F32, F64, F16, "
            "BF16, I8, I16, I32, I64, U8, U16, U32 and BOOL.",
            name, l.text, label_of(code).text);
    if (dims[0] < 1 || dims[1] < 1 || dims[1] > INT32_MAX)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s: tensor %s has %" PRId64 " rows and %" PRId64
                          " columns, but at least 1 of each (and at most %" PRId32
                          " columns) are needed.",
                          name, l.text, dims[0], dims[1], INT32_MAX);
    const int64_t width = (int64_t)vem_i_dtype_bytes(type);
    int64_t bytes;
    if (ends[0] > ends[1] || (uint64_t)ends[1] > left ||
        __builtin_mul_overflow(dims[0], dims[1] * width, &bytes) ||
        bytes != ends[1] - ends[0])
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s is truncated or broken: tensor %s (%" PRId64
                          " rows of %" PRId64 " columns, %s) should lie in bytes %" PRId64
                          " to %" PRId64 " of %zu behind the header.",
                          name, l.text, dims[0], dims[1], code, ends[0], ends[1], left);
    data->type = type;
    data->swapped = vem_i_big_endian() && width > 1;
    data->n = dims[0];
    data->d = (int32_t)dims[1];
    data->base = values + ends[0];
    data->row_stride = dims[1] * width;
    data->column_stride = width;
    data->format = "safetensors";
    return VEM_OK;
}

vem_status vem_i_safetensors_parse(vem_i_run *run, const char *name, const char *bytes,
                                   size_t size, const char *tensor, vem_data *data)
{
    json_t *header = NULL;
    const char *found = NULL;
    size_t start = 0;
    vem_status status = open_header(run, name, bytes, size, &header, &start);
    if (status == VEM_OK)
        status = choose(run, name, header, tensor, &found);
    if (status == VEM_OK)
        status = take_tensor(run, name, found, json_object_get(header, found),
                             bytes + start, size - start, data);
    json_decref(header);
    return status;
}
