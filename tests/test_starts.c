/* Few clusters: several starts on a sample, the best of which goes on with all rows. Better than
 * one start; the same bits for any threads and from any checkpoint. */
#include "base/options.h"
#include "fit/starts_plan.h"
#include "starts_data.h"

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
            vem_i_starts_of(&r, o.algorithm == VEM_AUTO && !cases[i].warm, 0, 20000, 3,
                            3);
        if ((p.runs > 0) != cases[i].runs)
            fail_msg("%s: %d runs", cases[i].what, (int)p.runs);
        assert_true(p.fresh <= p.runs && p.rows <= 20000 && p.larger <= 20000);
    }
    /* Counts have no swaps, but starts, unless those are not wanted. */
    o = ours(10, VEM_POISSON);
    assert_int_equal(vem_options_resolve(ctx, &o, 20000, 3, VEM_FLOAT64, &r), VEM_OK);
    assert_true(r.swaps <= 0 && vem_i_starts_of(&r, 1, 0, 20000, 3, 3).runs > 0);
    o.swaps = 0;
    assert_int_equal(vem_options_resolve(ctx, &o, 20000, 3, VEM_FLOAT64, &r), VEM_OK);
    assert_int_equal(vem_i_starts_of(&r, 1, 0, 20000, 3, 3).runs, 0);
    o.swaps = VEM_AUTO;
    o.search = VEM_SEARCH_ALL;
    assert_int_equal(vem_options_resolve(ctx, &o, 20000, 3, VEM_FLOAT64, &r), VEM_OK);
    assert_int_equal(vem_i_starts_of(&r, 1, 0, 20000, 3, 3).runs, 0);
}

static void a_sample_is_smaller(void **state)
{
    (void)state;
    for (int64_t n = 4; n < 1LL << 40; n = n * 3 + 1)
        for (int family = 0; family < VEM_FAMILIES; family++)
            for (int32_t d = 1; d <= 1000; d *= 10)
                for (int64_t k = 2; k <= 64 && k <= n; k = 2 * k) {
                    vem_options o = ours(k, family), r;
                    assert_int_equal(vem_options_resolve(ctx, &o, n, d, VEM_FLOAT32, &r),
                                     VEM_OK);
                    const vem_i_starts_plan p =
                        vem_i_starts_of(&r, 1, k % 4 == 0, n, d, d);
                    assert_true(p.fresh <= p.runs && (p.runs == 0 || p.fresh > 0));
                    assert_true(p.runs > 0 || vem_family_axes(family) == 2);
                    if (p.runs == 0)
                        continue;
                    assert_true(p.rows >= k && (p.rows == n || p.rows <= n / 2));
                    assert_true(p.larger == 0 ||
                                (p.larger >= 2 * p.rows && p.larger <= n / 2));
                }
}

/* Of as many rows as the sample has: three runs, and one more for every 16 clusters. */
static void fewest_starts(void **state)
{
    (void)state;
    for (int64_t k = 8; k <= 64; k *= 2) {
        vem_options o = ours(k, VEM_ISO_SHARED), r;
        const int64_t n = 257 * k;
        assert_int_equal(vem_options_resolve(ctx, &o, n, 3, VEM_FLOAT32, &r), VEM_OK);
        const int64_t runs = vem_i_starts_of(&r, 1, 0, n, 3, 3).runs;
        assert_int_equal(runs, 3 + k / 16);
    }
}

/* Full covariances: a step of all runs together takes no more products than a step over all rows,
 * or a fixed number of them, whether a sample is drawn or not. More rows never lose the starts
 * again once all rows are more than the samples. */
static void expensive_starts(void **state)
{
    (void)state;
    static const int32_t columns[] = {8, 64, 256};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        const int32_t d = columns[c];
        int64_t last = 0;
        for (int64_t n = 1000; n <= 10000000; n += 1 + n / 16) {
            vem_options o = ours(8, VEM_FULL), r;
            assert_int_equal(vem_options_resolve(ctx, &o, n, d, VEM_FLOAT32, &r), VEM_OK);
            const vem_i_starts_plan p = vem_i_starts_of(&r, 1, 0, n, d, d);
            const double each = 8.0 * d * d;
            assert_true((double)(p.runs * p.rows) * each <=
                        fmax(7.5e8, (double)n * each));
            last = p.runs;
        }
        assert_true(last > 0);
    }
    vem_options o = ours(8, VEM_FULL),
                r; /* half of the rows, each run as long as a fit */
    assert_int_equal(vem_options_resolve(ctx, &o, 16384, 64, VEM_FLOAT32, &r), VEM_OK);
    assert_int_equal(vem_i_starts_of(&r, 1, 0, 16383, 64, 64).runs, 0);
    assert_int_equal(vem_i_starts_of(&r, 1, 0, 16384, 64, 64).runs, 0);
}

/* ---- what they are good for ---- */

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
    GRID_EACH_SHAPED_AFTER (family, VEM_ISO_SHARED) {
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

/* Bits of six clusters, whose probabilities differ in most columns. */
static grid_data bits_of(int64_t n, int32_t d, uint64_t seed)
{
    enum { COMPONENTS = 6 };
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, n, d, seed);
    for (int64_t i = 0; i < n; i++)
        for (int32_t j = 0; j < d; j++) {
            vem_i_rng place =
                vem_i_rng_at(seed, VEM_RNG_TEST, 8, (uint64_t)(i % COMPONENTS * d + j));
            vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 9, (uint64_t)(i * d + j));
            const double u = sin(1.5707963 * vem_i_rng_uniform(&place));
            data.x[i * d + j] = vem_i_rng_uniform(&rng) < u * u;
        }
    return data;
}

/* Counts: every seed ends where the best of them does. From one start not all do. */
static void better_counts(void **state)
{
    (void)state;
    enum { SEEDS = 10 };
    const struct {
        int64_t n;
        const char *on;
    } cases[] = {{1000, "all rows"}, {8000, "a sample of 2048 rows"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        grid_data data = bits_of(cases[c].n, 40, 44);
        double least = INFINITY, most = -INFINITY, once = INFINITY;
        for (int seed = 1; seed <= SEEDS; seed++) {
            vem_options o = ours(6, VEM_BERNOULLI);
            o.seed = seed;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_non_null(strstr(vem_report_choices(fit.report), cases[c].on));
            assert_null(strstr(vem_report_choices(fit.report), "rounds of swaps"));
            least = fmin(least, fit.summary->free_energy);
            most = fmax(most, fit.summary->free_energy);
            grid_fit_free(&fit);
            o.swaps = 0;
            fit = grid_run(ctx, &data, &o, NULL);
            once = fmin(once, fit.summary->free_energy);
            grid_fit_free(&fit);
        }
        if (!(least > most - 0.001) || !(once < most - 0.05))
            fail_msg("from %.4f to %.4f, from one start down to %.4f", least, most, once);
        grid_data_free(&data);
    }
}

/* ---- the same bits ---- */

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
        const double light = vem_i_starts_light;
        for (int several = 0; several < 2; several++) { /* on the sample, too */
            vem_i_starts_light = several ? 0 : light;
            grid_fit five = grid_run(ctx, &data, &o, NULL);
            assert_same_bits(&one, &five, "threads");
            grid_fit_free(&five);
        }
        vem_i_starts_light = light;
        grid_fit_free(&one);
        grid_data_free(&data);
    }
}

/* Families of counts, with a sample and a larger one, and without: the same bits for any threads, and
 * from the state before each step. */
static void counts_of_any_kind(void **state)
{
    (void)state;
    GRID_EACH_COUNTS (family)
        for (int64_t n = 300; n <= 9300; n += 9000) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, n, 3, 325);
            grid_suit((vem_family_kind)family, &data);
            vem_options o = ours(4, family);
            o.threads = 1;
            int64_t steps;
            grid_fit one = run_leaving_states(&data, &o, "counts", family, &steps);
            keep_at(NULL, 0, 0);
            assert_non_null(strstr(vem_report_choices(one.report), " starts on "));
            assert_resumes(&data, &o, &one, steps, 2);
            for (o.threads = 2; o.threads < 8; o.threads += o.threads < 3 ? 1 : 4) {
                grid_fit other = grid_run(ctx, &data, &o, NULL);
                assert_same_bits(&one, &other, vem_choice_name("family", family));
                grid_fit_free(&other);
            }
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
        int64_t steps;
        grid_fit whole = run_leaving_states(&data, &o, "state", s, &steps);
        assert_true(steps >= 4);
        assert_resumes(&data, &o, &whole, steps, 5);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expensive_starts), cmocka_unit_test(fewest_starts),
        cmocka_unit_test(asked_for_or_not), cmocka_unit_test(a_sample_is_smaller),
        cmocka_unit_test(better_than_one),  cmocka_unit_test(better_mixtures),
        cmocka_unit_test(better_counts),    cmocka_unit_test(counts_of_any_kind),
        cmocka_unit_test(any_threads),      cmocka_unit_test(resumed_anywhere),
        cmocka_unit_test(limit_of_steps)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
