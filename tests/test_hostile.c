/* Input that is wrong, degenerate or extreme, and a caller who stops: each gets the right
 * answer or a sentence that says what and where, and nothing is half given. */
#include "grid.h"

#include "context.h"

static vem_options ask(int64_t clusters, vem_precision precision)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = clusters;
    o.precision = precision;
    return o;
}

/* The fit fails with this status and these words in its message. */
static void refused(const grid_data *data, const vem_options *o, const vem_model *start,
                    vem_status expected, const char *words)
{
    grid_fit fit;
    vem_status status = grid_try(ctx, data, o, start, &fit);
    if (status != expected)
        fail_msg("%s instead of %s (\"%s\")", vem_status_name(status),
                 vem_status_name(expected), vem_ctx_message(ctx));
    const char *message = vem_ctx_message(ctx);
    if (!strstr(message, words))
        fail_msg("\"%s\" does not say \"%s\"", message, words);
    assert_int_equal(message[strlen(message) - 1], '.'); /* a sentence */
}

/* ---- Values ---- */

static void not_a_number(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    const int64_t places[][2] = {{0, 0}, {17, 2}, {99, 4}};
    for (int b = 0; b < 3; b++)
        for (int p = 0; p < 3; p++)
            for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
                grid_data data =
                    grid_data_new(SET_OVERLAPPING, WEIGHTS_ZEROS, 100, 5, 91);
                char words[64];
                snprintf(words, sizeof words, "Row %d, column %d is %s",
                         (int)places[p][0] + 1, (int)places[p][1] + 1,
                         isnan(bad[b]) ? "NaN" : "infinite");
                data.x[places[p][0] * 5 + places[p][1]] = bad[b];
                vem_options o = ask(3, (vem_precision)precision);
                refused(&data, &o, NULL, VEM_BAD_DATA, words);
                o.standardize = 1;
                refused(&data, &o, NULL, VEM_BAD_DATA, words);
                o.normalize = 1;
                refused(&data, &o, NULL, VEM_BAD_DATA, words);
                grid_data_free(&data);
            }
}

/* The first bad value is named, whatever the threads. */
static void first_of_many(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 200000, 1, 92);
    for (int64_t i = 123456; i < data.n; i += 7)
        data.x[i] = NAN;
    vem_options o = ask(3, VEM_DOUBLE);
    for (o.threads = 1; o.threads <= 4; o.threads++)
        refused(&data, &o, NULL, VEM_BAD_DATA, "Row 123457, column 1");
    grid_data_free(&data);
}

static void too_large_and_too_small(void **state)
{
    (void)state;
    const struct {
        double factor;
        vem_precision precision;
        const char *words; /* NULL: fine */
    } cases[] = {
        {1e16, VEM_SINGLE, NULL},        {1e19, VEM_SINGLE, "overflow"},
        {1e300, VEM_SINGLE, "overflow"}, {1e19, VEM_DOUBLE, NULL},
        {1e150, VEM_DOUBLE, NULL},       {1e154, VEM_DOUBLE, "overflow"},
        {1e300, VEM_DOUBLE, "overflow"}, {1e-14, VEM_SINGLE, NULL},
        {1e-20, VEM_SINGLE, NULL},       {1e-45, VEM_SINGLE, NULL},
        {1e-20, VEM_DOUBLE, NULL},       {1e-140, VEM_DOUBLE, NULL},
        {1e-160, VEM_DOUBLE, "vanish"},  {1e-310, VEM_DOUBLE, "vanish"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        GRID_EACH_SHAPED (family) {
            grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_REAL, 100, 3, 93);
            for (int64_t v = 0; v < 300; v++)
                data.x[v] *= cases[k].factor;
            vem_options o = ask(3, cases[k].precision);
            o.family = family;
            /* Columns with a variance each are divided by their deviation first. */
            const int divided = vem_family_axes(family) > 0;
            const int fits =
                divided && cases[k].factor > 1e-140 && cases[k].factor < 1e150;
            if (cases[k].words && !fits) {
                refused(&data, &o, NULL, VEM_BAD_DATA, cases[k].words);
                if (cases[k].precision == VEM_SINGLE)
                    assert_non_null(strstr(vem_ctx_message(ctx), "double"));
            } else {
                grid_fit fit = grid_run(ctx, &data, &o, NULL);
                assert_true(isfinite(fit.summary->free_energy));
                for (int64_t t = 1; t < fit.trace_count; t++)
                    assert_true(fit.trace[t].free_energy >=
                                fit.trace[t - 1].free_energy - 1e-4);
                grid_fit_free(&fit);
            }
            grid_data_free(&data);
        }
}

/* How far the row lies that is too far, from the mean of all: 1e160 of ten rows, nine of them 0. */
static void how_far(void **state)
{
    (void)state;
    double x[10] = {[6] = 1e160};
    grid_data data = {.n = 10, .d = 1, .x = x};
    vem_options o = ask(2, VEM_DOUBLE);
    o.family = VEM_ISO;
    refused(&data, &o, NULL, VEM_BAD_DATA, "9e+159");
    /* The column is named in which it lies farthest from the mean, not from 0. */
    double two[20];
    for (int i = 0; i < 10; i++) {
        two[2 * i] = i == 6 ? 1e160 : 0;
        two[2 * i + 1] = i == 6 ? 0 : 1.05e160;
    }
    data = (grid_data){.n = 10, .d = 2, .x = two};
    refused(&data, &o, NULL, VEM_BAD_DATA, "ow 7, column 2");
}

/* One row outweighs all others: the sentence names its weight, and one no greater than it says is
 * taken. */
static void too_heavy(void **state)
{
    (void)state;
    const struct {
        double weight;
        vem_precision precision;
    } cases[] = {{1e300, VEM_SINGLE},
                 {1e300, VEM_DOUBLE},
                 {1e200, VEM_SINGLE},
                 {1e38, VEM_SINGLE}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int family = VEM_ISO_SHARED; family <= VEM_ISO; family++) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 100, 2, 97);
            char words[64];
            vem_options o = ask(3, cases[k].precision);
            o.family = family;
            data.weights[41] = cases[k].weight;
            snprintf(words, sizeof words, "Row 42 has a weight of %.3g", cases[k].weight);
            refused(&data, &o, NULL, VEM_BAD_DATA, words);
            const char *bound = strstr(vem_ctx_message(ctx), "no more than ");
            assert_non_null(bound);
            data.weights[41] = strtod(bound + strlen("no more than "), NULL);
            assert_true(data.weights[41] > 1e6);
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
}

/* Opposite ends of the range of doubles: differences overflow before any square does. */
static void ends_of_the_range(void **state)
{
    (void)state;
    double x[] = {-1.7e308, 1.7e308, 0, 1};
    grid_data data = {.n = 4, .d = 1, .x = x};
    vem_options o = ask(2, VEM_DOUBLE);
    refused(&data, &o, NULL, VEM_BAD_DATA, "overflow");
    o.standardize = 1;
    refused(&data, &o, NULL, VEM_BAD_DATA, "overflow");
}

/* An offset of 1e8 beside a spread of 1: nine digits of a double's sixteen are left, and
 * the fit is that of the data moved back. */
static void large_offset(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
            grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 300, 3, 94);
            vem_options o = ask(4, (vem_precision)precision);
            o.family = family;
            o.max_steps = 10;
            grid_fit plain = grid_run(ctx, &data, &o, NULL);
            for (int64_t v = 0; v < 900; v++)
                data.x[v] += 1e8;
            grid_fit moved = grid_run(ctx, &data, &o, NULL);
            grid_assert_near(moved.summary->free_energy, plain.summary->free_energy, 1e-4,
                             "offset of 1e8");
            assert_memory_equal(moved.labels, plain.labels, 300 * sizeof(int32_t));
            vem_scores s =
                grid_score(ctx, moved.model, &data, 0, (vem_precision)precision);
            assert_true(s.log_likelihood >= moved.summary->free_energy - 1e-4);
            grid_fit_free(&plain);
            grid_fit_free(&moved);
            grid_data_free(&data);
        }
}

static void constant_column(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int standard = 0; standard <= 1; standard++) {
            grid_data data = grid_data_new(SET_CONSTANT, WEIGHTS_REAL, 100, 3, 95);
            vem_options o = ask(3, VEM_DOUBLE);
            o.family = family;
            o.standardize = standard;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_true(isfinite(fit.summary->free_energy));
            for (int32_t c = 0; c < 3; c++)
                grid_assert_near(vem_model_means(fit.model)[c * 3 + 2], 3.25, 1e-12,
                                 "mean of the constant column");
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
}

/* ---- Shapes ---- */

static void too_few_rows(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 9, 2, 96);
    vem_options o = ask(10, VEM_DOUBLE);
    refused(&data, &o, NULL, VEM_BAD_DATA, "9 rows, 10 clusters");
    o.clusters = 2147483000;
    refused(&data, &o, NULL, VEM_BAD_DATA, "9 rows, 2147483000 clusters");
    o.clusters = 9; /* as many as rows is allowed */
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    grid_fit_free(&fit);
    data.weights =
        grid_zeros(9, sizeof(double)); /* rows that weigh nothing do not count */
    data.weights[3] = data.weights[7] = 1;
    o.clusters = 3;
    refused(&data, &o, NULL, VEM_BAD_DATA, "2 rows, 3 clusters");
    o.clusters = 2;
    for (o.seeding = 0; o.seeding <= VEM_SEED_TWO_LEVEL; o.seeding++) {
        fit = grid_run(ctx, &data, &o, NULL);
        grid_fit_free(&fit);
    }
    grid_data_free(&data);
}

static void too_few_distinct_rows(void **state)
{
    (void)state;
    grid_data data = {.n = 1000, .d = 2, .x = grid_zeros(2000, sizeof(double))};
    for (int64_t i = 0; i < 1000; i++)
        data.x[2 * i] = (double)(i % 4);
    data.x[0] = -0.0; /* the same value as 0 */
    vem_options o = ask(5, VEM_DOUBLE);
    refused(&data, &o, NULL, VEM_BAD_DATA, "4 distinct rows, 5 clusters");
    for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_TWO_LEVEL; seeding++) {
        o = ask(4, VEM_DOUBLE);
        o.seeding = seeding;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_true(isfinite(fit.summary->free_energy));
        grid_fit_free(&fit);
    }
    memset(data.x, 0, 2000 * sizeof *data.x); /* all rows equal */
    o = ask(2, VEM_DOUBLE);
    refused(&data, &o, NULL, VEM_BAD_DATA, "1 distinct row, 2 clusters");
    grid_data_free(&data);
}

static void one_row_one_column(void **state)
{
    (void)state;
    double x[] = {42.5};
    grid_data data = {.n = 1, .d = 1, .x = x};
    GRID_EACH_SHAPED (family)
        for (int algorithm = -1; algorithm <= VEM_ALGORITHM_GMM; algorithm++) {
            vem_options o = ask(1, VEM_DOUBLE);
            o.family = family;
            o.algorithm = algorithm;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_true(vem_model_means(fit.model)[0] == 42.5);
            assert_int_equal(fit.labels[0], 0);
            grid_fit_free(&fit);
        }
}

static void weights(void **state)
{
    (void)state;
    double x[] = {1, 2, 3, 4};
    vem_data *rows = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, 4, 1, 0, 0, &rows), VEM_OK);
    const struct {
        double w[4];
        int64_t n;
        const char *words;
    } cases[] = {{{1, 1, -1e-9, 1}, 4, "row 3"},
                 {{1, NAN, 1, 1}, 4, "row 2"},
                 {{1, 1, 1, INFINITY}, 4, "row 4"},
                 {{0, 0, 0, 0}, 4, "sum to 0"},
                 {{1, 1, 1, 1}, 3, "3 weights"},
                 {{1e308, 1e308, 1, 1}, 4, "sum to inf"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(vem_data_set_weights(ctx, rows, cases[k].w, cases[k].n),
                         VEM_BAD_DATA);
        if (!strstr(vem_ctx_message(ctx), cases[k].words))
            fail_msg("\"%s\" does not say \"%s\"", vem_ctx_message(ctx), cases[k].words);
        assert_null(vem_data_weights(rows));
    }
    vem_data_free(rows);
}

/* ---- Models ---- */

static void wrong_starts(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 100, 3, 97);
    grid_data other = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 100, 4, 97);
    vem_model *start = grid_start(ctx, &other, VEM_ISO, 3);
    vem_options o = ask(3, VEM_DOUBLE);
    refused(&data, &o, start, VEM_BAD_DATA, "4 columns, but the data have 3");
    vem_model_free(start);
    start = grid_start(ctx, &data, VEM_DIAG, 3);
    o.clusters = 4;
    refused(&data, &o, start, VEM_BAD_OPTION, "--clusters is 4");
    o.clusters = 3;
    o.family = VEM_ISO;
    refused(&data, &o, start, VEM_BAD_OPTION, "diag");
    o.family = VEM_AUTO;
    o.algorithm = VEM_ALGORITHM_KMEANS;
    refused(&data, &o, start, VEM_BAD_OPTION, "diag");
    vem_model_free(start);
    grid_data_free(&data);
    grid_data_free(&other);
}

static void wrong_models(void **state)
{
    (void)state;
    double means[] = {0, 1, 2, 3}, weights_[] = {0.5, 0.5}, one = 1,
           v[] = {1, 2, 2, 1, 1, 0, 0, 1};
    vem_model *model = NULL;
    means[2] = NAN;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 2, 2, means, NULL, &one, &model),
                     VEM_BAD_DATA);
    means[2] = 2;
    one = 0;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 2, 2, means, NULL, &one, &model),
                     VEM_BAD_DATA);
    one = 1;
    weights_[0] = 0.7;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 2, 2, means, weights_, &one,
                                   &model),
                     VEM_BAD_DATA);
    /* An indefinite matrix that no single element betrays: clamped, or used in part, but
     * never a crash or a number that is none. */
    assert_null(model);
    if (vem_model_new(ctx, VEM_FULL, 2, 2, means, NULL, v, &model) == VEM_OK) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 50, 2, 98);
        vem_options o = ask(2, VEM_DOUBLE);
        o.family = VEM_FULL;
        grid_fit fit = grid_run(ctx, &data, &o, model);
        assert_true(isfinite(fit.summary->free_energy));
        assert_true(
            isfinite(grid_score(ctx, model, &data, 0, VEM_DOUBLE).log_likelihood));
        grid_fit_free(&fit);
        grid_data_free(&data);
        vem_model_free(model);
    }
}

static void wrong_uses(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 20, 3, 99);
    vem_model *model = grid_start(ctx, &data, VEM_ISO, 3);
    vem_data *rows = NULL;
    int32_t labels[60];
    vem_scores scores = {.size = sizeof scores};
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data.x, 20, 3, 0, 0, &rows),
                     VEM_OK);
    for (int32_t top = -1; top <= 4; top++)
        assert_int_equal(vem_assign(ctx, model, rows, top, VEM_DOUBLE, labels, NULL),
                         top >= 1 && top <= 3 ? VEM_OK : VEM_BAD_OPTION);
    for (int32_t held = -1; held <= 4; held++)
        assert_int_equal(vem_score(ctx, model, rows, held, VEM_DOUBLE, &scores),
                         held >= 0 && held <= 3 ? VEM_OK : VEM_BAD_OPTION);
    vem_data_free(rows);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data.x, 30, 2, 0, 0, &rows),
                     VEM_OK);
    assert_int_equal(vem_assign(ctx, model, rows, 1, VEM_DOUBLE, labels, NULL),
                     VEM_BAD_DATA);
    assert_int_equal(vem_score(ctx, model, rows, 0, VEM_DOUBLE, &scores), VEM_BAD_DATA);
    vem_data_free(rows);
    vem_model_free(model);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(first_of_many),
        cmocka_unit_test(too_large_and_too_small),
        cmocka_unit_test(ends_of_the_range),
        cmocka_unit_test(how_far),
        cmocka_unit_test(too_heavy),
        cmocka_unit_test(large_offset),
        cmocka_unit_test(constant_column),
        cmocka_unit_test(too_few_rows),
        cmocka_unit_test(too_few_distinct_rows),
        cmocka_unit_test(one_row_one_column),
        cmocka_unit_test(weights),
        cmocka_unit_test(wrong_starts),
        cmocka_unit_test(wrong_models),
        cmocka_unit_test(wrong_uses),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
