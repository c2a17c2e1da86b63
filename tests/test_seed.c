/* Seeding: the four methods draw by the law they name (counts over many seeds against
 * exact chances), the fast forms of greedy k-means++ and AFK-MC2 choose what the plain
 * algorithms written here choose, and distances are counted as docs/math/seeding.md says.
 */
#include "data/points.h"
#include "grid.h"
#include "run.h"
#include "seed/seed.h"

#define CONTEXT_THREADS 2
#include "context.h"

static vem_i_points *points_of(const grid_data *data, vem_precision precision)
{
    vem_data *rows = NULL;
    vem_i_points *points = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data->x, data->n, data->d, 0, 0,
                                     &rows),
                     VEM_OK);
    if (data->weights)
        assert_int_equal(vem_data_set_weights(ctx, rows, data->weights, data->n), VEM_OK);
    vem_i_points_request request = {.precision = precision, .phase = "read"};
    assert_int_equal(vem_i_points_new(run_of(ctx), rows, &request, &points), VEM_OK);
    vem_data_free(rows);
    return points;
}

static vem_i_seeds run(const vem_view *view, vem_seeding method, int32_t clusters,
                       int64_t chain, uint64_t seed, int64_t *items)
{
    vem_i_seeds seeds = {.items = items};
    assert_int_equal(vem_i_seed(run_of(ctx), view, method, clusters, chain, seed, &seeds),
                     VEM_OK);
    return seeds;
}

/* Squared distance of two items as stored, in double. */
static double distance(const vem_view *view, int64_t a, int64_t b)
{
    double sum = 0;
    for (int32_t j = 0; j < view->d; j++) {
        double e = vem_i_value(view->kernels, vem_i_view_row(view, a), j) -
                   vem_i_value(view->kernels, vem_i_view_row(view, b), j);
        sum += e * e;
    }
    return sum;
}

/* ---- Laws ---- */

enum { TINY = 5, DRAWS = 20000 };
static double tiny_x[TINY * 2] = {0, 0, 1, 0, 0, 3, 4, 4, -2, 1};
static double tiny_w[TINY] = {1, 2, 0.5, 1.5, 0}; /* the last is never drawn */

/* Chance of item i next, given what was chosen: w D2 / sum. */
static double d2_chance(const vem_view *view, const int64_t *chosen, int32_t count,
                        int64_t item)
{
    double total = 0, mine = 0;
    for (int64_t i = 0; i < view->n; i++) {
        double least = count ? INFINITY : 1;
        for (int32_t c = 0; c < count; c++)
            least = fmin(least, distance(view, i, chosen[c]));
        total += view->mass[i] * least;
        mine = i == item ? view->mass[i] * least : mine;
    }
    return mine / total;
}

static double random_chance(const vem_view *view, const int64_t *chosen, int32_t count,
                            int64_t item)
{
    double total = 0, mine = view->mass[item];
    for (int64_t i = 0; i < view->n; i++) {
        int taken = 0;
        for (int32_t c = 0; c < count; c++)
            taken |= chosen[c] == i;
        total += taken ? 0 : view->mass[i];
        mine = taken && i == item ? 0 : mine;
    }
    return mine / total;
}

/* Greedy with two candidates (C = 2): the better of two draws, the first of equals. */
static double greedy_chance(const vem_view *view, const int64_t *chosen, int32_t count,
                            int64_t item)
{
    if (count == 0)
        return d2_chance(view, chosen, 0, item);
    double chance[TINY], potential[TINY], total = 0;
    for (int64_t i = 0; i < TINY; i++) {
        chance[i] = d2_chance(view, chosen, count, i);
        potential[i] = 0;
        for (int64_t k = 0; k < TINY; k++)
            potential[i] +=
                view->mass[k] * fmin(distance(view, k, chosen[0]), distance(view, k, i));
    }
    for (int64_t a = 0; a < TINY; a++)
        for (int64_t b = 0; b < TINY; b++)
            if ((potential[b] < potential[a] ? b : a) == item)
                total += chance[a] * chance[b];
    return total;
}

/* Where a chain of three draws ends (C = 2): the exact law of AFK-MC2. */
static double chain_chance(const vem_view *view, const int64_t *chosen, int32_t count,
                           int64_t item)
{
    if (count == 0)
        return d2_chance(view, chosen, 0, item);
    double q[TINY], key[TINY], now[TINY], next[TINY], weighted = 0;
    for (int64_t i = 0; i < TINY; i++)
        weighted += view->mass[i] * distance(view, i, chosen[0]);
    for (int64_t i = 0; i < TINY; i++) {
        double d2 = distance(view, i, chosen[0]);
        now[i] = q[i] =
            0.5 * view->mass[i] * d2 / weighted + 0.5 * view->mass[i] / view->total_mass;
        key[i] = q[i] > 0 ? view->mass[i] * d2 / q[i] : 0;
    }
    for (int proposals = 0; proposals < 2; proposals++) {
        memset(next, 0, sizeof next);
        for (int64_t a = 0; a < TINY; a++)
            for (int64_t b = 0; b < TINY; b++) {
                double accept = key[a] == 0 ? 1 : fmin(1, key[b] / key[a]);
                next[b] += now[a] * q[b] * accept;
                next[a] += now[a] * q[b] * (1 - accept);
            }
        memcpy(now, next, sizeof now);
    }
    return now[item];
}

typedef double (*law)(const vem_view *, const int64_t *, int32_t, int64_t);

/* Chi-square of the ordered choices of `clusters` items over many seeds. The bound is far
 * beyond what a right sampler reaches (chance below 1e-6 for up to 60 outcomes). */
static void check_law(vem_seeding method, int32_t clusters, int64_t chain, law chance)
{
    grid_data data = {.n = TINY, .d = 2, .x = tiny_x, .weights = tiny_w};
    vem_i_points *points = points_of(&data, VEM_DOUBLE);
    const vem_view *view = &points->view;
    int64_t counts[TINY * TINY * TINY] = {0}, items[3] = {0};
    int outcomes = clusters == 3 ? TINY * TINY * TINY : TINY * TINY, degrees = -1;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        run(view, method, clusters, chain, seed, items);
        int64_t code = 0;
        for (int32_t c = 0; c < clusters; c++)
            code = code * TINY + items[c];
        counts[code]++;
    }
    double chi = 0;
    for (int code = 0; code < outcomes; code++) {
        int64_t chosen[3] = {code / TINY % TINY, code % TINY, 0};
        if (clusters == 3) {
            chosen[0] = code / TINY / TINY;
            chosen[1] = code / TINY % TINY;
            chosen[2] = code % TINY;
        }
        double p = 1;
        for (int32_t c = 0; c < clusters && p > 0; c++)
            p *= chance(view, chosen, c, chosen[c]);
        if (!(p > 1e-12)) {
            assert_int_equal(counts[code], 0); /* among them every row of weight 0 */
            continue;
        }
        chi += pow((double)counts[code] - DRAWS * p, 2) / (DRAWS * p);
        degrees++;
    }
    double bound = degrees + 6 * sqrt(2.0 * degrees) + 10;
    if (!(chi < bound))
        fail_msg("chi-square %g of %d degrees, bound %g", chi, degrees, bound);
    vem_i_points_free(points);
}

static void laws(void **state)
{
    (void)state;
    assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK); /* five rows do not share */
    check_law(VEM_SEED_RANDOM, 3, 0, random_chance);
    check_law(VEM_SEED_PLUSPLUS, 3, 0, d2_chance);
    check_law(VEM_SEED_PLUSPLUS_GREEDY, 2, 0, greedy_chance);
    check_law(VEM_SEED_AFKMC2, 2, 3, chain_chance);
    check_law(VEM_SEED_AFKMC2, 3, 80, d2_chance); /* a long chain forgets its proposal */
    assert_int_equal(vem_ctx_set_threads(ctx, 2), VEM_OK);
}

/* ---- Plain forms of the fast algorithms ---- */

static int64_t draw(const double *chances, int64_t n, double uniform)
{
    double total = 0, sum = 0;
    int64_t last = 0;
    for (int64_t i = 0; i < n; i++)
        total += chances[i];
    for (int64_t i = 0; i < n; i++) {
        if (chances[i] <= 0)
            continue;
        last = i;
        if ((sum += chances[i]) > uniform * total)
            break;
    }
    return last;
}

static void meet(const vem_view *view, int64_t center, double *nearest)
{
    for (int64_t i = 0; i < view->n; i++)
        nearest[i] = fmin(nearest[i], distance(view, i, center));
}

/* The same from cumulated chances, for many draws. */
static int64_t draw_cumulated(const double *cumulated, int64_t n, double uniform)
{
    double target = uniform * cumulated[n - 1];
    int64_t low = 0, high = n - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (cumulated[middle] > target)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void plain_afkmc2(const vem_view *view, int32_t clusters, int64_t chain,
                         uint64_t seed, int64_t *items)
{
    double *q = grid_zeros(view->n, sizeof *q), *near = grid_zeros(view->n, sizeof *near);
    double weighted = 0;
    vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_CHAIN, 1, 0);
    for (int64_t i = 0; i < view->n; i++) {
        q[i] = vem_i_view_mass(view, i);
        near[i] = INFINITY;
    }
    items[0] = draw(q, view->n, vem_i_rng_uniform(&rng));
    meet(view, items[0], near);
    for (int64_t i = 0; i < view->n; i++)
        weighted += vem_i_view_mass(view, i) * near[i];
    for (int64_t i = 0; i < view->n; i++)
        q[i] = vem_i_afkmc2_proposal(vem_i_view_mass(view, i), near[i], view->total_mass,
                                     weighted);
    double *sum = grid_zeros(view->n, sizeof *sum);
    for (int64_t i = 0; i < view->n; i++)
        sum[i] = (i ? sum[i - 1] : 0) + q[i];
    for (int32_t c = 1; c < clusters; c++) {
        int64_t x = -1;
        double key_x = 0;
        rng = vem_i_rng_at(seed, VEM_RNG_CHAIN, 0, (uint64_t)c);
        for (int64_t j = 0; j < chain; j++) {
            int64_t y = draw_cumulated(sum, view->n, vem_i_rng_uniform(&rng));
            double u = vem_i_rng_uniform(&rng);
            double key_y = vem_i_view_mass(view, y) * near[y] / q[y];
            if (x < 0 || key_x == 0 || key_y / key_x > u) {
                x = y;
                key_x = key_y;
            }
        }
        items[c] = x;
        meet(view, x, near);
    }
    free(q);
    free(sum);
    free(near);
}

static void compare_afkmc2(const grid_data *data, vem_precision precision,
                           int32_t clusters, int64_t chain)
{
    vem_i_points *points = points_of(data, precision);
    int64_t *fast = grid_zeros(clusters, sizeof *fast),
            *plain = grid_zeros(clusters, sizeof *plain);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        vem_i_seeds seeds =
            run(&points->view, VEM_SEED_AFKMC2, clusters, chain, seed, fast);
        plain_afkmc2(&points->view, clusters, chain, seed, plain);
        for (int32_t c = 0; c < clusters; c++)
            if (fast[c] != plain[c])
                fail_msg("center %d is row %d, not %d", c, (int)fast[c], (int)plain[c]);
        assert_int_equal(seeds.pairs,
                         data->n + chain * clusters * ((int64_t)clusters - 1) / 2);
    }
    free(fast);
    free(plain);
    vem_i_points_free(points);
}

static void batches_are_the_plain_chains(void **state)
{
    (void)state;
    for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++)
        for (int weights = 0; weights < WEIGHTS_COUNT; weights++) {
            grid_data data =
                grid_data_new(SET_OVERLAPPING, (grid_weights)weights, 2500, 20, 71);
            compare_afkmc2(&data, (vem_precision)precision, 100, 2);
            compare_afkmc2(&data, (vem_precision)precision, 60, 200); /* batches of 20 */
            compare_afkmc2(&data, (vem_precision)precision, 5, 5000); /* of one */
            grid_data_free(&data);
        }
}

/* Many centers in each of a few tight clusters far from the mean: in single precision the
 * dot form cannot tell which of them is nearest. */
static void far_tight_chains(void **state)
{
    (void)state;
    grid_data data = {.n = 600, .d = 20, .x = grid_zeros(600 * 20, sizeof(double))};
    for (int64_t i = 0; i < data.n; i++) {
        vem_i_rng rng = vem_i_rng_at(72, VEM_RNG_TEST, 0, (uint64_t)i);
        for (int32_t j = 0; j < data.d; j++)
            data.x[i * data.d + j] =
                (j == i % 4 ? 1e3 : 0) + 1e-2 * vem_i_rng_normal(&rng);
    }
    compare_afkmc2(&data, VEM_SINGLE, 60, 200); /* in batches of 20 */
    grid_data_free(&data);
}

static void greedy_keeps_the_best_candidate(void **state)
{
    (void)state;
    enum { CLUSTERS = 25 };
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_ZEROS, 1500, 3, 73);
    vem_i_points *points = points_of(&data, VEM_DOUBLE);
    const vem_view *view = &points->view;
    const int32_t candidates = 2 + (int32_t)log(CLUSTERS);
    double *near = grid_zeros(data.n, sizeof *near),
           *chance = grid_zeros(data.n, sizeof *near);
    int64_t items[CLUSTERS];
    for (uint64_t seed = 1; seed <= 4; seed++) {
        vem_i_seeds seeds = run(view, VEM_SEED_PLUSPLUS_GREEDY, CLUSTERS, 0, seed, items);
        double last = INFINITY;
        for (int64_t i = 0; i < data.n; i++)
            near[i] = INFINITY;
        for (int32_t c = 0; c < CLUSTERS; c++) {
            vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_SEEDING, 1, (uint64_t)c);
            double least = INFINITY;
            int64_t best = -1;
            for (int64_t i = 0; i < data.n; i++)
                chance[i] = view->mass[i] > 0 ? view->mass[i] * (c ? near[i] : 1) : 0;
            for (int32_t k = 0; k < (c ? candidates : 1); k++) {
                int64_t y = draw(chance, data.n, vem_i_rng_uniform(&rng));
                double potential = 0;
                for (int64_t i = 0; i < data.n; i++)
                    if (view->mass[i] > 0)
                        potential += view->mass[i] * fmin(near[i], distance(view, i, y));
                if (potential < least) {
                    least = potential;
                    best = y;
                }
            }
            assert_int_equal(items[c], best);
            assert_true(least <= last);
            meet(view, best, near);
            last = least;
        }
        double variance = last / view->total_mass / data.d;
        grid_assert_near(seeds.variance, variance, 1e-10 * variance, "HFL (8)");
        assert_int_equal(seeds.pairs,
                         data.n * CLUSTERS + data.n * candidates * (CLUSTERS - 1));
    }
    free(near);
    free(chance);
    vem_i_points_free(points);
    grid_data_free(&data);
}

/* ---- Counts and choices ---- */

static void rows_are_distinct(void **state)
{
    (void)state;
    enum { CLUSTERS = 50 };
    for (int method = VEM_SEED_RANDOM; method <= VEM_SEED_PLUSPLUS_GREEDY; method++)
        for (int set = 0; set < SET_COUNT; set++) {
            grid_data data = grid_data_new((grid_set)set, WEIGHTS_ZEROS, 210, 2, 74);
            vem_i_points *points = points_of(&data, VEM_SINGLE);
            int64_t items[CLUSTERS];
            for (uint64_t seed = 1; seed <= 20; seed++) {
                vem_i_seeds seeds =
                    run(&points->view, (vem_seeding)method, CLUSTERS, 0, seed, items);
                for (int32_t a = 0; a < CLUSTERS; a++) {
                    assert_true(data.weights[items[a]] > 0);
                    for (int32_t b = 0; b < a; b++) {
                        assert_int_not_equal(items[a], items[b]);
                        /* D^2 sampling never takes a copy of a row either. */
                        if (method != VEM_SEED_RANDOM)
                            assert_true(distance(&points->view, items[a], items[b]) > 0);
                    }
                }
                if (method == VEM_SEED_RANDOM)
                    assert_int_equal(seeds.pairs, 0);
                if (method == VEM_SEED_PLUSPLUS)
                    assert_int_equal(seeds.pairs, data.n * CLUSTERS);
            }
            vem_i_points_free(points);
            grid_data_free(&data);
        }
}

/* As many clusters as distinct rows, with copies: D^2 sampling finds each row once. */
static void every_distinct_row(void **state)
{
    (void)state;
    grid_data data = {.n = 30, .d = 1, .x = grid_zeros(30, sizeof(double))};
    for (int64_t i = 0; i < 30; i++)
        data.x[i] = (double)(i % 6);
    for (int method = VEM_SEED_PLUSPLUS; method <= VEM_SEED_AFKMC2; method++)
        for (int64_t seed = 1; seed <= 10; seed++) {
            vem_options o =
                grid_options(6, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 20);
            o.seeding = method;
            o.seed = seed;
            o.chain = 100;
            o.measure = 1;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            if (method != VEM_SEED_AFKMC2)
                assert_true(fit.summary->quantization_error == 0);
            assert_true(isfinite(fit.summary->free_energy));
            grid_fit_free(&fit);
        }
    grid_data_free(&data);
}

static void other_seed_other_rows(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 1000, 3, 75);
    vem_i_points *points = points_of(&data, VEM_DOUBLE);
    for (int method = VEM_SEED_RANDOM; method <= VEM_SEED_TWO_LEVEL; method++) {
        int64_t a[8], b[8];
        run(&points->view, (vem_seeding)method, 8, 10, 1, a);
        run(&points->view, (vem_seeding)method, 8, 10, 1, b);
        assert_memory_equal(a, b, sizeof a);
        run(&points->view, (vem_seeding)method, 8, 10, UINT64_C(1) << 40, b);
        assert_memory_not_equal(a, b, sizeof a);
    }
    vem_i_points_free(points);
    grid_data_free(&data);
}

/* What a seeding says of the nearest centers: k-means++ knows them, others do not. */
static void first_centers(void **state)
{
    (void)state;
    enum { CLUSTERS = 9 };
    for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 2500, 3, 17);
        vem_i_points *points = points_of(&data, (vem_precision)precision);
        int32_t *first = grid_zeros(data.n, sizeof *first);
        for (int method = VEM_SEED_RANDOM; method <= VEM_SEED_AFKMC2; method++) {
            int known = method != VEM_SEED_RANDOM && method != VEM_SEED_AFKMC2;
            int64_t items[CLUSTERS];
            vem_i_seeds seeds = {.items = items, .first = first};
            vem_i_seed(run_of(ctx), &points->view, (vem_seeding)method, CLUSTERS, 5, 3,
                       &seeds);
            for (int64_t i = 0; i < data.n; i++) {
                assert_in_range(first[i] + 1, known, known * CLUSTERS);
                for (int c = 0; known && c < CLUSTERS; c++)
                    assert_true(distance(&points->view, i, items[first[i]]) <=
                                1.00001 * distance(&points->view, i, items[c]));
            }
        }
        free(first);
        vem_i_points_free(points);
        grid_data_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_centers),
        cmocka_unit_test(laws),
        cmocka_unit_test(batches_are_the_plain_chains),
        cmocka_unit_test(far_tight_chains),
        cmocka_unit_test(greedy_keeps_the_best_candidate),
        cmocka_unit_test(rows_are_distinct),
        cmocka_unit_test(every_distinct_row),
        cmocka_unit_test(other_seed_other_rows),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
