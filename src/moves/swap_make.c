/* The move itself: the model, and who holds what.
 *
 * Items of a removed cluster hold `next` in its place. Items of a split cluster hold the better
 * of the two halves, by their costs under the new model; soft items hold both. */
#include "base/parallel.h"
#include "base/residence.h"
#include "moves/moves.h"
#include "moves/swap_inside.h"

static void leave_removed(void *arg, int64_t piece, int thread)
{
    (void)thread;
    struct vem_i_swaps *t = arg;
    vem_i_posterior *p = &t->em->posterior;
    for (int64_t i = p->n * piece / VEM_I_PIECES; i < p->n * (piece + 1) / VEM_I_PIECES;
         i++) {
        int32_t *held = p->held + i * p->width;
        for (int32_t r = 0; r < p->width; r++)
            if (held[r] >= 0 && t->tags[held[r]] == VEM_I_GONE) {
                int32_t next = p->next[i];
                /* Behind the first held, soft items may know only what goes as well; the
                 * place stays empty, or the item might hold a cluster twice. */
                held[r] = next >= 0 && t->tags[next] == VEM_I_GONE ? -1 : next;
                p->next[i] = -1; /* it can stand in once */
            }
    }
}

/* Items of a tour for which the second half is the better one hold the new cluster in place of the
 * old one; soft items hold it in any case, in place of the last they held. */
static void enter_halves_of(const struct vem_i_swaps *t, const vem_i_tour *tour,
                            int64_t task, int thread)
{
    const vem_i_scorer *s = &t->em->scorer;
    const vem_view *view = t->em->view;
    const vem_i_posterior *p = &t->em->posterior;
    int32_t index[2 * VEM_I_BLOCK];
    char *costs =
        (char *)t->costs + (size_t)thread * 2 * VEM_I_BLOCK * s->kernels->element;
    int64_t end = (task + 1) * VEM_I_SWAP_TOGETHER;
    for (int64_t c = task * VEM_I_SWAP_TOGETHER; c < end && c < t->em->model->clusters;
         c++) {
        if (t->tags[c] != VEM_I_DIVIDED)
            continue;
        const vem_i_splittable cluster = vem_i_swap_toured(tour, (int32_t)c);
        for (int32_t k = 0; k < 2 * VEM_I_BLOCK; k++)
            index[k] = k < VEM_I_BLOCK ? (int32_t)c : t->partner[c];
        for (int64_t k = 0; k < cluster.n; k += VEM_I_BLOCK) {
            int32_t n =
                cluster.n - k < VEM_I_BLOCK ? (int32_t)(cluster.n - k) : VEM_I_BLOCK;
            const vem_i_items items = vem_i_items_at(view, 0, cluster.items + k, n);
            s->family->score_pairs(s, &items, 2, index, costs, VEM_I_BLOCK);
            for (int32_t q = 0; q < n; q++)
                if (p->width > 1 || vem_i_value(s->kernels, costs, VEM_I_BLOCK + q) <
                                        vem_i_value(s->kernels, costs, q))
                    p->held[(int64_t)cluster.items[k + q] * p->width + p->width - 1] =
                        t->partner[c];
            vem_i_residence_check(t->em->run);
        }
    }
}

static void enter_halves(void *arg, int64_t task, int thread)
{
    const struct vem_i_swaps *t = arg;
    for (const vem_i_tour *tour = t->order; tour; tour = tour->halo)
        enter_halves_of(t, tour, task, thread);
}

/* Shapes are not kept while clusters are priced: those of the few that are split are found
 * once more. */
static void place_shaped(void *arg, int64_t c, int thread)
{
    struct vem_i_swaps *t = arg;
    if (t->tags[c] != VEM_I_DIVIDED)
        return;
    const vem_i_splittable cluster = vem_i_swap_cluster(t, (int32_t)c);
    const vem_model *halves;
    int32_t first = 0;
    if (t->apart) {
        halves = vem_i_swap_apart_halves(t);
        first = 2 * (int32_t)c;
    } else {
        vem_i_shape_halves(t->shaper, &cluster, thread, &halves);
    }
    vem_i_model_put(halves, first, t->em->model, (int32_t)c);
    vem_i_model_put(halves, first + 1, t->em->model, t->partner[c]);
}

static void place_alike(struct vem_i_swaps *t)
{
    vem_model *model = t->em->model;
    int64_t d = model->d;
    for (int32_t c = 0; c < model->clusters; c++) {
        if (t->tags[c] != VEM_I_DIVIDED)
            continue;
        int32_t to[2] = {c, t->partner[c]};
        for (int h = 0; h < 2; h++)
            vem_i_widen(t->em->view->kernels, vem_i_swap_half(t, c, h), d,
                        model->means + to[h] * d);
        if (t->em->constraints.prior != VEM_PRIOR_FLAT)
            model->weights[c] = model->weights[to[1]] = 0.5 * model->weights[c];
    }
}

void vem_i_swap_make(struct vem_i_swaps *t)
{
    vem_i_em *em = t->em;
    int32_t clusters = em->model->clusters;
    if (t->shaper)
        vem_i_parallel(em->run, clusters, place_shaped, t);
    else
        place_alike(t);
    if (em->constraints.prior != VEM_PRIOR_FLAT)
        vem_i_normalize_weights(em->model);
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    vem_i_parallel(em->run, VEM_I_PIECES, leave_removed, t);
    vem_i_parallel(em->run, vem_i_shards(clusters, VEM_I_SWAP_TOGETHER), enter_halves, t);
}
