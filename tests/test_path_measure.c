/* What measuring the mixtures of a path may take: where it would be more than the search did, all of
 * them share a sample, of which each has a part, and 4096 rows at least. */
#define CONTEXT_THREADS 1
#include "context.h"

#include "data/points.h"
#include "metrics/measure.h"
#include "model/path.h"
#include "model/units.h"
#include "run.h"
#include "select/select.h"

enum { N = 30000, D = 2 };

static const vem_options *options(void)
{
    static vem_options o;
    vem_options_init(&o);
    o.measure = VEM_MEASURE_EXACT;
    o.precision = VEM_DOUBLE;
    o.seed = 3;
    return &o;
}

/* A path of `count` mixtures: of 2 clusters and more. */
static vem_path *path_of(int32_t count)
{
    static const double means[] = {0, 0, 1, 1, 0, 1, 1, 0, 2, 2, 0, 2};
    static const double even = 1;
    vem_path *path = NULL;
    assert_int_equal(vem_i_path_new(run_of(ctx), count, &path), VEM_OK);
    for (int32_t k = 0; k < count; k++) {
        vem_model *model = NULL;
        const vem_path_point point = {.clusters = k + 2};
        assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, k + 2, D, means, NULL, &even,
                                       &model),
                         VEM_OK);
        assert_int_equal(vem_i_path_append(run_of(ctx), path, &point, model), VEM_OK);
    }
    return path;
}

/* The sample that one fit may take has `whole` rows: 1/20 of its distances, by 2 passes over 2 clusters.
 * Those of the seeding count; the search took so many others. */
static vem_summary summary_of(int64_t whole, int64_t searched)
{
    return (vem_summary){.size = sizeof(vem_summary),
                         .n = N,
                         .d = D,
                         .clusters = 2,
                         .scored_pairs = searched,
                         .seed_pairs = 80 * whole - searched};
}

static const struct {
    int64_t whole, searched;
    int32_t count;
    int shared;
    int64_t rows; /* that each mixture is measured by */
} cases[] = {
    {8192, 0, 1, 1, 8192},
    {8192, 0, 2, 1, 4096},
    {8192, 0, 3, 1, 4096},
    {16384, 0, 2, 1, 8192},
    {16384, 0, 4, 1, 4096},
    {16384, 0, 5, 1, 4096},
    {4096, 0, 2, 1, 4096},
    {8192, 0, 2, 0, N}, /* one is chosen by them */
    /* As many distances as all rows would take for mixtures of 2 and 3 clusters, and fewer. */
    {8192, 2 * N * 5, 2, 1, N},
    {8192, 2 * N * 5 - 80, 2, 1, 4096},
};

static void mixtures_share_a_sample(void **state)
{
    (void)state;
    grid_data grid = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 17);
    vem_data *data = grid_borrow(ctx, &grid);
    vem_i_points *points = NULL;
    const vem_i_points_request request = {.precision = VEM_DOUBLE,
                                          .floor_share = 1e-6,
                                          .phase = "read"};
    assert_int_equal(vem_i_points_new(run_of(ctx), data, &request, &points), VEM_OK);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const vem_summary summary = summary_of(cases[k].whole, cases[k].searched);
        vem_path *path = path_of(cases[k].count), *own = path_of(cases[k].count);
        for (int32_t i = 0; i < path->count;
             i++) { /* those of the path are in its units */
            vem_model_free(path->models[i]);
            assert_int_equal(vem_i_model_to_view(run_of(ctx), own->models[i],
                                                 &points->view, own->models[i]->family,
                                                 &path->models[i]),
                             VEM_OK);
        }
        assert_int_equal(vem_i_path_measure(run_of(ctx), data, &points->view, options(),
                                            0, &summary, cases[k].shared, path),
                         VEM_OK);
        for (int32_t i = 0; i < path->count; i++) {
            const vem_path_point *p = &path->points[i];
            vem_i_sampled sampled = {0};
            vem_scores all = {.size = sizeof all};
            if (cases[k].rows < N) {
                assert_int_equal(vem_i_measure_sample(run_of(ctx), data, own->models[i],
                                                      VEM_DOUBLE, cases[k].rows, 3,
                                                      &sampled),
                                 VEM_OK);
                grid_assert_near(p->log_likelihood, sampled.log_likelihood, 1e-9,
                                 "of a sample");
                assert_true(p->log_likelihood_se > 0);
            } else {
                assert_int_equal(vem_score(ctx, own->models[i], data, 0, VEM_DOUBLE,
                                           &all),
                                 VEM_OK);
                grid_assert_near(p->log_likelihood, all.log_likelihood, 1e-9, "of all");
                assert_true(p->log_likelihood_se == 0);
            }
        }
        vem_path_free(path);
        vem_path_free(own);
    }
    vem_i_points_free(points);
    vem_data_free(data);
    grid_data_free(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mixtures_share_a_sample)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
