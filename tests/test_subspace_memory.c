/* Memory of fits along leading axes: planned before it is taken, every allocation may fail (the sanitizers look for leaks), and what
 * it held before does not matter. */
#include "coarse/leading.h"
#include "engine.h"
#include "plan_check.h"
#include "run.h"
#include "subspace_rows.h"

static void taken_as_planned(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* whose allocator says nothing of what is in use */
#endif
    static const struct {
        int64_t n, clusters;
        int32_t d;
        double noise; /* 20: the axes do not serve, and the fit is one without */
        grid_weights weights;
    } sets[] = {{16384, 128, 256, 0.3, WEIGHTS_NONE},
                {16384, 900, 400, 0.3, WEIGHTS_REAL},
                {16384, 200, 256, 20, WEIGHTS_NONE}};
    for (int k = 0; k < 3; k++) {
        grid_data data =
            rows_of_rank(sets[k].weights, sets[k].n, sets[k].d, 12, sets[k].noise);
        vem_options o = subspace_options(sets[k].clusters);
        o.max_steps = 5;
        check_plan(&data, &o);
        grid_data_free(&data);
    }
}

/* Rows of few columns, as vem_i_leading_new takes them. */
static vem_status look(const vem_view *view, vem_i_leading *leading)
{
    return vem_i_leading_new(run_of(ctx), view, 32, 8, leading);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    grid_data data = rows_of_rank(WEIGHTS_REAL, 600, 64, 6, 0.1);
    vem_options o = grid_options(8, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_SINGLE, 3);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 8);
    engine e;
    engine_new(&e, ctx, &data, &o, start);
    vem_i_leading leading, other;
    assert_int_equal(look(e.em.view, &leading), VEM_OK);
    assert_int_equal(leading.axes, 32);
    int64_t k = 1;
    for (vem_status status = VEM_NO_MEMORY; status != VEM_OK; k++) {
        calls = 0;
        fail_at = k;
        status = look(e.em.view, &other);
        fail_at = 0;
        assert_true(status == VEM_OK || status == VEM_NO_MEMORY);
    }
    assert_true(k > 20);
    vem_i_leading_free(&other);
    filling = 0x3f; /* neither zeros nor anything that looks like a number of use */
    assert_int_equal(look(e.em.view, &other), VEM_OK);
    filling = -1;
    assert_int_equal(other.axes, leading.axes);
    assert_memory_equal(other.points->x, leading.points->x,
                        (size_t)data.n * 32 * sizeof(float));
    assert_memory_equal(other.basis, leading.basis, 32 * 64 * sizeof(float));
    vem_i_leading_free(&other);
    vem_i_leading_free(&leading);
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_as_planned),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
