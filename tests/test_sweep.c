/* A sweep over numbers of clusters: what is told of it by any family, and where the rows end it. */
#include "context.h"
#include "selecting.h"

enum { CLUMPS = 4, ROWS = 60 };

static vem_status sweep(const grid_data *data, vem_family_kind family, int32_t least,
                        int32_t most, found *f)
{
    const vem_options o = options(family);
    const vem_select_options s = {.size = sizeof s,
                                  .method = VEM_SELECT_SWEEP,
                                  .min_clusters = least,
                                  .max_clusters = most};
    return try_select(data, &o, &s, f);
}

/* Steps are numbered through all fits, and labels are those of the mixture that is given. */
static void all_steps_are_told(void **state)
{
    (void)state;
    grid_data data = heaps(CLUMPS, ROWS, 2, 12, 0, NULL);
    GRID_EACH_SHAPED (family) {
        found f;
        assert_int_equal(sweep(&data, (vem_family_kind)family, 2, CLUMPS, &f), VEM_OK);
        const vem_summary *s = vem_report_summary(f.report);
        assert_int_equal(s->clusters, CLUMPS);
        assert_int_equal(vem_report_trace_count(f.report), s->steps);
        for (int64_t i = 0; i < s->steps; i++)
            assert_int_equal(vem_report_trace(f.report)[i].step, i + 1);
        assert_int_equal(vem_path_count(f.path), CLUMPS - 1);
        for (int32_t i = 0; i < CLUMPS - 1; i++)
            assert_true(vem_path_at(f.path, i)->steps >
                        (i > 0 ? vem_path_at(f.path, i - 1)->steps : 0));
        assert_int_equal(vem_path_at(f.path, CLUMPS - 2)->steps, s->steps);
        assert_true(s->free_energy_first < s->free_energy);
        const int32_t *labels = vem_report_labels(f.report);
        assert_non_null(labels);
        for (int64_t i = 0; i < data.n; i++)
            assert_int_equal(labels[i], labels[i / ROWS * ROWS]);
        assert_true(fabs(s->largest - 1) < 1e-12);
        found_free(&f);
    }
    grid_data_free(&data);
}

/* Three distinct rows. */
static void paths_end_with_distinct_rows(void **state)
{
    (void)state;
    grid_data data = heaps(CLUMPS, ROWS, 2, 12, 0, NULL);
    for (int64_t i = 6; i < 2 * data.n; i++)
        data.x[i] = data.x[i - 6];
    GRID_EACH_SHAPED (family) {
        found f;
        assert_int_equal(sweep(&data, (vem_family_kind)family, 5, 8, &f), VEM_BAD_DATA);
        assert_non_null(strstr(vem_ctx_message(ctx), "3 distinct rows, 5 clusters"));
        assert_int_equal(sweep(&data, (vem_family_kind)family, 1, 8, &f), VEM_OK);
        const int32_t count = vem_path_count(f.path);
        assert_true(count <= 3 && vem_path_at(f.path, count - 1)->clusters <= 3);
        if (count == 3)
            assert_non_null(
                strstr(vem_report_notes(f.report), "there are no more distinct rows"));
        assert_null(strstr(vem_report_notes(f.report), "free energy"));
        found_free(&f);
    }
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_steps_are_told),
                                       cmocka_unit_test(paths_end_with_distinct_rows)};
    return cmocka_run_group_tests_name("sweep", tests, set_up, tear_down);
}
