/* The best weights of rows that cells share. */
#ifndef VEM_MOVES_SHARE_H
#define VEM_MOVES_SHARE_H

#include "data/overlap.h"
#include "em/em.h"

/* Each row to that of its cells whose posterior, under the model of the loop, fits it best; the loop
 * looks at overlap->view. F does not fall by it. Returns through *moved how many rows were shared
 * otherwise before. */
vem_status vem_i_overlap_share(vem_i_em *em, vem_i_overlap *overlap, int64_t *moved);

#endif
