/* The file of a checkpoint: whatever was done to it, a sentence and no crash; whose it is;
 * what happens when it cannot be written. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/record.h"
#include "checkpoint_states.h"

static void cut_short(void **state)
{
    (void)state;
    size_t size;
    begin(VEM_SEARCH_CLOSEST);
    char *bytes = state_at(4, &size);
    path_name file = path_of("broken", 1);
    const char *path = file.text;
    spill(path, bytes, size);
    assert_int_equal(resume(path), VEM_OK);
    for (size_t length = 1; length < size; length += (size_t)grid_stride()) {
        spill(path, bytes, length);
        if (length < 24)
            refused(path, "would be overwritten");
        else
            refused(path, "cannot be resumed from: it is ");
    }
    free(bytes);
    end();
}

static void flipped(void **state)
{
    (void)state;
    size_t size;
    begin(VEM_SEARCH_GROUPS);
    char *bytes = state_at(5, &size);
    path_name file = path_of("broken", 2);
    const char *path = file.text;
    for (size_t at = 0; at < size; at += 3 * (size_t)grid_stride()) {
        bytes[at] ^= (char)(1 << at % 8);
        spill(path, bytes, size);
        vem_status status = resume(path);
        assert_true(status == VEM_BAD_DATA || status == VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), path));
        bytes[at] ^= (char)(1 << at % 8);
    }
    free(bytes);
    end();
}

typedef struct onlooker {
    const char *path;
    double pause; /* seconds from one look to the next */
    uint64_t sum;
    int states; /* different ones */
} onlooker;

static int look(void *user, const vem_progress *p)
{
    onlooker *o = user;
    (void)p;
    fake_now += o->pause;
    if (access(o->path, F_OK) != 0)
        return 0;
    size_t size;
    char *bytes = slurp(o->path, &size);
    const uint64_t sum = vem_i_mix(0, bytes, size);
    o->states += sum != o->sum;
    o->sum = sum;
    free(bytes);
    return 0;
}

/* A state is written when its time has come, not before; and it is told where a fit goes on. */
static void in_time(void **state)
{
    (void)state;
    path_name file = path_of("in-time", 1);
    int states[2];
    for (int passes = 0; passes < 2; passes++) {
        begin(VEM_SEARCH_CLOSEST);
        options.restarts = 1;
        onlooker o = {.path = file.text, .pause = passes ? 100 : 0};
        fake_now = 1000;
        keep_at(file.text, 60, 0);
        vem_ctx_set_progress(ctx, look, &o);
        grid_fit fit = grid_run(ctx, &data, &options, NULL);
        vem_ctx_set_progress(ctx, NULL, NULL);
        grid_fit_free(&fit);
        fake_now = 0;
        states[passes] = o.states;
        remove(file.text);
        end();
    }
    assert_true(states[0] <= 2); /* as the fit begins, and as it ends */
    assert_true(states[1] > 2);
    begin(VEM_SEARCH_CLOSEST);
    options.restarts = 1;
    int64_t at[2];
    for (int later = 0; later < 2; later++) {
        size_t size;
        char *bytes = state_at(3 + later, &size);
        grid_fit fit;
        spill(file.text, bytes, size);
        keep_at(file.text, 1e9, 1);
        assert_int_equal(grid_try(ctx, &data, &options, NULL, &fit), VEM_OK);
        at[later] = fit.summary->resumed_step;
        grid_fit_free(&fit);
        free(bytes);
    }
    assert_true(at[1] > 1 && at[1] >= at[0]);
    end();
}

static void of_another_fit(void **state)
{
    (void)state;
    size_t size;
    begin(VEM_SEARCH_ESTIMATED);
    options.algorithm = VEM_ALGORITHM_KMEANS; /* no start before the loop */
    char *bytes = state_at(4, &size);
    path_name file = path_of("other", 0);
    const char *path = file.text;
    spill(path, bytes, size);
    vem_options before = options;
#define WITH(change, words)                                                              \
    do {                                                                                 \
        options = before;                                                                \
        change;                                                                          \
        refused(path, words);                                                            \
    } while (0)
    WITH(options.held = 3, "there --held was 2, here it is 3");
    WITH(options.seed = 2, "there --seed was 1, here it is 2");
    WITH(options.clusters = 8, "--clusters was 9");
    WITH(options.tolerance = 1e-3, "--tolerance was 0");
    WITH(options.max_steps = 1, "has made more steps already");
    WITH(options.precision = VEM_SINGLE, "--precision was double");
    options = before;
    options.threads = 2;
    options.measure = VEM_MEASURE_EXACT;
    options.max_steps = 7;
    assert_int_equal(resume(path), VEM_OK);
    options = before;
    spill(path, bytes, size);
    data.x[7] += 1e-9;
    refused(path, "other values");
    data.x[7] -= 1e-9;
    data.n--;
    refused(path, "there the data had 60 rows and 2 columns, here they have 59 and 2");
    data.n++;
    data.weights[3] *= 2;
    refused(path, "other values or weights");
    data.weights[3] /= 2;
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 9);
    grid_fit fit;
    options.restarts = 2;
    keep_at(path, 1e9, 1);
    assert_int_equal(grid_try(ctx, &data, &options, start, &fit), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "--init"));
    vem_model_free(start);
    free(bytes);
    end();
}

static void not_there_or_foreign(void **state)
{
    (void)state;
    begin(VEM_SEARCH_CLOSEST);
    path_name file = path_of("absent", 0);
    const char *path = file.text;
    *told = '\0';
    assert_int_equal(resume(path), VEM_OK);
    assert_non_null(strstr(told, "starts from the beginning"));
    assert_int_equal(access(path, R_OK), 0); /* and is kept from now on */
    grid_fit fit;
    keep_at(path, 1e9, 0);
    assert_int_equal(grid_try(ctx, &data, &options, NULL, &fit), VEM_OK);
    assert_non_null(strstr(told, "will be replaced"));
    grid_fit_free(&fit);
    file = path_of("foreign", 0);
    spill(path, "name,height\n1,2\n3,4\n5,6\n7,8\n", 29);
    keep_at(path, 1e9, 0);
    assert_int_equal(grid_try(ctx, &data, &options, NULL, &fit), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "would be overwritten"));
    vem_checkpoint wrong = {.size = sizeof wrong, .path = path, .seconds = -1};
    assert_int_equal(vem_ctx_set_checkpoint(ctx, &wrong), VEM_BAD_OPTION);
    end();
}

/* A disk that is full: the fit goes on to the same end, the old file stays as it was. */
static void cannot_be_written(void **state)
{
    (void)state;
    begin(VEM_SEARCH_CLOSEST);
    keep_at(NULL, 0, 0);
    grid_fit whole = grid_run(ctx, &data, &options, NULL);
    size_t size, after;
    char *bytes = state_at(3, &size);
    path_name file = path_of("full", 0);
    const char *path = file.text;
    spill(path, bytes, size);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    warnings = 0;
    keep_at(path, 0, 1);
    grid_fit fit = grid_run(ctx, &data, &options, NULL);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(warnings, 1); /* once is enough */
    assert_non_null(strstr(told, "could not be written"));
    assert_non_null(strstr(told, "goes on without a new checkpoint."));
    assert_string_equal(vem_ctx_message(ctx), "");
    assert_same_bits(&whole, &fit, "full disk");
    char *left = slurp(path, &after);
    assert_int_equal(after, size);
    assert_memory_equal(bytes, left, size);
    free(left);
    free(bytes);
    grid_fit_free(&fit);
    grid_fit_free(&whole);
    end();
}

/* A limit that an earlier part of the fit came to cannot be raised afterwards. */
static void limit_of_an_earlier_part(void **state)
{
    (void)state;
    begin(VEM_SEARCH_CLOSEST);
    options.algorithm = VEM_ALGORITHM_GMM; /* no starts, which would leave little to do */
    options.max_steps = 3;
    path_name file = path_of("limit", 0);
    const char *path = file.text;
    keep_at(path, 0, 0);
    grid_fit fit = grid_run(ctx, &data, &options, NULL);
    grid_fit_free(&fit);
    assert_int_equal(resume(path), VEM_OK);
    options.max_steps = 9;
    refused(path, "that limit has shaped an earlier part of it");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_short),
        cmocka_unit_test(flipped),
        cmocka_unit_test(in_time),
        cmocka_unit_test(of_another_fit),
        cmocka_unit_test(not_there_or_foreign),
        cmocka_unit_test(cannot_be_written),
        cmocka_unit_test(limit_of_an_earlier_part),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
