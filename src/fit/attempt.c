#include "fit/attempt.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "em/last_step.h"
#include "fit/attempt_inside.h"
#include "fit/met.h"
#include "metrics/gap.h"
#include "model/units.h"
#include "moves/descend.h"
#include "moves/moves.h"

/* Of fewer items a cluster only those far from it probe twice, and swaps end earlier: steps are expensive. */
enum { FEW_ITEMS = 16 };
/* Swaps go on while a round promises to lower the squared error by this share. */
static const double SWAP_ENOUGH = 1e-3;
/* Prices change in so many steps, while that is worth this share of the squared error. */
enum { PRICE_ROUNDS = 12 };
static const double PRICE_ENOUGH = 5e-5;

/* ---- its state ---- */

typedef struct moment {
    vem_i_attempt *attempt;
    vem_i_em *em;
} moment;

static void record_moment(vem_i_record *r, void *user)
{
    const moment *m = user;
    vem_i_attempt_record(r, m->attempt);
    vem_i_em_record(r, m->em);
}

/* Watches the loop. A state may be written before a step, and must be where the loop ends; not
 * before it is known whether the loop stays. */
static int observe(void *user, vem_i_em *em, vem_i_event event)
{
    vem_i_attempt *a = user;
    const int guarded = a->beginning.guarded;
    if (event == VEM_I_STEP_RESTS && a->path && a->kept == VEM_OK)
        a->kept = vem_i_path_add(a->run, a->path, a->model, em->free_energy,
                                 a->steps + em->steps);
    if (guarded && event == VEM_I_STEP_SCORED && em->step == 1 &&
        em->free_energy < a->least) {
        a->missed = VEM_I_MISSED_ROWS;
        return VEM_I_ENOUGH;
    }
    if (a->met && event == VEM_I_STEP_SCORED && em->doing.swap &&
        vem_i_met_before(a->met, a->programme->stages[a->at].kind, em)) {
        a->again = 1;
        return VEM_I_ENOUGH;
    }
    if (!a->checkpoint || (guarded && (em->steps == 0 || a->missed == VEM_I_MISSED_ROWS)))
        return VEM_I_GO_ON;
    if (event == VEM_I_STEP_LAST || (event == VEM_I_STEP_BEGINS && !em->within))
        vem_i_checkpoint_write(a->checkpoint, event == VEM_I_STEP_LAST, record_moment,
                               &(moment){a, em});
    return VEM_I_GO_ON;
}

/* Into the stage that the state was written in. */
static vem_status resume(vem_i_attempt *a)
{
    vem_i_record *r = vem_i_checkpoint_reading(a->checkpoint);
    vem_i_attempt_record(r, a);
    return r->status;
}

/* Into the loop. */
static vem_status enter(vem_i_attempt *a, vem_i_em *em)
{
    vem_i_record *r = vem_i_checkpoint_reading(a->checkpoint);
    vem_i_em_record(r, em);
    if (r->status == VEM_OK && r->left != 0)
        vem_i_record_refuse(r, "end");
    if (r->status == VEM_OK && !em->grows && em->step > em->max_steps)
        r->status = vem_i_checkpoint_refuse_steps(a->checkpoint,
                                                  "it has made more steps already");
    if (r->status == VEM_OK && em->grows && vem_i_checkpoint_limit_differs(a->checkpoint))
        r->status = vem_i_checkpoint_refuse_steps(a->checkpoint,
                                                  "each number of clusters had so many");
    if (r->status != VEM_OK)
        return r->status;
    const int64_t at = a->steps + em->step;
    vem_i_checkpoint_resumed(a->checkpoint, at > 1 ? at : 1);
    return VEM_OK;
}

/* ---- one loop ---- */

/* --gap: a bound that is nearer than that to the likelihood, for all that a sample can tell. */
static vem_status near_enough(void *user, vem_i_em *em, int *enough)
{
    const vem_i_attempt *a = user;
    vem_i_gap gap = {0};
    vem_status status =
        vem_i_gap_of(a->run, a->cells, em->model, em->free_energy, a->seed, &gap);
    em->pairs += gap.pairs;
    *enough = status == VEM_OK && gap.mean <= a->programme->options.gap;
    return status;
}

static vem_i_divisible divisible(vem_i_attempt *a, const vem_options *o)
{
    return (vem_i_divisible){.cells = a->cells,
                             .expand = o->expand == VEM_AUTO ? 0 : o->expand,
                             .near_enough = o->gap == VEM_AUTO ? NULL : near_enough,
                             .user = a};
}

/* The lines of a loop come after those of the loops before it. */
static vem_status append_trace(vem_i_attempt *a, const vem_i_em *em)
{
    vem_status status = VEM_OK;
    for (int64_t i = 0; status == VEM_OK && i < em->trace.count; i++) {
        vem_trace_step line = em->trace.steps[i];
        line.step += a->steps;
        status = vem_i_trace_add(a->run, &a->trace, &line);
    }
    return status;
}

/* The items as the family of the loop wants them. */
static const vem_view *view_for(const vem_i_attempt *a, const vem_options *o)
{
    return a->cells ? vem_i_cells_view(a->cells, vem_i_family_of(o->family)->needs)
                    : a->view;
}

/* What the stages before it have found. */
static vem_i_found found_of(const vem_i_attempt *a)
{
    if (a->started)
        return a->missed == VEM_I_MISSED_SOME ? VEM_I_FOUND_SOME : VEM_I_FOUND_STARTS;
    return a->axes > 0 ? VEM_I_FOUND_ALONG : VEM_I_FOUND_LITTLE;
}

static int64_t steps_for(const vem_i_attempt *a, const vem_i_stage *stage)
{
    const int64_t left = a->programme->options.max_steps - a->steps;
    return stage->halves ? left / 2 : left - stage->leaves;
}

static vem_i_em loop_of(vem_i_attempt *a, const vem_i_stage *stage,
                        const vem_i_beginning *b, int64_t swaps)
{
    const vem_options *o = &stage->options;
    const int few_items = a->view->global_n / o->clusters < FEW_ITEMS;
    vem_i_em em = {.run = a->run,
                   .options = o,
                   .max_steps = steps_for(a, stage),
                   .view = view_for(a, o),
                   .scale_free = a->programme->scale_free,
                   .grows = a->programme->grows,
                   .hands_on = a->whole_view != NULL,
                   .seed = a->seed,
                   .variance_unknown = b->variance_unknown,
                   .shared_steps = b->shared_steps,
                   .steps_before = a->steps,
                   .before = a->trace.count > 0 ? vem_i_trace_last(&a->trace) : NULL,
                   .schedule = {.groups = vem_i_search_type_of(o->search)->probes,
                                .placed = b->labels_known,
                                .crowded = few_items,
                                .probe = (int)o->probe,
                                .enough =
                                    (few_items ? 4 : 1) * SWAP_ENOUGH * 0.5 * a->view->d},
                   .model = a->model,
                   .constraints =
                       vem_i_constraints_of(a->view, o, vem_i_family_of(o->family))};
    em.constraints.conjugate = a->conjugate;
    em.constraints.price = a->price;
    em.priced = stage->priced;
    em.schedule.rounds = em.priced ? PRICE_ROUNDS : swaps;
    if (em.priced) {
        em.schedule.phase = VEM_I_PRICE;
        em.schedule.enough = PRICE_ENOUGH * 0.5 * a->view->d;
    }
    /* What comes after may start from no less variance: F would fall between the loops. */
    if (o->family != a->programme->options.family)
        em.constraints.floor =
            fmax(em.constraints.floor, vem_i_attempt_least_variance(a));
    if (b->lifted) /* all have looked around, along the axes */
        vem_i_schedule_settle(&em.schedule, b->cut);
    em.observers[VEM_I_WATCHES_FIT] = (vem_i_observer){observe, a};
    return em;
}

/* What a loop leaves. Without a whole step the labels and F of the loop before stay: its mixture
 * is the same, so that its F is a lower bound here too. */
static vem_status adopt(vem_i_attempt *a, const vem_i_em *em)
{
    vem_status status = append_trace(a, em);
    if (status != VEM_OK)
        return status;
    a->outcome = em->outcome;
    if (em->steps > 0 || a->steps == 0) {
        if (a->steps == 0)
            a->free_energy_first = em->free_energy_first;
        a->free_energy = em->free_energy;
        a->steps += em->steps;
        if (a->checkpoint && em->outcome == VEM_OUTCOME_STEP_LIMIT)
            a->checkpoint->limited = 1;
    }
    if (a->path && em->steps > 0)
        status = vem_i_path_add(a->run, a->path, a->model, em->free_energy, a->steps);
    for (int64_t i = 0; em->steps > 0 && i < a->view->n; i++)
        a->labels[i] = em->posterior.held[i * em->posterior.width];
    return status;
}

static vem_status run_loop(vem_i_attempt *a, const vem_i_stage *stage,
                           const vem_i_beginning *b)
{
    const vem_i_looks *looks = &stage->looks[found_of(a)];
    const int resumes = vem_i_checkpoint_resumes(a->checkpoint);
    vem_i_search_spec search = looks->search;
    search.seed = a->seed;
    search.boxes = a->boxes;
    vem_i_em em = loop_of(a, stage, b, looks->swaps);
    vem_i_last_step *last = NULL;
    vem_i_descent *descent = NULL;
    a->loop_clusters = a->model->clusters;
    if (a->cells && !a->still) /* there will be more of them */
        vem_i_cells_stretch(a->cells, 1);
    vem_status status = vem_i_em_new(&em, &search);
    if (status != VEM_OK)
        return status;
    status = vem_i_last_step_new(&em, &last);
    if (stage->cells == VEM_I_CELLS_DIVIDE)
        em.divisible = divisible(a, &stage->options);
    if (status == VEM_OK)
        status = vem_i_moves_new(&em, em.schedule.rounds > 0);
    if (status == VEM_OK && stage->cells == VEM_I_CELLS_DESCEND)
        status = vem_i_descent_new(&em, a->cells, stage->options.tau, &descent);
    if (a->cells)
        vem_i_cells_stretch(a->cells, 0);
    vem_i_em_resize(&em);
    if (status == VEM_OK && resumes)
        status = enter(a, &em);
    if (status == VEM_OK && b->labels_known && !resumes) {
        vem_i_posterior_start(&em.posterior, a->labels);
        vem_i_scorer_prepare(a->run, a->model, &em.scorer);
        status = vem_i_estep_start(em.estep, &em.pairs);
        if (status == VEM_OK && b->lifted)
            vem_i_attempt_take_held(&em);
    }
    if (status == VEM_OK)
        status = vem_i_em_run(&em);
    if (status == VEM_OK)
        status = a->kept;
    const int refused = b->guarded && a->missed == VEM_I_MISSED_ROWS;
    if (b->guarded && a->checkpoint && (refused || em.steps == 0)) /* as in the starts */
        a->checkpoint->closed = a->checkpoint->in_starts = !refused;
    if (status == VEM_OK && !refused)
        status = adopt(a, &em);
    *(refused ? &a->seed_pairs : &a->pairs) += em.pairs;
    a->beginning.guarded = 0;
    vem_i_descent_free(descent);
    vem_i_last_step_free(last);
    vem_i_em_free(&em);
    return status;
}

/* ---- the stages ---- */

/* Where the sample cannot tell, the fit is one without starts. */
static vem_status run_starts(vem_i_attempt *a)
{
    a->started = 1;
    vem_status status = a->run_starts(a);
    /* Not the bits of a fit that was not stopped. */
    if (a->run->watch->stop && a->checkpoint)
        a->checkpoint->closed = a->checkpoint->in_starts = 1;
    if (a->missed >= VEM_I_MISSED_PLACES)
        a->started = 0;
    return status;
}

/* Clusters where those of another family are, all of one variance. */
static void take_means(const vem_model *from, double variance, vem_model *to)
{
    memcpy(to->means, from->means, (size_t)to->clusters * (size_t)to->d * sizeof(double));
    vem_i_model_set_variance(to, variance);
}

/* Hard k-means with swaps; its means and their common variance begin what was asked. */
static vem_status run_kmeans(vem_i_attempt *a, const vem_i_stage *stage)
{
    vem_i_beginning first = a->beginning;
    vem_status status = VEM_OK;
    first.shared_steps = 0;
    if (!a->wanted) { /* else the attempt was resumed here */
        a->wanted = a->model;
        a->model = NULL;
        status = vem_i_model_blank(a->run,
                                   vem_i_shape_of(vem_i_family_of(stage->options.family),
                                                  a->wanted->clusters, a->wanted->d),
                                   &a->model);
        if (status == VEM_OK)
            take_means(a->wanted, vem_i_model_variance(a->wanted), a->model);
    }
    vem_model *wanted = a->wanted;
    if (status == VEM_OK)
        status = run_loop(a, stage, &first);
    if (status == VEM_OK && a->steps > 0 && a->model->clusters == wanted->clusters) {
        take_means(a->model,
                   fmax(vem_i_model_variance(a->model), vem_i_attempt_least_variance(a)),
                   wanted);
        a->beginning.variance_unknown = 0;
        a->beginning.labels_known = 1;
    }
    vem_model_free(a->model);
    a->model = wanted;
    a->wanted = NULL;
    return status;
}

/* Along axes; what comes after it goes on in all columns. Where the limit of steps ends it, the
 * state stays there: with a larger one the fit goes on along the axes. */
static vem_status run_leading(vem_i_attempt *a, const vem_i_stage *stage)
{
    vem_status status = run_loop(a, stage, &a->beginning);
    const int cut = status == VEM_OK && a->outcome == VEM_OUTCOME_STEP_LIMIT;
    if (a->checkpoint && cut)
        a->checkpoint->closed = 1;
    if (status == VEM_OK)
        status = vem_i_attempt_lift(a);
    a->beginning.cut = cut;
    return status;
}

/* The model of the fit, with swaps, because few clusters for each row are listed. */
static vem_status run_listed(vem_i_attempt *a, const vem_i_stage *stage)
{
    const int64_t before = a->steps;
    vem_status status = run_loop(a, stage, &a->beginning);
    if (a->steps > before)
        a->beginning = (vem_i_beginning){.labels_known = 1};
    return status;
}

/* Holding fewer clusters lowers F: that is a move, and is named. */
static vem_status run_finish(vem_i_attempt *a, const vem_i_stage *stage)
{
    vem_i_trace_name(&a->trace, VEM_I_MOVE_FINISH, a->model->clusters);
    return run_loop(a, stage, &(vem_i_beginning){.labels_known = 1});
}

static vem_status run_seed(vem_i_attempt *a, const vem_i_stage *stage)
{
    const vem_status status = vem_i_attempt_look_along(a);
    return status == VEM_OK ? vem_i_attempt_seed(a, &stage->options) : status;
}

static vem_status run_stage(vem_i_attempt *a, const vem_i_stage *stage)
{
    if (stage->is.loop && !a->looping) {
        const vem_status status = vem_i_attempt_shuffle(a);
        if (status != VEM_OK)
            return status;
        a->looping = 1;
        a->clock = vem_i_clock();
        a->seconds_seed += a->clock - a->began;
        a->beginning.guarded = a->started && a->least > -INFINITY;
    }
    switch (stage->kind) {
    case VEM_I_STAGE_STARTS: return run_starts(a);
    case VEM_I_STAGE_SEED: return run_seed(a, stage);
    case VEM_I_STAGE_LEADING: return run_leading(a, stage);
    case VEM_I_STAGE_KMEANS: return run_kmeans(a, stage);
    case VEM_I_STAGE_LISTED: return run_listed(a, stage);
    case VEM_I_STAGE_FIT: return run_loop(a, stage, &a->beginning);
    case VEM_I_STAGE_FINISH: return run_finish(a, stage);
    case VEM_I_STAGE_BALANCE:
        return run_loop(a, stage, &(vem_i_beginning){.labels_known = 1});
    }
    return VEM_OK;
}

/* The same, but done by its share of the time that is left. */
static vem_status run_share(vem_i_attempt *a, const vem_i_stage *stage)
{
    vem_i_run *const whole = a->run;
    vem_i_run part = *whole;
    const double now = vem_i_now(whole);
    if (part.deadline > 0)
        part.deadline = now + stage->share * (part.deadline - now);
    a->run = &part;
    vem_status status = run_stage(a, stage);
    a->run = whole;
    return status;
}

int vem_i_attempt_spares(const vem_i_attempt *a, const vem_i_stage *stage)
{
    return stage->instead && a->started &&
           !(stage->when_crowded && a->missed == VEM_I_MISSED_SOME);
}

static int left_out(const vem_i_attempt *a, const vem_i_stage *stage)
{
    if (stage->kind == VEM_I_STAGE_SEED)
        return a->model != NULL; /* the starts have found one */
    if (stage->kind == VEM_I_STAGE_LEADING)
        return a->axes == 0;
    if (vem_i_attempt_spares(a, stage))
        return 1;
    const int over = a->run->watch->stop || vem_i_late(a->run);
    if (stage->is.after)
        return over || a->steps == 0 || a->steps >= a->programme->options.max_steps;
    return stage->optional && a->at > 0 && over;
}

/* ---- all of them ---- */

static vem_status begin(vem_i_attempt *a)
{
    if (a->programme->from == VEM_I_FROM_MODEL)
        return vem_i_attempt_convert(a);
    if (a->first) {
        memcpy(a->labels, a->first, (size_t)a->view->n * sizeof *a->labels);
        a->beginning.labels_known = 1;
    }
    if (a->programme->from == VEM_I_FROM_ATTEMPT)
        return vem_model_copy(a->run->ctx, a->start, &a->model);
    return VEM_OK;
}

/* The sample missed rows that count: once more, from the seeding, as if there had been no
 * starts. */
static void begin_again(vem_i_attempt *a)
{
    vem_model_free(a->model);
    a->model = NULL;
    a->started = 0;
    a->at = 0; /* the starts; the seeding is next */
    a->beginning = (vem_i_beginning){0};
    a->began = vem_i_clock();
    a->looping = 0;
    memset(a->labels, -1, (size_t)a->view->n * sizeof(int32_t));
}

vem_status vem_i_attempt_run(vem_i_attempt *a)
{
    const vem_i_programme *p = a->programme;
    int entered = vem_i_checkpoint_resumes(a->checkpoint);
    a->began = vem_i_clock();
    a->least = -INFINITY;
    if (a->cells)
        vem_i_cells_reset(a->cells);
    const int64_t most =
        a->cells && !a->still ? a->cells->cut.capacity : a->view->n; /* items */
    vem_status status = vem_i_first_held_new(a->run, most, &a->labels);
    if (status == VEM_OK)
        memset(a->labels, -1, (size_t)most * sizeof(int32_t));
    if (status == VEM_OK)
        status = entered ? resume(a) : begin(a);
    for (; status == VEM_OK && a->at < p->count && !a->again; a->at++, entered = 0) {
        if (entered || !left_out(a, &p->stages[a->at]))
            status = run_share(a, &p->stages[a->at]);
        if (status == VEM_OK && a->started && a->missed == VEM_I_MISSED_ROWS)
            begin_again(a);
    }
    if (status == VEM_OK)
        status = vem_i_attempt_end(a);
    if (a->looping)
        a->seconds_em = vem_i_clock() - a->clock;
    else
        a->seconds_seed += vem_i_clock() - a->began;
    return status;
}

void vem_i_attempt_free(vem_i_attempt *a)
{
    vem_model_free(a->model);
    vem_model_free(a->wanted);
    vem_i_leading_free(&a->leading);
    vem_i_free(a->labels);
    vem_i_trace_free(&a->trace);
    a->model = NULL;
    a->wanted = NULL;
    a->labels = NULL;
}
