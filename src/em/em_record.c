/* A loop that can be left and entered again, to the same bits.
 *
 * Between two steps the rest of the loop depends on the model, on what is held, on the
 * search and on the schedule; everything else is made anew in every step. Within a step,
 * after the E-step, it depends on the probabilities too, and, where swaps follow, on what
 * the E-step found beyond what is held. A loop that ends is recorded there: with more steps
 * allowed it goes on as if it had never ended. The shards of a dense search are not
 * recorded: the same E-step of the same model fills them again, and so are statistics that come
 * with the labels (labels.c); its blocks are, which are of other models. */
#include "em/em.h"

#include <float.h>
#include <math.h>

#include "data/together.h"
#include "model/family.h"
#include "model/units.h"

/* What is held; `whole`: also how probable it is, as after an E-step, and `further`: what
 * was found beyond it. */
static void record_posterior(vem_i_record *r, const vem_view *view, vem_i_posterior *p,
                             int32_t clusters, int whole, int further)
{
    const size_t width = (size_t)p->width;
    vem_i_record_int(r, "known", &p->known, 0, 1);
    if (p->known)
        vem_i_record_row_indices(r, view, "held", p->held, width, -1, clusters - 1);
    if (whole && p->q)
        vem_i_record_row_elements(r, view, "q", p->q, width, 0, DBL_MAX);
    if (further) {
        vem_i_record_row_indices(r, view, "next", p->next, 1, -1, clusters - 1);
        /* Infinite where there is no further cluster. */
        vem_i_record_row_elements(r, view, "gap", p->gap, 1, -DBL_MAX, INFINITY);
    }
}

/* As of a model to start from: every cost must be a number. */
static void check_costs(vem_i_record *r, const vem_i_em *em)
{
    if (!r->reading || r->status != VEM_OK)
        return;
    const vem_status status = vem_i_model_check_range(r->run, em->model, em->view);
    if (status == VEM_BAD_DATA ||
        (status == VEM_OK && vem_i_excludes_rows(&em->constraints, em->model)))
        vem_i_record_refuse(r, "means");
    else
        r->status = status;
}

static void record_schedule(vem_i_record *r, vem_i_schedule *s)
{
    int phase = (int)s->phase;
    vem_i_record_int(r, "placed", &s->placed, 0, 1);
    vem_i_record_count(r, "rounds", &s->rounds, 0, VEM_I_RECORD_MOST);
    vem_i_record_int(r, "phase", &phase, VEM_I_FIND, VEM_I_PRICE);
    vem_i_record_count(r, "count", &s->count, 0, VEM_I_RECORD_MOST);
    s->phase = phase == VEM_I_FIND    ? VEM_I_FIND
               : phase == VEM_I_SWAP  ? VEM_I_SWAP
               : phase == VEM_I_CALM  ? VEM_I_CALM
               : phase == VEM_I_PRICE ? VEM_I_PRICE
                                      : VEM_I_SETTLE;
}

/* The scorer belongs to the model. */
static void enter(vem_i_em *em)
{
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    vem_i_estep_enter(em->estep, &em->posterior);
}

/* Those that act on clusters, or those that act on items. */
static void record_moves(vem_i_record *r, vem_i_em *em, int items)
{
    for (int i = 0; i < VEM_I_MOVES && em->moves[i].move; i++)
        if (em->moves[i].move->record && em->moves[i].move->acts_on_items == items)
            em->moves[i].move->record(r, em->moves[i].state);
}

void vem_i_em_record(vem_i_record *r, vem_i_em *em)
{
    vem_i_record_count(r, "at", &em->step, 1 - em->options->init_steps,
                       VEM_I_RECORD_MOST);
    vem_i_record_int(r, "within", &em->within, 0, 1);
    vem_i_record_int(r, "swap", &em->doing.swap, 0, em->posterior.next != NULL);
    vem_i_record_int(r, "may_end", &em->doing.may_end, 0, 1);
    vem_i_record_reals(r, "relax", &em->doing.relax, 1, 0, 2);
    vem_i_record_count(r, "shared_steps", &em->shared_steps, 0, INT32_MAX);
    vem_i_record_int(r, "variance_unknown", &em->variance_unknown, 0, 1);
    record_schedule(r, &em->schedule);
    vem_i_record_count(r, "pairs", &em->pairs, 0, VEM_I_RECORD_MOST);
    vem_i_record_count(r, "moves", &em->reseeds, 0, VEM_I_RECORD_MOST);
    VEM_I_RECORD(r, "free_energy", em->free_energy);
    VEM_I_RECORD(r, "free_energy_first", em->free_energy_first);
    vem_i_trace_record(r, &em->trace);
    vem_i_model_record(r, em->model);
    check_costs(r, em);
    record_posterior(r, em->view, &em->posterior, em->model->clusters, em->within,
                     em->within && em->doing.swap);
    record_moves(r, em, 0);
    vem_i_estep_record(r, em->estep, &em->posterior, em->model->clusters);
    /* The steps so far and their lines agree, or convergence would look for lines that are
     * not there. */
    if (r->reading && r->status == VEM_OK &&
        (em->trace.count < (em->step > 0 ? em->step - 1 + em->within : 0) ||
         (em->within && (em->step < 1 || !em->posterior.known))))
        vem_i_record_refuse(r, "trace");
    if (r->reading && r->status == VEM_OK && em->within)
        enter(em);
    record_moves(r, em, 1);
}
