/* Prices: F never falls while they stay; F less the penalty never falls by a move, nor
 * from one round to the next, and where the E-step would lower it, items go back to
 * what they held. Labels that keep a number are kept for the least cost. */
#include "engine.h"
#include "fake_clock.h"
#include "moves/cap.h"
#include "moves/cap_edges.h"
#include "moves/moves.h"
#include "run.h"

#define CONTEXT_THREADS 1
#include "context.h"

enum { C = 12, N = 700, ROUNDS = 14 };

/* Rows that crowd around 0: clusters of very different sizes. */
static grid_data crowded(grid_weights weights, int32_t d)
{
    grid_data data = grid_data_new(SET_HEAVY, weights, N, d, 33);
    for (int64_t i = 0; i < N * d; i++)
        if ((i / d) % 3)
            data.x[i] *= 0.2;
    return data;
}

/* Half of the mass has a gap below it, or the same: found by looking at each of them. */
static double median_gap(const engine *e)
{
    const vem_i_posterior *p = &e->em.posterior;
    double gaps[N], masses[N], all = 0, median = INFINITY;
    int count = 0;
    for (int64_t i = 0; i < N; i++) {
        const double gap = vem_i_value(e->em.view->kernels, p->gap, i);
        const double mass = vem_i_view_mass(e->em.view, i);
        if (mass > 0 && p->next[i] >= 0 && gap > 0) {
            gaps[count] = gap;
            masses[count++] = mass;
            all += mass;
        }
    }
    for (int k = 0; k < count; k++) {
        double reached = 0;
        for (int i = 0; i < count; i++)
            reached += gaps[i] <= gaps[k] ? masses[i] : 0;
        if (reached > 0.5 * all)
            median = fmin(median, gaps[k]);
    }
    return median;
}

/* F with equal weights of what is held, less the penalty: from costs worked out
 * plainly. */
static double penalized(const engine *e, double strength)
{
    const vem_model *model = e->em.model;
    double sizes[C] = {0}, sum = 0, penalty = 0;
    for (int64_t i = 0; i < N; i++) {
        const int32_t c = e->em.posterior.held[i];
        const double w = vem_i_view_mass(e->em.view, i);
        sum += w * (engine_log_joint(e, i, c) - log(C * model->weights[c]));
        sizes[c] += w * C / e->em.view->total_mass;
    }
    for (int c = 0; c < C; c++)
        penalty += sizes[c] >= 1.0 / 16 ? sizes[c] * log(sizes[c]) - sizes[c]
                                        : sizes[c] * log(1.0 / 16) - 1.0 / 16;
    return sum / e->em.view->total_mass - strength * penalty / C;
}

static void assert_no_less(double now, double before, const char *law, const char *what)
{
    if (!(now >= before - 1e-9 * fabs(before)))
        fail_msg("%s goes from %.12g to %.12g: %s", law, before, now, what);
}

/* Returns how often the E-step went too far. */
static int follow(engine *e, double factor, const char *what)
{
    static int32_t held[N];
    double strength = 0, last = 0, promised;
    int backs = 0, known = 0;
    for (int round = 0; round < ROUNDS; round++) {
        e->em.free_energy = engine_expect(e, (vem_i_step_plan){.look_further = 1});
        if (strength == 0)
            strength = factor * median_gap(e);
        const double before = penalized(e, strength);
        const int far = known && before < last - 1e-9 * fabs(before);
        const int64_t moved = vem_i_move_try(&e->em.moves[0], &promised);
        if (far) { /* the same items, other prices */
            assert_int_equal(moved, 0);
            assert_memory_equal(e->em.posterior.held, held, sizeof held);
            strength *= 0.7;
            backs++;
            known = 0;
        } else {
            last = penalized(e, strength);
            assert_no_less(last, before, "F less the penalty", what);
            if (moved >= 0)
                grid_assert_near(last - before, promised / e->em.view->total_mass, 1e-6,
                                 what);
            known = 1;
        }
        double sum = 0;
        for (int c = 0; c < C; c++)
            sum += e->em.model->weights[c];
        grid_assert_near(sum, 1, 1e-12, what);
        memcpy(held, e->em.posterior.held, sizeof held);
        if (!far) {
            engine_collect(e);
            engine_maximize(e, 1);
            assert_no_less(penalized(e, strength), last, "F less the penalty, by M",
                           what);
        }
    }
    return backs;
}

static void prices_raise_what_they_should(void **state)
{
    (void)state;
    int backs = 0;
    for (int family = VEM_ISO_SHARED; family <= VEM_ISO; family++)
        for (int weights = 0; weights < WEIGHTS_COUNT; weights++)
            for (int soft = 0; soft < 2; soft++) {
                char what[80];
                snprintf(what, sizeof what, "family %d, weights %d, soft %d", family,
                         weights, soft);
                grid_data data = crowded((grid_weights)weights, 2 + family);
                vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, C);
                vem_options o = grid_options(C, (vem_family_kind)family, VEM_PRIOR_FLAT,
                                             1, VEM_DOUBLE, 5);
                o.balance = soft ? VEM_BALANCE_SOFT : VEM_BALANCE_AUTO;
                engine e;
                engine_new(&e, ctx, &data, &o, start);
                for (int step = 0; step < 4; step++) {
                    engine_expect(&e, (vem_i_step_plan){0});
                    engine_collect(&e);
                    engine_maximize(&e, 1);
                }
                backs += follow(&e, soft ? 1 : 3, what);
                engine_free(&e);
                vem_model_free(start);
                grid_data_free(&data);
            }
    assert_true(backs > 0); /* that was met, too */
}

/* With prices that stay, F does not fall, whichever clusters are tried. */
static void prices_that_stay(void **state)
{
    (void)state;
    for (int search = 0; search < VEM_SEARCH_COUNT; search++)
        for (int family = VEM_ISO_SHARED; family <= VEM_ISO; family++) {
            if (search == VEM_SEARCH_ALL)
                continue;
            char what[80];
            snprintf(what, sizeof what, "search %d, family %d", search, family);
            grid_data data = crowded(WEIGHTS_REAL, 3);
            vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, C);
            vem_options o = grid_options(C, (vem_family_kind)family, VEM_PRIOR_EVEN, 1,
                                         VEM_DOUBLE, 5);
            o.search = search;
            engine e;
            engine_new(&e, ctx, &data, &o, start);
            double weights[C], before = -INFINITY;
            for (int c = 0; c < C; c++)
                e.em.model->weights[c] = weights[c] = (c + 1) / (C * (C + 1) / 2.0);
            for (int step = 0; step < 8; step++) {
                const double now = engine_expect(&e, (vem_i_step_plan){0});
                assert_no_less(now, before, "F", what);
                grid_assert_near(now, engine_free_energy(&e), 1e-9, what);
                before = now;
                engine_collect(&e);
                engine_maximize(&e, 1);
            }
            assert_memory_equal(weights, e.em.model->weights, sizeof weights);
            engine_free(&e);
            vem_model_free(start);
            grid_data_free(&data);
        }
}

/* ---- labels that keep a number ---- */

/* Sizes that are promised, of any labels; and that no two rows would gain by changing
 * places. */
static void check_cap(grid_weights weights, grid_set set, int64_t n, int32_t clusters,
                      double cap)
{
    char what[100];
    snprintf(what, sizeof what, "weights %d, set %d, n %d, clusters %d, cap %g", weights,
             set, (int)n, clusters, cap);
    grid_data data = grid_data_new(set, weights, n, 2, 7);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, clusters);
    vem_options o =
        grid_options(clusters, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 3);
    engine e;
    engine_new(&e, ctx, &data, &o, start);
    engine_expect(&e, (vem_i_step_plan){0});
    int32_t *labels = malloc((size_t)n * sizeof *labels);
    double *sizes = calloc((size_t)clusters, sizeof *sizes);
    double *heaviest = calloc((size_t)clusters, sizeof *heaviest);
    memcpy(labels, e.em.posterior.held, (size_t)n * sizeof *labels);
    int kept;
    double *prices = malloc((size_t)clusters * sizeof *prices);
    assert_int_equal(vem_i_cap(run_of(ctx), e.em.view, e.em.model, cap, labels, prices,
                               &kept, NULL),
                     VEM_OK);
    free(prices);
    assert_int_equal(kept, 1);
    for (int64_t i = 0; i < n; i++) {
        const double w = vem_i_view_mass(e.em.view, i);
        assert_in_range(labels[i], 0, clusters - 1);
        sizes[labels[i]] += w;
        heaviest[labels[i]] = fmax(heaviest[labels[i]], w);
    }
    const double mean = e.em.view->total_mass / clusters;
    for (int32_t c = 0; c < clusters; c++) {
        const double most = weights == WEIGHTS_NONE
                                ? fmax(floor(cap * mean), ceil(mean))
                                : cap * mean * (1 + 1e-9) + heaviest[c];
        if (sizes[c] > most ||
            (weights == WEIGHTS_NONE && cap == 1 && sizes[c] < floor(mean)))
            fail_msg("cluster %d has %g of %g: %s", c, sizes[c], mean, what);
    }
    const int exact = weights == WEIGHTS_NONE && clusters <= 64;
    for (int64_t i = 0; exact && i < n; i++)
        for (int64_t k = 0; k < i; k++) {
            const double now =
                engine_log_joint(&e, i, labels[i]) + engine_log_joint(&e, k, labels[k]);
            const double then =
                engine_log_joint(&e, i, labels[k]) + engine_log_joint(&e, k, labels[i]);
            if (then > now + 1e-4 * fabs(now))
                fail_msg("rows %d and %d should change places: %s", (int)i, (int)k, what);
        }
    free(labels);
    free(sizes);
    free(heaviest);
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
}

static void sizes_are_kept(void **state)
{
    (void)state;
    static const double caps[] = {1, 1.25, 2, 1e6};
    for (int k = 0; k < 4; k++)
        for (int weights = 0; weights < WEIGHTS_COUNT; weights++) {
            check_cap((grid_weights)weights, SET_HEAVY, 101, 7, caps[k]);
            check_cap((grid_weights)weights, SET_DUPLICATES, 99, 8, caps[k]);
        }
    check_cap(WEIGHTS_NONE, SET_HEAVY, 40, 40, 1); /* each its own */
    check_cap(WEIGHTS_NONE, SET_HEAVY, 40, 1, 1);
    check_cap(WEIGHTS_NONE, SET_HEAVY, 200, 90, 1); /* with more clusters than are near */
    check_cap(WEIGHTS_NONE, SET_HEAVY, 40, 39, 1);
}

/* The row of a that goes to b for least, by looking at all of them. */
static vem_i_cap_step plain_least(const vem_i_cap_rows *r, int32_t a, int32_t b)
{
    vem_i_cap_step least = {INFINITY, VEM_I_NO_ROW};
    for (int64_t i = 0; i < r->view->n; i++) {
        const float *cost = r->cost + i * r->width;
        const double more = (double)cost[b] - (double)cost[a];
        if (r->labels[i] == a && more < least.more)
            least = (vem_i_cap_step){more, (uint32_t)i};
    }
    return least;
}

/* Rows move, the same ones there and back, until clusters are empty: what is known is
 * right, and few rows had to be looked at for it. */
static void edges_are_known(void **state)
{
    (void)state;
    enum { MOVES = 600, FEW = 5 };
    grid_data data = crowded(WEIGHTS_NONE, 2);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, FEW);
    vem_options o = grid_options(FEW, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 3);
    engine e;
    engine_new(&e, ctx, &data, &o, start);
    engine_expect(&e, (vem_i_step_plan){0});
    int32_t labels[N];
    memcpy(labels, e.em.posterior.held, sizeof labels);
    vem_i_cap_rows rows;
    vem_i_cap_edges edges;
    assert_int_equal(vem_i_cap_rows_new(run_of(ctx), e.em.view, e.em.model, labels,
                                        &rows),
                     VEM_OK);
    assert_int_equal(vem_i_cap_rows_list(&rows), 0);
    assert_int_equal(vem_i_cap_edges_new(&rows, &edges), VEM_OK);
    for (int move = 0; move < MOVES; move++) {
        for (int32_t a = 0; a < FEW; a++) {
            vem_i_cap_edges_look(&edges, a);
            for (int32_t b = 0; b < FEW; b++) {
                if (b == a)
                    continue;
                const vem_i_cap_step known = vem_i_cap_edges_least(&edges, a, b);
                const vem_i_cap_step plain = plain_least(&rows, a, b);
                assert_int_equal(known.row, plain.row);
                assert_true(known.more == plain.more);
            }
        }
        /* Mostly away from the first; every fourth comes back from where it went. */
        const int32_t a = move % 4 == 3 ? 1 : 0, b = move % 4 == 3 ? 0 : 1 + move % 3;
        const uint32_t row = vem_i_cap_edges_least(&edges, a, b).row;
        if (row == VEM_I_NO_ROW)
            continue;
        vem_i_cap_move(&rows, row, b);
        vem_i_cap_edges_came(&edges, row);
    }
    int64_t looked = 0;
    for (int32_t a = 0; a < FEW; a++)
        looked += edges.looked[a];
    assert_in_range(looked, N, MOVES * N / 4);
    vem_i_cap_edges_free(&edges);
    vem_i_cap_rows_free(&rows);
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
}

/* ---- whole fits ---- */

/* What was looked at in one round of labels, at most. */
static int note_looked(void *user, const vem_progress *p)
{
    int64_t *most = user;
    if (strcmp(p->phase, "cap") == 0 && p->done > *most)
        *most = p->done;
    return 0;
}

/* Few clusters, whose sizes differ much: many rows go along paths, and not all of them
 * are looked at for each. */
static void paths_look_at_few_rows(void **state)
{
    (void)state;
    enum { MANY = 6000 };
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, MANY, 3, 7);
    vem_data *rows = grid_borrow(ctx, &data);
    vem_options o;
    vem_model *model = NULL;
    vem_report *report = NULL;
    int64_t looked = 0;
    fake_tick = 0.2; /* everything is told */
    vem_options_init(&o);
    o.clusters = 30;
    o.balance = 1;
    vem_ctx_set_progress(ctx, note_looked, &looked);
    assert_int_equal(vem_fit(ctx, rows, &o, NULL, &model, &report), VEM_OK);
    vem_ctx_set_progress(ctx, NULL, NULL);
    fake_tick = 0;
    assert_in_range(looked, 1, 100 * MANY);
    vem_model_free(model);
    vem_report_free(report);
    vem_data_free(rows);
    grid_data_free(&data);
}

/* F of what is held, by the model that is given: every row where it was put. Two clusters are enough
 * to have sizes. */
static void f_of_labels_that_were_moved(void **state)
{
    (void)state;
    enum { MANY = 1200, D = 2 };
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, MANY, D, 7);
    vem_data *rows = grid_borrow(ctx, &data);
    for (int32_t clusters = 2; clusters <= C; clusters += C - 2) {
        vem_options o;
        vem_model *model = NULL;
        vem_report *report = NULL;
        vem_options_init(&o);
        o.clusters = clusters;
        o.balance = 1;
        o.precision = VEM_DOUBLE;
        assert_int_equal(vem_fit(ctx, rows, &o, NULL, &model, &report), VEM_OK);
        assert_int_equal(vem_model_family(model), VEM_ISO_SHARED);
        const int32_t *labels = vem_report_labels(report);
        const double variance = vem_model_variances(model)[0];
        double square = 0, weights = 0;
        int64_t sizes[C] = {0};
        for (int64_t i = 0; i < MANY; i++) {
            const double *mean = vem_model_means(model) + labels[i] * D;
            sizes[labels[i]]++;
            weights += log(vem_model_weights(model)[labels[i]]);
            for (int32_t j = 0; j < D; j++)
                square += (data.x[i * D + j] - mean[j]) * (data.x[i * D + j] - mean[j]);
        }
        for (int32_t c = 0; c < clusters; c++)
            assert_int_equal(sizes[c], MANY / clusters);
        grid_assert_near(vem_report_summary(report)->free_energy,
                         weights / MANY - 0.5 * square / (MANY * variance) -
                             0.5 * D * log(2 * acos(-1) * variance),
                         1e-9, "F of labels that were moved");
        vem_model_free(model);
        vem_report_free(report);
    }
    vem_data_free(rows);
    grid_data_free(&data);
}

static int stop_at_cap(void *user, const vem_progress *p)
{
    (void)user;
    return strcmp(p->phase, "cap") == 0;
}

/* A stop while labels are moved is heard, the model is there, and what is not kept is said. */
static void a_stop_while_labels_move(void **state)
{
    (void)state;
    enum { MANY = 4000 };
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, MANY, 2, 7);
    vem_data *rows = grid_borrow(ctx, &data);
    vem_options o;
    vem_model *model = NULL;
    vem_report *report = NULL;
    fake_tick = 0.2; /* everything is told */
    vem_options_init(&o);
    o.clusters = 20;
    o.balance = 1;
    vem_ctx_set_progress(ctx, stop_at_cap, NULL);
    assert_int_equal(vem_fit(ctx, rows, &o, NULL, &model, &report), VEM_OK);
    vem_ctx_set_progress(ctx, NULL, NULL);
    fake_tick = 0;
    assert_non_null(strstr(vem_report_notes(report), "before --balance 1 was kept"));
    for (int i = 0; i < MANY; i++)
        assert_in_range(vem_report_labels(report)[i], 0, 19);
    vem_model_free(model);
    vem_report_free(report);
    vem_data_free(rows);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prices_raise_what_they_should),
        cmocka_unit_test(prices_that_stay),
        cmocka_unit_test(sizes_are_kept),
        cmocka_unit_test(edges_are_known),
        cmocka_unit_test(paths_look_at_few_rows),
        cmocka_unit_test(f_of_labels_that_were_moved),
        cmocka_unit_test(a_stop_while_labels_move),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
