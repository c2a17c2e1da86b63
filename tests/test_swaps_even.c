/* Swaps of fits with --balance: F less the penalty on uneven sizes, worked out plainly after each part of each
 * step, never falls by a round or an M-step, and there are no more rounds where an E-step has lowered it. Whole fits
 * are more even by them, with the same bits for any number of threads and when they are gone on with. */
#include "checkpoints.h"
#include "engine.h"
#include "moves/swap_inside.h"

enum { C = 24, N = 900, STEPS = 14 };

/* Rows that crowd around 0: clusters of very different sizes. */
static grid_data crowded(grid_weights weights, int64_t n, int32_t d)
{
    grid_data data = grid_data_new(SET_HEAVY, weights, n, d, 33);
    for (int64_t i = 0; i < n * d; i++)
        if ((i / d) % 3)
            data.x[i] *= 0.2;
    return data;
}

/* F of what is held, from plain costs, less the penalty. */
static double penalized(const engine *e, double strength)
{
    const int32_t clusters = e->em.model->clusters;
    double sizes[C] = {0}, penalty = 0;
    for (int64_t i = 0; i < N; i++)
        sizes[e->em.posterior.held[i]] += vem_i_view_mass(e->em.view, i);
    for (int32_t c = 0; c < clusters; c++) {
        const double x = sizes[c] * clusters / e->em.view->total_mass;
        penalty += x >= 1.0 / 16 ? x * log(x) - x : x * log(1.0 / 16) - 1.0 / 16;
    }
    return engine_free_energy(e) - strength * penalty / clusters;
}

typedef struct seen {
    int64_t swaps;
    int traded; /* rounds by which F fell */
    int ended;  /* no round, as an E-step had lowered it */
    int taken_back;
} seen;

static void no_less(double now, double before, const char *by, const char *what)
{
    if (!(now >= before - 1e-9 * fabs(before)))
        fail_msg("%s: F less the penalty goes from %.12g to %.12g by %s", what, before,
                 now, by);
}

/* stronger: so that E-steps lower it, in the middle t becomes so many times what it was. */
static void follow(engine *e, double stronger, seen *s, const char *what)
{
    static int32_t held[N];
    struct vem_i_swaps *t = e->em.moves[0].state;
    double last = -INFINITY, promised;
    for (int step = 0; step < STEPS; step++) {
        e->em.free_energy = engine_expect(e, (vem_i_step_plan){.look_further = 1});
        if (step % 2) { /* rounds have a step between them, as in fits */
            memcpy(held, e->em.posterior.held, sizeof held);
            const double f = engine_free_energy(e);
            const int64_t swaps = engine_swap(e, &promised);
            const double strength = t->strength;
            engine_assert_sets(e);
            if (swaps == 0) {
                assert_memory_equal(held, e->em.posterior.held, sizeof held);
                const int fell = penalized(e, strength) < last - 1e-9 * fabs(last);
                s->ended += fell;
                s->taken_back += !fell && promised > 0;
                assert_true(!fell || promised == 0);
            } else {
                const double now = penalized(e, strength);
                no_less(now, last, "the round", what);
                assert_true(promised > 0);
                s->traded += engine_free_energy(e) < f - 1e-9 * fabs(f);
                last = now;
            }
            if (step == STEPS / 2) {
                t->strength *= stronger;
                t->penalized = last = penalized(e, t->strength);
            }
            s->swaps += swaps;
        }
        const double strength = t->strength, before = penalized(e, strength);
        engine_collect(e);
        engine_maximize(e, 1);
        no_less(penalized(e, strength), before, "the M-step", what);
    }
}

static void it_never_falls(void **state)
{
    (void)state;
    static const int searches[] = {VEM_SEARCH_CLOSEST, VEM_SEARCH_GROUPS,
                                   VEM_SEARCH_EXACT, VEM_SEARCH_ESTIMATED};
    seen s = {0};
    for (int family = VEM_ISO_SHARED; family <= VEM_ISO; family++)
        for (int weights = 0; weights < WEIGHTS_COUNT; weights++)
            for (int k = 0; k < 4; k++) {
                char what[80];
                snprintf(what, sizeof what, "family %d, weights %d, search %d", family,
                         weights, searches[k]);
                grid_data data = crowded((grid_weights)weights, N, 2 + family);
                vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, C);
                vem_options o = grid_options(C, (vem_family_kind)family, VEM_PRIOR_FLAT,
                                             1, VEM_DOUBLE, 5);
                o.search = searches[k];
                o.swaps = 8;
                o.balance = k % 2 ? VEM_BALANCE_SOFT : VEM_BALANCE_AUTO;
                engine e;
                engine_new(&e, ctx, &data, &o, start);
                follow(&e, weights == WEIGHTS_NONE ? 100 : 1, &s, what);
                engine_free(&e);
                vem_model_free(start);
                grid_data_free(&data);
            }
    print_message("%d swaps, %d rounds against F, %d ends, %d taken back\n", (int)s.swaps,
                  s.traded, s.ended, s.taken_back);
    assert_true(s.swaps > 100);
    assert_true(s.traded > 0);
    assert_true(s.ended > 0);
}

/* ---- whole fits ---- */

static double spread_of_sizes(const grid_fit *fit, int64_t n, int32_t clusters)
{
    double *sizes = calloc((size_t)clusters, sizeof *sizes), sum = 0;
    for (int64_t i = 0; i < n; i++)
        sizes[fit->labels[i]]++;
    for (int32_t c = 0; c < clusters; c++)
        sum += pow(sizes[c] * clusters / (double)n - 1, 2) / clusters;
    free(sizes);
    return sqrt(sum);
}

/* More even than by prices alone, and not for more error. */
static void fits_are_more_even(void **state)
{
    (void)state;
    enum { ROWS = 8000, MANY = 100 };
    grid_data data = crowded(WEIGHTS_NONE, ROWS, 6);
    double spread[3], error[3];
    for (int k = 0; k < 3; k++) {
        vem_options o;
        vem_options_init(&o);
        o.clusters = MANY;
        o.balance = k == 0 ? VEM_BALANCE_NONE : VEM_BALANCE_AUTO;
        o.swaps = k == 1 ? 0 : o.swaps; /* k-means with prices behind it */
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        spread[k] = spread_of_sizes(&fit, ROWS, MANY);
        error[k] = grid_score(ctx, fit.model, &data, 1, VEM_SINGLE).quantization_error;
        print_message("CV %.3f, error %.6g\n", spread[k], error[k]);
        grid_fit_free(&fit);
    }
    assert_true(spread[2] < 0.8 * spread[1] && spread[1] < spread[0]);
    assert_true(error[2] < 1.03 * error[1]);
    grid_data_free(&data);
}

/* Any number of threads, and from where a limit ended the fit: in rounds of swaps, too. */
static void same_bits(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    enum { ROWS = 4000, MANY = 80 };
    grid_data data = crowded(WEIGHTS_REAL, ROWS, 4);
    vem_options o;
    vem_options_init(&o);
    o.clusters = MANY;
    o.balance = VEM_BALANCE_AUTO;
    o.max_steps = 60;
    grid_fit whole = grid_run(ctx, &data, &o, NULL);
    int swaps = 0;
    for (int k = 0; k < 4; k++) {
        o.threads = threads[k];
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_same_bits(&whole, &fit, "threads");
        grid_fit_free(&fit);
    }
    const path_name file = path_of("even", 0);
    for (int64_t limit = 1; limit < whole.summary->steps; limit += 1 + limit / 8) {
        char what[32];
        snprintf(what, sizeof what, "after %d steps", (int)limit);
        remove(file.text);
        keep_at(file.text, 1e9, 0);
        o.max_steps = limit;
        grid_fit few = grid_run(ctx, &data, &o, NULL), more;
        grid_fit_free(&few);
        keep_at(file.text, 1e9, 1);
        o.max_steps = 60;
        more = grid_run(ctx, &data, &o, NULL);
        keep_at(NULL, 0, 0);
        assert_int_equal(more.summary->resumed_step, limit);
        assert_same_bits(&whole, &more, what);
        grid_fit_free(&more);
        const char *move = whole.trace[limit - 1].move;
        swaps += move && strcmp(move, "swap") == 0;
    }
    assert_true(swaps > 1);
    grid_fit_free(&whole);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_never_falls),
        cmocka_unit_test(fits_are_more_even),
        cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
