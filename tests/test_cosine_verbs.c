/* --metric cosine beside the other verbs and views: what has no direction is named or keeps the one it
 * had, models know their metric, and what it does not go with is said. */
#include "cosine.h"

#define CONTEXT_THREADS 1
#include "context.h"

enum { C = 5 };

/* Sums that are 0, one column, fewer directions than clusters. */
static void without_a_direction(void **state)
{
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        /* Both rows of a pair in one cluster: their sum is 0, and the mean stays. */
        double x[] = {3, 4, -3, -4, 30, 40, -0.3, -0.4};
        grid_data pairs = {4, 2, x, NULL};
        double mean[] = {0.6, 0.8}, variance = 1;
        vem_model *start = NULL;
        assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 1, 2, mean, NULL, &variance,
                                       &start),
                         VEM_OK);
        vem_options o = cosine(1, 1, (vem_precision)precision, 10);
        o.measure = VEM_MEASURE_EXACT;
        grid_fit fit = grid_run(ctx, &pairs, &o, start);
        grid_assert_near(vem_model_means(fit.model)[0], 0.6, 1e-6, "mean");
        grid_assert_near(vem_model_means(fit.model)[1], 0.8, 1e-6, "mean");
        grid_assert_near(fit.summary->quantization_error, 8, 1e-5, "error");
        assert_monotone(&fit, 1e-6, 2, "pairs");
        grid_fit_free(&fit);
        vem_model_free(start);

        /* One column: directions are -1 and 1. */
        grid_data line = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 60, 1, 3);
        vem_options two;
        vem_options_init(&two);
        two.clusters = 2;
        two.metric = VEM_METRIC_COSINE;
        two.precision = precision;
        two.measure = VEM_MEASURE_EXACT;
        fit = grid_run(ctx, &line, &two, NULL);
        for (int64_t i = 0; i < line.n; i++)
            assert_true(vem_model_means(fit.model)[fit.labels[i]] ==
                        (line.x[i] > 0 ? 1 : -1));
        grid_assert_near(fit.summary->quantization_error, 0, 1e-9, "error");
        grid_fit_free(&fit);
        /* A third cluster has no direction of its own; what rounding tells apart does no harm. */
        two.clusters = 3;
        if (grid_try(ctx, &line, &two, NULL, &fit) == VEM_OK) {
            assert_unit_means(fit.model, "a third");
            grid_assert_near(fit.summary->quantization_error, 0, 1e-9, "error");
            grid_fit_free(&fit);
        }
        for (int64_t i = 0; i < line.n; i++)
            line.x[i] = ldexp(line.x[i] > 0 ? 1 : -1, (int)i);
        assert_int_equal(grid_try(ctx, &line, &two, NULL, &fit), VEM_BAD_DATA);
        assert_non_null(strstr(vem_ctx_message(ctx), "distinct"));
        grid_data_free(&line);
    }
}

static void refused(const grid_data *data, const vem_options *o, vem_status expected,
                    const char *word)
{
    grid_fit fit;
    const vem_status status = grid_try(ctx, data, o, NULL, &fit);
    if (status != expected || !strstr(vem_ctx_message(ctx), word))
        fail_msg("status %d, \"%s\", where \"%s\" is expected", (int)status,
                 vem_ctx_message(ctx), word);
}

static void rows_of_any_size(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_ZEROS, 300, 3, 2);
    vem_options o = cosine(3, 1, VEM_DOUBLE, 20);
    double *row = data.x + 3 * 16;
    static const double sizes[] = {1e200, 1e-200, 5e-324, 1.7e308};
    for (int k = 0; k < 4; k++)
        for (int reduced = 0; reduced < 2; reduced++) {
            o.coreset = reduced ? 100 : VEM_AUTO;
            row[0] = row[1] = row[2] = sizes[k];
            row[2] *= -1;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_unit_means(fit.model, "sizes");
            int32_t label;
            vem_data *one = grid_borrow_rows(ctx, &data, 16, 17);
            assert_int_equal(vem_assign(ctx, fit.model, one, 1, VEM_DOUBLE, &label, NULL),
                             VEM_OK);
            assert_true(label >= 0 && label < 3);
            vem_data_free(one);
            grid_fit_free(&fit);
        }
    for (int reduced = 0; reduced < 2; reduced++) {
        o.coreset = reduced ? 100 : VEM_AUTO;
        row[0] = row[1] = row[2] = 0; /* row 17 as people count; that of weight 0, too */
        refused(&data, &o, VEM_BAD_DATA, "Row 17 has no value but 0");
        row[1] = INFINITY;
        refused(&data, &o, VEM_BAD_DATA, "Row 17, column 2 is infinite");
        row[1] = NAN;
        refused(&data, &o, VEM_BAD_DATA, "Row 17, column 2 is NaN");
    }
    /* So do the verbs that use a model; --normalize keeps such rows. */
    row[1] = 1;
    o.coreset = VEM_AUTO;
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    row[1] = 0;
    vem_data *rows = grid_borrow(ctx, &data);
    int32_t labels[300];
    assert_int_equal(vem_assign(ctx, fit.model, rows, 1, VEM_DOUBLE, labels, NULL),
                     VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "Row 17 has no value but 0"));
    vem_scores s = {.size = sizeof s};
    assert_int_equal(vem_score(ctx, fit.model, rows, 1, VEM_DOUBLE, &s), VEM_BAD_DATA);
    vem_stream_options so = {.size = sizeof so,
                             .bucket = 50,
                             .metric = VEM_METRIC_COSINE};
    vem_stream *stream = NULL;
    assert_int_equal(vem_stream_new(ctx, &so, &stream), VEM_OK);
    assert_int_equal(vem_stream_add(ctx, stream, rows), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "Row 17 has no value but 0"));
    assert_int_equal(vem_stream_rows(stream), 0);
    row[1] = 2;
    assert_int_equal(vem_stream_add(ctx, stream, rows), VEM_OK);
    vem_options plain;
    vem_options_init(&plain);
    plain.clusters = 3;
    vem_model *streamed = NULL;
    assert_int_equal(vem_stream_model(ctx, stream, &plain, NULL, &streamed, NULL),
                     VEM_OK);
    assert_unit_means(streamed, "stream");
    vem_model_free(streamed);
    vem_stream_free(stream);
    so.metric = 9;
    assert_int_equal(vem_stream_new(ctx, &so, &stream), VEM_BAD_OPTION);
    row[1] = 0;
    o.metric = VEM_METRIC_L2;
    o.normalize = 1;
    grid_fit kept = grid_run(ctx, &data, &o, NULL);
    grid_fit_free(&kept);
    vem_data_free(rows);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

/* Cells, blocks, coresets, balance, accumulated steps. */
static void other_views(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 900, 4, 12);
    for (int k = 0; k < 8; k++) {
        vem_options o;
        vem_options_init(&o);
        o.clusters = 6;
        o.metric = VEM_METRIC_COSINE;
        o.measure = VEM_MEASURE_EXACT;
        o.family = VEM_ISO_SHARED;
        switch (k) {
        case 0: o.coreset = 300; break;
        case 1: o.cells = 200; break;
        case 2:
            o.blocks = 5;
            o.search = VEM_SEARCH_ALL;
            break;
        case 3: o.balance = VEM_BALANCE_SOFT; break;
        case 4: o.balance = 1.25; break;
        case 5: o.algorithm = VEM_ALGORITHM_LAZY_KMEANS; break;
        case 6: o.algorithm = VEM_ALGORITHM_VC_GMM; break;
        default: o.held = 3; o.finish = VEM_FINISH_HARD;
        }
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        char what[32];
        snprintf(what, sizeof what, "view %d", k);
        assert_unit_means(fit.model, what);
        for (int64_t t = 1; t < fit.trace_count; t++) {
            const vem_trace_step *last = &fit.trace[t - 1];
            if (last->moved == 0 && !last->move &&
                !(fit.trace[t].free_energy >=
                  last->free_energy - 1e-9 * fmax(fabs(last->free_energy), 4)))
                fail_msg("F falls from %.12g to %.12g in step %d: %s", last->free_energy,
                         fit.trace[t].free_energy, (int)t, what);
        }
        assert_true(fit.summary->quantization_error > 0);
        grid_fit_free(&fit);
    }
    /* Two parts added are one step. */
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, C), *next = NULL;
    vem_options o = cosine(C, 1, VEM_DOUBLE, 2);
    grid_fit fit = grid_run(ctx, &data, &o, start);
    vem_stats *sum = NULL;
    for (int part = 0; part < 2; part++) {
        vem_data *rows = grid_borrow_rows(ctx, &data, part ? 400 : 0, part ? 900 : 400);
        vem_stats *one = NULL;
        assert_int_equal(vem_accumulate(ctx, start, rows, &o, &one), VEM_OK);
        if (!sum)
            sum = one;
        else {
            assert_int_equal(vem_stats_add(ctx, sum, one), VEM_OK);
            vem_stats_free(one);
        }
        vem_data_free(rows);
    }
    assert_int_equal(vem_stats_next(ctx, sum, &next), VEM_OK);
    assert_unit_means(next, "next");
    grid_assert_models(next, fit.model, 1e-9, "next");
    vem_stats *other = NULL;
    vem_data *rows = grid_borrow(ctx, &data);
    o.metric = VEM_METRIC_L2;
    o.normalize = 1;
    assert_int_equal(vem_accumulate(ctx, start, rows, &o, &other), VEM_OK);
    assert_int_equal(vem_stats_add(ctx, sum, other), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "--metric"));
    vem_stats_free(other);
    vem_stats_free(sum);
    vem_data_free(rows);
    vem_model_free(next);
    vem_model_free(start);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

/* All levels of a hierarchy are on the sphere, and parents are the nearest of theirs. */
static void levels(void **state)
{
    (void)state;
    enum { D = 6 };
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, 900, D, 12);
    vem_options o = cosine(60, 1, VEM_DOUBLE, 10);
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    vem_hierarchy *tree = NULL;
    assert_int_equal(vem_hierarchy_new(ctx, fit.model, NULL, &tree), VEM_OK);
    const double *x = vem_hierarchy_vectors(tree);
    const int32_t nodes = vem_hierarchy_nodes(tree);
    assert_true(nodes > 60);
    for (int32_t i = 0; i < nodes; i++) {
        grid_assert_near(dot(x + (int64_t)i * D, x + (int64_t)i * D, D), 1, 1e-11,
                         "node");
        const int32_t parent = vem_hierarchy_parents(tree)[i];
        for (int32_t k = 60; parent >= 0 && k < nodes; k++)
            assert_true(dot(x + (int64_t)i * D, x + (int64_t)k * D, D) <=
                        dot(x + (int64_t)i * D, x + (int64_t)parent * D, D) + 1e-12);
    }
    vem_hierarchy_free(tree);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

static void models(void **state)
{
    (void)state;
    const double means[] = {3, 4, 0, -2, 0, 0}, variance = 0.5;
    vem_model *model = NULL, *other = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 3, 2, means, NULL, &variance,
                                   &model),
                     VEM_OK);
    assert_int_equal(vem_model_metric(model), VEM_METRIC_L2);
    assert_int_equal(vem_model_metric(NULL), VEM_METRIC_L2);
    assert_int_equal(vem_model_set_metric(ctx, model, VEM_METRIC_COSINE), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "cluster 3"));
    assert_memory_equal(vem_model_means(model), means, sizeof means);
    assert_int_equal(vem_model_set_metric(ctx, model, (vem_metric)7), VEM_BAD_OPTION);
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 40, 2, 2);
    vem_options o = cosine(3, 1, VEM_DOUBLE, 3);
    grid_fit fit;
    assert_int_equal(grid_try(ctx, &data, &o, model, &fit), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "cluster 3"));
    vem_model_free(model);
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 2, 2, means, NULL, &variance,
                                   &model),
                     VEM_OK);
    assert_int_equal(vem_model_set_metric(ctx, model, VEM_METRIC_COSINE), VEM_OK);
    assert_unit_means(model, "set");
    /* It stays with the model, and makes the fit that starts from it one of cosines. */
    vem_model_set_normalizes(model, 1);
    assert_int_equal(vem_model_copy(ctx, model, &other), VEM_OK);
    assert_int_equal(vem_model_metric(other), VEM_METRIC_COSINE);
    o = grid_options(2, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 3);
    fit = grid_run(ctx, &data, &o, other);
    assert_unit_means(fit.model, "start");
    assert_int_equal(fit.options->metric, VEM_METRIC_COSINE);
    assert_non_null(strstr(vem_report_notes(fit.report), "cosine"));
    grid_fit_free(&fit);
    assert_int_equal(vem_model_set_metric(ctx, other, VEM_METRIC_L2), VEM_OK);
    assert_int_equal(vem_model_metric(other), VEM_METRIC_L2);
    assert_int_equal(vem_model_normalizes(other), 1);
    vem_model_set_normalizes(model, 0);
    assert_int_equal(vem_model_metric(model), VEM_METRIC_L2);
    vem_model_free(model);
    vem_model_free(other);
    grid_data_free(&data);
}

static void what_it_does_not_go_with(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 60, 2, 2);
    for (int family = 0; family < VEM_FAMILIES; family++) {
        vem_options o;
        vem_options_init(&o);
        o.clusters = 2;
        o.metric = VEM_METRIC_COSINE;
        o.family = family;
        if (family != VEM_ISO_SHARED)
            refused(&data, &o, VEM_BAD_OPTION, "iso-shared");
    }
    vem_options o = cosine(2, 1, VEM_DOUBLE, 5);
    o.standardize = 1;
    refused(&data, &o, VEM_BAD_OPTION, "--standardize");
    vem_options_init(&o);
    o.clusters = 2;
    o.metric = VEM_METRIC_COSINE;
    o.family = VEM_ISO_SHARED;
    o.algorithm = VEM_ALGORITHM_GREEDY;
    refused(&data, &o, VEM_BAD_OPTION, "--algorithm greedy");
    o.algorithm = VEM_ALGORITHM_MOORE_EM;
    refused(&data, &o, VEM_BAD_OPTION, "--algorithm moore-em");
    vem_data *rows = grid_borrow(ctx, &data);
    vem_select_options s = {.size = sizeof s, .max_clusters = 3};
    vem_options_init(&o);
    o.metric = VEM_METRIC_COSINE;
    assert_int_equal(vem_select(ctx, rows, &o, &s, NULL, NULL, NULL), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "--metric"));
    vem_dendrogram_options t = {.size = sizeof t};
    vem_dendrogram *tree = NULL;
    assert_int_equal(vem_agglomerate(ctx, rows, &o, &t, &tree), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "--metric"));
    vem_data_free(rows);
    grid_data_free(&data);
}

/* Values as large as doubles are have a direction, and a mean. */
static void as_large_as_can_be(void **state)
{
    (void)state;
    double x[120];
    for (int64_t i = 0; i < 120; i++) {
        vem_i_rng rng = vem_i_rng_at(4, VEM_RNG_TEST, 0, (uint64_t)i);
        x[i] = 1.7e308 * (2 * vem_i_rng_uniform(&rng) - 1);
    }
    const grid_data data = {40, 3, x, NULL};
    for (int metric = 0; metric < 2; metric++) {
        vem_options o = cosine(2, 1, VEM_DOUBLE, 10);
        o.metric = metric ? VEM_METRIC_COSINE : VEM_METRIC_L2;
        o.normalize = !metric;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        const double *means = vem_model_column_means(fit.model);
        assert_non_null(means);
        for (int j = 0; j < 3; j++)
            assert_true(fabs(means[j]) < 1e308);
        grid_fit_free(&fit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_direction),
        cmocka_unit_test(rows_of_any_size),
        cmocka_unit_test(as_large_as_can_be),
        cmocka_unit_test(other_views),
        cmocka_unit_test(models),
        cmocka_unit_test(levels),
        cmocka_unit_test(what_it_does_not_go_with),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
