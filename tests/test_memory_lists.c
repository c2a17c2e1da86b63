/* Second lists of rows: of any number of rows they take the memory of a chunk, and each row has the
 * lists that it has alone. */
#include "memory_hooks.h"

enum { N = 400000, D = 2, C = 40, LEFT = 300 };

static void lists_of_a_chunk(void **state)
{
    (void)state;
    double *x = malloc((size_t)N * D * sizeof *x), means[C * D], ones[C];
    int32_t *lists = malloc((size_t)N * 2 * sizeof *lists), some[LEFT * 2];
    vem_data *all = NULL, *last = NULL;
    vem_model *model = NULL;
    for (int64_t i = 0; i < (int64_t)N * D; i++) {
        vem_i_rng rng = vem_i_rng_at(3, VEM_RNG_TEST, 0, (uint64_t)i);
        x[i] = vem_i_rng_normal(&rng);
    }
    memcpy(means, x, sizeof means);
    for (int32_t c = 0; c < C; c++)
        ones[c] = 1;
    assert_int_equal(vem_model_new(ctx, VEM_ISO, C, D, means, NULL, ones, &model),
                     VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, N, D, 0, 0, &all), VEM_OK);
    const size_t before = in_use();
    highest = 0;
    watching = 1;
    assert_int_equal(vem_assign_spill(ctx, model, all, 1, VEM_DOUBLE, lists, NULL),
                     VEM_OK);
    watching = 0;
#ifndef VEM_SANITIZED /* whose memory is not counted */
    assert_true(highest > before);
    assert_true(highest - before < (size_t)N * 32 * sizeof *lists / 2);
#else
    (void)before;
#endif
    const int64_t at = N - LEFT;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x + at * D, LEFT, D, 0, 0, &last),
                     VEM_OK);
    assert_int_equal(vem_assign_spill(ctx, model, last, 1, VEM_DOUBLE, some, NULL),
                     VEM_OK);
    assert_memory_equal(lists + at * 2, some, sizeof some);
    vem_data_free(last);
    vem_data_free(all);
    vem_model_free(model);
    free(lists);
    free(x);
}

/* A label is never less than 0. */
static void one_list(void **state)
{
    (void)state;
    const double x[4] = {1, 2, 3, 4};
    int32_t lists[4];
    vem_data *rows = NULL;
    vem_model *model = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_ISO, 1, 2, x, NULL, x, &model), VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, 2, 2, 0, 0, &rows), VEM_OK);
    assert_int_equal(vem_assign_spill(ctx, model, rows, 1, VEM_DOUBLE, lists, NULL),
                     VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "the model has one cluster"));
    vem_data_free(rows);
    vem_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_of_a_chunk),
                                       cmocka_unit_test(one_list)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
