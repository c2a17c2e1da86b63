/* The items of clusters, where processes share them: who sums which. */
#ifndef VEM_MOVES_APART_H
#define VEM_MOVES_APART_H

#include "em/em.h"
#include "moves/split.h"
#include "search/tour.h"

typedef struct vem_i_apart vem_i_apart;

/* samples: of each cluster so many items are wanted by one process (vem_i_apart_sample). */
vem_status vem_i_apart_new(vem_i_em *em, int samples, vem_i_apart **apart);
void vem_i_apart_free(vem_i_apart *apart);
/* A round begins: items are in this order, the processes hear of each other's. On failure the run
 * between processes is over (comm->failed), which is told where all meet. */
void vem_i_apart_begin(vem_i_apart *apart, const vem_i_tour *order);
/* Items of a cluster, of all processes; */
int64_t vem_i_apart_count(const vem_i_apart *apart, int32_t cluster);
/* those that this one sums; */
vem_i_splittable vem_i_apart_part(const vem_i_apart *apart, int32_t cluster);
/* those that hold it first and are its own. */
vem_i_splittable vem_i_apart_own(const vem_i_apart *apart, int32_t cluster);
/* Some items of it, all of them (vem_i_shape_pick): of the one process that has them. `edges` is for
 * the caller to keep. 0: it is another one. */
int vem_i_apart_sample(const vem_i_apart *apart, int32_t cluster, vem_i_edges *edges,
                       vem_i_splittable *some);

/* Adds to the `values` sums of a cluster. */
typedef void (*vem_i_apart_add)(void *arg, int32_t cluster, int thread, double *sums);
/* Sums of all clusters in the order of their items, of all processes. */
void vem_i_apart_sum(vem_i_apart *apart, double *sums, int64_t values,
                     vem_i_apart_add add, void *arg);

#endif
