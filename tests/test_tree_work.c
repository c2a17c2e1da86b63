/* How a tree is made: threads, the order of splits, room, memory, files and stops
 * change nothing but what they should. */
#include "base/memory.h"
#include "memory_hooks.h"
#include "tree_checks.h"

/* Some with nodes of many rows, which are cut into pieces. */
static const struct {
    int64_t n;
    int32_t d;
    grid_weights weights;
    vem_i_spread_kind spread;
} shapes[] = {{150000, 2, WEIGHTS_NONE, VEM_I_SPREAD_FULL},
              {100000, 3, WEIGHTS_ZEROS, VEM_I_SPREAD_FULL},
              {80000, 1, WEIGHTS_REAL, VEM_I_SPREAD_NONE},
              {70000, 5, WEIGHTS_NONE, VEM_I_SPREAD_DIAG},
              {3000, 700, WEIGHTS_REAL, VEM_I_SPREAD_TRACE},
              {5000, 40, WEIGHTS_ZEROS, VEM_I_SPREAD_FULL}};
enum { SHAPES = sizeof shapes / sizeof *shapes, KINDS = VEM_I_TREE_MEANS + 1 };

static void shape_new(tree_case *c, int shape, vem_precision precision)
{
    tree_case_new(c, ctx, SET_HEAVY, shapes[shape].weights, shapes[shape].n,
                  shapes[shape].d, precision, 11);
}

static vem_i_tree *built(const vem_view *view, int kind, int shape, int64_t cells)
{
    vem_i_tree *tree = tree_made(ctx, view, (vem_i_tree_kind)kind, shapes[shape].spread,
                                 2 * cells - 1, 0);
    assert_int_equal(vem_i_tree_build(run_of(ctx), tree, cells, 0), VEM_OK);
    return tree;
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    static const int threads[] = {2, 3, 7};
    for (int i = 0; i < SHAPES * KINDS; i += grid_stride()) {
        tree_case c;
        shape_new(&c, i % SHAPES, i % 2 ? VEM_SINGLE : VEM_DOUBLE);
        assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
        vem_i_tree *alone = built(&c.points->view, i / SHAPES, i % SHAPES, 1000);
        assert_int_equal(alone->count, 1999);
        for (int t = 0; t < 3; t++) {
            assert_int_equal(vem_ctx_set_threads(ctx, threads[t]), VEM_OK);
            vem_i_tree *tree = built(&c.points->view, i / SHAPES, i % SHAPES, 1000);
            tree_check_same(alone, tree);
            assert_memory_equal(alone->left, tree->left,
                                (size_t)tree->count * sizeof *tree->left);
            vem_i_tree_free(tree);
        }
        assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
        vem_i_tree_free(alone);
        tree_case_free(&c);
    }
}

/* The laws where nodes are cut into pieces: one level of them, and what follows. */
static void laws_of_large_nodes(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES * KINDS; i += grid_stride()) {
        tree_case c;
        shape_new(&c, i % SHAPES, i % 2 ? VEM_SINGLE : VEM_DOUBLE);
        vem_i_tree *tree = built(&c.points->view, i / SHAPES, i % SHAPES, 9);
        assert_int_equal(tree->count, 17);
        tree_check(tree);
        vem_i_tree_free(tree);
        tree_case_free(&c);
    }
}

/* Level by level, or always the last that is open, or two from either end. */
static void the_order_of_splits_changes_no_node(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES * KINDS; i += grid_stride()) {
        tree_case c;
        shape_new(&c, i % SHAPES, VEM_DOUBLE);
        const vem_view *view = &c.points->view;
        const vem_i_spread_kind spread = shapes[i % SHAPES].spread;
        const vem_i_tree_kind kind = (vem_i_tree_kind)(i / SHAPES);
        vem_i_tree *level = tree_made(ctx, view, kind, spread, 2 * view->n, 7);
        assert_int_equal(vem_i_tree_build(run_of(ctx), level, view->n, 0), VEM_OK);
        vem_i_tree *last = tree_made(ctx, view, kind, spread, 2 * view->n, 7);
        vem_i_tree *ends = tree_made(ctx, view, kind, spread, 2 * view->n, 7);
        for (;;) {
            int32_t node = (int32_t)last->count - 1;
            while (node >= 0 && last->left[node] != VEM_I_TREE_OPEN)
                node--;
            if (node < 0)
                break;
            assert_int_equal(vem_i_tree_split(run_of(ctx), last, &node, 1), VEM_OK);
        }
        for (;;) {
            int32_t nodes[2] = {(int32_t)ends->count - 1, 0};
            while (nodes[0] >= 0 && ends->left[nodes[0]] != VEM_I_TREE_OPEN)
                nodes[0]--;
            while (nodes[1] < nodes[0] && ends->left[nodes[1]] != VEM_I_TREE_OPEN)
                nodes[1]++;
            if (nodes[0] < 0)
                break;
            const int64_t count = nodes[1] < nodes[0] ? 2 : 1, before = ends->count;
            assert_int_equal(vem_i_tree_split(run_of(ctx), ends, nodes, count), VEM_OK);
            assert_int_equal(ends->left[nodes[0]], before); /* in the order of the list */
        }
        tree_check_same(level, last);
        tree_check_same(level, ends);
        vem_i_tree_free(level);
        vem_i_tree_free(last);
        vem_i_tree_free(ends);
        tree_case_free(&c);
    }
}

/* What is split already, a leaf, or more than there is room for is left alone. */
static void room_is_kept_to(void **state)
{
    (void)state;
    tree_case c;
    tree_case_new(&c, ctx, SET_OVERLAPPING, WEIGHTS_NONE, 500, 2, VEM_DOUBLE, 3);
    vem_i_tree *tree =
        tree_made(ctx, &c.points->view, VEM_I_TREE_PRINCIPAL, VEM_I_SPREAD_FULL, 8, 0);
    const int32_t all[] = {0, 1, 2, 3, 4, 5, 6};
    assert_int_equal(vem_i_tree_split(run_of(ctx), tree, all, 1), VEM_OK);
    assert_int_equal(tree->count, 3);
    assert_int_equal(vem_i_tree_split(run_of(ctx), tree, all, 3), VEM_OK);
    assert_int_equal(tree->count, 7);
    assert_true(tree->left[0] == 1 && tree->left[1] == 3 && tree->left[2] == 5);
    assert_int_equal(vem_i_tree_split(run_of(ctx), tree, all, 7), VEM_OK);
    assert_int_equal(tree->count, 7); /* one more would fit, two do not */
    tree_check(tree);
    vem_i_tree_free(tree);
    /* No more cells than asked for, no deeper than asked for; of a level those of
     * largest scatter. */
    tree = tree_made(ctx, &c.points->view, VEM_I_TREE_BOXES, VEM_I_SPREAD_NONE, 1000, 0);
    assert_int_equal(vem_i_tree_build(run_of(ctx), tree, 100, 3), VEM_OK);
    assert_int_equal(tree->count, 15);
    assert_int_equal(vem_i_tree_build(run_of(ctx), tree, 11, 0), VEM_OK);
    assert_int_equal(tree->count, 21);
    for (int64_t i = 7; i < 15; i++)
        for (int64_t j = 7; j < 15; j++)
            assert_false(tree->left[i] >= 0 && tree->left[j] < 0 &&
                         tree->scatter[i] < tree->scatter[j]);
    assert_int_equal(vem_i_tree_build(run_of(ctx), tree, 11, 0), VEM_OK);
    assert_int_equal(tree->count, 21);
    tree_check(tree);
    vem_i_tree_free(tree);
    tree_case_free(&c);
}

/* ---- memory ---- */

static void a_dry_run_counts_what_is_taken(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES * KINDS * 2; i += grid_stride()) {
        tree_case c;
        shape_new(&c, i % SHAPES, i % 2 ? VEM_SINGLE : VEM_DOUBLE);
        assert_int_equal(vem_ctx_set_threads(ctx, 1 + i / SHAPES / KINDS * 2), VEM_OK);
        const vem_i_tree_spec spec = {.kind = (vem_i_tree_kind)(i / SHAPES % KINDS),
                                      .spread = shapes[i % SHAPES].spread,
                                      .nodes = 999};
        vem_i_tree *tree = NULL;
        uint64_t counted;
        vem_i_run dry = vem_i_run_dry(run_of(ctx), &counted);
        assert_int_equal(vem_i_tree_new(&dry, &c.points->view, &spec, &tree), VEM_OK);
        vem_i_tree_free(tree);
        asked = 0;
        watching = 1;
        assert_int_equal(vem_i_tree_new(run_of(ctx), &c.points->view, &spec, &tree),
                         VEM_OK);
        assert_int_equal(vem_i_tree_build(run_of(ctx), tree, 500, 0), VEM_OK);
        watching = 0;
        assert_int_equal(asked, counted);
        assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
        vem_i_tree_free(tree);
        tree_case_free(&c);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tree_case c;
    tree_case_new(&c, ctx, SET_OVERLAPPING, WEIGHTS_REAL, 300, 3, VEM_SINGLE, 3);
    const vem_i_tree_spec spec = {.kind = VEM_I_TREE_BOXES,
                                  .spread = VEM_I_SPREAD_FULL,
                                  .nodes = 99};
    vem_status status = VEM_NO_MEMORY;
    int64_t k = 1;
    for (; status != VEM_OK; k++) {
        vem_i_tree *tree = NULL;
        calls = 0;
        fail_at = k;
        status = vem_i_tree_new(run_of(ctx), &c.points->view, &spec, &tree);
        fail_at = 0;
        assert_true(status == VEM_OK ? tree != NULL : status == VEM_NO_MEMORY && !tree);
        vem_i_tree_free(tree);
    }
    assert_true(k > 15);
    tree_case_free(&c);
}

static void rows_in_a_file_are_rows(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        tree_case c;
        shape_new(&c, i, VEM_SINGLE);
        vem_view spilled = c.points->view;
        spilled.spilled = 1;
        vem_i_tree *tree = built(&c.points->view, i % KINDS, i, 300),
                   *file = built(&spilled, i % KINDS, i, 300);
        assert_non_null(file->spill);
        tree_check_same(tree, file);
        vem_i_tree_free(tree);
        vem_i_tree_free(file);
        tree_case_free(&c);
    }
}

/* A deadline that has passed: nothing is split, and what comes later finds all rows. */
static void a_stop_leaves_a_tree(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        tree_case c;
        shape_new(&c, i, VEM_DOUBLE);
        vem_i_tree *tree = tree_made(ctx, &c.points->view, VEM_I_TREE_PRINCIPAL,
                                     VEM_I_SPREAD_FULL, 2 * c.points->view.n, 0);
        vem_i_run late = *run_of(ctx);
        late.deadline = 1e-9;
        assert_int_equal(vem_i_tree_build(&late, tree, 100, 0), VEM_STOPPED);
        assert_non_null(strstr(vem_ctx_message(ctx), "tree"));
        assert_int_equal(tree->count, 1);
        vem_i_tree *none = NULL;
        assert_int_equal(vem_i_tree_new(&late, &c.points->view, &tree->spec, &none),
                         VEM_STOPPED);
        assert_null(none);
        assert_int_equal(vem_i_tree_build(run_of(ctx), tree, 10, 0), VEM_OK);
        assert_int_equal(tree->count, 19);
        tree_check(tree);
        vem_i_tree_free(tree);
        tree_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(laws_of_large_nodes),
        cmocka_unit_test(the_order_of_splits_changes_no_node),
        cmocka_unit_test(room_is_kept_to),
        cmocka_unit_test(a_dry_run_counts_what_is_taken),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(rows_in_a_file_are_rows),
        cmocka_unit_test(a_stop_leaves_a_tree),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
