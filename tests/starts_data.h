/* What the tests of starts share: data on which starts differ, and sizes that go through every part. */
#ifndef VEM_TESTS_STARTS_DATA_H
#define VEM_TESTS_STARTS_DATA_H

#include "checkpoints.h"

/* Nothing but the number of clusters. */
static inline vem_options ours(int64_t clusters, int family)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = clusters;
    o.family = family;
    return o;
}

/* Heavy tails, unequal sizes, unequal axes: where clusters overlap, one start in a few ends in
 * the best partition. */
static inline grid_data overlapping(int64_t n, int32_t d, int components, uint64_t seed)
{
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, n, d, seed);
    for (int64_t i = 0; i < n; i++) {
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 7, (uint64_t)i);
        const double u = vem_i_rng_uniform(&rng);
        const int z = (int)(components * u * u);
        const double tail = 1 / sqrt(vem_i_rng_gamma(&rng, 2.5) / 2.5);
        for (int32_t j = 0; j < d; j++) {
            vem_i_rng place = vem_i_rng_at(seed, VEM_RNG_TEST, 8, (uint64_t)(z * d + j));
            const double center = 3 * vem_i_rng_normal(&place);
            const double axis = 0.8 * exp(0.7 * vem_i_rng_normal(&place));
            data.x[i * d + j] = center + tail * axis * vem_i_rng_normal(&rng);
        }
    }
    return data;
}

/* Defaults that go through every part: a sample and a larger one, one sample, all rows. */
static const struct {
    int64_t n, clusters;
    int32_t d;
    int family;
} sizes[] = {{12500, 3, 2, VEM_AUTO}, {6200, 6, 2, VEM_DIAG}, {400, 4, 3, VEM_FULL}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* A fit that leaves its state before each of *steps steps. */
static inline grid_fit run_leaving_states(const grid_data *data, const vem_options *o,
                                          const char *name, int64_t number,
                                          int64_t *steps)
{
    path_name file = path_of(name, number);
    watcher w = {.path = file.text};
    keep_at(file.text, 0, 0);
    vem_ctx_set_progress(ctx, watch, &w);
    grid_fit whole = grid_run(ctx, data, o, NULL);
    vem_ctx_set_progress(ctx, NULL, NULL);
    *steps = w.steps;
    return whole;
}

/* From about `some` of these states: the same bits, and the same is said. */
static inline void assert_resumes(const grid_data *data, const vem_options *o,
                                  const grid_fit *whole, int64_t steps, int64_t some)
{
    for (int64_t step = 1; step <= steps && step <= MOST_COPIES;
         step += 1 + steps / some) {
        keep_at(path_of("copy", step).text, 1e9, 1);
        grid_fit resumed = grid_run(ctx, data, o, NULL);
        assert_same_bits(whole, &resumed, "resumed");
        assert_string_equal(vem_report_choices(whole->report),
                            vem_report_choices(resumed.report));
        grid_fit_free(&resumed);
    }
    keep_at(NULL, 0, 0);
}

static inline double error_of(const grid_fit *fit, const grid_data *data)
{
    return grid_score(ctx, fit->model, data, 1, VEM_DOUBLE).quantization_error;
}

#endif
