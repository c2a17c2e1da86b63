/* Axis-aligned clusters that are all alike: one variance per dimension (mclust's EEI).
 *
 *     v = sum_j (x_j - mu_cj)^2 / s_j + sum_j log(2 pi s_j) - 2 log pi_c
 *
 * M-step, with the moments of family.h:
 *
 *     s_j = sum_c [ S_cj - N_c delta_cj^2 + N_c rest_cj^2 ] / W,
 *
 * no less than the floor of its column (floor.c). */
#include <math.h>
#include <string.h>

#include "model/family_inside.h"

/* 1 / sd and mean / sd of each cluster, as in family_diag.c; room for a sum per column. */
static vem_i_state state(int32_t d, size_t element)
{
    (void)element;
    return (vem_i_state){.a = d, .b = d, .work = d};
}

static void maximize(vem_i_run *run, const vem_i_scorer *scorer, const vem_i_stats *stats,
                     const vem_i_constraints *constraints, vem_model *model)
{
    (void)run;
    const int32_t d = model->d;
    double *pooled = scorer->work, sum = 0;
    memset(pooled, 0, (size_t)d * sizeof *pooled);
    for (int32_t c = 0; c < model->clusters; c++) {
        double *mean = model->means + (int64_t)c * d;
        const double mass = vem_i_move_mean(scorer, stats, c, constraints, mean),
                     *first = vem_i_stats_first(stats, c),
                     *second = vem_i_stats_second(stats, c);
        for (int32_t j = 0; mass > 0 && j < d; j++) {
            const double delta = first[j] / mass,
                         rest = vem_i_rest(scorer, c, j, mean[j], delta);
            pooled[j] +=
                mass * vem_i_second_about(second[j] / mass, delta * delta, rest * rest);
        }
    }
    for (int32_t j = 0; j < d; j++) {
        sum += pooled[j];
        model->variances[j] =
            fmax(pooled[j] / constraints->total_mass, vem_i_floor_column(constraints, j));
    }
    if (constraints->shared)
        vem_i_model_set_variance(model, fmax(sum / (d * constraints->total_mass),
                                             vem_i_floor_shared(constraints, d)));
    vem_i_maximize_weights(stats, constraints, model);
}

static double stretch(const vem_i_scorer *s, int32_t c, const void *x, const void *y)
{
    double square = 0, plain = 0;
    for (int64_t j = 0; j < s->d; j++) {
        const double v = vem_i_value(s->kernels, x, j) - vem_i_value(s->kernels, y, j),
                     a = vem_i_value(s->kernels, s->a, c * s->lda + j);
        square += (a * v) * (a * v);
        plain += v * v;
    }
    return plain > 0 ? square / plain : 0;
}

const vem_i_family vem_i_family_diag_shared = {.kind = VEM_DIAG_SHARED,
                                               VEM_I_DENSITY,
                                               .shared = 1,
                                               .shape_axes = 1,
                                               .needs = VEM_I_SPREAD_DIAG,
                                               .by_column = 1,
                                               .pooled = &vem_i_family_diag_shared,
                                               .state = state,
                                               .prepare = vem_i_diag_prepare,
                                               .precision = vem_i_diag_precision,
                                               .score_tile = vem_i_diag_score_tile,
                                               .score_pairs = vem_i_diag_score_pairs,
                                               .collect_tile = vem_i_diag_collect_tile,
                                               .maximize = maximize,
                                               .stretch = stretch};
