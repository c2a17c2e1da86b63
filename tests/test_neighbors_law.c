/* The laws of the neighborhood searches : F never falls; every step is that of
 * the naive algorithm with all its averages; C' = G = C is EM; C' = 1 and G = C is
 * Lloyd. */
#include "partial.h"

#define CONTEXT_THREADS 1
#include "context.h"

/* ---- The law of F ---- */

static vem_options neighbor_options(vem_search_kind kind, int64_t clusters,
                                    vem_family_kind family, vem_prior_kind prior,
                                    int64_t held, int64_t reach, int64_t explore,
                                    vem_precision precision, int64_t max_steps)
{
    vem_options o = grid_options(clusters, family, prior, held, precision, max_steps);
    o.search = (int)kind;
    o.reach = reach;
    o.explore = explore;
    return o;
}

static void check_fit(const grid_case *c, const vem_options *o, const grid_data *data,
                      const grid_fit *fit)
{
    double slack = c->precision == VEM_SINGLE ? 1e-6 : 1e-9;
    int64_t most = o->held * o->reach + o->explore, square = c->clusters * c->clusters;
    most = data->n * (most < c->clusters ? most : c->clusters);
    most += o->search == VEM_SEARCH_EXACT && o->reach > 1 ? square : 0;
    for (int64_t t = 0; t < fit->trace_count; t++) {
        double now = fit->trace[t].free_energy;
        if (fit->trace[t].pairs > most || fit->trace[t].pairs < data->n * o->held)
            fail_msg("%d pairs in step %d, most are %d: %s", (int)fit->trace[t].pairs,
                     (int)t, (int)most, grid_name(c));
        if (t == 0)
            continue;
        double before = fit->trace[t - 1].free_energy;
        if (!(now >= before - slack * fmax(fabs(before), c->d)))
            fail_msg("F falls from %.17g to %.17g in step %d, %s, reach %d, explore %d: "
                     "%s",
                     before, now, (int)fit->trace[t].step,
                     vem_choice_name("search", o->search), (int)o->reach, (int)o->explore,
                     grid_name(c));
    }
    double f = fit->summary->free_energy;
    vem_scores s = grid_score(ctx, fit->model, data, c->held, c->precision);
    /* No set of the same size is better than the best, no bound above the likelihood. */
    if (!(f <= s.free_energy + 2 * slack * fmax(fabs(f), c->d)) ||
        !(s.free_energy <= s.log_likelihood + 2 * slack * fmax(fabs(f), c->d)))
        fail_msg("F %.17g, of the best sets %.17g, L %.17g: %s", f, s.free_energy,
                 s.log_likelihood, grid_name(c));
    for (int64_t i = 0; i < data->n; i++)
        assert_true(fit->labels[i] >= 0 && fit->labels[i] < c->clusters);
}

static void law_of_f(void **state)
{
    (void)state;
    enum { CLUSTERS = 12, ROWS = 150, STEPS = 8 };
    const int32_t helds[] = {1, 2, 5}, reaches[] = {1, 2, 5, CLUSTERS};
    const int32_t dimensions[] = {1, 3, 20};
    const int families = grid_shaped_count();
    for (int i = 0; i < families * 2 * 2 * 2 * 2 * 2 * 3 * 4; i += grid_stride()) {
        int rest = i;
        grid_case c = {.clusters = CLUSTERS};
        c.family = grid_shaped(rest % families);
        c.prior = (vem_prior_kind)((rest /= families) % 2);
        c.precision = (vem_precision)((rest /= 2) % 2);
        c.weights = (rest /= 2) % 2 ? WEIGHTS_ZEROS : WEIGHTS_NONE;
        vem_search_kind kind = (rest /= 2) % 2 ? VEM_SEARCH_EXACT : VEM_SEARCH_ESTIMATED;
        int64_t explore = 2 * ((rest /= 2) % 2);
        c.held = helds[(rest /= 2) % 3];
        int64_t reach = reaches[rest / 3];
        /* The kinds of data take turns; heavy tails are for the grid of all searches. */
        c.set = (grid_set)((i + i / 16) % SET_HEAVY);
        c.d = dimensions[(i / 5 + i / 32) % 3];
        grid_data data = grid_data_new(c.set, c.weights, ROWS, c.d, 21);
        vem_model *start = grid_start(ctx, &data, c.family, CLUSTERS);
        vem_options o = neighbor_options(kind, CLUSTERS, c.family, c.prior, c.held, reach,
                                         explore, c.precision, STEPS);
        o.init_steps = i % 3;
        grid_fit fit = grid_run(ctx, &data, &o, start);
        check_fit(&c, &o, &data, &fit);
        grid_fit_free(&fit);
        vem_model_free(start);
        grid_data_free(&data);
    }
}

/* ---- Beside the naive algorithm ---- */

/* With no more clusters than averages are kept for (4 G + 12), step by step. */
static void steps_are_those_of_the_naive_algorithm(void **state)
{
    (void)state;
    enum { CLUSTERS = 20, ROWS = 400, STEPS = 10 };
    for (int32_t held = 1; held <= 3; held++)
        for (int32_t reach = 2; reach <= 5; reach++)
            for (int32_t explore = 0; explore <= 2; explore += 2)
                for (int weights = WEIGHTS_NONE; weights < WEIGHTS_COUNT; weights++) {
                    grid_data data = grid_data_new(SET_OVERLAPPING, (grid_weights)weights,
                                                   ROWS, 2, 22);
                    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, CLUSTERS);
                    naive_partial naive =
                        naive_partial_new(&data, start, held, reach, explore, 5);
                    vem_options o = neighbor_options(VEM_SEARCH_ESTIMATED, CLUSTERS,
                                                     VEM_ISO_SHARED, VEM_PRIOR_FLAT, held,
                                                     reach, explore, VEM_DOUBLE, STEPS);
                    o.seed = 5;
                    o.tolerance = 1e-300;
                    grid_fit fit = grid_run(ctx, &data, &o, start);
                    for (int64_t t = 0; t < fit.trace_count; t++) {
                        if (t > 0)
                            naive_partial_mstep(&naive);
                        naive_partial_estep(&naive);
                        assert_int_equal(fit.trace[t].pairs, naive.pairs);
                        grid_assert_near(fit.trace[t].free_energy, naive.free_energy,
                                         1e-10 * fmax(1, fabs(naive.free_energy)), "F");
                    }
                    for (int64_t i = 0; i < data.n; i++)
                        assert_int_equal(fit.labels[i], naive.holds[i * held]);
                    assert_true(grid_close(vem_model_means(fit.model), naive.means,
                                           (size_t)(CLUSTERS * data.d), 1e-9));
                    grid_fit_free(&fit);
                    naive_partial_free(&naive);
                    vem_model_free(start);
                    grid_data_free(&data);
                }
}

/* ---- Limits ---- */

static void assert_same_steps(const grid_fit *a, const grid_fit *b, int64_t n,
                              double tolerance, const char *what)
{
    assert_int_equal(a->trace_count, b->trace_count);
    for (int64_t t = 0; t < a->trace_count; t++)
        grid_assert_near(a->trace[t].free_energy, b->trace[t].free_energy,
                         tolerance * fmax(1, fabs(b->trace[t].free_energy)), what);
    grid_assert_models(a->model, b->model, tolerance, what);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(a->labels[i], b->labels[i]);
}

static void reaching_and_holding_all_is_em(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
            for (int prior = VEM_PRIOR_FLAT; prior <= VEM_PRIOR_FREE; prior++) {
                grid_data data =
                    grid_data_new(SET_OVERLAPPING, WEIGHTS_ZEROS, 300, 3, 23);
                vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, 7);
                vem_options o = grid_options(7, (vem_family_kind)family,
                                             (vem_prior_kind)prior, 7, VEM_DOUBLE, 12);
                o.tolerance = 1e-300;
                grid_fit all = grid_run(ctx, &data, &o, start);
                o.search = kind;
                o.reach = 7;
                o.explore = 0;
                grid_fit near = grid_run(ctx, &data, &o, start);
                assert_same_steps(&near, &all, data.n, 1e-9, "C' = G = C against EM");
                for (int64_t t = 0; t < near.trace_count; t++)
                    assert_int_equal(near.trace[t].pairs,
                                     data.n * 7 + (kind == VEM_SEARCH_EXACT ? 7 * 7 : 0));
                grid_fit_free(&all);
                grid_fit_free(&near);
                vem_model_free(start);
                grid_data_free(&data);
            }
}

static void reaching_all_and_holding_one_is_lloyd(void **state)
{
    (void)state;
    for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
        for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++)
            for (int32_t clusters = 8; clusters <= 80; clusters += 72) {
                grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 600, 3, 24);
                vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, clusters);
                vem_options o = grid_options(clusters, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1,
                                             (vem_precision)precision, 100);
                grid_fit lloyd = grid_run(ctx, &data, &o, start);
                o.search = kind;
                o.reach = clusters;
                o.explore = 0;
                grid_fit near = grid_run(ctx, &data, &o, start);
                assert_int_equal(near.summary->outcome, VEM_OUTCOME_CONVERGED);
                assert_same_steps(&near, &lloyd, data.n,
                                  precision == VEM_SINGLE ? 1e-6 : 1e-12, "Lloyd");
                grid_fit_free(&lloyd);
                grid_fit_free(&near);
                vem_model_free(start);
                grid_data_free(&data);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(law_of_f),
        cmocka_unit_test(steps_are_those_of_the_naive_algorithm),
        cmocka_unit_test(reaching_and_holding_all_is_em),
        cmocka_unit_test(reaching_all_and_holding_one_is_lloyd),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
