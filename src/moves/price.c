/* Prices: large clusters cost more, so that rows on the border go to smaller ones.
 *
 * What is maximised, over what items hold and over the model, is F less a penalty on
 * uneven sizes (n_c masses, W their sum, x_c = C n_c / W, all per unit of mass):
 *
 *     P = F_0 - t / C sum_c x_c log x_c            F_0 with weights 1/C
 *
 * The penalty's slope is the price of a cluster, t log x_c nats, which enters costs as
 * a weight of exp(-price) / C does. With prices held fixed E- and M-step raise F (with
 * these weights) as always. A change of prices is this move: hard items know the
 * cluster they hold, h, the next best, and how far behind that is (gap), so where they
 * would go by other prices b' is
 *
 *     next, where  (b'_h - b_h) - (b'_next - b_next) > gap,      else h,
 *
 * and P of that is a sum over the items, without a distance. Prices take damped steps
 * towards t log x_c of the sizes they lead to; a step by which P would fall is halved,
 * and given up after a few times. So P never falls by the move, whatever t and however
 * many items lie on borders: that is how the step knows the density of gaps.
 *
 * The M-step raises P, too. The E-step under prices that stay need not: more items
 * than those on the border of two clusters may go to a cheap one, which then has a
 * border with others. Then what they held before is held again, and t and the prices
 * are made smaller. So P, for one t, never falls from one round to the next. t is a
 * multiple of the median gap at first (docs/math/balance.md). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/together.h"
#include "moves/moves.h"
#include "moves/penalty.h"
#include "moves/pieces.h"

/* The step towards the price that belongs to the size, how often it is taken between two
 * E-steps, and how often it is halved. */
static const double STEP = 0.3;
enum { ROUNDS = 4, HALVINGS = 4 };
/* Where the E-step goes too far, t and the prices before become this much of
 * themselves. */
static const double LESS = 0.7;

typedef struct prices {
    vem_i_em *em;
    int32_t *held;         /* n: what items held after the last round */
    double *before;        /* C: `level` before it */
    double strength;       /* t; 0: not known yet */
    double step;           /* towards the price that belongs to a size */
    double penalized;      /* P after the last round */
    double *level;         /* C: log(C weight) in the E-step: less the price */
    double *shift, *tried; /* C: added to it so far, and by the step at hand */
    double *sizes;         /* C: masses by `shift`, */
    double *trial;         /* ... and by `tried` */
    double *partial;       /* VEM_I_PIECES x (C + 1): masses, and what is gained */
    double *turn;          /* of several processes: 2 (C + 1) */
    int64_t moved[VEM_I_PIECES];
    const double *by;     /* what items are looked at with */
    vem_i_told_gap *told; /* of a few items */
} prices;

/* Does the item go to the next best? */
static int goes(const prices *t, int64_t item, double gap)
{
    const vem_i_posterior *p = &t->em->posterior;
    return p->next[item] >= 0 && t->by[p->next[item]] - t->by[p->held[item]] > gap;
}

/* The sizes, and behind them what is gained. */
static void weigh_items(void *arg, int64_t from, int64_t to, double *sums)
{
    const prices *t = arg;
    const vem_i_em *em = t->em;
    const vem_i_posterior *p = &em->posterior;
    double gain = sums[em->model->clusters];
    for (int64_t i = from; i < to; i++) {
        const double gap = vem_i_value(em->view->kernels, p->gap, i);
        const double w = vem_i_view_mass(em->view, i);
        int32_t c = p->held[i];
        if (c < 0)
            continue;
        if (goes(t, i, gap)) {
            gain += w * (t->level[c] - t->level[p->next[i]] - gap);
            c = p->next[i];
        }
        sums[c] += w;
    }
    sums[em->model->clusters] = gain;
}

/* P with the labels by this shift, less F_0 of those that items hold; and the sizes. */
static double weigh(prices *t, const double *by, double *sizes)
{
    const vem_i_em *em = t->em;
    const int32_t clusters = em->model->clusters;
    t->by = by;
    vem_i_pieces_sum(&(vem_i_pieces){.run = em->run,
                                     .view = em->view,
                                     .count = VEM_I_PIECES,
                                     .values = clusters + 1,
                                     .partial = t->partial,
                                     .turn = t->turn,
                                     .work = 8,
                                     .add = weigh_items,
                                     .arg = t});
    memcpy(sizes, t->partial, (size_t)clusters * sizeof *sizes);
    return t->partial[clusters] / em->view->total_mass -
           t->strength * vem_i_penalty_of(em, sizes);
}

/* ---- the move ---- */

/* The E-step has gone too far: back to what was held, and to lower prices. */
static void go_back(prices *t)
{
    const vem_i_em *em = t->em;
    const vem_i_posterior *p = &em->posterior;
    memcpy(p->held, t->held, (size_t)em->view->n * sizeof *p->held);
    memset(p->next, -1, (size_t)em->view->n * sizeof *p->next); /* nobody moves */
    for (int32_t c = 0; c < em->model->clusters; c++)
        t->shift[c] = LESS * t->before[c] - t->level[c];
    t->strength *= LESS;
    t->penalized = -DBL_MAX; /* P is another one now */
}

/* Weights are exp(level + shift) over the largest of them: all of them stay numbers above 0,
 * also where a far cluster, which nobody would go to, has the least price. */
static double highest(const prices *t, const double *shift)
{
    double top = -INFINITY;
    for (int32_t c = 0; c < t->em->model->clusters; c++)
        top = fmax(top, t->level[c] + shift[c]);
    return top;
}

static void bound(const prices *t, double *shift)
{
    const double least = highest(t, shift) - VEM_I_PRICE_SPAN;
    for (int32_t c = 0; c < t->em->model->clusters; c++)
        shift[c] = fmax(shift[c], least - t->level[c]);
}

/* Steps of the prices while P does not fall: of those that items hold now, in `sizes`.
 * Returns the gain. */
static double find_prices(prices *t, double before)
{
    const vem_i_em *em = t->em;
    const int32_t clusters = em->model->clusters;
    const double mean = em->view->total_mass / clusters;
    double now = before, step = t->step;
    for (int round = 0, halved = 0; round < ROUNDS && halved <= HALVINGS;) {
        for (int32_t c = 0; c < clusters; c++) {
            const double level = t->level[c] + t->shift[c];
            t->tried[c] =
                t->shift[c] -
                step * (t->strength * vem_i_penalty_slope(t->sizes[c] / mean) + level);
        }
        bound(t, t->tried);
        const double then = weigh(t, t->tried, t->trial);
        if (!(then >= now)) {
            step *= 0.5;
            halved++;
            continue;
        }
        now = then;
        memcpy(t->shift, t->tried, (size_t)clusters * sizeof *t->shift);
        memcpy(t->sizes, t->trial, (size_t)clusters * sizeof *t->sizes);
        round++;
    }
    return now - before;
}

static double price(void *state)
{
    prices *t = state;
    const vem_i_em *em = t->em;
    const int32_t clusters = em->model->clusters;
    memset(t->shift, 0, (size_t)clusters * sizeof *t->shift);
    for (int32_t c = 0; c < clusters; c++)
        t->level[c] = fmax(log(clusters * em->model->weights[c]), -VEM_I_PRICE_SPAN);
    const int first = t->strength <= 0;
    if (first)
        t->strength = vem_i_penalty_strength(em, t->told);
    const double before = weigh(t, t->shift, t->sizes);
    /* F_0 of what is held, less the penalty. */
    double penalized = em->free_energy + before;
    for (int32_t c = 0; c < clusters; c++)
        penalized -= t->sizes[c] / em->view->total_mass * t->level[c];
    double gain = em->view->total_mass; /* there is more to come */
    if (!first &&
        penalized < t->penalized - vem_i_penalty_rounding(em) * fabs(penalized)) {
        go_back(t);
    } else {
        const double found = find_prices(t, before);
        t->penalized = penalized + found;
        gain *= found;
        if (!(found > 0)) /* it is not made, and items stay */
            memcpy(t->held, em->posterior.held, (size_t)em->view->n * sizeof *t->held);
        memcpy(t->before, t->level, (size_t)clusters * sizeof *t->before);
    }
    t->by = t->shift;
    return gain;
}

static void move_piece(void *arg, int64_t piece, int thread)
{
    (void)thread;
    prices *t = arg;
    const vem_i_em *em = t->em;
    const vem_i_posterior *p = &em->posterior;
    int64_t moved = 0;
    const int64_t own = vem_i_view_own(em->view), n = em->view->n,
                  end = n * (piece + 1) / VEM_I_PIECES;
    for (int64_t i = n * piece / VEM_I_PIECES; i < end; i++)
        if (p->held[i] >= 0 && goes(t, i, vem_i_value(em->view->kernels, p->gap, i))) {
            p->held[i] = p->next[i];
            p->next[i] = -1; /* what is behind it now is another */
            moved += i < own;
        }
    t->moved[piece] = moved;
}

static int64_t make(void *state)
{
    prices *t = state;
    vem_i_em *em = t->em;
    int64_t moved = 0;
    vem_i_parallel_light(em->run, VEM_I_PIECES, 4.0 * (double)em->view->n / VEM_I_PIECES,
                         move_piece, t);
    for (int piece = 0; piece < VEM_I_PIECES; piece++)
        moved += t->moved[piece];
    if (em->run->comm)
        em->run->comm->combine(em->run->comm, VEM_I_SUM_INT, &moved, 1);
    const double top = highest(t, t->shift);
    for (int32_t c = 0; c < em->model->clusters; c++)
        em->model->weights[c] = exp(t->level[c] + t->shift[c] - top);
    vem_i_normalize_weights(em->model);
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    vem_i_estep_moved(em->estep);
    memcpy(t->held, em->posterior.held, (size_t)em->view->n * sizeof *t->held);
    return moved;
}

/* Before an E-step the items hold what they held after the last round. */
static void record(vem_i_record *r, void *state)
{
    prices *t = state;
    const vem_i_em *em = t->em;
    const size_t n = (size_t)em->view->n;
    vem_i_record_reals(r, "strength", &t->strength, 1, 0, DBL_MAX);
    vem_i_record_reals(r, "price_step", &t->step, 1, 0, 1);
    vem_i_record_reals(r, "penalized", &t->penalized, 1, -DBL_MAX, DBL_MAX);
    vem_i_record_reals(r, "prices", t->before, (size_t)em->model->clusters, -DBL_MAX,
                       DBL_MAX);
    if (em->within)
        vem_i_record_row_indices(r, em->view, "held_before", t->held, 1, -1,
                                 em->model->clusters - 1);
    else if (r->reading && r->status == VEM_OK)
        memcpy(t->held, em->posterior.held, n * sizeof *t->held);
}

/* ---- memory ---- */

enum { ARRAYS = 10 };

static void list_arrays(prices *t, const vem_i_run *run, int64_t n, int32_t capacity,
                        vem_i_room *list)
{
    const size_t clusters = (size_t)capacity, value = sizeof(double);
    const vem_i_room arrays[ARRAYS] = {
        {&t->level, clusters, value, 0},
        {&t->shift, clusters, value, 0},
        {&t->tried, clusters, value, 0},
        {&t->sizes, clusters, value, 0},
        {&t->trial, clusters, value, 0},
        {&t->partial, VEM_I_PIECES, (clusters + 1) * value, 0},
        {&t->turn, run->comm ? clusters + 1 : 0, 2 * value, 0},
        {&t->told, VEM_I_PENALTY_TOLD, sizeof *t->told, 0},
        /* Both are in a state that is written before there were prices. */
        {&t->before, clusters, value, 1},
        {&t->held, (size_t)n, sizeof *t->held, 1},
    };
    memcpy(list, arrays, sizeof arrays);
}

static void release(void *state)
{
    prices *t = state;
    vem_i_room list[ARRAYS];
    list_arrays(t, t->em->run, 0, t->em->model->capacity, list);
    vem_i_free_rooms(list, ARRAYS);
    vem_i_free(t);
}

static vem_status create(void *subject, void **state)
{
    vem_i_em *em = subject;
    prices *t;
    vem_i_room list[ARRAYS];
    vem_status status = vem_i_take_structs(em->run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    *state = t;
    t->em = em;
    t->step = STEP;
    list_arrays(t, em->run, em->view->n, em->model->capacity, list);
    status = vem_i_take_rooms(em->run, list, ARRAYS);
    if (status == VEM_OK)
        status = vem_i_posterior_look_further(em->run, em->view, &em->posterior);
    return status;
}

const vem_i_move vem_i_move_price = {.name = VEM_I_MOVE_PRICE,
                                     .when = VEM_I_AFTER_E,
                                     .create = create,
                                     .free = release,
                                     .price = price,
                                     /* under prices that stay, sizes would drift */
                                     .ends_loop = 1,
                                     .make = make,
                                     .record = record};
