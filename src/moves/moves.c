#include "moves/moves.h"

/* What is done about clusters that hold nothing; NULL: they stay. */
static const vem_i_move *const for_empty[] = {[VEM_EMPTY_KEEP] = NULL,
                                              [VEM_EMPTY_DROP] = &vem_i_move_drop,
                                              [VEM_EMPTY_RESEED] = &vem_i_move_reseed};

vem_status vem_i_moves_new(vem_i_em *em, int swaps)
{
    const int divisible = em->divisible.cells != NULL;
    const vem_i_move *const asked[VEM_I_MOVES] = {em->priced ? &vem_i_move_price
                                                  : swaps    ? &vem_i_move_swap
                                                             : NULL,
                                                  for_empty[em->options->empty],
                                                  divisible ? &vem_i_move_refine : NULL,
                                                  em->grows ? &vem_i_move_insert : NULL,
                                                  divisible && em->grows
                                                      ? &vem_i_move_refine_further
                                                      : NULL};
    vem_status status = VEM_OK;
    for (int i = 0; status == VEM_OK && i < VEM_I_MOVES; i++)
        if (asked[i])
            status = vem_i_em_take_move(em, asked[i]);
    return status;
}
