/* Where a loop rests a move may let it go on, and the limit of steps may end it just there. With a
 * larger limit the fit then goes on to the bits of one that was never ended. */
#include "checkpoints.h"

enum { ROWS = 1200, CLUSTERS = 4, CELLS = 120, STEPS = 60 };

/* Ended after every number of steps, and resumed without that limit. */
static void ended_at_every_step(const vem_options *asked, const char *move)
{
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, ROWS, 2, 8);
    vem_model *start = grid_start(ctx, &data, VEM_DIAG, CLUSTERS);
    const path_name path = path_of("rest", 0);
    int64_t rests = 0;
    keep_at(NULL, 0, 0);
    grid_fit whole = grid_run(ctx, &data, asked, start);
    for (int64_t t = 0; t + 1 < whole.trace_count; t++) {
        vem_options o = *asked;
        remove(path.text);
        keep_at(path.text, 1e9, 0);
        o.max_steps = t + 1;
        grid_fit ended = grid_run(ctx, &data, &o, start);
        assert_int_equal(ended.summary->steps, t + 1);
        assert_int_equal(ended.summary->outcome, VEM_OUTCOME_STEP_LIMIT);
        keep_at(path.text, 1e9, 1);
        grid_fit again = grid_run(ctx, &data, asked, start);
        const char *then = whole.trace[t].move;
        rests += then && strcmp(then, move) == 0;
        assert_same_bits(&again, &whole, then ? then : "no move");
        grid_fit_free(&again);
        grid_fit_free(&ended);
    }
    assert_true(rests > 2);
    keep_at(NULL, 0, 0);
    grid_fit_free(&whole);
    vem_model_free(start);
    grid_data_free(&data);
}

static void cells_are_divided(void **state)
{
    (void)state;
    static const int64_t expands[] = {VEM_AUTO, 25};
    for (int k = 0; k < 2; k++) {
        vem_options o =
            grid_options(CLUSTERS, VEM_DIAG, VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, STEPS);
        o.tolerance = 1e-3;
        o.cells = CELLS;
        o.depth = 3;
        o.expand = expands[k];
        ended_at_every_step(&o, "refine");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells_are_divided)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
