/* Swaps: a cluster that is hardly needed moves to where F gains most.
 *
 * Removing cluster c costs F what its items lose when they hold the best cluster they do
 * not hold yet instead (`next`, found by the E-step):
 *
 *     R_c = sum_i w_i [ log Z_i - log( Z_i (1 - q_ic) + p(next_i, x_i) ) ]
 *         = - sum_i w_i log( 1 - q_ic + exp(-gap_i) ),        Z_i = sum_{c in K_i} p(c, x_i)
 *
 * and for hard items simply sum w (v_next - v_c) / 2. Splitting c in two gains at least
 *
 *     G_c = s_c / 2  W_a W_b / (W_a + W_b) |mu_a - mu_b|^2,      s_c = 1 / variance,
 *
 * for two halves with masses W and means mu, found by a few power steps to the widest
 * direction and two steps of 2-means (less W log 2 under a free prior: the weight is
 * halved too). The smallest R are paired with the largest G as long as G > R; the removed
 * cluster becomes one half of the split one. Clusters that receive items of a removed one
 * are neither removed nor split in the same round: then every pair's gain is a lower
 * bound, and for hard items F cannot fall. Soft items overlap, so there the result is
 * measured, and taken back when F fell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "moves/moves.h"
#include "moves/split.h"
#include "search/groups.h"

enum { PIECES = 16, CLUSTERS_PER_TASK = 16, FEWEST = 2 };
/* Swaps of one round: this share of the clusters at most. */
static const double MOST_SHARE = 0.3;
/* A gain must be greater than the cost by more than their rounding. */
static const double MARGIN = 1.001;

typedef struct ranked {
    double value;
    int32_t cluster;
} ranked;

enum { FREE = 0, SPLIT, REMOVED, RECEIVER };

struct vem_i_swaps {
    vem_i_em *em;
    vem_i_tour tour; /* own, where the search keeps none */
    int32_t *identity;
    vem_i_splitter *splitter;
    double *partial;        /* PIECES x C: cost of removal */
    ranked *removal, *gain; /* C */
    void *halves;           /* C x 2 x d of T: means of the two halves */
    unsigned char *tags;    /* C */
    int32_t *partner;       /* C: what is removed for a split cluster, -1: none */
    int32_t *held_before;   /* soft: n x width, to take a round back */
    double *means_before, *weights_before;
    /* The round at hand. */
    const vem_i_tour *order;
    const int32_t *rank;
};

static int is_soft(const vem_i_em *em)
{
    return em->posterior.q != NULL;
}

static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
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

static void cost_piece(void *arg, int64_t piece, int thread)
{
    (void)thread;
    struct vem_i_swaps *t = arg;
    const vem_i_posterior *p = &t->em->posterior;
    double *cost = t->partial + piece * t->em->model->clusters;
    memset(cost, 0, (size_t)t->em->model->clusters * sizeof *cost);
    for (int64_t i = p->n * piece / PIECES; i < p->n * (piece + 1) / PIECES; i++)
        for (int64_t e = i * p->width; e < (i + 1) * p->width; e++)
            if (p->held[e] >= 0)
                cost[p->held[e]] += removal_term(t->em, i, e);
}

/* ---- what a split gains ---- */

static vem_i_splittable cluster_of(const struct vem_i_swaps *t, int32_t c)
{
    const int64_t *start = t->order->starts + t->rank[c];
    return (vem_i_splittable){.items = t->order->items + start[0],
                              .n = start[1] - start[0],
                              .cluster = c};
}

static char *half_of(const struct vem_i_swaps *t, int32_t c, int which)
{
    size_t row = (size_t)t->em->view->d * t->em->view->kernels->element;
    return (char *)t->halves + (2 * (size_t)c + (size_t)which) * row;
}

static void split_clusters(void *arg, int64_t task, int thread)
{
    struct vem_i_swaps *t = arg;
    const vem_i_em *em = t->em;
    int64_t end = (task + 1) * CLUSTERS_PER_TASK;
    for (int64_t i = task * CLUSTERS_PER_TASK; i < end && i < em->model->clusters; i++) {
        int32_t c = (int32_t)i;
        vem_i_splittable cluster = cluster_of(t, c);
        double gain = 0, mass = 0;
        if (cluster.n >= FEWEST)
            gain = vem_i_split(t->splitter, &cluster, thread, half_of(t, c, 0),
                               half_of(t, c, 1), &mass);
        gain *= 0.5 * vem_i_value(em->scorer.kernels, em->scorer.scale, c);
        if (em->constraints.prior == VEM_PRIOR_FREE)
            gain -= mass * log(2);
        t->gain[c] = (ranked){-gain, c};
    }
}

/* ---- pairs ---- */

/* May cluster j go, given what this round touched already? Its items go to `next`. */
static int may_go(const struct vem_i_swaps *t, int32_t j, int32_t split)
{
    vem_i_splittable cluster = cluster_of(t, j);
    for (int64_t k = 0; k < cluster.n; k++) {
        int32_t next = t->em->posterior.next[cluster.items[k]];
        if (next < 0 || next == split || t->tags[next] == SPLIT ||
            t->tags[next] == REMOVED)
            return 0;
    }
    return 1;
}

static int64_t pair_up(struct vem_i_swaps *t, double *promised)
{
    int32_t clusters = t->em->model->clusters, r = 0;
    int64_t swaps = 0, most = (int64_t)ceil(MOST_SHARE * clusters);
    *promised = 0;
    for (int32_t g = 0; g < clusters && swaps < most; g++) {
        int32_t split = t->gain[g].cluster;
        double gain = -t->gain[g].value;
        if (t->tags[split] != FREE)
            continue;
        while (r < clusters && (t->tags[t->removal[r].cluster] != FREE ||
                                t->removal[r].cluster == split ||
                                !may_go(t, t->removal[r].cluster, split)))
            r++;
        if (r == clusters || !(gain > MARGIN * t->removal[r].value))
            break;
        int32_t gone = t->removal[r].cluster;
        vem_i_splittable cluster = cluster_of(t, gone);
        t->tags[split] = SPLIT;
        t->tags[gone] = REMOVED;
        t->partner[split] = gone;
        for (int64_t k = 0; k < cluster.n; k++)
            t->tags[t->em->posterior.next[cluster.items[k]]] = RECEIVER;
        *promised += gain - t->removal[r].value;
        swaps++;
        r++;
    }
    return swaps;
}

/* ---- the move itself ---- */

static void leave_removed(void *arg, int64_t piece, int thread)
{
    (void)thread;
    struct vem_i_swaps *t = arg;
    vem_i_posterior *p = &t->em->posterior;
    for (int64_t i = p->n * piece / PIECES; i < p->n * (piece + 1) / PIECES; i++) {
        int32_t *held = p->held + i * p->width;
        for (int32_t r = 0; r < p->width; r++)
            if (held[r] >= 0 && t->tags[held[r]] == REMOVED) {
                int32_t next = p->next[i];
                /* Behind the first held, soft items may know only what goes as well; the
                 * place stays empty, or the item might hold a cluster twice. */
                held[r] = next >= 0 && t->tags[next] == REMOVED ? -1 : next;
                p->next[i] = -1; /* it can stand in once */
            }
    }
}

/* Items nearer to the second half hold the new cluster, in place of the old one or of the
 * last they held. */
static void enter_halves(void *arg, int64_t task, int thread)
{
    struct vem_i_swaps *t = arg;
    vem_i_posterior *p = &t->em->posterior;
    int64_t end = (task + 1) * CLUSTERS_PER_TASK;
    for (int64_t i = task * CLUSTERS_PER_TASK; i < end && i < t->em->model->clusters;
         i++) {
        int32_t c = (int32_t)i;
        if (t->tags[c] != SPLIT)
            continue;
        vem_i_splittable cluster = cluster_of(t, c);
        for (int64_t k = 0; k < cluster.n; k += VEM_I_BLOCK) {
            unsigned char second[VEM_I_BLOCK];
            int32_t n =
                cluster.n - k < VEM_I_BLOCK ? (int32_t)(cluster.n - k) : VEM_I_BLOCK;
            vem_i_split_sides(t->splitter, cluster.items + k, n, half_of(t, c, 0),
                              half_of(t, c, 1), thread, second);
            for (int32_t q = 0; q < n; q++)
                if (second[q] || p->width > 1)
                    p->held[(int64_t)cluster.items[k + q] * p->width + p->width - 1] =
                        t->partner[c];
        }
    }
}

static void move_clusters(struct vem_i_swaps *t)
{
    vem_i_em *em = t->em;
    vem_model *model = em->model;
    vem_i_groups *groups = vem_i_estep_groups(em->estep);
    int64_t d = model->d;
    for (int32_t c = 0; c < model->clusters; c++) {
        if (t->tags[c] != SPLIT)
            continue;
        int32_t to[2] = {c, t->partner[c]};
        for (int h = 0; h < 2; h++)
            for (int64_t j = 0; j < d; j++)
                model->means[to[h] * d + j] =
                    vem_i_value(em->view->kernels, half_of(t, c, h), j);
        if (model->family == VEM_ISO)
            model->variances[to[1]] = model->variances[c];
        if (em->constraints.prior == VEM_PRIOR_FREE)
            model->weights[c] = model->weights[to[1]] = 0.5 * model->weights[c];
        vem_i_estep_beside(em->estep, to[1], c);
    }
    if (em->constraints.prior == VEM_PRIOR_FREE)
        vem_i_normalize_weights(model);
    if (groups)
        groups->ordered = 0; /* items moved too */
    vem_i_scorer_prepare(em->ctx, model, &em->scorer);
}

/* Soft: q of the new sets, and F. Returns 0 when F fell and all is as it was. */
static int measure_or_undo(struct vem_i_swaps *t)
{
    vem_i_em *em = t->em;
    vem_model *model = em->model;
    size_t means = (size_t)model->clusters * (size_t)model->d * sizeof(double);
    if (vem_i_em_again(em) >= em->free_energy)
        return 1;
    memcpy(model->means, t->means_before, means);
    memcpy(model->weights, t->weights_before, (size_t)model->clusters * sizeof(double));
    if (model->family == VEM_ISO)
        memcpy(model->variances, t->weights_before + model->clusters,
               (size_t)model->clusters * sizeof(double));
    memcpy(em->posterior.held, t->held_before,
           (size_t)(em->posterior.n * em->posterior.width) * sizeof(int32_t));
    vem_i_scorer_prepare(em->ctx, model, &em->scorer);
    vem_i_em_again(em);
    return 0;
}

static void remember(struct vem_i_swaps *t)
{
    vem_i_em *em = t->em;
    size_t clusters = (size_t)em->model->clusters;
    memcpy(t->means_before, em->model->means,
           clusters * (size_t)em->model->d * sizeof(double));
    memcpy(t->weights_before, em->model->weights, clusters * sizeof(double));
    if (em->model->family == VEM_ISO)
        memcpy(t->weights_before + clusters, em->model->variances,
               clusters * sizeof(double));
    memcpy(t->held_before, em->posterior.held,
           (size_t)(em->posterior.n * em->posterior.width) * sizeof(int32_t));
}

static void rank_clusters(struct vem_i_swaps *t)
{
    vem_i_em *em = t->em;
    int32_t clusters = em->model->clusters;
    int64_t n = em->view->n;
    vem_i_parallel_light(em->ctx, PIECES, 8.0 * (double)n / PIECES, cost_piece, t);
    for (int32_t c = 0; c < clusters; c++) {
        double cost = 0;
        for (int64_t piece = 0; piece < PIECES; piece++)
            cost += t->partial[piece * clusters + c];
        t->removal[c] = (ranked){cost, c};
        t->tags[c] = FREE;
        t->partner[c] = -1;
    }
    vem_i_parallel_light(em->ctx, vem_i_shards(clusters, CLUSTERS_PER_TASK),
                         20.0 * CLUSTERS_PER_TASK * (double)n / clusters * em->view->d,
                         split_clusters, t);
    qsort(t->removal, (size_t)clusters, sizeof *t->removal, compare);
    qsort(t->gain, (size_t)clusters, sizeof *t->gain, compare);
}

int64_t vem_i_swap_round(struct vem_i_swaps *t, double *promised)
{
    vem_i_em *em = t->em;
    vem_i_groups *groups = vem_i_estep_groups(em->estep);
    int32_t clusters = em->model->clusters;
    if (groups) {
        if (!groups->ordered)
            vem_i_groups_order(groups, em->posterior.held, em->posterior.width);
        t->order = &groups->tour;
        t->rank = groups->hierarchy.rank;
    } else {
        vem_i_tour_sort(&t->tour, clusters, em->posterior.held, em->posterior.width,
                        t->identity);
        t->order = &t->tour;
        t->rank = t->identity;
    }
    rank_clusters(t);
    int64_t swaps = pair_up(t, promised);
    if (swaps == 0)
        return 0;
    if (is_soft(em))
        remember(t);
    vem_i_parallel(em->ctx, PIECES, leave_removed, t);
    vem_i_parallel(em->ctx, vem_i_shards(clusters, CLUSTERS_PER_TASK), enter_halves, t);
    move_clusters(t);
    if (is_soft(em) && !measure_or_undo(t)) {
        *promised = 0;
        return 0;
    }
    return swaps;
}

void vem_i_swaps_free(struct vem_i_swaps *t)
{
    if (!t)
        return;
    vem_i_tour_free(&t->tour);
    vem_i_splitter_free(t->splitter);
    vem_i_free(t->identity);
    vem_i_free(t->partial);
    vem_i_free(t->removal);
    vem_i_free(t->gain);
    vem_i_free(t->halves);
    vem_i_free(t->tags);
    vem_i_free(t->partner);
    vem_i_free(t->held_before);
    vem_i_free(t->means_before);
    vem_i_free(t->weights_before);
    vem_i_free(t);
}

uint64_t vem_i_swaps_bytes(const vem_ctx *ctx, const vem_i_search *search, int64_t n,
                           int32_t clusters, int32_t d, size_t element)
{
    uint64_t count = (uint64_t)clusters, columns = (uint64_t)d;
    uint64_t bytes =
        count * (PIECES * 8 + 2 * sizeof(ranked) + 2 * columns * element + 9) +
        (uint64_t)n * (sizeof(int32_t) + element) +
        (uint64_t)ctx->threads * VEM_I_BLOCK * 4 * 8;
    if (search->kind != VEM_SEARCH_GROUPS)
        bytes += vem_i_tour_bytes(n, clusters);
    if (search->held > 1)
        bytes += (uint64_t)n * (uint64_t)search->held * sizeof(int32_t) +
                 count * (columns + 2) * sizeof(double);
    return bytes;
}

vem_status vem_i_swaps_new(vem_i_em *em, struct vem_i_swaps **swaps)
{
    vem_ctx *ctx = em->ctx;
    struct vem_i_swaps *t = vem_i_calloc(1, sizeof *t);
    if (!t)
        return vem_i_fail_memory(ctx, sizeof *t);
    size_t clusters = (size_t)em->model->clusters, d = (size_t)em->model->d;
    size_t element = em->view->kernels->element;
    t->em = em;
    vem_status status = vem_i_splitter_new(ctx, em->view, &em->posterior, &t->splitter);
    if (status == VEM_OK)
        status = vem_i_posterior_look_further(ctx, em->view, &em->posterior);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t->partial, PIECES, clusters * sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t->removal, clusters, sizeof(ranked));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t->gain, clusters, sizeof(ranked));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t->halves, clusters, 2 * d * element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t->tags, clusters, 1);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t->partner, clusters, sizeof(int32_t));
    if (status == VEM_OK && !vem_i_estep_groups(em->estep)) {
        status = vem_i_tour_new(ctx, em->view->n, em->model->clusters, &t->tour);
        if (status == VEM_OK)
            status = vem_i_take(ctx, &t->identity, clusters, sizeof(int32_t));
        for (size_t c = 0; status == VEM_OK && c < clusters; c++)
            t->identity[c] = (int32_t)c;
    }
    if (status == VEM_OK && is_soft(em)) {
        status = vem_i_take(ctx, &t->held_before, (size_t)em->view->n,
                            (size_t)em->posterior.width * sizeof(int32_t));
        if (status == VEM_OK)
            status = vem_i_take(ctx, &t->means_before, clusters, d * sizeof(double));
        if (status == VEM_OK)
            status = vem_i_take(ctx, &t->weights_before, clusters, 2 * sizeof(double));
    }
    if (status != VEM_OK) {
        vem_i_swaps_free(t);
        return status;
    }
    *swaps = t;
    return VEM_OK;
}
