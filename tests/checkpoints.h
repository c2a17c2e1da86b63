/* What the tests of checkpoints share: fits that keep their state, copies of that state at
 * every step, and fits that must agree to the last bit. For one file of a program. */
#ifndef VEM_TESTS_CHECKPOINTS_H
#define VEM_TESTS_CHECKPOINTS_H

#include <dirent.h>
#include <unistd.h>

#include "base/record.h"
#include "fake_clock.h"
#include "grid.h"

enum { MOST_COPIES = 256 };

static vem_ctx *ctx;
static char folder[64], told[2048];
static int warnings;

static int set_up(void **state)
{
    (void)state;
    /* It stands still: only what must be told is told, whatever the load of the machine, so
     * that a call with a total of 1 is the end of an E-step. */
    fake_now = 0;
    /* In memory where that can be had: every state is synced to the disk. */
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/vem-test-XXXXXX"
                                                 : "/tmp/vem-test-XXXXXX");
    const int made = mkdtemp(folder) && vem_ctx_new(&ctx) == VEM_OK;
    vem_ctx_set_dashes(ctx, 1);
    return made ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            remove(path);
    }
    closedir(directory);
    vem_ctx_free(ctx);
    return rmdir(folder); /* fails when the library left a hidden file */
}

typedef struct path_name {
    char text[128];
} path_name;

static path_name path_of(const char *name, int64_t number)
{
    path_name path;
    snprintf(path.text, sizeof path.text, "%s/%s.%lld", folder, name, (long long)number);
    return path;
}

static void hear(void *user, int warning, const char *sentence)
{
    (void)user;
    warnings += warning;
    snprintf(told, sizeof told, "%s", sentence);
}

static void keep_at(const char *path, double seconds, int resume)
{
    vem_checkpoint c = {.size = sizeof c,
                        .path = path,
                        .seconds = seconds,
                        .resume = resume,
                        .notice = hear};
    assert_int_equal(vem_ctx_set_checkpoint(ctx, path ? &c : NULL), VEM_OK);
}

static char *slurp(const char *path, size_t *size)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    *size = (size_t)ftell(stream);
    rewind(stream);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, stream), *size);
    fclose(stream);
    return bytes;
}

static void spill(const char *path, const char *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
}

/* Copies the state at the end of every E-step, when it is that before the step; or stops
 * there. */
typedef struct watcher {
    const char *path; /* NULL: no copies */
    int64_t steps, stop_at;
} watcher;

static inline int watch(void *user, const vem_progress *p)
{
    watcher *w = user;
    if (strcmp(p->phase, "em") != 0 || p->total != 1)
        return 0;
    w->steps++;
    /* None yet: what is begun again makes its starts once more. */
    if (w->path && w->steps <= MOST_COPIES && access(w->path, F_OK) != 0) {
        remove(path_of("copy", w->steps).text);
    } else if (w->path && w->steps <= MOST_COPIES) {
        size_t size;
        char *bytes = slurp(w->path, &size);
        spill(path_of("copy", w->steps).text, bytes, size);
        free(bytes);
    }
    return w->steps == w->stop_at;
}

static inline void assert_same_bits(const grid_fit *a, const grid_fit *b,
                                    const char *what)
{
#define SAME(x, y, size)                                                                 \
    do {                                                                                 \
        if (memcmp(x, y, size) != 0)                                                     \
            fail_msg("%s: %s differs", what, #x);                                        \
    } while (0)
    int32_t clusters = vem_model_clusters(a->model);
    assert_int_equal(clusters, vem_model_clusters(b->model));
    size_t row = (size_t)vem_model_columns(a->model) * sizeof(double);
    SAME(vem_model_means(a->model), vem_model_means(b->model), (size_t)clusters * row);
    SAME(vem_model_weights(a->model), vem_model_weights(b->model),
         (size_t)clusters * sizeof(double));
    SAME(vem_model_variances(a->model), vem_model_variances(b->model),
         vem_model_variance_count(a->model) * sizeof(double));
    const vem_summary *s = a->summary, *t = b->summary;
    if (a->labels || b->labels)
        SAME(a->labels, b->labels, (size_t)s->n * sizeof(int32_t));
    SAME(&s->free_energy, &t->free_energy, sizeof(double));
    SAME(&s->free_energy_first, &t->free_energy_first, sizeof(double));
    assert_int_equal(s->outcome, t->outcome);
    assert_int_equal(s->steps, t->steps);
    assert_int_equal(s->init_steps, t->init_steps);
    assert_int_equal(s->clusters, t->clusters);
    assert_int_equal(a->options->held, b->options->held);
    assert_int_equal(s->restart, t->restart);
    assert_int_equal(s->scored_pairs, t->scored_pairs);
    assert_int_equal(s->seed_pairs, t->seed_pairs);
    assert_int_equal(a->trace_count, b->trace_count);
    for (int64_t i = 0; i < a->trace_count; i++) {
        const vem_trace_step *x = &a->trace[i], *y = &b->trace[i];
        assert_int_equal(x->step, y->step);
        SAME(&x->free_energy, &y->free_energy, sizeof(double));
        assert_int_equal(x->pairs, y->pairs);
        assert_int_equal(x->changed, y->changed);
        assert_int_equal(x->empty, y->empty);
        assert_int_equal(x->moved, y->moved);
        assert_string_equal(x->move ? x->move : "", y->move ? y->move : "");
    }
#undef SAME
}

/* The values of the k-th block of this name, counted from 0. */
static inline char *values_of(char *bytes, size_t size, const char *name, int k)
{
    enum { MARK = 32, TAIL = 16, HEADING = 40 };
    char padded[24] = {0};
    memcpy(padded, name, strlen(name));
    for (size_t at = MARK; at + HEADING < size - TAIL;) {
        uint64_t shape[2];
        memcpy(shape, bytes + at + sizeof padded, sizeof shape);
        if (memcmp(bytes + at, padded, sizeof padded) == 0 && k-- == 0)
            return bytes + at + HEADING;
        at += HEADING + (size_t)((shape[0] * shape[1] + 7) / 8 * 8);
    }
    fail_msg("no block %s", name);
    return NULL;
}

/* Someone who knows the sum has written this. */
static inline void seal(char *bytes, size_t size)
{
    const uint64_t ending[] = {size - 48, vem_i_mix(0, bytes + 32, size - 48)};
    memcpy(bytes + size - sizeof ending, ending, sizeof ending);
}

#endif
