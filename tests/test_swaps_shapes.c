/* Swaps of clusters that have shapes: what the halves of one gain, worked out plainly; what
 * plain EM does not find and swaps do; rounds that are taken back; any number of threads. */
#include "engine.h"
#include "moves/moves.h"
#include "moves/shape.h"
#include "run.h"

#define CONTEXT_THREADS 1
#include "context.h"

#ifdef VEM_SANITIZED
enum { STRIDE = 5 };
#else
enum { STRIDE = 1 };
#endif

/* ---- what two halves gain ---- */

/* The items that hold cluster c first. */
static int64_t items_of(const engine *e, int32_t c, uint32_t *items)
{
    const vem_i_posterior *p = &e->em.posterior;
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (p->held[i * p->width] == c)
            items[n++] = (uint32_t)i;
    return n;
}

/* F of one item, alone, when cluster c becomes these two, less what it is now. */
static double gain_of_item(const engine *e, int64_t item, int32_t c,
                           const vem_model *halves)
{
    const vem_i_posterior *p = &e->em.posterior;
    const int32_t *held = p->held + item * p->width;
    double half[2], most, now = 0, then = 0;
    for (int32_t h = 0; h < 2; h++)
        half[h] = engine_log_joint_of(e, halves, item, h);
    if (p->width == 1)
        return fmax(half[0], half[1]) - engine_log_joint(e, item, c);
    most = fmax(fmax(half[0], half[1]), engine_log_joint(e, item, held[0]));
    for (int32_t r = 0; r < p->width; r++) {
        double one = held[r] < 0 ? 0 : exp(engine_log_joint(e, item, held[r]) - most);
        now += one;
        then += r > 0 && r < p->width - 1 ? one : 0; /* the last makes room */
    }
    return log(then + exp(half[0] - most) + exp(half[1] - most)) - log(now);
}

/* No variance, or eigenvalue, below the floor: Sigma - floor I has no negative pivot. */
static void assert_floor(const engine *e, const vem_model *halves)
{
    int64_t d = halves->d,
            count = (int64_t)vem_i_variance_count(halves->family, 2, halves->d);
    double floor = e->em.constraints.floor * (1 - 1e-6);
    if (halves->family->shape_axes < 2) {
        for (int64_t k = 0; k < count; k++)
            assert_true(halves->variances[k] >= floor);
        return;
    }
    for (int64_t h = 0; h < 2; h++) {
        double matrix[64];
        memcpy(matrix, halves->variances + h * d * d, (size_t)(d * d) * sizeof(double));
        for (int64_t j = 0; j < d; j++)
            matrix[j * d + j] -= floor;
        assert_true(vem_i_cholesky(matrix, (int32_t)d));
    }
}

/* The price of a split is what F gains by it, for items whose other clusters stay. */
static int check_halves(engine *e, vem_i_shaper *shaper, int32_t c, const char *what)
{
    const vem_view *view = e->em.view;
    const vem_model *halves = NULL, *again = NULL;
    uint32_t items[1000];
    vem_i_splittable cluster = {.items = items, .n = items_of(e, c, items), .cluster = c};
    double gain = vem_i_shape_halves(shaper, &cluster, 0, &halves), sum = 0, size = 0;
    assert_true(gain >= 0);
    if (gain == 0)
        return 0;
    double weights = halves->weights[0] + halves->weights[1];
    grid_assert_near(weights,
                     e->em.constraints.prior == VEM_PRIOR_FREE
                         ? e->em.model->weights[c]
                         : 2 * e->em.model->weights[c],
                     1e-6 * weights, what);
    assert_floor(e, halves);
    for (int64_t k = 0; k < cluster.n; k++) {
        double w = vem_i_view_mass(view, items[k]);
        double one = w > 0 ? w * gain_of_item(e, items[k], c, halves) : 0;
        sum += one;
        size += fabs(one);
    }
    double mean = halves->means[0];
    grid_assert_near(gain, sum, (e->options.precision == VEM_SINGLE ? 1e-3 : 1e-8) * size,
                     what);
    assert_true(vem_i_shape_halves(shaper, &cluster, 0, &again) == gain);
    assert_true(again->means[0] == mean);
    return 1;
}

/* Families whose clusters have shapes of their own, in the order of the table. */
static int own_family(int number)
{
    for (int family = 0; family < VEM_FAMILIES; family++) {
        const vem_i_family *f = vem_i_family_of(family);
        if (f->shape_axes >= 0 && !f->shared && number-- == 0)
            return family;
    }
    return -1;
}

static int count_own(void)
{
    int count = 0;
    while (own_family(count) >= 0)
        count++;
    return count;
}

static void the_price_of_halves(void **state)
{
    (void)state;
    static const grid_set sets[] = {SET_OVERLAPPING, SET_HEAVY, SET_DUPLICATES,
                                    SET_CONSTANT};
    int found[VEM_FAMILIES] = {0};
    const int own = count_own();
    for (int index = 0; index < own * 2 * 3 * 2 * 4; index += STRIDE) {
        int at = index, family = own_family(at % own), prior = (at /= own) % 2;
        int held = 1 + (at /= 2) % 3, precision = (at /= 3) % 2, set = at / 2;
        char what[100];
        snprintf(what, sizeof what, "family %d prior %d held %d precision %d set %d",
                 family, prior, held, precision, set);
        grid_data data =
            grid_data_new(sets[set], index % 2 ? WEIGHTS_ZEROS : WEIGHTS_REAL, 1000, 3,
                          101);
        vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, 6);
        vem_options o = grid_options(6, (vem_family_kind)family, (vem_prior_kind)prior,
                                     held, (vem_precision)precision, 5);
        vem_i_splitter *splitter = NULL;
        vem_i_shaper *shaper = NULL;
        engine e;
        engine_new(&e, ctx, &data, &o, start);
        for (int step = 0; step < 2; step++) {
            engine_expect(&e, (vem_i_step_plan){0});
            engine_collect(&e);
            engine_maximize(&e, 1);
        }
        engine_expect(&e, (vem_i_step_plan){0});
        assert_int_equal(vem_i_splitter_new(run_of(ctx), e.em.view, &e.em.posterior,
                                            &splitter),
                         VEM_OK);
        assert_int_equal(vem_i_shaper_new(&e.em, splitter, &shaper), VEM_OK);
        for (int32_t c = 0; c < 6; c++)
            found[family] += check_halves(&e, shaper, c, what);
        vem_i_shaper_free(shaper);
        vem_i_splitter_free(splitter);
        engine_free(&e);
        vem_model_free(start);
        grid_data_free(&data);
    }
    for (int k = 0; k < own; k++)
        assert_true(found[own_family(k)] > 0);
}

/* ---- long clusters, side by side ---- */

enum { EACH = 150 };

/* Two long clusters that lie side by side, `turn` radians from the axis, and one that is
 * round and far away. */
static grid_data side_by_side(double turn)
{
    grid_data data = {.n = 3 * EACH, .d = 2, .x = malloc(6 * EACH * sizeof(double))};
    assert_non_null(data.x);
    for (int64_t i = 0; i < data.n; i++) {
        vem_i_rng rng = vem_i_rng_at(102, VEM_RNG_TEST, 0, (uint64_t)i);
        double along = vem_i_rng_normal(&rng), across = vem_i_rng_normal(&rng);
        if (i < 2 * EACH) {
            along *= 20;
            across = 0.5 * across + (i < EACH ? 4 : -4);
        }
        data.x[2 * i] = cos(turn) * along - sin(turn) * across + (i < 2 * EACH ? 0 : 300);
        data.x[2 * i + 1] = sin(turn) * along + cos(turn) * across;
    }
    return data;
}

/* One cluster for both of the long ones, two for the round one. */
static vem_model *start_of(vem_family_kind family, double turn)
{
    const double means[] = {0, 0, 299, 0, 301, 0}, weights[] = {0.6, 0.2, 0.2};
    const double along = 400, across = 17, c = cos(turn), s = sin(turn);
    double variances[12] = {0};
    const double wide[] = {c * c * along + s * s * across, c * s * (along - across),
                           c * s * (along - across), s * s * along + c * c * across};
    for (int k = 0; k < 3; k++) {
        int full = vem_i_family_of((int)family)->shape_axes == 2;
        variances[(full ? 4 : 2) * k] = k == 0 ? wide[0] : 1;
        variances[full ? 4 * k + 3 : 2 * k + 1] = k == 0 ? wide[3] : 1;
        if (full && k == 0)
            variances[1] = variances[2] = wide[1];
    }
    vem_model *model = NULL;
    assert_int_equal(vem_model_new(ctx, family, 3, 2, means, weights, variances, &model),
                     VEM_OK);
    return model;
}

static int labels_agree(const grid_fit *fit)
{
    int32_t of[3] = {fit->labels[0], fit->labels[EACH], fit->labels[2 * EACH]};
    int apart = of[0] != of[1] && of[1] != of[2] && of[0] != of[2];
    for (int i = 0; i < 3 * EACH && apart; i++)
        apart = fit->labels[i] == of[i / EACH];
    return apart;
}

/* Neither the widest direction nor equal variances tell the long ones apart; k-means would
 * cut them in the middle. */
static void long_clusters_are_told_apart(void **state)
{
    (void)state;
    for (int k = 0; k < count_own(); k++) {
        const int family = own_family(k), axes = vem_i_family_of(family)->shape_axes;
        if (axes == 0)
            continue; /* balls are not long */
        double turn = axes == 2 ? 0.6 : 0;
        grid_data data = side_by_side(turn);
        vem_model *start = start_of((vem_family_kind)family, turn);
        for (int index = 0; index < 4 * 2 * 2 * 2 * 2; index++) {
            int at = index, search = VEM_SEARCH_CLOSEST + at % 4, prior = (at /= 4) % 2;
            int held = 1 + (at /= 2) % 2, precision = (at /= 2) % 2, swaps = at / 2;
            char what[100];
            snprintf(what, sizeof what,
                     "family %d search %d prior %d held %d precision %d", family, search,
                     prior, held, precision);
            vem_options o =
                grid_options(3, (vem_family_kind)family, (vem_prior_kind)prior, held,
                             (vem_precision)precision, 80);
            o.search = search;
            o.swaps = 3 * swaps;
            if (search != VEM_SEARCH_CLOSEST)
                o.reach = 3;
            grid_fit fit = grid_run(ctx, &data, &o, start);
            double slack = precision == VEM_SINGLE ? 1e-5 : 1e-9;
            for (int64_t t = 1; t < fit.trace_count; t++)
                if (!(fit.trace[t].free_energy >=
                      fit.trace[t - 1].free_energy -
                          slack * fabs(fit.trace[t].free_energy)))
                    fail_msg("F falls in step %d: %s", (int)fit.trace[t].step, what);
            if (labels_agree(&fit) != swaps)
                fail_msg("%s with%s swaps: %s",
                         swaps ? "the long clusters are not told apart"
                               : "plain EM finds them, so this case says nothing",
                         swaps ? "" : "out", what);
            grid_fit_free(&fit);
        }
        vem_model_free(start);
        grid_data_free(&data);
    }
}

/* F of each step is no less than that of the step before, within rounding; of the last. */
static double risen(const grid_fit *fit)
{
    for (int64_t t = 1; t < fit->trace_count; t++)
        assert_true(fit->trace[t].free_energy >= fit->trace[t - 1].free_energy - 1e-8);
    return fit->summary->free_energy;
}

/* Clusters that are long along some axes and short along others, among each other. */
static grid_data long_and_short(int32_t clusters, int32_t each, int32_t d, uint64_t seed)
{
    grid_data data = {.n = (int64_t)clusters * each, .d = d};
    data.x = malloc((size_t)data.n * (size_t)d * sizeof(double));
    assert_non_null(data.x);
    for (int64_t i = 0; i < data.n; i++)
        for (int64_t j = 0; j < d; j++) {
            vem_i_rng shape =
                vem_i_rng_at(seed, VEM_RNG_TEST, 1, (uint64_t)(i / each * d + j));
            vem_i_rng row = vem_i_rng_at(seed, VEM_RNG_TEST, 2, (uint64_t)(i * d + j));
            const double mean = 3 * vem_i_rng_normal(&shape);
            const double length = exp(vem_i_rng_normal(&shape));
            data.x[i * d + j] = mean + length * vem_i_rng_normal(&row);
        }
    return data;
}

/* Where all clusters are held, k-means with swaps comes first and then a loop in which rows
 * hold few and swaps know the shapes: that ends higher than k-means alone before it. */
static void all_held_swaps_with_shapes(void **state)
{
    (void)state;
    enum { CLUSTERS = 20, SEEDS = 4 };
    for (int k = 0; k < count_own(); k++) {
        const int family = own_family(k);
        double gained = 0;
        if (vem_i_family_of(family)->shape_axes == 0)
            continue;
        for (int64_t seed = 1; seed <= SEEDS; seed++) {
            grid_data data = long_and_short(CLUSTERS, 100, 4, 120 + (uint64_t)seed);
            vem_options hard =
                grid_options(CLUSTERS, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 60);
            vem_options o = grid_options(CLUSTERS, (vem_family_kind)family,
                                         VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, 200);
            hard.seed = o.seed = seed;
            hard.swaps = o.swaps = 8;
            hard.tolerance = o.tolerance = 1e-6;
            grid_fit both = grid_run(ctx, &data, &o, NULL);
            assert_int_equal(both.options->search, VEM_SEARCH_ALL);
            gained += risen(&both) / SEEDS;
            grid_fit_free(&both);
            grid_fit means = grid_run(ctx, &data, &hard, NULL);
            o.swaps = 0;
            grid_fit after = grid_run(ctx, &data, &o, means.model);
            gained -= risen(&after) / SEEDS;
            grid_fit_free(&means);
            grid_fit_free(&after);
            grid_data_free(&data);
        }
        if (!(gained > 0.02))
            fail_msg("family %d gains %g", family, gained);
    }
}

/* ---- rounds that are taken back ---- */

/* F is made to seem higher than any round can make it: the round must leave no trace. */
static void a_round_is_taken_back(void **state)
{
    (void)state;
    int64_t taken_back = 0;
    for (int index = 0; index < 4 * 4 * 2; index++) {
        int family = index % 4, search = VEM_SEARCH_CLOSEST + index / 4 % 4;
        grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 600, 3, 103);
        vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, 10);
        vem_options o = grid_options(10, (vem_family_kind)family,
                                     (vem_prior_kind)(index / 16), 3, VEM_DOUBLE, 20);
        o.search = search;
        o.swaps = 3;
        if (search != VEM_SEARCH_CLOSEST)
            o.reach = 6;
        engine e;
        engine_new(&e, ctx, &data, &o, start);
        for (int round = 0; round < 2; round++) {
            vem_i_em *em = &e.em;
            engine_expect(&e, (vem_i_step_plan){.probe = 2});
            engine_collect(&e);
            engine_maximize(&e, 1);
            double f = engine_expect(&e, (vem_i_step_plan){.look_further = 1}), promised;
            size_t sets = (size_t)(em->posterior.n * em->posterior.width);
            size_t shapes = vem_i_variance_count(vem_i_family_of(family), 10, 3);
            int32_t *held = malloc(sets * sizeof *held);
            double *q = malloc(sets * sizeof *q), means[30], weights[10], variances[90];
            memcpy(held, em->posterior.held, sets * sizeof *held);
            memcpy(q, em->posterior.q, sets * sizeof *q);
            memcpy(means, em->model->means, sizeof means);
            memcpy(weights, em->model->weights, sizeof weights);
            memcpy(variances, em->model->variances, shapes * sizeof *variances);
            em->free_energy = INFINITY;
            assert_int_equal(engine_swap(&e, &promised), 0);
            assert_true(promised == 0);
            assert_memory_equal(held, em->posterior.held, sets * sizeof *held);
            assert_memory_equal(means, em->model->means, sizeof means);
            assert_memory_equal(weights, em->model->weights, sizeof weights);
            assert_memory_equal(variances, em->model->variances,
                                shapes * sizeof *variances);
            assert_true(grid_close(em->posterior.q, q, sets, 1e-9));
            grid_assert_near(vem_i_em_again(em), f, 1e-9 * fabs(f), "F as it was");
            /* And it was a round: with the true F it is made. */
            engine_expect(&e, (vem_i_step_plan){.look_further = 1});
            taken_back += engine_swap(&e, &promised) > 0;
            engine_collect(&e);
            engine_maximize(&e, 1);
            free(held);
            free(q);
        }
        engine_free(&e);
        vem_model_free(start);
        grid_data_free(&data);
    }
    assert_true(taken_back >= 16);
}

/* ---- threads ---- */

static void the_same_bits_for_any_threads(void **state)
{
    (void)state;
    int swapped[VEM_FAMILIES] = {0};
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, 3000, 4, 104);
    const int count =
        grid_shaped_count() - 1; /* without the first: k-means is test_swaps' */
    for (int index = 0; index < count * 4 * 2; index += grid_turns(STRIDE)) {
        int family = grid_shaped(1 + index % count),
            search = VEM_SEARCH_CLOSEST + index / count % 4;
        vem_options o = grid_options(24, (vem_family_kind)family, VEM_PRIOR_FREE,
                                     index < count * 4 ? 1 : 3, VEM_DOUBLE, 14);
        o.search = search;
        o.swaps = 5;
        o.seeding = VEM_SEED_RANDOM;
        if (search != VEM_SEARCH_CLOSEST)
            o.reach = 8;
        grid_fit fits[2];
        int64_t moved = 0;
        for (int k = 0; k < 2; k++) {
            o.threads = 1 + 2 * k;
            o.algorithm = VEM_ALGORITHM_GMM; /* no start by k-means */
            fits[k] = grid_run(ctx, &data, &o, NULL);
        }
        assert_int_equal(fits[0].trace_count, fits[1].trace_count);
        for (int64_t t = 0; t < fits[0].trace_count; t++) {
            assert_memory_equal(&fits[0].trace[t].free_energy,
                                &fits[1].trace[t].free_energy, sizeof(double));
            moved += fits[0].trace[t].moved;
        }
        swapped[family] += moved > 0;
        assert_memory_equal(vem_model_variances(fits[0].model),
                            vem_model_variances(fits[1].model),
                            vem_model_variance_count(fits[0].model) * sizeof(double));
        grid_fit_free(&fits[0]);
        grid_fit_free(&fits[1]);
    }
    GRID_EACH_SHAPED_AFTER (family, VEM_ISO_SHARED)
        assert_true(STRIDE > 1 || swapped[family] > 0);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_price_of_halves),
        cmocka_unit_test(long_clusters_are_told_apart),
        cmocka_unit_test(all_held_swaps_with_shapes),
        cmocka_unit_test(a_round_is_taken_back),
        cmocka_unit_test(the_same_bits_for_any_threads),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
