/* What a fit says of itself when it is over: why a gap was not reached, what has no part in it, by
 * which rule it ended, and how long it took. */
#include <sys/stat.h>
#include <unistd.h>

#include "grid.h"

#include "context.h"
#include "fake_clock.h"

enum { N = 2000, CLUSTERS = 3 };

static grid_data data;

static vem_options options_of_cells(void)
{
    vem_options o =
        grid_options(CLUSTERS, VEM_FULL, VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, 400);
    o.cells = 600;
    o.gap = 1e-9;
    o.tolerance = 1e-6;
    return o;
}

/* The only note of a fit has this in it. */
static void assert_note(const vem_options *o, const char *text)
{
    grid_fit fit = grid_run(ctx, &data, o, NULL);
    const char *notes = vem_report_notes(fit.report);
    if (!strstr(notes, text))
        fail_msg("\"%s\" does not say \"%s\"", notes, text);
    grid_fit_free(&fit);
}

/* By the clock of the test. */
static int step_takes_a_second(void *user, const vem_progress *p)
{
    static int64_t last;
    (void)user;
    fake_now += p->step > last;
    last = p->step;
    return 0;
}

static void gaps_that_are_not_reached(void **state)
{
    (void)state;
    vem_options o = options_of_cells();
    assert_note(&o, "all of --cells 600 are in use.");
    o.max_steps = 3;
    assert_note(&o, "--max-steps 3 came first.");
    o = options_of_cells();
    o.time = 4.5 / 0.95;
    vem_ctx_set_progress(ctx, step_takes_a_second, NULL);
    assert_note(&o, "the fit was ended before.");
    vem_ctx_set_progress(ctx, NULL, NULL);
    o.time = VEM_AUTO;
    o.cells = N;
    assert_note(&o, "--gap 1e-09 has no part in it: --cells 2000 would be no fewer");
    o.gap = 10;
    o.cells = 600;
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_null(strstr(vem_report_notes(fit.report), "gap"));
    grid_fit_free(&fit);
}

/* Half of the clusters and more cost more than all, which is said to whoever asked for so many. */
static void many_held_clusters(void **state)
{
    (void)state;
    static const int64_t held[] = {VEM_AUTO, 1, 3, 4, 7, 8};
    for (size_t k = 0; k < sizeof held / sizeof *held; k++) {
        vem_options o = grid_options(8, VEM_DIAG, VEM_PRIOR_FREE, held[k], VEM_DOUBLE, 3);
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        const int said =
            strstr(vem_report_notes(fit.report), "(--held 8) take less") != NULL;
        assert_int_equal(said, held[k] == 4 || held[k] == 7);
        grid_fit_free(&fit);
    }
}

/* The rule of stopping with its numbers: EPS D / 2. */
static void rule_of_stopping(void **state)
{
    (void)state;
    vem_options o;
    vem_options_init(&o);
    o.clusters = CLUSTERS;
    o.family = VEM_DIAG;
    o.tolerance = 0.001;
    grid_data wide = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 300, 8, 6);
    grid_fit fit = grid_run(ctx, &wide, &o, NULL);
    if (!strstr(vem_report_choices(fit.report), "by no more than 0.004 (0.001 D / 2)"))
        fail_msg("%s", vem_report_choices(fit.report));
    grid_fit_free(&fit);
    grid_data_free(&wide);
}

/* How often the file was replaced. */
static struct stat seen;
static int64_t states;

static int step_looks_at_the_file(void *user, const vem_progress *p)
{
    struct stat now;
    if (stat(user, &now) == 0 &&
        (now.st_ino != seen.st_ino || now.st_mtim.tv_sec != seen.st_mtim.tv_sec ||
         now.st_mtim.tv_nsec != seen.st_mtim.tv_nsec)) {
        seen = now;
        states++;
    }
    return step_takes_a_second(NULL, p);
}

/* Numbers of a state are found by their names, by later versions, too. */
static void assert_names(const char *path)
{
    static char bytes[1 << 20];
    static const char *const names[] = {"free_energy", "seed_pairs", "seconds"};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (int i = 0; i < 3; i++) {
        const size_t length = strlen(names[i]) + 1;
        size_t at = 0;
        while (at + length <= size && memcmp(bytes + at, names[i], length) != 0)
            at++;
        assert_true(at + length <= size);
    }
}

/* A fit that goes on from a state counts the seconds before it, too. With a second for each step and a
 * state every four seconds, few are written; without that, one before every step. */
static void states_and_seconds(void **state)
{
    (void)state;
    char path[] = "/tmp/vem-test-XXXXXX";
    const int handle = mkstemp(path);
    assert_true(handle >= 0);
    close(handle);
    unlink(path);
    vem_options o =
        grid_options(CLUSTERS, VEM_DIAG, VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, 4);
    vem_checkpoint where = {.size = sizeof where, .path = path};
    assert_int_equal(vem_ctx_set_checkpoint(ctx, &where), VEM_OK);
    for (int often = 0; often < 2; often++) {
        where.seconds = often ? 0 : 4;
        states = 0;
        o.max_steps = 12;
        assert_int_equal(vem_ctx_set_checkpoint(ctx, &where), VEM_OK);
        vem_ctx_set_progress(ctx, step_looks_at_the_file, path);
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_int_equal(fit.summary->steps, 12);
        assert_true(often ? states >= 10 : states >= 2 && states <= 6);
        grid_fit_free(&fit);
        assert_names(path);
        unlink(path);
    }
    where.seconds = 0;
    o.max_steps = 4;
    assert_int_equal(vem_ctx_set_checkpoint(ctx, &where), VEM_OK);
    vem_ctx_set_progress(ctx, step_takes_a_second, NULL);
    for (int resumed = 0; resumed < 2; resumed++) {
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_int_equal(fit.summary->steps, o.max_steps);
        assert_int_equal(fit.summary->resumed_step > 0, resumed);
        if (fabs(fit.summary->seconds_em - (double)o.max_steps) > 1.5)
            fail_msg("%d steps took %g seconds", (int)o.max_steps,
                     fit.summary->seconds_em);
        grid_fit_free(&fit);
        o.max_steps = 10;
        where.resume = 1;
        assert_int_equal(vem_ctx_set_checkpoint(ctx, &where), VEM_OK);
    }
    vem_ctx_set_progress(ctx, NULL, NULL);
    assert_int_equal(vem_ctx_set_checkpoint(ctx, NULL), VEM_OK);
    unlink(path);
}

/* Starts are told in thousandths of a run: of its steps, more as there are more of them, and never
 * backwards. */
typedef struct thousandths {
    int64_t total, last, most_within, runs;
    int falls;
} thousandths;

static int follow_starts(void *user, const vem_progress *p)
{
    thousandths *s = user;
    if (strcmp(p->phase, "seed") != 0 || p->total % 1000 != 0 || p->total < 2000)
        return 0;
    s->total = p->total;
    s->falls |= p->done < s->last;
    s->last = p->done;
    s->runs = p->done / 1000;
    if (p->done % 1000 > s->most_within)
        s->most_within = p->done % 1000;
    return 0;
}

static void starts_are_told(void **state)
{
    (void)state;
    vem_options o;
    vem_options_init(&o);
    o.clusters = 8;
    thousandths s = {0};
    fake_tick = 1; /* every look is told */
    vem_ctx_set_progress(ctx, follow_starts, &s);
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    vem_ctx_set_progress(ctx, NULL, NULL);
    fake_tick = 0;
    grid_fit_free(&fit);
    assert_false(s.falls);
    assert_true(s.runs >= 1 && s.last <= s.total);
    /* The first of ten steps or so ends at 100 + 900 / 11, the seeding before it at 100. */
    assert_in_range(s.most_within, 300, 999);
}

/* Steps before the first M-step are told as 0 and less. */
static void steps_before_the_first(void **state)
{
    (void)state;
    vem_options o =
        grid_options(CLUSTERS, VEM_DIAG, VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, 3);
    o.init_steps = 2;
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(fit.summary->init_steps, 2);
    assert_int_equal(fit.trace_count, 5);
    for (int64_t t = 0; t < fit.trace_count; t++)
        assert_int_equal(fit.trace[t].step, t - 1);
    grid_fit_free(&fit);
}

static int make_data(void **state)
{
    data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, 2, 6);
    return set_up(state);
}

static int free_data(void **state)
{
    grid_data_free(&data);
    return tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_that_are_not_reached), cmocka_unit_test(rule_of_stopping),
        cmocka_unit_test(states_and_seconds),        cmocka_unit_test(starts_are_told),
        cmocka_unit_test(steps_before_the_first),    cmocka_unit_test(many_held_clusters),
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
