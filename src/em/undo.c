#include "em/undo.h"

#include <string.h>

#include "base/memory.h"

vem_status vem_i_undo_new(const vem_i_em *em, int32_t width, vem_i_undo *undo)
{
    const int64_t room = em->posterior.n;
    vem_i_undo made = {.width = width};
    vem_status status =
        vem_i_model_blank(em->run, vem_i_model_shape_with_room(em->model), &made.model);
    if (status == VEM_OK)
        status = vem_i_take(em->run, &made.held, (size_t)room,
                            (size_t)width * sizeof(int32_t));
    if (status == VEM_OK)
        *undo = made;
    else
        vem_i_undo_free(&made);
    return status;
}

void vem_i_undo_free(vem_i_undo *undo)
{
    vem_model_free(undo->model);
    vem_i_free(undo->held);
    memset(undo, 0, sizeof *undo);
}

static void copy_held(int64_t n, const int32_t *from, int32_t width, int32_t *to,
                      int32_t to_width)
{
    if (width == to_width)
        memcpy(to, from, (size_t)n * (size_t)width * sizeof *to);
    else
        for (int64_t i = 0; i < n; i++)
            to[i * to_width] = from[i * width];
}

void vem_i_undo_save(vem_i_undo *undo, const vem_i_em *em)
{
    const vem_i_posterior *p = &em->posterior;
    vem_i_model_assign(em->model, undo->model);
    undo->n = p->n;
    copy_held(undo->n, p->held, p->width, undo->held, undo->width);
}

void vem_i_undo_restore_held(const vem_i_undo *undo, vem_i_em *em)
{
    vem_i_posterior *p = &em->posterior;
    const int64_t n = undo->n < p->n ? undo->n : p->n;
    copy_held(n, undo->held, undo->width, p->held, p->width);
    /* Another cut of the tree, about which nothing is known: any cluster that there is. */
    for (int64_t i = n * p->width; i < p->n * p->width; i++)
        p->held[i] = i % p->width == 0 ? 0 : -1;
}

void vem_i_undo_restore(const vem_i_undo *undo, vem_i_em *em)
{
    vem_i_model_assign(undo->model, em->model);
    vem_i_undo_restore_held(undo, em);
}
