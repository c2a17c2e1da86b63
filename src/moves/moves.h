/* The moves, by the contract of em/move.h, and which of them a loop has. */
#ifndef VEM_MOVES_MOVES_H
#define VEM_MOVES_MOVES_H

#include "em/em.h"

extern const vem_i_move vem_i_move_swap, vem_i_move_drop, vem_i_move_reseed,
    vem_i_move_insert, vem_i_move_price, vem_i_move_refine, vem_i_move_refine_further;

/* After vem_i_em_new, which vem_i_em_free undoes: the loop takes the moves that its
 * options ask for. swaps: rounds of them follow where the schedule says, and its
 * E-steps look further. Where the loop grows, clusters are inserted; where it is
 * priced, prices change in the place of swaps; where its items are divisible, they are
 * divided. */
vem_status vem_i_moves_new(vem_i_em *em, int swaps);

#endif
