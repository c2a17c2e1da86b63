/* States of a small fit, for tests that do something to them. */
#ifndef VEM_TESTS_CHECKPOINT_STATES_H
#define VEM_TESTS_CHECKPOINT_STATES_H

#include "checkpoints.h"

static grid_data data;
static vem_options options;

static inline void begin(int search)
{
    data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 60, 2, 5);
    options = grid_options(9, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 2, VEM_DOUBLE, 6);
    options.search = search;
    options.swaps = 2;
    options.restarts = 2;
    options.empty = VEM_EMPTY_RESEED;
    vem_ctx_set_threads(ctx, 1);
}

static inline void end(void)
{
    keep_at(NULL, 0, 0);
    grid_data_free(&data);
}

/* The state before the step, of a fit that keeps it. */
static inline char *state_at(int64_t step, size_t *size)
{
    path_name file = path_of("state", 1);
    const char *path = file.text;
    watcher w = {.path = path};
    keep_at(path, 0, 0);
    vem_ctx_set_progress(ctx, watch, &w);
    grid_fit fit = grid_run(ctx, &data, &options, NULL);
    vem_ctx_set_progress(ctx, NULL, NULL);
    grid_fit_free(&fit);
    assert_true(step <= w.steps);
    return slurp(path_of("copy", step).text, size);
}

static inline vem_status resume(const char *path)
{
    grid_fit fit;
    keep_at(path, 1e9, 1);
    vem_status status = grid_try(ctx, &data, &options, NULL, &fit);
    if (status == VEM_OK)
        grid_fit_free(&fit);
    return status;
}

static inline void refused(const char *path, const char *words)
{
    vem_status status = resume(path);
    assert_true(status == VEM_BAD_DATA || status == VEM_BAD_OPTION);
    const char *message = vem_ctx_message(ctx);
    if (!strstr(message, words) || !strstr(message, path) ||
        message[strlen(message) - 1] != '.')
        fail_msg("\"%s\" does not say \"%s\"", message, words);
}

#endif
