/* Axis-aligned clusters: one variance per cluster and dimension.
 *
 *     v = sum_j (x_j - mu_cj)^2 / s_cj + sum_j log(2 pi s_cj) - 2 log pi_c
 *
 * The kernel takes (x_j a_j - b_j)^2 with a = s^(-1/2), b = mu s^(-1/2): one fused
 * operation fewer, and its rounding is no worse than that of storing mu in the compute
 * type. M-step: s_cj = S_cj / N_c - delta_cj^2 + rest_cj^2 about the new mean (family.h), no
 * less than the floor of its column (floor.c). */
#include <math.h>

#include "model/family_inside.h"
#include "model/spread.h"

static vem_i_state state(int32_t d, size_t element)
{
    (void)element;
    return (vem_i_state){.a = d, .b = d}; /* 1 / sd, mean / sd */
}

void vem_i_diag_prepare(vem_i_run *run, const vem_model *model, vem_i_scorer *scorer)
{
    (void)run;
    const vem_i_kernels *kernels = scorer->kernels;
    for (int32_t c = 0; c < model->clusters; c++) {
        const double *variance = vem_i_cluster_shape(model, c);
        const double *mean = model->means + (int64_t)c * model->d;
        double log_det = 0;
        for (int32_t j = 0; j < model->d; j++) {
            double inverse = 1 / sqrt(variance[j]);
            vem_i_store(kernels, scorer->a, c * scorer->ldc + j, inverse);
            vem_i_store(kernels, scorer->b, c * scorer->ldc + j, mean[j] * inverse);
            log_det += VEM_I_LOG_2PI + log(variance[j]);
        }
        scorer->bias_wide[c] = log_det - 2 * log(model->weights[c]);
    }
}

static void prepare_distances(const vem_model *model, const double *factors,
                              vem_i_scorer *scorer)
{
    const int64_t d = model->d;
    for (int64_t c = 0; c < model->clusters; c++)
        for (int64_t j = 0; j < d; j++) {
            vem_i_store(scorer->kernels, scorer->a, c * d + j, factors[j]);
            vem_i_store(scorer->kernels, scorer->b, c * d + j,
                        model->means[c * d + j] * factors[j]);
        }
}

void vem_i_diag_precision(const vem_i_scorer *s, int64_t c, void *row)
{
    for (int64_t j = 0; j < s->d; j++) {
        const double inverse = vem_i_value(s->kernels, s->a, c * s->lda + j);
        vem_i_store(s->kernels, row, j, inverse * inverse);
    }
}

void vem_i_diag_score_tile(const vem_i_scorer *s, const vem_i_items *items, int32_t first,
                           int32_t count, void *costs, int64_t ldv)
{
    size_t element = s->kernels->element, row = (size_t)(first * s->ldc) * element;
    s->kernels->diag_tile(items->panels, (int32_t)items->n, s->d,
                          (const char *)s->a + row, (const char *)s->b + row, s->ldc,
                          (const char *)s->bias + (size_t)first * element, count, costs,
                          ldv);
    vem_i_spread_score_tile(s, items, first, count, costs, ldv);
}

void vem_i_diag_score_pairs(const vem_i_scorer *s, const vem_i_items *items, int32_t m,
                            const int32_t *index, void *costs, int64_t ldv)
{
    s->kernels->diag_pairs(items->x, items->ld, items->index, (int32_t)items->n, s->d,
                           s->a, s->b, s->ldc, s->bias, m, index, costs, ldv);
    vem_i_spread_score_pairs(s, items, m, index, costs, ldv);
}

void vem_i_diag_collect_tile(const vem_i_scorer *s, const vem_i_items *items,
                             const void *q, int32_t cluster, int thread,
                             vem_i_stats *stats)
{
    (void)thread;
    const void *mean =
        (const char *)s->about + (size_t)(cluster * s->ldc) * s->kernels->element;
    *vem_i_stats_mass(stats, cluster) +=
        s->kernels->diag_collect(items->panels, q, (int32_t)items->n, s->d, mean,
                                 vem_i_stats_first(stats, cluster),
                                 vem_i_stats_second(stats, cluster));
    vem_i_spread_collect(s, items, q, cluster, stats);
}

static void maximize(vem_i_run *run, const vem_i_scorer *scorer, const vem_i_stats *stats,
                     const vem_i_constraints *constraints, vem_model *model)
{
    (void)run;
    int32_t d = model->d;
    double pooled = 0;
    for (int32_t c = 0; c < model->clusters; c++) {
        double *mean = model->means + (int64_t)c * d;
        double *variance = model->variances + (int64_t)c * d;
        double mass = vem_i_move_mean(scorer, stats, c, constraints, mean);
        if (mass == 0)
            continue;
        const double *first = vem_i_stats_first(stats, c),
                     *second = vem_i_stats_second(stats, c);
        for (int32_t j = 0; j < d; j++) {
            double delta = first[j] / mass;
            double rest = vem_i_rest(scorer, c, j, mean[j], delta);
            double about_new =
                vem_i_second_about(second[j] / mass, delta * delta, rest * rest);
            pooled += mass * fmax(about_new, 0);
            if (!constraints->shared)
                variance[j] = fmax(about_new, vem_i_floor_column(constraints, j));
        }
    }
    if (constraints->shared)
        vem_i_model_set_variance(model, fmax(pooled / (d * constraints->total_mass),
                                             vem_i_floor_shared(constraints, d)));
    vem_i_maximize_weights(stats, constraints, model);
}

const vem_i_family vem_i_family_diag = {.kind = VEM_DIAG,
                                        VEM_I_DENSITY,
                                        .shape_axes = 1,
                                        .needs = VEM_I_SPREAD_DIAG,
                                        .by_column = 1,
                                        .pooled = &vem_i_family_diag,
                                        .state = state,
                                        .prepare = vem_i_diag_prepare,
                                        .prepare_distances = prepare_distances,
                                        .precision = vem_i_diag_precision,
                                        .score_tile = vem_i_diag_score_tile,
                                        .score_pairs = vem_i_diag_score_pairs,
                                        .collect_tile = vem_i_diag_collect_tile,
                                        .maximize = maximize};
