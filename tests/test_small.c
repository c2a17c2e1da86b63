/* Values whose squares are no numbers of the compute type: isotropic families divide them by a
 * power of two, in every verb, so a factor changes nothing but the units. */
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
    for (int family = VEM_ISO_SHARED; family <= VEM_FULL; family++) {
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
        assert_int_equal(strstr(notes, "single precision divides by keeps") != NULL,
                         k == 1);
        grid_fit_free(&fit);
    }
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_factor_changes_the_units_alone),
        cmocka_unit_test(single_after_double),
        cmocka_unit_test(who_keeps_a_variance_up),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
