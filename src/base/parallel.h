/* Parallel loops over a fixed number of tasks.
 *
 * The number of tasks, and what each of them does, must depend on the size of the problem
 * alone, never on the number of threads; a task writes only what it owns. Then the result
 * has the same bits for any number of threads, whoever runs which task. */
#ifndef VEM_BASE_PARALLEL_H
#define VEM_BASE_PARALLEL_H

#include "base/run.h"

/* thread is in [0, run->threads): an index into per-thread scratch. */
typedef void (*vem_i_task)(void *arg, int64_t task, int thread);

void vem_i_parallel(vem_i_run *run, int64_t tasks, vem_i_task work, void *arg);
/* The same for light tasks: `operations` is about what one of them does. Where all of
 * them together take less than the waking of other threads, the caller's thread does the
 * work. */
void vem_i_parallel_light(vem_i_run *run, int64_t tasks, double operations,
                          vem_i_task work, void *arg);
/* The same, telling the progress function how many tasks are done (`told` gives phase and
 * step, and what is done where it has a total of its own; NULL: nothing is told). Remaining tasks are skipped only where `may_skip` says that
 * there is no use for a partial result: after a stop was requested or the deadline passed,
 * or after the deadline alone. Returns 1 when tasks were skipped. */
enum { VEM_I_SKIP = 1, VEM_I_SKIP_LATE }; /* 0: never */
int vem_i_parallel_watched(vem_i_run *run, int64_t tasks, double operations,
                           vem_i_task work, void *arg, const vem_progress *told,
                           int may_skip);

/* Of so many threads, the caller's among them, as many as can be had now (threads.c). */
int vem_i_threads_had(int wanted);

/* Number k of `count` among n, at even spaces: n k / count, without overflow. */
static inline int64_t vem_i_spaced(int64_t n, int64_t count, int64_t k)
{
    return n / count * k + n % count * k / count;
}
/* Cut n items into shards of `per` items each (the last may be short). */
static inline int64_t vem_i_shards(int64_t n, int64_t per)
{
    return (n + per - 1) / per;
}

/* Sum in a fixed order, by pairs of so many or fewer in their order, so that long sums lose no digits. */
enum { VEM_I_SUM_LEAF = 64 };
double vem_i_sum(const double *values, int64_t n);

#endif
