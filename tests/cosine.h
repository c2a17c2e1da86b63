/* What the tests of --metric cosine share. */
#ifndef VEM_TESTS_COSINE_H
#define VEM_TESTS_COSINE_H

#include "grid.h"

static inline vem_options cosine(int64_t clusters, int64_t held, vem_precision precision,
                                 int64_t steps)
{
    vem_options o =
        grid_options(clusters, VEM_ISO_SHARED, VEM_PRIOR_FLAT, held, precision, steps);
    o.metric = VEM_METRIC_COSINE;
    return o;
}

static inline double dot(const double *a, const double *b, int32_t d)
{
    double sum = 0;
    for (int32_t j = 0; j < d; j++)
        sum += a[j] * b[j];
    return sum;
}

static inline void assert_unit_means(const vem_model *model, const char *what)
{
    assert_int_equal(vem_model_metric(model), VEM_METRIC_COSINE);
    assert_int_equal(vem_model_normalizes(model), 1);
    const int32_t d = vem_model_columns(model);
    for (int32_t c = 0; c < vem_model_clusters(model); c++) {
        const double *mean = vem_model_means(model) + (int64_t)c * d;
        grid_assert_near(dot(mean, mean, d), 1, 1e-11, what);
    }
}

static inline void assert_monotone(const grid_fit *fit, double share, int32_t d,
                                   const char *what)
{
    for (int64_t t = 1; t < fit->trace_count; t++) {
        const double before = fit->trace[t - 1].free_energy,
                     now = fit->trace[t].free_energy;
        if (!(now >= before - share * fmax(fabs(before), d)))
            fail_msg("F falls from %.17g to %.17g in step %d: %s", before, now,
                     (int)fit->trace[t].step, what);
    }
}

#endif
