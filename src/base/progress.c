/* Telling the caller how far a verb is, and hearing whether to stop. */
#include "base/whole.h"

int vem_i_progress(vem_i_run *run, const vem_progress *progress, int force)
{
    vem_i_watch *watch = run->watch;
    if (!run->progress)
        return vem_i_late(run);
    const double now = vem_i_clock();
    if (force || now - watch->last >= 0.1) {
        vem_progress told = *progress;
        vem_i_whole_tell(run, &told);
        told.seconds = now - watch->start;
        told.restart = watch->restart;
        told.restarts = watch->restarts;
        told.resample = watch->resample;
        told.resamples = watch->resamples;
        watch->last = now;
        if (run->progress(run->progress_user, &told)) {
            watch->asked = 1;
            if (!run->peers)
                watch->stop = 1;
        }
    }
    return watch->stop || vem_i_late(run);
}

double vem_i_now(const vem_i_run *run)
{
    return run->peers ? run->watch->shared : vem_i_clock();
}

double vem_i_began(const vem_i_run *run)
{
    return run->peers ? 0 : run->watch->start;
}

int vem_i_late(const vem_i_run *run)
{
    return run->deadline > 0 && vem_i_now(run) >= run->deadline;
}
