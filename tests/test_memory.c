/* Memory: every allocation of a verb may fail, and then the verb says so, gives nothing
 * back and leaks nothing (the sanitizers look); vem_plan names the bytes before they are
 * taken.
 *
 * This program has a posix_memalign of its own, the one function the library's allocator
 * calls: it counts, it can fail at the k-th call, and it notes the highest use. */
#include <errno.h>
#include <malloc.h>
#include <unistd.h>

#include "api/plan.h"
#include "grid.h"

static int64_t calls, fail_at; /* fail_at 0: never */
static size_t highest;
static int watching;

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (++calls == fail_at)
        return ENOMEM;
    void *made = memalign(alignment, bytes);
    if (!made)
        return ENOMEM;
    *memory = made;
    if (watching) {
        size_t now = in_use();
        highest = now > highest ? now : highest;
    }
    return 0;
}

static vem_ctx *ctx;

static int set_up(void **state)
{
    (void)state;
    if (vem_ctx_new(&ctx) != VEM_OK)
        return -1;
    return vem_ctx_set_threads(ctx, 1) == VEM_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    vem_ctx_free(ctx);
    return 0;
}

static vem_data *borrow(const grid_data *data)
{
    vem_data *rows = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data->x, data->n, data->d, 0, 0,
                                     &rows),
                     VEM_OK);
    if (data->weights)
        assert_int_equal(vem_data_set_weights(ctx, rows, data->weights, data->n), VEM_OK);
    return rows;
}

/* Run a fit with each of its allocations failing in turn; then one where none does. */
static void fail_one_by_one(const grid_data *data, const vem_options *o,
                            const vem_model *start)
{
    vem_data *rows = borrow(data);
    for (int64_t k = 1;; k++) {
        vem_model *model = NULL;
        vem_report *report = NULL;
        calls = 0;
        fail_at = k;
        vem_status status = vem_fit(ctx, rows, o, start, &model, &report);
        fail_at = 0;
        if (status == VEM_OK) { /* none failed, or one that a fit can do without */
            assert_true(isfinite(vem_report_summary(report)->free_energy));
            vem_model_free(model);
            vem_report_free(report);
            if (calls < k)
                break;
            continue;
        }
        assert_int_equal(status, VEM_NO_MEMORY);
        assert_null(model);
        assert_null(report);
        assert_non_null(strstr(vem_ctx_message(ctx), "memory"));
        assert_int_equal(vem_ctx_threads(ctx), 1);
    }
    vem_data_free(rows);
}

static void every_allocation_of_a_fit(void **state)
{
    (void)state;
    for (int family = VEM_ISO_SHARED; family <= VEM_FULL; family++)
        for (int held = 1; held <= 5; held += 2)
            for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_TWO_LEVEL;
                 seeding++) {
                grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 60, 3, 81);
                vem_options o = grid_options(5, (vem_family_kind)family, VEM_PRIOR_FREE,
                                             held, VEM_SINGLE, 3);
                o.seeding = seeding;
                o.measure = 1;
                o.standardize = seeding % 2;
                o.empty = VEM_EMPTY_RESEED;
                o.restarts = 2;
                fail_one_by_one(&data, &o, NULL);
                if (seeding == VEM_SEED_RANDOM) {
                    vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, 5);
                    fail_one_by_one(&data, &o, start);
                    vem_model_free(start);
                }
                grid_data_free(&data);
            }
}

static void every_allocation_of_a_neighborhood_search(void **state)
{
    (void)state;
    for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
        for (int held = 1; held <= 3; held += 2)
            for (int empty = VEM_EMPTY_KEEP; empty <= VEM_EMPTY_RESEED; empty++) {
                grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 60, 3, 84);
                vem_options o =
                    grid_options(12, VEM_ISO, VEM_PRIOR_FREE, held, VEM_DOUBLE, 3);
                o.search = kind;
                o.reach = 4;
                o.explore = 1;
                o.empty = empty;
                fail_one_by_one(&data, &o, NULL);
                grid_data_free(&data);
            }
}

/* Through a hard start, the loop with its swaps, and a hard finish. */
static void every_allocation_of_shared_lists(void **state)
{
    (void)state;
    for (int family = VEM_ISO_SHARED; family <= VEM_FULL; family++)
        for (int search = VEM_SEARCH_CLOSEST; search <= VEM_SEARCH_GROUPS; search += 3)
            for (int held = 1; held <= 3; held += 2) {
                grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 60, 3, 84);
                vem_options o = grid_options(12, (vem_family_kind)family, VEM_PRIOR_FLAT,
                                             held, VEM_DOUBLE, 12);
                o.search = search;
                o.swaps = 2;
                o.seeding = VEM_SEED_TWO_LEVEL;
                o.empty = held == 1 ? VEM_EMPTY_DROP : VEM_EMPTY_RESEED;
                o.finish = family == VEM_ISO_SHARED ? VEM_FINISH_HARD : VEM_FINISH_SOFT;
                fail_one_by_one(&data, &o, NULL);
                grid_data_free(&data);
            }
}

static void every_allocation_of_a_coreset(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 60, 3, 86);
    vem_data *rows = borrow(&data);
    for (int method = 0; method < 2; method++)
        for (int64_t size = 20; size <= 80; size += 60) {
            vem_status status = VEM_NO_MEMORY;
            for (int64_t k = 1; status != VEM_OK; k++) {
                vem_data *coreset = NULL;
                calls = 0;
                fail_at = k;
                status =
                    vem_coreset(ctx, rows, size, (vem_coreset_method)method, 1, &coreset);
                fail_at = 0;
                assert_true(status == VEM_OK || status == VEM_NO_MEMORY);
                assert_true((status == VEM_OK) == (coreset != NULL));
                assert_true(status != VEM_OK || k > 4);
                vem_data_free(coreset);
            }
        }
    vem_data_free(rows);
    for (int family = VEM_ISO_SHARED; family <= VEM_FULL; family++) {
        vem_options o =
            grid_options(5, (vem_family_kind)family, VEM_PRIOR_FREE, 2, VEM_SINGLE, 3);
        o.coreset = 30;
        o.measure = 1;
        o.standardize = family % 2;
        fail_one_by_one(&data, &o, NULL);
    }
    grid_data_free(&data);
}

static void every_allocation_of_a_sample(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 1500, 2, 88);
    for (int64_t coreset = 0; coreset <= 1200; coreset += 1200) {
        vem_options o = grid_options(5, VEM_ISO, VEM_PRIOR_FREE, 1, VEM_SINGLE, 2);
        o.seeding = VEM_SEED_RANDOM;
        o.measure = VEM_MEASURE_SAMPLE;
        if (coreset)
            o.coreset = coreset;
        fail_one_by_one(&data, &o, NULL);
    }
    grid_data_free(&data);
}

static void every_allocation_of_statistics(void **state)
{
    (void)state;
    for (int family = VEM_ISO_SHARED; family <= VEM_FULL; family++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 60, 3, 88);
        vem_data *rows = borrow(&data);
        vem_model *model = grid_start(ctx, &data, VEM_ISO_SHARED, 5), *next = NULL;
        vem_stats *stats = NULL, *back = NULL;
        char path[64];
        snprintf(path, sizeof path, "/tmp/vem-test-%ld.npz", (long)getpid());
        for (int held = 2; held <= 5; held += 3) {
            vem_options o = grid_options(5, (vem_family_kind)family, VEM_PRIOR_FREE, held,
                                         VEM_SINGLE, 3);
            vem_status status = VEM_NO_MEMORY;
            for (int64_t k = 1; status != VEM_OK; k++) {
                calls = 0;
                fail_at = k;
                status = vem_accumulate(ctx, model, rows, &o, &stats);
                fail_at = 0;
                assert_true(status == VEM_OK || status == VEM_NO_MEMORY);
                assert_true((status == VEM_OK) == (stats != NULL));
                assert_true(status != VEM_OK || k > 10);
            }
            for (int64_t k = 1; !next; k++) {
                calls = 0;
                fail_at = k;
                status = vem_stats_next(ctx, stats, &next);
                fail_at = 0;
                assert_true(status == VEM_OK || status == VEM_NO_MEMORY);
                assert_true((status == VEM_OK) == (next != NULL));
            }
            for (int64_t k = 1, done = 0; !done; k++) {
                calls = 0;
                fail_at = k;
                status = vem_stats_write(ctx, stats, path);
                fail_at = 0;
                done = status == VEM_OK;
                assert_true(done == (access(path, F_OK) == 0));
            }
            const char *paths[1] = {path};
            for (int64_t k = 1; !back; k++) {
                calls = 0;
                fail_at = k;
                status = vem_stats_merge(ctx, paths, 1, &back);
                fail_at = 0;
                assert_true(status == VEM_OK || status == VEM_NO_MEMORY);
                assert_true((status == VEM_OK) == (back != NULL));
            }
            unlink(path);
            vem_model_free(next);
            vem_stats_free(stats);
            vem_stats_free(back);
            next = NULL;
            stats = back = NULL;
        }
        vem_model_free(model);
        vem_data_free(rows);
        grid_data_free(&data);
    }
}

/* Whatever fails on the way, the rows that were not taken can be fed again, and the coreset
 * is the one without a failure. */
static void every_allocation_of_a_stream(void **state)
{
    (void)state;
    enum { N = 200, D = 2 };
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, N, D, 89);
    const vem_stream_options o = {.size = sizeof o, .bucket = 20, .seed = 3};
    vem_data *reference = NULL;
    int64_t last = 0;
    for (int64_t k = 0; k == 0 || last >= k; k++) {
        vem_stream *stream = NULL;
        vem_data *rows = NULL, *coreset = NULL;
        assert_int_equal(vem_stream_new(ctx, &o, &stream), VEM_OK);
        calls = 0;
        for (int64_t taken = 0; taken < N; taken = vem_stream_rows(stream)) {
            assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data.x + taken * D,
                                             N - taken, D, 0, 0, &rows),
                             VEM_OK);
            fail_at = k;
            const vem_status status = vem_stream_add(ctx, stream, rows);
            fail_at = 0;
            assert_true(status == VEM_OK || status == VEM_NO_MEMORY);
            vem_data_free(rows);
        }
        last = calls;
        calls = 0;
        vem_status status = VEM_NO_MEMORY;
        for (int64_t f = k ? 1 : 100; status != VEM_OK; f++) {
            calls = 0;
            fail_at = f;
            status = vem_stream_coreset(ctx, stream, &coreset);
            fail_at = 0;
            assert_true((status == VEM_OK) == (coreset != NULL));
        }
        if (reference) {
            const size_t n = (size_t)vem_data_rows(coreset);
            double a[N * D], b[N * D];
            assert_int_equal(vem_data_rows(reference), n);
            assert_int_equal(vem_data_get(ctx, coreset, 0, (int64_t)n, a), VEM_OK);
            assert_int_equal(vem_data_get(ctx, reference, 0, (int64_t)n, b), VEM_OK);
            assert_memory_equal(a, b, n * D * sizeof *a);
            assert_memory_equal(vem_data_weights(coreset), vem_data_weights(reference),
                                n * sizeof *a);
            vem_data_free(coreset);
        } else {
            reference = coreset;
        }
        vem_stream_free(stream);
    }
    assert_true(last > 50);
    vem_data_free(reference);
    grid_data_free(&data);
}

static void every_allocation_of_using_a_model(void **state)
{
    (void)state;
    for (int family = VEM_ISO_SHARED; family <= VEM_FULL; family++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 60, 3, 82);
        vem_data *rows = borrow(&data);
        vem_model *model = grid_start(ctx, &data, (vem_family_kind)family, 5);
        vem_status status = VEM_NO_MEMORY;
        vem_scores scores = {.size = sizeof scores, .mass = -1};
        int32_t clusters[60 * 5];
        double probabilities[60 * 5];
        for (int64_t k = 1; status != VEM_OK; k++) {
            calls = 0;
            fail_at = k;
            status = vem_score(ctx, model, rows, 2, VEM_DOUBLE, &scores);
            fail_at = 0;
            assert_true(status == VEM_OK || status == VEM_NO_MEMORY);
            assert_true((status == VEM_OK) == (scores.mass > 0));
        }
        for (int32_t top = 1; top <= 5; top++) {
            status = VEM_NO_MEMORY;
            for (int64_t k = 1; status != VEM_OK; k++) {
                calls = 0;
                fail_at = k;
                status = vem_assign(ctx, model, rows, top, VEM_DOUBLE, clusters,
                                    top > 1 ? probabilities : NULL);
                fail_at = 0;
                assert_true(status == VEM_OK || status == VEM_NO_MEMORY);
            }
        }
        vem_assign_options how = {.size = sizeof how,
                                  .search = VEM_ASSIGN_GUIDED,
                                  .precision = VEM_DOUBLE};
        for (how.top = 1; how.top <= 3; how.top += 2) {
            status = VEM_NO_MEMORY;
            for (int64_t k = 1; status != VEM_OK; k++) {
                vem_assign_report report = {.size = sizeof report, .guided = -1};
                calls = 0;
                fail_at = k;
                status = vem_assign_guided(ctx, model, rows, &how, clusters,
                                           how.top > 1 ? probabilities : NULL, &report);
                fail_at = 0;
                assert_true(status == VEM_OK || status == VEM_NO_MEMORY);
                assert_int_equal(report.guided, status == VEM_OK ? 1 : -1);
            }
        }
        vem_model *copy = NULL;
        for (int64_t k = 1; !copy; k++) {
            calls = 0;
            fail_at = k;
            status = vem_model_copy(ctx, model, &copy);
            fail_at = 0;
            assert_true((status == VEM_OK) == (copy != NULL));
        }
        vem_model_free(copy);
        vem_model_free(model);
        vem_data_free(rows);
        grid_data_free(&data);
    }
}

/* ---- The plan ---- */

static void check_plan(const grid_data *data, const vem_options *o)
{
    int64_t n = data->n;
    int32_t d = data->d;
    vem_data *rows = borrow(data);
    vem_model *model = NULL;
    vem_report *report = NULL;
    vem_forecast forecast;
    uint64_t planned;
    assert_int_equal(vem_plan_fit(ctx, rows, o, NULL, &forecast), VEM_OK);
    assert_int_equal(vem_plan(ctx, o, n, d, VEM_FLOAT64, &planned), VEM_OK);
    assert_true(planned <= forecast.bytes &&
                (data->weights || planned == forecast.bytes));
    assert_true(forecast.seconds > 0 && isfinite(forecast.seconds));
    planned = forecast.bytes;
    malloc_trim(0);
    size_t before = in_use();
    highest = before;
    watching = 1;
    vem_status status = vem_fit(ctx, rows, o, NULL, &model, &report);
    watching = 0;
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    double taken = (double)(highest - before), plan = (double)planned;
    const vem_options *r = &vem_report_summary(report)->options;
    /* Not below what was taken but for small change, and not far above it. */
    if (!(plan >= 0.98 * taken - 200e3) || !(plan <= 1.6 * taken + 200e3))
        fail_msg("planned %.3f MB, took %.3f MB (n %d, d %d, k %d, %s, %s, held %d, "
                 "reach %d, %s, %d threads, swaps %d, measure %d)",
                 plan / 1e6, taken / 1e6, (int)n, d, (int)r->clusters,
                 vem_choice_name("family", r->family),
                 vem_choice_name("search", r->search), (int)r->held, (int)r->reach,
                 vem_choice_name("seeding", r->seeding), (int)r->threads, (int)r->swaps,
                 r->measure);
    vem_model_free(model);
    vem_report_free(report);
    vem_data_free(rows);
}

static void the_plan_is_what_is_taken(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* its allocator keeps no such books */
#endif
    grid_data thin = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 40000, 1, 83);
    grid_data wide = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 8000, 50, 83);
    for (int family = VEM_ISO_SHARED; family <= VEM_FULL; family++)
        for (int held = 1; held <= 20; held = held == 1 ? 4 : held + 16)
            for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_TWO_LEVEL;
                 seeding++) {
                vem_options o = grid_options(20, (vem_family_kind)family, VEM_PRIOR_FREE,
                                             held, (vem_precision)(seeding % 2), 1);
                o.seeding = seeding;
                o.measure = seeding / 2 % 2;
                check_plan(&thin, &o);
                if (seeding == VEM_SEED_RANDOM)
                    check_plan(&wide, &o);
            }
    vem_options o = grid_options(3000, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_SINGLE, 1);
    o.seeding = VEM_SEED_RANDOM; /* so many that statistics are owned by the clusters */
    for (o.threads = 1; o.threads <= 9; o.threads += 4)
        check_plan(&wide, &o);
    grid_data_free(&thin);
    grid_data_free(&wide);
}

static void the_plan_of_a_coreset(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* its allocator keeps no such books */
#endif
    grid_data thin = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 400000, 1, 87);
    grid_data wide = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 20000, 50, 87);
    for (int64_t size = 1000; size <= 19000; size += 9000)
        for (int held = 1; held <= 4; held += 3) {
            vem_options o = grid_options(20, VEM_ISO_SHARED, VEM_PRIOR_FLAT, held,
                                         (vem_precision)(held % 2), 1);
            o.seeding = VEM_SEED_AFKMC2;
            o.coreset = size;
            check_plan(&thin, &o);
            check_plan(&wide, &o);
        }
    grid_data_free(&thin);
    grid_data_free(&wide);
}

static void the_plan_of_a_neighborhood_search(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* its allocator keeps no such books */
#endif
    const int64_t shapes[][3] = {{1, 2, 0}, {1, 5, 1}, {5, 5, 1}, {3, 100, 0}};
    grid_data thin = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 40000, 1, 85);
    grid_data wide = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 8000, 50, 85);
    for (int kind = VEM_SEARCH_EXACT; kind <= VEM_SEARCH_ESTIMATED; kind++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int64_t clusters = 120; clusters <= 3000; clusters += 2880) {
                vem_options o = grid_options(clusters, VEM_ISO_SHARED, VEM_PRIOR_FLAT,
                                             shapes[s][0], (vem_precision)(s % 2), 1);
                o.search = kind;
                o.reach = shapes[s][1];
                o.explore = shapes[s][2];
                o.seeding = VEM_SEED_RANDOM;
                for (o.threads = 1; o.threads <= 5; o.threads += 4) {
                    check_plan(&thin, &o);
                    check_plan(&wide, &o);
                }
            }
    grid_data_free(&thin);
    grid_data_free(&wide);
}

/* Without a preset: groups, swaps, rows put in order, k-means before a soft fit; weights,
 * restarts, measures. */
static void the_plan_of_our_own_choices(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* its allocator keeps no such books */
#endif
    const int64_t clusters[] = {20, 1500};
    for (int weights = WEIGHTS_NONE; weights <= WEIGHTS_REAL; weights += WEIGHTS_REAL)
        for (int shape = 0; shape < 2; shape++) {
            grid_data data = grid_data_new(SET_OVERLAPPING, (grid_weights)weights,
                                           shape ? 5000 : 25000, shape ? 50 : 2, 89);
            for (size_t c = 0; c < sizeof clusters / sizeof *clusters; c++)
                for (int held = 1; held <= 3; held += 2)
                    for (int how = VEM_MEASURE_NONE; how <= VEM_MEASURE_SAMPLE; how++) {
                        vem_options o;
                        vem_options_init(&o);
                        o.clusters = clusters[c];
                        o.held = held;
                        o.max_steps = 4;
                        o.measure = how;
                        o.seeding = VEM_SEED_TWO_LEVEL; /* it knows where rows belong */
                        o.restarts = 1 + (how == VEM_MEASURE_EXACT);
                        o.threads = 1 + 4 * (how == VEM_MEASURE_SAMPLE);
                        o.precision = how == VEM_MEASURE_NONE ? VEM_SINGLE : VEM_DOUBLE;
                        o.finish = held > 1 ? VEM_FINISH_HARD : VEM_AUTO;
                        check_plan(&data, &o);
                    }
            grid_data_free(&data);
        }
}

static void a_plan_that_does_not_fit(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 50000, 20, 90);
    vem_data *rows = borrow(&data);
    vem_forecast plan;
    vem_model *model = NULL;
    vem_report *report = NULL;
    vem_options o = grid_options(10, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 2);
    assert_int_equal(vem_plan_fit(ctx, rows, &o, NULL, &plan), VEM_OK);
    assert_true(plan.bytes > 8000000 && plan.bytes < 12000000);
    assert_true(plan.allowed > plan.bytes); /* what the machine has */
    assert_int_equal(vem_options_set(ctx, &o, "memory", "1M"), VEM_OK);
    assert_int_equal(o.memory, 1 << 20);
    calls = 0;
    assert_int_equal(vem_fit(ctx, rows, &o, NULL, &model, &report), VEM_NO_MEMORY);
    assert_int_equal(calls, 0); /* before any work */
    assert_null(model);
    assert_null(report);
    assert_non_null(strstr(vem_ctx_message(ctx), "--memory 1.00 MB"));
    assert_int_equal(vem_options_set(ctx, &o, "memory", "1.5G"), VEM_OK);
    assert_int_equal(o.memory, 3 << 29);
    assert_int_equal(vem_fit(ctx, rows, &o, NULL, &model, &report), VEM_OK);
    vem_model_free(model);
    vem_report_free(report);
    /* What would help is named, and helps. */
    vem_i_plan inside = vem_i_plan_of(ctx, rows, &o, &o, 0);
    assert_int_equal(vem_options_resolve(ctx, &o, data.n, data.d, VEM_FLOAT64,
                                         &inside.options),
                     VEM_OK);
    inside.options.memory = VEM_AUTO;
    assert_int_equal(vem_i_plan_check(&inside, 0), VEM_OK);
    assert_int_equal(vem_i_plan_check(&inside, plan.bytes), VEM_OK);
    assert_int_equal(vem_i_plan_check(&inside, plan.bytes - 1), VEM_NO_MEMORY);
    assert_non_null(strstr(vem_ctx_message(ctx), "the machine has"));
    assert_non_null(strstr(vem_ctx_message(ctx), "--precision single or --coreset "));
    const uint64_t third = plan.bytes / 3;
    assert_int_equal(vem_i_plan_check(&inside, third), VEM_NO_MEMORY);
    assert_null(strstr(vem_ctx_message(ctx), "--precision single"));
    const char *size = strstr(vem_ctx_message(ctx), "--coreset ");
    assert_non_null(size);
    inside.options.coreset = strtoll(size + strlen("--coreset "), NULL, 10);
    assert_true(inside.options.coreset >= 80 && inside.options.coreset < 50000);
    assert_int_equal(vem_i_plan_check(&inside, third), VEM_OK);
    inside.options.coreset *= 2;
    assert_int_equal(vem_i_plan_check(&inside, third), VEM_NO_MEMORY);
    assert_int_equal(vem_i_plan_check(&inside, 1000), VEM_NO_MEMORY);
    assert_non_null(strstr(vem_ctx_message(ctx), "more memory would help"));
    vem_data_free(rows);
    grid_data_free(&data);
}

static void bytes_in_words(void **state)
{
    (void)state;
    vem_options o;
    vem_options_init(&o);
    const char *const wrong[] = {"",    "G",   "-1G", "1Q",  "1GG", "1e9", "0x10",
                                 "inf", "nan", "0",   "0.1", "1 G", "..",  "99999999T"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(vem_options_set(ctx, &o, "memory", wrong[i]), VEM_BAD_OPTION);
        assert_int_equal(o.memory, VEM_AUTO);
    }
    const struct {
        const char *text;
        int64_t bytes;
    } right[] = {
        {"1", 1}, {"1000", 1000}, {"2K", 2048}, {"0.5M", 1 << 19}, {"3T", 3LL << 40}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_int_equal(vem_options_set(ctx, &o, "memory", right[i].text), VEM_OK);
        assert_int_equal(o.memory, right[i].bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_a_fit),
        cmocka_unit_test(every_allocation_of_a_neighborhood_search),
        cmocka_unit_test(every_allocation_of_shared_lists),
        cmocka_unit_test(every_allocation_of_a_coreset),
        cmocka_unit_test(every_allocation_of_a_sample),
        cmocka_unit_test(every_allocation_of_statistics),
        cmocka_unit_test(every_allocation_of_a_stream),
        cmocka_unit_test(every_allocation_of_using_a_model),
        cmocka_unit_test(the_plan_is_what_is_taken),
        cmocka_unit_test(the_plan_of_a_coreset),
        cmocka_unit_test(the_plan_of_a_neighborhood_search),
        cmocka_unit_test(the_plan_of_our_own_choices),
        cmocka_unit_test(a_plan_that_does_not_fit),
        cmocka_unit_test(bytes_in_words),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
