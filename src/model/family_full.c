/* Clusters of any shape: one covariance matrix each.
 *
 *     v = |U_c (x - mu_c)|^2 + log|2 pi Sigma_c| - 2 log pi_c,   Sigma = L L',  U = L^-1
 *     log|2 pi Sigma| = D log 2 pi + 2 sum_j log L_jj       (docs/math/families.md)
 *
 * M-step: Sigma_c = S_c / N_c - delta_c delta_c' + rest_c rest_c' (family.h), its eigenvalues,
 * in units of the columns' deviations, clamped at the floor: the exact maximum under that
 * constraint (floor.c). Whether clamping is needed is asked of a Cholesky factorisation of
 * Sigma - floor I, which costs far less than the eigenvalues and nearly always says no. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "model/family_inside.h"
#include "model/spread.h"

double vem_i_full_factor(const vem_i_scorer *s, int64_t c, const double *covariance,
                         double *work)
{
    const int32_t d = s->d;
    memcpy(work, covariance, (size_t)d * (size_t)d * sizeof(double));
    double log_det = d * VEM_I_LOG_2PI;
    if (!vem_i_cholesky(work, d)) {
        /* Models are checked and floored, so only rounding at the edge of the type can
         * lead here: the diagonal is the nearest shape that is certain. */
        memset(work, 0, (size_t)d * (size_t)d * sizeof(double));
        for (int64_t j = 0; j < d; j++)
            work[j * d + j] = sqrt(fmax(covariance[j * d + j], 1e-300));
    }
    for (int64_t j = 0; j < d; j++)
        log_det += 2 * log(work[j * d + j]);
    vem_i_invert_lower(work, d);
    int64_t at = c * s->lda;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++)
            vem_i_store(s->kernels, s->a, at++, work[i * d + j]);
    return log_det;
}

typedef struct task {
    const vem_i_stats *stats;
    const vem_i_constraints *constraints;
    vem_model *model;
    const vem_model *source;
    const vem_i_scorer *scorer;
    double *trace; /* C: of the scatter about the new mean */
} task;

static void prepare_cluster(void *arg, int64_t c, int thread)
{
    const task *t = arg;
    const vem_i_scorer *s = t->scorer;
    s->bias_wide[c] = vem_i_full_factor(s, c, vem_i_cluster_shape(t->source, c),
                                        s->work + thread * s->work_size) -
                      2 * log(t->source->weights[c]);
}

static void prepare(vem_i_run *run, const vem_model *model, vem_i_scorer *scorer)
{
    task t = {.source = model, .scorer = scorer};
    double d = model->d;
    vem_i_parallel_light(run, model->clusters, d * d * d, prepare_cluster, &t);
}

/* P = U' U; what stands twice in P and once in a spread counts twice. */
void vem_i_full_precision(const vem_i_scorer *s, int64_t c, void *row)
{
    const int64_t d = s->d, at = c * s->lda;
    for (int64_t j = 0; j < d; j++)
        for (int64_t k = 0; k <= j; k++) {
            double sum = 0;
            for (int64_t i = j; i < d; i++)
                sum += vem_i_value(s->kernels, s->a, at + i * (i + 1) / 2 + j) *
                       vem_i_value(s->kernels, s->a, at + i * (i + 1) / 2 + k);
            vem_i_store(s->kernels, row, j * (j + 1) / 2 + k, j == k ? sum : 2 * sum);
        }
}

void vem_i_full_score_tile(const vem_i_scorer *s, const vem_i_items *items, int32_t first,
                           int32_t count, void *costs, int64_t ldv)
{
    size_t element = s->kernels->element;
    size_t factor = (size_t)(first * s->lda) * element;
    s->kernels->full_tile(items->panels, (int32_t)items->n, s->d,
                          (const char *)s->means + (size_t)(first * s->ldc) * element,
                          s->ldc, (const char *)s->a + factor, s->lda,
                          (const char *)s->bias + (size_t)first * element, count, costs,
                          ldv);
    vem_i_spread_score_tile(s, items, first, count, costs, ldv);
}

void vem_i_full_score_pairs(const vem_i_scorer *s, const vem_i_items *items, int32_t m,
                            const int32_t *index, void *costs, int64_t ldv)
{
    s->kernels->full_pairs(items->x, items->ld, items->index, (int32_t)items->n, s->d,
                           s->means, s->ldc, s->a, s->lda, s->bias, m, index, costs, ldv);
    vem_i_spread_score_pairs(s, items, m, index, costs, ldv);
}

/* Moments of a covariance in float cannot tell an eigenvalue below eps times the largest, and
 * the M-step needs it. So float panels are widened, some items at a time, and collected by
 * the double kernel: for every dimension and instruction set. */
enum { WIDE_VALUES = 8192, WIDEST_PANEL = 16 };

/* Items widened at a time, in panels of `to`. */
static int32_t wide_items(int32_t d, int32_t to)
{
    int32_t items = WIDE_VALUES / d / to * to;
    return items < to ? to : items < VEM_I_BLOCK ? items : VEM_I_BLOCK;
}

/* The inverse factor; room for a matrix with its eigenvalues, or for some items in double. */
vem_i_state vem_i_full_state(int32_t d, size_t element)
{
    const int64_t least = (int64_t)WIDEST_PANEL * d, floor = vem_i_floor_work(d);
    const int64_t wide = (least > WIDE_VALUES ? least : WIDE_VALUES) + d + VEM_I_BLOCK;
    return (vem_i_state){.a = (int64_t)d * (d + 1) / 2,
                         .work = element < sizeof(double) && wide > floor ? wide : floor};
}

/* The panel of `to` items from `item` on, out of panels of `from`: these are as many or twice as
 * many, and filled, so that one lies in the other. Four at a time, of which compilers make one. */
static void widen_panel(const float *panels, int32_t item, int32_t from, int32_t to,
                        int32_t d, double *out)
{
    const float *x = panels + (int64_t)(item / from) * from * d + item % from;
    assert(from % to == 0 && to % 4 == 0);
    for (int32_t j = 0; j < d; j++, x += from, out += to)
        for (int32_t p = 0; p < to; p += 4) {
            out[p] = (double)x[p];
            out[p + 1] = (double)x[p + 1];
            out[p + 2] = (double)x[p + 2];
            out[p + 3] = (double)x[p + 3];
        }
}

static double collect_wide(const vem_i_scorer *s, const float *panels, const float *q,
                           int32_t n, const float *mean, double *work, double *sum,
                           double *second)
{
    const int32_t d = s->d, from = s->kernels->panel, to = s->wide->panel;
    const int32_t items = wide_items(d, to);
    double *wide_mean = work, *wide_q = work + d, *wide = wide_q + VEM_I_BLOCK, mass = 0;
    for (int32_t j = 0; j < d; j++)
        wide_mean[j] = (double)mean[j];
    for (int32_t first = 0; first < n; first += items) {
        int32_t count = n - first < items ? n - first : items;
        int any = 0;
        for (int32_t p = 0; p < count; p++) {
            wide_q[p] = (double)q[first + p];
            any |= wide_q[p] != 0;
        }
        if (!any)
            continue;
        for (int32_t p = 0; p < count; p += to)
            widen_panel(panels, first + p, from, to, d, wide + (int64_t)p * d);
        mass += s->wide->full_collect(wide, wide_q, count, d, wide_mean, sum, second);
    }
    return mass;
}

void vem_i_full_collect_tile(const vem_i_scorer *s, const vem_i_items *items,
                             const void *q, int32_t cluster, int thread,
                             vem_i_stats *stats)
{
    const void *mean =
        (const char *)s->about + (size_t)(cluster * s->ldc) * s->kernels->element;
    double *sum = vem_i_stats_first(stats, cluster),
           *second = vem_i_stats_second(stats, cluster);
    *vem_i_stats_mass(stats, cluster) +=
        s->kernels->precision == VEM_SINGLE
            ? collect_wide(s, items->panels, q, (int32_t)items->n, mean,
                           s->work + thread * s->work_size, sum, second)
            : s->kernels->full_collect(items->panels, q, (int32_t)items->n, s->d, mean,
                                       sum, second);
    vem_i_spread_collect(s, items, q, cluster, stats);
}

static void maximize_cluster(void *arg, int64_t cluster, int thread)
{
    task *t = arg;
    int32_t c = (int32_t)cluster;
    int64_t d = t->model->d;
    double *mean = t->model->means + c * d, *covariance = t->model->variances + c * d * d;
    double mass = vem_i_move_mean(t->scorer, t->stats, c, t->constraints, mean);
    t->trace[c] = 0;
    if (mass == 0)
        return;
    const double *first = vem_i_stats_first(t->stats, c);
    const double *second = vem_i_stats_second(t->stats, c);
    double *work = t->scorer->work + thread * t->scorer->work_size;
    double *delta = work, *rest = work + d;
    for (int32_t j = 0; j < d; j++) {
        delta[j] = first[j] / mass;
        rest[j] = vem_i_rest(t->scorer, c, j, mean[j], delta[j]);
    }
    if (t->constraints->shared) {
        for (int64_t j = 0; j < d; j++)
            t->trace[c] +=
                mass * vem_i_second_about(second[j * (j + 3) / 2] / mass,
                                          delta[j] * delta[j], rest[j] * rest[j]);
        return;
    }
    for (int64_t i = 0, at = 0; i < d; i++) {
        for (int64_t j = 0; j < i; j++, at++)
            covariance[i * d + j] = covariance[j * d + i] =
                second[at] / mass - delta[i] * delta[j] + rest[i] * rest[j];
        covariance[i * d + i] =
            vem_i_second_about(second[at++] / mass, delta[i] * delta[i],
                               rest[i] * rest[i]);
    }
    vem_i_floor_covariance(covariance, (int32_t)d, t->constraints, work);
}

static void maximize(vem_i_run *run, const vem_i_scorer *scorer, const vem_i_stats *stats,
                     const vem_i_constraints *constraints, vem_model *model)
{
    /* bias_wide is free between E-steps: it takes the traces. */
    task t = {.stats = stats,
              .constraints = constraints,
              .model = model,
              .scorer = scorer,
              .trace = scorer->bias_wide};
    double work = (double)model->d * model->d * model->d;
    vem_i_parallel_light(run, model->clusters, work, maximize_cluster, &t);
    if (constraints->shared) {
        double pooled = vem_i_sum(t.trace, model->clusters);
        vem_i_model_set_variance(model, fmax(pooled / ((double)model->d *
                                                       constraints->total_mass),
                                             vem_i_floor_shared(constraints, model->d)));
    }
    vem_i_maximize_weights(stats, constraints, model);
}

const vem_i_family vem_i_family_full = {.kind = VEM_FULL,
                                        VEM_I_DENSITY,
                                        .shape_axes = 2,
                                        .needs = VEM_I_SPREAD_FULL,
                                        .by_column = 1,
                                        .pooled = &vem_i_family_full,
                                        .state = vem_i_full_state,
                                        .prepare = prepare,
                                        .precision = vem_i_full_precision,
                                        .score_tile = vem_i_full_score_tile,
                                        .score_pairs = vem_i_full_score_pairs,
                                        .collect_tile = vem_i_full_collect_tile,
                                        .maximize = maximize};
