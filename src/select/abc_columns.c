/* Clusters with a variance for each column, or one for all: mass, mean and scatter by
 * column or its trace, whose evidence is that of src/model/evidence.c. A cost takes
 * O(D). */
#include <string.h>

#include "base/memory.h"
#include "select/abc.h"

typedef struct cluster {
    vem_i_moments own;
    double cost;
} cluster;

typedef struct columns {
    int32_t d;
    int32_t values; /* of a scatter */
    const vem_i_family *family;
    const vem_i_conjugate *prior;
    double *means, *scatters; /* of leaves, and of what they become */
    cluster *clusters;        /* 2 N - 1 */
    double *scratch;          /* of each thread: a mean and a scatter */
} columns;

static void measure(const void *user, int32_t from, const int32_t *to, int64_t count,
                    double *out, int thread)
{
    const columns *f = user;
    const cluster *a = &f->clusters[from];
    double *mean = f->scratch + (int64_t)thread * (f->d + f->values);
    for (int64_t i = 0; i < count; i++) {
        const cluster *b = &f->clusters[to[i]];
        vem_i_moments_unite(f->family, f->d, &a->own, &b->own, mean, mean + f->d);
        out[i] = vem_i_evidence_of(f->prior, a->own.mass + b->own.mass, mean, mean + f->d,
                                   NULL) -
                 (a->cost + b->cost);
    }
}

static double cost_of(const columns *f, const vem_i_moments *own)
{
    return vem_i_evidence_of(f->prior, own->mass, own->mean, own->scatter, NULL);
}

static vem_status merge(vem_i_abc_clusters *clusters, int32_t x, int32_t y, int32_t into)
{
    columns *f = (columns *)clusters;
    const vem_i_moments *a = &f->clusters[x].own, *b = &f->clusters[y].own;
    const vem_i_moments both = {a->mass + b->mass, a->mean, a->scatter};
    vem_i_moments_unite(f->family, f->d, a, b, both.mean, both.scatter);
    f->clusters[into] = (cluster){both, cost_of(f, &both)};
    return VEM_OK;
}

static void set_leaf(columns *f, const vem_i_leaves *leaves, int64_t leaf)
{
    const vem_view *view = leaves->view;
    vem_i_moments own = {.mean = f->means + leaf * f->d,
                         .scatter = f->scatters + leaf * f->values};
    own.mass = vem_i_leaf_mean(leaves, leaf, own.mean);
    for (int64_t i = 0; i < vem_i_leaf_rows(leaves, leaf); i++) {
        const int64_t row = vem_i_leaf_row(leaves, leaf, i);
        const double *x = vem_i_view_row(view, row);
        const double weight = vem_i_view_mass(view, row) * view->mass_unit;
        for (int32_t j = 0; j < f->d; j++)
            own.scatter[vem_i_square_at(f->family, j)] +=
                weight * (x[j] - own.mean[j]) * (x[j] - own.mean[j]);
    }
    f->clusters[leaf] = (cluster){own, cost_of(f, &own)};
}

static double leaf_cost(const vem_i_abc_clusters *clusters, int64_t leaf)
{
    return ((const columns *)clusters)->clusters[leaf].cost;
}

static double operations(const vem_i_abc_clusters *clusters)
{
    const columns *f = (const columns *)clusters;
    return 200 + (f->values > 1 ? 30.0 : 6.0) * f->d;
}

static void free_clusters(vem_i_abc_clusters *clusters)
{
    columns *f = (columns *)clusters;
    if (!f)
        return;
    vem_i_free(f->means);
    vem_i_free(f->scatters);
    vem_i_free(f->clusters);
    vem_i_free(f->scratch);
    vem_i_free(f);
}

static vem_status create(vem_i_run *run, const vem_i_conjugate *prior,
                         const vem_i_leaves *leaves, const vem_i_family *family,
                         vem_i_abc_clusters **clusters)
{
    columns *f;
    const size_t n = (size_t)leaves->count, d = (size_t)leaves->view->d;
    vem_status status = vem_i_take_structs(run, &f, 1, sizeof *f);
    if (status != VEM_OK)
        return status;
    f->prior = prior;
    f->d = leaves->view->d;
    f->family = family;
    f->values = (int32_t)vem_i_second_count(family, f->d);
    const size_t values = (size_t)f->values;
    const vem_i_room rooms[] = {
        {&f->means, n * d, sizeof(double), 0},
        {&f->scatters, n * values, sizeof(double), 1},
        {&f->clusters, 2 * n - 1, sizeof *f->clusters, 1},
        {&f->scratch, (d + values) * (size_t)run->threads, sizeof(double), 0},
    };
    status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    for (int64_t i = 0; status == VEM_OK && f->clusters && i < leaves->count; i++) {
        set_leaf(f, leaves, i);
        status = vem_i_leaves_tell(run, leaves, i);
    }
    if (status != VEM_OK) {
        free_clusters((vem_i_abc_clusters *)f);
        return status;
    }
    *clusters = (vem_i_abc_clusters *)f;
    return VEM_OK;
}

const vem_i_abc_type vem_i_abc_columns = {
    .create = create,
    .free = free_clusters,
    .measure = measure,
    .merge = merge,
    .leaf_cost = leaf_cost,
    .operations = operations,
};
