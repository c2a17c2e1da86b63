#include "moves/undo.h"

#include <string.h>

#include "base/memory.h"

vem_status vem_i_undo_new(const vem_i_em *em, vem_i_undo *undo)
{
    vem_i_undo made = {0};
    vem_status status =
        vem_i_model_blank(em->ctx, vem_i_model_shape(em->model), &made.model);
    if (status == VEM_OK)
        status = vem_i_take(em->ctx, &made.held, (size_t)em->posterior.n,
                            (size_t)em->posterior.width * sizeof(int32_t));
    if (status != VEM_OK) {
        vem_i_undo_free(&made);
        return status;
    }
    *undo = made;
    return VEM_OK;
}

void vem_i_undo_free(vem_i_undo *undo)
{
    vem_model_free(undo->model);
    vem_i_free(undo->held);
    memset(undo, 0, sizeof *undo);
}

uint64_t vem_i_undo_bytes(const vem_i_family *family, int64_t n, int32_t held,
                          int32_t clusters, int32_t d)
{
    return (uint64_t)n * (uint64_t)held * sizeof(int32_t) +
           ((uint64_t)clusters * (uint64_t)(d + 1) +
            vem_i_variance_count(family, clusters, d)) *
               sizeof(double);
}

static size_t set_bytes(const vem_i_em *em)
{
    return (size_t)(em->posterior.n * em->posterior.width) * sizeof(int32_t);
}

void vem_i_undo_save(vem_i_undo *undo, const vem_i_em *em)
{
    vem_i_model_assign(em->model, undo->model);
    memcpy(undo->held, em->posterior.held, set_bytes(em));
}

void vem_i_undo_restore(const vem_i_undo *undo, vem_i_em *em)
{
    vem_i_model_assign(undo->model, em->model);
    memcpy(em->posterior.held, undo->held, set_bytes(em));
    vem_i_scorer_prepare(em->ctx, em->model, &em->scorer);
}
