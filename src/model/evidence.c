/* Bayesian mixtures with a conjugate prior (Kurihara and Welling; Attias).
 *
 *     weights ~ Dirichlet(phi0),  Omega_c ~ Wishart(eta0, B0),  mu_c ~ N(m0, (xi0 Omega_c)^-1)
 *
 * Omega is a precision and B0 the inverse scale: E Omega = eta0 B0^-1. A cluster that holds rows of
 * mass N, mean m' and scatter S about it has the posterior
 *
 *     xi = xi0 + N,  eta = eta0 + N,  phi = phi0 + N,  m = (N m' + xi0 m0) / xi,
 *     B = B0 + S + N xi0 / xi (m' - m0)(m' - m0)',
 *
 * and integrating it out leaves  -log p(rows, labels) = sum_c F_c + T(K),
 *
 *     F_c = D N / 2 log pi + eta / 2 log|B| - eta0 / 2 log|B0| + D / 2 log(xi / xi0)
 *           - log Gamma_D(eta / 2) + log Gamma_D(eta0 / 2) - log Gamma(phi) + log Gamma(phi0),
 *     T(K) = log Gamma(N + K phi0) - log Gamma(K phi0).
 *
 * With independent columns (shape_axes 1) there is a Wishart of one dimension for each; with one variance
 * (shape_axes 0) one for all, of which every row gives D observations: eta = eta0 + N D.
 *
 * As a fit. Maximising  E_q log p(x, z, theta) - E_q log q  over q(theta) q(z) is EM with
 *
 *     E log p(x, c) = psi(phi) - psi(sum phi) + E log|Omega| / 2 - D / 2 log 2 pi - D / (2 xi)
 *                     - eta / 2 (x - m)' B^-1 (x - m)
 *
 * for the score of a row: that of a Gaussian with the mean m, the covariance B / eta and the weight
 *
 *     log w = psi(phi) - psi(sum phi) + [Psi_D(eta / 2) - D log(eta / 2)] / 2 - D / (2 xi),
 *
 * Psi_D the derivative of log Gamma_D. These weights add up to less than 1; they are stored divided by
 * their sum Z, so that model and scorer are as ever, and what F is to have besides,
 *
 *     offset = log Z - KL(q(theta) | p(theta)) / W ,
 *
 * goes with the model. So F never falls, every search and view serves, and where labels do not change
 * any more  -W F  is  sum_c F_c + T(K)  (rows hold one cluster: Bayesian k-means; several: variational
 * Bayes). Means are rounded to the compute type: with a mean m_r, B is taken about that one,
 * B0 + sum (x - m_r)(x - m_r)' + xi0 (m_r - m0)(m_r - m0)', which is the best B for it. Clusters
 * without rows have the weight 0 and do not count in K. */
#include "model/evidence.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "model/special.h"

static const double LOG_PI = 1.1447298858494001741;

/* Wisharts of a cluster, the dimension of each, and observations that a row gives it. */
typedef struct layout {
    int32_t wisharts, dimension;
    double each;
} layout;

static layout layout_of(const vem_i_conjugate *c)
{
    if (c->family->shape_axes == 2)
        return (layout){1, c->d, 1};
    return c->family->shape_axes == 1 ? (layout){c->d, 1, 1} : (layout){1, 1, c->d};
}

/* ---- the prior ---- */

int vem_i_has_evidence(const vem_i_family *family)
{
    return family->shape_axes >= 0 && !family->shared;
}

vem_status vem_i_conjugate_new(vem_i_run *run, const vem_i_family *family, int32_t d,
                               vem_i_conjugate *c)
{
    const size_t values = (size_t)vem_i_shape_values(family, d);
    *c = (vem_i_conjugate){.family = family, .d = d, .mass_unit = 1};
    const vem_i_room list[] = {
        {&c->mean, (size_t)d, sizeof(double), 1},
        {&c->scale, values, sizeof(double), 1},
        {&c->factor, family->shape_axes == 2 ? values : 0, sizeof(double), 1},
    };
    const vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status != VEM_OK)
        vem_i_conjugate_free(c);
    return status;
}

void vem_i_conjugate_free(vem_i_conjugate *c)
{
    vem_i_free(c->mean);
    vem_i_free(c->scale);
    vem_i_free(c->factor);
    *c = (vem_i_conjugate){0};
}

vem_status vem_i_conjugate_settle(vem_i_run *run, vem_i_conjugate *c)
{
    const layout l = layout_of(c);
    const int64_t d = c->d;
    c->log_det = 0;
    if (run->counted)
        return VEM_OK;
    if (!(c->strength > 0 && isfinite(c->strength)))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The prior strength is %g, but it must be positive.",
                          c->strength);
    if (!(c->count > 0 && isfinite(c->count)))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The prior count is %g, but it must be positive.", c->count);
    if (!(c->dof > l.dimension - 1 && isfinite(c->dof)))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The prior has %g degrees of freedom, but there must be more than %d.",
            c->dof, l.dimension - 1);
    if (c->factor) {
        memcpy(c->factor, c->scale, (size_t)(d * d) * sizeof(double));
        if (!vem_i_cholesky(c->factor, c->d))
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "The prior scale is no positive definite matrix.");
        for (int64_t i = 0; i < d; i++) {
            c->log_det += 2 * log(c->factor[i * d + i]);
            memset(c->factor + i * d + i + 1, 0, (size_t)(d - i - 1) * sizeof(double));
        }
    } else {
        for (int32_t w = 0; w < l.wisharts; w++) {
            if (!(c->scale[w] > 0 && isfinite(c->scale[w])))
                return vem_i_fail(run, VEM_BAD_OPTION,
                                  "The prior scale is %g, but it must be positive.",
                                  c->scale[w]);
            c->log_det += log(c->scale[w]);
        }
    }
    c->log_norm = l.wisharts * vem_i_log_gamma_of(0.5 * c->dof, l.dimension);
    return VEM_OK;
}

/* ---- evidence ---- */

/* log|B|, and the Cholesky factor of B in `work`. Rounding alone can make B indefinite, where rows
 * lie in a plane and the prior is nothing beside them: then it becomes the nearest matrix that
 * rounding can tell from a singular one. */
static double factorize(double *b, int32_t d, double *work)
{
    const size_t bytes = (size_t)d * (size_t)d * sizeof(double);
    double sum = 0;
    memcpy(work, b, bytes);
    if (!vem_i_cholesky(work, d)) {
        vem_i_floor_eigenvalues(b, d, 0, work);
        memcpy(work, b, bytes);
        vem_i_cholesky(work, d);
    }
    for (int64_t j = 0; j < d; j++)
        sum += 2 * log(work[j * d + j]);
    return sum;
}

double vem_i_evidence_count(const vem_i_conjugate *c, double mass, double clusters)
{
    return vem_i_log_gamma(mass * c->mass_unit + clusters * c->count) -
           vem_i_log_gamma(clusters * c->count);
}

/* F_c but for the determinants. */
static double evidence_constants(const vem_i_conjugate *c, double n)
{
    const layout l = layout_of(c);
    const double eta = c->dof + n * l.each;
    return 0.5 * c->d * (n * LOG_PI + log1p(n / c->strength)) -
           l.wisharts * vem_i_log_gamma_of(0.5 * eta, l.dimension) + c->log_norm -
           vem_i_log_gamma(c->count + n) + vem_i_log_gamma(c->count);
}

double vem_i_evidence_of(const vem_i_conjugate *c, double mass, const double *mean,
                         const double *scatter, double *work)
{
    const layout l = layout_of(c);
    const int64_t d = c->d;
    const double n = mass * c->mass_unit, eta = c->dof + n * l.each;
    const double pull = n * c->strength / (n + c->strength);
    double log_det = 0, square = 0;
    if (!(n > 0))
        return 0;
    if (c->family->shape_axes == 2) {
        for (int64_t i = 0, at = 0; i < d; i++)
            for (int64_t j = 0; j <= i; j++, at++)
                work[i * d + j] = work[j * d + i] =
                    c->scale[i * d + j] + c->mass_unit * scatter[at] +
                    pull * (mean[i] - c->mean[i]) * (mean[j] - c->mean[j]);
        log_det = factorize(work, c->d, work + d * d);
    } else {
        for (int64_t j = 0; j < d; j++) {
            const double e = mean[j] - c->mean[j];
            square += e * e;
            if (c->family->shape_axes == 1)
                log_det += log(c->scale[j] + c->mass_unit * scatter[j] + pull * e * e);
        }
        if (c->family->shape_axes == 0)
            log_det = log(c->scale[0] + c->mass_unit * scatter[0] + pull * square);
    }
    return evidence_constants(c, n) + 0.5 * eta * log_det - 0.5 * c->dof * c->log_det;
}

/* ---- the M-step ---- */

typedef struct task {
    const vem_i_scorer *scorer;
    const vem_i_stats *stats;
    const vem_i_constraints *constraints;
    vem_model *
        model; /* its weights: log w but for the common part; -inf for an empty cluster */
    double *divergence; /* C: KL of each cluster */
} task;

/* Where the mean of column j is, from that of what is held and from the prior's. */
typedef struct place {
    double delta, rest, pull;
} place;

static place place_of(const task *t, int32_t c, int32_t j, double mass)
{
    const double mean = t->model->means[(int64_t)c * t->model->d + j],
                 delta = vem_i_stats_first(t->stats, c)[j] / mass;
    return (place){delta, vem_i_rest(t->scorer, c, j, mean, delta),
                   mean - t->constraints->conjugate->mean[j]};
}

/* What KL needs of B, over all Wisharts: log|B|, tr(B0 B^-1), (m - m0)' B^-1 (m - m0). */
typedef struct inverse {
    double log_det, trace, pull;
} inverse;

static inverse set_matrix(const task *t, int32_t c, double mass, double *work)
{
    const vem_i_conjugate *prior = t->constraints->conjugate;
    const int64_t d = prior->d;
    const double *second = vem_i_stats_second(t->stats, c);
    double *b = vem_i_cluster_shape(t->model, c), *e = work + d * d;
    inverse found = {0};
    for (int32_t i = 0, at = 0; i < d; i++) {
        const place p = place_of(t, c, i, mass);
        e[i] = p.pull;
        for (int32_t j = 0; j <= i; j++, at++) {
            const place q = place_of(t, c, j, mass);
            const double moved = p.delta * q.delta, rest = p.rest * q.rest;
            const double about = i == j
                                     ? vem_i_second_about(second[at] / mass, moved, rest)
                                     : second[at] / mass - moved + rest;
            b[i * d + j] = b[j * d + i] = prior->scale[i * d + j] +
                                          prior->mass_unit * mass * about +
                                          prior->strength * p.pull * q.pull;
        }
    }
    found.log_det = factorize(b, prior->d, work);
    for (int64_t i = 0; i < d; i++) /* factorize may have used that */
        e[i] = place_of(t, c, (int32_t)i, mass).pull;
    vem_i_invert_lower(work, prior->d);
    for (int64_t i = 0; i < d; i++) { /* |U L0|^2 and |U e|^2, U = L^-1 */
        double along = 0;
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t k = j; k <= i; k++)
                sum += work[i * d + k] * prior->factor[k * d + j];
            found.trace += sum * sum;
            along += work[i * d + j] * e[j];
        }
        found.pull += along * along;
    }
    return found;
}

static inverse set_columns(const task *t, int32_t c, double mass)
{
    const vem_i_conjugate *prior = t->constraints->conjugate;
    const double *second = vem_i_stats_second(t->stats, c);
    double *b = vem_i_cluster_shape(t->model, c);
    inverse found = {0};
    for (int32_t j = 0; j < prior->d; j++) {
        const place p = place_of(t, c, j, mass);
        const double about =
            vem_i_second_about(second[j] / mass, p.delta * p.delta, p.rest * p.rest);
        b[j] = prior->scale[j] + prior->mass_unit * mass * about +
               prior->strength * p.pull * p.pull;
        found.log_det += log(b[j]);
        found.trace += prior->scale[j] / b[j];
        found.pull += p.pull * p.pull / b[j];
    }
    return found;
}

static inverse set_number(const task *t, int32_t c, double mass)
{
    const vem_i_conjugate *prior = t->constraints->conjugate;
    double moved = 0, rest = 0, pull = 0, *b = vem_i_cluster_shape(t->model, c);
    for (int32_t j = 0; j < prior->d; j++) {
        const place p = place_of(t, c, j, mass);
        moved += p.delta * p.delta;
        rest += p.rest * p.rest;
        pull += p.pull * p.pull;
    }
    *b = prior->scale[0] + prior->strength * pull +
         prior->mass_unit * mass *
             vem_i_second_about(*vem_i_stats_second(t->stats, c) / mass, moved, rest);
    return (inverse){log(*b), prior->scale[0] / *b, pull / *b};
}

static void maximize_cluster(void *arg, int64_t cluster, int thread)
{
    const task *t = arg;
    const vem_i_conjugate *prior = t->constraints->conjugate;
    const layout l = layout_of(prior);
    const int32_t c = (int32_t)cluster, d = prior->d;
    const double mass = vem_i_move_mean(t->scorer, t->stats, c, t->constraints,
                                        t->model->means + (int64_t)c * d);
    t->divergence[c] = 0;
    t->model->weights[c] = -INFINITY;
    if (mass == 0)
        return;
    const double n = mass * prior->mass_unit, xi = prior->strength + n,
                 eta = prior->dof + n * l.each, phi = prior->count + n;
    const inverse b =
        prior->family->shape_axes == 2
            ? set_matrix(t, c, mass, t->scorer->work + thread * t->scorer->work_size)
        : prior->family->shape_axes == 1 ? set_columns(t, c, mass)
                                         : set_number(t, c, mass);
    double *shape = vem_i_cluster_shape(t->model, c);
    for (int64_t k = 0; k < vem_i_shape_values(prior->family, d); k++)
        shape[k] /= eta;
    const double expected = l.wisharts * vem_i_digamma_of(0.5 * eta, l.dimension);
    const double dimensions = l.wisharts * l.dimension;
    t->model->weights[c] = vem_i_digamma(phi) - 0.5 * d / xi +
                           0.5 * l.each * (expected - dimensions * log(0.5 * eta));
    t->divergence[c] =
        0.5 * prior->dof * (b.log_det - prior->log_det) -
        l.wisharts * vem_i_log_gamma_of(0.5 * eta, l.dimension) + prior->log_norm +
        0.5 * (eta - prior->dof) * expected - 0.5 * eta * (dimensions - b.trace) +
        0.5 *
            (d * (log1p(n / prior->strength) - n / xi) + prior->strength * eta * b.pull);
}

/* The divergence of the weights, and the weights themselves. */
static double settle_weights(const task *t)
{
    const vem_i_conjugate *prior = t->constraints->conjugate;
    double *weights = t->model->weights, clusters = 0, sum = 0, top = -INFINITY, z = 0;
    double all = 0;
    for (int32_t c = 0; c < t->model->clusters; c++)
        if (weights[c] > -INFINITY) {
            clusters++;
            all += prior->count + *vem_i_stats_mass(t->stats, c) * prior->mass_unit;
            top = fmax(top, weights[c]);
        }
    const double common = vem_i_digamma(all);
    sum = vem_i_log_gamma(all) - vem_i_log_gamma(clusters * prior->count) +
          clusters * vem_i_log_gamma(prior->count);
    for (int32_t c = 0; c < t->model->clusters; c++) {
        const double n = *vem_i_stats_mass(t->stats, c) * prior->mass_unit;
        if (weights[c] > -INFINITY)
            sum += n * (vem_i_digamma(prior->count + n) - common) -
                   vem_i_log_gamma(prior->count + n);
        weights[c] = exp(weights[c] - top);
        z += weights[c];
    }
    for (int32_t c = 0; c < t->model->clusters; c++)
        weights[c] /= z;
    t->model->offset = log(z) + top - common;
    return sum;
}

static void maximize_posterior(vem_i_run *run, const vem_i_scorer *scorer,
                               const vem_i_stats *stats,
                               const vem_i_constraints *constraints, vem_model *model)
{
    /* bias_wide is free between E-steps. */
    task t = {scorer, stats, constraints, model, scorer->bias_wide};
    const double work = model->family->shape_axes == 2 ? (double)model->d : 1;
    vem_i_parallel_light(run, model->clusters, work * model->d * model->d,
                         maximize_cluster, &t);
    const double divergence =
        settle_weights(&t) + vem_i_sum(t.divergence, model->clusters);
    model->offset -=
        divergence / (constraints->total_mass * constraints->conjugate->mass_unit);
}

void vem_i_maximize(vem_i_run *run, const vem_i_scorer *scorer, const vem_i_stats *stats,
                    const vem_i_constraints *constraints, vem_model *model)
{
    if (constraints->conjugate) {
        maximize_posterior(run, scorer, stats, constraints, model);
        return;
    }
    model->family->maximize(run, scorer, stats, constraints, model);
    model->offset = -constraints->price *
                    (double)vem_i_parameter_count(model->family, constraints->prior,
                                                  model->clusters, model->d);
}
