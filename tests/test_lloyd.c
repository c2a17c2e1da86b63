/* One held cluster, a shared variance and a flat prior are Lloyd's algorithm, whatever
 * the variance; with a margin, lazy-k-means. Label for label, step for step, beside naive
 * loops; and in single precision where the dot form of the distance has no digits left.
 */
#include <float.h>

#include "data/points.h"
#include "model/units.h"
#include "naive.h"
#include "run.h"
#include "search/search.h"

#include "context.h"

/* Rows with another label; of those that weigh something only, with `weights`. */
static int64_t differing(const int32_t *a, const int32_t *b, int64_t n,
                         const double *weights)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += a[i] != b[i] && (!weights || weights[i] > 0);
    return count;
}

/* Steps 1, 2, ... of vem_fit against the naive loop, with labels and errors; both end in
 * the same step. */
static void follow(const grid_data *data, int32_t clusters, double margin)
{
    vem_model *start = grid_start(ctx, data, VEM_ISO_SHARED, clusters);
    double *means = grid_zeros((int64_t)clusters * data->d, sizeof *means),
           before = INFINITY;
    int32_t *labels = grid_zeros(data->n, sizeof *labels);
    int32_t *last = grid_zeros(data->n, sizeof *last);
    memcpy(means, vem_model_means(start),
           (size_t)clusters * (size_t)data->d * sizeof *means);
    for (int64_t i = 0; i < data->n; i++)
        labels[i] = -1;
    for (int64_t step = 1;; step++) {
        memcpy(last, labels, (size_t)data->n * sizeof *last);
        double error = naive_assign(data, means, clusters, margin, labels);
        assert_true(error <= before * (1 + 1e-12));
        before = error;
        vem_options o =
            grid_options(clusters, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, step);
        o.margin = margin;
        grid_fit fit = grid_run(ctx, data, &o, start);
        assert_int_equal(fit.summary->steps, step);
        assert_int_equal(differing(fit.labels, labels, data->n, NULL), 0);
        assert_true(grid_close(vem_model_means(fit.model), means,
                               (size_t)clusters * (size_t)data->d, 1e-9));
        assert_int_equal(fit.trace[step - 1].changed,
                         differing(labels, last, data->n, data->weights));
        assert_int_equal(fit.trace[step - 1].pairs, data->n * clusters);
        int ended = fit.summary->outcome == VEM_OUTCOME_CONVERGED;
        grid_fit_free(&fit);
        assert_int_equal(ended, differing(labels, last, data->n, data->weights) == 0);
        if (ended)
            break;
        naive_move(data, labels, clusters, means);
        assert_true(step < 200);
    }
    for (int64_t i = 0; i < data->n; i++) { /* d_own <= (1 + margin) d_min at the end */
        double own = 0, least = INFINITY;
        for (int32_t c = 0; c < clusters; c++) {
            double sum = 0;
            for (int32_t j = 0; j < data->d; j++)
                sum += pow(data->x[i * data->d + j] - means[c * data->d + j], 2);
            least = fmin(least, sum);
            own = c == labels[i] ? sum : own;
        }
        assert_true(sqrt(own) <= (1 + margin) * sqrt(least) * (1 + 1e-12));
    }
    free(means);
    free(labels);
    free(last);
    vem_model_free(start);
}

static void lloyd_step_by_step(void **state)
{
    (void)state;
    const int32_t dimensions[] = {1, 2, 3, 8, 17, 40};
    for (int set = 0; set < SET_COUNT; set++)
        for (size_t k = 0; k < sizeof dimensions / sizeof *dimensions; k++) {
            grid_data data =
                grid_data_new((grid_set)set, WEIGHTS_NONE, 200, dimensions[k], 21);
            follow(&data, 7, 0);
            grid_data_free(&data);
        }
}

static void weighted_lloyd(void **state)
{
    (void)state;
    for (int weights = WEIGHTS_INTEGER; weights < WEIGHTS_COUNT; weights++) {
        grid_data data =
            grid_data_new(SET_OVERLAPPING, (grid_weights)weights, 200, 20, 22);
        follow(&data, 6, 0);
        grid_data_free(&data);
    }
}

static void lazy_step_by_step(void **state)
{
    (void)state;
    const double margins[] = {0.01, 0.1, 0.5, 2};
    for (size_t m = 0; m < sizeof margins / sizeof *margins; m++)
        for (int32_t d = 2; d <= 20; d += 18) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 300, d, 23);
            follow(&data, 8, margins[m]);
            grid_data_free(&data);
        }
}

/* Labels, means and error do not depend on the variance the start brings. */
static void any_variance_is_lloyd(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 200, 20, 24);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 6), *other = NULL;
    vem_options o = grid_options(6, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 50);
    grid_fit expected = grid_run(ctx, &data, &o, start);
    const double variances[] = {1e-4, 1, 1e6};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 6, data.d,
                                       vem_model_means(start), NULL, &variances[i],
                                       &other),
                         VEM_OK);
        grid_fit fit = grid_run(ctx, &data, &o, other);
        assert_int_equal(fit.summary->steps, expected.summary->steps);
        assert_int_equal(differing(fit.labels, expected.labels, data.n, NULL), 0);
        grid_assert_models(fit.model, expected.model, 1e-12, "another variance");
        grid_fit_free(&fit);
        vem_model_free(other);
    }
    grid_fit_free(&expected);
    vem_model_free(start);
    grid_data_free(&data);
}

/* LF (13): after an M-step F = -log C - D/2 log(2 pi e s2) with s2 = J / (D W). */
static void free_energy_of_kmeans(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 300, 5, 25);
    vem_options o = grid_options(6, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 300);
    o.measure = 1;
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(fit.summary->outcome, VEM_OUTCOME_CONVERGED);
    double mass = 0;
    for (int64_t i = 0; i < data.n; i++)
        mass += data.weights[i];
    double s2 = fit.summary->quantization_error / (data.d * mass);
    grid_assert_near(vem_model_variances(fit.model)[0], s2, 1e-10 * s2, "variance");
    grid_assert_near(fit.summary->free_energy,
                     -log(6) - 0.5 * data.d * log(2 * M_PI * M_E * s2), 1e-9, "LF (13)");
    assert_true(fit.summary->log_likelihood >= fit.summary->free_energy);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

/* ---- Single precision without digits to spare ---- */

/* Clusters of standard deviation 1e-3, two centers in each, a thousand from the mean. */
static grid_data far_and_tight(int64_t n, int32_t d, int32_t blobs)
{
    grid_data data = {.n = n, .d = d, .x = grid_zeros(n * d, sizeof(double))};
    for (int64_t i = 0; i < n; i++) {
        vem_i_rng rng = vem_i_rng_at(26, VEM_RNG_TEST, 5, (uint64_t)i);
        for (int32_t j = 0; j < d; j++)
            data.x[i * d + j] = (j == i % blobs ? 1e3 : 0) * (i % 2 ? 1 : -1) +
                                1e-3 * vem_i_rng_normal(&rng);
    }
    return data;
}

static double distance_as_stored(const vem_view *view, int64_t item, const float *mean)
{
    const float *x = vem_i_view_row(view, item);
    double sum = 0;
    for (int32_t j = 0; j < view->d; j++) {
        double e = (double)(x[j] - mean[j]);
        sum += e * e;
    }
    return sum;
}

/* The held clusters of one E-step, against direct differences of the numbers as the
 * engine stores them: no cluster left out may be nearer than one that is held by more
 * than the rounding of a sum of squares. The dot form alone would be wrong by 0.1, five
 * orders of magnitude more than the distances. */
static void check_held(const grid_data *data, int32_t clusters, int32_t held)
{
    vem_data *rows = NULL;
    vem_i_points *points = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data->x, data->n, data->d, 0, 0,
                                     &rows),
                     VEM_OK);
    vem_i_points_request request = {.precision = VEM_SINGLE, .phase = "read"};
    assert_int_equal(vem_i_points_new(run_of(ctx), rows, &request, &points), VEM_OK);
    const vem_view *view = &points->view;
    vem_model *start = grid_start(ctx, data, VEM_ISO_SHARED, clusters), *inside = NULL;
    assert_int_equal(vem_i_model_to_view(run_of(ctx), start, view,
                                         vem_i_family_of(VEM_ISO_SHARED), &inside),
                     VEM_OK);
    vem_i_scorer scorer;
    const vem_i_search_spec closest = vem_i_search_closest(clusters, held, 0);
    vem_i_search *search;
    assert_int_equal(vem_i_scorer_new(run_of(ctx), view->kernels,
                                      vem_i_shape_of(vem_i_family_of(VEM_ISO_SHARED),
                                                     clusters, data->d),
                                      &scorer),
                     VEM_OK);
    assert_int_equal(vem_i_search_new(run_of(ctx), &closest, view, &scorer, &search),
                     VEM_OK);
    vem_i_scorer_prepare(run_of(ctx), inside, &scorer);
    const float *means = scorer.means;
    for (int64_t first = 0; first < data->n; first += VEM_I_BLOCK) {
        const vem_i_block *block = vem_i_search_block(search, first / VEM_I_BLOCK, 0);
        for (int32_t p = 0; p < block->n; p++) {
            double worst_held = 0, best_left = INFINITY;
            for (int32_t c = 0; c < clusters; c++) {
                double e = distance_as_stored(view, first + p, means + c * data->d);
                int is_held = 0;
                for (int32_t r = 0; r < held; r++)
                    is_held |= block->index[r * block->capacity + p] == c;
                if (is_held)
                    worst_held = fmax(worst_held, e);
                else
                    best_left = fmin(best_left, e);
            }
            assert_true(worst_held <= best_left * (1 + 8 * sqrt(data->d) * FLT_EPSILON));
        }
    }
    vem_i_search_free(search);
    vem_i_scorer_free(&scorer);
    vem_model_free(inside);
    vem_model_free(start);
    vem_i_points_free(points);
    vem_data_free(rows);
}

static void dots_are_looked_at_again(void **state)
{
    (void)state;
    for (int32_t d = 17; d <= 100; d += 83) {
        grid_data data = far_and_tight(1000, d, 8);
        check_held(&data, 64, 1);
        check_held(&data, 64, 2);
        check_held(&data, 64, 5);
        grid_data_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lloyd_step_by_step),
        cmocka_unit_test(weighted_lloyd),
        cmocka_unit_test(lazy_step_by_step),
        cmocka_unit_test(any_variance_is_lloyd),
        cmocka_unit_test(free_energy_of_kmeans),
        cmocka_unit_test(dots_are_looked_at_again),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
