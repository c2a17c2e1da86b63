/* Fewer rows than a covariance matrix can be told from: noise is one cluster, what is there is found, and
 * what was done otherwise is said. */
#define CONTEXT_THREADS 2
#include "context.h"
#include "select/objective.h"
#include "selecting.h"

/* Three heaps, or with `apart` 0 noise. */
static grid_data few_rows(int64_t n, int32_t d, double apart, uint64_t seed)
{
    grid_data data = {.n = n, .d = d};
    data.x = malloc((size_t)(n * d) * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        vem_i_rng noise = vem_i_rng_at(seed, VEM_RNG_TEST, 2, (uint64_t)i);
        for (int32_t j = 0; j < d; j++)
            data.x[i * d + j] = vem_i_rng_normal(&noise) + (i % 3 == j % 3 ? apart : 0);
    }
    return data;
}

static void noise_is_one_cluster(void **state)
{
    (void)state;
    const int64_t rows[] = {30, 60, 49};
    const int32_t columns[] = {60, 20, 10};
    const vem_options o = options((vem_family_kind)-1);
    for (int k = 0; k < 3; k++)
        for (int method = VEM_SELECT_BAYES; method <= VEM_SELECT_VB; method++) {
            grid_data data = few_rows(rows[k], columns[k], 0, 11);
            found f = find(&data, (vem_select_method)method, &o, 0, 0);
            assert_int_equal(vem_model_clusters(f.model), 1);
            assert_int_equal(vem_model_family(f.model), VEM_DIAG);
            assert_non_null(strstr(vem_report_notes(f.report), "family diag"));
            found_free(&f);
            grid_data_free(&data);
        }
}

static void few_rows_have_clusters(void **state)
{
    (void)state;
    grid_data data = few_rows(60, 60, 3, 12);
    const vem_options o = options((vem_family_kind)-1), full = options(VEM_FULL);
    found f = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
    const int32_t *labels = vem_report_labels(f.report);
    assert_int_equal(vem_model_clusters(f.model), 3);
    for (int64_t i = 0; i < data.n; i++)
        assert_int_equal(labels[i], labels[i % 3]);
    found_free(&f);
    grid_data_free(&data);
    /* Who asks for matrices gets them, with a word; and so does who has enough rows, without. */
    data = few_rows(20, 10, 3, 12);
    f = find(&data, VEM_SELECT_BAYES, &full, 0, 0);
    assert_int_equal(vem_model_family(f.model), VEM_FULL);
    assert_non_null(strstr(vem_report_notes(f.report), "20 rows are few beside 10"));
    found_free(&f);
    grid_data_free(&data);
    data = few_rows(50, 10, 3, 12);
    f = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
    assert_int_equal(vem_model_family(f.model), VEM_FULL);
    assert_null(strstr(vem_report_notes(f.report), "few"));
    found_free(&f);
    grid_data_free(&data);
}

/* Two rows can be two clusters, where that is asked for. */
static void two_rows_are_divided(void **state)
{
    (void)state;
    static double x[] = {0, 1, 4};
    const vem_options o = options(VEM_ISO);
    for (int method = VEM_SELECT_BAYES; method <= VEM_SELECT_VB; method++)
        for (int32_t n = 2; n <= 3; n++) {
            const grid_data data = {.n = n, .d = 1, .x = x};
            found f = find(&data, (vem_select_method)method, &o, n, n);
            assert_int_equal(vem_model_clusters(f.model), n);
            found_free(&f);
        }
}

/* What one ball costs by BIC: its rows at their best parameters, and half a log N for each of these
 * but the weight. */
static void price_of_parameters(void **state)
{
    (void)state;
    enum { N = 40 };
    double x[N], mean = 0, variance = 0;
    for (int i = 0; i < N; i++) {
        x[i] = sin(i);
        mean += x[i] / N;
    }
    for (int i = 0; i < N; i++)
        variance += (x[i] - mean) * (x[i] - mean) / N;
    const grid_data data = {.n = N, .d = 1, .x = x};
    const vem_options o = options(VEM_ISO);
    found f = find(&data, VEM_SELECT_BIC, &o, 1, 1);
    const double fit = -0.5 * (log(2 * acos(-1) * variance) + 1);
    grid_assert_near(vem_report_summary(f.report)->free_energy, fit - log(N) / N, 1e-6,
                     "by BIC");
    grid_assert_near(vem_path_at(f.path, 0)->objective, 2 * log(N) - 2 * N * fit, 1e-6,
                     "BIC");
    found_free(&f);
}

/* G-means divides by a test, round by round: no number of clusters is beside these. */
static void tests_have_nothing_beside_them(void **state)
{
    (void)state;
    static const int32_t rounds[] = {1, 2, 4, 7};
    grid_data data = heaps(7, 60, 2, 12, 0, NULL);
    const vem_options o = options((vem_family_kind)-1);
    found f = find(&data, VEM_SELECT_GMEANS, &o, 0, 0);
    assert_int_equal(vem_path_count(f.path), 4);
    for (int32_t i = 0; i < 4; i++)
        assert_int_equal(vem_path_at(f.path, i)->clusters, rounds[i]);
    found_free(&f);
    grid_data_free(&data);
}

/* Mass, mean and scatter of the rows with that label. */
static void gather(const grid_data *data, const int32_t *labels, int32_t label, int axes,
                   double *group)
{
    const int32_t d = data->d;
    double *mean = group + 1, *scatter = group + 1 + d;
    for (int64_t i = 0; i < data->n; i++)
        for (int32_t j = 0; labels[i] == label && j <= d; j++)
            group[j] += j ? data->x[i * d + j - 1] : 1;
    for (int32_t j = 0; j < d; j++)
        mean[j] /= group[0];
    for (int64_t i = 0; i < data->n; i++)
        for (int32_t j = 0, at = 0; labels[i] == label && j < d; j++)
            for (int32_t k = axes == 2 ? 0 : j; k <= j; k++, at++)
                scatter[axes == 0 ? 0 : at] +=
                    (data->x[i * d + j] - mean[j]) * (data->x[i * d + k] - mean[k]);
}

/* What groups cost is F of the loop, also where variances are at the floor and no longer those of the
 * rows. */
static void groups_at_the_floor_cost_f(void **state)
{
    (void)state;
    enum { D = 3, N = 60 };
    const vem_family_kind kinds[] = {VEM_ISO, VEM_DIAG, VEM_FULL};
    grid_data data = few_rows(N, D, 20, 5);
    double units[D] = {0}, means[D] = {0};
    for (int i = 0; i < N * D; i++)
        means[i % D] += data.x[i] / N;
    for (int i = 0; i < N * D; i++)
        units[i % D] += pow(data.x[i] - means[i % D], 2) / N;
    const double mean_unit = (units[0] + units[1] + units[2]) / D;
    for (int j = 0; j < D; j++)
        units[j] = sqrt(units[j]);
    for (int k = 0; k < 3; k++)
        for (int floored = 0; floored < 2; floored++) {
            double cost = 0, work[200];
            vem_options o = grid_options(3, kinds[k], VEM_PRIOR_FREE, 1, VEM_DOUBLE, 50);
            o.floor = floored ? 0.1 : 1e-6;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            const vem_i_family *family = vem_i_family_of((int)kinds[k]);
            const vem_i_objective objective = {
                .family = family,
                .d = D,
                .mass_unit = 1,
                .total = N,
                .constraints = {.floor = o.floor * (k ? 1 : mean_unit),
                                .units = k ? units : NULL}};
            assert_true(vem_i_objective_work(&objective) <= 200);
            for (int32_t c = 0; c < 3; c++) {
                double group[1 + D + D * (D + 1) / 2] = {0};
                gather(&data, fit.labels, c, family->shape_axes, group);
                cost += vem_i_group_tally(&objective, group, work).cost;
            }
            assert_int_equal(fit.summary->floored > 0, floored);
            grid_assert_near(-cost / N, fit.summary->free_energy, 1e-9, "cost");
            grid_fit_free(&fit);
        }
    grid_data_free(&data);
}

static void trees_of_noise_have_one_cluster(void **state)
{
    (void)state;
    const vem_dendrogram_options t = {.size = sizeof t};
    const vem_options o = options((vem_family_kind)-1);
    for (int k = 0; k < 2; k++) {
        grid_data data = few_rows(k ? 199 : 60, 20, 0, 13);
        vem_data *rows = grid_borrow(ctx, &data);
        vem_dendrogram *tree = NULL;
        assert_int_equal(vem_agglomerate(ctx, rows, &o, &t, &tree), VEM_OK);
        assert_int_equal(vem_dendrogram_summary(tree)->clusters, 1);
        assert_non_null(strstr(vem_dendrogram_notes(tree), "family diag"));
        vem_dendrogram_free(tree);
        vem_data_free(rows);
        grid_data_free(&data);
    }
}

/* One sentence, of trees as of selections. */
static void one_column_is_one(void **state)
{
    (void)state;
    static const char told[] = "clusters are those of family diag: 4 rows are few beside "
                               "1 column, and the evidence";
    grid_data data = few_rows(4, 1, 0, 13);
    const vem_options o = options((vem_family_kind)-1);
    const vem_dendrogram_options t = {.size = sizeof t, .method = VEM_DENDROGRAM_BAYES};
    vem_data *rows = grid_borrow(ctx, &data);
    vem_dendrogram *tree = NULL;
    assert_int_equal(vem_agglomerate(ctx, rows, &o, &t, &tree), VEM_OK);
    assert_non_null(strstr(vem_dendrogram_notes(tree), told));
    found f = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
    assert_non_null(strstr(vem_report_notes(f.report), told));
    found_free(&f);
    vem_dendrogram_free(tree);
    vem_data_free(rows);
    grid_data_free(&data);
}

/* Five heaps, of which each method has as many clusters as it is told, and says how it came by them; but
 * no more than there are rows that differ. */
static void no_fewer_than_the_least(void **state)
{
    (void)state;
    enum { LEAST = 8, HEAPS = 5, EACH = 400 };
    static const vem_select_method methods[] = {VEM_SELECT_BAYES,      VEM_SELECT_VB,
                                                VEM_SELECT_BIC,        VEM_SELECT_ICL,
                                                VEM_SELECT_KMEANS_BIC, VEM_SELECT_GMEANS};
    grid_data data = heaps(HEAPS, EACH, 2, 30, 0, NULL);
    grid_data alike = heaps(3, 40, 2, 12, 0, NULL);
    for (int64_t i = 3; i < alike.n; i++)
        memcpy(alike.x + 2 * i, alike.x + 2 * (i % 3), 2 * sizeof(double));
    const vem_options o = options((vem_family_kind)-1);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int32_t most = LEAST; most <= 2 * LEAST; most += LEAST) {
            found f = find(&data, methods[m], &o, LEAST, most);
            assert_in_range(vem_model_clusters(f.model), LEAST, most);
            const int32_t at = vem_path_count(f.path) - 1;
            assert_true(at >= 0 && vem_path_at(f.path, at)->clusters >= LEAST);
            assert_null(strstr(vem_report_notes(f.report), "fewer than"));
            found_free(&f);
        }
    found f = find(&alike, VEM_SELECT_BAYES, &o, 5, 6);
    assert_in_range(vem_model_clusters(f.model), 1, 3);
    assert_non_null(strstr(vem_report_notes(f.report), "fewer than --min-clusters 5"));
    found_free(&f);
    grid_data_free(&data);
    grid_data_free(&alike);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_one_cluster),
        cmocka_unit_test(few_rows_have_clusters),
        cmocka_unit_test(two_rows_are_divided),
        cmocka_unit_test(price_of_parameters),
        cmocka_unit_test(tests_have_nothing_beside_them),
        cmocka_unit_test(groups_at_the_floor_cost_f),
        cmocka_unit_test(trees_of_noise_have_one_cluster),
        cmocka_unit_test(one_column_is_one),
        cmocka_unit_test(no_fewer_than_the_least),
    };
    return cmocka_run_group_tests_name("divide_few", tests, set_up, tear_down);
}
