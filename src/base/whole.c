#include "base/whole.h"

#include <math.h>
#include <string.h>

int vem_i_whole_begin(vem_ctx *ctx, const char *phase, int64_t rows)
{
    if (ctx->whole.phase)
        return 0;
    ctx->whole = (vem_i_whole){.phase = phase, .rows = rows, .high = 1, .passes = 1};
    return 1;
}

void vem_i_whole_end(vem_ctx *ctx, int owner)
{
    if (owner)
        ctx->whole = (vem_i_whole){0};
}

vem_i_whole vem_i_whole_narrow(vem_ctx *ctx, double from, double to, int passes)
{
    const vem_i_whole was = ctx->whole;
    const double width = was.high - was.low;
    ctx->whole.low = was.low + from * width;
    ctx->whole.high = was.low + to * width;
    ctx->whole.passes = passes;
    ctx->whole.pass = 0;
    ctx->whole.within = 0;
    return was;
}

void vem_i_whole_widen(vem_ctx *ctx, const vem_i_whole *was)
{
    const double told = ctx->whole.told;
    ctx->whole = *was;
    ctx->whole.told = told;
}

void vem_i_whole_tell(vem_ctx *ctx, vem_progress *told)
{
    vem_i_whole *w = &ctx->whole;
    if (!w->phase)
        return;
    /* The loading of rows is little beside what follows. */
    if (told->total > 0 && strcmp(told->phase, "read") != 0) {
        const double within = (double)told->done / (double)told->total;
        if (within < w->within && w->pass + 1 < w->passes)
            w->pass++;
        w->within = within;
    }
    const double share = ((double)w->pass + w->within) / w->passes;
    w->told = fmax(w->told, w->low + share * (w->high - w->low));
    told->phase = w->phase;
    told->done = (int64_t)(fmin(w->told, 1) * (double)w->rows);
    told->total = w->rows;
}
