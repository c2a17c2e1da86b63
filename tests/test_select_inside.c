/* Functions of select against what can be said of them by hand: what partitions cost, groups that are
 * joined, a test of normality, and where the draws of a coreset fall. */
#include "context.h"

#include "data/coreset.h"
#include "run.h"
#include "select/join.h"
#include "select/normality.h"

/* ---- what partitions cost ---- */

enum { POINTS = 24, D = 2, STRIDE = 1 + D + 1 };

typedef struct points {
    double x[POINTS][D], mass[POINTS];
    int32_t label[POINTS]; /* a group of few */
} points;

/* Points in heaps, of which some lie close together. */
static points points_of(uint64_t seed, int32_t groups)
{
    points p;
    for (int i = 0; i < POINTS; i++) {
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 0, (uint64_t)i);
        p.label[i] = i % groups;
        for (int j = 0; j < D; j++)
            p.x[i][j] = vem_i_rng_uniform(&rng) + 3.0 * (p.label[i] * (j + 2) % 5);
        p.mass[i] = 0.5 + (double)vem_i_rng_below(&rng, 3);
    }
    return p;
}

static void group_of(const points *p, const int32_t *label, int32_t c, double *group)
{
    memset(group, 0, STRIDE * sizeof *group);
    for (int i = 0; i < POINTS; i++)
        if (label[p->label[i]] == c) {
            group[0] += p->mass[i];
            for (int j = 0; j < D; j++)
                group[1 + j] += p->mass[i] * p->x[i][j];
        }
    for (int j = 0; j < D && group[0] > 0; j++)
        group[1 + j] /= group[0];
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < D && label[p->label[i]] == c; j++) {
            const double off = p->x[i][j] - group[1 + j];
            group[1 + D] += p->mass[i] * off * off;
        }
}

/* As objective.c has it, of clusters that share one variance: `label` says for each group in which
 * cluster it is; beside them there is a cluster of so many rows that scatter so much. */
static double cost_of(const vem_i_objective *o, const points *p, const int32_t *label,
                      double rows, double scatter)
{
    const double w = o->total;
    double sum = rows > 0 ? rows * log(w / rows) : 0, clusters = rows > 0;
    for (int32_t c = 0; c < VEM_I_PARTS; c++) {
        double group[STRIDE];
        group_of(p, label, c, group);
        if (!(group[0] > 0))
            continue;
        const double n = group[0] * o->mass_unit;
        sum += n * log(w / n);
        scatter += group[1 + D] * o->mass_unit;
        clusters++;
    }
    const double s = scatter / (D * (w - clusters)), pi = acos(-1);
    return sum + 0.5 * w * D * log(2 * pi * s) + 0.5 * D * (w - clusters) +
           o->price * clusters * (D + 1);
}

static vem_i_objective objective_of(double price, double mass_unit, double total)
{
    return (vem_i_objective){.family = vem_i_family_of(VEM_ISO_SHARED),
                             .d = D,
                             .mass_unit = mass_unit,
                             .total = total,
                             .price = price};
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(1, fabs(b))))
        fail_msg("%.17g, but %.17g was expected", a, b);
}

/* Two by two what costs least together, as long as there are two; the cheapest of those partitions that
 * have from `least` to `most` groups, or the first of no more where there are fewer. */
static double join_plainly(const vem_i_objective *o, const points *p, int32_t count,
                           int32_t least, int32_t most, double rows, double scatter,
                           int32_t *best)
{
    int32_t now[VEM_I_PARTS], left = count;
    double cheapest = INFINITY;
    for (int32_t c = 0; c < count; c++)
        now[c] = c;
    for (;; left--) {
        const double cost = cost_of(o, p, now, rows, scatter);
        if (left <= most && (isinf(cheapest) || (left >= least && cost < cheapest))) {
            cheapest = cost;
            memcpy(best, now, sizeof now);
        }
        int32_t low = -1, high = -1;
        double next = INFINITY;
        for (int32_t a = 0; a < count; a++)
            for (int32_t b = a + 1; b < count; b++) {
                int32_t then[VEM_I_PARTS];
                if (now[a] != a || now[b] != b)
                    continue;
                for (int32_t c = 0; c < count; c++)
                    then[c] = now[c] == b ? a : now[c];
                const double together = cost_of(o, p, then, rows, scatter);
                if (together < next)
                    next = together, low = a, high = b;
            }
        if (low < 0)
            return cheapest;
        for (int32_t c = 0; c < count; c++)
            now[c] = now[c] == high ? low : now[c];
    }
}

static void check_joined(uint64_t seed, int32_t count, int32_t least, int32_t most,
                         double price, int beside)
{
    const points p = points_of(seed, count);
    double mass = 0, groups[(VEM_I_PARTS + 1) * STRIDE], work[64];
    double rows = beside ? 10 : 0, scatter = beside ? 33 : 0;
    for (int i = 0; i < POINTS; i++)
        mass += p.mass[i];
    const vem_i_objective o = objective_of(price, 2, 2 * mass + rows);
    assert_int_equal(vem_i_group_stride(&o), STRIDE);
    assert_in_range(vem_i_objective_work(&o), 0, 64);
    const double other[STRIDE] = {rows / 2, 0, 0, scatter / 2};
    int32_t each[VEM_I_PARTS], chosen[VEM_I_PARTS], expected[VEM_I_PARTS];
    for (int32_t c = 0; c < VEM_I_PARTS; c++)
        each[c] = c;
    for (int32_t c = 0; c < count; c++)
        group_of(&p, each, c, groups + c * STRIDE);
    const vem_i_joining joining = {.objective = &o,
                                   .beside = vem_i_group_tally(&o, other, work),
                                   .least = least,
                                   .most = most,
                                   .groups = groups,
                                   .stride = STRIDE,
                                   .work = work};
    const double cost = vem_i_join_down(&joining, count, chosen);
    assert_near(cost, join_plainly(&o, &p, count, least, most, rows, scatter, expected));
    for (int32_t c = 0; c < count; c++)
        assert_int_equal(chosen[c], expected[c]);
}

static void groups_are_joined_down(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        for (int beside = 0; beside < 2; beside++)
            for (int32_t most = 1; most <= 8; most++)
                for (int32_t least = 1; least <= most; least += 2) {
                    check_joined(seed, 8, least, most, 0, beside);
                    check_joined(seed, 8, least, most, 1.5, beside);
                    check_joined(seed, 8, least, most, 20, beside);
                }
    check_joined(5, 1, 1, 1, 1, 1);
    check_joined(5, 3, 4, 6, 1, 1); /* fewer than there should be at least */
}

/* Groups without rows are in no cluster, and count for none. */
static void groups_without_rows(void **state)
{
    (void)state;
    double groups[(VEM_I_PARTS + 1) * STRIDE] = {0}, work[64];
    const double full[2][STRIDE] = {{5, 0, 0, 4}, {5, 9, 9, 4}};
    const vem_i_objective o = objective_of(1, 1, 10);
    memcpy(groups + STRIDE, full[0], sizeof full[0]);
    memcpy(groups + 3 * STRIDE, full[1], sizeof full[1]);
    const vem_i_joining joining = {.objective = &o,
                                   .least = 1,
                                   .most = 5,
                                   .groups = groups,
                                   .stride = STRIDE,
                                   .work = work};
    int32_t chosen[VEM_I_PARTS];
    const double cost = vem_i_join_down(&joining, 5, chosen), s = 8 / (2 * 8.0);
    static const int32_t expected[] = {-1, 1, -1, 3, -1};
    assert_memory_equal(chosen, expected, sizeof expected);
    assert_near(cost, 10 * log(2) + 10 * log(2 * acos(-1) * s) + 8 + 1 * 2 * 3);
}

/* ---- is it a normal sample? ---- */

/* By the formula in normality.h, with twice the digits. */
static void normality_of_samples(void **state)
{
    (void)state;
    static const struct {
        double values[10];
        int64_t n;
        double expected;
    } samples[] = {
        {{1, 2, 3, 5, 8, 13, 21, 34}, 8, 0.61371984844673222},
        {{0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, 10, 1.9974421933878028},
        {{-3, -1, -0.5, 0, 0.25, 0.5, 2}, 7, 0.28398010850236832},
        {{1, 2}, 2, -0.81406782843810599},
        {{4, 4, 4}, 3, 0}, /* nothing can be told */
        {{4}, 1, 0},
    };
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        const int64_t n = samples[k].n;
        double values[10], moved[10];
        for (int64_t i = 0; i < n; i++) {
            values[i] = samples[k].values[i];
            moved[n - 1 - i] = 1000 + 4 * values[i];
        }
        assert_true(fabs(vem_i_anderson_darling(values, n) - samples[k].expected) <
                    1e-12);
        assert_true(fabs(vem_i_anderson_darling(moved, n) - samples[k].expected) < 1e-9);
    }
}

/* ---- where draws fall ---- */

/* Places are in order, spread as uniform numbers are, whatever task made them, and are the running sums
 * of spacings that none but their own number makes. */
static void places_of_draws(void **state)
{
    (void)state;
    enum { SIZE = 3 * 4096 + 700 };
    static double places[SIZE + 1], fewer[SIZE + 1];
    vem_i_draw_places(run_of(ctx), 9, SIZE, places);
    double far = 0;
    assert_true(places[0] > 0 && places[SIZE - 1] < 1);
    for (int64_t k = 0; k < SIZE; k++) {
        assert_true(k == 0 || places[k] > places[k - 1]);
        far = fmax(far, fabs(places[k] - (double)(k + 1) / (SIZE + 1)));
    }
    assert_true(far < 2 / sqrt(SIZE)); /* Kolmogorov: passed once in a thousand */
    /* The end is the sum of all spacings: unit exponentials. */
    assert_true(fabs(places[SIZE] / (SIZE + 1) - 1) < 4 / sqrt(SIZE));
    for (int64_t size = 4094; size <= 4098; size++) {
        vem_i_draw_places(run_of(ctx), 9, size, fewer);
        for (int64_t k = 0; k < size; k++)
            assert_true(fabs(fewer[k] * fewer[size] - places[k] * places[SIZE]) < 1e-9);
        for (int64_t k = 0; k <= 100; k++) {
            const double sum = (double)k / 100;
            int64_t below = 0;
            while (below < size && fewer[below] < sum)
                below++;
            assert_int_equal(vem_i_places_below(fewer, 0, size, sum), below);
            assert_int_equal(vem_i_places_below(fewer, below / 2, size, sum), below);
        }
        assert_int_equal(vem_i_places_below(fewer, 0, size, INFINITY), size);
        assert_int_equal(vem_i_places_below(fewer, 0, size, fewer[77]), 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_joined_down),
        cmocka_unit_test(groups_without_rows),
        cmocka_unit_test(normality_of_samples),
        cmocka_unit_test(places_of_draws),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
