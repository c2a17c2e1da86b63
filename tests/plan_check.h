/* A plan beside what the fit takes at its peak. */
#ifndef VEM_TESTS_PLAN_CHECK_H
#define VEM_TESTS_PLAN_CHECK_H

#include "memory_hooks.h"

/* `more`: a plan may be so many times what is taken. */
static inline void check_plan_of(const vem_data *rows, const vem_options *o, double more)
{
    const int64_t n = vem_data_rows(rows);
    const int32_t d = vem_data_columns(rows);
    vem_model *model = NULL;
    vem_report *report = NULL;
    vem_forecast forecast = {.size = sizeof forecast};
    assert_int_equal(vem_plan_fit(ctx, rows, o, NULL, &forecast), VEM_OK);
    assert_true(forecast.seconds > 0 && isfinite(forecast.seconds));
    malloc_trim(0);
    size_t before = in_use();
    highest = before;
    watching = 1;
    vem_status status = vem_fit(ctx, rows, o, NULL, &model, &report);
    watching = 0;
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    double taken = (double)(highest - before), plan = (double)forecast.bytes;
    const vem_options *r = vem_report_options(report);
    /* Not below what was taken but for small change, and not far above it. With starts on a sample
     * it is also for the fit that follows should they be given up. */
    const int starts = strstr(vem_report_choices(report), " starts on ") != NULL;
    if (!(plan >= 0.98 * taken - 200e3) || !(plan <= (starts ? 3 : more) * taken + 200e3))
        fail_msg("planned %.3f MB, took %.3f MB (n %d, d %d, k %d, %s, %s, held %d, "
                 "reach %d, %s, %d threads, swaps %d, measure %d)",
                 plan / 1e6, taken / 1e6, (int)n, d, (int)r->clusters,
                 vem_choice_name("family", r->family),
                 vem_choice_name("search", r->search), (int)r->held, (int)r->reach,
                 vem_choice_name("seeding", r->seeding), (int)r->threads, (int)r->swaps,
                 r->measure);
    vem_model_free(model);
    vem_report_free(report);
}

static inline void check_plan(const grid_data *data, const vem_options *o)
{
    vem_data *rows = grid_borrow(ctx, data);
    vem_forecast forecast = {.size = sizeof forecast};
    uint64_t planned;
    assert_int_equal(vem_plan_fit(ctx, rows, o, NULL, &forecast), VEM_OK);
    assert_int_equal(vem_plan(ctx, o, data->n, data->d, VEM_FLOAT64, &planned), VEM_OK);
    assert_true(planned <= forecast.bytes &&
                (data->weights || planned == forecast.bytes));
    check_plan_of(rows, o, 1.6);
    vem_data_free(rows);
}

#endif
