/* Streams: a coreset of everything seen, in bounded memory, as good as merge-and-reduce
 * promises; the batches do not matter; weights, and what is refused. */
#include "coreset_checks.h"

#include "context.h"

static vem_stream *stream_new(int64_t bucket, int64_t seed)
{
    vem_stream *stream = NULL;
    const vem_stream_options o = {.size = sizeof o, .bucket = bucket, .seed = seed};
    assert_int_equal(vem_stream_new(ctx, &o, &stream), VEM_OK);
    return stream;
}

/* Rows first .. end - 1 in one batch. */
static void feed(vem_stream *stream, const grid_data *data, int64_t first, int64_t end)
{
    vem_data *rows = grid_borrow_rows(ctx, data, first, end);
    if (vem_stream_add(ctx, stream, rows) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    vem_data_free(rows);
}

static vem_data *coreset_of(const vem_stream *stream)
{
    vem_data *coreset = NULL;
    assert_int_equal(vem_stream_coreset(ctx, stream, &coreset), VEM_OK);
    assert_int_equal(vem_data_rows(coreset), vem_stream_kept(stream));
    return coreset;
}

/* Weighted squared distances to the nearest of k centers. */
static double cost(const double *x, const double *w, int64_t n, int32_t d,
                   const double *centers, int k)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double nearest = INFINITY;
        for (int c = 0; c < k; c++) {
            double off = 0;
            for (int32_t j = 0; j < d; j++)
                off += pow(x[i * d + j] - centers[c * d + j], 2);
            nearest = fmin(nearest, off);
        }
        sum += (w ? w[i] : 1) * nearest;
    }
    return sum;
}

/* Fewer rows than two buckets: they are all there, as they came. */
static void nothing_is_lost_early(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 190, 3, 1);
    vem_stream *stream = stream_new(100, 1);
    feed(stream, &data, 0, 190);
    vem_data *coreset = coreset_of(stream);
    assert_int_equal(vem_data_rows(coreset), 190);
    for (int64_t i = 0; i < 190; i++) {
        const int64_t from = vem_data_indices(coreset)[i];
        double row[3];
        assert_int_equal(vem_data_get(ctx, coreset, i, 1, row), VEM_OK);
        assert_memory_equal(row, data.x + from * 3, sizeof row);
        assert_true(vem_data_weights(coreset)[i] == data.weights[from]);
    }
    vem_data_free(coreset);
    vem_stream_free(stream);
    grid_data_free(&data);
}

/* The same bits however the rows come. Rows and weights belong to the rows they name. */
static void batches_do_not_matter(void **state)
{
    (void)state;
    enum { N = 3210, D = 2 };
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_ZEROS, N, D, 2);
    vem_data *found[3];
    static const int64_t batches[3] = {N, 57, 2};
    for (int t = 0; t < 3; t++) {
        vem_stream *stream = stream_new(64, 5);
        assert_int_equal(vem_ctx_set_threads(ctx, t + 1), VEM_OK);
        for (int64_t i = 0; i < N; i += batches[t])
            feed(stream, &data, i, i + batches[t] < N ? i + batches[t] : N);
        assert_int_equal(vem_stream_rows(stream), N);
        grid_assert_near(vem_stream_mass(stream), coreset_total(data.weights, N),
                         1e-9 * N, "mass");
        found[t] = coreset_of(stream);
        vem_stream_free(stream);
    }
    assert_int_equal(vem_ctx_set_threads(ctx, 0), VEM_OK);
    const int64_t n = vem_data_rows(found[0]);
    for (int t = 1; t < 3; t++) {
        assert_int_equal(vem_data_rows(found[t]), n);
        assert_memory_equal(found[t]->base, found[0]->base, (size_t)n * D * 8);
        assert_memory_equal(vem_data_weights(found[t]), vem_data_weights(found[0]),
                            (size_t)n * 8);
    }
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = vem_data_indices(found[0])[k];
        assert_true(i >= 0 && i < N && data.weights[i] > 0);
        assert_memory_equal(found[0]->base + k * D * 8, data.x + i * D, D * 8);
    }
    for (int t = 0; t < 3; t++)
        vem_data_free(found[t]);
    grid_data_free(&data);
}

/* At every moment no more than m (log2(n / m) + 2) rows. */
static void memory_is_bounded(void **state)
{
    (void)state;
    enum { M = 32, BATCH = 16, BATCHES = 1200 };
    vem_stream *stream = stream_new(M, 1);
    for (int64_t b = 0; b < BATCHES; b++) {
        grid_data data =
            grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, BATCH, 2, (uint64_t)b);
        feed(stream, &data, 0, BATCH);
        const double n = (double)(b + 1) * BATCH;
        assert_true((double)vem_stream_kept(stream) <= M * (fmax(log2(n / M), 0) + 2));
        assert_true(vem_stream_mass(stream) == n);
        grid_data_free(&data);
    }
    assert_true(vem_stream_kept(stream) < BATCH * BATCHES / 50);
    vem_stream_free(stream);
}

/* The cost of fixed centers: right in the mean, and its variance no more than twice that of
 * one coreset of m rows of everything (docs/math/streaming.md). Over R seeds the mean lies
 * within 4 standard errors, and the ratio of the two variances, each known to about
 * sqrt(2 / R), below 2 by as much as four of those allow. */
static void as_good_as_promised(void **state)
{
    (void)state;
    enum { N = 6401, M = 100, D = 2, K = 4, R = 200 }; /* one bucket of all, and a row */
    for (int weights = WEIGHTS_NONE; weights <= WEIGHTS_REAL; weights += WEIGHTS_REAL) {
        grid_data data = grid_data_new(SET_OVERLAPPING, (grid_weights)weights, N, D, 3);
        vem_data *rows = grid_borrow(ctx, &data);
        const double exact = cost(data.x, data.weights, N, D, data.x, K);
        double mean = 0, squares = 0, direct = 0, mass = 0;
        for (int r = 0; r < R; r++) {
            vem_stream *stream = stream_new(M, r);
            feed(stream, &data, 0, N);
            vem_data *a = coreset_of(stream);
            vem_data *b = coreset_draw(ctx, rows, M, VEM_CORESET_LIGHTWEIGHT, 1000 + r);
            const double *xa = (const double *)(const void *)a->base,
                         *xb = (const double *)(const void *)b->base;
            const double off =
                cost(xa, vem_data_weights(a), vem_data_rows(a), D, data.x, K) / exact - 1;
            const double other =
                cost(xb, vem_data_weights(b), M, D, data.x, K) / exact - 1;
            mean += off / R;
            squares += off * off / R;
            direct += other * other / R;
            mass += coreset_total(vem_data_weights(a), vem_data_rows(a)) / R;
            vem_data_free(a);
            vem_data_free(b);
            vem_stream_free(stream);
        }
        print_message("weights %s: error %.4f (mean %.4f), one coreset %.4f\n",
                      grid_weights_names[weights], sqrt(squares), mean, sqrt(direct));
        assert_true(fabs(mean) <= 4 * sqrt(squares / R));
        assert_true(squares <= 2 * (1 + 4 * sqrt(4.0 / R)) * direct);
        assert_true(squares > 0);
        const double total = data.weights ? coreset_total(data.weights, N) : N;
        grid_assert_near(mass, total, 0.05 * total, "mass");
        vem_data_free(rows);
        grid_data_free(&data);
    }
}

/* A model follows a stream whose clusters come one after the other, which no window could. */
static void a_model_tracks_the_stream(void **state)
{
    (void)state;
    enum { N = 2000, M = 200 };
    static double x[N * 2];
    for (int64_t i = 0; i < N; i++) {
        vem_i_rng rng = vem_i_rng_at(4, VEM_RNG_TEST, 0, (uint64_t)i);
        const int64_t cluster = i * 4 / N;
        x[2 * i] = 20.0 * (double)(cluster % 2) + vem_i_rng_normal(&rng);
        x[2 * i + 1] = 20.0 * (double)(cluster / 2) + vem_i_rng_normal(&rng);
    }
    grid_data data = {.n = N, .d = 2, .x = x};
    vem_stream *stream = stream_new(M, 1);
    vem_options o;
    vem_options_init(&o);
    o.clusters = 4;
    vem_model *model = NULL, *next = NULL;
    vem_report *report = NULL;
    for (int64_t i = 0; i < N; i += 500) {
        feed(stream, &data, i, i + 500);
        assert_int_equal(vem_stream_model(ctx, stream, &o, i == 1500 ? NULL : model,
                                          &next, &report),
                         VEM_OK);
        vem_report_free(report);
        vem_model_free(model);
        model = next;
    }
    const double found = cost(x, NULL, N, 2, vem_model_means(model), 4);
    assert_true(found < 2.3 * N); /* 2 per row at best */
    vem_model_free(model);
    vem_stream_free(stream);
}

static void types_and_normalization(void **state)
{
    (void)state;
    enum { N = 500 };
    static float f4[N * 2];
    static uint8_t u1[N * 2];
    for (int i = 0; i < N * 2; i++)
        f4[i] = u1[i] = (uint8_t)(i * 37 % 251 + 1);
    vem_stream_options o = {.size = sizeof o, .bucket = 50, .seed = 2, .normalize = 1};
    vem_stream *stream = NULL;
    vem_data *floats = NULL, *bytes = NULL, *doubles = NULL;
    double wide[4] = {1, 2, 3, 4};
    assert_int_equal(vem_stream_new(ctx, &o, &stream), VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, f4, N, 2, 0, 0, &floats), VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_UINT8, u1, N, 2, 0, 0, &bytes), VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, wide, 2, 2, 0, 0, &doubles),
                     VEM_OK);
    assert_int_equal(vem_stream_add(ctx, stream, floats), VEM_OK);
    assert_int_equal(vem_stream_add(ctx, stream, bytes), VEM_OK);
    assert_int_equal(vem_stream_add(ctx, stream, doubles), VEM_BAD_DATA);
    assert_int_equal(vem_stream_rows(stream), 2 * N);
    vem_data *coreset = coreset_of(stream);
    assert_int_equal(vem_data_dtype(coreset), VEM_FLOAT32);
    for (int64_t i = 0; i < vem_data_rows(coreset); i++) {
        double row[2];
        assert_int_equal(vem_data_get(ctx, coreset, i, 1, row), VEM_OK);
        grid_assert_near(hypot(row[0], row[1]), 1, 1e-6, "length");
    }
    vem_options fit;
    vem_options_init(&fit);
    fit.clusters = 3;
    vem_model *model = NULL;
    vem_report *report = NULL;
    assert_int_equal(vem_stream_model(ctx, stream, &fit, NULL, &model, &report), VEM_OK);
    assert_true(vem_model_normalizes(model));
    vem_model_free(model);
    vem_report_free(report);
    vem_data_free(coreset);
    vem_data_free(floats);
    vem_data_free(bytes);
    vem_data_free(doubles);
    vem_stream_free(stream);
}

static void what_is_refused(void **state)
{
    (void)state;
    vem_stream *stream = NULL;
    vem_stream_options o = {.size = sizeof o, .bucket = 1};
    assert_int_equal(vem_stream_new(ctx, &o, &stream), VEM_BAD_OPTION);
    o.bucket = 10;
    o.size = 3;
    assert_int_equal(vem_stream_new(ctx, &o, &stream), VEM_BAD_OPTION);
    assert_int_equal(vem_stream_new(ctx, NULL, &stream), VEM_BAD_OPTION);
    assert_null(stream);
    vem_stream_free(stream_new(2, 1)); /* the least */
    stream = stream_new(10, 1);
    /* No rows yet. */
    vem_data *none = NULL, *rows = NULL;
    assert_int_equal(vem_stream_coreset(ctx, stream, &none), VEM_BAD_DATA);
    vem_options fit;
    vem_options_init(&fit);
    fit.clusters = 2;
    vem_model *model = NULL;
    vem_report *report = NULL;
    assert_int_equal(vem_stream_model(ctx, stream, &fit, NULL, &model, &report),
                     VEM_BAD_DATA);
    assert_int_equal(vem_stream_add(ctx, stream, NULL), VEM_BAD_OPTION);
    /* A bad value: the whole batch stays out. */
    double x[60];
    for (int i = 0; i < 60; i++)
        x[i] = i;
    x[59] = NAN;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, 30, 2, 0, 0, &rows), VEM_OK);
    assert_int_equal(vem_stream_add(ctx, stream, rows), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "Row 30, column 2"));
    assert_int_equal(vem_stream_rows(stream), 0);
    assert_int_equal(vem_stream_kept(stream), 0);
    x[59] = 59;
    assert_int_equal(vem_stream_add(ctx, stream, rows), VEM_OK);
    vem_data_free(rows);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, 20, 3, 0, 0, &rows), VEM_OK);
    assert_int_equal(vem_stream_add(ctx, stream, rows), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "3 columns"));
    assert_int_equal(vem_stream_rows(stream), 30);
    assert_null(none);
    vem_data_free(rows);
    vem_stream_free(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_early),
        cmocka_unit_test(batches_do_not_matter),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(as_good_as_promised),
        cmocka_unit_test(a_model_tracks_the_stream),
        cmocka_unit_test(types_and_normalization),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
