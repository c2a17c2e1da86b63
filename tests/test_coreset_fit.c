/* fit --coreset: the same as a fit on the coreset that vem_coreset draws, for every family;
 * measures over all rows; what the report says; presets; memory as planned. */
#include "coreset_checks.h"

#include "context.h"

enum { N = 3000, D = 3, CLUSTERS = 5, SIZE = 400 };

/* The coreset that a fit of this family draws. With a variance for each column it is drawn from
 * columns of variance 1; its rows are given as the data have them, through `drawn`. */
static vem_data *as_the_fit_draws(const grid_data *data, const vem_options *o,
                                  grid_data *drawn)
{
    vem_data *rows = grid_borrow(ctx, data);
    if (vem_family_axes(o->family) == 0) {
        vem_data *coreset =
            coreset_draw(ctx, rows, SIZE, VEM_CORESET_LIGHTWEIGHT, o->seed);
        vem_data_free(rows);
        return coreset;
    }
    vem_data_free(rows);
    grid_data even = *data;
    even.x = grid_zeros(N * D, sizeof(double));
    for (int j = 0; j < D; j++) {
        double mass = 0, mean = 0, square = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0; i < N; i++) {
                const double w = data->weights ? data->weights[i] : 1;
                const double x = data->x[i * D + j];
                mass += pass ? 0 : w;
                mean += pass ? 0 : w * x;
                square += pass ? w * pow(x - mean / mass, 2) : 0;
            }
        for (int i = 0; i < N; i++)
            even.x[i * D + j] = data->x[i * D + j] / sqrt(square / mass);
    }
    rows = grid_borrow(ctx, &even);
    vem_data *coreset = coreset_draw(ctx, rows, SIZE, VEM_CORESET_LIGHTWEIGHT, o->seed);
    *drawn = (grid_data){.n = SIZE,
                         .d = D,
                         .x = grid_zeros(SIZE * D, sizeof(double)),
                         .weights = grid_zeros(SIZE, sizeof(double))};
    for (int i = 0; i < SIZE; i++) {
        memcpy(drawn->x + i * D, data->x + vem_data_indices(coreset)[i] * D,
               D * sizeof(double));
        drawn->weights[i] = vem_data_weights(coreset)[i];
    }
    vem_data_free(coreset);
    vem_data_free(rows);
    free(even.x);
    return grid_borrow(ctx, drawn);
}

/* `o` with a coreset and all rows beside the same fit on the coreset as data of its own. */
static void same_as_on_the_coreset(const grid_data *data, vem_options o)
{
    vem_model *a = NULL, *b = NULL;
    vem_report *ra = NULL, *rb = NULL;
    vem_data *rows = grid_borrow(ctx, data);
    grid_data drawn = {0};
    vem_data *coreset = as_the_fit_draws(data, &o, &drawn);
    /* Those columns are divided by the deviation of all rows, or of the drawn ones: the same
     * from a common start, to rounding. */
    const int divided = drawn.x != NULL;
    const double rounding = !divided ? 0 : o.precision == VEM_SINGLE ? 1e-3 : 1e-7;
    vem_model *start =
        divided ? grid_start(ctx, data, (vem_family_kind)o.family, CLUSTERS) : NULL;
    assert_int_equal(vem_fit(ctx, coreset, &o, start, &b, &rb), VEM_OK);
    o.coreset = SIZE;
    o.measure = 1;
    assert_int_equal(vem_fit(ctx, rows, &o, start, &a, &ra), VEM_OK);
    vem_model_free(start);
    const vem_summary *s = vem_report_summary(ra), *t = vem_report_summary(rb);
    grid_assert_models(a, b, rounding, "fit with and on a coreset");
    grid_assert_near(s->free_energy, t->free_energy, rounding, "F on a coreset");
    assert_int_equal(s->scored_pairs, t->scored_pairs);
    assert_int_equal(s->seed_pairs, t->seed_pairs);
    assert_int_equal(s->n, N);
    assert_int_equal(s->items, SIZE);
    assert_true(s->rows_used == SIZE);
    assert_int_equal(s->reduce_pairs, N);
    assert_int_equal(t->reduce_pairs, 0);
    assert_int_equal(t->items, SIZE);
    assert_null(vem_report_labels(ra));
    assert_non_null(strstr(vem_report_notes(ra), "a coreset of 400 rows"));
    vem_scores scores = {.size = sizeof scores};
    const vem_precision precision = (vem_precision)vem_report_options(ra)->precision;
    assert_int_equal(vem_score(ctx, a, rows, 0, precision, &scores), VEM_OK);
    grid_assert_near(s->quantization_error, scores.quantization_error, 0, "error");
    grid_assert_near(s->log_likelihood, scores.log_likelihood, 0, "likelihood");
    /* Far from the coreset's own, which is another sum of other rows. */
    assert_true(fabs(s->free_energy - s->log_likelihood) > 1e-6);
    vem_report_free(ra);
    vem_report_free(rb);
    vem_model_free(a);
    vem_model_free(b);
    vem_data_free(coreset);
    vem_data_free(rows);
    grid_data_free(&drawn);
}

static void every_family(void **state)
{
    (void)state;
    for (int kind = 0; kind < WEIGHTS_COUNT; kind++)
        GRID_EACH_SHAPED (family)
            for (int held = 1; held <= CLUSTERS; held += 2) {
                grid_data data =
                    grid_data_new(SET_OVERLAPPING, (grid_weights)kind, N, D, 40);
                same_as_on_the_coreset(
                    &data, grid_options(CLUSTERS, (vem_family_kind)family, VEM_PRIOR_FREE,
                                        held, held == 1 ? VEM_SINGLE : VEM_DOUBLE, 6));
                grid_data_free(&data);
            }
}

static void every_search(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_REAL, N, D, 41);
    for (int search = VEM_SEARCH_CLOSEST; search <= VEM_SEARCH_ESTIMATED; search++) {
        vem_options o =
            grid_options(CLUSTERS, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 2, VEM_DOUBLE, 10);
        o.search = search;
        o.restarts = 2;
        same_as_on_the_coreset(&data, o);
    }
    grid_data_free(&data);
}

/* --standardize divides by the deviation of all rows, not of the drawn ones; --normalize
 * reaches the model. */
static void units(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, N, D, 42);
    double mean[D] = {0}, var[D] = {0};
    for (int i = 0; i < N * D; i++)
        mean[i % D] += data.x[i] / N;
    for (int i = 0; i < N * D; i++)
        var[i % D] += pow(data.x[i] - mean[i % D], 2) / N;
    GRID_EACH_SHAPED (family) {
        vem_options o = grid_options(CLUSTERS, (vem_family_kind)family, VEM_PRIOR_FREE, 2,
                                     VEM_DOUBLE, 5);
        o.coreset = SIZE;
        o.standardize = 1;
        o.measure = 1;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        for (int j = 0; j < D; j++)
            grid_assert_near(vem_model_scale(fit.model)[j], sqrt(var[j]), 1e-10, "scale");
        assert_true(isfinite(fit.summary->quantization_error));
        grid_fit_free(&fit);
        o.standardize = 0;
        o.normalize = 1;
        fit = grid_run(ctx, &data, &o, NULL);
        assert_true(vem_model_normalizes(fit.model));
        assert_true(fit.summary->quantization_error < 4.0 * N);
        grid_fit_free(&fit);
    }
    grid_data_free(&data);
}

static void warm_start_and_threads(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_ZEROS, N, D, 43);
    vem_model *start = grid_start(ctx, &data, VEM_DIAG, CLUSTERS);
    vem_options o = grid_options(CLUSTERS, VEM_DIAG, VEM_PRIOR_FREE, 3, VEM_DOUBLE, 5);
    o.coreset = SIZE;
    o.threads = 1;
    grid_fit a = grid_run(ctx, &data, &o, start);
    o.threads = 3;
    grid_fit b = grid_run(ctx, &data, &o, start);
    grid_assert_models(a.model, b.model, 0, "1 and 3 threads");
    assert_true(a.summary->free_energy == b.summary->free_energy);
    o.seed++;
    grid_fit c = grid_run(ctx, &data, &o, start);
    assert_true(a.summary->free_energy != c.summary->free_energy); /* another coreset */
    grid_fit_free(&a);
    grid_fit_free(&b);
    grid_fit_free(&c);
    vem_model_free(start);
    grid_data_free(&data);
}

static void as_many_rows_as_there_are(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 200, D, 44);
    vem_options o = grid_options(CLUSTERS, VEM_ISO, VEM_PRIOR_FREE, 2, VEM_DOUBLE, 5);
    grid_fit a = grid_run(ctx, &data, &o, NULL);
    o.coreset = 200;
    grid_fit b = grid_run(ctx, &data, &o, NULL);
    grid_assert_models(a.model, b.model, 0, "all rows");
    assert_int_equal(b.summary->items, 200);
    assert_int_equal(b.summary->reduce_pairs, 0);
    assert_non_null(b.labels);
    assert_memory_equal(a.labels, b.labels, 200 * sizeof(int32_t));
    assert_non_null(strstr(vem_report_notes(b.report), "all 200 rows are fitted"));
    grid_fit_free(&a);
    grid_fit_free(&b);
    grid_data_free(&data);
}

static void presets(void **state)
{
    (void)state;
    const struct {
        vem_algorithm name;
        vem_search_kind search;
        int64_t held;
    } rows[] = {{VEM_ALGORITHM_LWCS_KMEANS, VEM_SEARCH_CLOSEST, 1},
                {VEM_ALGORITHM_VC_GMM, VEM_SEARCH_ESTIMATED, 5}};
    /* HFL Table 1: KDD, SUSY, SONG. */
    const int64_t sizes[][2] = {{500, 1 << 13}, {2000, 1 << 15}, {4000, 1 << 16}};
    for (int i = 0; i < 2; i++) {
        vem_options o, r;
        vem_options_init(&o);
        o.algorithm = rows[i].name;
        for (int k = 0; k < 3; k++) {
            o.clusters = sizes[k][0];
            assert_int_equal(vem_options_resolve(ctx, &o, 1 << 20, 8, VEM_FLOAT32, &r),
                             VEM_OK);
            assert_int_equal(r.coreset, sizes[k][1]);
        }
        assert_true(r.family == VEM_ISO_SHARED && r.prior == VEM_PRIOR_FLAT);
        assert_true(r.search == (int)rows[i].search && r.held == rows[i].held);
        assert_true(r.seeding == VEM_SEED_AFKMC2 && r.chain == 2);
        assert_true(r.tolerance == 1e-4 && r.max_steps == 200 &&
                    r.empty == VEM_EMPTY_KEEP);
        assert_true(i == 0 || (r.reach == 5 && r.explore == 0));
        o.chain = 20;
        o.coreset = 5000;
        assert_int_equal(vem_options_resolve(ctx, &o, 1 << 20, 8, VEM_FLOAT32, &r),
                         VEM_OK);
        assert_true(r.chain == 20 && r.coreset == 5000);
        o.coreset = 3999;
        assert_int_equal(vem_options_resolve(ctx, &o, 1 << 20, 8, VEM_FLOAT32, &r),
                         VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), "--coreset is 3999"));
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 45);
        o.coreset = o.chain = VEM_AUTO;
        o.clusters = 9;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_int_equal(fit.summary->items, 128);
        assert_int_equal(fit.summary->outcome, VEM_OUTCOME_CONVERGED);
        assert_non_null(strstr(vem_report_notes(fit.report), "16 for each cluster"));
        grid_fit_free(&fit);
        grid_data_free(&data);
    }
}

static void refused(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 46);
    vem_options o = grid_options(CLUSTERS, VEM_ISO, VEM_PRIOR_FREE, 2, VEM_DOUBLE, 5);
    grid_fit fit;
    o.coreset = SIZE;
    data.x[2000 * D + 1] = NAN;
    assert_int_equal(grid_try(ctx, &data, &o, NULL, &fit), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "Row 2001, column 2 is NaN"));
    /* Too far for single precision: the row's number is that of the data. */
    data.x[2000 * D + 1] = 1e30;
    o.precision = VEM_SINGLE;
    assert_int_equal(grid_try(ctx, &data, &o, NULL, &fit), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "Row 2001, column 2 is 1e+30 and lies"));
    for (int64_t i = 0; i < (int64_t)N * D; i++)
        data.x[i] = (double)(i / D % 4);
    assert_int_equal(grid_try(ctx, &data, &o, NULL, &fit), VEM_BAD_DATA);
    assert_non_null(
        strstr(vem_ctx_message(ctx), "fewer distinct rows in the coreset than clusters"));
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family),
        cmocka_unit_test(every_search),
        cmocka_unit_test(units),
        cmocka_unit_test(warm_start_and_threads),
        cmocka_unit_test(as_many_rows_as_there_are),
        cmocka_unit_test(presets),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
