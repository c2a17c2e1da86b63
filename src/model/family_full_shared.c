/* Clusters of any shape that is the same for all: one covariance matrix (scikit-learn's "tied",
 * mclust's EEE).
 *
 *     v = |U (x - mu_c)|^2 + log|2 pi Sigma| - 2 log pi_c,     Sigma = L L',  U = L^-1
 *
 * M-step, with the moments of family.h:
 *
 *     Sigma = sum_c [ S_c - N_c delta_c delta_c' + N_c rest_c rest_c' ] / W,
 *
 * clamped at the floor as that of each cluster is in family_full.c: the exact maximum. */
#include <math.h>

#include "base/parallel.h"
#include "model/family_inside.h"

static vem_i_state state(int32_t d, size_t element)
{
    vem_i_state found = vem_i_full_state(d, element);
    found.one = 1;
    return found;
}

static void prepare(vem_i_run *run, const vem_model *model, vem_i_scorer *scorer)
{
    (void)run;
    const double log_det = vem_i_full_factor(scorer, 0, model->variances, scorer->work);
    for (int32_t c = 0; c < model->clusters; c++)
        scorer->bias_wide[c] = log_det - 2 * log(model->weights[c]);
}

typedef struct task {
    const vem_i_scorer *scorer;
    const vem_i_stats *stats;
    const vem_i_constraints *constraints;
    vem_model *model;
    const double *mass; /* C; 0: the cluster is empty */
} task;

/* Row i of the lower triangle, and its mirror image. Each entry is summed over the clusters in
 * their order, so that threads do not matter. */
static void sum_row(void *arg, int64_t i, int thread)
{
    (void)thread;
    const task *t = arg;
    const int64_t d = t->model->d;
    double *row = t->model->variances + i * d;
    for (int64_t j = 0; j <= i; j++)
        row[j] = 0;
    for (int32_t c = 0; c < t->model->clusters; c++) {
        const double mass = t->mass[c], *mean = t->model->means + c * d,
                     *first = vem_i_stats_first(t->stats, c),
                     *second = vem_i_stats_second(t->stats, c) + i * (i + 1) / 2;
        if (mass == 0)
            continue;
        const double delta = first[i] / mass,
                     rest = vem_i_rest(t->scorer, c, (int32_t)i, mean[i], delta);
        for (int64_t j = 0; j < i; j++) {
            const double delta_j = first[j] / mass;
            row[j] +=
                second[j] - mass * delta * delta_j +
                mass * rest * vem_i_rest(t->scorer, c, (int32_t)j, mean[j], delta_j);
        }
        row[i] += mass * vem_i_second_about(second[i] / mass, delta * delta, rest * rest);
    }
    for (int64_t j = 0; j <= i; j++) {
        row[j] /= t->constraints->total_mass;
        t->model->variances[j * d + i] = row[j];
    }
}

static void maximize(vem_i_run *run, const vem_i_scorer *scorer, const vem_i_stats *stats,
                     const vem_i_constraints *constraints, vem_model *model)
{
    const int64_t d = model->d;
    double *mass = scorer->bias_wide; /* free between E-steps */
    for (int32_t c = 0; c < model->clusters; c++)
        mass[c] = vem_i_move_mean(scorer, stats, c, constraints, model->means + c * d);
    task t = {scorer, stats, constraints, model, mass};
    vem_i_parallel_light(run, d, 5.0 * model->clusters * (double)d, sum_row, &t);
    if (constraints->shared) {
        double trace = 0;
        for (int64_t j = 0; j < d; j++)
            trace += model->variances[j * d + j];
        vem_i_model_set_variance(model, fmax(trace / (double)d,
                                             vem_i_floor_shared(constraints, model->d)));
    } else {
        vem_i_floor_covariance(model->variances, model->d, constraints, scorer->work);
    }
    vem_i_maximize_weights(stats, constraints, model);
}

static double stretch(const vem_i_scorer *s, int32_t c, const void *x, const void *y)
{
    (void)c;
    double square = 0, plain = 0;
    for (int64_t i = 0, at = 0; i < s->d; i++) {
        double sum = 0, v = 0;
        for (int64_t j = 0; j <= i; j++) {
            v = vem_i_value(s->kernels, x, j) - vem_i_value(s->kernels, y, j);
            sum += vem_i_value(s->kernels, s->a, at++) * v;
        }
        square += sum * sum;
        plain += v * v;
    }
    return plain > 0 ? square / plain : 0;
}

const vem_i_family vem_i_family_full_shared = {.kind = VEM_FULL_SHARED,
                                               VEM_I_DENSITY,
                                               .shared = 1,
                                               .shape_axes = 2,
                                               .needs = VEM_I_SPREAD_FULL,
                                               .by_column = 1,
                                               .pooled = &vem_i_family_full_shared,
                                               .state = state,
                                               .prepare = prepare,
                                               .precision = vem_i_full_precision,
                                               .score_tile = vem_i_full_score_tile,
                                               .score_pairs = vem_i_full_score_pairs,
                                               .collect_tile = vem_i_full_collect_tile,
                                               .maximize = maximize,
                                               .stretch = stretch};
