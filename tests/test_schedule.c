/* What each step of a loop does, what share of the time each loop of a fit has, how many steps are
 * left, and what a fit chooses by itself. */
#include "context.h"
#include "fake_clock.h"

#include "em/em.h"
#include "em/schedule.h"
#include "fit/programme.h"

/* One letter a step: F finds (over-relaxed), S swaps, C calms, . is plain and may be the last,
 * - plain and may not. */
static void runs_as(vem_i_schedule s, const char *expected)
{
    for (int i = 0; expected[i]; i++) {
        const vem_i_step step = vem_i_schedule_next(&s);
        const char found = step.swap                          ? 'S'
                           : step.relax == 1                  ? (step.may_end ? '.' : '-')
                           : step.plan.only_far && !s.crowded ? 'C'
                                                              : 'F';
        assert_true(step.relax == 1 || (step.relax > 1 && step.relax < 2));
        assert_true(!step.swap || (!step.may_end && step.plan.look_further));
        if (found != expected[i])
            fail_msg("step %d of \"%s\" is %c", i + 1, expected, found);
    }
}

static void phases(void **state)
{
    (void)state;
    runs_as((vem_i_schedule){0}, "......");
    runs_as((vem_i_schedule){.rounds = 1}, "FFFSC.....");
    runs_as((vem_i_schedule){.rounds = 3}, "FFFSCSCSC.....");
    runs_as((vem_i_schedule){.groups = 1, .probe = 2}, "FFF--.....");
    runs_as((vem_i_schedule){.groups = 1, .probe = 2, .rounds = 2}, "FFFSCSC--.....");
}

/* Rounds end where they promise too little. */
static void gains(void **state)
{
    (void)state;
    vem_i_schedule s = {.rounds = 10, .enough = 0.5};
    for (int i = 0; i < 3; i++)
        vem_i_schedule_next(&s);
    assert_true(vem_i_schedule_next(&s).swap);
    vem_i_schedule_gain(&s, 0.5); /* enough for another */
    assert_false(vem_i_schedule_next(&s).swap);
    assert_true(vem_i_schedule_next(&s).swap);
    vem_i_schedule_gain(&s, 0.25);
    assert_false(vem_i_schedule_next(&s).swap);
    for (int i = 0; i < 5; i++) {
        const vem_i_step step = vem_i_schedule_next(&s);
        assert_true(!step.swap && step.may_end);
    }
}

/* Probes: in each step that finds but the first of items that are placed, every second time
 * things calm down, once while they settle. */
static void probes(void **state)
{
    (void)state;
    static const int expected[2][14] = {{3, 3, 3, 0, 0, 0, 3, 0, 3, 0, 0, 0, 0, 0},
                                        {0, 3, 3, 0, 0, 0, 3, 0, 3, 0, 0, 0, 0, 0}};
    for (int placed = 0; placed < 2; placed++) {
        vem_i_schedule s = {.groups = 1, .probe = 3, .placed = placed, .rounds = 2};
        for (int i = 0; i < 14; i++) {
            const vem_i_step step = vem_i_schedule_next(&s);
            assert_int_equal(step.plan.probe, expected[placed][i]);
            assert_int_equal(step.plan.fresh, i > 6 && (i - 6) % 4 == 0);
        }
    }
    vem_i_schedule crowded = {.groups = 1, .probe = 3, .crowded = 1};
    for (int i = 1; i <= 6; i++)
        assert_int_equal(vem_i_schedule_next(&crowded).plan.only_far, i >= 3);
}

/* docs/math/budgets.md: starts and a start by k-means half of the time, a soft fit three quarters
 * of the rest before a hard finish. */
static void shares(void **state)
{
    (void)state;
    const struct {
        int64_t clusters;
        vem_family_kind family;
        int hard_finish;
        int kinds; /* that there must be, one bit each */
    } cases[] = {
        {20, VEM_DIAG, 0, 1 << VEM_I_STAGE_STARTS | 1 << VEM_I_STAGE_FIT},
        {100, VEM_ISO, 0, 1 << VEM_I_STAGE_KMEANS | 1 << VEM_I_STAGE_FIT},
        {200, VEM_ISO_SHARED, 1, 1 << VEM_I_STAGE_FIT | 1 << VEM_I_STAGE_FINISH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vem_options o, r;
        vem_options_init(&o);
        o.clusters = cases[i].clusters;
        o.family = cases[i].family;
        o.search = cases[i].clusters == 100 ? VEM_SEARCH_ALL : VEM_AUTO;
        o.swaps = 5;
        if (cases[i].hard_finish) {
            o.prior = VEM_PRIOR_FLAT;
            o.held = 3;
            o.finish = VEM_FINISH_HARD;
        }
        if (vem_options_resolve(ctx, &o, 100000, 4, VEM_FLOAT64, &r) != VEM_OK)
            fail_msg("%s", vem_ctx_message(ctx));
        const vem_i_programme p = vem_i_programme_of(&r, 1, 0, 100000, 4, 4);
        int seen = 0;
        for (int k = 0; k < p.count; k++) {
            const vem_i_stage_kind kind = p.stages[k].kind;
            const int before = kind == VEM_I_STAGE_STARTS || kind == VEM_I_STAGE_KMEANS ||
                               kind == VEM_I_STAGE_LISTED;
            const int soft = kind == VEM_I_STAGE_FIT && cases[i].hard_finish;
            assert_true(p.stages[k].share == (before ? 0.5 : soft ? 0.75 : 1));
            seen |= 1 << kind;
        }
        assert_int_equal(seen & cases[i].kinds, cases[i].kinds);
        assert_int_equal(!!(seen & 1 << VEM_I_STAGE_FINISH), cases[i].hard_finish);
    }
}

/* Steps that are left, from how fast the changes fall: halved each time, 2^m need m more. */
static void steps_left(void **state)
{
    (void)state;
    vem_options o;
    vem_options_init(&o);
    o.tolerance = 0;
    vem_trace_step steps[30];
    for (int i = 0; i < 30; i++)
        steps[i] = (vem_trace_step){.changed = INT64_C(1) << (30 - i),
                                    .free_energy = -1 - pow(2, 10 - i)};
    const vem_view view = {.d = 2};
    const vem_i_search_spec closest = vem_i_search_closest(4, 1, 0);
    vem_i_em em = {.options = &o,
                   .view = &view,
                   .search = &closest,
                   .trace.steps = steps};
    em.doing.may_end = 1;
    for (em.trace.count = 1; em.trace.count <= 29; em.trace.count++) {
        const double left = vem_i_em_steps_left(&em);
        const double expected = em.trace.count <= 5 ? 0 : 31 - (double)em.trace.count;
        if (!(fabs(left - expected) <= (expected > 0))) /* rounding may say one more */
            fail_msg("%g steps left after %d, not %g", left, (int)em.trace.count,
                     expected);
    }
    em.trace.count = 20;
    steps[17].moved = 1; /* clusters that were put elsewhere: nothing is known yet */
    assert_true(vem_i_em_steps_left(&em) == 0);
    steps[17].moved = 0;
    em.doing.may_end = 0;
    assert_true(vem_i_em_steps_left(&em) == 0);
    em.doing.may_end = 1;
    /* By F: changes of 2^(10 - i) until they are below the tolerance times |F|. */
    o.tolerance = 0x1p-20;
    em.free_energy = -1;
    assert_true(fabs(vem_i_em_steps_left(&em) - 11) <= 1);
    o.tolerance = 0x1p-8;
    assert_true(vem_i_em_steps_left(&em) == 1);
    steps[19].free_energy = 100; /* it rises faster than before */
    assert_true(vem_i_em_steps_left(&em) == 0);
}

static vem_options resolved(int64_t clusters, int search, int64_t n, int32_t d)
{
    vem_options o, r;
    vem_options_init(&o);
    o.clusters = clusters;
    o.search = search;
    if (vem_options_resolve(ctx, &o, n, d, VEM_FLOAT64, &r) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    return r;
}

/* Whoever names a search gets that and no swaps; the costly seeding is for small work. */
static void choices(void **state)
{
    (void)state;
    assert_true(resolved(10, VEM_AUTO, 1000, 3).swaps > 0);
    assert_true(resolved(10, VEM_SEARCH_GROUPS, 1000, 3).swaps > 0);
    assert_true(resolved(10, VEM_SEARCH_CLOSEST, 1000, 3).swaps == 0);
    assert_int_equal(resolved(2, VEM_SEARCH_CLOSEST, 1000, 3).seeding,
                     VEM_SEED_PLUSPLUS_GREEDY);
    assert_int_not_equal(resolved(2, VEM_SEARCH_CLOSEST, INT64_C(1) << 34, 100).seeding,
                         VEM_SEED_PLUSPLUS_GREEDY);
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 60, 2, 5);
    vem_data *rows = grid_borrow(ctx, &data);
    vem_report *report = NULL;
    vem_options o;
    vem_options_init(&o);
    o.clusters = 3;
    assert_int_equal(vem_fit(ctx, rows, &o, NULL, NULL, &report), VEM_OK);
    assert_null(strstr(vem_report_choices(report), "search groups"));
    vem_report_free(report);
    /* A smaller tolerance takes more steps, and so more time. */
    vem_forecast coarse = {.size = sizeof coarse}, fine = coarse;
    o.swaps = 0;
    o.tolerance = 1e-2;
    assert_int_equal(vem_plan_fit(ctx, rows, &o, NULL, &coarse), VEM_OK);
    o.tolerance = 1e-8;
    assert_int_equal(vem_plan_fit(ctx, rows, &o, NULL, &fine), VEM_OK);
    assert_true(fine.seconds > 2 * coarse.seconds && coarse.seconds > 0);
    vem_data_free(rows);
    grid_data_free(&data);
}

/* Whatever counts as rest, two steps are compared; where candidates are drawn, three. */
static void first_rest(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 200, 2, 5);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 12);
    vem_options o = grid_options(12, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 2, VEM_DOUBLE, 20);
    o.tolerance = 1;
    for (int explore = 0; explore < 2; explore++) {
        if (explore) {
            o.search = VEM_SEARCH_ESTIMATED;
            o.reach = 4;
            o.explore = 1;
        }
        grid_fit fit = grid_run(ctx, &data, &o, start);
        assert_int_equal(fit.summary->outcome, VEM_OUTCOME_CONVERGED);
        assert_int_equal(fit.summary->steps, explore ? 3 : 2);
        grid_fit_free(&fit);
    }
    /* From rows, shapes of their own come after two steps with one for all. */
    o = grid_options(12, VEM_DIAG, VEM_PRIOR_FREE, 2, VEM_DOUBLE, 20);
    o.tolerance = 1;
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(fit.summary->steps, 4);
    grid_fit_free(&fit);
    vem_model_free(start);
    grid_data_free(&data);
}

typedef struct heard {
    int64_t last;
    int calls;
} heard;

static int hear(void *user, const vem_progress *p)
{
    heard *h = user;
    if (strcmp(p->phase, "seed") != 0)
        return 0;
    assert_in_range(p->done, h->last, p->total);
    h->last = p->done;
    h->calls++;
    return 0;
}

/* Starts of many steps tell how far they are: never back, and never beyond the end. */
static void progress_of_starts(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 600, 2, 5);
    vem_data *rows = grid_borrow(ctx, &data);
    vem_options o;
    vem_options_init(&o);
    o.clusters = 12;
    o.family = VEM_DIAG;
    o.tolerance = 0;
    heard h = {0};
    fake_tick = 0.05; /* each step is told */
    vem_ctx_set_progress(ctx, hear, &h);
    assert_int_equal(vem_fit(ctx, rows, &o, NULL, NULL, NULL), VEM_OK);
    vem_ctx_set_progress(ctx, NULL, NULL);
    fake_tick = 0;
    assert_true(h.calls > 10);
    vem_data_free(rows);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases),     cmocka_unit_test(gains),
        cmocka_unit_test(probes),     cmocka_unit_test(shares),
        cmocka_unit_test(steps_left), cmocka_unit_test(choices),
        cmocka_unit_test(first_rest), cmocka_unit_test(progress_of_starts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
