/* Sparse rows of the caller's arrays are the rows they say, and the density of each row adds up to
 * the likelihood of all. */
#include "context.h"

#include "data/points.h"
#include "model/counts.h"
#include "run.h"

#include <string.h>

enum { N = 40, D = 3, C = 2, ENTRIES = N * D };

static int64_t starts[N + 1];
static int32_t columns[ENTRIES];
static double values[ENTRIES], dense[N * D];

/* Counts with many zeros; the entries of a row begin with its last column. */
static void make(void)
{
    int64_t count = 0;
    for (int i = 0; i < N; i++) {
        for (int j = D - 1; j >= 0; j--) {
            const double value = (i * 7 + j * 5) % 4;
            dense[i * D + j] = value;
            if (value == 0)
                continue;
            columns[count] = j;
            values[count++] = value;
        }
        starts[i + 1] = count;
    }
}

static void sparse_rows_are_dense_ones(void **state)
{
    (void)state;
    vem_data *data = NULL;
    double rows[N * D];
    make();
    assert_int_equal(vem_data_sparse(ctx, N, D, starts, columns, values, &data), VEM_OK);
    assert_int_equal(vem_data_rows(data), N);
    /* What is behind the last start is not looked at. */
    vem_data *fewer = NULL;
    const int64_t behind = starts[N - 1];
    starts[N - 1] = -7;
    assert_int_equal(vem_data_sparse(ctx, N - 2, D, starts, columns, values, &fewer),
                     VEM_OK);
    starts[N - 1] = behind;
    vem_data_free(fewer);
    assert_int_equal(vem_data_columns(data), D);
    assert_int_equal(vem_data_get(ctx, data, 0, N, rows), VEM_OK);
    assert_memory_equal(rows, dense, sizeof rows);
    vem_data_free(data);
}

static void wrong_sparse_rows_are_refused(void **state)
{
    (void)state;
    vem_data *data = NULL;
    make();
#define REFUSED(words)                                                                   \
    do {                                                                                 \
        assert_int_equal(vem_data_sparse(ctx, N, D, starts, columns, values, &data),     \
                         VEM_BAD_DATA);                                                  \
        assert_non_null(strstr(vem_ctx_message(ctx), words));                            \
        assert_null(data);                                                               \
        make();                                                                          \
    } while (0)
    starts[0] = 1;
    REFUSED("begin at value 1");
    starts[0] = 0;
    starts[1] = starts[2] + 1;
    REFUSED("before its begin");
    columns[0] = D;
    REFUSED("column 4");
    columns[0] = -1;
    REFUSED("column 0");
    columns[0] = columns[1];
    REFUSED("more than once");
    values[0] = NAN;
    REFUSED("NaN");
#undef REFUSED
    assert_int_equal(vem_data_sparse(ctx, 0, D, starts, columns, values, &data),
                     VEM_BAD_DATA);
}

/* Each verb takes sparse rows for what the dense ones are, also without their first and by weights. */
static void sparse_rows_are_fitted_as_dense_ones(void **state)
{
    (void)state;
    double weights[N], x[N * D];
    make();
    for (int i = 0; i < N; i++)
        weights[i] = 1 + i % 3;
    GRID_EACH_COUNTS (f)
        for (int weighted = 0; weighted < 2; weighted++) {
            grid_data all = {N, D, x, weighted ? weights : NULL};
            vem_data *rows[2] = {NULL};
            vem_model *models[2] = {NULL};
            vem_report *reports[2] = {NULL};
            vem_scores scores[2];
            make();
            for (int64_t e = 0; f == VEM_BERNOULLI && e < starts[N]; e++)
                values[e] = 1;
            for (int i = 0; i < N * D; i++)
                x[i] = f == VEM_BERNOULLI ? dense[i] > 0 : dense[i];
            vem_model *start = grid_start(ctx, &all, (vem_family_kind)f, C);
            vem_options o =
                grid_options(C, (vem_family_kind)f, VEM_PRIOR_FREE, C, VEM_DOUBLE, 6);
            rows[0] = grid_borrow(ctx, &all);
            assert_int_equal(vem_data_sparse(ctx, N, D, starts, columns, values,
                                             &rows[1]),
                             VEM_OK);
            if (weighted)
                assert_int_equal(vem_data_set_weights(ctx, rows[1], weights, N), VEM_OK);
            for (int k = 0; k < 2; k++) {
                scores[k].size = sizeof *scores;
                if (vem_fit(ctx, rows[k], &o, start, &models[k], &reports[k]) != VEM_OK ||
                    vem_score(ctx, models[k], rows[k], 0, VEM_DOUBLE, &scores[k]) !=
                        VEM_OK)
                    fail_msg("%s", vem_ctx_message(ctx));
            }
            grid_assert_models(models[0], models[1], 1e-9, "sparse rows");
            const vem_summary *a = vem_report_summary(reports[0]),
                              *b = vem_report_summary(reports[1]);
            assert_int_equal(a->steps, b->steps);
            assert_int_equal(a->floored, b->floored);
            grid_assert_near(b->free_energy, a->free_energy, 1e-9, "F");
            grid_assert_near(scores[1].log_likelihood, scores[0].log_likelihood, 1e-9,
                             "log-likelihood");
            const double *means[] = {vem_model_column_means(models[0]),
                                     vem_model_column_means(models[1])};
            for (int j = 0; means[0] && j < D; j++)
                grid_assert_near(means[1][j], means[0][j], 1e-12, "means of columns");
            for (int k = 0; k < 2; k++) {
                vem_model_free(models[k]);
                vem_report_free(reports[k]);
                vem_data_free(rows[k]);
            }
            vem_model_free(start);
        }
}

static void densities_add_up(void **state)
{
    (void)state;
    make();
    for (int f = 0; f < VEM_FAMILIES; f++) {
        vem_options options;
        vem_options_init(&options);
        options.clusters = C;
        options.family = f;
        vem_data *data = NULL;
        vem_model *model = NULL;
        vem_scores scores = {.size = sizeof scores};
        double each[N], ones[N * D], weights[N], sum = 0, mass = 0;
        for (int i = 0; i < N * D; i++)
            ones[i] = f == VEM_BERNOULLI ? dense[i] > 1 : dense[i];
        for (int i = 0; i < N; i++)
            mass += weights[i] = 1 + i % 3;
        assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, ones, N, D, 0, 0, &data),
                         VEM_OK);
        assert_int_equal(vem_data_set_weights(ctx, data, weights, N), VEM_OK);
        if (vem_fit(ctx, data, &options, NULL, &model, NULL) != VEM_OK ||
            vem_log_densities(ctx, model, data, VEM_DOUBLE, each) != VEM_OK ||
            vem_score(ctx, model, data, 0, VEM_DOUBLE, &scores) != VEM_OK)
            fail_msg("%s", vem_ctx_message(ctx));
        for (int i = 0; i < N; i++)
            sum += weights[i] * each[i];
        assert_true(fabs(sum / mass - scores.log_likelihood) <
                    1e-9 * (1 + fabs(scores.log_likelihood)));
        vem_model_free(model);
        vem_data_free(data);
    }
}

/* Some rows of a whole may be all without weight, as a piece that is scored: they have no mass, and a mean and a
 * variance of 0; of others these are those of the weighted rows. */
static void pieces_without_weight(void **state)
{
    (void)state;
    enum { BEGIN = 10, END = 15, WHOLE = 5 };
    double weights[N], means[D] = {0}, square = 0, mass = 0;
    vem_data *data = NULL;
    make();
    assert_int_equal(vem_data_sparse(ctx, N, D, starts, columns, values, &data), VEM_OK);
    for (int i = 0; i < N; i++)
        weights[i] = i >= BEGIN && i < END ? 0 : 1 + i % 3;
    assert_int_equal(vem_data_set_weights(ctx, data, weights, N), VEM_OK);
    for (int i = END; i < END + WHOLE; i++) {
        mass += weights[i];
        for (int j = 0; j < D; j++) {
            means[j] += weights[i] * dense[i * D + j];
            square += weights[i] * dense[i * D + j] * dense[i * D + j];
        }
    }
    for (int piece = 0; piece < 2; piece++) {
        double sum = 0;
        const vem_i_points_request request = {.first = piece ? END : BEGIN,
                                              .count = piece ? WHOLE : END - BEGIN,
                                              .precision = VEM_DOUBLE,
                                              .support = &vem_i_counts_poisson.support,
                                              .phase = "read"};
        vem_i_points *points = NULL;
        assert_int_equal(vem_i_points_new(run_of(ctx), data, &request, &points), VEM_OK);
        for (int j = 0; piece && j < D; j++)
            sum += means[j] / mass * (means[j] / mass);
        const double variance = piece ? (square / mass - sum) / D : 0;
        assert_true(points->view.total_mass * points->view.mass_unit ==
                    (piece ? mass : 0));
        assert_true(fabs(points->view.variance - variance) < 1e-12);
        for (int j = 0; j < D; j++) /* of counts these are the means */
            assert_true(fabs(points->deviations[j] - (piece ? means[j] / mass : 0)) <
                        1e-12);
        vem_i_points_free(points);
    }
    vem_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_rows_are_dense_ones),
        cmocka_unit_test(wrong_sparse_rows_are_refused),
        cmocka_unit_test(sparse_rows_are_fitted_as_dense_ones),
        cmocka_unit_test(densities_add_up),
        cmocka_unit_test(pieces_without_weight),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
