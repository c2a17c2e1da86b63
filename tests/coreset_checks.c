#include "coreset_checks.h"

vem_data *coreset_draw(vem_ctx *ctx, const vem_data *rows, int64_t size,
                       vem_coreset_method method, int64_t seed)
{
    vem_data *coreset = NULL;
    if (vem_coreset(ctx, rows, size, method, seed, &coreset) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    assert_int_equal(vem_data_rows(coreset), size);
    assert_int_equal(vem_data_columns(coreset), vem_data_columns(rows));
    assert_int_equal(vem_data_dtype(coreset), vem_data_dtype(rows));
    return coreset;
}

/* The definition, in the plainest words; q from malloc. */
double *coreset_chances(const double *x, const double *w, int64_t n, int32_t d)
{
    double *q = calloc((size_t)n, sizeof *q), *mean = calloc((size_t)d, sizeof *mean);
    double mass = 0, sum = 0;
    for (int64_t i = 0; i < n; i++)
        mass += w ? w[i] : 1;
    for (int64_t i = 0; i < n; i++)
        for (int32_t j = 0; j < d; j++)
            mean[j] += (w ? w[i] : 1) / mass * (x[i * d + j] - x[j]);
    for (int64_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < d; j++)
            q[i] += pow(x[i * d + j] - x[j] - mean[j], 2);
        sum += (w ? w[i] : 1) * q[i];
    }
    for (int64_t i = 0; i < n; i++)
        q[i] = (w ? w[i] : 1) * (sum > 0 ? 0.5 / mass + 0.5 * q[i] / sum : 1 / mass);
    free(mean);
    return q;
}

double coreset_total(const double *values, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += values[i];
    return sum;
}

/* Every draw carries its row, as it was, and the weight w / (N' q). */
void coreset_assert_draws(vem_ctx *ctx, const vem_data *rows, const vem_data *coreset,
                          const double *q, double tolerance)
{
    const int64_t size = vem_data_rows(coreset), *indices = vem_data_indices(coreset);
    const int32_t d = vem_data_columns(rows);
    double *a = malloc((size_t)d * sizeof *a), *b = malloc((size_t)d * sizeof *b);
    const double *w = vem_data_weights(rows);
    for (int64_t k = 0; k < size; k++) {
        const int64_t i = indices[k];
        assert_true(i >= 0 && i < vem_data_rows(rows));
        assert_true(k == 0 || indices[k - 1] <= i);
        assert_true(!w || w[i] > 0);
        const double expected = (w ? w[i] : 1) / ((double)size * q[i]);
        grid_assert_near(vem_data_weights(coreset)[k], expected, tolerance * expected,
                         "the weight of a draw");
        vem_data_get(ctx, rows, i, 1, a);
        vem_data_get(ctx, coreset, k, 1, b);
        assert_memory_equal(a, b, (size_t)d * sizeof *a);
    }
    free(a);
    free(b);
}
