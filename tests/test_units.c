/* The units of the columns: a fit whose clusters have shapes by column knows nothing of them, and
 * its floor follows them. */
#include "grid.h"

#define CONTEXT_THREADS 2
#include "context.h"

#include "model/family.h"

enum { N = 600, D = 4, CLUSTERS = 5 };

/* The next family of the table after this one whose shapes follow the units of the columns; -1 is
 * before the first, and VEM_FAMILIES after the last. */
static int next_by_column(int family)
{
    do
        family++;
    while (family < VEM_FAMILIES &&
           !(grid_is_shaped(family) && vem_i_family_of(family)->by_column));
    return family;
}

/* Where the variance of column j in cluster c, or its covariance with column k, stands. */
static int at_shape(const vem_model *model, int c, int j, int k)
{
    const int shape = model->family->shared ? 0 : c;
    return model->family->shape_axes == 2 ? (shape * D + j) * D + k : shape * D + j;
}

/* Column j of the rows times factors[j]. */
static grid_data scaled(const grid_data *data, const double *factors)
{
    grid_data other = *data;
    other.x = grid_zeros(data->n * data->d, sizeof(double));
    for (int64_t i = 0; i < data->n * data->d; i++)
        other.x[i] = data->x[i] * factors[i % data->d];
    return other;
}

static vem_options ask(vem_family_kind family)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = CLUSTERS;
    o.family = family;
    return o;
}

static double log_of(const double *factors)
{
    double sum = 0;
    for (int j = 0; j < D; j++)
        sum += log(factors[j]);
    return sum;
}

/* The model of `a` in the units of `b`, to a share of each column's deviation and of each
 * variance; 0: to the bit. */
static void assert_rescaled(const vem_model *a, const vem_model *b, const double *factors,
                            double tolerance, const char *what)
{
    const double *means = vem_model_means(a), *others = vem_model_means(b);
    const double *shapes = vem_model_variances(a), *other_shapes = vem_model_variances(b);
    const int full = a->family->shape_axes == 2;
    for (int c = 0; c < vem_model_clusters(a); c++)
        for (int j = 0; j < D; j++) {
            const double deviation = sqrt(shapes[at_shape(a, c, j, j)]) * factors[j];
            grid_assert_near(others[c * D + j], means[c * D + j] * factors[j],
                             tolerance * deviation, what);
            for (int k = full ? 0 : j; k < (full ? D : j + 1); k++) {
                const int at = at_shape(a, c, j, k);
                const double size =
                    deviation * factors[k] * sqrt(shapes[at_shape(a, c, k, k)]);
                grid_assert_near(other_shapes[at], shapes[at] * factors[j] * factors[k],
                                 tolerance * size, what);
            }
        }
    for (int c = 0; c < vem_model_clusters(a); c++)
        grid_assert_near(vem_model_weights(b)[c], vem_model_weights(a)[c], tolerance,
                         what);
}

/* Fits of the same rows in two sets of units: nothing but the units differs. */
static void assert_same_fit(const grid_data *data, const vem_options *o,
                            const double *factors, double tolerance)
{
    char what[120];
    snprintf(what, sizeof what, "family %s, %s, coreset %lld, floor %g",
             vem_choice_name("family", o->family),
             vem_choice_name("precision", o->precision), (long long)o->coreset, o->floor);
    grid_data other = scaled(data, factors);
    grid_fit a = grid_run(ctx, data, o, NULL), b = grid_run(ctx, &other, o, NULL);
    assert_int_equal(a.summary->steps, b.summary->steps);
    assert_int_equal(a.summary->floored, b.summary->floored);
    assert_rescaled(a.model, b.model, factors, tolerance, what);
    assert_null(vem_model_scale(a.model));
    if (a.labels)
        assert_memory_equal(a.labels, b.labels, (size_t)data->n * sizeof(int32_t));
    const double shift = log_of(factors), f = a.summary->free_energy - shift;
    grid_assert_near(b.summary->free_energy, f, 1e-9 * fmax(fabs(f), fabs(shift)), what);
    /* What is made of the model does not depend on them either. */
    vem_data *rows = grid_borrow(ctx, data), *others = grid_borrow(ctx, &other);
    int32_t *labels = grid_zeros(data->n, sizeof *labels),
            *other_labels = grid_zeros(data->n, sizeof *labels);
    assert_int_equal(vem_assign(ctx, a.model, rows, 1, o->precision, labels, NULL),
                     VEM_OK);
    assert_int_equal(vem_assign(ctx, b.model, others, 1, o->precision, other_labels,
                                NULL),
                     VEM_OK);
    assert_memory_equal(labels, other_labels, (size_t)data->n * sizeof(int32_t));
    const vem_scores s = grid_score(ctx, a.model, data, 0, VEM_DOUBLE),
                     t = grid_score(ctx, b.model, &other, 0, VEM_DOUBLE);
    grid_assert_near(t.log_likelihood, s.log_likelihood - shift,
                     1e-9 * fmax(1, fabs(s.log_likelihood) + fabs(shift)), what);
    vem_stats *stats;
    vem_model *next, *other_next;
    vem_options one = ask(o->family);
    one.precision = VEM_DOUBLE;
    one.clusters = VEM_AUTO;
    assert_int_equal(vem_accumulate(ctx, a.model, rows, &one, &stats), VEM_OK);
    assert_int_equal(vem_stats_next(ctx, stats, &next), VEM_OK);
    vem_stats_free(stats);
    assert_int_equal(vem_accumulate(ctx, b.model, others, &one, &stats), VEM_OK);
    assert_int_equal(vem_stats_next(ctx, stats, &other_next), VEM_OK);
    vem_stats_free(stats);
    assert_rescaled(next, other_next, factors, fmax(tolerance, 1e-9), what);
    vem_model_free(next);
    vem_model_free(other_next);
    free(labels);
    free(other_labels);
    vem_data_free(rows);
    vem_data_free(others);
    grid_fit_free(&a);
    grid_fit_free(&b);
    free(other.x);
}

static void rescaling_a_column_rescales_the_model(void **state)
{
    (void)state;
    const double powers[D] = {0x1p40, 0x1p-30, 1, 0x1p3},
                 any[D] = {1e5, 1.0 / 7, 1e-4, 3};
    for (int set = 0; set < SET_COUNT; set++)
        for (int f = next_by_column(-1); f < VEM_FAMILIES; f = next_by_column(f))
            for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
                grid_data data = grid_data_new((grid_set)set, WEIGHTS_NONE, N, D, 7);
                vem_options o = ask((vem_family_kind)f);
                o.precision = precision;
                assert_same_fit(&data, &o, powers, 0);
                o.coreset = 200;
                assert_same_fit(&data, &o, powers, 0);
                if (set == SET_SEPARATED && precision == VEM_DOUBLE) {
                    o.coreset = VEM_AUTO;
                    assert_same_fit(&data, &o, any, 1e-8);
                }
                grid_data_free(&data);
            }
}

/* ---- The floor ---- */

static void variances_of(const grid_data *data, double *variances)
{
    for (int j = 0; j < data->d; j++) {
        double mean = 0;
        variances[j] = 0;
        for (int64_t i = 0; i < data->n; i++)
            mean += data->x[i * data->d + j] / (double)data->n;
        for (int64_t i = 0; i < data->n; i++)
            variances[j] += pow(data->x[i * data->d + j] - mean, 2) / (double)data->n;
    }
}

/* Sigma - share E diag(v) is positive definite: for 0.999 always, for 1.001 not where the
 * floor binds. */
static int above(const vem_model *model, int c, const double *variances, double least)
{
    const double *v = vem_model_variances(model);
    double matrix[D * D];
    if (model->family->shape_axes == 1) {
        for (int j = 0; j < D; j++)
            if (v[at_shape(model, c, j, j)] < least * variances[j])
                return 0;
        return 1;
    }
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            matrix[i * D + j] =
                (v[at_shape(model, c, i, j)] - (i == j ? least * variances[j] : 0)) /
                sqrt(variances[i] * variances[j]);
    return vem_i_cholesky(matrix, D);
}

/* Rows on few places, in columns of very different units: clusters collapse to the floor, which
 * is a share of each column's own variance, and those that do are counted. So it is from a start
 * with a scale of its own, which the fit keeps: there columns are not divided by their deviations. */
static void the_floor_is_a_share_of_the_column(void **state)
{
    (void)state;
    const double wide[D] = {1e6, 1, 1e-3, 1e-6}, narrow[D] = {30, 1, 0.1, 3};
    const double floors[] = {1e-6, 1e-3}, scale[D] = {2, 0.5, 3, 1};
    for (int f = next_by_column(-1); f < VEM_FAMILIES; f = next_by_column(f))
        for (int k = 0; k < 4; k++) {
            const int e = k % 2, keeps = k / 2;
            const double *factors = keeps ? narrow : wide;
            grid_data plain = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 3);
            /* The first hundred rows are one point, far from the others; all are on a few, where
             * clusters share what has to collapse. */
            for (int64_t i = 0; i < 100 * D; i++)
                plain.x[i] = 40;
            for (int64_t i = 0; vem_i_family_of(f)->shared && i < N * D; i++)
                plain.x[i] =
                    1e-6 * plain.x[i] + (double)(i * CLUSTERS / (N * D) * (i % D + 1));
            grid_data data = scaled(&plain, factors);
            double variances[D];
            variances_of(&data, variances);
            vem_options o = ask((vem_family_kind)f);
            o.floor = floors[e];
            vem_model *start =
                keeps ? grid_start(ctx, &data, (vem_family_kind)f, CLUSTERS) : NULL;
            if (keeps)
                assert_int_equal(vem_model_set_scale(ctx, start, scale), VEM_OK);
            grid_fit fit = grid_run(ctx, &data, &o, start);
            vem_model_free(start);
            int64_t bound = 0;
            for (int c = 0; c < CLUSTERS; c++) {
                assert_true(above(fit.model, c, variances, 0.999 * o.floor));
                bound += !above(fit.model, c, variances, 1.001 * o.floor);
            }
            assert_true(bound > 0);
            assert_int_equal(fit.summary->floored, bound);
            assert_non_null(strstr(vem_report_notes(fit.report), "--floor"));
            for (int64_t t = 1; t < fit.trace_count; t++)
                if (fit.trace[t - 1].moved == 0)
                    assert_true(fit.trace[t].free_energy >=
                                fit.trace[t - 1].free_energy -
                                    1e-9 * fabs(fit.trace[t].free_energy));
            grid_fit_free(&fit);
            free(data.x);
            grid_data_free(&plain);
        }
}

/* Of an isotropic family it is a share of the mean variance, and most fits do not meet it. */
static void the_floor_of_balls(void **state)
{
    (void)state;
    for (int family = VEM_ISO_SHARED; family <= VEM_ISO; family++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 3);
        vem_options o = ask((vem_family_kind)family);
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_int_equal(fit.summary->floored, 0);
        grid_fit_free(&fit);
        o.floor = 1;
        fit = grid_run(ctx, &data, &o, NULL);
        assert_int_equal(fit.summary->floored, CLUSTERS);
        const double *v = vem_model_variances(fit.model);
        for (size_t i = 0; i < vem_model_variance_count(fit.model); i++)
            grid_assert_near(v[i], grid_variance(&data), 1e-9 * v[i], "floor 1");
        grid_fit_free(&fit);
        grid_data_free(&data);
    }
}

/* A constant column has no variance: its own value is the measure, or 1 where that is 0. */
static void a_constant_column(void **state)
{
    (void)state;
    const double values[] = {0, 5, -2e8, 1e-7};
    for (int k = 0; k < 4; k++)
        for (int f = next_by_column(-1); f < VEM_FAMILIES; f = next_by_column(f))
            for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
                grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 5);
                for (int64_t i = 0; i < N; i++)
                    data.x[i * D + 1] = values[k];
                vem_options o = ask((vem_family_kind)f);
                o.precision = precision;
                grid_fit fit = grid_run(ctx, &data, &o, NULL);
                const double unit = values[k] == 0 ? 1 : fabs(values[k]);
                for (int c = 0; c < CLUSTERS; c++) {
                    const int at = at_shape(fit.model, c, 1, 1);
                    grid_assert_near(vem_model_variances(fit.model)[at],
                                     1e-6 * unit * unit, 1e-9 * unit * unit, "constant");
                    assert_true(vem_model_means(fit.model)[c * D + 1] == values[k]);
                }
                grid_fit_free(&fit);
                grid_data_free(&data);
            }
}

/* The quantisation error is told in the units of the data, whatever was computed with. */
static void errors_in_the_units_of_the_data(void **state)
{
    (void)state;
    const double factors[D] = {1e4, 1, 1e-2, 30};
    for (int f = next_by_column(-1); f < VEM_FAMILIES; f = next_by_column(f))
        for (int coreset = 0; coreset < 2; coreset++)
            for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
                grid_data plain = grid_data_new(SET_SEPARATED, WEIGHTS_REAL, N, D, 9);
                grid_data data = scaled(&plain, factors);
                vem_options o = ask((vem_family_kind)f);
                o.measure = VEM_MEASURE_EXACT;
                o.precision = precision;
                o.coreset = coreset ? 300 : VEM_AUTO;
                grid_fit fit = grid_run(ctx, &data, &o, NULL);
                double error = 0;
                for (int64_t i = 0; i < N; i++) {
                    double least = INFINITY;
                    for (int c = 0; c < CLUSTERS; c++) {
                        double sum = 0;
                        for (int j = 0; j < D; j++)
                            sum += pow(data.x[i * D + j] -
                                           vem_model_means(fit.model)[c * D + j],
                                       2);
                        least = fmin(least, sum);
                    }
                    error += (data.weights ? data.weights[i] : 1) * least;
                }
                const double rounding = precision == VEM_SINGLE ? 1e-4 : 1e-9;
                grid_assert_near(fit.summary->quantization_error, error, rounding * error,
                                 "error of a fit");
                const vem_scores s =
                    grid_score(ctx, fit.model, &data, 0, (vem_precision)precision);
                grid_assert_near(s.quantization_error, error, rounding * error, "score");
                if (!coreset)
                    grid_assert_near(s.log_likelihood, fit.summary->log_likelihood,
                                     rounding * fabs(s.log_likelihood), "likelihood");
                grid_fit_free(&fit);
                free(data.x);
                grid_data_free(&plain);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rescaling_a_column_rescales_the_model),
        cmocka_unit_test(the_floor_is_a_share_of_the_column),
        cmocka_unit_test(the_floor_of_balls),
        cmocka_unit_test(a_constant_column),
        cmocka_unit_test(errors_in_the_units_of_the_data),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
