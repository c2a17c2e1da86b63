/* What each step of a loop does, and what share of the time each loop of a fit has. */
#include "context.h"

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
        const vem_i_programme p = vem_i_programme_of(&r, 1, 0, 100000, 4);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases),
        cmocka_unit_test(gains),
        cmocka_unit_test(probes),
        cmocka_unit_test(shares),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
