/* With a deadline the loop ends where the next step, if it lasts as long as the last of its kind,
 * would end too late. A step that lasts longer than that is given up. So is, on a stop, a step of
 * many scores, or over rows in a file where no state is written: a copy of what the step before left costs nothing beside those. Several processes end
 * their steps: their clock (vem_i_now) moves with the E-steps, so that a step is from one to the next. */
#include "em/last_step.h"

#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "em/undo.h"

/* Probes and swaps make steps of different length. */
enum { KINDS = 3 };

struct vem_i_last_step {
    const vem_i_run *run;
    vem_i_undo before;
    vem_i_schedule schedule; /* as it was before the step at hand */
    double free_energy;
    double began;         /* clock, of the step at hand */
    double lasted[KINDS]; /* the last step of the kind; 0: there was none */
};

/* A second or so of one core. */
double vem_i_worth_leaving = 1e10;

/* Is a step so long that a stop should not wait for its end? The searches that do not try all
 * clusters are quick, but where rows come from a file; and they learn while they look, which a state
 * of the step before would have to know. */
static int may_leave(const vem_i_run *run, const vem_i_search_spec *search,
                     const vem_view *view, int32_t clusters)
{
    static const double COSTLY = 1024; /* per item, beside a copy of what it holds */
    static const double READ = 1e-3;   /* of what is worth leaving, in values of a file */
    const int32_t d = view->d;
    const double n = (double)view->n, item = (double)clusters * d;
    if (!search->whole)
        return run->progress && view->spilled && !run->ctx->checkpoint.path &&
               n * d >= READ * vem_i_worth_leaving;
    return run->progress && (item >= COSTLY || vem_i_worth_leaving == 0) &&
           item * n >= vem_i_worth_leaving;
}

/* All that an item holds is needed where a state may be written in the middle of a step. */
static int32_t width_of(const vem_i_run *run, int leave, int32_t held)
{
    return leave && run->ctx->checkpoint.path ? held : 1;
}

/* ---- how long steps last ---- */

static int kind_of(const vem_i_step *step)
{
    return step->swap ? 2 : step->plan.probe > 0 ? 1 : 0;
}

/* An E-step alone counts only until a whole step of its kind was seen. */
static void note_length(vem_i_last_step *last, const vem_i_step *step, int whole)
{
    double *lasted = &last->lasted[kind_of(step)];
    if (whole || *lasted <= 0)
        *lasted = vem_i_now(last->run) - last->began;
}

/* Would the next step end after the deadline? A kind that was not met yet takes as long as the
 * longest. */
static int too_late(const vem_i_last_step *last, const vem_i_em *em)
{
    vem_i_schedule peek = em->schedule;
    const vem_i_step next = vem_i_schedule_next(&peek);
    double expected = last->lasted[kind_of(&next)];
    for (int k = 0; k < KINDS && last->lasted[kind_of(&next)] <= 0; k++)
        expected = fmax(expected, last->lasted[k]);
    return em->run->deadline > 0 && vem_i_now(em->run) + expected > em->run->deadline;
}

/* ---- there and back ---- */

/* A stop in the middle of a step: whoever writes states gets the one before it, unless what was
 * held then is not known any more. */
static void offer_state(const vem_i_last_step *last, vem_i_em *em)
{
    const int known = em->steps > 0 && last->before.width == em->posterior.width &&
                      vem_i_trace_last(&em->trace)->moved == 0 && !em->midway;
    if (em->steps > 0 && !known)
        return;
    if (known)
        vem_i_undo_restore_held(&last->before, em);
    em->schedule = last->schedule;
    if (known || !em->posterior.known)
        vem_i_em_observe(em, VEM_I_STEP_LAST);
}

/* Model, F and first held clusters are those of the step before, if there was one. */
static void go_back(const vem_i_last_step *last, vem_i_em *em)
{
    if (em->outcome == VEM_OUTCOME_STOPPED)
        offer_state(last, em);
    if (em->steps == 0)
        return;
    vem_i_undo_restore(&last->before, em);
    em->free_energy = last->free_energy;
}

static int observe(void *user, vem_i_em *em, vem_i_event event)
{
    vem_i_last_step *last = user;
    switch (event) {
    case VEM_I_STEP_BEGINS:
        last->schedule = em->schedule;
        last->began = vem_i_now(em->run);
        break;
    case VEM_I_STEP_SCORED:
        note_length(last, &em->doing, 0);
        if (em->may_skip)
            vem_i_undo_save(&last->before, em);
        last->free_energy = em->free_energy;
        return too_late(last, em) ? VEM_I_ENOUGH : VEM_I_GO_ON;
    case VEM_I_STEP_ENDS:
        note_length(last, &em->doing, 1);
        if (em->may_skip &&
            em->posterior.n != last->before.n) /* cells were divided, by the same model */
            vem_i_undo_save(&last->before, em);
        break;
    case VEM_I_STEP_LEFT: go_back(last, em); break;
    case VEM_I_STEP_ASKED:
    case VEM_I_STEP_RESTS:
    case VEM_I_STEP_LAST: break;
    }
    return VEM_I_GO_ON;
}

vem_status vem_i_last_step_new(vem_i_em *em, vem_i_last_step **made)
{
    vem_i_run *run = em->run;
    const vem_model *model = em->model;
    /* A stop from before the first step waits for that step: there is no other result. */
    const int leave = !run->comm &&
                      may_leave(run, em->search, em->view, model->clusters) &&
                      !(run->watch->stop && em->steps_before == 0);
    *made = NULL;
    if (!(run->deadline > 0) && !leave)
        return VEM_OK;
    vem_i_last_step *last;
    vem_status status = vem_i_take_structs(run, &last, 1, sizeof *last);
    if (status != VEM_OK)
        return status;
    last->run = run;
    if (!run->comm) { /* of several processes none leaves a step */
        status =
            vem_i_undo_new(em, width_of(run, leave, em->posterior.width), &last->before);
        em->may_skip = leave ? VEM_I_SKIP : VEM_I_SKIP_LATE;
    }
    if (status != VEM_OK) {
        vem_i_last_step_free(last);
        return status;
    }
    em->observers[VEM_I_WATCHES_UNDO] = (vem_i_observer){observe, last};
    *made = last;
    return VEM_OK;
}

void vem_i_last_step_free(vem_i_last_step *last)
{
    if (!last)
        return;
    vem_i_undo_free(&last->before);
    vem_i_free(last);
}
