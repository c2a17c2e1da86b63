/* Trees of merges at the edges: hostile rows and options, stops, cuts, and purity
 * against all pairs. */
#include <unistd.h>

#include "fake_clock.h"
#include "io/io.h"
#include "trees.h"

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
    for (int m = 0; m < VEM_DENDROGRAM_COUNT; m++) {
        const case_of c = plain_case((vem_dendrogram_method)m);
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

/* Rows in another unit have the same tree, heights and evidence in that unit, as long
 * as their squares are numbers. */
static void tiny_rows(void **state)
{
    (void)state;
    enum { N = 40, D = 3 };
    static double x[N * D], tiny[N * D];
    draw_rows(x, N * D, 23);
    for (int m = 0; m < VEM_DENDROGRAM_COUNT; m++)
        for (int exponent = -99; exponent >= -459; exponent -= 36)
            for (int groups = 0; groups < 2; groups++) {
                case_of c = plain_case((vem_dendrogram_method)m);
                c.tree.leaves = groups ? 15 : 0;
                for (int i = 0; i < N * D; i++)
                    tiny[i] = ldexp(x[i], exponent);
                vem_dendrogram *a = grow(&c, x, N, D), *b = grow(&c, tiny, N, D);
                const int bayes = m == VEM_DENDROGRAM_BAYES;
                for (int64_t k = 0; k < a->leaves - 1; k++) {
                    const vem_dendrogram_merge *p = &a->merges[k], *q = &b->merges[k];
                    const double unit = ldexp(1, bayes ? 0 : exponent);
                    assert_int_equal(p->a, q->a);
                    assert_int_equal(p->b, q->b);
                    grid_assert_near(q->height / unit, p->height, 1e-9 * (1 + p->height),
                                     "height");
                    if (bayes)
                        grid_assert_near(q->log_evidence,
                                         p->log_evidence - N * D * exponent * log(2),
                                         1e-7 * N * D, "evidence");
                }
                assert_int_equal(a->about.clusters, b->about.clusters);
                vem_dendrogram_free(a);
                vem_dendrogram_free(b);
            }
    for (int i = 0; i < N * D; i++)
        tiny[i] = ldexp(x[i], -490);
    const case_of c = plain_case(VEM_DENDROGRAM_BAYES);
    refuses(&c, tiny, N, D, VEM_BAD_DATA, "vanish in double precision");
}

static void hostile_options(void **state)
{
    (void)state;
    static double x[40], w[20];
    draw_rows(x, 40, 2);
    for (int i = 0; i < 20; i++)
        w[i] = i != 4;
    case_of c = plain_case(VEM_DENDROGRAM_BAYES);
    c.weights = w;
    refuses(&c, x, 20, 2, VEM_BAD_DATA, "Row 5 has the weight 0");
    c = plain_case((vem_dendrogram_method)9);
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "method number 9");
    c = plain_case(VEM_DENDROGRAM_BAYES);
    c.tree.leaves = 1;
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "--leaves is 1");
    c = plain_case(VEM_DENDROGRAM_BAYES);
    c.options.family = VEM_POISSON;
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "--family is poisson");
    c = plain_case(VEM_DENDROGRAM_SINGLE);
    c.options.family = VEM_FULL;
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "linkages");
    const double scale[4] = {1, 2, 2, 1}, negative = -1;
    vem_prior_options prior = {.size = sizeof prior, .dof = 1};
    c = plain_case(VEM_DENDROGRAM_BAYES);
    c.tree.prior = &prior;
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "1 degrees of freedom");
    prior = (vem_prior_options){.size = sizeof prior, .strength = -1};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "prior strength is -1");
    prior = (vem_prior_options){.size = sizeof prior, .count = NAN};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "prior count is");
    prior = (vem_prior_options){.size = 3};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "vem_prior_options");
    prior = (vem_prior_options){.size = sizeof prior, .scale = scale, .scale_values = 4};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "no positive definite");
    prior = (vem_prior_options){.size = sizeof prior, .scale = scale, .scale_values = 3};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "prior scale has 3 values");
    prior =
        (vem_prior_options){.size = sizeof prior, .scale = &negative, .scale_values = 1};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "prior scale is -1");
    prior = (vem_prior_options){.size = sizeof prior, .mean = scale, .mean_values = 4};
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "prior mean has 4 values");
    prior = (vem_prior_options){.size = sizeof prior, .scale = scale, .scale_values = 1};
    c.options.family = VEM_ISO; /* one variance for columns in units of their own */
    c.options.standardize = 1;
    refuses(&c, x, 20, 2, VEM_BAD_OPTION, "units of their own");
    c = plain_case(VEM_DENDROGRAM_AVERAGE);
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
    for (int m = 0; m < VEM_DENDROGRAM_COUNT; m++) {
        int calls = 0;
        const case_of c = plain_case((vem_dendrogram_method)m);
        vem_ctx_set_progress(ctx, stop_merging, &calls);
        refuses(&c, x, N, 4, VEM_STOPPED, "Stopped before the tree was whole");
        assert_true(calls > 0);
        vem_ctx_set_progress(ctx, NULL, NULL);
        case_of late = plain_case((vem_dendrogram_method)m);
        late.options.time = 1e-9;
        refuses(&late, x, N, 4, VEM_STOPPED, "--time 1e-09 was over");
    }
    fake_tick = 0;
}

static int count_merging(void *user, const vem_progress *p)
{
    *(int *)user += strcmp(p->phase, "merge") == 0;
    return 0;
}

/* A chain of nearest neighbors through all rows is not one step. */
static void long_chains(void **state)
{
    (void)state;
    enum { N = 60 };
    double x[N];
    x[0] = 0;
    for (int i = 1; i < N; i++) /* each is nearest to the next one */
        x[i] = x[i - 1] + ldexp(1, -i / 2) * (1 + 0.2 * (i % 2));
    fake_tick = 1;
    for (int m = VEM_DENDROGRAM_COMPLETE; m <= VEM_DENDROGRAM_AVERAGE; m++) {
        int calls = 0;
        const case_of c = plain_case((vem_dendrogram_method)m);
        vem_ctx_set_progress(ctx, count_merging, &calls);
        vem_dendrogram_free(grow(&c, x, N, 1));
        vem_ctx_set_progress(ctx, NULL, NULL);
        assert_true(calls >= 3 * N / 2); /* more than merges */
    }
    fake_tick = 0;
}

enum { GROUPS = 40 };

static int stop_early(void *user, const vem_progress *p)
{
    int *calls = user;
    return strcmp(p->phase, "pair") == 0 && p->total == GROUPS && ++*calls == 3;
}

/* Groups of rows are made ready one after the other. */
static void stops_among_groups(void **state)
{
    (void)state;
    enum { N = 400, D = 5 };
    static double x[N * D];
    draw_rows(x, N * D, 8);
    fake_tick = 1;
    for (int m = 0; m < VEM_DENDROGRAM_COUNT; m++)
        for (int family = 0; family < (m == VEM_DENDROGRAM_BAYES ? 2 : 1); family++) {
            int calls = 0;
            case_of c = plain_case((vem_dendrogram_method)m);
            c.tree.leaves = GROUPS;
            if (family)
                c.options.family = VEM_DIAG;
            vem_ctx_set_progress(ctx, stop_early, &calls);
            refuses(&c, x, N, D, VEM_STOPPED, "Stopped before the tree was whole");
            vem_ctx_set_progress(ctx, NULL, NULL);
            assert_int_equal(calls, 3);
        }
    fake_tick = 0;
}

static int stop_in_labels(void *user, const vem_progress *p)
{
    int *asked = user;
    *asked += strcmp(p->phase, "assign") == 0;
    return *asked > 0;
}

/* Where groups are those of a sample's fit, all rows are labelled by the verb's own run, whose stop is
 * the verb's. */
static void stops_while_rows_are_labelled(void **state)
{
    (void)state;
    enum { N = 400, D = 5 };
    static double x[N * D];
    int asked = 0;
    draw_rows(x, N * D, 8);
    case_of c = plain_case(VEM_DENDROGRAM_AVERAGE);
    c.tree.leaves = GROUPS;
    c.options.coreset = 200;
    fake_tick = 1;
    vem_ctx_set_progress(ctx, stop_in_labels, &asked);
    refuses(&c, x, N, D, VEM_STOPPED, "Stopped before the tree was whole");
    vem_ctx_set_progress(ctx, NULL, NULL);
    fake_tick = 0;
    assert_true(asked > 0);
}

/* ---- Cuts and purity ---- */

static void cuts(void **state)
{
    (void)state;
    enum { N = 50 };
    static double x[N * 2];
    int32_t labels[N], finer[N];
    draw_rows(x, N * 2, 21);
    const case_of c = plain_case(VEM_DENDROGRAM_AVERAGE);
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

/* A file keeps what the tree was made by: of bayes its prior, which others have none of. */
static void files_keep_the_prior(void **state)
{
    (void)state;
    enum { N = 12 };
    static const vem_dendrogram_method methods[] = {VEM_DENDROGRAM_BAYES,
                                                    VEM_DENDROGRAM_AVERAGE};
    const char *file = "dendrogram_edges_test.npz";
    double x[N * 2];
    draw_rows(x, N * 2, 22);
    for (int m = 0; m < 2; m++) {
        const case_of c = plain_case(methods[m]);
        vem_dendrogram *t = grow(&c, x, N, 2), *again = NULL;
        assert_int_equal(vem_dendrogram_write(ctx, t, file), VEM_OK);
        assert_int_equal(vem_dendrogram_read(ctx, file, &again), VEM_OK);
        unlink(file);
        const vem_dendrogram_info a = *vem_dendrogram_summary(t),
                                  b = *vem_dendrogram_summary(again);
        const double before[] = {a.prior_strength, a.prior_dof, a.prior_count,
                                 a.prior_scale},
                     after[] = {b.prior_strength, b.prior_dof, b.prior_count,
                                b.prior_scale};
        assert_int_equal(b.method, a.method);
        assert_int_equal(b.n, a.n);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(methods[m] == VEM_DENDROGRAM_BAYES, before[k] > 0);
            assert_true(after[k] == before[k] || !(before[k] > 0 || after[k] > 0));
        }
        vem_dendrogram_free(t);
        vem_dendrogram_free(again);
    }
}

/* A file that names a leaf which is none is refused. */
static void leaves_that_are_none(void **state)
{
    (void)state;
    static const double linkage[] = {0, 1, 0.5, 2, 2, 3, 1, 3};
    static const struct {
        double leaf;
        vem_status status;
    } cases[] = {{0, VEM_OK},        {2, VEM_OK},         {-1, VEM_BAD_DATA},
                 {3, VEM_BAD_DATA},  {0.5, VEM_BAD_DATA}, {1e300, VEM_BAD_DATA},
                 {NAN, VEM_BAD_DATA}};
    char file[] = "/tmp/vem_leaves_XXXXXX.npz";
    const int made = mkstemps(file, 4);
    assert_true(made >= 0);
    close(made);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double leaves[] = {0, 1, 2, cases[i].leaf};
        const vem_i_array arrays[] = {{"linkage", VEM_FLOAT64, linkage, 2, {2, 4}},
                                      {"leaves", VEM_FLOAT64, leaves, 1, {4}}};
        vem_i_verb verb;
        vem_dendrogram *t = NULL;
        assert_int_equal(vem_i_npz_write(vem_i_begin(ctx, &verb), file, arrays, 2),
                         VEM_OK);
        assert_int_equal(vem_dendrogram_read(ctx, file, &t), cases[i].status);
        if (!t)
            assert_non_null(strstr(vem_ctx_message(ctx), "of row 4 is none of its 3"));
        vem_dendrogram_free(t);
    }
    unlink(file);
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
        for (int m = 0; m < VEM_DENDROGRAM_COUNT; m++) {
            case_of c = plain_case((vem_dendrogram_method)m);
            c.tree.leaves = seed % 2 ? 12 : 0;
            vem_dendrogram *t = grow(&c, x, N, 2);
            vem_dendrogram_agreement found = {.size = sizeof found};
            double rows;
            const double pairs = purity_by_pairs(t, classes, &rows);
            assert_int_equal(vem_dendrogram_purity(ctx, t, classes, N, &found), VEM_OK);
            grid_assert_near(found.pairs, pairs, 1e-12, "purity over pairs");
            grid_assert_near(found.rows, rows, 1e-12, "purity over rows");
            assert_int_equal(vem_dendrogram_purity(ctx, t, classes, N - 1, &found),
                             VEM_BAD_DATA);
            vem_dendrogram_free(t);
        }
    }
}

static void purity_golden(void **state)
{
    (void)state;
    json_t *g = golden_read("metrics.json"), *list = json_object_get(g, "dendrogram");
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    assert_int_equal(json_array_size(list), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *one = json_array_get(list, i);
        double labels[16], merges[32];
        int64_t classes[16];
        vem_dendrogram *t;
        vem_dendrogram_agreement found = {.size = sizeof found};
        const int64_t n = (int64_t)golden_list(one, "labels", labels);
        golden_list(one, "merges", merges);
        assert_int_equal(vem_i_dendrogram_new(run, n, n, 0, &t), VEM_OK);
        for (int64_t k = 0; k < n; k++)
            classes[k] = (int64_t)labels[k];
        for (int64_t k = 0; k < n - 1; k++)
            t->merges[k] = (vem_dendrogram_merge){.a = (int64_t)merges[2 * k],
                                                  .b = (int64_t)merges[2 * k + 1],
                                                  .delta = (double)k};
        assert_int_equal(vem_i_dendrogram_settle(run, "golden", t), VEM_OK);
        assert_int_equal(vem_dendrogram_purity(ctx, t, classes, n, &found), VEM_OK);
        grid_assert_near(found.pairs, golden_number(one, "purity"), 1e-12,
                         "purity over pairs");
        grid_assert_near(found.pair_count, golden_number(one, "pairs"), 0, "pairs");
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
        cmocka_unit_test(hostile_rows),
        cmocka_unit_test(tiny_rows),
        cmocka_unit_test(hostile_options),
        cmocka_unit_test(stops),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(stops_among_groups),
        cmocka_unit_test(stops_while_rows_are_labelled),
        cmocka_unit_test(cuts),
        cmocka_unit_test(files_keep_the_prior),
        cmocka_unit_test(leaves_that_are_none),
        cmocka_unit_test(purity_of_random_trees),
        cmocka_unit_test(purity_golden),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
