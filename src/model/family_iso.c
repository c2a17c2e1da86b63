/* Isotropic clusters: one variance for all of them (iso-shared) or one each (iso).
 *
 *     log p(c,x) = log pi_c - D/2 log(2 pi s_c) - |x - mu_c|^2 / (2 s_c)
 *     v = |x - mu_c|^2 / s_c + D log(2 pi s_c) - 2 log pi_c
 *
 * M-step with N_c, first moment f_c and second moment S_c about the old mean:
 *
 *     delta_c = f_c / N_c,  mu_c += delta_c + rest_c,
 *     T_c = S_c - N_c |delta_c|^2 + N_c |rest_c|^2     (about the new mean; family.h)
 *     iso-shared:  s   = sum_c T_c / (D W)
 *     iso:         s_c = T_c / (D N_c)
 *
 * Of rows that are looked at along some axes (coarse/leading.h) all means are 0 in the B columns
 * that are left out, where the rows have the mean square r: iso-shared then has
 *
 *     v + r / s + B log(2 pi s)   and   s = (sum_c T_c + W r) / ((D + B) W).
 *
 * both no less than the floor, which is the exact maximum under that constraint. */
#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "model/family_inside.h"
#include "model/spread.h"

enum { TOGETHER = 256 }; /* clusters of one task */

static void prepare(vem_i_run *run, const vem_model *model, vem_i_scorer *scorer)
{
    (void)run;
    const double columns = (double)model->d + scorer->beyond.columns;
    for (int32_t c = 0; c < model->clusters; c++) {
        double variance = *vem_i_cluster_shape(model, c);
        scorer->bias_wide[c] = columns * (VEM_I_LOG_2PI + log(variance)) -
                               2 * log(model->weights[c]) +
                               scorer->beyond.square / variance;
        vem_i_store(scorer->kernels, scorer->scale, c, 1 / variance);
    }
}

static void prepare_distances(const vem_model *model, const double *factors,
                              vem_i_scorer *scorer)
{
    (void)factors;
    for (int32_t c = 0; c < model->clusters; c++)
        vem_i_store(scorer->kernels, scorer->scale, c, 1);
}

static void precision(const vem_i_scorer *s, int64_t c, void *row)
{
    vem_i_store(s->kernels, row, 0, vem_i_value(s->kernels, s->scale, c));
}

static void score_tile(const vem_i_scorer *s, const vem_i_items *items, int32_t first,
                       int32_t count, void *costs, int64_t ldv)
{
    size_t element = s->kernels->element;
    s->kernels->iso_tile(items->panels, (int32_t)items->n, s->d,
                         (const char *)s->means + (size_t)(first * s->ldc) * element,
                         s->ldc, (const char *)s->scale + (size_t)first * element,
                         (const char *)s->bias + (size_t)first * element, count, costs,
                         ldv);
    vem_i_spread_score_tile(s, items, first, count, costs, ldv);
}

static void score_pairs(const vem_i_scorer *s, const vem_i_items *items, int32_t m,
                        const int32_t *index, void *costs, int64_t ldv)
{
    vem_i_items_pairs(s->kernels, items, s->d, s->means, s->ldc, s->scale, s->bias, m,
                      index, costs, ldv);
    vem_i_spread_score_pairs(s, items, m, index, costs, ldv);
}

static void collect_tile(const vem_i_scorer *s, const vem_i_items *items, const void *q,
                         int32_t cluster, int thread, vem_i_stats *stats)
{
    (void)thread;
    const void *mean =
        (const char *)s->about + (size_t)(cluster * s->ldc) * s->kernels->element;
    *vem_i_stats_mass(stats, cluster) +=
        s->kernels->iso_collect(items->panels, q, (int32_t)items->n, s->d, mean,
                                vem_i_stats_first(stats, cluster),
                                vem_i_stats_second(stats, cluster));
    vem_i_spread_collect(s, items, q, cluster, stats);
}

static void collect_rows(const vem_i_scorer *s, const vem_i_items *items, const void *q,
                         int32_t cluster, vem_i_stats *stats)
{
    const void *mean =
        (const char *)s->about + (size_t)(cluster * s->ldc) * s->kernels->element;
    *vem_i_stats_mass(stats, cluster) +=
        vem_i_items_rows(s->kernels, items, q, s->d, mean,
                         vem_i_stats_first(stats, cluster),
                         vem_i_stats_second(stats, cluster));
    vem_i_spread_collect(s, items, q, cluster, stats);
}

typedef struct task {
    const vem_i_scorer *scorer;
    const vem_i_stats *stats;
    const vem_i_constraints *constraints;
    vem_model *model;
    int shared;
    double *about_new; /* C: T_c */
} task;

static void maximize_some(void *arg, int64_t number, int thread)
{
    (void)thread;
    const task *t = arg;
    vem_model *model = t->model;
    int64_t end = (number + 1) * TOGETHER;
    for (int64_t k = number * TOGETHER; k < end && k < model->clusters; k++) {
        int32_t c = (int32_t)k;
        double *mean = model->means + k * model->d, moved = 0, rest = 0;
        double mass = vem_i_move_mean(t->scorer, t->stats, c, t->constraints, mean);
        const double *first = vem_i_stats_first(t->stats, c);
        for (int32_t j = 0; mass > 0 && j < model->d; j++) {
            double delta = first[j] / mass;
            double off = vem_i_rest(t->scorer, c, j, mean[j], delta);
            moved += delta * delta;
            rest += off * off;
        }
        t->about_new[c] = mass == 0 ? 0
                                    : vem_i_second_about(*vem_i_stats_second(t->stats, c),
                                                         mass * moved, mass * rest);
        if (!t->shared && mass > 0)
            model->variances[c] =
                fmax(t->about_new[c] / (model->d * mass), t->constraints->floor);
    }
}

static void maximize(vem_i_run *run, const vem_i_scorer *scorer, const vem_i_stats *stats,
                     const vem_i_constraints *constraints, vem_model *model)
{
    /* bias_wide is free between E-steps. */
    task t = {.scorer = scorer,
              .stats = stats,
              .constraints = constraints,
              .model = model,
              .shared = model->family->shared || constraints->shared,
              .about_new = scorer->bias_wide};
    vem_i_parallel_light(run, vem_i_shards(model->clusters, TOGETHER),
                         5.0 * TOGETHER * model->d, maximize_some, &t);
    if (t.shared) {
        const vem_i_beyond *beyond = &scorer->beyond;
        const double mass = constraints->total_mass,
                     columns = (double)model->d + beyond->columns;
        double pooled = vem_i_sum(t.about_new, model->clusters) + mass * beyond->square;
        vem_i_model_set_variance(model,
                                 fmax(pooled / (columns * mass), constraints->floor));
    }
    vem_i_maximize_weights(stats, constraints, model);
}

static double stretch(const vem_i_scorer *scorer, int32_t c, const void *x, const void *y)
{
    (void)x;
    (void)y;
    return vem_i_value(scorer->kernels, scorer->scale, c);
}

const vem_i_family vem_i_family_iso_shared = {.kind = VEM_ISO_SHARED,
                                              VEM_I_DENSITY,
                                              .needs = VEM_I_SPREAD_TRACE,
                                              .shared = 1,
                                              .dots = 1,
                                              .pooled = &vem_i_family_iso_shared,
                                              .prepare = prepare,
                                              .prepare_distances = prepare_distances,
                                              .precision = precision,
                                              .score_tile = score_tile,
                                              .score_pairs = score_pairs,
                                              .collect_tile = collect_tile,
                                              .collect_rows = collect_rows,
                                              .maximize = maximize,
                                              .stretch = stretch};
const vem_i_family vem_i_family_iso = {.kind = VEM_ISO,
                                       VEM_I_DENSITY,
                                       .needs = VEM_I_SPREAD_TRACE,
                                       .dots = 1,
                                       .pooled = &vem_i_family_iso_shared,
                                       .prepare = prepare,
                                       .precision = precision,
                                       .score_tile = score_tile,
                                       .score_pairs = score_pairs,
                                       .collect_tile = collect_tile,
                                       .collect_rows = collect_rows,
                                       .maximize = maximize};
