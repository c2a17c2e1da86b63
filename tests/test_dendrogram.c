/* Trees of merges: golden values, the same bits for any number of threads and any way
 * of pairs, units, weights, groups. */
#include "trees.h"

static void same_merges(const vem_dendrogram *a, const vem_dendrogram *b)
{
    assert_int_equal(a->leaves, b->leaves);
    for (int64_t k = 0; k < a->leaves - 1; k++) {
        assert_int_equal(a->merges[k].a, b->merges[k].a);
        assert_int_equal(a->merges[k].b, b->merges[k].b);
        assert_int_equal(a->merges[k].size, b->merges[k].size);
        assert_memory_equal(&a->merges[k].delta, &b->merges[k].delta, sizeof(double));
        assert_memory_equal(&a->merges[k].height, &b->merges[k].height, sizeof(double));
        assert_true(
            a->merges[k].log_evidence == b->merges[k].log_evidence ||
            (isnan(a->merges[k].log_evidence) && isnan(b->merges[k].log_evidence)));
    }
}

/* ---- Golden values ---- */

static void golden_bayes(void **state)
{
    (void)state;
    json_t *g = golden_read("abc.json"), *h = json_object_get(g, "hyper");
    double x[64], mean[8], scale[8], merges[64], delta[64], f[64];
    const int64_t n = (int64_t)golden_list(g, "X", x) / 2;
    golden_list(h, "m0", mean);
    golden_list(h, "B0", scale);
    assert_int_equal(golden_list(g, "merges", merges), 2 * (n - 1));
    golden_list(g, "delta", delta);
    golden_list(g, "F_by_merges", f);
    const vem_prior_options prior = {.size = sizeof prior,
                                     .strength = golden_number(h, "xi0"),
                                     .dof = golden_number(h, "eta0"),
                                     .count = golden_number(h, "phi0"),
                                     .mean = mean,
                                     .mean_values = 2,
                                     .scale = scale,
                                     .scale_values = 4};
    for (int pairs = 0; pairs < VEM_PAIRS_COUNT; pairs++) {
        case_of c = plain_case(VEM_DENDROGRAM_BAYES);
        c.tree.pairs = (vem_pairs_method)pairs;
        c.tree.prior = &prior;
        vem_dendrogram *t = grow(&c, x, n, 2);
        double height = -INFINITY;
        grid_assert_near(t->about.log_evidence_leaves, -f[0], 1e-10,
                         "evidence of the leaves");
        for (int64_t k = 0; k < n - 1; k++) {
            assert_true((double)t->merges[k].a == merges[2 * k]);
            assert_true((double)t->merges[k].b == merges[2 * k + 1]);
            grid_assert_near(t->merges[k].delta, delta[k], 1e-11, "cost of a merge");
            grid_assert_near(t->merges[k].log_evidence, -f[k + 1], 1e-10,
                             "evidence after a merge");
            height = fmax(height, delta[k]);
            grid_assert_near(t->merges[k].height, height - delta[0], 1e-11, "height");
        }
        assert_int_equal(t->about.clusters,
                         json_integer_value(json_object_get(g, "K_at_min")));
        vem_dendrogram_free(t);
    }
    json_decref(g);
}

static void golden_linkages(void **state)
{
    (void)state;
    json_t *rows = golden_read("abc.json"), *g = golden_read("linkage.json");
    double x[64], expected[64];
    const int64_t n = (int64_t)golden_list(rows, "X", x) / 2;
    for (int m = VEM_DENDROGRAM_SINGLE; m <= VEM_DENDROGRAM_AVERAGE; m++) {
        const case_of c = plain_case((vem_dendrogram_method)m);
        vem_dendrogram *t = grow(&c, x, n, 2);
        golden_list(g, vem_dendrogram_method_name((vem_dendrogram_method)m), expected);
        for (int64_t k = 0; k < n - 1; k++) {
            assert_true((double)t->merges[k].a == expected[4 * k]);
            assert_true((double)t->merges[k].b == expected[4 * k + 1]);
            grid_assert_near(t->merges[k].height, expected[4 * k + 2], 1e-13, "height");
            assert_true((double)t->merges[k].size == expected[4 * k + 3]);
        }
        assert_int_equal(t->about.clusters, 0);
        vem_dendrogram_free(t);
    }
    json_decref(rows);
    json_decref(g);
}

/* ---- Laws ---- */

static void any_number_of_threads(void **state)
{
    (void)state;
    enum { N = 700, D = 9 };
    static double x[N * D];
    draw_rows(x, N * D, 3);
    const int threads[] = {1, 2, 3, 7};
    for (int m = 0; m < VEM_DENDROGRAM_COUNT; m++)
        for (int pairs = 0; pairs < (m == VEM_DENDROGRAM_BAYES ? 2 : 1); pairs++) {
            vem_dendrogram *first = NULL;
            for (size_t i = 0; i < 4; i++) {
                case_of c = plain_case((vem_dendrogram_method)m);
                c.options.threads = threads[i];
                c.tree.pairs = (vem_pairs_method)pairs;
                vem_dendrogram *t = grow(&c, x, N, D);
                if (first)
                    same_merges(first, t);
                else
                    first = t;
                if (first != t)
                    vem_dendrogram_free(t);
            }
            vem_dendrogram_free(first);
        }
}

/* In every dimension, so that clusters are vectors, matrices and both. */
static void pairs_by_any_way(void **state)
{
    (void)state;
    enum { N = 90, D = 12 };
    static double x[N * D];
    draw_rows(x, N * D, 5);
    for (int32_t d = 1; d <= D; d++) {
        case_of c = plain_case(VEM_DENDROGRAM_BAYES);
        const int64_t n = N;
        vem_dendrogram *fast = grow(&c, x, n, d);
        for (int pairs = VEM_PAIRS_CONGA; pairs <= VEM_PAIRS_BRUTE; pairs++) {
            c.tree.pairs = (vem_pairs_method)pairs;
            vem_dendrogram *other = grow(&c, x, n, d);
            same_merges(fast, other);
            assert_true(other->about.distances > fast->about.distances);
            vem_dendrogram_free(other);
        }
        vem_dendrogram_free(fast);
    }
}

/* The evidence of a clustering does not depend on how it came about: one cluster at
 * the end. */
static void evidence_of_the_root(void **state)
{
    (void)state;
    enum { N = 60, D = 7 };
    static double x[N * D], moved[N * D];
    draw_rows(x, N * D, 6);
    const int families = vem_family_axes(VEM_FULL);
    assert_int_equal(families, 2);
    const vem_family_kind kinds[] = {VEM_FULL, VEM_DIAG, VEM_ISO};
    for (size_t k = 0; k < 3; k++) {
        case_of c = plain_case(VEM_DENDROGRAM_BAYES);
        c.options.family = (int)kinds[k];
        vem_dendrogram *t = grow(&c, x, N, D);
        /* Shifted and scaled: the same tree, less N D log a. */
        const double a = 1024;
        for (int i = 0; i < N * D; i++)
            moved[i] = a * x[i] + 3;
        vem_dendrogram *other = grow(&c, moved, N, D);
        for (int64_t i = 0; i < N - 1; i++) {
            assert_int_equal(t->merges[i].a, other->merges[i].a);
            assert_int_equal(t->merges[i].b, other->merges[i].b);
            grid_assert_near(other->merges[i].delta, t->merges[i].delta, 1e-8,
                             "cost in other units");
            grid_assert_near(other->merges[i].log_evidence,
                             t->merges[i].log_evidence - N * D * log(a), 1e-7,
                             "evidence in other units");
        }
        assert_int_equal(t->about.clusters, other->about.clusters);
        vem_dendrogram_free(t);
        vem_dendrogram_free(other);
    }
}

/* Weight 2 and the row twice: after the merges of equal rows the same clusterings,
 * with the same evidence. */
static void weights(void **state)
{
    (void)state;
    enum { N = 24, D = 3 };
    static double x[N * D], twice[2 * N * D], w[N];
    draw_rows(x, N * D, 8);
    for (int i = 0; i < N; i++) {
        w[i] = 2;
        memcpy(twice + 2 * i * D, x + i * D, D * sizeof *x);
        memcpy(twice + (2 * i + 1) * D, x + i * D, D * sizeof *x);
    }
    const double scale = 0.5, mean[D] = {0};
    const vem_prior_options prior = {.size = sizeof prior,
                                     .mean = mean,
                                     .mean_values = D,
                                     .scale = &scale,
                                     .scale_values = 1};
    for (int m = 0; m < VEM_DENDROGRAM_COUNT; m++) {
        case_of c = plain_case((vem_dendrogram_method)m);
        c.tree.prior = m == VEM_DENDROGRAM_BAYES ? &prior : NULL;
        vem_dendrogram *both = grow(&c, twice, 2 * N, D);
        c.weights = w;
        vem_dendrogram *weighted = grow(&c, x, N, D);
        /* The root holds all rows, whatever came before. */
        if (m == VEM_DENDROGRAM_BAYES) {
            grid_assert_near(weighted->merges[N - 2].log_evidence,
                             both->merges[2 * N - 2].log_evidence, 1e-9,
                             "evidence of weights");
        } else {
            for (int k = 0; k < N; k++)
                assert_true(both->merges[k].height == 0);
            for (int k = 0; k < N - 1; k++)
                grid_assert_near(weighted->merges[k].height, both->merges[N + k].height,
                                 1e-12, "height of weights");
        }
        vem_dendrogram_free(both);
        vem_dendrogram_free(weighted);
    }
    /* Weights that are no whole numbers have no table of constants. */
    case_of c = plain_case(VEM_DENDROGRAM_BAYES);
    c.tree.prior = &prior;
    c.weights = w;
    vem_dendrogram *whole = grow(&c, x, N, D);
    for (int i = 0; i < N; i++)
        w[i] = 2 + (i % 2 ? 1e-9 : -1e-9);
    vem_dendrogram *nearly = grow(&c, x, N, D);
    for (int k = 0; k < N - 1; k++)
        grid_assert_near(whole->merges[k].log_evidence, nearly->merges[k].log_evidence,
                         1e-6, "evidence of nearly whole weights");
    vem_dendrogram_free(whole);
    vem_dendrogram_free(nearly);
}

/* Groups as leaves: the evidence of the root is that of all rows. */
static void groups(void **state)
{
    (void)state;
    enum { N = 600, D = 6 };
    static double x[N * D];
    draw_rows(x, N * D, 11);
    for (int i = 0; i < N; i++)
        x[i * D] += 20 * (i % 3);
    const double scale = 0.7;
    const vem_prior_options prior = {.size = sizeof prior,
                                     .scale = &scale,
                                     .scale_values = 1};
    const vem_family_kind kinds[] = {VEM_FULL, VEM_DIAG, VEM_ISO};
    for (int k = 0; k < 3; k++) {
        case_of c = plain_case(VEM_DENDROGRAM_BAYES);
        c.options.family = (int)kinds[k];
        c.tree.prior = &prior;
        vem_dendrogram *rows = grow(&c, x, N, D);
        for (int64_t leaves = 7; leaves <= 300; leaves += 293) {
            int32_t labels[N];
            c.tree.leaves = leaves;
            vem_dendrogram *t = grow(&c, x, N, D);
            assert_true(t->leaves <= leaves && t->leaves >= 3);
            assert_non_null(strstr(vem_dendrogram_notes(t), "groups of the 600 rows"));
            grid_assert_near(t->merges[t->leaves - 2].log_evidence,
                             rows->merges[N - 2].log_evidence, 1e-7,
                             "evidence of groups");
            assert_int_equal(vem_dendrogram_cut(ctx, t, 3, labels), VEM_OK);
            for (int i = 3; i < N; i++)
                assert_int_equal(labels[i], labels[i % 3]);
            vem_dendrogram_free(t);
        }
        vem_dendrogram_free(rows);
    }
    case_of c = plain_case(VEM_DENDROGRAM_AVERAGE);
    c.tree.leaves = 20;
    vem_dendrogram *t = grow(&c, x, N, D);
    assert_non_null(strstr(vem_dendrogram_notes(t), "of their means"));
    vem_dendrogram_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_bayes),
        cmocka_unit_test(golden_linkages),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(pairs_by_any_way),
        cmocka_unit_test(evidence_of_the_root),
        cmocka_unit_test(weights),
        cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
