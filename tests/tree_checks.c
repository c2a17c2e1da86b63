#include "tree_checks.h"

#include <float.h>

void tree_case_new(tree_case *c, vem_ctx *ctx, grid_set set, grid_weights weights,
                   int64_t n, int32_t d, vem_precision precision, uint64_t seed)
{
    c->data = grid_data_new(set, weights, n, d, seed);
    c->rows = grid_borrow(ctx, &c->data);
    vem_i_points_request request = {.precision = precision, .phase = "read"};
    if (vem_i_points_new(run_of(ctx), c->rows, &request, &c->points) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
}

void tree_case_free(tree_case *c)
{
    vem_i_points_free(c->points);
    vem_data_free(c->rows);
    grid_data_free(&c->data);
}

vem_i_tree *tree_made(vem_ctx *ctx, const vem_view *view, vem_i_tree_kind kind,
                      vem_i_spread_kind spread, int64_t nodes, int32_t depth)
{
    const vem_i_tree_spec spec = {.kind = kind,
                                  .spread = spread,
                                  .nodes = nodes,
                                  .depth = depth};
    vem_i_tree *tree = NULL;
    assert_int_equal(vem_i_tree_new(run_of(ctx), view, &spec, &tree), VEM_OK);
    assert_non_null(tree);
    return tree;
}

vem_i_tree *tree_whole(vem_ctx *ctx, const vem_view *view, vem_i_tree_kind kind,
                       vem_i_spread_kind spread, int32_t depth)
{
    vem_i_tree *tree = tree_made(ctx, view, kind, spread, 2 * view->n, depth);
    assert_int_equal(vem_i_tree_build(run_of(ctx), tree, view->n, 0), VEM_OK);
    for (int64_t i = 0; i < tree->count; i++)
        assert_int_not_equal(tree->left[i], VEM_I_TREE_OPEN);
    return tree;
}

/* ---- the laws ---- */

static const void *mean_of(const vem_i_tree *tree, int64_t node)
{
    return (const char *)tree->means +
           (size_t)(node * tree->ld) * tree->view->kernels->element;
}

static double item_spread(const vem_view *view, int64_t item, int64_t j, int64_t k)
{
    const int64_t d = view->d, hi = j > k ? j : k, lo = j > k ? k : j;
    const int64_t row = item * view->spread_ld;
    switch (view->spread_kind) {
    case VEM_I_SPREAD_FULL:
        return vem_i_value(view->kernels, view->spread, row + hi * (hi + 1) / 2 + lo);
    case VEM_I_SPREAD_DIAG:
        return j == k ? vem_i_value(view->kernels, view->spread, row + j) : 0;
    case VEM_I_SPREAD_TRACE:
        return j == k ? vem_i_value(view->kernels, view->spread, row) / (double)d : 0;
    default: return 0;
    }
}

/* Rows of the copy are those of the view, each once. */
static void check_order(const vem_i_tree *tree)
{
    const vem_view *view = tree->view;
    char *seen = calloc((size_t)view->n, 1);
    assert_non_null(seen);
    const size_t row = (size_t)view->d * view->kernels->element;
    for (int64_t i = 0; i < view->n; i++) {
        const int64_t item = tree->order[i];
        assert_true(item < view->n && !seen[item]);
        seen[item] = 1;
        assert_memory_equal((const char *)tree->x + (size_t)i * row,
                            vem_i_view_row(view, item), row);
        assert_true((tree->weights ? tree->weights[i] : 1.0) ==
                    vem_i_view_mass(view, item));
    }
    free(seen);
}

/* Mass, mean and spread by their definitions, in long double. */
static void check_sums(const vem_i_tree *tree, int64_t node)
{
    const vem_view *view = tree->view;
    const vem_i_kernels *kernels = view->kernels;
    const int32_t d = view->d;
    const int single = kernels->precision == VEM_SINGLE;
    const double u = single ? FLT_EPSILON : 1e-11;
    const int64_t first = tree->first[node], end = first + tree->rows[node];
    /* What the long doubles here lose themselves. */
    const double nothing = 1e-33 * view->extreme * view->extreme;
    long double mass = 0, *mean = calloc((size_t)d, sizeof *mean), trace = 0;
    assert_non_null(mean);
    for (int64_t i = first; i < end; i++)
        mass += vem_i_view_mass(view, tree->order[i]);
    assert_true(fabs((double)mass - tree->mass[node]) <= 1e-12 * (double)mass);
    assert_true(tree->mass[node] > 0);
    for (int32_t j = 0; j < d; j++) {
        for (int64_t i = first; i < end; i++)
            mean[j] += (long double)vem_i_view_mass(view, tree->order[i]) *
                       vem_i_value(kernels, vem_i_view_row(view, tree->order[i]), j);
        mean[j] /= mass;
        const double stored = vem_i_value(kernels, mean_of(tree, node), j);
        const double bound = u * fabs((double)mean[j]) + 1e-13 * view->extreme;
        if (!(fabs(stored - (double)mean[j]) <= bound))
            fail_msg("node %d, column %d: mean %.17g, not %.17g", (int)node, j, stored,
                     (double)mean[j]);
    }
    for (int32_t j = 0; j < d; j++)
        for (int32_t k = tree->spec.spread == VEM_I_SPREAD_FULL ? 0 : j; k <= j; k++) {
            long double sum = 0, size = 0;
            for (int64_t i = first; i < end; i++) {
                const void *x = vem_i_view_row(view, tree->order[i]);
                const long double w = vem_i_view_mass(view, tree->order[i]);
                const long double a = vem_i_value(kernels, x, j) - mean[j],
                                  b = vem_i_value(kernels, x, k) - mean[k];
                sum += w * (a * b + item_spread(view, tree->order[i], j, k));
                size += w * (fabsl(a * b) +
                             fabsl((long double)item_spread(view, tree->order[i], j, k)));
            }
            trace += j == k ? sum : 0;
            const int64_t at =
                tree->spec.spread == VEM_I_SPREAD_FULL ? (int64_t)j * (j + 1) / 2 + k : j;
            if (tree->spec.spread < VEM_I_SPREAD_DIAG)
                continue;
            const double stored =
                vem_i_value(kernels, tree->spreads, node * tree->spread_ld + at);
            if (!(fabs(stored - (double)(sum / mass)) <=
                  4 * u * (double)(size / mass) + nothing))
                fail_msg("node %d, (%d, %d): spread %.17g, not %.17g", (int)node, j, k,
                         stored, (double)(sum / mass));
        }
    if (!(fabs(tree->scatter[node] - (double)trace) <=
          1e-10 * (double)trace + (double)(mass * d) * nothing))
        fail_msg("node %d, %d rows, %d columns: scatter %.17g, not %.17g", (int)node,
                 (int)tree->rows[node], d, tree->scatter[node], (double)trace);
    if (tree->spec.spread == VEM_I_SPREAD_TRACE)
        assert_true(
            fabs(vem_i_value(kernels, tree->spreads, node) - (double)(trace / mass)) <=
            u * (double)(trace / mass) + d * nothing);
    free(mean);
}

static void check_box(const vem_i_tree *tree, int64_t node)
{
    const vem_i_kernels *kernels = tree->view->kernels;
    const int64_t d = tree->view->d;
    for (int64_t j = 0; j < d; j++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = tree->first[node]; i < tree->first[node] + tree->rows[node];
             i++) {
            const double x = vem_i_value(kernels, tree->x, i * d + j);
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        assert_true(vem_i_value(kernels, tree->boxes, node * 2 * d + j) == low);
        assert_true(vem_i_value(kernels, tree->boxes, node * 2 * d + d + j) == high);
    }
}

/* Do all rows with a mass lie in one place? */
static int one_place(const vem_i_tree *tree, int64_t node)
{
    const size_t row = (size_t)tree->view->d * tree->view->kernels->element;
    const char *place = NULL;
    for (int64_t i = tree->first[node]; i < tree->first[node] + tree->rows[node]; i++) {
        const char *x = (const char *)tree->x + (size_t)i * row;
        if (tree->weights && !(tree->weights[i] > 0))
            continue;
        if (place && memcmp(place, x, row) != 0)
            return 0;
        place = x;
    }
    return 1;
}

void tree_check(const vem_i_tree *tree)
{
    const vem_view *view = tree->view;
    int64_t leaves = 0, rows = 0;
    check_order(tree);
    assert_true(tree->count >= 1 && tree->count % 2 == 1);
    assert_true(tree->first[0] == 0 && tree->rows[0] == view->n && tree->depth[0] == 0);
    for (int64_t i = 0; i < tree->count; i++) {
        check_sums(tree, i);
        if (tree->boxes)
            check_box(tree, i);
        const int32_t left = tree->left[i];
        assert_true(tree->depth[i] <= tree->spec.depth);
        if (left < 0) {
            leaves++;
            rows += tree->rows[i];
            assert_true(left == VEM_I_TREE_OPEN || left == VEM_I_TREE_LEAF);
            const int leaf = one_place(tree, i) || tree->depth[i] == tree->spec.depth;
            assert_int_equal(left == VEM_I_TREE_LEAF, leaf);
            continue;
        }
        assert_true(left > i && left + 1 < tree->count);
        assert_true(tree->rows[left] > 0 && tree->rows[left + 1] > 0);
        assert_int_equal(tree->first[left], tree->first[i]);
        assert_int_equal(tree->first[left + 1], tree->first[i] + tree->rows[left]);
        assert_int_equal(tree->rows[left] + tree->rows[left + 1], tree->rows[i]);
        assert_int_equal(tree->depth[left], tree->depth[i] + 1);
        assert_int_equal(tree->depth[left + 1], tree->depth[i] + 1);
        assert_true(tree->scatter[left] + tree->scatter[left + 1] <=
                    tree->scatter[i] * (1 + 1e-10));
    }
    assert_int_equal(leaves, (tree->count + 1) / 2);
    assert_int_equal(rows, view->n);
}

/* ---- two trees ---- */

static void check_same_node(const vem_i_tree *a, int64_t i, const vem_i_tree *b,
                            int64_t j)
{
    const size_t element = a->view->kernels->element;
    const int64_t d = a->view->d;
#define SAME(array, values)                                                              \
    assert_memory_equal((const char *)a->array + (size_t)(i * (values)) * element,       \
                        (const char *)b->array + (size_t)(j * (values)) * element,       \
                        (size_t)(values)*element)
    assert_memory_equal(&a->mass[i], &b->mass[j], sizeof *a->mass);
    assert_memory_equal(&a->scatter[i], &b->scatter[j], sizeof *a->scatter);
    assert_int_equal(a->first[i], b->first[j]);
    assert_int_equal(a->rows[i], b->rows[j]);
    assert_int_equal(a->depth[i], b->depth[j]);
    SAME(means, d);
    if (a->spreads)
        SAME(spreads, a->spread_ld);
    if (a->boxes)
        SAME(boxes, 2 * d);
#undef SAME
    assert_int_equal(a->left[i] < 0 ? a->left[i] : 0, b->left[j] < 0 ? b->left[j] : 0);
    for (int side = 0; a->left[i] >= 0 && side < 2; side++)
        check_same_node(a, a->left[i] + side, b, b->left[j] + side);
}

void tree_check_same(const vem_i_tree *a, const vem_i_tree *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->order, b->order, (size_t)a->view->n * sizeof *a->order);
    check_same_node(a, 0, b, 0);
}
