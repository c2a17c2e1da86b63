/* The best start so far with a cluster in another place: which one goes, where to, and that a fit
 * from there leaves a maximum that steps alone cannot. The functions are of one file, so that
 * file is part of this test. */
#include "fit/starts.c" /* NOLINT(bugprone-suspicious-include) */
#include "run.h"

#include "context.h"
#include "fit/starts_plan.h"
#include "model/units.h"

enum { D = 2, BLOBS = 4, EACH_BLOB = 60 };

/* Blobs 1 and 2 lie beside each other, 0 and 3 far away. */
static const double places[BLOBS][D] = {{-300, 0}, {0, 0}, {0, 40}, {300, 0}};

static grid_data four_blobs(void)
{
    grid_data data =
        grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, BLOBS * EACH_BLOB, D, 501);
    for (int64_t i = 0; i < data.n; i++)
        for (int32_t j = 0; j < D; j++) {
            vem_i_rng rng = vem_i_rng_at(501, VEM_RNG_TEST, 1, (uint64_t)(i * D + j));
            data.x[i * D + j] = places[i % BLOBS][j] + vem_i_rng_normal(&rng);
        }
    return data;
}

/* A maximum of k-means: cluster 0 has blob 0, cluster 1 blobs 1 and 2, clusters 2 and 3 share
 * blob 3. */
typedef struct stuck {
    grid_data data;
    vem_i_points *points;
    vem_i_programme programme;
    vem_i_starts_programmes programmes;
    vem_options options;
    vem_i_attempt attempt;
    starts s;
} stuck;

static void stuck_new(stuck *t, vem_family_kind family)
{
    vem_options o;
    t->data = four_blobs();
    vem_options_init(&o);
    o.clusters = BLOBS;
    o.family = (int)family;
    o.precision = VEM_DOUBLE;
    t->programme = (vem_i_programme){0};
    assert_int_equal(vem_options_resolve(ctx, &o, t->data.n, D, VEM_FLOAT64,
                                         &t->programme.options),
                     VEM_OK);
    vem_data *rows = grid_borrow(ctx, &t->data);
    const vem_i_points_request request = {.precision = VEM_DOUBLE,
                                          .floor_share = 1e-6,
                                          .phase = "read"};
    t->points = NULL;
    assert_int_equal(vem_i_points_new(run_of(ctx), rows, &request, &t->points), VEM_OK);
    vem_data_free(rows);
    const vem_view *view = &t->points->view;
    t->attempt = (vem_i_attempt){.run = run_of(ctx),
                                 .programme = &t->programme,
                                 .view = view,
                                 .seed = 7};
    t->options = vem_i_starts_options(&t->programme.options);
    t->options.swaps = 0; /* steps alone, so that only what is moved here helps */
    t->programmes.moved =
        vem_i_programme_on_sample(&t->options, VEM_I_FROM_ATTEMPT, view->n);
    t->s = (starts){.a = &t->attempt,
                    .run = t->attempt.run,
                    .view = view,
                    .programmes = &t->programmes,
                    .options = &t->options,
                    .free_energy = -INFINITY};
    t->s.room.work = vem_i_alloc((size_t)view->n, sizeof(double));
    assert_non_null(t->s.room.work);
}

static void stuck_free(stuck *t)
{
    vem_model_free(t->s.model);
    vem_i_free(t->s.labels);
    vem_i_free(t->s.room.work);
    vem_i_points_free(t->points);
    grid_data_free(&t->data);
}

/* The means of that maximum, or of the best one, in the units of the view. */
static vem_model *model_of(const stuck *t, int best)
{
    const vem_view *v = &t->points->view;
    double means[BLOBS * D] = {0};
    for (int32_t c = 0; c < BLOBS; c++) {
        int64_t count = 0;
        for (int64_t i = 0; i < v->n; i++) {
            const int64_t blob = i % BLOBS;
            const int32_t held = best || blob == 0                 ? (int32_t)blob
                                 : blob < 3                        ? 1
                                 : t->data.x[i * D] > places[3][0] ? 2
                                                                   : 3;
            if (held != c)
                continue;
            count++;
            for (int32_t j = 0; j < D; j++)
                means[c * D + j] += vem_i_value(v->kernels, vem_i_view_row(v, i), j);
        }
        for (int32_t j = 0; j < D; j++)
            means[c * D + j] /= (double)count;
    }
    double variances[BLOBS * D * D] = {0}, weights[BLOBS];
    const vem_family_kind family = (vem_family_kind)t->s.options->family;
    const size_t count = family == VEM_ISO_SHARED ? 1 : BLOBS * D;
    for (size_t i = 0; i < count; i++)
        variances[i] = 1 + (double)i;
    for (int32_t c = 0; c < BLOBS; c++)
        weights[c] = (c + 1) / 10.0;
    vem_model *model = NULL;
    assert_int_equal(vem_model_new(ctx, family, BLOBS, D, means,
                                   family == VEM_ISO_SHARED ? NULL : weights, variances,
                                   &model),
                     VEM_OK);
    return model;
}

/* F of a course from that model, which becomes the best so far. */
static double begin_at(stuck *t, int best)
{
    vem_model *model = model_of(t, best);
    assert_int_equal(run_one(&t->s, 0, model), VEM_OK);
    assert_non_null(t->s.model);
    vem_model_free(model);
    return t->s.free_energy;
}

/* Steps alone stay in the worse maximum; a few moves find the best one. */
static void moves_leave_a_maximum(void **state)
{
    (void)state;
    stuck t, ideal;
    stuck_new(&ideal, VEM_ISO_SHARED);
    const double best = begin_at(&ideal, 1);
    stuck_free(&ideal);
    stuck_new(&t, VEM_ISO_SHARED);
    const double before = begin_at(&t, 0);
    assert_true(before < best - 1);
    /* Nothing but rest is found from where it is. */
    vem_model *same = NULL;
    assert_int_equal(vem_model_copy(ctx, t.s.model, &same), VEM_OK);
    assert_int_equal(run_one(&t.s, 1, same), VEM_OK);
    vem_model_free(same);
    assert_true(t.s.free_energy == before);
    for (uint64_t number = 1; number <= 8; number++)
        assert_int_equal(run_moved(&t.s, number), VEM_OK);
    if (!(t.s.free_energy > best - 1e-3))
        fail_msg("F is %g after 8 moves, %g before; the best is %g", t.s.free_energy,
                 before, best);
    stuck_free(&t);
}

/* The cheapest of three: of four clusters, by their rank, with chances 1 - (3/4)^3,
 * (3/4)^3 - (1/2)^3, (1/2)^3 - (1/4)^3 and (1/4)^3. */
static void the_cheap_go(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    static const double chances[] = {37 / 64.0, 19 / 64.0, 7 / 64.0, 1 / 64.0};
    stuck t;
    stuck_new(&t, VEM_ISO_SHARED);
    begin_at(&t, 0);
    const double scale = 1 / cost_of(&t.s, 0);
    /* About 30 and 30 rows 1.6 apart; 60 rows 300 from the next; 120 rows as far. */
    double cost[BLOBS];
    int32_t rank[BLOBS] = {0}, counts[BLOBS] = {0};
    for (int32_t c = 0; c < BLOBS; c++)
        cost[c] = scale * cost_of(&t.s, c);
    assert_true(cost[1] > 1.9 && cost[1] < 2.1);
    assert_true(cost[2] < 1e-3 && cost[3] < 1e-3 && cost[2] != cost[3]);
    for (int32_t a = 0; a < BLOBS; a++)
        for (int32_t b = 0; b < BLOBS; b++)
            rank[a] += cost[b] < cost[a];
    vem_i_rng rng = vem_i_rng_at(503, VEM_RNG_TEST, 2, 0);
    for (int i = 0; i < DRAWS; i++)
        counts[rank[draw_cheap(&t.s, &rng)]]++;
    for (int r = 0; r < BLOBS; r++) /* five deviations are less than 0.02 */
        if (!(fabs(counts[r] / (double)DRAWS - chances[r]) < 0.02))
            fail_msg("rank %d went %d times of %d", r, counts[r], DRAWS);
    stuck_free(&t);
}

/* Rows far from their mean are drawn: here all but a few are of the cluster of two blobs. */
static void the_far_are_drawn(void **state)
{
    (void)state;
    enum { DRAWS = 500 };
    stuck t;
    stuck_new(&t, VEM_ISO_SHARED);
    begin_at(&t, 0);
    vem_i_rng rng = vem_i_rng_at(504, VEM_RNG_TEST, 3, 0);
    int between = 0, first = 0;
    for (int i = 0; i < DRAWS; i++) {
        const int64_t item = draw_far(&t.s, &rng);
        between += t.s.labels[item] == 1;
        first += item % BLOBS == 1;
    }
    assert_true(between > 0.97 * DRAWS);
    assert_true(first > 0.4 * DRAWS && first < 0.6 * DRAWS);
    stuck_free(&t);
}

/* The cluster that goes gets the row as its mean, and shape and half the weight of the cluster
 * that held the row; the others share the weight that became free. */
static void where_it_goes(void **state)
{
    (void)state;
    stuck t;
    stuck_new(&t, VEM_DIAG);
    t.s.model = model_of(&t, 0);
    const vem_view *v = t.s.view;
    t.s.labels = vem_i_alloc((size_t)v->n, sizeof *t.s.labels);
    assert_non_null(t.s.labels);
    for (int64_t i = 0; i < v->n; i++)
        t.s.labels[i] = 1;
    vem_model *moved = NULL;
    assert_int_equal(vem_model_copy(ctx, t.s.model, &moved), VEM_OK);
    move_cluster(&t.s, 2, 9, moved);
    const double free = t.s.model->weights[2], sum = 1 - free;
    for (int32_t j = 0; j < D; j++) {
        assert_true(moved->means[2 * D + j] ==
                    vem_i_value(v->kernels, vem_i_view_row(v, 9), j));
        assert_true(moved->means[D + j] == t.s.model->means[D + j]);
        for (int32_t c = 0; c < BLOBS; c++)
            assert_true(vem_i_model_covariance(moved, c, j, j) ==
                        vem_i_model_covariance(t.s.model, c == 2 ? 1 : c, j, j));
    }
    for (int32_t c = 0; c < BLOBS; c++) {
        const double old = t.s.model->weights[c == 2 ? 1 : c];
        const double share = (c == 1 || c == 2 ? 0.5 : 1) * old / sum;
        grid_assert_near(moved->weights[c], share, 1e-12, "weight");
    }
    vem_model_free(moved);
    stuck_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moves_leave_a_maximum),
                                       cmocka_unit_test(the_cheap_go),
                                       cmocka_unit_test(the_far_are_drawn),
                                       cmocka_unit_test(where_it_goes)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
