/* .npy in every version, order, type and byte order, and everything that can be wrong. */
#include "io_test.h"

/* A .npy with this header text; the length field follows the version. */
static const char *put_npy(const char *name, int version, const char *header,
                           const void *values, size_t size)
{
    char bytes[4096] = "\x93NUMPY";
    const size_t length = strlen(header), start = version == 1 ? 10 : 12;
    bytes[6] = (char)version;
    bytes[8] = (char)(length & 0xff);
    bytes[9] = (char)(length >> 8);
    memcpy(bytes + start, header, length);
    memcpy(bytes + start + length, values, size);
    return io_put(name, bytes, start + length + size);
}

static void refuses_header(const char *header, vem_status status, const char *words)
{
    const double values[8] = {0};
    io_refuses(put_npy("bad.npy", 1, header, values, sizeof values), status, words);
}

/* Values 1 .. 6 as 2 rows of 3, stored in C or Fortran order. */
static size_t store(char *out, vem_dtype type, int fortran, int swapped)
{
    const size_t width = vem_i_dtype_bytes(type);
    for (int k = 0; k < 6; k++) {
        const int value = fortran ? k / 2 + 3 * (k % 2) + 1 : k + 1;
        const float f4 = (float)value;
        const double f8 = value;
        const uint8_t u1 = (uint8_t)value;
        const int32_t i4 = value;
        const int64_t i8 = value;
        static const uint16_t halves[] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};
        static const uint16_t bfloats[] = {0x3f80, 0x4000, 0x4040,
                                           0x4080, 0x40a0, 0x40c0};
        const int8_t i1 = (int8_t)value;
        const int16_t i2 = (int16_t)value;
        const uint16_t u2 = (uint16_t)value;
        const uint32_t u4 = (uint32_t)value;
        const void *const sources[] = {&f4,
                                       &f8,
                                       &u1,
                                       &i4,
                                       &i8,
                                       &halves[value - 1],
                                       &i1,
                                       &i2,
                                       &u2,
                                       &u4,
                                       &bfloats[value - 1]};
        for (size_t b = 0; b < width; b++)
            out[(size_t)k * width + b] =
                ((const char *)sources[type])[swapped ? width - 1 - b : b];
    }
    return 6 * width;
}

static void every_kind(void **state)
{
    static const char *const codes[] = {"f4", "f8", "u1", "i4", "i8", "f2",
                                        "i1", "i2", "u2", "u4", "V2"};
    const double expected[] = {1, 2, 3, 4, 5, 6};
    (void)state;
    for (int version = 1; version <= 3; version++)
        for (int type = VEM_FLOAT32; type <= (int)VEM_BFLOAT16; type++)
            for (int fortran = 0; fortran < 2; fortran++)
                for (int big = 0; big < 2; big++) {
                    char header[128], values[64];
                    const char order = vem_i_dtype_bytes((vem_dtype)type) == 1 ? '|'
                                       : big                                   ? '>'
                                                                               : '<';
                    snprintf(
                        header, sizeof header,
                        "{'descr': '%c%s', 'fortran_order': %s, 'shape': (2, 3), }\n",
                        order, codes[type], fortran ? "True" : "False");
                    const size_t size = store(values, (vem_dtype)type, fortran,
                                              big != vem_i_big_endian());
                    vem_data *data =
                        io_read(put_npy("k.npy", version, header, values, size));
                    assert_int_equal(vem_data_dtype(data), type);
                    assert_string_equal(vem_data_format(data), "npy");
                    io_holds(data, 2, 3, expected);
                    vem_data_free(data);
                }
}

/* Signs, the ends of the ranges, and what is special about halves. */
static void small_types(void **state)
{
    static const struct {
        const char *code;
        uint64_t bits[3];
        double values[3];
    } cases[] = {{"|i1", {0x80, 0x7f, 0xff}, {-128, 127, -1}},
                 {"<i2", {0x8000, 0x7fff, 0xffff}, {-32768, 32767, -1}},
                 {"<u2", {0x8000, 0x7fff, 0xffff}, {32768, 32767, 65535}},
                 {"<u4", {0x80000000, 1, 0xffffffff}, {2147483648.0, 1, 4294967295.0}},
                 {"|b1", {0, 1, 1}, {0, 1, 1}},
                 {"<f2", {0xc000, 0x7bff, 0x0400}, {-2, 65504, 0x1p-14}},
                 {"<f2",
                  {0x0001, 0x83ff, 0x3555},
                  {0x1p-24, -1023 * 0x1p-24, 0x1.554p-2}},
                 {"<f2", {0x7c00, 0xfc00, 0x7e00}, {INFINITY, -INFINITY, NAN}},
                 {"|V2", {0xc040, 0x7f7f, 0x0001}, {-3, 0x1.fep127, 0x1p-133}},
                 {"bfloat16", {0xc040, 0x7f80, 0x7fc0}, {-3, INFINITY, NAN}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[128], values[16];
        const int bfloat = cases[i].code[1] == 'V' || cases[i].code[0] == 'b';
        const size_t width = bfloat ? 2 : (size_t)(cases[i].code[2] - '0');
        snprintf(header, sizeof header,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (3,), }\n",
                 cases[i].code);
        for (size_t k = 0; k < 3 * width; k++)
            values[k] = (char)(cases[i].bits[k / width] >> 8 * (k % width));
        const char *path = put_npy("s.npy", 1, header, values, 3 * width);
        vem_data *data = io_read(path);
        io_holds(data, 3, 1, cases[i].values);
        vem_data_free(data);
        int64_t *labels = NULL, n = 0;
        if (cases[i].code[1] == 'f' || bfloat)
            continue;
        assert_int_equal(vem_labels_read(io_ctx, path, &labels, &n), VEM_OK);
        for (int k = 0; k < 3; k++)
            assert_int_equal(labels[k], (int64_t)cases[i].values[k]);
        free(labels);
    }
}

static void other_headers(void **state)
{
    const double values[] = {1, 2, 3};
    (void)state;
    const char *const headers[] = {
        "{\"shape\":(3,),\"fortran_order\":False,\"descr\":\"<f8\"}",
        "{'descr': '=f8', 'fortran_order': True, 'shape': (3L, 1L)}   \n",
        "{ 'descr' : 'f8' , 'fortran_order' : False , 'shape' : ( 3 , ) , }",
    };
    for (int i = 0; i < 3; i++) {
        vem_data *data = io_read(put_npy("h.npy", 1, headers[i], values, sizeof values));
        io_holds(data, 3, 1, values);
        vem_data_free(data);
    }
}

static void wrong_content(void **state)
{
    (void)state;
    io_refuses(io_text("foreign.npy", "This is no array at all."), VEM_BAD_DATA,
               "is not a .npy file");
    io_refuses(io_text("short.npy", "\x93NUM"), VEM_BAD_DATA, "is not a .npy file");
    io_refuses(put_npy("v9.npy", 9, "{}", "", 0), VEM_UNSUPPORTED, "has version 9.0");
    io_refuses(io_put("cut.npy", "\x93NUMPY\x01\0\x80\0{'de", 14), VEM_BAD_DATA,
               "its header should be 128 bytes long, but the file has only 14");
    io_refuses(io_put("cut2.npy", "\x93NUMPY\x02\0\x80\0", 10), VEM_BAD_DATA,
               "truncated");
    refuses_header("{'descr': '<f8', 'fortran_order': False, 'shape': (5, 2), }",
                   VEM_BAD_DATA, "asks for 80 bytes of values, but only 64 follow");
    refuses_header("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2), }",
                   VEM_BAD_DATA, "0 rows");
    refuses_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 0), }",
                   VEM_BAD_DATA, "0 columns");
    refuses_header("{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
                   VEM_BAD_DATA, "0 dimensions");
    refuses_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2), }",
                   VEM_BAD_DATA, "3 dimensions");
    refuses_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1), }",
                   VEM_BAD_DATA, "5 dimensions");
    refuses_header("{'descr': '<c16', 'fortran_order': False, 'shape': (2, 2), }",
                   VEM_UNSUPPORTED, "type <c16; vem reads floats");
    refuses_header("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }",
                   VEM_UNSUPPORTED, "type |O");
    refuses_header("{'descr': '<M8', 'fortran_order': False, 'shape': (2, 2), }",
                   VEM_UNSUPPORTED, "f2, f4, f8");
    refuses_header("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }",
                   VEM_UNSUPPORTED, "a record of several fields");
}

/* A header ends where its length says, whatever the values behind it look like. */
static void headers_that_end_too_early(void **state)
{
    static const char whole[] =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
    (void)state;
    for (size_t cut = 1; cut < sizeof whole - 1; cut++) {
        char header[sizeof whole] = "", values[200];
        memset(values, ' ', sizeof values);
        memcpy(header, whole, cut);
        memcpy(values + 1, whole + cut, strlen(whole + cut));
        io_refuses(put_npy("cut.npy", 1, header, values, sizeof values), VEM_BAD_DATA,
                   "cannot be understood");
    }
}

static void hostile_headers(void **state)
{
    static const char *const broken[] = {
        "",
        "{",
        "{}",
        "{'descr'",
        "{'descr': ",
        "{'descr': '<f8",
        "{'descr': '<f8'",
        "{'descr': '<f8', 'shape': (2,2)}",
        "{'descr': '<f8', 'fortran_order': Maybe}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2 2)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-2, 2)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 4}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "['descr', '<f8']"};
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        refuses_header(broken[i], VEM_BAD_DATA, "cannot be understood");
    refuses_header("{'descr': '<f8', 'fortran_order': False, 'shape': "
                   "(4611686018427387904, 4611686018427387904)}",
                   VEM_BAD_DATA, "more bytes than a computer can count");
    refuses_header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976, 8)}",
        VEM_BAD_DATA, "more bytes than a computer can count");
    refuses_header(
        "{'descr': '|u1', 'fortran_order': False, 'shape': (9000000000000000000,)}",
        VEM_BAD_DATA, "is truncated");
}

/* What is written is read back, and the header is as numpy wants it. */
static void round_trip(void **state)
{
    const double values[] = {1, 0.1, -1e300, 4, 5e-324, 6};
    (void)state;
    const char *path = io_path("out.npy");
    assert_int_equal(vem_array_write(io_ctx, path, VEM_FLOAT64, values, 3, 2), VEM_OK);
    vem_data *data = io_read(path);
    io_holds(data, 3, 2, values);
    vem_data_free(data);
    char header[256];
    const int64_t dims[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    for (int rank = 1; rank <= 4; rank++) {
        const size_t length = vem_i_npy_header(VEM_INT64, rank, dims, 0, header);
        assert_int_equal(length % 64, 0);
        assert_int_equal(header[length - 1], '\n');
    }
}

static void columns_by_number(void **state)
{
    const double values[] = {1, 2, 3, 4, 5, 6, 7, 8}, expected[] = {4, 1, 8, 5};
    vem_data *data;
    (void)state;
    const char *path =
        put_npy("c.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4), }",
                values, sizeof values);
    vem_read_options options = {.size = sizeof options, .columns = "4, 1-2", .id = "2"};
    assert_int_equal(vem_data_read(io_ctx, path, &options, &data), VEM_OK);
    io_holds(data, 2, 2, expected);
    vem_data_free(data);
    const struct {
        const char *columns, *id, *words;
    } wrong[] = {{"5", NULL, "Column 5 was asked for, but"},
                 {"0", NULL, "has columns 1 to 4"},
                 {"3-2", NULL, "Column 3-2"},
                 {"2-99999999999999999999", NULL, "columns 1 to 4"},
                 {"x", NULL, "no column named \"x\": its columns have no names"},
                 {"", NULL, "no column named \"\""},
                 {"1,,2", NULL, "no column named \"\""},
                 {"1,1", NULL, "Column 1 of"},
                 {"1", "1", "No column of"},
                 {NULL, "1-4", "No column"},
                 {NULL, "7", "Column 7"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options.columns = wrong[i].columns;
        options.id = wrong[i].id;
        assert_int_equal(vem_data_read(io_ctx, path, &options, &data), VEM_BAD_OPTION);
        io_says(wrong[i].words);
    }
    vem_read_options unset = {0};
    assert_int_equal(vem_data_read(io_ctx, path, &unset, &data), VEM_BAD_OPTION);
    io_says("sizeof(vem_read_options)");
}

/* Sizes and types that are none: a sentence, whatever the ending. */
static void arrays_that_are_none(void **state)
{
    (void)state;
    const double one[2] = {1, 2};
    const char *const endings[] = {"n.npy", "n.csv"};
    for (int k = 0; k < 2; k++) {
        const char *path = io_path(endings[k]);
        assert_int_equal(vem_array_write(io_ctx, path, VEM_FLOAT64, one, -2, 1),
                         VEM_BAD_OPTION);
        io_says("-2 rows");
        assert_int_equal(vem_array_write(io_ctx, path, VEM_FLOAT64, one, 1, 0),
                         VEM_BAD_OPTION);
        assert_int_equal(vem_array_write_named(io_ctx, path, (vem_dtype)77, one, 1, 2,
                                               NULL),
                         VEM_BAD_OPTION);
        io_says("77");
        const int32_t labels[2] = {0, 1};
        assert_int_equal(vem_labels_write(io_ctx, path, labels, -2), VEM_BAD_OPTION);
        assert_int_equal(vem_classes_write(io_ctx, path, labels, -2), VEM_BAD_OPTION);
    }
    const int32_t clusters[1] = {0};
    assert_int_equal(vem_soft_write(io_ctx, io_path("s.npz"), clusters, one, -1, 1),
                     VEM_BAD_OPTION);
    assert_int_equal(vem_soft_write(io_ctx, io_path("s.csv"), clusters, one, 1, -1),
                     VEM_BAD_OPTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(small_types),
        cmocka_unit_test(other_headers),
        cmocka_unit_test(wrong_content),
        cmocka_unit_test(hostile_headers),
        cmocka_unit_test(headers_that_end_too_early),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(columns_by_number),
        cmocka_unit_test(arrays_that_are_none),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
