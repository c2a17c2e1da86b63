/* Very fast EM (Moore 1999): other cells in every step, found from the root of the tree down. */
#ifndef VEM_MOVES_DESCEND_H
#define VEM_MOVES_DESCEND_H

#include "data/cells.h"
#include "em/em.h"

typedef struct vem_i_descent vem_i_descent;

/* For a loop over these cells, whose tree keeps boxes, after vem_i_em_new: from now on it looks for
 * its cells before every step, and posteriors are those at their means. Takes all memory it needs. */
vem_status vem_i_descent_new(vem_i_em *em, vem_i_cells *cells, double tau,
                             vem_i_descent **descent);
void vem_i_descent_free(vem_i_descent *descent);

#endif
