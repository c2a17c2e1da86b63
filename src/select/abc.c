/* Agglomerative Bayesian clustering (Kurihara and Welling).
 *
 * From every leaf as a cluster of its own to one cluster, always the pair whose union
 * costs least:
 *
 *     Delta(a, b) = F(a + b) - F(a) - F(b),      F(c) minus the log evidence of a cluster
 *     -log p(rows, labels | K) = sum_c F(c) + T(K)         (src/model/evidence.c)
 *
 * What a merge adds to that, Delta + T(K - 1) - T(K), is least for the pair of the
 * least Delta, which does not change while both clusters live: a closest-pair problem
 * with a distance of its own (closest_pair.h). Delta is negative where the union has
 * more evidence than the two, and neither a metric nor monotone: merges may be cheaper
 * than those before, and nearest-neighbor chains would build another tree. */
#include "select/abc.h"

#include <math.h>

#include "base/memory.h"

typedef struct abc {
    vem_i_run *run;
    const vem_i_leaves *leaves;
    const vem_i_abc_type *type;
    vem_i_abc_clusters *clusters;
    vem_i_closest *closest;
    vem_dendrogram *tree;
    const vem_i_conjugate *prior;
    double mass;  /* of all rows */
    double shift; /* to the units of the data, of a unit of mass */
} abc;

/* So many merges are made, which get cheaper as there are fewer clusters. Whether to go
 * on is asked during the search for pairs. */
static void tell(const abc *a, int64_t made)
{
    const double n = (double)a->leaves->count, left = (n - (double)made) / n;
    a->closest->told = (vem_progress){.phase = "merge",
                                      .done = (int64_t)(1e6 * (1 - left * left)),
                                      .total = 1000000,
                                      .free_energy = NAN};
}

/* One merge, k of them made before; `cost` is sum_c F(c). */
static vem_status merge_one(const abc *a, int64_t k, double *cost)
{
    const int64_t n = a->leaves->count;
    const int32_t into = (int32_t)(n + k);
    vem_i_pair_found pair;
    tell(a, k);
    vem_status status = vem_i_closest_find(a->closest, &pair);
    if (status == VEM_OK)
        status = vem_i_closest_remove(a->closest, pair.a);
    if (status == VEM_OK)
        status = vem_i_closest_remove(a->closest, pair.b);
    if (status == VEM_OK) /* nobody measures to the two any more */
        status = a->type->merge(a->clusters, pair.a, pair.b, into);
    if (status == VEM_OK)
        status = vem_i_closest_insert(a->closest, into);
    if (status != VEM_OK)
        return status;
    *cost += pair.distance;
    a->tree->merges[k] =
        (vem_dendrogram_merge){.a = pair.a,
                               .b = pair.b,
                               .delta = pair.distance,
                               .log_evidence =
                                   a->mass * a->shift -
                                   (*cost + vem_i_evidence_count(a->prior, a->mass,
                                                                 (double)(n - 1 - k)))};
    return VEM_OK;
}

static vem_status merge_all(abc *a)
{
    const int64_t n = a->leaves->count;
    double cost = 0;
    for (int64_t i = 0; i < n; i++)
        cost += a->type->leaf_cost(a->clusters, i);
    a->tree->about.log_evidence_leaves =
        a->mass * a->shift - (cost + vem_i_evidence_count(a->prior, a->mass, (double)n));
    vem_status status = vem_i_closest_begin(a->closest, (int32_t)n);
    for (int64_t k = 0; status == VEM_OK && k < n - 1; k++)
        status = merge_one(a, k, &cost);
    a->tree->about.distances = a->closest->evaluations;
    return status;
}

/* Of the diagonal of B0, in the units of the data. */
static double mean_scale(const vem_i_conjugate *prior, const vem_view *view)
{
    double sum = 0;
    for (int64_t j = 0; j < view->d; j++) {
        const double unit = view->scale ? view->scale[j] : 1;
        sum += prior->scale[vem_i_shape_at(prior->family, view->d, j)] * unit * unit /
               view->d;
    }
    return sum;
}

vem_status vem_i_abc(vem_i_run *run, const vem_i_leaves *leaves,
                     const vem_i_family *family, const vem_dendrogram_options *options,
                     uint64_t seed, vem_dendrogram *tree)
{
    const vem_view *view = leaves->view;
    vem_i_conjugate prior;
    abc a = {.run = run,
             .leaves = leaves,
             .type = vem_i_takes_products(family) ? &vem_i_abc_full : &vem_i_abc_columns,
             .tree = tree,
             .mass = view->total_mass * view->mass_unit,
             .shift = vem_i_view_log_jacobian(view)};
    vem_status status =
        vem_i_abc_prior_new(run, view, family, options->prior, seed, &prior);
    if (status != VEM_OK)
        return status;
    a.prior = &prior;
    status = a.type->create(run, &prior, leaves, family, &a.clusters);
    if (status == VEM_OK) {
        const vem_i_distances distances = {.user = a.clusters,
                                           .measure = a.type->measure,
                                           .operations = a.type->operations(a.clusters)};
        status = vem_i_closest_new(run, options->pairs, &distances,
                                   (int32_t)(2 * leaves->count - 1), &a.closest);
    }
    if (status == VEM_OK && !run->counted) {
        tree->about.prior_strength = prior.strength;
        tree->about.prior_dof = prior.dof;
        tree->about.prior_count = prior.count;
        tree->about.prior_scale = mean_scale(&prior, view);
        tree->about.pairs = options->pairs;
        status = merge_all(&a);
    }
    vem_i_closest_free(a.closest);
    a.type->free(a.clusters);
    vem_i_conjugate_free(&prior);
    return status;
}
