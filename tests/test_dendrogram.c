/* Trees of merges: golden values, the same bits for any number of threads, weights,
 * groups, hostile rows and files, cuts and purity. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/rng.h"
#include "model/dendrogram.h"

#include "context.h"
#include "fake_clock.h"

static json_t *golden_file(const char *name)
{
    char path[4096];
    const char *source = getenv("VEM_SOURCE");
    snprintf(path, sizeof path, "%s/tests/golden/%s", source ? source : ".", name);
    json_t *json = json_load_file(path, 0, NULL);
    assert_non_null(json);
    return json;
}

/* Numbers of a list of lists, or of numbers. */
static int64_t numbers_of(const json_t *list, double *out)
{
    int64_t count = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (json_is_array(one))
            count += numbers_of(one, out + count);
        else
            out[count++] = json_number_value(one);
    }
    return count;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

typedef struct case_of {
    vem_tree_options tree;
    vem_options options;
    const double *weights;
} case_of;

static case_of plain_case(vem_tree_method method)
{
    case_of c = {.tree = {.size = sizeof c.tree, .method = method}};
    vem_options_init(&c.options);
    return c;
}

static vem_dendrogram *grow(const case_of *c, const double *x, int64_t n, int32_t d)
{
    vem_data *data;
    vem_dendrogram *tree = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, n, d, 0, 0, &data), VEM_OK);
    if (c->weights)
        assert_int_equal(vem_data_set_weights(ctx, data, c->weights, n), VEM_OK);
    if (vem_agglomerate(ctx, data, &c->options, &c->tree, &tree) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    vem_data_free(data);
    return tree;
}

static void draw_rows(double *x, int64_t count, uint64_t seed)
{
    vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 0, 0);
    for (int64_t i = 0; i < count; i++)
        x[i] = vem_i_rng_normal(&rng);
}

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
    json_t *g = golden_file("abc.json"), *h = json_object_get(g, "hyper");
    double x[64], mean[8], scale[8], merges[64], delta[64], f[64];
    const int64_t n = numbers_of(json_object_get(g, "X"), x) / 2;
    numbers_of(json_object_get(h, "m0"), mean);
    numbers_of(json_object_get(h, "B0"), scale);
    assert_int_equal(numbers_of(json_object_get(g, "merges"), merges), 2 * (n - 1));
    numbers_of(json_object_get(g, "delta"), delta);
    numbers_of(json_object_get(g, "F_by_merges"), f);
    const vem_prior_options prior = {.size = sizeof prior,
                                     .strength =
                                         json_number_value(json_object_get(h, "xi0")),
                                     .dof = json_number_value(json_object_get(h, "eta0")),
                                     .count =
                                         json_number_value(json_object_get(h, "phi0")),
                                     .mean = mean,
                                     .scale = scale,
                                     .scale_values = 4};
    for (int pairs = 0; pairs < VEM_PAIRS_COUNT; pairs++) {
        case_of c = plain_case(VEM_TREE_BAYES);
        c.tree.pairs = (vem_pairs_method)pairs;
        c.tree.prior = &prior;
        vem_dendrogram *t = grow(&c, x, n, 2);
        double height = -INFINITY;
        assert_near(t->about.log_evidence_leaves, -f[0], 1e-10);
        for (int64_t k = 0; k < n - 1; k++) {
            assert_true((double)t->merges[k].a == merges[2 * k]);
            assert_true((double)t->merges[k].b == merges[2 * k + 1]);
            assert_near(t->merges[k].delta, delta[k], 1e-11);
            assert_near(t->merges[k].log_evidence, -f[k + 1], 1e-10);
            height = fmax(height, delta[k]);
            assert_near(t->merges[k].height, height - delta[0], 1e-11);
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
    json_t *rows = golden_file("abc.json"), *g = golden_file("linkage.json");
    double x[64], expected[64];
    const int64_t n = numbers_of(json_object_get(rows, "X"), x) / 2;
    for (int m = VEM_TREE_SINGLE; m <= VEM_TREE_AVERAGE; m++) {
        const case_of c = plain_case((vem_tree_method)m);
        vem_dendrogram *t = grow(&c, x, n, 2);
        numbers_of(json_object_get(g, vem_tree_method_name((vem_tree_method)m)),
                   expected);
        for (int64_t k = 0; k < n - 1; k++) {
            assert_true((double)t->merges[k].a == expected[4 * k]);
            assert_true((double)t->merges[k].b == expected[4 * k + 1]);
            assert_near(t->merges[k].height, expected[4 * k + 2], 1e-13);
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
    for (int m = 0; m < VEM_TREE_COUNT; m++)
        for (int pairs = 0; pairs < (m == VEM_TREE_BAYES ? 2 : 1); pairs++) {
            vem_dendrogram *first = NULL;
            for (size_t i = 0; i < 4; i++) {
                case_of c = plain_case((vem_tree_method)m);
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
        case_of c = plain_case(VEM_TREE_BAYES);
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
        case_of c = plain_case(VEM_TREE_BAYES);
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
            assert_near(other->merges[i].delta, t->merges[i].delta, 1e-8);
            assert_near(other->merges[i].log_evidence,
                        t->merges[i].log_evidence - N * D * log(a), 1e-7);
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
                                     .scale = &scale,
                                     .scale_values = 1};
    for (int m = 0; m < VEM_TREE_COUNT; m++) {
        case_of c = plain_case((vem_tree_method)m);
        c.tree.prior = m == VEM_TREE_BAYES ? &prior : NULL;
        vem_dendrogram *both = grow(&c, twice, 2 * N, D);
        c.weights = w;
        vem_dendrogram *weighted = grow(&c, x, N, D);
        /* The root holds all rows, whatever came before. */
        if (m == VEM_TREE_BAYES) {
            assert_near(weighted->merges[N - 2].log_evidence,
                        both->merges[2 * N - 2].log_evidence, 1e-9);
        } else {
            for (int k = 0; k < N; k++)
                assert_true(both->merges[k].height == 0);
            for (int k = 0; k < N - 1; k++)
                assert_near(weighted->merges[k].height, both->merges[N + k].height,
                            1e-12);
        }
        vem_dendrogram_free(both);
        vem_dendrogram_free(weighted);
    }
    /* Weights that are no whole numbers have no table of constants. */
    case_of c = plain_case(VEM_TREE_BAYES);
    c.tree.prior = &prior;
    c.weights = w;
    vem_dendrogram *whole = grow(&c, x, N, D);
    for (int i = 0; i < N; i++)
        w[i] = 2 + (i % 2 ? 1e-9 : -1e-9);
    vem_dendrogram *nearly = grow(&c, x, N, D);
    for (int k = 0; k < N - 1; k++)
        assert_near(whole->merges[k].log_evidence, nearly->merges[k].log_evidence, 1e-6);
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
        case_of c = plain_case(VEM_TREE_BAYES);
        c.options.family = (int)kinds[k];
        c.tree.prior = &prior;
        vem_dendrogram *rows = grow(&c, x, N, D);
        for (int64_t leaves = 7; leaves <= 300; leaves += 293) {
            int32_t labels[N];
            c.tree.leaves = leaves;
            vem_dendrogram *t = grow(&c, x, N, D);
            assert_true(t->leaves <= leaves && t->leaves >= 3);
            assert_non_null(strstr(vem_dendrogram_notes(t), "groups of the 600 rows"));
            assert_near(t->merges[t->leaves - 2].log_evidence,
                        rows->merges[N - 2].log_evidence, 1e-7);
            assert_int_equal(vem_dendrogram_cut(ctx, t, 3, labels), VEM_OK);
            for (int i = 3; i < N; i++)
                assert_int_equal(labels[i], labels[i % 3]);
            vem_dendrogram_free(t);
        }
        vem_dendrogram_free(rows);
    }
    case_of c = plain_case(VEM_TREE_AVERAGE);
    c.tree.leaves = 20;
    vem_dendrogram *t = grow(&c, x, N, D);
    assert_non_null(strstr(vem_dendrogram_notes(t), "of their means"));
    vem_dendrogram_free(t);
}

/* ---- Hostile rows ---- */

static void refuses(const case_of *c, const double *x, int64_t n, int32_t d,
                    vem_status status, const char *words)
{
    vem_data *data;
    vem_dendrogram *tree = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, n, d, 0, 0, &data), VEM_OK);
    if (c->weights)
        assert_int_equal(vem_data_set_weights(ctx, data, c->weights, n), VEM_OK);
    assert_int_equal(vem_agglomerate(ctx, data, &c->options, &c->tree, &tree), status);
    if (!strstr(vem_ctx_message(ctx), words))
        fail_msg("\"%s\" does not say \"%s\"", vem_ctx_message(ctx), words);
    assert_null(tree);
    vem_data_free(data);
}

static void hostile_rows(void **state)
{
    (void)state;
    enum { N = 30, D = 2000 };
    double *x = calloc(N * D, sizeof *x);
    for (int m = 0; m < VEM_TREE_COUNT; m++) {
        const case_of c = plain_case((vem_tree_method)m);
        refuses(&c, x, 1, 3, VEM_BAD_DATA, "at least 2 rows");
        for (int64_t n = 2; n <= N; n += 14) { /* all equal */
            vem_dendrogram *t = grow(&c, x, n, 3);
            for (int64_t k = 0; k < n - 1; k++)
                assert_true(isfinite(t->merges[k].height));
            vem_dendrogram_free(t);
        }
        draw_rows(x, N * D, 17);
        vem_dendrogram *wide = grow(&c, x, N, D), *line = grow(&c, x, N, 1);
        assert_true(isfinite(wide->merges[N - 2].height));
        assert_true(isfinite(line->merges[N - 2].height));
        vem_dendrogram_free(wide);
        vem_dendrogram_free(line);
        x[4] = 1e9; /* an outlier joins last, or at least makes no harm */
        vem_dendrogram *out = grow(&c, x, N, 3);
        assert_true(isfinite(out->merges[N - 2].height));
        vem_dendrogram_free(out);
        x[4] = NAN;
        refuses(&c, x, 10, 3, VEM_BAD_DATA, "ow 2");
        memset(x, 0, N * D * sizeof *x);
    }
    free(x);
}

static void hostile_options(void **state)
{
    (void)state;
    static double x[40], w[20];
    draw_rows(x, 40, 2);
    for (int i = 0; i < 20; i++)
        w[i] = i != 4;
    case_of c = plain_case(VEM_TREE_BAYES);
    c.weights = w;
    refuses(&c, x, 20, 2, VEM_BAD_DATA, "Row 5 has the weight 0");
    c = plain_case((vem_tree_method)9);
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "method number 9");
    c = plain_case(VEM_TREE_BAYES);
    c.tree.leaves = 1;
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "--leaves is 1");
    c = plain_case(VEM_TREE_BAYES);
    c.options.family = VEM_POISSON;
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "--family is poisson");
    c = plain_case(VEM_TREE_SINGLE);
    c.options.family = VEM_FULL;
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "linkages");
    const double scale[4] = {1, 2, 2, 1}, negative = -1;
    vem_prior_options prior = {.size = sizeof prior, .dof = 1};
    c = plain_case(VEM_TREE_BAYES);
    c.tree.prior = &prior;
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "--prior-dof is 1");
    prior = (vem_prior_options){.size = sizeof prior, .strength = -1};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "--prior-strength is -1");
    prior = (vem_prior_options){.size = sizeof prior, .count = NAN};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "--prior-count is");
    prior = (vem_prior_options){.size = sizeof prior, .scale = scale, .scale_values = 4};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "no positive definite");
    prior = (vem_prior_options){.size = sizeof prior, .scale = scale, .scale_values = 3};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "--prior-scale has 3 values");
    prior =
        (vem_prior_options){.size = sizeof prior, .scale = &negative, .scale_values = 1};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "--prior-scale is -1");
    c = plain_case(VEM_TREE_AVERAGE);
    c.options.memory = 1;
    refuses(&c, x, 20, 2, VEM_NO_MEMORY, "beside the input");
}

/* ---- Stops ---- */

static int stop_merging(void *user, const vem_progress *p)
{
    int *calls = user;
    ++*calls;
    return strcmp(p->phase, "merge") == 0 || strcmp(p->phase, "pair") == 0;
}

static void stops(void **state)
{
    (void)state;
    enum { N = 300 };
    static double x[N * 4];
    draw_rows(x, N * 4, 4);
    fake_tick = 1; /* so that every step is told */
    for (int m = 0; m < VEM_TREE_COUNT; m++) {
        int calls = 0;
        const case_of c = plain_case((vem_tree_method)m);
        vem_ctx_set_progress(ctx, stop_merging, &calls);
        refuses(&c, x, N, 4, VEM_STOPPED, "Stopped before the tree was whole");
        assert_true(calls > 0);
        vem_ctx_set_progress(ctx, NULL, NULL);
        case_of late = plain_case((vem_tree_method)m);
        late.options.time = 1e-9;
        refuses(&late, x, N, 4, VEM_STOPPED, "--time 1e-09 was over");
    }
    fake_tick = 0;
}

/* ---- Cuts and purity ---- */

static void cuts(void **state)
{
    (void)state;
    enum { N = 50 };
    static double x[N * 2];
    int32_t labels[N], finer[N];
    draw_rows(x, N * 2, 21);
    const case_of c = plain_case(VEM_TREE_AVERAGE);
    vem_dendrogram *t = grow(&c, x, N, 2);
    for (int k = 1; k <= N; k++) {
        int seen = 0;
        assert_int_equal(vem_dendrogram_cut(ctx, t, k, labels), VEM_OK);
        for (int i = 0; i < N; i++) { /* numbered by their first leaves */
            assert_in_range(labels[i], 0, seen);
            seen += labels[i] == seen;
        }
        assert_int_equal(seen, k);
        for (int i = 0; k > 1 && i < N; i++) /* clusters of a coarser cut are unions */
            for (int j = 0; j < i; j++)
                assert_true(labels[i] != labels[j] || finer[i] == finer[j]);
        memcpy(finer, labels, sizeof labels);
    }
    assert_int_equal(vem_dendrogram_cut(ctx, t, N + 1, labels), VEM_BAD_OPTION);
    assert_int_equal(vem_dendrogram_cut(ctx, t, -1, labels), VEM_BAD_OPTION);
    assert_int_equal(vem_dendrogram_cut(ctx, t, 0, labels), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "--clusters"));
    vem_dendrogram_free(t);
}

/* All pairs, by their smallest common subtree. */
static double purity_by_pairs(const vem_dendrogram *t, const int64_t *classes,
                              double *rows)
{
    const int64_t n = t->leaves;
    int64_t *up = calloc((size_t)(2 * n), sizeof *up);
    double sum = 0, pairs = 0, of_rows = 0, row_count = 0;
    for (int64_t k = 0; k < n - 1; k++)
        up[t->merges[k].a] = up[t->merges[k].b] = n + k;
    for (int64_t i = 0; i < t->rows; i++) {
        double own = 0, mates = 0;
        for (int64_t j = 0; j < t->rows; j++) {
            if (i == j || classes[i] != classes[j])
                continue;
            int64_t a = t->leaf_of ? t->leaf_of[i] : i;
            int64_t b = t->leaf_of ? t->leaf_of[j] : j;
            while (a != b) {
                if (a < b)
                    a = up[a];
                else
                    b = up[b];
            }
            double inside = 0, same = 0;
            for (int64_t l = 0; l < t->rows; l++) {
                int64_t c = t->leaf_of ? t->leaf_of[l] : l;
                while (c < a && up[c])
                    c = up[c];
                inside += c == a;
                same += c == a && classes[l] == classes[i];
            }
            own += same / inside;
            mates++;
        }
        sum += own;
        pairs += mates;
        of_rows += mates > 0 ? own / mates : 0;
        row_count += mates > 0;
    }
    free(up);
    *rows = of_rows / row_count;
    return sum / pairs;
}

static void purity_of_random_trees(void **state)
{
    (void)state;
    enum { N = 60 };
    static double x[N * 2];
    for (uint64_t seed = 0; seed < 6; seed++) {
        int64_t classes[N];
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 3, 0);
        draw_rows(x, N * 2, seed + 40);
        for (int i = 0; i < N; i++)
            classes[i] = (int64_t)vem_i_rng_below(&rng, 2 + 6 * seed) - 3;
        for (int m = 0; m < VEM_TREE_COUNT; m++) {
            case_of c = plain_case((vem_tree_method)m);
            c.tree.leaves = seed % 2 ? 12 : 0;
            vem_dendrogram *t = grow(&c, x, N, 2);
            vem_tree_purity found = {.size = sizeof found};
            double rows;
            const double pairs = purity_by_pairs(t, classes, &rows);
            assert_int_equal(vem_dendrogram_purity(ctx, t, classes, N, &found), VEM_OK);
            assert_near(found.pairs, pairs, 1e-12);
            assert_near(found.rows, rows, 1e-12);
            assert_int_equal(vem_dendrogram_purity(ctx, t, classes, N - 1, &found),
                             VEM_BAD_DATA);
            vem_dendrogram_free(t);
        }
    }
}

static void purity_golden(void **state)
{
    (void)state;
    json_t *g = golden_file("metrics.json"), *list = json_object_get(g, "dendrogram");
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    assert_int_equal(json_array_size(list), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *one = json_array_get(list, i);
        double labels[16], merges[32];
        int64_t classes[16];
        vem_dendrogram *t;
        vem_tree_purity found = {.size = sizeof found};
        const int64_t n = numbers_of(json_object_get(one, "labels"), labels);
        numbers_of(json_object_get(one, "merges"), merges);
        assert_int_equal(vem_i_dendrogram_new(run, n, n, 0, &t), VEM_OK);
        for (int64_t k = 0; k < n; k++)
            classes[k] = (int64_t)labels[k];
        for (int64_t k = 0; k < n - 1; k++)
            t->merges[k] = (vem_merge){.a = (int64_t)merges[2 * k],
                                       .b = (int64_t)merges[2 * k + 1],
                                       .delta = (double)k};
        assert_int_equal(vem_i_dendrogram_settle(run, "golden", t), VEM_OK);
        assert_int_equal(vem_dendrogram_purity(ctx, t, classes, n, &found), VEM_OK);
        assert_near(found.pairs, json_number_value(json_object_get(one, "purity")),
                    1e-12);
        assert_near(found.pair_count, json_number_value(json_object_get(one, "pairs")),
                    0);
        for (int64_t k = 0; k < n; k++)
            classes[k] = k; /* no two of a class */
        assert_int_equal(vem_dendrogram_purity(ctx, t, classes, n, &found), VEM_OK);
        assert_true(isnan(found.pairs) && isnan(found.rows));
        vem_dendrogram_free(t);
    }
    json_decref(g);
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
        cmocka_unit_test(hostile_rows),
        cmocka_unit_test(hostile_options),
        cmocka_unit_test(stops),
        cmocka_unit_test(cuts),
        cmocka_unit_test(purity_of_random_trees),
        cmocka_unit_test(purity_golden),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
