/* Model and sets as they were, to take a round of swaps back. */
#ifndef VEM_MOVES_UNDO_H
#define VEM_MOVES_UNDO_H

#include "em/em.h"

typedef struct vem_i_undo {
    vem_model *model; /* means, weights and shapes */
    int32_t *held;    /* n x width */
} vem_i_undo;

vem_status vem_i_undo_new(const vem_i_em *em, vem_i_undo *undo);
void vem_i_undo_free(vem_i_undo *undo);
uint64_t vem_i_undo_bytes(const vem_i_family *family, int64_t n, int32_t held,
                          int32_t clusters, int32_t d);
void vem_i_undo_save(vem_i_undo *undo, const vem_i_em *em);
/* The scorer belongs to the model again; q of the sets is for the caller to make. */
void vem_i_undo_restore(const vem_i_undo *undo, vem_i_em *em);

#endif
