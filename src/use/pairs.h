/* Sums by pairs of clusters, of which few of all C^2 occur. */
#ifndef VEM_USE_PAIRS_H
#define VEM_USE_PAIRS_H

#include "base/run.h"

typedef struct vem_i_pair {
    int32_t a, b; /* a < b; -1: nothing here */
    double sum;
} vem_i_pair;

typedef struct vem_i_pairs {
    vem_i_pair *slots;
    size_t room, used; /* room: 0 or a power of two */
} vem_i_pairs;

/* Adds to the sum of {a, b}, a != b, in either order. */
vem_status vem_i_pairs_add(vem_i_run *run, vem_i_pairs *pairs, int32_t a, int32_t b,
                           double value);
void vem_i_pairs_free(vem_i_pairs *pairs);

#endif
