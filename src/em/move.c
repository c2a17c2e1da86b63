#include "em/move.h"

int64_t vem_i_move_try(const vem_i_listed *listed, double *promised)
{
    const vem_i_move *move = listed->move;
    void *state = listed->state;
    *promised = 0;
    for (int64_t t = 0; t == 0 || t < move->tries; t++) {
        *promised = move->price ? move->price(state) : 0;
        if (move->price && !(*promised > 0))
            return -1;
        const int64_t moved = move->make(state);
        if (moved < 0)
            return -1;
        if (!move->holds || move->holds(state)) {
            if (move->settle)
                move->settle(state);
            return moved;
        }
        move->undo(state);
        *promised = 0;
    }
    return -1;
}
