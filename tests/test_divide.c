/* The number of clusters by dividing and joining them: what is there is found, whatever the units, the
 * weights and the threads; limits are kept; and the trap of searches by halves is none. */
#include "data/points.h"
#include "golden.h"
#include "run.h"
#include "select/bisect.h"
#include "select/normality.h"
#include "select/prior.h"

#define CONTEXT_THREADS 2
#include "context.h"
#include "selecting.h"

enum { COLUMNS = 3, HEAPS = 6, EACH = 80 };

static double agreement(const found *f, const int32_t *truth, int64_t n)
{
    vem_agreement a = {.size = sizeof a};
    int64_t *ours = malloc((size_t)n * sizeof *ours),
            *theirs = malloc((size_t)n * sizeof *theirs);
    const int32_t *labels = vem_report_labels(f->report);
    assert_non_null(labels);
    for (int64_t i = 0; i < n; i++) {
        ours[i] = labels[i];
        theirs[i] = truth[i];
    }
    assert_int_equal(vem_compare(ctx, ours, theirs, n, &a), VEM_OK);
    free(ours);
    free(theirs);
    return a.ari;
}

static void every_method_finds_what_is_there(void **state)
{
    (void)state;
    static const vem_select_method methods[] = {VEM_SELECT_BAYES,      VEM_SELECT_VB,
                                                VEM_SELECT_BIC,        VEM_SELECT_ICL,
                                                VEM_SELECT_KMEANS_BIC, VEM_SELECT_GMEANS};
    int32_t truth[HEAPS * EACH];
    grid_data data = heaps(HEAPS, EACH, COLUMNS, 12, 0, truth);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        const vem_options o = options((vem_family_kind)-1);
        found f = find(&data, methods[k], &o, 0, 0);
        assert_int_equal(vem_model_clusters(f.model), HEAPS);
        assert_int_equal(vem_path_chosen(f.path), HEAPS);
        assert_true(agreement(&f, truth, data.n) == 1);
        /* Nothing on the path is better. */
        for (int32_t i = 0; methods[k] != VEM_SELECT_GMEANS && i < vem_path_count(f.path);
             i++)
            assert_true(vem_path_at(f.path, i)->free_energy <=
                        vem_report_summary(f.report)->free_energy);
        found_free(&f);
    }
    grid_data_free(&data);
}

static void families_have_their_own_evidence(void **state)
{
    (void)state;
    int32_t truth[HEAPS * EACH];
    const vem_family_kind families[] = {VEM_ISO, VEM_DIAG, VEM_FULL};
    grid_data data = heaps(HEAPS, EACH, COLUMNS, 12, 0, truth);
    for (int k = 0; k < 3; k++) {
        const vem_options o = options(families[k]);
        found f = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
        assert_int_equal(vem_model_clusters(f.model), HEAPS);
        assert_int_equal(vem_model_family(f.model), families[k]);
        assert_true(agreement(&f, truth, data.n) == 1);
        found_free(&f);
    }
    grid_data_free(&data);
}

/* Minus the log evidence of a labelling under the prior that select takes by itself, per row. */
static double evidence_of(const grid_data *data, const int32_t *labels, int32_t clusters)
{
    vem_data *rows = grid_borrow(ctx, data);
    vem_i_points *points;
    const vem_i_points_request request = {.precision = VEM_DOUBLE,
                                          .whiten = 1,
                                          .shaped = 1,
                                          .phase = "read"};
    assert_int_equal(vem_i_points_new(run_of(ctx), rows, &request, &points), VEM_OK);
    const vem_view *view = &points->view;
    const vem_i_family *family = vem_i_family_of(VEM_FULL);
    vem_i_conjugate prior;
    assert_int_equal(vem_i_prior_new(run_of(ctx), view, family, NULL, &prior), VEM_OK);
    const int64_t d = data->d, values = vem_i_second_count(family, data->d);
    double mean[16], scatter[256], sum = 0;
    double *work =
        malloc((size_t)vem_i_covariance_work(prior.family, prior.d) * sizeof *work);
    for (int32_t c = 0; c < clusters; c++) {
        double mass = 0;
        memset(mean, 0, sizeof mean);
        memset(scatter, 0, sizeof scatter);
        for (int pass = 0; pass < 2; pass++)
            for (int64_t i = 0; i < data->n; i++) {
                if (labels[i] != c)
                    continue;
                const double *x = vem_i_view_row(view, i);
                mass += pass == 0;
                for (int64_t j = 0; pass == 0 && j < d; j++)
                    mean[j] += (x[j] - mean[j]) / mass;
                for (int64_t a = 0, at = 0; pass == 1 && a < d; a++)
                    for (int64_t b = 0; b <= a; b++, at++)
                        scatter[at] += (x[a] - mean[a]) * (x[b] - mean[b]);
            }
        assert_true(values <= 256);
        sum += vem_i_evidence_of(&prior, mass, mean, scatter, work);
    }
    sum += vem_i_evidence_count(&prior, view->total_mass, clusters);
    const double result = sum / view->total_mass - vem_i_view_log_shift(view);
    free(work);
    vem_i_conjugate_free(&prior);
    vem_i_points_free(points);
    vem_data_free(rows);
    return result;
}

/* Heaps so near each other that dividing all rows in two costs more than it gains. */
static void halves_are_no_trap(void **state)
{
    (void)state;
    for (int32_t count = 6; count <= 9; count++) {
        int32_t truth[9 * 100];
        grid_data data = heaps(count, 100, 2, 5, 1, truth);
        const vem_options o = options(VEM_FULL);
        found f = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
        const vem_summary *s = vem_report_summary(f.report);
        assert_true(vem_model_clusters(f.model) > 1);
        assert_true(-s->free_energy <= evidence_of(&data, truth, count) + 1e-9);
        /* What is reported is the evidence of the labels. */
        grid_assert_near(-s->free_energy,
                         evidence_of(&data, vem_report_labels(f.report), s->clusters),
                         1e-9 * fabs(s->free_energy), "evidence of the labels");
        found_free(&f);
        grid_data_free(&data);
    }
}

static void units_do_not_matter(void **state)
{
    (void)state;
    const double factor[] = {1024, 0.0625, 8}, shift[] = {-4096, 512, 96};
    grid_data data = heaps(HEAPS, EACH, COLUMNS, 6, 1, NULL);
    grid_data other = heaps(HEAPS, EACH, COLUMNS, 6, 1, NULL);
    for (int64_t i = 0; i < data.n * COLUMNS; i++) {
        data.x[i] = (double)(float)data.x[i]; /* so that nothing is rounded */
        other.x[i] = factor[i % COLUMNS] * data.x[i] + shift[i % COLUMNS];
    }
    const vem_options o = options(VEM_FULL);
    found a = find(&data, VEM_SELECT_BAYES, &o, 0, 0),
          b = find(&other, VEM_SELECT_BAYES, &o, 0, 0);
    assert_int_equal(vem_model_clusters(a.model), vem_model_clusters(b.model));
    assert_memory_equal(vem_report_labels(a.report), vem_report_labels(b.report),
                        (size_t)data.n * sizeof(int32_t));
    grid_assert_near(vem_report_summary(b.report)->free_energy,
                     vem_report_summary(a.report)->free_energy - log(1024 * 0.0625 * 8),
                     1e-9, "evidence in other units");
    found_free(&a);
    found_free(&b);
    grid_data_free(&data);
    grid_data_free(&other);
}

static void limits_are_kept(void **state)
{
    (void)state;
    grid_data data = heaps(HEAPS, EACH, COLUMNS, 12, 0, NULL);
    const vem_options o = options((vem_family_kind)-1);
    for (int method = VEM_SELECT_BAYES; method < VEM_SELECT_GREEDY; method++) {
        found few = find(&data, (vem_select_method)method, &o, 0, 3),
              many = find(&data, (vem_select_method)method, &o, 9, 12);
        for (int32_t i = 0; i < vem_path_count(few.path); i++)
            assert_true(vem_path_at(few.path, i)->clusters <= 3);
        assert_true(vem_model_clusters(few.model) <= 3);
        if (method != VEM_SELECT_GMEANS)
            assert_in_range(vem_model_clusters(many.model), 9, 12);
        found_free(&few);
        found_free(&many);
    }
    grid_data_free(&data);
}

/* More clusters than there are: steps drop them again, and the search must end all the same. */
static void what_cannot_be_ends(void **state)
{
    (void)state;
    grid_data data = heaps(1, 60, 2, 1, 0, NULL);
    const vem_options o = options((vem_family_kind)-1);
    for (int method = VEM_SELECT_BAYES; method < VEM_SELECT_GREEDY; method++) {
        found f = find(&data, (vem_select_method)method, &o, 25, 30);
        assert_true(vem_model_clusters(f.model) <= 30);
        assert_int_equal(vem_path_chosen(f.path), vem_model_clusters(f.model));
        found_free(&f);
    }
    grid_data_free(&data);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const int counts[] = {1, 2, 3, 7}, each = grid_stride() > 1 ? 2 : 1;
    grid_data data = heaps(9, 120, 2, 4, 1, NULL);
    const vem_options o = options((vem_family_kind)-1);
    for (int method = VEM_SELECT_BAYES; method < VEM_SELECT_GREEDY; method++) {
        found first = {0};
        for (int k = 0; k < 4; k += each) {
            assert_int_equal(vem_ctx_set_threads(ctx, counts[k]), VEM_OK);
            found f = find(&data, (vem_select_method)method, &o, 0, 0);
            if (k == 0) {
                first = f;
                continue;
            }
            grid_assert_models(first.model, f.model, 0, "threads");
            if (method != VEM_SELECT_SWEEP) /* whose labels are of its last number */
                assert_memory_equal(vem_report_labels(first.report),
                                    vem_report_labels(f.report),
                                    (size_t)data.n * sizeof(int32_t));
            assert_int_equal(vem_path_count(first.path), vem_path_count(f.path));
            found_free(&f);
        }
        found_free(&first);
    }
    vem_ctx_set_threads(ctx, CONTEXT_THREADS);
    grid_data_free(&data);
}

/* A row of weight 2 is two rows, and evidence counts them so. */
static void weights_are_rows(void **state)
{
    (void)state;
    grid_data data = heaps(HEAPS, EACH, COLUMNS, 12, 0, NULL), twice = data;
    twice.n = 2 * data.n;
    twice.x = malloc((size_t)(twice.n * COLUMNS) * sizeof(double));
    memcpy(twice.x, data.x, (size_t)(data.n * COLUMNS) * sizeof(double));
    memcpy(twice.x + data.n * COLUMNS, data.x,
           (size_t)(data.n * COLUMNS) * sizeof(double));
    data.weights = malloc((size_t)data.n * sizeof(double));
    for (int64_t i = 0; i < data.n; i++)
        data.weights[i] = 2;
    const vem_options o = options(VEM_FULL);
    found a = find(&data, VEM_SELECT_BAYES, &o, 0, 0),
          b = find(&twice, VEM_SELECT_BAYES, &o, 0, 0);
    assert_int_equal(vem_model_clusters(a.model), vem_model_clusters(b.model));
    grid_assert_near(vem_report_summary(a.report)->free_energy,
                     vem_report_summary(b.report)->free_energy, 1e-9, "weight 2");
    found_free(&a);
    found_free(&b);
    grid_data_free(&data);
    grid_data_free(&twice);
}

/* Rows in one place, one row, a constant column, one column; a prior that is none. */
static void odd_rows_and_priors(void **state)
{
    (void)state;
    for (int method = VEM_SELECT_BAYES; method < VEM_SELECT_GREEDY; method++) {
        const vem_options o = options((vem_family_kind)-1);
        /* BIC counts rows: one is refused. */
        for (int64_t n = method == VEM_SELECT_KMEANS_BIC ? 40 : 1; n <= 40; n += 39) {
            grid_data data = {.n = n, .d = 2, .x = grid_zeros(2 * n, sizeof(double))};
            for (int64_t i = 0; i < 2 * n; i++)
                data.x[i] = 3.5;
            found f = find(&data, (vem_select_method)method, &o, 0, 0);
            assert_int_equal(vem_model_clusters(f.model), 1);
            found_free(&f);
            free(data.x);
        }
        for (int32_t d = 1; d <= 2; d++) {
            int32_t truth[3 * EACH];
            grid_data data = heaps(3, EACH, d, 14, 0, truth);
            for (int64_t i = 0; d == 2 && i < data.n; i++)
                data.x[2 * i + 1] = -7;
            found f = find(&data, (vem_select_method)method, &o, 0, 0);
            /* Balls have two columns there, and rows vary in one: finer parts are better balls. */
            if (d == 1 || method != VEM_SELECT_KMEANS_BIC) {
                assert_int_equal(vem_model_clusters(f.model), 3);
                if (method != VEM_SELECT_SWEEP)
                    assert_true(agreement(&f, truth, data.n) == 1);
            }
            found_free(&f);
            grid_data_free(&data);
        }
    }
    grid_data data = heaps(3, EACH, 2, 14, 0, NULL);
    const double scale[] = {1, 2, 2, 1}, uneven[] = {1, 0.5, 0, 1}, mean[] = {0, NAN},
                 vast[] = {2e7, 2e7};
    const vem_options full = options(VEM_FULL);
    const struct {
        vem_prior_options prior;
        const char *says;
    } bad[] = {
        {{.strength = -1}, "strength"},
        {{.dof = 0.5}, "degrees of freedom"},
        {{.count = -2}, "count"},
        {{.scale = scale, .scale_values = 4}, "positive definite"},
        {{.scale = scale, .scale_values = 3}, "3 values"},
        {{.scale = uneven, .scale_values = 4}, "symmetric"},
        {{.mean = mean, .mean_values = 2}, "not finite"},
        {{.mean = mean, .mean_values = 1}, "1 values, but there are 2 columns"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        vem_prior_options prior = bad[k].prior;
        prior.size = sizeof prior;
        const vem_select_options s = {.size = sizeof s,
                                      .method = VEM_SELECT_BAYES,
                                      .prior = &prior};
        found f;
        assert_int_equal(try_select(&data, &full, &s, &f), VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), bad[k].says));
    }
    /* Clusters that are expected to be as large as the data are one. */
    const vem_prior_options large = {.size = sizeof large,
                                     .dof = 1e5,
                                     .scale = vast,
                                     .scale_values = 2};
    vem_select_options s = {.size = sizeof s,
                            .method = VEM_SELECT_BAYES,
                            .prior = &large};
    found f;
    assert_int_equal(try_select(&data, &full, &s, &f), VEM_OK);
    assert_int_equal(vem_model_clusters(f.model), 1);
    found_free(&f);
    s.method = VEM_SELECT_ICL;
    assert_int_equal(try_select(&data, &full, &s, &f), VEM_BAD_OPTION);
    s.prior = NULL;
    s.method = VEM_SELECT_BAYES;
    const vem_options shared = options(VEM_FULL_SHARED);
    assert_int_equal(try_select(&data, &shared, &s, &f), VEM_BAD_OPTION);
    vem_options held = full;
    held.held = 2;
    assert_int_equal(try_select(&data, &held, &s, &f), VEM_BAD_OPTION);
    vem_options blocks =
        held; /* whose rows hold all clusters: rounds of a search hold one */
    blocks.held = VEM_AUTO;
    blocks.blocks = 5;
    const vem_select_method methods[] = {VEM_SELECT_BAYES, VEM_SELECT_VB, VEM_SELECT_BIC};
    for (int m = 0; m < 3; m++) {
        s.method = methods[m];
        assert_int_equal(try_select(&data, &blocks, &s, &f), VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), "blocks"));
    }
    grid_data_free(&data);
}

/* A coreset, or cells, stand for the rows. */
static void coresets_and_cells_serve(void **state)
{
    (void)state;
    grid_data data = heaps(HEAPS, 2000, 2, 12, 0, NULL);
    vem_options o = options(VEM_FULL);
    o.coreset = 3000;
    found a = find(&data, VEM_SELECT_BAYES, &o, 0, 40);
    assert_int_equal(vem_model_clusters(a.model), HEAPS);
    o.coreset = VEM_AUTO;
    o.cells = 3000;
    found b = find(&data, VEM_SELECT_BAYES, &o, 0, 40);
    assert_int_equal(vem_model_clusters(b.model), HEAPS);
    found_free(&a);
    found_free(&b);
    grid_data_free(&data);
}

/* Each number that is asked for, from the one before it; rows that are held out are measured. */
static void sweeps_fit_every_number(void **state)
{
    (void)state;
    const int32_t numbers[] = {2, 4, 6, 9}, falling[] = {4, 2}, many[] = {2, 100000};
    const vem_family_kind families[] = {VEM_ISO_SHARED, VEM_DIAG, VEM_FULL,
                                        VEM_FULL_SHARED};
    grid_data data = heaps(HEAPS, EACH, COLUMNS, 12, 0, NULL);
    vem_select_options s = {.size = sizeof s,
                            .method = VEM_SELECT_SWEEP,
                            .numbers = numbers,
                            .number_count = 4,
                            .holdout = 0.25};
    found f;
    for (int k = 0; k < 4; k++) {
        const vem_options o = options(families[k]);
        assert_int_equal(try_select(&data, &o, &s, &f), VEM_OK);
        assert_int_equal(vem_path_count(f.path), 4);
        for (int32_t i = 0; i < 4; i++) {
            const vem_path_point *p = vem_path_at(f.path, i);
            assert_int_equal(p->clusters, numbers[i]);
            assert_true(isfinite(p->held_out) && p->seconds >= 0);
            assert_true(p->held_out < p->log_likelihood + 1);
        }
        assert_int_equal(vem_model_clusters(f.model), HEAPS);
        found_free(&f);
    }
    const vem_options o = options(VEM_FULL);
    s.holdout = 0;
    assert_int_equal(try_select(&data, &o, &s, &f), VEM_OK);
    assert_true(isnan(vem_path_at(f.path, 0)->held_out));
    found_free(&f);
    s.holdout = 1;
    assert_int_equal(try_select(&data, &o, &s, &f), VEM_BAD_OPTION);
    s.holdout = 0;
    s.numbers = falling;
    s.number_count = 2;
    assert_int_equal(try_select(&data, &o, &s, &f), VEM_BAD_OPTION);
    s.numbers = many;
    assert_int_equal(try_select(&data, &o, &s, &f), VEM_BAD_DATA);
    s.numbers = numbers;
    s.method = VEM_SELECT_BAYES;
    assert_int_equal(try_select(&data, &o, &s, &f), VEM_BAD_OPTION);
    grid_data_free(&data);
}

/* Wherever a sweep begins, and wherever it jumps to, it is no worse there than a fit of that number. */
static void sweeps_are_as_good_as_fits(void **state)
{
    (void)state;
    grid_data data = heaps(25, 50, 3, 5, 1, NULL);
    for (int32_t first = 3; first <= 22; first += 19) {
        const int32_t numbers[] = {first, first == 3 ? 12 : 23, 25};
        const vem_select_options s = {.size = sizeof s,
                                      .method = VEM_SELECT_SWEEP,
                                      .numbers = numbers,
                                      .number_count = 3};
        vem_options o = options(VEM_FULL);
        found f;
        assert_int_equal(try_select(&data, &o, &s, &f), VEM_OK);
        for (int k = 0; k < 3; k++) {
            if (k > 0 && numbers[k] == numbers[k - 1] + 1)
                continue;
            o.clusters = numbers[k];
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_int_equal(vem_path_at(f.path, k)->clusters, numbers[k]);
            assert_true(vem_path_at(f.path, k)->free_energy >=
                        fit.summary->free_energy - 1e-6);
            grid_fit_free(&fit);
        }
        found_free(&f);
    }
    grid_data_free(&data);
}

/* Rows whose squares are numbers, and the squares of these are not. */
static void large_rows_are_cut(void **state)
{
    (void)state;
    enum { N = 40 };
    double rows[2 * N], masses[N], work[6], means[32];
    uint8_t part[N];
    for (int i = 0; i < N; i++) {
        rows[2 * i] = (i < N / 4 ? 1e77 : 3e77) + 1e73 * i;
        rows[2 * i + 1] = 1e76 * (i % 3);
        masses[i] = 1;
    }
    vem_i_bisected cut = {.n = N,
                          .d = 2,
                          .rows = rows,
                          .masses = masses,
                          .part = part,
                          .work = work,
                          .means = means};
    assert_int_equal(vem_i_bisect(&cut, 2), 2);
    for (int i = 0; i < N; i++)
        assert_int_equal(part[i] == part[0], i < N / 4);
}

static void anderson_darling_has_golden_values(void **state)
{
    (void)state;
    json_t *root = golden_read("gmeans_ad.json");
    const json_t *cases = json_object_get(root, "cases");
    assert_true(json_array_size(cases) > 0);
    for (size_t k = 0; k < json_array_size(cases); k++) {
        double x[64];
        const json_t *one = json_array_get(cases, k);
        const size_t n = golden_list(one, "x", x);
        const double a = vem_i_anderson_darling(x, (int64_t)n);
        golden_near(one, "A2star", &a);
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_finds_what_is_there),
        cmocka_unit_test(families_have_their_own_evidence),
        cmocka_unit_test(halves_are_no_trap),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(what_cannot_be_ends),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(weights_are_rows),
        cmocka_unit_test(odd_rows_and_priors),
        cmocka_unit_test(coresets_and_cells_serve),
        cmocka_unit_test(sweeps_fit_every_number),
        cmocka_unit_test(sweeps_are_as_good_as_fits),
        cmocka_unit_test(large_rows_are_cut),
        cmocka_unit_test(anderson_darling_has_golden_values),
    };
    return cmocka_run_group_tests_name("divide", tests, set_up, tear_down);
}
