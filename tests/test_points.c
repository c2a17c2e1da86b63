/* The engine's copy of the rows against plain loops in long double: every type, order,
 * weighting and unit, at sizes of several shards with rests; and the messages that name the
 * first bad value or the farthest one, wherever it lies. */
#include <float.h>

#include "data/points.h"
#include "grid.h"
#include "run.h"

#include "context.h"

enum order { ROWS, PADDED, COLUMNS, ORDERS };

typedef struct table {
    vem_dtype type;
    enum order order;
    int64_t n;
    int32_t d;
    void *values;
    double *weights; /* NULL: 1 */
} table;

static int64_t at(const table *t, int64_t i, int32_t j)
{
    return t->order == COLUMNS ? j * t->n + i : i * (t->d + (t->order == PADDED)) + j;
}

static double get(const table *t, int64_t i, int32_t j)
{
    switch (t->type) {
    case VEM_FLOAT32: return (double)((const float *)t->values)[at(t, i, j)];
    case VEM_FLOAT64: return ((const double *)t->values)[at(t, i, j)];
    case VEM_UINT8: return ((const uint8_t *)t->values)[at(t, i, j)];
    case VEM_INT32: return ((const int32_t *)t->values)[at(t, i, j)];
    default: return (double)((const int64_t *)t->values)[at(t, i, j)];
    }
}

static void set(const table *t, int64_t i, int32_t j, double value)
{
    switch (t->type) {
    case VEM_FLOAT32: ((float *)t->values)[at(t, i, j)] = (float)value; break;
    case VEM_FLOAT64: ((double *)t->values)[at(t, i, j)] = value; break;
    case VEM_UINT8: ((uint8_t *)t->values)[at(t, i, j)] = (uint8_t)value; break;
    case VEM_INT32: ((int32_t *)t->values)[at(t, i, j)] = (int32_t)value; break;
    default: ((int64_t *)t->values)[at(t, i, j)] = (int64_t)value; break;
    }
}

static table table_new(vem_dtype type, enum order order, int64_t n, int32_t d,
                       int weighted)
{
    table t = {type, order, n, d, NULL, NULL};
    t.values = calloc((size_t)n * (size_t)(d + 1), 8);
    t.weights = weighted ? calloc((size_t)n, sizeof(double)) : NULL;
    assert_non_null(t.values);
    for (int64_t i = 0; i < n; i++) {
        vem_i_rng rng = vem_i_rng_at(5, 1, 2, (uint64_t)i);
        for (int32_t j = 0; j < d; j++)
            set(&t, i, j, 100 + 4 * (j % 5) + 5 * vem_i_rng_normal(&rng));
        if (weighted)
            t.weights[i] = i % 3 == 0 ? 0 : 0.5 + (double)(i % 7);
    }
    return t;
}

static void table_free(table *t)
{
    free(t->values);
    free(t->weights);
}

static vem_status make(const table *t, const vem_i_points_request *request,
                       vem_i_points **points)
{
    static const int64_t bytes[] = {4, 8, 1, 4, 8};
    const int64_t one = bytes[t->type];
    vem_data *data;
    const int64_t row = t->order == COLUMNS ? one : one * (t->d + (t->order == PADDED));
    const int64_t column = t->order == COLUMNS ? one * t->n : one;
    assert_int_equal(vem_data_borrow(ctx, t->type, t->values, t->n, t->d, row, column,
                                     &data),
                     VEM_OK);
    if (t->weights)
        assert_int_equal(vem_data_set_weights(ctx, data, t->weights, t->n), VEM_OK);
    vem_status status = vem_i_points_new(run_of(ctx), data, request, points);
    vem_data_free(data);
    return status;
}

static long double length_of(const table *t, int64_t i)
{
    long double sum = 0;
    for (int32_t j = 0; j < t->d; j++)
        sum += (long double)get(t, i, j) * get(t, i, j);
    return sqrtl(sum);
}

/* Mean and deviation of a column; *squares is what it adds to the variance. */
static void check_column(const table *t, const vem_i_points_request *r,
                         const vem_i_points *p, int32_t j, const long double *lengths,
                         long double *squares)
{
    const double epsilon =
        r->precision == VEM_SINGLE ? (double)FLT_EPSILON : 8 * DBL_EPSILON;
    long double mass = 0, mean = 0, variance = 0, scale = 1;
    for (int64_t i = 0; i < t->n; i++) {
        const long double w = t->weights ? t->weights[i] : 1;
        mass += w;
        mean += w * get(t, i, j) / (r->normalize ? lengths[i] : 1);
    }
    mean /= mass;
    for (int64_t i = 0; i < t->n; i++) {
        const long double e = get(t, i, j) / (r->normalize ? lengths[i] : 1) - mean;
        variance += (t->weights ? t->weights[i] : 1) * e * e;
    }
    variance /= mass;
    if (r->standardize) {
        scale = variance > 1e-25 * mean * mean ? sqrtl(variance) : 1; /* constant */
        grid_assert_near(p->scale[j], (double)scale, 1e-12 * (double)scale, "scale");
    }
    grid_assert_near(p->origin[j], (double)mean, 1e-13 * (double)mean, "origin");
    const double size = (double)(mean / scale);
    for (int64_t i = 0; i < t->n; i++) {
        const double e =
            (double)((get(t, i, j) / (r->normalize ? lengths[i] : 1) - mean) / scale);
        grid_assert_near(vem_i_value(p->view.kernels, p->x, i * t->d + j), e,
                         epsilon * fabs(e) + 1e-12 * size, "value");
    }
    *squares += variance / (scale * scale);
}

static void check(const table *t, const vem_i_points_request *r)
{
    vem_i_points *p;
    if (make(t, r, &p) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    long double *lengths = calloc((size_t)t->n, sizeof *lengths), squares = 0, mass = 0;
    for (int64_t i = 0; i < t->n; i++) {
        lengths[i] = length_of(t, i);
        mass += t->weights ? t->weights[i] : 1;
    }
    for (int32_t j = 0; j < t->d; j++)
        check_column(t, r, p, j, lengths, &squares);
    grid_assert_near(p->view.variance, (double)squares / t->d,
                     1e-12 * (double)squares / t->d, "variance");
    grid_assert_near(p->view.total_mass, (double)mass, 1e-12 * (double)mass, "mass");
    free(lengths);
    vem_i_points_free(p);
}

static const struct size {
    int64_t n;
    int32_t d;
} sizes[] = {{1003, 1}, {70001, 1}, {503, 3}, {401, 100},
             {333, 64}, {131, 520}, {5, 9001}};

static void every_type_and_order(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int type = VEM_FLOAT32; type <= VEM_INT64; type++)
            for (int way = 0; way < 4; way++) {
                const enum order order = (enum order)((type + way) % ORDERS);
                table t = table_new((vem_dtype)type, order, sizes[s].n, sizes[s].d,
                                    (way + (int)s) % 2);
                vem_i_points_request r = {.phase = "read",
                                          .normalize = way == 2 && t.d > 1,
                                          .standardize = way >= 2};
                for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
                    r.precision = (vem_precision)precision;
                    check(&t, &r);
                }
                table_free(&t);
            }
}

/* Plain rows, the case that matters most, in each order and with each weighting. */
static void plain_rows(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int order = 0; order < ORDERS; order++)
            for (int weighted = 0; weighted < 2; weighted++) {
                table t = table_new(VEM_FLOAT32, (enum order)order, sizes[s].n,
                                    sizes[s].d, weighted);
                vem_i_points_request r = {.phase = "read", .precision = VEM_SINGLE};
                check(&t, &r);
                table_free(&t);
            }
}

static void refused(const table *t, const vem_i_points_request *r, const char *words)
{
    vem_i_points *p;
    assert_int_equal(make(t, r, &p), VEM_BAD_DATA);
    if (strncmp(vem_ctx_message(ctx), words, strlen(words)) != 0)
        fail_msg("\"%s\" does not begin \"%s\"", vem_ctx_message(ctx), words);
}

/* The first of two bad values is named, whatever shard, wide row or rest it is in, and even
 * where its weight is 0; with a given origin there is only one pass to see it. */
static void bad_values_are_named(void **state)
{
    (void)state;
    const int64_t n = 20011;
    const int64_t places[] = {0, 1, 79, 80, 3276, 10922, 20009};
    const double bad[] = {NAN, INFINITY, -INFINITY};
    double origin[3] = {100, 104, 108};
    for (int type = VEM_FLOAT32; type <= VEM_FLOAT64; type++)
        for (int order = 0; order < ORDERS; order++) {
            table t =
                table_new((vem_dtype)type, (enum order)order, n, 3, order == PADDED);
            for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
                char words[96];
                const int32_t column = (int32_t)(k % 3);
                set(&t, places[k], column, bad[k % 3]);
                set(&t, n - 1, 2, INFINITY);
                snprintf(words, sizeof words, "Row %lld, column %d is %s.",
                         (long long)places[k] + 1, column + 1,
                         k % 3 == 0 ? "NaN" : "infinite");
                for (int way = 0; way < 4; way++) {
                    vem_i_points_request r = {.phase = "read",
                                              .precision = VEM_SINGLE,
                                              .normalize = way == 1,
                                              .standardize = way == 2,
                                              .origin = way == 3 ? origin : NULL};
                    refused(&t, &r, words);
                }
                set(&t, places[k], column, 100);
            }
            table_free(&t);
        }
}

/* The first of the farthest values is named, where squares overflow in the compute type, in
 * double, and where even the sum of the rows does. */
static void far_values_are_named(void **state)
{
    (void)state;
    for (int order = 0; order < ORDERS; order++) {
        table t = table_new(VEM_FLOAT64, (enum order)order, 30011, 3, order == PADDED);
        const struct {
            double value;
            vem_precision precision;
            const char *type;
        } far[] = {{1e25, VEM_SINGLE, "single"},
                   {1e200, VEM_SINGLE, "single"},
                   {1e200, VEM_DOUBLE, "double"},
                   {1.7e308, VEM_DOUBLE, "double"}};
        for (size_t k = 0; k < sizeof far / sizeof far[0]; k++) {
            vem_i_points_request r = {.phase = "read", .precision = far[k].precision};
            set(&t, 20000, 1, -far[k].value);
            set(&t, 20003, 2, -far[k].value);
            set(&t, 29999, 0, -far[k].value);
            refused(&t, &r, "Row 20001, column 2 is -1");
            assert_non_null(strstr(vem_ctx_message(ctx), far[k].type));
            assert_non_null(strstr(vem_ctx_message(ctx), " and lies 1"));
        }
        table_free(&t);
    }
}

/* Directions do not depend on the size of the numbers. */
static void lengths_neither_vanish_nor_overflow(void **state)
{
    (void)state;
    const double sizes_of_rows[] = {1, 1e-320, 1e-308, 1e-160, 1e-99, 1e99, 1e160, 1e307};
    for (size_t k = 0; k < sizeof sizes_of_rows / sizeof sizes_of_rows[0]; k++) {
        const double s = sizes_of_rows[k];
        double row[7] = {3 * s, 0, -4 * s, 0, 0, 0, 0};
        vem_i_normalize_row(row, 7);
        const double tolerance =
            s < 1e-310 ? 1e-3 : 1e-15; /* subnormals have few digits */
        grid_assert_near(row[0], 0.6, tolerance, "first");
        grid_assert_near(row[2], -0.8, tolerance, "third");
    }
    double zeros[5] = {0};
    vem_i_normalize_row(zeros, 5);
    for (int j = 0; j < 5; j++)
        assert_true(zeros[j] == 0);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    table t = table_new(VEM_FLOAT32, ROWS, 30011, 7, 0);
    vem_i_points *p[2];
    vem_i_points_request r = {.phase = "read", .precision = VEM_SINGLE};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(vem_ctx_set_threads(ctx, 1 + 2 * k), VEM_OK);
        assert_int_equal(make(&t, &r, &p[k]), VEM_OK);
    }
    assert_memory_equal(p[0]->x, p[1]->x, (size_t)t.n * 7 * sizeof(float));
    assert_memory_equal(p[0]->origin, p[1]->origin, 7 * sizeof(double));
    assert_true(p[0]->view.variance == p[1]->view.variance);
    vem_i_points_free(p[0]);
    vem_i_points_free(p[1]);
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_order),
        cmocka_unit_test(plain_rows),
        cmocka_unit_test(bad_values_are_named),
        cmocka_unit_test(far_values_are_named),
        cmocka_unit_test(lengths_neither_vanish_nor_overflow),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
