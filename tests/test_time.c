/* --time, by a clock that moves when the test says so: a fit that runs out of time is, to
 * the bit, one with fewer steps; what is given up grows as the time shrinks, and is never
 * what was asked for. */
#include "fake_clock.h"
#include "fit/budget.h"
#include "fit/resolve.h"
#include "grid.h"
#include "run.h"

static vem_ctx *ctx;

static int set_up(void **state)
{
    (void)state;
    fake_jump_at = 0;
    const int made = vem_ctx_new(&ctx) == VEM_OK && vem_ctx_set_threads(ctx, 1) == VEM_OK;
    vem_ctx_set_dashes(ctx, 1);
    return made ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    vem_ctx_free(ctx);
    return 0;
}

/* ---- during ---- */

/* A second for each step. */
static int64_t last_step;

static int step_takes_a_second(void *user, const vem_progress *p)
{
    (void)user;
    if (strcmp(p->phase, "em") == 0 && isfinite(p->free_energy) && p->step > last_step &&
        p->done == p->total) {
        last_step = p->step;
        fake_now += 1;
    }
    return 0;
}

static void same_bits(const grid_fit *a, const grid_fit *b, int64_t n)
{
    const size_t c = (size_t)vem_model_clusters(a->model),
                 d = (size_t)vem_model_columns(a->model);
    assert_int_equal(c, vem_model_clusters(b->model));
    assert_memory_equal(vem_model_means(a->model), vem_model_means(b->model),
                        c * d * sizeof(double));
    assert_memory_equal(vem_model_weights(a->model), vem_model_weights(b->model),
                        c * sizeof(double));
    assert_memory_equal(vem_model_variances(a->model), vem_model_variances(b->model),
                        vem_model_variance_count(a->model) * sizeof(double));
    assert_memory_equal(a->labels, b->labels, (size_t)n * sizeof *a->labels);
    assert_true(a->summary->free_energy == b->summary->free_energy);
    assert_int_equal(a->summary->steps, b->summary->steps);
    assert_int_equal(a->trace_count, b->trace_count);
    for (int64_t t = 0; t < a->trace_count; t++)
        assert_true(a->trace[t].free_energy == b->trace[t].free_energy &&
                    a->trace[t].moved == b->trace[t].moved);
}

static vem_options many_clusters(void)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = 80; /* shared lists and swaps */
    return o;
}

static void a_deadline_is_a_step_limit(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 6000, 3, 7);
    for (int kind = 0; kind < 4; kind++)
        for (int64_t k = 1; k <= 6; k += grid_stride() > 1 ? 3 : 1) {
            vem_options o = kind == 0 ? many_clusters()
                                      : grid_options(6,
                                                     kind == 1   ? VEM_ISO_SHARED
                                                     : kind == 2 ? VEM_DIAG
                                                                 : VEM_FULL,
                                                     VEM_PRIOR_FREE, kind == 2 ? 6 : 2,
                                                     VEM_DOUBLE, 50);
            o.coreset = data.n; /* no smaller one */
            o.time = ((double)k + 0.5) / 0.95;
            last_step = 0;
            vem_ctx_set_progress(ctx, step_takes_a_second, NULL);
            grid_fit timed = grid_run(ctx, &data, &o, NULL);
            vem_ctx_set_progress(ctx, NULL, NULL);
            assert_int_equal(timed.summary->outcome, VEM_OUTCOME_BUDGET);
            assert_int_equal(timed.summary->steps, k);
            assert_non_null(strstr(vem_report_notes(timed.report), "ended by --time"));
            o.time = VEM_AUTO;
            o.max_steps = k;
            grid_fit counted = grid_run(ctx, &data, &o, NULL);
            same_bits(&timed, &counted, data.n);
            grid_fit_free(&timed);
            grid_fit_free(&counted);
        }
    grid_data_free(&data);
}

/* The clock jumps at its second, third, ... look, wherever that is; later, where looks are
 * those of one step after another, at every sixth and then more rarely. */
static void out_of_time_anywhere(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 5000, 3, 8);
    int nothing = 0, seeds = 0, models = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int64_t jump = 2, ended = 0; !ended; jump += grid_stride() > 1 ? 1 + jump / 3
                                                          : jump < 30       ? 1
                                                                            : jump / 5) {
            vem_options o =
                kind == 0 ? many_clusters()
                          : grid_options(4, VEM_DIAG, VEM_PRIOR_FREE, 4, VEM_DOUBLE, 9);
            o.coreset = data.n;
            o.restarts = 1 + kind;
            o.time = 100;
            grid_fit fit;
            fake_looks = 0;
            fake_jump_at = jump;
            vem_status status = grid_try(ctx, &data, &o, NULL, &fit);
            fake_jump_at = 0;
            if (status != VEM_OK) {
                assert_int_equal(status, VEM_STOPPED);
                assert_non_null(
                    strstr(vem_ctx_message(ctx), "--time 100 was over while"));
                assert_non_null(strstr(vem_ctx_message(ctx), "would help"));
                nothing++;
                continue;
            }
            ended = fit.summary->outcome != VEM_OUTCOME_BUDGET;
            if (fit.summary->steps == 0) {
                assert_true(isnan(fit.summary->free_energy) && !fit.labels);
                seeds++;
            } else if (!ended && fit.summary->steps < fit.options->max_steps) {
                o.time = VEM_AUTO;
                o.restarts = 1;
                o.max_steps = fit.summary->steps;
                grid_fit counted = grid_run(ctx, &data, &o, NULL);
                same_bits(&fit, &counted, data.n);
                grid_fit_free(&counted);
                models++;
            }
            grid_fit_free(&fit);
        }
    assert_true(nothing > 0 && seeds > 0 && models > 0);
    grid_data_free(&data);
}

/* Out of time while cells are divided is not to rest. */
static void out_of_time_on_cells(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 500, 2, 8);
    vem_options o = grid_options(4, VEM_FULL, VEM_PRIOR_FREE, 4, VEM_DOUBLE, 200);
    o.seeding = VEM_SEED_PLUSPLUS;
    o.cells = 100;
    o.tolerance = 1e-4;
    grid_fit whole = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(whole.summary->outcome, VEM_OUTCOME_CONVERGED);
    int64_t early = 0, ended = 0;
    o.time = 100;
    for (int64_t jump = 2; ended == 0; jump += 1 + jump / (grid_stride() > 1 ? 8 : 50)) {
        grid_fit fit;
        fake_looks = 0;
        fake_jump_at = jump;
        const vem_status status = grid_try(ctx, &data, &o, NULL, &fit);
        fake_jump_at = 0;
        if (status != VEM_OK)
            continue;
        early += fit.summary->outcome == VEM_OUTCOME_BUDGET;
        ended = fit.summary->outcome == VEM_OUTCOME_CONVERGED;
        if (ended)
            assert_int_equal(fit.summary->steps, whole.summary->steps);
        grid_fit_free(&fit);
    }
    assert_true(early > 3);
    grid_fit_free(&whole);
    grid_data_free(&data);
}

static void enough_time_changes_nothing(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 4000, 3, 9);
    for (int kind = 0; kind < 2; kind++) {
        vem_options o = many_clusters();
        o.family = kind ? VEM_DIAG : VEM_AUTO; /* with a start by k-means */
        o.measure = VEM_MEASURE_EXACT;
        grid_fit plain = grid_run(ctx, &data, &o, NULL);
        o.time = 1e18;
        grid_fit timed = grid_run(ctx, &data, &o, NULL);
        same_bits(&timed, &plain, data.n);
        assert_int_equal(timed.summary->outcome, plain.summary->outcome);
        assert_true(timed.summary->quantization_error ==
                    plain.summary->quantization_error);
        assert_non_null(strstr(vem_report_choices(timed.report), "nothing is given up"));
        grid_fit_free(&plain);
        grid_fit_free(&timed);
    }
    grid_data_free(&data);
}

/* A start by k-means or a fit before a hard finish does not take all the time. */
static void loops_share_the_time(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 4000, 3, 10);
    vem_options o = many_clusters();
    o.coreset = data.n;
    o.held = 3;
    o.finish = VEM_FINISH_HARD;
    o.time = 16;
    last_step = 0;
    vem_ctx_set_progress(ctx, step_takes_a_second, NULL);
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    vem_ctx_set_progress(ctx, NULL, NULL);
    int finished = 0;
    for (int64_t t = 0; t < fit.trace_count; t++)
        finished |= fit.trace[t].move && strcmp(fit.trace[t].move, "finish") == 0;
    assert_true(finished);
    assert_true(isfinite(fit.summary->free_energy));
    grid_fit_free(&fit);
    grid_data_free(&data);
}

static void bad_times_are_refused(void **state)
{
    (void)state;
    vem_options o;
    vem_options_init(&o);
    const char *const bad[] = {"0", "-1", "-3", "nan", "inf", "", "5s", "1e19"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(vem_options_set(ctx, &o, "time", bad[i]), VEM_BAD_OPTION);
        assert_true(o.time == VEM_AUTO);
    }
    assert_int_equal(vem_options_set(ctx, &o, "time", "1e18"), VEM_OK);
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 100, 2, 11);
    o.clusters = 3;
    const double values[] = {0, -2, NAN, INFINITY};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        grid_fit fit;
        o.time = values[i];
        assert_int_equal(grid_try(ctx, &data, &o, NULL, &fit), VEM_BAD_OPTION);
    }
    grid_data_free(&data);
}

/* ---- before ---- */

static const vem_i_speed SPEED = {.operations = 1e10, .cold = 1e9, .warm = 2e9};

typedef struct choice {
    vem_options resolved;
    vem_i_budget budget;
    int64_t rows;
} choice;

static choice choose(const vem_data *data, const vem_options *asked)
{
    choice c;
    assert_int_equal(vem_i_fit_resolve(run_of(ctx), data, asked, NULL, &c.resolved),
                     VEM_OK);
    assert_int_equal(vem_i_budget_choose(run_of(ctx), data, asked, NULL, &SPEED,
                                         &c.resolved, &c.budget),
                     VEM_OK);
    c.rows = c.budget.coreset ? c.budget.coreset : c.budget.rows;
    return c;
}

static vem_data *many_rows(double **values, int64_t n)
{
    vem_data *data = NULL;
    *values = calloc((size_t)n * 8, sizeof **values); /* nobody looks at them */
    assert_non_null(*values);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, *values, n, 8, 0, 0, &data),
                     VEM_OK);
    return data;
}

/* Seconds of one core at the speed of AVX2, as the processor took them for pendigits: within a factor
 * of two. */
static void starts_are_foreseen(void **state)
{
    (void)state;
    static const struct {
        int family;
        double seconds;
    } cases[] = {{VEM_ISO_SHARED, 0.037}, {VEM_DIAG, 0.41}, {VEM_FULL, 1.17}};
    const vem_i_speed speed = {.operations = 40e9, .cold = 9e9, .warm = 13e9};
    unsigned char *values = calloc(10992, 16);
    vem_data *data = NULL;
    assert_non_null(values);
    assert_int_equal(vem_data_borrow(ctx, VEM_UINT8, values, 10992, 16, 0, 0, &data),
                     VEM_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vem_options o, resolved;
        vem_options_init(&o);
        o.clusters = 10;
        o.threads = 1;
        o.family = cases[i].family;
        assert_int_equal(vem_i_fit_resolve(run_of(ctx), data, &o, NULL, &resolved),
                         VEM_OK);
        vem_i_plan plan = vem_i_plan_of(run_of(ctx), data, &o, &resolved, 0);
        plan.speed = &speed;
        const double seconds = vem_i_plan_seconds(&plan);
        if (seconds < cases[i].seconds / 2 || seconds > cases[i].seconds * 2)
            fail_msg("%s: %.3g seconds, and it takes %.3g",
                     vem_choice_name("family", cases[i].family), seconds,
                     cases[i].seconds);
    }
    vem_data_free(data);
    free(values);
}

static void more_time_never_gives_less(void **state)
{
    (void)state;
    const int64_t n = 1000000;
    double *values;
    vem_data *data = many_rows(&values, n);
    for (int family = VEM_AUTO; family < VEM_FAMILIES; family = grid_shaped_after(family))
        for (int measure = VEM_MEASURE_NONE; measure <= VEM_MEASURE_EXACT; measure++) {
            int64_t rows = 0, sizes = 0, sampled = 1;
            vem_options o;
            vem_options_init(&o);
            o.clusters = 200;
            o.family = family;
            o.measure = measure;
            for (o.time = 1e-4; o.time < 1e5; o.time *= 1.3) {
                choice c = choose(data, &o);
                assert_true(c.rows >= rows);
                assert_true(c.budget.sampled <= sampled);
                assert_true(c.resolved.coreset == VEM_AUTO
                                ? c.rows == n
                                : c.rows == c.resolved.coreset);
                assert_true(c.rows >= 8 * o.clusters);
                sizes += c.rows > rows;
                rows = c.rows;
                sampled = c.budget.sampled;
            }
            assert_true(rows == n && sizes > 5 && !sampled);
        }
    vem_data_free(data);
    free(values);
}

/* As few rows as clusters need at least, where that is a power of two as coresets are. */
static void as_few_rows_as_it_takes(void **state)
{
    (void)state;
    double *values;
    vem_data *data = many_rows(&values, 1000000);
    vem_options o;
    double fewest = INFINITY;
    vem_options_init(&o);
    o.clusters = 256;
    for (o.time = 1e-4; o.time < 10; o.time *= 1.3)
        fewest = fmin(fewest, (double)choose(data, &o).rows);
    assert_true(fewest == 8.0 * (double)o.clusters);
    vem_data_free(data);
    free(values);
}

/* Rows that may go do so first; then full covariances, which gain by it, hold fewer. */
static void fewer_held_before_steps(void **state)
{
    (void)state;
    double *values;
    vem_data *data = many_rows(&values, 100000);
    GRID_EACH_SHAPED_AFTER (family, VEM_ISO_SHARED) {
        int64_t held = 0, changes = 0;
        vem_options o;
        vem_options_init(&o);
        o.clusters = 50; /* below the number from which fewer are held anyway */
        o.family = family;
        for (o.time = 1e-5; o.time < 1e4; o.time *= 1.2) {
            choice c = choose(data, &o);
            assert_true(c.resolved.held == 50 || c.resolved.held == 3);
            assert_true(c.resolved.held == 50 ? c.budget.held == 0 : c.budget.held == 50);
            assert_true(c.resolved.held >= held);
            if (c.resolved.held == 3)
                assert_true(c.rows < 2 * 16 * 50); /* 16: two for each column */
            changes += held != 0 && c.resolved.held != held;
            held = c.resolved.held;
        }
        assert_int_equal(changes, vem_i_family_of(family)->shape_axes == 2);
        o.held = 20; /* asked for: it stays */
        o.time = 1e-5;
        assert_int_equal(choose(data, &o).resolved.held, 20);
    }
    vem_data_free(data);
    free(values);
}

static void what_was_asked_stays(void **state)
{
    (void)state;
    double *values;
    vem_data *data = many_rows(&values, 500000);
    for (double time = 1e-4; time < 1e4; time *= 3) {
        vem_options o;
        vem_options_init(&o);
        o.clusters = 100;
        o.time = time;
        o.coreset = 70000;
        o.max_steps = 77;
        o.swaps = 3;
        o.held = 2;
        o.restarts = 4;
        o.tolerance = 1e-5;
        choice c = choose(data, &o);
        assert_int_equal(c.budget.coreset, 0);
        assert_true(c.resolved.coreset == 70000 && c.resolved.max_steps == 77 &&
                    c.resolved.swaps == 3 && c.resolved.held == 2 &&
                    c.resolved.restarts == 4 && c.resolved.tolerance == 1e-5);
        vem_options_init(&o);
        o.clusters = 100;
        o.time = time;
        o.algorithm = VEM_ALGORITHM_KMEANS; /* exactly */
        c = choose(data, &o);
        assert_true(c.budget.coreset == 0 && c.resolved.coreset == VEM_AUTO);
        o.algorithm = VEM_ALGORITHM_LWCS_KMEANS; /* the size is ours */
        c = choose(data, &o);
        assert_true(c.resolved.coreset <= 2048 && c.resolved.coreset >= 800);
    }
    vem_data_free(data);
    free(values);
}

/* What does not go with a coreset is not refused for one that nobody asked for. */
static void rows_that_must_stay(void **state)
{
    (void)state;
    enum { N = 500000 };
    double *values;
    vem_data *data = many_rows(&values, N);
    vem_data *sparse = NULL, *plane = NULL;
    int64_t *starts = calloc(N + 1, sizeof *starts); /* all of them are empty */
    assert_non_null(starts);
    assert_int_equal(vem_data_sparse(ctx, N, 8, starts, &(int32_t){0}, &(double){0},
                                     &sparse),
                     VEM_OK);
    double *places = malloc(2 * (size_t)N * sizeof *places);
    assert_non_null(places);
    for (int64_t i = 0; i < 2 * N; i++)
        places[i] = (double)i; /* none comes twice: cells are taken */
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, places, N, 2, 0, 0, &plane),
                     VEM_OK);
    for (double time = 1e-4; time < 1e2; time *= 10) {
        vem_options o;
        vem_options_init(&o);
        o.clusters = 100;
        o.time = time;
        o.balance = 1.5;
        choice c = choose(data, &o);
        assert_true(c.budget.coreset == 0 && c.resolved.coreset == VEM_AUTO);
        assert_string_equal(vem_ctx_message(ctx), "");
        o.balance = VEM_BALANCE_SOFT; /* which needs no labels of all rows */
        assert_true(time > 1e-3 || choose(data, &o).budget.coreset > 0);
        o.balance = VEM_BALANCE_NONE;
        o.family = VEM_MULTINOMIAL;
        c = choose(sparse, &o);
        assert_true(c.budget.coreset == 0 && c.resolved.coreset == VEM_AUTO);
        assert_string_equal(vem_ctx_message(ctx), "");
        o.family = VEM_FULL;
        o.clusters = 8;
        o.gap = 0.01; /* which is about cells */
        c = choose(plane, &o);
        assert_true(c.budget.coreset == 0 && c.resolved.cells > 0);
    }
    vem_data_free(plane);
    free(places);
    vem_data_free(sparse);
    vem_data_free(data);
    free(starts);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_is_a_step_limit),
        cmocka_unit_test(out_of_time_anywhere),
        cmocka_unit_test(out_of_time_on_cells),
        cmocka_unit_test(enough_time_changes_nothing),
        cmocka_unit_test(loops_share_the_time),
        cmocka_unit_test(bad_times_are_refused),
        cmocka_unit_test(starts_are_foreseen),
        cmocka_unit_test(more_time_never_gives_less),
        cmocka_unit_test(as_few_rows_as_it_takes),
        cmocka_unit_test(fewer_held_before_steps),
        cmocka_unit_test(what_was_asked_stays),
        cmocka_unit_test(rows_that_must_stay),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
