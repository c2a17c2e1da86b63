/* The course of a fit with the neighborhood searches: empty clusters dropped or moved, warm
 * starts, steps before the first M-step, restarts, extreme sizes. */
#include "partial.h"

#define CONTEXT_THREADS 1
#include "context.h"

/* ---- Empty clusters
 * --------------------------------------------------------------------- */

/* A start in which the last `far` clusters are nobody's. */
static vem_model *start_with_empties(const grid_data *data, int family, int32_t clusters,
                                     int32_t far)
{
    vem_model *model = grid_start(ctx, data, (vem_family_kind)family, clusters);
    for (int32_t c = clusters - far; c < clusters; c++)
        for (int32_t j = 0; j < data->d; j++)
            model->means[c * data->d + j] = 1e4 + 1e3 * c + j;
    return model;
}

static void empty_clusters(void **state)
{
    (void)state;
    const int32_t shapes[][4] = {/* C, of them nobody's, C', G */
                                 {12, 4, 1, 5},  {12, 9, 5, 4}, {6, 4, 5, 6},
                                 {2, 1, 1, 2},   {2, 1, 2, 2},  {90, 40, 2, 70},
                                 {90, 89, 1, 66}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
            GRID_EACH_SHAPED (family)
                for (int empty = VEM_EMPTY_KEEP; empty <= VEM_EMPTY_RESEED; empty++) {
                    const int32_t *shape = shapes[s];
                    grid_data data =
                        grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 500, 2, 35);
                    vem_model *start =
                        start_with_empties(&data, family, shape[0], shape[1]);
                    /* Enough initial steps and draws that the far ones lose everybody. */
                    vem_options o = partial_options(kind, shape[0], family, shape[2],
                                                    shape[3], shape[0] / 3 + 1, 20);
                    o.init_steps = 20;
                    o.empty = empty;
                    o.prior = family % 2 ? VEM_PRIOR_FREE : VEM_PRIOR_FLAT;
                    grid_fit fit = grid_run(ctx, &data, &o, start);
                    partial_assert_sound(&fit);
                    if (empty == VEM_EMPTY_DROP &&
                        vem_model_clusters(fit.model) > shape[0] - shape[1])
                        fail_msg("%d clusters are left of %d (%s, %s)",
                                 vem_model_clusters(fit.model), shape[0],
                                 vem_choice_name("search", kind),
                                 vem_choice_name("family", family));
                    if (empty == VEM_EMPTY_DROP)
                        assert_true(fit.options->held <= fit.summary->clusters);
                    else
                        assert_int_equal(vem_model_clusters(fit.model), shape[0]);
                    grid_fit_free(&fit);
                    vem_model_free(start);
                    grid_data_free(&data);
                }
}

/* The loops that follow one in which clusters were dropped know those that are left, and no others: with
 * prices, and with one cluster a row at the end. */
static void later_loops_know_what_is_left(void **state)
{
    (void)state;
    enum { CLUSTERS = 12, FAR = 8, REACH = 6 }; /* more than are left */
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 500, 2, 35);
    vem_model *start = start_with_empties(&data, VEM_ISO_SHARED, CLUSTERS, FAR);
    for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
        for (int64_t held = 1; held <= 3; held += 2)
            for (int64_t explore = 0; explore <= 9; explore += 9) {
                vem_options o = partial_options(kind, CLUSTERS, VEM_ISO_SHARED, held,
                                                REACH, explore, 40);
                o.init_steps = 20;
                o.empty = VEM_EMPTY_DROP;
                if (held == 1)
                    o.balance = VEM_BALANCE_SOFT;
                else
                    o.finish = VEM_FINISH_HARD;
                grid_fit fit = grid_run(ctx, &data, &o, start);
                assert_in_range(vem_model_clusters(fit.model), 1, CLUSTERS - 1);
                assert_true(fit.summary->steps > 3);
                for (int64_t i = 0; i < data.n; i++)
                    assert_in_range(fit.labels[i], 0, vem_model_clusters(fit.model) - 1);
                for (int32_t c = 0; c < vem_model_clusters(fit.model); c++)
                    assert_true(isfinite(fit.model->means[c * data.d]));
                grid_fit_free(&fit);
            }
    vem_model_free(start);
    grid_data_free(&data);
}

/* A cluster put elsewhere is found there, also where nothing is drawn at random. */
static void reseeded_clusters_are_found(void **state)
{
    (void)state;
    enum { CLUSTERS = 40, FAR = 10 };
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 2000, 2, 41);
    vem_model *start = start_with_empties(&data, VEM_ISO_SHARED, CLUSTERS, FAR);
    for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
        for (int64_t held = 1; held <= 3; held += 2) {
            vem_options o =
                partial_options(kind, CLUSTERS, VEM_ISO_SHARED, held, 5, 0, 60);
            o.init_steps = 10;
            o.tolerance = 1e-6;
            grid_fit keep = grid_run(ctx, &data, &o, start);
            o.empty = VEM_EMPTY_RESEED;
            grid_fit reseed = grid_run(ctx, &data, &o, start);
            int64_t moves = 0;
            for (int64_t t = 0; t < reseed.trace_count; t++)
                moves += reseed.trace[t].moved > 0;
            assert_in_range(moves, 1, 3);
            assert_true(keep.trace[keep.trace_count - 1].empty > 0);
            assert_int_equal(reseed.trace[reseed.trace_count - 1].empty, 0);
            assert_true(reseed.summary->free_energy > keep.summary->free_energy + 0.05);
            partial_assert_sound(&reseed);
            grid_fit_free(&keep);
            grid_fit_free(&reseed);
        }
    vem_model_free(start);
    grid_data_free(&data);
}

/* ---- Starts and sizes
 * ------------------------------------------------------------------- */

static void warm_starts_go_on(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 1000, 3, 36);
    for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
        GRID_EACH_SHAPED (family) {
            vem_options o = partial_options(kind, 30, family, 3, 5, 1, 15);
            grid_fit first = grid_run(ctx, &data, &o, NULL);
            partial_assert_sound(&first);
            /* What was held is not part of a model: a few E-steps find it again. */
            o.init_steps = 10;
            grid_fit second = grid_run(ctx, &data, &o, first.model);
            partial_assert_sound(&second);
            assert_int_equal(second.summary->init_steps, 10);
            assert_int_equal(second.trace_count, 10 + second.summary->steps);
            assert_int_equal(second.trace[0].step, -9);
            double f = first.summary->free_energy;
            assert_true(second.summary->free_energy >= f - 0.01 * fabs(f));
            grid_fit_free(&first);
            grid_fit_free(&second);
        }
    grid_data_free(&data);
}

/* Before the first M-step only sets improve: the model is that of no such step at all. */
static void initial_steps_leave_the_model(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 1000, 2, 37);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 40);
    vem_options o = partial_options(VEM_SEARCH_ESTIMATED, 40, VEM_ISO_SHARED, 1, 5, 1, 1);
    o.init_steps = 30;
    grid_fit fit = grid_run(ctx, &data, &o, start);
    partial_assert_sound(&fit);
    grid_assert_models(fit.model, start, 1e-12, "init-steps");
    /* Descent through the graph has found nearly every nearest cluster. */
    vem_scores best = grid_score(ctx, fit.model, &data, 1, VEM_DOUBLE);
    assert_true(best.free_energy - fit.summary->free_energy < 0.01);
    grid_fit_free(&fit);
    vem_model_free(start);
    grid_data_free(&data);
}

/* With tolerance 0 a fit ends when nothing changes; where clusters are drawn at random, when
 * nothing changes twice running, since a step may draw nothing of use. */
static void rest_is_rest(void **state)
{
    (void)state;
    for (int64_t explore = 0; explore <= 1; explore++)
        for (int64_t seed = 1; seed <= 5; seed++) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 1000, 2, 42);
            vem_options o = partial_options(VEM_SEARCH_ESTIMATED, 40, VEM_ISO_SHARED, 1,
                                            3, explore, 500);
            o.seed = seed;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_int_equal(fit.summary->outcome, VEM_OUTCOME_CONVERGED);
            int64_t resting = 0;
            for (int64_t t = 1; t < fit.trace_count; t++) {
                assert_true(resting <= explore);
                resting = fit.trace[t].changed == 0 ? resting + 1 : 0;
            }
            assert_int_equal(resting, 1 + explore);
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
}

static void restarts_keep_the_best(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 600, 2, 38);
    for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++) {
        vem_options o = partial_options(kind, 10, VEM_ISO_SHARED, 1, 3, 0, 30);
        grid_fit one = grid_run(ctx, &data, &o, NULL);
        o.restarts = 6;
        grid_fit six = grid_run(ctx, &data, &o, NULL);
        assert_true(six.summary->free_energy >= one.summary->free_energy);
        assert_true(six.summary->scored_pairs > one.summary->scored_pairs);
        partial_assert_sound(&six);
        grid_fit_free(&one);
        grid_fit_free(&six);
    }
    grid_data_free(&data);
}

static void extreme_sizes(void **state)
{
    (void)state;
    const int64_t shapes[][4] = {/* n, k, held, reach */
                                 {40, 1, 1, 1},   {40, 40, 1, 5}, {40, 40, 5, 5},
                                 {40, 40, 40, 1}, {40, 3, 3, 2},  {1, 1, 1, 1},
                                 {40, 3, 2, 100}, {2, 2, 1, 2},   {300, 150, 64, 3}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
            GRID_EACH_SHAPED (family) {
                grid_data data =
                    grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, shapes[s][0], 2, 39);
                vem_options o = partial_options(kind, shapes[s][1], family, shapes[s][2],
                                                shapes[s][3], 1, 10);
                grid_fit fit = grid_run(ctx, &data, &o, NULL);
                partial_assert_sound(&fit);
                assert_true(fit.options->reach <= shapes[s][1]);
                grid_fit_free(&fit);
                grid_data_free(&data);
            }
    /* The presets fit themselves to few clusters. */
    for (int name = VEM_ALGORITHM_VAR_KMEANS_X; name <= VEM_ALGORITHM_VAR_GMM_S; name++)
        for (int64_t k = 1; k <= 6; k++) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 50, 2, 40);
            vem_options o;
            vem_options_init(&o);
            o.clusters = k;
            o.algorithm = name;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            partial_assert_sound(&fit);
            assert_int_equal(fit.options->reach, k < 5 ? k : 5);
            assert_int_equal(fit.options->held, name < VEM_ALGORITHM_VAR_GMM_X ? 1
                                                : k < 5                        ? k
                                                                               : 5);
            assert_int_equal(fit.options->explore, 0);
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_clusters),
        cmocka_unit_test(later_loops_know_what_is_left),
        cmocka_unit_test(reseeded_clusters_are_found),
        cmocka_unit_test(warm_starts_go_on),
        cmocka_unit_test(initial_steps_leave_the_model),
        cmocka_unit_test(rest_is_rest),
        cmocka_unit_test(restarts_keep_the_best),
        cmocka_unit_test(extreme_sizes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
