/* Two-level seeding: rows of positive weight, as good a start as k-means++, and a number of
 * distances that grows with the root of the number of clusters. */
#include "data/points.h"
#include "run.h"
#include "seed/row_buckets.h"
#include "seed/seed.h"

#include "context.h"

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
    /* 16 times the clusters: 4 times the distances, and some room for unequal buckets. */
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
    assert_int_equal(vem_i_points_new(run_of(ctx), data, &request, &points), VEM_OK);
    for (uint64_t seed = 0; seed < 20; seed++) {
        int64_t items[C];
        vem_i_seeds seeds = {.items = items};
        assert_int_equal(vem_i_seed_two_level(run_of(ctx), &points->view, C, seed,
                                              &seeds),
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

static double square(const vem_view *view, int64_t a, int64_t b)
{
    const double *x = vem_i_view_row(view, a), *y = vem_i_view_row(view, b);
    double sum = 0;
    for (int32_t j = 0; j < view->d; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

/* The first center of a row is the nearest of those that were drawn in its bucket. */
static void first_centers_are_the_nearest_of_the_bucket(void **state)
{
    (void)state;
    enum {
        N = 3000,
        D = 20,
        C = 60,
        BUCKETS = C / 4 /* few clusters: four to a bucket */
    };
    double *x = blobs(N, D, 50), weights[N], squares[N];
    int32_t *first = malloc(N * sizeof *first), *labels = malloc(N * sizeof *labels);
    for (int i = 0; i < N; i++)
        weights[i] = i % 3 == 0 ? 0 : 1 + i % 5;
    vem_data *data;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, N, D, 0, 0, &data), VEM_OK);
    assert_int_equal(vem_data_set_weights(ctx, data, weights, N), VEM_OK);
    vem_i_points_request request = {.precision = VEM_DOUBLE, .phase = "read"};
    vem_i_points *points;
    assert_int_equal(vem_i_points_new(run_of(ctx), data, &request, &points), VEM_OK);
    const vem_view *view = &points->view;
    for (uint64_t seed = 0; seed < 3; seed++) {
        int64_t items[C], pairs = 0;
        int done;
        vem_i_seeds seeds = {.items = items, .first = first};
        const vem_progress told = {.phase = "seed", .total = C, .free_energy = NAN};
        assert_int_equal(vem_i_seed_two_level(run_of(ctx), view, C, seed, &seeds),
                         VEM_OK);
        assert_int_equal(vem_i_row_buckets(run_of(ctx), view, BUCKETS, seed, &told,
                                           labels, squares, &pairs, &done),
                         VEM_OK);
        assert_true(done);
        for (int i = 0; i < N; i++) {
            double least = INFINITY;
            for (int c = 0; c < C; c++)
                if (labels[items[c]] == labels[i])
                    least = fmin(least, square(view, i, items[c]));
            if (isinf(least)) { /* a bucket without mass */
                assert_int_equal(first[i], -1);
                continue;
            }
            assert_in_range(first[i], 0, C - 1);
            assert_int_equal(labels[items[first[i]]], labels[i]);
            assert_true(square(view, i, items[first[i]]) <= least * (1 + 1e-12));
        }
        for (int c = 0; c < C; c++)
            assert_true(square(view, items[c], items[first[items[c]]]) == 0);
    }
    vem_i_points_free(points);
    vem_data_free(data);
    free(x);
    free(first);
    free(labels);
}

/* Copies of a few rows, one of them far off and heavy: each place gets one center, however
 * small a bucket it is in, and then the rest go anywhere. */
static void every_place_gets_a_center(void **state)
{
    (void)state;
    enum { N = 4000, PLACES = 70, MANY = 200 };
    double x[2 * N];
    for (int i = 0; i < N; i++) {
        int place = i % PLACES;
        x[2 * i] = place == 0 ? 1e6 : place % 10;
        x[2 * i + 1] = place / 10;
    }
    vem_data *data;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, N, 2, 0, 0, &data), VEM_OK);
    vem_i_points_request request = {.precision = VEM_DOUBLE, .phase = "read"};
    vem_i_points *points;
    assert_int_equal(vem_i_points_new(run_of(ctx), data, &request, &points), VEM_OK);
    for (uint64_t seed = 0; seed < 5; seed++)
        for (int clusters = PLACES; clusters <= MANY; clusters += MANY - PLACES) {
            int64_t items[MANY];
            int found[PLACES] = {0};
            vem_i_seeds seeds = {.items = items};
            assert_int_equal(vem_i_seed_two_level(run_of(ctx), &points->view, clusters,
                                                  seed, &seeds),
                             VEM_OK);
            assert_int_equal(seeds.chosen, clusters);
            for (int c = 0; c < clusters; c++)
                found[items[c] % PLACES]++;
            for (int place = 0; place < PLACES; place++)
                assert_true(found[place] >= 1);
        }
    vem_i_points_free(points);
    vem_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_good_as_plusplus),
        cmocka_unit_test(distances_grow_with_the_root),
        cmocka_unit_test(rows_without_weight_are_never_drawn),
        cmocka_unit_test(first_centers_are_the_nearest_of_the_bucket),
        cmocka_unit_test(every_place_gets_a_center),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
