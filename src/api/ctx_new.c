/* Making a context, the one place that joins the base and the kernels; where its fits write
 * their state. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/residence.h"
#include "base/structs.h"
#include "comm/comm.h"
#include "kernels/kernels.h"

vem_status vem_ctx_new(vem_ctx **ctx)
{
    VEM_I_NEED(NULL, ctx);
    vem_ctx *made = vem_i_calloc(1, sizeof *made);
    if (!made)
        return VEM_NO_MEMORY;
    made->kernels_single = vem_i_kernels_find(NULL, VEM_SINGLE);
    made->kernels_double = vem_i_kernels_find(NULL, VEM_DOUBLE);
    if (!made->kernels_single || !made->kernels_double) {
        vem_i_free(made);
        return VEM_UNSUPPORTED; /* VEM_CPU names a set this processor or build does not
                                   have */
    }
    made->cpu = made->kernels_single->name;
    vem_status status = vem_ctx_set_threads(made, 0);
    if (status == VEM_OK)
        status = vem_i_residence_new(made);
    if (status == VEM_OK)
        *ctx = made;
    else
        vem_i_free(made);
    return status;
}

vem_status vem_ctx_set_checkpoint(vem_ctx *ctx, const vem_checkpoint *checkpoint)
{
    VEM_I_NEED(ctx, ctx);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    vem_checkpoint made = {0};
    if (checkpoint) {
        const vem_status status =
            vem_i_struct_in(run, "vem_checkpoint", checkpoint, &made, sizeof made);
        if (status != VEM_OK)
            return status;
        if (!made.path || !*made.path || !(made.seconds >= 0))
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "A checkpoint needs a path, and seconds that are not "
                              "negative.");
        const size_t length = strlen(made.path);
        made.path = strdup(made.path);
        if (!made.path)
            return vem_i_fail_memory(run, length + 1);
    }
    char *before;
    memcpy(&before, &ctx->checkpoint.path, sizeof before); /* drops the const: ours */
    free(before);
    ctx->checkpoint = made;
    return VEM_OK;
}

void vem_ctx_free(vem_ctx *ctx)
{
    if (ctx) {
        vem_ctx_set_checkpoint(ctx, NULL);
        vem_i_residence_leave(ctx);
        if (ctx->comm)
            ctx->comm->free(ctx->comm);
    }
    vem_i_free(ctx);
}
