/* The pieces behind shared lists: buckets and groups of clusters, the tour of the items, and
 * rows put into another order. */
#include "engine.h"
#include "run.h"
#include "search/groups.h"

#define CONTEXT_THREADS 1
#include "context.h"

/* ---- buckets and groups ---- */

static const vem_i_kernels *kernels_of(vem_precision precision)
{
    return precision == VEM_SINGLE ? ctx->kernels_single : ctx->kernels_double;
}

/* A scorer for these means. */
static void scorer_for(vem_precision precision, const double *means, int32_t clusters,
                       int32_t d, vem_i_scorer *scorer)
{
    double variance = 1;
    vem_model *model = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, clusters, d, means, NULL,
                                   &variance, &model),
                     VEM_OK);
    assert_int_equal(vem_i_scorer_new(run_of(ctx), kernels_of(precision),
                                      vem_i_shape_of(vem_i_family_of(VEM_ISO_SHARED),
                                                     clusters, d),
                                      scorer),
                     VEM_OK);
    vem_i_scorer_prepare(run_of(ctx), model, scorer);
    vem_model_free(model);
}

/* Every cluster is in one group and one bucket, and all tables say the same. */
static void assert_hierarchy(const vem_i_hierarchy *h, int32_t clusters)
{
    char *seen = calloc((size_t)clusters, 1);
    assert_non_null(seen);
    assert_int_equal(h->clusters, clusters);
    assert_true(h->buckets >= 1 && h->groups >= 1 && h->groups <= h->most_groups);
    assert_int_equal(h->bucket_starts[0], 0);
    assert_int_equal(h->bucket_starts[h->buckets], clusters);
    assert_int_equal(h->bucket_groups[0], 0);
    assert_int_equal(h->bucket_groups[h->buckets], h->groups);
    assert_int_equal(h->group_starts[h->groups], clusters);
    for (int32_t b = 0; b < h->buckets; b++) {
        assert_true(h->bucket_groups[b] <= h->bucket_groups[b + 1]);
        assert_int_equal(h->group_starts[h->bucket_groups[b]], h->bucket_starts[b]);
        for (int32_t g = h->bucket_groups[b]; g < h->bucket_groups[b + 1]; g++) {
            assert_true(h->group_starts[g] <= h->group_starts[g + 1]);
            for (int32_t i = h->group_starts[g]; i < h->group_starts[g + 1]; i++) {
                int32_t c = h->members[i];
                assert_in_range(c, 0, clusters - 1);
                assert_false(seen[c]);
                seen[c] = 1;
                assert_int_equal(h->rank[c], i);
                assert_int_equal(h->group_of[c], g);
                assert_int_equal(h->bucket_of[c], b);
            }
        }
    }
    for (int32_t c = 0; c < clusters; c++)
        assert_true(seen[c]);
    free(seen);
}

/* A list has its own group, no group twice, and ends where there are no more. */
static void assert_lists(const vem_i_hierarchy *h)
{
    assert_true(h->near_count >= 1 && h->near_count <= h->groups);
    for (int32_t g = 0; g < h->groups; g++) {
        const int32_t *near = h->near + (int64_t)g * VEM_I_TOP_MAX;
        int own = 0, ended = 0;
        for (int32_t k = 0; k < h->near_count; k++) {
            assert_in_range(near[k] + 1, 0, h->groups);
            ended |= near[k] < 0;
            if (ended) {
                assert_true(near[k] < 0);
                continue;
            }
            own += near[k] == g;
            for (int32_t before = 0; before < k; before++)
                assert_true(near[before] != near[k]);
        }
        assert_int_equal(own, 1);
    }
}

static void some_moves(vem_i_hierarchy *h, int32_t clusters)
{
    for (int32_t k = 0; k < clusters / 5; k++) {
        int32_t c = (7 * k + 3) % clusters, beside = (11 * k) % clusters;
        vem_i_hierarchy_move(h, c, beside);
        if (h->buckets > 0 && h->per > 1) {
            assert_int_equal(h->group_of[c], h->group_of[beside]);
            assert_int_equal(h->bucket_of[c], h->bucket_of[beside]);
        }
    }
    vem_i_hierarchy_sort(h);
}

static void groups_hold_every_cluster(void **state)
{
    (void)state;
    static const int32_t sizes[] = {1, 2, 3, 17, 100, 300, 4096, 4097, 9000};
    for (int k = 0; k < 9; k++)
        for (int d = 1; d <= 18; d += 17)
            for (int same = 0; same < 2; same++) {
                int32_t clusters = sizes[k];
                if (clusters > 1000 && d > 1)
                    continue;
                vem_precision precision = (k + d) % 2 ? VEM_SINGLE : VEM_DOUBLE;
                double *means = grid_rows(SET_OVERLAPPING, clusters, d, 81);
                for (int64_t i = 0; same && i < (int64_t)clusters * d; i++)
                    means[i] = 2; /* all of them in one place */
                vem_i_scorer scorer;
                vem_i_hierarchy h;
                scorer_for(precision, means, clusters, d, &scorer);
                assert_int_equal(vem_i_hierarchy_new(run_of(ctx), kernels_of(precision),
                                                     clusters, d,
                                                     vem_i_group_size(clusters), &h),
                                 VEM_OK);
                some_moves(&h, clusters); /* before it is built: nothing happens */
                vem_i_hierarchy_build(&h, &scorer, 1);
                assert_hierarchy(&h, clusters);
                vem_i_hierarchy_near(&h, &scorer, 30);
                assert_lists(&h);
                some_moves(&h, clusters);
                assert_hierarchy(&h, clusters);
                vem_i_hierarchy_near(&h, &scorer, clusters);
                assert_lists(&h);
                vem_i_hierarchy_build(&h, &scorer, 1);
                assert_hierarchy(&h, clusters);
                /* Half of them are dropped. */
                vem_i_hierarchy_forget(&h);
                scorer.clusters = (clusters + 1) / 2;
                vem_i_hierarchy_build(&h, &scorer, 1);
                assert_hierarchy(&h, (clusters + 1) / 2);
                vem_i_hierarchy_near(&h, &scorer, 10);
                assert_lists(&h);
                vem_i_hierarchy_free(&h);
                scorer.clusters = clusters;
                vem_i_scorer_free(&scorer);
                free(means);
            }
}

static double distance2(const vem_i_hierarchy *h, int32_t a, int32_t b)
{
    double sum = 0;
    for (int64_t j = 0; j < h->d; j++)
        sum += pow(vem_i_value(h->kernels, h->group_means, a * (int64_t)h->d + j) -
                       vem_i_value(h->kernels, h->group_means, b * (int64_t)h->d + j),
                   2);
    return sum;
}

/* With few clusters every bucket is looked into, so the lists are the nearest groups. */
static void lists_are_the_nearest_groups(void **state)
{
    (void)state;
    enum { CLUSTERS = 9, REACH = 4 };
    double *means = grid_rows(SET_OVERLAPPING, CLUSTERS, 3, 82);
    vem_i_scorer scorer;
    vem_i_hierarchy h;
    scorer_for(VEM_DOUBLE, means, CLUSTERS, 3, &scorer);
    assert_int_equal(vem_i_hierarchy_new(run_of(ctx), kernels_of(VEM_DOUBLE), CLUSTERS, 3,
                                         vem_i_group_size(CLUSTERS), &h),
                     VEM_OK);
    vem_i_hierarchy_build(&h, &scorer, 1);
    vem_i_hierarchy_near(&h, &scorer, REACH);
    assert_int_equal(h.near_count, REACH);
    for (int32_t g = 0; g < h.groups; g++) {
        const int32_t *near = h.near + (int64_t)g * VEM_I_TOP_MAX;
        double farthest = 0;
        int32_t nearer = 0;
        for (int32_t k = 0; k < REACH; k++)
            farthest = fmax(farthest, distance2(&h, g, near[k]));
        for (int32_t other = 0; other < h.groups; other++)
            nearer += distance2(&h, g, other) < farthest;
        assert_int_equal(nearer, REACH - 1);
    }
    vem_i_hierarchy_free(&h);
    vem_i_scorer_free(&scorer);
    free(means);
}

/* ---- the tour ---- */

static void tour_is_a_stable_sort(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 15, 16, 17, 1000, 5000};
    for (int k = 0; k < 7; k++)
        for (int32_t width = 1; width <= 3; width += 2)
            for (int threads = 1; threads <= 3; threads += 2) {
                int64_t n = sizes[k];
                int32_t clusters = k % 2 ? 40 : 3;
                int32_t *held = malloc((size_t)(n * width) * sizeof *held);
                int32_t rank[40];
                for (int32_t c = 0; c < clusters; c++)
                    rank[c] = (7 * c + 5) % clusters; /* 7 divides neither number */
                for (int64_t e = 0; e < n * width; e++) {
                    vem_i_rng rng = vem_i_rng_at(83, VEM_RNG_TEST, 0, (uint64_t)e);
                    held[e] = (int32_t)vem_i_rng_below(&rng, (uint64_t)clusters + 1) - 1;
                }
                assert_int_equal(vem_ctx_set_threads(ctx, threads), VEM_OK);
                vem_i_tour tour;
                assert_int_equal(vem_i_tour_new(run_of(ctx), n, clusters + 2, &tour),
                                 VEM_OK);
                for (int64_t i = 0; i < n; i++)
                    assert_int_equal(tour.items[i], i);
                vem_i_tour_sort(&tour, clusters, held, width, rank);
                int64_t at = 0;
                for (int32_t r = 0; r <= clusters; r++) {
                    assert_int_equal(tour.starts[r], at);
                    for (int64_t i = 0; i < n; i++) { /* nothing held: behind all */
                        int32_t c = held[i * width];
                        if ((c < 0 ? clusters : rank[c]) == r)
                            assert_int_equal(tour.items[at++], i);
                    }
                }
                assert_int_equal(at, n);
                vem_i_tour_free(&tour);
                free(held);
            }
    assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
}

/* ---- rows in another order ---- */

static void reorder(const grid_data *data, vem_precision precision, int threads, int how)
{
    size_t n = (size_t)data->n, d = (size_t)data->d;
    vem_data *rows = NULL;
    vem_i_points *points = NULL;
    assert_int_equal(vem_ctx_set_threads(ctx, threads), VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data->x, data->n, data->d, 0, 0,
                                     &rows),
                     VEM_OK);
    if (data->weights)
        assert_int_equal(vem_data_set_weights(ctx, rows, data->weights, data->n), VEM_OK);
    vem_i_points_request request = {.precision = precision, .phase = "read"};
    assert_int_equal(vem_i_points_new(run_of(ctx), rows, &request, &points), VEM_OK);
    const vem_view *view = &points->view;
    size_t row = d * view->kernels->element;
    char *x = malloc(n * row);
    double *mass = malloc(n * sizeof *mass);
    uint32_t *order = malloc(n * sizeof *order), *now = malloc(n * sizeof *now);
    memcpy(x, view->x, n * row);
    for (size_t i = 0; i < n; i++) {
        mass[i] = vem_i_view_mass(view, (int64_t)i);
        order[i] = now[i] = (uint32_t)i;
    }
    for (size_t i = n; how == 1 && i > 1; i--) { /* any order; else none, or one cycle */
        vem_i_rng rng = vem_i_rng_at(84, VEM_RNG_TEST, 0, i);
        size_t k = (size_t)vem_i_rng_below(&rng, i);
        uint32_t swapped = order[k];
        order[k] = order[i - 1];
        order[i - 1] = swapped;
    }
    for (size_t i = 0; how == 2 && i < n; i++)
        order[i] = (uint32_t)((i + 1) % n);
    for (int times = 0; times < 2; times++) { /* the second order is of the first's */
        uint32_t *next = malloc(n * sizeof *next);
        for (size_t i = 0; i < n; i++)
            next[i] = now[order[i]];
        free(now);
        now = next;
        assert_int_equal(vem_i_points_reorder(run_of(ctx), points, order, 1), VEM_OK);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(points->rows[i], now[i]);
            assert_memory_equal(vem_i_view_row(view, (int64_t)i), x + now[i] * row, row);
            assert_true(vem_i_view_mass(view, (int64_t)i) == mass[now[i]]);
        }
    }
    free(x);
    free(mass);
    free(order);
    free(now);
    vem_i_points_free(points);
    vem_data_free(rows);
}

static void rows_are_put_in_order(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 63, 64, 65, 333};
    static const int32_t dimensions[] = {1, 2, 15, 33, 100};
    for (int s = 0; s < 6; s++)
        for (int j = 0; j < 5; j++)
            for (int how = 0; how < 3; how++) {
                grid_data data =
                    grid_data_new(SET_OVERLAPPING, how ? WEIGHTS_REAL : WEIGHTS_NONE,
                                  sizes[s], dimensions[j], 85);
                reorder(&data, (s + j) % 2 ? VEM_SINGLE : VEM_DOUBLE, 1 + s % 3 * 3, how);
                grid_data_free(&data);
            }
    assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_hold_every_cluster),
        cmocka_unit_test(lists_are_the_nearest_groups),
        cmocka_unit_test(tour_is_a_stable_sort),
        cmocka_unit_test(rows_are_put_in_order),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
