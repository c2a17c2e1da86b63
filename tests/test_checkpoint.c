/* A fit that goes on from a checkpoint gives the same bits as one that was never
 * interrupted: from the state before every step, and from that of a stop in every step,
 * for all searches, families and courses, with any number of threads. */
#include "checkpoints.h"
#include "search/bounds.h"

typedef struct course {
    const char *name;
    int search, family, held, prior;
    int64_t clusters, n;
    int32_t d;
    int swaps, finish, restarts, coreset, empty, init_steps, explore;
    grid_set set;
    grid_weights weights;
    int precision, algorithm, warm, stride;
} course;

static const course courses[] = {
    {.name = "all, full",
     .search = VEM_SEARCH_ALL,
     .family = VEM_FULL,
     .held = 6,
     .prior = 1},
    {.name = "all, diag, start",
     .search = VEM_SEARCH_ALL,
     .family = VEM_DIAG,
     .held = 6,
     .swaps = 4,
     .weights = WEIGHTS_REAL,
     .restarts = 2},
    {.name = "closest, hard", .search = VEM_SEARCH_CLOSEST, .held = 1, .d = 20},
    {.name = "closest, swaps",
     .search = VEM_SEARCH_CLOSEST,
     .held = 1,
     .swaps = 5,
     .weights = WEIGHTS_ZEROS,
     .precision = VEM_SINGLE,
     .empty = VEM_EMPTY_RESEED},
    {.name = "closest, soft swaps",
     .search = VEM_SEARCH_CLOSEST,
     .family = VEM_ISO,
     .held = 3,
     .prior = 1,
     .swaps = 5,
     .algorithm = VEM_ALGORITHM_KMEANS_C,
     .init_steps = 2},
    {.name = "closest, hard swaps of full",
     .search = VEM_SEARCH_CLOSEST,
     .family = VEM_FULL,
     .held = 1,
     .swaps = 5,
     .set = SET_HEAVY,
     .algorithm = VEM_ALGORITHM_GMM},
    {.name = "boxes",
     .search = VEM_SEARCH_BOXES,
     .family = VEM_FULL,
     .held = 1,
     .prior = 1,
     .n = 3000,
     .d = 2,
     .set = SET_HEAVY,
     .weights = WEIGHTS_REAL},
    {.name = "boxes that do not pay, swaps",
     .search = VEM_SEARCH_BOXES,
     .held = 1,
     .swaps = 3,
     .precision = VEM_SINGLE,
     .empty = VEM_EMPTY_RESEED},
    {.name = "groups, soft swaps of diag",
     .search = VEM_SEARCH_GROUPS,
     .family = VEM_DIAG,
     .held = 2,
     .prior = 1,
     .swaps = 5,
     .set = SET_HEAVY,
     .weights = WEIGHTS_REAL,
     .algorithm = VEM_ALGORITHM_GMM},
    {.name = "warm, estimated, swaps of full",
     .search = VEM_SEARCH_ESTIMATED,
     .family = VEM_FULL,
     .held = 2,
     .prior = 1,
     .swaps = 4,
     .set = SET_HEAVY,
     .warm = 1},
    {.name = "closest, iso, finish",
     .search = VEM_SEARCH_CLOSEST,
     .held = 3,
     .finish = VEM_FINISH_HARD,
     .swaps = 3},
    {.name = "closest, drop",
     .search = VEM_SEARCH_CLOSEST,
     .family = VEM_DIAG,
     .held = 2,
     .clusters = 40,
     .n = 120,
     .set = SET_HEAVY,
     .empty = VEM_EMPTY_DROP,
     .prior = 1},
    {.name = "exact",
     .search = VEM_SEARCH_EXACT,
     .held = 2,
     .explore = 1,
     .clusters = 20},
    {.name = "exact, drop",
     .search = VEM_SEARCH_EXACT,
     .held = 1,
     .explore = 1,
     .clusters = 60,
     .n = 120,
     .set = SET_HEAVY,
     .empty = VEM_EMPTY_DROP},
    {.name = "estimated",
     .search = VEM_SEARCH_ESTIMATED,
     .held = 3,
     .clusters = 30,
     .family = VEM_ISO,
     .prior = 1,
     .precision = VEM_SINGLE},
    {.name = "estimated, preset",
     .search = VEM_SEARCH_ESTIMATED,
     .held = 2,
     .clusters = 30,
     .algorithm = VEM_ALGORITHM_VAR_GMM_S,
     .explore = 2,
     .init_steps = 3},
    {.name = "estimated, drop",
     .search = VEM_SEARCH_ESTIMATED,
     .held = 2,
     .explore = 1,
     .clusters = 60,
     .n = 120,
     .set = SET_HEAVY,
     .empty = VEM_EMPTY_DROP,
     .restarts = 2},
    {.name = "estimated, reseed",
     .search = VEM_SEARCH_ESTIMATED,
     .held = 1,
     .clusters = 60,
     .n = 240,
     .set = SET_DUPLICATES,
     .empty = VEM_EMPTY_RESEED,
     .swaps = 3},
    {.name = "groups",
     .search = VEM_SEARCH_GROUPS,
     .held = 1,
     .clusters = 40,
     .swaps = 5,
     .restarts = 2,
     .d = 20,
     .precision = VEM_SINGLE},
    {.name = "groups that settle",
     .search = VEM_SEARCH_GROUPS,
     .held = 1,
     .clusters = 40,
     .d = 20},
    {.name = "groups, diag",
     .search = VEM_SEARCH_GROUPS,
     .held = 3,
     .clusters = 40,
     .swaps = 3,
     .family = VEM_DIAG,
     .prior = 1,
     .weights = WEIGHTS_REAL},
    {.name = "groups, soft",
     .search = VEM_SEARCH_GROUPS,
     .held = 3,
     .clusters = 40,
     .swaps = 3,
     .finish = VEM_FINISH_HARD,
     .weights = WEIGHTS_REAL,
     .algorithm = VEM_ALGORITHM_KMEANS_C},
    {.name = "groups, drop, finish",
     .search = VEM_SEARCH_GROUPS,
     .held = 2,
     .clusters = 60,
     .n = 120,
     .set = SET_HEAVY,
     .empty = VEM_EMPTY_DROP,
     .finish = VEM_FINISH_HARD},
    {.name = "groups, full",
     .search = VEM_SEARCH_GROUPS,
     .held = 2,
     .clusters = 12,
     .family = VEM_FULL},
    {.name = "groups, drop",
     .search = VEM_SEARCH_GROUPS,
     .held = 1,
     .clusters = 60,
     .n = 120,
     .set = SET_HEAVY,
     .empty = VEM_EMPTY_DROP},
    {.name = "groups, reseed",
     .search = VEM_SEARCH_GROUPS,
     .held = 1,
     .clusters = 60,
     .n = 240,
     .set = SET_DUPLICATES,
     .empty = VEM_EMPTY_RESEED,
     .swaps = 3},
    /* So many clusters that groups have two of them. */
    {.name = "groups of several",
     .search = VEM_SEARCH_GROUPS,
     .held = 1,
     .clusters = 4200,
     .n = 9000,
     .swaps = 2,
     .d = 2,
     .precision = VEM_SINGLE,
     .stride = 4,
     .empty = VEM_EMPTY_RESEED},
    {.name = "coreset",
     .search = VEM_SEARCH_CLOSEST,
     .held = 2,
     .coreset = 200,
     .restarts = 2},
    {.name = "coreset, groups",
     .search = VEM_SEARCH_GROUPS,
     .held = 1,
     .coreset = 200,
     .clusters = 20,
     .swaps = 2},
    {.name = "warm",
     .search = VEM_SEARCH_CLOSEST,
     .held = 2,
     .warm = 1,
     .family = VEM_ISO},
    {.name = "warm, groups",
     .search = VEM_SEARCH_GROUPS,
     .held = 1,
     .warm = 1,
     .swaps = 3},
};

static vem_options options_of(const course *c)
{
    vem_options o =
        grid_options(c->clusters ? c->clusters : 6, (vem_family_kind)c->family,
                     (vem_prior_kind)c->prior, c->held, (vem_precision)c->precision, 11);
    o.search = c->search;
    o.swaps = c->swaps;
    o.finish = c->finish;
    o.restarts = c->restarts ? c->restarts : 1;
    o.empty = c->empty;
    o.init_steps = c->init_steps;
    o.tolerance = 1e-5;
    if (c->algorithm)
        o.algorithm = c->algorithm;
    if (c->coreset)
        o.coreset = c->coreset;
    if (c->search == VEM_SEARCH_EXACT || c->search == VEM_SEARCH_ESTIMATED) {
        o.explore = c->explore;
        o.reach = 5;
    }
    return o;
}

/* `threads` other than those of the first run. */
static grid_fit go_on(const grid_data *data, const vem_options *o, const vem_model *start,
                      const char *path, int threads)
{
    keep_at(path, 1e9, 1);
    vem_ctx_set_threads(ctx, threads);
    grid_fit fit = grid_run(ctx, data, o, start);
    assert_true(fit.summary->resumed_step > 0);
    keep_at(NULL, 0, 0);
    vem_ctx_set_threads(ctx, 1);
    return fit;
}

static void check_course(const course *c)
{
    char what[128];
    grid_data data =
        grid_data_new(c->set, c->weights, c->n ? c->n : 400, c->d ? c->d : 3, 77);
    grid_suit((vem_family_kind)c->family, &data);
    vem_options o = options_of(c);
    vem_model *start =
        c->warm ? grid_start(ctx, &data, VEM_ISO_SHARED, (int32_t)o.clusters) : NULL;
    vem_ctx_set_threads(ctx, 1);
    grid_fit whole = grid_run(ctx, &data, &o, start);
    /* Keeping the state changes nothing. */
    path_name file = path_of("state", 0);
    const char *path = file.text;
    watcher w = {.path = path};
    keep_at(path, 0, 0);
    vem_ctx_set_progress(ctx, watch, &w);
    grid_fit kept = grid_run(ctx, &data, &o, start);
    vem_ctx_set_progress(ctx, NULL, NULL);
    assert_same_bits(&whole, &kept, c->name);
    grid_fit_free(&kept);
    /* The file at the end: nothing is left to do. */
    kept = go_on(&data, &o, start, path, 2);
    assert_same_bits(&whole, &kept, c->name);
    grid_fit_free(&kept);
    assert_true(w.steps > 1 && w.steps <= MOST_COPIES);
    /* Not every step of every course: the phases of a schedule take several. */
    int64_t stride = (c->stride ? c->stride : w.steps > 12 ? 2 : 1) * grid_stride();
    for (int64_t k = 1; k <= w.steps; k += stride) {
        snprintf(what, sizeof what, "%s, from before step %lld", c->name, (long long)k);
        grid_fit resumed =
            go_on(&data, &o, start, path_of("copy", k).text, 1 + (k == 1 + stride));
        assert_same_bits(&whole, &resumed, what);
        grid_fit_free(&resumed);
    }
    for (int64_t k = 1; k <= w.steps; k += stride) {
        watcher stop = {.stop_at = k};
        snprintf(what, sizeof what, "%s, stopped in step %lld", c->name, (long long)k);
        keep_at(path, 1e9, 0);
        vem_ctx_set_progress(ctx, watch, &stop);
        grid_fit stopped = grid_run(ctx, &data, &o, start);
        vem_ctx_set_progress(ctx, NULL, NULL);
        assert_int_equal(stopped.summary->outcome, VEM_OUTCOME_STOPPED);
        grid_fit_free(&stopped);
        grid_fit resumed = go_on(&data, &o, start, path, 1);
        assert_same_bits(&whole, &resumed, what);
        grid_fit_free(&resumed);
    }
    grid_fit_free(&whole);
    vem_model_free(start);
    grid_data_free(&data);
}

static void same_bits_for_every_course(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++)
        check_course(&courses[i]);
}

/* Every line of the tables: what a search or a family remembers from step to step is in the state. */
static void same_bits_for_every_search_and_family(void **state)
{
    (void)state;
    for (int i = 0; i < VEM_SEARCH_COUNT * VEM_FAMILIES; i++) {
        char name[64];
        const int search = i % VEM_SEARCH_COUNT, family = i / VEM_SEARCH_COUNT;
        snprintf(name, sizeof name, "%s, %s", vem_choice_name("search", search),
                 vem_choice_name("family", family));
        const course c = {.name = name,
                          .search = search,
                          .family = family,
                          .held = search == VEM_SEARCH_ALL ? 6 : 2,
                          .explore = 1,
                          .prior = 1,
                          .stride = 4};
        check_course(&c);
    }
}

/* A fit that came to its limit goes on with a larger one, as if it had never ended; again
 * and again, one step at a time. */
static void more_steps(void **state)
{
    (void)state;
    static const char *const names[] = {"closest, soft swaps", "estimated",
                                        "closest, hard",       "groups",
                                        "all, full",           "exact"};
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            course c = courses[i];
            if (strcmp(c.name, names[k]) != 0)
                continue;
            c.restarts = 1;
            grid_data data =
                grid_data_new(c.set, c.weights, c.n ? c.n : 400, c.d ? c.d : 3, 77);
            vem_options o = options_of(&c);
            o.algorithm = VEM_ALGORITHM_KMEANS; /* no start before the loop */
            path_name file = path_of("more", 0);
            const char *path = file.text;
            remove(path);
            for (int64_t steps = 1; steps <= 9; steps++) {
                o.max_steps = steps;
                keep_at(NULL, 0, 0);
                grid_fit whole = grid_run(ctx, &data, &o, NULL);
                keep_at(path, 1e9, 1);
                grid_fit more = grid_run(ctx, &data, &o, NULL);
                assert_same_bits(&whole, &more, c.name);
                grid_fit_free(&whole);
                grid_fit_free(&more);
            }
            keep_at(NULL, 0, 0);
            grid_data_free(&data);
        }
}

int main(void)
{
    vem_i_bounds_columns = 1; /* what rows know of clusters is in the state, too */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_every_course),
        cmocka_unit_test(same_bits_for_every_search_and_family),
        cmocka_unit_test(more_steps),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
