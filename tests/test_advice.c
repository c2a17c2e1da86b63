/* What a fit notes about its columns: those that decide the distances almost alone. */
#define CONTEXT_THREADS 1
#include "context.h"

enum { N = 200, D = 12 };

/* The notes of a fit of rows whose columns have these deviations (0: constant). */
static char *notes(int32_t d, const double *deviations, const vem_options *o)
{
    static char text[4000];
    static double rows[N * D];
    vem_data *data = NULL;
    vem_report *report = NULL;
    for (int32_t i = 0; i < N; i++)
        for (int32_t j = 0; j < d; j++) {
            vem_i_rng rng = vem_i_rng_at(7, VEM_RNG_HELD, (uint32_t)j, (uint64_t)i);
            rows[i * d + j] = deviations[j] * (vem_i_rng_open(&rng) - 0.5);
        }
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, rows, N, d, 0, 0, &data), VEM_OK);
    assert_int_equal(vem_fit(ctx, data, o, NULL, NULL, &report), VEM_OK);
    snprintf(text, sizeof text, "%s", vem_report_notes(report));
    vem_report_free(report);
    vem_data_free(data);
    return text;
}

static void says(int32_t d, const double *deviations, const char *words)
{
    vem_options o = grid_options(2, VEM_ISO, VEM_PRIOR_FREE, 2, VEM_DOUBLE, 2);
    const char *found = notes(d, deviations, &o);
    if (words ? !strstr(found, words) : strstr(found, "of the squared distance") != NULL)
        fail_msg("\"%s\" %s \"%s\"", found, words ? "lacks" : "is not to tell of",
                 words ? words : "distances");
}

static void columns_that_decide(void **state)
{
    (void)state;
    says(2, (const double[]){100, 1}, "column 1 holds more than 99.99 %");
    says(2, (const double[]){1, 6}, "column 2 holds 97");
    says(2, (const double[]){1, 3}, NULL);
    says(2, (const double[]){0, 3}, NULL); /* nothing beside it varies */
    says(1, (const double[]){3}, NULL);
    /* A few count only where there are four times as many. */
    says(8, (const double[]){1, 50, 1, 1, 60, 1, 1, 1}, "columns 5 and 2 hold 99.");
    says(7, (const double[]){1, 50, 1, 1, 60, 1, 1}, NULL);
    says(8, (const double[]){1, 50, 1, 1, 60, 1, 1, 0}, NULL);
    says(12, (const double[]){1, 1, 90, 1, 1, 80, 1, 1, 1, 70, 1, 1},
         "columns 3, 6 and 10 hold 99.");
    says(12, (const double[]){1, 1, 9, 9, 9, 9, 1, 1, 1, 1, 1, 1}, NULL);
}

/* Where all columns count alike, there is nothing to note. */
static void columns_that_count_alike(void **state)
{
    (void)state;
    const double deviations[2] = {100, 1};
    vem_options o = grid_options(2, VEM_DIAG, VEM_PRIOR_FREE, 2, VEM_DOUBLE, 2);
    assert_null(strstr(notes(2, deviations, &o), "of the squared distance"));
    o.family = VEM_ISO;
    o.standardize = 1;
    assert_null(strstr(notes(2, deviations, &o), "of the squared distance"));
    o.standardize = 0;
    o.normalize = 1;
    assert_null(strstr(notes(2, deviations, &o), "of the squared distance"));
    o.normalize = 0;
    assert_non_null(strstr(notes(2, deviations, &o), "of the squared distance"));
}

/* Columns that do not vary within any cluster are named, up to three and one more. */
static void level_columns(void **state)
{
    (void)state;
    static const char *const expected[] = {
        NULL,
        "column 2 is constant, or nearly so, in every cluster: its variance",
        "columns 2, 3 are constant",
        "columns 2, 3, 4 are constant",
        "columns 2, 3, 4, ... 5 are constant",
        "columns 2, 3, 4, ... 5 are constant"};
    for (int32_t level = 0; level <= 5; level++) {
        static double rows[N * D];
        const int32_t d = level + 1;
        for (int32_t i = 0; i < N; i++)
            for (int32_t j = 0; j < d; j++) {
                vem_i_rng rng = vem_i_rng_at(8, VEM_RNG_HELD, (uint32_t)j, (uint64_t)i);
                rows[i * d + j] = 100 * (i % 2) + (j == 0 ? vem_i_rng_open(&rng) : 0);
            }
        vem_data *data = NULL;
        vem_report *report = NULL;
        const vem_options o =
            grid_options(2, VEM_DIAG, VEM_PRIOR_FREE, 2, VEM_DOUBLE, 20);
        assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, rows, N, d, 0, 0, &data),
                         VEM_OK);
        assert_int_equal(vem_fit(ctx, data, &o, NULL, NULL, &report), VEM_OK);
        const char *found = vem_report_notes(report);
        if (expected[level] ? !strstr(found, expected[level])
                            : strstr(found, "constant") != NULL)
            fail_msg("%d level columns: \"%s\"", level, found);
        vem_report_free(report);
        vem_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_that_decide),
        cmocka_unit_test(columns_that_count_alike),
        cmocka_unit_test(level_columns),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
