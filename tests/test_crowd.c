/* Fifty threads of one process work at once, each with a context of its own, on rows and models that all
 * of them share: each finds the bits that it finds alone. Some contexts have two threads themselves. The
 * thread sanitizer runs it, too. */
#include <pthread.h>

#include "io_test.h"

#include "base/record.h"

enum { CROWD = 50, ROWS = 400, COLUMNS = 3, CLUSTERS = 5, KINDS = 10 };

static double values[ROWS * COLUMNS], counts[ROWS * COLUMNS];
static vem_data *rows, *counted;
static vem_model *model;

/* Five groups of rows on a line, and as many kinds of counts. */
static void make_rows(void)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            const double noise = (double)((i * 7919 + j * 104729) % 1000) / 1000;
            values[i * COLUMNS + j] = 3.0 * (i % CLUSTERS) + noise * (1 + j);
            counts[i * COLUMNS + j] =
                (double)((i % CLUSTERS) * (j + 1) + (i * 31 + j) % 3);
        }
}

static uint64_t mix_model(uint64_t digest, const vem_model *m)
{
    const size_t c = (size_t)vem_model_clusters(m), d = (size_t)vem_model_columns(m);
    digest = vem_i_mix(digest, vem_model_means(m), c * d * sizeof(double));
    digest = vem_i_mix(digest, vem_model_weights(m), c * sizeof(double));
    if (vem_model_variances(m))
        digest = vem_i_mix(digest, vem_model_variances(m),
                           vem_model_variance_count(m) * sizeof(double));
    return digest;
}

/* ---- what one of them does: a digest of all it found; 0: it failed ---- */

static uint64_t fit(vem_ctx *ctx, const vem_data *data, vem_family_kind family, int held,
                    vem_search_kind search)
{
    vem_options o;
    vem_model *found = NULL;
    vem_report *report = NULL;
    uint64_t digest = 0;
    vem_options_init(&o);
    o.clusters = CLUSTERS;
    o.family = family;
    o.max_steps = 20;
    if (held)
        o.held = held;
    if ((int)search >= 0)
        o.search = search;
    if (vem_fit(ctx, data, &o, NULL, &found, &report) == VEM_OK) {
        digest = mix_model(1, found);
        digest = vem_i_mix(digest, vem_report_labels(report), ROWS * sizeof(int32_t));
    }
    vem_report_free(report);
    vem_model_free(found);
    return digest;
}

static uint64_t choose(vem_ctx *ctx)
{
    vem_options o;
    vem_select_options how = {.size = sizeof how, .method = VEM_SELECT_BAYES};
    vem_model *found = NULL;
    vem_options_init(&o);
    o.family = VEM_DIAG;
    uint64_t digest = 0;
    if (vem_select(ctx, rows, &o, &how, &found, NULL, NULL) == VEM_OK)
        digest = mix_model(1, found);
    vem_model_free(found);
    return digest;
}

static uint64_t grow(vem_ctx *ctx)
{
    vem_options o;
    vem_dendrogram_options how = {.size = sizeof how, .leaves = 60};
    vem_dendrogram *tree = NULL;
    int32_t labels[ROWS];
    uint64_t digest = 0;
    vem_options_init(&o);
    if (vem_agglomerate(ctx, rows, &o, &how, &tree) == VEM_OK &&
        vem_dendrogram_cut(ctx, tree, CLUSTERS, labels) == VEM_OK)
        digest = vem_i_mix(1, labels, sizeof labels);
    vem_dendrogram_free(tree);
    return digest;
}

static uint64_t draw(vem_ctx *ctx)
{
    const int64_t size = 100;
    vem_data *drawn = NULL;
    uint64_t digest = 0;
    if (vem_coreset(ctx, rows, size, VEM_CORESET_LIGHTWEIGHT, 3, &drawn) == VEM_OK)
        digest = vem_i_mix(vem_i_mix(1, vem_data_weights(drawn),
                                     (size_t)size * sizeof(double)),
                           vem_data_indices(drawn), (size_t)size * sizeof(int64_t));
    vem_data_free(drawn);
    return digest;
}

/* The model that all of them use: rows labelled by it, and a file of its own, read again. */
static uint64_t use(vem_ctx *ctx, int who)
{
    char path[300];
    int32_t labels[ROWS];
    vem_model *again = NULL;
    uint64_t digest = 0;
    snprintf(path, sizeof path, "%s/crowd-%d.npz", io_directory, who);
    if (vem_assign(ctx, model, rows, 1, VEM_DOUBLE, labels, NULL) == VEM_OK &&
        vem_model_write(ctx, model, path) == VEM_OK &&
        vem_model_read(ctx, path, &again) == VEM_OK)
        digest = mix_model(vem_i_mix(1, labels, sizeof labels), again);
    vem_model_free(again);
    return digest;
}

static uint64_t work(int who)
{
    vem_ctx *ctx = NULL;
    uint64_t digest = 0;
    if (vem_ctx_new(&ctx) != VEM_OK)
        return 0;
    if (vem_ctx_set_threads(ctx, who % 3 == 0 ? 2 : 1) == VEM_OK)
        switch (who % KINDS) {
        case 0: digest = fit(ctx, rows, VEM_ISO_SHARED, 1, (vem_search_kind)-1); break;
        case 1: digest = fit(ctx, rows, VEM_DIAG, 2, VEM_SEARCH_CLOSEST); break;
        case 2: digest = fit(ctx, rows, VEM_FULL, 0, (vem_search_kind)-1); break;
        case 3: digest = fit(ctx, rows, VEM_ISO, 2, VEM_SEARCH_GROUPS); break;
        case 4: digest = fit(ctx, rows, VEM_DIAG, 2, VEM_SEARCH_ESTIMATED); break;
        case 5: digest = fit(ctx, counted, VEM_POISSON, 0, (vem_search_kind)-1); break;
        case 6: digest = choose(ctx); break;
        case 7: digest = grow(ctx); break;
        case 8: digest = draw(ctx); break;
        default: digest = use(ctx, who);
        }
    if (digest == 0)
        fprintf(stderr, "%d: %s\n", who, vem_ctx_message(ctx));
    vem_ctx_free(ctx);
    return digest;
}

/* ---- all at once ---- */

static pthread_barrier_t door;

typedef struct one {
    pthread_t thread;
    int who;
    uint64_t found;
} one;

static void *come(void *user)
{
    one *me = user;
    pthread_barrier_wait(&door);
    me->found = work(me->who);
    return NULL;
}

static void the_same_bits_as_alone(void **state)
{
    (void)state;
    static one crowd[CROWD];
    uint64_t alone[KINDS];
    vem_ctx *ctx = NULL;
    vem_options o;
    make_rows();
    assert_int_equal(vem_ctx_new(&ctx), VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, values, ROWS, COLUMNS,
                                     COLUMNS * sizeof(double), sizeof(double), &rows),
                     VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, counts, ROWS, COLUMNS,
                                     COLUMNS * sizeof(double), sizeof(double), &counted),
                     VEM_OK);
    vem_options_init(&o);
    o.clusters = CLUSTERS;
    assert_int_equal(vem_fit(ctx, rows, &o, NULL, &model, NULL), VEM_OK);
    for (int k = 0; k < KINDS; k++) {
        alone[k] = work(k);
        assert_true(alone[k] != 0);
    }
    assert_int_equal(pthread_barrier_init(&door, NULL, CROWD), 0);
    for (int i = 0; i < CROWD; i++) {
        crowd[i].who = i;
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, come, &crowd[i]), 0);
    }
    for (int i = 0; i < CROWD; i++)
        pthread_join(crowd[i].thread, NULL);
    pthread_barrier_destroy(&door);
    for (int i = 0; i < CROWD; i++)
        assert_true(crowd[i].found == alone[i % KINDS]);
    vem_model_free(model);
    vem_data_free(rows);
    vem_data_free(counted);
    vem_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_bits_as_alone)};
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
