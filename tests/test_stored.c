/* Rows of bytes and halves are fitted as they are stored (vem_i_stored): the same bits as of the
 * same numbers given as floats, in every way that a fit can go, in a copy of their own size. */
#include <stdio.h>
#include <unistd.h>

#include "kernels/kernels.h"
#include "plan_check.h"
#include "run.h"

static int32_t D = 100;

/* The same numbers twice. */
typedef struct twins {
    vem_data *narrow, *wide;
    void *stored;
    float *values;
    int64_t n;
} twins;

/* Floats of 0 <= x <= 100 as halves; larger ones do not occur. */
static uint16_t half_of(double x)
{
    int exponent;
    if (x == 0)
        return 0;
    const double fraction = frexp(x, &exponent); /* x = fraction 2^exponent, >= 1/2 */
    return (uint16_t)((exponent + 14) << 10 | ((int)floor(ldexp(fraction, 11)) & 0x3ff));
}

/* The upper half of a float, cut off. */
static uint16_t bfloat_of(double x)
{
    const float value = (float)x;
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return (uint16_t)(word >> 16);
}

static int has_halves(vem_dtype type)
{
    return type == VEM_FLOAT16 || type == VEM_BFLOAT16;
}

static void put(twins *t, vem_dtype type, int64_t i, double x)
{
    if (type == VEM_FLOAT16) {
        const uint16_t half = half_of(x);
        ((uint16_t *)t->stored)[i] = half;
        t->values[i] = vem_i_half(half);
    } else if (type == VEM_BFLOAT16) {
        const uint16_t bits = bfloat_of(x);
        ((uint16_t *)t->stored)[i] = bits;
        t->values[i] = vem_i_bfloat(bits);
    } else if (type == VEM_UINT8) {
        ((uint8_t *)t->stored)[i] = (uint8_t)x;
        t->values[i] = (float)((uint8_t)x);
    } else {
        ((int8_t *)t->stored)[i] = (int8_t)(x - 60);
        t->values[i] = (float)((int8_t)(x - 60));
    }
}

/* Clumps, all of whose rows differ. */
static twins twins_new(vem_dtype type, int64_t n, int weighted)
{
    twins t = {.n = n};
    const size_t element = has_halves(type) ? 2 : 1;
    t.stored = malloc((size_t)n * (size_t)D * element);
    t.values = malloc((size_t)n * (size_t)D * sizeof *t.values);
    double *weights = malloc((size_t)n * sizeof *weights);
    uint64_t state = 12345;
    for (int64_t i = 0; i < n; i++) {
        weights[i] = i % 11 ? 1 + (double)(i % 5) / 3 : 0; /* products are rounded */
        for (int32_t j = 0; j < D; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const double noise = (double)(state >> 40) * 0x1p-24;
            put(&t, type, i * D + j,
                40 + 7 * (double)((i % 37) * (j + 3) % 7) + 9 * noise);
        }
    }
    assert_int_equal(vem_data_borrow(ctx, type, t.stored, n, D, 0, 0, &t.narrow), VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, t.values, n, D, 0, 0, &t.wide),
                     VEM_OK);
    for (int k = 0; weighted && k < 2; k++)
        assert_int_equal(vem_data_set_weights(ctx, k ? t.wide : t.narrow, weights, n),
                         VEM_OK);
    free(weights);
    return t;
}

static void twins_free(twins *t)
{
    vem_data_free(t->narrow);
    vem_data_free(t->wide);
    free(t->stored);
    free(t->values);
}

static uint64_t digest_of(const vem_data *rows, const vem_options *o)
{
    vem_model *model = NULL;
    vem_report *report = NULL;
    uint64_t digest = 0xcbf29ce484222325;
    if (vem_fit(ctx, rows, o, NULL, &model, &report) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    const vem_summary *s = vem_report_summary(report);
    const size_t clusters = (size_t)vem_model_clusters(model);
    mix(&digest, vem_model_means(model), clusters * (size_t)D * sizeof(double));
    mix(&digest, vem_model_weights(model), clusters * sizeof(double));
    mix(&digest, vem_model_variances(model),
        vem_model_variance_count(model) * sizeof(double));
    mix(&digest, &s->free_energy, sizeof(double));
    mix(&digest, &s->quantization_error, sizeof(double));
    mix(&digest, &s->scored_pairs, sizeof s->scored_pairs);
    if (vem_report_labels(report))
        mix(&digest, vem_report_labels(report),
            (size_t)vem_data_rows(rows) * sizeof(int32_t));
    vem_model_free(model);
    vem_report_free(report);
    return digest;
}

static void same_fits(const twins *t, const vem_options *o, const char *what, int number)
{
    if (digest_of(t->narrow, o) != digest_of(t->wide, o))
        fail_msg("%s, %d: the fits differ", what, number);
}

static const vem_dtype types[] = {VEM_UINT8, VEM_INT8, VEM_FLOAT16, VEM_BFLOAT16};
enum { TYPES = sizeof types / sizeof *types };

static vem_options options_of(int64_t clusters)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = clusters;
    o.max_steps = 5;
    o.threads = 2;
    return o;
}

/* Our own choice of everything, in both precisions, with few clusters and with many. */
static void our_own_choices(void **state)
{
    (void)state;
    for (int k = 0; k < TYPES; k++)
        for (int weighted = 0; weighted < (k == 0 ? 2 : 1); weighted++) {
            twins t = twins_new(types[k], 1200, weighted);
            for (int how = 0; how < 6; how++) {
                vem_options o = options_of(how < 2 ? 12 : 100);
                o.precision = how % 2 ? VEM_SINGLE : VEM_DOUBLE;
                o.family = how >= 4 ? VEM_ISO : VEM_AUTO;
                o.held = how >= 4 ? 3 : VEM_AUTO;
                o.measure = VEM_MEASURE_EXACT;
                same_fits(&t, &o, "our own choice", how);
            }
            twins_free(&t);
        }
}

static void every_search_and_seeding(void **state)
{
    (void)state;
    twins t = twins_new(VEM_UINT8, 400, 0);
    for (int i = 0; i < VEM_SEARCH_COUNT * (VEM_SEED_TWO_LEVEL + 1); i++) {
        vem_options o = options_of(30);
        o.search = i % VEM_SEARCH_COUNT;
        o.seeding = i / VEM_SEARCH_COUNT;
        o.family = VEM_ISO_SHARED;
        o.held = o.search == VEM_SEARCH_ALL ? 30 : 1;
        o.empty = VEM_EMPTY_RESEED;
        same_fits(&t, &o, "search and seeding", i);
    }
    twins_free(&t);
}

/* What is copied in the type of the arithmetic after all, and what is done beside the steps. */
static void other_ways(void **state)
{
    (void)state;
    for (int k = 0; k < TYPES; k++) {
        twins t = twins_new(types[k], 600, 0);
        for (int how = 0; how < 9; how++) {
            vem_options o = options_of(40);
            o.precision = VEM_SINGLE;
            o.standardize = how == 0;
            o.normalize = how == 1;
            o.metric = how == 2 ? VEM_METRIC_COSINE : o.metric;
            o.family = how == 3 ? VEM_DIAG : VEM_AUTO;
            o.empty = how == 4 ? VEM_EMPTY_DROP : o.empty;
            o.restarts = how == 5 ? 2 : o.restarts;
            o.finish = how == 6 ? VEM_FINISH_HARD : o.finish;
            o.held = how == 6 ? 3 : VEM_AUTO;
            o.cells = how == 7 ? 300 : VEM_AUTO;
            o.swaps = how == 8 ? 4 : VEM_AUTO;
            same_fits(&t, &o, "other ways", how);
        }
        twins_free(&t);
    }
}

static void any_number_of_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    twins t = twins_new(VEM_FLOAT16, 2000, 0);
    uint64_t first = 0;
    for (int k = 0; k < 4; k++) {
        vem_options o = options_of(120);
        o.precision = VEM_SINGLE;
        o.threads = threads[k];
        const uint64_t digest = digest_of(t.narrow, &o);
        first = k ? first : digest;
        assert_true(digest == first);
    }
    twins_free(&t);
}

static void rows_in_a_file(void **state)
{
    (void)state;
    for (int k = 0; k < TYPES; k++) {
        twins t = twins_new(types[k], 1500, 0);
        vem_options o = options_of(120);
        o.precision = VEM_SINGLE;
        const uint64_t inside = digest_of(t.narrow, &o);
        ctx->spills_all = 1;
        assert_true(digest_of(t.narrow, &o) == inside);
        ctx->spills_all = 0;
        twins_free(&t);
    }
}

/* A fit of bytes that was left goes on to where one of floats ends. */
static void checkpoints(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/vem-test-stored-%d", (int)getpid());
    twins t = twins_new(VEM_UINT8, 1500, 0);
    vem_options o = options_of(100);
    o.precision = VEM_SINGLE;
    o.max_steps = 6;
    const uint64_t whole = digest_of(t.wide, &o);
    vem_checkpoint keep = {.size = sizeof keep, .path = path};
    vem_options part = o;
    part.max_steps = 3;
    assert_int_equal(vem_ctx_set_checkpoint(ctx, &keep), VEM_OK);
    digest_of(t.narrow, &part);
    keep.resume = 1;
    assert_int_equal(vem_ctx_set_checkpoint(ctx, &keep), VEM_OK);
    const uint64_t resumed = digest_of(t.narrow, &o);
    assert_int_equal(vem_ctx_set_checkpoint(ctx, NULL), VEM_OK);
    unlink(path);
    assert_true(resumed == whole);
    twins_free(&t);
}

/* Many columns and rows: where a loop along leading axes comes first. */
static void along_leading_axes(void **state)
{
    (void)state;
    D = 256;
    twins t = twins_new(VEM_UINT8, 16384, 0);
    vem_options o = options_of(128);
    o.max_steps = 4;
    same_fits(&t, &o, "along leading axes", 0);
    twins_free(&t);
    D = 100;
}

/* Halves whose variance is too small for single precision are divided after all. */
static void tiny_halves(void **state)
{
    (void)state;
    twins t = twins_new(VEM_FLOAT16, 500, 0);
    for (int64_t i = 0; i < t.n * D; i++) {
        ((uint16_t *)t.stored)[i] = (uint16_t)(i * 7 % 3);
        t.values[i] = vem_i_half(((uint16_t *)t.stored)[i]);
    }
    vem_options o = options_of(2);
    o.precision = VEM_SINGLE;
    same_fits(&t, &o, "tiny halves", 0);
    twins_free(&t);
}

/* Likewise; and those whose squares are no numbers of single precision are refused as floats are. */
static void tiny_and_huge_bfloats(void **state)
{
    (void)state;
    twins t = twins_new(VEM_BFLOAT16, 500, 0);
    vem_options o = options_of(2);
    o.precision = VEM_SINGLE;
    for (int huge = 0; huge < 2; huge++) {
        for (int64_t i = 0; i < t.n * D; i++) {
            ((uint16_t *)t.stored)[i] =
                (uint16_t)((huge ? 0x7e00 : 0x0d00) + (i * 7 + i / D) % 13);
            t.values[i] = vem_i_bfloat(((uint16_t *)t.stored)[i]);
        }
        if (!huge) {
            same_fits(&t, &o, "tiny bfloats", 0);
            continue;
        }
        char message[2][1024];
        for (int k = 0; k < 2; k++) {
            vem_model *model = NULL;
            assert_int_equal(vem_fit(ctx, k ? t.wide : t.narrow, &o, NULL, &model, NULL),
                             VEM_BAD_DATA);
            snprintf(message[k], sizeof message[k], "%s", vem_ctx_message(ctx));
        }
        assert_string_equal(message[0], message[1]);
    }
    twins_free(&t);
}

/* To the byte: the copy, and nothing else, is smaller. And no more is taken than was planned. */
static void memory(void **state)
{
    (void)state;
    enum { N = 5000 };
    vem_options o = options_of(120);
    uint64_t wide, narrow;
    o.precision = VEM_SINGLE;
    o.threads = 1;
    assert_int_equal(vem_plan(ctx, &o, N, D, VEM_FLOAT32, &wide), VEM_OK);
    for (int k = 0; k < TYPES; k++) {
        const uint64_t element = has_halves(types[k]) ? 2 : 1;
        assert_int_equal(vem_plan(ctx, &o, N, D, types[k], &narrow), VEM_OK);
        assert_int_equal(wide - narrow, (4 - element) * N * (uint64_t)D);
#ifndef VEM_SANITIZED /* whose allocator does not say what is in use */
        twins t = twins_new(types[k], N, 0);
        check_plan_of(t.narrow, &o, 1.6);
        twins_free(&t);
#endif
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_own_choices),
        cmocka_unit_test(every_search_and_seeding),
        cmocka_unit_test(other_ways),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(rows_in_a_file),
        cmocka_unit_test(checkpoints),
        cmocka_unit_test(along_leading_axes),
        cmocka_unit_test(tiny_halves),
        cmocka_unit_test(tiny_and_huge_bfloats),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
