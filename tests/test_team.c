/* Threads that cannot be had: the library goes on with fewer, to the same bits, where OpenMP's
 * runtime would end the process. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "base/parallel.h"
#include "grid.h"

#ifndef VEM_SANITIZED /* a sanitizer watches pthread_create itself */
static _Atomic int alive, allowed = 1 << 20;

typedef int (*creator)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef struct work {
    void *(*run)(void *);
    void *arg;
} work;

static void *run_and_count(void *arg)
{
    work w = *(work *)arg;
    free(arg);
    void *result = w.run(w.arg);
    alive--;
    return result;
}

/* A system that allows so many threads beside the first. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *arg)
{
    creator real;
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &found, sizeof real);
    if (++alive > allowed) {
        alive--;
        return EAGAIN;
    }
    work *w = malloc(sizeof *w);
    *w = (work){run, arg};
    return real(thread, attributes, run_and_count, w);
}

static void the_same_with_fewer(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 20000, 4, 3);
    vem_options o = grid_options(20, VEM_DIAG, VEM_PRIOR_FREE, 3, VEM_DOUBLE, 6);
    double first = 0;
    for (int most = 0; most <= 3; most++) {
        vem_ctx *ctx;
        allowed = most;
        assert_int_equal(vem_ctx_new(&ctx), VEM_OK);
        assert_int_equal(vem_ctx_set_threads(ctx, 8), VEM_OK);
        assert_in_range(vem_ctx_threads(ctx), 1, most + 1);
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        first = most == 0 ? fit.summary->free_energy : first;
        assert_true(fit.summary->free_energy == first);
        grid_fit_free(&fit);
        vem_ctx_free(ctx);
    }
    /* A limit that comes when the number is known already: the next team meets it. */
    vem_ctx *ctx;
    allowed = 1 << 20;
    assert_int_equal(vem_ctx_new(&ctx), VEM_OK);
    assert_int_equal(vem_ctx_set_threads(ctx, 7), VEM_OK);
    assert_int_equal(vem_ctx_threads(ctx), 7);
    allowed = alive + 1;
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_true(fit.summary->free_energy == first);
    grid_fit_free(&fit);
    vem_ctx_free(ctx);
    grid_data_free(&data);
}
/* Stacks as large as OpenMP would make them: of this size no machine has one. */
static void stacks_count(void **state)
{
    (void)state;
    allowed = 1 << 20;
    const char *before = getenv("OMP_STACKSIZE");
    char *kept = before ? strdup(before) : NULL;
    assert_int_equal(setenv("OMP_STACKSIZE", "200000G", 1), 0);
    assert_int_equal(vem_i_threads_had(4), 1);
    const char *const fine[] = {"512",      "256 k", "1M",
                                "nonsense", "0",     "99999999999999999999"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        assert_int_equal(setenv("OMP_STACKSIZE", fine[i], 1), 0);
        assert_int_equal(vem_i_threads_had(2), 2);
    }
    if (kept)
        setenv("OMP_STACKSIZE", kept, 1);
    else
        unsetenv("OMP_STACKSIZE");
    free(kept);
}

#endif

int main(void)
{
#ifdef VEM_SANITIZED
    return 77;
#else
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_with_fewer),
                                       cmocka_unit_test(stacks_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
