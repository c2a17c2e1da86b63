/* A few rows far away: the others are divided as they would be without them, because what
 * the prior is by default does not follow such rows (data/middle.c). */
#define CONTEXT_THREADS 2
#include "context.h"
#include "selecting.h"

enum { HEAPS = 9, EACH = 60, D = 3, FAR = 217 };

/* The labels of a are those of b, under other names, but for the far row. */
static void same_partition(const int32_t *a, const int32_t *b, int64_t n)
{
    int32_t name[64];
    memset(name, -1, sizeof name);
    for (int64_t i = 0; i < n; i++) {
        if (i == FAR)
            continue;
        assert_true(a[i] >= 0 && a[i] < 64);
        if (name[a[i]] < 0)
            name[a[i]] = b[i];
        assert_int_equal(name[a[i]], b[i]);
    }
}

static void one_row_is_one_cluster(void **state)
{
    (void)state;
    static int32_t truth[HEAPS * EACH];
    const double places[] = {1e4, 1e8, -1e12};
    const vem_family_kind families[] = {VEM_FULL, VEM_DIAG, VEM_ISO};
    for (int method = VEM_SELECT_BAYES; method <= VEM_SELECT_VB; method++)
        for (int k = 0; k < 3; k++) {
            grid_data data = heaps(HEAPS, EACH, D, 12, 0, truth);
            const vem_options o = options(families[k]);
            for (int32_t j = 0; j < D; j++)
                data.x[FAR * D + j] = j < 2 ? places[k] : 0;
            found f = find(&data, (vem_select_method)method, &o, 0, 0);
            assert_int_equal(vem_model_clusters(f.model), HEAPS + 1);
            same_partition(vem_report_labels(f.report), truth, data.n);
            /* The floor is a share of what one row made large, but not the prior's. */
            assert_null(strstr(vem_report_notes(f.report), "--floor"));
            assert_int_equal(vem_report_summary(f.report)->floored, 0);
            found_free(&f);
            grid_data_free(&data);
        }
}

/* Units and origin of a column change nothing, and neither does how far away it is. */
static void units_do_not_matter(void **state)
{
    (void)state;
    double margin = 0;
    const double factors[] = {1, 0.37, 5e4}, shifts[] = {0, 7, -3e5};
    const vem_options o = options(VEM_FULL);
    for (int k = 0; k < 3; k++) {
        grid_data data = heaps(HEAPS, EACH, D, 12, 1, NULL);
        data.x[FAR * D] = 1e6;
        for (int64_t i = 0; i < data.n; i++)
            data.x[i * D] = factors[k] * data.x[i * D] + shifts[k];
        found f = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
        assert_int_equal(vem_model_clusters(f.model), HEAPS + 1);
        const double worth = vem_report_summary(f.report)->free_energy + log(factors[k]);
        if (k == 0)
            margin = worth;
        assert_true(fabs(worth - margin) < 1e-4);
        found_free(&f);
        grid_data_free(&data);
    }
}

/* Codes for values that are missing, in one row of 30. */
static void codes_are_clusters(void **state)
{
    (void)state;
    grid_data data = heaps(HEAPS, EACH, D, 12, 0, NULL);
    const vem_options o = options(VEM_FULL);
    for (int64_t i = 11; i < data.n; i += 30)
        data.x[i * D + 1] = -99999;
    found f = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
    const int32_t *labels = vem_report_labels(f.report);
    for (int64_t i = 0; i < data.n; i++) /* heaps are told apart, as before */
        if (i % 30 != 11)
            assert_int_equal(labels[i], labels[i / EACH * EACH]);
    for (int32_t c = 1; c < HEAPS; c++)
        for (int32_t o_c = 0; o_c < c; o_c++)
            assert_int_not_equal(labels[c * EACH], labels[o_c * EACH]);
    found_free(&f);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_row_is_one_cluster),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(codes_are_clusters),
    };
    return cmocka_run_group_tests_name("divide_far", tests, set_up, tear_down);
}
