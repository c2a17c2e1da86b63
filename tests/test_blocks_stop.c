/* A stop in an epoch of blocks. The clock is the test's own, so that progress is told at every
 * block. */
#include "grid.h"

#include "context.h"
#include "fake_clock.h"

enum { BLOCKS = 7, CLUSTERS = 4, SHARD_MOST = 256 };

/* Asks to stop at block `at` of epoch `step`. */
typedef struct stopper {
    int64_t step, at;
} stopper;

static int stop_within(void *user, const vem_progress *p)
{
    const stopper *s = user;
    return p->step == s->step && p->total == BLOCKS && p->done == s->at;
}

/* A stop ends an epoch after the block at hand; F and labels are those of the model then. */
static void stopped_in_an_epoch(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 7000, 3, 6);
    vem_options o =
        grid_options(CLUSTERS, VEM_FULL, VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, 20);
    o.tolerance = 0;
    o.blocks = BLOCKS;
    fake_tick = 1;
    grid_fit whole = grid_run(ctx, &data, &o, NULL);
    const int64_t pass = data.n * CLUSTERS;
    for (int64_t at = 1; at < BLOCKS; at += 2) {
        stopper s = {.step = 3, .at = at};
        vem_ctx_set_progress(ctx, stop_within, &s);
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        vem_ctx_set_progress(ctx, NULL, NULL);
        assert_int_equal(fit.summary->outcome, VEM_OUTCOME_STOPPED);
        assert_int_equal(fit.summary->steps, 3);
        /* Two steps, the blocks until then, and the E-step that ends it. */
        const int64_t most = 2 * pass + at * pass / BLOCKS + SHARD_MOST * CLUSTERS + pass;
        if (fit.summary->scored_pairs > most)
            fail_msg("block %d: %d pairs, at most %d", (int)at,
                     (int)fit.summary->scored_pairs, (int)most);
        const vem_scores score = grid_score(ctx, fit.model, &data, CLUSTERS, VEM_DOUBLE);
        assert_float_equal(score.free_energy, fit.summary->free_energy, 1e-9);
        assert_true(fit.summary->free_energy >= whole.trace[1].free_energy - 1e-9);
        grid_fit_free(&fit);
    }
    grid_fit_free(&whole);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stopped_in_an_epoch)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
