/* Swaps: what a removal costs and a split gains, worked out plainly beside the round, for
 * every family; F never falls. */
#include "engine.h"
#include "moves/moves.h"
#include "moves/shape.h"
#include "run.h"

#define CONTEXT_THREADS 1
#include "context.h"

#ifdef VEM_SANITIZED
enum { STRIDE = 47 };
#else
enum { STRIDE = 11 };
#endif

static vem_options swap_options(int64_t clusters, int family, int prior, int64_t held,
                                int precision, int search, int64_t max_steps)
{
    vem_options o = grid_options(clusters, (vem_family_kind)family, (vem_prior_kind)prior,
                                 held, (vem_precision)precision, max_steps);
    o.search = search;
    o.swaps = 4;
    if (search != VEM_SEARCH_CLOSEST && search != VEM_SEARCH_ALL)
        o.reach = 5;
    return o;
}

/* ---- splits ---- */

typedef struct halves_of_means {
    double gain, mass, second; /* the share of the second half */
    double mean[2][40];
    double rows[2][40]; /* the same, of T */
} halves_of_means;

static halves_of_means split(engine *e, int32_t cluster, const uint32_t *items, int64_t n)
{
    vem_i_splitter *splitter = NULL;
    const vem_view *view = e->em.view;
    halves_of_means h;
    assert_int_equal(vem_i_splitter_new(run_of(ctx), view, &e->em.posterior, &splitter),
                     VEM_OK);
    double mass[2];
    h.gain = vem_i_split(splitter,
                         &(vem_i_splittable){.items = items, .n = n, .cluster = cluster},
                         0, h.rows[0], h.rows[1], mass);
    h.mass = mass[0] + mass[1];
    h.second = mass[1] / h.mass;
    for (int which = 0; which < 2 && h.gain > 0; which++)
        for (int32_t j = 0; j < view->d; j++)
            h.mean[which][j] = vem_i_value(view->kernels, h.rows[which], j);
    vem_i_splitter_free(splitter);
    return h;
}

static double square_to(const engine *e, int64_t item, const double *mean)
{
    double sum = 0;
    const vem_view *view = e->em.view;
    for (int32_t j = 0; j < view->d; j++)
        sum +=
            pow(vem_i_value(view->kernels, vem_i_view_row(view, item), j) - mean[j], 2);
    return sum;
}

/* w q of an item for the cluster it holds first. */
static double weight_first(const engine *e, int64_t item)
{
    const vem_i_posterior *p = &e->em.posterior;
    return p->q ? vem_i_value(e->em.view->kernels, p->q, item * p->width)
                : vem_i_view_mass(e->em.view, item);
}

/* The squared error about the items' mean, less that of each item to its nearer half, is
 * at least the gain that was told; and the gain is that of halves with these means. */
static void assert_split(const engine *e, const uint32_t *items, int64_t n,
                         halves_of_means h, double share, const char *what)
{
    const vem_view *view = e->em.view;
    double mean[40] = {0}, mass = 0, whole = 0, parts = 0, apart = 0, first = 0;
    for (int64_t k = 0; k < n; k++)
        mass += weight_first(e, items[k]);
    grid_assert_near(h.mass, mass, share * mass, what);
    for (int64_t k = 0; k < n; k++)
        for (int32_t j = 0; j < view->d; j++)
            mean[j] += weight_first(e, items[k]) / mass *
                       vem_i_value(view->kernels, vem_i_view_row(view, items[k]), j);
    for (int64_t k = 0; k < n; k++) {
        double w = weight_first(e, items[k]);
        whole += w * square_to(e, items[k], mean);
        parts += w * fmin(square_to(e, items[k], h.mean[0]),
                          square_to(e, items[k], h.mean[1]));
    }
    assert_true(h.gain > 0);
    assert_true(whole - parts >= h.gain - share * whole);
    for (int32_t j = 0; j < view->d; j++) {
        apart += pow(h.mean[1][j] - h.mean[0][j], 2);
        first += (mean[j] - h.mean[0][j]) * (h.mean[1][j] - h.mean[0][j]);
    }
    /* The mean of all divides the line between the halves by their masses. */
    double t = first / apart;
    assert_true(t > 0 && t < 1);
    grid_assert_near(h.gain, mass * t * (1 - t) * apart, share * whole, what);
    grid_assert_near(h.second, t, 1e-2, what);
}

static void split_gain_is_the_decrease(void **state)
{
    (void)state;
    static const int32_t dimensions[] = {1, 2, 3, 17, 40};
    for (int index = 0; index < 5 * 2 * 3 * 2; index += STRIDE % 5 + 1) {
        int32_t d = dimensions[index % 5];
        int precision = index / 5 % 2, weights = index / 10 % 3, held = 1 + index / 30;
        grid_data data = grid_data_new(SET_OVERLAPPING,
                                       weights == 0   ? WEIGHTS_NONE
                                       : weights == 1 ? WEIGHTS_REAL
                                                      : WEIGHTS_ZEROS,
                                       700, d, 91);
        vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 4);
        vem_options o = swap_options(4, VEM_ISO_SHARED, VEM_PRIOR_FLAT, held, precision,
                                     VEM_SEARCH_CLOSEST, 5);
        engine e;
        engine_new(&e, ctx, &data, &o, start);
        engine_expect(&e, (vem_i_step_plan){0});
        for (int32_t c = 0; c < 4; c++) {
            uint32_t items[700];
            int64_t n = 0;
            for (int64_t i = 0; i < data.n; i++)
                if (e.em.posterior.held[i * held] == c)
                    items[n++] = (uint32_t)i;
            if (n > 2)
                assert_split(&e, items, n, split(&e, c, items, n),
                             precision ? 1e-10 : 1e-5, "split");
        }
        engine_free(&e);
        vem_model_free(start);
        grid_data_free(&data);
    }
}

/* Two blobs are told apart exactly; points that are all the same, or weigh nothing, are
 * not. */
static void split_finds_two_blobs(void **state)
{
    (void)state;
    enum { N = 300, D = 3 };
    double x[N * D], w[N];
    uint32_t items[N];
    for (int i = 0; i < N; i++) {
        vem_i_rng rng = vem_i_rng_at(92, VEM_RNG_TEST, 0, (uint64_t)i);
        items[i] = (uint32_t)i;
        w[i] = i < 200 ? 1 : 2;
        for (int j = 0; j < D; j++)
            x[i * D + j] = (i < 200 ? -5 : 10) + 0.1 * vem_i_rng_normal(&rng);
    }
    grid_data data = {.n = N, .d = D, .x = x, .weights = w};
    for (int same = 0; same < 3; same++) {
        for (int i = 0; same == 1 && i < N * D; i++)
            x[i] = i < 3 * (N - 1) ? 0.3 : 1; /* and one elsewhere: data must vary */
        for (int i = 0; same == 2 && i < N; i++)
            w[i] = i < N - 2 ? 0 : 1;
        vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 1);
        vem_options o = swap_options(1, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE,
                                     VEM_SEARCH_CLOSEST, 5);
        engine e;
        engine_new(&e, ctx, &data, &o, start);
        engine_expect(&e, (vem_i_step_plan){0});
        halves_of_means h = split(&e, 0, items,
                                  same == 0   ? N
                                  : same == 1 ? N - 1
                                              : N - 2);
        if (same == 0) {
            /* 200 of weight 1 and 100 of weight 2, 15 sqrt(3) apart. */
            grid_assert_near(h.gain / h.mass, 0.25 * 3 * 225, 2, "two blobs");
            assert_split(&e, items, N, h, 1e-10, "two blobs");
        } else {
            assert_true(h.gain == 0);
        }
        engine_free(&e);
        vem_model_free(start);
    }
}

/* The halves of a long cluster lie along its longest axis, which power steps find from a first guess that
 * is nearly square to it: by the two halves of that axis a Gaussian loses 2 / pi of its variance. */
static void split_finds_the_longest_axis(void **state)
{
    (void)state;
    enum { N = 3000, D = 40 };
    const double longest = 1.6; /* beside 1 of the other axes */
    static double x[N * D];
    static uint32_t items[N];
    for (int i = 0; i < N; i++) {
        vem_i_rng rng = vem_i_rng_at(93, VEM_RNG_TEST, 0, (uint64_t)i);
        items[i] = (uint32_t)i;
        for (int j = 0; j < D; j++)
            x[i * D + j] = (j == 7 ? longest : 1) * vem_i_rng_normal(&rng);
    }
    grid_data data = {.n = N, .d = D, .x = x};
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 1);
    vem_options o = swap_options(1, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE,
                                 VEM_SEARCH_CLOSEST, 5);
    engine e;
    engine_new(&e, ctx, &data, &o, start);
    engine_expect(&e, (vem_i_step_plan){0});
    const halves_of_means h = split(&e, 0, items, N);
    const double best = 2 / 3.14159265358979 * longest * longest;
    print_message("%g of %g\n", h.gain / h.mass, best);
    assert_true(h.gain / h.mass > 0.9 * best);
    engine_free(&e);
    vem_model_free(start);
}

/* ---- a round, worked out beside it ---- */

/* What F of all items loses when they must do without cluster c, by the next they know. */
static double removal_cost(const engine *e, int32_t c)
{
    const vem_i_posterior *p = &e->em.posterior;
    double cost = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const int32_t *held = p->held + i * p->width;
        double most = -INFINITY, with = 0, without = 0,
               w = vem_i_view_mass(e->em.view, i);
        int holds = 0;
        for (int32_t r = 0; r < p->width; r++) {
            most = held[r] < 0 ? most : fmax(most, engine_log_joint(e, i, held[r]));
            holds |= held[r] == c;
        }
        if (!holds || !(w > 0))
            continue;
        for (int32_t r = 0; r < p->width; r++) {
            double q = held[r] < 0 ? 0 : exp(engine_log_joint(e, i, held[r]) - most);
            with += q;
            without += held[r] == c ? 0 : q;
        }
        double next = p->next[i] < 0 ? -INFINITY : engine_log_joint(e, i, p->next[i]);
        if (p->width == 1) /* may be too small for exp */
            cost += w * (most - next);
        else
            cost -= w * log((without + exp(next - most)) / with);
    }
    return cost;
}

/* Prices of splits: items[0..n) hold c first. */
static double split_gain(engine *e, vem_i_shaper *shaper, int32_t c, uint32_t *items)
{
    const vem_i_posterior *p = &e->em.posterior;
    const vem_model *halves;
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (p->held[i * p->width] == c)
            items[n++] = (uint32_t)i;
    if (n < 2)
        return 0;
    if (shaper)
        return vem_i_shape_halves(
            shaper, &(vem_i_splittable){.items = items, .n = n, .cluster = c}, 0,
            &halves);
    halves_of_means h = split(e, c, items, n);
    const vem_i_scorer *s = &e->em.scorer;
    double gain =
        h.gain > 0 ? 0.5 * h.gain * s->family->stretch(s, c, h.rows[0], h.rows[1]) : 0;
    return gain - (e->em.constraints.prior == VEM_PRIOR_FREE ? h.mass * log(2) : 0);
}

/* An exact search knows the best of all clusters that are not held. */
static void assert_next(const engine *e)
{
    const vem_i_posterior *p = &e->em.posterior;
    for (int64_t i = 0; i < p->n; i++) {
        double best = -INFINITY;
        for (int32_t c = 0; c < e->em.model->clusters; c++) {
            int holds = 0;
            for (int32_t r = 0; r < p->width; r++)
                holds |= p->held[i * p->width + r] == c;
            if (!holds)
                best = fmax(best, engine_log_joint(e, i, c));
            else
                assert_true(p->next[i] != c);
        }
        grid_assert_near(engine_log_joint(e, i, p->next[i]), best, 1e-4 * fabs(best),
                         "the next best cluster");
    }
}

enum { UNTOUCHED, SPLIT, REMOVED };

/* One round, and everything it says and does, checked. Returns the swaps made. */
static int64_t check_round(engine *e, const char *what)
{
    enum { MOST = 64 };
    vem_i_em *em = &e->em;
    vem_i_posterior *p = &em->posterior;
    int32_t clusters = em->model->clusters, d = em->model->d;
    int single = e->options.precision == VEM_SINGLE;
    double share = single ? 1e-4 : 1e-8, before = engine_free_energy(e), promised = NAN;
    double cost[MOST], gain[MOST], weight[MOST], expected = 0, size = 0, freed = 0;
    uint32_t *items = malloc((size_t)p->n * sizeof *items);
    size_t held_bytes = (size_t)(p->n * p->width) * sizeof(int32_t);
    int32_t *held = malloc(held_bytes), *next = malloc((size_t)p->n * sizeof *next);
    double *means = malloc((size_t)(clusters * d) * sizeof *means);
    memcpy(held, p->held, held_bytes);
    memcpy(next, p->next, (size_t)p->n * sizeof *next);
    memcpy(means, em->model->means, (size_t)(clusters * d) * sizeof *means);
    vem_i_splitter *splitter = NULL;
    vem_i_shaper *shaper = NULL;
    assert_int_equal(vem_i_splitter_new(run_of(ctx), em->view, p, &splitter), VEM_OK);
    if (!em->model->family->shared)
        assert_int_equal(vem_i_shaper_new(em, splitter, &shaper), VEM_OK);
    for (int32_t c = 0; c < clusters; c++) {
        cost[c] = removal_cost(e, c);
        gain[c] = split_gain(e, shaper, c, items);
        weight[c] = em->model->weights[c];
    }
    vem_i_shaper_free(shaper);
    vem_i_splitter_free(splitter);
    int64_t swaps = engine_swap(e, &promised), removed = 0, divided = 0;
    engine_assert_sets(e);
    int kind[MOST];
    for (int32_t c = 0; c < clusters; c++) {
        kind[c] = memcmp(means + c * d, em->model->means + c * d,
                         (size_t)d * sizeof *means) == 0
                      ? UNTOUCHED
                      : REMOVED;
        for (int64_t i = 0; i < p->n && kind[c] == REMOVED; i++)
            for (int32_t r = 0; r < p->width && held[i * p->width] == c; r++)
                if (p->held[i * p->width + r] == c)
                    kind[c] = SPLIT;
        removed += kind[c] == REMOVED;
        divided += kind[c] == SPLIT;
        expected += kind[c] == SPLIT ? gain[c] : kind[c] == REMOVED ? -cost[c] : 0;
        freed +=
            kind[c] == REMOVED && em->constraints.prior == VEM_PRIOR_FREE ? weight[c] : 0;
        size += kind[c] == UNTOUCHED ? 0 : fabs(kind[c] == SPLIT ? gain[c] : cost[c]);
    }
    assert_int_equal(removed, swaps);
    assert_int_equal(divided, swaps);
    assert_true(promised >= 0);
    if (swaps > 0) {
        grid_assert_near(promised, expected, share * size, what);
    } else {
        assert_memory_equal(held, p->held, held_bytes);
        assert_true(promised == 0);
    }
    /* Receivers stay where they are: what is held second, or else the next best. */
    for (int64_t i = 0; i < p->n; i++)
        if (kind[held[i * p->width]] == REMOVED) {
            int32_t second = p->width > 1 ? held[i * p->width + 1] : -1;
            assert_int_equal(kind[second >= 0 ? second : next[i]], UNTOUCHED);
        }
    /* F: never less; for hard items at least what was promised more. */
    double after = engine_free_energy(e), mass = em->view->total_mass;
    double slack = (single ? 1e-6 : 1e-10) * fmax(1, fabs(before));
    double least = p->width == 1 ? before + (promised - share * size) / mass : before;
    if (!(after >= least - slack))
        fail_msg("F goes from %.12g to %.12g, promised %g: %s", before, after,
                 promised / mass, what);
    /* Prices of hard items with shapes are no bounds but exact, and so is what the weight of
     * the removed clusters gains when it goes to all. */
    if (p->width == 1 && !em->model->family->shared)
        grid_assert_near(after - before + log1p(-freed), promised / mass,
                         share * size / mass + slack, what);
    free(items);
    free(held);
    free(next);
    free(means);
    return swaps;
}

/* Hard and soft, with every search that knows what comes next. */
static void rounds_keep_their_promise(void **state)
{
    (void)state;
    static const int searches[] = {VEM_SEARCH_CLOSEST, VEM_SEARCH_GROUPS,
                                   VEM_SEARCH_EXACT, VEM_SEARCH_ESTIMATED};
    int64_t swaps[4] = {0};
    int64_t of_family[VEM_FAMILIES] = {0};
    const int families = grid_shaped_count();
    for (int index = 0; index < families * 2 * 3 * 2 * 3 * 4 * 2;
         index += grid_turns(STRIDE)) {
        int at = index, family = (int)grid_shaped(at % families),
            prior = (at /= families) % 2, held = 1 + (at /= 2) % 3;
        int precision = (at /= 3) % 2, weights = (at /= 2) % 3, search = (at /= 3) % 4;
        grid_set set = at / 4 ? SET_SEPARATED : SET_OVERLAPPING;
        int32_t d = index % 7 % 2 ? 2 : vem_family_axes(family) == 0 ? 18 : 5;
        char what[120];
        snprintf(what, sizeof what, "case %d: family %d prior %d held %d search %d d %d",
                 index, family, prior, held, search, d);
        grid_data data = grid_data_new(set,
                                       weights == 0   ? WEIGHTS_NONE
                                       : weights == 1 ? WEIGHTS_REAL
                                                      : WEIGHTS_ZEROS,
                                       400, d, 93 + (uint64_t)index % 3);
        vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, 16);
        vem_options o =
            swap_options(16, family, prior, held, precision, searches[search], 20);
        engine e;
        engine_new(&e, ctx, &data, &o, start);
        for (int round = 0; round < 4; round++) {
            double f = engine_expect(&e, (vem_i_step_plan){.probe = 2});
            engine_collect(&e);
            engine_maximize(&e, 1);
            double g = engine_expect(&e, (vem_i_step_plan){.look_further = 1});
            double slack = (precision ? 1e-9 : 1e-6) * fmax(1, fabs(f));
            assert_true(g >= f - slack);
            if (searches[search] == VEM_SEARCH_CLOSEST)
                assert_next(&e);
            int64_t made = check_round(&e, what);
            swaps[held - 1] += made;
            of_family[family] += made;
            engine_collect(&e);
            engine_maximize(&e, 1.5);
            double now = engine_expect(&e, (vem_i_step_plan){0});
            if (!(now >= g - slack))
                fail_msg("F falls from %.12g to %.12g after a round: %s", g, now, what);
        }
        engine_free(&e);
        vem_model_free(start);
        grid_data_free(&data);
    }
    for (int held = 0; held < 3; held++)
        assert_true(swaps[held] > 0);
    GRID_EACH_SHAPED (family)
        assert_true(of_family[family] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_gain_is_the_decrease),
        cmocka_unit_test(split_finds_two_blobs),
        cmocka_unit_test(split_finds_the_longest_axis),
        cmocka_unit_test(rounds_keep_their_promise),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
