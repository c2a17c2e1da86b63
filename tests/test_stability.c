/* Selections on parts of the rows: how many, which, and what of a stop. */
#define CONTEXT_THREADS 2
#include "context.h"

typedef struct asked {
    vem_options o;
    vem_select_options s;
    vem_data *rows;
    vem_model *model;
    grid_data data;
} asked;

static asked ask(grid_weights weights)
{
    asked a = {.s = {.size = sizeof a.s, .method = VEM_SELECT_BAYES},
               .data = grid_data_new(SET_SEPARATED, weights, 600, 2, 3)};
    vem_options_init(&a.o);
    a.rows = grid_borrow(ctx, &a.data);
    if (vem_select(ctx, a.rows, &a.o, &a.s, &a.model, NULL, NULL) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    return a;
}

static void asked_free(asked *a)
{
    vem_data_free(a->rows);
    vem_model_free(a->model);
    grid_data_free(&a->data);
}

static void resamples_are_told(void **state)
{
    (void)state;
    enum { R = 6 };
    for (int weighted = 0; weighted < 2; weighted++) {
        asked a = ask(weighted ? WEIGHTS_INTEGER : WEIGHTS_NONE);
        int32_t first[R];
        double agreed[R];
        for (int threads = 1; threads <= 3; threads++) {
            int32_t clusters[R];
            double ari[R], sum = 0, total = 0;
            vem_stability s = {.size = sizeof s,
                               .resamples = R,
                               .clusters = clusters,
                               .ari = ari};
            vem_ctx_set_threads(ctx, threads);
            assert_int_equal(vem_select_stability(ctx, a.rows, &a.o, &a.s, a.model, &s),
                             VEM_OK);
            assert_int_equal(s.done, R);
            if (!weighted)
                assert_int_equal(s.rows, 540);
            grid_assert_near(s.share, 0.9, 0, "share");
            for (int r = 0; r < R; r++) {
                sum += clusters[r];
                total += ari[r];
                assert_true(clusters[r] >= 1 && ari[r] <= 1);
            }
            grid_assert_near(s.clusters_mean, sum / R, 1e-12, "mean of clusters");
            grid_assert_near(s.ari_mean, total / R, 1e-12, "mean of ARI");
            assert_true(s.ari_mean > 0.95); /* the clusters lie apart */
            if (threads == 1) {
                memcpy(first, clusters, sizeof first);
                memcpy(agreed, ari, sizeof agreed);
            }
            assert_memory_equal(first, clusters, sizeof first);
            assert_memory_equal(agreed, ari, sizeof agreed);
        }
        /* Half of the rows; of one resample there is no deviation. */
        vem_stability s = {.size = sizeof s, .resamples = 1, .share = 0.5};
        assert_int_equal(vem_select_stability(ctx, a.rows, &a.o, &a.s, a.model, &s),
                         VEM_OK);
        if (!weighted)
            assert_int_equal(s.rows, 300);
        assert_true(isnan(s.clusters_sd) && isnan(s.ari_sd) && isfinite(s.ari_mean));
        vem_ctx_set_threads(ctx, 2);
        asked_free(&a);
    }
}

/* Where clusters overlap, parts of the rows do not agree to the same degree. */
static void deviations_of_resamples(void **state)
{
    (void)state;
    enum { R = 4 };
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 300, 2, 3);
    vem_data *rows = grid_borrow(ctx, &data);
    const vem_select_options how = {.size = sizeof how, .method = VEM_SELECT_KMEANS_BIC};
    vem_options o;
    vem_model *model = NULL;
    double ari[R], squares = 0;
    vem_stability s = {.size = sizeof s, .resamples = R, .share = 0.5, .ari = ari};
    vem_options_init(&o);
    assert_int_equal(vem_select(ctx, rows, &o, &how, &model, NULL, NULL), VEM_OK);
    assert_int_equal(vem_select_stability(ctx, rows, &o, &how, model, &s), VEM_OK);
    for (int r = 0; r < R; r++)
        squares += (ari[r] - s.ari_mean) * (ari[r] - s.ari_mean);
    assert_true(squares > 1e-6);
    grid_assert_near(s.ari_sd, sqrt(squares / (R - 1)), 1e-9, "deviation of ARI");
    vem_model_free(model);
    vem_data_free(rows);
    grid_data_free(&data);
}

/* Labels of what was found elsewhere agree with nothing. */
static void a_wrong_model_does_not_agree(void **state)
{
    (void)state;
    asked a = ask(WEIGHTS_NONE);
    const double mean[] = {1e3, 1e3}, variance[] = {1};
    vem_model *one;
    assert_int_equal(vem_model_new(ctx, VEM_ISO, 1, 2, mean, NULL, variance, &one),
                     VEM_OK);
    vem_stability s = {.size = sizeof s, .resamples = 2};
    assert_int_equal(vem_select_stability(ctx, a.rows, &a.o, &a.s, one, &s), VEM_OK);
    assert_true(s.clusters_mean > 1);
    grid_assert_near(s.ari_mean, 0, 1e-12, "agreement with one cluster");
    vem_model_free(one);
    asked_free(&a);
}

static int stop_in_third(void *user, const vem_progress *p)
{
    int64_t *most = user;
    *most = p->resample > *most ? p->resample : *most;
    return p->resample >= 3;
}

static void a_stop_keeps_what_is_done(void **state)
{
    (void)state;
    asked a = ask(WEIGHTS_NONE);
    int64_t most = 0;
    int32_t clusters[10];
    vem_stability s = {.size = sizeof s, .resamples = 10, .clusters = clusters};
    vem_ctx_set_progress(ctx, stop_in_third, &most);
    assert_int_equal(vem_select_stability(ctx, a.rows, &a.o, &a.s, a.model, &s), VEM_OK);
    assert_int_equal(most, 3);
    assert_int_equal(s.done, 2);
    assert_int_equal(s.resamples, 10);
    assert_string_equal(vem_ctx_message(ctx), "");
    vem_ctx_set_progress(ctx, NULL, NULL);
    a.o.time = 1e6; /* enough for all */
    assert_int_equal(vem_select_stability(ctx, a.rows, &a.o, &a.s, a.model, &s), VEM_OK);
    assert_int_equal(s.done, 10);
    /* No time at all: none. */
    a.o.time = 1e-9;
    assert_int_equal(vem_select_stability(ctx, a.rows, &a.o, &a.s, a.model, &s), VEM_OK);
    assert_int_equal(s.done, 0);
    assert_true(isnan(s.clusters_mean) && isnan(s.ari_mean));
    asked_free(&a);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    asked a = ask(WEIGHTS_NONE);
    vem_stability s = {.size = sizeof s};
    assert_int_equal(vem_select_stability(ctx, a.rows, &a.o, &a.s, a.model, &s),
                     VEM_BAD_OPTION);
    s.resamples = -1;
    assert_int_equal(vem_select_stability(ctx, a.rows, &a.o, &a.s, a.model, &s),
                     VEM_BAD_OPTION);
    s.resamples = 1;
    static const double shares[] = {1, -0.5, 2, NAN};
    for (int i = 0; i < 4; i++) {
        s.share = shares[i];
        assert_int_equal(vem_select_stability(ctx, a.rows, &a.o, &a.s, a.model, &s),
                         VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), "between 0 and 1"));
    }
    s.share = 0;
    a.o.clusters = 3; /* what vem_select refuses */
    assert_int_equal(vem_select_stability(ctx, a.rows, &a.o, &a.s, a.model, &s),
                     VEM_BAD_OPTION);
    asked_free(&a);
}

static int looks, forecasts;

static int look_at_context(void *user, const vem_progress *progress)
{
    (void)user;
    (void)progress;
    looks++;
    return !(ctx->checkpoint.path && ctx->forecast); /* which would be a stop */
}

static void count_forecasts(void *user, const vem_forecast *forecast)
{
    (void)user;
    (void)forecast;
    forecasts++;
}

/* Parts write no state and tell no forecast, and what its owner set stays set meanwhile. */
static void the_context_stays_as_it_is(void **state)
{
    (void)state;
    asked a = ask(WEIGHTS_NONE);
    const vem_checkpoint checkpoint = {.size = sizeof checkpoint,
                                       .path = "stability-never-written.state"};
    vem_stability s = {.size = sizeof s, .resamples = 3};
    assert_int_equal(vem_ctx_set_checkpoint(ctx, &checkpoint), VEM_OK);
    vem_ctx_set_forecast(ctx, count_forecasts, NULL);
    vem_ctx_set_progress(ctx, look_at_context, NULL);
    looks = forecasts = 0;
    assert_int_equal(vem_select_stability(ctx, a.rows, &a.o, &a.s, a.model, &s), VEM_OK);
    vem_ctx_set_progress(ctx, NULL, NULL);
    vem_ctx_set_forecast(ctx, NULL, NULL);
    assert_int_equal(vem_ctx_set_checkpoint(ctx, NULL), VEM_OK);
    assert_true(looks > 0);
    assert_int_equal(s.done, 3);
    assert_int_equal(forecasts, 0);
    assert_null(fopen(checkpoint.path, "r"));
    asked_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resamples_are_told),
        cmocka_unit_test(deviations_of_resamples),
        cmocka_unit_test(a_wrong_model_does_not_agree),
        cmocka_unit_test(a_stop_keeps_what_is_done),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(the_context_stays_as_it_is),
    };
    return cmocka_run_group_tests_name("stability", tests, set_up, tear_down);
}
