/* Two clusters that a move tries in the place of one, or beside it: their model, and what scores
 * items under them and takes their statistics. Scratch of one thread. */
#ifndef VEM_MOVES_HALVES_H
#define VEM_MOVES_HALVES_H

#include "em/em.h"

typedef struct vem_i_halves {
    vem_model *model;
    vem_i_scorer scorer;
    vem_i_stats stats;
} vem_i_halves;

/* Of the family of the loop, for its items. On failure free them as well. */
vem_status vem_i_halves_new(vem_i_run *run, const vem_i_em *em, vem_i_halves *halves);
void vem_i_halves_free(vem_i_halves *halves);
/* Items that one of them must have: a shape wants a few for each of its directions. */
int64_t vem_i_halves_fewest(const vem_model *model);

#endif
