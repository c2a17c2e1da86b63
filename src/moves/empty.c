/* Clusters that hold nothing: dropped, or moved to where the error is.
 *
 * drop     removes them; the weights of the others are scaled to sum to 1.
 * reseed   puts each on a row drawn with probability proportional to its mass times its
 *          squared distance from the mean it belongs to (without replacement, by exponential
 *          keys), with the shape the average cluster has. Under a flat prior this cannot lower F:
 *          nobody held the cluster, and nobody has to hold it now. Under a free prior it takes the
 *          weight of an average cluster from the others, and F may fall by that much; heavier
 *          clusters may then take the rows back in a step or two, and this again and again. So
 *          where it has led back to where it began, clusters stay empty. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/residence.h"
#include "base/rng.h"
#include "data/together.h"
#include "moves/moves.h"

static int is_empty(const vem_i_em *em, int32_t c)
{
    return *vem_i_stats_mass(&em->stats, c) <= 0;
}

/* ---- drop ---- */

typedef struct dropping {
    vem_i_em *em;
    int32_t *map; /* a number for each cluster */
} dropping;

static void free_dropping(void *state)
{
    dropping *t = state;
    vem_i_free(t->map);
    vem_i_free(t);
}

static vem_status create_dropping(void *subject, void **state)
{
    vem_i_em *em = subject;
    dropping *t;
    const vem_status status = vem_i_take_structs(em->run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    *state = t;
    t->em = em;
    return vem_i_take(em->run, &t->map, (size_t)em->model->capacity, sizeof *t->map);
}

static int64_t drop(void *state)
{
    const dropping *t = state;
    vem_i_em *em = t->em;
    int32_t *map = t->map;
    vem_model *model = em->model;
    int32_t kept = 0, before = model->clusters;
    for (int32_t c = 0; c < before; c++) {
        map[c] = is_empty(em, c) ? -1 : kept;
        if (map[c] >= 0)
            vem_i_model_put(model, c, model, kept++);
    }
    if (kept == 0) /* nothing has been put anywhere */
        return -1; /* without rows that weigh anything there is nothing to go by */
    model->clusters = kept;
    vem_i_normalize_weights(model);
    vem_i_estep_renumber(em->estep, &em->posterior, map, kept);
    return before - kept;
}

/* ---- reseed ---- */

/* Squared distance of an item from the mean of its most probable cluster, as it was in
 * the E-step: the scorer still holds that model. */
static double error_of(const vem_i_em *em, int64_t item)
{
    const vem_i_scorer *s = &em->scorer;
    int64_t c = em->posterior.held[item * em->posterior.width];
    double sum = 0;
    if (c < 0)
        return 0;
    if (vem_i_view_is_sparse(em->view)) { /* |x|^2 + |mean|^2 - 2 x mean */
        const vem_i_sparse *x = &em->view->sparse;
        sum = vem_i_value(s->kernels, s->norms, c);
        for (int64_t e = x->starts[item]; e < x->ends[item]; e++) {
            const double value = vem_i_sparse_value(x, e);
            sum += value * (value - 2 * vem_i_value(s->kernels, s->means,
                                                    c * s->ldc + x->columns[e]));
        }
        return sum;
    }
    for (int32_t j = 0; j < s->d; j++) {
        double e = vem_i_view_value(em->view, item, j) -
                   vem_i_value(s->kernels, s->means, c * s->ldc + j);
        sum += e * e;
    }
    return sum;
}

typedef struct pick {
    double key;
    int64_t item; /* its number in the whole */
    int64_t held; /* what it holds first */
} pick;

/* The `count` least keys, in a heap with the greatest on top. */
static void heap_offer(pick *heap, int64_t *size, int64_t count, pick offered)
{
    int64_t at;
    if (*size < count) {
        at = (*size)++;
        for (; at > 0 && heap[(at - 1) / 2].key < offered.key; at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
        heap[at] = offered;
        return;
    }
    if (!(offered.key < heap[0].key))
        return;
    for (at = 0;;) {
        int64_t child = 2 * at + 1;
        if (child + 1 < count && heap[child + 1].key > heap[child].key)
            child++;
        if (child >= count || heap[child].key <= offered.key)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = offered;
}

/* What is drawn, and the rows of that as values of the view where another process may have them. */
typedef struct drawn {
    vem_i_em *em;
    pick *picks;      /* their number (as an item), then a heap of them */
    int64_t *numbers; /* or NULL, as `rows` */
    char *rows;
} drawn;

static void free_drawn(void *state)
{
    drawn *t = state;
    vem_i_free(t->picks);
    vem_i_free(t->numbers);
    vem_i_free(t->rows);
    vem_i_free(t);
}

static vem_status create_drawn(void *subject, void **state)
{
    vem_i_em *em = subject;
    drawn *t;
    vem_status status = vem_i_take_structs(em->run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    *state = t;
    t->em = em;
    const size_t clusters = (size_t)em->model->capacity,
                 others = em->run->comm ? clusters : 0;
    const vem_i_room rooms[] = {
        {&t->picks, clusters + 1, sizeof *t->picks, 0},
        {&t->numbers, others, sizeof *t->numbers, 0},
        {&t->rows, others, (size_t)em->view->d * em->view->kernels->element, 0},
    };
    return vem_i_take_rooms(em->run, rooms, VEM_I_COUNT(rooms));
}

/* All items are offered one after the other, of several processes too: the heap goes from one to the
 * next. Its picks come after its size. */
typedef struct offers {
    const vem_i_em *em;
    int64_t count;
} offers;

static void offer_own(void *arg, void *state)
{
    const offers *t = arg;
    const vem_i_em *em = t->em;
    pick *size = state, *heap = size + 1;
    for (int64_t i = 0; i < vem_i_view_own(em->view); i++) {
        double chance = vem_i_view_mass(em->view, i) * error_of(em, i);
        vem_i_residence_check(em->run);
        if (!(chance > 0))
            continue;
        vem_i_rng rng = vem_i_rng_at(em->seed, VEM_RNG_EMPTY, (uint32_t)em->step,
                                     vem_i_view_key(em->view, i));
        heap_offer(heap, &size->item, t->count,
                   (pick){-log(vem_i_rng_open(&rng)) / chance, em->view->first + i,
                          em->posterior.held[i * em->posterior.width]});
    }
}

/* Row k of those that were picked. */
static void put_row(const vem_i_em *em, const drawn *t, int64_t k, double *mean)
{
    const vem_view *view = em->view;
    if (t->rows)
        vem_i_widen(view->kernels,
                    t->rows + (size_t)k * (size_t)view->d * view->kernels->element,
                    view->d, mean);
    else
        vem_i_view_widen(view, t->picks[1 + k].item - view->first, mean);
}

/* The cluster is told to whoever has the item, or what it held. */
static void place(vem_i_em *em, int32_t cluster, const pick *at)
{
    const int64_t item = at->item - em->view->first;
    if (item >= 0 && item < em->view->n)
        vem_i_estep_place(em->estep, &em->posterior, cluster, item);
    else if (!em->search->whole && at->held >= 0)
        vem_i_estep_beside(em->estep, cluster, (int32_t)at->held);
}

/* Cluster c, which has no mass, takes the shape that the others have on average, where it has
 * one for itself. */
static void average_shape(const vem_i_em *em, int32_t c)
{
    const vem_model *model = em->model;
    if (!vem_i_has_own_shapes(model->family))
        return;
    const int64_t size = vem_i_shape_values(model->family, model->d);
    double mass = 0, *shape = vem_i_cluster_shape(model, c);
    memset(shape, 0, (size_t)size * sizeof(double));
    for (int32_t other = 0; other < model->clusters; other++) {
        const double w = *vem_i_stats_mass(&em->stats, other);
        mass += w;
        for (int64_t k = 0; k < size; k++)
            shape[k] += w * vem_i_cluster_shape(model, other)[k];
    }
    for (int64_t k = 0; k < size; k++)
        shape[k] /= mass;
}

/* A cluster may be emptied again and again by a soft fit; after this many rounds it is
 * left alone, so that the fit can converge. */
enum { RESEED_ROUNDS = 50 };

/* Were clusters reseeded before where no more were empty and F was as high? */
static int led_nowhere(const vem_i_em *em)
{
    const vem_trace_step *now = vem_i_trace_last(&em->trace);
    const double threshold = vem_i_em_threshold(em, now->free_energy);
    for (const vem_trace_step *then = em->trace.steps; then < now; then++)
        if (then->moved > 0 && then->move == vem_i_move_names[VEM_I_MOVE_RESEED] &&
            then->empty <= now->empty &&
            now->free_energy - then->free_energy <= threshold)
            return 1;
    return 0;
}

static int64_t reseed(void *state)
{
    const drawn *t = state;
    vem_i_em *em = t->em;
    if (em->reseeds++ >= RESEED_ROUNDS || led_nowhere(em))
        return -1;
    vem_model *model = em->model;
    int64_t empty = 0, used = 0;
    int32_t first = -1; /* of the clusters that are moved */
    for (int32_t c = 0; c < model->clusters; c++)
        empty += is_empty(em, c);
    if (empty == model->clusters)
        return -1;
    const size_t bytes = ((size_t)empty + 1) * sizeof *t->picks;
    memset(t->picks, 0, bytes);
    offers own = {em, empty};
    if (em->run->comm)
        vem_i_comm_turn(em->run->comm, t->picks, bytes, offer_own, &own);
    else
        offer_own(&own, t->picks);
    const pick *heap = t->picks + 1;
    const int64_t size = t->picks->item;
    for (int64_t k = 0; t->rows && k < size; k++)
        t->numbers[k] = heap[k].item;
    if (t->rows && size > 0)
        vem_i_view_rows(em->run, em->view, t->numbers, size, t->rows);
    for (int32_t c = 0; c < model->clusters && used < size; c++) {
        if (!is_empty(em, c))
            continue;
        const pick *at = &heap[used++];
        if (first < 0) {
            first = c;
            average_shape(em, c);
            if (em->constraints.prior != VEM_PRIOR_FLAT)
                model->weights[c] =
                    1.0 / model->clusters; /* with less it would win no rows */
        }
        vem_i_model_put(model, first, model, c);
        double *mean = model->means + c * (int64_t)model->d;
        put_row(em, t, at - heap, mean);
        vem_i_begin_at_row(model->family, &em->constraints, model->d, mean);
        place(em, c, at);
    }
    if (em->constraints.prior != VEM_PRIOR_FLAT)
        vem_i_normalize_weights(model);
    return used;
}

/* Neither has a price nor an undo: F may fall, and they were asked for. */
const vem_i_move vem_i_move_drop = {.name = VEM_I_MOVE_DROP,
                                    .when = VEM_I_AFTER_M,
                                    .where_empty = 1,
                                    .create = create_dropping,
                                    .free = free_dropping,
                                    .make = drop};
const vem_i_move vem_i_move_reseed = {.name = VEM_I_MOVE_RESEED,
                                      .when = VEM_I_AFTER_M,
                                      .where_empty = 1,
                                      .create = create_drawn,
                                      .free = free_drawn,
                                      .make = reseed};
