/* Few clusters: several starts on a sample, the best of which goes on with all rows. Better than
 * one start; the same bits for any threads, from any checkpoint and after any stop; a stop or the
 * end of the time in their midst leaves a whole model with labels. */
#include "api/starts.h"
#include "base/options.h"
#include "checkpoints.h"
#include "em/em.h"

/* Nothing but the number of clusters. */
static vem_options ours(int64_t clusters, int family)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = clusters;
    o.family = family;
    return o;
}

/* Heavy tails, unequal sizes, unequal axes: where clusters overlap, one start in a few ends in
 * the best partition. */
static grid_data overlapping(int64_t n, int32_t d, int components, uint64_t seed)
{
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, n, d, seed);
    for (int64_t i = 0; i < n; i++) {
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 7, (uint64_t)i);
        const double u = vem_i_rng_uniform(&rng);
        const int z = (int)(components * u * u);
        const double tail = 1 / sqrt(vem_i_rng_gamma(&rng, 2.5) / 2.5);
        for (int32_t j = 0; j < d; j++) {
            vem_i_rng place = vem_i_rng_at(seed, VEM_RNG_TEST, 8, (uint64_t)(z * d + j));
            const double center = 3 * vem_i_rng_normal(&place);
            const double axis = 0.8 * exp(0.7 * vem_i_rng_normal(&place));
            data.x[i * d + j] = center + tail * axis * vem_i_rng_normal(&rng);
        }
    }
    return data;
}

/* ---- what is planned ---- */

static void asked_for_or_not(void **state)
{
    (void)state;
    vem_options o = ours(10, VEM_AUTO), r;
    const struct {
        const char *what;
        int64_t clusters, swaps;
        int search, algorithm, warm, runs;
    } cases[] = {
        {"defaults", 10, VEM_AUTO, VEM_AUTO, VEM_AUTO, 0, 1},
        {"most clusters", 64, VEM_AUTO, VEM_AUTO, VEM_AUTO, 0, 1},
        {"more clusters", 65, VEM_AUTO, VEM_AUTO, VEM_AUTO, 0, 0},
        {"one cluster", 1, VEM_AUTO, VEM_AUTO, VEM_AUTO, 0, 0},
        {"rounds of swaps", 10, 3, VEM_AUTO, VEM_AUTO, 0, 1},
        {"no swaps", 10, 0, VEM_AUTO, VEM_AUTO, 0, 0},
        {"a search and no more", 10, VEM_AUTO, VEM_SEARCH_CLOSEST, VEM_AUTO, 0, 0},
        {"another search", 10, 3, VEM_SEARCH_GROUPS, VEM_AUTO, 0, 0},
        {"a preset", 10, VEM_AUTO, VEM_AUTO, VEM_ALGORITHM_KMEANS, 0, 0},
        {"a preset with swaps", 10, 3, VEM_AUTO, VEM_ALGORITHM_KMEANS, 0, 0},
        {"from a model", 10, 3, VEM_AUTO, VEM_AUTO, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        o.clusters = cases[i].clusters;
        o.swaps = cases[i].swaps;
        o.search = cases[i].search;
        o.algorithm = cases[i].algorithm;
        assert_int_equal(vem_options_resolve(ctx, &o, 20000, 3, VEM_FLOAT64, &r), VEM_OK);
        const vem_i_starts_plan p =
            vem_i_starts_of(&r, o.algorithm == VEM_AUTO && !cases[i].warm, 0, 20000, 3);
        if ((p.runs > 0) != cases[i].runs)
            fail_msg("%s: %d runs", cases[i].what, (int)p.runs);
        assert_true(p.fresh <= p.runs && p.rows <= 20000 && p.larger <= 20000);
    }
}

static void a_sample_is_smaller(void **state)
{
    (void)state;
    for (int64_t n = 4; n < 1LL << 40; n = n * 3 + 1)
        for (int family = VEM_ISO_SHARED; family <= VEM_FULL; family++)
            for (int32_t d = 1; d <= 1000; d *= 10)
                for (int64_t k = 2; k <= 64 && k <= n; k = 2 * k) {
                    vem_options o = ours(k, family), r;
                    assert_int_equal(vem_options_resolve(ctx, &o, n, d, VEM_FLOAT32, &r),
                                     VEM_OK);
                    const vem_i_starts_plan p = vem_i_starts_of(&r, 1, k % 4 == 0, n, d);
                    assert_true(p.fresh <= p.runs && (p.runs == 0 || p.fresh > 0));
                    assert_true(p.runs > 0 || family == VEM_FULL);
                    if (p.runs == 0)
                        continue;
                    assert_true(p.rows >= k && (p.rows == n || p.rows <= n / 2));
                    assert_true(p.larger == 0 ||
                                (p.larger >= p.rows && p.larger <= n / 2));
                }
}

/* Full covariances whose every start would go over all rows: none. */
static void dear_starts(void **state)
{
    (void)state;
    for (int64_t n = 1000; n <= 10000000; n *= 10) {
        vem_options o = ours(10, VEM_FULL), r;
        assert_int_equal(vem_options_resolve(ctx, &o, n, 256, VEM_FLOAT32, &r), VEM_OK);
        const vem_i_starts_plan p = vem_i_starts_of(&r, 1, 0, n, 256);
        assert_true(p.runs == 0 || p.rows < n);
    }
}

/* ---- what they are good for ---- */

static double error_of(const grid_fit *fit, const grid_data *data)
{
    return grid_score(ctx, fit->model, data, 1, VEM_DOUBLE).quantization_error;
}

/* The mean over some seeds is near the best that many fits find. One start with as many swaps is
 * not. */
static void better_than_one(void **state)
{
    (void)state;
    enum { SEEDS = 4 };
    grid_data data = overlapping(6000, 2, 40, 312);
    double best = INFINITY, mean = 0, once = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        vem_options o = ours(12, VEM_AUTO);
        o.seed = seed;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        double error = error_of(&fit, &data);
        mean += error / SEEDS;
        best = fmin(best, error);
        grid_fit_free(&fit);
        o.algorithm = VEM_ALGORITHM_KMEANS;
        o.swaps = 8;
        for (int restarts = 1; restarts <= 10; restarts += 9) {
            o.restarts = restarts;
            fit = grid_run(ctx, &data, &o, NULL);
            error = error_of(&fit, &data);
            once += restarts == 1 ? error / SEEDS : 0;
            best = fmin(best, error);
            grid_fit_free(&fit);
        }
    }
    if (!(mean <= 1.005 * best) || !(once > 1.01 * best))
        fail_msg("mean %.4f, one start %.4f of the best", mean / best, once / best);
    grid_data_free(&data);
}

/* Mixtures, judged by F. */
static void better_mixtures(void **state)
{
    (void)state;
    enum { SEEDS = 3 };
    grid_data data = overlapping(2500, 3, 8, 312);
    for (int family = VEM_DIAG; family <= VEM_FULL; family++) {
        double mean = 0, once = 0;
        for (int seed = 1; seed <= SEEDS; seed++) {
            vem_options o = ours(8, family);
            o.seed = seed;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            mean += fit.summary->free_energy / SEEDS;
            grid_fit_free(&fit);
            o.swaps = 0;
            fit = grid_run(ctx, &data, &o, NULL);
            once += fit.summary->free_energy / SEEDS;
            grid_fit_free(&fit);
        }
        if (!(mean > once))
            fail_msg("%s: %.4f, from one start %.4f", vem_choice_name("family", family),
                     mean, once);
    }
    grid_data_free(&data);
}

/* ---- the same bits ---- */

/* Defaults that go through every part: a sample and a larger one, one sample, all rows. */
static const struct {
    int64_t n, clusters;
    int32_t d;
    int family;
} sizes[] = {{12500, 3, 2, VEM_AUTO}, {6200, 6, 2, VEM_DIAG}, {400, 4, 3, VEM_FULL}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void any_threads(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++) {
        grid_data data = overlapping(sizes[s].n, sizes[s].d, 8, 320);
        vem_options o = ours(sizes[s].clusters, sizes[s].family);
        o.threads = 1;
        grid_fit one = grid_run(ctx, &data, &o, NULL);
        assert_non_null(strstr(vem_report_choices(one.report), " starts on "));
        o.threads = 5;
        grid_fit five = grid_run(ctx, &data, &o, NULL);
        assert_same_bits(&one, &five, "threads");
        grid_fit_free(&five);
        grid_fit_free(&one);
        grid_data_free(&data);
    }
}

/* From the state before each step, with restarts too. */
static void resumed_anywhere(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++) {
        grid_data data = overlapping(sizes[s].n, sizes[s].d, 8, 321);
        vem_options o = ours(sizes[s].clusters, sizes[s].family);
        o.restarts = 2;
        path_name file = path_of("state", s);
        watcher w = {.path = file.text};
        keep_at(file.text, 0, 0);
        vem_ctx_set_progress(ctx, watch, &w);
        grid_fit whole = grid_run(ctx, &data, &o, NULL);
        vem_ctx_set_progress(ctx, NULL, NULL);
        assert_true(w.steps >= 4);
        for (int64_t step = 1; step <= w.steps; step += 1 + w.steps / 5) {
            keep_at(path_of("copy", step).text, 1e9, 1);
            grid_fit resumed = grid_run(ctx, &data, &o, NULL);
            assert_same_bits(&whole, &resumed, "resumed");
            grid_fit_free(&resumed);
        }
        keep_at(NULL, 0, 0);
        grid_fit_free(&whole);
        grid_data_free(&data);
    }
}

/* --max-steps is about steps over all rows: the starts do not depend on it, so that a fit that
 * ended by it goes on with more. */
static void limit_of_steps(void **state)
{
    (void)state;
    grid_data data = overlapping(3000, 3, 8, 322);
    vem_options o = ours(6, VEM_FULL);
    o.tolerance = 1e-9;
    grid_fit whole = grid_run(ctx, &data, &o, NULL);
    path_name file = path_of("limit", 0);
    keep_at(file.text, 0, 0);
    o.max_steps = 1;
    grid_fit one = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(one.summary->steps, 1);
    assert_true(one.summary->free_energy == whole.trace[0].free_energy);
    keep_at(file.text, 0, 1);
    o.max_steps = VEM_AUTO;
    grid_fit more = grid_run(ctx, &data, &o, NULL);
    assert_same_bits(&whole, &more, "more steps");
    keep_at(NULL, 0, 0);
    grid_fit_free(&more);
    grid_fit_free(&one);
    grid_fit_free(&whole);
    grid_data_free(&data);
}

/* ---- ended early ---- */

typedef struct stopper {
    int64_t runs, stop_at, last, total;
    int backwards;
} stopper;

/* Each run is told once, in order. */
static int count_runs(void *user, const vem_progress *p)
{
    stopper *s = user;
    if (strcmp(p->phase, "seed") != 0)
        return 0;
    s->backwards |= p->done < s->last || p->done > p->total || !isnan(p->free_energy);
    s->last = p->done;
    s->total = p->total;
    return ++s->runs == s->stop_at;
}

static void assert_whole(const grid_data *data, const grid_fit *fit, const char *what)
{
    const int32_t clusters = vem_model_clusters(fit->model);
    assert_int_equal(clusters, fit->summary->options.clusters);
    assert_non_null(fit->labels);
    assert_true(isfinite(fit->summary->free_energy));
    for (int64_t i = 0; i < data->n; i++)
        assert_in_range(fit->labels[i], 0, clusters - 1);
    const double f =
        grid_score(ctx, fit->model, data, (int32_t)fit->summary->options.held, VEM_DOUBLE)
            .free_energy;
    grid_assert_near(fit->summary->free_energy, f, 1e-9, what);
}

static void stopped_in_any_run(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++)
        for (int leaves = 0; leaves < 2; leaves++) {
            grid_data data = overlapping(sizes[s].n, sizes[s].d, 8, 323);
            vem_options o = ours(sizes[s].clusters, sizes[s].family);
            o.precision = VEM_DOUBLE;
            const double worth = vem_i_worth_leaving;
            stopper all = {0};
            vem_ctx_set_progress(ctx, count_runs, &all);
            grid_fit whole = grid_run(ctx, &data, &o, NULL);
            assert_false(all.backwards);
            assert_int_equal(all.runs, all.total);
            for (int64_t stop = 1; stop <= all.runs; stop += stop < 3 ? 1 : 5) {
                path_name file = path_of("stopped", s);
                stopper one = {.stop_at = stop};
                grid_fit fit, resumed;
                remove(file.text);
                keep_at(file.text, 0, 0);
                if (leaves)
                    vem_i_worth_leaving = 0;
                vem_ctx_set_progress(ctx, count_runs, &one);
                vem_status status = grid_try(ctx, &data, &o, NULL, &fit);
                vem_ctx_set_progress(ctx, NULL, NULL);
                vem_i_worth_leaving = worth;
                assert_int_equal(one.runs, stop); /* it answers at once */
                /* Long steps are left: in the first run there is nothing to give back. */
                if (leaves && stop == 1 && status == VEM_STOPPED) {
                    assert_non_null(strstr(vem_ctx_message(ctx), "Stopped"));
                } else {
                    assert_int_equal(status, VEM_OK);
                    assert_int_equal(fit.summary->outcome, VEM_OUTCOME_STOPPED);
                    assert_int_equal(fit.summary->steps, 1);
                    assert_whole(&data, &fit, "a fit stopped in its starts");
                    grid_fit_free(&fit);
                }
                /* No state of it is kept: the starts are made once more, to the same bits. */
                assert_int_not_equal(access(file.text, F_OK), 0);
                keep_at(file.text, 0, 1);
                resumed = grid_run(ctx, &data, &o, NULL);
                assert_same_bits(&whole, &resumed, "begun again");
                grid_fit_free(&resumed);
                keep_at(NULL, 0, 0);
            }
            vem_ctx_set_progress(ctx, NULL, NULL);
            grid_fit_free(&whole);
            grid_data_free(&data);
        }
}

/* The clock jumps at a later and later look: a model, or a sentence. */
static void out_of_time_anywhere(void **state)
{
    (void)state;
    grid_data data = overlapping(4200, 2, 8, 324);
    int models = 0, seeds = 0, ended = 0;
    for (int64_t jump = 2; !ended; jump += 1 + jump / 2) {
        vem_options o = ours(6, VEM_AUTO);
        o.precision = VEM_DOUBLE;
        o.coreset = data.n;
        o.time = 100;
        grid_fit fit;
        fake_looks = 0;
        fake_jump_at = jump;
        vem_status status = grid_try(ctx, &data, &o, NULL, &fit);
        fake_jump_at = 0;
        if (status != VEM_OK) {
            assert_int_equal(status, VEM_STOPPED);
            assert_non_null(strstr(vem_ctx_message(ctx), "--time 100 was over"));
            continue;
        }
        ended = fit.summary->outcome == VEM_OUTCOME_CONVERGED;
        assert_int_equal(vem_model_clusters(fit.model), 6);
        seeds += fit.summary->steps == 0;
        if (fit.summary->steps > 0) {
            assert_whole(&data, &fit, "a fit out of time");
            models++;
        }
        grid_fit_free(&fit);
    }
    assert_true(models > 0 && seeds > 0);
    grid_data_free(&data);
}

/* ---- what a sample cannot tell ---- */

/* Most rows are equal, and the others are so few that a sample misses them. */
static void too_few_distinct_rows(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 30000, 1, 325);
    for (int64_t i = 0; i < data.n; i++)
        data.x[i] = i % 2 ? 1000 : -1000;
    for (int64_t i = 0; i < 6; i++)
        data.x[4000 * i + 100] += (double)i;
    vem_options o = ours(7, VEM_AUTO);
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_whole(&data, &fit, "few distinct rows");
    assert_true(error_of(&fit, &data) < 1); /* 0 but for what 7 clusters cannot hold */
    grid_fit_free(&fit);
    grid_data_free(&data);
}

/* A few rows at a sentinel value take half of all draws, and small groups are missed. */
static void far_rows(void **state)
{
    (void)state;
    grid_data data = overlapping(40000, 3, 5, 411);
    for (int64_t i = 0; i < 60; i++)
        for (int32_t j = 0; j < 3; j++) {
            vem_i_rng rng = vem_i_rng_at(411, VEM_RNG_TEST, 9, (uint64_t)(i * 3 + j));
            data.x[i * 3 + j] = (i < 20   ? -999999
                                 : i < 40 ? (j == 0) * 400.0
                                          : (j == 1) * -400.0) +
                                vem_i_rng_normal(&rng);
        }
    int said = 0;
    for (int seed = 1; seed <= 3; seed++) {
        vem_options o = ours(8, VEM_AUTO);
        o.seed = seed;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        said += strstr(vem_report_choices(fit.report), "missed rows that count") != NULL;
        int64_t far = 0; /* the three groups have clusters of their own */
        for (int64_t c = 0; c < 8; c++) {
            const double *m = vem_model_means(fit.model) + 3 * c;
            far += fabs(m[0]) > 300 || fabs(m[1]) > 300;
        }
        if (far != 3)
            fail_msg("%d groups of 3 have clusters, seed %d", (int)far, seed);
        grid_fit_free(&fit);
    }
    assert_true(said > 0);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dear_starts),          cmocka_unit_test(far_rows),
        cmocka_unit_test(asked_for_or_not),     cmocka_unit_test(a_sample_is_smaller),
        cmocka_unit_test(better_than_one),      cmocka_unit_test(better_mixtures),
        cmocka_unit_test(any_threads),          cmocka_unit_test(resumed_anywhere),
        cmocka_unit_test(limit_of_steps),       cmocka_unit_test(stopped_in_any_run),
        cmocka_unit_test(out_of_time_anywhere), cmocka_unit_test(too_few_distinct_rows)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
