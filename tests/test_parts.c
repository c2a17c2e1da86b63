/* Several files as one data set: rows, types, names, ids, weights, and what is refused. */
#include "io_test.h"

static vem_data *join(const char *const *paths, int32_t count, vem_read_options how)
{
    vem_data *data = NULL;
    how.size = sizeof how;
    if (vem_data_read_parts(io_ctx, paths, count, &how, &data) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    return data;
}

static void refuses(const char *const *paths, int32_t count, vem_read_options how,
                    vem_status expected, const char *words)
{
    vem_data *data = NULL;
    how.size = sizeof how;
    assert_int_equal(vem_data_read_parts(io_ctx, paths, count, &how, &data), expected);
    assert_null(data);
    io_says(words);
}

/* Columns of later files are found by the names of the first, in its order. */
static void names_pick_columns(void **state)
{
    (void)state;
    const char *const paths[3] = {io_text("a.csv", "x,y\n1,2\n3,4\n"),
                                  io_text("b.csv", "y;z;x\n6,5;9;5\n"),
                                  io_text("c.csv", "7,8\n9,10\n")};
    vem_data *data = join(paths, 3, (vem_read_options){0});
    io_holds(data, 5, 2, (const double[]){1, 2, 3, 4, 5, 6.5, 7, 8, 9, 10});
    assert_string_equal(vem_data_column_name(data, 0), "x");
    assert_string_equal(vem_data_column_name(data, 1), "y");
    assert_string_equal(vem_data_format(data), "csv");
    assert_null(vem_data_weights(data));
    assert_int_equal(vem_data_ids(data), 0);
    assert_int_equal(vem_data_header(data), VEM_HEADER_YES);
    assert_int_equal(vem_data_part_header(data, 1), VEM_HEADER_YES);
    assert_int_equal(vem_data_part_header(data, 2), VEM_HEADER_NO);
    assert_int_equal(vem_data_decimal(data), '.');
    assert_int_equal(vem_data_part_decimal(data, 1), ',');
    vem_data_free(data);
    /* Columns that were picked are picked in each. */
    data = join(paths, 2, (vem_read_options){.columns = "y"});
    io_holds(data, 3, 1, (const double[]){2, 4, 6.5});
    vem_data_free(data);
    const char *const other[2] = {paths[0], io_text("d.csv", "1,2,3\n4,5,6\n")};
    refuses(other, 2, (vem_read_options){0}, VEM_BAD_DATA, "columns");
    const char *const absent[2] = {paths[0], io_path("none.csv")};
    refuses(absent, 2, (vem_read_options){0}, VEM_IO_ERROR, "none.csv");
}

/* One type: that of all, else the float that holds every value. */
static void types_meet(void **state)
{
    (void)state;
    const float singles[4] = {0.5f, 1.5f, 2.5f, 3.5f};
    const double doubles[2] = {0.1, 0.2};
    const uint8_t bytes[2] = {7, 255};
    const int64_t wide[2] = {INT64_C(1) << 40, -3};
    static const char *const names[4] = {"f.npy", "g.npy", "h.npy", "i.npy"};
    char path[4][400];
    for (int i = 0; i < 4; i++)
        strcpy(path[i], io_path(names[i]));
    assert_int_equal(vem_array_write(io_ctx, path[0], VEM_FLOAT32, singles, 2, 2),
                     VEM_OK);
    assert_int_equal(vem_array_write(io_ctx, path[1], VEM_FLOAT64, doubles, 1, 2),
                     VEM_OK);
    assert_int_equal(vem_array_write(io_ctx, path[2], VEM_UINT8, bytes, 1, 2), VEM_OK);
    assert_int_equal(vem_array_write(io_ctx, path[3], VEM_INT64, wide, 1, 2), VEM_OK);
    const struct {
        int a, b;
        vem_dtype type;
    } cases[] = {{0, 0, VEM_FLOAT32}, {0, 2, VEM_FLOAT32}, {2, 2, VEM_UINT8},
                 {0, 1, VEM_FLOAT64}, {2, 3, VEM_FLOAT64}, {3, 3, VEM_INT64}};
    const double values[4][4] = {{0.5, 1.5, 2.5, 3.5},
                                 {0.1, 0.2},
                                 {7, 255},
                                 {1099511627776.0, -3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const paths[2] = {path[cases[i].a], path[cases[i].b]};
        const int first = cases[i].a == 0 ? 4 : 2, second = cases[i].b == 0 ? 4 : 2;
        double expected[8];
        memcpy(expected, values[cases[i].a], (size_t)first * sizeof *expected);
        memcpy(expected + first, values[cases[i].b], (size_t)second * sizeof *expected);
        vem_data *data = join(paths, 2, (vem_read_options){0});
        assert_int_equal(vem_data_dtype(data), cases[i].type);
        io_holds(data, (first + second) / 2, 2, expected);
        assert_string_equal(vem_data_format(data), "npy");
        vem_data_free(data);
    }
}

/* More rows than are moved at a time, of another type, behind a table. */
static void many_rows(void **state)
{
    (void)state;
    enum { N = 700 };
    float rows[N];
    double expected[N + 2] = {1, 2};
    for (int i = 0; i < N; i++)
        expected[i + 2] = rows[i] = (float)i / 4;
    const char *const paths[2] = {io_text("few.csv", "1\n2\n"), io_path("many.npy")};
    assert_int_equal(vem_array_write(io_ctx, paths[1], VEM_FLOAT32, rows, N, 1), VEM_OK);
    vem_data *data = join(paths, 2, (vem_read_options){0});
    io_holds(data, N + 2, 1, expected);
    assert_string_equal(vem_data_format(data), "several");
    vem_data_free(data);
    const char *const twice[2] = {paths[1], paths[1]};
    data = join(twice, 2, (vem_read_options){0});
    memcpy(expected, expected + 2, 2 * sizeof *expected);
    double value;
    for (int i = 0; i < 2 * N; i++) {
        assert_int_equal(vem_data_get(io_ctx, data, i, 1, &value), VEM_OK);
        assert_true(value == (double)(i % N) / 4);
    }
    vem_data_free(data);
}

/* Ids are those of the first file that has some, by name; empty where a file has none. */
static void ids_follow(void **state)
{
    (void)state;
    const char *const paths[3] = {
        io_text("a.csv", "name,x,city\nann,1,\"Bonn, Rhine\"\nbob,2,Rome\n"),
        io_text("b.csv", "city,name,x\nOslo,carla,3\n"), io_text("c.csv", "x\n4\n5\n")};
    vem_data *data = join(paths, 2, (vem_read_options){.id = "name,city", .keep_ids = 1});
    io_holds(data, 3, 1, (const double[]){1, 2, 3});
    assert_int_equal(vem_data_ids(data), 2);
    assert_string_equal(vem_data_id_name(data, 0), "name");
    assert_string_equal(vem_data_id_name(data, 1), "city");
    static const char *const ids[3][2] = {{"ann", "Bonn, Rhine"},
                                          {"bob", "Rome"},
                                          {"carla", "Oslo"}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            assert_string_equal(vem_data_id(data, k, i), ids[i][k]);
    vem_data_free(data);
}

/* Missing values and weights are those of all rows. */
static void rows_of_all(void **state)
{
    (void)state;
    const char *const paths[2] = {io_text("a.csv", "x,y\n1,2\nNA,4\n"),
                                  io_text("b.csv", "x,y\n4,NA\n7,9\n")};
    const char *weights = io_text("w.txt", "1\n2\n3\n4\n");
    vem_data *data =
        join(paths, 2,
             (vem_read_options){.missing = VEM_MISSING_DROP, .weights = weights});
    io_holds(data, 2, 2, (const double[]){1, 2, 7, 9});
    assert_int_equal(vem_data_rows_read(data), 4);
    assert_int_equal(vem_data_missing(data), 2);
    assert_int_equal(vem_data_row(data, 1), 3);
    assert_true(vem_data_weights(data)[0] == 1 && vem_data_weights(data)[1] == 4);
    vem_data_free(data);
    data = join(paths, 2, (vem_read_options){.missing = VEM_MISSING_MEAN});
    io_holds(data, 4, 2, (const double[]){1, 2, 4, 4, 4, 5, 7, 9});
    vem_data_free(data);
    data = join(paths, 2, (vem_read_options){.missing = VEM_MISSING_KEEP});
    io_holds(data, 4, 2, (const double[]){1, 2, NAN, 4, 4, NAN, 7, 9});
    assert_int_equal(vem_data_missing(data), 2);
    vem_data_free(data);
    refuses(paths, 2, (vem_read_options){0}, VEM_BAD_DATA,
            "The data: 2 values are missing, in 2 of 4 rows; the first in /");
    refuses(paths, 2, (vem_read_options){.weights = io_text("w.txt", "1\n2\n")},
            VEM_BAD_DATA, "has 2 weights, but the data have 4 rows");
}

/* One row with a value missing is a row with a value missing, not a column without values. */
static void one_row(void **state)
{
    (void)state;
    io_refuses(io_text("a.csv", "x,y\n1,NA\n"), VEM_BAD_DATA,
               "1 value is missing, in 1 of 1 rows");
    io_refuses(io_text("a.csv", "x,y\n1,NA\n2,NA\n"), VEM_BAD_DATA, "column 2 (y)");
}

/* A coreset brings its weights; rows of other files weigh 1. */
static void coresets_weigh(void **state)
{
    (void)state;
    const double rows[4] = {1, 2, 3, 4}, masses[4] = {5, 6, 7, 8};
    vem_data *data = NULL, *coreset = NULL;
    assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, rows, 4, 1, 0, 0, &data),
                     VEM_OK);
    assert_int_equal(vem_data_set_weights(io_ctx, data, masses, 4), VEM_OK);
    assert_int_equal(vem_coreset(io_ctx, data, 4, VEM_CORESET_UNIFORM, 1, &coreset),
                     VEM_OK);
    const char *const paths[2] = {io_text("a.csv", "9\n8\n"), io_path("k.npz")};
    assert_int_equal(vem_coreset_write(io_ctx, coreset, paths[1]), VEM_OK);
    vem_data *all = join(paths, 2, (vem_read_options){0});
    const int64_t kept = vem_data_rows(coreset);
    assert_int_equal(vem_data_rows(all), kept + 2);
    const double *weights = vem_data_weights(all);
    assert_true(weights[0] == 1 && weights[1] == 1);
    assert_memory_equal(weights + 2, vem_data_weights(coreset),
                        (size_t)kept * sizeof *weights);
    vem_data_free(all);
    vem_data_free(coreset);
    vem_data_free(data);
}

/* Of each column the advice of the first file that has one. */
static void advice_is_kept(void **state)
{
    (void)state;
    const char *const paths[2] = {io_text("a.csv", "x,y\n1,2\n3,4\n"),
                                  io_text("b.csv", "x,y\n1,2%\n3,5%\n")};
    const vem_read_options how = {.text_is_missing = 1, .missing = VEM_MISSING_KEEP};
    vem_data *data = join(paths, 2, how);
    assert_null(vem_data_column_advice(data, 0));
    assert_non_null(vem_data_column_advice(data, 1));
    vem_data_free(data);
    /* What is longer than any number is none with signs in it. */
    char text[200];
    for (int groups = 1; groups <= 30; groups += 29) {
        strcpy(text, "x\n\"1");
        for (int g = 0; g < groups; g++)
            strcat(text, ",234");
        strcat(text, "\"\n");
        const char *const one[2] = {io_text("l.csv", text), io_text("m.csv", "x\n1\n")};
        data = join(one, 2, how);
        assert_true((vem_data_column_advice(data, 0) != NULL) == (groups == 1));
        vem_data_free(data);
    }
    static const char nul[] = "x\n\"1,234\0%\"\n"; /* nor is what has a NUL in it */
    const char *const odd[2] = {io_put("n.csv", nul, sizeof nul - 1),
                                io_text("m.csv", "x\n1\n")};
    data = join(odd, 2, how);
    assert_null(vem_data_column_advice(data, 0));
    vem_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_pick_columns), cmocka_unit_test(types_meet),
        cmocka_unit_test(many_rows),          cmocka_unit_test(ids_follow),
        cmocka_unit_test(rows_of_all),        cmocka_unit_test(coresets_weigh),
        cmocka_unit_test(advice_is_kept),     cmocka_unit_test(one_row),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
