/* The plan of a tree beside what it takes at its peak. */
#include "base/machine.h"
#include "memory_hooks.h"

static double planned, seconds;

/* Of the groups of rows and of the tree, whichever is more. */
static void hear(void *user, const vem_forecast *forecast)
{
    (void)user;
    planned = fmax(planned, (double)forecast->bytes);
    seconds = forecast->seconds;
}

static void check(const vem_data *rows, const vem_options *o,
                  const vem_dendrogram_options *t)
{
    vem_dendrogram *tree = NULL;
    planned = 0;
    vem_ctx_set_forecast(ctx, hear, NULL);
    malloc_trim(0);
    const size_t before = in_use();
    highest = before;
    watching = 1;
    const vem_status status = vem_agglomerate(ctx, rows, o, t, &tree);
    watching = 0;
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    const double taken = (double)(highest - before);
    /* Not below what was taken but for small change, and not far above it: of matrices and
     * vectors the most that merges could take is planned. */
    assert_true(seconds > 0 && isfinite(seconds));
    if (!(planned >= 0.98 * taken - 80e3) || !(planned <= 2.5 * taken + 80e3))
        fail_msg("planned %.3f MB, took %.3f MB (n %lld, d %d, %s, family %d, pairs %d, "
                 "leaves %lld)",
                 planned / 1e6, taken / 1e6, (long long)vem_data_rows(rows),
                 vem_data_columns(rows), vem_dendrogram_method_name(t->method), o->family,
                 (int)t->pairs, (long long)t->leaves);
    vem_dendrogram_free(tree);
}

static void plans(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* its allocator keeps no such books */
#endif
    const int32_t columns[] = {1, 2, 5, 24, 120};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const int32_t d = columns[k];
        const int64_t n = d > 100 ? 300 : 700;
        const int weights = k % 2 ? WEIGHTS_REAL : WEIGHTS_NONE;
        grid_data made = grid_data_new(SET_SEPARATED, weights, n, d, 7);
        vem_data *rows = grid_borrow(ctx, &made);
        for (int method = 0; method < VEM_DENDROGRAM_COUNT; method++)
            for (int kind = 0; kind < (method == VEM_DENDROGRAM_BAYES ? 3 : 1); kind++)
                for (int64_t leaves = 0; leaves <= n / 5; leaves += n / 5) {
                    const int families[] = {VEM_FULL, VEM_DIAG, VEM_ISO};
                    vem_options o;
                    vem_options_init(&o);
                    o.threads = 1 + kind % 2;
                    if (method == VEM_DENDROGRAM_BAYES)
                        o.family = families[kind];
                    const vem_dendrogram_options t = {.size = sizeof t,
                                                      .method =
                                                          (vem_dendrogram_method)method,
                                                      .pairs =
                                                          (vem_pairs_method)(kind % 2),
                                                      .leaves = leaves};
                    check(rows, &o, &t);
                }
        vem_data_free(rows);
        grid_data_free(&made);
    }
}

/* The time that is told grows as the costs that are computed: with the rows, and from one way
 * of keeping pairs to another. */
static void seconds_of_pairs(void **state)
{
    (void)state;
    double told[VEM_PAIRS_COUNT][2], done[VEM_PAIRS_COUNT][2];
    vem_ctx_set_forecast(ctx, hear, NULL);
    for (int way = 0; way < VEM_PAIRS_COUNT; way++)
        for (int size = 0; size < 2; size++) {
            grid_data made =
                grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 100 << size, 3, 5);
            vem_data *rows = grid_borrow(ctx, &made);
            vem_dendrogram *tree = NULL;
            vem_options o;
            vem_options_init(&o);
            const vem_dendrogram_options t = {.size = sizeof t,
                                              .pairs = (vem_pairs_method)way};
            assert_int_equal(vem_agglomerate(ctx, rows, &o, &t, &tree), VEM_OK);
            told[way][size] = seconds;
            done[way][size] = (double)vem_dendrogram_summary(tree)->distances;
            vem_dendrogram_free(tree);
            vem_data_free(rows);
            grid_data_free(&made);
        }
    for (int way = 0; way < VEM_PAIRS_COUNT; way++)
        for (int size = 0; size < 2; size++) {
            const double ratio =
                told[way][size] / told[0][0] / (done[way][size] / done[0][0]);
            if (!(ratio > 0.5 && ratio < 2))
                fail_msg("way %d, size %d: told %g, measured %g distances", way, size,
                         told[way][size], done[way][size]);
        }
}

/* What is refused for its memory is told what a tree has, whoever refuses it: the plan of
 * the tree, or that of the fit which puts rows into groups. */
static void advice_names_what_there_is(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip();
#endif
    int of_groups = 0, with_leaves = 0;
    grid_data made = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 30000, 2, 9);
    vem_data *rows = grid_borrow(ctx, &made);
    const vem_dendrogram_options t = {.size = sizeof t, .leaves = 7000};
    for (uint64_t more = 1 << 20; more < (uint64_t)64 << 20; more += 1 << 20) {
        vem_dendrogram *tree = NULL;
        vem_options o;
        vem_options_init(&o);
        o.memory = (int64_t)(vem_i_resident_bytes() + more);
        o.time = 1e-3; /* what is not refused does not matter */
        if (vem_agglomerate(ctx, rows, &o, &t, &tree) != VEM_NO_MEMORY) {
            vem_dendrogram_free(tree);
            break;
        }
        const char *said = vem_ctx_message(ctx);
        assert_null(strstr(said, "--coreset"));
        assert_null(strstr(said, "--precision"));
        of_groups += strstr(said, "The fit of the groups") != NULL;
        with_leaves += strstr(said, "--leaves") != NULL;
    }
    assert_true(of_groups > 0);
    assert_true(with_leaves > 0);
    vem_data_free(rows);
    grid_data_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans),
                                       cmocka_unit_test(advice_names_what_there_is),
                                       cmocka_unit_test(seconds_of_pairs)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
