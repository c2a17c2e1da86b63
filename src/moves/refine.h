/* Looking closer where F gains most: cells of a tree are divided when the loop rests. */
#ifndef VEM_MOVES_REFINE_H
#define VEM_MOVES_REFINE_H

#include "data/cells.h"
#include "em/em.h"

typedef struct vem_i_refinement vem_i_refinement;

/* For a loop over these cells, after vem_i_em_new. Takes all memory that it needs. expand: cells
 * that are divided at a time; 0: as many as promise something. */
vem_status vem_i_refinement_new(vem_i_em *em, vem_i_cells *cells, int64_t expand,
                                vem_i_refinement **refinement);
/* Asked at every rest: is F of the loop near enough? What is scored for it counts there. */
typedef struct vem_i_near_enough {
    vem_status (*ask)(void *user, vem_i_em *em, int *enough);
    void *user;
} vem_i_near_enough;
void vem_i_refinement_ask(vem_i_refinement *refinement, vem_i_near_enough near);
void vem_i_refinement_free(vem_i_refinement *refinement);
/* What the rest of it depends on, behind the record of the loop. */
void vem_i_refinement_record(vem_i_record *record, vem_i_refinement *refinement,
                             const vem_i_em *em);

#endif
