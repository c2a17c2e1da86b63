/* Shared by the files that make up the hierarchy: building it, and what lies near what. */
#ifndef VEM_COARSE_HIERARCHY_INSIDE_H
#define VEM_COARSE_HIERARCHY_INSIDE_H

#include "coarse/block.h"
#include "coarse/hierarchy.h"

/* Panels, norms, lists and sums of one thread, and a few buckets together. */
typedef struct vem_i_hierarchy_desk {
    double *sums;
    char *panels, *norms, *best, *some, *some_norms;
    int32_t *index;
} vem_i_hierarchy_desk;

vem_i_hierarchy_desk vem_i_hierarchy_desk_at(const vem_i_hierarchy *hierarchy,
                                             int thread);

static inline char *vem_i_hierarchy_row(const vem_i_hierarchy *h, void *rows, int64_t i)
{
    return (char *)rows + (size_t)(i * h->d) * h->kernels->element;
}

/* |row|^2 for n rows of T. */
void vem_i_hierarchy_norms_of(const vem_i_hierarchy *hierarchy, const void *rows,
                              int32_t n, void *norms);
/* Row `to` of T becomes the mean of the listed means of clusters; an empty list changes
 * nothing. */
void vem_i_hierarchy_average(const vem_i_hierarchy *hierarchy, const int32_t *list,
                             int64_t n, char *to, double *sums);
/* The `top` nearest of `count` centers for n <= VEM_I_BLOCK listed rows of x. */
void vem_i_hierarchy_nearest(const vem_i_hierarchy *hierarchy, const void *x, int64_t ld,
                             const uint32_t *items, int32_t n, const void *centers,
                             const void *norms, int32_t count, int32_t top,
                             vem_i_hierarchy_desk s);
/* The places of the clusters follow from their order. */
void vem_i_hierarchy_ranks(vem_i_hierarchy *hierarchy);

#endif
