/* Graphs of neighboring clusters, made by hand: what a step of evidence makes of them, and what is
 * left of them when clusters go. */
#define CONTEXT_THREADS 1
#include "context.h"
#include "partial.h"
#include "run.h"

#include "base/memory.h"
#include "coarse/block.h"
#include "search/graph.h"

enum { C = 6, REACH = 4, SLOTS = 6 };

/* The nearest by their averages come first, the lower number where those are equal; then, in its
 * order, what was there before; without evidence all stays. */
static void evidence(void **state)
{
    (void)state;
    int32_t near[C * REACH] = {0, 3, 4, 5, 1, 2, 3, 4, 2, 5, 4, 3,
                               3, 0, 1, 2, 4, 1, 2, 3, 5, 4, 3, 2};
    static const int32_t expected[C * REACH] = {0, 2, 3, 4, 1, 3, 0, 5, 2, 5, 4, 3,
                                                3, 1, 0, 2, 4, 0, 5, 1, 5, 4, 3, 2};
    vem_i_slot slots[C * SLOTS] = {
        [0 * SLOTS] = {.other = 2, .sum = 1, .count = 1},
        [1 * SLOTS] = {.other = 2, .sum = 18, .count = 2},
        [1 * SLOTS + 1] = {.other = 5, .sum = 4, .count = 2},
        [1 * SLOTS + 2] = {.other = 0, .sum = 4, .count = 4},
        [1 * SLOTS + 3] = {.other = 3, .sum = 2, .count = 4},
        [3 * SLOTS] = {.other = 1, .sum = 1, .count = 1},
        [4 * SLOTS] = {.other = 5, .sum = 6, .count = 3},
        [4 * SLOTS + 1] = {.other = 0, .sum = 2, .count = 1},
        [5 * SLOTS] = {.other = 4, .sum = 1, .count = 1},
    };
    int32_t used[C] = {1, 4, 0, 1, 2, 1};
    vem_i_estimated g = {.slots = SLOTS, .evidence = slots, .used = used};
    g.graph.search.run = run_of(ctx);
    g.graph.clusters = C;
    g.graph.reach = REACH;
    g.graph.neighbors = near;
    vem_i_estimated_settle(&g.graph.search, 0);
    assert_int_equal(used[1], 4); /* nothing was found: nothing is settled */
    vem_i_estimated_settle(&g.graph.search, 1);
    assert_memory_equal(near, expected, sizeof near);
    for (int c = 0; c < C; c++)
        assert_int_equal(used[c], 0);
}

/* Lists of those that stay, under their new numbers; filled up by the lowest that are not there. */
static void clusters_go(void **state)
{
    (void)state;
    int32_t near[C * REACH] = {0, 3, 4, 5, 1, 2, 3, 4, 2, 5, 4, 3,
                               3, 0, 1, 2, 4, 1, 2, 3, 5, 4, 3, 2};
    static const int32_t map[C] = {0, -1, 1, -1, 2, 3};
    static const int32_t expected[4 * REACH] = {0, 2, 3, 1, 1, 3, 2, 0,
                                                2, 1, 0, 3, 3, 2, 1, 0};
    static const int32_t map_two[4] = {-1, 0, -1, 1}, two[4] = {0, 1, 1, 0};
    vem_i_graph g = {.clusters = C, .reach = REACH, .neighbors = near};
    vem_i_graph_renumber(&g.search, map, 4);
    assert_true(g.clusters == 4 && g.reach == REACH);
    assert_memory_equal(near, expected, sizeof expected);
    vem_i_graph_renumber(&g.search, map_two, 2);
    assert_true(g.clusters == 2 && g.reach == 2);
    assert_memory_equal(near, two, sizeof two);
}

/* A cluster that is put beside another takes its neighbors, and becomes its first. */
static void clusters_meet(void **state)
{
    (void)state;
    int32_t near[C * REACH] = {0, 3, 4, 5, 1, 2, 3, 4, 2, 5, 4, 3,
                               3, 0, 1, 2, 4, 1, 2, 3, 5, 4, 3, 2};
    static const int32_t expected[C * REACH] = {0, 5, 4, 3, 1, 4, 2, 3, 2, 5, 4, 3,
                                                3, 0, 1, 2, 4, 1, 2, 3, 5, 0, 4, 3};
    const vem_options o = {.search = VEM_SEARCH_ESTIMATED, .clusters = C, .held = 1};
    const vem_i_search_spec spec = vem_i_search_for(&o, 1);
    vem_i_graph g = {.clusters = C, .reach = REACH, .neighbors = near};
    spec.type->place(&g.search, 1, 4);
    spec.type->place(&g.search, 0, 5);
    spec.type->place(&g.search, 3, 3);
    assert_memory_equal(near, expected, sizeof near);
}

/* Before the first step neighbors are the nearest by the means, each once, and never the cluster
 * itself a second time. */
static void neighbors_to_begin_with(void **state)
{
    (void)state;
    enum { MANY = 120 };
    for (int32_t reach = 2; reach <= 30; reach += 7) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 600, 2, 7);
        vem_model *model = grid_start(ctx, &data, VEM_ISO_SHARED, MANY);
        const vem_options o = {.search = VEM_SEARCH_ESTIMATED,
                               .clusters = MANY,
                               .held = 1,
                               .reach = reach};
        partial p;
        int64_t pairs = 0;
        partial_new(&p, ctx, &data, model, vem_i_search_for(&o, 1));
        vem_i_scorer_prepare(run_of(ctx), p.model, &p.scorer);
        assert_int_equal(p.graph->reach, reach);
        assert_int_equal(p.search->spec.type->start(p.search, &pairs), VEM_OK);
        assert_true(pairs > 0);
        for (int32_t c = 0; c < MANY; c++) {
            const int32_t *near = p.graph->neighbors + (int64_t)c * reach;
            int seen[MANY] = {0};
            assert_int_equal(near[0], c);
            for (int32_t k = 0; k < reach; k++) {
                assert_in_range(near[k], 0, MANY - 1);
                assert_int_equal(seen[near[k]]++, 0);
            }
        }
        partial_free(&p);
        vem_model_free(model);
        grid_data_free(&data);
    }
}

/* Lists of a block: the cheapest first, the lower number where two cost the same. */
static void lists_in_order(void **state)
{
    (void)state;
    enum { N = 3, HELD = 4 };
    const vem_view view = {.kernels = ctx->kernels_double};
    double costs[HELD * N] = {5, 1, 2, 3, 2, 2, 9, 3, 2, 1, 4, 2};
    int32_t index[HELD * N] = {1, 4, 9, 2, 3, 7, 3, 2, 8, 4, 1, 5};
    static const double sorted[HELD * N] = {1, 1, 2, 3, 2, 2, 5, 3, 2, 9, 4, 2};
    static const int32_t order[HELD * N] = {4, 4, 5, 2, 3, 7, 1, 2, 8, 3, 1, 9};
    vem_i_block block = {
        .view = &view, .n = N, .capacity = N, .costs = costs, .index = index};
    vem_i_block_sort(&block, HELD);
    assert_memory_equal(costs, sorted, sizeof costs);
    assert_memory_equal(index, order, sizeof index);
}

/* What processes that meet in files have learned comes back from a file; from one that says something
 * else nothing is taken, and nothing read beyond its end. */
static void what_was_learned_comes_back(void **state)
{
    (void)state;
    enum { LISTS = 6 };
    static const vem_i_slot whole[LISTS] = {{.other = 1, .count = 2},
                                            {.other = 0, .count = 3, .sum = 6},
                                            {.other = 5, .count = 1, .sum = 2},
                                            {.other = 1, .count = 0},
                                            {.other = 5, .count = 1},
                                            {.other = 2, .count = 4, .sum = 1}};
    static const struct {
        int at;
        vem_i_slot slot;
    } forged[] = {
        {0, {.other = 1, .count = 6}},         /* more than there are */
        {0, {.other = 1, .count = -1}},        /* none that could be */
        {0, {.other = 1, .count = INT32_MAX}}, /* of any list */
        {0, {.other = C, .count = 2}},         /* no cluster has the number */
        {0, {.other = INT32_MIN, .count = 2}},
        {2, {.other = C, .count = 1}},
        {2, {.other = -1, .count = 1}},
        {3, {.other = 0, .count = 0}}, /* before 1 */
        {4, {.other = 5, .count = 2}},
        {5, {.other = 6, .count = 4}},
    };
    vem_i_learned found[VEM_I_RANGES] = {{0}};
    vem_i_estimated g = {.found = found};
    g.graph.search.run = run_of(ctx);
    g.graph.clusters = C;
    /* Of its own memory, so that a sanitizer sees what is read behind it. */
    vem_i_slot *lists = malloc(sizeof whole);
    assert_non_null(lists);
    const vem_i_kept kept = {lists, sizeof whole}, cut = {lists, sizeof whole - 1};
    for (size_t k = 0; k < sizeof forged / sizeof *forged; k++) {
        memcpy(lists, whole, sizeof whole);
        lists[forged[k].at] = forged[k].slot;
        if (vem_i_learned_again(&g.graph.search, &kept))
            fail_msg("forged list %d was taken", (int)k);
        for (int r = 0; r < VEM_I_RANGES; r++)
            assert_true(found[r].count == 0 && !found[r].lost);
    }
    memcpy(lists, whole, sizeof whole);
    assert_false(vem_i_learned_again(&g.graph.search, &cut));
    assert_true(vem_i_learned_again(&g.graph.search, &kept));
    assert_int_equal(found[1 * VEM_I_RANGES / C].count, 4);
    assert_int_equal(found[5 * VEM_I_RANGES / C].count, 2);
    assert_memory_equal(found[1 * VEM_I_RANGES / C].slots, whole, 4 * sizeof *whole);
    for (int r = 0; r < VEM_I_RANGES; r++)
        vem_i_free(found[r].slots);
    free(lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(evidence),
                                       cmocka_unit_test(clusters_go),
                                       cmocka_unit_test(clusters_meet),
                                       cmocka_unit_test(neighbors_to_begin_with),
                                       cmocka_unit_test(lists_in_order),
                                       cmocka_unit_test(what_was_learned_comes_back)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
