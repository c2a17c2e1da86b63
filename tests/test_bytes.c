/* Parts of memory plans, by the sizes they stand for. What fits take in all is held against their
 * plans in test_plan.c. */
#include "context.h"
#include "run.h"

#include "data/points.h"
#include "metrics/measure.h"

static void rows(void **state)
{
    (void)state;
    assert_int_equal(vem_i_points_bytes(1000, 7, VEM_SINGLE), 28000);
    assert_int_equal(vem_i_points_bytes(1000, 7, VEM_DOUBLE), 56000);
}

/* Measures of all rows take a scorer at least; of a coreset's data also a chunk of rows in the
 * type of the arithmetic, and their weights. */
static void measures(void **state)
{
    (void)state;
    enum { N = 100, D = 6 };
    vem_i_run *run = run_of(ctx);
    for (int family = 0; family < VEM_FAMILIES; family++)
        for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
            vem_options o = grid_options(9, (vem_family_kind)family, VEM_PRIOR_FREE, 2,
                                         (vem_precision)precision, 3);
            o.measure = VEM_MEASURE_EXACT;
            const uint64_t all = vem_i_measure_bytes(run, &o, N, D, VEM_FLOAT64, 0, 0);
            const uint64_t chunk = vem_i_measure_bytes(run, &o, N, D, VEM_FLOAT64, 1, 0);
            assert_true(all > 9 * D * sizeof(float)); /* the means of a scorer */
            assert_true(chunk >=
                        all + vem_i_points_bytes(N, D, (vem_precision)precision));
            assert_int_equal(vem_i_measure_bytes(run, &o, N, D, VEM_FLOAT64, 1, 1),
                             chunk + N * sizeof(double));
            o.measure = VEM_MEASURE_NONE;
            assert_int_equal(vem_i_measure_bytes(run, &o, N, D, VEM_FLOAT64, 1, 1), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(measures),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
