/* Small values, spreads and floors. Values whose squares are no numbers of the compute type:
 * isotropic families divide them by a power of two, in every verb, so a factor changes nothing
 * but the units. */
#include "grid.h"

#include <string.h>

#define CONTEXT_THREADS 2
#include "context.h"

enum { N = 500, D = 3, CLUSTERS = 4 };

static grid_data multiplied(const grid_data *data, double factor)
{
    grid_data other = *data;
    other.x = grid_zeros(data->n * data->d, sizeof(double));
    for (int64_t i = 0; i < data->n * data->d; i++)
        other.x[i] = data->x[i] * factor;
    return other;
}

/* The model b is a with all columns times `factor`; `share` of spread and variance. */
static void assert_multiplied(const vem_model *a, const vem_model *b, double factor,
                              double share, const char *what)
{
    const double *v = vem_model_variances(a), *w = vem_model_variances(b);
    for (size_t i = 0; i < vem_model_variance_count(a); i++)
        grid_assert_near(w[i] / factor / factor, v[i], share * v[i], what);
    for (int i = 0; i < CLUSTERS * D; i++)
        grid_assert_near(vem_model_means(b)[i] / factor, vem_model_means(a)[i],
                         share * sqrt(v[0]), what);
}

static void check_verbs(const vem_model *model, const vem_model *other,
                        const grid_data *data, const grid_data *small, double factor,
                        vem_precision precision, const char *what)
{
    const double rounding = precision == VEM_SINGLE ? 1e-5 : 1e-9;
    vem_data *rows = grid_borrow(ctx, data), *others = grid_borrow(ctx, small);
    int32_t labels[N], found[N];
    double sure[N], found_sure[N];
    assert_int_equal(vem_assign(ctx, model, rows, 1, precision, labels, sure), VEM_OK);
    assert_int_equal(vem_assign(ctx, other, others, 1, precision, found, found_sure),
                     VEM_OK);
    assert_memory_equal(labels, found, sizeof labels);
    for (int i = 0; i < N; i++)
        grid_assert_near(found_sure[i], sure[i], rounding, what);
    assert_int_equal(vem_assign(ctx, other, others, 1, precision, found, NULL), VEM_OK);
    assert_memory_equal(labels, found, sizeof labels);
    const vem_scores s = grid_score(ctx, model, data, 0, precision),
                     t = grid_score(ctx, other, small, 0, precision);
    grid_assert_near(t.log_likelihood + D * log(factor), s.log_likelihood,
                     rounding * fabs(t.log_likelihood), what);
    grid_assert_near(t.quantization_error / factor / factor, s.quantization_error,
                     rounding * s.quantization_error, what);
    vem_stats *stats;
    vem_model *next, *other_next;
    vem_options one;
    vem_options_init(&one);
    one.family = (int)vem_model_family(model);
    one.precision = (int)precision;
    assert_int_equal(vem_accumulate(ctx, model, rows, &one, &stats), VEM_OK);
    assert_int_equal(vem_stats_next(ctx, stats, &next), VEM_OK);
    vem_stats_free(stats);
    assert_int_equal(vem_accumulate(ctx, other, others, &one, &stats), VEM_OK);
    assert_int_equal(vem_stats_next(ctx, stats, &other_next), VEM_OK);
    vem_stats_summary told = {.size = sizeof told};
    vem_stats_describe(stats, &told);
    vem_stats_free(stats);
    assert_multiplied(next, other_next, factor, 1e-9, what);
    if (one.family == VEM_ISO_SHARED && vem_model_clusters(model) == CLUSTERS)
        assert_true(told.squared_error >= t.quantization_error * (1 - rounding));
    vem_model_free(next);
    vem_model_free(other_next);
    vem_data_free(rows);
    vem_data_free(others);
}

static void a_factor_changes_the_units_alone(void **state)
{
    (void)state;
    const double factors[] = {0x1p-50, 0x1p-83, 0x1p-140, 0x1p-440};
    for (int set = 0; set < SET_COUNT; set++)
        for (int family = VEM_ISO_SHARED; family <= VEM_ISO; family++)
            for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++)
                for (int k = 0; k < 4; k++) {
                    char what[100];
                    snprintf(what, sizeof what, "set %d, %s, %s, factor %g", set,
                             vem_choice_name("family", family),
                             vem_choice_name("precision", precision), factors[k]);
                    grid_data data = grid_data_new((grid_set)set, WEIGHTS_NONE, N, D, 7),
                              small = multiplied(&data, factors[k]);
                    vem_options o;
                    vem_options_init(&o);
                    o.clusters = CLUSTERS;
                    o.family = family;
                    o.precision = precision;
                    grid_fit a = grid_run(ctx, &data, &o, NULL),
                             b = grid_run(ctx, &small, &o, NULL);
                    assert_int_equal(a.summary->steps, b.summary->steps);
                    assert_int_equal(a.summary->floored, b.summary->floored);
                    assert_null(vem_model_scale(b.model));
                    assert_memory_equal(a.labels, b.labels, N * sizeof(int32_t));
                    assert_multiplied(a.model, b.model, factors[k], 1e-9, what);
                    check_verbs(a.model, b.model, &data, &small, factors[k],
                                (vem_precision)precision, what);
                    /* And from these models on. */
                    grid_fit c = grid_run(ctx, &data, &o, a.model),
                             e = grid_run(ctx, &small, &o, b.model);
                    assert_memory_equal(c.labels, e.labels, N * sizeof(int32_t));
                    assert_multiplied(c.model, e.model, factors[k], 1e-9, what);
                    grid_fit_free(&a);
                    grid_fit_free(&b);
                    grid_fit_free(&c);
                    grid_fit_free(&e);
                    free(small.x);
                    grid_data_free(&data);
                }
}

/* A model that was fitted in double precision meets the same rows in single. */
static void single_after_double(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family) {
        grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, N, D, 7),
                  small = multiplied(&data, 1e-25);
        vem_options o;
        vem_options_init(&o);
        o.clusters = CLUSTERS;
        o.family = family;
        o.precision = VEM_DOUBLE;
        grid_fit fit = grid_run(ctx, &small, &o, NULL);
        vem_data *rows = grid_borrow(ctx, &small);
        int32_t labels[N];
        assert_int_equal(vem_assign(ctx, fit.model, rows, 1, VEM_SINGLE, labels, NULL),
                         VEM_OK);
        assert_memory_equal(labels, fit.labels, sizeof labels);
        vem_data_free(rows);
        grid_fit_free(&fit);
        free(small.x);
        grid_data_free(&data);
    }
}

/* A floor that the type raises is not blamed on the option. */
static void who_keeps_a_variance_up(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, N, D, 7);
    for (int64_t i = 0; i < 100 * D; i++)
        data.x[i] = 40; /* one point */
    vem_options o;
    vem_options_init(&o);
    o.clusters = CLUSTERS;
    o.family = VEM_ISO;
    o.precision = VEM_SINGLE;
    const double floors[] = {1e-6, 1e-40};
    for (int k = 0; k < 2; k++) {
        o.floor = floors[k];
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        const char *notes = vem_report_notes(fit.report);
        assert_true(fit.summary->floored > 0);
        assert_int_equal(strstr(notes, "--floor 1e-06 keeps") != NULL, k == 0);
        const char *least = "The least --floor in single precision, 1.2e-07, keeps";
        assert_int_equal(strstr(notes, least) != NULL, k == 1);
        grid_fit_free(&fit);
    }
    grid_data_free(&data);
}

/* F of every step, but where a move is named, and from loop to loop. */
static void assert_rises(const grid_fit *fit, double share, const char *what)
{
    for (int64_t t = 1; t < fit->trace_count; t++) {
        const double before = fit->trace[t - 1].free_energy,
                     now = fit->trace[t].free_energy;
        if (!fit->trace[t - 1].move && !(now >= before - share * fabs(before)))
            fail_msg("%s: F falls from %.12g to %.12g at step %d", what, before, now,
                     (int)t + 1);
    }
}

/* With mu / sd rounded, F follows roundings: such a floor is raised. */
static void floors_that_rounding_meets(void **state)
{
    (void)state;
    const double floors[] = {1e-20, 1e-36, 1e-140, 1e-300};
    for (int k = 0; k < 4; k++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, seed);
            for (int64_t i = 0; i < 100 * D; i++)
                data.x[i] = data.x[i % D] + 0.1; /* one point */
            for (int64_t i = 100; i < 140; i++)
                data.x[i * D + 1] = 0.7;
            vem_options o;
            vem_options_init(&o);
            o.clusters = 6;
            o.family = VEM_DIAG;
            o.precision = VEM_DOUBLE;
            o.floor = floors[k];
            o.seed = (int64_t)seed;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_rises(&fit, 1e-9, "small floor");
            assert_true(fit.options->floor >= 0x1p-72);
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
}

/* The k-means that begins a mixture has no smaller floor than the mixture, whatever columns
 * do not vary. */
static void floors_of_loops_agree(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
            grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, N, 4, 3);
            for (int64_t i = 0; i < N * 4; i++)
                if (i % 4 > 0)
                    data.x[i] = 5;
            vem_options o;
            vem_options_init(&o);
            o.clusters = CLUSTERS;
            o.family = family;
            o.precision = precision;
            o.floor = 0.3;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_rises(&fit, precision == VEM_SINGLE ? 1e-6 : 1e-9, "floors of loops");
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
}

/* A column of spread 1e-165 varies: its squares vanish, it does not. */
static void columns_of_small_spread(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, N, D, 7);
    for (int64_t i = 0; i < N; i++) {
        data.x[i * D] = i % 2 ? 1e-165 : -1e-165;
        data.x[i * D + 1] *= 1e-3;
        data.x[i * D + 2] = 4;
    }
    vem_options o;
    vem_options_init(&o);
    o.clusters = 2;
    o.family = VEM_DIAG;
    grid_fit fit;
    assert_int_equal(grid_try(ctx, &data, &o, NULL, &fit), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "Column 1 has a deviation of 1e-165"));
    /* Divided by its deviation or not: its variance is told in the units of the data. */
    o.standardize = 1;
    assert_int_equal(grid_try(ctx, &data, &o, NULL, &fit), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "Column 1 has a deviation of 1e-165"));
    o.family = VEM_ISO_SHARED;
    o.precision = VEM_DOUBLE;
    for (int64_t i = 0; i < N; i++)
        data.x[i * D + 1] = 1e-3; /* the first column alone tells rows apart */
    fit = grid_run(ctx, &data, &o, NULL);
    vem_data *rows = grid_borrow(ctx, &data);
    int32_t labels[N];
    assert_int_equal(vem_assign(ctx, fit.model, rows, 1, VEM_DOUBLE, labels, NULL),
                     VEM_OK);
    for (int64_t i = 0; i < N; i++) {
        assert_true((fit.labels[i] == fit.labels[0]) == (i % 2 == 0));
        assert_int_equal(labels[i], fit.labels[i]);
    }
    vem_data_free(rows);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

/* Probabilities of single precision do not add up to 1; weights do. */
static void weights_sum_to_one(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, N, D, 7);
    GRID_EACH_SHAPED (family) {
        vem_options o;
        vem_options_init(&o);
        o.clusters = CLUSTERS;
        o.family = family;
        o.prior = VEM_PRIOR_FREE;
        o.search = VEM_SEARCH_ALL;
        o.precision = VEM_SINGLE;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        double sum = 0;
        for (int c = 0; c < CLUSTERS; c++)
            sum += vem_model_weights(fit.model)[c];
        grid_assert_near(sum, 1, 1e-15, "sum of the weights");
        grid_fit_free(&fit);
    }
    grid_data_free(&data);
}

/* One cluster has nothing to swap with: its fit ends when a step or two have seen that. */
static void one_cluster_takes_no_swaps(void **state)
{
    (void)state;
    for (int family = 0; family < VEM_FAMILIES; family++)
        for (int swaps = 0; swaps < (grid_is_shaped(family) ? 2 : 1); swaps++) {
            grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, N, 3, 3);
            grid_suit((vem_family_kind)family, &data);
            vem_options o;
            vem_options_init(&o);
            o.clusters = 1;
            o.family = family;
            if (swaps)
                o.swaps = 5;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_int_equal(fit.options->swaps, 0);
            assert_in_range(fit.summary->steps, 1, 5);
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_factor_changes_the_units_alone),
        cmocka_unit_test(single_after_double),
        cmocka_unit_test(who_keeps_a_variance_up),
        cmocka_unit_test(floors_that_rounding_meets),
        cmocka_unit_test(floors_of_loops_agree),
        cmocka_unit_test(columns_of_small_spread),
        cmocka_unit_test(weights_sum_to_one),
        cmocka_unit_test(one_cluster_takes_no_swaps),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
