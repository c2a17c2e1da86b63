/* One cluster more, where F gains most by it: greedy mixture learning (Verbeek, Nunnink and
 * Vlassis 2006, section 5).
 *
 * Tried where the loop has converged, and as long as there is room: candidates are drawn in the
 * place of every cluster and bettered by partial EM (candidate.c); the one of the largest bound is
 * inserted with its weight a, the weights of the others are multiplied by 1 - a, and the loop goes
 * on with all of them. F is measured by an E-step over all items, and no less than the bound where
 * that was not taken from a sample; where F fell the next best is tried.
 *
 * Where clusters share a shape, the candidate is two halves in the place of a cluster, and F is
 * measured after some steps (shrink).
 *
 * Where items keep lists of what they hold, those of the cluster that the candidate was found in
 * take it in the place of the last they held, if it is the better one. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "em/undo.h"
#include "model/evidence.h"
#include "moves/candidate.h"
#include "moves/moves.h"

enum {
    PIECES = 16,
    PAIRS = 5,         /* of candidates in the place of each cluster, */
    PAIRS_IN_ALL = 64, /* and of all together, at least */
    FIRST_STEPS = 3,   /* of partial EM, of all pairs, */
    STEPS = 12,        /* and of one in so many of them, which promise most */
    ONE_IN = 6,
    KEPT = 16, /* and at least so many */
    SHRINK_STEPS = 3,
    TRIES = 3 /* of the list: at rest there is no later step for them */
};

/* A pair of candidates: number `task % pairs` in the place of cluster `task / pairs`. */
typedef struct ranked {
    double gain;
    int64_t task;
} ranked;

typedef struct inserter {
    vem_i_em *em;
    vem_i_candidates *candidates;
    vem_i_tour tour; /* own, where the search keeps none */
    int32_t *identity;
    ranked *list; /* the best first */
    void *costs;  /* per piece: 2 x VEM_I_BLOCK of T */
    vem_i_undo undo;
    /* The step at hand. */
    const vem_i_tour *order;
    int64_t step;        /* of the list */
    int64_t pairs;       /* of each cluster */
    int64_t tried, kept; /* of the list: what was refused, and how many there are */
    int steps;           /* of what is being tried */
    int32_t cluster;     /* that was inserted */
} inserter;

static int64_t pairs_of(int32_t clusters)
{
    const int64_t each = vem_i_shards(PAIRS_IN_ALL, clusters);
    return each > PAIRS ? each : PAIRS;
}

static vem_i_splittable cluster_of(const inserter *t, int64_t task)
{
    const int64_t c = task / t->pairs;
    const int64_t *start = t->order->starts + t->order->rank[c];
    return (vem_i_splittable){.items = t->order->items + start[0],
                              .n = start[1] - start[0],
                              .cluster = (int32_t)c};
}

/* ---- price ---- */

static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static void try_one(void *arg, int64_t k, int thread)
{
    inserter *t = arg;
    const int64_t task = t->list[k].task;
    const vem_i_splittable cluster = cluster_of(t, task);
    const vem_model *found;
    int32_t which;
    t->list[k].gain = vem_i_candidates_try(t->candidates, &cluster, task % t->pairs,
                                           t->steps, thread, &found, &which);
}

/* So many of the list after so many steps, the best first; adds to the pairs that were scored. 0: there
 * was no time for all. */
static int try_some(inserter *t, int64_t count, int steps, int64_t *scored)
{
    vem_i_em *em = t->em;
    int64_t pairs = 0;
    vem_progress told = {.phase = "em",
                         .step = em->steps_before + em->step,
                         .max_steps = em->steps_before + em->max_steps,
                         .free_energy = em->free_energy};
    vem_i_em_tell_size(em, &told);
    for (int64_t k = 0; k < count; k++)
        pairs += vem_i_candidates_pairs(t->candidates, cluster_of(t, t->list[k].task).n,
                                        steps);
    *scored += pairs;
    t->steps = steps;
    t->kept = count;
    if (vem_i_parallel_watched(em->run, count,
                               (double)pairs / (double)count * em->view->d, try_one, t,
                               &told, VEM_I_SKIP))
        return 0;
    qsort(t->list, (size_t)count, sizeof *t->list, compare);
    return 1;
}

/* All pairs, and then the best of them once more. */
static int try_all(inserter *t)
{
    vem_i_em *em = t->em;
    t->order = vem_i_estep_order(em->estep, &em->posterior);
    if (!t->order) {
        t->tour.n = em->view->n;
        vem_i_tour_sort(&t->tour, em->model->clusters, em->posterior.held,
                        em->posterior.width, t->identity);
        t->order = &t->tour;
    }
    t->pairs = pairs_of(em->model->clusters);
    t->tried = 0;
    const int64_t tasks = em->model->clusters * t->pairs;
    const int64_t best = tasks / ONE_IN > KEPT ? tasks / ONE_IN : KEPT;
    for (int64_t k = 0; k < tasks; k++)
        t->list[k].task = k;
    int64_t scored = 0;
    if (!try_some(t, tasks, FIRST_STEPS, &scored) ||
        !try_some(t, best < tasks ? best : tasks, STEPS, &scored))
        return 0; /* a fit that goes on tries them all again, and counts them then */
    vem_i_em_count(em, scored);
    return 1;
}

static double price(void *state)
{
    inserter *t = state;
    vem_i_em *em = t->em;
    if (em->model->clusters >= em->model->capacity)
        return 0;
    if (t->step != em->step && !try_all(t))
        return 0;
    t->step = em->step;
    return t->tried < t->kept ? t->list[t->tried].gain : 0;
}

/* ---- make ---- */

static void insert(inserter *t)
{
    const int64_t task = t->list[t->tried].task;
    const vem_i_splittable cluster = cluster_of(t, task);
    const vem_model *found;
    vem_model *model = t->em->model;
    const int32_t old = model->clusters;
    int32_t which;
    vem_i_candidates_try(t->candidates, &cluster, task % t->pairs, STEPS, 0, &found,
                         &which);
    vem_i_em_count(t->em, vem_i_candidates_pairs(t->candidates, cluster.n, STEPS));
    if (!vem_i_has_own_shapes(model->family)) {
        vem_i_model_put(found, 0, model, cluster.cluster);
        vem_i_model_put(found, 1, model, old);
    } else {
        vem_i_model_put(found, which, model, old);
        for (int32_t c = 0; c < old; c++)
            model->weights[c] *= 1 - found->weights[which];
    }
    for (int32_t c = 0; t->em->constraints.prior == VEM_PRIOR_FLAT && c <= old; c++)
        model->weights[c] = 1;
    vem_i_normalize_weights(model);
    t->cluster = old;
}

/* Does the item hold the new cluster instead of the last it held? */
static void enter_piece(void *arg, int64_t piece, int thread)
{
    (void)thread;
    const inserter *t = arg;
    const vem_i_scorer *s = &t->em->scorer;
    const vem_i_posterior *p = &t->em->posterior;
    const vem_i_splittable cluster = cluster_of(t, t->list[t->tried].task);
    int32_t index[2 * VEM_I_BLOCK];
    char *costs =
        (char *)t->costs + (size_t)piece * 2 * VEM_I_BLOCK * s->kernels->element;
    const int64_t end = cluster.n * (piece + 1) / PIECES;
    for (int64_t k = cluster.n * piece / PIECES; k < end; k += VEM_I_BLOCK) {
        const int32_t n = end - k < VEM_I_BLOCK ? (int32_t)(end - k) : VEM_I_BLOCK;
        const vem_i_items items = vem_i_items_at(t->em->view, 0, cluster.items + k, n);
        for (int32_t q = 0; q < n; q++) {
            index[q] = p->held[(cluster.items[k + q] + (int64_t)1) * p->width - 1];
            index[VEM_I_BLOCK + q] = t->cluster;
        }
        s->family->score_pairs(s, &items, 2, index, costs, VEM_I_BLOCK);
        for (int32_t q = 0; q < n; q++)
            if (vem_i_value(s->kernels, costs, VEM_I_BLOCK + q) <
                vem_i_value(s->kernels, costs, q))
                p->held[(cluster.items[k + q] + (int64_t)1) * p->width - 1] = t->cluster;
        vem_i_residence_check(t->em->run);
    }
}

/* A shape that all clusters share becomes smaller with a cluster more, and only then F gains: some
 * steps of all, before it is measured. */
static void shrink(vem_i_em *em)
{
    for (int k = 0; k < SHRINK_STEPS; k++) {
        vem_i_em_again(em);
        vem_i_estep_collect(em->estep, &em->posterior, &em->stats);
        vem_i_maximize(em->run, &em->scorer, &em->stats, &em->constraints, em->model);
        vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    }
}

static int64_t make(void *state)
{
    inserter *t = state;
    vem_i_em *em = t->em;
    vem_i_undo_save(&t->undo, em);
    insert(t);
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    if (!em->search->dense) {
        vem_i_parallel(em->run, PIECES, enter_piece, t);
        vem_i_em_count(em, 2 * cluster_of(t, t->list[t->tried].task).n);
    }
    if (!vem_i_has_own_shapes(em->model->family))
        shrink(em);
    return 1;
}

static int holds(void *state)
{
    const inserter *t = state;
    return vem_i_em_holds(t->em);
}

static void undo(void *state)
{
    inserter *t = state;
    vem_i_em *em = t->em;
    t->tried++;
    vem_i_undo_restore(&t->undo, em);
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    vem_i_em_again(em);
}

static void settle(void *state)
{
    const inserter *t = state;
    vem_i_estep_beside(t->em->estep, t->cluster,
                       (int32_t)(t->list[t->tried].task / t->pairs));
}

static void record(vem_i_record *r, void *state)
{
    inserter *t = state;
    int answered = t->step == t->em->step;
    vem_i_candidates_record(r, t->candidates);
    if (!t->em->within || (r->reading && !vem_i_record_is_next(r, "insert_answered")))
        return;
    vem_i_record_int(r, "insert_answered", &answered, 0, 1);
    if (r->reading && answered) {
        t->step = t->em->step;
        t->tried = t->kept = 0; /* none held, and nothing is counted again */
    }
}

/* ---- memory ---- */

static void release(void *state)
{
    inserter *t = state;
    vem_i_candidates_free(t->candidates);
    vem_i_tour_free(&t->tour);
    vem_i_undo_free(&t->undo);
    vem_i_free(t->identity);
    vem_i_free(t->list);
    vem_i_free(t->costs);
    vem_i_free(t);
}

static vem_status create(void *subject, void **state)
{
    vem_i_em *em = subject;
    vem_i_run *run = em->run;
    inserter *t;
    vem_status status = vem_i_take_structs(run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    *state = t;
    t->em = em;
    t->step = -1;
    const size_t clusters = (size_t)em->model->capacity;
    const vem_i_room list[] = {{&t->identity, clusters, sizeof *t->identity, 0},
                               {&t->list, PAIRS_IN_ALL + PAIRS * clusters,
                                sizeof *t->list, 0},
                               {&t->costs, em->search->dense ? 0 : PIECES,
                                2 * VEM_I_BLOCK * em->view->kernels->element, 0}};
    status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = vem_i_candidates_new(em, &t->candidates);
    if (status == VEM_OK && !em->search->type->ordered)
        status = vem_i_tour_new(run, em->view->n, em->model->capacity, &t->tour);
    if (status == VEM_OK)
        status = vem_i_undo_new(em, em->posterior.width, &t->undo);
    for (int32_t c = 0; status == VEM_OK && t->identity && c < em->model->capacity; c++)
        t->identity[c] = c;
    return status; /* what is there goes with the loop */
}

const vem_i_move vem_i_move_insert = {.name = VEM_I_MOVE_INSERT,
                                      .when = VEM_I_AT_REST,
                                      .limit = VEM_I_LIMIT_RENEWS,
                                      .create = create,
                                      .free = release,
                                      .price = price,
                                      .make = make,
                                      .holds = holds,
                                      .undo = undo,
                                      .settle = settle,
                                      .tries = TRIES,
                                      .record = record};
