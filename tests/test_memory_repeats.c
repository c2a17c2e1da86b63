/* Rows that come several times, and memory: where there is none to put them together the fit is made without, and
 * says so; where a limit is given they keep to it, and forecasts count them. */
#include "memory_hooks.h"

#include "data/repeats.h"

enum { N = 70000, D = 3, KINDS = 3000 };

static unsigned char *values_new(void)
{
    unsigned char *x = malloc((size_t)N * D);
    for (int64_t i = 0; i < N; i++) {
        const int64_t kind = i * 7919 % KINDS;
        x[i * D] = (unsigned char)(kind % 60);
        x[i * D + 1] = (unsigned char)(kind / 60);
        x[i * D + 2] = (unsigned char)(100 * (kind % 2));
    }
    return x;
}

static vem_options options(void)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = 9;
    o.family = VEM_ISO_SHARED;
    o.max_steps = 3;
    o.swaps = 0;
    return o;
}

/* Each of its allocations fails in turn. */
static void found_or_crowded(void **state)
{
    (void)state;
    unsigned char *x = values_new();
    vem_data *data;
    assert_int_equal(vem_data_borrow(ctx, VEM_UINT8, x, N, D, 0, 0, &data), VEM_OK);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    int made = 0;
    for (int64_t k = 1; !made; k++) {
        vem_i_repeats found;
        int likely = 1;
        calls = 0;
        fail_at = k;
        assert_int_equal(vem_i_repeats_find(run, data, 0, &found), VEM_OK);
        fail_at = 0;
        made = found.rows.n > 0;
        assert_true(made == (calls < k) && found.crowded == !made);
        assert_true(made == (found.places != NULL));
        assert_string_equal(vem_ctx_message(ctx), "");
        vem_i_repeats_free(&found);
        calls = 0;
        fail_at = k;
        assert_int_equal(vem_i_repeats_look(run, data, &likely), VEM_OK);
        fail_at = 0;
        assert_int_equal(likely, calls < k);
    }
    vem_data_free(data);
    free(x);
}

/* The rows are fitted as they are then, and the note names no option that was not given. */
static void fitted_without(void **state)
{
    (void)state;
    unsigned char *x = values_new();
    vem_data *data;
    assert_int_equal(vem_data_borrow(ctx, VEM_UINT8, x, N, D, 0, 0, &data), VEM_OK);
    const vem_options o = options();
    int without = 0, merged = 0;
    for (int64_t k = 1; !merged; k++) {
        vem_report *report = NULL;
        calls = 0;
        fail_at = k;
        const vem_status status = vem_fit(ctx, data, &o, NULL, NULL, &report);
        fail_at = 0;
        if (status == VEM_OK && vem_report_summary(report)->items == N) {
            const char *notes = vem_report_notes(report);
            assert_non_null(strstr(notes, "for which there was no memory"));
            assert_null(strstr(notes, "--memory"));
            without++;
        }
        merged = without && (status != VEM_OK || vem_report_summary(report)->items < N);
        vem_report_free(report);
    }
    assert_true(without > 4);
    vem_data_free(data);
    free(x);
}

static void remember(void *user, const vem_forecast *forecast)
{
    *(vem_forecast *)user = *forecast;
}

/* What a fit is told to take has the different rows and the places of all of them in it. */
static void forecast_counts_them(void **state)
{
    (void)state;
    unsigned char *x = values_new();
    vem_data *data;
    vem_options o = options();
    vem_forecast told = {0};
    assert_int_equal(vem_data_borrow(ctx, VEM_UINT8, x, N, D, 0, 0, &data), VEM_OK);
    o.measure = VEM_MEASURE_NONE;
    vem_ctx_set_forecast(ctx, remember, &told);
    for (int64_t memory = 0; memory < 2; memory++) {
        vem_report *report = NULL;
        o.memory = memory ? (int64_t)1 << 34 : VEM_AUTO;
        const size_t before = in_use();
        highest = 0;
        watching = 1;
        assert_int_equal(vem_fit(ctx, data, &o, NULL, NULL, &report), VEM_OK);
        watching = 0;
        assert_int_equal(vem_report_summary(report)->items, KINDS);
        assert_true(told.bytes > N * sizeof(int32_t) + KINDS * (D + 16));
        assert_true(told.allowed > told.bytes);
#ifndef VEM_SANITIZED /* whose memory is not counted */
        const double taken = (double)(highest - before), planned = (double)told.bytes;
        /* Small change is not planned. */
        assert_true(planned >= 0.98 * taken - 80e3 && planned <= 2.5 * taken);
#else
        (void)before;
#endif
        vem_report_free(report);
    }
    vem_ctx_set_forecast(ctx, NULL, NULL);
    vem_data_free(data);
    free(x);
}

/* Room for less than it takes: it is crowded, and takes no more than that. */
static void keeps_to_its_room(void **state)
{
    (void)state;
    unsigned char *x = values_new();
    vem_data *data;
    assert_int_equal(vem_data_borrow(ctx, VEM_UINT8, x, N, D, 0, 0, &data), VEM_OK);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    int made = 0;
    for (uint64_t room = 8000; !made; room += room / 4) {
        vem_i_repeats found;
        highest = 0;
        const size_t before = in_use();
        watching = 1;
        assert_int_equal(vem_i_repeats_find(run, data, room, &found), VEM_OK);
        watching = 0;
        made = found.rows.n > 0;
        assert_true(found.crowded == !made);
        assert_true(!made || (found.kept < found.highest && found.highest <= room));
#ifndef VEM_SANITIZED
        assert_true(highest - before <= room + 20000); /* and some rows */
#else
        (void)before;
#endif
        vem_i_repeats_free(&found);
    }
    vem_data_free(data);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_or_crowded),
        cmocka_unit_test(fitted_without),
        cmocka_unit_test(forecast_counts_them),
        cmocka_unit_test(keeps_to_its_room),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
