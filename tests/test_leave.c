/* A stop in the middle of a long step of an exact search: the step is given up, and what comes
 * back is, to the bit, the fit of the whole steps before it. The state goes on to the same
 * end as if nothing had happened. */
#include "checkpoints.h"
#include "em/last_step.h"
#include "em/undo.h"

typedef struct stopper {
    int64_t calls, stop_at, step;
    int within; /* stopped with work of the step left */
} stopper;

static int stop_at_call(void *user, const vem_progress *p)
{
    stopper *s = user;
    if (strcmp(p->phase, "em") != 0 || ++s->calls != s->stop_at)
        return 0;
    s->step = p->step;
    s->within = p->total > 1;
    return 1;
}

static grid_fit fit_of(const grid_data *data, const vem_options *o)
{
    vem_ctx_set_progress(ctx, NULL, NULL);
    return grid_run(ctx, data, o, NULL);
}

static void check(const grid_data *data, const vem_options *o, int64_t stride)
{
    keep_at(NULL, 0, 0);
    fake_tick = 0;
    grid_fit whole = fit_of(data, o);
    path_name file = path_of("left", 0);
    int64_t given_up = 0, nothing = 0;
    for (int64_t k = 1;; k += stride) {
        stopper s = {.stop_at = k};
        grid_fit stopped;
        keep_at(file.text, 1e9, 0);
        remove(file.text);
        fake_tick = 1; /* every look at the clock is worth a call */
        vem_ctx_set_progress(ctx, stop_at_call, &s);
        vem_status status = grid_try(ctx, data, o, NULL, &stopped);
        vem_ctx_set_progress(ctx, NULL, NULL);
        fake_tick = 0;
        if (s.step == 0 && s.calls < k) { /* it ended before */
            assert_int_equal(status, VEM_OK);
            grid_fit_free(&stopped);
            break;
        }
        if (status != VEM_OK) {
            assert_int_equal(status, VEM_STOPPED);
            assert_int_equal(s.step, 1);
            nothing++;
        } else {
            assert_int_equal(stopped.summary->outcome, VEM_OUTCOME_STOPPED);
            const int64_t steps = stopped.summary->steps;
            assert_in_range(steps, s.step - 1, s.step);
            given_up += steps == s.step - 1;
            assert_true(steps == s.step || s.within);
            vem_options fewer = *o;
            fewer.max_steps = steps;
            keep_at(NULL, 0, 0);
            grid_fit counted = fit_of(data, &fewer);
            const size_t values = (size_t)vem_model_clusters(counted.model) *
                                  (size_t)vem_model_columns(counted.model);
            assert_memory_equal(vem_model_means(counted.model),
                                vem_model_means(stopped.model), values * sizeof(double));
            assert_memory_equal(counted.labels, stopped.labels,
                                (size_t)data->n * sizeof(int32_t));
            assert_true(counted.summary->free_energy == stopped.summary->free_energy);
            assert_int_equal(counted.trace_count, stopped.trace_count);
            grid_fit_free(&counted);
            grid_fit_free(&stopped);
        }
        keep_at(file.text, 1e9, 1);
        grid_fit resumed = fit_of(data, o);
        /* From the step that was given up, not from one before it. */
        assert_int_equal(resumed.summary->resumed_step, s.step);
        assert_same_bits(&whole, &resumed, "stopped within a step");
        grid_fit_free(&resumed);
    }
    keep_at(NULL, 0, 0);
    if (given_up == 0 || nothing == 0)
        fail_msg("%d steps given up, %d fits without a result (held %d, %d columns)",
                 (int)given_up, (int)nothing, (int)o->held, data->d);
    grid_fit_free(&whole);
}

static void stopped_within_a_step(void **state)
{
    (void)state;
    vem_ctx_set_threads(ctx, 1); /* which call comes when is then the same everywhere */
    /* Several shards; then shards so long that they are left themselves. */
    for (int long_shards = 0; long_shards < 2; long_shards++)
        for (int held = 1; held <= 3; held++) {
            vem_i_worth_leaving = long_shards ? 1e7 : 0; /* rows x clusters x columns */
            grid_data data =
                grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, long_shards ? 4200 : 6000,
                              long_shards ? 64 : 3, 31);
            vem_options o = grid_options(long_shards ? 160 : 5, VEM_ISO_SHARED,
                                         VEM_PRIOR_FLAT, held, VEM_SINGLE, 5);
            o.search = VEM_SEARCH_CLOSEST;
            o.tolerance = 0;
            if (held == 3 && !long_shards) {
                o.search = VEM_SEARCH_ALL;
                o.held = 5;
                o.family = VEM_DIAG;
            }
            if (held < 3 || !long_shards)
                check(&data, &o, long_shards ? 23 : 5);
            grid_data_free(&data);
        }
}

/* Where the loop rests and looks for one cluster more: candidates go by the log sums of the last
 * E-step, which is not made again by a fit that goes on. */
static void stopped_within_an_insertion(void **state)
{
    (void)state;
    vem_ctx_set_threads(ctx, 1);
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 900, 3, 32);
    path_name file = path_of("inserted", 0);
    for (int held = 1; held <= 4; held++) {
        vem_options o = grid_options(4, VEM_DIAG, VEM_PRIOR_FREE, held, VEM_SINGLE, 40);
        o.tolerance = 1e-3;
        o.algorithm = VEM_ALGORITHM_GREEDY;
        o.search = held == 4 ? VEM_SEARCH_ALL : VEM_SEARCH_CLOSEST;
        keep_at(NULL, 0, 0);
        fake_tick = 0;
        grid_fit whole = fit_of(&data, &o);
        int64_t went_on = 0;
        stopper s = {.step = 1};
        for (int64_t k = 1; s.step > 0; k += 13) {
            s = (stopper){.stop_at = k};
            grid_fit stopped;
            keep_at(file.text, 1e9, 0);
            remove(file.text);
            fake_tick = 1;
            vem_ctx_set_progress(ctx, stop_at_call, &s);
            const vem_status status = grid_try(ctx, &data, &o, NULL, &stopped);
            fake_tick = 0;
            if (status != VEM_OK) /* before there was a step */
                continue;
            grid_fit_free(&stopped);
            keep_at(file.text, 1e9, 1);
            grid_fit resumed = fit_of(&data, &o);
            assert_same_bits(&whole, &resumed, "stopped within an insertion");
            assert_int_equal(resumed.summary->scored_pairs, whole.summary->scored_pairs);
            went_on += resumed.summary->resumed_step > 0;
            grid_fit_free(&resumed);
        }
        assert_true(went_on > 9);
        grid_fit_free(&whole);
    }
    keep_at(NULL, 0, 0);
    grid_data_free(&data);
}

/* Time is over in the middle of a step, at every look at the clock: labels and F are those of the
 * model that comes back, where posteriors are of several models (blocks) too, and where cells were
 * divided since the last whole step. */
static void late_within_a_step(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 900, 2, 33);
    int32_t *labels = malloc((size_t)data.n * sizeof *labels);
    vem_data *rows;
    vem_ctx_set_threads(ctx, 1);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data.x, data.n, data.d, 0, 0,
                                     &rows),
                     VEM_OK);
    for (int kind = 0; kind < 3; kind++) {
        vem_options o = grid_options(4, VEM_FULL, VEM_PRIOR_FREE, 4, VEM_DOUBLE, 12);
        int64_t late = 0, looks = 0;
        o.search = VEM_SEARCH_ALL;
        o.tolerance = 1e-3;
        if (kind == 0)
            o.blocks = 3;
        else
            o.cells = 300;
        if (kind == 2) { /* what is held goes on into another loop */
            o.family = VEM_ISO_SHARED;
            o.prior = VEM_PRIOR_FLAT;
            o.finish = VEM_FINISH_HARD;
        }
        o.time = 100;
        fake_looks = 0;
        fake_jump_at = 0;
        grid_fit whole = grid_run(ctx, &data, &o, NULL);
        looks = fake_looks;
        grid_fit_free(&whole);
        const int64_t stride = 1 + looks / (grid_stride() > 1 ? 20 : 80);
        for (int64_t k = 2; k < looks; k += stride) {
            grid_fit fit;
            fake_looks = 0;
            fake_jump_at = k;
            const vem_status status = grid_try(ctx, &data, &o, NULL, &fit);
            fake_jump_at = 0;
            if (status != VEM_OK)
                continue; /* there was no time for one step */
            late += fit.summary->outcome == VEM_OUTCOME_BUDGET && fit.summary->steps > 1;
            if (kind == 0 && fit.labels && fit.summary->steps > 0) {
                assert_int_equal(vem_assign(ctx, fit.model, rows, 1, VEM_DOUBLE, labels,
                                            NULL),
                                 VEM_OK);
                assert_memory_equal(labels, fit.labels, (size_t)data.n * sizeof *labels);
                const vem_scores s = grid_score(ctx, fit.model, &data, 4, VEM_DOUBLE);
                assert_float_equal(s.log_likelihood, fit.summary->free_energy, 1e-9);
            }
            for (int32_t c = 0; c < 4; c++)
                assert_true(isfinite(vem_model_means(fit.model)[2 * c]));
            grid_fit_free(&fit);
        }
        if (late == 0)
            fail_msg("kind %d was never late", kind);
    }
    free(labels);
    vem_data_free(rows);
    grid_data_free(&data);
}

/* What is taken back is what was kept: items that came since hold a cluster that there is. */
static void items_that_came_since(void **state)
{
    (void)state;
    int32_t held[6] = {3, 1, 2, 0, 77, 78};
    vem_model *model;
    const double means[4] = {0, 1, 2, 3}, variance = 1;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 4, 1, means, NULL, &variance,
                                   &model),
                     VEM_OK);
    vem_i_run run = *vem_i_begin(ctx, &(vem_i_verb){0});
    vem_i_em em = {.run = &run,
                   .model = model,
                   .posterior = {.held = held, .n = 3, .width = 2}};
    vem_i_undo undo;
    assert_int_equal(vem_i_undo_new(&em, 1, &undo), VEM_OK);
    em.posterior.n = 2;
    vem_i_undo_save(&undo, &em);
    held[0] = held[2] = 1;
    em.posterior.n = 3;
    vem_i_undo_restore(&undo, &em);
    const int32_t expected[6] = {3, 1, 2, 0, 0, -1};
    assert_memory_equal(held, expected, sizeof held);
    vem_i_undo_free(&undo);
    vem_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stopped_within_a_step),
                                       cmocka_unit_test(late_within_a_step),
                                       cmocka_unit_test(stopped_within_an_insertion),
                                       cmocka_unit_test(items_that_came_since)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
