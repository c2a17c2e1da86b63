/* --finish soft: rows share clusters after the search, and only there. The path, the
 * number of clusters and what was chosen are those of a search without it. */
#include "checkpoints.h"
#include "selecting.h"

enum { CLUMPS = 5, ROWS = 80 };

static vem_options soft(void)
{
    vem_options o = options((vem_family_kind)-1);
    o.finish = VEM_FINISH_SOFT;
    return o;
}

static double likelihood(const grid_data *data, const vem_model *model)
{
    vem_data *rows = grid_borrow(ctx, data);
    vem_scores s = {.size = sizeof s};
    assert_int_equal(vem_score(ctx, model, rows, 0, VEM_DOUBLE, &s), VEM_OK);
    vem_data_free(rows);
    return s.log_likelihood;
}

static void assert_paths(const found *a, const found *b)
{
    assert_int_equal(vem_path_chosen(a->path), vem_path_chosen(b->path));
    assert_int_equal(vem_path_count(a->path), vem_path_count(b->path));
    for (int32_t i = 0; i < vem_path_count(a->path); i++) {
        const vem_path_point *p = vem_path_at(a->path, i), *q = vem_path_at(b->path, i);
        vem_model *one = NULL, *other = NULL;
        assert_int_equal(p->clusters, q->clusters);
        assert_true(p->free_energy == q->free_energy && p->objective == q->objective);
        assert_int_equal(vem_path_pick(ctx, a->path, p->clusters, &one), VEM_OK);
        assert_int_equal(vem_path_pick(ctx, b->path, p->clusters, &other), VEM_OK);
        grid_assert_models(one, other, 0, "a mixture of the path");
        vem_model_free(one);
        vem_model_free(other);
    }
}

/* Clusters that overlap: their mixture is more likely than what their own rows say, F is
 * its likelihood, and the labels are its own. */
static void the_last_steps(void **state)
{
    (void)state;
    static const vem_select_method methods[] = {VEM_SELECT_BAYES, VEM_SELECT_ICL};
    grid_data data = heaps(CLUMPS, ROWS, 2, 4, 1, NULL);
    const vem_options plain = options((vem_family_kind)-1), o = soft();
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        found hard = find(&data, methods[m], &plain, 0, 0),
              f = find(&data, methods[m], &o, 0, 0);
        const double before = likelihood(&data, hard.model),
                     after = likelihood(&data, f.model),
                     f_told = vem_report_summary(f.report)->free_energy;
        assert_paths(&hard, &f);
        assert_int_equal(vem_model_clusters(f.model), vem_path_chosen(f.path));
        assert_true(after > before);
        assert_true(fabs(f_told - after) < 1e-6 * fabs(after));
        vem_data *rows = grid_borrow(ctx, &data);
        int32_t *labels = malloc((size_t)data.n * sizeof *labels);
        assert_int_equal(vem_assign(ctx, f.model, rows, 1, VEM_DOUBLE, labels, NULL),
                         VEM_OK);
        assert_memory_equal(labels, vem_report_labels(f.report),
                            (size_t)data.n * sizeof *labels);
        free(labels);
        vem_data_free(rows);
        found_free(&hard);
        found_free(&f);
    }
    grid_data_free(&data);
}

/* Also of one that is not the best, but the best that is allowed; and of a coreset. */
static void what_is_chosen(void **state)
{
    (void)state;
    grid_data data = heaps(CLUMPS, ROWS, 2, 6, 1, NULL);
    vem_options plain = options((vem_family_kind)-1), o = soft();
    found hard = find(&data, VEM_SELECT_BAYES, &plain, CLUMPS + 2, CLUMPS + 3),
          f = find(&data, VEM_SELECT_BAYES, &o, CLUMPS + 2, CLUMPS + 3);
    assert_paths(&hard, &f);
    assert_int_equal(vem_model_clusters(f.model), vem_path_chosen(hard.path));
    assert_true(likelihood(&data, f.model) > likelihood(&data, hard.model));
    found_free(&hard);
    found_free(&f);
    plain.coreset = o.coreset = 150;
    hard = find(&data, VEM_SELECT_BAYES, &plain, 0, 0);
    f = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
    assert_paths(&hard, &f);
    found_free(&hard);
    found_free(&f);
    grid_data_free(&data);
}

static void same_for_all_threads(void **state)
{
    (void)state;
    static const int counts[] = {2, 3, 7};
    grid_data data = heaps(CLUMPS, ROWS, 2, 3, 1, NULL);
    vem_options o = soft();
    o.threads = 1;
    found one = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        o.threads = counts[k];
        found f = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
        grid_assert_models(one.model, f.model, 0, "threads");
        assert_paths(&one, &f);
        found_free(&f);
    }
    found_free(&one);
    grid_data_free(&data);
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

/* A stop anywhere leaves a whole model, and its state leads to the same. */
static void stopped(void **state)
{
    (void)state;
    grid_data data = heaps(CLUMPS, ROWS, 2, 3, 1, NULL);
    const vem_options o = soft();
    const vem_select_options s = {.size = sizeof s, .method = VEM_SELECT_BAYES};
    stopper all = {0};
    int64_t models = 0;
    vem_ctx_set_progress(ctx, count_calls, &all);
    found whole = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
    const int64_t step = 1 + all.calls / (grid_stride() > 1 ? 3 : 12);
    for (int64_t stop = all.calls; stop > 0; stop -= step) {
        const path_name file = path_of("finish", 0);
        stopper one = {.stop_at = stop};
        found f;
        remove(file.text);
        keep_at(file.text, 0, 0);
        vem_ctx_set_progress(ctx, count_calls, &one);
        const vem_status status = try_select(&data, &o, &s, &f);
        vem_ctx_set_progress(ctx, NULL, NULL);
        if (status == VEM_OK) {
            models++;
            assert_int_equal(vem_path_chosen(f.path), vem_model_clusters(f.model));
            for (int64_t i = 0; i < data.n; i++)
                assert_in_range(vem_report_labels(f.report)[i], 0,
                                vem_model_clusters(f.model) - 1);
            found_free(&f);
        } else {
            assert_int_equal(status, VEM_STOPPED);
        }
        if (access(file.text, F_OK) == 0) {
            keep_at(file.text, 0, 1);
            found again = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
            grid_assert_models(whole.model, again.model, 0, "resumed");
            assert_paths(&whole, &again);
            found_free(&again);
        }
        keep_at(NULL, 0, 0);
    }
    assert_true(models > 1);
    vem_ctx_set_progress(ctx, NULL, NULL);
    found_free(&whole);
    grid_data_free(&data);
}

static void refused(void **state)
{
    (void)state;
    grid_data data = heaps(2, 40, 2, 6, 0, NULL);
    const vem_options o = soft();
    found f;
    for (int m = 0; m < 2; m++) {
        const vem_select_options s = {.size = sizeof s,
                                      .method =
                                          m ? VEM_SELECT_GMEANS : VEM_SELECT_KMEANS_BIC};
        assert_int_equal(try_select(&data, &o, &s, &f), VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), "each row is in one cluster"));
    }
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_last_steps),
                                       cmocka_unit_test(what_is_chosen),
                                       cmocka_unit_test(same_for_all_threads),
                                       cmocka_unit_test(stopped),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests_name("select_finish", tests, set_up, tear_down);
}
