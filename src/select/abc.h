/* Agglomerative Bayesian clustering: the tree of the merges that keep most evidence. */
#ifndef VEM_SELECT_ABC_H
#define VEM_SELECT_ABC_H

#include "model/dendrogram.h"
#include "model/evidence.h"
#include "model/moments.h"
#include "select/closest_pair.h"
#include "select/leaves.h"

/* The prior of clusters, in the units of the view: what the caller gave, in the units
 * of the data, and what was left open (abc_prior.c). Its shape is that of the family or,
 * where a matrix would be diagonal, of one with a variance for each column. */
vem_status vem_i_abc_prior_new(vem_i_run *run, const vem_view *view,
                               const vem_i_family *family, const vem_prior_options *asked,
                               uint64_t seed, vem_i_conjugate *prior);

/* Clusters of a tree: leaves, and what they were joined to. Two kinds, by the shapes
 * of the family: with covariance matrices (abc_full.c), and with variances
 * (abc_columns.c). */
typedef struct vem_i_abc_clusters vem_i_abc_clusters;
typedef struct vem_i_abc_type {
    /* Under a run that counts: with the most that merges will take. */
    vem_status (*create)(vem_i_run *run, const vem_i_conjugate *prior,
                         const vem_i_leaves *leaves, const vem_i_family *family,
                         vem_i_abc_clusters **clusters);
    void (*free)(vem_i_abc_clusters *clusters);
    /* Cost of clusters a and b together, beside what they cost alone. */
    void (*measure)(const void *clusters, int32_t from, const int32_t *to, int64_t count,
                    double *out, int thread);
    /* They become one cluster of this number. */
    vem_status (*merge)(vem_i_abc_clusters *clusters, int32_t a, int32_t b, int32_t into);
    /* F_c of a leaf, in the units of the view; operations of a cost, about. */
    double (*leaf_cost)(const vem_i_abc_clusters *clusters, int64_t leaf);
    double (*operations)(const vem_i_abc_clusters *clusters);
} vem_i_abc_type;
extern const vem_i_abc_type vem_i_abc_full, vem_i_abc_columns;

/* Merges of the tree, and what its summary says of them; VEM_STOPPED without a
 * sentence. Under a run that counts it takes nothing and does nothing. */
vem_status vem_i_abc(vem_i_run *run, const vem_i_leaves *leaves,
                     const vem_i_family *family, const vem_dendrogram_options *options,
                     uint64_t seed, vem_dendrogram *tree);
#endif
