/* --measure sample: the sample is a function of the seed alone, the estimate is right on
 * average, its standard error is what the estimates scatter by, and a sample of everything is
 * the exact measure. */
#include "data/sample.h"
#include "grid.h"
#include "metrics/estimate.h"
#include "metrics/measure.h"
#include "run.h"

#include "context.h"

static void assert_near(double value, double expected, double share, const char *what)
{
    if (!(fabs(value - expected) <= share * fabs(expected)))
        fail_msg("%s: %.17g is not %.17g", what, value, expected);
}

/* Weights over many powers of two, a few of them heavy. */
static double *weigh_widely(int64_t n, uint64_t seed)
{
    double *weights = malloc((size_t)n * sizeof *weights);
    assert_non_null(weights);
    for (int64_t i = 0; i < n; i++) {
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 77, (uint64_t)i);
        weights[i] = exp(1.5 * vem_i_rng_normal(&rng));
        if (i % 11 == 0)
            weights[i] = 0;
    }
    return weights;
}

static void strata_and_keys(void **state)
{
    (void)state;
    enum { N = 50000 };
    double *weights = weigh_widely(N, 3);
    weights[7] = 1e6; /* one row that is worth more than a sample's share: always taken */
    for (int weighted = 0; weighted < 2; weighted++)
        for (int64_t size = 1; size <= N; size *= 10) {
            vem_i_sample a, b, c;
            const double *w = weighted ? weights : NULL;
            assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
            assert_int_equal(vem_i_sample_new(run_of(ctx), w, N, size, 5, &a), VEM_OK);
            assert_int_equal(vem_ctx_set_threads(ctx, 7), VEM_OK);
            assert_int_equal(vem_i_sample_new(run_of(ctx), w, N, size, 5, &b), VEM_OK);
            assert_int_equal(vem_i_sample_new(run_of(ctx), w, N, size, 6, &c), VEM_OK);
            assert_int_equal(a.size, b.size);
            assert_memory_equal(a.rows, b.rows, (size_t)a.size * sizeof *a.rows);
            assert_memory_equal(a.strata, b.strata, (size_t)a.size);
            assert_true(a.size >= size &&
                        a.size <= size + (weighted ? 3 * VEM_I_STRATA : 2));
            int64_t count[VEM_I_STRATA] = {0}, same = 0;
            double mass = 0;
            for (int64_t i = 0; i < a.size; i++) {
                assert_true(i == 0 || a.rows[i] > a.rows[i - 1]);
                count[a.strata[i]]++;
                if (weighted)
                    assert_true(weights[a.rows[i]] > 0);
                for (int64_t j = 0; j < c.size && size == 100; j++)
                    same += a.rows[i] == c.rows[j];
            }
            assert_true(size != 100 || same < a.size / 4 + 3);
            for (int h = 0; h < VEM_I_STRATA; h++) {
                assert_int_equal(count[h], a.taken[h]);
                assert_true(a.taken[h] <= a.count[h]);
                assert_true(a.taken[h] >= 2 || a.taken[h] == a.count[h]);
            }
            for (int64_t i = 0; i < N; i++)
                mass += weighted ? weights[i] : 1;
            assert_near(a.mass * a.unit, mass, 1e-12, "mass");
            if (weighted) {
                assert_int_equal(a.count[0], 1);
                assert_int_equal(a.taken[0], 1);
            }
            vem_i_sample_free(&a);
            vem_i_sample_free(&b);
            vem_i_sample_free(&c);
        }
    free(weights);
}

/* Every row of a stratum comes as often as the others. */
static void every_row_alike(void **state)
{
    (void)state;
    enum { N = 40, SIZE = 10, SEEDS = 4000 };
    int hits[N] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        vem_i_sample s;
        assert_int_equal(vem_i_sample_new(run_of(ctx), NULL, N, SIZE, seed, &s), VEM_OK);
        assert_int_equal(s.size, SIZE);
        for (int64_t i = 0; i < s.size; i++)
            hits[s.rows[i]]++;
        vem_i_sample_free(&s);
    }
    double chi = 0, expected = (double)SEEDS * SIZE / N;
    for (int i = 0; i < N; i++)
        chi += (hits[i] - expected) * (hits[i] - expected) / expected;
    /* 39 degrees of freedom, the variance that of a draw without replacement: 0.75 of it. */
    assert_true(chi > 0.75 * 15 && chi < 0.75 * 72);
}

/* Estimates over many seeds: no bias, and as many within one and two standard errors as a
 * normal distribution has. */
static void coverage(void **state)
{
    (void)state;
    enum { N = 2400, SIZE = 800, SEEDS = 400 };
    for (int kind = 0; kind < 3; kind++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, 3, 91);
        data.weights = kind == 1   ? weigh_widely(N, 4)
                       : kind == 2 ? grid_weigh(WEIGHTS_REAL, N, 4)
                                   : NULL;
        vem_model *model = grid_start(ctx, &data, VEM_DIAG, 6);
        vem_scores exact = grid_score(ctx, model, &data, 0, VEM_DOUBLE);
        vem_data *rows = NULL;
        assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data.x, N, 3, 0, 0, &rows),
                         VEM_OK);
        assert_int_equal(vem_data_set_weights(ctx, rows, data.weights, N), VEM_OK);
        int within[2][2] = {{0}};
        double mean[2] = {0}, squares[2] = {0}, said[2] = {0};
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            vem_i_sampled s;
            assert_int_equal(vem_i_measure_sample(run_of(ctx), rows, model, VEM_DOUBLE,
                                                  SIZE, seed, &s),
                             VEM_OK);
            const double off[2] = {s.quantization_error - exact.quantization_error,
                                   s.log_likelihood - exact.log_likelihood};
            const double se[2] = {s.quantization_error_se, s.log_likelihood_se};
            for (int m = 0; m < 2; m++) {
                within[m][0] += fabs(off[m]) <= se[m];
                within[m][1] += fabs(off[m]) <= 2 * se[m];
                mean[m] += off[m] / SEEDS;
                squares[m] += off[m] * off[m] / SEEDS;
                said[m] += se[m] * se[m] / SEEDS;
            }
        }
        for (int m = 0; m < 2; m++) {
            const double one = within[m][0] / (double)SEEDS;
            const double two = within[m][1] / (double)SEEDS;
            const double sd = sqrt(squares[m]);
            if (!(one > 0.60 && one < 0.76) || !(two > 0.91 && two < 0.985) ||
                !(fabs(mean[m]) < 4 * sd / sqrt(SEEDS)) ||
                !(fabs(said[m] / squares[m] - 1) < 0.25))
                fail_msg("weights %d, measure %d: %.3f within 1, %.3f within 2 standard "
                         "errors, bias %.3g, variance %.3g, said %.3g",
                         kind, m, one, two, mean[m], squares[m], said[m]);
        }
        vem_data_free(rows);
        vem_model_free(model);
        grid_data_free(&data);
    }
}

/* With weights the estimate must not scatter by the weights themselves: a constant is
 * estimated without error, however they vary. */
static void a_constant_is_certain(void **state)
{
    (void)state;
    enum { N = 5000 };
    double *weights = weigh_widely(N, 9), values[1000];
    vem_i_sample s;
    assert_int_equal(vem_i_sample_new(run_of(ctx), weights, N, 500, 1, &s), VEM_OK);
    assert_true(s.size < 1000);
    for (int64_t i = 0; i < s.size; i++)
        values[i] = -300;
    vem_i_estimate e = vem_i_estimate_mean(&s, values);
    assert_true(e.mean == -300 && e.error == 0);
    values[0] = -301;
    e = vem_i_estimate_mean(&s, values);
    assert_true(e.mean < -300 && e.error > 0);
    vem_i_sample_free(&s);
    free(weights);
}

static void everything_is_exact(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int kind = 0; kind < WEIGHTS_COUNT; kind++) {
            grid_data data = grid_data_new(SET_OFFSET, (grid_weights)kind, 700, 3, 92);
            vem_model *model = grid_start(ctx, &data, (vem_family_kind)family, 4);
            vem_scores exact = grid_score(ctx, model, &data, 0, VEM_DOUBLE);
            vem_data *rows = NULL;
            vem_i_sampled s;
            assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data.x, data.n, 3, 0, 0,
                                             &rows),
                             VEM_OK);
            assert_int_equal(vem_data_set_weights(ctx, rows, data.weights, data.n),
                             VEM_OK);
            assert_int_equal(vem_i_measure_sample(run_of(ctx), rows, model, VEM_DOUBLE,
                                                  data.n, 1, &s),
                             VEM_OK);
            assert_near(s.quantization_error, exact.quantization_error, 1e-10, "error");
            assert_near(s.log_likelihood, exact.log_likelihood, 1e-10, "likelihood");
            assert_true(s.quantization_error_se == 0 && s.log_likelihood_se == 0);
            vem_data_free(rows);
            vem_model_free(model);
            grid_data_free(&data);
        }
}

/* ---- in a fit ---- */

static grid_fit measured(const grid_data *data, int how, int64_t coreset, int threads,
                         int normalize)
{
    vem_options o = grid_options(8, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 10);
    o.measure = how;
    o.threads = threads;
    o.seeding = VEM_SEED_RANDOM;
    o.standardize = o.normalize = normalize;
    if (coreset)
        o.coreset = coreset;
    return grid_run(ctx, data, &o, NULL);
}

static void in_a_fit(void **state)
{
    (void)state;
    enum { N = 30000 };
    for (int weights = WEIGHTS_NONE; weights < WEIGHTS_COUNT; weights += WEIGHTS_REAL)
        for (int64_t coreset = 0; coreset <= 5000; coreset += 2500)
            for (int normalize = 0; normalize < 2; normalize++) {
                grid_data data =
                    grid_data_new(SET_OVERLAPPING, (grid_weights)weights, N, 4, 93);
                grid_fit none = measured(&data, VEM_MEASURE_NONE, coreset, 1, normalize);
                grid_fit exact =
                    measured(&data, VEM_MEASURE_EXACT, coreset, 1, normalize);
                grid_fit some =
                    measured(&data, VEM_MEASURE_SAMPLE, coreset, 1, normalize);
                grid_fit other =
                    measured(&data, VEM_MEASURE_SAMPLE, coreset, 5, normalize);
                const vem_summary *e = exact.summary, *s = some.summary,
                                  *o = other.summary;
                assert_true(isnan(none.summary->quantization_error));
                assert_true(isnan(none.summary->quantization_error_se));
                assert_true(isnan(none.summary->quantization_error_coreset));
                assert_int_equal(none.summary->measured_rows, 0);
                assert_true(e->quantization_error_se == 0 && e->log_likelihood_se == 0);
                assert_int_equal(e->measured_rows, N);
                assert_true(s->measured_rows >= 1024 && s->measured_rows < N);
                assert_true(s->quantization_error_se > 0 && s->log_likelihood_se > 0);
                assert_true(fabs(s->quantization_error - e->quantization_error) <
                            4 * s->quantization_error_se);
                assert_true(fabs(s->log_likelihood - e->log_likelihood) <
                            4 * s->log_likelihood_se);
                assert_true(s->quantization_error_se < 0.1 * s->quantization_error);
                assert_true(s->quantization_error == o->quantization_error);
                assert_true(s->quantization_error_se == o->quantization_error_se);
                assert_true(s->log_likelihood_se == o->log_likelihood_se);
                assert_true(isfinite(s->quantization_error_coreset) == (coreset > 0));
                if (coreset) {
                    /* Of the size of the whole, but another number. */
                    assert_near(e->quantization_error_coreset, e->quantization_error, 0.1,
                                "coreset's error");
                    assert_true(e->quantization_error_coreset != e->quantization_error);
                    assert_near(s->quantization_error_coreset,
                                e->quantization_error_coreset, 0.15, "its sample");
                    assert_true(fabs(s->log_likelihood_coreset -
                                     e->log_likelihood_coreset) < 0.2);
                    /* Hard clusters: F is a bound of its own likelihood. */
                    assert_true(e->log_likelihood_coreset >= e->free_energy - 1e-9);
                    assert_true(s->quantization_error_coreset ==
                                o->quantization_error_coreset);
                }
                grid_fit_free(&none);
                grid_fit_free(&exact);
                grid_fit_free(&some);
                grid_fit_free(&other);
                grid_data_free(&data);
            }
}

static void few_rows_are_all_measured(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 900, 2, 94);
    grid_fit exact = measured(&data, VEM_MEASURE_EXACT, 0, 1, 0);
    grid_fit some = measured(&data, VEM_MEASURE_SAMPLE, 0, 1, 0);
    assert_true(some.summary->quantization_error_se == 0);
    assert_true(some.summary->log_likelihood_se == 0);
    assert_int_equal(some.summary->measured_rows, 900);
    assert_near(some.summary->quantization_error, exact.summary->quantization_error,
                1e-12, "error");
    assert_near(some.summary->log_likelihood, exact.summary->log_likelihood, 1e-12,
                "likelihood");
    grid_fit_free(&exact);
    grid_fit_free(&some);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strata_and_keys),
        cmocka_unit_test(every_row_alike),
        cmocka_unit_test(coverage),
        cmocka_unit_test(a_constant_is_certain),
        cmocka_unit_test(everything_is_exact),
        cmocka_unit_test(in_a_fit),
        cmocka_unit_test(few_rows_are_all_measured),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
