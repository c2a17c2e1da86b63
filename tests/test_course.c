/* The course of a fit: the units it works in, how it goes on from a model, when it ends,
 * and that the model given back is the one whose F is reported. */
#include "grid.h"

#include "context.h"
#include "model/family.h"

/* ---- Standardised and normalised data ---- */

/* Columns to mean 0 and variance 1 in place; what they were divided by in `scale`. */
static void standardize(grid_data *data, double *center, double *scale)
{
    for (int32_t j = 0; j < data->d; j++) {
        double mass = 0, mean = 0, variance = 0;
        for (int64_t i = 0; i < data->n; i++)
            mass += data->weights[i];
        for (int64_t i = 0; i < data->n; i++)
            mean += data->weights[i] * data->x[i * data->d + j] / mass;
        for (int64_t i = 0; i < data->n; i++)
            variance += data->weights[i] * pow(data->x[i * data->d + j] - mean, 2) / mass;
        center[j] = mean;
        scale[j] = variance > 1e-20 ? sqrt(variance) : 1;
        for (int64_t i = 0; i < data->n; i++)
            data->x[i * data->d + j] = (data->x[i * data->d + j] - mean) / scale[j];
    }
}

static void standardized_is_the_transformed_fit(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int set = 0; set < SET_COUNT; set++) {
            enum { D = 4, CLUSTERS = 4 };
            double center[D], scale[D], jacobian = 0;
            grid_data data = grid_data_new((grid_set)set, WEIGHTS_REAL, 200, D, 61);
            grid_data plain = grid_data_new((grid_set)set, WEIGHTS_REAL, 200, D, 61);
            standardize(&data, center, scale);
            vem_options o = grid_options(CLUSTERS, (vem_family_kind)family,
                                         VEM_PRIOR_FREE, 2, VEM_DOUBLE, 10);
            o.seeding = VEM_SEED_PLUSPLUS;
            grid_fit expected = grid_run(ctx, &data, &o, NULL);
            o.standardize = 1;
            grid_fit fit = grid_run(ctx, &plain, &o, NULL);
            assert_memory_equal(fit.labels, expected.labels, 200 * sizeof(int32_t));
            assert_non_null(vem_model_scale(fit.model));
            for (int32_t j = 0; j < D; j++) {
                jacobian -= log(scale[j]);
                grid_assert_near(vem_model_scale(fit.model)[j], scale[j], 1e-9 * scale[j],
                                 "scale");
            }
            const double *v = vem_model_variances(fit.model);
            const double *w = vem_model_variances(expected.model);
            for (int32_t c = 0; c < CLUSTERS; c++)
                for (int32_t j = 0; j < D; j++) {
                    double mean = vem_model_means(expected.model)[c * D + j];
                    grid_assert_near(vem_model_means(fit.model)[c * D + j],
                                     mean * scale[j] + center[j],
                                     1e-7 * scale[j] + 1e-12 * fabs(center[j]), "mean");
                    const int axes = vem_family_axes(family);
                    const int32_t shape = vem_family_shared(family) ? 0 : c;
                    const int32_t at = axes == 2   ? (shape * D + j) * D + (j + 1) % D
                                       : axes == 1 ? shape * D + j
                                                   : shape;
                    double factor = axes == 2   ? scale[j] * scale[(j + 1) % D]
                                    : axes == 1 ? scale[j] * scale[j]
                                                : 1;
                    grid_assert_near(v[at], w[at] * factor, 1e-7 * factor, "variance");
                }
            grid_assert_near(fit.summary->free_energy,
                             expected.summary->free_energy + jacobian, 1e-8,
                             grid_set_names[set]);
            /* The model carries what it needs to be used on rows as they come. */
            grid_assert_near(
                grid_score(ctx, fit.model, &plain, 2, VEM_DOUBLE).free_energy,
                fit.summary->free_energy, 1e-8, "score");
            grid_fit_free(&fit);
            grid_fit_free(&expected);
            grid_data_free(&data);
            grid_data_free(&plain);
        }
}

static void normalized_is_the_fit_of_directions(void **state)
{
    (void)state;
    grid_data plain = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 200, 5, 62);
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 200, 5, 62);
    for (int32_t j = 0; j < 5; j++)
        plain.x[7 * 5 + j] = data.x[7 * 5 + j] = 0; /* a row without a direction stays */
    for (int64_t i = 0; i < data.n; i++) {
        double length = 0;
        for (int32_t j = 0; j < 5; j++)
            length += data.x[i * 5 + j] * data.x[i * 5 + j];
        for (int32_t j = 0; j < 5 && length > 0; j++)
            data.x[i * 5 + j] /= sqrt(length);
    }
    vem_options o = grid_options(4, VEM_DIAG, VEM_PRIOR_FREE, 4, VEM_DOUBLE, 10);
    o.seeding = VEM_SEED_PLUSPLUS;
    grid_fit expected = grid_run(ctx, &data, &o, NULL);
    o.normalize = 1;
    grid_fit fit = grid_run(ctx, &plain, &o, NULL);
    assert_memory_equal(fit.labels, expected.labels, 200 * sizeof(int32_t));
    grid_assert_models(fit.model, expected.model, 1e-8, "normalised");
    assert_true(vem_model_normalizes(fit.model));
    assert_false(vem_model_normalizes(expected.model));
    grid_assert_near(fit.summary->free_energy, expected.summary->free_energy, 1e-8, "F");
    grid_assert_near(grid_score(ctx, fit.model, &plain, 0, VEM_DOUBLE).log_likelihood,
                     fit.summary->free_energy, 1e-8, "score");
    grid_fit_free(&fit);
    grid_fit_free(&expected);
    grid_data_free(&data);
    grid_data_free(&plain);
}

/* ---- Going on from a model ---- */

/* Five steps and then six from where they ended (the E-step at the seam is made twice)
 * are ten steps. */
static void warm_start_goes_on(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int held = 1; held <= 4; held++)
            for (int standard = 0; standard <= 1; standard++) {
                grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 400, 3, 63);
                vem_options o = grid_options(4, (vem_family_kind)family, VEM_PRIOR_FREE,
                                             held, VEM_DOUBLE, 10);
                o.seeding = VEM_SEED_PLUSPLUS;
                o.standardize = standard;
                grid_fit whole = grid_run(ctx, &data, &o, NULL);
                o.max_steps = 5;
                grid_fit first = grid_run(ctx, &data, &o, NULL);
                o.max_steps = 6;
                grid_fit second = grid_run(ctx, &data, &o, first.model);
                assert_true(whole.trace_count > 5);
                for (int64_t t = 0; t < whole.trace_count; t++) {
                    double f = t < 4 ? first.trace[t].free_energy
                                     : second.trace[t - 4].free_energy;
                    grid_assert_near(f, whole.trace[t].free_energy, 1e-9, "trace");
                }
                grid_assert_models(second.model, whole.model, 1e-7, "ten steps");
                grid_fit_free(&whole);
                grid_fit_free(&first);
                grid_fit_free(&second);
                grid_data_free(&data);
            }
}

/* A simpler model may start a richer family: the first F is that of the simpler one. */
static void simpler_starts(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 300, 4, 64);
    GRID_EACH_SHAPED (from)
        GRID_EACH_SHAPED (to) {
            if (!vem_i_can_express(vem_i_family_of(to), vem_i_family_of(from)))
                continue;
            vem_options o =
                grid_options(4, (vem_family_kind)from, VEM_PRIOR_FREE, 4, VEM_DOUBLE, 6);
            grid_fit simple = grid_run(ctx, &data, &o, NULL);
            o.family = to;
            grid_fit rich = grid_run(ctx, &data, &o, simple.model);
            grid_assert_near(rich.trace[0].free_energy, simple.summary->free_energy,
                             1e-10, "first F");
            assert_true(rich.summary->free_energy >= simple.summary->free_energy);
            o.family = VEM_AUTO; /* left open: that of the start */
            grid_fit open = grid_run(ctx, &data, &o, simple.model);
            assert_int_equal(vem_model_family(open.model), from);
            grid_fit_free(&open);
            grid_fit_free(&simple);
            grid_fit_free(&rich);
        }
    grid_data_free(&data);
}

/* ---- The end ---- */

/* A preset ends in the first step with |F_t - F_(t-1)| <= EPS max(|F_t|, 1e-3). */
static void ends_by_tolerance(void **state)
{
    (void)state;
    const double tolerances[] = {1e-2, 1e-4, 1e-6, 1e-9};
    const double units[] = {1, 1e-3, 0.2, 1e4};
    for (int algorithm = VEM_ALGORITHM_KMEANS_C; algorithm <= VEM_ALGORITHM_GMM;
         algorithm++)
        for (int k = 0; k < 4; k++)
            for (int u = 0; u < 4; u++) {
                grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 300, 3, 65);
                for (int64_t v = 0; v < 900; v++)
                    data.x[v] *= units[u];
                vem_options o;
                vem_options_init(&o);
                o.clusters = 4;
                o.algorithm = algorithm;
                o.tolerance = tolerances[k];
                o.max_steps = 5000;
                grid_fit fit = grid_run(ctx, &data, &o, NULL);
                assert_int_equal(fit.summary->outcome, VEM_OUTCOME_CONVERGED);
                /* The steps in which the shapes were not yet free do not count. */
                for (int64_t t = algorithm == VEM_ALGORITHM_GMM ? 3 : 1;
                     t < fit.trace_count; t++) {
                    double now = fit.trace[t].free_energy;
                    double before = fit.trace[t - 1].free_energy;
                    int within =
                        fabs(now - before) <= tolerances[k] * fmax(fabs(now), 1e-3);
                    assert_int_equal(within, t == fit.trace_count - 1);
                }
                assert_int_equal(fit.trace_count, fit.summary->steps);
                assert_true(fit.summary->free_energy ==
                            fit.trace[fit.trace_count - 1].free_energy);
                assert_true(fit.summary->free_energy_first == fit.trace[0].free_energy);
                grid_assert_near(grid_score(ctx, fit.model, &data,
                                            (int32_t)fit.options->held, VEM_DOUBLE)
                                     .free_energy,
                                 fit.summary->free_energy, 1e-9, "reported F");
                grid_fit_free(&fit);
                grid_data_free(&data);
            }
}

static void ends_by_steps(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 300, 3, 66);
    vem_model *start = grid_start(ctx, &data, VEM_FULL, 4);
    for (int64_t steps = 1; steps <= 4; steps++)
        for (int64_t before = 0; before <= 2; before++) {
            vem_options o =
                grid_options(4, VEM_FULL, VEM_PRIOR_FREE, 4, VEM_DOUBLE, steps);
            o.init_steps = before;
            grid_fit fit = grid_run(ctx, &data, &o, start);
            assert_int_equal(fit.summary->outcome, VEM_OUTCOME_STEP_LIMIT);
            assert_int_equal(fit.summary->steps, steps);
            assert_int_equal(fit.summary->init_steps, before);
            assert_int_equal(fit.trace_count, steps + before);
            assert_int_equal(fit.summary->scored_pairs, (steps + before) * data.n * 4);
            for (int64_t t = 0; t < fit.trace_count; t++)
                assert_int_equal(fit.trace[t].step, t + 1 - before);
            for (int64_t t = 0; t < before; t++) /* no M-step: the same model */
                assert_true(fit.trace[t].free_energy == fit.trace[before].free_energy);
            if (steps == 1)
                grid_assert_models(fit.model, start, 1e-12, "no M-step was made");
            grid_fit_free(&fit);
        }
    vem_model_free(start);
    grid_data_free(&data);
}

/* Tolerance 0: until no held set changes; searching all, until F stands still. */
static void ends_when_nothing_changes(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_REAL, 300, 3, 67);
    for (int held = 1; held <= 4; held++) {
        vem_options o =
            grid_options(4, VEM_ISO_SHARED, VEM_PRIOR_FLAT, held, VEM_DOUBLE, 100000);
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_int_equal(fit.summary->outcome, VEM_OUTCOME_CONVERGED);
        for (int64_t t = 0; t < fit.trace_count && held < 4; t++)
            assert_int_equal(fit.trace[t].changed == 0, t == fit.trace_count - 1);
        grid_fit_free(&fit);
    }
    grid_data_free(&data);
}

static void assert_same_bits(const grid_fit *a, const grid_fit *b, const char *what)
{
    assert_int_equal(a->summary->steps, b->summary->steps);
    assert_true(a->summary->free_energy == b->summary->free_energy);
    assert_string_equal(vem_report_stopping(a->report), vem_report_stopping(b->report));
    grid_assert_models(a->model, b->model, 0, what);
}

/* Which rule ends a fit depends on --algorithm alone: a default that is typed changes nothing,
 * and nor do the options of the result, given back. */
static void what_is_typed_changes_nothing(void **state)
{
    (void)state;
    const double unit = 1e-3; /* so that |F| is far from D / 2 */
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 900, 3, 66);
    for (int64_t v = 0; v < 2700; v++)
        data.x[v] *= unit;
    for (int algorithm = VEM_AUTO; algorithm <= VEM_ALGORITHM_VC_GMM; algorithm++)
        GRID_EACH_SHAPED (family) {
            vem_options o;
            vem_options_init(&o);
            o.clusters = 12;
            o.algorithm = algorithm;
            if (algorithm == VEM_AUTO)
                o.family = family;
            else if (family != VEM_ISO_SHARED)
                continue;
            grid_fit open = grid_run(ctx, &data, &o, NULL);
            vem_options typed = o;
            typed.tolerance = open.options->tolerance;
            grid_fit same = grid_run(ctx, &data, &typed, NULL);
            assert_same_bits(&open, &same, "the tolerance was typed");
            grid_fit_free(&same);
            vem_options resolved = *open.options;
            same = grid_run(ctx, &data, &resolved, NULL);
            assert_same_bits(&open, &same, "every option was typed");
            grid_fit_free(&same);
            grid_fit_free(&open);
        }
    grid_data_free(&data);
}

/* Without an algorithm: the first step that changes F by no more than EPS D / 2, whatever the
 * units of the data; and the report says so, in words that fit the family. */
static void ends_whatever_the_units(void **state)
{
    (void)state;
    const double units[] = {1, 1e-3, 1e4};
    const char *const words[] = {"the squared error by no more than 1e-05 of itself",
                                 "F by no more than 1.5e-05 (1e-05 D / 2)"};
    GRID_EACH_SHAPED (family) {
        int64_t steps = 0;
        for (int u = 0; u < 3; u++) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 300, 3, 67);
            for (int64_t v = 0; v < 900; v++)
                data.x[v] *= units[u];
            vem_options o;
            vem_options_init(&o);
            o.clusters = 4;
            o.family = family;
            o.tolerance = 1e-5;
            o.swaps = 0;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_int_equal(fit.summary->outcome, VEM_OUTCOME_CONVERGED);
            assert_non_null(
                strstr(vem_report_stopping(fit.report), words[family != VEM_ISO_SHARED]));
            const vem_trace_step *last = &fit.trace[fit.trace_count - 1];
            assert_true(fabs(last->free_energy - last[-1].free_energy) <= 1.5e-5);
            assert_true(steps == 0 || steps == fit.summary->steps);
            steps = fit.summary->steps;
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standardized_is_the_transformed_fit),
        cmocka_unit_test(normalized_is_the_fit_of_directions),
        cmocka_unit_test(warm_start_goes_on),
        cmocka_unit_test(simpler_starts),
        cmocka_unit_test(ends_by_tolerance),
        cmocka_unit_test(what_is_typed_changes_nothing),
        cmocka_unit_test(ends_whatever_the_units),
        cmocka_unit_test(ends_by_steps),
        cmocka_unit_test(ends_when_nothing_changes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
