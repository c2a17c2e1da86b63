#include "base/ctx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/plain.h"

vem_status vem_i_refuse(vem_ctx *ctx, vem_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vem_i_say(ctx, format, args);
    va_end(args);
    return status;
}

vem_status vem_i_need(vem_ctx *ctx, const char *verb, const void *const *needed,
                      size_t count, const char *names)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = strcspn(names, ",");
        if (!needed[i])
            return vem_i_refuse(ctx, VEM_BAD_OPTION, "%s was given NULL for %.*s.", verb,
                                (int)length, names);
        names += length + strspn(names + length, ", ");
    }
    return VEM_OK;
}

const char *vem_bytes_print(double bytes, char text[32])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    if (bytes < 1000) {
        snprintf(text, 32, "%.0f byte%s", bytes, bytes == 1 ? "" : "s");
        return text;
    }
    for (bytes /= 1024; bytes >= 999.5 && unit < 3; unit++)
        bytes /= 1024;
    vem_i_plain_print(text, 32, bytes < 9.995 ? "%.2f %s" : "%.0f %s", bytes,
                      units[unit]);
    return text;
}

/* What Linux says of this program. getrusage would do, but there the peak of the program that
 * started this one lives on in it. */
static uint64_t high_water_bytes(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long long kib = 0;
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %llu", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return (uint64_t)kib * 1024;
}

uint64_t vem_i_peak_bytes(void)
{
    struct rusage usage;
    const uint64_t bytes = high_water_bytes();
    if (bytes > 0 || getrusage(RUSAGE_SELF, &usage) != 0)
        return bytes;
    return (uint64_t)usage.ru_maxrss * 1024; /* Linux counts in KiB */
}

const char *vem_ctx_message(const vem_ctx *ctx)
{
    return ctx ? ctx->message : "The context is NULL.";
}

int vem_ctx_threads(const vem_ctx *ctx)
{
    return ctx ? ctx->threads : 0;
}

const char *vem_ctx_cpu(const vem_ctx *ctx)
{
    return ctx ? ctx->cpu : NULL;
}

void vem_ctx_set_progress(vem_ctx *ctx, vem_progress_fn progress, void *user)
{
    if (!ctx)
        return;
    ctx->progress = progress;
    ctx->progress_user = user;
}

void vem_ctx_set_forecast(vem_ctx *ctx, vem_forecast_fn forecast, void *user)
{
    if (!ctx)
        return;
    ctx->forecast = forecast;
    ctx->forecast_user = user;
}

vem_status vem_ctx_set_spent(vem_ctx *ctx, double seconds)
{
    VEM_I_NEED(ctx, ctx);
    if (!(seconds >= 0 && seconds < INFINITY))
        return vem_i_refuse(ctx, VEM_BAD_OPTION,
                            "The seconds spent are %g, but they must be 0 or more.",
                            seconds);
    ctx->spent = seconds;
    return VEM_OK;
}

void vem_ctx_set_dashes(vem_ctx *ctx, int dashes)
{
    if (ctx)
        ctx->dashes = dashes != 0;
}

const char *vem_version(void)
{
    return VEM_VERSION;
}

const char *vem_status_name(vem_status status)
{
    switch (status) {
    case VEM_OK: return "ok";
    case VEM_BAD_OPTION: return "bad option";
    case VEM_BAD_DATA: return "bad data";
    case VEM_NO_MEMORY: return "no memory";
    case VEM_IO_ERROR: return "input/output error";
    case VEM_UNSUPPORTED: return "unsupported";
    case VEM_STOPPED: return "stopped";
    }
    return "unknown status";
}
