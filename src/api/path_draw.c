/* The picture of a path. */
#include "io/io.h"
#include "model/path.h"

vem_status vem_path_draw(vem_ctx *ctx, const vem_path *path, const vem_flows *flows,
                         const char *file)
{
    VEM_I_NEED(ctx, ctx, path, file);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_path_summary about = {.size = sizeof about};
    if (path->count == 0)
        return vem_i_fail(run, VEM_BAD_OPTION, "The path has no mixtures.");
    const vem_status status = vem_path_describe(ctx, path, &about);
    return status == VEM_OK ? vem_i_path_picture(run, path, &about, flows, file) : status;
}
