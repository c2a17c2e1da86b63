/* Moves as the loop sees them: priced, made, measured, and taken back when F fell. */
#include "em/em.h"

enum { REST_TRIES = 3 };

int64_t vem_i_em_try(vem_i_em *em, const vem_i_listed *listed, double *promised)
{
    const vem_i_move *move = listed->move;
    void *state = listed->state;
    *promised = move->price ? move->price(em, state) : 0;
    if (move->price && !(*promised > 0))
        return -1;
    const int64_t moved = move->make(em, state);
    /* Items that hold several clusters overlap, so that a price is a guess. */
    if (moved >= 0 && move->undo && (em->search->held > 1 || move->measured) &&
        !(vem_i_em_again(em) >= em->free_energy)) {
        move->undo(em, state);
        vem_i_em_again(em);
        *promised = 0;
        return -1;
    }
    if (moved >= 0 && move->settle)
        move->settle(em, state);
    return moved;
}

const vem_i_move *vem_i_em_move(const vem_i_em *em, vem_i_moment when)
{
    for (int i = 0; i < VEM_I_MOVES && em->moves[i].move; i++)
        if (em->moves[i].move->when == when)
            return em->moves[i].move;
    return NULL;
}

int vem_i_em_act(vem_i_em *em, const vem_i_listed *listed)
{
    const vem_i_move *move = listed->move;
    const double start = vem_i_clock();
    vem_trace_step *line = vem_i_trace_last(&em->trace);
    /* Of one that was taken back the next best is tried; at rest there is no later step for that. */
    const int tries = move->when == VEM_I_AT_REST && move->undo ? REST_TRIES : 1;
    double promised = 0;
    int64_t moved = -1;
    for (int t = 0; moved < 0 && t < tries; t++)
        moved = vem_i_em_try(em, listed, &promised);
    if (moved >= 0) {
        line->move = vem_i_move_names[move->name];
        line->moved = moved;
    }
    if (move->price)
        vem_i_schedule_gain(&em->schedule, promised / em->view->total_mass);
    line->seconds += vem_i_clock() - start;
    return moved >= 0;
}

/* Is there anything for the moves of this moment to do? */
static int has_cause(const vem_i_em *em, vem_i_moment when)
{
    const int last = em->next == VEM_I_NEXT_END;
    switch (when) {
    case VEM_I_AFTER_E:
        /* What is held at the end begins another loop, or nothing follows. */
        return em->doing.swap &&
               (!last || (em->hands_on && em->outcome == VEM_OUTCOME_STEP_LIMIT));
    case VEM_I_AFTER_M: return vem_i_trace_last(&em->trace)->empty != 0;
    case VEM_I_AT_REST: break; /* they are asked one by one (em_rest.c) */
    }
    return 0;
}

void vem_i_em_moves(vem_i_em *em, vem_i_moment when)
{
    const vem_trace_step *line = vem_i_trace_last(&em->trace);
    if (!has_cause(em, when))
        return;
    for (int i = 0; i < VEM_I_MOVES && em->moves[i].move && !line->move; i++)
        if (em->moves[i].move->when == when)
            vem_i_em_act(em, &em->moves[i]);
    if (when == VEM_I_AFTER_M && line->move)
        vem_i_em_forget_blocks(em);
}
