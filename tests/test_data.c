/* Rows in memory: strides, types, byte orders, columns, weights. */
#include "io_test.h"
#include "run.h"

#include "base/memory.h"

static vem_data *borrow(vem_dtype type, const void *values, int64_t n, int32_t d,
                        int64_t row, int64_t column)
{
    vem_data *data = NULL;
    assert_int_equal(vem_data_borrow(io_ctx, type, values, n, d, row, column, &data),
                     VEM_OK);
    return data;
}

static void every_type(void **state)
{
    const float f4[] = {1.5f, -2, 3, 4, 5, 6};
    const double f8[] = {1.5, -2, 3, 4, 5, 6};
    const uint8_t u1[] = {1, 2, 3, 4, 5, 255};
    const int32_t i4[] = {1, -2, 3, 4, 5, INT32_MIN};
    const int64_t i8[] = {1, -2, 3, 4, 5, (int64_t)1 << 50};
    const void *const values[] = {f4, f8, u1, i4, i8};
    const double expected[][6] = {{1.5, -2, 3, 4, 5, 6},
                                  {1.5, -2, 3, 4, 5, 6},
                                  {1, 2, 3, 4, 5, 255},
                                  {1, -2, 3, 4, 5, INT32_MIN},
                                  {1, -2, 3, 4, 5, 0x1p50}};
    (void)state;
    for (int type = VEM_FLOAT32; type <= VEM_INT64; type++) {
        vem_data *data = borrow((vem_dtype)type, values[type], 2, 3, 0, 0);
        assert_int_equal(vem_data_dtype(data), type);
        assert_string_equal(vem_data_format(data), "memory");
        assert_null(vem_data_column_name(data, 0));
        io_holds(data, 2, 3, expected[type]);
        float single[8] = {0};
        vem_i_data_load(data, 0, 2, VEM_SINGLE, single, 4); /* with a gap between rows */
        for (int j = 0; j < 3; j++) {
            assert_true(single[j] == (float)expected[type][j]);
            assert_true(single[4 + j] == (float)expected[type][3 + j]);
        }
        assert_true(single[3] == 0 && single[7] == 0);
        vem_data_free(data);
    }
}

/* Every combination of order, gap, byte order and picked columns gives the same numbers.
 */
static void strides_and_swaps(void **state)
{
    enum { N = 150, D = 7 };
    static char bytes[N * D * 8 * 2 + 1];
    static double expected[N * D];
    (void)state;
    for (int i = 0; i < N * D; i++)
        expected[i] = i * 0.25 - 100;
    for (int way = 0; way < 16; way++) {
        const int fortran = way & 1, gap = way >> 1 & 1, swapped = way >> 2 & 1,
                  odd = way >> 3;
        const int64_t step = gap ? 16 : 8;
        const int64_t row = fortran ? step : step * D, column = fortran ? step * N : step;
        char *base = bytes + odd; /* not aligned */
        for (int i = 0; i < N; i++)
            for (int j = 0; j < D; j++) {
                uint64_t word;
                memcpy(&word, &expected[i * D + j], 8);
                word = swapped ? __builtin_bswap64(word) : word;
                memcpy(base + i * row + j * column, &word, 8);
            }
        vem_data *data = borrow(VEM_FLOAT64, base, N, D, row, column);
        data->swapped = swapped;
        io_holds(data, N, D, expected);
        double part[3 * D];
        assert_int_equal(vem_data_get(io_ctx, data, 70, 3, part), VEM_OK);
        assert_memory_equal(part, expected + 70 * D, sizeof part);

        assert_int_equal(vem_i_take(run_of(io_ctx), &data->columns, 2, sizeof(int32_t)),
                         VEM_OK);
        data->columns[0] = 5;
        data->columns[1] = 0;
        data->d = 2;
        double picked[2 * N];
        assert_int_equal(vem_data_get(io_ctx, data, 0, N, picked), VEM_OK);
        for (int i = 0; i < N; i++) {
            assert_true(picked[2 * i] == expected[i * D + 5]);
            assert_true(picked[2 * i + 1] == expected[i * D]);
        }
        vem_data_free(data);
    }
}

static void backwards(void **state)
{
    const float values[] = {1, 2, 3, 4};
    const double expected[] = {4, 3, 2, 1};
    (void)state;
    vem_data *data = borrow(VEM_FLOAT32, values + 3, 2, 2, -8, -4);
    io_holds(data, 2, 2, expected);
    vem_data_free(data);
}

static void wrong_arguments(void **state)
{
    const double values[4] = {0};
    double rows[4];
    vem_data *data = NULL;
    (void)state;
    assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, values, 0, 2, 0, 0, &data),
                     VEM_BAD_DATA);
    io_says("0 rows and 2 columns");
    assert_int_equal(vem_data_borrow(io_ctx, (vem_dtype)99, values, 1, 2, 0, 0, &data),
                     VEM_BAD_OPTION);
    io_says("type of the values is 99");
    assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, NULL, 1, 2, 0, 0, &data),
                     VEM_BAD_OPTION);
    io_says("NULL");
    assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, values, INT64_MAX / 8, 2, 0, 0,
                                     &data),
                     VEM_BAD_DATA);
    io_says("do not fit into memory");
    assert_null(data);
    data = borrow(VEM_FLOAT64, values, 2, 2, 0, 0);
    assert_int_equal(vem_data_get(io_ctx, data, 1, 2, rows), VEM_BAD_OPTION);
    io_says("2 rows after the first 1 were asked for, but the data have 2 rows");
    assert_int_equal(vem_data_get(io_ctx, data, 2, 0, rows), VEM_OK);
    vem_data_free(data);
    vem_data_free(NULL);
}

static void weights(void **state)
{
    const double values[3] = {1, 2, 3};
    const double good[] = {0, 2, 0.5}, negative[] = {1, -1, 1}, nan_one[] = {1, 1, NAN},
                 zero[3] = {0}, infinite[] = {1, INFINITY, 1};
    (void)state;
    vem_data *data = borrow(VEM_FLOAT64, values, 3, 1, 0, 0);
    assert_null(vem_data_weights(data));
    assert_int_equal(vem_data_set_weights(io_ctx, data, good, 3), VEM_OK);
    assert_memory_equal(vem_data_weights(data), good, sizeof good);
    assert_int_equal(vem_data_set_weights(io_ctx, data, good, 2), VEM_BAD_DATA);
    io_says("2 weights, but the data have 3 rows");
    assert_int_equal(vem_data_set_weights(io_ctx, data, negative, 3), VEM_BAD_DATA);
    io_says("row 2: the weight is -1");
    assert_int_equal(vem_data_set_weights(io_ctx, data, nan_one, 3), VEM_BAD_DATA);
    io_says("row 3: the weight is nan");
    assert_int_equal(vem_data_set_weights(io_ctx, data, infinite, 3), VEM_BAD_DATA);
    io_says("row 2: the weight is inf");
    assert_int_equal(vem_data_set_weights(io_ctx, data, zero, 3), VEM_BAD_DATA);
    io_says("sum to 0");
    assert_memory_equal(vem_data_weights(data), good, sizeof good); /* kept on error */
    assert_int_equal(vem_data_set_weights(io_ctx, data, NULL, 0), VEM_OK);
    assert_null(vem_data_weights(data));
    vem_data_free(data);
}

/* Values that are part of two rows are a wrong stride; a message of before is gone. */
static void overlaps(void **state)
{
    const double values[12] = {0};
    vem_data *data = NULL;
    (void)state;
    const int64_t wrong[][2] = {{8, 8}, {16, 8}, {4, 8}, {24, 4}, {8, 16}, {4, 64}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, values, 4, 3, wrong[i][0],
                                         wrong[i][1], &data),
                         VEM_BAD_DATA);
        io_says("overlap: a value of this type takes 8 bytes");
        assert_null(data);
    }
    /* By columns; every other column of five; one row; one column. */
    const int64_t right[][4] = {{4, 3, 8, 32},
                                {2, 3, 40, 16},
                                {1, 3, 1, 8},
                                {4, 1, 8, 1}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, values, right[i][0],
                                         (int32_t)right[i][1], right[i][2], right[i][3],
                                         &data),
                         VEM_OK);
        assert_string_equal(vem_ctx_message(io_ctx), "");
        vem_data_free(data);
        data = NULL;
    }
}

/* Advice is for the caller: who has rows in memory has no option --missing. */
static void advice_for_memory(void **state)
{
    const double values[] = {1, 2, NAN, 4};
    vem_options o;
    (void)state;
    vem_options_init(&o);
    o.clusters = 1;
    vem_data *data = borrow(VEM_FLOAT64, values, 4, 1, 0, 0);
    assert_int_equal(vem_fit(io_ctx, data, &o, NULL, NULL, NULL), VEM_BAD_DATA);
    io_says("before the data are borrowed");
    assert_null(strstr(vem_ctx_message(io_ctx), "--missing"));
    vem_data_free(data);
}

/* VEM_AUTO is what the type of the rows suggests, to the bit. */
static void precision_is_chosen(void **state)
{
    const double means[] = {0.1, 3.3}, variance = 0.7;
    const float rows[] = {0.3F, 1.1F, 2.7F, 3.1F};
    vem_model *model;
    vem_scores automatic = {.size = sizeof automatic}, single = automatic,
               wide = automatic;
    int32_t labels[4];
    (void)state;
    assert_int_equal(vem_model_new(io_ctx, VEM_ISO_SHARED, 2, 1, means, NULL, &variance,
                                   &model),
                     VEM_OK);
    vem_data *data = borrow(VEM_FLOAT32, rows, 4, 1, 0, 0);
    const vem_precision open = (vem_precision)VEM_AUTO;
    assert_int_equal(vem_score(io_ctx, model, data, 0, open, &automatic), VEM_OK);
    assert_int_equal(vem_score(io_ctx, model, data, 0, VEM_SINGLE, &single), VEM_OK);
    assert_int_equal(vem_score(io_ctx, model, data, 0, VEM_DOUBLE, &wide), VEM_OK);
    assert_true(automatic.log_likelihood == single.log_likelihood);
    assert_true(automatic.log_likelihood != wide.log_likelihood);
    assert_int_equal(vem_assign(io_ctx, model, data, 1, open, labels, NULL), VEM_OK);
    vem_data_free(data);
    vem_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),        cmocka_unit_test(strides_and_swaps),
        cmocka_unit_test(backwards),         cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(weights),           cmocka_unit_test(overlaps),
        cmocka_unit_test(advice_for_memory), cmocka_unit_test(precision_is_chosen),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
