/* What a selection says that it needs, beside what it takes. */
#include "plan_check.h"

static double told;

static void hear(void *user, const vem_forecast *forecast)
{
    (void)user;
    told = (double)forecast->bytes;
}

static void check_select(const grid_data *data, const vem_options *o,
                         const vem_select_options *s)
{
    vem_data *rows = grid_borrow(ctx, data);
    vem_model *model = NULL;
    told = 0;
    vem_ctx_set_forecast(ctx, hear, NULL);
    malloc_trim(0);
    const size_t before = in_use();
    highest = before;
    watching = 1;
    const vem_status status = vem_select(ctx, rows, o, s, &model, NULL, NULL);
    watching = 0;
    vem_ctx_set_forecast(ctx, NULL, NULL);
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    const double taken = (double)(highest - before);
    if (!(told >= 0.98 * taken - 200e3) || !(told <= 3 * taken + 200e3))
        fail_msg("method %d: planned %.3f MB, took %.3f MB", (int)s->method, told / 1e6,
                 taken / 1e6);
    vem_model_free(model);
    vem_data_free(rows);
}

static void every_method_keeps_its_plan(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* its allocator keeps no such books */
#endif
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 60000, 1, 5);
    vem_ctx_set_threads(ctx, 7); /* each has its own scratch */
    for (int method = 0; method < VEM_SELECT_COUNT; method++)
        for (int held_out = 0; held_out < 2; held_out++) {
            const vem_select_options s = {.size = sizeof s,
                                          .method = (vem_select_method)method,
                                          .min_clusters = 1,
                                          .max_clusters = 3,
                                          .holdout = 0.5 * held_out};
            vem_options o;
            vem_options_init(&o);
            o.cells = 0;
            check_select(&data, &o, &s);
        }
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_keeps_its_plan),
    };
    return cmocka_run_group_tests_name("plan_select", tests, set_up, tear_down);
}
