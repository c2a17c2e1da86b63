/* Several starts on the first cells, and cells that nobody asked for. */
#include "checkpoints.h"
#include "engine.h"
#include "fit/resolve.h"
#include "run.h"

enum { CLUSTERS = 6, MANY = 250000 };

static vem_options with_starts(vem_family_kind family)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = CLUSTERS;
    o.family = (int)family;
    o.cells = 900;
    o.max_steps = 100;
    return o;
}

static const vem_family_kind families[] = {VEM_ISO_SHARED, VEM_ISO, VEM_DIAG, VEM_FULL,
                                           VEM_FULL_SHARED};
enum { FAMILIES = sizeof families / sizeof *families };

/* The best start goes on with more cells: the laws of F, the same bits for any threads. */
static void laws(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 2500, 2, 4);
    for (int f = 0; f < FAMILIES; f++) {
        vem_options o = with_starts(families[f]);
        const char *name = vem_choice_name("family", o.family);
        grid_fit first = {0};
        for (int t = 0; t < 4; t++) {
            o.threads = threads[t];
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            if (t > 0) {
                assert_same_bits(&fit, &first, name);
                grid_fit_free(&fit);
                continue;
            }
            first = fit;
            for (int64_t s = 1; s < fit.trace_count; s++)
                if (fit.trace[s].free_energy <
                    fit.trace[s - 1].free_energy - 1e-9 * fabs(fit.summary->free_energy))
                    fail_msg("%s: F falls in step %lld", name, (long long)s);
            assert_true(fit.summary->seed_pairs > 0 && fit.summary->gap >= -1e-9);
            assert_true(fit.summary->cells > (INT64_C(1) << fit.options->depth) / 2);
        }
        grid_fit_free(&first);
    }
    grid_data_free(&data);
}

/* No start is worse than the first of them alone, which is what --swaps 0 leaves but for the swaps:
 * on six groups that lie apart one seeding may miss one, all of them together do not. */
static void better_than_one(void **state)
{
    (void)state;
    int64_t better = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 2000, 2, seed);
        vem_options o = with_starts(VEM_FULL), alone = o;
        alone.swaps = 0;
        grid_fit a = grid_run(ctx, &data, &o, NULL),
                 b = grid_run(ctx, &data, &alone, NULL);
        better += a.summary->free_energy > b.summary->free_energy;
        grid_fit_free(&a);
        grid_fit_free(&b);
        grid_data_free(&data);
    }
    assert_true(better >= 5);
}

static void resumed(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 1500, 2, 8);
    const path_name path = path_of("cells_starts", 0);
    vem_options o = with_starts(VEM_FULL);
    keep_at(NULL, 0, 0);
    grid_fit whole = grid_run(ctx, &data, &o, NULL);
    for (int64_t stop = 3; stop < 40; stop += 9) {
        watcher w = {.stop_at = stop};
        remove(path.text);
        keep_at(path.text, 0, 0);
        vem_ctx_set_progress(ctx, watch, &w);
        grid_fit some = {0};
        (void)grid_try(ctx, &data, &o, NULL,
                       &some); /* in the starts there is no model yet */
        vem_ctx_set_progress(ctx, NULL, NULL);
        keep_at(path.text, 1e9, access(path.text, F_OK) == 0);
        grid_fit rest = grid_run(ctx, &data, &o, NULL);
        assert_same_bits(&rest, &whole, "stopped and gone on with");
        grid_fit_free(&some);
        grid_fit_free(&rest);
    }
    keep_at(NULL, 0, 0);
    grid_fit_free(&whole);
    grid_data_free(&data);
}

/* ---- by default ---- */

static int64_t cells_of(const double *x, int64_t n, int32_t d, const vem_options *o,
                        const vem_model *start)
{
    vem_data *data;
    vem_options resolved;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, n, d, 0, 0, &data), VEM_OK);
    assert_int_equal(vem_i_fit_resolve(run_of(ctx), data, o, start, &resolved), VEM_OK);
    vem_data_free(data);
    return resolved.cells;
}

static void where_nobody_asked(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, MANY, 4, 1);
    double *x = data.x;
    vem_options o = with_starts(VEM_FULL), other, resolved;
    o.cells = VEM_AUTO;
    o.max_steps = 50;
    assert_int_equal(cells_of(x, MANY, 2, &o, NULL), 32768);
    other = o;
    other.clusters = 64;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), 65536);
    /* Fewer rows, more columns, more clusters than starts are for. */
    assert_int_equal(cells_of(x, MANY - 1, 2, &o, NULL), VEM_AUTO);
    assert_int_equal(cells_of(x, MANY, 3, &o, NULL), VEM_AUTO);
    other = o;
    other.clusters = 65;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), VEM_AUTO);
    /* Many clusters with a variance for each column. */
    other.family = VEM_DIAG;
    assert_int_equal(cells_of(x, MANY, 3, &other, NULL), 16384);
    assert_int_equal(cells_of(x, MANY, 4, &other, NULL), VEM_AUTO);
    other.clusters = 400;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), 51200);
    other.clusters = 500; /* a quarter of the rows and more */
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), VEM_AUTO);
    other.clusters = 100;
    other.search = VEM_SEARCH_CLOSEST;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), VEM_AUTO);
    /* Something else is asked for. */
    other = o;
    other.family = VEM_DIAG;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), VEM_AUTO);
    other = o;
    other.algorithm = VEM_ALGORITHM_GMM;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), VEM_AUTO);
    other = o;
    other.swaps = 0;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), VEM_AUTO);
    other = o;
    other.coreset = 5000;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), VEM_AUTO);
    other = o;
    other.cells = 4000;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), 4000);
    grid_data two = {.n = MANY, .d = 2, .x = x};
    vem_model *start = grid_start(ctx, &two, VEM_FULL, CLUSTERS);
    assert_int_equal(cells_of(x, MANY, 2, &o, start), VEM_AUTO);
    vem_model_free(start);
    other = o;
    other.cells = 0;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), 0);
    other.algorithm = VEM_ALGORITHM_KD_EM;
    assert_int_equal(vem_options_resolve(ctx, &other, MANY, 2, VEM_FLOAT64, &resolved),
                     VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "--cells is 0"));
    /* What is about cells goes with those that nobody asked for. */
    other = o;
    other.gap = 0.01;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), 32768);
    other.depth = 6;
    assert_int_equal(cells_of(x, MANY, 2, &other, NULL), 32768);
    assert_int_equal(vem_options_resolve(ctx, &other, MANY - 1, 2, VEM_FLOAT64,
                                         &resolved),
                     VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "--depth needs --cells"));
    /* Rounded, in one column only. */
    for (int64_t i = 0; i < MANY; i++)
        x[2 * i + 1] = round(x[2 * i + 1]);
    assert_int_equal(cells_of(x, MANY, 2, &o, NULL), VEM_AUTO);
    other = o;
    other.gap = 0.01;
    vem_data *rounded = grid_borrow(ctx, &two);
    assert_int_equal(vem_i_fit_resolve(run_of(ctx), rounded, &other, NULL, &resolved),
                     VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "--gap is about cells"));
    assert_non_null(strstr(vem_ctx_message(ctx), "--cells 32768"));
    vem_data_free(rounded);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws),
        cmocka_unit_test(better_than_one),
        cmocka_unit_test(resumed),
        cmocka_unit_test(where_nobody_asked),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
