/* Proposals along principal axes (coarse/subspace.h): axes of unit length at right angles, as
 * many as serve, F that never falls whatever they miss, the exact search where they miss
 * nothing, and the same bits for any number of threads. */
#include "coarse/subspace.h"
#include "engine.h"
#include "run.h"

#define CONTEXT_THREADS 1
#include "context.h"

enum { AXES = VEM_I_AXES };

static vem_options groups_options(int64_t clusters, vem_family_kind family, int64_t held,
                                  vem_precision precision)
{
    vem_options o = grid_options(clusters, family, VEM_PRIOR_FREE, held, precision, 12);
    o.search = VEM_SEARCH_GROUPS;
    o.reach = 9;
    o.probe = 2;
    o.swaps = 3;
    o.seeding = VEM_SEED_TWO_LEVEL;
    return o;
}

/* ---- the axes ---- */

/* Rows near a space of few dimensions, or (rank 0) alike in all directions. */
static grid_data rows_of_rank(int64_t n, int32_t d, int32_t rank)
{
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, n, d, 91);
    grid_data mix = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, d, d, 92);
    for (int64_t i = 0; rank && i < n; i++) {
        double *row = data.x + i * d;
        double was[512];
        memcpy(was, row, (size_t)d * sizeof *row);
        for (int64_t j = 0; j < d; j++) {
            row[j] *= 0.01;
            for (int64_t k = 0; k < rank; k++)
                row[j] += was[k] * mix.x[k * d + j];
        }
    }
    grid_data_free(&mix);
    return data;
}

static int32_t axes_that_serve(int32_t d, int32_t rank)
{
    grid_data data = rows_of_rank(9000, d, rank);
    vem_options o = groups_options(100, VEM_ISO_SHARED, 1, VEM_SINGLE);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 100);
    engine e;
    engine_new(&e, ctx, &data, &o, start);
    vem_i_subspace s;
    assert_int_equal(vem_i_subspace_new(run_of(ctx), e.em.view, &e.em.scorer, &s),
                     VEM_OK);
    const int32_t columns = s.columns;
    for (int64_t i = 0; columns && i < 20; i++) { /* no longer than the rows */
        double whole = 0, part = 0;
        for (int64_t j = 0; j < d; j++)
            whole +=
                pow(vem_i_value(e.em.view->kernels, vem_i_view_row(e.em.view, i), j), 2);
        for (int64_t j = 0; j < columns; j++)
            part += pow(vem_i_value(e.em.view->kernels, s.rows, i * columns + j), 2);
        assert_true(part <= whole * 1.0001);
        assert_true(part >= whole * 0.98);
    }
    vem_i_subspace_free(&s);
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
    return columns;
}

static void as_many_as_serve(void **state)
{
    (void)state;
    assert_int_equal(axes_that_serve(200, 12), 2 * AXES);
    assert_int_equal(axes_that_serve(128, 12), 0); /* few columns: all are looked at */
    assert_int_equal(axes_that_serve(200, 0), 0);  /* too much would be lost */
}

/* ---- the law, and bits ---- */

static void free_energy_never_falls(void **state)
{
    (void)state;
    vem_i_subspace_asked = AXES;
    for (int i = 0; i < 24; i++) {
        const vem_precision precision = i % 2 ? VEM_SINGLE : VEM_DOUBLE;
        const vem_family_kind family = i / 2 % 2 ? VEM_ISO : VEM_ISO_SHARED;
        const int64_t held = 1 + i / 4 % 3;
        static const grid_weights weights[] = {WEIGHTS_NONE, WEIGHTS_REAL, WEIGHTS_ZEROS};
        static const grid_set sets[] = {SET_OVERLAPPING, SET_SEPARATED, SET_DUPLICATES};
        grid_data data = grid_data_new(sets[i % 3], weights[i / 3 % 3], 500, 36 + i, 93);
        vem_options o = groups_options(20, family, held, precision);
        o.seed = 1 + i;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        const double share = precision == VEM_SINGLE ? 1e-6 : 1e-9;
        for (int64_t t = 0; t + 1 < fit.trace_count; t++) {
            const double before = fit.trace[t].free_energy;
            if (!(fit.trace[t + 1].free_energy >= before - share * fmax(1, fabs(before))))
                fail_msg("F falls from %.17g to %.17g in step %d of case %d", before,
                         fit.trace[t + 1].free_energy, (int)t + 2, i);
        }
        grid_fit_free(&fit);
        grid_data_free(&data);
    }
    vem_i_subspace_asked = 0;
}

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    vem_i_subspace_asked = AXES;
    for (int c = 0; c < 3; c++) {
        grid_data data =
            grid_data_new(SET_OVERLAPPING, c ? WEIGHTS_REAL : WEIGHTS_NONE, 3000, 70, 94);
        vem_options o = groups_options(90, VEM_ISO_SHARED, 1 + c % 2,
                                       c == 2 ? VEM_DOUBLE : VEM_SINGLE);
        grid_fit first = {0};
        for (int k = 0; k < 4; k++) {
            o.threads = threads[k];
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            if (k == 0) {
                first = fit;
                continue;
            }
            assert_int_equal(fit.trace_count, first.trace_count);
            for (int64_t t = 0; t < fit.trace_count; t++) {
                assert_memory_equal(&fit.trace[t].free_energy,
                                    &first.trace[t].free_energy, sizeof(double));
                assert_int_equal(fit.trace[t].pairs, first.trace[t].pairs);
            }
            assert_memory_equal(vem_model_means(fit.model), vem_model_means(first.model),
                                (size_t)(90 * data.d) * sizeof(double));
            assert_memory_equal(fit.labels, first.labels,
                                (size_t)data.n * sizeof(int32_t));
            grid_fit_free(&fit);
        }
        grid_fit_free(&first);
        grid_data_free(&data);
    }
    vem_i_subspace_asked = 0;
}

/* ---- nothing left out ---- */

/* As many axes as columns and lists of all clusters: the exact search, step by step. */
static void all_axes_are_the_exact_search(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        grid_data data = grid_data_new(i % 2 ? SET_OVERLAPPING : SET_SEPARATED,
                                       i / 2 ? WEIGHTS_REAL : WEIGHTS_NONE, 300,
                                       (1 + i / 3) * AXES, 95);
        const vem_family_kind family = i / 2 % 2 ? VEM_ISO : VEM_ISO_SHARED;
        vem_model *start = grid_start(ctx, &data, family, 9);
        vem_options o = groups_options(9, family, 1 + i / 4, VEM_DOUBLE);
        o.swaps = 0;
        o.probe = 64;
        engine lists, exact;
        vem_i_subspace_asked = data.d;
        engine_new(&lists, ctx, &data, &o, start);
        vem_i_subspace_asked = 0;
        o.search = VEM_SEARCH_CLOSEST;
        o.reach = o.probe = VEM_AUTO;
        engine_new(&exact, ctx, &data, &o, start);
        engine_expect(&lists, (vem_i_step_plan){.probe = 64}); /* lists begin somewhere */
        assert_int_equal(vem_i_em_run(&lists.em), VEM_OK);
        assert_int_equal(vem_i_em_run(&exact.em), VEM_OK);
        assert_int_equal(lists.em.trace.count, exact.em.trace.count);
        for (int64_t t = 0; t < exact.em.trace.count; t++)
            grid_assert_near(lists.em.trace.steps[t].free_energy,
                             exact.em.trace.steps[t].free_energy, 1e-9, "all axes");
        assert_memory_equal(lists.em.posterior.held, exact.em.posterior.held,
                            (size_t)(data.n * o.held) * sizeof(int32_t));
        engine_free(&lists);
        engine_free(&exact);
        vem_model_free(start);
        grid_data_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_serve),
        cmocka_unit_test(free_energy_never_falls),
        cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(all_axes_are_the_exact_search),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
