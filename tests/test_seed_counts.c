/* Seeds among sparse rows of counts: k-means++ measures them as they are, and chooses what it chooses
 * of the table that they stand for. */
#include <string.h>

#include "base/rng.h"
#include "data/data.h"
#include "fit/memory_plan.h"
#include "fit/presets.h"
#include "fit/starts_plan.h"
#include "grid.h"
#include "model/family.h"
#include "run.h"
#include "seed/roots.h"
#include "seed/seed.h"

#define CONTEXT_THREADS 2
#include "context.h"

enum { N = 120, D = 40, FILLED = 6, MOST = 20 };

typedef struct table {
    int64_t starts[N + 1];
    int32_t columns[N * D];
    double values[N * D];
    double x[N * D]; /* as the family sees it */
    double totals[N];
    vem_i_sparse sparse;
} table;

/* Counts in a few columns of each row; row 0 has none, row 1 is full, rows 2 and 3 are equal, row 4 is
 * row 2 twice. */
static void fill(table *t, const vem_i_family *family, uint64_t seed)
{
    const vem_i_counts *counts = family->of_counts;
    static double counted[N][D];
    memset(counted, 0, sizeof counted);
    for (int64_t i = 1; i < N; i++)
        for (int k = 0; k < FILLED; k++) {
            vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, (uint32_t)i, (uint64_t)k);
            const uint64_t column = vem_i_rng_below(&rng, D);
            counted[i][column] = counts->most == 1 && !counts->shares
                                     ? 1
                                     : 1 + (double)vem_i_rng_below(&rng, 9);
        }
    for (int j = 0; j < D; j++) {
        counted[1][j] = 1;
        counted[3][j] = counted[2][j];
        counted[4][j] = counts->stabilize ? 2 * counted[2][j] : counted[2][j];
    }
    int64_t e = 0;
    for (int64_t i = 0; i < N; i++) {
        t->starts[i] = e;
        for (int32_t j = 0; j < D; j++)
            if (counted[i][j] > 0) {
                t->columns[e] = j;
                t->values[e++] = counted[i][j];
            }
        memcpy(t->x + i * D, counted[i], sizeof counted[i]);
        if (counts->stabilize)
            counts->stabilize(t->x + i * D, D);
    }
    t->starts[N] = e;
    t->sparse = (vem_i_sparse){.starts = t->starts,
                               .ends = t->starts + 1,
                               .columns = t->columns,
                               .wide = t->values};
    for (int64_t i = 0; i < N; i++)
        t->totals[i] = vem_i_root_total(family, &t->sparse, i);
}

static double square(const double *a, const double *b)
{
    double sum = 0;
    for (int j = 0; j < D; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* Distances are those of the table; of rows that the family takes for one they are 0. */
static void distances_are_those_of_the_table(void **state)
{
    (void)state;
    static table t;
    static double centers[D * MOST], out[MOST * N];
    double squares[MOST];
    GRID_EACH_COUNTS (family) {
        const vem_i_counts *counts = vem_i_family_of(family)->of_counts;
        fill(&t, vem_i_family_of(family), 3);
        const vem_i_roots roots = {t.sparse, t.totals};
        for (int32_t c = 0; c < MOST; c++)
            squares[c] = vem_i_roots_place(&roots, c, centers, MOST, c);
        vem_i_roots_distances(&roots, ctx->kernels_double, 0, N, centers, MOST, squares,
                              MOST, out, N);
        for (int32_t c = 0; c < MOST; c++)
            for (int64_t i = 0; i < N; i++) {
                const double expected = square(t.x + i * D, t.x + c * D);
                if (!(fabs(out[c * N + i] - expected) <= 1e-13 * (1 + expected)))
                    fail_msg("row %d to %d: %.17g, not %.17g", (int)i, c, out[c * N + i],
                             expected);
                double dense[D];
                memcpy(dense, t.x + c * D, sizeof dense);
                assert_true(
                    fabs(vem_i_root_square(&t.sparse, i, t.totals[i], dense, squares[c]) -
                         expected) <= 1e-13 * (1 + expected));
            }
        for (int i = 0; i < MOST; i++)
            assert_true(out[i * N + i] == 0);
        assert_true(out[2 * N + 3] == 0);
        assert_true((out[2 * N + 4] == 0) == (counts->shares || !counts->stabilize));
        for (int32_t c = 0; c < MOST; c++)
            vem_i_roots_lift(&roots, c, centers, MOST, c);
        for (int k = 0; k < D * MOST; k++)
            assert_true(centers[k] == 0);
    }
}

static void seeds_are_those_of_the_table(void **state)
{
    (void)state;
    enum { K = 12 };
    static table t;
    GRID_EACH_COUNTS (family)
        for (uint64_t seed = 0; seed < 6; seed++) {
            const vem_i_family *contract = vem_i_family_of(family);
            fill(&t, contract, seed);
            vem_view dense = {.kernels = ctx->kernels_double,
                              .x = t.x,
                              .n = N,
                              .global_n = N,
                              .used = N,
                              .ld = D,
                              .d = D,
                              .total_mass = N};
            vem_view sparse = dense;
            sparse.x = NULL;
            sparse.sparse = t.sparse;
            for (int greedy = 0; greedy < 2; greedy++) {
                int64_t of_table[K], of_rows[K];
                const vem_seeding method =
                    greedy ? VEM_SEED_PLUSPLUS_GREEDY : VEM_SEED_PLUSPLUS;
                vem_i_seeds seen = {.items = of_table}, found = {.items = of_rows};
                assert_int_equal(vem_i_seed(run_of(ctx), &dense, method, K, 0, seed,
                                            &seen),
                                 VEM_OK);
                assert_int_equal(vem_i_seed_for(run_of(ctx), &sparse, contract, method, K,
                                                0, seed, &found),
                                 VEM_OK);
                assert_memory_equal(of_table, of_rows, sizeof of_rows);
                assert_true(seen.pairs == found.pairs && found.chosen == K);
            }
        }
}

/* All rows are one: k-means++ goes on by mass, and ends. */
static void one_place(void **state)
{
    (void)state;
    enum { ROWS = 5, K = 3 };
    const int64_t starts[ROWS + 1] = {0, 1, 2, 3, 4, 5};
    const int32_t columns[ROWS] = {7, 7, 7, 7, 7};
    vem_view view = {.kernels = ctx->kernels_single,
                     .n = ROWS,
                     .global_n = ROWS,
                     .used = ROWS,
                     .ld = 8,
                     .d = 8,
                     .total_mass = ROWS,
                     .sparse = {.starts = starts,
                                .ends = starts + 1,
                                .columns = columns}};
    int64_t items[K] = {-1, -1, -1};
    vem_i_seeds seeds = {.items = items};
    for (int none = 0; none < 2; none++) {
        if (none) /* and no values at all */
            view.sparse.ends = starts;
        assert_int_equal(vem_i_seed_for(run_of(ctx), &view,
                                        vem_i_family_of(VEM_MULTINOMIAL),
                                        VEM_SEED_PLUSPLUS_GREEDY, K, 0, 1, &seeds),
                         VEM_OK);
        for (int k = 0; k < K; k++)
            assert_true(items[k] >= 0 && items[k] < ROWS);
    }
}

/* The method is chosen by the rows that seeds are drawn from, not by all of them and all columns:
 * the chains of AFK-MC2 need a table. */
static void the_method_goes_by_the_sample(void **state)
{
    (void)state;
    vem_options o, r;
    const int32_t columns[] = {1 << 20, 1 << 25, INT32_MAX};
    vem_options_init(&o);
    GRID_EACH_COUNTS (family)
        for (int i = 0; i < 3; i++) {
            const int32_t d = columns[i];
            o.family = family;
            o.clusters = 20;
            assert_int_equal(vem_i_options_resolve(run_of(ctx), &o, 1 << 26, d,
                                                   VEM_FLOAT64, 100, &r),
                             VEM_OK);
            assert_int_equal(r.seeding, VEM_SEED_PLUSPLUS_GREEDY);
            o.clusters = 2000;
            assert_int_equal(vem_i_options_resolve(run_of(ctx), &o, 1 << 26, d,
                                                   VEM_FLOAT64, 100, &r),
                             VEM_OK);
            assert_int_equal(r.seeding, VEM_SEED_PLUSPLUS);
        }
    o.family = VEM_BERNOULLI; /* a table of bits is seen as it is, with all its rows */
    assert_int_equal(vem_i_options_resolve(run_of(ctx), &o, 1 << 26, 100, VEM_FLOAT64,
                                           100, &r),
                     VEM_OK);
    assert_int_equal(r.seeding, VEM_SEED_AFKMC2);
}

/* Beside few values in many columns a step on a sample costs nearly what one over all rows does: then
 * there are few runs. */
static void few_runs_beside_many_columns(void **state)
{
    (void)state;
    vem_options o, r;
    vem_options_init(&o);
    o.family = VEM_MULTINOMIAL;
    o.clusters = 20;
    assert_int_equal(vem_options_resolve(ctx, &o, 20000, 1 << 20, VEM_FLOAT64, &r),
                     VEM_OK);
    const vem_i_starts_plan dense = vem_i_starts_of(&r, 1, 0, 20000, 1000, 1000),
                            same = vem_i_starts_of(&r, 1, 0, 20000, 1 << 20, 1 << 20),
                            sparse = vem_i_starts_of(&r, 1, 0, 20000, 1 << 20, 100);
    assert_int_equal(dense.runs, 16);
    assert_int_equal(same.runs, dense.runs);
    assert_int_equal(sparse.rows, dense.rows);
    assert_true(sparse.runs >= 4 && sparse.runs <= 6);
    /* All rows are the sample: as many as ever. */
    assert_int_equal(vem_i_starts_of(&r, 1, 0, 2000, 1 << 20, 100).runs,
                     vem_i_starts_of(&r, 1, 0, 2000, 1000, 1000).runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_the_table),
        cmocka_unit_test(seeds_are_those_of_the_table),
        cmocka_unit_test(one_place),
        cmocka_unit_test(the_method_goes_by_the_sample),
        cmocka_unit_test(few_runs_beside_many_columns),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
