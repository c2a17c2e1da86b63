/* Starts on a sample that end early or are given up: a stop or the end of the time in their midst
 * leaves a whole model with labels, and what is said of it is so; what the sample misses is found. */
#include "em/last_step.h"
#include "starts_data.h"

/* ---- ended early ---- */

typedef struct stopper {
    int64_t calls, stop_at, last, total, places;
    int backwards;
} stopper;

/* The steps of the runs are told, in order. */
static int count_calls(void *user, const vem_progress *p)
{
    stopper *s = user;
    if (strcmp(p->phase, "seed") != 0)
        return 0;
    s->backwards |= p->done < s->last || p->done > p->total || !isnan(p->free_energy);
    s->places += p->done > s->last;
    s->last = p->done;
    s->total = p->total;
    return ++s->calls == s->stop_at;
}

static void assert_whole(const grid_data *data, const grid_fit *fit, const char *what)
{
    const int32_t clusters = vem_model_clusters(fit->model);
    assert_int_equal(clusters, fit->options->clusters);
    assert_non_null(fit->labels);
    assert_true(isfinite(fit->summary->free_energy));
    for (int64_t i = 0; i < data->n; i++)
        assert_in_range(fit->labels[i], 0, clusters - 1);
    const double f =
        grid_score(ctx, fit->model, data, (int32_t)fit->options->held, VEM_DOUBLE)
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
            vem_ctx_set_progress(ctx, count_calls, &all);
            grid_fit whole = grid_run(ctx, &data, &o, NULL);
            assert_false(all.backwards);
            /* It moves within the runs, of which there are no more than 30. */
            assert_true(all.places > 60 && all.calls < 10000);
            assert_true(3 * all.last >= 2 * all.total);
            for (int64_t stop = 1; stop <= all.calls;
                 stop += stop < 3 ? 1 : 1 + all.calls / (grid_stride() > 1 ? 2 : 4)) {
                path_name file = path_of("stopped", s);
                stopper one = {.stop_at = stop};
                grid_fit fit, resumed;
                remove(file.text);
                keep_at(file.text, 0, 0);
                if (leaves)
                    vem_i_worth_leaving = 0;
                vem_ctx_set_progress(ctx, count_calls, &one);
                vem_status status = grid_try(ctx, &data, &o, NULL, &fit);
                vem_ctx_set_progress(ctx, NULL, NULL);
                vem_i_worth_leaving = worth;
                /* It answers at once: no more than the end of the step at hand is told. */
                assert_in_range(one.calls, stop, stop + 1);
                /* Long steps are left: in the first run there is nothing to give back. */
                if (leaves && stop < 3 && status == VEM_STOPPED) {
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

/* Stops in the starts of a restart after the first. */
typedef struct later_stop {
    int64_t restart, calls;
} later_stop;

static int stop_later(void *user, const vem_progress *p)
{
    later_stop *s = user;
    s->calls += p->restart == s->restart && strcmp(p->phase, "seed") == 0;
    return s->calls > 5;
}

/* What --resume will do is said as it is: by what the file is. */
static void what_a_stop_leaves(void **state)
{
    (void)state;
    grid_data data = overlapping(6200, 2, 8, 328);
    vem_options o = ours(6, VEM_DIAG);
    o.restarts = 3;
    grid_fit whole = grid_run(ctx, &data, &o, NULL);
    path_name file = path_of("left", 0);
    static const struct {
        int64_t restart;
        const char *said, *not_said;
    } cases[] = {{1, "--resume begins again", "earlier fit"},
                 {2, "goes on from the state before them", "begins again"},
                 {1, "still that of an earlier fit", "begins again"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        later_stop stop = {.restart = cases[i].restart};
        keep_at(file.text, 0, 0);
        vem_ctx_set_progress(ctx, stop_later, &stop);
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        vem_ctx_set_progress(ctx, NULL, NULL);
        const char *notes = vem_report_notes(fit.report);
        if (!strstr(notes, cases[i].said) || strstr(notes, cases[i].not_said))
            fail_msg("stopped in restart %d: %s", (int)cases[i].restart, notes);
        grid_fit_free(&fit);
        if (cases[i].restart == 1)
            continue;
        keep_at(file.text, 0, 1);
        grid_fit resumed = grid_run(ctx, &data, &o, NULL);
        assert_same_bits(&whole, &resumed, "resumed in a later restart");
        grid_fit_free(&resumed);
    }
    keep_at(NULL, 0, 0);
    grid_fit_free(&whole);
    grid_data_free(&data);
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

/* Time for no start, but for a seeding: that which was asked for, and this one looks at no
 * distance. */
static void seeded_as_asked(void **state)
{
    (void)state;
    grid_data data = overlapping(4200, 2, 8, 324);
    int64_t least = INT64_MAX;
    for (int64_t jump = 2; jump < 200; jump += 1 + grid_stride() / 2) {
        vem_options o = ours(6, VEM_AUTO);
        o.coreset = data.n;
        o.time = 100;
        o.seeding = VEM_SEED_RANDOM;
        grid_fit fit;
        fake_looks = 0;
        fake_jump_at = jump;
        fake_jump = 60;
        const vem_status status = grid_try(ctx, &data, &o, NULL, &fit);
        fake_jump_at = 0;
        fake_jump = 1e6;
        if (status != VEM_OK)
            continue;
        if (fit.summary->seed_pairs < least)
            least = fit.summary->seed_pairs;
        grid_fit_free(&fit);
    }
    assert_int_equal(least, 0);
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

/* A few rows at a sentinel value, which take half of all draws, and two small groups. */
static grid_data with_far_rows(int64_t n)
{
    grid_data data = overlapping(n, 3, 5, 411);
    for (int64_t i = 0; i < 60; i++)
        for (int32_t j = 0; j < 3; j++) {
            vem_i_rng rng = vem_i_rng_at(411, VEM_RNG_TEST, 9, (uint64_t)(i * 3 + j));
            data.x[i * 3 + j] = (i < 20   ? -999999
                                 : i < 40 ? (j == 0) * 400.0
                                          : (j == 1) * -400.0) +
                                vem_i_rng_normal(&rng);
        }
    return data;
}

/* Starts that the first step over all rows gives up: the same bits for any number of threads, and
 * from any state. No larger sample comes between. */
static void given_up(void **state)
{
    (void)state;
    grid_data data = with_far_rows(20000);
    int64_t said = 0;
    for (int seed = 1; seed <= 3; seed++) {
        vem_options o = ours(8, VEM_AUTO);
        o.seed = seed;
        o.swaps = 0;
        grid_fit seeded = grid_run(ctx, &data, &o, NULL);
        const int64_t seed_pairs = seeded.summary->seed_pairs;
        grid_fit_free(&seeded);
        o.swaps = VEM_AUTO;
        o.threads = 1;
        int64_t steps;
        grid_fit whole = run_leaving_states(&data, &o, "given_up", seed, &steps);
        if (strstr(vem_report_choices(whole.report), "missed rows that count")) {
            said++;
            /* The starts, and the step that gave them up, count beside the seeding. */
            assert_true(whole.summary->seed_pairs > seed_pairs + 8 * data.n);
        }
        assert_int_equal(whole.trace[0].step, 1);
        assert_true(whole.summary->free_energy_first == whole.trace[0].free_energy);
        o.threads = 3;
        assert_resumes(&data, &o, &whole, steps, grid_stride() > 1 ? 1 : 4);
        grid_fit_free(&whole);
    }
    assert_true(said > 0);
    grid_data_free(&data);
}

/* Far, and without a move that says so: loops of starts that were given up left a line. */
static int falls(const grid_fit *fit, int64_t line)
{
    return !fit->trace[line - 1].move &&
           fit->trace[line].free_energy < fit->trace[line - 1].free_energy - 0.1;
}

/* The same where a loop that can swap comes before the one that was asked for: whether the starts
 * stay or are given up there, the same bits from any state and for any number of threads. */
static void looked_again(void **state)
{
    (void)state;
    enum { SEEDS = 6 };
    grid_data data = with_far_rows(20000);
    int gone = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        vem_options o = ours(8, VEM_DIAG);
        o.seed = seed;
        o.threads = 1;
        int64_t steps;
        grid_fit whole = run_leaving_states(&data, &o, "looked_again", seed, &steps);
        gone += strstr(vem_report_choices(whole.report), "missed rows that") != NULL;
        for (int64_t t = 1; t < whole.summary->steps; t++)
            if (falls(&whole, t))
                fail_msg("seed %d: F falls at step %d", seed, (int)t + 1);
        o.threads = 3;
        assert_resumes(&data, &o, &whole, steps, grid_stride() > 1 ? 1 : 6);
        grid_fit_free(&whole);
    }
    assert_in_range(gone, 1, SEEDS - 1);
    grid_data_free(&data);
}

/* Small groups that the sample misses are found. */
static void far_rows(void **state)
{
    (void)state;
    grid_data data = with_far_rows(40000);
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

static int swapped(const grid_fit *fit)
{
    for (int64_t t = 0; t < fit->summary->steps; t++)
        if (fit->trace[t].move && strcmp(fit->trace[t].move, "swap") == 0)
            return 1;
    return 0;
}

/* Fits whose last loop cannot swap: one that can comes before it, and every seed finds the groups. */
static void far_rows_of_mixtures(void **state)
{
    (void)state;
    enum { SEEDS = 6 };
    grid_data data = with_far_rows(40000);
    double f[SEEDS], best = -INFINITY;
    int heard = 0;
    for (int s = 0; s < SEEDS; s++) {
        vem_options o = ours(8, VEM_DIAG);
        o.seed = 1 + s;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        const char *said = vem_report_choices(fit.report);
        assert_true(swapped(&fit) || !strstr(said, "round of swaps over all rows"));
        heard += strstr(said, "far ") != NULL;
        /* Starts that are given up leave no step of theirs. */
        assert_false(fit.summary->steps > 2 && falls(&fit, 2));
        f[s] = fit.summary->free_energy;
        best = fmax(best, f[s]);
        grid_fit_free(&fit);
    }
    for (int s = 0; s < SEEDS; s++)
        if (f[s] < best - 0.02)
            fail_msg("seed %d: F %.4f, best %.4f", 1 + s, f[s], best);
    assert_true(heard > 0);
    grid_data_free(&data);
}

/* What happened to the best restart is known after a resume in a later one. */
static void remembered(void **state)
{
    (void)state;
    grid_data data = with_far_rows(20000);
    int first = 0;
    for (int seed = 1; !first && seed <= 8; seed++) {
        vem_options o = ours(8, VEM_DIAG);
        o.seed = seed;
        o.restarts = 2;
        int64_t steps;
        grid_fit whole = run_leaving_states(&data, &o, "remembered", seed, &steps);
        first = whole.summary->restart == 1 && steps <= MOST_COPIES &&
                strstr(vem_report_choices(whole.report), "far ");
        keep_at(path_of("copy", steps).text, 1e9, 1);
        grid_fit resumed = first ? grid_run(ctx, &data, &o, NULL) : (grid_fit){0};
        if (first)
            assert_string_equal(vem_report_choices(whole.report),
                                vem_report_choices(resumed.report));
        grid_fit_free(&resumed);
        grid_fit_free(&whole);
        keep_at(NULL, 0, 0);
    }
    assert_true(first);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_rows),           cmocka_unit_test(far_rows_of_mixtures),
        cmocka_unit_test(given_up),           cmocka_unit_test(looked_again),
        cmocka_unit_test(remembered),         cmocka_unit_test(stopped_in_any_run),
        cmocka_unit_test(what_a_stop_leaves), cmocka_unit_test(out_of_time_anywhere),
        cmocka_unit_test(seeded_as_asked),    cmocka_unit_test(too_few_distinct_rows)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
