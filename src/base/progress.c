/* Telling the caller how far a verb is, and hearing whether to stop. */
#include "base/whole.h"

int vem_i_progress(vem_ctx *ctx, const vem_progress *progress, int force)
{
    if (!ctx->progress)
        return vem_i_late(ctx);
    double now = vem_i_clock();
    if (force || now - ctx->progress_last >= 0.1) {
        vem_progress told = *progress;
        vem_i_whole_tell(ctx, &told);
        told.seconds = now - ctx->progress_start;
        told.restart = ctx->restart;
        told.restarts = ctx->restarts;
        ctx->progress_last = now;
        if (ctx->progress(ctx->progress_user, &told))
            ctx->stop_requested = 1;
    }
    return ctx->stop_requested || vem_i_late(ctx);
}

int vem_i_late(const vem_ctx *ctx)
{
    return ctx->deadline > 0 && vem_i_clock() >= ctx->deadline;
}
