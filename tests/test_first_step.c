/* The first step of k-means may know no variance, if the seeding has not told one: what it says of F, and the model
 * that one step gives back, have the one that its labels tell, by hand. */
#define CONTEXT_THREADS 1
#include "context.h"

enum { N = 500, D = 3, CLUSTERS = 6 };

static void check(grid_weights weights, int precision, int seeding,
                  vem_search_kind search, int held)
{
    grid_data grid = grid_data_new(SET_OVERLAPPING, weights, N, D, 61);
    vem_data *data = grid_borrow(ctx, &grid);
    vem_options o = grid_options(CLUSTERS, VEM_ISO_SHARED, VEM_PRIOR_FLAT, held,
                                 (vem_precision)precision, 1);
    vem_model *model = NULL;
    vem_report *report = NULL;
    o.seeding = seeding;
    o.search = search;
    if (vem_fit(ctx, data, &o, NULL, &model, &report) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    const double *means = vem_model_means(model);
    double square = 0, mass = 0;
    for (int64_t i = 0; i < N; i++) {
        const double w = grid.weights ? grid.weights[i] : 1;
        double least = INFINITY;
        for (int c = 0; c < CLUSTERS; c++) {
            double sum = 0;
            for (int j = 0; j < D; j++)
                sum += (grid.x[i * D + j] - means[c * D + j]) *
                       (grid.x[i * D + j] - means[c * D + j]);
            least = fmin(least, sum);
        }
        square += w * least;
        mass += w;
    }
    const double variance = square / (mass * D), pi = acos(-1),
                 near = precision ? 1e-9 : 1e-4;
    const vem_summary *s = vem_report_summary(report);
    assert_int_equal(s->steps, 1);
    if (held == 1) {
        grid_assert_near(*vem_model_variances(model), variance, near * variance,
                         "variance");
        grid_assert_near(s->free_energy,
                         -log(CLUSTERS) - 0.5 * D * (log(2 * pi * variance) + 1),
                         near * 10, "F");
    }
    assert_true(s->free_energy == s->free_energy_first);
    /* What is told of it is what is so of the model. */
    vem_scores scores = {.size = sizeof scores};
    assert_int_equal(vem_score(ctx, model, data, held, VEM_DOUBLE, &scores), VEM_OK);
    grid_assert_near(s->free_energy, scores.free_energy, near * 10, "F of the model");
    vem_report_free(report);
    vem_model_free(model);
    vem_data_free(data);
    grid_data_free(&grid);
}

static void the_variance_of_the_first_labels(void **state)
{
    (void)state;
    for (int weights = WEIGHTS_NONE; weights < WEIGHTS_COUNT; weights++)
        for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_TWO_LEVEL; seeding++)
            for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
                const grid_weights w = (grid_weights)weights;
                check(w, precision, seeding, VEM_SEARCH_CLOSEST, 1);
                check(w, precision, seeding, VEM_SEARCH_CLOSEST, 3);
                check(w, precision, seeding, VEM_SEARCH_ALL, CLUSTERS);
                check(w, precision, seeding, VEM_SEARCH_BOXES, 1);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_variance_of_the_first_labels)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
