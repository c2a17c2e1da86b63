/* Generated data: what each kind promises holds, and seeds repeat. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vem/vem.h"

#include "context.h"

typedef struct set {
    int64_t n;
    int32_t d, clusters;
    double *rows, *centers;
    int32_t *labels;
} set;

static set make(vem_generator kind, vem_generate_options options)
{
    set s = {.clusters = options.clusters};
    options.size = sizeof options;
    const vem_status status =
        vem_generate(ctx, kind, &options, &s.n, &s.d, &s.rows, &s.labels, &s.centers);
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    return s;
}

static void drop(set *s)
{
    free(s->rows);
    free(s->labels);
    free(s->centers);
}

static double gap(const set *s, int32_t a, int32_t b)
{
    double sum = 0;
    for (int32_t j = 0; j < s->d; j++) {
        const double off = s->centers[a * s->d + j] - s->centers[b * s->d + j];
        sum += off * off;
    }
    return sqrt(sum);
}

static void count_rows(const set *s, int64_t *counts)
{
    for (int64_t i = 0; i < s->n; i++) {
        assert_in_range(s->labels[i], 0, (uintmax_t)s->clusters - 1);
        counts[s->labels[i]]++;
    }
}

/* Second moment of a cluster about its true center, along axes a and b. */
static double moment(const set *s, int32_t cluster, int32_t a, int32_t b)
{
    double sum = 0, count = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (s->labels[i] == cluster) {
            sum += (s->rows[i * s->d + a] - s->centers[cluster * s->d + a]) *
                   (s->rows[i * s->d + b] - s->centers[cluster * s->d + b]);
            count++;
        }
    return sum / count;
}

static void grid(void **state)
{
    (void)state;
    set s = make(VEM_BIRCH_GRID, (vem_generate_options){.clusters = 25, .seed = 1});
    int64_t counts[25] = {0};
    assert_int_equal(s.n, 2500);
    assert_int_equal(s.d, 2);
    count_rows(&s, counts);
    for (int c = 0; c < 25; c++) {
        assert_int_equal(counts[c], 100);
        assert_true(s.centers[2 * c] == 4 * sqrt(2) * (c / 5));
        assert_true(s.centers[2 * c + 1] == 4 * sqrt(2) * (c % 5));
    }
    /* Unit variance, no correlation: within five standard errors over all 2500 rows. */
    double variance = 0, covariance = 0;
    for (int c = 0; c < 25; c++) {
        variance += (moment(&s, c, 0, 0) + moment(&s, c, 1, 1)) / 50;
        covariance += moment(&s, c, 0, 1) / 25;
    }
    assert_true(fabs(variance - 1) < 5 * sqrt(2.0 / 5000));
    assert_true(fabs(covariance) < 5 / sqrt(2500));
    /* Rows come in random order, not cluster by cluster. */
    int64_t runs = 1;
    for (int64_t i = 1; i < s.n; i++)
        runs += s.labels[i] != s.labels[i - 1];
    assert_true(runs > 2200);
    drop(&s);
}

static void random_square(void **state)
{
    (void)state;
    set s = make(VEM_BIRCH_RANDOM,
                 (vem_generate_options){.clusters = 400, .n = 403, .seed = 3});
    const double side = 4 * sqrt(2) * 20;
    double mean = 0, low = side, high = 0;
    for (int i = 0; i < 800; i++) {
        mean += s.centers[i] / 800;
        low = fmin(low, s.centers[i]);
        high = fmax(high, s.centers[i]);
    }
    assert_true(low >= 0 && low < 0.02 * side && high <= side && high > 0.98 * side);
    assert_true(fabs(mean - side / 2) < 5 * side / sqrt(12 * 800));
    int64_t counts[400] = {0}, twos = 0;
    count_rows(&s, counts);
    for (int c = 0; c < 400; c++) {
        assert_in_range(counts[c], 1, 2); /* as equal as 403 rows can be */
        twos += counts[c] == 2;
    }
    assert_int_equal(twos, 3);
    drop(&s);
}

static void separated(void **state)
{
    (void)state;
    const double c = 3;
    set s = make(VEM_SEPARATED,
                 (vem_generate_options){
                     .clusters = 8, .d = 3, .n = 80000, .separation = c, .seed = 5});
    int64_t counts[8] = {0}, least = s.n, most = 0;
    count_rows(&s, counts);
    for (int k = 0; k < 8; k++) {
        least = counts[k] < least ? counts[k] : least;
        most = counts[k] > most ? counts[k] : most;
        /* The trace is a sum of three eigenvalues in [1/4, 1]. */
        const double trace =
            moment(&s, k, 0, 0) + moment(&s, k, 1, 1) + moment(&s, k, 2, 2);
        assert_true(trace > 0.7 && trace < 3.15);
        for (int l = 0; l < k; l++) /* every largest eigenvalue is above 1/4 */
            assert_true(gap(&s, k, l) >= c * sqrt(3 * 0.25));
    }
    assert_true(least > 800 &&
                most > least + 500); /* Dirichlet(5): neither empty nor equal */
    drop(&s);
}

/* In one dimension the eigenvalue is the variance, so the rule can be checked from
 * outside. */
static void separated_in_one_dimension(void **state)
{
    (void)state;
    set s = make(VEM_SEPARATED,
                 (vem_generate_options){
                     .clusters = 6, .d = 1, .n = 120000, .separation = 4, .seed = 11});
    for (int k = 0; k < 6; k++)
        for (int l = 0; l < k; l++) {
            const double sd = sqrt(fmax(moment(&s, k, 0, 0), moment(&s, l, 0, 0)));
            assert_true(gap(&s, k, l) >= 4 * sd * 0.97);
        }
    drop(&s);
}

static void tau_separated(void **state)
{
    (void)state;
    set s = make(VEM_TAU_SEPARATED, (vem_generate_options){.clusters = 12,
                                                           .d = 2,
                                                           .n = 1200,
                                                           .separation = 3,
                                                           .box = 40,
                                                           .seed = 9});
    for (int k = 0; k < 12; k++) {
        for (int l = 0; l < k; l++)
            assert_true(gap(&s, k, l) >= 3 * 0.5); /* no sd is below 1/2 */
        assert_true(fabs(s.centers[2 * k]) <= 20 && fabs(s.centers[2 * k + 1]) <= 20);
    }
    drop(&s);
    /* A box that was chosen is kept: too small is an error; the default one grows. */
    vem_generate_options tight = {.size = sizeof tight,
                                  .clusters = 100,
                                  .d = 2,
                                  .separation = 5,
                                  .box = 10,
                                  .seed = 1};
    set none = {.n = 77};
    assert_int_equal(vem_generate(ctx, VEM_TAU_SEPARATED, &tight, &none.n, &none.d,
                                  &none.rows, &none.labels, &none.centers),
                     VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "of 100 centers"));
    assert_true(none.n == 77 && !none.rows);
    tight.box = 0;
    set wide = make(VEM_TAU_SEPARATED, tight);
    for (int k = 0; k < 100; k++)
        for (int l = 0; l < k; l++)
            assert_true(gap(&wide, k, l) >= 5 * 0.5);
    drop(&wide);
}

static void seeds_repeat(void **state)
{
    (void)state;
    for (int kind = VEM_BIRCH_GRID; kind <= VEM_TAU_SEPARATED; kind++) {
        const vem_generate_options options = {.clusters = 9, .n = 5000, .seed = 21};
        vem_generate_options other = options;
        other.seed = 22;
        assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
        set a = make((vem_generator)kind, options), c = make((vem_generator)kind, other);
        assert_int_equal(vem_ctx_set_threads(ctx, 3), VEM_OK);
        set b = make((vem_generator)kind, options);
        const size_t bytes = (size_t)a.n * (size_t)a.d * sizeof *a.rows;
        assert_memory_equal(a.rows, b.rows, bytes);
        assert_memory_equal(a.labels, b.labels, (size_t)a.n * sizeof *a.labels);
        assert_memory_equal(a.centers, b.centers, 18 * sizeof *a.centers);
        assert_int_not_equal(memcmp(a.rows, c.rows, bytes), 0);
        drop(&a);
        drop(&b);
        drop(&c);
    }
}

static void refuse(vem_generator kind, vem_generate_options options, const char *words)
{
    set s = {0};
    if (!options.size)
        options.size = sizeof options;
    assert_int_equal(vem_generate(ctx, kind, &options, &s.n, &s.d, &s.rows, &s.labels,
                                  &s.centers),
                     VEM_BAD_OPTION);
    if (!strstr(vem_ctx_message(ctx), words))
        fail_msg("\"%s\" does not say \"%s\"", vem_ctx_message(ctx), words);
    assert_true(!s.rows && !s.labels && !s.centers);
}

static void wrong_options(void **state)
{
    (void)state;
    refuse(VEM_BIRCH_GRID, (vem_generate_options){.clusters = 24},
           "square number such as 25");
    refuse(VEM_BIRCH_GRID, (vem_generate_options){.clusters = 25, .d = 3},
           "2 dimensions");
    refuse(VEM_SEPARATED, (vem_generate_options){.clusters = 0}, "at least 1");
    refuse(VEM_SEPARATED, (vem_generate_options){.clusters = 3, .n = -1}, "-1");
    refuse(VEM_SEPARATED, (vem_generate_options){.clusters = 3, .d = -2}, "-2");
    refuse(VEM_SEPARATED, (vem_generate_options){.clusters = 3, .separation = NAN},
           "nan");
    refuse(VEM_TAU_SEPARATED, (vem_generate_options){.clusters = 3, .box = -1}, "-1");
    refuse(VEM_SEPARATED, (vem_generate_options){.clusters = 3, .size = 4},
           "vem_generate_options is 4");
    refuse((vem_generator)9, (vem_generate_options){.clusters = 3}, "9");
}

/* What may be at most, may be; and no more. */
static void bounds_of_options(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        vem_generate_options o = {.size = sizeof o, .clusters = 3, .d = 2, .n = 20};
        double *at = k ? &o.box : &o.separation;
        const vem_generator kind = k ? VEM_TAU_SEPARATED : VEM_SEPARATED;
        const double most = k ? 1e9 : 1e6;
        set s = {0};
        *at = most;
        if (vem_generate(ctx, kind, &o, &s.n, &s.d, &s.rows, &s.labels, &s.centers) !=
            VEM_OK)
            fail_msg("%s", vem_ctx_message(ctx));
        assert_int_equal(s.n, 20);
        drop(&s);
        *at = nextafter(most, INFINITY);
        refuse(kind, o, k ? "1e9" : "1e6");
    }
}

static void outputs_that_are_not_wanted(void **state)
{
    (void)state;
    const vem_generate_options options = {.size = sizeof options, .clusters = 4};
    set s = {0};
    assert_int_equal(vem_generate(ctx, VEM_BIRCH_GRID, &options, &s.n, &s.d, &s.rows,
                                  NULL, NULL),
                     VEM_OK);
    assert_int_equal(s.n, 400);
    drop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid),
        cmocka_unit_test(random_square),
        cmocka_unit_test(separated),
        cmocka_unit_test(separated_in_one_dimension),
        cmocka_unit_test(tau_separated),
        cmocka_unit_test(seeds_repeat),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(bounds_of_options),
        cmocka_unit_test(outputs_that_are_not_wanted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
