/* NMI, ARI and purity: golden values, the edges of their definitions, and large random
 * labellings against a plain table. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/rng.h"
#include "vem/vem.h"

#include "context.h"

static vem_agreement compare(const int64_t *clusters, const int64_t *classes, int64_t n)
{
    vem_agreement a = {.size = sizeof a};
    assert_int_equal(vem_compare(ctx, clusters, classes, n, &a), VEM_OK);
    return a;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* ---- Golden values ---- */

static double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static int64_t read_labels(const json_t *object, const char *key, int64_t labels[32])
{
    const json_t *list = json_object_get(object, key);
    const int64_t n = (int64_t)json_array_size(list);
    assert_in_range(n, 1, 32);
    for (int64_t i = 0; i < n; i++)
        labels[i] = json_integer_value(json_array_get(list, (size_t)i));
    return n;
}

static void golden_values(void **state)
{
    (void)state;
    char path[4096];
    const char *source = getenv("VEM_SOURCE");
    snprintf(path, sizeof path, "%s/tests/golden/metrics.json", source ? source : ".");
    json_t *golden = json_load_file(path, 0, NULL);
    assert_non_null(golden);
    int64_t truth[32], found[32], same[32], own[32];
    const int64_t n = read_labels(golden, "true", truth);
    assert_int_equal(read_labels(golden, "pred", found), n);
    const vem_agreement a = compare(found, truth, n);
    assert_near(a.nmi, number_at(json_object_get(golden, "nmi"), "arithmetic"), 1e-12);
    assert_near(a.ari, number_at(golden, "ari"), 1e-12);
    assert_near(a.purity, number_at(golden, "purity"), 1e-12);
    assert_near(compare(truth, found, n).purity, number_at(golden, "inverse_purity"),
                1e-12);
    assert_int_equal(a.clusters, 3);
    assert_int_equal(a.classes, 4);

    const json_t *edges = json_object_get(golden, "edge_cases");
    for (int64_t i = 0; i < n; i++) {
        same[i] = 7;
        own[i] = i;
    }
    const vem_agreement single = compare(same, truth, n);
    assert_near(single.nmi, number_at(edges, "single_cluster_pred_nmi"), 1e-12);
    assert_near(single.ari, number_at(edges, "single_cluster_pred_ari"), 1e-12);
    assert_near(single.purity, number_at(edges, "single_cluster_pred_purity"), 1e-12);
    assert_near(compare(same, same, n).nmi, number_at(edges, "both_single_nmi"), 0);
    assert_near(compare(truth, truth, n).nmi, number_at(edges, "identical_nmi"), 1e-12);
    assert_near(compare(own, truth, n).purity, number_at(edges, "singletons_purity"), 0);
    json_decref(golden);
}

/* ---- Edges ---- */

static void trivial_partitions(void **state)
{
    (void)state;
    const int64_t one[1] = {5}, same[3] = {1, 1, 1}, own[3] = {1, 2, 3};
    vem_agreement a = compare(one, one, 1);
    assert_near(a.nmi, 1, 0);
    assert_near(a.ari, 1, 0);
    assert_near(a.purity, 1, 0);
    a = compare(own, own, 3); /* no pair is together in either: ARI's denominator is 0 */
    assert_near(a.ari, 1, 0);
    assert_near(a.nmi, 1, 1e-15);
    a = compare(same, own, 3);
    assert_near(a.nmi, 0, 0);
    assert_near(a.ari, 0, 0);
    assert_near(a.purity, 1.0 / 3, 1e-15);
}

static void any_integers_are_labels(void **state)
{
    (void)state;
    const int64_t plain[6] = {0, 0, 1, 1, 2, 2}, classes[6] = {0, 0, 0, 1, 1, 1};
    const int64_t wild[6] = {INT64_MIN, INT64_MIN, INT64_MAX, INT64_MAX, -1, -1};
    const vem_agreement a = compare(plain, classes, 6), b = compare(wild, classes, 6);
    assert_true(a.nmi == b.nmi && a.ari == b.ari && a.purity == b.purity);
    assert_int_equal(b.clusters, 3);
}

static void errors_leave_the_result_alone(void **state)
{
    (void)state;
    const int64_t label[1] = {0};
    vem_agreement a = {.size = sizeof a, .nmi = 42};
    assert_int_equal(vem_compare(ctx, label, label, 0, &a), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "at least 1"));
    assert_int_equal(vem_compare(ctx, label, NULL, 1, &a), VEM_BAD_OPTION);
    assert_near(a.nmi, 42, 0);
    a.size = 8;
    assert_int_equal(vem_compare(ctx, label, label, 1, &a), VEM_BAD_OPTION);
}

/* ---- Against a plain table ---- */

static vem_agreement plain(const int64_t *clusters, const int64_t *classes, int64_t n,
                           int k, int j)
{
    vem_agreement a = {.size = sizeof a};
    double *table = calloc((size_t)(k * j), sizeof *table);
    double *rows = calloc((size_t)k, sizeof *rows),
           *columns = calloc((size_t)j, sizeof *rows);
    assert_true(table && rows && columns);
    for (int64_t i = 0; i < n; i++) {
        table[clusters[i] * j + classes[i]]++;
        rows[clusters[i]]++;
        columns[classes[i]]++;
    }
    const double total = (double)n;
    double information = 0, h_rows = 0, h_columns = 0, s = 0, s_rows = 0, s_columns = 0;
    for (int r = 0; r < k; r++) {
        double most = 0;
        for (int c = 0; c < j; c++) {
            const double count = table[r * j + c];
            most = fmax(most, count);
            s += count * (count - 1) / 2;
            if (count > 0)
                information += count / total *
                               (log(count) + log(total) - log(rows[r]) - log(columns[c]));
        }
        a.purity += most / total;
        s_rows += rows[r] * (rows[r] - 1) / 2;
        h_rows -= rows[r] > 0 ? rows[r] / total * log(rows[r] / total) : 0;
    }
    for (int c = 0; c < j; c++) {
        s_columns += columns[c] * (columns[c] - 1) / 2;
        h_columns -= columns[c] > 0 ? columns[c] / total * log(columns[c] / total) : 0;
    }
    const double chance = s_rows * s_columns / (total * (total - 1) / 2);
    a.nmi = 2 * information / (h_rows + h_columns);
    a.ari = (s - chance) / ((s_rows + s_columns) / 2 - chance);
    free(table);
    free(rows);
    free(columns);
    return a;
}

static void random_labels_match_a_plain_table(void **state)
{
    (void)state;
    enum { N = 50000 };
    int64_t *clusters = malloc(N * sizeof *clusters),
            *classes = malloc(N * sizeof *classes);
    assert_true(clusters && classes);
    static const int sizes[][2] = {{2, 2}, {3, 17}, {40, 25}, {700, 900}};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        const int k = sizes[t][0], j = sizes[t][1];
        for (int64_t i = 0; i < N; i++) {
            vem_i_rng rng = vem_i_rng_at(t, VEM_RNG_TEST, 0, (uint64_t)i);
            classes[i] = (int64_t)vem_i_rng_below(&rng, (uint64_t)j);
            /* Half of the rows follow their class, so that the scores are not all 0. */
            clusters[i] = vem_i_rng_uniform(&rng) < 0.5
                              ? classes[i] % k
                              : (int64_t)vem_i_rng_below(&rng, (uint64_t)k);
        }
        const vem_agreement a = compare(clusters, classes, N),
                            b = plain(clusters, classes, N, k, j);
        assert_near(a.nmi, b.nmi, 1e-10);
        assert_near(a.ari, b.ari, 1e-10);
        assert_near(a.purity, b.purity, 1e-12);
        const vem_agreement c = compare(classes, clusters, N);
        assert_near(c.nmi, a.nmi, 1e-12);
        assert_near(c.ari, a.ari, 1e-12);
    }
    free(clusters);
    free(classes);
}

static void a_million_clusters(void **state)
{
    (void)state;
    enum { N = 2000000, K = 1000000 };
    int64_t *clusters = malloc(N * sizeof *clusters),
            *classes = malloc(N * sizeof *classes);
    assert_true(clusters && classes);
    for (int64_t i = 0; i < N; i++) {
        clusters[i] = (i % K) * 1000003 - 17; /* pairs, in labels far apart */
        classes[i] = i % 1000;                /* a union of whole clusters */
    }
    const vem_agreement a = compare(clusters, classes, N);
    assert_int_equal(a.clusters, K);
    assert_int_equal(a.classes, 1000);
    assert_near(a.purity, 1, 0);
    /* I = H(classes) because a cluster determines its class. */
    assert_near(a.nmi, 2 * log(1000) / (log(1e6) + log(1000)), 1e-9);
    const double all = 1e6 * (2e6 - 1), together = 1e6, same_class = 1000 * 1000.0 * 1999;
    const double chance = together * same_class / all;
    assert_near(a.ari, (together - chance) / ((together + same_class) / 2 - chance),
                1e-9);
    free(clusters);
    free(classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_values),
        cmocka_unit_test(trivial_partitions),
        cmocka_unit_test(any_integers_are_labels),
        cmocka_unit_test(errors_leave_the_result_alone),
        cmocka_unit_test(random_labels_match_a_plain_table),
        cmocka_unit_test(a_million_clusters),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
