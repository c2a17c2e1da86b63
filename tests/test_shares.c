/* How work is shared out: rows of a tree among tasks, centers among the buckets of two-level seeding. */
#include "data/points.h"
#include "data/tree.h"
#include "grid.h"
#include "run.h"
#include "search/boxes.h"
#include "seed/seed.h"

#define CONTEXT_THREADS 2
#include "context.h"

static vem_i_points *points_of(const grid_data *data)
{
    vem_data *rows = grid_borrow(ctx, data);
    vem_i_points *points = NULL;
    const vem_i_points_request request = {.precision = VEM_DOUBLE, .phase = "read"};
    assert_int_equal(vem_i_points_new(run_of(ctx), rows, &request, &points), VEM_OK);
    vem_data_free(rows);
    return points;
}

/* A task's roots are the highest nodes of no more than its share of the rows: none of them could be larger,
 * and together they are all rows, in order. */
static void roots_are_the_highest(void **state)
{
    (void)state;
    grid_data data =
        grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 4 * VEM_I_BOXES_TASKS + 1, 2, 31);
    vem_i_points *points = points_of(&data);
    vem_i_boxes *boxes = NULL;
    assert_int_equal(vem_i_boxes_new(run_of(ctx), &points->view,
                                     vem_i_family_of(VEM_DIAG), 1, &boxes),
                     VEM_OK);
    const vem_i_tree *tree = boxes->tree;
    const int64_t share = data.n / VEM_I_BOXES_TASKS;
    int64_t at = 0, exact = 0;
    int32_t *above = grid_zeros(tree->count, sizeof *above);
    for (int32_t node = 0; node < tree->count; node++)
        if (tree->left[node] >= 0)
            above[tree->left[node]] = above[tree->left[node] + 1] = node;
    for (int64_t k = 0; k < boxes->root_count; k++) {
        const int32_t node = boxes->roots[k];
        assert_int_equal(tree->first[node], at);
        assert_true(tree->rows[node] <= share || tree->left[node] < 0);
        assert_true(node > 0 && tree->rows[above[node]] > share);
        exact += tree->rows[node] == share && tree->left[node] >= 0;
        at += tree->rows[node];
    }
    assert_int_equal(at, data.n);
    assert_true(exact > 0); /* else nothing is said about the bound itself */
    free(above);
    vem_i_boxes_free(boxes);
    vem_i_points_free(points);
    grid_data_free(&data);
}

/* Centers go where the squared distances are, in every bucket as many as that is its share: blobs far
 * apart, of a tenth of the rows together, have one each but for a few. By their rows alone they would have
 * a tenth of the centers. */
static void two_levels_go_by_distance(void **state)
{
    (void)state;
    enum { BLOBS = 100, FEW = 4, HEAVY = 3600, ALL = HEAVY + BLOBS * FEW };
    static double x[ALL * 2];
    for (int i = 0; i < ALL; i++) {
        vem_i_rng rng = vem_i_rng_at(76, VEM_RNG_TEST, 0, (uint64_t)i);
        const int blob = i < HEAVY ? 0 : 1 + (i - HEAVY) % BLOBS;
        x[2 * i] = 1000.0 * blob + vem_i_rng_normal(&rng);
        x[2 * i + 1] = vem_i_rng_normal(&rng);
    }
    const grid_data data = {.n = ALL, .d = 2, .x = x};
    vem_i_points *points = points_of(&data);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        int64_t chosen[BLOBS + 1];
        int met[BLOBS + 1] = {0}, count = 0;
        vem_i_seeds seeds = {.items = chosen};
        assert_int_equal(vem_i_seed(run_of(ctx), &points->view, VEM_SEED_TWO_LEVEL,
                                    BLOBS + 1, 0, seed, &seeds),
                         VEM_OK);
        for (int c = 0; c <= BLOBS; c++) {
            const int64_t i = chosen[c];
            int *blob = &met[i < HEAVY ? 0 : 1 + (i - HEAVY) % BLOBS];
            count += !*blob;
            *blob = 1;
        }
        print_message("%d of %d\n", count, BLOBS + 1);
        assert_true(count > 0.8 * BLOBS);
    }
    vem_i_points_free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_are_the_highest),
        cmocka_unit_test(two_levels_go_by_distance),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
