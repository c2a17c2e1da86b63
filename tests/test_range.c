/* Models and rows whose costs are no numbers of the compute type: either a sentence, or
 * labels that are clusters. Never a label of -1, never a place outside an array. */
#include "grid.h"
#include "run.h"

#include <string.h>

#include "context.h"
#include "model/family.h"
#include "search/tour.h"

enum { MANY = 4000, ROWS = 2100 };

typedef struct scene {
    vem_model *model;
    vem_data *rows;
    int64_t n;
    int32_t clusters, d;
} scene;

static void scene_free(scene *s)
{
    vem_model_free(s->model);
    vem_data_free(s->rows);
}

static void check_labels(const scene *s, const int32_t *labels, vem_status status)
{
    if (status != VEM_OK) {
        assert_int_equal(status, VEM_BAD_DATA);
        assert_non_null(strstr(vem_ctx_message(ctx), "overflow"));
        return;
    }
    for (int64_t i = 0; i < s->n; i++)
        assert_in_range(labels[i], 0, s->clusters - 1);
}

/* Everything that meets rows with a given model. Returns the status, the same of all. */
static vem_status meet(const scene *s, vem_precision precision, int finite)
{
    int32_t *labels = malloc((size_t)s->n * sizeof *labels);
    double *sure = malloc((size_t)s->n * sizeof *sure);
    vem_status status = vem_assign(ctx, s->model, s->rows, 1, precision, labels, NULL);
    check_labels(s, labels, status);
    assert_int_equal(vem_assign(ctx, s->model, s->rows, 1, precision, labels, sure),
                     status);
    check_labels(s, labels, status);
    for (int how = VEM_ASSIGN_AUTO; how <= VEM_ASSIGN_GUIDED; how++) {
        vem_assign_options options = {.size = sizeof options,
                                      .search = (vem_assign_search)how,
                                      .precision = precision};
        memset(labels, -1, (size_t)s->n * sizeof *labels);
        assert_int_equal(vem_assign_guided(ctx, s->model, s->rows, &options, labels, NULL,
                                           NULL),
                         status);
        check_labels(s, labels, status);
    }
    vem_scores scores = {.size = sizeof scores};
    assert_int_equal(vem_score(ctx, s->model, s->rows, 0, precision, &scores), status);
    if (status == VEM_OK && finite)
        assert_true(isfinite(scores.log_likelihood));
    vem_options options;
    vem_options_init(&options);
    options.precision = (int)precision;
    options.max_steps = 2;
    vem_stats *stats = NULL;
    /* Statistics are kept in the units of the data, where sums may overflow although costs,
     * in units of the columns, do not: that has a sentence of its own. */
    vem_status part = vem_accumulate(ctx, s->model, s->rows, &options, &stats);
    if (part != status) {
        assert_int_equal(part, VEM_BAD_DATA);
        assert_non_null(
            strstr(vem_ctx_message(ctx), "sums of squares of the rows overflow"));
    }
    vem_stats_free(stats);
    vem_model *fitted = NULL;
    vem_report *report = NULL;
    if (s->n >= s->clusters) {
        vem_status fit = vem_fit(ctx, s->rows, &options, s->model, &fitted, &report);
        if (fit == VEM_OK) {
            const int32_t *found = vem_report_labels(report);
            for (int64_t i = 0; found && i < s->n; i++)
                assert_in_range(found[i], 0, s->clusters - 1);
        } else {
            assert_int_equal(fit, VEM_BAD_DATA);
        }
        vem_model_free(fitted);
        vem_report_free(report);
    }
    free(labels);
    free(sure);
    return status;
}

/* MANY clusters, one of them far away and nearly without weight. */
static scene far_mean(double mean, double weight, int32_t d)
{
    scene s = {.n = ROWS, .clusters = MANY, .d = d};
    double *means = malloc((size_t)MANY * (size_t)d * sizeof *means);
    double *weights = malloc(MANY * sizeof *weights), variance = 1;
    float *rows = malloc((size_t)ROWS * (size_t)d * sizeof *rows);
    vem_i_rng rng = vem_i_rng_at(3, VEM_RNG_TEST, 0, 0);
    for (int64_t i = 0; i < (int64_t)MANY * d; i++)
        means[i] = vem_i_rng_normal(&rng);
    for (int32_t c = 0; c < MANY; c++)
        weights[c] = c == 17 ? weight : (1 - weight) / (MANY - 1);
    for (int32_t j = 0; j < d; j++)
        means[(int64_t)17 * d + j] = mean;
    for (int64_t i = 0; i < (int64_t)ROWS * d; i++)
        rows[i] = (float)vem_i_rng_normal(&rng);
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, MANY, d, means, weights,
                                   &variance, &s.model),
                     VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, rows, ROWS, d, 0, 0, &s.rows),
                     VEM_OK);
    static float *kept; /* borrowed by the data until the next scene */
    free(kept);
    kept = rows;
    free(means);
    free(weights);
    return s;
}

static void far_means(void **state)
{
    (void)state;
    const int32_t dimensions[] = {2, 20}; /* direct differences, and the dot form */
    for (int k = 0; k < 2; k++) {
        scene s = far_mean(1e39, 1e-40, dimensions[k]);
        assert_int_equal(meet(&s, VEM_SINGLE, 1), VEM_BAD_DATA);
        assert_int_equal(meet(&s, VEM_DOUBLE, 1), VEM_OK);
        scene_free(&s);
        s = far_mean(1e160, 1e-300, dimensions[k]);
        assert_int_equal(meet(&s, VEM_DOUBLE, 1), VEM_BAD_DATA);
        scene_free(&s);
        s = far_mean(1e17, 1e-40, dimensions[k]);
        assert_int_equal(meet(&s, VEM_SINGLE, 1), VEM_OK);
        scene_free(&s);
    }
}

/* Two columns, any family; rows as given. */
static scene few(vem_family_kind family, int32_t clusters, const double *means,
                 const double *variances, const double *rows, int64_t n)
{
    scene s = {.n = n, .clusters = clusters, .d = 2};
    if (vem_model_new(ctx, family, clusters, 2, means, NULL, variances, &s.model))
        fail_msg("%s", vem_ctx_message(ctx));
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, rows, n, 2, 0, 0, &s.rows),
                     VEM_OK);
    return s;
}

/* The diagonal of a covariance does not say how thin a cluster is. */
static void thin_clusters(void **state)
{
    (void)state;
    const double r = 1 - 1e-13, means[] = {0, 0, 1, 1};
    const double thin[] = {1, r, r, 1, 1, r, r, 1};
    const double rows[] = {5e15, -5e15, 0, 0, 1, 1, 2, 2};
    scene s = few(VEM_FULL, 2, means, thin, rows, 4);
    assert_int_equal(meet(&s, VEM_SINGLE, 1), VEM_BAD_DATA);
    assert_int_equal(meet(&s, VEM_DOUBLE, 1), VEM_OK);
    scene_free(&s);
    s = few(VEM_FULL, 2, means, thin, rows + 2, 3);
    assert_int_equal(meet(&s, VEM_SINGLE, 1), VEM_OK);
    scene_free(&s);
}

/* The same with buckets: many clusters of that shape. */
static void thin_and_many(void **state)
{
    (void)state;
    const double r = 1 - 1e-13;
    double *means = malloc(2 * MANY * sizeof *means);
    double *variances = malloc(4 * MANY * sizeof *variances);
    double rows[2 * 300];
    for (int i = 0; i < 2 * MANY; i++)
        means[i] = i / 2;
    for (int i = 0; i < 4 * MANY; i++)
        variances[i] = i % 4 == 0 || i % 4 == 3 ? 1 : r;
    for (int i = 0; i < 2 * 300; i++)
        rows[i] = i < 2 ? (i ? -5e15 : 5e15) : i / 2;
    scene s = few(VEM_FULL, MANY, means, variances, rows, 300);
    assert_int_equal(meet(&s, VEM_SINGLE, 1), VEM_BAD_DATA);
    assert_int_equal(meet(&s, VEM_DOUBLE, 1), VEM_OK);
    scene_free(&s);
    s = few(VEM_FULL, MANY, means, variances, rows + 2, 299);
    assert_int_equal(meet(&s, VEM_SINGLE, 1), VEM_OK);
    scene_free(&s);
    free(means);
    free(variances);
}

/* Every order of magnitude of means, variances and rows, in every family. */
static void all_magnitudes(void **state)
{
    (void)state;
    static const double sizes[] = {1e-300, 1e-160, 1e-40, 1e-20, 1,
                                   1e10,   1e18,   1e39,  1e160, 1e300};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    GRID_EACH_SHAPED (f)
        for (int k = 0; k<SIZES * SIZES * SIZES; k += grid_stride()> 1 ? 37 : 1) {
            double at = sizes[k % SIZES], spread = sizes[k / SIZES % SIZES];
            double row = sizes[k / SIZES / SIZES];
            const double means[] = {0, 0, at, -at, 1, 2};
            double variances[3 * 4] = {0};
            for (int i = 0; i < 12; i++)
                variances[i] = vem_i_family_of(f)->shape_axes < 2 ? (i % 2 ? spread : 1)
                               : i % 4 == 0                       ? 1
                               : i % 4 == 3 && i > 3              ? fmin(spread, 1e150)
                               : i % 4 == 3                       ? 1
                                                                  : 0;
            const double rows[] = {0, 0, row, row, -row, 1, 1, 2, at / 3, row};
            scene s = few((vem_family_kind)f, 3, means, variances, rows, 5);
            meet(&s, VEM_SINGLE, 1);
            meet(&s, VEM_DOUBLE, 1);
            scene_free(&s);
        }
}

/* Items are numbered by 32 bits where their order is kept: more are refused before the
 * memory for them is asked for. */
static void too_many_rows(void **state)
{
    (void)state;
    vem_i_tour tour = {0};
    assert_int_equal(vem_i_tour_new(run_of(ctx), (int64_t)UINT32_MAX + 1, 2, &tour),
                     VEM_UNSUPPORTED);
    assert_non_null(strstr(vem_ctx_message(ctx), "4294967296"));
}

/* A precision that is none is refused by every verb that takes one. */
static void no_precision(void **state)
{
    (void)state;
    const double means[] = {0, 0, 5, 5}, variance = 1, rows[] = {0, 1, 5, 4};
    scene s = few(VEM_ISO_SHARED, 2, means, &variance, rows, 2);
    int32_t labels[2];
    double all[4];
    vem_scores scores = {.size = sizeof scores};
    const vem_precision none = (vem_precision)9;
    vem_assign_options how = {.size = sizeof how, .precision = none};
    const vem_status found[] = {vem_assign(ctx, s.model, s.rows, 1, none, labels, NULL),
                                vem_posterior(ctx, s.model, s.rows, none, all),
                                vem_score(ctx, s.model, s.rows, 0, none, &scores),
                                vem_assign_guided(ctx, s.model, s.rows, &how, labels,
                                                  NULL, NULL)};
    for (size_t k = 0; k < sizeof found / sizeof *found; k++)
        assert_int_equal(found[k], VEM_BAD_OPTION);
    scene_free(&s);
}

/* Models at the ends of the range of doubles: what is drawn and described is finite, or there is
 * a sentence about the model. */
static void ends_of_doubles(void **state)
{
    (void)state;
    static const struct {
        double mean, variance, scale;
        int drawn, described;
    } cases[] = {{1e308, 1, 0, 1, 0}, {1.7e308, 1e308, 0, 1, 0}, {0, 1, 1e-300, 1, 0},
                 {0, 1, 1e300, 1, 0}, {1e300, 1e300, 0, 1, 0},   {0, 1e308, 1e300, 0, 0},
                 {3, 2, 0, 1, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const double m = cases[k].mean, means[] = {m, m, -m, -m}, rows[] = {0, 0};
        scene s = few(VEM_ISO_SHARED, 2, means, &cases[k].variance, rows, 1);
        const double scale[] = {cases[k].scale, cases[k].scale};
        if (*scale > 0)
            assert_int_equal(vem_model_set_scale(ctx, s.model, scale), VEM_OK);
        double drawn[40];
        const vem_status status = vem_sample(ctx, s.model, 1, 0, 20, drawn, NULL);
        assert_int_equal(status, cases[k].drawn ? VEM_OK : VEM_BAD_DATA);
        int varies = 0;
        for (int i = 0; status == VEM_OK && i < 40; i++) {
            assert_true(isfinite(drawn[i]));
            varies |= drawn[i] != drawn[0];
        }
        assert_true(status != VEM_OK || varies);
        vem_cluster clusters[2] = {{.size = sizeof *clusters}};
        vem_description about = {.size = sizeof about};
        const vem_status told =
            vem_describe(ctx, s.model, NULL, VEM_DOUBLE, clusters, &about);
        assert_int_equal(told, cases[k].described ? VEM_OK : VEM_BAD_DATA);
        if (told != VEM_OK)
            assert_non_null(strstr(vem_ctx_message(ctx), "Column 1 of the model"));
        scene_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_precision),  cmocka_unit_test(ends_of_doubles),
        cmocka_unit_test(far_means),     cmocka_unit_test(thin_clusters),
        cmocka_unit_test(thin_and_many), cmocka_unit_test(all_magnitudes),
        cmocka_unit_test(too_many_rows),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
