/* What a fit says of itself when it is over: why a gap was not reached, what has no part in it, by
 * which rule it ended, and how long it took. */
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

/* A fit that goes on from a state counts the seconds before it, too. */
static void seconds_before_a_state(void **state)
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
        cmocka_unit_test(gaps_that_are_not_reached),
        cmocka_unit_test(rule_of_stopping),
        cmocka_unit_test(seconds_before_a_state),
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
