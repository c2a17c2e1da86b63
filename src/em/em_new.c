/* The memory of a loop. */
#include <string.h>

#include "em/em.h"
#include "model/spread.h"

vem_status vem_i_em_new(vem_i_em *em, const vem_i_search_spec *asked)
{
    vem_model *model = em->model;
    vem_i_run *run = em->run;
    em->step = 1 - em->options->init_steps;
    vem_i_search_spec search = *asked;
    vem_i_search_make_room(&search, model->capacity);
    vem_i_em_watch_run(em);
    const int64_t blocks = search.dense ? em->options->blocks : 1;
    vem_status status =
        vem_i_scorer_for(run, em->view, vem_i_model_shape_with_room(model), &em->scorer);
    if (status == VEM_OK && (blocks > 1 || em->view->spread_kind != VEM_I_SPREAD_NONE))
        status = vem_i_scorer_take_spread(run, &em->scorer);
    if (status == VEM_OK)
        status = vem_i_posterior_new(run, em->view, &search, &em->posterior);
    if (status == VEM_OK)
        status = vem_i_stats_new(run, vem_i_model_shape_with_room(model), &em->stats);
    if (status == VEM_OK)
        status = vem_i_estep_new(run, em->view, &em->scorer, &search, blocks, &em->estep);
    if (status == VEM_OK)
        em->search = vem_i_estep_search(em->estep);
    else
        vem_i_em_free(em);
    return status;
}

void vem_i_em_forget_blocks(const vem_i_em *em)
{
    vem_i_blocks *blocks = vem_i_estep_blocks(em->estep);
    if (blocks)
        blocks->known = blocks->mixed = 0;
}

void vem_i_em_resize(vem_i_em *em)
{
    em->posterior.n = em->view->n;
    vem_i_em_forget_blocks(em);
}

void vem_i_em_free(vem_i_em *em)
{
    for (int i = 0; i < VEM_I_MOVES; i++)
        if (em->moves[i].state && em->moves[i].move->free)
            em->moves[i].move->free(em->moves[i].state);
    memset(em->moves, 0, sizeof em->moves);
    vem_i_estep_free(em->estep);
    vem_i_scorer_free(&em->scorer);
    vem_i_posterior_free(&em->posterior);
    vem_i_stats_free(&em->stats);
    vem_i_trace_free(&em->trace);
    em->estep = NULL;
    em->search = NULL;
}
