/* Clusters with covariance matrices; the mathematics is in abc_full.c. */
#ifndef VEM_SELECT_ABC_INSIDE_H
#define VEM_SELECT_ABC_INSIDE_H

#include "select/abc.h"
#include "select/triangle.h"

enum { VEM_I_DENSE = INT32_MAX };

typedef struct vem_i_full_cluster {
    double mass, xi;
    double log_det;  /* of B */
    double cost;     /* F_c as above */
    double single;   /* of a single row: M is this times its mean */
    int32_t rank;    /* vectors; VEM_I_DENSE: matrices */
    double *mean;    /* d */
    double *scatter; /* rank vectors, or the lower triangle of S by rows; NULL: 0 */
    double *factor;  /* rank + 1 vectors M, or the triangle of L^-1; NULL: a single row */
} vem_i_full_cluster;

typedef struct vem_i_full {
    vem_i_run *run;
    int32_t d;
    double xi0, eta0, phi0;
    double *root;                 /* L0^-1, d x d; or d values */
    int64_t roots;                /* how many */
    double log_det;               /* of B0 */
    const double *origin;         /* m0 */
    double *means;                /* of the leaves, and of what they become */
    vem_i_full_cluster *clusters; /* 2 N - 1 */
    int64_t leaves;
    int32_t most;  /* vectors that a cluster may have before it is dense */
    double *table; /* g(0), g(1), ... where masses are whole; else NULL */
    int64_t length;
    double *scratch; /* of each thread */
    int64_t scratch_size;
} vem_i_full;

/* g(w). */
double vem_i_full_mass_term(const vem_i_full *f, double mass);
/* Mass, mean and scatter of a cluster are set: what a host needs, and the cost. */
vem_status vem_i_full_settle(vem_i_full *f, vem_i_full_cluster *c);
/* Its scatter and factor are freed. */
void vem_i_full_let_go(vem_i_full_cluster *c);

/* Of vem_i_abc_type (abc_full_new.c). */
vem_status vem_i_full_create(vem_i_run *run, const vem_i_conjugate *prior,
                             const vem_i_leaves *leaves, const vem_i_family *family,
                             vem_i_abc_clusters **clusters);
void vem_i_full_free(vem_i_abc_clusters *clusters);
double vem_i_full_leaf_cost(const vem_i_abc_clusters *clusters, int64_t leaf);

#endif
