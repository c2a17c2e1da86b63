/* What F gains when the two halves of a cluster take shapes of their own.
 *
 * Items i that hold cluster c first, with weights u_i = w_i q_ic, are divided between two
 * clusters a and b of the same family, as in a mixture of two whose items are hard:
 *
 *     sides    i goes to the h in {a, b} of the smaller cost v(i,h) = -2 log p(h, x_i)
 *     shapes   mean and shape of h are the M-step's for the items that went to it, clamped
 *              by the floor as there; pi_h = pi_c W_h / W under a free prior, else pi_c
 *
 * Each of the two can only raise  sum_i u_i log p(h_i, x_i).  Nothing is assumed of c: its
 * items cost what they cost under the parameters as they are. So for hard items the gain
 *
 *     G_c = sum_i w_i [ log max_h p(h, x_i) - log p(c, x_i) ]
 *
 * is exact, floors and all. A soft item holds both halves afterwards, the second in the place
 * of the last cluster l it held; alone, that is worth
 *
 *     w_i log( 1 - q_ic - q_il + (p(a, x_i) + p(b, x_i)) / Z_i ),    1 / Z_i = q_ic / p(c, x_i).
 *
 * Which halves are found depends on the first ones. Three are tried:
 *
 *     wide      across the widest direction of the plain metric
 *     own       2-means in the metric of c, the best of a few starts: where the plain metric
 *               sees the scales of the columns, or a cluster that is long anyway, this one
 *               sees correlations and gaps
 *     core      the inner items and the outer ones: heavy tails
 *
 * A shape fitted to a handful of items says more about them than about the clump they come
 * from, and its determinant can be as small as the floor allows: halves must have a number
 * of items that grows with the parameters of a shape. */
#include "moves/shape_inside.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/residence.h"
#include "model/evidence.h"
#include "model/spread.h"

enum {
    SHAPE_STEPS = 6, /* sides and shapes, from each of the first halves */
    MEAN_STEPS = 2,  /* of 2-means in the metric of the cluster */
    STARTS = 8       /* pairs of rows from which those begin */
};
/* The core and the rest, as shares of the variances of the whole. */
static const double CORE = 0.25, REST = 2;

/* ---- one pass over the items of a cluster ---- */

/* Gain of one item: d[h] = log p(h, x) - log p(c, x). */
static double gain_of(const vem_i_posterior *p, const vem_i_kernels *kernels,
                      int64_t item, double w, const double d[2])
{
    double most = fmax(d[0], d[1]);
    if (!p->q)
        return w * most;
    double held = vem_i_value(kernels, p->q, item * p->width) / w, rest = 0;
    for (int64_t e = item * p->width + 1; e < (item + 1) * p->width - 1; e++)
        rest += vem_i_value(kernels, p->q, e) / w;
    most = fmax(most, 0);
    return w *
           (most + log(rest * exp(-most) + held * (exp(d[0] - most) + exp(d[1] - most))));
}

/* What a pass is for: statistics of the halves, from which they follow; what the pair gains. */
typedef enum purpose { STATISTICS = 1, GAIN = 2 } purpose;

/* The items meet the pair as it is. Gains cost a logarithm and several exponentials for each item, and
 * the costs of the whole, so they are worked out only where they decide. */
static void meet(const vem_i_shaper *t, vem_i_shape_bench *b,
                 const vem_i_splittable *cluster, purpose what,
                 vem_i_shape_passed *result)
{
    const vem_i_em *em = t->em;
    const vem_i_kernels *kernels = em->view->kernels;
    const vem_i_family *family = em->scorer.family;
    const double base = em->scorer.base - b->two.scorer.base;
    vem_i_lot lot;
    for (int64_t at = 0; vem_i_lot_next(cluster, em->view, &em->posterior, &at, &lot);) {
        vem_i_items packed = vem_i_items_at(lot.view, 0, lot.items, lot.n);
        vem_i_items_pack(lot.view, NULL, b->panels, NULL, &packed);
        vem_i_residence_check(em->run);
        if (what & GAIN)
            family->score_tile(&em->scorer, &packed, cluster->cluster, 1, b->now,
                               VEM_I_BLOCK);
        family->score_tile(&b->two.scorer, &packed, 0, 2, b->costs, VEM_I_BLOCK);
        for (int32_t k = 0; k < lot.n; k++) {
            double u = vem_i_first_weight(lot.view, lot.posterior, lot.items[k]);
            const double first = vem_i_value(kernels, b->costs, k);
            const double second = vem_i_value(kernels, b->costs, VEM_I_BLOCK + k);
            const int side = second < first;
            vem_i_store(kernels, b->weights, k, side ? 0 : u);
            vem_i_store(kernels, b->weights, VEM_I_BLOCK + k, side ? u : 0);
            if (!(u > 0))
                continue;
            if (what & GAIN) {
                const double now = vem_i_value(kernels, b->now, k);
                const double d[2] = {0.5 * (now - first + base),
                                     0.5 * (now - second + base)};
                result->gain += gain_of(lot.posterior, kernels, lot.items[k],
                                        vem_i_view_mass(lot.view, lot.items[k]), d);
            }
            result->mass += u;
            result->items[side]++;
        }
        for (int32_t h = 0; h < 2 && what & STATISTICS; h++)
            family->collect_tile(&b->two.scorer, &packed,
                                 (const char *)b->weights +
                                     (size_t)h * VEM_I_BLOCK * kernels->element,
                                 h, 0, &b->two.stats);
    }
}

static vem_i_shape_passed meet_anew(const vem_i_shaper *t, vem_i_shape_bench *b,
                                    const vem_i_splittable *cluster, purpose what)
{
    vem_i_shape_passed result = {0};
    if (what & STATISTICS)
        vem_i_stats_clear(&b->two.stats);
    meet(t, b, cluster, what, &result);
    return result;
}

/* ---- from pass to pass ---- */

/* Means and shapes of the halves; or their means alone. */
static void follow(vem_i_shaper *t, vem_i_shape_bench *b, int32_t c,
                   const vem_i_shape_passed *last, int shapes)
{
    const vem_i_em *em = t->em;
    const vem_i_constraints constraints = {.prior = VEM_PRIOR_FREE,
                                           .floor = em->constraints.floor,
                                           .units = em->constraints.units,
                                           .total_mass = last->mass,
                                           .relax = 1};
    double weight = em->model->weights[c];
    if (shapes) {
        vem_i_maximize(&t->alone, &b->two.scorer, &b->two.stats, &constraints,
                       b->two.model);
        for (int h = 0; h < 2; h++)
            b->two.model->weights[h] = em->constraints.prior != VEM_PRIOR_FLAT
                                           ? weight * b->two.model->weights[h]
                                           : weight;
    } else {
        for (int32_t h = 0; h < 2; h++)
            vem_i_move_mean(&b->two.scorer, &b->two.stats, h, &constraints,
                            b->two.model->means + (int64_t)h * em->model->d);
    }
    if (shapes)
        vem_i_scorer_prepare(&t->alone, b->two.model, &b->two.scorer);
    else
        vem_i_scorer_prepare_means(&t->alone, b->two.model, &b->two.scorer);
}

static int mean_steps_of(vem_i_shape_start start)
{
    return start == VEM_I_SHAPE_OWN ? MEAN_STEPS : 0;
}

static int is_last(vem_i_shape_start start, int pass)
{
    return pass == mean_steps_of(start) + SHAPE_STEPS;
}

void vem_i_shape_pass(const vem_i_shaper *t, vem_i_shape_bench *b,
                      const vem_i_splittable *cluster, vem_i_shape_start start, int pass,
                      vem_i_shape_passed *passed)
{
    meet(t, b, cluster, is_last(start, pass) ? GAIN : STATISTICS, passed);
}

int vem_i_shape_follow(vem_i_shaper *t, vem_i_shape_bench *b, int32_t c,
                       vem_i_shape_start start, int pass, const vem_i_shape_passed *now,
                       double *best)
{
    if (now->items[0] < t->fewest || now->items[1] < t->fewest)
        return 0;
    if (is_last(start, pass)) {
        if (now->gain > *best && isfinite(now->gain)) {
            *best = now->gain;
            vem_i_model_assign(b->two.model, b->best);
        }
        return 0;
    }
    follow(t, b, c, now, pass >= mean_steps_of(start));
    return 1;
}

/* From the pair as it stands: the better halves it leads to, if they are the best so far. */
static void try_pair(vem_i_shaper *t, vem_i_shape_bench *b,
                     const vem_i_splittable *cluster, vem_i_shape_start start,
                     double *best)
{
    vem_i_scorer_prepare(&t->alone, b->two.model, &b->two.scorer);
    for (int pass = 0, goes = 1; goes; pass++) {
        vem_i_shape_passed now = {0};
        vem_i_stats_clear(&b->two.stats);
        vem_i_shape_pass(t, b, cluster, start, pass, &now);
        goes = vem_i_shape_follow(t, b, cluster->cluster, start, pass, &now, best);
    }
}

/* ---- where to begin ---- */

/* Both halves in the place and with the shape of the whole, times a factor each. */
static void begin(const vem_i_shaper *t, vem_i_shape_bench *b, int32_t c,
                  const double factor[2])
{
    const vem_model *model = t->em->model;
    const int64_t values = vem_i_shape_values(model->family, model->d);
    for (int32_t h = 0; h < 2; h++) {
        vem_i_model_put(model, c, b->two.model, h);
        for (int64_t j = 0; j < values; j++)
            vem_i_cluster_shape(b->two.model, h)[j] *= factor[h];
    }
}

/* Round, as wide as the whole on average: the nearer half by plain distance. */
static void make_round(const vem_i_shaper *t, vem_i_shape_bench *b, int32_t c)
{
    const vem_model *model = t->em->model;
    const int32_t columns = vem_i_square_count(model->family, model->d);
    double trace = 0;
    for (int32_t j = 0; j < columns; j++)
        trace += vem_i_cluster_shape(model, c)[vem_i_variance_at(model, j)];
    vem_i_model_set_variance(b->two.model, trace / (double)columns);
}

void vem_i_shape_begin(const vem_i_shaper *t, vem_i_shape_bench *b, int32_t c,
                       vem_i_shape_start start)
{
    static const double same[] = {1, 1}, inner[] = {CORE, REST};
    begin(t, b, c, start == VEM_I_SHAPE_CORE ? inner : same);
    if (start == VEM_I_SHAPE_WIDE)
        make_round(t, b, c);
}

int vem_i_shape_tries(const vem_i_shaper *t, vem_i_shape_start start)
{
    /* Whose metric is the plain one. */
    return start != VEM_I_SHAPE_OWN || vem_i_has_metric(t->em->model->family);
}

static double begin_wide(vem_i_shaper *t, vem_i_shape_bench *b,
                         const vem_i_splittable *cluster, int thread)
{
    const vem_i_kernels *kernels = t->em->view->kernels;
    const size_t d = (size_t)t->em->view->d;
    double mass[2];
    double found = vem_i_split(t->splitter, cluster, thread, b->wide,
                               (char *)b->wide + d * kernels->element, mass);
    if (found > 0)
        vem_i_widen(kernels, b->wide, 2 * (int64_t)d, b->two.model->means);
    return found;
}

/* Two rows as the means of halves with the shape of the whole, and a few steps of 2-means. */
static double try_rows(vem_i_shaper *t, vem_i_shape_bench *b,
                       const vem_i_splittable *some, const vem_view *view,
                       const uint32_t rows[2])
{
    for (int64_t h = 0; h < 2; h++)
        vem_i_view_widen(view, rows[h], b->two.model->means + h * view->d);
    vem_i_scorer_prepare_means(&t->alone, b->two.model, &b->two.scorer);
    for (int step = 0; step < MEAN_STEPS; step++) {
        const vem_i_shape_passed now = meet_anew(t, b, some, STATISTICS);
        follow(t, b, some->cluster, &now, 0);
    }
    return meet_anew(t, b, some, GAIN).gain;
}

int64_t vem_i_shape_some(int64_t n)
{
    return n < VEM_I_BLOCK ? n : VEM_I_BLOCK;
}

/* The best of a few starts. */
void vem_i_shape_own_means(vem_i_shaper *t, vem_i_shape_bench *b,
                           const vem_i_splittable *some)
{
    const size_t bytes = 2 * (size_t)t->em->view->d * sizeof(double);
    double best = -INFINITY;
    int64_t at = 0;
    vem_i_lot lot = {0};
    vem_i_lot_next(some, t->em->view, &t->em->posterior, &at, &lot);
    vem_i_scorer_prepare(&t->alone, b->two.model, &b->two.scorer); /* its shapes stay */
    memcpy(b->means, b->two.model->means, bytes);
    for (int64_t s = 0; s < STARTS; s++) {
        /* Far from each other in the data, where rows of a clump often lie together. */
        const int64_t first = s * lot.n / (2 * STARTS);
        const uint32_t rows[2] = {lot.items[first], lot.items[first + lot.n / 2]};
        double gain = try_rows(t, b, some, lot.view, rows);
        if (gain > best) {
            best = gain;
            memcpy(b->means, b->two.model->means, bytes);
        }
    }
    memcpy(b->two.model->means, b->means, bytes);
}

/* By some of the items. */
static void begin_own(vem_i_shaper *t, vem_i_shape_bench *b,
                      const vem_i_splittable *cluster)
{
    uint32_t items[VEM_I_BLOCK];
    vem_i_splittable some = {.items = items,
                             .n = vem_i_shape_some(cluster->n),
                             .cluster = cluster->cluster};
    for (int64_t k = 0; k < some.n; k++)
        items[k] = cluster->items[vem_i_shape_pick(cluster->n, k)];
    vem_i_shape_own_means(t, b, &some);
}

double vem_i_shape_halves(vem_i_shaper *t, const vem_i_splittable *cluster, int thread,
                          const vem_model **halves)
{
    vem_i_shape_bench *b = &t->benches[thread];
    double best = 0;
    *halves = b->best;
    if (cluster->n < 2 * t->fewest)
        return 0;
    for (vem_i_shape_start start = VEM_I_SHAPE_WIDE; start < VEM_I_SHAPE_STARTS;
         start++) {
        if (!vem_i_shape_tries(t, start))
            continue;
        vem_i_shape_begin(t, b, cluster->cluster, start);
        if (start == VEM_I_SHAPE_WIDE && !(begin_wide(t, b, cluster, thread) > 0))
            return 0;
        if (start == VEM_I_SHAPE_OWN)
            begin_own(t, b, cluster);
        try_pair(t, b, cluster, start, &best);
    }
    return best;
}

/* ---- memory ---- */

static void free_bench(vem_i_shape_bench *b)
{
    vem_i_halves_free(&b->two);
    vem_model_free(b->best);
    vem_i_free(b->panels);
    vem_i_free(b->now);
    vem_i_free(b->costs);
    vem_i_free(b->weights);
    vem_i_free(b->wide);
    vem_i_free(b->means);
}

void vem_i_shaper_free(vem_i_shaper *t)
{
    if (!t)
        return;
    for (int i = 0; t->benches && i < t->threads; i++)
        free_bench(&t->benches[i]);
    vem_i_free(t->benches);
    vem_i_free(t);
}

static vem_status take_bench(vem_i_shaper *t, vem_i_shape_bench *b)
{
    const vem_i_em *em = t->em;
    const vem_i_kernels *kernels = em->view->kernels;
    const int32_t d = em->model->d;
    size_t row = (size_t)d * kernels->element, block = VEM_I_BLOCK * kernels->element;
    vem_i_run *run = &t->alone;
    vem_status status = vem_i_halves_new(run, em, &b->two);
    if (status == VEM_OK)
        status =
            vem_i_model_blank(run, vem_i_shape_of(em->model->family, 2, d), &b->best);
    const vem_i_room list[] = {
        {&b->panels, VEM_I_BLOCK, row, 0},
        {&b->now, 1, block, 0},
        {&b->costs, 2, block, 0},
        {&b->weights, 2, block, 0},
        {&b->wide, 2, row, 0},
        {&b->means, 2, (size_t)d * sizeof(double), 0},
    };
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    return status;
}

vem_status vem_i_shaper_new(const vem_i_em *em, const vem_i_splitter *splitter,
                            vem_i_shaper **shaper)
{
    vem_i_shaper *t;
    vem_status status = vem_i_take_structs(em->run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    t->em = em;
    t->splitter = splitter;
    t->threads = em->run->threads;
    t->alone = vem_i_run_alone(em->run);
    t->fewest = vem_i_halves_fewest(em->model);
    status =
        vem_i_take_structs(em->run, &t->benches, (size_t)t->threads, sizeof *t->benches);
    for (int i = 0; status == VEM_OK && i < t->threads; i++)
        status = take_bench(t, &t->benches[i]);
    if (status == VEM_OK)
        *shaper = t;
    else
        vem_i_shaper_free(t);
    return status;
}
