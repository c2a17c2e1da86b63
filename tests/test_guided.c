/* Guided assignment: with all buckets it is the scan; the recall it states is that of its
 * own results; it is used where it pays and the same for any number of threads. */
#include "grid.h"

#include "context.h"
#include "fake_clock.h"

enum { ROWS = 3000, TOP = 3 };

/* Rows, and a model whose clusters all look different; every seventh has weight 0. */
typedef struct scene {
    grid_data data;
    vem_data *rows;
    vem_model *model;
    int32_t clusters;
} scene;

static scene scene_new(vem_family_kind family, int32_t clusters, int64_t n, int32_t d)
{
    scene s = {.data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, n, d, 41),
               .clusters = clusters};
    size_t c = (size_t)clusters, columns = (size_t)d;
    const int axes = vem_family_axes(family);
    size_t one = axes == 2 ? columns * columns : axes == 1 ? columns : 1;
    size_t shapes = vem_family_shared(family) ? 1 : c;
    double *means = malloc(c * columns * sizeof *means),
           *weights = malloc(c * sizeof *weights);
    double *variances = calloc(shapes * one, sizeof *variances);
    double spread = grid_variance(&s.data), total = 0;
    vem_i_rng rng = vem_i_rng_at(7, VEM_RNG_TEST, 0, 0);
    for (size_t i = 0; i < c; i++) {
        size_t row = (size_t)vem_i_rng_below(&rng, (uint64_t)n);
        for (size_t j = 0; j < columns; j++)
            means[i * columns + j] =
                s.data.x[row * columns + j] + 0.1 * sqrt(spread) * vem_i_rng_normal(&rng);
        total += weights[i] = i % 7 == 6 ? 0 : 0.5 + vem_i_rng_uniform(&rng);
    }
    for (size_t i = 0; i < c; i++)
        weights[i] /= total;
    for (size_t i = 0; i < shapes; i++)
        for (size_t j = 0; j < one; j++) {
            int diagonal = axes < 2 || j / columns == j % columns;
            double scale = 0.05 * spread;
            if (diagonal)
                variances[i * one + j] = scale * (0.7 + 0.6 * vem_i_rng_uniform(&rng));
            else if (j / columns > j % columns) {
                double value = scale * 0.5 / (double)d * vem_i_rng_normal(&rng) / 3;
                variances[i * one + j] = value;
                variances[i * one + j % columns * columns + j / columns] = value;
            }
        }
    if (vem_model_new(ctx, family, clusters, d, means, weights, variances, &s.model))
        fail_msg("%s", vem_ctx_message(ctx));
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, s.data.x, n, d, 0, 0, &s.rows),
                     VEM_OK);
    free(means);
    free(weights);
    free(variances);
    return s;
}

static void scene_free(scene *s)
{
    vem_data_free(s->rows);
    vem_model_free(s->model);
    grid_data_free(&s->data);
}

typedef struct result {
    int32_t *clusters;
    double *probabilities;
    vem_assign_report report;
} result;

static result guided(const scene *s, vem_assign_options how, int soft)
{
    size_t entries = (size_t)s->data.n * (size_t)(how.top ? how.top : 1);
    result r = {.report = {.size = sizeof r.report}};
    r.clusters = malloc(entries * sizeof *r.clusters);
    r.probabilities = soft ? malloc(entries * sizeof *r.probabilities) : NULL;
    how.size = sizeof how;
    if (vem_assign_guided(ctx, s->model, s->rows, &how, r.clusters, r.probabilities,
                          &r.report) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    return r;
}

static result scanned(const scene *s, int32_t top, vem_precision precision, int soft)
{
    size_t entries = (size_t)s->data.n * (size_t)top;
    result r = {.clusters = malloc(entries * sizeof *r.clusters)};
    r.probabilities = soft ? malloc(entries * sizeof *r.probabilities) : NULL;
    assert_int_equal(vem_assign(ctx, s->model, s->rows, top, precision, r.clusters,
                                r.probabilities),
                     VEM_OK);
    return r;
}

static void result_free(result *r)
{
    free(r->clusters);
    free(r->probabilities);
}

static void with_all_buckets_it_is_the_scan(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int32_t d = 3; d <= 20; d += 17) /* direct differences; the dot form */
            for (int soft = 0; soft <= 1; soft++)
                for (int32_t top = 1; top <= TOP; top += TOP - 1) {
                    scene s = scene_new((vem_family_kind)family, 150, 700, d);
                    result a = scanned(&s, top, VEM_DOUBLE, soft);
                    vem_assign_options how = {.top = top,
                                              .precision = VEM_DOUBLE,
                                              .search = VEM_ASSIGN_GUIDED,
                                              .probes = 1000000};
                    result b = guided(&s, how, soft);
                    assert_int_equal(b.report.guided, 1);
                    assert_int_equal(b.report.probes, b.report.buckets);
                    assert_true(b.report.recall == 1 && b.report.recall_rows == 100);
                    /* Every seventh cluster has no weight; the sample is found twice. */
                    assert_true(b.report.scored_pairs >= (700 + 2 * 100) * (150 - 22));
                    for (int64_t i = 0; i < 700 * top; i++) {
                        assert_int_equal(a.clusters[i], b.clusters[i]);
                        if (soft)
                            assert_true(fabs(a.probabilities[i] - b.probabilities[i]) <
                                        1e-9);
                    }
                    if (soft)
                        assert_true(b.report.covered > 1 - 1e-9);
                    else
                        assert_true(isnan(b.report.covered));
                    result_free(&a);
                    result_free(&b);
                    scene_free(&s);
                }
}

/* The rows of the sample: one of each of equal stretches. */
static int64_t sampled(uint64_t seed, int64_t i, int64_t n, int64_t sample)
{
    vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_GUIDED, 1, (uint64_t)i);
    int64_t part = n / sample, rest = n % sample;
    int64_t begin = i * part + (i < rest ? i : rest);
    return begin + (int64_t)vem_i_rng_below(&rng, (uint64_t)(part + (i < rest)));
}

static double recount(const result *scan, const result *found, int64_t n, int32_t top,
                      uint64_t seed, int64_t sample)
{
    int64_t hits = 0, right = 0;
    for (int64_t i = 0; i < sample; i++) {
        int64_t row = sampled(seed, i, n, sample);
        for (int32_t a = 0; a < top; a++) {
            right += scan->clusters[row * top + a] >= 0;
            for (int32_t b = 0; b < top; b++)
                hits += scan->clusters[row * top + a] >= 0 &&
                        scan->clusters[row * top + a] == found->clusters[row * top + b];
        }
    }
    return (double)hits / (double)right;
}

static void recall_is_what_a_recount_gives(void **state)
{
    (void)state;
    int imperfect = 0;
    GRID_EACH_SHAPED (family)
        for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++)
            for (int32_t top = 1; top <= TOP; top += TOP - 1)
                for (int32_t probes = 0; probes <= 2; probes++) {
                    scene s = scene_new((vem_family_kind)family, 300, ROWS, 18);
                    vem_assign_options how = {.top = top,
                                              .precision = (vem_precision)precision,
                                              .search = VEM_ASSIGN_GUIDED,
                                              .recall = 0.9,
                                              .probes = probes,
                                              .seed = 5};
                    int soft = probes == 2;
                    result a = scanned(&s, top, how.precision, soft);
                    result b = guided(&s, how, soft);
                    assert_int_equal(b.report.guided, 1);
                    assert_int_equal(b.report.recall_rows, ROWS / 16);
                    double counted =
                        recount(&a, &b, ROWS, top, how.seed, b.report.recall_rows);
                    assert_true(fabs(counted - b.report.recall) < 1e-12);
                    if (probes == 0)
                        assert_true(b.report.recall >= 0.9);
                    imperfect += b.report.recall < 1;
                    assert_true(b.report.scored_pairs > 0);
                    if (soft)
                        assert_true(b.report.covered > 0 && b.report.covered <= 1);
                    result_free(&a);
                    result_free(&b);
                    scene_free(&s);
                }
    assert_true(imperfect > 10); /* or nothing was tested */
}

/* Probabilities are those of the scan over what the tried clusters hold. */
static void probabilities_add_up_over_what_was_tried(void **state)
{
    (void)state;
    scene s = scene_new(VEM_DIAG, 100, 500, 4);
    vem_assign_options how = {.top = 60,
                              .precision = VEM_DOUBLE,
                              .search = VEM_ASSIGN_GUIDED,
                              .probes = 1};
    result a = scanned(&s, 100, VEM_DOUBLE, 1), b = guided(&s, how, 1);
    assert_true(b.report.probes > 1); /* as many as 60 clusters need */
    for (int64_t i = 0; i < 500; i++) {
        double sum = 0, full[100] = {0}, share = -1;
        for (int64_t r = 0; r < 100; r++)
            if (a.clusters[i * 100 + r] >= 0)
                full[a.clusters[i * 100 + r]] = a.probabilities[i * 100 + r];
        for (int64_t r = 0; r < 60; r++) {
            double p = b.probabilities[i * 60 + r];
            int32_t c = b.clusters[i * 60 + r];
            assert_true(c >= 0 && c < 100 && c % 7 != 6);
            sum += p;
            if (share < 0)
                share = full[c] / p;
            if (p > 1e-200)
                assert_true(fabs(full[c] - share * p) < 1e-9 * full[c] + 1e-300);
            assert_true(r == 0 || p <= b.probabilities[i * 60 + r - 1]);
        }
        assert_true(sum <= 1 + 1e-9 && share <= 1 + 1e-9);
    }
    result_free(&a);
    result_free(&b);
    scene_free(&s);
}

static void it_is_used_where_it_pays(void **state)
{
    (void)state;
    scene small = scene_new(VEM_ISO, 60, ROWS, 5);
    result a = scanned(&small, 1, VEM_SINGLE, 0);
    result b = guided(&small, (vem_assign_options){.precision = VEM_SINGLE}, 0);
    assert_int_equal(b.report.guided, 0);
    assert_true(b.report.recall == 1 && b.report.recall_rows == 0);
    assert_int_equal(b.report.scored_pairs, ROWS * 60);
    assert_memory_equal(a.clusters, b.clusters, ROWS * sizeof(int32_t));
    result_free(&a);
    result_free(&b);
    scene_free(&small);

    const int64_t n = 20000;
    scene large = scene_new(VEM_ISO_SHARED, 2100, n, 17);
    a = scanned(&large, 1, VEM_SINGLE, 0);
    vem_assign_options how = {.precision = VEM_SINGLE, .recall = 0.9};
    b = guided(&large, how, 0);
    assert_int_equal(b.report.guided, 1);
    assert_true(b.report.recall >= 0.9 && b.report.probes < b.report.buckets);
    assert_true(b.report.scored_pairs < n * 2100);
    int64_t same = 0;
    for (int64_t i = 0; i < n; i++)
        same += a.clusters[i] == b.clusters[i];
    assert_true((double)same > 0.87 * (double)n); /* the sample speaks for the rest */
    result_free(&b);
    how.search = VEM_ASSIGN_SCAN;
    b = guided(&large, how, 0);
    assert_int_equal(b.report.guided, 0);
    assert_memory_equal(a.clusters, b.clusters, (size_t)n * sizeof(int32_t));
    result_free(&a);
    result_free(&b);
    scene_free(&large);
}

/* By default no more than one label in a thousand is another than the scan's, and the bound
 * that is stated holds, for every seed of the sample and the buckets. */
static void labels_are_the_scans_but_for_one_in_a_thousand(void **state)
{
    (void)state;
    const int64_t n = 12000;
    scene s = scene_new(VEM_ISO_SHARED, 600, n, 6);
    result a = scanned(&s, 1, VEM_SINGLE, 0);
    int64_t imperfect = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        vem_assign_options how = {.precision = VEM_SINGLE,
                                  .search = VEM_ASSIGN_GUIDED,
                                  .seed = seed};
        result b = guided(&s, how, 0);
        int64_t wrong = 0;
        for (int64_t i = 0; i < n; i++)
            wrong += a.clusters[i] != b.clusters[i];
        assert_int_equal(b.report.recall_rows, 7000);
        assert_true(b.report.recall_least >= 0.999 &&
                    b.report.recall_least < b.report.recall);
        assert_true((double)wrong <= (1 - b.report.recall_least) * (double)n);
        assert_true(b.report.probes < b.report.buckets);
        imperfect += wrong > 0;
        result_free(&b);
    }
    assert_true(imperfect > 3); /* or nothing was tested */
    result_free(&a);
    scene_free(&s);
}

static void any_number_of_threads(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int soft = 0; soft <= 1; soft++) {
            scene s = scene_new((vem_family_kind)family, 300, ROWS, 18);
            vem_assign_options how = {.top = 2,
                                      .search = VEM_ASSIGN_GUIDED,
                                      .recall = 0.9};
            assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
            result a = guided(&s, how, soft);
            for (int threads = 2; threads <= 7; threads += 5) {
                assert_int_equal(vem_ctx_set_threads(ctx, threads), VEM_OK);
                result b = guided(&s, how, soft);
                assert_memory_equal(a.clusters, b.clusters, 2 * ROWS * sizeof(int32_t));
                if (soft)
                    assert_memory_equal(a.probabilities, b.probabilities,
                                        2 * ROWS * sizeof(double));
                assert_int_equal(a.report.scored_pairs, b.report.scored_pairs);
                assert_int_equal(a.report.probes, b.report.probes);
                assert_true(a.report.recall == b.report.recall);
                result_free(&b);
            }
            assert_int_equal(vem_ctx_set_threads(ctx, 0), VEM_OK);
            result_free(&a);
            scene_free(&s);
        }
}

/* What was told of the rows. */
typedef struct told_rows {
    int64_t calls, nothing, last, total;
    int wrong;
} told_rows;

static int follow_rows(void *user, const vem_progress *p)
{
    told_rows *t = user;
    t->calls++;
    t->nothing += p->done == 0;
    t->wrong |= p->done < t->last || p->total != t->total;
    t->last = p->done;
    return 0;
}

/* The rows of the sample are work, too: here they are all rows, and half of it. */
static void the_sample_is_told(void **state)
{
    (void)state;
    enum { N = 7000 };
    scene s = scene_new(VEM_ISO_SHARED, 150, N, 3);
    told_rows t = {.total = N};
    assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
    fake_tick = 1; /* every look is told */
    vem_ctx_set_progress(ctx, follow_rows, &t);
    result r = guided(&s, (vem_assign_options){.search = VEM_ASSIGN_GUIDED}, 0);
    vem_ctx_set_progress(ctx, NULL, NULL);
    fake_tick = 0;
    assert_int_equal(vem_ctx_set_threads(ctx, 0), VEM_OK);
    assert_int_equal(r.report.recall_rows, N);
    assert_false(t.wrong);
    assert_int_equal(t.last, N);
    if (!(t.calls > 10 && t.nothing <= 1))
        fail_msg("%d of %d times nothing was done", (int)t.nothing, (int)t.calls);
    result_free(&r);
    scene_free(&s);
}

/* What a row gets depends on no other row: of the same rows from the last to the first the
 * labels and probabilities are those of before. As many probes as look into some of the
 * regions, and into all. */
static void the_order_of_rows_does_not_matter(void **state)
{
    (void)state;
    for (int32_t probes = 2; probes <= 20; probes += 18)
        for (int soft = 0; soft <= 1; soft++) {
            scene s = scene_new(VEM_ISO_SHARED, 2000, ROWS, 18);
            vem_assign_options how = {.top = 2,
                                      .precision = VEM_SINGLE,
                                      .search = VEM_ASSIGN_GUIDED,
                                      .probes = probes};
            result a = guided(&s, how, soft);
            assert_true(a.report.probes == probes && a.report.buckets > 50);
            double *turned = malloc((size_t)ROWS * 18 * sizeof *turned);
            for (int64_t i = 0; i < ROWS; i++)
                memcpy(turned + i * 18, s.data.x + (ROWS - 1 - i) * 18,
                       18 * sizeof *turned);
            memcpy(s.data.x, turned, (size_t)ROWS * 18 * sizeof *turned);
            result b = guided(&s, how, soft);
            for (int64_t i = 0; i < ROWS; i++)
                for (int64_t r = 0; r < 2; r++) {
                    const int64_t at = i * 2 + r, other = (ROWS - 1 - i) * 2 + r;
                    assert_int_equal(a.clusters[at], b.clusters[other]);
                    if (soft)
                        assert_true(a.probabilities[at] == b.probabilities[other]);
                }
            free(turned);
            result_free(&a);
            result_free(&b);
            scene_free(&s);
        }
}

static int stop_at_once(void *user, const vem_progress *progress)
{
    (void)user;
    (void)progress;
    return 1;
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    scene s = scene_new(VEM_ISO, 100, ROWS, 3);
    static int32_t clusters[ROWS];
    vem_assign_report report = {.size = sizeof report, .guided = -1};
    vem_assign_options how = {.size = sizeof how, .search = VEM_ASSIGN_GUIDED};
    const struct {
        vem_assign_options how;
        const char *says;
    } bad[] = {{{.size = 8}, "size"},
               {{.size = sizeof how, .top = 101}, "--top is 101"},
               {{.size = sizeof how, .recall = 1.5}, "--recall is 1.5"},
               {{.size = sizeof how, .recall = NAN}, "--recall"},
               {{.size = sizeof how, .probes = -1}, "probes"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(vem_assign_guided(ctx, s.model, s.rows, &bad[i].how, clusters,
                                           NULL, &report),
                         VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), bad[i].says));
    }
    /* A row that the sample holds is named by its number in the data. */
    how.recall = 0.9;
    int64_t row = sampled(0, 50, ROWS, ROWS / 16);
    char name[32];
    snprintf(name, sizeof name, "%lld", (long long)row + 1);
    s.data.x[row * 3 + 1] = NAN;
    assert_int_equal(vem_assign_guided(ctx, s.model, s.rows, &how, clusters, NULL,
                                       &report),
                     VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), name));
    s.data.x[row * 3 + 1] = 0;
    vem_ctx_set_progress(ctx, stop_at_once, NULL);
    assert_int_equal(vem_assign_guided(ctx, s.model, s.rows, &how, clusters, NULL,
                                       &report),
                     VEM_STOPPED);
    vem_ctx_set_progress(ctx, NULL, NULL);
    assert_int_equal(report.guided, -1); /* untouched by all of this */
    assert_int_equal(vem_assign_guided(ctx, s.model, s.rows, &how, clusters, NULL,
                                       &report),
                     VEM_OK);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_all_buckets_it_is_the_scan),
        cmocka_unit_test(recall_is_what_a_recount_gives),
        cmocka_unit_test(labels_are_the_scans_but_for_one_in_a_thousand),
        cmocka_unit_test(probabilities_add_up_over_what_was_tried),
        cmocka_unit_test(it_is_used_where_it_pays),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(the_order_of_rows_does_not_matter),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(the_sample_is_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
