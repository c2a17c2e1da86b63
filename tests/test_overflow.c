/* Numbers at the edge of their type: sums that would overflow are refused with a sentence, rows
 * of weight 0 are not there, no model is given back or written that is not finite, and a floor
 * below what the arithmetic can tell does not let F fall. */
#include "context.h"
#include "run.h"

#include <unistd.h>

#include "model/path.h"

/* Uniform in +-size. */
static grid_data uniform(int64_t n, int32_t d, double size, uint64_t seed)
{
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, n, d, seed);
    uint64_t state = seed;
    for (int64_t i = 0; i < n * d; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        data.x[i] = size * ((double)(int64_t)state * 0x1p-63);
    }
    return data;
}

static void assert_refused(const grid_data *data, vem_precision precision,
                           vem_family_kind family, const char *why)
{
    const vem_options o = grid_options(3, family, VEM_PRIOR_FREE, 1, precision, 20);
    grid_fit fit;
    assert_int_equal(grid_try(ctx, data, &o, NULL, &fit), VEM_BAD_DATA);
    if (!strstr(vem_ctx_message(ctx), why))
        fail_msg("\"%s\" does not say \"%s\"", vem_ctx_message(ctx), why);
}

/* One square is a number, the sum over the rows is not. */
static void sums(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family) {
        grid_data wide = uniform(1000, 2, 1e153, 1), narrow = uniform(1000, 2, 2e18, 2);
        assert_refused(&wide, VEM_DOUBLE, family, "sums of squares");
        /* Fits of diag and full divide by the columns' deviations first: these fit. */
        if (vem_family_axes(family) == 0) {
            assert_refused(&narrow, VEM_SINGLE, family, "sums of squares");
        } else {
            const vem_options o =
                grid_options(3, family, VEM_PRIOR_FREE, 1, VEM_SINGLE, 20);
            grid_fit fit = grid_run(ctx, &narrow, &o, NULL);
            assert_int_equal(vem_i_model_check_finite(run_of(ctx), fit.model), VEM_OK);
            grid_fit_free(&fit);
        }
        grid_data_free(&wide);
        grid_data_free(&narrow);
        /* What is not refused gives numbers. */
        const double sizes[] = {1e150, 1e16};
        for (int single = 0; single < 2; single++) {
            grid_data data = uniform(1000, 2, sizes[single], 3);
            const vem_options o = grid_options(3, family, VEM_PRIOR_FREE, 1,
                                               single ? VEM_SINGLE : VEM_DOUBLE, 20);
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_int_equal(vem_i_model_check_finite(run_of(ctx), fit.model), VEM_OK);
            assert_true(isfinite(fit.summary->free_energy));
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
    }
}

static void weights_of(grid_data *data, double weight)
{
    data->weights = grid_zeros(data->n, sizeof(double));
    for (int64_t i = 0; i < data->n; i++)
        data->weights[i] = weight;
}

static void heavy(void **state)
{
    (void)state;
    grid_data data = uniform(6, 2, 30, 4);
    weights_of(&data, 2e307);
    assert_refused(&data, VEM_DOUBLE, VEM_ISO_SHARED, "the weights sum to 1.2e+308");
    grid_data_free(&data);
    data = uniform(6, 2, 30, 4);
    weights_of(&data, 1e290);
    const vem_options o =
        grid_options(3, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 20);
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_true(isfinite(fit.summary->free_energy));
    grid_fit_free(&fit);
    grid_data_free(&data);
}

/* The weights of a coreset are nobody's to rescale: what helps is said, and does. */
static void heavy_by_itself(void **state)
{
    (void)state;
    grid_data data = uniform(3000, 3, 1e17, 5);
    vem_options o = grid_options(3, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_SINGLE, 5);
    o.coreset = 300;
    grid_fit fit;
    assert_int_equal(grid_try(ctx, &data, &o, NULL, &fit), VEM_BAD_DATA);
    if (!strstr(vem_ctx_message(ctx), "the weights sum to") ||
        !strstr(vem_ctx_message(ctx), "use --precision double"))
        fail_msg("\"%s\"", vem_ctx_message(ctx));
    o.precision = VEM_DOUBLE;
    fit = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(vem_i_model_check_finite(run_of(ctx), fit.model), VEM_OK);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

/* The same fit with rows of weight 0 that lie anywhere in range as without them; out of it they
 * could have no label, and are named. */
static void absent(void **state)
{
    (void)state;
    enum { ROWS = 120, COLUMNS = 3 };
    const double places[] = {1, 1e12, 1e25, 1e120, 1e200, 1.7e308};
    for (int precision = 0; precision < 2; precision++)
        GRID_EACH_SHAPED (family)
            for (int k = 0; k < 6; k++) {
                const int in_range = k < (precision == VEM_SINGLE ? 2 : 4);
                grid_data data =
                    grid_data_new(SET_SEPARATED, WEIGHTS_NONE, ROWS, COLUMNS, 5);
                grid_data more = uniform(2 * ROWS, COLUMNS, places[k], 6);
                more.weights = grid_zeros(more.n, sizeof(double));
                for (int64_t i = 0; i < ROWS; i++) {
                    memcpy(more.x + (2 * i + 1) * COLUMNS, data.x + i * COLUMNS,
                           COLUMNS * sizeof(double));
                    more.weights[2 * i + 1] = 1;
                }
                vem_options o = grid_options(3, family, VEM_PRIOR_FREE, family ? 3 : 1,
                                             (vem_precision)precision, 10);
                if (!in_range) {
                    assert_refused(&more, (vem_precision)precision, family,
                                   "row of weight 0");
                    grid_data_free(&data);
                    grid_data_free(&more);
                    continue;
                }
                vem_model *start = grid_start(ctx, &data, family, 3);
                grid_fit with = grid_run(ctx, &more, &o, start);
                grid_fit without = grid_run(ctx, &data, &o, start);
                grid_assert_models(with.model, without.model,
                                   precision == VEM_SINGLE ? 1e-4 : 1e-9,
                                   "rows of weight 0");
                for (int64_t i = 0; i < more.n; i++)
                    assert_in_range(with.labels[i], 0, 2);
                grid_fit_free(&with);
                grid_fit_free(&without);
                vem_model_free(start);
                grid_data_free(&data);
                grid_data_free(&more);
            }
}

/* Of the rows that are there all are one point; the others must not say it is too small. */
static void absent_and_equal(void **state)
{
    (void)state;
    grid_data data = uniform(40, 2, 1, 8);
    data.weights = grid_zeros(data.n, sizeof(double));
    for (int64_t i = 0; i < 20; i++) {
        data.weights[i] = 1;
        memcpy(data.x + 2 * i, data.x, 2 * sizeof(double));
    }
    const vem_options o =
        grid_options(1, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 5);
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_true(vem_model_means(fit.model)[0] == data.x[0]);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

static void never_written(void **state)
{
    (void)state;
    for (int what = 0; what < 3; what++) {
        grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 50, 2, 9);
        vem_model *model = grid_start(ctx, &data, VEM_DIAG, 3);
        double *values[] = {model->means, model->weights, model->variances};
        values[what][1] = what == 1 ? NAN : INFINITY;
        char path[64];
        snprintf(path, sizeof path, "/tmp/vem-test-finite-%ld.npz", (long)getpid());
        assert_int_equal(vem_model_write(ctx, model, path), VEM_BAD_DATA);
        assert_non_null(strstr(vem_ctx_message(ctx), "of no use"));
        assert_int_not_equal(access(path, F_OK), 0);
        /* Nor is one of a path, beside a model that is right. */
        vem_model *right = grid_start(ctx, &data, VEM_DIAG, 4);
        vem_path *mixtures = NULL;
        assert_int_equal(vem_i_path_new(run_of(ctx), 2, &mixtures), VEM_OK);
        assert_int_equal(vem_i_path_add(run_of(ctx), mixtures, model, -1, 1), VEM_OK);
        assert_int_equal(vem_i_path_add(run_of(ctx), mixtures, right, -1, 1), VEM_OK);
        assert_int_equal(vem_path_write(ctx, mixtures, right, path), VEM_BAD_DATA);
        assert_non_null(strstr(vem_ctx_message(ctx), "of no use"));
        assert_int_not_equal(access(path, F_OK), 0);
        vem_path_free(mixtures);
        vem_model_free(right);
        vem_model_free(model);
        grid_data_free(&data);
    }
}

/* Duplicates, rounded values and equal columns: covariances that are singular. */
static grid_data singular(int kind, uint64_t seed)
{
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, 60 + 40 * (int64_t)(seed % 5),
                                   3 + (int32_t)(seed % 5), seed);
    for (int64_t i = 0; i < data.n; i++)
        for (int32_t j = 0; j < data.d; j++) {
            double *x = data.x + i * data.d + j;
            *x *= pow(10, j % 3);
            if (kind == 0)
                *x = round(*x);
            else if (kind == 1 && j == data.d - 1)
                *x = x[1 - data.d];
            else if (kind == 2 && i >= data.n / 4)
                *x = data.x[i % (data.n / 4) * data.d + j];
        }
    return data;
}

static void low_floor(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed<40; seed += (uint64_t)grid_stride()> 1 ? 7 : 1)
        for (int kind = 0; kind < 3; kind++)
            for (int precision = 0; precision < 2; precision++) {
                const vem_family_kind family = seed % 4 ? VEM_FULL : VEM_DIAG;
                const double share = precision == VEM_SINGLE ? 1e-6 : 1e-9;
                grid_data data = singular(kind, seed);
                vem_options o = grid_options(4, family, VEM_PRIOR_FREE, 4,
                                             (vem_precision)precision, 40);
                o.floor = 1e-12;
                grid_fit fit = grid_run(ctx, &data, &o, NULL);
                for (int64_t t = 1; t < fit.trace_count; t++) {
                    const double before = fit.trace[t - 1].free_energy,
                                 now = fit.trace[t].free_energy;
                    if (!(now >= before - share * fabs(before)))
                        fail_msg(
                            "seed %d, kind %d, family %d, precision %d: F falls from "
                            "%.12g to %.12g in step %d",
                            (int)seed, kind, (int)family, precision, before, now,
                            (int)t + 1);
                }
                grid_fit_free(&fit);
                grid_data_free(&data);
            }
}

/* Whatever the floor, the F that a fit tells is that of the model it gives. */
static void low_floor_agrees(void **state)
{
    (void)state;
    const double floors[] = {1e-300, 1e-30, 1e-16, 1e-12};
    for (vem_family_kind family = VEM_ISO_SHARED; family <= VEM_DIAG; family++)
        for (int precision = 0; precision < 2; precision++)
            for (int k = 0; k < 4; k++) {
                grid_data data = uniform(200, 8, 1.5, 3);
                for (int64_t i = 0; i < data.n * data.d; i++)
                    data.x[i] = 0.1 * round(data.x[i]);
                vem_options o;
                vem_options_init(&o);
                o.clusters = 40;
                o.family = family;
                o.prior = VEM_PRIOR_FREE;
                o.precision = precision;
                o.floor = floors[k];
                grid_fit fit = grid_run(ctx, &data, &o, NULL);
                const vem_scores s =
                    grid_score(ctx, fit.model, &data, 40, (vem_precision)precision);
                grid_assert_near(s.free_energy, fit.summary->free_energy,
                                 precision == VEM_SINGLE ? 1e-4 : 1e-8,
                                 "F of a small floor");
                grid_fit_free(&fit);
                grid_data_free(&data);
            }
}

/* Sentences are in the units of the data, whatever the columns are divided by to compute. */
static void values_are_told_as_given(void **state)
{
    (void)state;
    grid_data data = uniform(30, 2, 1e-12, 4);
    const vem_options o =
        grid_options(1, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_SINGLE, 5);
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    data.x[7] = 1e10;
    vem_data *rows = grid_borrow(ctx, &data);
    int32_t labels[30];
    assert_int_equal(vem_assign(ctx, fit.model, rows, 1, VEM_SINGLE, labels, NULL),
                     VEM_BAD_DATA);
    const char *said = vem_ctx_message(ctx);
    if (!strstr(said, "Row 4, column 2 is 1e+10 and lies 1e+10 from the mean, "))
        fail_msg("\"%s\"", said);
    vem_data_free(rows);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(heavy),
        cmocka_unit_test(heavy_by_itself),
        cmocka_unit_test(absent),
        cmocka_unit_test(absent_and_equal),
        cmocka_unit_test(never_written),
        cmocka_unit_test(low_floor),
        cmocka_unit_test(low_floor_agrees),
        cmocka_unit_test(values_are_told_as_given),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
