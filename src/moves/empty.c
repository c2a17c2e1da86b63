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
#include "moves/moves.h"

static int is_empty(const vem_i_em *em, int32_t c)
{
    return *vem_i_stats_mass(&em->stats, c) <= 0;
}

/* Of a shape that a cluster has for itself. */
static int64_t own_values(const vem_model *model)
{
    return model->family->shared ? 0 : vem_i_shape_values(model->family, model->d);
}

void vem_i_normalize_weights(vem_model *model)
{
    double sum = 0;
    for (int32_t c = 0; c < model->clusters; c++)
        sum += model->weights[c];
    for (int32_t c = 0; c < model->clusters; c++)
        model->weights[c] /= sum;
}

static int64_t drop(vem_i_em *em, int64_t step, const char **name)
{
    (void)step;
    vem_model *model = em->model;
    int32_t kept = 0, before = model->clusters;
    int32_t *map = vem_i_alloc((size_t)before, sizeof *map);
    if (!map)
        return 0; /* without memory for the move, it is not made */
    for (int32_t c = 0; c < before; c++) {
        map[c] = is_empty(em, c) ? -1 : kept;
        if (map[c] >= 0)
            vem_i_model_put(model, c, model, kept++);
    }
    model->clusters = kept;
    vem_i_normalize_weights(model);
    vem_i_estep_renumber(em->estep, &em->posterior, map, kept);
    vem_i_free(map);
    *name = "drop";
    return before - kept;
}

/* Squared distance of an item from the mean of its most probable cluster, as it was in
 * the E-step: the scorer still holds that model. */
static double error_of(const vem_i_em *em, int64_t item)
{
    const vem_i_scorer *s = &em->scorer;
    const void *row = vem_i_view_row(em->view, item);
    int64_t c = em->posterior.held[item * em->posterior.width];
    double sum = 0;
    if (c < 0)
        return 0;
    for (int64_t j = 0; j < s->d; j++) {
        double e = vem_i_value(s->kernels, row, j) -
                   vem_i_value(s->kernels, s->means, c * s->ldc + j);
        sum += e * e;
    }
    return sum;
}

typedef struct pick {
    double key;
    int64_t item;
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

static void average_shape(const vem_i_em *em, double *shape)
{
    const vem_model *model = em->model;
    int64_t size = own_values(model);
    double mass = 0;
    memset(shape, 0, (size_t)size * sizeof(double));
    for (int32_t c = 0; c < model->clusters; c++) {
        double w = *vem_i_stats_mass(&em->stats, c);
        mass += w;
        for (int64_t k = 0; k < size; k++)
            shape[k] += w * model->variances[c * size + k];
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
        if (then->moved > 0 && strcmp(then->move, "reseed") == 0 &&
            then->empty <= now->empty &&
            now->free_energy - then->free_energy <= threshold)
            return 1;
    return 0;
}

static int64_t reseed(vem_i_em *em, int64_t step, const char **name)
{
    if (em->moves++ >= RESEED_ROUNDS || led_nowhere(em))
        return 0;
    vem_model *model = em->model;
    int64_t empty = 0, size = 0, used = 0, shape = own_values(model);
    for (int32_t c = 0; c < model->clusters; c++)
        empty += is_empty(em, c);
    pick *heap = vem_i_alloc((size_t)empty, sizeof *heap);
    double *average = vem_i_alloc((size_t)shape, sizeof *average);
    if (!heap || !average || empty == model->clusters) {
        vem_i_free(heap); /* without memory for the move, it is not made */
        vem_i_free(average);
        return 0;
    }
    for (int64_t i = 0; i < em->view->n; i++) {
        double chance = vem_i_view_mass(em->view, i) * error_of(em, i);
        vem_i_residence_check(em->ctx);
        if (!(chance > 0))
            continue;
        vem_i_rng rng = vem_i_rng_at((uint64_t)em->options->seed, VEM_RNG_EMPTY,
                                     (uint32_t)step, (uint64_t)i);
        heap_offer(heap, &size, empty, (pick){-log(vem_i_rng_open(&rng)) / chance, i});
    }
    average_shape(em, average);
    for (int32_t c = 0; c < model->clusters && used < size; c++) {
        if (!is_empty(em, c))
            continue;
        int64_t item = heap[used++].item;
        const void *row = vem_i_view_row(em->view, item);
        vem_i_estep_place(em->estep, &em->posterior, c, item);
        for (int64_t j = 0; j < model->d; j++)
            model->means[c * (int64_t)model->d + j] =
                vem_i_value(em->view->kernels, row, j);
        memcpy(model->variances + c * shape, average, (size_t)shape * sizeof(double));
        if (em->constraints.prior == VEM_PRIOR_FREE)
            model->weights[c] =
                1.0 / model->clusters; /* with less it would win no rows */
    }
    if (em->constraints.prior == VEM_PRIOR_FREE)
        vem_i_normalize_weights(model);
    vem_i_free(heap);
    vem_i_free(average);
    *name = "reseed";
    return used;
}

vem_i_policy vem_i_empty_policy(vem_empty_policy policy)
{
    switch (policy) {
    case VEM_EMPTY_KEEP: return NULL;
    case VEM_EMPTY_DROP: return drop;
    case VEM_EMPTY_RESEED: return reseed;
    }
    return NULL;
}
