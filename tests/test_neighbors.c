/* One E-step of the neighborhood searches: golden values, and what the sets of clusters
 * must be. */
#include <jansson.h>

#include "partial.h"

#define CONTEXT_THREADS 1
#include "context.h"

/* ---- Golden values ---- */

enum { GOLD_N = 9, GOLD_D = 2, GOLD_C = 6, GOLD_HELD = 2, GOLD_REACH = 3 };

static json_t *golden(void)
{
    const char *source = getenv("VEM_SOURCE");
    char path[512];
    json_error_t error;
    snprintf(path, sizeof path, "%s/tests/golden/partial_estep.json",
             source ? source : ".");
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        fail_msg("%s: %s", path, error.text);
    return root;
}

static const json_t *cell(const json_t *root, const char *key, size_t row, size_t column)
{
    const json_t *line = json_array_get(json_object_get(root, key), row);
    return json_array_get(line, column);
}

static void reals(const json_t *root, const char *key, size_t rows, size_t columns,
                  double *out)
{
    for (size_t i = 0; i < rows * columns; i++) {
        const json_t *value = cell(root, key, i / columns, i % columns);
        assert_true(json_is_number(value));
        out[i] = json_number_value(value);
    }
}

static void integers(const json_t *root, const char *key, size_t rows, size_t columns,
                     int32_t *out)
{
    for (size_t i = 0; i < rows * columns; i++) {
        const json_t *value = cell(root, key, i / columns, i % columns);
        assert_true(json_is_integer(value));
        out[i] = (int32_t)json_integer_value(value);
    }
}

static void golden_step(partial *p, const json_t *root, double *x, vem_search_kind kind)
{
    double means[GOLD_C * GOLD_D], variance = 1;
    int32_t held[GOLD_N * GOLD_HELD];
    vem_model *model = NULL;
    reals(root, "Y", GOLD_N, GOLD_D, x);
    reals(root, "mu", GOLD_C, GOLD_D, means);
    integers(root, "K", GOLD_N, GOLD_HELD, held);
    grid_data data = {.n = GOLD_N, .d = GOLD_D, .x = x};
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, GOLD_C, GOLD_D, means, NULL,
                                   &variance, &model),
                     VEM_OK);
    partial_new(p, ctx, &data, model,
                partial_spec(kind, GOLD_C, GOLD_HELD, GOLD_REACH, 0, 1));
    vem_model_free(model);
    partial_hold(p, held);
}

static void assert_graph(const partial *p, const json_t *root, const char *key)
{
    int32_t expected[GOLD_C * GOLD_REACH];
    integers(root, key, GOLD_C, GOLD_REACH, expected);
    assert_memory_equal(p->graph->neighbors, expected, sizeof expected);
}

static int tried(const partial *p, int64_t item, int64_t cluster)
{
    for (int32_t r = 0; r < p->candidates; r++)
        if (p->tried[item * p->candidates + r] == cluster)
            return 1;
    return 0;
}

/* Averages are those of distances, kept in single precision. */
static void assert_evidence(const partial *p, const json_t *root)
{
    const json_t *est = json_object_get(root, "est");
    int known = 0;
    for (int32_t c = 0; c < GOLD_C; c++)
        for (int32_t t = 0; t < GOLD_C; t++) {
            char key[32];
            double sum;
            int count;
            snprintf(key, sizeof key, "%d,%d", c, t);
            const json_t *pair = json_object_get(est, key);
            partial_evidence(p, c, t, &sum, &count);
            if (c == t || !pair) { /* dhat(c,c) is 0, whatever was measured */
                assert_int_equal(count, 0);
                continue;
            }
            double expected = json_number_value(json_array_get(pair, 0));
            assert_int_equal(count, json_integer_value(json_array_get(pair, 1)));
            grid_assert_near(sum, expected, 1e-6 * expected, key);
            known++;
        }
    assert_true(known > 20);
}

static void golden_estimated(void **state)
{
    (void)state;
    json_t *root = golden();
    double x[GOLD_N * GOLD_D], distances[GOLD_N * GOLD_HELD], expected_f = 0;
    int32_t held[GOLD_N * GOLD_HELD];
    partial p;
    golden_step(&p, root, x, VEM_SEARCH_ESTIMATED);
    integers(root, "G", GOLD_C, GOLD_REACH, p.graph->neighbors);
    partial_find(&p);
    for (size_t i = 0; i < GOLD_N; i++) {
        const json_t *set = json_array_get(json_object_get(root, "search"), i);
        int32_t count = 0;
        while (count < p.candidates && p.tried[(int64_t)i * p.candidates + count] >= 0)
            count++;
        assert_int_equal(count, json_array_size(set));
        for (size_t k = 0; k < json_array_size(set); k++)
            assert_true(
                tried(&p, (int64_t)i, json_integer_value(json_array_get(set, k))));
    }
    assert_int_equal(p.pairs,
                     json_integer_value(json_object_get(root, "distance_evaluations")));
    integers(root, "K_new", GOLD_N, GOLD_HELD, held);
    assert_memory_equal(p.posterior.held, held, sizeof held);
    assert_evidence(&p, root);
    reals(root, "dist2_K_new", GOLD_N, GOLD_HELD, distances);
    for (size_t i = 0; i < GOLD_N; i++) /* variance 1 */
        expected_f +=
            log(exp(-0.5 * distances[2 * i]) + exp(-0.5 * distances[2 * i + 1]));
    expected_f = expected_f / GOLD_N - log(GOLD_C) - log(6.283185307179586477);
    grid_assert_near(partial_normalize(&p), expected_f, 1e-12, "F");
    partial_settle(&p);
    assert_graph(&p, root, "G_S");
    partial_free(&p);
    json_decref(root);
}

static void golden_exact(void **state)
{
    (void)state;
    json_t *root = golden();
    double x[GOLD_N * GOLD_D];
    partial p;
    golden_step(&p, root, x, VEM_SEARCH_EXACT);
    partial_find(&p);
    assert_graph(&p, root, "G_X");
    int64_t expected = GOLD_C * GOLD_C;
    for (int64_t i = 0; i < GOLD_N; i++)
        for (int32_t c = 0; c < GOLD_C; c++)
            expected += tried(&p, i, c);
    assert_int_equal(p.pairs, expected);
    partial_free(&p);
    json_decref(root);
}

/* ---- Invariants of the sets ---- */

static void assert_sets(const partial *p)
{
    const vem_i_graph *g = p->graph;
    for (int32_t c = 0; c < g->clusters; c++) {
        const int32_t *near = g->neighbors + (int64_t)c * g->reach;
        assert_int_equal(near[0], c);
        for (int32_t k = 1; k < g->reach; k++) {
            assert_in_range(near[k], 0, g->clusters - 1);
            for (int32_t l = 0; l < k; l++)
                assert_int_not_equal(near[k], near[l]);
        }
    }
    for (int64_t i = 0; i < p->posterior.n; i++) {
        const int32_t *held = p->posterior.held + i * p->posterior.width;
        for (int32_t r = 0; r < p->posterior.width; r++) {
            assert_in_range(held[r], 0, g->clusters - 1);
            assert_true(tried(p, i, held[r]));
            for (int32_t s = 0; s < r; s++)
                assert_int_not_equal(held[r], held[s]);
        }
    }
}

static void sets_are_sets(void **state)
{
    (void)state;
    const int32_t shapes[][3] = {/* C, C', G */
                                 {12, 1, 1},  {12, 5, 1},  {12, 3, 4},  {12, 5, 12},
                                 {90, 2, 70}, {90, 7, 65}, {90, 90, 2}, {1, 1, 1},
                                 {2, 1, 2},   {2, 2, 1}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
            GRID_EACH_SHAPED (family) {
                int32_t clusters = shapes[s][0], held = shapes[s][1];
                grid_data data =
                    grid_data_new(SET_OVERLAPPING, WEIGHTS_ZEROS, 300, 2, 25);
                vem_model *start =
                    grid_start(ctx, &data, (vem_family_kind)family, clusters);
                partial p;
                partial_new(&p, ctx, &data, start,
                            partial_spec(kind, clusters, held, shapes[s][2], family % 2,
                                         3));
                int32_t *before = calloc((size_t)(data.n * held), sizeof *before);
                for (int step = 0; step < 4; step++) {
                    if (step > 0)
                        memcpy(before, p.posterior.held,
                               (size_t)(data.n * held) * sizeof *before);
                    partial_find(&p);
                    assert_sets(&p);
                    for (int64_t e = 0; e < data.n * held && step > 0; e++)
                        assert_true(tried(&p, e / held, before[e]));
                    partial_settle(&p);
                    assert_sets(&p);
                    partial_normalize(&p);
                    partial_maximize(&p, VEM_PRIOR_FLAT);
                }
                free(before);
                partial_free(&p);
                vem_model_free(start);
                grid_data_free(&data);
            }
}

/* The exact graph against a sort of all costs, lists short and long. */
static void exact_neighbors_are_the_nearest(void **state)
{
    (void)state;
    enum { CLUSTERS = 100 };
    const int32_t reaches[] = {2, 5, 62, 63, 64, 65, 80, 99, 100};
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 300, 3, 26);
    for (size_t r = 0; r < sizeof reaches / sizeof *reaches; r++)
        GRID_EACH_SHAPED (family) {
            int32_t reach = reaches[r];
            vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, CLUSTERS);
            /* Weights from 1 to 2: a cluster need not be the best at its own mean. */
            for (int32_t c = 0; c < CLUSTERS; c++)
                start->weights[c] = (1 + c / (double)CLUSTERS) / (1.495 * CLUSTERS);
            partial p;
            partial_new(&p, ctx, &data, start,
                        partial_spec(VEM_SEARCH_EXACT, CLUSTERS, 1, reach, 0, 3));
            partial_find(&p);
            for (int32_t c = 0; c < CLUSTERS; c++) {
                int32_t index[CLUSTERS];
                double costs[CLUSTERS];
                for (int32_t t = 0; t < CLUSTERS; t++)
                    index[t] = t;
                const vem_i_items mean = {.n = 1,
                                          .x =
                                              (double *)p.scorer.means + c * p.scorer.ldc,
                                          .ld = p.scorer.ldc};
                p.scorer.family->score_pairs(&p.scorer, &mean, CLUSTERS, index, costs, 1);
                const int32_t *near = p.graph->neighbors + (int64_t)c * reach;
                double farthest = -INFINITY, best_left = INFINITY;
                for (int32_t t = 0; t < CLUSTERS; t++) {
                    int32_t k = 0;
                    while (k < reach && near[k] != t)
                        k++;
                    if (t != c && k < reach)
                        farthest = fmax(farthest, costs[t]);
                    else if (t != c)
                        best_left = fmin(best_left, costs[t]);
                }
                assert_true(farthest <= best_left);
            }
            partial_free(&p);
            vem_model_free(start);
        }
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_estimated),
        cmocka_unit_test(golden_exact),
        cmocka_unit_test(sets_are_sets),
        cmocka_unit_test(exact_neighbors_are_the_nearest),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
