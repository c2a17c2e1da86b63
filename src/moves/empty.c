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

static int64_t drop(vem_i_em *em, void *state)
{
    (void)state;
    vem_model *model = em->model;
    int32_t kept = 0, before = model->clusters;
    /* A number for each cluster, in the few steps that come to it; so is the heap below. */
    int32_t *map = vem_i_alloc((size_t)before, sizeof *map);
    if (!map)
        return -1; /* without memory for the move, it is not made */
    for (int32_t c = 0; c < before; c++) {
        map[c] = is_empty(em, c) ? -1 : kept;
        if (map[c] >= 0)
            vem_i_model_put(model, c, model, kept++);
    }
    if (kept == 0) { /* nothing has been put anywhere */
        vem_i_free(map);
        return -1; /* without rows that weigh anything there is nothing to go by */
    }
    model->clusters = kept;
    vem_i_normalize_weights(model);
    vem_i_estep_renumber(em->estep, &em->posterior, map, kept);
    vem_i_free(map);
    return before - kept;
}

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

/* The rows that were picked, as values of the view; without memory for them NULL. */
static char *rows_of(const vem_i_em *em, const pick *heap, int64_t count)
{
    const size_t row = (size_t)em->view->d * em->view->kernels->element;
    char *rows = vem_i_alloc((size_t)count, row);
    int64_t *numbers = vem_i_alloc((size_t)count, sizeof *numbers);
    if (rows && numbers) {
        for (int64_t k = 0; k < count; k++)
            numbers[k] = heap[k].item;
        vem_i_view_rows(em->run, em->view, numbers, count, rows);
    } else {
        vem_i_free(rows);
        rows = NULL;
    }
    vem_i_free(numbers);
    return rows;
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
    if (model->family->shared)
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

static int64_t reseed(vem_i_em *em, void *state)
{
    (void)state;
    if (em->reseeds++ >= RESEED_ROUNDS || led_nowhere(em))
        return -1;
    vem_model *model = em->model;
    int64_t empty = 0, used = 0;
    int32_t first = -1; /* of the clusters that are moved */
    for (int32_t c = 0; c < model->clusters; c++)
        empty += is_empty(em, c);
    pick *picks = vem_i_calloc((size_t)empty + 1, sizeof *picks);
    if (!picks || empty == model->clusters) {
        vem_i_free(picks); /* without memory for the move, it is not made */
        return -1;
    }
    offers own = {em, empty};
    if (em->run->comm)
        vem_i_comm_turn(em->run->comm, picks, ((size_t)empty + 1) * sizeof *picks,
                        offer_own, &own);
    else
        offer_own(&own, picks);
    const pick *heap = picks + 1;
    const int64_t size = picks->item;
    char *rows = NULL;
    if (em->run->comm && size > 0 && !(rows = rows_of(em, heap, size))) {
        vem_i_free(picks);
        return -1;
    }
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
        if (rows)
            vem_i_widen(em->view->kernels,
                        rows + (size_t)(at - heap) * (size_t)model->d *
                                   em->view->kernels->element,
                        model->d, mean);
        else
            vem_i_view_widen(em->view, at->item - em->view->first, mean);
        vem_i_begin_at_row(model->family, &em->constraints, model->d, mean);
        place(em, c, at);
    }
    if (em->constraints.prior != VEM_PRIOR_FLAT)
        vem_i_normalize_weights(model);
    vem_i_free(rows);
    vem_i_free(picks);
    return used;
}

/* Neither has a price nor an undo: F may fall, and they were asked for. */
const vem_i_move vem_i_move_drop = {.name = VEM_I_MOVE_DROP,
                                    .when = VEM_I_AFTER_M,
                                    .make = drop};
const vem_i_move vem_i_move_reseed = {.name = VEM_I_MOVE_RESEED,
                                      .when = VEM_I_AFTER_M,
                                      .make = reseed};
