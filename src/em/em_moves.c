/* The moves of a loop (move.h): when they are tried, and what the trace says of them. */
#include "em/em.h"

int vem_i_em_holds(vem_i_em *em)
{
    return vem_i_em_again(em) >= em->free_energy;
}

vem_status vem_i_em_take_move(vem_i_em *em, const vem_i_move *move)
{
    vem_i_listed *listed = em->moves;
    while (listed->move)
        listed++;
    listed->move = move;
    if (move->create)
        return move->create(em, &listed->state);
    listed->state = em;
    return VEM_OK;
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
    double promised;
    const int64_t moved = vem_i_move_try(listed, &promised);
    if (moved >= 0)
        vem_i_trace_name(&em->trace, move->name, moved);
    if (move->price)
        vem_i_schedule_gain(&em->schedule, promised / em->view->total_mass);
    line->seconds += vem_i_clock() - start;
    return moved >= 0;
}

/* Is there anything for the move to do? */
static int has_cause(const vem_i_em *em, const vem_i_move *move)
{
    const int last = em->next == VEM_I_NEXT_END;
    switch (move->when) {
    case VEM_I_AFTER_E:
        /* What is held at the end begins another loop, or nothing follows. */
        return em->doing.swap &&
               (!last || (em->hands_on && em->outcome == VEM_OUTCOME_STEP_LIMIT));
    case VEM_I_AFTER_M:
        return !move->where_empty || vem_i_trace_last(&em->trace)->empty != 0;
    case VEM_I_AT_REST: /* they are asked one by one (em_rest.c) */
    case VEM_I_BETWEEN_LOOPS: break;
    }
    return 0;
}

void vem_i_em_moves(vem_i_em *em, vem_i_moment when)
{
    const vem_trace_step *line = vem_i_trace_last(&em->trace);
    for (int i = 0; i < VEM_I_MOVES && em->moves[i].move && !line->move; i++)
        if (em->moves[i].move->when == when && has_cause(em, em->moves[i].move))
            vem_i_em_act(em, &em->moves[i]);
    if (when == VEM_I_AFTER_M && line->move)
        vem_i_em_forget_blocks(em);
}
