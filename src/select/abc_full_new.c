/* Clusters with covariance matrices: leaves, whitened by the prior, and what depends
 * on masses. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/linalg.h"
#include "model/special.h"
#include "select/abc_inside.h"

enum { EXACT_EVERY = 256, LARGEST_TABLE = 1 << 24 };
static const double LOG_PI = 1.1447298858494001741;

/* ---- what depends on the mass ---- */

double vem_i_full_mass_term(const vem_i_full *f, double w)
{
    const double eta = f->eta0 + w;
    if (f->table && w < (double)f->length)
        return f->table[(int64_t)w];
    return 0.5 * f->d * log1p(w / f->xi0) - vem_i_log_gamma_of(0.5 * eta, f->d) +
           vem_i_log_gamma_of(0.5 * f->eta0, f->d) - vem_i_log_gamma(f->phi0 + w) +
           vem_i_log_gamma(f->phi0);
}

/* Gamma_D(x + 1/2) / Gamma_D(x) = Gamma(x + 1/2) / Gamma(x + (1 - D) / 2): from one
 * mass to the next in two of the D gammas, and exactly every so often. */
static vem_status fill_table(vem_i_full *f, const vem_i_leaves *leaves)
{
    double *table = f->table, wishart = 0;
    vem_status status = VEM_OK;
    f->table = NULL;
    for (int64_t w = 0; status == VEM_OK && w < f->length; w++) {
        const double eta = f->eta0 + (double)w;
        if (w % EXACT_EVERY == 0) {
            wishart = vem_i_log_gamma_of(0.5 * eta, f->d) -
                      vem_i_log_gamma_of(0.5 * f->eta0, f->d);
            status = vem_i_leaves_tell(f->run, leaves, 0);
        } else
            wishart += vem_i_log_gamma(0.5 * eta) - vem_i_log_gamma(0.5 * (eta - f->d));
        table[w] = 0.5 * f->d * log1p((double)w / f->xi0) - wishart -
                   vem_i_log_gamma(f->phi0 + (double)w) + vem_i_log_gamma(f->phi0);
    }
    f->table = table;
    return status;
}

/* ---- leaves ---- */

static void whiten(const vem_i_full *f, const double *x, double *y)
{
    const int64_t d = f->d;
    for (int64_t j = 0; j < d; j++)
        y[j] = x[j] - f->origin[j];
    if (f->roots <= d) {
        for (int64_t j = 0; j < d; j++)
            y[j] *= f->root[j];
        return;
    }
    for (int64_t i = d - 1; i >= 0; i--) /* in place, from below */
        y[i] = vem_i_dot(f->root + i * d, y, i + 1);
}

/* A group of rows: deviations from its mean. */
static vem_status set_group(vem_i_full *f, const vem_i_leaves *leaves, int64_t leaf)
{
    const vem_view *view = leaves->view;
    const int64_t d = f->d, rows = vem_i_leaf_rows(leaves, leaf);
    vem_i_full_cluster *c = &f->clusters[leaf];
    double *y = f->scratch;
    if (rows == 1) {
        c->rank = 0;
        return vem_i_full_settle(f, c);
    }
    c->rank = rows > f->most ? VEM_I_DENSE : (int32_t)rows;
    const int64_t values = c->rank == VEM_I_DENSE ? vem_i_triangle(d) : rows * d;
    vem_status status =
        vem_i_take_zeroed(f->run, &c->scatter, (size_t)values, sizeof(double));
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t row = vem_i_leaf_row(leaves, leaf, i);
        const double weight = sqrt(vem_i_view_mass(view, row) * view->mass_unit);
        whiten(f, vem_i_view_row(view, row), y);
        for (int64_t j = 0; j < d; j++)
            y[j] = weight * (y[j] - c->mean[j]);
        if (c->rank == VEM_I_DENSE)
            vem_i_triangle_add(c->scatter, y, d);
        else
            memcpy(c->scatter + i * d, y, (size_t)d * sizeof(double));
    }
    return vem_i_full_settle(f, c);
}

/* Scatters and factors come and go with merges. There are never more than of clusters
 * that are all dense, or of rows that are all vectors, 2 for each; and while two become
 * one, those of that one. */
static vem_status count_scatters(vem_i_full *f, const vem_i_leaves *leaves)
{
    enum { BESIDE = 80 }; /* bytes of a block that are not ours */
    const size_t d = (size_t)f->d, matrices = 2 * (size_t)vem_i_triangle(f->d);
    const size_t clusters =
        (size_t)(f->leaves < leaves->view->n ? f->leaves : f->leaves / 2 + 1);
    const size_t dense = clusters * matrices, vectors = 2 * (size_t)leaves->view->n * d;
    double *none;
    char *edges;
    vem_status status =
        vem_i_take(f->run, &none, (dense < vectors ? dense : vectors) + matrices,
                   sizeof *none);
    if (status == VEM_OK)
        status = vem_i_take(f->run, &edges, 2 * clusters, BESIDE);
    return status;
}

static vem_status set_leaves(vem_i_full *f, const vem_i_leaves *leaves)
{
    vem_status status = VEM_OK;
    if (!f->clusters)
        return count_scatters(f, leaves);
    for (int64_t i = 0; status == VEM_OK && i < leaves->count; i++) {
        vem_i_full_cluster *c = &f->clusters[i];
        c->mean = f->means + i * f->d;
        c->mass = vem_i_leaf_mean(leaves, i, f->scratch);
        whiten(f, f->scratch, c->mean);
        status = set_group(f, leaves, i);
        if (status == VEM_OK)
            status = vem_i_leaves_tell(f->run, leaves, i);
    }
    return status;
}

double vem_i_full_leaf_cost(const vem_i_abc_clusters *clusters, int64_t leaf)
{
    const vem_i_full *f = (const vem_i_full *)clusters;
    const vem_i_full_cluster *c = &f->clusters[leaf];
    return c->cost + 0.5 * c->mass * (f->d * LOG_PI + f->log_det);
}

/* L0^-1, and log|B0|. */
static vem_status set_root(vem_i_full *f, const vem_i_conjugate *prior)
{
    const int64_t d = f->d;
    f->roots = vem_i_shape_values(prior->family, f->d);
    vem_status status = vem_i_take(f->run, &f->root, (size_t)f->roots, sizeof(double));
    if (status != VEM_OK || !f->root)
        return status;
    f->log_det = prior->log_det;
    if (f->roots > d) {
        memcpy(f->root, prior->factor, (size_t)f->roots * sizeof(double));
        vem_i_invert_lower(f->root, f->d);
        return VEM_OK;
    }
    for (int64_t j = 0; j < d; j++)
        f->root[j] = 1 / sqrt(prior->scale[j]);
    return VEM_OK;
}

/* Whole masses have a table, as long as it is not the largest part of all. */
static int64_t table_length(const vem_i_leaves *leaves)
{
    const vem_view *view = leaves->view;
    double total = 0;
    for (int64_t i = 0; i < view->n; i++) {
        const double mass = vem_i_view_mass(view, i) * view->mass_unit;
        total += mass;
        if (mass != floor(mass) || total >= LARGEST_TABLE)
            return 0;
    }
    return (int64_t)total + 1;
}

void vem_i_full_free(vem_i_abc_clusters *clusters)
{
    vem_i_full *f = (vem_i_full *)clusters;
    if (!f)
        return;
    for (int64_t i = 0; f->clusters && i < 2 * f->leaves - 1; i++)
        vem_i_full_let_go(&f->clusters[i]);
    vem_i_free(f->clusters);
    vem_i_free(f->means);
    vem_i_free(f->root);
    vem_i_free(f->table);
    vem_i_free(f->scratch);
    vem_i_free(f);
}

vem_status vem_i_full_create(vem_i_run *run, const vem_i_conjugate *prior,
                             const vem_i_leaves *leaves, const vem_i_family *family,
                             vem_i_abc_clusters **clusters)
{
    vem_i_full *f;
    const int64_t d = leaves->view->d, n = leaves->count;
    (void)family;
    vem_status status = vem_i_take_structs(run, &f, 1, sizeof *f);
    if (status != VEM_OK)
        return status;
    f->run = run;
    f->d = leaves->view->d;
    f->xi0 = prior->strength;
    f->eta0 = prior->dof;
    f->phi0 = prior->count;
    f->origin = prior->mean;
    f->leaves = n;
    f->most = (int32_t)(d / 2 > 1 ? d / 2 : 0);
    f->length = table_length(leaves);
    /* Of two clusters: u, their vectors whitened, and what is factorized. */
    const int64_t k = f->most < leaves->view->n ? f->most + 1 : leaves->view->n + 1;
    const int64_t dense = leaves->view->n > f->most ? 2 * d + vem_i_triangle(d) : 0;
    f->scratch_size = d + k * d + vem_i_triangle(k) + 8;
    if (f->scratch_size < dense)
        f->scratch_size = dense;
    const vem_i_room rooms[] = {
        {&f->clusters, 2 * (size_t)n - 1, sizeof *f->clusters, 1},
        {&f->means, (size_t)(n * d), sizeof *f->means, 0},
        {&f->table, (size_t)f->length, sizeof *f->table, 0},
        {&f->scratch, (size_t)f->scratch_size * (size_t)run->threads, sizeof(double), 0},
    };
    status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status == VEM_OK)
        status = set_root(f, prior);
    if (status == VEM_OK && f->table)
        status = fill_table(f, leaves);
    if (status == VEM_OK)
        status = set_leaves(f, leaves);
    if (status != VEM_OK) {
        vem_i_full_free((vem_i_abc_clusters *)f);
        return status;
    }
    *clusters = (vem_i_abc_clusters *)f;
    return VEM_OK;
}
