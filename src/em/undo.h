/* Model and sets as they were, to take back a step or a move. */
#ifndef VEM_EM_UNDO_H
#define VEM_EM_UNDO_H

#include "em/em.h"

typedef struct vem_i_undo {
    vem_model *model; /* means, weights and shapes */
    int32_t *held;    /* n x width: what each item held; of width 1, the first cluster */
    int64_t n;        /* items that it has of; there may be more since */
    int32_t width;
} vem_i_undo;

/* width: that of the posterior, or 1. */
vem_status vem_i_undo_new(const vem_i_em *em, int32_t width, vem_i_undo *undo);
void vem_i_undo_free(vem_i_undo *undo);
void vem_i_undo_save(vem_i_undo *undo, const vem_i_em *em);
/* Both, or what is held alone. Scorer and q are for the caller to make. */
void vem_i_undo_restore(const vem_i_undo *undo, vem_i_em *em);
void vem_i_undo_restore_held(const vem_i_undo *undo, vem_i_em *em);

#endif
