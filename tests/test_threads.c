/* The same bits for any number of threads, through every way the work is cut: sums per
 * shard of rows, sums owned by clusters, dense blocks, every seeding, every policy; and
 * the same fit, to rounding, from every kernel table this processor runs. */
#include "grid.h"
#include "kernels/kernels.h"

#include "context.h"

#ifdef VEM_SANITIZED
enum { ROWS = 3000, MANY = 1400, MANY_FULL = 880 };
#else
enum { ROWS = 20000, MANY = 1400, MANY_FULL = 880 };
#endif

static void assert_bits(const void *a, const void *b, size_t bytes, const char *what,
                        int threads)
{
    if (memcmp(a, b, bytes) != 0)
        fail_msg("%s differ between 1 and %d threads", what, threads);
}

static void assert_same_bits(const grid_fit *a, const grid_fit *b, int threads)
{
    const size_t real = sizeof(double);
    size_t c = (size_t)vem_model_clusters(a->model), d = (size_t)a->summary->d;
    assert_int_equal(vem_model_clusters(b->model), c);
    assert_int_equal(a->trace_count, b->trace_count);
    assert_int_equal(a->summary->seed_pairs, b->summary->seed_pairs);
    assert_int_equal(a->summary->scored_pairs, b->summary->scored_pairs);
    for (int64_t t = 0; t < a->trace_count; t++) {
        const vem_trace_step *p = &a->trace[t], *q = &b->trace[t];
        assert_bits(&p->free_energy, &q->free_energy, real, "traces of F", threads);
        assert_true(p->step == q->step && p->pairs == q->pairs && p->empty == q->empty &&
                    p->changed == q->changed && p->moved == q->moved);
    }
    assert_bits(&a->summary->free_energy, &b->summary->free_energy, real, "F", threads);
    assert_bits(vem_model_means(a->model), vem_model_means(b->model), c * d * real,
                "means", threads);
    assert_bits(vem_model_weights(a->model), vem_model_weights(b->model), c * real,
                "weights", threads);
    assert_bits(vem_model_variances(a->model), vem_model_variances(b->model),
                vem_model_variance_count(a->model) * real, "variances", threads);
    assert_bits(a->labels, b->labels, (size_t)a->summary->n * sizeof(int32_t), "labels",
                threads);
}

static void any_threads(const grid_data *data, vem_options o)
{
    const int threads[] = {1, 2, 3, 7};
    grid_fit first = {0};
    vem_scores first_scores = {0};
    for (int i = 0; i < 4; i++) {
        o.threads = threads[i];
        grid_fit fit = grid_run(ctx, data, &o, NULL);
        assert_int_equal(vem_ctx_set_threads(ctx, threads[i]), VEM_OK);
        vem_scores scores =
            grid_score(ctx, fit.model, data, 1, (vem_precision)o.precision);
        if (i == 0) {
            first = fit;
            first_scores = scores;
            continue;
        }
        assert_same_bits(&first, &fit, threads[i]);
        assert_bits(&first_scores.log_likelihood, &scores.log_likelihood, sizeof(double),
                    "log-likelihoods", threads[i]);
        assert_bits(&first_scores.quantization_error, &scores.quantization_error,
                    sizeof(double), "quantisation errors", threads[i]);
        grid_fit_free(&fit);
    }
    grid_fit_free(&first);
}

static void few_clusters(void **state)
{
    (void)state;
    for (int family = 0; family < VEM_FAMILIES; family++)
        for (int held = 1; held <= 8; held = held == 1 ? 3 : held + 5)
            for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
                grid_data data =
                    grid_data_new(SET_OVERLAPPING,
                                  precision ? WEIGHTS_NONE : WEIGHTS_ZEROS, ROWS,
                                  vem_family_axes(family) == 2 ? 5 : 20, 41);
                grid_suit((vem_family_kind)family, &data);
                vem_options o = grid_options(8, (vem_family_kind)family, VEM_PRIOR_FREE,
                                             held, (vem_precision)precision, 4);
                o.seeding = VEM_SEED_RANDOM;
                any_threads(&data, o);
                grid_data_free(&data);
            }
}

/* So many that a set of statistics per shard would be too much: owned by clusters. */
static void many_clusters(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, ROWS, 100, 42);
    for (int held = 1; held <= 3; held += 2) {
        vem_options o =
            grid_options(MANY, VEM_ISO_SHARED, VEM_PRIOR_FLAT, held, VEM_SINGLE, 2);
        o.seeding = VEM_SEED_RANDOM;
        any_threads(&data, o);
    }
    grid_data_free(&data);
    data = grid_data_new(SET_SEPARATED, WEIGHTS_REAL, 3000, 16, 43);
    vem_options o = grid_options(MANY_FULL, VEM_FULL, VEM_PRIOR_FREE, 1, VEM_DOUBLE, 3);
    o.seeding = VEM_SEED_RANDOM;
    any_threads(&data, o);
    grid_data_free(&data);
}

static void seedings_and_policies(void **state)
{
    (void)state;
    for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_TWO_LEVEL; seeding++)
        for (int empty = VEM_EMPTY_KEEP; empty <= VEM_EMPTY_RESEED; empty++) {
            grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, ROWS, 3, 44);
            vem_options o =
                grid_options(60, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_SINGLE, 6);
            o.seeding = seeding;
            o.empty = empty;
            o.standardize = empty == VEM_EMPTY_DROP;
            o.restarts = 2;
            any_threads(&data, o);
            grid_data_free(&data);
        }
}

/* Fits of one table against those of another: all sums are taken in other orders. */
static void every_table_gives_the_same_fit(void **state)
{
    (void)state;
    const struct vem_i_kernels *single = ctx->kernels_single,
                               *twice = ctx->kernels_double;
    for (int family = 0; family < VEM_FAMILIES; family++)
        for (int held = 1; held <= 6; held += held == 1 ? 1 : 4)
            for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++)
                for (int32_t d = 2; d <= 33; d = d * 4 + 1) {
                    if (!grid_has_rows((vem_family_kind)family, d))
                        continue;
                    grid_data data =
                        grid_data_new(SET_SEPARATED, WEIGHTS_REAL, 700, d, 45);
                    grid_suit((vem_family_kind)family, &data);
                    vem_options o =
                        grid_options(6, (vem_family_kind)family, VEM_PRIOR_FREE, held,
                                     (vem_precision)precision, 5);
                    double tolerance = precision == VEM_SINGLE ? 2e-4 : 1e-9;
                    ctx->kernels_single = vem_i_kernels_find("reference", VEM_SINGLE);
                    ctx->kernels_double = vem_i_kernels_find("reference", VEM_DOUBLE);
                    vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, 6);
                    grid_fit expected = grid_run(ctx, &data, &o, start);
                    for (const char *const *name = vem_i_kernels_names(); *name; name++) {
                        ctx->kernels_single = vem_i_kernels_find(*name, VEM_SINGLE);
                        ctx->kernels_double = vem_i_kernels_find(*name, VEM_DOUBLE);
                        if (!ctx->kernels_single)
                            continue; /* not this processor */
                        grid_fit fit = grid_run(ctx, &data, &o, start);
                        grid_assert_near(fit.summary->free_energy,
                                         expected.summary->free_energy,
                                         precision == VEM_SINGLE ? 1e-5 * (1 + d)
                                                                 : 1e-10 * (1 + d),
                                         *name);
                        grid_assert_models(fit.model, expected.model, tolerance, *name);
                        grid_fit_free(&fit);
                    }
                    grid_fit_free(&expected);
                    vem_model_free(start);
                    grid_data_free(&data);
                }
    ctx->kernels_single = single;
    ctx->kernels_double = twice;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_clusters),
        cmocka_unit_test(many_clusters),
        cmocka_unit_test(seedings_and_policies),
        cmocka_unit_test(every_table_gives_the_same_fit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
