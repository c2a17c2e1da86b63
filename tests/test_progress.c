/* The progress function: told sane numbers from the caller's thread, and able to stop any
 * verb at any of its calls. A fit that has made a step ends with a model whose F is the
 * one reported; whatever has no partial result says VEM_STOPPED and gives nothing. */
#include <pthread.h>

#include "grid.h"

#define CONTEXT_THREADS 3
#include "context.h"
#include "fake_clock.h"

typedef struct listener {
    pthread_t thread;
    int64_t calls, stop_at; /* 0: never */
    const char *stop_phase; /* at the first call in this phase; NULL: by number */
    int64_t em_calls, last_step;
    double last_seconds, last_f;
    int insane;
} listener;

static int listen(void *user, const vem_progress *p)
{
    listener *l = user;
    const char *const phases[] = {"read", "seed", "em", "measure", "assign"};
    int known = 0;
    for (int i = 0; i < 5; i++)
        known |= strcmp(p->phase, phases[i]) == 0;
    l->calls++;
    l->insane |= !known || !pthread_equal(l->thread, pthread_self());
    l->insane |= p->done < 0 || p->total < 0 || (p->total > 0 && p->done > p->total);
    l->insane |= !(p->seconds >= l->last_seconds);
    if (strcmp(p->phase, "em") == 0) {
        l->em_calls++;
        l->insane |= p->step < l->last_step || p->step > p->max_steps;
        l->insane |= !isnan(p->free_energy) && !(p->free_energy >= l->last_f - 1e-9);
        l->last_step = p->step;
        l->last_f = isnan(p->free_energy) ? l->last_f : p->free_energy;
    } else {
        l->insane |= !isnan(p->free_energy);
    }
    l->last_seconds = p->seconds;
    if (l->stop_phase && strcmp(l->stop_phase, p->phase) == 0)
        return 1;
    return l->calls == l->stop_at ? -7 : 0; /* anything but 0 stops */
}

static listener fresh(int64_t stop_at, const char *phase)
{
    return (listener){.thread = pthread_self(),
                      .stop_at = stop_at,
                      .stop_phase = phase,
                      .last_step = -1000,
                      .last_f = -INFINITY};
}

static void told_sanely(void **state)
{
    (void)state;
    for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_TWO_LEVEL; seeding++)
        for (int held = 1; held <= 4; held += 3) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 5000, 4, 101);
            vem_options o =
                grid_options(4, VEM_DIAG, VEM_PRIOR_FREE, held, VEM_DOUBLE, 12);
            o.seeding = seeding;
            o.measure = 1;
            o.init_steps = 2;
            listener l = fresh(0, NULL);
            vem_ctx_set_progress(ctx, listen, &l);
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            vem_ctx_set_progress(ctx, NULL, NULL);
            assert_false(l.insane);
            assert_true(l.em_calls >= fit.trace_count); /* every step is told */
            assert_true(l.last_f == fit.summary->free_energy);
            assert_int_equal(l.last_step, fit.summary->steps);
            grid_fit quiet = grid_run(ctx, &data, &o, NULL);
            assert_true(quiet.summary->free_energy == fit.summary->free_energy);
            grid_fit_free(&quiet);
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
}

/* Stop at the first, second, ... call until a fit runs to its end. */
static void stopped_anywhere(void **state)
{
    (void)state;
    int models = 0, nothings = 0;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 3000, 4, 102);
    for (int k = 0; k < grid_shaped_count(); k += 3)
        for (int64_t stop = 1;; stop++) {
            vem_options o =
                grid_options(4, grid_shaped(k), VEM_PRIOR_FREE, 2, VEM_DOUBLE, 8);
            o.seeding = VEM_SEED_PLUSPLUS;
            o.measure = 1;
            o.restarts = 3;
            listener l = fresh(stop, NULL);
            grid_fit fit;
            vem_ctx_set_progress(ctx, listen, &l);
            /* A new restart begins again at step 1, which the listener would not like. */
            vem_status status = grid_try(ctx, &data, &o, NULL, &fit);
            vem_ctx_set_progress(ctx, NULL, NULL);
            if (status != VEM_OK) {
                assert_int_equal(status, VEM_STOPPED);
                assert_non_null(strstr(vem_ctx_message(ctx), "Stopped"));
                nothings++;
                continue;
            }
            int ended = l.calls < stop;
            if (!ended) {
                models++;
                assert_int_equal(fit.summary->outcome, VEM_OUTCOME_STOPPED);
                assert_true(isnan(fit.summary->log_likelihood) ||
                            isfinite(fit.summary->log_likelihood));
            } else {
                assert_int_not_equal(fit.summary->outcome, VEM_OUTCOME_STOPPED);
            }
            double f = grid_score(ctx, fit.model, &data, 2, VEM_DOUBLE).free_energy;
            grid_assert_near(fit.summary->free_energy, f, 1e-9, "F of a stopped fit");
            for (int64_t i = 0; i < data.n; i++)
                assert_in_range(fit.labels[i], 0, 3);
            grid_fit_free(&fit);
            if (ended)
                break;
        }
    assert_true(models > 0 && nothings > 0);
    grid_data_free(&data);
}

static void stopped_in_a_phase(void **state)
{
    (void)state;
    const struct {
        const char *phase;
        vem_status expected;
    } cases[] = {{"read", VEM_STOPPED}, {"seed", VEM_STOPPED}, {"em", VEM_OK}};
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 3000, 4, 103);
    for (int i = 0; i < 3; i++) {
        vem_options o = grid_options(4, VEM_FULL, VEM_PRIOR_FREE, 4, VEM_DOUBLE, 50);
        o.seeding = VEM_SEED_PLUSPLUS;
        listener l = fresh(0, cases[i].phase);
        grid_fit fit = {0};
        vem_ctx_set_progress(ctx, listen, &l);
        vem_status status = grid_try(ctx, &data, &o, NULL, &fit);
        vem_ctx_set_progress(ctx, NULL, NULL);
        /* Calls are rare: a phase this short may pass unseen, then the fit just ends. */
        if (status == VEM_OK && cases[i].expected != VEM_OK)
            assert_int_not_equal(fit.summary->outcome, VEM_OUTCOME_STOPPED);
        else
            assert_int_equal(status, cases[i].expected);
        if (i == 2) {
            assert_int_equal(fit.summary->outcome, VEM_OUTCOME_STOPPED);
            assert_int_equal(fit.summary->steps, 1);
        }
        grid_fit_free(&fit);
    }
    /* A stop belongs to one verb: the next starts afresh. */
    vem_options o = grid_options(4, VEM_FULL, VEM_PRIOR_FREE, 4, VEM_DOUBLE, 3);
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(fit.summary->outcome, VEM_OUTCOME_STEP_LIMIT);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

static void other_verbs_stop(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 20000, 4, 104);
    vem_model *model = grid_start(ctx, &data, VEM_DIAG, 6);
    vem_data *rows = NULL;
    int32_t *labels = calloc(20000, sizeof *labels);
    vem_scores scores = {.size = sizeof scores, .mass = -1};
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data.x, 20000, 4, 0, 0, &rows),
                     VEM_OK);
    listener l = fresh(1, NULL);
    vem_ctx_set_progress(ctx, listen, &l);
    vem_status status = vem_assign(ctx, model, rows, 1, VEM_DOUBLE, labels, NULL);
    assert_true(status == VEM_STOPPED);
    assert_false(l.insane);
    l = fresh(1, NULL);
    status = vem_score(ctx, model, rows, 0, VEM_DOUBLE, &scores);
    assert_true(status == VEM_STOPPED);
    assert_true(scores.mass == -1); /* untouched */
    assert_false(l.insane);
    vem_ctx_set_progress(ctx, NULL, NULL);
    assert_int_equal(vem_score(ctx, model, rows, 0, VEM_DOUBLE, &scores), VEM_OK);
    free(labels);
    vem_data_free(rows);
    vem_model_free(model);
    grid_data_free(&data);
}

/* ---- every block of rows ---- */

typedef struct counter {
    const char *phase;             /* in which calls are counted */
    int64_t calls, stop_at, after; /* calls of the phase; after the stop, of any */
    int64_t last_done, last_total;
    int backwards;
} counter;

static int count(void *user, const vem_progress *p)
{
    counter *c = user;
    c->after += c->stop_at && c->calls >= c->stop_at;
    if (strcmp(p->phase, c->phase) != 0)
        return c->stop_at && c->calls >= c->stop_at;
    c->calls++;
    c->backwards |=
        p->done < c->last_done || (c->last_total && p->total != c->last_total);
    c->last_done = p->done;
    c->last_total = p->total;
    return c->stop_at && c->calls >= c->stop_at;
}

/* The clock moves so fast that every look may be told: calls are counted, not timed. */
static counter heard(const char *phase, int64_t stop_at)
{
    fake_tick = 1;
    return (counter){.phase = phase, .stop_at = stop_at};
}

/* However few the clusters, a stop is heard after every block of rows, and work ends there. */
static void seeding_listens_between_blocks(void **state)
{
    (void)state;
    enum { N = 40000, C = 12, BLOCKS = N / 1024 };
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, N, 2, 107);
    assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
    for (int seeding = VEM_SEED_PLUSPLUS; seeding <= VEM_SEED_TWO_LEVEL; seeding++) {
        vem_options o = grid_options(C, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 2);
        o.seeding = seeding;
        o.chain = 20;
        counter all = heard("seed", 0);
        grid_fit fit;
        vem_ctx_set_progress(ctx, count, &all);
        assert_int_equal(grid_try(ctx, &data, &o, NULL, &fit), VEM_OK);
        grid_fit_free(&fit);
        assert_true(all.calls >= BLOCKS);
        assert_false(all.backwards);
        for (int64_t stop = 1; stop <= all.calls; stop += 1 + all.calls / 40) {
            counter c = heard("seed", stop);
            vem_ctx_set_progress(ctx, count, &c);
            assert_int_equal(grid_try(ctx, &data, &o, NULL, &fit), VEM_STOPPED);
            assert_non_null(strstr(vem_ctx_message(ctx), "Stopped"));
            assert_in_range(c.after, 0, 2);
        }
    }
    vem_ctx_set_progress(ctx, NULL, NULL);
    fake_tick = 0;
    assert_int_equal(vem_ctx_set_threads(ctx, CONTEXT_THREADS), VEM_OK);
    grid_data_free(&data);
}

static void coresets_listen_between_blocks(void **state)
{
    (void)state;
    enum { N = 400000 };
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, 2, 108);
    vem_data *rows = grid_borrow(ctx, &data), *made = NULL;
    assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
    counter all = heard("reduce", 0);
    vem_ctx_set_progress(ctx, count, &all);
    assert_int_equal(vem_coreset(ctx, rows, 100, VEM_CORESET_LIGHTWEIGHT, 1, &made),
                     VEM_OK);
    vem_data_free(made);
    assert_true(all.calls >= 20);
    assert_false(all.backwards);
    for (int64_t stop = 1; stop <= all.calls; stop += 1 + all.calls / 40) {
        counter c = heard("reduce", stop);
        vem_ctx_set_progress(ctx, count, &c);
        assert_int_equal(vem_coreset(ctx, rows, 100, VEM_CORESET_LIGHTWEIGHT, 1, &made),
                         VEM_STOPPED);
        assert_in_range(c.after, 0, 1);
    }
    vem_ctx_set_progress(ctx, NULL, NULL);
    fake_tick = 0;
    assert_int_equal(vem_ctx_set_threads(ctx, CONTEXT_THREADS), VEM_OK);
    vem_data_free(rows);
    grid_data_free(&data);
}

/* Centers, labels and rows are one run, of which every block can be the last. */
static void generators_listen_between_blocks(void **state)
{
    (void)state;
    enum { N = 40000, BLOCKS = N / 1024 };
    assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
    for (int kind = VEM_BIRCH_GRID; kind <= VEM_TAU_SEPARATED; kind++) {
        const vem_generate_options o = {.size = sizeof o, .clusters = 9, .n = N};
        double *rows = NULL;
        counter all = heard("generate", 0);
        vem_ctx_set_progress(ctx, count, &all);
        assert_int_equal(vem_generate(ctx, (vem_generator)kind, &o, NULL, NULL, &rows,
                                      NULL, NULL),
                         VEM_OK);
        free(rows);
        assert_true(all.calls >= 2 * BLOCKS);
        assert_true(all.last_total == N && all.last_done > N / 2);
        assert_false(all.backwards);
        for (int64_t stop = 1; stop < all.calls; stop += 1 + all.calls / 40) {
            counter c = heard("generate", stop);
            vem_ctx_set_progress(ctx, count, &c);
            rows = NULL;
            assert_int_equal(vem_generate(ctx, (vem_generator)kind, &o, NULL, NULL, &rows,
                                          NULL, NULL),
                             VEM_STOPPED);
            assert_null(rows);
            assert_in_range(c.after, 0, 1);
        }
    }
    vem_ctx_set_progress(ctx, NULL, NULL);
    fake_tick = 0;
    assert_int_equal(vem_ctx_set_threads(ctx, CONTEXT_THREADS), VEM_OK);
}

typedef struct chapters {
    int64_t restart, step, restarts;
    int wrong;
} chapters;

static int read_chapters(void *user, const vem_progress *p)
{
    chapters *c = user;
    if (strcmp(p->phase, "read") == 0)
        return 0;
    c->wrong |= p->restarts != 3 || p->restart < c->restart || p->restart > 3;
    if (p->restart > c->restart)
        c->step = -1000;
    if (strcmp(p->phase, "em") == 0) {
        c->wrong |= p->step < c->step || p->step > p->max_steps;
        c->step = p->step;
    }
    c->restart = p->restart;
    return 0;
}

/* Steps count from 1 in each restart, and which one it is is told. */
static void restarts_are_numbered(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 2000, 3, 109);
    vem_options o = grid_options(4, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 6);
    o.restarts = 3;
    o.seeding = VEM_SEED_PLUSPLUS;
    chapters c = {0};
    vem_ctx_set_progress(ctx, read_chapters, &c);
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    vem_ctx_set_progress(ctx, NULL, NULL);
    assert_int_equal(c.restart, 3);
    assert_false(c.wrong);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

typedef struct lines {
    vem_trace_step seen[400];
    int64_t count;
    int wrong;
} lines;

static int take_line(void *user, const vem_progress *p)
{
    lines *l = user;
    l->wrong |= p->last && strcmp(p->phase, "em") != 0;
    if (!p->last || (l->count > 0 && p->last->step == l->seen[l->count - 1].step))
        return 0;
    l->wrong |= p->last->step < p->step - 1; /* no later than with the next step */
    l->seen[l->count++] = *p->last;
    return 0;
}

/* Each line of the trace is told once it is complete, in all loops of a fit. */
static void lines_of_the_trace(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 3000, 3, 110);
    for (int swaps = 0; swaps <= 3; swaps += 3) {
        vem_options o;
        vem_options_init(&o);
        o.clusters = 100;
        o.held = 3;
        o.finish = VEM_FINISH_HARD;
        o.swaps = swaps;
        lines l = {0};
        vem_ctx_set_progress(ctx, take_line, &l);
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        vem_ctx_set_progress(ctx, NULL, NULL);
        assert_false(l.wrong);
        assert_int_equal(l.count, fit.trace_count);
        for (int64_t t = 0; t < l.count; t++) {
            const vem_trace_step *a = &l.seen[t], *b = &fit.trace[t];
            assert_true(a->step == b->step && a->free_energy == b->free_energy);
            assert_true(a->pairs == b->pairs && a->moved == b->moved);
            assert_true(a->changed == b->changed && a->empty == b->empty);
        }
        grid_fit_free(&fit);
    }
    grid_data_free(&data);
}

typedef struct course {
    int64_t calls, last, n, late; /* late: told in the last tenth */
    const char *phase;
    int wrong;
} course;

static int follow(void *user, const vem_progress *p)
{
    course *c = user;
    c->wrong |= p->done < c->last || p->done > p->total || p->total != c->n ||
                strcmp(p->phase, c->phase) != 0;
    c->last = p->done;
    c->late += 10 * p->done >= 9 * p->total;
    c->calls++;
    return 0;
}

/* Rows that are taken in several chunks, and each chunk in several passes, are one run from 0
 * to all of them. */
static void one_run_over_all_rows(void **state)
{
    enum { N = 300000, C = 3 };
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, 2, 110);
    vem_data *rows = grid_borrow(ctx, &data);
    const double means[2 * C] = {0, 0, 1, 1, 2, 0}, variance = 1;
    vem_model *model;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, C, 2, means, NULL, &variance,
                                   &model),
                     VEM_OK);
    int32_t *labels = malloc(N * sizeof *labels);
    vem_cluster clusters[C] = {{.size = sizeof clusters[0]}};
    vem_description about = {.size = sizeof about};
    vem_scores scores = {.size = sizeof scores};
    fake_tick = 1; /* every call is told */
    const int threads = vem_ctx_threads(ctx);
    vem_ctx_set_threads(ctx,
                        1); /* only the caller's thread tells: it must have tasks to do */
    for (int verb = 0; verb < 4; verb++) {
        course c = {.n = N, .phase = verb < 2 ? "measure" : "assign"};
        vem_ctx_set_progress(ctx, follow, &c);
        vem_status status = VEM_OK;
        if (verb < 2)
            status = vem_score(ctx, model, rows, verb, VEM_DOUBLE, &scores);
        else if (verb == 2)
            status = vem_assign(ctx, model, rows, 1, VEM_DOUBLE, labels, NULL);
        else
            status = vem_describe(ctx, model, rows, VEM_DOUBLE, clusters, &about);
        vem_ctx_set_progress(ctx, NULL, NULL);
        assert_int_equal(status, VEM_OK);
        assert_false(c.wrong);
        assert_true(c.calls > 3 && c.last > N / 2);
        assert_true(4 * c.late <= c.calls); /* all passes count, and count alike */
    }
    vem_ctx_set_threads(ctx, threads);
    fake_tick = 0;
    free(labels);
    vem_data_free(rows);
    vem_model_free(model);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told_sanely),
        cmocka_unit_test(seeding_listens_between_blocks),
        cmocka_unit_test(coresets_listen_between_blocks),
        cmocka_unit_test(generators_listen_between_blocks),
        cmocka_unit_test(restarts_are_numbered),
        cmocka_unit_test(lines_of_the_trace),
        cmocka_unit_test(one_run_over_all_rows),
        cmocka_unit_test(stopped_anywhere),
        cmocka_unit_test(stopped_in_a_phase),
        cmocka_unit_test(other_verbs_stop),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
