/* The contract of a move: in which order a move is asked what, which of its attempts stays, and
 * what it promised. */
#include <math.h>
#include <string.h>

#include "em/move.h"

#include "context.h"
#include "engine.h"

/* What is asked of a move, letter by letter, and what it answers: its prices, one for each attempt;
 * the attempt that holds; the attempt that is not made. */
typedef struct told {
    char calls[32];
    const double *prices;
    int tried, holds_at, fails_at;
} told;

static void note(told *t, char call)
{
    const size_t at = strlen(t->calls);
    assert_true(at + 1 < sizeof t->calls);
    t->calls[at] = call;
}

static double price(void *state)
{
    told *t = state;
    note(t, 'p');
    return t->prices[t->tried];
}

static int64_t make(void *state)
{
    told *t = state;
    note(t, 'm');
    return t->tried == t->fails_at ? -1 : 7;
}

static int holds(void *state)
{
    told *t = state;
    note(t, 'h');
    return t->tried == t->holds_at;
}

static void undo(void *state)
{
    told *t = state;
    note(t, 'u');
    t->tried++;
}

static void settle(void *state)
{
    note(state, 's');
}

enum { NEVER = 9, STEPS = 8 };
static const vem_i_move decided = {.price = price,
                                   .make = make,
                                   .holds = holds,
                                   .undo = undo,
                                   .settle = settle,
                                   .tries = 3};

static void expect(vem_i_move move, told t, const char *calls, int64_t moved,
                   double promised)
{
    double said = -5;
    assert_int_equal(vem_i_move_try(&(vem_i_listed){&move, &t}, &said), moved);
    assert_string_equal(t.calls, calls);
    if (isnan(promised))
        assert_true(isnan(said));
    else
        assert_true(said == promised);
}

static void what_holds_stays(void **state)
{
    (void)state;
    const double prices[] = {4, 3, 2, 1};
    expect(decided, (told){.prices = prices, .fails_at = NEVER}, "pmhs", 7, 4);
    expect(decided, (told){.prices = prices, .holds_at = 2, .fails_at = NEVER},
           "pmhupmhupmhs", 7, 2);
}

static void what_does_not_is_taken_back(void **state)
{
    (void)state;
    const double prices[] = {4, 3, 2, 1};
    const told never = {.prices = prices, .holds_at = NEVER, .fails_at = NEVER};
    vem_i_move once = decided;
    once.tries = 0;
    expect(decided, never, "pmhupmhupmhu", -1, 0);
    expect(once, never, "pmhu", -1, 0);
}

static void without_a_gain_it_ends(void **state)
{
    (void)state;
    const double none[] = {0}, less[] = {4, -2}, unknown[] = {(double)NAN};
    expect(decided, (told){.prices = none}, "p", -1, 0);
    expect(decided, (told){.prices = unknown}, "p", -1, (double)NAN);
    expect(decided, (told){.prices = less, .holds_at = NEVER, .fails_at = NEVER}, "pmhup",
           -1, -2);
}

static void what_is_not_made_is_not_undone(void **state)
{
    (void)state;
    const double prices[] = {4, 3};
    expect(decided, (told){.prices = prices, .holds_at = NEVER}, "pm", -1, 4);
    expect(decided, (told){.prices = prices, .holds_at = NEVER, .fails_at = 1}, "pmhupm",
           -1, 3);
}

static void what_was_asked_for_stays(void **state)
{
    (void)state;
    const vem_i_move asked = {.make = make};
    const vem_i_move told_of = {.make = make, .settle = settle};
    expect(asked, (told){.fails_at = NEVER}, "m", 7, 0);
    expect(told_of, (told){.fails_at = NEVER}, "ms", 7, 0);
    expect(told_of, (told){.fails_at = 0}, "m", -1, 0);
}

/* How often it was asked, and of what. */
static int64_t asked_times;
static vem_i_em *asked_of;

static int64_t count(void *state)
{
    asked_of = state;
    asked_times++;
    return -1;
}

/* Behind how many of the steps of a loop this one is asked: it has no state but the loop. */
static int64_t asked_behind(const vem_i_move *move, int64_t *steps)
{
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 200, 2, 3);
    vem_model *start = grid_start(ctx, &data, VEM_DIAG, 3);
    const vem_options o = grid_options(3, VEM_DIAG, VEM_PRIOR_FREE, 3, VEM_DOUBLE, STEPS);
    engine e;
    engine_new(&e, ctx, &data, &o, start);
    assert_int_equal(vem_i_em_take_move(&e.em, move), VEM_OK);
    asked_times = 0;
    assert_int_equal(vem_i_em_run(&e.em), VEM_OK);
    assert_true(asked_times == 0 || asked_of == &e.em);
    *steps = e.em.steps;
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
    return asked_times;
}

static void one_of_a_loop_needs_no_state_and_says_its_cause(void **state)
{
    (void)state;
    int64_t steps = 0;
    const vem_i_move always = {.when = VEM_I_AFTER_M, .make = count};
    const vem_i_move empty = {.when = VEM_I_AFTER_M, .where_empty = 1, .make = count};
    const int64_t asked = asked_behind(&always, &steps);
    assert_true(steps > 1);
    assert_int_equal(asked, steps - 1); /* no M-step behind the last */
    assert_int_equal(asked_behind(&empty, &steps), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_holds_stays),
        cmocka_unit_test(what_does_not_is_taken_back),
        cmocka_unit_test(without_a_gain_it_ends),
        cmocka_unit_test(what_is_not_made_is_not_undone),
        cmocka_unit_test(what_was_asked_for_stays),
        cmocka_unit_test(one_of_a_loop_needs_no_state_and_says_its_cause),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
