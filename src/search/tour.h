/* The items in the order of the cluster they hold first, so that items that try the same
 * clusters stand together and a cluster's items are one stretch. */
#ifndef VEM_SEARCH_TOUR_H
#define VEM_SEARCH_TOUR_H

#include "base/run.h"

typedef struct vem_i_tour {
    vem_i_run *run;
    int64_t first, n; /* items [first, first + n) */
    int32_t clusters;
    uint32_t *items; /* n */
    int64_t *starts; /* clusters + 1: by rank; items that hold nothing come last */
    int64_t *counts; /* of the pieces of the sort */
    const struct vem_i_tour
        *halo; /* of items that another process counts, or NULL: there are none, or they
                                      are among these, behind its own (data/together.h) */
    /* The sort at hand. */
    const int32_t *held, *rank;
    int32_t width;
} vem_i_tour;

vem_status vem_i_tour_new(vem_i_run *run, int64_t n, int32_t clusters, vem_i_tour *tour);
/* Of n items from number `first` on. */
vem_status vem_i_tour_of(vem_i_run *run, int64_t first, int64_t n, int32_t clusters,
                         vem_i_tour *tour);
void vem_i_tour_free(vem_i_tour *tour);
/* Stable, by rank[held[item * width]]. */
void vem_i_tour_sort(vem_i_tour *tour, int32_t clusters, const int32_t *held,
                     int32_t width, const int32_t *rank);

#endif
