/* Clusters that hold nothing are put on rows, drawn by how far these lie from what they belong to: of a few
 * rows that are a million times as far as the others, each gets one. */
#define CONTEXT_THREADS 1
#include "context.h"

enum { N = 300, MOST = 14 };

/* Rows about 0, and `far` of them a long way off, in any places. */
static void fill(double *rows, int far, int64_t turn)
{
    for (int64_t i = 0; i < N; i++) {
        vem_i_rng rng = vem_i_rng_at(23, VEM_RNG_TEST, 0, (uint64_t)i);
        rows[i] = vem_i_rng_uniform(&rng) - 0.5;
    }
    for (int k = 0; k < far; k++)
        rows[(k * 71 + turn) % N] = (k % 2 ? -1e6 : 1e6) * (1 + 0.1 * k);
}

static vem_model *reseed(const double *rows, const double *weights, int far)
{
    const double one = 1;
    double means[MOST + 1] = {0};
    vem_data *data;
    vem_model *start, *model;
    for (int k = 0; k < far; k++)
        means[k + 1] = 1e9 + k; /* where no row is */
    vem_options o =
        grid_options(far + 1, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 2);
    o.empty = VEM_EMPTY_RESEED;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, rows, N, 1, 0, 0, &data), VEM_OK);
    if (weights)
        assert_int_equal(vem_data_set_weights(ctx, data, weights, N), VEM_OK);
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, far + 1, 1, means, NULL, &one,
                                   &start),
                     VEM_OK);
    if (vem_fit(ctx, data, &o, start, &model, NULL) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    vem_model_free(start);
    vem_data_free(data);
    return model;
}

/* How many clusters lie on this row. */
static int count_at(const vem_model *model, double row)
{
    int count = 0;
    for (int32_t c = 0; c < vem_model_clusters(model); c++)
        count += fabs(vem_model_means(model)[c] - row) <= 1e-6 * fabs(row);
    return count;
}

static void far_rows_get_clusters(void **state)
{
    (void)state;
    for (int far = 1; far <= MOST; far++)
        for (int64_t turn = 0; turn < N; turn += 43) {
            double rows[N];
            fill(rows, far, turn);
            vem_model *model = reseed(rows, NULL, far);
            for (int k = 0; k < far; k++)
                assert_int_equal(count_at(model, rows[(k * 71 + turn) % N]), 1);
            vem_model_free(model);
        }
}

/* A row without weight gets none, however far it lies, and a heavy one is as good as a far one. */
static void weights_count(void **state)
{
    (void)state;
    double rows[N], weights[N];
    fill(rows, 0, 0);
    for (int64_t i = 0; i < N; i++)
        weights[i] = 1e-12;
    rows[7] = 50;
    weights[7] = 0;
    for (int k = 0; k < 5; k++) {
        rows[40 * k + 11] = k * k + 2; /* the mean is none of them */
        weights[40 * k + 11] = 1;
    }
    vem_model *model = reseed(rows, weights, 5);
    assert_int_equal(count_at(model, 50), 0);
    for (int k = 0; k < 5; k++)
        assert_int_equal(count_at(model, k * k + 2), 1);
    vem_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_rows_get_clusters),
        cmocka_unit_test(weights_count),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
