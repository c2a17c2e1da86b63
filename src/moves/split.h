/* Two halves of one cluster's items. */
#ifndef VEM_MOVES_SPLIT_H
#define VEM_MOVES_SPLIT_H

#include "em/posterior.h"
#include "model/sphere.h"

typedef struct vem_i_splitter vem_i_splitter;

typedef struct vem_i_splittable {
    const uint32_t *items; /* those that hold the cluster first */
    int64_t n;
    int32_t cluster;
} vem_i_splittable;

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

#endif
