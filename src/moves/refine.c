/* Which cells are divided.
 *
 * With the model as it is, cell A of mass n_A that holds the clusters K_A has
 *
 *     F_A = n_A log sum_{c in K_A} p(c) exp <log p(x|c)>_A .
 *
 * Its children A1 and A2 hold what it held, and
 *
 *     gain(A) = F_A1 + F_A2 - F_A  >= 0,
 *
 * since each of them takes the best posterior of its own where both had to share one. The gain
 * says how much of the bound's slack one more level takes away.
 *
 * The cells with the largest gains are divided, as many as make up a large share of what all
 * together would gain. One cell alone hardly moves F, and its gain may be small where those of its
 * grandchildren are not; all of them together are a far better judge of how much there is still to
 * gain. When that is nothing (for some rounds running), the loop has rested for good. With a number
 * of cells for each round (--expand) the rule is that of the paper: so many are divided, and the
 * end is where F of one rest is as that of the rest before. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "moves/moves.h"

/* Share of all gains that those make up which are divided together. */
static const double SHARE = 0.9;
/* Rounds running in which there was nothing to gain. */
enum { CALM = 2 };

typedef struct ranked {
    double gain;
    int64_t cell;
} ranked;

typedef struct refinement {
    vem_i_em *em;
    vem_i_cells *cells;
    const vem_view *children;
    vem_i_estep *estep; /* of the children */
    vem_i_posterior posterior;
    double *log_sums;       /* of the cells */
    double *child_log_sums; /* twice as many */
    ranked *order;
    double rested; /* F at the rest before; -inf: there was none */
    int64_t calm;  /* rounds */
    int64_t
        answered; /* the last step in which it was asked, and there was nothing to divide */
} refinement;

static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain < y->gain ? 1 : -1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* ---- what dividing would gain ---- */

/* The children hold what their parents held. */
static void inherit(refinement *t, const vem_i_em *em)
{
    const size_t row = (size_t)em->posterior.width * sizeof(int32_t);
    for (int64_t i = 0; i < 2 * em->posterior.n; i++)
        memcpy(t->posterior.held + i * t->posterior.width,
               em->posterior.held + i / 2 * em->posterior.width, row);
    t->posterior.n = 2 * em->posterior.n;
    t->posterior.known = 1;
}

/* In the order of their gains, and the sum of those. */
static double rank_cells(refinement *t, vem_i_em *em, int64_t *count)
{
    const vem_i_cell_list *cut = &t->cells->cut, *below = &t->cells->children;
    double sum = 0;
    inherit(t, em);
    em->pairs += vem_i_estep_again(t->estep, &t->posterior, NULL).pairs;
    *count = 0;
    for (int64_t i = 0; i < cut->count; i++) {
        if (!vem_i_cells_divisible(t->cells, i))
            continue;
        const double gain = below->mass[2 * i] * t->child_log_sums[2 * i] +
                            below->mass[2 * i + 1] * t->child_log_sums[2 * i + 1] -
                            cut->mass[i] * t->log_sums[i];
        if (gain > 0)
            sum += gain;
        t->order[(*count)++] = (ranked){gain, i};
    }
    qsort(t->order, (size_t)*count, sizeof *t->order, compare);
    return sum;
}

/* ---- how many ---- */

static int64_t choose(const refinement *t, int64_t count, double all)
{
    const int64_t room = t->cells->cut.capacity - t->cells->cut.count;
    int64_t most = count < room ? count : room, chosen = 0;
    double sum = 0;
    const int64_t expand = t->em->divisible.expand;
    if (expand > 0)
        return expand < most ? expand : most;
    while (chosen < most && (sum < SHARE * all || chosen == 0))
        sum += t->order[chosen++].gain;
    return chosen;
}

/* Has it come to its end? */
static int at_end(refinement *t, const vem_i_em *em, double all)
{
    const double F = em->free_energy, mass = em->view->total_mass;
    const double threshold = vem_i_em_threshold(em, F);
    if (em->divisible.near_enough) /* which decides alone */
        return 0;
    const int by_number = em->divisible.expand > 0;
    const int nothing =
        by_number ? fabs(F - t->rested) <= threshold : all / mass <= threshold;
    t->rested = F;
    t->calm = nothing ? t->calm + 1 : 0;
    return t->calm >= (by_number ? 1 : CALM);
}

static void divide(refinement *t, vem_i_em *em, int64_t cell)
{
    vem_i_posterior *p = &em->posterior;
    const int64_t last = t->cells->cut.count;
    memcpy(p->held + last * p->width, p->held + cell * p->width,
           (size_t)p->width * sizeof *p->held);
    if (p->next)
        p->next[last] = p->next[cell];
    vem_i_cells_divide(t->cells, cell);
}

/* Returns how many were divided; 0: that promises nothing any more. */
static vem_status refine(refinement *t, int64_t *divided)
{
    vem_i_em *em = t->em;
    int64_t count;
    *divided = 0;
    if (t->cells->cut.count == t->cells->cut.capacity)
        return VEM_OK;
    int enough = 0;
    vem_status status = VEM_OK;
    if (em->divisible.near_enough)
        status = em->divisible.near_enough(em->divisible.user, em, &enough);
    if (status != VEM_OK || enough)
        return status;
    status = vem_i_cells_look_below(em->run, t->cells, &count);
    if (status != VEM_OK || count == 0)
        return status;
    const double all = rank_cells(t, em, &count);
    if (at_end(t, em, all))
        return VEM_OK;
    *divided = choose(t, count, all);
    for (int64_t k = 0; k < *divided; k++)
        divide(t, em, t->order[k].cell);
    vem_i_em_resize(em);
    return VEM_OK;
}

static int64_t make(void *state)
{
    refinement *t = state;
    vem_i_em *em = t->em;
    int64_t divided;
    const vem_status status = refine(t, &divided);
    if (status == VEM_OK && divided == 0)
        t->answered = em->step;
    if (status != VEM_OK && status != VEM_STOPPED) /* whoever stopped it says so */
        em->failed = status;
    return divided > 0 ? divided : -1;
}

/* Clusters that will be inserted need items too: of all that there may be these clusters take their
 * share. */
static int64_t make_share(void *state)
{
    const refinement *t = state;
    const vem_i_em *em = t->em;
    const int64_t share = em->view->n * (int64_t)em->model->capacity;
    const int full =
        em->grows && share >= em->options->cells * (int64_t)em->model->clusters;
    return full ? -1 : make(state);
}

/* Items may hide a cluster that could not be inserted. */
static int64_t make_further(void *state)
{
    const refinement *t = state;
    return t->em->model->clusters < t->em->model->capacity ? make(state) : -1;
}

/* Finer items might have moved it. */
static int is_open(const void *state)
{
    const refinement *t = state;
    const vem_i_em *em = t->em;
    return t->answered != em->step && em->view->n < em->options->cells;
}

/* ---- its memory ---- */

static void record(vem_i_record *r, void *state)
{
    refinement *t = state;
    const vem_i_em *em = t->em;
    VEM_I_RECORD(r, "rested", t->rested);
    vem_i_record_count(r, "calm", &t->calm, 0, VEM_I_RECORD_MOST);
    if (em->within) /* the E-step is not made again */
        vem_i_record_reals(r, "log_sums", t->log_sums, (size_t)em->view->n, -DBL_MAX,
                           DBL_MAX);
}

static void release(void *state)
{
    refinement *t = state;
    vem_i_estep_free(t->estep);
    vem_i_posterior_free(&t->posterior);
    vem_i_free(t->log_sums);
    vem_i_free(t->child_log_sums);
    vem_i_free(t->order);
    vem_i_free(t);
}

static vem_status take(vem_i_em *em, refinement *t)
{
    const size_t cells = (size_t)t->cells->cut.capacity;
    /* What a child holds is only scored: any search that keeps as long lists does it. */
    vem_i_search_spec spec = *em->search;
    if (!spec.whole)
        spec = vem_i_search_closest(spec.clusters, spec.held, 0);
    vem_i_search_make_room(&spec, em->model->capacity);
    vem_status status = vem_i_take(em->run, &t->log_sums, cells, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(em->run, &t->child_log_sums, 2 * cells, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(em->run, &t->order, cells, sizeof *t->order);
    if (status == VEM_OK)
        status = vem_i_posterior_new(em->run, t->children, &spec, &t->posterior);
    if (status == VEM_OK)
        status = vem_i_estep_new(em->run, t->children, &em->scorer, &spec, 0, &t->estep);
    return status;
}

static vem_status create(void *subject, void **state)
{
    vem_i_em *em = subject;
    refinement *t;
    vem_status status = vem_i_take_structs(em->run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    *state = t;
    t->em = em;
    t->cells = em->divisible.cells;
    t->rested = -INFINITY;
    t->answered = -1;
    t->children = vem_i_cells_child_view(t->cells, em->view->spread_kind);
    status = take(em, t);
    if (status != VEM_OK)
        return status; /* what is there goes with the loop */
    t->posterior.log_sums = t->child_log_sums;
    em->posterior.log_sums = t->log_sums;
    return VEM_OK;
}

/* That of the other one, which stands before it. */
static vem_status share_state(void *subject, void **state)
{
    const vem_i_em *em = subject;
    for (int i = 0; em->moves[i].move != &vem_i_move_refine_further; i++)
        if (em->moves[i].move == &vem_i_move_refine)
            *state = em->moves[i].state;
    return VEM_OK;
}

const vem_i_move vem_i_move_refine = {.name = VEM_I_MOVE_REFINE,
                                      .when = VEM_I_AT_REST,
                                      .limit = VEM_I_LIMIT_ENDS,
                                      .acts_on_items = 1,
                                      .create = create,
                                      .free = release,
                                      .make = make_share,
                                      .open = is_open,
                                      .record = record};

/* Behind the insertion. */
const vem_i_move vem_i_move_refine_further = {.name = VEM_I_MOVE_REFINE,
                                              .when = VEM_I_AT_REST,
                                              .limit = VEM_I_LIMIT_ASKS,
                                              .acts_on_items = 1,
                                              .create = share_state,
                                              .make = make_further,
                                              .open = is_open};
