/* How many axes serve where there are many rows and clusters (coarse/leading_choose.c): more rows are asked,
 * of more centers, and what the axes lose is to be little. */
#include "base/rng.h"
#include "coarse/leading.h"
#include "context.h"
#include "engine.h"
#include "run.h"

enum { ROWS = 131072, COLUMNS = 128, MOST = 96, CLUMPS = 1500 };

/* Clusters and what is in them differ less from column to column. */
static grid_data rows_of_powers(void)
{
    grid_data data = {.n = ROWS, .d = COLUMNS};
    data.x = grid_zeros(ROWS, COLUMNS * sizeof(double));
    double *places = grid_zeros(CLUMPS, COLUMNS * sizeof(double));
    for (int64_t c = 0; c < CLUMPS; c++) {
        vem_i_rng rng = vem_i_rng_at(5, VEM_RNG_TEST, 1, (uint64_t)c);
        for (int64_t j = 0; j < COLUMNS; j++)
            places[c * COLUMNS + j] = vem_i_rng_normal(&rng) * pow((double)j + 1, -1);
    }
    for (int64_t i = 0; i < ROWS; i++) {
        vem_i_rng rng = vem_i_rng_at(5, VEM_RNG_TEST, 2, (uint64_t)i);
        for (int64_t j = 0; j < COLUMNS; j++)
            data.x[i * COLUMNS + j] =
                places[i * 7 % CLUMPS * COLUMNS + j] +
                vem_i_rng_normal(&rng) * 0.7 * pow((double)j + 1, -1);
    }
    free(places);
    return data;
}

static int32_t axes_for(const vem_view *view, int32_t clusters)
{
    vem_i_leading leading;
    assert_int_equal(vem_i_leading_new(run_of(ctx), view, MOST, clusters, &leading),
                     VEM_OK);
    const int32_t axes = leading.axes;
    vem_i_leading_free(&leading);
    return axes;
}

static void more_clusters_of_many_rows_take_more_axes(void **state)
{
    (void)state;
    assert_int_equal(vem_i_leading_many(ROWS, 1024), 1);
    assert_int_equal(vem_i_leading_many(ROWS, 1023), 0);
    assert_int_equal(vem_i_leading_many(ROWS - 1, 65536), 0);
    grid_data data = rows_of_powers();
    vem_options o = grid_options(4, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_SINGLE, 1);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 4);
    engine e;
    engine_new(&e, ctx, &data, &o, start);
    const int32_t few = axes_for(e.em.view, 512), many = axes_for(e.em.view, 1024);
    assert_true(few > 0);
    assert_true(few < many);
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_clusters_of_many_rows_take_more_axes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
