/* The tree over a view: its laws, whatever the rows are. */
#include "tree_checks.h"

#define CONTEXT_THREADS 2
#include "context.h"

enum { KINDS = VEM_I_TREE_MEANS + 1 };

/* Every set, weighting, kind, spread and precision: whole trees, node by node. */
static void laws_of_whole_trees(void **state)
{
    (void)state;
    static const int32_t columns[] = {1, 2, 3, 4, 5, 20};
    for (int i = 0; i < SET_COUNT * WEIGHTS_COUNT * 6 * 2; i++) {
        const int set = i % SET_COUNT, weights = i / SET_COUNT % WEIGHTS_COUNT,
                  column = i / SET_COUNT / WEIGHTS_COUNT % 6,
                  precision = i / SET_COUNT / WEIGHTS_COUNT / 6;
        tree_case c;
        tree_case_new(&c, ctx, (grid_set)set, (grid_weights)weights,
                      column == 5 ? 150 : 300, columns[column],
                      precision ? VEM_DOUBLE : VEM_SINGLE, (uint64_t)i + 1);
        for (int kind = 0; kind < KINDS; kind++)
            for (int spread = VEM_I_SPREAD_NONE; spread <= VEM_I_SPREAD_FULL; spread++) {
                vem_i_tree *tree = tree_whole(ctx, &c.points->view, (vem_i_tree_kind)kind,
                                              (vem_i_spread_kind)spread, 0);
                assert_int_equal(tree->spec.depth, 64);
                tree_check(tree);
                vem_i_tree_free(tree);
            }
        tree_case_free(&c);
    }
}

static vem_view view_of(const void *x, int64_t n, int32_t d, const double *mass,
                        vem_precision precision)
{
    vem_view view = {.kernels = vem_i_kernels_find(NULL, precision),
                     .x = x,
                     .n = n,
                     .ld = d,
                     .d = d,
                     .global_n = n,
                     .mass = mass,
                     .mass_unit = 1};
    for (int64_t i = 0; i < n; i++)
        view.total_mass += vem_i_view_mass(&view, i);
    for (int64_t i = 0; i < n * d; i++)
        view.extreme = fmax(view.extreme, fabs(vem_i_value(view.kernels, x, i)));
    return view;
}

/* Left is where axis . (x - mean) <= 0: on a plane of two separated groups, each is a
 * child. */
static void the_first_cut_is_across_the_principal_axis(void **state)
{
    (void)state;
    enum { N = 400 };
    double x[N][2];
    for (int i = 0; i < N; i++) {
        vem_i_rng rng = vem_i_rng_at(3, VEM_RNG_TEST, 0, (uint64_t)i);
        const double side = i % 2 ? 5 : -5;
        x[i][0] = side + vem_i_rng_normal(&rng);
        x[i][1] = side + vem_i_rng_normal(&rng);
    }
    const vem_view view = view_of(x, N, 2, NULL, VEM_DOUBLE);
    for (int kind = 0; kind < KINDS; kind++)
        for (int spread = VEM_I_SPREAD_NONE; spread <= VEM_I_SPREAD_FULL; spread++) {
            vem_i_tree *tree = tree_made(ctx, &view, (vem_i_tree_kind)kind,
                                         (vem_i_spread_kind)spread, 3, 0);
            assert_int_equal(vem_i_tree_build(run_of(ctx), tree, 2, 0), VEM_OK);
            assert_int_equal(tree->rows[1], N / 2);
            for (int64_t i = 1; i < N / 2; i++)
                assert_int_equal(tree->order[i] % 2, tree->order[0] % 2);
            vem_i_tree_free(tree);
        }
}

/* Sides that a reference in numpy found, compared as sets. */
static void golden_sides(void **state)
{
    (void)state;
    static const double x[12][2] = {{1.3888, 1.5192},  {0.5199, 0.6152},
                                    {1.0278, -0.7949}, {-0.9408, -0.9212},
                                    {0.3001, -0.65},   {0.6854, -0.6617},
                                    {4.805, 1.2322},   {5.6502, 1.9781},
                                    {3.715, 1.2052},   {5.1205, 2.4583},
                                    {4.7996, 1.985},   {3.9078, 1.0517}};
    static const unsigned cells[] = {1u << 7 | 1u << 9 | 1u << 10,
                                     1u << 6 | 1u << 8 | 1u << 11,
                                     1u << 2 | 1u << 3 | 1u << 4 | 1u << 5, 1u | 1u << 1};
    const vem_view view = view_of(x, 12, 2, NULL, VEM_DOUBLE);
    vem_i_tree *tree =
        tree_made(ctx, &view, VEM_I_TREE_PRINCIPAL, VEM_I_SPREAD_FULL, 7, 0);
    assert_int_equal(vem_i_tree_build(run_of(ctx), tree, 4, 0), VEM_OK);
    unsigned seen = 0;
    for (int64_t node = 3; node < 7; node++) {
        unsigned set = 0;
        for (int64_t i = tree->first[node]; i < tree->first[node] + tree->rows[node]; i++)
            set |= 1u << tree->order[i];
        for (unsigned c = 0; c < 4; c++)
            seen |= set == cells[c] ? 1u << c : 0;
    }
    assert_int_equal(seen, 15);
    vem_i_tree_free(tree);
}

/* Every column gets the (weighted) variance 1, as fits with shapes have it. */
static void whiten(double *x, const double *weights, int64_t n, int32_t d)
{
    for (int32_t j = 0; j < d; j++) {
        double mass = 0, mean = 0, square = 0;
        for (int64_t i = 0; i < n; i++) {
            mass += weights[i];
            mean += weights[i] * x[i * d + j];
        }
        mean /= mass;
        for (int64_t i = 0; i < n; i++)
            square += weights[i] * (x[i * d + j] - mean) * (x[i * d + j] - mean);
        for (int64_t i = 0; i < n; i++)
            x[i * d + j] = (x[i * d + j] - mean) / sqrt(square / mass);
    }
}

/* Rows of weight 2 are rows that are there twice. */
static void weights_are_repetitions(void **state)
{
    (void)state;
    enum { N = 500 };
    for (int32_t d = 1; d <= 6; d++)
        for (int kind = 0; kind < KINDS; kind++) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, d, 7);
            double weights[N], *twice = calloc((size_t)(2 * N * d), sizeof *twice);
            int64_t n = 0;
            assert_non_null(twice);
            for (int64_t i = 0; i < N; i++)
                weights[i] = 1 + (double)(i % 3 == 0);
            whiten(data.x, weights, N, d);
            for (int64_t i = 0; i < N; i++) {
                for (int k = 0; k < (int)weights[i]; k++)
                    memcpy(twice + n++ * d, data.x + i * d, (size_t)d * sizeof *twice);
            }
            const vem_view a = view_of(data.x, N, d, weights, VEM_DOUBLE),
                           b = view_of(twice, n, d, NULL, VEM_DOUBLE);
            vem_i_tree *s = tree_whole(ctx, &a, (vem_i_tree_kind)kind, VEM_I_SPREAD_FULL,
                                       0),
                       *t = tree_whole(ctx, &b, (vem_i_tree_kind)kind, VEM_I_SPREAD_FULL,
                                       0);
            assert_int_equal(s->count, 2 * N - 1);
            assert_int_equal(t->count, 2 * N - 1);
            for (int64_t i = 0; i < s->count; i++) {
                assert_int_equal(s->left[i], t->left[i]);
                assert_true(s->mass[i] == t->mass[i]);
                assert_true(fabs(s->scatter[i] - t->scatter[i]) <= 1e-10 * s->scatter[i]);
            }
            vem_i_tree_free(s);
            vem_i_tree_free(t);
            free(twice);
            grid_data_free(&data);
        }
}

/* Rows in one place, far away, among rows of no mass elsewhere: nothing to split. */
static void one_place_is_a_leaf(void **state)
{
    (void)state;
    enum { N = 70000 };
    static float x[N][2];
    static double mass[N];
    for (int64_t i = 0; i < N; i++) {
        x[i][0] = 1e7f + (i % 3 == 1 ? 10 : 0);
        x[i][1] = 0.1f;
        mass[i] = i % 3 == 1 ? 0 : 0.3;
    }
    for (int kind = 0; kind < KINDS; kind++)
        for (int spread = VEM_I_SPREAD_NONE; spread <= VEM_I_SPREAD_FULL; spread++) {
            const vem_view view = view_of(x, N, 2, mass, VEM_SINGLE);
            vem_i_tree *tree = tree_whole(ctx, &view, (vem_i_tree_kind)kind,
                                          (vem_i_spread_kind)spread, 0);
            assert_int_equal(tree->count, 1);
            assert_int_equal(tree->left[0], VEM_I_TREE_LEAF);
            assert_true(tree->scatter[0] == 0);
            vem_i_tree_free(tree);
        }
}

/* Values that are neighbors in their type, and two places with most of the mass in
 * one. */
static void the_smallest_difference_is_found(void **state)
{
    (void)state;
    enum { N = 40000 };
    static float x[N][3];
    for (int step = 1; step <= N; step += N - 1)
        for (int64_t at = 0; at < N; at += N / 2) {
            for (int64_t i = 0; i < N; i++) {
                x[i][0] = 3;
                x[i][1] = 16777212.0f + (i >= at && i < at + step ? 1.0f : 0.0f);
                x[i][2] = -7;
            }
            for (int kind = 0; kind < KINDS; kind++) {
                const vem_view view = view_of(x, N, 3, NULL, VEM_SINGLE);
                vem_i_tree *tree =
                    tree_whole(ctx, &view, (vem_i_tree_kind)kind, VEM_I_SPREAD_FULL, 0);
                const int64_t apart = step == 1 ? 1 : N - at;
                assert_int_equal(tree->count, apart == N ? 1 : 3);
                if (apart < N)
                    assert_int_equal(tree->rows[2], apart);
                vem_i_tree_free(tree);
            }
        }
}

static void many_columns(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        int32_t d;
        vem_i_spread_kind spread;
    } cases[] = {{200, 1000, VEM_I_SPREAD_DIAG},
                 {200, 1000, VEM_I_SPREAD_TRACE},
                 {40, 150, VEM_I_SPREAD_FULL},
                 {30, 100000, VEM_I_SPREAD_NONE}};
    for (int i = 0; i < 8; i++) {
        tree_case c;
        tree_case_new(&c, ctx, SET_OVERLAPPING, i % 2 ? WEIGHTS_ZEROS : WEIGHTS_NONE,
                      cases[i / 2].n, cases[i / 2].d, i % 2 ? VEM_SINGLE : VEM_DOUBLE, 5);
        for (int kind = 0; kind < KINDS; kind++) {
            vem_i_tree *tree = tree_whole(ctx, &c.points->view, (vem_i_tree_kind)kind,
                                          cases[i / 2].spread, 0);
            tree_check(tree);
            vem_i_tree_free(tree);
        }
        tree_case_free(&c);
    }
}

/* Scales that grow without end: each mean cuts off a few rows, and the depth has an
 * end. */
static void outliers_of_every_scale(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    enum { N = 100000, DEPTH = 30 };
#else
    enum { N = 1000000, DEPTH = 30 };
#endif
    double *x = calloc(N, sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < N; i++)
        x[i] = exp(600.0 * (double)(i * 7919 % N) / N - 300);
    const vem_view view = view_of(x, N, 1, NULL, VEM_DOUBLE);
    for (int kind = 0; kind < KINDS; kind++) {
        vem_i_tree *tree =
            tree_whole(ctx, &view, (vem_i_tree_kind)kind, VEM_I_SPREAD_TRACE, DEPTH);
        int64_t rows = 0, deepest = 0;
        for (int64_t i = 0; i < tree->count; i++) {
            rows += tree->rows[i];
            deepest = tree->depth[i] > deepest ? tree->depth[i] : deepest;
        }
        assert_int_equal(deepest, DEPTH);
        assert_true(rows <= (int64_t)N * (DEPTH + 1));
        vem_i_tree_free(tree);
    }
    free(x);
}

/* A tree over the cells of a tree: items with spreads. Its root is the root. */
static void cells_are_items(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS * 3 * 3 * 2; i++) {
        const vem_i_spread_kind inner = (vem_i_spread_kind)(1 + i % 3),
                                outer = (vem_i_spread_kind)(1 + i / 3 % 3);
        const vem_i_tree_kind kind = (vem_i_tree_kind)(i / 9 % KINDS);
        tree_case c;
        tree_case_new(&c, ctx, SET_OVERLAPPING, WEIGHTS_REAL, 2000, 3,
                      i / 9 / KINDS ? VEM_DOUBLE : VEM_SINGLE, 5);
        vem_i_tree *tree = tree_made(ctx, &c.points->view, kind, inner, 301, 0);
        assert_int_equal(vem_i_tree_build(run_of(ctx), tree, 151, 0), VEM_OK);
        assert_int_equal(tree->count, 301);
        const size_t element = c.points->view.kernels->element;
        char *means = malloc(151 * 3 * element), *spreads = malloc(151 * 6 * element);
        double mass[151];
        int64_t n = 0;
        for (int64_t node = 0; node < tree->count; node++) {
            if (tree->left[node] >= 0)
                continue;
            mass[n] = tree->mass[node];
            memcpy(means + (size_t)n * 3 * element,
                   (const char *)tree->means + (size_t)node * 3 * element, 3 * element);
            const size_t row = (size_t)tree->spread_ld * element;
            memcpy(spreads + (size_t)n++ * row,
                   (const char *)tree->spreads + (size_t)node * row, row);
        }
        vem_view cells = view_of(means, n, 3, mass, c.points->view.kernels->precision);
        cells.spread_kind = inner;
        cells.spread = spreads;
        cells.spread_ld = tree->spread_ld;
        vem_i_tree *over = tree_whole(ctx, &cells, kind, outer, 0);
        tree_check(over);
        const double u = i / 9 / KINDS ? 1e-10 : 1e-4;
        assert_true(fabs(over->mass[0] - tree->mass[0]) <= 1e-10 * tree->mass[0]);
        assert_true(fabs(over->scatter[0] - tree->scatter[0]) <= u * tree->scatter[0]);
        vem_i_tree_free(over);
        vem_i_tree_free(tree);
        free(means);
        free(spreads);
        tree_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_of_whole_trees),
        cmocka_unit_test(the_first_cut_is_across_the_principal_axis),
        cmocka_unit_test(golden_sides),
        cmocka_unit_test(weights_are_repetitions),
        cmocka_unit_test(one_place_is_a_leaf),
        cmocka_unit_test(the_smallest_difference_is_found),
        cmocka_unit_test(many_columns),
        cmocka_unit_test(outliers_of_every_scale),
        cmocka_unit_test(cells_are_items),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
