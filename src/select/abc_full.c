/* Clusters with covariance matrices, and what two of them cost together.
 *
 * Rows are whitened by the prior: y = L0^-1 (x - m0), B0 = L0 L0'. Then B0 is 1 and m0
 * is 0, and a cluster of mass w, mean m' and scatter S has
 *
 *     B = 1 + S + w xi0 / xi m' m'',   xi = xi0 + w,   m = w / xi m',
 *     F_c = g(w) + eta / 2 log|B|,     eta = eta0 + w,
 *     g(w) = D / 2 log(xi / xi0) - log Gamma_D(eta / 2) + log Gamma_D(eta0 / 2)
 *            - log Gamma(phi0 + w) + log Gamma(phi0)
 *
 * but for w (D log pi + log|B0|) / 2, of which every merge keeps the sum.
 *
 * Two clusters, h (host) and g (guest): the posterior of h is the prior of g, so that
 *
 *     B = B_h + S_g + u u',   u = sqrt(xi_h w_g / (xi_h + w_g)) (m'_g - m_h).
 *
 * Small clusters keep their scatter as r vectors, S = V'V, which are those of the
 * parts and one more for the difference of their means: a cluster of n rows has n - 1.
 * With U the k = r_g + 1 vectors of the guest and u,
 *
 *     log|B| = log|B_h| + log|1_k + U B_h^-1 U'|,
 *     B_h = L L':     U B_h^-1 U' = Z Z',  Z = U L^-T                      (k D^2 / 2)
 *     B_h = 1 + P'P:  U U' - (U M')(U M')',  M = (1 + P P')^(-1/2) P       (k q D)
 *
 * with the q vectors P of the host, V and that of its mean.
 *
 * A single row as guest costs O(D) beside another one, and never more than O(D^2).
 * From D / 2 vectors on a cluster keeps the matrices S and L^-1, of which there are
 * never more than N / (D / 2); so all of them take O(N D). Two such clusters need a
 * Cholesky factorisation. The host is the one with more vectors, of equals the one
 * with the smaller number: a cost has the same bits whichever cluster asks. Pivots are
 * 1 or more but for rounding, and are kept so. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "select/abc_inside.h"

static double cost_of(const vem_i_full *f, double w, double log_det)
{
    return vem_i_full_mass_term(f, w) + 0.5 * (f->eta0 + w) * log_det;
}

/* ---- two clusters ---- */

static void set_guest(const vem_i_full *f, const vem_i_full_cluster *h,
                      const vem_i_full_cluster *g, double *u)
{
    const double length = sqrt(h->xi * g->mass / (h->xi + g->mass));
    const double shrink = h->mass / h->xi;
    for (int32_t j = 0; j < f->d; j++)
        u[j] = length * (g->mean[j] - shrink * h->mean[j]);
}

/* u B_h^-1 u' for one vector. */
static double whitened_square(const vem_i_full *f, const vem_i_full_cluster *h,
                              const double *u)
{
    const int64_t d = f->d;
    double sum = 0;
    if (h->rank == VEM_I_DENSE) {
        for (int64_t i = 0; i < d; i++) {
            const double z = vem_i_dot(h->factor + i * (i + 1) / 2, u, i + 1);
            sum += z * z;
        }
        return sum;
    }
    sum = vem_i_dot(u, u, d);
    if (!h->factor) {
        const double along = h->single * vem_i_dot(h->mean, u, d);
        return fmax(sum - along * along, 0);
    }
    for (int64_t i = 0; i <= h->rank; i++) {
        const double along = vem_i_dot(h->factor + i * d, u, d);
        sum -= along * along;
    }
    return fmax(sum, 0);
}

/* log|1 + U B_h^-1 U'|, U the vectors of the guest and u. */
static double low_rank(const vem_i_full *f, const vem_i_full_cluster *h,
                       const vem_i_full_cluster *g, double *work)
{
    const int64_t d = f->d, k = g->rank + 1;
    double *u = work, *z = u + d;
    set_guest(f, h, g, u);
    if (k == 1)
        return log1p(whitened_square(f, h, u));
    const int dense = h->rank == VEM_I_DENSE;
    const int64_t q = dense ? d : h->factor ? h->rank + 1 : 1;
    double *a = z + k * q;
    for (int64_t i = 0; i < k; i++) {
        const double *v = i < g->rank ? g->scatter + i * d : u;
        double *out = z + i * q, *row = a + i * (i + 1) / 2;
        for (int64_t l = 0; l < q; l++)
            out[l] = dense       ? vem_i_dot(h->factor + l * (l + 1) / 2, v, l + 1)
                     : h->factor ? vem_i_dot(h->factor + l * d, v, d)
                                 : h->single * vem_i_dot(h->mean, v, d);
        for (int64_t j = 0; j <= i; j++) {
            const double *other = j < g->rank ? g->scatter + j * d : u;
            const double inner = vem_i_dot(out, z + j * q, q);
            row[j] = (i == j) + (dense ? inner : vem_i_dot(v, other, d) - inner);
        }
    }
    return vem_i_triangle_factorize(a, k);
}

/* B of the union of two dense clusters. */
static double both_dense(const vem_i_full *f, const vem_i_full_cluster *h,
                         const vem_i_full_cluster *g, double *work)
{
    const int64_t d = f->d;
    const double w = h->mass + g->mass;
    const double apart = sqrt(h->mass * g->mass / w),
                 pull = sqrt(w * f->xi0 / (f->xi0 + w));
    double *between = work, *middle = work + d, *b = work + 2 * d;
    for (int64_t j = 0; j < d; j++) {
        between[j] = apart * (h->mean[j] - g->mean[j]);
        middle[j] = pull * ((h->mass * h->mean[j] + g->mass * g->mean[j]) / w);
    }
    for (int64_t i = 0, at = 0; i < d; i++) {
        for (int64_t j = 0; j <= i; j++, at++)
            b[at] = h->scatter[at] + g->scatter[at] + between[i] * between[j] +
                    middle[i] * middle[j];
        b[at - 1] += 1;
    }
    return vem_i_triangle_factorize(b, d);
}

static double pair_cost(const vem_i_full *f, int32_t x, int32_t y, double *work)
{
    const vem_i_full_cluster *a = &f->clusters[x], *b = &f->clusters[y];
    const int swap = a->rank != b->rank ? a->rank < b->rank : x > y;
    const vem_i_full_cluster *h = swap ? b : a, *g = swap ? a : b;
    const double log_det = g->rank == VEM_I_DENSE ? both_dense(f, h, g, work)
                                                  : h->log_det + low_rank(f, h, g, work);
    return cost_of(f, h->mass + g->mass, log_det) - (h->cost + g->cost);
}

static void measure(const void *user, int32_t from, const int32_t *to, int64_t count,
                    double *out, int thread)
{
    const vem_i_full *f = user;
    double *work = f->scratch + thread * f->scratch_size;
    for (int64_t i = 0; i < count; i++)
        out[i] = pair_cost(f, from, to[i], work);
}

/* ---- one cluster ---- */

/* Scatter is set: what a host needs, and the cost. */
static vem_status settle_dense(vem_i_full *f, vem_i_full_cluster *c)
{
    const int64_t d = f->d;
    const double pull = c->mass * f->xi0 / c->xi;
    vem_status status =
        vem_i_take(f->run, &c->factor, (size_t)vem_i_triangle(d), sizeof(double));
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0, at = 0; i < d; i++) {
        for (int64_t j = 0; j <= i; j++, at++)
            c->factor[at] = c->scatter[at] + pull * c->mean[i] * c->mean[j];
        c->factor[at - 1] += 1;
    }
    c->log_det = vem_i_triangle_factorize(c->factor, d);
    vem_i_triangle_invert(c->factor, d);
    return VEM_OK;
}

/* M = L^-1 P, 1 + P P' = L L'. */
static vem_status settle_vectors(vem_i_full *f, vem_i_full_cluster *c)
{
    const int64_t d = f->d, q = c->rank + 1;
    const double pull = sqrt(c->mass * f->xi0 / c->xi);
    double *a = f->scratch;
    vem_status status = vem_i_take(f->run, &c->factor, (size_t)(q * d), sizeof(double));
    if (status != VEM_OK)
        return status;
    memcpy(c->factor, c->scatter, (size_t)((q - 1) * d) * sizeof(double));
    for (int64_t j = 0; j < d; j++)
        c->factor[(q - 1) * d + j] = pull * c->mean[j];
    for (int64_t i = 0; i < q; i++)
        for (int64_t j = 0; j <= i; j++)
            a[i * (i + 1) / 2 + j] =
                (i == j) + vem_i_dot(c->factor + i * d, c->factor + j * d, d);
    c->log_det = vem_i_triangle_factorize(a, q);
    for (int64_t i = 0; i < q; i++) {
        const double *row = a + i * (i + 1) / 2;
        for (int64_t l = 0; l < i; l++)
            for (int64_t j = 0; j < d; j++)
                c->factor[i * d + j] -= row[l] * c->factor[l * d + j];
        for (int64_t j = 0; j < d; j++)
            c->factor[i * d + j] /= row[i];
    }
    return VEM_OK;
}

vem_status vem_i_full_settle(vem_i_full *f, vem_i_full_cluster *c)
{
    vem_status status = VEM_OK;
    c->xi = f->xi0 + c->mass;
    if (c->rank == 0) {
        const double pull = c->mass * f->xi0 / c->xi;
        const double square = pull * vem_i_dot(c->mean, c->mean, f->d);
        c->log_det = log1p(square);
        c->single = sqrt(pull / (1 + square));
    } else {
        status = c->rank == VEM_I_DENSE ? settle_dense(f, c) : settle_vectors(f, c);
    }
    c->cost = cost_of(f, c->mass, c->log_det);
    return status;
}

void vem_i_full_let_go(vem_i_full_cluster *c)
{
    vem_i_free(c->scatter);
    vem_i_free(c->factor);
    c->scatter = c->factor = NULL;
}

/* Scatter of one cluster into a matrix, or behind the vectors that are there. */
static void add_scatter(const vem_i_full *f, const vem_i_full_cluster *from, int dense,
                        double *to)
{
    const int64_t d = f->d;
    if (from->rank == VEM_I_DENSE) {
        for (int64_t k = 0; k < vem_i_triangle(d); k++)
            to[k] += from->scatter[k];
        return;
    }
    for (int64_t i = 0; i < from->rank; i++) {
        if (dense)
            vem_i_triangle_add(to, from->scatter + i * d, d);
        else
            memcpy(to + i * d, from->scatter + i * d, (size_t)d * sizeof(double));
    }
}

static vem_status merge(vem_i_abc_clusters *clusters, int32_t x, int32_t y, int32_t into)
{
    vem_i_full *f = (vem_i_full *)clusters;
    vem_i_full_cluster *a = &f->clusters[x], *b = &f->clusters[y],
                       *c = &f->clusters[into];
    const int64_t d = f->d;
    const double w = a->mass + b->mass, apart = sqrt(a->mass * b->mass / w);
    const int dense = a->rank == VEM_I_DENSE || b->rank == VEM_I_DENSE ||
                      (int64_t)a->rank + b->rank + 1 > f->most;
    *c = (vem_i_full_cluster){.mass = w,
                              .rank = dense ? VEM_I_DENSE : a->rank + b->rank + 1,
                              .mean = a->mean};
    const int64_t values = dense ? vem_i_triangle(d) : c->rank * d;
    vem_status status =
        vem_i_take_zeroed(f->run, &c->scatter, (size_t)values, sizeof(double));
    if (status != VEM_OK)
        return status;
    double *difference = dense ? f->scratch : c->scatter + (c->rank - 1) * d;
    for (int64_t j = 0; j < d; j++) {
        const double step = b->mean[j] - a->mean[j];
        difference[j] = apart * step;
    }
    add_scatter(f, a, dense, c->scatter);
    add_scatter(f, b, dense, dense ? c->scatter : c->scatter + a->rank * d);
    if (dense)
        vem_i_triangle_add(c->scatter, difference, d);
    for (int64_t j = 0; j < d; j++) /* in the place of a's */
        c->mean[j] += b->mass / w * (b->mean[j] - c->mean[j]);
    vem_i_full_let_go(a);
    vem_i_full_let_go(b);
    return vem_i_full_settle(f, c);
}

static double operations(const vem_i_abc_clusters *clusters)
{
    return 20 + 6.0 * ((const vem_i_full *)clusters)->d;
}

const vem_i_abc_type vem_i_abc_full = {
    .create = vem_i_full_create,
    .free = vem_i_full_free,
    .measure = measure,
    .merge = merge,
    .leaf_cost = vem_i_full_leaf_cost,
    .operations = operations,
};
