/* A start far beyond the spread of the data costs no digits: the first M-step is as exact as
 * any, for every family, search and precision, in a fit and from statistics. */
#include "context.h"
#include "run.h"

#include <stdio.h>
#include <unistd.h>

#include "model/family.h"

enum { ROWS = 900, COLUMNS = 3 };

typedef struct far_case {
    vem_family_kind family;
    vem_search_kind search;
    int32_t held, clusters;
    vem_precision precision;
    double away; /* in deviations */
} far_case;

static grid_data data;

static int set_up_data(void **state)
{
    data = grid_data_new(SET_SEPARATED, WEIGHTS_REAL, ROWS, COLUMNS, 7);
    return set_up(state);
}

static int tear_down_data(void **state)
{
    grid_data_free(&data);
    return tear_down(state);
}

/* All means close together, far away from every row. */
static vem_model *far_start(const far_case *c)
{
    vem_model *start = grid_start(ctx, &data, c->family, c->clusters);
    const double deviation = sqrt(grid_variance(&data));
    const int64_t count = (int64_t)c->clusters * COLUMNS;
    double *means = malloc((size_t)count * sizeof *means);
    for (int64_t i = 0; i < count; i++)
        means[i] = deviation * (c->away + (double)(i / COLUMNS));
    vem_model *moved = NULL;
    assert_int_equal(vem_model_new(ctx, c->family, c->clusters, COLUMNS, means,
                                   vem_model_weights(start), vem_model_variances(start),
                                   &moved),
                     VEM_OK);
    free(means);
    vem_model_free(start);
    return moved;
}

static vem_options options_of(const far_case *c, int64_t steps)
{
    vem_options o = grid_options(c->clusters, c->family, VEM_PRIOR_FLAT, c->held,
                                 c->precision, steps);
    o.search = c->search;
    if (c->search != VEM_SEARCH_ALL && c->search != VEM_SEARCH_CLOSEST)
        o.reach = c->clusters;
    return o;
}

/* F of one cluster: what a step reaches with any number of them, less log C at most. */
static double one_cluster(vem_family_kind family)
{
    const vem_options o = grid_options(1, family, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 3);
    vem_model *start = grid_start(ctx, &data, family, 1);
    grid_fit fit = grid_run(ctx, &data, &o, start);
    const double free_energy = fit.trace[fit.trace_count - 1].free_energy;
    grid_fit_free(&fit);
    vem_model_free(start);
    return free_energy;
}

static void assert_fit(const far_case *c)
{
    const vem_options o = options_of(c, 12);
    const double one = one_cluster(c->family);
    const double share = c->precision == VEM_SINGLE ? 1e-6 : 1e-9;
    vem_model *start = far_start(c);
    double bits[2] = {0};
    for (int run = 0; run < 2; run++) {
        assert_int_equal(vem_ctx_set_threads(ctx, run ? 3 : 1), VEM_OK);
        grid_fit fit = grid_run(ctx, &data, &o, start);
        assert_true(fit.trace_count >= 2);
        const double after = fit.trace[1].free_energy;
        /* Means of groups may be moved beyond the best place, by a part of the last step. */
        const double slack = c->search == VEM_SEARCH_GROUPS ? 1e-3 : 2 * share;
        if (!(after >= one - log(c->clusters) - slack * fabs(one)))
            fail_msg(
                "family %d, search %d, held %d, %d clusters, precision %d: F is %.9g "
                "after a start %g deviations away, and %.9g with one cluster",
                (int)c->family, (int)c->search, c->held, c->clusters, (int)c->precision,
                after, c->away, one);
        if (c->clusters == 1)
            assert_true(fabs(after - one) <= 2 * share * fabs(one));
        for (int64_t t = 1; t < fit.trace_count; t++)
            assert_true(fit.trace[t].free_energy >=
                        fit.trace[t - 1].free_energy -
                            share * fabs(fit.trace[t - 1].free_energy));
        bits[run] = fit.trace[fit.trace_count - 1].free_energy;
        grid_fit_free(&fit);
    }
    assert_memory_equal(&bits[0], &bits[1], sizeof *bits);
    vem_model_free(start);
}

static void fits(void **state)
{
    (void)state;
    static const struct {
        vem_search_kind search;
        int32_t held, clusters;
    } searches[] = {
        {VEM_SEARCH_CLOSEST, 1, 1}, {VEM_SEARCH_ALL, 3, 3},
        {VEM_SEARCH_CLOSEST, 1, 3}, {VEM_SEARCH_CLOSEST, 2, 3},
        {VEM_SEARCH_EXACT, 2, 4},   {VEM_SEARCH_ESTIMATED, 2, 4},
        {VEM_SEARCH_GROUPS, 1, 4},
    };
    GRID_EACH_SHAPED (family)
        for (size_t s = 0; s < sizeof searches / sizeof *searches; s++)
            for (int k = 0; k < 4; k++) {
                const far_case c = {.family = family,
                                    .search = searches[s].search,
                                    .held = searches[s].held,
                                    .clusters = searches[s].clusters,
                                    .precision = k < 2 ? VEM_SINGLE : VEM_DOUBLE,
                                    .away = k == 0   ? 3e3
                                            : k == 1 ? 3e5
                                            : k == 2 ? 1e6
                                                     : 1e9};
                assert_fit(&c);
            }
}

static vem_stats *statistics_of(const vem_model *model, const vem_options *o,
                                int64_t first, int64_t count)
{
    vem_stats *stats = NULL;
    const grid_data some = {.n = count,
                            .d = data.d,
                            .x = data.x + first * data.d,
                            .weights = data.weights + first};
    vem_data *rows = grid_borrow(ctx, &some);
    if (vem_accumulate(ctx, model, rows, o, &stats) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    vem_data_free(rows);
    return stats;
}

/* Of all rows, or (`halves`) the sum of those of two halves out of files. */
static vem_stats *statistics(const vem_model *model, const vem_options *o, int halves)
{
    if (!halves)
        return statistics_of(model, o, 0, data.n);
    char paths[2][64];
    for (int k = 0; k < 2; k++) {
        vem_stats *part = statistics_of(model, o, k * (data.n / 3),
                                        k ? data.n - data.n / 3 : data.n / 3);
        snprintf(paths[k], sizeof paths[k], "/tmp/vem_steady_%d_%d.npz", (int)getpid(),
                 k);
        assert_int_equal(vem_stats_write(ctx, part, paths[k]), VEM_OK);
        vem_stats_free(part);
    }
    vem_stats *sum = NULL;
    const char *const both[] = {paths[0], paths[1]};
    if (vem_stats_merge(ctx, both, 2, &sum) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    unlink(paths[0]);
    unlink(paths[1]);
    return sum;
}

static double free_energy_of(const vem_stats *stats)
{
    vem_stats_summary s = {.size = sizeof s};
    vem_stats_describe(stats, &s);
    return s.free_energy;
}

/* Statistics of rows far from the means of the model are about a place near the rows: those of
 * parts add up, through files too, to a step that knows the variance. In single precision the
 * rows themselves have lost digits so far from the model; the step after it is exact. */
static void parts(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int run = 0; run < 8; run++) {
            const int k = run / 2, halves = run % 2;
            far_case c = {.family = family,
                          .search = VEM_SEARCH_CLOSEST,
                          .held = 1,
                          .clusters = 1,
                          .precision = k < 2 ? VEM_SINGLE : VEM_DOUBLE,
                          .away = k == 0   ? 30
                                  : k == 1 ? 3e3
                                  : k == 2 ? 1e5
                                           : 1e9};
            const vem_options o = options_of(&c, 1);
            const double one = one_cluster(family);
            vem_model *model = far_start(&c);
            for (int step = 0; step < 3; step++) {
                vem_stats *stats = statistics(model, &o, halves);
                const double now = free_energy_of(stats);
                const double lost = k == 1 ? 1e-4 : 1e-6;
                if (step > 0 && !(now >= one - lost * fabs(one)))
                    fail_msg(
                        "family %d, %g deviations away: F is %.9g after step %d, not "
                        "%.9g",
                        (int)family, c.away, now, step, one);
                vem_model *next = NULL;
                assert_int_equal(vem_stats_next(ctx, stats, &next), VEM_OK);
                vem_stats_free(stats);
                vem_model_free(model);
                model = next;
            }
            vem_model_free(model);
        }
}

/* Full covariances of float rows are summed in double, whatever the dimension and the table:
 * the panel of a table decided once. */
static void wide_moments(const char *cpu, int32_t d)
{
    enum { ITEMS = 37 };
    const vem_i_kernels *single = vem_i_kernels_find(cpu, VEM_SINGLE),
                        *wide = vem_i_kernels_find(cpu, VEM_DOUBLE);
    if (!single || !wide)
        return; /* not on this processor */
    const int64_t n = d;
    vem_i_scorer scorer;
    vem_i_stats stats;
    assert_int_equal(vem_i_scorer_new(run_of(ctx), single,
                                      vem_i_shape_of(vem_i_family_of(VEM_FULL), 1, d),
                                      &scorer),
                     VEM_OK);
    assert_int_equal(vem_i_stats_new(run_of(ctx),
                                     vem_i_shape_of(vem_i_family_of(VEM_FULL), 1, d),
                                     &stats),
                     VEM_OK);
    scorer.wide = wide;
    float *x = grid_zeros(ITEMS * n, sizeof *x), q[ITEMS];
    float *panels = grid_zeros(VEM_I_BLOCK * n, sizeof *panels);
    for (int64_t i = 0; i < ITEMS * n; i++)
        x[i] = (float)(1 + 1e-3 * sin((double)i));
    for (int i = 0; i < ITEMS; i++)
        q[i] = (float)(0.3 + 0.01 * i);
    single->pack(x, d, NULL, ITEMS, d, NULL, panels, NULL);
    const vem_i_items items = {.n = ITEMS, .panels = panels};
    scorer.family->collect_tile(&scorer, &items, q, 0, 0, &stats);
    const double *second = vem_i_stats_second(&stats, 0);
    for (int64_t at = 0, i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++, at++) {
            if (at % 101 && i != n - 1)
                continue;
            double sum = 0;
            for (int64_t k = 0; k < ITEMS; k++)
                sum += (double)q[k] * (double)x[k * n + i] * (double)x[k * n + j];
            if (!(fabs(second[at] - sum) <= 1e-13 * sum))
                fail_msg("%s, %d columns: moment %d, %d is %.17g, not %.17g", cpu, d,
                         (int)i, (int)j, second[at], sum);
        }
    free(x);
    free(panels);
    vem_i_stats_free(&stats);
    vem_i_scorer_free(&scorer);
}

static void full_in_double(void **state)
{
    (void)state;
    static const int32_t columns[] = {7, 511, 513, 1023, 1025, 2100};
    for (const char *const *cpu = vem_i_kernels_names(); *cpu; cpu++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            wide_moments(*cpu, columns[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fits), cmocka_unit_test(parts),
                                       cmocka_unit_test(full_in_double)};
    return cmocka_run_group_tests(tests, set_up_data, tear_down_data);
}
