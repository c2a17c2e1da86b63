/* Does the loop end here?
 *
 * It rests where F has converged. Then, and where it has made all the steps that it may, the moves at
 * rest are asked, in the order of their list, whether one lets it go on. It ends where none does, or
 * where somebody who watches wants that. It has converged if it rests and every move has answered;
 * where there was no time to ask one that may have let it go on, that is the reason of the end. */
#include <math.h>

#include "em/em.h"

double vem_i_em_threshold(const vem_i_em *em, double now)
{
    /* D / 2: a relative change of the squared error, whatever the units of the data. */
    double scale =
        em->scale_free ? 0.5 * vem_i_view_columns(em->view) : fmax(fabs(now), 1e-3);
    return em->options->tolerance * scale;
}

static int converged(const vem_i_em *em)
{
    if (em->step <= em->shared_steps + 1 || !em->doing.may_end)
        return 0;
    const vem_i_move *planned = vem_i_em_move(em, VEM_I_AFTER_E);
    if (planned && planned->ends_loop)
        return 1;
    const vem_trace_step *line = vem_i_trace_last(&em->trace), *last = line - 1;
    if (last->moved > 0 && last->move != vem_i_move_names[em->routine])
        return 0;
    double before = last->free_energy, now = line->free_energy;
    double threshold = vem_i_em_threshold(em, now);
    /* With random candidates a fit may rest for a step: then twice running. */
    int once = em->search->explore == 0;
    if (threshold == 0)
        return em->search->dense ? now <= before
                                 : line->changed == 0 && (once || last->changed == 0);
    if (!(fabs(now - before) <= threshold))
        return 0;
    if (once || em->step < 3)
        return once;
    return fabs(before - last[-1].free_energy) <= threshold;
}

/* The move from which the limit of steps counts, or NULL. */
static const vem_i_move *renewing(const vem_i_em *em)
{
    for (int i = 0; i < VEM_I_MOVES && em->moves[i].move; i++)
        if (em->moves[i].move->limit == VEM_I_LIMIT_RENEWS)
            return em->moves[i].move;
    return NULL;
}

/* Has it made all the steps that it may? */
static int at_limit(const vem_i_em *em)
{
    const vem_trace_step *line = vem_i_trace_last(&em->trace);
    const vem_i_move *move = renewing(em);
    int64_t steps = em->step;
    if (move)
        for (steps = 1;
             steps < em->step && line[-steps].move != vem_i_move_names[move->name];)
            steps++;
    return steps >= em->max_steps;
}

/* Where the loop stands, while the moves are asked. */
typedef struct rest {
    int converged, limit;
    vem_i_wish wish;
} rest;

/* One of the moves at rest: does it let the loop go on? */
static int goes_on(vem_i_em *em, const vem_i_listed *listed, rest *r)
{
    const vem_i_move *move = listed->move;
    const int may = r->limit ? move->limit != VEM_I_LIMIT_ENDS : r->converged;
    const int asked = may && !r->wish && em->failed == VEM_OK;
    if (asked) {
        if (move->limit == VEM_I_LIMIT_RENEWS)
            vem_i_em_observe(em, VEM_I_STEP_RESTS);
        if (vem_i_em_act(em, listed))
            return 1;
        r->wish =
            vem_i_em_observe(em, VEM_I_STEP_ASKED); /* it may have taken all the time */
    }
    if ((!asked || r->wish) && (!move->open || move->open(listed->state)))
        r->converged = 0;
    return 0;
}

static vem_i_next next_of(vem_i_em *em)
{
    rest r = {.converged = em->step > 1 && converged(em), .limit = at_limit(em)};
    r.wish = vem_i_em_observe(em, VEM_I_STEP_SCORED);
    if (!r.converged && !r.limit && !r.wish)
        return VEM_I_NEXT_M;
    for (int i = 0; i < VEM_I_MOVES && em->moves[i].move; i++)
        if (em->moves[i].move->when == VEM_I_AT_REST && goes_on(em, &em->moves[i], &r))
            return em->moves[i].move->acts_on_items ? VEM_I_NEXT_E : VEM_I_NEXT_M;
    em->outcome = r.converged            ? VEM_OUTCOME_CONVERGED
                  : r.wish == VEM_I_STOP ? VEM_OUTCOME_STOPPED
                  : r.wish && !r.limit   ? VEM_OUTCOME_BUDGET
                                         : VEM_OUTCOME_STEP_LIMIT;
    return VEM_I_NEXT_END;
}

vem_status vem_i_em_rest(vem_i_em *em)
{
    em->steps = em->step;
    if (em->step == 1)
        em->free_energy_first = em->free_energy;
    em->next = next_of(em);
    if (em->failed != VEM_OK)
        return em->failed;
    if (em->next == VEM_I_NEXT_END && !em->within) { /* else it was entered here */
        em->within = 1;
        vem_i_em_observe(em, VEM_I_STEP_LAST);
    }
    em->within = 0;
    return VEM_OK;
}
