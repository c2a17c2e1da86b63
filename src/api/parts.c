/* Fits in parts that any scheduler calls (vem/parts.h): a context that is one of them, and what is to be
 * done next. How parts meet is said in comm/files.c. */
#include "vem/parts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ctx.h"
#include "comm/files.h"

static vem_status check(vem_ctx *ctx, const vem_parts_options *o)
{
    if (o->size < sizeof *o || !o->folder)
        return vem_i_refuse(ctx, VEM_BAD_OPTION, "The options of a part are not whole.");
    if (o->parts < 1 || o->parts > VEM_I_MOST_PARTS)
        return vem_i_refuse(
            ctx, VEM_BAD_OPTION,
            "The number of parts is %d, but it must lie between 1 and %d.", o->parts,
            VEM_I_MOST_PARTS);
    if (o->part < 1 || o->part > o->parts)
        return vem_i_refuse(ctx, VEM_BAD_OPTION,
                            "The part is %d, but it must lie between 1 and %d.", o->part,
                            o->parts);
    if (!(o->wait >= 0))
        return vem_i_refuse(ctx, VEM_BAD_OPTION,
                            "A part cannot wait for less than 0 seconds.");
    if (strlen(o->folder) > VEM_I_PATH / 2)
        return vem_i_refuse(ctx, VEM_BAD_OPTION, "The name of the folder is too long.");
    return VEM_OK;
}

vem_status vem_ctx_set_parts(vem_ctx *ctx, const vem_parts_options *options)
{
    VEM_I_NEED(ctx, ctx);
    vem_i_comm *made = NULL;
    char state[VEM_I_PATH];
    vem_checkpoint checkpoint = {.size = sizeof checkpoint, .path = state, .resume = 1};
    vem_status status = options ? check(ctx, options) : VEM_OK;
    if (status == VEM_OK && options) {
        const vem_i_files_request request = {options->folder, options->part - 1,
                                             options->parts,  options->wait,
                                             options->leaves, options->user};
        if (mkdir(options->folder, 0777) != 0 && errno != EEXIST)
            return vem_i_refuse(ctx, VEM_IO_ERROR, "%s could not be made: %s.",
                                options->folder, strerror(errno));
        made = vem_i_comm_files_new(&request);
        if (!made)
            return vem_i_refuse(ctx, VEM_NO_MEMORY, "Memory could not be had.");
        vem_i_part_path(options->folder, VEM_I_PART_STATE, options->part - 1, state);
    }
    if (status == VEM_OK)
        status = vem_ctx_set_checkpoint(ctx, options ? &checkpoint : NULL);
    if (status != VEM_OK) {
        if (made)
            made->free(made);
        return status;
    }
    if (ctx->comm)
        ctx->comm->free(ctx->comm);
    ctx->comm = made;
    return VEM_OK;
}

vem_status vem_parts_end(vem_ctx *ctx, const vem_parts_options *options,
                         const char *sentence)
{
    VEM_I_NEED(ctx, ctx, options);
    char path[VEM_I_PATH];
    const vem_status status = check(ctx, options);
    if (status != VEM_OK)
        return status;
    const size_t count = sentence ? strlen(sentence) : 0;
    vem_i_part_path(options->folder, sentence ? VEM_I_PART_FAILED : VEM_I_PART_DONE,
                    options->part - 1, path);
    const int error = vem_i_whole_write(path, (const void *const[]){sentence}, &count, 1);
    return error ? vem_i_refuse(ctx, VEM_IO_ERROR, "%s could not be written: %s.", path,
                                strerror(error))
                 : VEM_OK;
}

/* ---- what is to be done ---- */

vem_status vem_parts_look(vem_ctx *ctx, const char *folder, int32_t parts,
                          vem_part_state *states, char *sentence, size_t size)
{
    VEM_I_NEED(ctx, ctx, folder, states, sentence);
    int may = 0, wait = 0;
    const vem_parts_options o = {.size = sizeof o,
                                 .folder = folder,
                                 .part = 1,
                                 .parts = parts};
    const vem_status status = check(ctx, &o);
    if (status != VEM_OK)
        return status;
    if (size > 0)
        *sentence = '\0';
    for (int p = 0; p < parts; p++) {
        states[p] = vem_i_files_state(folder, p, sentence, size);
        may += states[p] == VEM_PART_CALL;
        wait += states[p] == VEM_PART_WAITS;
    }
    /* What they wait for has been taken away: whoever says it says it again. */
    for (int p = 0; !may && wait > 0 && p < parts; p++)
        if (states[p] == VEM_PART_WAITS)
            states[p] = VEM_PART_CALL;
    return VEM_OK;
}

vem_status vem_parts_clear(vem_ctx *ctx, const char *folder, int32_t parts, int all)
{
    VEM_I_NEED(ctx, ctx, folder);
    const vem_parts_options o = {.size = sizeof o,
                                 .folder = folder,
                                 .part = 1,
                                 .parts = parts};
    const vem_status status = check(ctx, &o);
    if (status != VEM_OK)
        return status;
    vem_i_files_clear(folder, parts, all);
    return VEM_OK;
}
