/* Fits with shared lists (--search groups): the law of F, the same bits for any threads, the
 * exact search where the lists leave nothing out, and labels of the rows as they came. */
#include "engine.h"

#define CONTEXT_THREADS 1
#include "context.h"

#ifdef VEM_SANITIZED
enum { STRIDE = 17, THREAD_STRIDE = 431, MANY_ROWS = 3000, HUGE_ROWS = 6000 };
#else
/* 7 and 17 share no factor with the grid, so every axis is visited. */
enum { STRIDE = 7, THREAD_STRIDE = 311, MANY_ROWS = 5000, HUGE_ROWS = 20000 };
#endif

/* ---- the grid ---- */

enum { PRIORS = 2, HELD = 3, PRECISIONS = 2, DIMENSIONS = 5, SETS = 3 };
enum { ROWS = 240, CLUSTERS = 13 };

static int case_count(void)
{
    return grid_shaped_count() * PRIORS * HELD * PRECISIONS * 3 * DIMENSIONS * SETS;
}

static grid_case case_at(int index)
{
    static const int32_t dimensions[DIMENSIONS] = {1, 2, 3, 17, 20};
    static const grid_weights weights[3] = {WEIGHTS_NONE, WEIGHTS_REAL, WEIGHTS_ZEROS};
    static const grid_set sets[SETS] = {SET_OVERLAPPING, SET_SEPARATED, SET_DUPLICATES};
    grid_case c = {.clusters = CLUSTERS};
    c.family = grid_shaped(index % grid_shaped_count());
    index /= grid_shaped_count();
    c.prior = (vem_prior_kind)(index % PRIORS);
    index /= PRIORS;
    c.held = 1 + index % HELD;
    index /= HELD;
    c.precision = (vem_precision)(index % PRECISIONS);
    index /= PRECISIONS;
    c.weights = weights[index % 3];
    index /= 3;
    c.d = dimensions[index % DIMENSIONS];
    index /= DIMENSIONS;
    c.set = sets[index];
    return c;
}

static vem_options groups_options(const grid_case *c, int64_t reach, int64_t probe,
                                  int64_t max_steps)
{
    vem_options o =
        grid_options(c->clusters, c->family, c->prior, c->held, c->precision, max_steps);
    o.search = VEM_SEARCH_GROUPS;
    o.reach = reach;
    o.probe = probe;
    o.swaps = 0;
    o.seeding = VEM_SEED_RANDOM;
    return o;
}

/* The rest varies along with the number of the case. */
static vem_options case_options(const grid_case *c, int index)
{
    vem_options o =
        groups_options(c, 1 + index / grid_shaped_count() % 7, 1 + index % 3, 14);
    o.swaps = index % 5 < 2 ? 0 : index % 5;
    o.seeding = index % 3 == 0   ? VEM_SEED_TWO_LEVEL
                : index % 3 == 1 ? VEM_SEED_RANDOM
                                 : VEM_SEED_PLUSPLUS;
    o.empty = index % 11 % 3;
    o.seed = 1 + index;
    return o;
}

/* F never falls; the only exceptions are moves that are allowed to, and are named. A swap
 * is none of them. Returns how many swaps were made. */
static int64_t assert_law(const grid_fit *fit, vem_precision precision, const char *what)
{
    double share = precision == VEM_SINGLE ? 1e-6 : 1e-9;
    int64_t swaps = 0;
    for (int64_t t = 0; t < fit->trace_count; t++) {
        const vem_trace_step *line = &fit->trace[t];
        assert_true(isfinite(line->free_energy));
        assert_true((line->move != NULL) == (line->moved > 0));
        int swap = line->move && strcmp(line->move, "swap") == 0;
        swaps += swap;
        if (t + 1 == fit->trace_count || (line->move && !swap))
            continue;
        double before = line->free_energy, now = line[1].free_energy;
        if (!(now >= before - share * fmax(1, fabs(before))))
            fail_msg("F falls from %.17g to %.17g in step %d%s: %s", before, now,
                     (int)line[1].step, swap ? " after swaps" : "", what);
    }
    for (int64_t i = 0; i < fit->summary->n; i++)
        assert_in_range(fit->labels[i], 0, vem_model_clusters(fit->model) - 1);
    return swaps;
}

static void free_energy_never_falls(void **state)
{
    (void)state;
    int64_t swaps = 0;
    for (int index = 0; index < case_count(); index += grid_turns(STRIDE)) {
        grid_case c = case_at(index);
        grid_data data = grid_data_new(c.set, c.weights, ROWS, c.d, 71);
        vem_options o = case_options(&c, index);
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        swaps += assert_law(&fit, c.precision, grid_name(&c));
        grid_fit_free(&fit);
        grid_data_free(&data);
    }
    assert_true(swaps > 0);
}

/* ---- threads ---- */

static void assert_bits(const void *a, const void *b, size_t bytes, const char *what)
{
    if (memcmp(a, b, bytes) != 0)
        fail_msg("the bits differ: %s", what);
}

static void any_threads(const grid_data *data, vem_options o, const char *what)
{
    static const int threads[] = {1, 2, 3, 7};
    grid_fit first = {0};
    for (int k = 0; k < 4; k++) {
        o.threads = threads[k];
        grid_fit fit = grid_run(ctx, data, &o, NULL);
        if (k == 0) {
            first = fit;
            continue;
        }
        size_t c = (size_t)vem_model_clusters(first.model), real = sizeof(double);
        assert_int_equal(vem_model_clusters(fit.model), c);
        assert_int_equal(fit.trace_count, first.trace_count);
        for (int64_t t = 0; t < fit.trace_count; t++) {
            const vem_trace_step *a = &first.trace[t], *b = &fit.trace[t];
            assert_bits(&a->free_energy, &b->free_energy, real, what);
            assert_true(a->step == b->step && a->pairs == b->pairs &&
                        a->changed == b->changed && a->empty == b->empty &&
                        a->moved == b->moved);
        }
        assert_bits(vem_model_means(first.model), vem_model_means(fit.model),
                    c * (size_t)data->d * real, what);
        assert_bits(vem_model_weights(first.model), vem_model_weights(fit.model),
                    c * real, what);
        assert_bits(vem_model_variances(first.model), vem_model_variances(fit.model),
                    vem_model_variance_count(fit.model) * real, what);
        assert_bits(first.labels, fit.labels, (size_t)data->n * sizeof(int32_t), what);
        grid_fit_free(&fit);
    }
    grid_fit_free(&first);
}

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    for (int index = 0; index < case_count(); index += THREAD_STRIDE) {
        grid_case c = case_at(index);
        grid_data data = grid_data_new(c.set, c.weights, ROWS, c.d, 72);
        any_threads(&data, case_options(&c, index), grid_name(&c));
        grid_data_free(&data);
    }
    /* Several shards of rows, several blocks of clusters. */
    GRID_EACH_SHAPED (family) {
        int soft = family % 2; /* iso, full, full-shared */
        grid_case c = {.family = (vem_family_kind)family,
                       .prior = VEM_PRIOR_FREE,
                       .held = soft ? 2 : 1,
                       .clusters = vem_family_axes(family) == 2 ? 40 : 300,
                       .precision = soft ? VEM_DOUBLE : VEM_SINGLE,
                       .weights = WEIGHTS_REAL,
                       .d = vem_family_axes(family) == 2 ? 3 : 18,
                       .set = SET_OVERLAPPING};
        grid_data data = grid_data_new(c.set, c.weights, MANY_ROWS, c.d, 73);
        vem_options o = groups_options(&c, 20, 2, 8);
        o.swaps = 2;
        o.seeding = VEM_SEED_TWO_LEVEL;
        o.empty = VEM_EMPTY_RESEED;
        any_threads(&data, o, grid_name(&c));
        grid_data_free(&data);
    }
}

/* ---- nothing left out ---- */

/* Lists of all clusters are the exact search, step by step. */
static void full_lists_are_the_exact_search(void **state)
{
    (void)state;
    for (int index = 0; index < case_count(); index += grid_turns(STRIDE)) {
        grid_case c = case_at(index);
        if (c.precision == VEM_SINGLE || c.set == SET_DUPLICATES)
            continue; /* ties and rounding may be decided either way */
        c.clusters = 9;
        grid_data data = grid_data_new(c.set, c.weights, ROWS, c.d, 74);
        vem_model *start = grid_start(ctx, &data, c.family, c.clusters);
        vem_options o = groups_options(&c, c.clusters, 64, 12);
        engine lists, exact;
        engine_new(&lists, ctx, &data, &o, start);
        o.search = VEM_SEARCH_CLOSEST;
        o.reach = o.probe = VEM_AUTO;
        engine_new(&exact, ctx, &data, &o, start);
        engine_expect(&lists, (vem_i_step_plan){.probe = 64}); /* lists begin somewhere */
        assert_int_equal(vem_i_em_run(&lists.em), VEM_OK);
        assert_int_equal(vem_i_em_run(&exact.em), VEM_OK);
        assert_int_equal(lists.em.trace.count, exact.em.trace.count);
        assert_true(exact.em.trace.count > 1);
        for (int64_t t = 0; t < exact.em.trace.count; t++)
            grid_assert_near(lists.em.trace.steps[t].free_energy,
                             exact.em.trace.steps[t].free_energy, 1e-9, grid_name(&c));
        assert_memory_equal(lists.em.posterior.held, exact.em.posterior.held,
                            (size_t)(data.n * c.held) * sizeof(int32_t));
        grid_assert_models(lists.em.model, exact.em.model, 1e-8, grid_name(&c));
        engine_free(&lists);
        engine_free(&exact);
        vem_model_free(start);
        grid_data_free(&data);
    }
}

static void assign(const grid_data *data, const vem_model *model, int32_t *labels)
{
    vem_data *rows = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data->x, data->n, data->d, 0, 0,
                                     &rows),
                     VEM_OK);
    assert_int_equal(vem_assign(ctx, model, rows, 1, VEM_DOUBLE, labels, NULL), VEM_OK);
    vem_data_free(rows);
}

/* The same through vem_fit, where the rows are put in another order inside: after every
 * number of steps, probes and over-relaxed ones among them, labels and F are those of an
 * exact assignment of the rows, as they came, to the model given back. */
static void labels_are_of_the_rows(void **state)
{
    (void)state;
    int32_t labels[ROWS];
    for (int index = 0; index < case_count(); index += grid_turns(5 * STRIDE + 2)) {
        grid_case c = case_at(index);
        if (c.precision == VEM_SINGLE || c.set == SET_DUPLICATES)
            continue;
        c.clusters = 9;
        grid_data data = grid_data_new(c.set, c.weights, ROWS, c.d, 75);
        for (int64_t steps = 1; steps <= 8; steps++) {
            vem_options o = groups_options(&c, c.clusters, 64, steps);
            o.seeding = VEM_SEED_TWO_LEVEL;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assign(&data, fit.model, labels);
            if (memcmp(labels, fit.labels, sizeof labels) != 0)
                fail_msg("labels differ after %d steps: %s", (int)steps, grid_name(&c));
            grid_assert_near(
                grid_score(ctx, fit.model, &data, c.held, VEM_DOUBLE).free_energy,
                fit.summary->free_energy, 1e-8 * fmax(1, fabs(fit.summary->free_energy)),
                grid_name(&c));
            grid_fit_free(&fit);
        }
        grid_data_free(&data);
    }
}

/* At a hard fit's rest the model is made of the rows and weights that the labels say. */
static void weights_follow_the_rows(void **state)
{
    (void)state;
    enum { N = 900, C = 24, D = 3 };
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_ZEROS, N, D, 76);
    grid_case c = {.family = VEM_ISO,
                   .prior = VEM_PRIOR_FREE,
                   .held = 1,
                   .clusters = C,
                   .precision = VEM_DOUBLE};
    for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_TWO_LEVEL; seeding++) {
        vem_options o = groups_options(&c, 6, 2, 400);
        o.seeding = seeding;
        o.swaps = 3;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_int_equal(fit.summary->outcome, VEM_OUTCOME_CONVERGED);
        double mass[C] = {0}, sums[C][D] = {{0}}, total = 0;
        for (int64_t i = 0; i < N; i++) {
            total += data.weights[i];
            mass[fit.labels[i]] += data.weights[i];
            for (int j = 0; j < D; j++)
                sums[fit.labels[i]][j] += data.weights[i] * data.x[i * D + j];
        }
        for (int k = 0; k < C; k++) {
            grid_assert_near(vem_model_weights(fit.model)[k], mass[k] / total, 1e-9,
                             "weight");
            for (int j = 0; j < D && mass[k] > 0; j++)
                grid_assert_near(vem_model_means(fit.model)[k * D + j],
                                 sums[k][j] / mass[k], 1e-9, "mean");
        }
        grid_fit_free(&fit);
    }
    grid_data_free(&data);
}

/* ---- edges ---- */

static void warm_start_stays(void **state)
{
    (void)state;
    for (int held = 1; held <= 3; held++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 1500, 4, 77);
        grid_case c = {.family = VEM_ISO_SHARED,
                       .held = held,
                       .clusters = 60,
                       .precision = VEM_DOUBLE};
        vem_options o = groups_options(&c, 60, 64, 500);
        grid_fit first = grid_run(ctx, &data, &o, NULL);
        o.swaps = VEM_AUTO; /* a given start is a place to stay near: none */
        grid_fit second = grid_run(ctx, &data, &o, first.model);
        assert_int_equal(second.options->swaps, 0);
        assert_law(&second, VEM_DOUBLE, "warm start");
        assert_true(second.trace[0].free_energy >= first.summary->free_energy - 1e-9);
        grid_assert_near(second.summary->free_energy, first.summary->free_energy, 1e-3,
                         "F");
        grid_fit_free(&first);
        grid_fit_free(&second);
        grid_data_free(&data);
    }
}

/* Some clusters begin where no row is. */
static void empty_clusters(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int held = 1; held <= 2; held++)
            for (int policy = VEM_EMPTY_KEEP; policy <= VEM_EMPTY_RESEED; policy++) {
                grid_data data = grid_data_new(SET_DUPLICATES, WEIGHTS_ZEROS, 600, 3, 78);
                grid_case c = {.family = (vem_family_kind)family,
                               .prior = policy == VEM_EMPTY_RESEED ? VEM_PRIOR_FLAT
                                                                   : VEM_PRIOR_FREE,
                               .held = held,
                               .clusters = 20,
                               .precision = VEM_DOUBLE};
                vem_model *start = grid_start(ctx, &data, c.family, 20);
                double *means = malloc(60 * sizeof *means);
                memcpy(means, vem_model_means(start), 60 * sizeof *means);
                for (int32_t k = 0; k < 20; k += 4)
                    means[3 * k] += 1e4;
                vem_model *moved = NULL;
                assert_int_equal(vem_model_new(ctx, c.family, 20, 3, means, NULL,
                                               vem_model_variances(start), &moved),
                                 VEM_OK);
                vem_options o = groups_options(&c, 4, 1, 30);
                o.empty = policy;
                grid_fit fit = grid_run(ctx, &data, &o, moved);
                assert_law(&fit, VEM_DOUBLE, grid_name(&c));
                const char *move = fit.trace[0].move;
                assert_true(fit.trace[0].empty >= 5);
                if (policy == VEM_EMPTY_KEEP) {
                    assert_null(move);
                    assert_int_equal(vem_model_clusters(fit.model), 20);
                } else if (policy == VEM_EMPTY_DROP) {
                    assert_string_equal(move, "drop");
                    assert_true(vem_model_clusters(fit.model) <= 15);
                } else {
                    assert_string_equal(move, "reseed");
                    assert_int_equal(vem_model_clusters(fit.model), 20);
                    assert_true(fit.trace[fit.trace_count - 1].empty <
                                fit.trace[0].empty);
                }
                free(means);
                vem_model_free(start);
                vem_model_free(moved);
                grid_fit_free(&fit);
                grid_data_free(&data);
            }
}

static void hardly_more_rows_than_clusters(void **state)
{
    (void)state;
    for (int more = 0; more <= 2; more++)
        for (int d = 1; d <= 20; d += 19)
            for (int held = 1; held <= 3; held += 2) {
                grid_data data =
                    grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 50 + more, d, 79);
                grid_case c = {.held = held, .clusters = 50, .precision = VEM_DOUBLE};
                vem_options o = groups_options(&c, 8, 2, 20);
                o.swaps = 2;
                grid_fit fit = grid_run(ctx, &data, &o, NULL);
                assert_law(&fit, VEM_DOUBLE, grid_name(&c));
                grid_fit_free(&fit);
                grid_data_free(&data);
            }
    /* One row, one cluster. */
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 1, 2, 79);
    grid_case c = {.held = 1, .clusters = 1, .precision = VEM_DOUBLE};
    vem_options o = groups_options(&c, 1, 1, 5);
    o.swaps = 2;
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(fit.labels[0], 0);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

/* Below, at and above the number where groups have several clusters. */
static void thousands_of_clusters(void **state)
{
    (void)state;
    static const int32_t clusters[] = {4095, 4096, 4097, 5000};
    for (int k = 0; k < 4; k++) {
        grid_case c = {.held = k == 2 ? 2 : 1,
                       .clusters = clusters[k],
                       .precision = k % 2 ? VEM_SINGLE : VEM_DOUBLE};
        int64_t n = k < 3 ? 6000 : HUGE_ROWS;
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, n, 2, 80);
        vem_options o = groups_options(&c, 24, 2, k < 3 ? 6 : 14);
        o.swaps = 2;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_law(&fit, c.precision, grid_name(&c));
        assert_true(fit.summary->free_energy > fit.summary->free_energy_first);
        /* Far fewer than all pairs. */
        assert_true((double)fit.trace[0].pairs < 0.3 * (double)n * clusters[k]);
        if (k == 3) {
            int32_t *labels = malloc((size_t)n * sizeof *labels);
            int64_t same = 0;
            assign(&data, fit.model, labels);
            for (int64_t i = 0; i < n; i++)
                same += labels[i] == fit.labels[i];
            assert_true((double)same > 0.95 * (double)n);
            free(labels);
        }
        grid_fit_free(&fit);
        grid_data_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_energy_never_falls),
        cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(full_lists_are_the_exact_search),
        cmocka_unit_test(labels_are_of_the_rows),
        cmocka_unit_test(weights_follow_the_rows),
        cmocka_unit_test(warm_start_stays),
        cmocka_unit_test(empty_clusters),
        cmocka_unit_test(hardly_more_rows_than_clusters),
        cmocka_unit_test(thousands_of_clusters),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
