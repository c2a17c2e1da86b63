/* Swaps where clusters are to be even (--balance). What is to rise is
 *
 *     P = F - t / C sum_c f(x_c),          x_c = C n_c / W,  f(x) = x log x - x        (penalty.c)
 *
 * so a split of c in a and b gains  t W / C ( f(x_c) - f(x_a) - f(x_b) )  beside what it gains in F, and a removal
 * costs, beside what F loses, as its items go to `next`,
 *
 *     t W / C ( sum_r [ f(x_r + what r receives) - f(x_r) ]  -  f(x_c) ).
 *
 * Removals are ranked by the tangents of that, t sum_i w_i ( log x_next - log x_c + 1 ). f is convex: clusters that
 * receive from several cost more than the sum. So the cost of each is worked out when its turn comes, beside those that
 * are chosen by then. Items choose the nearer half once more, by which F rises and sizes change: P of the
 * outcome is measured, from the costs of what is held, and the round is taken back where it is less than before.
 *
 * t is known from the first round on and stays. Between two rounds the M-step raises P, as sizes stay; E-steps
 * raise F, and may lower P: then there are no more rounds. So P, measured by rounds, never falls. F falls by a round
 * where evenness is worth that. */
#include <math.h>
#include <string.h>

#include "comm/comm.h"
#include "moves/swap_inside.h"

static void add_masses(void *arg, int64_t from, int64_t to, double *sizes)
{
    const struct vem_i_swaps *t = arg;
    const vem_i_posterior *p = &t->em->posterior;
    for (int64_t i = from; i < to; i++)
        if (p->held[i] >= 0)
            sizes[p->held[i]] += vem_i_view_mass(t->em->view, i);
}

static void add_sizes(struct vem_i_swaps *t)
{
    const int32_t clusters = t->em->model->clusters;
    memset(t->sizes, 0, (size_t)clusters * sizeof *t->sizes);
    vem_i_items_sum(t->em->run, t->em->view, t->sizes, clusters, add_masses, t);
}

/* P of what is held, in which F is that. */
static double penalized(struct vem_i_swaps *t, double free_energy)
{
    add_sizes(t);
    return free_energy - t->strength * vem_i_penalty_of(t->em, t->sizes);
}

int vem_i_swap_has_fallen(struct vem_i_swaps *t)
{
    const int first = t->strength <= 0;
    if (first)
        t->strength = vem_i_penalty_strength(t->em, t->told);
    const double now = penalized(t, t->em->free_energy), last = t->penalized;
    t->penalized = now;
    return !first && now < last - vem_i_penalty_rounding(t->em) * fabs(now);
}

/* Tangents: the slopes are in front of what is added to. */
static void add_rises(void *arg, int64_t from, int64_t to, double *rise)
{
    const struct vem_i_swaps *t = arg;
    const vem_i_posterior *p = &t->em->posterior;
    const double *slope = t->partial;
    for (int64_t i = from; i < to; i++)
        if (p->held[i] >= 0 && p->next[i] >= 0)
            rise[p->held[i]] += vem_i_view_mass(t->em->view, i) *
                                (slope[p->next[i]] - slope[p->held[i]] + t->strength);
}

void vem_i_swap_penalize(struct vem_i_swaps *t)
{
    const vem_i_em *em = t->em;
    const int32_t clusters = em->model->clusters;
    const double mean = em->view->total_mass / clusters;
    double *slope = t->partial,
           *rise = slope + clusters; /* removals have been added up */
    for (int32_t c = 0; c < clusters; c++) {
        const double x = t->sizes[c] / mean, b = (t->shaper ? 0.5 : t->second[c]) * x;
        slope[c] = t->strength * vem_i_penalty_slope(x);
        rise[c] = 0;
        if (t->gain[c].value < 0) /* there are two halves */
            t->gain[c].value -=
                t->strength * mean *
                (vem_i_penalty(x) - vem_i_penalty(b) - vem_i_penalty(x - b));
    }
    vem_i_items_sum(em->run, em->view, rise, clusters, add_rises, t);
    for (int32_t c = 0; c < clusters; c++)
        t->removal[c].value += fmax(rise[c], 0);
}

static double worth(const struct vem_i_swaps *t, double mass)
{
    const double mean = t->em->view->total_mass / t->em->model->clusters;
    return t->strength * mean * vem_i_penalty(mass / mean);
}

/* What it costs that `to` receives so much. */
static double rise_of(const struct vem_i_swaps *t, int64_t to, double mass)
{
    return worth(t, t->sizes[to] + mass) - worth(t, t->sizes[to]);
}

double vem_i_swap_cost(struct vem_i_swaps *t, int32_t rank)
{
    const vem_i_em *em = t->em;
    const vem_i_ranked removal = t->removal[rank];
    const int32_t c = removal.cluster;
    const vem_i_splittable cluster = vem_i_swap_cluster(t, c);
    const double *rise = t->partial + em->model->clusters;
    double cost = removal.value - fmax(rise[c], 0) - worth(t, t->sizes[c]);
    if (t->handed) {
        int64_t count;
        const vem_i_handed *list = vem_i_swap_handed(t, rank, &count);
        for (int64_t k = 0; k < count; k++)
            cost += rise_of(t, list[k].to, list[k].mass);
        return cost;
    }
    for (int64_t k = 0; k < cluster.n; k++)
        t->more[em->posterior.next[cluster.items[k]]] +=
            vem_i_view_mass(em->view, cluster.items[k]);
    for (int64_t k = 0; k < cluster.n; k++) { /* each receiver once */
        const int32_t to = em->posterior.next[cluster.items[k]];
        cost += rise_of(t, to, t->more[to]);
        t->more[to] = 0;
    }
    return cost;
}

/* Its items, as processes share them. */
typedef struct goes {
    struct vem_i_swaps *swaps;
    vem_i_splittable items;
} goes;

static void receive_items(void *arg, void *state)
{
    const goes *g = arg;
    const vem_i_em *em = g->swaps->em;
    double *sizes = state;
    for (int64_t k = 0; k < g->items.n; k++)
        sizes[em->posterior.next[g->items.items[k]]] +=
            vem_i_view_mass(em->view, g->items.items[k]);
}

void vem_i_swap_receive(struct vem_i_swaps *t, int32_t rank)
{
    const vem_i_em *em = t->em;
    const int32_t gone = t->removal[rank].cluster;
    goes g = {t, t->handed ? vem_i_swap_apart_own(t, gone) : vem_i_swap_cluster(t, gone)};
    if (t->handed && em->view->mass) { /* item by item, as sums of masses are rounded */
        vem_i_comm_turn(em->run->comm, t->sizes,
                        (size_t)em->model->clusters * sizeof *t->sizes, receive_items,
                        &g);
    } else if (t->handed) {
        int64_t count;
        const vem_i_handed *list = vem_i_swap_handed(t, rank, &count);
        for (int64_t k = 0; k < count; k++)
            t->sizes[list[k].to] += list[k].mass;
    } else {
        receive_items(&g, t->sizes);
    }
    t->sizes[gone] = 0;
}

int vem_i_swap_falls(struct vem_i_swaps *t)
{
    const double before = t->penalized;
    t->penalized = penalized(t, vem_i_em_again(t->em));
    if (t->penalized >= before)
        return 0;
    t->penalized = before;
    return 1;
}
