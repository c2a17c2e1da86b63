/* Rows that are picked by their masses, of processes that share them: the sums of one process, which goes through
 * the masses in their order, handed from process to process. */
#include <string.h>

#include "base/memory.h"
#include "data/points.h"
#include "data/together.h"

/* What is handed on. */
typedef struct picking {
    double sum;
    int64_t last, count; /* the last row that has a mass; how many are picked */
} picking;

typedef struct task {
    const vem_i_comm *comm;
    const vem_view *view;
    const double *targets;
    int64_t count, *picked;
} task;

/* As long as there are own rows, or nobody comes after them. */
static void pick_own(void *arg, void *state)
{
    const task *t = arg;
    picking *p = state;
    const int64_t own = vem_i_view_own(t->view);
    const int ends = t->comm->rank == t->comm->size - 1;
    int64_t at = 0;
    for (; p->count < t->count; p->count++) {
        const double target = t->targets[p->count];
        for (; p->sum <= target && at < own; at++) {
            p->sum += t->view->mass[at];
            p->last = t->view->mass[at] > 0 ? t->view->first + at : p->last;
        }
        if (p->sum <= target && !ends)
            return;
        t->picked[p->count] = p->last;
    }
}

vem_status vem_i_view_pick(vem_i_run *run, const vem_view *view, const double *targets,
                           int64_t count, int64_t *picked)
{
    picking state = {0};
    task t = {run->comm, view, targets, count, picked};
    memset(picked, 0, (size_t)count * sizeof *picked);
    vem_i_comm_turn(run->comm, &state, sizeof state, pick_own, &t);
    run->comm->combine(run->comm, VEM_I_OR_BYTES, picked, (size_t)count * sizeof *picked);
    return vem_i_comm_lost(run);
}

static void add_masses(void *arg, void *state)
{
    const vem_view *view = arg;
    double *total = state;
    for (int64_t i = 0; i < vem_i_view_own(view); i++)
        *total += view->mass[i];
}

vem_status vem_i_view_pick_by_mass(vem_i_run *run, const vem_view *view, int count,
                                   int64_t *picked)
{
    double *targets = NULL, total = 0;
    if (!run->comm || !view->mass) {
        vem_i_pick_by_mass(view->mass, view->global_n, count, picked);
        return VEM_OK;
    }
    vem_status status = vem_i_take(run, &targets, (size_t)count, sizeof *targets);
    if (status != VEM_OK)
        return vem_i_comm_fail(run->comm, status);
    vem_i_comm_turn(run->comm, &total, sizeof total, add_masses, (void *)view);
    for (int k = 0; k < count; k++)
        targets[k] = ((double)k + 0.5) * (total / count);
    status = vem_i_view_pick(run, view, targets, count, picked);
    vem_i_free(targets);
    return status;
}
