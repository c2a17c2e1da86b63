/* Two halves of one cluster's items. */
#ifndef VEM_MOVES_SPLIT_H
#define VEM_MOVES_SPLIT_H

#include "em/posterior.h"
#include "model/sphere.h"

typedef struct vem_i_splitter vem_i_splitter;

/* Of processes that share the items of a cluster: what this one sums before its own items and behind
 * them, of which others have some (apart.h). */
typedef struct vem_i_edges {
    const vem_view *view;
    const vem_i_posterior *posterior;
    const uint32_t *items[2];
    int64_t n[2];
    int begins; /* the first of all items is among its own, or before them */
} vem_i_edges;

typedef struct vem_i_splittable {
    const uint32_t *items; /* those that hold the cluster first */
    int64_t n;
    int32_t cluster;
    const vem_i_edges *edges; /* NULL: these are all */
} vem_i_splittable;

/* At most VEM_I_BLOCK of them at a time, in their order. at: 0 to begin with. 0: there are no more. */
typedef struct vem_i_lot {
    const vem_view *view;
    const vem_i_posterior *posterior;
    const uint32_t *items;
    int32_t n;
} vem_i_lot;
int vem_i_lot_next(const vem_i_splittable *cluster, const vem_view *view,
                   const vem_i_posterior *posterior, int64_t *at, vem_i_lot *lot);

/* w q of an item for the cluster it holds first. */
static inline double vem_i_first_weight(const vem_view *view,
                                        const vem_i_posterior *posterior, int64_t item)
{
    if (!posterior->q)
        return vem_i_view_mass(view, item);
    return vem_i_value(view->kernels, posterior->q, item * posterior->width);
}

/* The sphere that the halves lie on; its origin is borrowed. */
void vem_i_splitter_on(vem_i_splitter *splitter, vem_i_sphere sphere);
vem_status vem_i_splitter_new(vem_i_run *run, const vem_view *view,
                              const vem_i_posterior *posterior,
                              vem_i_splitter **splitter);
void vem_i_splitter_free(vem_i_splitter *splitter);

/* Means of two halves (rows of T), and by how much the squared error about the items' mean
 * falls:  W_a W_b / (W_a + W_b) |mu_a - mu_b|^2 (on a sphere as split.c says).  0: they cannot be told apart. `mass`:
 * W_a, W_b. */
double vem_i_split(const vem_i_splitter *splitter, const vem_i_splittable *cluster,
                   int thread, void *first, void *second, double mass[2]);

/* The same pass by pass, for processes that share the items: each adds what it has. */
typedef struct vem_i_halving {
    double *sum;           /* d, and */
    double total, squares; /* what the pass at hand adds up, from 0 on */
    void *mean;            /* d of T */
    void *pair;            /* 2 x d of T: the halves */
    double all, radius, mass[2], gain;
} vem_i_halving;
enum { VEM_I_SPLIT_PASSES = 9 };
void vem_i_split_pass(const vem_i_splitter *splitter, const vem_i_splittable *cluster,
                      int pass, int thread, vem_i_halving *halving);
/* What follows from it. 0: there are no halves, and no more passes. */
int vem_i_split_follow(const vem_i_splitter *splitter, int pass, vem_i_halving *halving);

#endif
