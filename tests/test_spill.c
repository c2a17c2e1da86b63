/* Rows that rest in a temporary file: the same bits as in memory, for every family and
 * search; what happens where there is no room for the file; and mapped pages that are let go
 * when they would be too many. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/spill.h"
#include "data/data.h"
#include "memory_hooks.h"
#include "run.h"

static void same_bytes(const void *a, const void *b, size_t bytes, const char *what)
{
    if (memcmp(a, b, bytes) != 0)
        fail_msg("%s differ", what);
}

static void same_fits(const grid_fit *a, const grid_fit *b, int64_t n)
{
    const size_t clusters = (size_t)vem_model_clusters(a->model);
    const size_t d = (size_t)vem_model_columns(a->model);
    assert_int_equal(vem_model_clusters(b->model), clusters);
    same_bytes(vem_model_means(a->model), vem_model_means(b->model),
               clusters * d * sizeof(double), "means");
    same_bytes(vem_model_weights(a->model), vem_model_weights(b->model),
               clusters * sizeof(double), "weights");
    same_bytes(vem_model_variances(a->model), vem_model_variances(b->model),
               vem_model_variance_count(a->model) * sizeof(double), "variances");
    same_bytes(&a->summary->free_energy, &b->summary->free_energy, sizeof(double), "F");
    same_bytes(&a->summary->quantization_error, &b->summary->quantization_error,
               sizeof(double), "errors");
    same_bytes(&a->summary->log_likelihood, &b->summary->log_likelihood, sizeof(double),
               "log-likelihoods");
    assert_int_equal(a->trace_count, b->trace_count);
    assert_true((a->labels == NULL) == (b->labels == NULL));
    if (a->labels)
        same_bytes(a->labels, b->labels, (size_t)n * sizeof(int32_t), "labels");
}

static void both_ways(const grid_data *data, const vem_options *o)
{
    grid_fit inside = grid_run(ctx, data, o, NULL);
    ctx->spills_all = 1;
    grid_fit spilled = grid_run(ctx, data, o, NULL);
    ctx->spills_all = 0;
    same_fits(&inside, &spilled, data->n);
    grid_fit_free(&inside);
    grid_fit_free(&spilled);
}

static void the_same_bits_for_every_search(void **state)
{
    (void)state;
    for (int family = 0; family < VEM_FAMILIES; family++)
        for (int search = VEM_SEARCH_ALL; search < VEM_SEARCH_COUNT; search++)
            for (int weights = WEIGHTS_NONE; weights <= WEIGHTS_REAL;
                 weights += WEIGHTS_REAL) {
                grid_data data = grid_data_new(SET_OVERLAPPING, (grid_weights)weights,
                                               1500, grid_is_shaped(family) ? 5 : 12, 71);
                grid_suit((vem_family_kind)family, &data);
                vem_options o =
                    grid_options(24, (vem_family_kind)family, VEM_PRIOR_FREE,
                                 search == VEM_SEARCH_ALL ? 24 : 1 + 2 * (family % 2),
                                 (vem_precision)(search % 2), 5);
                o.search = search;
                o.seeding = (family + search) % 2 ? VEM_SEED_TWO_LEVEL : VEM_SEED_AFKMC2;
                o.standardize = weights > 0 && grid_is_shaped(family);
                o.normalize = search == VEM_SEARCH_CLOSEST && grid_is_shaped(family);
                o.empty = VEM_EMPTY_RESEED;
                o.measure = VEM_MEASURE_EXACT;
                o.threads = 2;
                both_ways(&data, &o);
                grid_data_free(&data);
            }
}

/* Rows put in order, swaps, k-means before a soft fit and after it, restarts, a coreset. */
static void the_same_bits_of_our_own_choices(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, 6000, 7, 72);
    for (int held = 1; held <= 3; held += 2)
        for (int how = 0; how < 4; how++) {
            vem_options o;
            vem_options_init(&o);
            o.clusters = 300;
            o.held = held;
            o.max_steps = 6;
            o.seeding = how == 2 ? VEM_SEED_PLUSPLUS : VEM_SEED_TWO_LEVEL;
            o.search = how == 1 ? VEM_AUTO : VEM_SEARCH_GROUPS;
            o.precision = how % 2 ? VEM_SINGLE : VEM_DOUBLE;
            o.finish = held > 1 ? VEM_FINISH_HARD : VEM_AUTO;
            o.restarts = how == 0 ? 2 : 1;
            o.coreset = how == 3 ? 3000 : VEM_AUTO;
            o.measure = how == 3 ? VEM_MEASURE_SAMPLE : VEM_MEASURE_NONE;
            both_ways(&data, &o);
        }
    grid_data_free(&data);
}

static void the_same_bits_of_using_a_model(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 3000, 6, 73);
    vem_data *rows = grid_borrow(ctx, &data);
    vem_model *model = grid_start(ctx, &data, VEM_DIAG, 40);
    vem_options o = grid_options(40, VEM_DIAG, VEM_PRIOR_FREE, 2, VEM_SINGLE, 1);
    int32_t *labels[2];
    vem_scores scores[2] = {{.size = sizeof *scores}, {.size = sizeof *scores}};
    vem_stats_summary sums[2] = {{.size = sizeof *sums}, {.size = sizeof *sums}};
    for (int k = 0; k < 2; k++) {
        vem_stats *stats = NULL;
        labels[k] = malloc((size_t)data.n * sizeof **labels);
        ctx->spills_all = k;
        assert_int_equal(vem_assign(ctx, model, rows, 1, VEM_SINGLE, labels[k], NULL),
                         VEM_OK);
        assert_int_equal(vem_score(ctx, model, rows, 3, VEM_SINGLE, &scores[k]), VEM_OK);
        assert_int_equal(vem_accumulate(ctx, model, rows, &o, &stats), VEM_OK);
        vem_stats_describe(stats, &sums[k]);
        vem_stats_free(stats);
    }
    ctx->spills_all = 0;
    same_bytes(labels[0], labels[1], (size_t)data.n * sizeof **labels, "labels");
    assert_true(scores[0].log_likelihood == scores[1].log_likelihood);
    assert_true(scores[0].free_energy == scores[1].free_energy);
    assert_true(sums[0].free_energy == sums[1].free_energy);
    assert_true(sums[0].squared_error == sums[1].squared_error);
    free(labels[0]);
    free(labels[1]);
    vem_model_free(model);
    vem_data_free(rows);
    grid_data_free(&data);
}

/* ---- by the limit ---- */

static void a_limit_spills_the_rows(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip(); /* what is resident is the sanitizer's */
#endif
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 100000, 30, 74);
    vem_data *rows = grid_borrow(ctx, &data);
    vem_options o = grid_options(10, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 3);
    o.seeding = VEM_SEED_AFKMC2;
    vem_forecast plan = {.size = sizeof plan};
    assert_int_equal(vem_plan_fit(ctx, rows, &o, NULL, &plan), VEM_OK);
    assert_int_equal(plan.spilled, 0);
    grid_fit inside = grid_run(ctx, &data, &o, NULL);
    malloc_trim(0);
    o.memory = (int64_t)vem_i_resident_bytes() + (22 << 20); /* the rows are 24 MB */
    assert_int_equal(vem_plan_fit(ctx, rows, &o, NULL, &plan), VEM_OK);
    assert_int_equal(plan.spilled, 100000 * 30 * sizeof(double));
    assert_true(plan.bytes < 8 << 20 && plan.allowed > plan.bytes);
    grid_fit spilled = grid_run(ctx, &data, &o, NULL);
    assert_non_null(strstr(vem_report_notes(spilled.report), "temporary file"));
    same_fits(&inside, &spilled, data.n);
    assert_int_equal(ctx->memory, 0); /* it was the fit's own */
    grid_fit_free(&inside);
    grid_fit_free(&spilled);
    vem_data_free(rows);
    grid_data_free(&data);
}

static void pages_are_let_go(void **state)
{
    (void)state;
#ifdef VEM_SANITIZED
    skip();
#endif
    enum { MB = 1 << 20, SIZE = 96 * MB };
    vem_i_mapping *spill = NULL;
    uint64_t highest_resident = 0, sum = 0;
    assert_int_equal(vem_i_spill_new(run_of(ctx), SIZE, &spill), VEM_OK);
    const uint64_t limit = vem_i_resident_bytes() + 32 * MB;
    assert_int_equal(vem_ctx_set_memory(ctx, (int64_t)limit), VEM_OK);
    for (int pass = 0; pass < 2; pass++)
        for (size_t at = 0; at < SIZE; at += 4096) {
            if (pass == 0)
                spill->bytes[at] = (char)(at / 4096 % 101);
            else
                sum += (uint64_t)spill->bytes[at];
            vem_i_residence_check(run_of(ctx));
            if (at % MB == 0) {
                const uint64_t now = vem_i_resident_bytes();
                highest_resident = now > highest_resident ? now : highest_resident;
            }
        }
    assert_int_equal(vem_ctx_set_memory(ctx, 0), VEM_OK);
    uint64_t wanted = 0;
    for (size_t page = 0; page < SIZE / 4096; page++)
        wanted += page % 101;
    assert_int_equal(sum, wanted); /* nothing was lost */
    assert_true(highest_resident <= limit);
    vem_i_mapping_free(spill);
}

/* ---- what goes wrong ---- */

static void no_place_for_the_file(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 500, 5, 75);
    vem_options o = grid_options(5, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 3);
    grid_fit fit = {0};
    ctx->spills_all = 1;
    setenv("VEM_TMPDIR", "/nowhere/at/all", 1);
    assert_int_equal(grid_try(ctx, &data, &o, NULL, &fit), VEM_IO_ERROR);
    assert_non_null(strstr(vem_ctx_message(ctx), "temporary file"));
    assert_non_null(strstr(vem_ctx_message(ctx), "/nowhere/at/all"));
    unsetenv("VEM_TMPDIR");
    /* A file that may not become so large stands for a disk that is full. */
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    vem_status status = grid_try(ctx, &data, &o, NULL, &fit);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    ctx->spills_all = 0;
    assert_int_equal(status, VEM_IO_ERROR);
    assert_non_null(strstr(vem_ctx_message(ctx), "would be too large"));
    grid_data_free(&data);
}

static void every_allocation_of_a_spilled_fit(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 120, 3, 76);
    vem_options o = grid_options(12, VEM_ISO, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 6);
    o.search = VEM_SEARCH_GROUPS;
    o.seeding = VEM_SEED_TWO_LEVEL;
    o.swaps = 1;
    o.algorithm = VEM_AUTO;
    ctx->spills_all = 1;
    vem_data *rows = grid_borrow(ctx, &data);
    for (int64_t k = 1, done = 0; !done; k++) {
        vem_model *model = NULL;
        vem_report *report = NULL;
        calls = 0;
        fail_at = k;
        vem_status status = vem_fit(ctx, rows, &o, NULL, &model, &report);
        fail_at = 0;
        done = status == VEM_OK && calls < k;
        if (status != VEM_OK) {
            assert_int_equal(status, VEM_NO_MEMORY);
            assert_null(model);
        }
        vem_model_free(model);
        vem_report_free(report);
    }
    ctx->spills_all = 0;
    vem_data_free(rows);
    grid_data_free(&data);
}

/* Mappings know their file; data may outlive the context they were read with. */
static void who_is_at_this_address(void **state)
{
    (void)state;
    vem_ctx *reader = NULL;
    vem_data *data = NULL, *second = NULL;
    char path[] = "/tmp/vem-test-XXXXXX.fbin";
    const int file = mkstemps(path, 5);
    const int32_t shape[2] = {2000, 1};
    float values[2000] = {0};
    assert_int_equal(write(file, shape, sizeof shape), sizeof shape);
    assert_int_equal(write(file, values, sizeof values), sizeof values);
    close(file);
    assert_int_equal(vem_ctx_new(&reader), VEM_OK);
    assert_int_equal(vem_data_read(reader, path, NULL, &data), VEM_OK);
    assert_int_equal(vem_data_read(reader, path, NULL, &second), VEM_OK);
    assert_string_equal(vem_ctx_mapped_file(reader, data->base), path);
    assert_string_equal(vem_ctx_mapped_file(reader, second->base), path);
    assert_null(vem_ctx_mapped_file(reader, data->mapping->bytes + data->mapping->size));
    assert_null(vem_ctx_mapped_file(reader, path));
    assert_null(vem_ctx_mapped_file(NULL, path));
    const void *before = second->base;
    vem_data_free(second);
    assert_null(vem_ctx_mapped_file(reader, before));
    vem_ctx_free(reader);
    vem_data_free(data);
    unlink(path);
    assert_int_equal(vem_ctx_set_memory(ctx, -1), VEM_BAD_OPTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_for_every_search),
        cmocka_unit_test(the_same_bits_of_our_own_choices),
        cmocka_unit_test(the_same_bits_of_using_a_model),
        cmocka_unit_test(a_limit_spills_the_rows),
        cmocka_unit_test(pages_are_let_go),
        cmocka_unit_test(no_place_for_the_file),
        cmocka_unit_test(every_allocation_of_a_spilled_fit),
        cmocka_unit_test(who_is_at_this_address),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
