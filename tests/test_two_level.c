/* Two-level seeding: rows of positive weight, as good a start as k-means++, and a number of
 * distances that grows with the root of the number of clusters. */
#include "grid.h"

#include <math.h>

#include "data/points.h"
#include "seed/seed.h"

static vem_ctx *ctx;

static int set_up(void **state)
{
    (void)state;
    return vem_ctx_new(&ctx);
}

static int tear_down(void **state)
{
    (void)state;
    vem_ctx_free(ctx);
    return 0;
}

/* Many blobs of unequal size, deterministic. */
static double *blobs(int64_t n, int32_t d, int32_t centers)
{
    double *x = malloc((size_t)n * (size_t)d * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++) {
        vem_i_rng rng = vem_i_rng_at(5, VEM_RNG_TEST, 0, (uint64_t)i);
        double u = vem_i_rng_uniform(&rng);
        vem_i_rng place =
            vem_i_rng_at(6, VEM_RNG_TEST, 0, (uint64_t)(u * u * (double)centers));
        for (int32_t j = 0; j < d; j++)
            x[i * d + j] = 8 * vem_i_rng_normal(&place) + vem_i_rng_normal(&rng);
    }
    return x;
}

static vem_summary fit(vem_data *data, int32_t clusters, vem_seeding seeding,
                       int64_t seed, int64_t steps)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = clusters;
    o.algorithm = VEM_ALGORITHM_KMEANS;
    o.seeding = seeding;
    o.seed = seed;
    o.max_steps = steps;
    o.measure = steps > 1;
    vem_model *model;
    vem_report *report;
    assert_int_equal(vem_fit(ctx, data, &o, NULL, &model, &report), VEM_OK);
    vem_summary summary = *vem_report_summary(report);
    vem_model_free(model);
    vem_report_free(report);
    return summary;
}

static void as_good_as_plusplus(void **state)
{
    (void)state;
    enum { N = 20000, D = 6, C = 300, SEEDS = 5 };
    double *x = blobs(N, D, 200), ours = 0, theirs = 0;
    vem_data *data;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, N, D, 0, 0, &data), VEM_OK);
    for (int64_t seed = 1; seed <= SEEDS; seed++) {
        ours += fit(data, C, VEM_SEED_TWO_LEVEL, seed, 20).quantization_error;
        theirs += fit(data, C, VEM_SEED_PLUSPLUS, seed, 20).quantization_error;
    }
    assert_true(ours < 1.02 * theirs);
    vem_data_free(data);
    free(x);
}

static void distances_grow_with_the_root(void **state)
{
    (void)state;
    enum { N = 60000, D = 3 };
    double *x = blobs(N, D, 500);
    vem_data *data;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, N, D, 0, 0, &data), VEM_OK);
    double few = (double)fit(data, 250, VEM_SEED_TWO_LEVEL, 1, 1).seed_pairs;
    double many = (double)fit(data, 4000, VEM_SEED_TWO_LEVEL, 1, 1).seed_pairs;
    /* 16 times the clusters: 4 times the distances, and some room for unequal cells. */
    assert_true(many < 6 * few);
    assert_true(many < 0.2 * N * 4000.0);
    vem_data_free(data);
    free(x);
}

static void rows_without_weight_are_never_drawn(void **state)
{
    (void)state;
    enum { N = 3000, D = 2, C = 60 };
    double *x = blobs(N, D, 50), weights[N];
    for (int i = 0; i < N; i++)
        weights[i] = i % 3 == 0 ? 0 : 1 + i % 5;
    vem_data *data;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, N, D, 0, 0, &data), VEM_OK);
    assert_int_equal(vem_data_set_weights(ctx, data, weights, N), VEM_OK);
    vem_i_points_request request = {.precision = VEM_DOUBLE, .phase = "read"};
    vem_i_points *points;
    assert_int_equal(vem_i_points_new(ctx, data, &request, &points), VEM_OK);
    for (uint64_t seed = 0; seed < 20; seed++) {
        int64_t items[C];
        vem_i_seeds seeds = {.items = items};
        assert_int_equal(vem_i_seed_two_level(ctx, &points->view, C, seed, &seeds),
                         VEM_OK);
        assert_int_equal(seeds.chosen, C);
        for (int a = 0; a < C; a++) {
            assert_true(weights[items[a]] > 0);
            for (int b = 0; b < a; b++)
                assert_int_not_equal(items[a], items[b]);
        }
    }
    vem_i_points_free(points);
    vem_data_free(data);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_good_as_plusplus),
        cmocka_unit_test(distances_grow_with_the_root),
        cmocka_unit_test(rows_without_weight_are_never_drawn),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
