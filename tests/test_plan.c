/* The plan of a fit: vem_plan names the bytes before they are taken, and a fit that would
 * take too many is refused. */
#include "base/memory.h"
#include "data/subset.h"
#include "engine.h"
#include "fit/memory_plan.h"
#include "moves/moves.h"
#include "plan_check.h"
#include "run.h"
#include "seed/seed.h"

/* A loop as the engine has made one: what its constructors ask for, by their run. */
static void make_loop(const engine *e, vem_i_run *run, int swaps)
{
    vem_i_em em = {.run = run,
                   .options = &e->options,
                   .view = e->em.view,
                   .constraints = e->em.constraints,
                   .model = e->em.model};
    assert_int_equal(vem_i_em_new(&em, e->em.search), VEM_OK);
    assert_int_equal(vem_i_moves_new(&em, swaps), VEM_OK);
    if (!run->counted)
        vem_i_scorer_prepare(run, em.model, &em.scorer);
    assert_int_equal(vem_i_estep_start(em.estep, &em.pairs), VEM_OK);
    vem_i_em_free(&em);
}

/* To the byte: constructors that are run dry count what they take. */
static void constructors_count_what_they_take(void **state)
{
    (void)state;
    for (int i = 0; i < VEM_SEARCH_COUNT * VEM_FAMILIES * 2 * 2; i++) {
        const int search = i % VEM_SEARCH_COUNT, held = i / VEM_SEARCH_COUNT % 2 ? 3 : 1;
        const vem_family_kind family =
            (vem_family_kind)(i / VEM_SEARCH_COUNT / 2 % VEM_FAMILIES);
        const grid_weights weights =
            i < VEM_SEARCH_COUNT * VEM_FAMILIES * 2 ? WEIGHTS_NONE : WEIGHTS_REAL;
        grid_data data = grid_data_new(SET_OVERLAPPING, weights, 3000,
                                       vem_family_axes(family) < 0 ? 12 : 5, 83);
        grid_suit(family, &data);
        vem_model *start = grid_start(ctx, &data, family, 40);
        vem_options o = grid_options(40, family, VEM_PRIOR_FREE, held, VEM_SINGLE, 8);
        o.search = search;
        if (search == VEM_SEARCH_ALL)
            o.held = 40;
        engine e;
        engine_new(&e, ctx, &data, &o, start);
        const int swaps = search != VEM_SEARCH_ALL && vem_family_axes(family) >= 0;
        uint64_t counted;
        vem_i_run dry = vem_i_run_dry(run_of(ctx), &counted);
        make_loop(&e, &dry, swaps);
        asked = 0;
        watching = 1;
        make_loop(&e, run_of(ctx), swaps);
        watching = 0;
        if (counted != asked)
            fail_msg("counted %llu, took %zu bytes: search %s, family %s, held %d",
                     (unsigned long long)counted, asked,
                     vem_choice_name("search", search), vem_choice_name("family", family),
                     held);
        engine_free(&e);
        vem_model_free(start);
        grid_data_free(&data);
    }
}

/* What runs before the loop: a seeding, a sample of the view, the look for distinct rows. */
static void make_before(const vem_view *view, vem_i_run *run, int seeding)
{
    int64_t items[40], distinct;
    vem_i_seeds seeds = {.items = items};
    vem_i_points *subset = NULL;
    assert_int_equal(vem_i_seed(run, view, (vem_seeding)seeding, 40, 20, 7, &seeds),
                     VEM_OK);
    assert_int_equal(vem_i_subset_new(run, view, 500, 0, 7, NULL, &subset), VEM_OK);
    assert_int_equal(vem_i_count_distinct(run, view, 40, &distinct), VEM_OK);
    vem_i_points_free(subset);
}

static void what_runs_before_counts_what_it_takes(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * VEM_SEED_TWO_LEVEL + 2; i++) {
        const int seeding = i / 2;
        grid_data data = grid_data_new(SET_OVERLAPPING,
                                       i % 2 ? WEIGHTS_REAL : WEIGHTS_NONE, 3000, 5, 91);
        vem_data *rows = grid_borrow(ctx, &data);
        const vem_i_points_request request = {.precision = (vem_precision)(i % 2),
                                              .floor_share = 1e-6,
                                              .phase = "read"};
        vem_i_points *points = NULL;
        assert_int_equal(vem_i_points_new(run_of(ctx), rows, &request, &points), VEM_OK);
        uint64_t counted;
        vem_i_run dry = vem_i_run_dry(run_of(ctx), &counted);
        make_before(&points->view, &dry, seeding);
        asked = 0;
        watching = 1;
        make_before(&points->view, run_of(ctx), seeding);
        watching = 0;
        /* Two levels look for the nearest centers several times, and give back in between. */
        if (seeding == VEM_SEED_TWO_LEVEL ? counted > asked : counted != asked)
            fail_msg("counted %llu, took %zu bytes: seeding %s, %s",
                     (unsigned long long)counted, asked,
                     vem_choice_name("seeding", seeding), i % 2 ? "weights" : "even");
        vem_i_points_free(points);
        vem_data_free(rows);
        grid_data_free(&data);
    }
}

/* Sizes that no fit can have are planned all the same: more rows take no less. */
static void plans_of_any_size(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family) {
        uint64_t before = 0;
        for (int bits = 20; bits < 60; bits++) {
            uint64_t bytes;
            vem_options o;
            vem_options_init(&o);
            o.clusters = 2000;
            o.family = family;
            assert_int_equal(vem_plan(ctx, &o, (int64_t)1 << bits, 3, VEM_FLOAT32,
                                      &bytes),
                             VEM_OK);
            assert_true(bytes > before && bytes >= 12 * ((uint64_t)1 << bits));
            before = bytes;
        }
    }
}

static void the_plan_is_what_is_taken(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* its allocator keeps no such books */
#endif
    grid_data thin = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 40000, 1, 83);
    grid_data wide = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 8000, 50, 83);
    GRID_EACH_SHAPED (family)
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
    /* Measuring keeps one cluster a row, however many there are. */
    vem_options o = grid_options(3000, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 1);
    o.search = VEM_SEARCH_ESTIMATED;
    o.reach = 5;
    o.seeding = VEM_SEED_RANDOM;
    o.measure = VEM_MEASURE_EXACT;
    for (o.threads = 1; o.threads <= 5; o.threads += 4)
        check_plan(&thin, &o);
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
                        /* Swaps of clusters with shapes, in the loop itself. */
                        o.finish = VEM_AUTO;
                        o.family = how == VEM_MEASURE_NONE ? VEM_DIAG : VEM_FULL;
                        if (o.family == VEM_FULL && shape && c > 0)
                            continue; /* models of 30 MB and nothing to learn */
                        check_plan(&data, &o);
                    }
            grid_data_free(&data);
        }
}

/* A tree and its cells beside the rows; of all searches, with and without swaps. */
static void the_plan_of_cells(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* its allocator keeps no such books */
#endif
    grid_data thin = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 40000, 2, 85);
    grid_data wide = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 8000, 20, 85);
    for (int kind = 0; kind < VEM_SEARCH_COUNT; kind++)
        for (int i = 0; i < 2; i++) {
            vem_options o =
                grid_options(40, i ? VEM_FULL : VEM_ISO, VEM_PRIOR_FREE,
                             kind == VEM_SEARCH_ALL ? 40 : 3, (vem_precision)i, 8);
            o.search = kind;
            o.seeding = VEM_SEED_RANDOM;
            o.tolerance = 1e-3;
            o.cells = i ? 1500 : 3000;
            o.threads = 1 + 4 * i;
            check_plan(&thin, &o);
            check_plan(&wide, &o);
        }
    vem_options o;
    vem_options_init(&o);
    o.clusters = 100;
    o.cells = 4000;
    o.family = VEM_DIAG;
    o.max_steps = 8;
    check_plan(&thin, &o);
    grid_data_free(&thin);
    grid_data_free(&wide);
}

static void remember(void *user, const vem_forecast *forecast)
{
    *(vem_forecast *)user = *forecast;
}

static void a_plan_that_does_not_fit(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 50000, 20, 90);
    vem_data *rows = grid_borrow(ctx, &data);
    vem_forecast plan = {.size = sizeof plan};
    vem_model *model = NULL;
    vem_report *report = NULL;
    vem_options o = grid_options(10, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 2);
    assert_int_equal(vem_plan_fit(ctx, rows, &o, NULL, &plan), VEM_OK);
    assert_true(plan.bytes > 8000000 && plan.bytes < 12000000);
    assert_true(plan.allowed > plan.bytes); /* what the machine has */
    assert_int_equal(vem_options_set(ctx, &o, "memory", "1M"), VEM_OK);
    assert_int_equal(o.memory, 1 << 20);
    asked = 0;
    watching = 1;
    assert_int_equal(vem_fit(ctx, rows, &o, NULL, &model, &report), VEM_NO_MEMORY);
    watching = 0;
    assert_true(asked < 100000); /* before any work: no array was taken */
    assert_null(model);
    assert_null(report);
    assert_non_null(strstr(vem_ctx_message(ctx), "--memory 1.00 MiB"));
    assert_int_equal(vem_options_set(ctx, &o, "memory", "1.5G"), VEM_OK);
    assert_int_equal(o.memory, 3 << 29);
    vem_forecast told = {0};
    vem_ctx_set_forecast(ctx, remember, &told);
    assert_int_equal(vem_fit(ctx, rows, &o, NULL, &model, &report), VEM_OK);
    vem_ctx_set_forecast(ctx, NULL, NULL);
    assert_int_equal(told.bytes, plan.bytes); /* what vem_plan_fit says */
    vem_model_free(model);
    vem_report_free(report);
    /* What would help is named, and helps. */
    vem_options r;
    assert_int_equal(vem_options_resolve(ctx, &o, data.n, data.d, VEM_FLOAT64, &r),
                     VEM_OK);
    r.memory = VEM_AUTO;
    vem_i_plan inside = vem_i_plan_of(run_of(ctx), rows, &o, &r, 0);
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
    r.coreset = strtoll(size + strlen("--coreset "), NULL, 10);
    assert_true(r.coreset >= 80 && r.coreset < 50000);
    inside = vem_i_plan_with(&inside, &r);
    assert_int_equal(vem_i_plan_check(&inside, third), VEM_OK);
    r.coreset *= 2;
    inside = vem_i_plan_with(&inside, &r);
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

/* One way to say it: no four digits, no 10.00. */
static void bytes_are_said(void **state)
{
    (void)state;
    const struct {
        double bytes;
        const char *text;
    } cases[] = {{1, "1 byte"},
                 {512, "512 bytes"},
                 {1024 * 9.996, "10 KiB"},
                 {1024 * 999.6, "0.98 MiB"},
                 {1536.0 * 1048576, "1.50 GiB"},
                 {0x1p50, "1024 TiB"}};
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(vem_bytes_print(cases[i].bytes, text), cases[i].text);
}

/* Sizes of no data are refused: once they were divided by, looped to and multiplied. */
static void sizes_that_are_none(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        int32_t d;
    } sizes[] = {{5, 0},  {5, -1},       {5, INT32_MIN},
                 {-5, 3}, {0, 3},        {INT64_C(1) << 62, INT32_MAX},
                 {5, -3}, {INT64_MIN, 1}};
    vem_options options, resolved;
    uint64_t bytes = 7;
    vem_options_init(&options);
    options.clusters = 2;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(vem_plan(ctx, &options, sizes[i].n, sizes[i].d, VEM_FLOAT64,
                                  &bytes),
                         VEM_BAD_DATA);
        assert_int_equal(vem_options_resolve(ctx, &options, sizes[i].n, sizes[i].d,
                                             VEM_FLOAT64, &resolved),
                         VEM_BAD_DATA);
    }
    assert_int_equal(bytes, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_said),
        cmocka_unit_test(sizes_that_are_none),
        cmocka_unit_test(constructors_count_what_they_take),
        cmocka_unit_test(what_runs_before_counts_what_it_takes),
        cmocka_unit_test(plans_of_any_size),
        cmocka_unit_test(the_plan_is_what_is_taken),
        cmocka_unit_test(the_plan_of_a_coreset),
        cmocka_unit_test(the_plan_of_a_neighborhood_search),
        cmocka_unit_test(the_plan_of_our_own_choices),
        cmocka_unit_test(the_plan_of_cells),
        cmocka_unit_test(a_plan_that_does_not_fit),
        cmocka_unit_test(bytes_in_words),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
