/* Coresets of every kind of rows: many, of any type and stride, weighted oddly, all equal;
 * what is refused, and that drawing can be stopped. */
#include "coreset_checks.h"
#include "run.h"

#include "context.h"

/* More rows than are worked on at once. */
static void several_waves(void **state)
{
    enum { N = 2500000 };
    (void)state;
    uint8_t *x = malloc(N);
    double q[256];
    assert_true(vem_i_wave_rows(1) < N);
    for (int64_t i = 0; i < N; i++)
        x[i] = (uint8_t)(i * 7919 >> 8);
    x[N - 1] = 255;
    vem_data *rows = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_UINT8, x, N, 1, 0, 0, &rows), VEM_OK);
    double mean = 0, sum = 0;
    for (int64_t i = 0; i < N; i++)
        mean += x[i];
    mean /= N;
    for (int64_t i = 0; i < N; i++)
        sum += pow(x[i] - mean, 2);
    for (int v = 0; v < 256; v++)
        q[v] = 0.5 / N + 0.5 * pow(v - mean, 2) / sum;
    vem_data *a = coreset_draw(ctx, rows, 3000, VEM_CORESET_LIGHTWEIGHT, 2);
    int64_t late = 0;
    for (int64_t k = 0; k < 3000; k++) {
        const int64_t i = vem_data_indices(a)[k];
        const double expected = 1 / (3000 * q[x[i]]);
        late += i >= N - N / 6;
        assert_true(((const uint8_t *)a->base)[k] == x[i]);
        grid_assert_near(vem_data_weights(a)[k], expected, 1e-9 * expected, "weight");
    }
    assert_true(late > 200 && late < 1500);
    vem_data_free(a);
    a = coreset_draw(ctx, rows, 3000, VEM_CORESET_UNIFORM, 2);
    for (int64_t k = 0; k < 3000; k++)
        assert_true(((const uint8_t *)a->base)[k] == x[vem_data_indices(a)[k]]);
    vem_data_free(a);
    vem_data_free(rows);
    free(x);
}

/* The same draw however the values are stored. */
static void types_and_strides(void **state)
{
    enum { N = 400, D = 5 };
    (void)state;
    static double f8[N * D], gaps[N * (D + 3)], columns[D * N];
    static float f4[N * D];
    static int32_t i4[N * D];
    static int64_t i8[N * D];
    static uint8_t u1[N * D];
    static char odd[N * D * 8 + 1];
    static uint64_t swapped[N * D];
    for (int i = 0; i < N * D; i++) {
        f8[i] = (i * 37 % 251) ^ (i % 7);
        f4[i] = (float)f8[i];
        i4[i] = (int32_t)f8[i];
        i8[i] = (int64_t)f8[i];
        u1[i] = (uint8_t)f8[i];
        gaps[i / D * (D + 3) + i % D] = f8[i];
        columns[i % D * N + i / D] = f8[i];
        memcpy(&swapped[i], &f8[i], 8);
        swapped[i] = __builtin_bswap64(swapped[i]);
    }
    memcpy(odd + 1, f8, sizeof f8);
    const struct {
        vem_dtype type;
        const void *values;
        int64_t row, column;
        int swap;
    } ways[] = {{VEM_FLOAT64, f8, 0, 0, 0},
                {VEM_FLOAT32, f4, 0, 0, 0},
                {VEM_INT32, i4, 0, 0, 0},
                {VEM_INT64, i8, 0, 0, 0},
                {VEM_UINT8, u1, 0, 0, 0},
                {VEM_FLOAT64, gaps, (D + 3) * 8, 8, 0},
                {VEM_FLOAT64, columns, 8, N * 8, 0},
                {VEM_FLOAT64, odd + 1, 0, 0, 0},
                {VEM_FLOAT64, swapped, 0, 0, 1}};
    vem_data *first = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        vem_data *rows = NULL;
        assert_int_equal(vem_data_borrow(ctx, ways[i].type, ways[i].values, N, D,
                                         ways[i].row, ways[i].column, &rows),
                         VEM_OK);
        rows->swapped = ways[i].swap;
        vem_data *coreset = coreset_draw(ctx, rows, 100, VEM_CORESET_LIGHTWEIGHT, 6);
        if (!first)
            first = coreset;
        for (int64_t k = 0; k < 100; k++) {
            double a[D], b[D];
            assert_int_equal(vem_data_indices(coreset)[k], vem_data_indices(first)[k]);
            grid_assert_near(vem_data_weights(coreset)[k], vem_data_weights(first)[k],
                             1e-12, "weight");
            vem_data_get(ctx, coreset, k, 1, a);
            vem_data_get(ctx, first, k, 1, b);
            assert_memory_equal(a, b, sizeof a);
        }
        vem_data_free(rows);
        if (coreset != first)
            vem_data_free(coreset);
    }
    vem_data_free(first);
}

/* --normalize and --standardize: chances by the rows as the engine sees them, rows as they
 * are. */
static void as_the_engine_sees_them(void **state)
{
    enum { N = 300, D = 4 };
    (void)state;
    for (int way = 0; way < 3; way++) {
        grid_data data = grid_data_new(SET_CONSTANT, WEIGHTS_REAL, N, D, 77);
        const double given[D] = {0.5, 2, 3, 1};
        vem_data *rows = grid_borrow(ctx, &data), *coreset = NULL;
        double scale[D] = {0}, seen[N * D], mean[D] = {0}, var[D] = {0};
        const double mass = coreset_total(data.weights, N);
        vem_i_coreset_request request = {.size = 100,
                                         .seed = 1,
                                         .normalize = way == 0,
                                         .standardize = way == 1,
                                         .scale = way == 2 ? given : NULL};
        for (int i = 0; i < N * D; i++)
            mean[i % D] += data.weights[i / D] * data.x[i] / mass;
        for (int i = 0; i < N * D; i++)
            var[i % D] += data.weights[i / D] * pow(data.x[i] - mean[i % D], 2) / mass;
        for (int i = 0; i < N; i++) {
            double length = 0;
            for (int j = 0; j < D; j++)
                length += data.x[i * D + j] * data.x[i * D + j];
            for (int j = 0; j < D; j++)
                seen[i * D + j] = data.x[i * D + j] / (way == 0     ? sqrt(length)
                                                       : way == 2   ? given[j]
                                                       : j == D - 1 ? 1
                                                                    : sqrt(var[j]));
        }
        assert_int_equal(vem_i_coreset(run_of(ctx), rows, &request, scale, &coreset),
                         VEM_OK);
        for (int j = 0; way == 1 && j < D; j++)
            grid_assert_near(scale[j], j == D - 1 ? 1 : sqrt(var[j]), 1e-12, "scale");
        double *q = coreset_chances(seen, data.weights, N, D);
        coreset_assert_draws(ctx, rows, coreset, q, 1e-10);
        free(q);
        vem_data_free(coreset);
        vem_data_free(rows);
        grid_data_free(&data);
    }
}

static void edges(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 50, 6}, equal[] = {7, 7, 7, 7, 7, 7};
    const double w[] = {0, 1, 2, 3, 4, 0}, one[] = {0, 0, 0, 5, 0, 0};
    vem_data *rows = NULL, *coreset;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, 6, 1, 0, 0, &rows), VEM_OK);
    /* N' >= N: all rows. */
    for (int size = 6; size < 9; size++)
        for (int method = 0; method < 2; method++) {
            assert_int_equal(vem_coreset(ctx, rows, size, (vem_coreset_method)method, 1,
                                         &coreset),
                             VEM_OK);
            assert_int_equal(vem_data_rows(coreset), 6);
            for (int i = 0; i < 6; i++) {
                assert_int_equal(vem_data_indices(coreset)[i], i);
                assert_true(vem_data_weights(coreset)[i] == 1);
            }
            vem_data_free(coreset);
        }
    assert_int_equal(vem_data_set_weights(ctx, rows, w, 6), VEM_OK);
    assert_int_equal(vem_coreset(ctx, rows, 6, VEM_CORESET_LIGHTWEIGHT, 1, &coreset),
                     VEM_OK);
    assert_memory_equal(vem_data_weights(coreset), w, sizeof w);
    vem_data_free(coreset);
    /* N' = 1; only one row of positive weight; the last row weighs nothing. */
    for (int seed = 0; seed < 200; seed++) {
        coreset = coreset_draw(ctx, rows, 1, VEM_CORESET_LIGHTWEIGHT, seed);
        assert_true(w[vem_data_indices(coreset)[0]] > 0);
        vem_data_free(coreset);
    }
    assert_int_equal(vem_data_set_weights(ctx, rows, one, 6), VEM_OK);
    for (int method = 0; method < 2; method++) {
        coreset = coreset_draw(ctx, rows, 4, (vem_coreset_method)method, 1);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(vem_data_indices(coreset)[k], 3);
            grid_assert_near(vem_data_weights(coreset)[k], 5.0 / 4, 1e-15, "weight");
        }
        vem_data_free(coreset);
    }
    /* The scale of the weights does not matter, however odd. */
    double small[6], large[6];
    for (int i = 0; i < 6; i++) {
        small[i] = w[i] * 1e-300;
        large[i] = w[i] * 1e300;
    }
    const double *const scales[] = {w, small, large};
    vem_data *first = NULL;
    for (int s = 0; s < 3; s++) {
        assert_int_equal(vem_data_set_weights(ctx, rows, scales[s], 6), VEM_OK);
        coreset = coreset_draw(ctx, rows, 5, VEM_CORESET_LIGHTWEIGHT, 9);
        first = first ? first : coreset;
        for (int k = 0; k < 5; k++) {
            const double factor = scales[s][4] / w[4];
            assert_int_equal(vem_data_indices(coreset)[k], vem_data_indices(first)[k]);
            grid_assert_near(vem_data_weights(coreset)[k] / factor,
                             vem_data_weights(first)[k], 1e-12, "weight");
        }
        if (s > 0)
            vem_data_free(coreset);
    }
    vem_data_free(first);
    vem_data_free(rows);
    /* All rows equal: uniform. */
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, equal, 6, 1, 0, 0, &rows), VEM_OK);
    coreset = coreset_draw(ctx, rows, 4, VEM_CORESET_LIGHTWEIGHT, 1);
    for (int k = 0; k < 4; k++)
        grid_assert_near(vem_data_weights(coreset)[k], 1.5, 1e-15, "weight");
    vem_data_free(coreset);
    vem_data_free(rows);
}

static void refused(void **state)
{
    (void)state;
    double x[400] = {0}, zeros[200] = {0};
    for (int i = 0; i < 400; i++)
        x[i] = i % 17;
    vem_data *rows = NULL, *coreset = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, 200, 2, 0, 0, &rows), VEM_OK);
    assert_int_equal(vem_coreset(ctx, NULL, 5, VEM_CORESET_UNIFORM, 1, &coreset),
                     VEM_BAD_OPTION);
    assert_int_equal(vem_coreset(ctx, rows, 0, VEM_CORESET_UNIFORM, 1, &coreset),
                     VEM_BAD_OPTION);
    assert_int_equal(vem_coreset(ctx, rows, -3, VEM_CORESET_UNIFORM, 1, &coreset),
                     VEM_BAD_OPTION);
    assert_int_equal(vem_coreset(ctx, rows, 5, (vem_coreset_method)7, 1, &coreset),
                     VEM_BAD_OPTION);
    assert_int_equal(vem_data_set_weights(ctx, rows, zeros, 200), VEM_BAD_DATA);
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e200};
    const char *const words[] = {"is NaN", "is infinite", "is infinite", "overflow"};
    for (int size = 5; size <= 500; size += 495)
        for (int b = 0; b < 4; b++) {
            const double before = x[301];
            x[301] = bad[b]; /* even where it weighs nothing */
            zeros[0] = 1;
            for (int weighted = 0; weighted < 2; weighted++) {
                vem_data_set_weights(ctx, rows, weighted ? zeros : NULL, 200);
                if (b == 3 && weighted)
                    continue; /* its square is nobody's business */
                assert_int_equal(vem_coreset(ctx, rows, size, VEM_CORESET_LIGHTWEIGHT, 1,
                                             &coreset),
                                 VEM_BAD_DATA);
                assert_non_null(strstr(vem_ctx_message(ctx), "Row 151, column 2"));
                assert_non_null(strstr(vem_ctx_message(ctx), words[b]));
            }
            x[301] = before;
        }
    vem_data_set_weights(ctx, rows, NULL, 200);
    for (int i = 0; i < 400; i++)
        x[i] = i == 301 ? NAN : x[i];
    int met = 0;
    for (int seed = 0; seed < 50; seed++) {
        vem_status status =
            vem_coreset(ctx, rows, 20, VEM_CORESET_UNIFORM, seed, &coreset);
        if (status == VEM_OK) {
            vem_data_free(coreset);
        } else {
            assert_non_null(strstr(vem_ctx_message(ctx), "Row 151, column 2 is NaN"));
            met++;
        }
    }
    assert_true(met > 0 && met < 25);
    assert_int_equal(vem_coreset_write(ctx, rows, "x.npz"), VEM_BAD_OPTION);
    assert_int_equal(vem_coreset_write(ctx, rows, "x.npy"), VEM_BAD_OPTION);
    vem_data_free(rows);
}

static int stop(void *user, const vem_progress *progress)
{
    (void)user;
    assert_string_equal(progress->phase, "reduce");
    assert_true(progress->done <= progress->total);
    return 1;
}

static void can_be_stopped(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, 1000, 3, 1);
    vem_data *rows = grid_borrow(ctx, &data), *coreset = NULL;
    vem_ctx_set_progress(ctx, stop, NULL);
    assert_int_equal(vem_coreset(ctx, rows, 10, VEM_CORESET_LIGHTWEIGHT, 1, &coreset),
                     VEM_STOPPED);
    assert_null(coreset);
    vem_ctx_set_progress(ctx, NULL, NULL);
    vem_data_free(rows);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_waves),
        cmocka_unit_test(types_and_strides),
        cmocka_unit_test(as_the_engine_sees_them),
        cmocka_unit_test(edges),
        cmocka_unit_test(refused),
        cmocka_unit_test(can_be_stopped),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
