/* Several families: the result is that of the family whose objective is best, bit by bit,
 * and says what it was compared with. */
#include "checkpoints.h"
#include "selecting.h"

#include "api/select.h"

enum { CLUMPS = 4, ROWS = 60, FAMILIES = 3, MOST = 6 };

static const int32_t families[FAMILIES] = {VEM_FULL, VEM_DIAG, VEM_ISO};

static vem_select_options several(vem_select_method method)
{
    return (vem_select_options){.size = sizeof(vem_select_options),
                                .method = method,
                                .max_clusters = MOST,
                                .families = families,
                                .family_count = FAMILIES};
}

static vem_options plain(int family)
{
    vem_options o = options((vem_family_kind)family);
    o.threads = 1;
    return o;
}

static double objective(const found *f)
{
    vem_path_summary s = {.size = sizeof s};
    assert_int_equal(vem_path_describe(ctx, f->path, &s), VEM_OK);
    return s.lower ? -s.objective : s.objective;
}

static void the_best_is_taken(void **state)
{
    (void)state;
    static const vem_select_method methods[] = {VEM_SELECT_BAYES, VEM_SELECT_VB,
                                                VEM_SELECT_BIC, VEM_SELECT_GREEDY};
    for (int turned = 0; turned < 2; turned++) {
        grid_data data = heaps(CLUMPS, ROWS, 2, 7, turned, NULL);
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            const vem_select_options s = several(methods[m]);
            const vem_options open = plain(-1);
            found f, best = {0};
            if (try_select(&data, &open, &s, &f) != VEM_OK)
                fail_msg("%s", vem_ctx_message(ctx));
            for (int k = 0; k < FAMILIES; k++) {
                const vem_options o = plain(families[k]);
                found one = find(&data, methods[m], &o, 0, MOST);
                if (!best.model || objective(&one) > objective(&best)) {
                    found_free(&best);
                    best = one;
                } else {
                    found_free(&one);
                }
            }
            assert_int_equal(vem_model_family(f.model), vem_model_family(best.model));
            assert_int_equal(vem_model_family(f.model), turned ? VEM_FULL : VEM_ISO);
            grid_assert_models(f.model, best.model, 0, "the best family");
            assert_int_equal(!vem_report_labels(f.report),
                             !vem_report_labels(best.report));
            if (vem_report_labels(f.report)) /* greedy has none of a shorter path */
                assert_memory_equal(vem_report_labels(f.report),
                                    vem_report_labels(best.report),
                                    (size_t)data.n * sizeof(int32_t));
            assert_true(objective(&f) == objective(&best));
            for (int k = 0; k < FAMILIES; k++)
                assert_non_null(strstr(vem_report_choices(f.report),
                                       vem_choice_name("family", families[k])));
            assert_true(vem_report_summary(f.report)->scored_pairs >
                        vem_report_summary(best.report)->scored_pairs);
            found_free(&f);
            found_free(&best);
        }
        grid_data_free(&data);
    }
}

typedef struct stopper {
    int64_t calls, stop_at;
} stopper;

static int count_calls(void *user, const vem_progress *p)
{
    (void)p;
    stopper *s = user;
    return ++s->calls == s->stop_at;
}

/* A stop anywhere leaves the best so far, whole, or a sentence. */
static void stopped(void **state)
{
    (void)state;
    grid_data data = heaps(CLUMPS, ROWS, 2, 7, 0, NULL);
    const vem_options o = plain(-1);
    const vem_select_options s = several(VEM_SELECT_BAYES);
    stopper all = {0};
    found f;
    int64_t models = 0;
    vem_ctx_set_progress(ctx, count_calls, &all);
    assert_int_equal(try_select(&data, &o, &s, &f), VEM_OK);
    found_free(&f);
    const int64_t step = 1 + all.calls / (grid_stride() > 1 ? 3 : 9);
    for (int64_t stop = all.calls; stop > 0; stop -= step) {
        stopper one = {.stop_at = stop};
        vem_ctx_set_progress(ctx, count_calls, &one);
        const vem_status status = try_select(&data, &o, &s, &f);
        if (status == VEM_OK) {
            models++;
            assert_int_equal(vem_path_chosen(f.path), vem_model_clusters(f.model));
            assert_int_equal(vem_report_summary(f.report)->outcome, VEM_OUTCOME_STOPPED);
            assert_int_equal(one.calls, stop);
            found_free(&f);
        } else {
            assert_int_equal(status, VEM_STOPPED);
        }
    }
    assert_true(models > 2);
    vem_ctx_set_progress(ctx, NULL, NULL);
    grid_data_free(&data);
}

static void refuse(const grid_data *data, const vem_options *o,
                   const vem_select_options *s, const char *words)
{
    found f;
    assert_int_equal(try_select(data, o, s, &f), VEM_BAD_OPTION);
    if (!strstr(vem_ctx_message(ctx), words))
        fail_msg("%s", vem_ctx_message(ctx));
}

/* What reading took is taken off the time once, and not off each family's part. */
static void time_that_was_spent(void **state)
{
    (void)state;
    grid_data data = heaps(CLUMPS, ROWS, 2, 7, 0, NULL);
    const vem_select_options s = several(VEM_SELECT_BAYES);
    vem_options open = plain(-1);
    found without, f;
    assert_int_equal(try_select(&data, &open, &s, &without), VEM_OK);
    open.time = 6e6; /* far more than it takes; a third is less than what was spent */
    fake_tick = 1e-6;
    assert_int_equal(vem_ctx_set_spent(ctx, 3e6), VEM_OK);
    if (try_select(&data, &open, &s, &f) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    assert_int_equal(vem_ctx_set_spent(ctx, 0), VEM_OK);
    fake_tick = 0;
    assert_int_equal(vem_model_family(f.model), vem_model_family(without.model));
    grid_assert_models(f.model, without.model, 0, "time enough");
    found_free(&f);
    found_free(&without);
    grid_data_free(&data);
}

static void refused(void **state)
{
    (void)state;
    grid_data data = heaps(2, 40, 2, 6, 0, NULL);
    const vem_options open = plain(-1), full = plain(VEM_FULL);
    const int32_t shared[] = {VEM_FULL, VEM_FULL_SHARED}, none[] = {99},
                  round_one[] = {VEM_ISO_SHARED};
    vem_select_options s = several(VEM_SELECT_BAYES);
    refuse(&data, &full, &s, "only one of the two");
    s.families = shared;
    s.family_count = 2;
    refuse(&data, &open, &s, "--families has full-shared");
    s.families = none;
    s.family_count = 1;
    refuse(&data, &open, &s, "There is no family number 99");
    s.family_count = 0;
    refuse(&data, &open, &s, "There is no family to compare");
    s = several(VEM_SELECT_GMEANS);
    s.families = round_one;
    s.family_count = 1;
    refuse(&data, &open, &s, "has none");
    s = several(VEM_SELECT_BAYES);
    keep_at(path_of("families", 0).text, 0, 0);
    refuse(&data, &open, &s, "keeps no state");
    keep_at(NULL, 0, 0);
    grid_data_free(&data);
}

/* Who reads a path need not know its method to say what its objective is. */
static void objectives_are_said(void **state)
{
    (void)state;
    grid_data data = heaps(2, 40, 2, 6, 0, NULL);
    const vem_options o = options(VEM_ISO);
    for (int m = 0; m < VEM_SELECT_COUNT; m++) {
        vem_path_summary s = {.size = sizeof s};
        if (m == VEM_SELECT_KMEANS_BIC || m == VEM_SELECT_GMEANS)
            continue; /* of another family */
        found f = find(&data, (vem_select_method)m, &o, 0, 3);
        assert_int_equal(vem_path_describe(ctx, f.path, &s), VEM_OK);
        assert_int_equal(s.measured, m == VEM_SELECT_GREEDY || m == VEM_SELECT_SWEEP);
        const vem_path_point *p = vem_path_at(f.path, 0);
        assert_int_equal(s.measured, p->objective == p->bic);
        found_free(&f);
    }
    grid_data_free(&data);
}

/* Threads, memory and time are those of the fits: the run of the caller stays as it was. */
static void runs_stay_as_they_are(void **state)
{
    (void)state;
    grid_data data = heaps(2, 40, 2, 6, 0, NULL);
    vem_data *rows = grid_borrow(ctx, &data);
    vem_options o = options(VEM_DIAG);
    o.threads = 1;
    o.memory = INT64_C(1) << 40;
    o.time = 1e5;
    const vem_select_options s = {.size = sizeof s, .holdout = 0.2};
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    run->threads = 2;
    const vem_i_run before = *run;
    assert_int_equal(vem_i_select(run, rows, &o, &s, 1, NULL, NULL, NULL), VEM_OK);
    assert_int_equal(run->threads, before.threads);
    assert_int_equal(run->limit, before.limit);
    assert_true(run->deadline == before.deadline);
    vem_data_free(rows);
    grid_data_free(&data);
}

/* Where the first of them fails there is no result, and it is said why. */
static void what_fails_says_so(void **state)
{
    (void)state;
    grid_data data = heaps(CLUMPS, ROWS, 2, 7, 0, NULL);
    const vem_options open = plain(-1);
    const vem_select_options s = several(VEM_SELECT_BIC);
    found f;
    data.x[7] = NAN;
    assert_int_equal(try_select(&data, &open, &s, &f), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "Row 4, column 2 is NaN."));
    assert_true(!f.model && !f.path && !f.report);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_best_is_taken),
                                       cmocka_unit_test(stopped),
                                       cmocka_unit_test(time_that_was_spent),
                                       cmocka_unit_test(refused),
                                       cmocka_unit_test(what_fails_says_so),
                                       cmocka_unit_test(objectives_are_said),
                                       cmocka_unit_test(runs_stay_as_they_are)};
    return cmocka_run_group_tests_name("select_families", tests, set_up, tear_down);
}
