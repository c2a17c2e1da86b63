/* Rows that cannot change are not scored (src/search/bounds.h): nothing but the count of pairs
 * tells whether they are, and what is said of them is true. */
#include "em/estep_inside.h"
#include "engine.h"
#include "search/groups.h"

#define CONTEXT_THREADS 1
#include "context.h"

#ifdef VEM_SANITIZED
enum { STRIDE = 11, MANY_ROWS = 4300 };
#else
enum { STRIDE = 1, MANY_ROWS = 9000 };
#endif

static int32_t from; /* from which fits have them */

static void assert_bits(const void *a, const void *b, size_t bytes, const char *what)
{
    if (memcmp(a, b, bytes) != 0)
        fail_msg("the bits differ: %s", what);
}

static int64_t all_pairs(const grid_fit *fit)
{
    int64_t pairs = 0;
    for (int64_t t = 0; t < fit->trace_count; t++)
        pairs += fit->trace[t].pairs;
    return pairs;
}

static void assert_same_fit(const grid_fit *a, const grid_fit *b, int same_pairs,
                            const char *what)
{
    const size_t c = (size_t)vem_model_clusters(a->model), real = sizeof(double);
    const size_t d = (size_t)vem_model_columns(a->model);
    assert_int_equal(vem_model_clusters(b->model), c);
    assert_int_equal(a->trace_count, b->trace_count);
    for (int64_t t = 0; t < a->trace_count; t++) {
        const vem_trace_step *x = &a->trace[t], *y = &b->trace[t];
        assert_bits(&x->free_energy, &y->free_energy, real, what);
        if (x->changed != y->changed || x->empty != y->empty || x->moved != y->moved)
            fail_msg("step %d differs: %s", (int)t + 1, what);
        if (same_pairs)
            assert_int_equal(x->pairs, y->pairs);
    }
    assert_bits(vem_model_means(a->model), vem_model_means(b->model), c * d * real, what);
    assert_bits(vem_model_variances(a->model), vem_model_variances(b->model),
                vem_model_variance_count(a->model) * real, what);
    assert_bits(a->labels, b->labels, (size_t)a->summary->n * sizeof(int32_t), what);
}

/* The fit with bounds is the fit without. Returns the pairs of both. */
static void compare(const grid_data *data, const vem_options *o, const char *what,
                    int64_t pairs[2])
{
    grid_fit fits[2];
    for (int never = 0; never < 2; never++) {
        vem_i_bounds_columns = never ? INT32_MAX : 1;
        fits[never] = grid_run(ctx, data, o, NULL);
        vem_i_bounds_columns = 1;
        pairs[never] = all_pairs(&fits[never]);
    }
    assert_same_fit(&fits[0], &fits[1], 0, what);
    grid_fit_free(&fits[0]);
    grid_fit_free(&fits[1]);
}

static vem_options options_of(const grid_case *c, int64_t reach, int64_t max_steps)
{
    vem_options o =
        grid_options(c->clusters, c->family, c->prior, c->held, c->precision, max_steps);
    o.search = VEM_SEARCH_GROUPS;
    o.reach = reach;
    o.probe = 2;
    o.swaps = 0;
    o.seeding = VEM_SEED_TWO_LEVEL;
    return o;
}

/* Families, types, weights, columns, sets, swaps, relaxation (find steps), what happens to empty
 * clusters, free weights, several clusters held: where there are bounds and where there are
 * none. */
static void nothing_else_changes(void **state)
{
    (void)state;
    static const int32_t columns[] = {1, 16, 17, 20, 33};
    static const grid_set sets[] = {SET_OVERLAPPING, SET_SEPARATED, SET_DUPLICATES,
                                    SET_HEAVY};
    static const grid_weights weights[] = {WEIGHTS_NONE, WEIGHTS_REAL, WEIGHTS_ZEROS};
    int64_t with = 0, without = 0;
    for (int index = 0; index < 5 * 4 * 3 * 2 * 4; index += STRIDE) {
        const int kind = index / (5 * 4 * 3 * 2); /* plain most of the time */
        grid_case c = {.family = kind == 3 ? VEM_DIAG : VEM_ISO_SHARED,
                       .prior = kind == 2 ? VEM_PRIOR_FREE : VEM_PRIOR_FLAT,
                       .held = kind == 3 ? 2 : 1,
                       .clusters = 17 + index % 13,
                       .d = columns[index % 5],
                       .set = sets[index / 5 % 4],
                       .weights = weights[index / 20 % 3],
                       .precision = (vem_precision)(index / 60 % 2)};
        grid_data data = grid_data_new(c.set, c.weights, 400, c.d, 81 + (uint64_t)index);
        vem_options o = options_of(&c, 3 + index % 9, 24);
        o.swaps = index % 3 == 0 ? 4 : 0;
        o.empty = index % 7 % 3;
        o.seeding = index % 2 ? VEM_SEED_TWO_LEVEL : VEM_SEED_RANDOM;
        o.seed = 1 + index;
        int64_t pairs[2];
        compare(&data, &o, grid_name(&c), pairs);
        if (kind < 2 && c.d > 16) {
            with += pairs[0];
            without += pairs[1];
        } else {
            assert_int_equal(pairs[0], pairs[1]);
        }
        grid_data_free(&data);
    }
    assert_true(with < without);
}

/* Whole numbers, so that distances are equal to the bit, and every row many times. */
static void ties(void **state)
{
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 600, 18, 91);
        for (int64_t i = 0; i < data.n * data.d; i++)
            data.x[i] = (double)(i * 7919 / data.d % 64 >> i % data.d % 6 & 1);
        grid_case c = {.held = 1, .clusters = 24, .precision = (vem_precision)precision};
        vem_options o = options_of(&c, 12, 20);
        o.seeding = VEM_SEED_PLUSPLUS;
        int64_t pairs[2];
        compare(&data, &o, "whole numbers", pairs);
        grid_data_free(&data);
    }
}

/* One row a million times as far as the others: its cluster is in lists, and spoils no bound. */
static void far_outlier(void **state)
{
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 600, 20, 92);
        for (int32_t j = 0; j < data.d; j++)
            data.x[77 * data.d + j] = j % 2 ? 1e6 : -1e6;
        grid_case c = {.held = 1, .clusters = 24, .precision = (vem_precision)precision};
        vem_options o = options_of(&c, 24, 20);
        int64_t pairs[2];
        compare(&data, &o, "an outlier", pairs);
        assert_true(pairs[0] < pairs[1]);
        grid_data_free(&data);
    }
}

/* More clusters than groups: groups of two of them, which change from probe to probe. */
static void groups_of_several(void **state)
{
    (void)state;
    grid_case c = {.held = 1, .clusters = 4200, .precision = VEM_SINGLE};
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, MANY_ROWS, 18, 93);
    vem_options o = options_of(&c, 24, 14);
    o.swaps = 2;
    int64_t pairs[2];
    compare(&data, &o, "groups of several", pairs);
    assert_true(pairs[0] < pairs[1]);
    grid_data_free(&data);
}

static void any_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    grid_case c = {.held = 1, .clusters = 80, .precision = VEM_SINGLE};
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, MANY_ROWS, 18, 94);
    vem_options o = options_of(&c, 30, 20);
    o.swaps = 3;
    grid_fit first = {0};
    for (int k = 0; k < 4; k++) {
        o.threads = threads[k];
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        if (k == 0) {
            first = fit;
            continue;
        }
        assert_same_fit(&first, &fit, 1, "threads");
        grid_fit_free(&fit);
    }
    grid_fit_free(&first);
    grid_data_free(&data);
}

/* Where nothing moves a row is scored with its own cluster, and that is counted. */
static void one_pair_a_row_at_rest(void **state)
{
    (void)state;
    grid_case c = {.held = 1, .clusters = 12, .precision = VEM_DOUBLE};
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 500, 20, 95);
    vem_model *start = grid_start(ctx, &data, c.family, c.clusters);
    vem_options o = options_of(&c, 6, 60);
    engine e;
    engine_new(&e, ctx, &data, &o, start);
    engine_expect(&e, (vem_i_step_plan){.probe = 2});
    engine_expect(&e, (vem_i_step_plan){0});
    engine_expect(&e, (vem_i_step_plan){0}); /* who moved then has another list */
    for (int further = 0; further < 2; further++) {
        vem_i_estep_plan(e.em.estep, &(vem_i_step_plan){0});
        const vem_i_estep_result r =
            vem_i_estep_run(e.em.estep, &e.em.posterior, NULL, NULL, 0);
        assert_int_equal(r.changed, 0);
        assert_int_equal(r.pairs, data.n);
    }
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
}

/* ---- what bounds say ---- */

static long double distance(const vem_view *view, int64_t item, const vem_i_scorer *s,
                            int64_t cluster)
{
    long double sum = 0;
    for (int64_t j = 0; j < view->d; j++) {
        const long double e =
            (long double)vem_i_value(s->kernels, view->x, item * view->ld + j) -
            (long double)vem_i_value(s->kernels, s->means, cluster * s->ldc + j);
        sum += e * e;
    }
    return sqrtl(sum);
}

/* No other cluster of the list is nearer than the bound. Returns how many say something. */
static int64_t assert_true_bounds(const engine *e)
{
    const vem_i_search *search = e->em.estep->search;
    const vem_i_groups *g = (const vem_i_groups *)search;
    const vem_i_hierarchy *h = &g->hierarchy;
    const vem_i_bounds *b = &g->bounds;
    int64_t known = 0;
    assert_true(b->known);
    for (int64_t i = 0; i < e->em.view->n; i++) {
        if (b->of[i] < 0)
            continue;
        assert_int_equal(b->of[i], e->em.posterior.held[i]);
        known += b->lower[i] > 0;
        const int32_t *near = h->near + (int64_t)h->group_of[b->of[i]] * VEM_I_TOP_MAX;
        for (int32_t k = 0; k < h->near_count && near[k] >= 0; k++)
            for (int32_t m = h->group_starts[near[k]]; m < h->group_starts[near[k] + 1];
                 m++)
                if (h->members[m] != b->of[i] &&
                    !(distance(e->em.view, i, &e->em.scorer, h->members[m]) >=
                      (long double)b->lower[i]))
                    fail_msg("row %d: cluster %d is nearer than its bound", (int)i,
                             h->members[m]);
    }
    return known;
}

static void bounds_are_true(void **state)
{
    (void)state;
    int64_t known = 0;
    for (int index = 0; index < 24; index++) {
        grid_case c = {.held = 1,
                       .clusters = 20,
                       .precision = (vem_precision)(index % 2)};
        grid_data data = grid_data_new(index % 3 ? SET_OVERLAPPING : SET_HEAVY,
                                       WEIGHTS_NONE, 300, index % 4 ? 18 : 300, 96);
        /* Far from the origin of the tiles, or with an outlier. */
        for (int64_t j = 0; index % 5 == 0 && j < data.d; j++)
            data.x[5 * data.d + j] += 1e5;
        vem_model *start = grid_start(ctx, &data, c.family, c.clusters);
        vem_options o = options_of(&c, 9, 14);
        o.swaps = index % 2 ? 2 : 0;
        engine e;
        engine_new(&e, ctx, &data, &o, start);
        engine_expect(&e, (vem_i_step_plan){.probe = 2});
        for (int step = 0; step < 12; step++) {
            engine_collect(&e);
            engine_maximize(&e, step % 3 ? 1 : 1.5);
            engine_expect(&e, (vem_i_step_plan){.fresh = step % 4 == 1,
                                                .probe = step == 7 ? 2 : 0});
            if (step != 7)
                known += assert_true_bounds(&e);
        }
        engine_free(&e);
        vem_model_free(start);
        grid_data_free(&data);
    }
    assert_true(known > 10000);
}

static int with_bounds(void **state)
{
    from = vem_i_bounds_columns;
    vem_i_bounds_columns = 1;
    return set_up(state);
}

static int without(void **state)
{
    vem_i_bounds_columns = from;
    return tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_else_changes), cmocka_unit_test(ties),
        cmocka_unit_test(far_outlier),          cmocka_unit_test(groups_of_several),
        cmocka_unit_test(any_threads),          cmocka_unit_test(one_pair_a_row_at_rest),
        cmocka_unit_test(bounds_are_true),
    };
    return cmocka_run_group_tests(tests, with_bounds, without);
}
