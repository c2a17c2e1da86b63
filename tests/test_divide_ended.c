/* Divisions and joins that are ended early: by a stop or the end of the time, anywhere, there is a whole
 * model or a sentence; and a state leads to the bits of a search that was never ended. Searches that
 * miss clusters find what the others do. */
#include "checkpoints.h"
#include "selecting.h"

enum { CLUMPS = 5, ROWS = 60, METHODS = 4 };

static const vem_select_method methods[METHODS] = {VEM_SELECT_BAYES, VEM_SELECT_VB,
                                                   VEM_SELECT_BIC, VEM_SELECT_KMEANS_BIC};

/* Stops at a call of the progress function. */
typedef struct stopper {
    int64_t calls, stop_at;
} stopper;

static int count_calls(void *user, const vem_progress *p)
{
    stopper *s = user;
    assert_true(p->done <= p->total || p->total <= 0);
    return ++s->calls == s->stop_at;
}

/* Every row has a cluster; the path holds the model. */
static void assert_whole(const grid_data *data, const found *f)
{
    const int32_t clusters = vem_model_clusters(f->model);
    const int32_t *labels = vem_report_labels(f->report);
    assert_true(isfinite(vem_report_summary(f->report)->free_energy));
    assert_non_null(labels);
    for (int64_t i = 0; i < data->n; i++)
        assert_in_range(labels[i], 0, clusters - 1);
    assert_int_equal(vem_path_chosen(f->path), clusters);
}

static void assert_same(const found *a, const found *b, int64_t n, const char *what)
{
    grid_assert_models(a->model, b->model, 0, what);
    assert_memory_equal(vem_report_labels(a->report), vem_report_labels(b->report),
                        (size_t)n * sizeof(int32_t));
    assert_true(vem_report_summary(a->report)->free_energy ==
                vem_report_summary(b->report)->free_energy);
    assert_int_equal(vem_path_count(a->path), vem_path_count(b->path));
    for (int32_t i = 0; i < vem_path_count(a->path); i++)
        assert_true(vem_path_at(a->path, i)->free_energy ==
                    vem_path_at(b->path, i)->free_energy);
}

/* A stop at any call, and what follows from the state that it left. */
static void stopped_anywhere(void **state)
{
    (void)state;
    grid_data data = heaps(CLUMPS, ROWS, 2, 5, 1, NULL);
    const vem_options o = options((vem_family_kind)-1);
    int64_t models = 0, resumed = 0, unmeasured = 0;
    for (int m = 0; m < METHODS; m++) {
        stopper all = {0};
        vem_ctx_set_progress(ctx, count_calls, &all);
        found whole = find(&data, methods[m], &o, 0, 0);
        const int64_t some = grid_stride() > 1 ? 2 : 6;
        for (int64_t stop = 1; stop <= all.calls;
             stop += stop < 3 ? 1 : 1 + all.calls / some) {
            const vem_select_options s = {.size = sizeof s, .method = methods[m]};
            const path_name file = path_of("divide", m);
            stopper one = {.stop_at = stop};
            found f;
            remove(file.text);
            keep_at(file.text, 0, 0);
            vem_ctx_set_progress(ctx, count_calls, &one);
            const vem_status status = try_select(&data, &o, &s, &f);
            vem_ctx_set_progress(ctx, NULL, NULL);
            if (status == VEM_OK) {
                models++;
                assert_whole(&data, &f);
                assert_true(vem_report_summary(f.report)->free_energy <=
                            vem_report_summary(whole.report)->free_energy);
                for (int32_t i = 0; i < vem_path_count(f.path); i++) {
                    const vem_path_point *p = vem_path_at(f.path, i);
                    /* F is no likelihood here: without that there are no criteria. */
                    assert_int_equal(isnan(p->bic), isnan(p->log_likelihood));
                    assert_int_equal(isnan(p->aic), isnan(p->log_likelihood));
                    unmeasured += isnan(p->bic);
                }
                found_free(&f);
            } else {
                assert_int_equal(status, VEM_STOPPED);
                assert_non_null(strstr(vem_ctx_message(ctx), "topped"));
            }
            if (access(file.text, F_OK) == 0) {
                keep_at(file.text, 0, 1);
                found again = find(&data, methods[m], &o, 0, 0);
                assert_same(&whole, &again, data.n, "resumed");
                found_free(&again);
                resumed++;
            }
            keep_at(NULL, 0, 0);
        }
        vem_ctx_set_progress(ctx, NULL, NULL);
        found_free(&whole);
    }
    assert_true(models > METHODS && resumed > METHODS && unmeasured > 0);
    grid_data_free(&data);
}

/* A number of a state. */
static int64_t counted(const char *file, const char *name)
{
    size_t size;
    int64_t value;
    char *bytes = slurp(file, &size);
    memcpy(&value, values_of(bytes, size, name, 0), sizeof value);
    free(bytes);
    return value;
}

/* Clusters that must be and that steps drop again are made so many times, not so many after each stop. */
static void forced_rounds_are_counted(void **state)
{
    (void)state;
    grid_data data = heaps(1, ROWS, 2, 1, 0, NULL);
    const vem_options o = options((vem_family_kind)-1);
    for (int m = 0; m < METHODS; m++) {
        const vem_select_options s = {.size = sizeof s,
                                      .method = methods[m],
                                      .min_clusters = 25,
                                      .max_clusters = 30};
        stopper all = {0}, one = {0};
        const path_name file = path_of("forced", m);
        found f;
        vem_ctx_set_progress(ctx, count_calls, &all);
        found whole = find(&data, methods[m], &o, s.min_clusters, s.max_clusters);
        one.stop_at = all.calls - 1;
        keep_at(file.text, 0, 0);
        vem_ctx_set_progress(ctx, count_calls, &one);
        if (try_select(&data, &o, &s, &f) == VEM_OK)
            found_free(&f);
        vem_ctx_set_progress(ctx, NULL, NULL);
        assert_true(counted(file.text, "forced") > 0);
        assert_in_range(counted(file.text, "again"), 0, 4);
        keep_at(file.text, 0, 1);
        found again = find(&data, methods[m], &o, s.min_clusters, s.max_clusters);
        keep_at(NULL, 0, 0);
        assert_same(&whole, &again, data.n, "forced");
        assert_int_equal(vem_report_summary(whole.report)->steps,
                         vem_report_summary(again.report)->steps);
        found_free(&again);
        found_free(&whole);
    }
    grid_data_free(&data);
}

/* How often a search went on from what is beside it is in its state: it may do so four times, not
 * four times after each stop. */
static void times_beside_are_counted(void **state)
{
    (void)state;
    grid_data data = heaps(2, 10, 2, 5, 0, NULL);
    const vem_options o = options((vem_family_kind)-1);
    const path_name file = path_of("beside", 0);
    int64_t times = 0;
    keep_at(file.text, 0, 0);
    found whole = find(&data, VEM_SELECT_BIC, &o, 0, 0);
    for (int64_t t = 0; t < vem_report_trace_count(whole.report); t++) {
        const char *move = vem_report_trace(whole.report)[t].move;
        times += move && strcmp(move, "beside") == 0;
    }
    assert_true(times > 1);
    assert_int_equal(counted(file.text, "again"), times);
    keep_at(file.text, 0, 1);
    found again = find(&data, VEM_SELECT_BIC, &o, 0, 0);
    keep_at(NULL, 0, 0);
    assert_same(&whole, &again, data.n, "beside");
    found_free(&again);
    found_free(&whole);
    grid_data_free(&data);
}

/* What happens to the states of searches by hand. */
typedef enum attack {
    FLAT_SHAPE,   /* a variance of 0, */
    FLAT_ON_PATH, /* also in a mixture of the path */
    OTHER_SUM,    /* weights that are no shares */
    BEYOND,       /* a label that is no cluster's */
    FOREIGN,      /* labels of other rows */
    NOT_SEEN,     /* no masses of clusters that were looked at, */
    SEEN_BELOW,   /* or ones that cannot be */
    NOT_TRIED,    /* nor the pairs */
    ATTACKS
} attack;

/* Without the k-th block of a name. */
static size_t cut_block(char *bytes, size_t size, const char *name, int k)
{
    char *values = values_of(bytes, size, name, k), *begin = values - 40;
    uint64_t shape[2];
    memcpy(shape, values - sizeof shape, sizeof shape);
    char *end = values + (shape[0] * shape[1] + 7) / 8 * 8;
    memmove(begin, end, (size_t)(bytes + size - end));
    return size - (size_t)(end - begin);
}

static size_t forge(char *bytes, size_t size, attack how, int32_t mixtures)
{
    const double zero = 0, below = -1;
    double third[2] = {1.0 / 3, 1.0 / 3};
    const int32_t many = 1000;
    int32_t *labels = (int32_t *)(void *)values_of(bytes, size, "labels", 0);
    switch (how) {
    case FLAT_SHAPE:
        memcpy(values_of(bytes, size, "variances", mixtures), &zero, sizeof zero);
        break;
    case FLAT_ON_PATH:
        memcpy(values_of(bytes, size, "variances", 0), &zero, sizeof zero);
        break;
    case OTHER_SUM:
        memcpy(values_of(bytes, size, "weights", mixtures), third, sizeof third);
        break;
    case BEYOND: labels[5] = many; break;
    case FOREIGN:
        for (int i = 0; i < CLUMPS * ROWS; i++)
            labels[i] = i % CLUMPS;
        break;
    case NOT_SEEN: return cut_block(bytes, size, "seen", 0);
    case SEEN_BELOW:
        memcpy(values_of(bytes, size, "seen", 0), &below, sizeof below);
        break;
    default: return cut_block(bytes, size, "pairs_tried", 0);
    }
    return size;
}

/* A state that was edited, its sum with it, is refused by the part that cannot be. */
static void edited_states_are_refused(void **state)
{
    (void)state;
    static const char *const blamed[ATTACKS] = {"variances", "variances",  "weights",
                                                "labels",    "labels",     "seen",
                                                "seen",      "pairs_tried"};
    grid_data data = heaps(CLUMPS, ROWS, 2, 12, 0, NULL);
    const vem_options o = options((vem_family_kind)-1);
    for (int m = 0; m < METHODS; m++) {
        const vem_select_options s = {.size = sizeof s, .method = methods[m]};
        const path_name file = path_of("edited", m);
        size_t size;
        int64_t mixtures;
        keep_at(file.text, 0, 0);
        found whole = find(&data, methods[m], &o, 0, 0);
        assert_int_equal(vem_model_clusters(whole.model), CLUMPS);
        char *bytes = slurp(file.text, &size), *forgery = malloc(size);
        memcpy(&mixtures, values_of(bytes, size, "path", 0), sizeof mixtures);
        assert_true(mixtures > 0);
        for (int k = 0; k < ATTACKS; k++) {
            found f;
            memcpy(forgery, bytes, size);
            const size_t left = forge(forgery, size, (attack)k, (int32_t)mixtures);
            seal(forgery, left);
            spill(file.text, forgery, left);
            keep_at(file.text, 0, 1);
            const vem_status status = try_select(&data, &o, &s, &f);
            if (status != VEM_BAD_DATA || !strstr(vem_ctx_message(ctx), blamed[k]))
                fail_msg("method %d, attack %d: %s", m, k,
                         status == VEM_OK ? "it passes" : vem_ctx_message(ctx));
        }
        keep_at(NULL, 0, 0);
        free(forgery);
        free(bytes);
        found_free(&whole);
    }
    grid_data_free(&data);
}

/* The clock jumps at a later and later look. */
static void out_of_time_anywhere(void **state)
{
    (void)state;
    grid_data data = heaps(CLUMPS, ROWS, 2, 5, 1, NULL);
    for (int m = 0; m < METHODS; m++) {
        int models = 0, none = 0, ended = 0;
        for (int64_t jump = 2; !ended; jump += 1 + jump / (grid_stride() > 1 ? 1 : 3)) {
            const vem_select_options s = {.size = sizeof s, .method = methods[m]};
            vem_options o = options((vem_family_kind)-1);
            found f;
            o.time = 100;
            o.coreset = data.n; /* no smaller one */
            fake_looks = 0;
            fake_jump_at = jump;
            const vem_status status = try_select(&data, &o, &s, &f);
            fake_jump_at = 0;
            if (status != VEM_OK) {
                assert_int_equal(status, VEM_STOPPED);
                assert_non_null(strstr(vem_ctx_message(ctx), "time"));
                none++;
                continue;
            }
            ended = vem_report_summary(f.report)->outcome == VEM_OUTCOME_CONVERGED;
            assert_whole(&data, &f);
            models += !ended;
            found_free(&f);
        }
        assert_true(models > 0 && none > 0);
    }
    grid_data_free(&data);
}

/* Shared lists of clusters miss some: what was priced is not lost by it. */
static void searches_find_the_same(void **state)
{
    (void)state;
    enum { MANY = 90 };
    grid_data data = heaps(MANY, 40, 5, 8, 0, NULL);
    vem_options o = options(VEM_FULL);
    o.search = VEM_SEARCH_CLOSEST;
    found all = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
    o.search = VEM_SEARCH_GROUPS;
    found some = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
    assert_int_equal(vem_model_clusters(all.model), MANY);
    assert_int_equal(vem_model_clusters(some.model), MANY);
    grid_assert_near(vem_report_summary(some.report)->free_energy,
                     vem_report_summary(all.report)->free_energy, 1e-9, "groups");
    found_free(&all);
    found_free(&some);
    grid_data_free(&data);
}

/* Within the loops of a search F never falls, and what is chosen is the best of its path. */
static void the_objective_never_falls(void **state)
{
    (void)state;
    grid_data data = heaps(CLUMPS, 2 * ROWS, 3, 4, 1, NULL);
    /* Twice: by the search that is taken, and by one whose first steps go beyond the means. */
    for (int k = 0; k < 2 * VEM_SELECT_SWEEP; k++) {
        const int method = k % VEM_SELECT_SWEEP;
        vem_options o = options((vem_family_kind)-1);
        o.search = k < VEM_SELECT_SWEEP ? VEM_AUTO : VEM_SEARCH_GROUPS;
        found f = find(&data, (vem_select_method)method, &o, 0, 0);
        const vem_trace_step *trace = vem_report_trace(f.report);
        const int64_t count = vem_report_trace_count(f.report);
        /* X-means goes by another variance than F, which may fall a little by a move. */
        const double rounding = method == VEM_SELECT_KMEANS_BIC ? 1e-5 : 1e-9;
        assert_true(count > 0);
        for (int64_t t = 1; t < count && method != VEM_SELECT_GMEANS; t++)
            if (trace[t].free_energy <
                trace[t - 1].free_energy - rounding * fabs(trace[t - 1].free_energy))
                fail_msg("method %d: F falls from %.10g to %.10g at step %d", method,
                         trace[t - 1].free_energy, trace[t].free_energy, (int)t + 1);
        found_free(&f);
    }
    grid_data_free(&data);
}

/* A stop while rows that were held out are measured keeps what was found. */
static void stopped_with_rows_held_out(void **state)
{
    (void)state;
    grid_data data = heaps(CLUMPS, ROWS, 2, 8, 0, NULL);
    const int32_t numbers[] = {2, 5};
    const vem_options o = options(VEM_DIAG);
    const vem_select_options s = {.size = sizeof s,
                                  .method = VEM_SELECT_SWEEP,
                                  .numbers = numbers,
                                  .number_count = 2,
                                  .holdout = 0.3};
    stopper all = {0};
    found f;
    vem_ctx_set_progress(ctx, count_calls, &all);
    assert_int_equal(try_select(&data, &o, &s, &f), VEM_OK);
    assert_true(isfinite(vem_path_at(f.path, 1)->held_out));
    found_free(&f);
    int without = 0;
    for (int64_t stop = 1; stop <= all.calls; stop++) {
        stopper one = {.stop_at = stop};
        vem_ctx_set_progress(ctx, count_calls, &one);
        const vem_status status = try_select(&data, &o, &s, &f);
        if (status == VEM_OK) {
            assert_true(f.model && f.path && f.report);
            without +=
                vem_path_count(f.path) > 0 && isnan(vem_path_at(f.path, 0)->held_out);
            found_free(&f);
        } else {
            assert_int_equal(status, VEM_STOPPED);
            assert_true(!f.model && !f.path && !f.report);
        }
    }
    vem_ctx_set_progress(ctx, NULL, NULL);
    assert_true(without > 0);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stopped_anywhere),
                                       cmocka_unit_test(forced_rounds_are_counted),
                                       cmocka_unit_test(times_beside_are_counted),
                                       cmocka_unit_test(edited_states_are_refused),
                                       cmocka_unit_test(out_of_time_anywhere),
                                       cmocka_unit_test(searches_find_the_same),
                                       cmocka_unit_test(the_objective_never_falls),
                                       cmocka_unit_test(stopped_with_rows_held_out)};
    return cmocka_run_group_tests_name("divide_ended", tests, set_up, tear_down);
}
