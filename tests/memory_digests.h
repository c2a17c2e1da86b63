/* Digests of results, so that two of them are known to have the same bits, and a verb whose
 * allocations fail in turn. For one file of a program. */
#ifndef VEM_TESTS_MEMORY_DIGESTS_H
#define VEM_TESTS_MEMORY_DIGESTS_H

#include "memory_hooks.h"

static inline void mix_text(uint64_t *digest, const char *text)
{
    mix(digest, text ? text : "(none)", text ? strlen(text) + 1 : 7);
}

static inline void mix_model(uint64_t *digest, const vem_model *m)
{
    const size_t clusters = (size_t)vem_model_clusters(m);
    const size_t d = (size_t)vem_model_columns(m);
    mix(digest, vem_model_means(m), clusters * d * sizeof(double));
    mix(digest, vem_model_weights(m), clusters * sizeof(double));
    mix(digest, vem_model_variances(m), vem_model_variance_count(m) * sizeof(double));
    if (vem_model_scale(m))
        mix(digest, vem_model_scale(m), d * sizeof(double));
    if (vem_model_column_means(m))
        mix(digest, vem_model_column_means(m), d * sizeof(double));
    for (int32_t j = 0; j < (int32_t)d; j++)
        mix_text(digest, vem_model_column_name(m, j));
    for (int32_t id = 0; id < vem_model_ids(m); id++)
        mix_text(digest, vem_model_id_name(m, id));
    mix_text(digest, vem_model_meta(m));
}

static inline void mix_data(uint64_t *digest, const vem_data *data)
{
    const int64_t n = vem_data_rows(data), read = vem_data_rows_read(data);
    const int32_t d = vem_data_columns(data);
    double *values = grid_zeros(n * d, sizeof *values);
    const int64_t before = fail_at;
    fail_at = 0;
    assert_int_equal(vem_data_get(ctx, data, 0, n, values), VEM_OK);
    fail_at = before;
    mix(digest, &read, sizeof read);
    mix(digest, values, (size_t)(n * d) * sizeof *values);
    if (vem_data_weights(data))
        mix(digest, vem_data_weights(data), (size_t)n * sizeof(double));
    if (vem_data_indices(data))
        mix(digest, vem_data_indices(data), (size_t)n * sizeof(int64_t));
    if (vem_data_means(data))
        mix(digest, vem_data_means(data), (size_t)d * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = vem_data_row(data, i);
        mix(digest, &row, sizeof row);
    }
    for (int32_t j = 0; j < d; j++) {
        mix_text(digest, vem_data_column_name(data, j));
        mix_text(digest, vem_data_column_advice(data, j));
    }
    for (int32_t id = 0; id < vem_data_ids(data); id++) {
        mix_text(digest, vem_data_id_name(data, id));
        for (int64_t i = 0; i < read; i++)
            mix_text(digest, vem_data_id(data, id, i));
    }
    free(values);
}

/* Gives what the verb made into the digest, where it made something. */
typedef vem_status (*verb)(uint64_t *digest);

/* Each allocation fails once, of at least so many: then the verb says so and gives nothing, or could
 * do without and gives the same as ever. */
static inline void each_allocation(const char *name, verb call, int64_t least)
{
    uint64_t expected = 1;
    calls = 0;
    if (call(&expected) != VEM_OK)
        fail_msg("%s: %s", name, vem_ctx_message(ctx));
    const int64_t count = calls;
    if (count < least)
        fail_msg("%s allocates %lld times only", name, (long long)count);
    int64_t failed = 0;
    for (int64_t k = 1; k <= count; k++) {
        uint64_t digest = 1;
        calls = 0;
        fail_at = k;
        const vem_status status = call(&digest);
        fail_at = 0;
        if (status == VEM_OK && digest == expected)
            continue;
        if (status != VEM_NO_MEMORY || digest != 1)
            fail_msg("%s, allocation %lld of %lld: status %d (%s)", name, (long long)k,
                     (long long)count, status, vem_ctx_message(ctx));
        assert_non_null(strstr(vem_ctx_message(ctx), "memory"));
        failed++;
    }
    assert_true(failed >= least);
}

#endif
