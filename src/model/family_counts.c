/* Families of counts: columns are independent given the cluster, whose mean is all there is to
 * know (docs/math/counts.md).
 *
 *     bernoulli     x_j in {0, 1}    log p = sum_j x_j log t_j + (1 - x_j) log(1 - t_j)
 *     poisson       x_j in {0, 1..}  log p = sum_j x_j log r_j - r_j          - sum_j log x_j!
 *     multinomial   x_j in {0, 1..}  log p = sum_j x_j log t_j + log (sum x)! - sum_j log x_j!
 *
 * All are linear in x, but for the last terms, which no cluster has a part in (log base measure):
 *
 *     v = bias_c + sum_j x_j a_cj - 2 log pi_c
 *     bernoulli     a = -2 log(t / (1 - t)),   bias = -2 sum_j log(1 - t_j)
 *     poisson       a = -2 log r,              bias = 2 sum_j r_j
 *     multinomial   a = -2 log t,              bias = 0
 *
 * M-step, with N_c and f_c = sum_i w_i q_ic x_i (moments about 0: all terms are positive):
 * t, r = f_c / N_c; multinomial t = f_c / sum_j f_cj. The floor: family_counts_laws.c. */
#include <math.h>

#include "base/parallel.h"
#include "model/family.h"

enum { TOGETHER = 16 }; /* clusters of one task */

/* ---- the contract ---- */

static vem_i_state state(int32_t d, size_t element)
{
    (void)element;
    return (vem_i_state){.a = d};
}

/* Bias of a cluster; fills its row of factors. */
typedef double (*factors_fn)(const vem_i_kernels *kernels, const double *mean, int64_t d,
                             void *a, int64_t at, int64_t step);

static double factors_bernoulli(const vem_i_kernels *kernels, const double *mean,
                                int64_t d, void *a, int64_t at, int64_t step)
{
    double bias = 0;
    for (int64_t j = 0; j < d; j++) {
        const double none = log1p(-mean[j]);
        vem_i_store(kernels, a, at + j * step, -2 * (log(mean[j]) - none));
        bias -= 2 * none;
    }
    return bias;
}

static double factors_poisson(const vem_i_kernels *kernels, const double *mean, int64_t d,
                              void *a, int64_t at, int64_t step)
{
    double bias = 0;
    for (int64_t j = 0; j < d; j++) {
        vem_i_store(kernels, a, at + j * step, -2 * log(mean[j]));
        bias += 2 * mean[j];
    }
    return bias;
}

static double factors_multinomial(const vem_i_kernels *kernels, const double *mean,
                                  int64_t d, void *a, int64_t at, int64_t step)
{
    for (int64_t j = 0; j < d; j++)
        vem_i_store(kernels, a, at + j * step, -2 * log(mean[j]));
    return 0;
}

typedef struct task {
    const vem_model *model;
    vem_i_scorer *scorer;
    factors_fn factors;
} task;

static void prepare_some(void *arg, int64_t number, int thread)
{
    (void)thread;
    const task *t = arg;
    const int64_t d = t->model->d, end = (number + 1) * TOGETHER;
    for (int64_t c = number * TOGETHER; c < end && c < t->model->clusters; c++)
        t->scorer->bias_wide[c] =
            t->factors(t->scorer->kernels, t->model->means + c * d, d, t->scorer->a,
                       t->scorer->by_column ? c : c * t->scorer->lda,
                       t->scorer->by_column ? t->scorer->lda : 1) -
            2 * log(t->model->weights[c]);
}

static void prepare_as(vem_i_run *run, const vem_model *model, vem_i_scorer *scorer,
                       factors_fn factors)
{
    task t = {model, scorer, factors};
    vem_i_parallel_light(run, vem_i_shards(model->clusters, TOGETHER),
                         20.0 * TOGETHER * model->d, prepare_some, &t);
}

static void prepare_bernoulli(vem_i_run *run, const vem_model *model,
                              vem_i_scorer *scorer)
{
    prepare_as(run, model, scorer, factors_bernoulli);
}

static void prepare_poisson(vem_i_run *run, const vem_model *model, vem_i_scorer *scorer)
{
    prepare_as(run, model, scorer, factors_poisson);
}

static void prepare_multinomial(vem_i_run *run, const vem_model *model,
                                vem_i_scorer *scorer)
{
    prepare_as(run, model, scorer, factors_multinomial);
}

static void score_tile(const vem_i_scorer *s, const vem_i_items *items, int32_t first,
                       int32_t count, void *costs, int64_t ldv)
{
    const size_t element = s->kernels->element;
    if (items->sparse.starts) {
        s->kernels->sparse_tile(&items->sparse, items->index, (int32_t)items->n,
                                (const char *)s->a + (size_t)first * element, s->lda,
                                (const char *)s->bias + (size_t)first * element, count,
                                costs, ldv);
        return;
    }
    s->kernels->dot_tile(items->panels, (int32_t)items->n, s->d,
                         (const char *)s->a + (size_t)(first * s->lda) * element, s->lda,
                         (const char *)s->bias + (size_t)first * element, count, costs,
                         ldv);
}

static int64_t row_of(const vem_i_items *items, int64_t p)
{
    return items->index ? (int64_t)items->index[p] : p;
}

/* Few of all pairs: no kernel. */
static void pairs_sparse(const vem_i_scorer *s, const vem_i_items *items, int32_t m,
                         const int32_t *index, void *costs, int64_t ldv)
{
    const vem_i_sparse *x = &items->sparse;
    for (int64_t r = 0; r < m; r++)
        for (int64_t p = 0; p < items->n; p++) {
            const int64_t c = index[r * ldv + p], row = row_of(items, p);
            double sum = c < 0 ? INFINITY : vem_i_value(s->kernels, s->bias, c);
            for (int64_t e = x->starts[row]; c >= 0 && e < x->ends[row]; e++)
                sum += vem_i_sparse_value(x, e) *
                       vem_i_value(s->kernels, s->a, x->columns[e] * s->lda + c);
            vem_i_store(s->kernels, costs, r * ldv + p, sum);
        }
}

static void score_pairs(const vem_i_scorer *s, const vem_i_items *items, int32_t m,
                        const int32_t *index, void *costs, int64_t ldv)
{
    if (items->sparse.starts) {
        pairs_sparse(s, items, m, index, costs, ldv);
        return;
    }
    s->kernels->dot_pairs(items->x, items->ld, items->index, (int32_t)items->n, s->d,
                          s->a, s->lda, s->bias, m, index, costs, ldv);
}

static void collect_tile(const vem_i_scorer *s, const vem_i_items *items, const void *q,
                         int32_t cluster, int thread, vem_i_stats *stats)
{
    (void)thread;
    if (items->sparse.starts) {
        const vem_i_sparse *x = &items->sparse;
        double *first = vem_i_stats_first(stats, cluster);
        for (int64_t p = 0; p < items->n; p++) {
            const double w = vem_i_value(s->kernels, q, p);
            const int64_t row = row_of(items, p);
            *vem_i_stats_mass(stats, cluster) += w;
            for (int64_t e = x->starts[row]; w > 0 && e < x->ends[row]; e++)
                first[x->columns[e]] += w * vem_i_sparse_value(x, e);
        }
        return;
    }
    *vem_i_stats_mass(stats, cluster) +=
        s->kernels->sum_collect(items->panels, q, (int32_t)items->n, s->d,
                                vem_i_stats_first(stats, cluster));
}

static void collect_sparse(const vem_i_scorer *s, const vem_i_items *items, const void *q,
                           int64_t ldq, vem_i_stats *stats)
{
    s->kernels->sparse_collect(&items->sparse, items->index, (int32_t)items->n, q, ldq,
                               stats->clusters, stats->block, stats->clusters);
}

typedef struct step {
    const vem_i_scorer *scorer;
    const vem_i_stats *stats;
    const vem_i_constraints *constraints;
    vem_model *model;
} step;

static void maximize_some(void *arg, int64_t number, int thread)
{
    (void)thread;
    const step *t = arg;
    const int64_t end = (number + 1) * TOGETHER;
    for (int64_t c = number * TOGETHER; c < end && c < t->model->clusters; c++) {
        double *mean = t->model->means + c * t->model->d;
        if (vem_i_move_mean(t->scorer, t->stats, (int32_t)c, t->constraints, mean) > 0)
            t->model->family->of_counts->limit(t->constraints, t->model->d, mean);
    }
}

/* A longer step than to the maximum would leave the range of the means. */
static void maximize(vem_i_run *run, const vem_i_scorer *scorer, const vem_i_stats *stats,
                     const vem_i_constraints *constraints, vem_model *model)
{
    vem_i_constraints exact = *constraints;
    exact.relax = 1;
    step t = {scorer, stats, &exact, model};
    vem_i_parallel_light(run, vem_i_shards(model->clusters, TOGETHER),
                         4.0 * TOGETHER * model->d, maximize_some, &t);
    vem_i_maximize_weights(stats, constraints, model);
}

/* A macro, so that each contract is written once and is a constant. */
#define FAMILY(KIND, name)                                                               \
    const vem_i_family vem_i_family_##name = {.kind = KIND,                              \
                                              .shape_axes = -1,                          \
                                              .needs = VEM_I_SPREAD_NONE,                \
                                              .of_counts = &vem_i_counts_##name,         \
                                              .pooled = &vem_i_family_##name,            \
                                              .state = state,                            \
                                              .prepare = prepare_##name,                 \
                                              .score_tile = score_tile,                  \
                                              .score_pairs = score_pairs,                \
                                              .collect_tile = collect_tile,              \
                                              .collect_sparse = collect_sparse,          \
                                              .maximize = maximize};
FAMILY(VEM_BERNOULLI, bernoulli)
FAMILY(VEM_POISSON, poisson)
FAMILY(VEM_MULTINOMIAL, multinomial)
