/* A view of some rows of a whole does with each of them what a view of all does: random numbers
 * go by global numbers, and shards are cut by them. */
#include "data/items.h"
#include "partial.h"
#include "run.h"
#include "seed/seed.h"

#define CONTEXT_THREADS 2
#include "context.h"

enum { ROWS = 2500, FIRST = 1100, LEFT = ROWS - FIRST, CLUSTERS = 40 };

/* The rows from FIRST on. */
static vem_view rest_of(const vem_view *view)
{
    vem_view rest = *view;
    rest.x = vem_i_view_row(view, FIRST);
    rest.mass = view->mass ? view->mass + FIRST : NULL;
    rest.n = LEFT;
    rest.first = FIRST;
    return rest;
}

/* Every row has a key and all are drawn, so that the draws are in the order of the keys. */
static void seeds_go_by_global_numbers(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, ROWS, 2, 5);
    vem_data *rows = grid_borrow(ctx, &data);
    vem_i_points *points = NULL;
    vem_i_points_request request = {.precision = VEM_DOUBLE, .phase = "read"};
    assert_int_equal(vem_i_points_new(run_of(ctx), rows, &request, &points), VEM_OK);
    assert_true(points->view.first == 0 && points->view.global_n == ROWS);
    const vem_view rest = rest_of(&points->view);
    int64_t all[ROWS], some[LEFT], at = 0;
    vem_i_seeds seeds = {.items = all};
    assert_int_equal(vem_i_seed_random(run_of(ctx), &points->view, ROWS, 7, &seeds),
                     VEM_OK);
    seeds.items = some;
    assert_int_equal(vem_i_seed_random(run_of(ctx), &rest, LEFT, 7, &seeds), VEM_OK);
    for (int64_t i = 0; i < ROWS; i++)
        if (all[i] >= FIRST)
            assert_int_equal(all[i], FIRST + some[at++]);
    assert_int_equal(at, LEFT);
    vem_i_points_free(points);
    vem_data_free(rows);
    grid_data_free(&data);
}

/* What an item tries in its first step: clusters drawn to be held, their neighbors, and some
 * more. */
static void candidates_go_by_global_numbers(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, ROWS, 2, 5);
    vem_model *start = grid_start(ctx, &data, VEM_DIAG, CLUSTERS);
    const vem_i_search_spec spec = partial_spec(VEM_SEARCH_EXACT, CLUSTERS, 2, 3, 4, 9);
    partial whole, part;
    partial_new(&whole, ctx, &data, start, spec);
    partial_new(&part, ctx, &data, start, spec);
    part.points->view = rest_of(&part.points->view);
    partial_find(&whole);
    partial_find(&part);
    const size_t row = (size_t)whole.candidates;
    assert_memory_equal(part.tried, whole.tried + FIRST * row,
                        LEFT * row * sizeof *part.tried);
    partial_free(&whole);
    partial_free(&part);
    vem_model_free(start);
    grid_data_free(&data);
}

/* The bounds of shards and pieces inside the rest are those of the whole. */
static void shards_are_cut_by_global_numbers(void **state)
{
    (void)state;
    const vem_view whole = {.n = ROWS, .global_n = ROWS},
                   part = {.n = LEFT, .first = FIRST, .global_n = ROWS};
    for (int64_t per = 1; per <= ROWS + 1; per++) {
        const int64_t before = FIRST / per, shards = vem_i_view_shards(&part, per);
        assert_int_equal(before + shards, vem_i_view_shards(&whole, per));
        assert_int_equal(vem_i_view_shard(&part, per, 0), 0);
        for (int64_t s = 1; s <= shards; s++)
            assert_int_equal(FIRST + vem_i_view_shard(&part, per, s),
                             vem_i_view_shard(&whole, per, before + s));
    }
}

/* Items bring what the view knows of them, listed or not. */
static void items_bring_all(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2, 3, 4, 5}, spread[] = {10, 11, 12}, base[] = {20, 21, 22};
    const uint32_t list[] = {1};
    const vem_view view = {.kernels = vem_i_kernels_find(NULL, VEM_DOUBLE),
                           .x = x,
                           .n = 3,
                           .ld = 2,
                           .d = 2,
                           .spread_kind = VEM_I_SPREAD_TRACE,
                           .spread = spread,
                           .spread_ld = 1,
                           .log_base = base};
    vem_i_items items = vem_i_items_at(&view, 1, list, 1);
    assert_true(items.n == 1 && items.index == list && !items.panels);
    assert_true(((const double *)items.x)[list[0] * items.ld] == 4);
    assert_true(items.spread_kind == VEM_I_SPREAD_TRACE);
    assert_true(((const double *)items.spread)[list[0] * items.spread_ld] == 12);
    assert_true(items.log_base[list[0]] == 22);
    double panels[2 * VEM_I_BLOCK];
    vem_i_items_pack(&view, NULL, panels, NULL, &items);
    assert_true(items.panels == panels && panels[0] == 4 &&
                panels[view.kernels->panel] == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_go_by_global_numbers),
        cmocka_unit_test(candidates_go_by_global_numbers),
        cmocka_unit_test(shards_are_cut_by_global_numbers),
        cmocka_unit_test(items_bring_all),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
