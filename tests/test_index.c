/* The yardstick of an index against plain loops: nearest rows, lists in the order of their
 * distance, rows in them. */
#include "context.h"
#include "fake_clock.h"

static const vem_precision AUTO = (vem_precision)VEM_AUTO;
enum { N = 700, Q = 40, D = 5, C = 90, K = 10 };

typedef struct rows {
    double x[N * D], queries[Q * D], means[C * D], weights[C];
} rows;

static double number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24) - 0.5;
}

static void draw(rows *r, uint32_t seed)
{
    for (int i = 0; i < N * D; i++)
        r->x[i] = number(&seed) + 2 * (i / D % 7 == 0);
    for (int i = 0; i < Q * D; i++)
        r->queries[i] = number(&seed);
    for (int c = 0; c < C; c++) {
        r->weights[c] = 1.0 / C;
        for (int j = 0; j < D; j++)
            r->means[c * D + j] = r->x[(c * 7 + 3) * D + j] + 0.01 * number(&seed);
    }
    for (int j = 0; j < D; j++) { /* rows in the same place, and a list that has none */
        r->x[5 * D + j] = r->x[6 * D + j] = r->queries[j];
        r->means[(C - 1) * D + j] = 50;
    }
}

static vem_data *data_of(const double *values, int64_t n)
{
    vem_data *data = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, values, n, D, D * sizeof(double),
                                     sizeof(double), &data),
                     VEM_OK);
    return data;
}

static vem_model *model_of(const rows *r)
{
    const double variance = 0.1;
    vem_model *model = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, C, D, r->means, r->weights,
                                   &variance, &model),
                     VEM_OK);
    return model;
}

static double square(const double *a, const double *b)
{
    double sum = 0;
    for (int j = 0; j < D; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* The nearest `count` of n, by repeated looks. */
static void nearest(const double *x, int n, const double *to, int count, int *found)
{
    char taken[N] = {0};
    for (int k = 0; k < count; k++) {
        int best = -1;
        for (int i = 0; i < n; i++)
            if (!taken[i] &&
                (best < 0 || square(x + i * D, to) < square(x + best * D, to)))
                best = i;
        taken[best] = 1;
        found[k] = best;
    }
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fmax(1, fabs(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

static void points_of(const vem_index *index, vem_index_point *points)
{
    for (int32_t g = 0; g < vem_index_count(index); g++)
        points[g] = *vem_index_at(index, g);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void check_plain_loops(int n)
{
    static rows r;
    static int label[N], order[Q][C], wanted[Q][K];
    int64_t sizes[C] = {0};
    draw(&r, 11);
    vem_data *data = data_of(r.x, n), *queries = data_of(r.queries, Q);
    vem_model *model = model_of(&r);
    vem_index *index = NULL;
    if (vem_index_score(ctx, model, data, queries, AUTO, NULL, &index) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    for (int i = 0; i < n; i++) {
        nearest(r.means, C, r.x + i * D, 1, &label[i]);
        sizes[label[i]]++;
    }
    for (int q = 0; q < Q; q++) {
        nearest(r.means, C, r.queries + q * D, C, order[q]);
        nearest(r.x, n, r.queries + q * D, K, wanted[q]);
    }
    assert_int_equal(wanted[0][0], 5); /* of two in one place the first */
    assert_int_equal(wanted[0][1], 6);
    /* Sizes. */
    vem_index_summary s = {.size = sizeof s};
    assert_int_equal(vem_index_describe(ctx, index, &s), VEM_OK);
    double squares = 0;
    int64_t largest = 0, empty = 0, over = 0;
    for (int c = 0; c < C; c++) {
        squares +=
            ((double)sizes[c] - (double)n / C) * ((double)sizes[c] - (double)n / C);
        largest = sizes[c] > largest ? sizes[c] : largest;
        empty += sizes[c] == 0;
        over += (double)sizes[c] > 4.0 * n / C;
    }
    assert_near(s.cv, sqrt(squares / C) / ((double)n / C));
    assert_int_equal(s.largest, largest);
    assert_int_equal(s.empty, empty);
    assert_true(empty > 0);
    assert_int_equal(s.over, over);
    assert_true(over > 0);
    assert_int_equal(s.neighbors, K);
    /* Every point: one by one to 64, then by a twentieth, to all. */
    const int32_t count = vem_index_count(index);
    vem_index_point points[C];
    points_of(index, points);
    assert_int_equal((int)points[63].probes, 64);
    assert_int_equal((int)points[64].probes, 67);
    assert_int_equal((int)points[count - 1].probes, C);
    assert_near(points[count - 1].recall, 1);
    assert_near(points[count - 1].scanned, n);
    for (int32_t g = 0; g < count; g++) {
        double scanned[Q], sum = 0, found = 0;
        for (int q = 0; q < Q; q++) {
            scanned[q] = 0;
            for (int p = 0; p < (int)points[g].probes; p++) {
                scanned[q] += (double)sizes[order[q][p]];
                for (int k = 0; k < K; k++)
                    found += label[wanted[q][k]] == order[q][p];
            }
            sum += scanned[q];
        }
        qsort(scanned, Q, sizeof *scanned, by_value);
        assert_near(points[g].scanned, sum / Q);
        assert_near(points[g].recall, found / (Q * K));
        assert_near(points[g].scanned_p99, scanned[Q - 1]); /* ceil(0.99 40) = 40 */
    }
    vem_index_free(index);
    vem_model_free(model);
    vem_data_free(data);
    vem_data_free(queries);
}

static void as_plain_loops(void **state)
{
    (void)state;
    check_plain_loops(N);
    check_plain_loops(K + 1);
    check_plain_loops(K); /* all of them are near: there is nothing to look for */
}

/* Rows are looked at in chunks, of which the last may have fewer than are asked for. */
static void few_rows_at_the_end(void **state)
{
    enum { CHUNK = 131072, COLUMNS = 2, AT_END = 5 };
    static float x[(CHUNK + AT_END) * COLUMNS];
    static int32_t lists[CHUNK + AT_END];
    const float query[COLUMNS] = {10, 10};
    const double means[2 * COLUMNS] = {0, 0, 10, 10}, variance = 1;
    const vem_index_options options = {.size = sizeof options, .labels = lists};
    uint32_t seed = 5;
    vem_data *data = NULL, *queries = NULL;
    vem_model *model = NULL;
    vem_index *index = NULL;
    (void)state;
    for (int i = 0; i < (CHUNK + AT_END) * COLUMNS; i++)
        x[i] = (float)number(&seed) + (i < CHUNK * COLUMNS ? 0 : 10);
    for (int i = 0; i < CHUNK + AT_END; i++)
        lists[i] = i >= CHUNK;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, x, CHUNK + AT_END, COLUMNS, 0, 0,
                                     &data),
                     VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, query, 1, COLUMNS, 0, 0, &queries),
                     VEM_OK);
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 2, COLUMNS, means, NULL,
                                   &variance, &model),
                     VEM_OK);
    if (vem_index_score(ctx, model, data, queries, AUTO, &options, &index) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    assert_near(vem_index_at(index, 0)->scanned, AT_END);
    assert_near(vem_index_at(index, 0)->recall, (double)AT_END / K);
    vem_index_free(index);
    vem_model_free(model);
    vem_data_free(data);
    vem_data_free(queries);
}

/* An index knows the means and nothing else: scale, weights and shapes of the model change no list. */
static void models_of_all_kinds(void **state)
{
    static rows r;
    double variances[C * D], scale[D] = {1, 30, 0.1, 5, 0.01}, weights[C];
    vem_index_point wanted[C], points[C];
    vem_index_summary plain = {.size = sizeof plain}, other = plain;
    (void)state;
    draw(&r, 14);
    vem_data *data = data_of(r.x, N), *queries = data_of(r.queries, Q);
    vem_model *model = model_of(&r);
    vem_index *index = NULL;
    assert_int_equal(vem_index_score(ctx, model, data, queries, AUTO, NULL, &index),
                     VEM_OK);
    assert_int_equal(vem_index_describe(ctx, index, &plain), VEM_OK);
    points_of(index, wanted);
    vem_index_free(index);
    for (int i = 0; i < C * D; i++)
        variances[i] = i % 3 ? 0.01 : 4;
    for (int c = 0; c < C; c++)
        weights[c] = (c + 1) / (0.5 * C * (C + 1));
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 0) {
            assert_int_equal(vem_model_set_scale(ctx, model, scale), VEM_OK);
        } else {
            vem_model_free(model);
            assert_int_equal(vem_model_new(ctx, kind == 1 ? VEM_ISO_SHARED : VEM_DIAG, C,
                                           D, r.means, kind == 1 ? weights : NULL,
                                           variances, &model),
                             VEM_OK);
        }
        if (vem_index_score(ctx, model, data, queries, AUTO, NULL, &index) != VEM_OK)
            fail_msg("%s", vem_ctx_message(ctx));
        assert_int_equal(vem_index_describe(ctx, index, &other), VEM_OK);
        points_of(index, points);
        assert_memory_equal(&plain, &other, sizeof plain);
        assert_memory_equal(wanted, points,
                            (size_t)vem_index_count(index) * sizeof *points);
        vem_index_free(index);
    }
    vem_model_free(model);
    vem_data_free(data);
    vem_data_free(queries);
}

/* Nor do units: squares of values that are this small would be 0. */
static void values_however_small(void **state)
{
    static rows r, small;
    static int32_t lists[2][N * 2];
    int32_t count[2];
    vem_index_point points[2][C];
    vem_index_summary told[2] = {{.size = sizeof *told}, {.size = sizeof *told}};
    const struct {
        vem_precision precision;
        int exponent;
    } units[] = {{VEM_SINGLE, -60}, {VEM_SINGLE, -95}, {VEM_DOUBLE, -400}};
    (void)state;
    draw(&r, 15);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        for (int k = 0; k < 2; k++) {
            const double unit = k ? ldexp(1, units[u].exponent) : 1,
                         variance = 0.1 * unit * unit;
            small = r;
            for (int i = 0; i < N * D; i++)
                small.x[i] *= unit;
            for (int i = 0; i < Q * D; i++)
                small.queries[i] *= unit;
            for (int i = 0; i < C * D; i++)
                small.means[i] *= unit;
            vem_data *data = data_of(small.x, N), *queries = data_of(small.queries, Q);
            vem_model *model = NULL;
            vem_index *index = NULL;
            assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, C, D, small.means,
                                           small.weights, &variance, &model),
                             VEM_OK);
            if (vem_index_score(ctx, model, data, queries, units[u].precision, NULL,
                                &index) != VEM_OK ||
                vem_assign_spill(ctx, model, data, 1, units[u].precision, lists[k],
                                 NULL) != VEM_OK)
                fail_msg("%s", vem_ctx_message(ctx));
            assert_int_equal(vem_index_describe(ctx, index, &told[k]), VEM_OK);
            count[k] = vem_index_count(index);
            points_of(index, points[k]);
            vem_index_free(index);
            vem_model_free(model);
            vem_data_free(data);
            vem_data_free(queries);
        }
        assert_memory_equal(&told[0], &told[1], sizeof *told);
        assert_int_equal(count[0], count[1]);
        assert_memory_equal(points[0], points[1], (size_t)count[0] * sizeof **points);
        assert_memory_equal(lists[0], lists[1], sizeof *lists);
    }
}

static void budgets(void **state)
{
    static rows r;
    (void)state;
    draw(&r, 12);
    vem_data *data = data_of(r.x, N), *queries = data_of(r.queries, Q);
    vem_model *model = model_of(&r);
    vem_index *index = NULL;
    assert_int_equal(vem_index_score(ctx, model, data, queries, AUTO, NULL, &index),
                     VEM_OK);
    vem_index_point p[C], at = {.size = sizeof at};
    points_of(index, p);
    /* At a point it is that point, half way between two the mean of them. */
    assert_int_equal(vem_index_scan(ctx, index, p[4].scanned / N, &at), VEM_OK);
    assert_near(at.recall, p[4].recall);
    assert_near(at.probes, 5);
    assert_int_equal(vem_index_scan(ctx, index, (p[4].scanned + p[5].scanned) / 2 / N,
                                    &at),
                     VEM_OK);
    assert_near(at.recall, (p[4].recall + p[5].recall) / 2);
    assert_near(at.scanned_p99, (p[4].scanned_p99 + p[5].scanned_p99) / 2);
    assert_near(at.probes, 5.5);
    /* One list is more than that. */
    assert_int_equal(vem_index_scan(ctx, index, 0.5 * p[0].scanned / N, &at), VEM_OK);
    assert_true(isnan(at.recall));
    assert_int_equal(vem_index_scan(ctx, index, 1, &at), VEM_OK);
    assert_near(at.recall, 1);
    for (int k = 0; k < 3; k++) {
        const double wrong[] = {0, 1.5, NAN};
        assert_int_equal(vem_index_scan(ctx, index, wrong[k], &at), VEM_BAD_OPTION);
    }
    /* A program whose struct ends before `recall` keeps what lies behind it. */
    at = (vem_index_point){.size = offsetof(vem_index_point, recall), .recall = 7};
    assert_int_equal(vem_index_scan(ctx, index, 1, &at), VEM_OK);
    assert_near(at.scanned, N);
    assert_near(at.recall, 7);
    at.size = 0;
    assert_int_equal(vem_index_scan(ctx, index, 1, &at), VEM_BAD_OPTION);
    assert_null(vem_index_at(index, -1));
    assert_null(vem_index_at(index, vem_index_count(index)));
    vem_index_free(index);
    vem_model_free(model);
    vem_data_free(data);
    vem_data_free(queries);
}

/* The same bits for any number of threads; rows of several chunks, in single precision. */
static void threads(void **state)
{
    enum { ROWS = 140000, COLUMNS = 3, LISTS = 30, ASKED = 300, WANTED = 12 };
    static float x[ROWS * COLUMNS], q[ASKED * COLUMNS];
    static const int numbers[] = {1, 2, 3, 7};
    double means[LISTS * COLUMNS], weights[LISTS], variance = 1;
    vem_index_point kept[LISTS];
    uint32_t seed = 3;
    (void)state;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = (float)number(&seed);
    for (int i = 0; i < ASKED * COLUMNS; i++)
        q[i] = i < 150 ? x[ROWS * COLUMNS - 150 + i] : (float)number(&seed);
    for (int i = 0; i < LISTS * COLUMNS; i++)
        means[i] = number(&seed);
    for (int c = 0; c < LISTS; c++)
        weights[c] = 1.0 / LISTS;
    vem_data *data = NULL, *queries = NULL;
    vem_model *model = NULL;
    const vem_index_options options = {.size = sizeof options, .neighbors = WANTED};
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, x, ROWS, COLUMNS,
                                     COLUMNS * sizeof *x, sizeof *x, &data),
                     VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, q, ASKED, COLUMNS,
                                     COLUMNS * sizeof *q, sizeof *q, &queries),
                     VEM_OK);
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, LISTS, COLUMNS, means, weights,
                                   &variance, &model),
                     VEM_OK);
    for (int t = 0; t < 4; t++) {
        vem_index *index = NULL;
        vem_index_point points[LISTS];
        vem_ctx_set_threads(ctx, numbers[t]);
        if (vem_index_score(ctx, model, data, queries, AUTO, &options, &index) != VEM_OK)
            fail_msg("%s", vem_ctx_message(ctx));
        assert_int_equal(vem_index_count(index), LISTS);
        points_of(index, points);
        assert_near(points[LISTS - 1].recall, 1);
        if (t == 0)
            memcpy(kept, points, sizeof kept);
        assert_memory_equal(kept, points, sizeof kept);
        vem_index_free(index);
    }
    vem_ctx_set_threads(ctx, 1);
    vem_model_free(model);
    vem_data_free(data);
    vem_data_free(queries);
}

static int stop_at_once(void *user, const vem_progress *progress)
{
    (void)user;
    return strcmp(progress->phase, "measure") == 0;
}

static void refused(void **state)
{
    static rows r;
    (void)state;
    draw(&r, 13);
    vem_data *data = data_of(r.x, N), *queries = data_of(r.queries, Q), *few, *narrow;
    vem_model *model = model_of(&r);
    vem_index *const before = (vem_index *)&r, *index = before; /* stays as it was */
    vem_index_options options = {.size = sizeof options, .neighbors = 65};
    assert_int_equal(vem_index_score(ctx, model, data, queries, AUTO, &options, &index),
                     VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "--neighbors is 65"));
    vem_ctx_set_dashes(ctx, 0);
    vem_index_score(ctx, model, data, queries, AUTO, &options, &index);
    assert_non_null(strstr(vem_ctx_message(ctx), "neighbors is 65"));
    assert_null(strstr(vem_ctx_message(ctx), "--neighbors"));
    vem_ctx_set_dashes(ctx, 1);
    few = data_of(r.x, K - 1);
    assert_int_equal(vem_index_score(ctx, model, few, queries, AUTO, NULL, &index),
                     VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx),
                           "10 nearest rows (--neighbors), but there are only 9"));
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, r.queries, Q, D - 1,
                                     D * sizeof(double), sizeof(double), &narrow),
                     VEM_OK);
    assert_int_equal(vem_index_score(ctx, model, data, narrow, AUTO, NULL, &index),
                     VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "queries have 4"));
    r.queries[7] = NAN;
    assert_int_equal(vem_index_score(ctx, model, data, queries, AUTO, NULL, &index),
                     VEM_BAD_DATA);
    r.queries[7] = 0;
    fake_tick = 1;
    vem_ctx_set_progress(ctx, stop_at_once, NULL);
    assert_int_equal(vem_index_score(ctx, model, data, queries, AUTO, NULL, &index),
                     VEM_STOPPED);
    assert_ptr_equal(index, before);
    vem_ctx_set_progress(ctx, NULL, NULL);
    vem_model_free(model);
    vem_data_free(data);
    vem_data_free(queries);
    vem_data_free(few);
    vem_data_free(narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_plain_loops),
        cmocka_unit_test(few_rows_at_the_end),
        cmocka_unit_test(models_of_all_kinds),
        cmocka_unit_test(values_however_small),
        cmocka_unit_test(budgets),
        cmocka_unit_test(threads),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
