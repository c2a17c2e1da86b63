#include "base/parallel.h"

#include <omp.h>
#include <sched.h>

#include "base/residence.h"

/* Operations that are worth the waking of a thread: some tens of microseconds. */
static const double WORTH_WAKING = 2e5;

/* No more threads than can be had: the bits do not depend on it. */
static int team_of(vem_i_run *run, int threads)
{
    if (threads > 1 && threads > run->watch->team_asked) {
        run->watch->team_asked = threads;
        run->watch->team = vem_i_threads_had(threads);
    }
    return threads > 1 && threads > run->watch->team ? run->watch->team : threads;
}

int vem_i_parallel_watched(vem_i_run *run, int64_t tasks, double operations,
                           vem_i_task work, void *arg, const vem_progress *told,
                           int may_skip)
{
    int threads = run->threads;
    if (tasks < threads)
        threads = tasks > 0 ? (int)tasks : 1;
    if ((double)tasks * operations < WORTH_WAKING)
        threads = 1;
    threads = team_of(run, threads);
    _Atomic int64_t done = 0;
    _Atomic int skipped = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int64_t task = 0; task < tasks; task++) {
        if (may_skip &&
            ((may_skip == VEM_I_SKIP && run->watch->stop) || vem_i_late(run))) {
            skipped = 1;
            continue;
        }
        int thread = threads > 1 ? omp_get_thread_num() : 0;
        work(arg, task, thread);
        vem_i_residence_check(run);
        int64_t so_far = ++done;
        /* Thread 0 is the thread that called the verb, and only it may call out. */
        if (told && thread == 0) {
            vem_progress progress = *told;
            if (!told->total) {
                progress.done = so_far;
                progress.total = tasks;
            }
            vem_i_progress(run, &progress, 0);
        }
    }
    return skipped;
}

void vem_i_parallel_light(vem_i_run *run, int64_t tasks, double operations,
                          vem_i_task work, void *arg)
{
    vem_i_parallel_watched(run, tasks, operations, work, arg, NULL, 0);
}

void vem_i_parallel(vem_i_run *run, int64_t tasks, vem_i_task work, void *arg)
{
    vem_i_parallel_watched(run, tasks, WORTH_WAKING, work, arg, NULL, 0);
}

double vem_i_sum(const double *values, int64_t n)
{
    if (n <= VEM_I_SUM_LEAF) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += values[i];
        return sum;
    }
    int64_t half = n / 2;
    return vem_i_sum(values, half) + vem_i_sum(values + half, n - half);
}

vem_status vem_ctx_set_threads(vem_ctx *ctx, int threads)
{
    VEM_I_NEED(ctx, ctx);
    if (threads < 0 || threads > 4096)
        return vem_i_refuse(
            ctx, VEM_BAD_OPTION,
            "threads is %d, but it must lie between 0 (all cores) and 4096.", threads);
    if (threads == 0) {
        cpu_set_t set;
        threads = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    }
    /* Scratch is taken for each of them, so that fewer are better known now. */
    ctx->threads = vem_i_threads_had(threads);
    return VEM_OK;
}
