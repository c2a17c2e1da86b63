/* Sparse rows of the caller's arrays are the rows they say, and the density of each row adds up to
 * the likelihood of all. */
#include "context.h"

#include <string.h>

enum { N = 40, D = 3, C = 2, ENTRIES = N * D };

static int64_t starts[N + 1];
static int32_t columns[ENTRIES];
static double values[ENTRIES], dense[N * D];

/* Counts with many zeros; the entries of a row begin with its last column. */
static void make(void)
{
    int64_t count = 0;
    for (int i = 0; i < N; i++) {
        for (int j = D - 1; j >= 0; j--) {
            const double value = (i * 7 + j * 5) % 4;
            dense[i * D + j] = value;
            if (value == 0)
                continue;
            columns[count] = j;
            values[count++] = value;
        }
        starts[i + 1] = count;
    }
}

static void sparse_rows_are_dense_ones(void **state)
{
    (void)state;
    vem_data *data = NULL;
    double rows[N * D];
    make();
    assert_int_equal(vem_data_sparse(ctx, N, D, starts, columns, values, &data), VEM_OK);
    assert_int_equal(vem_data_rows(data), N);
    assert_int_equal(vem_data_columns(data), D);
    assert_int_equal(vem_data_get(ctx, data, 0, N, rows), VEM_OK);
    assert_memory_equal(rows, dense, sizeof rows);
    vem_data_free(data);
}

static void wrong_sparse_rows_are_refused(void **state)
{
    (void)state;
    vem_data *data = NULL;
    make();
#define REFUSED(words)                                                                   \
    do {                                                                                 \
        assert_int_equal(vem_data_sparse(ctx, N, D, starts, columns, values, &data),     \
                         VEM_BAD_DATA);                                                  \
        assert_non_null(strstr(vem_ctx_message(ctx), words));                            \
        assert_null(data);                                                               \
        make();                                                                          \
    } while (0)
    starts[0] = 1;
    REFUSED("begin at value 1");
    starts[0] = 0;
    starts[1] = starts[2] + 1;
    REFUSED("before its begin");
    columns[0] = D;
    REFUSED("column 4");
    columns[0] = -1;
    REFUSED("column 0");
    columns[0] = columns[1];
    REFUSED("more than once");
    values[0] = NAN;
    REFUSED("NaN");
#undef REFUSED
    assert_int_equal(vem_data_sparse(ctx, 0, D, starts, columns, values, &data),
                     VEM_BAD_DATA);
}

static void densities_add_up(void **state)
{
    (void)state;
    make();
    for (int f = 0; f < VEM_FAMILIES; f++) {
        vem_options options;
        vem_options_init(&options);
        options.clusters = C;
        options.family = f;
        vem_data *data = NULL;
        vem_model *model = NULL;
        vem_scores scores = {.size = sizeof scores};
        double each[N], ones[N * D], weights[N], sum = 0, mass = 0;
        for (int i = 0; i < N * D; i++)
            ones[i] = f == VEM_BERNOULLI ? dense[i] > 1 : dense[i];
        for (int i = 0; i < N; i++)
            mass += weights[i] = 1 + i % 3;
        assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, ones, N, D, 0, 0, &data),
                         VEM_OK);
        assert_int_equal(vem_data_set_weights(ctx, data, weights, N), VEM_OK);
        if (vem_fit(ctx, data, &options, NULL, &model, NULL) != VEM_OK ||
            vem_log_densities(ctx, model, data, VEM_DOUBLE, each) != VEM_OK ||
            vem_score(ctx, model, data, 0, VEM_DOUBLE, &scores) != VEM_OK)
            fail_msg("%s", vem_ctx_message(ctx));
        for (int i = 0; i < N; i++)
            sum += weights[i] * each[i];
        assert_true(fabs(sum / mass - scores.log_likelihood) <
                    1e-9 * (1 + fabs(scores.log_likelihood)));
        vem_model_free(model);
        vem_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_rows_are_dense_ones),
        cmocka_unit_test(wrong_sparse_rows_are_refused),
        cmocka_unit_test(densities_add_up),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
