/* What surrounds the loop: restarts, policies for empty clusters, floors, standardised
 * and normalised data, warm starts, and when a fit ends. */
#include "grid.h"

#include "context.h"

static void restarts_keep_the_best(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 400, 2, 51);
    vem_options o = grid_options(9, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 100);
    o.seeding = VEM_SEED_RANDOM;
    o.seed = 3; /* its first start is a poor one */
    double before = -INFINITY;
    int64_t kept = 0, pairs = 0;
    for (o.restarts = 1; o.restarts <= 12; o.restarts++) {
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        const vem_summary *s = fit.summary;
        assert_true(s->free_energy >= before);
        assert_true(s->restart >= 1 && s->restart <= o.restarts);
        if (s->restart == kept)
            assert_true(s->free_energy == before); /* the same fit again */
        else
            assert_true(s->restart == o.restarts && s->free_energy > before);
        assert_true(s->scored_pairs > pairs);
        vem_scores scores = grid_score(ctx, fit.model, &data, 1, VEM_DOUBLE);
        grid_assert_near(scores.free_energy, s->free_energy, 1e-9, "kept model");
        before = s->free_energy;
        kept = s->restart;
        pairs = s->scored_pairs;
        grid_fit_free(&fit);
    }
    assert_true(kept > 1);
    grid_data_free(&data);
}

/* ---- Empty clusters ---- */

/* A start whose last `lost` means nobody is near. */
static vem_model *lost_means(const grid_data *data, vem_family_kind family,
                             int32_t clusters, int32_t lost)
{
    vem_model *start = grid_start(ctx, data, family, clusters), *made = NULL;
    int32_t d = data->d;
    double *means = grid_zeros(clusters * d, sizeof *means);
    memcpy(means, vem_model_means(start), (size_t)(clusters * d) * sizeof *means);
    for (int32_t v = (clusters - lost) * d; v < clusters * d; v++)
        means[v] = 1e5 + v;
    assert_int_equal(vem_model_new(ctx, family, clusters, d, means, NULL,
                                   vem_model_variances(start), &made),
                     VEM_OK);
    vem_model_free(start);
    free(means);
    return made;
}

static void monotone_but_for_moves(const grid_fit *fit)
{
    for (int64_t t = 1; t < fit->trace_count; t++)
        if (!fit->trace[t - 1].move)
            assert_true(fit->trace[t].free_energy >=
                        fit->trace[t - 1].free_energy - 1e-9);
}

static void empty_keep(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 200, 3, 52);
    GRID_EACH_SHAPED (family)
        for (int prior = VEM_PRIOR_FLAT; prior <= VEM_PRIOR_FREE; prior++) {
            vem_model *start = lost_means(&data, (vem_family_kind)family, 6, 2);
            vem_options o = grid_options(6, (vem_family_kind)family,
                                         (vem_prior_kind)prior, 1, VEM_DOUBLE, 20);
            grid_fit fit = grid_run(ctx, &data, &o, start);
            assert_int_equal(fit.summary->clusters, 6);
            assert_int_equal(fit.trace[0].empty, 2);
            assert_null(fit.trace[0].move);
            monotone_but_for_moves(&fit);
            /* An empty cluster keeps its mean, in place to the rounding of an origin. */
            assert_true(grid_close(vem_model_means(fit.model) + 12,
                                   vem_model_means(start) + 12, 6, 1e-12));
            grid_assert_near(vem_model_weights(fit.model)[5],
                             prior == VEM_PRIOR_FREE ? 0 : 1.0 / 6, 1e-15, "weight");
            /* And the model can be used as any other. */
            vem_scores s = grid_score(ctx, fit.model, &data, 0, VEM_DOUBLE);
            assert_true(isfinite(s.log_likelihood));
            grid_fit again = grid_run(ctx, &data, &o, fit.model);
            grid_fit_free(&again);
            grid_fit_free(&fit);
            vem_model_free(start);
        }
    grid_data_free(&data);
}

static void empty_drop(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int held = 1; held <= 5; held += 2)
            for (int32_t d = 3; d <= 19; d += 16) {
                grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 300, d, 53);
                vem_model *start = lost_means(&data, (vem_family_kind)family, 8, 4);
                vem_options o = grid_options(8, (vem_family_kind)family, VEM_PRIOR_FREE,
                                             held, VEM_DOUBLE, 12);
                o.empty = VEM_EMPTY_DROP;
                grid_fit fit = grid_run(ctx, &data, &o, start);
                assert_int_equal(fit.summary->clusters, vem_model_clusters(fit.model));
                if (held == 1) {
                    assert_string_equal(fit.trace[0].move, "drop");
                    assert_int_equal(fit.trace[0].moved, 4);
                    assert_int_equal(fit.summary->clusters, 4);
                }
                double sum = 0;
                for (int32_t c = 0; c < fit.summary->clusters; c++)
                    sum += vem_model_weights(fit.model)[c];
                grid_assert_near(sum, 1, 1e-12, "weights");
                for (int64_t i = 0; i < data.n; i++)
                    assert_in_range(fit.labels[i], 0, fit.summary->clusters - 1);
                monotone_but_for_moves(&fit);
                int32_t scored = held < fit.summary->clusters ? held : 0;
                grid_assert_near(
                    grid_score(ctx, fit.model, &data, scored, VEM_DOUBLE).free_energy,
                    fit.summary->free_energy, 1e-9 * d, "F of what is left");
                grid_fit_free(&fit);
                vem_model_free(start);
                grid_data_free(&data);
            }
}

static void empty_reseed(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_ZEROS, 300, 3, 54);
    GRID_EACH_SHAPED (family)
        for (int prior = VEM_PRIOR_FLAT; prior <= VEM_PRIOR_FREE; prior++) {
            vem_model *start = lost_means(&data, (vem_family_kind)family, 6, 3);
            vem_options o = grid_options(6, (vem_family_kind)family,
                                         (vem_prior_kind)prior, 1, VEM_DOUBLE, 2);
            o.empty = VEM_EMPTY_RESEED;
            o.max_steps = 2;
            grid_fit fit = grid_run(ctx, &data, &o, start);
            assert_string_equal(fit.trace[0].move, "reseed");
            assert_int_equal(fit.trace[0].moved, 3);
            for (int32_t c = 3; c < 6;
                 c++) { /* three distinct rows that weigh something */
                const double *mean = vem_model_means(fit.model) + (int64_t)c * 3;
                int64_t row = -1;
                for (int64_t i = 0; i < data.n && row < 0; i++)
                    if (data.weights[i] > 0 && grid_close(mean, data.x + i * 3, 3, 1e-9))
                        row = i;
                assert_true(row >= 0);
                for (int32_t b = 3; b < c; b++)
                    assert_false(grid_close(mean,
                                            vem_model_means(fit.model) + (int64_t)b * 3,
                                            3, 1e-9));
            }
            /* Under a flat prior the move cannot lower F. */
            if (prior == VEM_PRIOR_FLAT)
                assert_true(fit.trace[1].free_energy >= fit.trace[0].free_energy);
            grid_fit_free(&fit);
            o.max_steps = 100;
            fit = grid_run(ctx, &data, &o, start);
            assert_int_equal(fit.summary->outcome, VEM_OUTCOME_CONVERGED);
            /* Under a free prior nobody need take the small weight a move gives. */
            if (prior == VEM_PRIOR_FLAT)
                assert_int_equal(fit.trace[fit.trace_count - 1].empty, 0);
            monotone_but_for_moves(&fit);
            grid_fit_free(&fit);
            vem_model_free(start);
        }
    grid_data_free(&data);
}

/* Powers of 2 lie, but for the largest, as good as in one place, and the cluster that holds most
 * of them soon takes back what a reseeded one won: it is not tried again and again. */
static void reseed_wins_nothing(void **state)
{
    (void)state;
    grid_data data = {.n = 2000, .d = 1, .x = grid_zeros(2000, sizeof(double))};
    for (int64_t i = 0; i < data.n; i++)
        data.x[i] = ldexp(1, (int)(i * i % 64));
    for (int64_t i = 0; i < 64; i++)
        data.x[i] = ldexp(1, (int)i);
    GRID_EACH_SHAPED (family) {
        vem_options o;
        vem_options_init(&o);
        o.clusters = 64;
        o.family = family;
        o.prior = VEM_PRIOR_FREE;
        o.held = 1;
        o.empty = VEM_EMPTY_KEEP;
        grid_fit keep = grid_run(ctx, &data, &o, NULL);
        o.empty = VEM_EMPTY_RESEED;
        grid_fit reseed = grid_run(ctx, &data, &o, NULL);
        assert_true(keep.summary->steps < 10);
        assert_true(reseed.summary->steps < keep.summary->steps + 10);
        assert_true(reseed.summary->free_energy >= keep.summary->free_energy);
        grid_fit_free(&keep);
        grid_fit_free(&reseed);
    }
    grid_data_free(&data);
}

/* Equal means in a start: the lower index takes the rows, the other one is empty. */
static void duplicate_means(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 100, 20, 55);
    double *means = grid_zeros(3 * 20, sizeof *means), variance = 1;
    memcpy(means, data.x, 20 * sizeof *means);
    memcpy(means + 20, data.x, 20 * sizeof *means);
    memcpy(means + 40, data.x + 20 * 50, 20 * sizeof *means);
    vem_model *start = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 3, 20, means, NULL, &variance,
                                   &start),
                     VEM_OK);
    vem_options o = grid_options(3, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 1);
    grid_fit fit = grid_run(ctx, &data, &o, start);
    assert_int_equal(fit.trace[0].empty, 1);
    for (int64_t i = 0; i < data.n; i++)
        assert_int_not_equal(fit.labels[i], 1);
    grid_fit_free(&fit);
    o.empty = VEM_EMPTY_RESEED;
    o.max_steps = 50;
    fit = grid_run(ctx, &data, &o, start);
    assert_int_equal(fit.trace[fit.trace_count - 1].empty, 0);
    grid_fit_free(&fit);
    vem_model_free(start);
    free(means);
    grid_data_free(&data);
}

/* ---- Floors ---- */

/* A is at least diag(floor) as a quadratic form: A - diag(floor) has a Cholesky factor. */
static int at_least(const double *a, int32_t d, const double *floor)
{
    double l[40 * 40];
    for (int32_t i = 0; i < d; i++)
        for (int32_t j = 0; j <= i; j++) {
            double sum = a[i * d + j] - (i == j ? floor[j] : 0);
            for (int32_t k = 0; k < j; k++)
                sum -= l[i * d + k] * l[j * d + k];
            if (i == j && !(sum > 0))
                return 0;
            l[i * d + j] = i == j ? sqrt(sum) : sum / l[j * d + j];
        }
    return 1;
}

static void floors_bind_and_f_rises(void **state)
{
    (void)state;
    const double floors[] = {1e-6, 0.05, 0.5, 1};
    GRID_EACH_SHAPED (family)
        for (int k = 0; k < 4; k++)
            for (int32_t d = 2; d <= 34; d += 16) {
                grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_REAL, 150, d, 56);
                vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, 5);
                vem_options o = grid_options(5, (vem_family_kind)family, VEM_PRIOR_FREE,
                                             5, VEM_DOUBLE, 30);
                o.floor = floors[k];
                grid_fit fit = grid_run(ctx, &data, &o, start);
                monotone_but_for_moves(&fit);
                double floor[GRID_COLUMNS];
                grid_floors(&data, (vem_family_kind)family, floors[k] * (1 - 1e-6),
                            floor);
                const double *v = vem_model_variances(fit.model);
                const size_t count = vem_model_variance_count(fit.model), n = (size_t)d;
                const int matrices = vem_family_axes(family) == 2;
                for (size_t i = 0; i < count; i += matrices ? n * n : 1)
                    assert_true(matrices ? at_least(v + i, d, floor)
                                         : v[i] >= floor[i % n]);
                grid_fit_free(&fit);
                vem_model_free(start);
                grid_data_free(&data);
            }
}

static void all_rows_equal(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
            grid_data data = {.n = 50, .d = 4, .x = grid_zeros(200, sizeof(double))};
            for (int64_t v = 0; v < 200; v++)
                data.x[v] = 2.5 + (double)(v % 4);
            vem_options o = grid_options(1, (vem_family_kind)family, VEM_PRIOR_FREE, 1,
                                         (vem_precision)precision, 20);
            o.seeding = VEM_SEED_PLUSPLUS;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_int_equal(fit.summary->outcome, VEM_OUTCOME_CONVERGED);
            assert_true(isfinite(fit.summary->free_energy));
            for (int j = 0; j < 4; j++)
                grid_assert_near(vem_model_means(fit.model)[j], 2.5 + j, 1e-12, "mean");
            assert_true(vem_model_variances(fit.model)[0] > 0);
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
}

/* Columns that do not vary count as 1 in the floor of a column, and as 0 in the variance that is the
 * floor of one for all: k-means before a fit by columns obeys the larger, or F would fall between
 * the two. */
static void floors_of_two_loops(void **state)
{
    (void)state;
    enum { N = 240, D = 4 };
    static double x[N * D];
    for (int i = 0; i < N; i++) {
        vem_i_rng rng = vem_i_rng_at(1, VEM_RNG_TEST, 0, (uint64_t)i);
        x[D * i] = 100 * (i % 3) + vem_i_rng_normal(&rng);
        x[D * i + 1] = 5 * (i % 3 == 1) + 0.1 * vem_i_rng_normal(&rng);
        x[D * i + 2] = x[D * i + 3] = 7;
    }
    const grid_data data = {.n = N, .d = D, .x = x};
    for (int family = VEM_DIAG; family <= VEM_FULL; family++) {
        vem_options o;
        vem_options_init(&o);
        o.algorithm = VEM_ALGORITHM_GMM;
        o.family = family;
        o.clusters = 3;
        o.swaps = 2; /* of k-means, which a loop of all clusters has before it */
        o.floor = 0.1;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_true(fit.trace_count > 4);
        for (int64_t t = 1; t < fit.trace_count; t++)
            assert_true(fit.trace[t].free_energy >= fit.trace[t - 1].free_energy - 1e-6);
        grid_fit_free(&fit);
    }
}

/* Clusters of one shape have nothing to be set free from: k-means that begins at its end needs a
 * second step to know it, and no more. */
static void ends_where_it_began(void **state)
{
    (void)state;
    double x[] = {0, 0, 0, 0, 10, 10, 10, 10};
    const grid_data data = {.n = 8, .d = 1, .x = x};
    vem_options o;
    vem_options_init(&o);
    o.algorithm = VEM_ALGORITHM_KMEANS;
    o.seeding = VEM_SEED_PLUSPLUS;
    o.clusters = 2;
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(fit.summary->steps, 2);
    grid_fit_free(&fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restarts_keep_the_best),
        cmocka_unit_test(empty_keep),
        cmocka_unit_test(empty_drop),
        cmocka_unit_test(empty_reseed),
        cmocka_unit_test(reseed_wins_nothing),
        cmocka_unit_test(duplicate_means),
        cmocka_unit_test(floors_bind_and_f_rises),
        cmocka_unit_test(all_rows_equal),
        cmocka_unit_test(floors_of_two_loops),
        cmocka_unit_test(ends_where_it_began),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
