/* Memory: every allocation of a verb may fail, and then the verb says so, gives nothing
 * back and leaks nothing (the sanitizers look). */
#include <unistd.h>

#include "em/last_step.h"
#include "memory_hooks.h"

static uint64_t digest_of(const vem_model *model)
{
    const int32_t count = vem_model_clusters(model) * vem_model_columns(model);
    uint64_t digest = 1;
    mix(&digest, vem_model_means(model), (size_t)count * sizeof(double));
    return digest;
}

/* Run a fit with each of its allocations failing in turn; then one where none does. What fits in
 * spite of a failure could do without, and is the fit that no failure disturbed; only empty
 * clusters stay where they are without memory to put them elsewhere. */
static void fail_one_by_one(const grid_data *data, const vem_options *o,
                            const vem_model *start)
{
    vem_data *rows = grid_borrow(ctx, data);
    grid_fit whole = grid_run(ctx, data, o, start);
    const uint64_t digest = digest_of(whole.model);
    const double free_energy = whole.summary->free_energy;
    grid_fit_free(&whole);
    for (int64_t k = 1;; k++) {
        vem_model *model = NULL;
        vem_report *report = NULL;
        calls = 0;
        fail_at = k;
        vem_status status = vem_fit(ctx, rows, o, start, &model, &report);
        fail_at = 0;
        if (status == VEM_OK) {
            const double found = vem_report_summary(report)->free_energy;
            assert_true(isfinite(found));
            if (o->empty == VEM_EMPTY_KEEP)
                assert_true(found == free_energy && digest_of(model) == digest);
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
    for (int family = 0; family < VEM_FAMILIES; family++)
        for (int held = 1; held <= 5; held += 2)
            for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_TWO_LEVEL;
                 seeding++) {
                grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 60,
                                               grid_is_shaped(family) ? 3 : 8, 81);
                grid_suit((vem_family_kind)family, &data);
                vem_options o = grid_options(5, (vem_family_kind)family, VEM_PRIOR_FREE,
                                             held, VEM_SINGLE, 3);
                o.seeding = seeding;
                o.measure = 1;
                o.standardize = seeding % 2 && grid_is_shaped(family);
                o.empty = seeding % 2 ? VEM_EMPTY_KEEP : VEM_EMPTY_RESEED;
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
    GRID_EACH_SHAPED (family)
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

static int stop_early(void *user, const vem_progress *p)
{
    (void)user;
    return p->step >= 4;
}

static int go_on(void *user, const vem_progress *p)
{
    (void)user;
    (void)p;
    return 0;
}

/* What a step goes back to that is left in its middle. */
static void every_allocation_of_going_back(void **state)
{
    (void)state;
    const double before = vem_i_worth_leaving;
    for (int held = 1; held <= 3; held += 2) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 60, 3, 85);
        const vem_options o =
            grid_options(5, VEM_DIAG, VEM_PRIOR_FREE, held, VEM_DOUBLE, 3);
        vem_i_worth_leaving = 0;
        vem_ctx_set_progress(ctx, go_on, NULL);
        fail_one_by_one(&data, &o, NULL);
        vem_ctx_set_progress(ctx, NULL, NULL);
        vem_i_worth_leaving = before;
        grid_data_free(&data);
    }
}

/* A start that is far away takes memory in the step that comes near (em/steady.h). */
static void every_allocation_of_a_far_start(void **state)
{
    (void)state;
    enum { C = 3, D = 2 };
    const double means[C * D] = {1e9, 1e9, 1e9, 2e9, 2e9, 1e9};
    GRID_EACH_SHAPED (family) {
        grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_REAL, 60, D, 7);
        vem_model *near = grid_start(ctx, &data, (vem_family_kind)family, C), *far = NULL;
        assert_int_equal(vem_model_new(ctx, (vem_family_kind)family, C, D, means, NULL,
                                       vem_model_variances(near), &far),
                         VEM_OK);
        const vem_options o =
            grid_options(C, (vem_family_kind)family, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 3);
        fail_one_by_one(&data, &o, far);
        vem_model_free(near);
        vem_model_free(far);
        grid_data_free(&data);
    }
}

/* A state that cannot be written is no failure of the fit; one that cannot be read is. */
static void every_allocation_of_a_checkpoint(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "%s/vem-test-memory-%ld.state",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    vem_checkpoint keep = {.size = sizeof keep, .path = path};
    for (int search = VEM_SEARCH_CLOSEST; search < VEM_SEARCH_COUNT; search++)
        for (keep.resume = 0; keep.resume <= 1; keep.resume++) {
            grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 60, 3, 84);
            vem_options o =
                grid_options(12, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 2, VEM_DOUBLE, 3);
            o.search = search;
            o.swaps = keep.resume;
            o.restarts = 2;
            assert_int_equal(vem_ctx_set_checkpoint(ctx, &keep), VEM_OK);
            if (keep.resume) {
                o.max_steps = 20;
                remove(path);
                vem_ctx_set_progress(ctx, stop_early, NULL);
                grid_fit stopped = grid_run(ctx, &data, &o, NULL);
                vem_ctx_set_progress(ctx, NULL, NULL);
                grid_fit_free(&stopped);
            }
            fail_one_by_one(&data, &o, NULL);
            assert_int_equal(vem_ctx_set_checkpoint(ctx, NULL), VEM_OK);
            grid_data_free(&data);
        }
    remove(path);
}

static void every_allocation_of_a_coreset(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 60, 3, 86);
    vem_data *rows = grid_borrow(ctx, &data);
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
    GRID_EACH_SHAPED (family) {
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
    GRID_EACH_SHAPED (family) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 60, 3, 88);
        vem_data *rows = grid_borrow(ctx, &data);
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

/* A path, its file, and what is read from it. */
static void every_allocation_of_a_path(void **state)
{
    (void)state;
    enum { CASES = 3, VERBS = 4 };
    char file[] = "/tmp/vem_path_XXXXXX.npz";
    const int handle = mkstemps(file, 4);
    assert_true(handle >= 0);
    close(handle);
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_REAL, 60, 2, 5);
    vem_data *rows = grid_borrow(ctx, &data);
    const int families[CASES] = {VEM_FULL, VEM_ISO_SHARED, VEM_DIAG};
    for (int f = 0; f < CASES; f++) {
        const vem_select_options s = {.size = sizeof s,
                                      .method =
                                          f < 2 ? VEM_SELECT_GREEDY : VEM_SELECT_BAYES,
                                      .max_clusters = 3};
        vem_options o;
        vem_options_init(&o);
        o.family = families[f];
        o.standardize = f == 1;
        vem_model *model = NULL, *picked = NULL;
        vem_path *path = NULL, *read = NULL;
        for (int verb = 0; verb < VERBS; verb++)
            for (int64_t k = 1;; k++) {
                calls = 0;
                fail_at = k;
                vem_status status =
                    verb == 0   ? vem_select(ctx, rows, &o, &s, &model, &path, NULL)
                    : verb == 1 ? vem_path_write(ctx, path, model, file)
                    : verb == 2 ? vem_path_read(ctx, file, &read)
                                : vem_path_pick(ctx, path, 2, &picked);
                fail_at = 0;
                if (status == VEM_OK)
                    break;
                assert_int_equal(status, VEM_NO_MEMORY);
                assert_true(verb > 0 || (!model && !path));
                assert_true((verb != 2 || !read) && !picked);
            }
        assert_int_equal(vem_path_count(read), vem_path_count(path));
        vem_model_free(picked);
        vem_model_free(model);
        vem_path_free(read);
        vem_path_free(path);
    }
    unlink(file);
    vem_data_free(rows);
    grid_data_free(&data);
}

static void every_allocation_of_using_a_model(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 60, 3, 82);
        vem_data *rows = grid_borrow(ctx, &data);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_a_fit),
        cmocka_unit_test(every_allocation_of_a_neighborhood_search),
        cmocka_unit_test(every_allocation_of_shared_lists),
        cmocka_unit_test(every_allocation_of_going_back),
        cmocka_unit_test(every_allocation_of_a_far_start),
        cmocka_unit_test(every_allocation_of_a_checkpoint),
        cmocka_unit_test(every_allocation_of_a_coreset),
        cmocka_unit_test(every_allocation_of_a_sample),
        cmocka_unit_test(every_allocation_of_statistics),
        cmocka_unit_test(every_allocation_of_a_stream),
        cmocka_unit_test(every_allocation_of_a_path),
        cmocka_unit_test(every_allocation_of_using_a_model),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
