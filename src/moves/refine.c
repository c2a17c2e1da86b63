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
#include "moves/refine.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Share of all gains that those make up which are divided together. */
static const double SHARE = 0.9;
/* Rounds running in which there was nothing to gain. */
enum { CALM = 2 };

typedef struct ranked {
    double gain;
    int64_t cell;
} ranked;

struct vem_i_refinement {
    vem_i_cells *cells;
    int64_t expand;
    const vem_view *children;
    vem_i_estep *estep; /* of the children */
    vem_i_posterior posterior;
    double *log_sums;       /* of the cells */
    double *child_log_sums; /* twice as many */
    ranked *order;
    vem_i_near_enough near; /* ask NULL: nobody */
    double rested;          /* F at the rest before; -inf: there was none */
    int64_t calm;           /* rounds */
};

static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain < y->gain ? 1 : -1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* ---- what dividing would gain ---- */

/* The children hold what their parents held. */
static void inherit(vem_i_refinement *t, const vem_i_em *em)
{
    const size_t row = (size_t)em->posterior.width * sizeof(int32_t);
    for (int64_t i = 0; i < 2 * em->posterior.n; i++)
        memcpy(t->posterior.held + i * t->posterior.width,
               em->posterior.held + i / 2 * em->posterior.width, row);
    t->posterior.n = 2 * em->posterior.n;
    t->posterior.known = 1;
}

/* In the order of their gains, and the sum of those. */
static double rank_cells(vem_i_refinement *t, vem_i_em *em, int64_t *count)
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

static int64_t choose(const vem_i_refinement *t, int64_t count, double all)
{
    const int64_t room = t->cells->cut.capacity - t->cells->cut.count;
    int64_t most = count < room ? count : room, chosen = 0;
    double sum = 0;
    if (t->expand > 0)
        return t->expand < most ? t->expand : most;
    while (chosen < most && (sum < SHARE * all || chosen == 0))
        sum += t->order[chosen++].gain;
    return chosen;
}

/* Has it come to its end? */
static int at_end(vem_i_refinement *t, const vem_i_em *em, double all)
{
    const double F = em->free_energy, mass = em->view->total_mass;
    const double threshold = vem_i_em_threshold(em, F);
    if (t->near.ask) /* which decides alone */
        return 0;
    const int nothing =
        t->expand > 0 ? fabs(F - t->rested) <= threshold : all / mass <= threshold;
    t->rested = F;
    t->calm = nothing ? t->calm + 1 : 0;
    return t->calm >= (t->expand > 0 ? 1 : CALM);
}

static void divide(vem_i_refinement *t, vem_i_em *em, int64_t cell)
{
    vem_i_posterior *p = &em->posterior;
    const int64_t last = t->cells->cut.count;
    memcpy(p->held + last * p->width, p->held + cell * p->width,
           (size_t)p->width * sizeof *p->held);
    if (p->next)
        p->next[last] = p->next[cell];
    vem_i_cells_divide(t->cells, cell);
}

static vem_status refine(void *user, vem_i_em *em, int64_t *finer)
{
    vem_i_refinement *t = user;
    int64_t count;
    *finer = 0;
    if (t->cells->cut.count == t->cells->cut.capacity)
        return VEM_OK;
    int enough = 0;
    vem_status status = VEM_OK;
    if (t->near.ask)
        status = t->near.ask(t->near.user, em, &enough);
    if (status != VEM_OK || enough)
        return status;
    status = vem_i_cells_look_below(em->run, t->cells, &count);
    if (status != VEM_OK || count == 0)
        return status;
    const double all = rank_cells(t, em, &count);
    if (at_end(t, em, all))
        return VEM_OK;
    *finer = choose(t, count, all);
    for (int64_t k = 0; k < *finer; k++)
        divide(t, em, t->order[k].cell);
    return VEM_OK;
}

/* ---- its memory ---- */

void vem_i_refinement_record(vem_i_record *r, vem_i_refinement *t, const vem_i_em *em)
{
    VEM_I_RECORD(r, "rested", t->rested);
    vem_i_record_count(r, "calm", &t->calm, 0, VEM_I_RECORD_MOST);
    if (em->within) /* the E-step is not made again */
        vem_i_record_reals(r, "log_sums", t->log_sums, (size_t)em->view->n, -DBL_MAX,
                           DBL_MAX);
}

void vem_i_refinement_ask(vem_i_refinement *t, vem_i_near_enough near)
{
    t->near = near;
}

void vem_i_refinement_free(vem_i_refinement *t)
{
    if (!t)
        return;
    vem_i_estep_free(t->estep);
    vem_i_posterior_free(&t->posterior);
    vem_i_free(t->log_sums);
    vem_i_free(t->child_log_sums);
    vem_i_free(t->order);
    vem_i_free(t);
}

static vem_status take(vem_i_em *em, vem_i_refinement *t)
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

vem_status vem_i_refinement_new(vem_i_em *em, vem_i_cells *cells, int64_t expand,
                                vem_i_refinement **refinement)
{
    vem_i_refinement *t;
    vem_status status = vem_i_take_structs(em->run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    t->cells = cells;
    t->expand = expand;
    t->rested = -INFINITY;
    t->children = vem_i_cells_child_view(cells, em->view->spread_kind);
    status = take(em, t);
    if (status != VEM_OK) {
        vem_i_refinement_free(t);
        return status;
    }
    t->posterior.log_sums = t->child_log_sums;
    em->posterior.log_sums = t->log_sums;
    em->refiner = (vem_i_refiner){refine, t, VEM_I_MOVE_REFINE};
    *refinement = t;
    return VEM_OK;
}
