/* So many clusters that what knows its bucket looks only at the buckets near it. */
#include "grid.h"
#include "run.h"
#include "search/groups.h"

#define CONTEXT_THREADS 2
#include "context.h"

/* 3 ceil(sqrt(CLUSTERS)) buckets are just 16 times as many as are known to be near one. */
enum { CLUSTERS = 117000, ITEMS = 125000 };

static double bucket_distance(const vem_i_hierarchy *h, int32_t a, int32_t b)
{
    double sum = 0;
    for (int64_t j = 0; j < h->d; j++)
        sum += pow(vem_i_value(h->kernels, h->bucket_means, (int64_t)a * h->d + j) -
                       vem_i_value(h->kernels, h->bucket_means, (int64_t)b * h->d + j),
                   2);
    return sum;
}

/* A bucket is near itself, and none that is left out is nearer than one that is listed. */
static void assert_near(const vem_i_hierarchy *h, int32_t bucket)
{
    const int32_t *near = h->buckets_near + (int64_t)bucket * VEM_I_NEAR_BUCKETS;
    char *listed = grid_zeros(h->buckets, 1);
    double farthest = 0;
    for (int32_t k = 0; k < h->near_buckets; k++) {
        assert_in_range(near[k], 0, h->buckets - 1);
        assert_false(listed[near[k]]);
        listed[near[k]] = 1;
        farthest = fmax(farthest, bucket_distance(h, bucket, near[k]));
    }
    assert_true(listed[bucket]);
    for (int32_t b = 0; b < h->buckets; b++)
        if (!listed[b])
            assert_true(bucket_distance(h, bucket, b) >= farthest * (1 - 1e-9));
    free(listed);
}

static void near_buckets_are_the_nearest(void **state)
{
    (void)state;
    static const int32_t sizes[] = {1, 50, 1000, CLUSTERS};
    for (int k = 0; k < 4; k++) {
        const int32_t clusters = sizes[k], d = 2;
        double variance = 1, *means = grid_rows(SET_OVERLAPPING, clusters, d, 86);
        vem_model *model = NULL;
        vem_i_scorer scorer;
        vem_i_hierarchy h;
        assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, clusters, d, means, NULL,
                                       &variance, &model),
                         VEM_OK);
        assert_int_equal(vem_i_scorer_new(run_of(ctx), ctx->kernels_double,
                                          vem_i_shape_of(vem_i_family_of(VEM_ISO_SHARED),
                                                         clusters, d),
                                          &scorer),
                         VEM_OK);
        vem_i_scorer_prepare(run_of(ctx), model, &scorer);
        assert_int_equal(vem_i_hierarchy_new(run_of(ctx), ctx->kernels_double, clusters,
                                             d, vem_i_group_size(clusters), &h),
                         VEM_OK);
        int64_t pairs = vem_i_hierarchy_build(&h, &scorer, 1);
        assert_int_equal(vem_i_hierarchy_is_large(&h), clusters == CLUSTERS);
        if (clusters == CLUSTERS) /* one look at all buckets, then two at the near ones */
            assert_true(pairs < (int64_t)clusters * h.buckets * 5 / 4);
        for (int32_t b = 0; b < h.buckets; b += 1 + h.buckets / 50)
            assert_near(&h, b);
        vem_i_hierarchy_free(&h);
        vem_i_scorer_free(&scorer);
        vem_model_free(model);
        free(means);
    }
}

/* F never falls, the bits do not depend on the threads, and rows that probe once more look at
 * far fewer clusters than there are buckets. */
static void fits_keep_the_law(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, ITEMS, 2, 87);
    vem_options options;
    vem_options_init(&options);
    options.clusters = CLUSTERS;
    options.seed = 5;
    options.max_steps = 7;
    options.empty = VEM_EMPTY_KEEP;
    assert_int_equal(vem_ctx_set_threads(ctx, 1), VEM_OK);
    grid_fit one = grid_run(ctx, &data, &options, NULL);
    assert_int_equal(vem_ctx_set_threads(ctx, 3), VEM_OK);
    grid_fit three = grid_run(ctx, &data, &options, NULL);
    assert_int_equal(one.options->search, VEM_SEARCH_GROUPS);
    assert_int_equal(one.trace_count, three.trace_count);
    for (int64_t t = 0; t < one.trace_count; t++) {
        assert_true(one.trace[t].free_energy == three.trace[t].free_energy);
        assert_int_equal(one.trace[t].pairs, three.trace[t].pairs);
        if (t > 0)
            assert_true(one.trace[t].free_energy >=
                        one.trace[t - 1].free_energy -
                            1e-9 * fabs(one.trace[t].free_energy));
    }
    assert_memory_equal(one.labels, three.labels, ITEMS * sizeof *one.labels);
    /* Steps 3 and 7 probe, and what they build costs CLUSTERS times the buckets. */
    const int64_t buckets = vem_i_hierarchy_buckets(CLUSTERS),
                  built = buckets * (CLUSTERS + buckets);
    const int64_t all = one.trace[1].pairs - built, some = one.trace[2].pairs - built;
    assert_true(all > ITEMS * buckets);
    assert_true(some > 0 && some < ITEMS * buckets / 3);
    grid_fit_free(&one);
    grid_fit_free(&three);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_buckets_are_the_nearest),
        cmocka_unit_test(fits_keep_the_law),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
