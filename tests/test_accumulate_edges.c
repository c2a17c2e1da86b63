/* Statistics of parts where numbers end: rows that are all alike, and as many parts as can be. */
#include "io_test.h"

#include "grid.h"

static vem_ctx *ctx;

static int set_up(void **state)
{
    const int status = io_setup(state);
    ctx = io_ctx;
    return status;
}

static vem_stats *part_of(const grid_data *data, const vem_model *model,
                          const vem_options *o)
{
    vem_data *rows = grid_borrow(ctx, data);
    vem_stats *stats = NULL;
    if (vem_accumulate(ctx, model, rows, o, &stats) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    vem_data_free(rows);
    return stats;
}

/* Rows that are all alike are a constant column to a part, too, wherever the model is: the floor is a
 * share of their square, and sums about a far place are taken again about a near one. */
static void rows_that_are_alike(void **state)
{
    (void)state;
    double x[3] = {5179.3057097721, 1780825.5211905588, 441970.5601909547};
    double weights[3] = {3, 0, 0}; /* of positive weight one row, or three */
    const double mean = 742658.4623637619, variance = 570693188000.1;
    const grid_data data = {3, 1, x, weights};
    GRID_EACH_SHAPED (family) {
        const vem_family_kind kind = (vem_family_kind)family;
        vem_options o = grid_options(1, kind, VEM_PRIOR_FREE, 1, VEM_DOUBLE, 2);
        vem_model *start = NULL, *next = NULL;
        assert_int_equal(vem_model_new(ctx, kind, 1, 1, &mean, NULL, &variance, &start),
                         VEM_OK);
        grid_fit fit = grid_run(ctx, &data, &o, start);
        vem_stats *stats = part_of(&data, start, &o);
        assert_int_equal(vem_stats_next(ctx, stats, &next), VEM_OK);
        grid_assert_near(vem_model_means(next)[0], x[0], 1e-9, "mean");
        grid_assert_near(vem_model_variances(next)[0] / vem_model_variances(fit.model)[0],
                         1, 1e-9, "variance");
        vem_model_free(next);
        vem_stats_free(stats);
        grid_fit_free(&fit);
        vem_model_free(start);
    }
}

/* As many parts as a file can name; what follows the last of them is a number, too. */
static void parts_without_end(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 60, 2, 14);
    vem_options o = grid_options(3, VEM_ISO, VEM_PRIOR_FREE, 1, VEM_DOUBLE, 2);
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    vem_stats *stats = part_of(&data, fit.model, &o), *back = NULL;
    const int64_t most = INT64_C(1) << 53, beyond[] = {most + 1, INT64_MAX};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vem_stats_set_part(ctx, stats, 5, beyond[i]), VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), "no more than 2^53"));
    }
    assert_int_equal(vem_stats_set_part(ctx, stats, most, most), VEM_OK);
    assert_int_equal(vem_stats_expect(ctx, stats, VEM_AUTO), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "1, 2, 3, 4, 5, 6, 7, 8 and"));
    const char *path = io_path("far.npz");
    assert_int_equal(vem_stats_write(ctx, stats, path), VEM_OK);
    assert_int_equal(vem_stats_read(ctx, path, &back), VEM_OK);
    vem_stats_free(back);
    vem_stats_free(stats);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_that_are_alike),
                                       cmocka_unit_test(parts_without_end)};
    return cmocka_run_group_tests(tests, set_up, io_teardown);
}
