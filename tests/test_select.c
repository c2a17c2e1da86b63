/* Paths of mixtures: vem_select, what it keeps, writes and refuses, and where it is stopped. */
#include <unistd.h>

#define CONTEXT_THREADS 2
#include "context.h"

/* ---- paths ---- */

typedef struct selected {
    vem_model *model;
    vem_path *path;
    vem_report *report;
} selected;

static selected select_from(const grid_data *data, const vem_options *o, int32_t most)
{
    const vem_select_options s = {.size = sizeof s,
                                  .method = VEM_SELECT_GREEDY,
                                  .max_clusters = most};
    vem_data *rows = grid_borrow(ctx, data);
    selected found = {0};
    if (vem_select(ctx, rows, o, &s, &found.model, &found.path, &found.report) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    vem_data_free(rows);
    return found;
}

static void selected_free(selected *s)
{
    vem_model_free(s->model);
    vem_path_free(s->path);
    vem_report_free(s->report);
}

static void assert_same_path(const vem_path *a, const vem_path *b)
{
    assert_int_equal(vem_path_count(a), vem_path_count(b));
    assert_int_equal(vem_path_chosen(a), vem_path_chosen(b));
    for (int32_t i = 0; i < vem_path_count(a); i++) {
        const vem_path_point *p = vem_path_at(a, i), *q = vem_path_at(b, i);
        vem_model *m, *n;
        assert_int_equal(p->clusters, q->clusters);
        assert_int_equal(p->steps, q->steps);
        assert_int_equal(p->parameters, q->parameters);
        assert_memory_equal(&p->free_energy, &q->free_energy, sizeof(double));
        assert_memory_equal(&p->log_likelihood, &q->log_likelihood, sizeof(double));
        assert_memory_equal(&p->bic, &q->bic, sizeof(double));
        assert_memory_equal(&p->icl, &q->icl, sizeof(double));
        assert_int_equal(vem_path_pick(ctx, a, p->clusters, &m), VEM_OK);
        assert_int_equal(vem_path_pick(ctx, b, p->clusters, &n), VEM_OK);
        grid_assert_models(m, n, 0, "a mixture of the path");
        vem_model_free(m);
        vem_model_free(n);
    }
}

/* F rises along it; each mixture is what it says. */
static void check_path(const selected *s, const grid_data *data)
{
    const vem_path_point *best = NULL;
    for (int32_t i = 0; i < vem_path_count(s->path); i++) {
        const vem_path_point *p = vem_path_at(s->path, i);
        vem_model *m;
        assert_int_equal(p->clusters, i + 1);
        if (i > 0)
            assert_true(p->free_energy >= vem_path_at(s->path, i - 1)->free_energy);
        assert_int_equal(vem_path_pick(ctx, s->path, i + 1, &m), VEM_OK);
        const vem_scores scores = grid_score(ctx, m, data, 0, VEM_DOUBLE);
        grid_assert_near(p->log_likelihood, scores.log_likelihood,
                         1e-8 * fmax(1, fabs(scores.log_likelihood)), "likelihood");
        grid_assert_near(p->bic, scores.bic, 1e-8 * fabs(scores.bic), "bic");
        grid_assert_near(p->icl, scores.icl, 1e-8 * fabs(scores.icl), "icl");
        assert_int_equal(p->parameters, scores.parameters);
        if (!best || p->bic < best->bic)
            best = p;
        vem_model_free(m);
    }
    assert_int_equal(best->clusters, vem_path_chosen(s->path));
    assert_int_equal(best->clusters, vem_model_clusters(s->model));
    assert_int_equal(best->clusters, vem_report_summary(s->report)->clusters);
}

static void paths_have_the_same_bits_for_any_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    /* More than the sample of a cluster. */
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 5000, 2, 3);
    vem_options o;
    vem_options_init(&o);
    selected first = {0};
    for (int i = 0; i < 4; i++) {
        vem_ctx_set_threads(ctx, threads[i]);
        selected now = select_from(&data, &o, 5);
        if (i == 0) {
            check_path(&now, &data);
            first = now;
            continue;
        }
        assert_same_path(first.path, now.path);
        selected_free(&now);
    }
    vem_ctx_set_threads(ctx, 2);
    selected_free(&first);
    grid_data_free(&data);
}

/* On cells F is below the likelihood of the rows, and rises along the path all the same. */
static void cells_have_a_path(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_INTEGER, 3000, 2, 3);
    vem_options o;
    vem_options_init(&o);
    o.cells = 400;
    selected first = {0};
    for (int threads = 1; threads < 4; threads++) {
        vem_ctx_set_threads(ctx, threads);
        selected s = select_from(&data, &o, 5);
        for (int32_t i = 0; i < vem_path_count(s.path); i++) {
            const vem_path_point *p = vem_path_at(s.path, i);
            assert_true(p->free_energy <= p->log_likelihood + 1e-9);
            if (i > 0)
                assert_true(p->free_energy >= vem_path_at(s.path, i - 1)->free_energy);
        }
        assert_true(vem_path_count(s.path) > 2);
        if (threads > 1) {
            assert_same_path(first.path, s.path);
            selected_free(&s);
        } else {
            first = s;
        }
    }
    vem_ctx_set_threads(ctx, 2);
    selected_free(&first);
    grid_data_free(&data);
}

static void every_family_has_a_path(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family) {
        grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_INTEGER, 300, 3, 4);
        vem_options o;
        vem_options_init(&o);
        o.family = family;
        selected s = select_from(&data, &o, 6);
        assert_true(vem_path_count(s.path) > 2);
        check_path(&s, &data);
        selected_free(&s);
        grid_data_free(&data);
    }
}

/* The preset gives the last mixture of a path that rests where it does. */
static void a_fit_ends_where_the_path_does(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 300, 2, 6);
    vem_options o;
    vem_options_init(&o);
    o.algorithm = VEM_ALGORITHM_GREEDY;
    o.clusters = 4;
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(vem_model_clusters(fit.model), 4);
    int inserted = 0;
    int64_t pairs = 0;
    for (int64_t t = 0; t < fit.trace_count; t++) {
        pairs += fit.trace[t].pairs;
        /* One cluster; 64 pairs of candidates, halved and 3 steps; 16 of them with 12 steps; the
         * best once more; F of two clusters. */
        if (fit.trace[t].move && inserted == 0)
            assert_int_equal(fit.trace[t].pairs,
                             data.n * (1 + 64 * 2 * 4 + 16 * 2 * 13 + 2 * 13 + 2));
        if (fit.trace[t].move)
            assert_string_equal(fit.trace[t].move, "insert");
        inserted += fit.trace[t].move != NULL;
        if (t > 0)
            assert_true(fit.trace[t].free_energy >=
                        fit.trace[t - 1].free_energy -
                            1e-9 * fabs(fit.trace[t].free_energy));
    }
    assert_int_equal(inserted, 3);
    assert_int_equal(fit.summary->scored_pairs, pairs);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

static void paths_end_where_rows_do(void **state)
{
    (void)state;
    vem_options o;
    vem_options_init(&o);
    /* One place. */
    grid_data same = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 50, 2, 1);
    for (int64_t i = 0; i < 100; i++)
        same.x[i] = 3;
    selected s = select_from(&same, &o, 5);
    assert_int_equal(vem_path_count(s.path), 1);
    assert_int_equal(vem_model_clusters(s.model), 1);
    assert_non_null(strstr(vem_report_notes(s.report), "the path ends with 1 of 5"));
    selected_free(&s);
    /* Fewer rows than clusters; a row; a column that never varies; one cluster. */
    same.n = 3;
    s = select_from(&same, &o, 5);
    selected_free(&s);
    same.n = 1;
    s = select_from(&same, &o, 5);
    assert_int_equal(vem_path_count(s.path), 1);
    selected_free(&s);
    /* No more clusters than places, whatever rounding makes of their variances. */
    same.n = 50;
    for (int64_t places = 1; places <= 4; places++)
        GRID_EACH_SHAPED (family) {
            for (int64_t i = 0; i < 100; i++)
                same.x[i] = 0.1257302211 * (double)(1 + i / 2 % places) +
                            (i % 2 ? 0.6404226504 : 0);
            o.family = family;
            s = select_from(&same, &o, 8);
            if (vem_path_count(s.path) > places)
                fail_msg("%s: %d mixtures of %d places",
                         vem_choice_name("family", family), vem_path_count(s.path),
                         (int)places);
            selected_free(&s);
        }
    o.family = VEM_AUTO;
    grid_data_free(&same);
    grid_data level = grid_data_new(SET_CONSTANT, WEIGHTS_NONE, 200, 3, 1);
    s = select_from(&level, &o, 4);
    assert_true(vem_path_count(s.path) > 1);
    check_path(&s, &level);
    selected_free(&s);
    s = select_from(&level, &o, 1);
    assert_int_equal(vem_path_count(s.path), 1);
    selected_free(&s);
    grid_data_free(&level);
}

/* What was written is what is read, and the file is a model as any other. */
static void paths_are_read_as_written(void **state)
{
    (void)state;
    char file[] = "/tmp/vem_path_XXXXXX.npz";
    const int handle = mkstemps(file, 4);
    assert_true(handle >= 0);
    close(handle);
    GRID_EACH_SHAPED (family) {
        grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 200, 2, 9);
        vem_options o;
        vem_options_init(&o);
        o.family = family;
        o.standardize = family % 2;
        selected s = select_from(&data, &o, 4);
        vem_path *read = NULL;
        vem_model *model = NULL;
        if (vem_path_write(ctx, s.path, s.model, file) != VEM_OK ||
            vem_path_read(ctx, file, &read) != VEM_OK ||
            vem_model_read(ctx, file, &model) != VEM_OK)
            fail_msg("%s", vem_ctx_message(ctx));
        assert_same_path(s.path, read);
        grid_assert_models(s.model, model, 0, "the model of the file");
        assert_int_equal(vem_path_pick(ctx, read, 99, &model), VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), "no mixture of 99 clusters"));
        vem_model_free(model);
        vem_path_free(read);
        selected_free(&s);
        grid_data_free(&data);
    }
    unlink(file);
}

/* ---- stops ---- */

typedef struct stopper {
    int64_t steps; /* after so many */
    int64_t seen;
} stopper;

static int stop_after(void *user, const vem_progress *p)
{
    stopper *s = user;
    if (strcmp(p->phase, "em") == 0 && p->step > s->seen)
        s->seen = p->step;
    return s->seen >= s->steps;
}

static void resume_paths(int64_t max_steps)
{
    char file[] = "/tmp/vem_state_XXXXXX";
    const int handle = mkstemp(file);
    assert_true(handle >= 0);
    close(handle);
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 400, 2, 12);
    vem_options o;
    vem_options_init(&o);
    o.max_steps = max_steps;
    selected whole = select_from(&data, &o, 6);
    const int64_t steps = vem_report_summary(whole.report)->steps;
    assert_true(max_steps == VEM_AUTO || steps > max_steps);
    for (int64_t at = 1; at < steps; at += 1 + steps / 9) {
        unlink(file);
        vem_checkpoint c = {.size = sizeof c, .path = file, .seconds = 1e9, .resume = 1};
        stopper s = {.steps = at};
        assert_int_equal(vem_ctx_set_checkpoint(ctx, &c), VEM_OK);
        vem_ctx_set_progress(ctx, stop_after, &s);
        selected part = select_from(&data, &o, 6);
        vem_ctx_set_progress(ctx, NULL, NULL);
        assert_int_equal(vem_report_summary(part.report)->outcome, VEM_OUTCOME_STOPPED);
        assert_true(vem_path_count(part.path) >= 1 &&
                    vem_path_count(part.path) <= vem_path_count(whole.path));
        assert_true(isfinite(vem_path_at(part.path, 0)->bic));
        selected_free(&part);
        part = select_from(&data, &o, 6);
        assert_same_path(whole.path, part.path);
        selected_free(&part);
        assert_int_equal(vem_ctx_set_checkpoint(ctx, NULL), VEM_OK);
    }
    unlink(file);
    selected_free(&whole);
    grid_data_free(&data);
}

/* Each number of clusters has so many steps, all together more. */
static void stopped_paths_are_resumed(void **state)
{
    (void)state;
    resume_paths(VEM_AUTO);
    resume_paths(5);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 40, 2, 1);
    vem_data *rows = grid_borrow(ctx, &data);
    vem_options o;
    vem_model *model = NULL;
    vem_options_init(&o);
    vem_select_options s = {.size = sizeof s,
                            .method = VEM_SELECT_GREEDY,
                            .min_clusters = 5,
                            .max_clusters = 3};
    assert_int_equal(vem_select(ctx, rows, &o, &s, &model, NULL, NULL), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "--min-clusters is 5"));
    s = (vem_select_options){.size = sizeof s, .method = (vem_select_method)99};
    assert_int_equal(vem_select(ctx, rows, &o, &s, &model, NULL, NULL), VEM_BAD_OPTION);
    s = (vem_select_options){.size = sizeof s, .method = VEM_SELECT_GREEDY};
    o.clusters = 4;
    assert_int_equal(vem_select(ctx, rows, &o, &s, &model, NULL, NULL), VEM_BAD_OPTION);
    assert_null(model);
    vem_options_init(&o);
    o.algorithm = VEM_ALGORITHM_GREEDY;
    o.clusters = 4;
    o.swaps = 2;
    assert_int_equal(vem_fit(ctx, rows, &o, NULL, &model, NULL), VEM_BAD_OPTION);
    vem_options_init(&o);
    o.family = VEM_POISSON;
    assert_int_equal(vem_select(ctx, rows, &o, &s, &model, NULL, NULL), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "--family is poisson"));
    vem_data_free(rows);
    grid_data_free(&data);
}

/* A program hears the names of members, whoever uses the command its options. */
static void options_have_two_names(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 30, 2, 3);
    vem_data *rows = grid_borrow(ctx, &data);
    vem_options o;
    vem_options_init(&o);
    const vem_prior_options flat = {.size = sizeof flat, .dof = 0.1};
    const vem_select_options wrong[] = {
        {.size = sizeof *wrong, .min_clusters = 5, .max_clusters = 3},
        {.size = sizeof *wrong, .holdout = 2},
        {.size = sizeof *wrong, .prior = &flat},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_int_equal(vem_select(ctx, rows, &o, &wrong[k], NULL, NULL, NULL),
                         VEM_BAD_OPTION);
        vem_ctx_set_dashes(ctx, 0);
        assert_int_equal(vem_select(ctx, rows, &o, &wrong[k], NULL, NULL, NULL),
                         VEM_BAD_OPTION);
        assert_null(strstr(vem_ctx_message(ctx), "--"));
        if (k == 0)
            assert_string_equal(vem_ctx_message(ctx),
                                "min_clusters is 5, but max_clusters is 3.");
        vem_ctx_set_dashes(ctx, 1);
    }
    vem_ctx_set_dashes(ctx, 0);
    vem_report *report = NULL;
    const vem_select_options few = {.size = sizeof few, .max_clusters = 2};
    assert_int_equal(vem_select(ctx, rows, &o, &few, NULL, NULL, &report), VEM_OK);
    assert_null(strstr(vem_report_choices(report), "--"));
    assert_null(strstr(vem_report_notes(report), "--"));
    vem_report_free(report);
    vem_ctx_set_dashes(ctx, 1);
    vem_data_free(rows);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_have_the_same_bits_for_any_threads),
        cmocka_unit_test(cells_have_a_path),
        cmocka_unit_test(every_family_has_a_path),
        cmocka_unit_test(a_fit_ends_where_the_path_does),
        cmocka_unit_test(paths_end_where_rows_do),
        cmocka_unit_test(paths_are_read_as_written),
        cmocka_unit_test(stopped_paths_are_resumed),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(options_have_two_names),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
