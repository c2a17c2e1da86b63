/* .safetensors: types, which tensor is meant, and what is refused. */
#include "io_test.h"

/* A file with this header, its length before it, and `size` bytes of values behind it. */
static const char *put(const char *name, const char *header, const void *values,
                       size_t size)
{
    char bytes[4096] = {0};
    const size_t length = strlen(header);
    assert_true(8 + length + size <= sizeof bytes);
    bytes[0] = (char)(length & 0xff);
    bytes[1] = (char)(length >> 8);
    memcpy(bytes + 8, header, length);
    memcpy(bytes + 8 + length, values, size);
    return io_put(name, bytes, 8 + length + size);
}

/* As the machines of the files have them. */
static void little(char *out, const void *value, size_t width)
{
    for (size_t b = 0; b < width; b++)
        out[b] = ((const char *)value)[vem_i_big_endian() ? width - 1 - b : b];
}

static void types(void **state)
{
    static const struct {
        const char *code;
        vem_dtype type;
    } cases[] = {{"F32", VEM_FLOAT32}, {"F64", VEM_FLOAT64},   {"F16", VEM_FLOAT16},
                 {"U8", VEM_UINT8},    {"BF16", VEM_BFLOAT16}, {"I8", VEM_INT8},
                 {"I16", VEM_INT16},   {"U16", VEM_UINT16},    {"I32", VEM_INT32},
                 {"U32", VEM_UINT32},  {"I64", VEM_INT64},     {"BOOL", VEM_UINT8}};
    static const double expected[] = {1, 0, 1, 1, 0, 0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[200], values[6 * 8];
        const size_t width = vem_i_dtype_bytes(cases[i].type);
        for (int k = 0; k < 6; k++) {
            const float f4 = (float)expected[k];
            const double f8 = expected[k];
            const int64_t whole = (int64_t)expected[k];
            const uint16_t half = whole ? 0x3c00 : 0, bfloat = whole ? 0x3f80 : 0;
            const int32_t i4 = (int32_t)whole;
            const int16_t i2 = (int16_t)whole;
            const int8_t i1 = (int8_t)whole;
            const void *from = cases[i].type == VEM_FLOAT32    ? (const void *)&f4
                               : cases[i].type == VEM_FLOAT64  ? (const void *)&f8
                               : cases[i].type == VEM_FLOAT16  ? (const void *)&half
                               : cases[i].type == VEM_BFLOAT16 ? (const void *)&bfloat
                               : width == 8                    ? (const void *)&whole
                               : width == 4                    ? (const void *)&i4
                               : width == 2                    ? (const void *)&i2
                                                               : (const void *)&i1;
            little(values + (size_t)k * width, from, width);
        }
        snprintf(
            header, sizeof header,
            "{\"rows\":{\"dtype\":\"%s\",\"shape\":[3,2],\"data_offsets\":[0,%zu]}}%*s",
            cases[i].code, 6 * width, (int)i, ""); /* as writers pad it */
        vem_data *data = io_read(put("t.safetensors", header, values, 6 * width));
        assert_int_equal(vem_data_dtype(data), cases[i].type);
        assert_string_equal(vem_data_format(data), "safetensors");
        io_holds(data, 3, 2, expected);
        vem_data_free(data);
    }
}

/* Signs, what is smaller than a normal number, and the ends. */
static void bfloats(void **state)
{
    static const uint16_t bits[] = {0xc040, 0x0001, 0x807f, 0x7f7f, 0x7f80, 0x7fc0};
    static const double expected[] = {-3,         0x1p-133, -127 * 0x1p-133,
                                      0x1.fep127, INFINITY, NAN};
    char values[12];
    (void)state;
    for (int k = 0; k < 6; k++)
        little(values + 2 * k, &bits[k], 2);
    vem_data *data =
        io_read(put("b.safetensors",
                    "{\"x\":{\"dtype\":\"BF16\",\"shape\":[6],\"data_offsets\":[0,12]}}",
                    values, 12));
    io_holds(data, 6, 1, expected);
    vem_data_free(data);
}

/* The only one, the only one of two axes, or that of the name. */
static void which_tensor(void **state)
{
    static const char three[] =
        "{\"__metadata__\":{\"format\":\"pt\"},"
        "\"norms\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
        "\"rows\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[2,6]},"
        "\"a.b:c\\u00e9\\n\":{\"dtype\":\"U8\",\"shape\":[1,3],\"data_offsets\":[6,9]}}";
    static const char two[] =
        "{\"norms\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[4,6]},"
        "\"rows\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[0,4]}}";
    static const char flat[] =
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
        "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}";
    const char values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    char path[440];
    (void)state;
    vem_data *data = io_read(put("two.safetensors", two, values, 6));
    io_holds(data, 2, 2, (const double[]){1, 2, 3, 4});
    vem_data_free(data);
    const char *file = put("three.safetensors", three, values, 9);
    io_refuses(
        file, VEM_BAD_OPTION,
        "3 tensors (norms, rows, a.b:c?\?\?), 2 of them with rows and columns: say "
        "which one, as in FILE.safetensors:NAME");
    const struct {
        const char *name;
        int64_t n;
        int32_t d;
        double values[4];
    } named[] = {{"rows", 2, 2, {3, 4, 5, 6}},
                 {"norms", 2, 1, {1, 2}},
                 {"a.b:c\xc3\xa9\n", 1, 3, {7, 8, 9}}};
    for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
        snprintf(path, sizeof path, "%s:%s", file, named[k].name);
        data = io_read(path);
        io_holds(data, named[k].n, named[k].d, named[k].values);
        vem_data_free(data);
        assert_string_equal(vem_file_kind(path), "data");
    }
    snprintf(path, sizeof path, "%s:%s", file, "row");
    io_refuses(path, VEM_BAD_DATA, "has no tensor row, but norms, rows");
    snprintf(path, sizeof path, "%s:%s", file, "__metadata__");
    io_refuses(path, VEM_BAD_DATA, "has no tensor __metadata__");
    snprintf(path, sizeof path, "%s:", file);
    io_refuses(path, VEM_BAD_DATA, "has no tensor without a name, but norms, rows");
    io_refuses(io_path("nowhere.safetensors:rows"), VEM_IO_ERROR, "nowhere.safetensors");
    io_refuses(put("flat.safetensors", flat, values, 4), VEM_BAD_OPTION,
               "2 tensors (a, b), 0 of them");
    io_refuses(put("none.safetensors", "{\"__metadata__\":{}}", "", 0), VEM_BAD_DATA,
               "has no tensor");
}

static void refuses(const char *about, vem_status status, const char *words)
{
    char header[400];
    const char values[64] = {0};
    snprintf(header, sizeof header, "{\"rows\":%s}", about);
    io_refuses(put("bad.safetensors", header, values, 64), status, words);
}

static void wrong_content(void **state)
{
    static const char *const broken[] = {
        "7",
        "[]",
        "{}",
        "{\"dtype\":\"F32\",\"shape\":[2,2]}",
        "{\"dtype\":\"F32\",\"data_offsets\":[0,16]}",
        "{\"shape\":[2,2],\"data_offsets\":[0,16]}",
        "{\"dtype\":4,\"shape\":[2,2],\"data_offsets\":[0,16]}",
        "{\"dtype\":\"F32\",\"shape\":[2,2.0],\"data_offsets\":[0,16]}",
        "{\"dtype\":\"F32\",\"shape\":[2,-2],\"data_offsets\":[0,16]}",
        "{\"dtype\":\"F32\",\"shape\":[2,\"2\"],\"data_offsets\":[0,16]}",
        "{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0]}",
        "{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16,16]}",
        "{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[-16,0]}",
    };
    static const char *const misplaced[] = {
        "{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,12]}",
        "{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,20]}",
        "{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[16,0]}",
        "{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[49,65]}",
        "{\"dtype\":\"F32\",\"shape\":[5,4],\"data_offsets\":[0,80]}",
        /* 2^62 times 4, and 2^33 times 2^31 - 2^33, are 0 in 64 bits */
        "{\"dtype\":\"F32\",\"shape\":[4611686018427387904,1],\"data_offsets\":[0,0]}",
        "{\"dtype\":\"F64\",\"shape\":[9223372036854775807,2147483647],"
        "\"data_offsets\":[0,64]}",
        "{\"dtype\":\"U8\",\"shape\":[1,1],"
        "\"data_offsets\":[9223372036854775806,9223372036854775807]}",
    };
    (void)state;
    for (size_t k = 0; k < sizeof broken / sizeof *broken; k++)
        refuses(broken[k], VEM_BAD_DATA, "is broken");
    for (size_t k = 0; k < sizeof misplaced / sizeof *misplaced; k++)
        refuses(misplaced[k], VEM_BAD_DATA, "is truncated or broken: tensor rows");
    refuses("{\"dtype\":\"F32\",\"shape\":[2,2,2],\"data_offsets\":[0,32]}", VEM_BAD_DATA,
            "3 dimensions");
    refuses("{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}", VEM_BAD_DATA,
            "0 dimensions");
    refuses("{\"dtype\":\"F32\",\"shape\":[0,2],\"data_offsets\":[0,0]}", VEM_BAD_DATA,
            "0 rows and 2 columns");
    refuses("{\"dtype\":\"U8\",\"shape\":[1,2147483648],\"data_offsets\":[0,1]}",
            VEM_BAD_DATA, "2147483648 columns");
    refuses("{\"dtype\":\"F8_E4M3\",\"shape\":[2,2],\"data_offsets\":[0,4]}",
            VEM_UNSUPPORTED, "type F8_E4M3; vem reads F32");
    /* 10^20 is no number of 64 bits, and no name may come twice. */
    refuses(
        "{\"dtype\":\"F32\",\"shape\":[100000000000000000000,2],\"data_offsets\":[0,16]}",
        VEM_BAD_DATA, "not the JSON");
    refuses("{},\"rows\":{}", VEM_BAD_DATA, "not the JSON");
}

/* Names of tensors in a sentence: as many as there is room for, to the last letter of it. */
static void long_lists(void **state)
{
    char text[512], names[64];
    (void)state;
    for (int last = 1; last <= 40; last++) {
        int used = snprintf(text, sizeof text, "{");
        for (int k = 0; k < 5; k++) {
            memset(names, 'a' + k, sizeof names);
            used +=
                snprintf(text + used, sizeof text - (size_t)used,
                         "%s\"%.*s\":{\"dtype\":\"U8\",\"shape\":[1,1],\"data_offsets\":"
                         "[0,1]}",
                         k ? "," : "",
                         k < 3    ? 40
                         : k == 3 ? last
                                  : 20,
                         names);
        }
        snprintf(text + used, sizeof text - (size_t)used, "}");
        io_refuses(put("long.safetensors", text, "a", 1), VEM_BAD_OPTION,
                   last > 28  ? "c, ...), 5 of them"
                   : last > 6 ? "d, ...), 5 of them"
                              : "e), 5 of them");
    }
    io_refuses(put("blank.safetensors",
                   "{\"\":{\"dtype\":\"U8\",\"shape\":[1,1],\"data_offsets\":[0,1]},"
                   "\"b\":{\"dtype\":\"U8\",\"shape\":[1,1],\"data_offsets\":[0,1]}}",
                   "a", 1),
               VEM_BAD_OPTION, "2 tensors (\"\", b)");
}

static void wrong_header(void **state)
{
    char bytes[64] = {0};
    (void)state;
    io_refuses(io_put("s.safetensors", bytes, 7), VEM_BAD_DATA, "it has 7 bytes");
    io_refuses(io_put("s.safetensors", bytes, 8), VEM_BAD_DATA, "not the JSON");
    bytes[0] = 57;
    io_refuses(io_put("s.safetensors", bytes, 64), VEM_BAD_DATA,
               "its header should be 57 bytes long, but 56 follow");
    memset(bytes, 0xff, 8);
    io_refuses(io_put("s.safetensors", bytes, 64), VEM_BAD_DATA,
               "18446744073709551615 bytes long, but 56 follow");
    io_refuses(put("s.safetensors", "[1, 2]", "", 0), VEM_BAD_DATA, "not the JSON");
    io_refuses(put("s.safetensors", "{\"a\"", "", 0), VEM_BAD_DATA, "not the JSON");
    const size_t size = 8 + ((size_t)1 << 24) + 1;
    char *large = calloc(size, 1);
    assert_non_null(large);
    large[0] = 1;
    large[3] = 1;
    io_refuses(io_put("s.safetensors", large, size), VEM_BAD_DATA,
               "a header of 16777217 bytes, but at most 16777216");
    large[0] = 0;
    assert_int_equal(vem_ctx_set_memory(io_ctx, (uint64_t)512 << 20), VEM_OK);
    io_refuses(io_put("s.safetensors", large, size), VEM_NO_MEMORY,
               "a header of 16777216 bytes, and to read it");
    assert_int_equal(vem_ctx_set_memory(io_ctx, 0), VEM_OK);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),        cmocka_unit_test(bfloats),
        cmocka_unit_test(which_tensor), cmocka_unit_test(wrong_content),
        cmocka_unit_test(wrong_header), cmocka_unit_test(long_lists),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
