/* Whole fits with the neighborhood searches: the same bits for any number of threads, the
 * bounded evidence of the estimated graph against all averages, weights, units. */
#include "partial.h"

#define CONTEXT_THREADS 1
#include "context.h"

#ifdef VEM_SANITIZED
enum { MANY_ROWS = 4000 };
#else
enum { MANY_ROWS = 20000 };
#endif

/* ---- Threads
 * ---------------------------------------------------------------------------- */

static int same_bits(const grid_fit *a, const grid_fit *b)
{
    size_t c = (size_t)vem_model_clusters(a->model), real = sizeof(double);
    if (a->trace_count != b->trace_count ||
        vem_model_clusters(a->model) != vem_model_clusters(b->model))
        return 0;
    for (int64_t t = 0; t < a->trace_count; t++)
        if (a->trace[t].free_energy != b->trace[t].free_energy ||
            a->trace[t].pairs != b->trace[t].pairs ||
            a->trace[t].changed != b->trace[t].changed)
            return 0;
    return !memcmp(vem_model_means(a->model), vem_model_means(b->model),
                   c * (size_t)a->summary->d * real) &&
           !memcmp(vem_model_weights(a->model), vem_model_weights(b->model), c * real) &&
           !memcmp(vem_model_variances(a->model), vem_model_variances(b->model),
                   vem_model_variance_count(a->model) * real) &&
           !memcmp(a->labels, b->labels, (size_t)a->summary->n * sizeof *a->labels);
}

static void any_threads(const grid_data *data, vem_options o)
{
    const int threads[] = {1, 2, 3, 7};
    grid_fit first = {0};
    for (int i = 0; i < 4; i++) {
        o.threads = threads[i];
        grid_fit fit = grid_run(ctx, data, &o, NULL);
        if (i == 0) {
            first = fit;
            continue;
        }
        if (!same_bits(&first, &fit))
            fail_msg("1 and %d threads differ: %s, %s, held %d, reach %d", threads[i],
                     vem_choice_name("search", o.search),
                     vem_choice_name("family", o.family), (int)o.held, (int)o.reach);
        grid_fit_free(&fit);
    }
    grid_fit_free(&first);
}

static void any_number_of_threads(void **state)
{
    (void)state;
    enum { CLUSTERS = 300 };
    /* Long lists make small shards, so the last of these run in two and in three waves.
     */
    const int64_t shapes[][3] = {{1, 5, 1}, {5, 5, 1}, {10, 20, 0}, {25, 12, 1}};
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_ZEROS, MANY_ROWS, 3, 31);
    for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
        for (size_t s = 0; s < (kind == VEM_SEARCH_EXACT ? 2 : 4); s++) {
            vem_options o = partial_options(kind, CLUSTERS, VEM_ISO_SHARED, shapes[s][0],
                                            shapes[s][1], shapes[s][2], 3);
            o.precision = s % 2 ? VEM_DOUBLE : VEM_SINGLE;
            o.init_steps = 1;
            o.empty = (int)(s % 3);
            any_threads(&data, o);
        }
    GRID_EACH_SHAPED_AFTER (family, VEM_ISO_SHARED) {
        vem_options o =
            partial_options(VEM_SEARCH_ESTIMATED, CLUSTERS, family, 3, 5, 1, 4);
        o.prior = VEM_PRIOR_FREE;
        o.empty = VEM_EMPTY_DROP;
        any_threads(&data, o);
    }
    grid_data_free(&data);
}

/* ---- Bounded evidence
 * ------------------------------------------------------------------- */

/* More clusters than averages are kept for: F ends where it does with all of them. */
static void bounded_evidence_is_as_good(void **state)
{
    (void)state;
    enum { CLUSTERS = 150, ROWS = 2000, STEPS = 20 };
    for (int32_t reach = 2; reach <= 5; reach += 3)
        for (int32_t held = 1; held <= 3; held += 2)
            for (int32_t explore = 0; explore <= 1; explore++) {
                double mean = 0, expected = 0;
                for (uint64_t seed = 1; seed <= 3; seed++) {
                    grid_data data =
                        grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, ROWS, 2, seed);
                    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, CLUSTERS);
                    vem_options o =
                        partial_options(VEM_SEARCH_ESTIMATED, CLUSTERS, VEM_ISO_SHARED,
                                        held, reach, explore, STEPS);
                    o.seed = (int64_t)seed;
                    o.tolerance = 1e-300;
                    grid_fit fit = grid_run(ctx, &data, &o, start);
                    naive_partial naive =
                        naive_partial_new(&data, start, held, reach, explore, seed);
                    naive_partial_estep(&naive);
                    for (int step = 1; step < STEPS; step++) {
                        naive_partial_mstep(&naive);
                        naive_partial_estep(&naive);
                    }
                    mean += fit.summary->free_energy / 3;
                    expected += naive.free_energy / 3;
                    partial_assert_sound(&fit);
                    grid_fit_free(&fit);
                    naive_partial_free(&naive);
                    vem_model_free(start);
                    grid_data_free(&data);
                }
                grid_assert_near(mean, expected, 0.01 * fabs(expected), "F");
            }
}

/* ---- Weights and units
 * ------------------------------------------------------------------ */

/* Every row as often as its weight says, none for 0; what each holds goes along. */
static grid_data repeated(const grid_data *data, const int32_t *held, int32_t width,
                          int32_t **held_again)
{
    size_t n = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < data->n; i++)
        n += (size_t)data->weights[i];
    grid_data out = {.n = (int64_t)n, .d = data->d};
    out.x = calloc(n * (size_t)data->d, sizeof *out.x);
    *held_again = calloc(n * (size_t)width, sizeof **held_again);
    assert_non_null(out.x);
    assert_non_null(*held_again);
    for (int64_t i = 0; i < data->n; i++)
        for (int64_t k = 0; k < (int64_t)data->weights[i]; k++, at++) {
            memcpy(out.x + at * data->d, data->x + i * data->d,
                   (size_t)data->d * sizeof *out.x);
            memcpy(*held_again + at * width, held + i * width,
                   (size_t)width * sizeof *held);
        }
    return out;
}

static int32_t *draw_held(size_t n, int32_t clusters, int32_t width)
{
    int32_t *held = calloc(n, (size_t)width * sizeof *held);
    assert_non_null(held);
    for (size_t i = 0; i < n; i++) {
        vem_i_rng rng = vem_i_rng_at(7, VEM_RNG_TEST, 9, i);
        vem_i_rng_distinct(&rng, clusters, -1, width, held + i * (size_t)width);
    }
    return held;
}

/* The averages of the estimated graph are unweighted, so its graph is held fixed. */
static void weight_two_is_the_row_twice(void **state)
{
    (void)state;
    enum { CLUSTERS = 8, HELD = 3, REACH = 4, STEPS = 5, ROWS = 400 };
    GRID_EACH_SHAPED (family)
        for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_ZEROS, ROWS, 2, 32);
            int32_t *held = draw_held(ROWS, CLUSTERS, HELD), *held_again;
            grid_data rows = repeated(&data, held, HELD, &held_again);
            vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, CLUSTERS);
            vem_i_search_spec search = partial_spec(kind, CLUSTERS, HELD, REACH, 0, 3);
            partial weighted, twice;
            partial_new(&weighted, ctx, &data, start, search);
            partial_new(&twice, ctx, &rows, start, search);
            partial_hold(&weighted, held);
            partial_hold(&twice, held_again);
            for (int step = 0; step < STEPS; step++) {
                partial_find(&weighted);
                partial_find(&twice);
                double f = partial_normalize(&twice);
                grid_assert_near(partial_normalize(&weighted), f, 1e-9 * fmax(1, fabs(f)),
                                 "F");
                partial_maximize(&weighted, VEM_PRIOR_FREE);
                partial_maximize(&twice, VEM_PRIOR_FREE);
                grid_assert_models(weighted.model, twice.model, 1e-9, "weight 2");
            }
            partial_free(&weighted);
            partial_free(&twice);
            vem_model_free(start);
            grid_data_free(&rows);
            grid_data_free(&data);
            free(held);
            free(held_again);
        }
}

/* Rows that weigh nothing teach the estimated graph nothing. */
static void weight_zero_is_absent(void **state)
{
    (void)state;
    enum { CLUSTERS = 20, HELD = 2, REACH = 4, ROWS = 400 };
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_ZEROS, ROWS, 2, 33);
    for (int64_t i = 0; i < ROWS; i++)
        data.weights[i] = data.weights[i] > 0;
    int32_t *held = draw_held(ROWS, CLUSTERS, HELD), *held_again;
    grid_data rows = repeated(&data, held, HELD, &held_again);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, CLUSTERS);
    vem_i_search_spec search =
        partial_spec(VEM_SEARCH_ESTIMATED, CLUSTERS, HELD, REACH, 0, 3);
    partial with, without;
    partial_new(&with, ctx, &data, start, search);
    partial_new(&without, ctx, &rows, start, search);
    partial_hold(&with, held);
    partial_hold(&without, held_again);
    for (int step = 0; step < 6; step++) {
        partial_find(&with);
        partial_find(&without);
        partial_settle(&with);
        partial_settle(&without);
        assert_memory_equal(with.graph->neighbors, without.graph->neighbors,
                            CLUSTERS * REACH * sizeof(int32_t));
        grid_assert_near(partial_normalize(&with), partial_normalize(&without), 1e-9,
                         "F");
        partial_maximize(&with, VEM_PRIOR_FLAT);
        partial_maximize(&without, VEM_PRIOR_FLAT);
    }
    partial_free(&with);
    partial_free(&without);
    vem_model_free(start);
    grid_data_free(&rows);
    grid_data_free(&data);
    free(held);
    free(held_again);
}

/* Other units of rows and weights, by powers of two: the same fit, bit for bit. */
static void units_do_not_matter(void **state)
{
    (void)state;
    const int exponents[] = {-200, -120, 60, 130, 300};
    for (int family = VEM_ISO_SHARED; family <= VEM_DIAG; family++)
        for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
            for (int e = 0; e < 5; e++) {
                grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 600, 3, 34);
                vem_options o = partial_options(kind, 60, family, 2, 4, 1, 12);
                grid_fit plain = grid_run(ctx, &data, &o, NULL);
                for (int64_t i = 0; i < data.n * data.d; i++)
                    data.x[i] = ldexp(data.x[i], exponents[e]);
                for (int64_t i = 0; i < data.n; i++)
                    data.weights[i] *= 8;
                grid_fit scaled = grid_run(ctx, &data, &o, NULL);
                assert_memory_equal(scaled.labels, plain.labels,
                                    (size_t)data.n * sizeof *plain.labels);
                assert_int_equal(scaled.summary->scored_pairs,
                                 plain.summary->scored_pairs);
                grid_assert_near(scaled.summary->free_energy,
                                 plain.summary->free_energy -
                                     exponents[e] * data.d * log(2),
                                 1e-9 * (1 + abs(exponents[e])), "F");
                grid_fit_free(&plain);
                grid_fit_free(&scaled);
                grid_data_free(&data);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(bounded_evidence_is_as_good),
        cmocka_unit_test(weight_two_is_the_row_twice),
        cmocka_unit_test(weight_zero_is_absent),
        cmocka_unit_test(units_do_not_matter),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
