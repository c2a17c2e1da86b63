/* Candidates for one cluster more: partial EM (Verbeek, Nunnink and Vlassis 2006, (17)-(21);
 * on points: Verbeek, Vlassis and Krose 2003).
 *
 * A mixture p of k clusters stays as it is, and a cluster phi is added with the weight a:
 *
 *     (1 - a) p(x) + a phi(x).
 *
 * P_s are the items whose most probable cluster is s. Two random items of P_s, and each item of
 * P_s goes to the one that is nearer in the metric of s: two halves, the mean and shape of each is
 * a candidate, with a = pi_s / 2. Items outside P_s do not see phi (r = 0), which makes a step cost
 * as much as P_s is large, and all clusters together as much as one pass over the items:
 *
 *     b_i = log a + log phi(x_i)         o_i = log(1 - a) + log p(x_i)
 *     r_i = exp b_i / (exp b_i + exp o_i)                                                 (18)
 *     bound = sum_{P_s} w_i log(exp b_i + exp o_i) + sum_{others} w_i [log(1-a) + log p(x_i)]
 *     a = sum_{P_s} w_i r_i / W ,  mean and shape of phi: the M-step's for weights w r    (19)-(21)
 *
 * log p(x_i) is what the last E-step said, for items with a spread F_i / w_i, so that the bound is
 * a lower bound of F of the new mixture in any case. It never falls from step to step, and F of the
 * new mixture after an E-step is no less. Here it is told as what it exceeds F by,
 *
 *     gain = sum_{P_s} w_i [log(exp b_i + exp o_i) - log p(x_i)] + (W - W_s) log(1 - a).
 *
 * Where items hold one cluster each, the larger of b and o takes the place of their sum. Under a
 * flat prior a is 1 / (k + 1).
 *
 * Where clusters share a shape there is little to gain as long as it stays, and much when all of
 * them become smaller together: there the two halves, after some steps of 2-means in its metric,
 * take the place of s, and candidates are ranked by what the squared error falls by,
 *
 *     gain = 1/2 W_a W_b / (W_a + W_b) (mu_a - mu_b)' P (mu_a - mu_b) ,      P = 1 / shape.
 *
 * Of a large P_s a sample is looked at, one item from each of equal stretches of the list, which
 * stands for its stretch: the gain is then an estimate, and F decides (insert.c). */
#include "moves/candidate.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/residence.h"
#include "base/rng.h"
#include "model/evidence.h"
#include "model/spread.h"
#include "moves/halves.h"

enum {
    SAMPLE = 2048,        /* items of a cluster that are looked at, */
    SAMPLE_DIRECTION = 32 /* or so many for each direction of a shape */
};
/* The old mixture keeps some weight. */
static const double MOST_WEIGHT = 0.999;

/* Scratch of one thread. */
typedef struct bench {
    vem_i_halves two;
    void *panels;     /* VEM_I_BLOCK x d of T */
    void *costs;      /* 2 x VEM_I_BLOCK of T: of the pair */
    void *weights_of; /* VEM_I_BLOCK of T: of the items for one of them */
    uint32_t *items;  /* the sample, */
    double *weights;  /* and what it stands for */
} bench;

struct vem_i_candidates {
    vem_i_em *em;
    vem_i_run alone;  /* what a task calls runs on its own thread */
    double *log_sums; /* n: of the last E-step, where nobody else keeps them; or NULL */
    int64_t sample;
    double fewest;
    int hard;
    int spread; /* items stand for as many points as they weigh */
    int threads;
    bench *benches;
};

/* ---- one pass over the items ---- */

/* Weights w r of items first .. first+n-1 for candidate h, and what they gain where that is asked
 * for: a logarithm for each item costs as much as all the rest in few columns. */
static double weigh(const vem_i_candidates *t, bench *b, const vem_i_share *share,
                    int64_t first, int32_t n, int h, int measure, double *items)
{
    static const double CERTAIN = 40; /* 1 + exp(-40) is 1 */
    const vem_i_kernels *kernels = t->em->view->kernels;
    const double base = 0.5 * (t->em->scorer.base - b->two.scorer.base);
    const double kept = log1p(-b->two.model->weights[h]);
    double gain = 0;
    for (int32_t k = 0; k < n; k++) {
        const double w = share->weights[first + k];
        const double p = t->em->posterior.log_sums[share->items[first + k]] - base;
        /* b - o */
        const double more =
            -0.5 * vem_i_value(kernels, b->costs, h * VEM_I_BLOCK + k) - p - kept;
        double r = more > 0;
        if (!t->hard && fabs(more) < CERTAIN)
            r = 1 / (1 + exp(-more));
        vem_i_store(kernels, b->weights_of, k, w * r);
        if (!(w > 0))
            continue;
        *items += t->spread ? w * r : r;
        if (measure)
            gain += w * (kept + (t->hard || fabs(more) >= CERTAIN ? fmax(more, 0)
                                 : more > 0 ? more + log1p(exp(-more))
                                            : log1p(exp(more))));
    }
    return gain;
}

/* Each item to the nearer of the pair; the weights of one of them. */
static void divide(const vem_i_candidates *t, bench *b, const vem_i_share *share,
                   int64_t first, int32_t n, int h, double *items)
{
    const vem_i_kernels *kernels = t->em->view->kernels;
    for (int32_t k = 0; k < n; k++) {
        const double w = share->weights[first + k];
        const int second = vem_i_value(kernels, b->costs, VEM_I_BLOCK + k) <
                           vem_i_value(kernels, b->costs, k);
        vem_i_store(kernels, b->weights_of, k, second == h ? w : 0);
        *items += second == h && w > 0 ? t->spread ? w : 1 : 0;
    }
}

/* The items meet the pair as it is: its statistics, items of each, and gains but for the outside;
 * gain NULL: each item goes to one of them. */
static void meet(const vem_i_candidates *t, bench *b, const vem_i_share *share,
                 int measure, double *gain, double items[2])
{
    const vem_view *view = t->em->view;
    const vem_i_family *family = t->em->scorer.family;
    vem_i_stats_clear(&b->two.stats);
    for (int h = 0; h < 2; h++) {
        items[h] = 0;
        if (gain)
            gain[h] = 0;
    }
    for (int64_t i = 0; i < share->n; i += VEM_I_BLOCK) {
        const int32_t n =
            share->n - i < VEM_I_BLOCK ? (int32_t)(share->n - i) : VEM_I_BLOCK;
        vem_i_items packed = vem_i_items_at(view, 0, share->items + i, n);
        vem_i_items_pack(view, NULL, b->panels, NULL, &packed);
        vem_i_residence_check(t->em->run);
        family->score_tile(&b->two.scorer, &packed, 0, 2, b->costs, VEM_I_BLOCK);
        for (int32_t h = 0; h < 2; h++) {
            if (gain)
                gain[h] += weigh(t, b, share, i, n, h, measure, &items[h]);
            else
                divide(t, b, share, i, n, h, &items[h]);
            family->collect_tile(&b->two.scorer, &packed, b->weights_of, h, 0,
                                 &b->two.stats);
        }
    }
}

/* ---- from pass to pass ---- */

static double weight_of(const vem_i_candidates *t, double mass)
{
    const vem_i_em *em = t->em;
    if (em->constraints.prior == VEM_PRIOR_FLAT)
        return 1.0 / (em->model->clusters + 1);
    return fmin(mass / em->view->total_mass, MOST_WEIGHT);
}

/* (19)-(21). */
static void follow(vem_i_candidates *t, bench *b)
{
    const vem_i_em *em = t->em;
    const vem_i_constraints constraints = {.prior = VEM_PRIOR_FREE,
                                           .floor = em->constraints.floor,
                                           .units = em->constraints.units,
                                           .total_mass = em->view->total_mass,
                                           .relax = 1};
    if (!vem_i_has_own_shapes(em->model->family))
        for (int32_t h = 0; h < 2; h++)
            vem_i_move_mean(&b->two.scorer, &b->two.stats, h, &constraints,
                            b->two.model->means + (int64_t)h * em->model->d);
    else
        vem_i_maximize(&t->alone, &b->two.scorer, &b->two.stats, &constraints,
                       b->two.model);
    for (int32_t h = 0; h < 2; h++)
        b->two.model->weights[h] = weight_of(t, *vem_i_stats_mass(&b->two.stats, h));
}

static void step(vem_i_candidates *t, bench *b, const vem_i_share *share, int measure,
                 double gain[2], double items[2])
{
    const double outside = t->em->view->total_mass - share->mass;
    vem_i_scorer_prepare(&t->alone, b->two.model, &b->two.scorer);
    meet(t, b, share, measure, gain, items);
    for (int h = 0; h < 2; h++)
        gain[h] += fmax(outside, 0) * log1p(-b->two.model->weights[h]);
    follow(t, b);
}

/* ---- where to begin ---- */

/* All items of the cluster, or some of them. */
static vem_i_share share_of(const vem_i_candidates *t, bench *b,
                            const vem_i_splittable *cluster)
{
    const int64_t n = cluster->n < t->sample ? cluster->n : t->sample;
    vem_i_share share = {b->items, b->weights, n, 0, cluster->cluster};
    vem_i_rng rng = vem_i_rng_at(t->em->seed, VEM_RNG_INSERT, (uint32_t)t->em->step,
                                 (uint64_t)cluster->cluster);
    for (int64_t k = 0; k < n; k++) {
        const int64_t begin = k * cluster->n / n, end = (k + 1) * cluster->n / n;
        const int64_t at =
            begin + (n < cluster->n
                         ? (int64_t)vem_i_rng_below(&rng, (uint64_t)(end - begin))
                         : 0);
        b->items[k] = cluster->items[at];
        b->weights[k] = vem_i_view_mass(t->em->view, b->items[k]) * (double)(end - begin);
        share.mass += b->weights[k];
    }
    return share;
}

/* Two items, and the halves that are nearer to each. 0: there are no two. */
static int begin(vem_i_candidates *t, bench *b, const vem_i_share *share, int64_t pair,
                 double items[2])
{
    const vem_i_em *em = t->em;
    const int32_t s = share->cluster;
    vem_i_rng rng = vem_i_rng_at(em->seed, VEM_RNG_INSERT, (uint32_t)em->step,
                                 (uint64_t)(pair + 1) << 32 | (uint64_t)s);
    int32_t drawn[2];
    if (share->n < 2)
        return 0;
    vem_i_rng_distinct(&rng, (int32_t)share->n, -1, 2, drawn);
    if (!vem_i_has_own_shapes(em->model->family))
        memcpy(b->two.model->variances, em->model->variances,
               vem_model_variance_count(em->model) * sizeof(double));
    for (int32_t h = 0; h < 2; h++) {
        vem_i_model_put(em->model, s, b->two.model, h);
        vem_i_view_widen(em->view, share->items[drawn[h]],
                         b->two.model->means + h * (int64_t)em->view->d);
    }
    vem_i_scorer_prepare(&t->alone, b->two.model, &b->two.scorer);
    meet(t, b, share, 0, NULL, items);
    follow(t, b);
    for (int h = 0; h < 2; h++)
        b->two.model->weights[h] =
            weight_of(t, 0.5 * em->model->weights[s] * em->view->total_mass);
    return 1;
}

/* The halves in the place of the cluster. */
static double divide_alike(vem_i_candidates *t, bench *b, const vem_i_share *share,
                           double items[2], int steps)
{
    const vem_i_em *em = t->em;
    const int64_t d = em->view->d;
    double mass[2], square = 0;
    for (int k = 0; k < steps; k++) {
        vem_i_scorer_prepare(&t->alone, b->two.model, &b->two.scorer);
        meet(t, b, share, 0, NULL, items);
        follow(t, b);
        b->two.model->weights[0] = b->two.model->weights[1] =
            em->model->weights[share->cluster];
    }
    vem_i_scorer_prepare(&t->alone, b->two.model, &b->two.scorer);
    for (int32_t h = 0; h < 2; h++) {
        mass[h] = *vem_i_stats_mass(&b->two.stats, h);
        b->two.model->weights[h] *= mass[h] / share->mass;
    }
    for (int64_t j = 0; j < d; j++) {
        const double e = b->two.model->means[j] - b->two.model->means[d + j];
        square += e * e;
    }
    if (items[0] < t->fewest || items[1] < t->fewest || !(square > 0))
        return -INFINITY;
    const char *means = b->two.scorer.means;
    return 0.5 * mass[0] / share->mass * mass[1] * square *
           em->scorer.family->stretch(&b->two.scorer, 0, means,
                                      means + (size_t)b->two.scorer.ldc *
                                                  em->view->kernels->element);
}

double vem_i_candidates_try(vem_i_candidates *t, const vem_i_splittable *cluster,
                            int64_t pair, int steps, int thread, const vem_model **found,
                            int32_t *which)
{
    bench *b = &t->benches[thread];
    double items[2], gain[2] = {-INFINITY, -INFINITY}, best = -INFINITY;
    *found = b->two.model;
    *which = 0;
    if (cluster->n < 2 || (!t->spread && (double)cluster->n < 2 * t->fewest))
        return best;
    const vem_i_share share = share_of(t, b, cluster);
    if (!begin(t, b, &share, pair, items))
        return best;
    if (!vem_i_has_own_shapes(t->em->model->family))
        return divide_alike(t, b, &share, items, steps);
    for (int k = 0; k < steps; k++) {
        if (items[0] < t->fewest && items[1] < t->fewest)
            return best;
        step(t, b, &share, k == steps - 1, gain, items);
    }
    for (int32_t h = 0; h < 2; h++)
        if (items[h] >= t->fewest && gain[h] > best) {
            best = gain[h];
            *which = h;
        }
    return best;
}

int64_t vem_i_candidates_pairs(const vem_i_candidates *t, int64_t items, int steps)
{
    return 2 * (items < t->sample ? items : t->sample) * (steps + 1);
}

vem_model *vem_i_candidates_pair(vem_i_candidates *t, int thread)
{
    return t->benches[thread].two.model;
}

void vem_i_candidates_step(vem_i_candidates *t, const vem_i_share *share, int thread,
                           double gain[2], double items[2])
{
    step(t, &t->benches[thread], share, 1, gain, items);
}

/* ---- memory ---- */

static void free_bench(bench *b)
{
    vem_i_halves_free(&b->two);
    vem_i_free(b->panels);
    vem_i_free(b->costs);
    vem_i_free(b->weights_of);
    vem_i_free(b->items);
    vem_i_free(b->weights);
}

void vem_i_candidates_free(vem_i_candidates *t)
{
    if (!t)
        return;
    for (int i = 0; t->benches && i < t->threads; i++)
        free_bench(&t->benches[i]);
    vem_i_free(t->benches);
    vem_i_free(t->log_sums);
    vem_i_free(t);
}

static vem_status take_bench(vem_i_candidates *t, bench *b)
{
    const vem_i_em *em = t->em;
    const vem_i_kernels *kernels = em->view->kernels;
    const size_t row = (size_t)em->model->d * kernels->element,
                 sample = (size_t)t->sample;
    const vem_i_room list[] = {{&b->panels, VEM_I_BLOCK, row, 0},
                               {&b->costs, 2 * VEM_I_BLOCK, kernels->element, 0},
                               {&b->weights_of, VEM_I_BLOCK, kernels->element, 0},
                               {&b->items, sample, sizeof *b->items, 0},
                               {&b->weights, sample, sizeof *b->weights, 0}};
    vem_i_run *run = &t->alone;
    vem_status status = vem_i_halves_new(run, em, &b->two);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    return status;
}

void vem_i_candidates_record(vem_i_record *r, vem_i_candidates *t)
{
    if (t->em->within && t->log_sums && t->em->posterior.log_sums == t->log_sums)
        vem_i_record_reals(r, "log_sums", t->log_sums, (size_t)t->em->view->n, -DBL_MAX,
                           DBL_MAX);
}

vem_status vem_i_candidates_new(vem_i_em *em, vem_i_candidates **candidates)
{
    const vem_i_family *family = em->model->family;
    const int64_t directions =
        vem_i_takes_products(family) ? (int64_t)em->model->d + 1 : 1;
    vem_i_candidates *t;
    vem_status status = vem_i_take_structs(em->run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    t->em = em;
    t->threads = em->run->threads;
    t->alone = vem_i_run_alone(em->run);
    t->hard = em->search->held == 1;
    t->spread = em->view->spread_kind != VEM_I_SPREAD_NONE;
    t->fewest = (double)vem_i_halves_fewest(em->model);
    t->sample =
        SAMPLE_DIRECTION * directions > SAMPLE ? SAMPLE_DIRECTION * directions : SAMPLE;
    t->sample = t->sample < em->view->n ? t->sample : em->view->n;
    if (!em->posterior.log_sums)
        status = vem_i_take(em->run, &t->log_sums, (size_t)em->view->n, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take_structs(em->run, &t->benches, (size_t)t->threads,
                                    sizeof *t->benches);
    for (int i = 0; status == VEM_OK && i < t->threads; i++)
        status = take_bench(t, &t->benches[i]);
    if (status != VEM_OK) {
        vem_i_candidates_free(t);
        return status;
    }
    if (t->log_sums)
        em->posterior.log_sums = t->log_sums;
    *candidates = t;
    return VEM_OK;
}
