/* Options of programs that were compiled with another version of vem.h: their struct is shorter than that
 * of the library, or longer. */
#include "context.h"

/* As a program of 0.2 has it, by hand: what vem.h says now must not change it. */
typedef struct options_0_2 {
    size_t size;
    int64_t clusters;
    int algorithm, family, prior, search;
    int64_t held, reach, explore, probe, swaps;
    int finish;
    double margin;
    int64_t coreset, cells, depth, expand;
    double gap;
    int64_t blocks;
    double tau;
    int seeding;
    int64_t chain, init_steps, restarts;
    double tolerance;
    int64_t max_steps;
    int empty;
    double floor;
    int precision, standardize, normalize;
    int64_t threads, memory;
    double time;
    int64_t seed;
    int measure;
} options_0_2;

/* Room for the struct, and what lies behind it. */
typedef union room {
    options_0_2 then;
    vem_options now;
    unsigned char bytes[sizeof(vem_options) + 64];
} room;

enum { MARK = 0xa5 };

static void marked_behind(const room *r, size_t size)
{
    for (size_t i = size; i < sizeof r->bytes; i++)
        if (r->bytes[i] != MARK)
            fail_msg("byte %zu behind a struct of %zu was written", i, size);
}

static vem_data *rows(void)
{
    static const double x[] = {0, 0.1, 0.2, 5, 5.1, 5.2, 9, 9.1};
    vem_data *data = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, 8, 1, 0, 0, &data), VEM_OK);
    return data;
}

static void earlier_programs(void **state)
{
    (void)state;
    const size_t size = sizeof(options_0_2);
    room o, resolved, copy;
    memset(&o, MARK, sizeof o);
    memset(&resolved, MARK, sizeof resolved);
    memset(&copy, MARK, sizeof copy);
    (vem_options_init)(&o.now); /* the function, which is all that such a program knows */
    marked_behind(&o, size);
    assert_int_equal(o.then.size, size);
    assert_int_equal(o.then.clusters, VEM_AUTO);
    assert_int_equal(o.then.measure, VEM_MEASURE_NONE);
    assert_int_equal(vem_options_set(ctx, &o.now, "measure", "exact"), VEM_OK);
    o.then.clusters = 3;
    o.then.seed = 5;
    assert_int_equal(vem_options_resolve(ctx, &o.now, 8, 1, VEM_FLOAT64, &resolved.now),
                     VEM_OK);
    marked_behind(&resolved, size);
    assert_int_equal(resolved.then.size, size);
    assert_int_equal(resolved.then.clusters, 3);
    /* Every option can be read: one that the program does not have is as by default. */
    vem_options plain;
    vem_options_init(&plain);
    for (int i = 0; i < vem_option_count(); i++) {
        char mine[64], theirs[64];
        const char *name = vem_option_at(i)->name;
        assert_int_equal(vem_options_get(&o.now, name, mine, sizeof mine), 1);
        vem_options_get(&plain, name, theirs, sizeof theirs);
        if (strcmp(name, "clusters") != 0 && strcmp(name, "seed") != 0 &&
            strcmp(name, "measure") != 0)
            assert_string_equal(mine, theirs);
    }
    /* A fit, and another one with a copy of what its report says. */
    vem_data *data = rows();
    vem_report *report = NULL;
    if (vem_fit(ctx, data, &o.now, NULL, NULL, &report) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    memcpy(&copy, vem_report_options(report), size);
    assert_int_equal(copy.then.size, size);
    const double error = vem_report_summary(report)->quantization_error;
    vem_report_free(report);
    if (vem_fit(ctx, data, &copy.now, NULL, NULL, &report) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    assert_true(vem_report_summary(report)->quantization_error == error);
    vem_report_free(report);
    /* As one that was compiled today. */
    plain.clusters = 3;
    plain.seed = 5;
    plain.measure = VEM_MEASURE_EXACT;
    assert_int_equal(vem_fit(ctx, data, &plain, NULL, NULL, &report), VEM_OK);
    assert_true(vem_report_summary(report)->quantization_error == error);
    vem_report_free(report);
    vem_data_free(data);
}

/* What such a program cannot have is refused, not written behind its struct. */
static void no_room(void **state)
{
    (void)state;
    room o;
    memset(&o, MARK, sizeof o);
    vem_options_init_sized(&o.now, sizeof(options_0_2));
    marked_behind(&o, sizeof(options_0_2));
    for (int i = 0; i < vem_option_count(); i++) {
        const vem_option_info *info = vem_option_at(i);
        char text[64];
        vem_options plain;
        vem_options_init(&plain);
        vem_options_get(&plain, info->name, text, sizeof text);
        if (strcmp(text, "auto") != 0)
            vem_options_set(ctx, &o.now, info->name, text);
    }
    marked_behind(&o, sizeof(options_0_2));
}

static void later_programs(void **state)
{
    (void)state;
    room o, resolved;
    const size_t size = sizeof(vem_options) + 16;
    memset(&o, MARK, sizeof o);
    memset(&resolved, MARK, sizeof resolved);
    vem_options_init_sized(&o.now, size);
    marked_behind(&o, size);
    assert_int_equal(o.now.size, size);
    o.now.clusters = 2;
    assert_int_equal(vem_options_resolve(ctx, &o.now, 8, 1, VEM_FLOAT64, &resolved.now),
                     VEM_OK);
    marked_behind(&resolved, size);
    assert_int_equal(resolved.now.size, size);
    assert_int_equal(resolved.bytes[size - 1], 0);
    vem_data *data = rows();
    assert_int_equal(vem_fit(ctx, data, &o.now, NULL, NULL, NULL), VEM_OK);
    o.bytes[size - 1] = 1;
    assert_int_equal(vem_fit(ctx, data, &o.now, NULL, NULL, NULL), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "a later vem.h"));
    vem_data_free(data);
}

static void sizes_that_never_were(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 8, sizeof(options_0_2) - 8, 1 << 20};
    vem_data *data = rows();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        vem_options o;
        char text[64];
        vem_options_init(&o);
        o.clusters = 2;
        o.size = sizes[k];
        assert_int_equal(vem_fit(ctx, data, &o, NULL, NULL, NULL), VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), "The size of vem_options is"));
        assert_int_equal(vem_options_set(ctx, &o, "seed", "2"), VEM_BAD_OPTION);
        assert_int_equal(o.seed, 1);
        assert_int_equal(vem_options_get(&o, "seed", text, sizeof text), 1);
    }
    vem_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earlier_programs),
        cmocka_unit_test(no_room),
        cmocka_unit_test(later_programs),
        cmocka_unit_test(sizes_that_never_were),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
