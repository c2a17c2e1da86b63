/* Partitions that runs of the starts met: the same rows together, whatever the clusters are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fit/met.h"
#include "grid.h"

#include "context.h"

enum { ROWS = 600, HELD = 2 };

static int32_t held[ROWS * HELD];
static vem_view view = {.n = ROWS};
static vem_model model = {.clusters = 3};

static vem_i_em loop(void)
{
    return (vem_i_em){.view = &view,
                      .model = &model,
                      .posterior = {.held = held, .width = HELD, .n = ROWS}};
}

/* Cluster (i / part) % 3, called by other numbers. */
static void divide(int part, const int32_t names[3])
{
    for (int i = 0; i < ROWS; i++) {
        held[i * HELD] = names[i / part % 3];
        held[i * HELD + 1] = (i * 7) % 3; /* what is held beside it does not count */
    }
}

static void the_same_rows_together(void **state)
{
    (void)state;
    static vem_i_met met;
    const int32_t names[3] = {0, 1, 2}, others[3] = {2, 0, 1};
    vem_i_em em = loop();
    vem_i_met_begin(&met);
    divide(10, names);
    assert_false(vem_i_met_before(&met, 1, &em));
    assert_false(vem_i_met_before(&met, 1, &em)); /* its own */
    vem_i_met_begin(&met);
    divide(10, others);
    assert_true(vem_i_met_before(&met, 1, &em));
    assert_false(vem_i_met_before(&met, 2, &em)); /* in another stage */
    held[(ROWS - 1) * HELD] = (held[(ROWS - 1) * HELD] + 1) % 3;
    assert_false(vem_i_met_before(&met, 1, &em));
    divide(11, names);
    assert_false(vem_i_met_before(&met, 1, &em));
    vem_i_met_begin(&met);
    held[0] = -1; /* nothing is held, which is another thing than the first cluster */
    assert_false(vem_i_met_before(&met, 1, &em));
    vem_i_met_begin(&met);
    assert_true(vem_i_met_before(&met, 1, &em));
    model.clusters = VEM_I_MET_CLUSTERS + 1; /* more than there are starts for */
    assert_false(vem_i_met_before(&met, 1, &em));
    model.clusters = 3;
}

static void many_are_forgotten(void **state)
{
    (void)state;
    static vem_i_met met;
    const int32_t names[3] = {0, 1, 2};
    vem_i_em em = loop();
    for (int part = 1; part < 2 * VEM_I_MET_MOST; part++) {
        vem_i_met_begin(&met);
        divide(part, names);
        vem_i_met_before(&met, part, &em);
    }
    assert_int_equal(met.count, VEM_I_MET_MOST);
}

/* Clusters that lie far apart: every run comes to the same ones. One run of five goes all the way, so that
 * starts take fewer pairs than five of its kind; the fit is as good as ever. */
static void runs_that_meet_end(void **state)
{
    (void)state;
    enum { N = 500, CLUSTERS = 5 };
    static double rows[N * 2];
    vem_options o;
    vem_model *found = NULL;
    vem_report *report = NULL;
    vem_data *data = NULL;
    for (int i = 0; i < N; i++) {
        rows[2 * i] = 100.0 * (i % CLUSTERS) + (double)(i * 7919 % 1000) / 1000;
        rows[2 * i + 1] = (double)(i * 104729 % 1000) / 1000;
    }
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, rows, N, 2, 2 * sizeof(double),
                                     sizeof(double), &data),
                     VEM_OK);
    vem_options_init(&o);
    o.clusters = CLUSTERS;
    assert_int_equal(vem_fit(ctx, data, &o, NULL, &found, &report), VEM_OK);
    /* A run takes a seeding, three steps and one that looks further before its swaps are weighed. */
    const double passes =
        (double)vem_report_summary(report)->seed_pairs / ((double)N * CLUSTERS);
    print_message("%g passes\n", passes);
    assert_true(passes < 25); /* 26.8 where they go on */
    const int32_t *labels = vem_report_labels(report);
    for (int i = CLUSTERS; i < N; i++)
        assert_int_equal(labels[i], labels[i - CLUSTERS]);
    vem_report_free(report);
    vem_model_free(found);
    vem_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_rows_together),
        cmocka_unit_test(many_are_forgotten),
        cmocka_unit_test(runs_that_meet_end),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
