/* The file of a checkpoint: what is there before, what happens when it cannot be written, and what
 * it holds of limits. */
#include <signal.h>
#include <sys/resource.h>

#include "checkpoint_file.h"

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
        cmocka_unit_test(not_there_or_foreign),
        cmocka_unit_test(cannot_be_written),
        cmocka_unit_test(limit_of_an_earlier_part),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
