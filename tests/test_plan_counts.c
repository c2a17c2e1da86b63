/* The plan of a fit of counts, dense and sparse: of sparse rows it counts what is there, not what
 * a table of them would be. */
#include "base/machine.h"
#include "data/data.h"
#include "data/sparse.h"
#include "fit/memory_plan.h"
#include "plan_check.h"
#include "run.h"

enum { EACH = 20 };

/* n rows of EACH counts in d columns. */
static vem_data *sparse_rows(int64_t n, int32_t d)
{
    vem_data *data = NULL;
    vem_i_sparse_maker maker;
    assert_int_equal(vem_i_data_new(run_of(ctx), &data), VEM_OK);
    assert_int_equal(vem_i_sparse_begin(run_of(ctx), "rows", n, d, n * EACH, &maker),
                     VEM_OK);
    for (int put = 0; put < 2; put++) {
        for (int64_t i = 0; i < n; i++)
            for (int32_t k = 0; k < EACH; k++) {
                const int64_t column = (i * 7 + k * (d / EACH)) % d;
                if (put)
                    vem_i_sparse_put(&maker, i, column, 1);
                else
                    assert_int_equal(vem_i_sparse_count(&maker, i, column, 1), VEM_OK);
            }
        if (!put)
            assert_int_equal(vem_i_sparse_allot(&maker), VEM_OK);
    }
    assert_int_equal(vem_i_sparse_end(&maker, &data->sparse), VEM_OK);
    data->type = VEM_FLOAT64;
    data->n = n;
    data->d = d;
    data->format = "mtx";
    return data;
}

static vem_options counts_options(int family, int held, int seeding)
{
    vem_options o = grid_options(20, (vem_family_kind)family, VEM_PRIOR_FREE, held,
                                 (vem_precision)(seeding % 2), 2);
    o.seeding = seeding;
    o.measure = seeding / 2 % 2;
    o.threads = 1 + 2 * (seeding % 2);
    return o;
}

static void the_plan_of_sparse_rows(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* its allocator keeps no such books */
#endif
    const int64_t shapes[][2] = {{8000, 2000}, {1000, 20000}};
    for (size_t s = 0; s < 2; s++) {
        vem_data *rows = sparse_rows(shapes[s][0], (int32_t)shapes[s][1]);
        GRID_EACH_COUNTS (family)
            for (int held = 1; held <= 20; held += 19)
                for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_AFKMC2;
                     seeding += VEM_SEED_AFKMC2) {
                    const vem_options o = counts_options(family, held, seeding);
                    check_plan_of(rows, &o, 1.6);
                }
        vem_data_free(rows);
    }
}

static void the_plan_of_dense_counts(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* its allocator keeps no such books */
#endif
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 3000, 50, 83);
    GRID_EACH_COUNTS (family) {
        grid_suit((vem_family_kind)family, &data);
        for (int held = 1; held <= 20; held += 19)
            for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_TWO_LEVEL;
                 seeding++) {
                const vem_options o = counts_options(family, held, seeding);
                check_plan(&data, &o);
            }
    }
    grid_data_free(&data);
}

/* The same with starts, on all rows and on a sample, and with rows in random order for blocks. */
static void the_plan_of_starts_and_blocks(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* its allocator keeps no such books */
#endif
    for (int64_t n = 1000; n <= 5000; n += 4000) {
        vem_data *rows = sparse_rows(n, 2000);
        GRID_EACH_COUNTS (family) {
            vem_options o;
            vem_options_init(&o);
            o.clusters = 8;
            o.family = family;
            o.threads = 1;
            check_plan_of(rows, &o, 1.6);
            o.algorithm = VEM_ALGORITHM_INCREMENTAL_EM;
            o.max_steps = 3;
            check_plan_of(rows, &o, 1.6);
        }
        vem_data_free(rows);
    }
}

/* Sparse rows have no coresets, and none is advised. */
static void no_coreset_of_sparse_rows(void **state)
{
    (void)state;
    vem_data *rows = sparse_rows(20000, 2000);
    vem_options o = counts_options(VEM_POISSON, 20, VEM_SEED_RANDOM);
    vem_model *model = NULL;
    vem_report *report = NULL;
    o.memory = (int64_t)vem_i_resident_bytes() + (1 << 20);
    assert_int_equal(vem_fit(ctx, rows, &o, NULL, &model, &report), VEM_NO_MEMORY);
    assert_non_null(strstr(vem_ctx_message(ctx), "This fit would take"));
    assert_null(strstr(vem_ctx_message(ctx), "--coreset"));
    vem_data_free(rows);
}

/* Bytes and seconds go with the values that are there. */
static void columns_without_values_cost_little(void **state)
{
    (void)state;
    double before = 0;
    for (int32_t d = 2000; d <= 200000; d *= 10) {
        vem_data *rows = sparse_rows(5000, d);
        vem_forecast forecast = {.size = sizeof forecast};
        vem_options o = counts_options(VEM_FAMILIES - 1, 20, VEM_SEED_RANDOM);
        assert_int_equal(vem_plan_fit(ctx, rows, &o, NULL, &forecast), VEM_OK);
        assert_true(forecast.seconds > 0);
        assert_true(forecast.bytes < UINT64_C(1) << 30); /* a table would be 8 GB */
        if (before > 0 && !(forecast.seconds < 2 * before))
            fail_msg("%d columns: %g s after %g s", d, forecast.seconds, before);
        before = forecast.seconds;
        vem_data_free(rows);
    }
}

/* A few rows in very many columns: seeds are chosen without a table of them. What the plan says is
 * enough, and less is refused with what would do. */
static void the_plan_of_very_many_columns(void **state)
{
    (void)state;
    enum { WIDE = 30 * 1000 * 1000, SMALL = 1000 * 1000 };
    GRID_EACH_COUNTS (family) {
        vem_options o;
        vem_options_init(&o);
        o.clusters = 2;
        o.family = family;
        o.threads = 2;
        vem_data *rows = sparse_rows(40, SMALL);
#ifndef VEM_SANITIZED
        check_plan_of(rows, &o, 1.6);
#endif
        vem_data_free(rows);
        rows = sparse_rows(40, WIDE);
        vem_forecast forecast = {.size = sizeof forecast};
        assert_int_equal(vem_plan_fit(ctx, rows, &o, NULL, &forecast), VEM_OK);
        /* In models of two clusters; the rows of a block as a table would be 256. */
        const double model = 2.0 * WIDE * sizeof(double);
        const double taken = (double)forecast.bytes;
        if (!(taken > 3 * model && taken < 16 * model))
            fail_msg("%s: %g models", vem_choice_name("family", family), taken / model);
        vem_model *none = NULL;
        vem_report *report = NULL;
        o.memory = (int64_t)(vem_i_resident_bytes() + forecast.bytes / 2);
        assert_int_equal(vem_fit(ctx, rows, &o, NULL, &none, &report), VEM_NO_MEMORY);
        assert_non_null(strstr(vem_ctx_message(ctx), "This fit would take"));
        assert_null(none);
        vem_data_free(rows);
    }
}

/* Memory is taken as it is found to be needed, not beyond what is allowed. */
static void sparse_rows_keep_to_the_limit(void **state)
{
    enum { N = 20000, D = 1 << 20, MB = 1 << 20 };
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        static const double values[] = {1, 2, 0.5, 0.1}; /* 0, 1, 4, 8 bytes */
        static const int widths[] = {4, 5, 8, 12};       /* with the column */
        vem_i_sparse_maker maker;
        vem_i_run run = *run_of(ctx);
        assert_int_equal(vem_i_sparse_begin(&run, "x.mtx", N, D, N * 200, &maker),
                         VEM_OK);
        for (int64_t e = 0; e < N * 200; e++)
            assert_int_equal(vem_i_sparse_count(&maker, e / 200, e % 200, values[kind]),
                             VEM_OK);
        const uint64_t needed = (uint64_t)N * 200 * (uint64_t)widths[kind];
        run.limit = vem_i_resident_bytes() + needed - 4 * MB;
        assert_int_equal(vem_i_sparse_allot(&maker), VEM_NO_MEMORY);
        assert_non_null(strstr(vem_ctx_message(ctx), "x.mtx needs"));
        assert_non_null(strstr(vem_ctx_message(ctx), "--memory"));
        assert_null(maker.columns);
        run.limit = vem_i_resident_bytes() + needed + 4 * MB;
        assert_int_equal(vem_i_sparse_allot(&maker), VEM_OK);
        vem_i_sparse_maker_free(&maker);
        run.limit = vem_i_resident_bytes() + 4 * MB; /* many rows without values */
        assert_int_equal(vem_i_sparse_begin(&run, "x.mtx", MB, D, MB, &maker),
                         VEM_NO_MEMORY);
        vem_i_sparse_maker_free(&maker);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_of_sparse_rows),
        cmocka_unit_test(the_plan_of_dense_counts),
        cmocka_unit_test(the_plan_of_starts_and_blocks),
        cmocka_unit_test(no_coreset_of_sparse_rows),
        cmocka_unit_test(columns_without_values_cost_little),
        cmocka_unit_test(the_plan_of_very_many_columns),
        cmocka_unit_test(sparse_rows_keep_to_the_limit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
