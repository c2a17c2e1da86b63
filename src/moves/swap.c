/* Swaps: a cluster that is hardly needed moves to where F gains most.
 *
 * Removing cluster c costs F what its items lose when they hold the best cluster they do
 * not hold yet instead (`next`, found by the E-step):
 *
 *     R_c = sum_i w_i [ log Z_i - log( Z_i (1 - q_ic) + p(next_i, x_i) ) ]
 *         = - sum_i w_i log( 1 - q_ic + exp(-gap_i) ),        Z_i = sum_{c in K_i} p(c, x_i)
 *
 * and for hard items simply sum w (v_next - v_c) / 2. Splitting c in two gains, where all
 * clusters share one shape, at least
 *
 *     G_c = 1/2  W_a W_b / (W_a + W_b) (mu_a - mu_b)' P (mu_a - mu_b),     P = 1 / shape,
 *
 * for two halves with masses W and means mu, found by a few power steps to the widest
 * direction and two steps of 2-means (less W log 2 under a free prior: the weight is
 * halved too; on a sphere G_c is of the directions of the halves: split.c). Halves of the other families take shapes and weights of their own, and G_c
 * is what F gains by that (shape.c). The smallest R are paired with the largest G as long as
 * G > R; the removed cluster becomes one half of the split one. Clusters that receive items
 * of a removed one are neither removed nor split in the same round: then every pair's gain
 * is a lower bound, and for hard items F cannot fall. Soft items overlap, so there the
 * result is measured, and taken back when F fell. With --balance all of it is in F less a penalty
 * (swap_even.c). */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "moves/swap_inside.h"

/* Swaps of one round: this share of the clusters at most. */
static const double MOST_SHARE = 0.3;
/* A gain must be greater than the cost by more than their rounding. */
static const double MARGIN = 1.001;

static int is_soft(const vem_i_em *em)
{
    return em->posterior.width > 1;
}

static int compare(const void *a, const void *b)
{
    const vem_i_ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

/* ---- what a removal costs ---- */

static double removal_term(const vem_i_em *em, int64_t item, int64_t entry)
{
    const vem_i_kernels *kernels = em->view->kernels;
    double w = vem_i_view_mass(em->view, item);
    double gap = vem_i_value(kernels, em->posterior.gap, item);
    if (!(w > 0))
        return 0;
    if (!em->posterior.q)
        return w * gap;
    /* 1 - q from the other q: near 1 the difference would be rounding. */
    int64_t width = em->posterior.width;
    double rest = 0;
    for (int64_t e = item * width; e < (item + 1) * width; e++)
        rest += e == entry ? 0 : vem_i_value(kernels, em->posterior.q, e) / w;
    return rest > 0 ? -w * log(rest + exp(-gap)) : w * gap;
}

static void add_costs(void *arg, int64_t from, int64_t to, double *cost)
{
    const struct vem_i_swaps *t = arg;
    const vem_i_posterior *p = &t->em->posterior;
    for (int64_t i = from; i < to; i++)
        for (int64_t e = i * p->width; e < (i + 1) * p->width; e++)
            if (p->held[e] >= 0)
                cost[p->held[e]] += removal_term(t->em, i, e);
}

static void add_pieces(struct vem_i_swaps *t)
{
    const vem_i_em *em = t->em;
    const int32_t clusters = em->model->clusters;
    vem_i_pieces_sum(&(vem_i_pieces){.run = em->run,
                                     .view = em->view,
                                     .count = VEM_I_PIECES,
                                     .values = clusters,
                                     .partial = t->partial,
                                     .turn = t->turn,
                                     .work = 8,
                                     .add = add_costs,
                                     .arg = t});
    for (int32_t c = 0; c < clusters; c++)
        t->removal[c].value = t->partial[c];
}

/* ---- what a split gains ---- */

double vem_i_swap_gain_alike(const struct vem_i_swaps *t, int32_t c, double gain,
                             const double mass[2])
{
    const vem_i_em *em = t->em;
    t->second[c] = mass[0] + mass[1] > 0 ? mass[1] / (mass[0] + mass[1]) : 0.5;
    if (gain > 0)
        gain *= 0.5 * em->scorer.family->stretch(&em->scorer, c, vem_i_swap_half(t, c, 0),
                                                 vem_i_swap_half(t, c, 1));
    return em->constraints.prior != VEM_PRIOR_FLAT ? gain - (mass[0] + mass[1]) * log(2)
                                                   : gain;
}

static double gain_alike(const struct vem_i_swaps *t, const vem_i_splittable *cluster,
                         int thread)
{
    const int32_t c = cluster->cluster;
    double gain = 0, mass[2] = {0};
    if (cluster->n > 1)
        gain = vem_i_split(t->splitter, cluster, thread, vem_i_swap_half(t, c, 0),
                           vem_i_swap_half(t, c, 1), mass);
    return vem_i_swap_gain_alike(t, c, gain, mass);
}

static void split_clusters(void *arg, int64_t task, int thread)
{
    struct vem_i_swaps *t = arg;
    int64_t end = (task + 1) * VEM_I_SWAP_TOGETHER;
    for (int64_t c = task * VEM_I_SWAP_TOGETHER; c < end && c < t->em->model->clusters;
         c++) {
        const vem_i_splittable cluster = vem_i_swap_cluster(t, (int32_t)c);
        const vem_model *halves;
        double gain = t->shaper ? vem_i_shape_halves(t->shaper, &cluster, thread, &halves)
                                : gain_alike(t, &cluster, thread);
        t->gain[c] = (vem_i_ranked){-gain, (int32_t)c};
    }
}

/* ---- pairs ---- */

/* Of a round that touched others already: can this one take over items? */
static int may_receive(const struct vem_i_swaps *t, int32_t to, int32_t split)
{
    return to >= 0 && to != split && t->tags[to] != VEM_I_DIVIDED &&
           t->tags[to] != VEM_I_GONE;
}

/* May the cluster go that is number r among the removals, given what this round touched already? */
static int may_go(struct vem_i_swaps *t, int32_t r, int32_t split)
{
    const vem_i_splittable cluster = vem_i_swap_cluster(t, t->removal[r].cluster);
    const unsigned char *set = t->apart ? vem_i_swap_apart_receivers(t, r) : NULL;
    for (int32_t bit = 0; set && bit <= t->em->model->clusters; bit++)
        if (set[bit / 8] >> bit % 8 & 1 && !may_receive(t, bit - 1, split))
            return 0;
    for (int64_t k = 0; !set && k < cluster.n; k++)
        if (!may_receive(t, vem_i_swap_receiver(&t->em->posterior, cluster.items[k]),
                         split))
            return 0;
    return 1;
}

static void protect_receivers(struct vem_i_swaps *t, int32_t r)
{
    const vem_i_splittable cluster = vem_i_swap_cluster(t, t->removal[r].cluster);
    const unsigned char *set = t->apart ? vem_i_swap_apart_receivers(t, r) : NULL;
    for (int32_t c = 0; set && c < t->em->model->clusters; c++)
        if (set[(c + 1) / 8] >> (c + 1) % 8 & 1)
            t->tags[c] = VEM_I_RECEIVES;
    for (int64_t k = 0; !set && k < cluster.n; k++)
        t->tags[vem_i_swap_receiver(&t->em->posterior, cluster.items[k])] =
            VEM_I_RECEIVES;
}

/* Returns what all pairs promise. */
static double pair_up(struct vem_i_swaps *t)
{
    int32_t clusters = t->em->model->clusters, r = 0;
    const int64_t most = (int64_t)ceil(MOST_SHARE * clusters);
    double promised = 0;
    t->swaps = 0;
    for (int32_t g = 0; g < clusters && t->swaps < most; g++) {
        int32_t split = t->gain[g].cluster;
        double gain = -t->gain[g].value;
        if (t->tags[split] != VEM_I_UNTOUCHED)
            continue;
        while (r < clusters && (t->tags[t->removal[r].cluster] != VEM_I_UNTOUCHED ||
                                t->removal[r].cluster == split || !may_go(t, r, split)))
            r++;
        if (r == clusters)
            break;
        int32_t gone = t->removal[r].cluster;
        const double cost = t->even ? vem_i_swap_cost(t, r) : t->removal[r].value;
        if (!(gain > MARGIN * cost)) {
            if (!t->even)
                break;
            r++; /* others may be cheaper than they seemed beside it */
            g--;
            continue;
        }
        t->tags[split] = VEM_I_DIVIDED;
        t->tags[gone] = VEM_I_GONE;
        t->partner[split] = gone;
        protect_receivers(t, r);
        if (t->even)
            vem_i_swap_receive(t, r);
        promised += gain - cost;
        t->swaps++;
        r++;
    }
    return promised;
}

/* ---- the round ---- */

static void rank_clusters(struct vem_i_swaps *t)
{
    vem_i_em *em = t->em;
    int32_t clusters = em->model->clusters;
    int64_t n = em->view->n;
    if (t->apart)
        vem_i_swap_apart_begin(t);
    add_pieces(t);
    for (int32_t c = 0; c < clusters; c++) {
        t->removal[c].cluster = c;
        t->tags[c] = VEM_I_UNTOUCHED;
        t->partner[c] = -1;
    }
    if (t->apart)
        vem_i_swap_apart_gains(t);
    else
        vem_i_parallel_light(em->run, vem_i_shards(clusters, VEM_I_SWAP_TOGETHER),
                             20.0 * VEM_I_SWAP_TOGETHER * (double)n / clusters *
                                 em->view->d,
                             split_clusters, t);
    if (t->even)
        vem_i_swap_penalize(t);
    qsort(t->removal, (size_t)clusters, sizeof *t->removal, compare);
    qsort(t->gain, (size_t)clusters, sizeof *t->gain, compare);
}

static double price(void *state)
{
    struct vem_i_swaps *t = state;
    vem_i_em *em = t->em;
    t->order = vem_i_estep_order(em->estep, &em->posterior);
    if (!t->order) {
        t->tour.n = em->view->n;
        vem_i_tour_sort(&t->tour, em->model->clusters, em->posterior.held,
                        em->posterior.width, t->identity);
        t->order = &t->tour;
    }
    if (t->even && vem_i_swap_has_fallen(t))
        return 0;
    rank_clusters(t);
    if (t->apart)
        vem_i_swap_apart_pairs(t);
    if (t->handed)
        vem_i_swap_handed_begin(t);
    return pair_up(t);
}

static void restore(const struct vem_i_swaps *t)
{
    vem_i_em *em = t->em;
    vem_i_undo_restore(&t->undo, em);
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
}

static int64_t make(void *state)
{
    struct vem_i_swaps *t = state;
    vem_i_em *em = t->em;
    if (is_soft(em) || t->even)
        vem_i_undo_save(&t->undo, em);
    vem_i_swap_make(t);
    if (t->even && vem_i_swap_falls(t)) {
        restore(t);
        return -1;
    }
    return t->swaps;
}

/* Items that hold several clusters overlap, so that a price is a guess. */
static int holds(void *state)
{
    const struct vem_i_swaps *t = state;
    return t->em->search->held <= 1 || vem_i_em_holds(t->em);
}

static void undo(void *state)
{
    const struct vem_i_swaps *t = state;
    restore(t);
    vem_i_em_again(t->em);
}

static void settle(void *state)
{
    const struct vem_i_swaps *t = state;
    const vem_i_em *em = t->em;
    for (int32_t c = 0; c < em->model->clusters; c++)
        if (t->tags[c] == VEM_I_DIVIDED)
            vem_i_estep_beside(em->estep, t->partner[c], c);
}

static void record(vem_i_record *r, void *state)
{
    struct vem_i_swaps *t = state;
    if (!t->even)
        return;
    vem_i_record_reals(r, "evenness", &t->strength, 1, 0, DBL_MAX);
    vem_i_record_reals(r, "penalized", &t->penalized, 1, -DBL_MAX, DBL_MAX);
}

/* ---- memory ---- */

enum { ARRAYS = 13 };

static void list_arrays(struct vem_i_swaps *t, const vem_i_run *run,
                        const vem_i_search_spec *search, vem_i_shape shape,
                        size_t element, vem_i_room *list)
{
    const size_t clusters = (size_t)shape.capacity, threads = (size_t)run->threads;
    const size_t even = t->even ? clusters : 0;
    const size_t alike = !vem_i_has_own_shapes(shape.family) ? clusters : 0,
                 halves = run->comm ? clusters : alike;
    const vem_i_room arrays[ARRAYS] = {
        {&t->identity, search->type->ordered ? 0 : clusters, sizeof *t->identity, 0},
        {&t->partial, VEM_I_PIECES, clusters * sizeof *t->partial, 0},
        {&t->turn, run->comm ? clusters : 0, 2 * sizeof *t->turn, 0},
        {&t->removal, clusters, sizeof *t->removal, 0},
        {&t->gain, clusters, sizeof *t->gain, 0},
        {&t->halves, halves, 2 * (size_t)shape.d * element, 0},
        {&t->second, alike, sizeof *t->second, 0},
        {&t->sizes, even, sizeof *t->sizes, 0},
        {&t->more, even, sizeof *t->more, 1},
        {&t->told, even ? VEM_I_PENALTY_TOLD : 0, sizeof *t->told, 0},
        {&t->tags, clusters, sizeof *t->tags, 0},
        {&t->partner, clusters, sizeof *t->partner, 0},
        {&t->costs, threads, 2 * VEM_I_BLOCK * element, 0},
    };
    memcpy(list, arrays, sizeof arrays);
}

static void release(void *state)
{
    struct vem_i_swaps *t = state;
    vem_i_room list[ARRAYS];
    list_arrays(t, t->em->run, t->em->search, vem_i_model_shape_with_room(t->em->model),
                0, list);
    vem_i_free_rooms(list, ARRAYS);
    vem_i_tour_free(&t->tour);
    vem_i_swap_apart_free(t);
    vem_i_swap_handed_free(t);
    vem_i_shaper_free(t->shaper);
    vem_i_splitter_free(t->splitter);
    vem_i_undo_free(&t->undo);
    vem_i_free(t);
}

static vem_status create(void *subject, void **state)
{
    vem_i_em *em = subject;
    vem_i_run *run = em->run;
    struct vem_i_swaps *t;
    vem_i_room list[ARRAYS];
    vem_status status = vem_i_take_structs(run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    *state = t;
    t->em = em;
    t->even = em->options->balance != VEM_BALANCE_NONE && !is_soft(em);
    list_arrays(t, run, em->search, vem_i_model_shape_with_room(em->model),
                em->view->kernels->element, list);
    status = vem_i_take_rooms(run, list, ARRAYS);
    if (status == VEM_OK)
        status = vem_i_splitter_new(run, em->view, &em->posterior, &t->splitter);
    if (status == VEM_OK)
        vem_i_splitter_on(t->splitter, em->constraints.sphere);
    if (status == VEM_OK)
        status = vem_i_posterior_look_further(run, em->view, &em->posterior);
    if (status == VEM_OK && vem_i_has_own_shapes(em->model->family))
        status = vem_i_shaper_new(em, t->splitter, &t->shaper);
    if (status == VEM_OK && !em->search->type->ordered)
        status = vem_i_tour_new(run, em->view->n, em->model->capacity, &t->tour);
    for (int32_t c = 0; status == VEM_OK && t->identity && c < em->model->capacity; c++)
        t->identity[c] = c;
    if (status == VEM_OK && (is_soft(em) || t->even))
        status = vem_i_undo_new(em, em->posterior.width, &t->undo);
    if (status == VEM_OK && run->comm)
        status = vem_i_swap_apart_new(t);
    if (status == VEM_OK && run->comm && t->even)
        status = vem_i_swap_handed_new(t);
    return status; /* what is there goes with the loop */
}

const vem_i_move vem_i_move_swap = {.name = VEM_I_MOVE_SWAP,
                                    .when = VEM_I_AFTER_E,
                                    .create = create,
                                    .free = release,
                                    .price = price,
                                    .make = make,
                                    .holds = holds,
                                    .undo = undo,
                                    .settle = settle,
                                    .record = record};
