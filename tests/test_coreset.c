/* Coresets: chances and weights exactly as docs/math/coresets.md defines them, draws that follow the
 * chances, costs that are right in the mean; the same bits for any threads and any way the
 * rows are cut into chunks. */
#include <float.h>

#include "coreset_checks.h"
#include "run.h"

#include "context.h"

static void chances_are_exact(void **state)
{
    (void)state;
    for (int set = 0; set < SET_COUNT; set++)
        for (int kind = 0; kind < WEIGHTS_COUNT; kind++)
            for (int32_t d = 1; d <= 70; d = 2 * d + 1) {
                grid_data data =
                    grid_data_new((grid_set)set, (grid_weights)kind, 500, d, 5);
                vem_data *rows = grid_borrow(ctx, &data);
                double *q = coreset_chances(data.x, data.weights, data.n, d);
                vem_data *coreset =
                    coreset_draw(ctx, rows, 300, VEM_CORESET_LIGHTWEIGHT, 3);
                /* Values near 1e6 have lost some digits before we see them; the plain sums
                 * above lose a few more. */
                coreset_assert_draws(ctx, rows, coreset, q,
                                     set == SET_OFFSET ? 1e-8 : 1e-10);
                const double most = 2 *
                                    (data.weights ? coreset_total(data.weights, data.n)
                                                  : (double)data.n) /
                                    300;
                for (int64_t k = 0; k < 300; k++)
                    assert_true(vem_data_weights(coreset)[k] <= most * (1 + 1e-12));
                vem_data_free(coreset);
                const double mass =
                    data.weights ? coreset_total(data.weights, data.n) : (double)data.n;
                for (int64_t i = 0; i < data.n; i++)
                    q[i] = (data.weights ? data.weights[i] : 1) / mass;
                coreset = coreset_draw(ctx, rows, 300, VEM_CORESET_UNIFORM, 3);
                coreset_assert_draws(ctx, rows, coreset, q, 1e-12);
                vem_data_free(coreset);
                vem_data_free(rows);
                free(q);
                grid_data_free(&data);
            }
}

/* An offset of 1e8 beside a spread of 1, the first row an outlier, weights over twenty
 * orders of magnitude: nothing is lost that the values had. */
static void hard_sums(void **state)
{
    enum { N = 20000 };
    (void)state;
    static double x[N], w[N];
    for (int weighted = 0; weighted < 2; weighted++) {
        long double mass = 0, mean = 0, sum = 0;
        for (int i = 0; i < N; i++) {
            vem_i_rng rng = vem_i_rng_at(9, VEM_RNG_TEST, 0, (uint64_t)i);
            x[i] = 1e8 + floor(1024 * vem_i_rng_normal(&rng)) / 1024;
            w[i] = weighted ? pow(10, 20 * vem_i_rng_uniform(&rng) - 10) : 1;
        }
        x[0] = 2e8;
        w[0] = weighted ? 1e-30 : 1;
        for (int i = 0; i < N; i++)
            mass += (long double)w[i];
        for (int i = 0; i < N; i++)
            mean += (long double)w[i] * ((long double)x[i] - 1e8L);
        mean = 1e8L + mean / mass;
        for (int i = 0; i < N; i++)
            sum += (long double)w[i] * ((long double)x[i] - mean) *
                   ((long double)x[i] - mean);
        vem_data *rows = NULL;
        assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, N, 1, 0, 0, &rows), VEM_OK);
        if (weighted)
            assert_int_equal(vem_data_set_weights(ctx, rows, w, N), VEM_OK);
        vem_data *coreset = coreset_draw(ctx, rows, 5000, VEM_CORESET_LIGHTWEIGHT, 1);
        for (int k = 0; k < 5000; k++) {
            const int64_t i = vem_data_indices(coreset)[k];
            const long double off = (long double)x[i] - mean;
            const double c = (double)(1 + mass * off * off / sum);
            const double expected = (double)mass * 2 / 5000 / c;
            /* The mean is a double beside 1e8: 1.5e-8 off, a share of the distance. */
            grid_assert_near(vem_data_weights(coreset)[k], expected, 1e-7 * expected,
                             weighted ? "weighted" : "plain");
        }
        vem_data_free(coreset);
        vem_data_free(rows);
    }
}

/* Draws follow q, and two draws of one coreset are independent. */
static void draws_follow_the_chances(void **state)
{
    enum { N = 9, SEEDS = 4000 };
    (void)state;
    for (int kind = WEIGHTS_NONE; kind <= WEIGHTS_ZEROS; kind += WEIGHTS_ZEROS) {
        grid_data data = grid_data_new(SET_HEAVY, (grid_weights)kind, N, 2, 8);
        vem_data *rows = grid_borrow(ctx, &data);
        for (int method = 0; method < 2; method++) {
            double *q = coreset_chances(data.x, data.weights, N, 2), counts[N] = {0},
                   pairs = 0;
            for (int i = 0; method == VEM_CORESET_UNIFORM && i < N; i++)
                q[i] = data.weights ? data.weights[i] / coreset_total(data.weights, N)
                                    : 1.0 / N;
            for (int seed = 0; seed < SEEDS; seed++) {
                vem_data *coreset =
                    coreset_draw(ctx, rows, 2, (vem_coreset_method)method, seed);
                const int64_t *indices = vem_data_indices(coreset);
                counts[indices[0]]++;
                counts[indices[1]]++;
                pairs += indices[0] == indices[1];
                vem_data_free(coreset);
            }
            double square = 0, same = 0;
            int cells = -1;
            for (int i = 0; i < N; i++) {
                const double expected = 2 * SEEDS * q[i];
                same += q[i] * q[i];
                assert_true(q[i] > 0 || counts[i] == 0);
                if (q[i] > 0) {
                    square += pow(counts[i] - expected, 2) / expected;
                    cells++;
                }
            }
            /* Four deviations above the mean of the chi-square law. */
            assert_true(square < cells + 4 * sqrt(2.0 * cells));
            grid_assert_near(pairs / SEEDS, same, 4 * sqrt(same * (1 - same) / SEEDS),
                             "the share of equal pairs");
            free(q);
        }
        vem_data_free(rows);
        grid_data_free(&data);
    }
}

/* Weighted cost of three fixed centers. */
static double cost(const vem_data *rows)
{
    const double centers[3][2] = {{0, 0}, {3, -2}, {-1, 4}}, *w = vem_data_weights(rows);
    double sum = 0;
    for (int64_t i = 0; i < vem_data_rows(rows); i++) {
        double x[2], least = DBL_MAX;
        vem_data_get(ctx, rows, i, 1, x);
        for (int c = 0; c < 3; c++)
            least =
                fmin(least, pow(x[0] - centers[c][0], 2) + pow(x[1] - centers[c][1], 2));
        sum += (w ? w[i] : 1) * least;
    }
    return sum;
}

static void costs_are_right_in_the_mean(void **state)
{
    enum { SEEDS = 300, SIZE = 40 };
    (void)state;
    for (int kind = 0; kind < WEIGHTS_COUNT; kind++) {
        grid_data data = grid_data_new(SET_HEAVY, (grid_weights)kind, 2000, 2, 12);
        vem_data *rows = grid_borrow(ctx, &data);
        const double truth = cost(rows);
        const double mass = data.weights ? coreset_total(data.weights, 2000) : 2000;
        double deviation[2];
        for (int method = 0; method < 2; method++) {
            double costs[SEEDS], squares = 0, masses = 0;
            for (int seed = 0; seed < SEEDS; seed++) {
                vem_data *coreset = coreset_draw(ctx, rows, SIZE,
                                                 (vem_coreset_method)method, 1000 + seed);
                costs[seed] = cost(coreset);
                masses += coreset_total(vem_data_weights(coreset), SIZE) / SEEDS;
                vem_data_free(coreset);
            }
            const double mean = coreset_total(costs, SEEDS) / SEEDS;
            for (int seed = 0; seed < SEEDS; seed++)
                squares += pow(costs[seed] - mean, 2);
            deviation[method] = sqrt(squares / (SEEDS - 1));
            grid_assert_near(mean, truth, 3.5 * deviation[method] / sqrt(SEEDS),
                             "the mean cost");
            /* A draw's weight lies in [0, 2 W / N']: its deviation is at most W / N'. */
            grid_assert_near(masses, mass, 3.5 * mass / sqrt((double)SIZE * SEEDS),
                             "the mean mass");
        }
        /* What the chances are for: far rows are not missed. */
        assert_true(deviation[VEM_CORESET_LIGHTWEIGHT] <
                    0.5 * deviation[VEM_CORESET_UNIFORM]);
        vem_data_free(rows);
        grid_data_free(&data);
    }
}

static void assert_same(const vem_data *a, const vem_data *b, const char *what)
{
    const size_t n = (size_t)vem_data_rows(a);
    if (memcmp(vem_data_indices(a), vem_data_indices(b), n * sizeof(int64_t)) != 0)
        fail_msg("indices differ: %s", what);
    if (memcmp(vem_data_weights(a), vem_data_weights(b), n * sizeof(double)) != 0)
        fail_msg("weights differ: %s", what);
    assert_memory_equal(a->base, b->base, n * (size_t)a->row_stride);
}

/* Both passes, fed `pieces` pieces at a time. */
static vem_data *in_chunks(const vem_data *rows, const vem_i_coreset_request *request,
                           int64_t pieces)
{
    vem_i_column_moments moments;
    vem_i_draw pass;
    const int64_t step = pieces * vem_i_piece_rows(rows->d);
    double *scale = NULL;
    assert_int_equal(vem_i_column_moments_new(run_of(ctx), rows->d, request->normalize,
                                              rows->weights, rows->n, &moments),
                     VEM_OK);
    for (int64_t at = 0; at < rows->n; at += step) {
        const int64_t count = rows->n - at < step ? rows->n - at : step;
        assert_int_equal(vem_i_column_moments_add(run_of(ctx), &moments,
                                                  (vem_i_chunk){rows, at, count, at}),
                         VEM_OK);
    }
    if (request->standardize) {
        scale = malloc((size_t)rows->d * sizeof *scale);
        vem_i_column_moments_scale(&moments, scale);
    }
    assert_int_equal(vem_i_draw_new(run_of(ctx), request, rows, &moments, scale, &pass),
                     VEM_OK);
    for (int64_t at = 0; at < rows->n; at += step) {
        const int64_t count = rows->n - at < step ? rows->n - at : step;
        assert_int_equal(vem_i_draw_add(run_of(ctx), &pass,
                                        (vem_i_chunk){rows, at, count, at}),
                         VEM_OK);
    }
    assert_int_equal(pass.next, request->size);
    vem_data *coreset = pass.coreset;
    pass.coreset = NULL;
    vem_i_draw_free(&pass);
    vem_i_column_moments_free(&moments);
    free(scale);
    return coreset;
}

static void threads_and_chunks_do_not_matter(void **state)
{
    (void)state;
    for (int kind = 0; kind < WEIGHTS_COUNT; kind++)
        for (int way = 0; way < 3; way++) {
            grid_data data = grid_data_new(SET_OFFSET, (grid_weights)kind, 500, 700, 31);
            vem_data *rows = grid_borrow(ctx, &data), *coreset[4];
            vem_i_coreset_request request = {.size = 90,
                                             .seed = 4,
                                             .normalize = way == 1,
                                             .standardize = way == 2};
            double scale[700];
            for (int t = 0; t < 2; t++) {
                assert_int_equal(vem_ctx_set_threads(ctx, 1 + 2 * t), VEM_OK);
                assert_int_equal(vem_i_coreset(run_of(ctx), rows, &request, scale,
                                               &coreset[t]),
                                 VEM_OK);
            }
            coreset[2] = in_chunks(rows, &request, 1);
            coreset[3] = in_chunks(rows, &request, 4);
            assert_same(coreset[0], coreset[1], "threads");
            assert_same(coreset[0], coreset[2], "chunks of one piece");
            assert_same(coreset[0], coreset[3], "chunks of four pieces");
            for (int i = 0; i < 4; i++)
                vem_data_free(coreset[i]);
            vem_data_free(rows);
            grid_data_free(&data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chances_are_exact),
        cmocka_unit_test(hard_sums),
        cmocka_unit_test(draws_follow_the_chances),
        cmocka_unit_test(costs_are_right_in_the_mean),
        cmocka_unit_test(threads_and_chunks_do_not_matter),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
