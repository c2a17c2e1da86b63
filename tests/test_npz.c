/* Archives as others write them: arrays in Fortran order; and what is known of columns, in models
 * and coresets, there and back. */
#include <zip.h>

#include "io_test.h"

/* Puts an array of doubles into an archive, in the place of what has its name. */
static void put_array(const char *path, const char *name, const char *shape, int fortran,
                      const double *values, size_t count)
{
    static char bytes[1024];
    char text[128];
    int error;
    snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': %s, 'shape': (%s), }",
             fortran ? "True" : "False", shape);
    const int length = snprintf(bytes, 129, "\x93NUMPY\x01%c\x76%c%-117s\n", 0, 0, text);
    assert_true(length == 128 && 128 + count * sizeof *values <= sizeof bytes);
    memcpy(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(bytes + 128, values, count * sizeof *values);
    zip_t *archive = zip_open(path, 0, &error);
    assert_non_null(archive);
    zip_source_t *source =
        zip_source_buffer(archive, bytes, 128 + count * sizeof *values, 0);
    assert_non_null(source);
    assert_true(zip_file_add(archive, name, source, ZIP_FL_OVERWRITE) >= 0);
    assert_int_equal(zip_close(archive), 0);
}

static void fortran_order(void **state)
{
    (void)state;
    enum { C = 3, D = 2 };
    const double means[C * D] = {1, 2, 3, 4, 5, 6};
    double full[C * D * D], turned[C * D * D];
    for (int c = 0; c < C; c++)
        for (int j = 0; j < D; j++)
            for (int k = 0; k < D; k++) {
                const double value = j == k ? 10 * (c + 1) + j : c + 1;
                full[(c * D + j) * D + k] = turned[(k * D + j) * C + c] = value;
            }
    vem_model *model = NULL, *back = NULL;
    assert_int_equal(vem_model_new(io_ctx, VEM_FULL, C, D, means, NULL, full, &model),
                     VEM_OK);
    char path[400];
    strcpy(path, io_path("m.npz"));
    assert_int_equal(vem_model_write(io_ctx, model, path), VEM_OK);
    put_array(path, "variances.npy", "3, 2, 2", 1, turned, C * D * D);
    const double by_column[C * D] = {1, 3, 5, 2, 4, 6};
    put_array(path, "means.npy", "3, 2", 1, by_column, C * D);
    if (vem_model_read(io_ctx, path, &back) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    assert_memory_equal(vem_model_variances(back), full, sizeof full);
    assert_memory_equal(vem_model_means(back), means, sizeof means);
    vem_model_free(back);
    vem_model_free(model);
}

static const char table[] = "name,\"a \"\"q\"\"\",b\nann,1,2\nbob,3,NA\ncarl,5,6\n";

static vem_data *read_table(void)
{
    const vem_read_options how = {.size = sizeof how,
                                  .id = "name",
                                  .keep_ids = 1,
                                  .missing = VEM_MISSING_MEAN};
    vem_data *data = NULL;
    if (vem_data_read(io_ctx, io_text("t.csv", table), &how, &data) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    return data;
}

static void names_of_a_coreset(void **state)
{
    (void)state;
    vem_data *data = read_table(), *coreset = NULL;
    assert_int_equal(vem_coreset(io_ctx, data, 3, VEM_CORESET_UNIFORM, 1, &coreset),
                     VEM_OK);
    char path[400];
    strcpy(path, io_path("k.npz"));
    assert_int_equal(vem_coreset_write(io_ctx, coreset, path), VEM_OK);
    vem_data *back = io_read(path);
    assert_int_equal(vem_data_rows(back), vem_data_rows(coreset));
    assert_string_equal(vem_data_column_name(back, 0), "a \"q\"");
    assert_string_equal(vem_data_column_name(back, 1), "b");
    assert_non_null(vem_data_means(back));
    assert_true(vem_data_means(back)[0] == 3 && vem_data_means(back)[1] == 4);
    vem_data_free(back);
    vem_data_free(coreset);
    vem_data_free(data);
}

static void names_of_a_model(void **state)
{
    (void)state;
    vem_data *data = read_table();
    vem_model *model = NULL, *back = NULL, *copy = NULL;
    vem_options o;
    vem_options_init(&o);
    o.clusters = 1;
    assert_int_equal(vem_fit(io_ctx, data, &o, NULL, &model, NULL), VEM_OK);
    assert_int_equal(vem_model_set_meta(io_ctx, model, "{\"by\": \"hand\"}"), VEM_OK);
    assert_int_equal(vem_model_write(io_ctx, model, io_path("n.npz")), VEM_OK);
    assert_int_equal(vem_model_read(io_ctx, io_path("n.npz"), &back), VEM_OK);
    assert_int_equal(vem_model_copy(io_ctx, back, &copy), VEM_OK);
    for (int i = 0; i < 2; i++) {
        const vem_model *m = i ? copy : back;
        assert_string_equal(vem_model_column_name(m, 0), "a \"q\"");
        assert_string_equal(vem_model_column_name(m, 1), "b");
        assert_int_equal(vem_model_ids(m), 1);
        assert_string_equal(vem_model_id_name(m, 0), "name");
        assert_true(vem_model_column_means(m)[0] == 3 &&
                    vem_model_column_means(m)[1] == 4);
        assert_non_null(strstr(vem_model_meta(m), "hand"));
    }
    /* What the model knows stands for what is missing. */
    const vem_read_options how = {.size = sizeof how,
                                  .model = back,
                                  .missing = VEM_MISSING_MEAN};
    vem_data *rows = NULL;
    assert_int_equal(vem_data_read(io_ctx,
                                   io_text("u.csv", "b,\"a \"\"q\"\"\"\nNA,8\n7,9\n"),
                                   &how, &rows),
                     VEM_OK);
    io_holds(rows, 2, 2, (const double[]){8, 4, 9, 7});
    vem_data_free(rows);
    vem_model_free(copy);
    vem_model_free(back);
    vem_model_free(model);
    vem_data_free(data);
}

/* Means of the columns of rows that are divided by their length: those of the rows as they were. */
static void means_of_normalized_rows(void **state)
{
    (void)state;
    const double x[8] = {1, 10, 2, 20, 3, 33, 6, 1}, weights[4] = {1, 2, 0, 1};
    vem_data *data = NULL;
    vem_model *model = NULL;
    vem_options o;
    vem_options_init(&o);
    o.clusters = 1;
    o.normalize = 1;
    assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, x, 4, 2, 0, 0, &data), VEM_OK);
    assert_int_equal(vem_data_set_weights(io_ctx, data, weights, 4), VEM_OK);
    assert_int_equal(vem_fit(io_ctx, data, &o, NULL, &model, NULL), VEM_OK);
    assert_true(fabs(vem_model_column_means(model)[0] - 2.75) < 1e-12);
    assert_true(fabs(vem_model_column_means(model)[1] - 12.75) < 1e-12);
    vem_model_free(model);
    vem_data_free(data);
    /* Of these rows and no more, whatever lies behind them. */
    assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, x, 3, 2, 0, 0, &data), VEM_OK);
    assert_int_equal(vem_fit(io_ctx, data, &o, NULL, &model, NULL), VEM_OK);
    assert_true(fabs(vem_model_column_means(model)[0] - 2) < 1e-12);
    assert_true(fabs(vem_model_column_means(model)[1] - 21) < 1e-12);
    vem_model_free(model);
    vem_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fortran_order),
        cmocka_unit_test(names_of_a_coreset),
        cmocka_unit_test(names_of_a_model),
        cmocka_unit_test(means_of_normalized_rows),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
