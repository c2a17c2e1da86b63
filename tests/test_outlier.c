/* One row far away. In single precision the others keep their digits, whatever the verb: a
 * few clusters or rows do not move the origin, and labels and errors are the true ones. */
#include "grid.h"

#include "context.h"

typedef struct scene {
    int64_t n;
    int32_t d, clusters;
    float *x;
    vem_data *rows;
} scene;

static scene scene_new(int64_t n, int32_t d, int32_t clusters, float far)
{
    scene s = {.n = n, .d = d, .clusters = clusters};
    double *centers = malloc((size_t)clusters * (size_t)d * sizeof *centers);
    s.x = malloc((size_t)n * (size_t)d * sizeof *s.x);
    vem_i_rng rng = vem_i_rng_at(5, VEM_RNG_TEST, 0, (uint64_t)d);
    for (int64_t i = 0; i < (int64_t)clusters * d; i++)
        centers[i] = 3 * vem_i_rng_normal(&rng);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            s.x[i * d + j] =
                (float)(centers[i % clusters * d + j] + vem_i_rng_normal(&rng));
    for (int64_t j = 0; j < d; j++)
        s.x[7 * d + j] = far;
    free(centers);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, s.x, n, d, 0, 0, &s.rows), VEM_OK);
    return s;
}

static void scene_free(scene *s)
{
    vem_data_free(s->rows);
    free(s->x);
}

static double square(const scene *s, int64_t row, const double *mean)
{
    double sum = 0;
    for (int64_t j = 0; j < s->d; j++) {
        double e = (double)s->x[row * s->d + j] - mean[j];
        sum += e * e;
    }
    return sum;
}

/* The least squared distances, summed over all rows but the far one, whose own digits are
 * too few to count; every label must be nearest but for rounding of the rows. */
static double check(const scene *s, const vem_model *model, const int32_t *labels,
                    const char *what)
{
    const double *means = vem_model_means(model);
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double least = INFINITY, own;
        for (int32_t c = 0; c < vem_model_clusters(model); c++)
            least = fmin(least, square(s, i, means + (int64_t)c * s->d));
        own = square(s, i, means + (int64_t)labels[i] * s->d);
        if (i != 7 && own > least * (1 + 1e-5))
            fail_msg("row %d has a label at %.9g, the nearest lies at %.9g (%s)", (int)i,
                     own, least, what);
        sum += i == 7 ? 0 : least;
    }
    return sum;
}

/* Means near rows of the data and one on the far row; flat weights. */
static vem_model *model_with(const scene *s, double variance)
{
    double *means = malloc((size_t)s->clusters * (size_t)s->d * sizeof *means);
    for (int64_t c = 0; c < s->clusters; c++)
        for (int64_t j = 0; j < s->d; j++)
            means[c * s->d + j] = (double)s->x[(7 + c) * s->d + j];
    vem_model *model;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, s->clusters, s->d, means, NULL,
                                   &variance, &model),
                     VEM_OK);
    free(means);
    return model;
}

static void verbs(const scene *s, const vem_model *model, const char *what)
{
    int32_t *labels = grid_zeros(s->n, sizeof *labels);
    double *sure = grid_zeros(s->n, sizeof *sure);
    assert_int_equal(vem_assign(ctx, model, s->rows, 1, VEM_SINGLE, labels, NULL),
                     VEM_OK);
    double truth = check(s, model, labels, what);
    assert_int_equal(vem_assign(ctx, model, s->rows, 1, VEM_SINGLE, labels, sure),
                     VEM_OK);
    check(s, model, labels, what);
    vem_scores scores = {.size = sizeof scores};
    assert_int_equal(vem_score(ctx, model, s->rows, 0, VEM_SINGLE, &scores), VEM_OK);
    grid_assert_near(scores.quantization_error, truth, 1e-5 * truth, what);
    /* With as many probes as there are buckets a guided search finds what a scan does. */
    vem_assign_options options = {.size = sizeof options,
                                  .search = VEM_ASSIGN_GUIDED,
                                  .precision = VEM_SINGLE,
                                  .probes = 1 << 20};
    assert_int_equal(vem_assign_guided(ctx, model, s->rows, &options, labels, NULL, NULL),
                     VEM_OK);
    check(s, model, labels, what);
    free(labels);
    free(sure);
}

/* Predict, score: the cluster of the far row does not move the origin. */
static void given_model(void **state)
{
    (void)state;
    const int32_t dimensions[] = {3, 24};
    for (int k = 0; k < 2; k++) {
        scene s = scene_new(4000, dimensions[k], 50, 1e8f);
        vem_model *model = model_with(&s, 1);
        verbs(&s, model, "a given model");
        vem_model_free(model);
        scene_free(&s);
    }
}

/* A fit: the far row does not move the origin either, however few the others are. */
static void fits(void **state)
{
    (void)state;
    const int32_t dimensions[] = {3, 24};
    const float far[] = {1e8f, 1e10f};
    for (int k = 0; k < 4; k++) {
        scene s = scene_new(1500, dimensions[k / 2], 20, far[k % 2]);
        vem_options options;
        vem_options_init(&options);
        options.clusters = 20;
        options.algorithm = VEM_ALGORITHM_KMEANS;
        options.max_steps = 100;
        options.measure = 1;
        vem_model *model;
        vem_report *report;
        if (vem_fit(ctx, s.rows, &options, NULL, &model, &report) != VEM_OK)
            fail_msg("%s", vem_ctx_message(ctx));
        const vem_summary *summary = vem_report_summary(report);
        const double truth = check(&s, model, vem_report_labels(report), "a fit");
        grid_assert_near(summary->quantization_error, truth, 1e-5 * truth,
                         "the error of a fit");
        verbs(&s, model, "a fitted model");
        vem_model_free(model);
        vem_report_free(report);
        scene_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_model),
        cmocka_unit_test(fits),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
