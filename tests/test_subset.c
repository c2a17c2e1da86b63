/* A weighted sample of a view as a view of its own: the same for any threads, made of items of
 * positive weight, fair to sums over all items, in the same units. */
#include "data/subset.h"
#include "run.h"

#include "context.h"

static vem_i_points *points_of(const grid_data *data, vem_precision precision)
{
    vem_data *rows = grid_borrow(ctx, data);
    vem_i_points *points = NULL;
    const vem_i_points_request request = {.precision = precision,
                                          .floor_share = 1e-6,
                                          .phase = "read"};
    assert_int_equal(vem_i_points_new(run_of(ctx), rows, &request, &points), VEM_OK);
    vem_data_free(rows);
    return points;
}

static vem_i_points *subset_of(const vem_view *view, int64_t size, uint64_t seed)
{
    vem_i_points *subset = NULL;
    assert_int_equal(vem_i_subset_new(run_of(ctx), view, size, 0, seed, NULL, &subset),
                     VEM_OK);
    assert_int_equal(subset->view.n, size);
    return subset;
}

/* Within a few percent, as chance wants it. */
static void assert_about(double found, double expected, double share, const char *what)
{
    if (!(fabs(found - expected) <= share * fabs(expected)))
        fail_msg("%s: %g is not about %g", what, found, expected);
}

static double value(const vem_view *view, int64_t item, int32_t j)
{
    return vem_i_value(view->kernels, vem_i_view_row(view, item), j);
}

/* Every draw is an item of positive mass, and the sums are about those of all items: of the mass
 * (exactly so on average), of each column, of squares. */
static void is_fair(void **state)
{
    (void)state;
    for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++)
        for (int weights = WEIGHTS_NONE; weights <= WEIGHTS_REAL; weights++) {
            grid_data data =
                grid_data_new(SET_HEAVY, (grid_weights)weights, 5000, 3, 301);
            vem_i_points *points = points_of(&data, (vem_precision)precision);
            const vem_view *all = &points->view;
            enum { SIZE = 700, DRAWN = 60 };
            double mass = 0, square = 0, whole_mass = 0, whole_square = 0;
            for (int64_t i = 0; i < all->n; i++) {
                whole_mass += vem_i_view_mass(all, i);
                for (int32_t j = 0; j < 3; j++)
                    whole_square +=
                        vem_i_view_mass(all, i) * value(all, i, j) * value(all, i, j);
            }
            for (uint64_t seed = 1; seed <= DRAWN; seed++) {
                vem_i_points *subset = subset_of(all, SIZE, seed);
                const vem_view *v = &subset->view;
                assert_true(v->origin == all->origin && v->scale == all->scale);
                double own = 0;
                for (int64_t i = 0; i < v->n; i++) {
                    assert_true(v->mass[i] > 0 && isfinite(v->mass[i]));
                    own += v->mass[i];
                    for (int32_t j = 0; j < 3; j++)
                        square += v->mass[i] * value(v, i, j) * value(v, i, j);
                }
                assert_about(v->total_mass, own, 1e-12, "total mass");
                mass += own;
                vem_i_points_free(subset);
            }
            assert_about(mass / DRAWN, whole_mass, 0.02, "mass");
            assert_about(square / DRAWN, whole_square, 0.02, "squares");
            vem_i_points_free(points);
            grid_data_free(&data);
        }
}

/* Items are rows of the view, each as near as its own copy. */
static void is_made_of_items(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_ZEROS, 3000, 2, 302);
    for (int64_t i = 0; i < data.n; i++)
        data.x[2 * i] = (double)i; /* tells them apart */
    vem_i_points *points = points_of(&data, VEM_DOUBLE);
    vem_i_points *subset = subset_of(&points->view, 900, 5);
    int64_t last = -1;
    for (int64_t i = 0; i < 900; i++) {
        const double x = value(&subset->view, i, 0);
        const int64_t row = llround(x + points->view.origin[0]);
        assert_in_range(row, last < 0 ? 0 : last, data.n - 1); /* in their order */
        assert_true(x == value(&points->view, row, 0));
        assert_true(data.weights[row] > 0);
        last = row;
    }
    assert_true(last > 2900); /* from the first to the last */
    vem_i_points_free(subset);
    vem_i_points_free(points);
    grid_data_free(&data);
}

static void same_for_any_threads(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 70000, 3, 303);
    vem_ctx_set_threads(ctx, 1);
    vem_i_points *points = points_of(&data, VEM_SINGLE);
    vem_i_points *one = subset_of(&points->view, 5000, 9);
    for (int threads = 2; threads <= 7; threads += 5) {
        vem_ctx_set_threads(ctx, threads);
        vem_i_points *more = subset_of(&points->view, 5000, 9);
        assert_memory_equal(one->x, more->x, 5000 * 3 * sizeof(float));
        assert_memory_equal(one->mass, more->mass, 5000 * sizeof(double));
        vem_i_points_free(more);
    }
    vem_ctx_set_threads(ctx, 1);
    vem_i_points *other = subset_of(&points->view, 5000, 10);
    assert_memory_not_equal(one->x, other->x, 5000 * 3 * sizeof(float));
    vem_i_points_free(other);
    vem_i_points_free(one);
    vem_i_points_free(points);
    grid_data_free(&data);
}

/* Rows without spread, and all the weight in a few rows at the beginning. */
static void of_degenerate_items(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 5000, 2, 304);
    for (int64_t i = 0; i < 2 * data.n; i++)
        data.x[i] = 7;
    vem_i_points *points = points_of(&data, VEM_DOUBLE);
    vem_i_points *subset = subset_of(&points->view, 100, 1);
    assert_about(subset->view.total_mass, points->view.total_mass, 1e-9, "mass");
    vem_i_points_free(subset);
    vem_i_points_free(points);
    for (int64_t i = 0; i < data.n; i++) {
        data.x[2 * i] = (double)(i % 10);
        data.weights[i] = i < 10 ? 3 : 0;
    }
    points = points_of(&data, VEM_DOUBLE);
    subset = subset_of(&points->view, 4000, 1);
    for (int64_t i = 0; i < 4000; i++)
        assert_true(subset->view.mass[i] > 0);
    assert_about(subset->view.total_mass, 30, 0.03, "mass of few");
    vem_i_points_free(subset);
    vem_i_points_free(points);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_fair),
                                       cmocka_unit_test(is_made_of_items),
                                       cmocka_unit_test(same_for_any_threads),
                                       cmocka_unit_test(of_degenerate_items)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
