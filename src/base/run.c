#include "base/run.h"

vem_i_run *vem_i_within(vem_ctx *ctx, vem_i_verb *verb)
{
    *verb = (vem_i_verb){.run = {.ctx = ctx, .threads = 1}, .watch = {.where = ""}};
    verb->run.watch = &verb->watch;
    if (ctx) {
        verb->run.threads = ctx->threads;
        verb->run.limit = ctx->memory;
        verb->run.progress = ctx->progress;
        verb->run.progress_user = ctx->progress_user;
    }
    return &verb->run;
}

vem_i_run *vem_i_begin(vem_ctx *ctx, vem_i_verb *verb)
{
    if (ctx)
        ctx->message[0] = '\0';
    vem_i_run *run = vem_i_within(ctx, verb);
    verb->watch.start = vem_i_clock();
    return run;
}

vem_i_run vem_i_run_alone(const vem_i_run *run)
{
    vem_i_run alone = *run;
    alone.threads = 1;
    return alone;
}

vem_status vem_i_fail(vem_i_run *run, vem_status status, const char *format, ...)
{
    if (run && run->counted)
        return status; /* nobody asked for it yet */
    va_list args;
    va_start(args, format);
    vem_i_say(run ? run->ctx : NULL, format, args);
    va_end(args);
    return status;
}

vem_status vem_i_fail_memory(vem_i_run *run, size_t bytes)
{
    char size[32];
    return vem_i_fail(run, VEM_NO_MEMORY, "%s of memory could not be had.",
                      vem_bytes_print((double)bytes, size));
}

vem_status vem_i_fail_stopped(vem_i_run *run, const char *where)
{
    run->watch->where = where;
    return vem_i_fail(run, VEM_STOPPED, "Stopped %s.", where);
}
