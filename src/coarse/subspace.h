/* Proposals in fewer columns: rows and clusters along the leading principal axes.
 *
 * With P the projection onto m axes of unit length, about the origin of the view,
 *
 *     |x - c|^2 = |P x - P c|^2 + |x'|^2 + |c'|^2 - 2 x'.c',     x' = x - P'P x,
 *
 * and all but the last term take m columns: |x'|^2 is the same for all clusters, |c'|^2 a
 * number that belongs to the cluster and is added to its bias. The last term is left out. So a
 * tile costs m instead of d columns and only proposes; whoever uses it keeps a cluster more
 * than it needs and decides by direct differences in all columns (docs/math/subspace.md). */
#ifndef VEM_COARSE_SUBSPACE_H
#define VEM_COARSE_SUBSPACE_H

#include "model/family.h"

/* Axes are taken by so many: no instruction set has longer panels. */
enum { VEM_I_AXES = 32 };

typedef struct vem_i_subspace {
    int32_t columns; /* m; 0: there is none, and all columns are looked at */
    int32_t most;    /* there is room for */
    void *axes;      /* most x d, as packed items */
    void *rows;      /* n x m of T */
    void *zeros;     /* a bias of 0 for as many rows as are projected together */
    vem_view view;   /* the rows in m columns */
    vem_i_scorer
        scorer; /* the clusters in m columns, as vem_i_subspace_prepare left them */
} vem_i_subspace;

/* Tests set it, and nobody else: so many axes, whatever the rows are like; 0: as they are. */
extern int vem_i_subspace_asked;
/* Room that is planned for rows of such a view and clusters of this family; 0: none. Under a limit
 * of memory there is none. */
int32_t vem_i_subspace_most(const vem_i_run *run, const vem_view *view,
                            const vem_i_family *family);
/* Finds the axes in a sample, chooses how many of them serve, and projects the rows. */
vem_status vem_i_subspace_new(vem_i_run *run, const vem_view *view,
                              const vem_i_scorer *scorer, vem_i_subspace *subspace);
void vem_i_subspace_free(vem_i_subspace *subspace);
/* n rows of d columns, ld apart, along the axes: rows of `columns`. */
void vem_i_subspace_project(const vem_i_subspace *subspace, int32_t d, const void *rows,
                            int64_t ld, int64_t n, void *out);
/* The clusters of a step. */
void vem_i_subspace_prepare(vem_i_run *run, const vem_i_scorer *scorer,
                            vem_i_subspace *subspace);

#endif
