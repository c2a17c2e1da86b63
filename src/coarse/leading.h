/* Rows along the leading principal axes of a sample of them.
 *
 * With P the projection onto m orthonormal axes and x' what it leaves of a row, clusters whose means
 * lie in the span of the axes have
 *
 *     |x - mu|^2 = |P x - P mu|^2 + |x'|^2,
 *
 * and the last term is the same for all of them: a fit along the axes is one of the rows
 * themselves, under a constraint, for m / D of the work. How many axes serve is tried on the
 * sample (leading_choose.c); where none do, there are none. docs/math/subspace.md */
#ifndef VEM_COARSE_LEADING_H
#define VEM_COARSE_LEADING_H

#include "data/points.h"
#include "model/model.h"

typedef struct vem_i_leading {
    int32_t axes;         /* 0: rows are to be looked at in all columns */
    int32_t most;         /* that there is room for */
    void *basis;          /* most x d of T */
    vem_i_points *points; /* the rows along them; NULL: none */
    int64_t pairs;        /* that were tried for it */
} vem_i_leading;

/* Most axes for rows of so many columns; 0: they are so few, or the rows or clusters, that tiles of
 * all columns are as fast. */
int32_t vem_i_leading_most(int64_t n, int32_t d, int64_t clusters);
/* Are there so many rows and clusters that more rows are asked how many axes serve, and more axes
 * taken? */
int vem_i_leading_many(int64_t n, int64_t clusters);
/* Along no more than `most` axes; the copy rests where the view does. */
vem_status vem_i_leading_new(vem_i_run *run, const vem_view *view, int32_t most,
                             int32_t clusters, vem_i_leading *leading);
/* Their memory goes; the axes stay, for means. */
void vem_i_leading_let_go(vem_i_leading *leading);
/* What stays of so many axes when they are found, run dry; let_go: after that. */
void vem_i_leading_plan(vem_i_run *dry, const vem_view *view, int32_t axes, int let_go);
/* A model along the axes as one of rows; `wide` has the same clusters, one variance for all. */
vem_status vem_i_leading_lift(vem_i_run *run, const vem_i_leading *leading,
                              const vem_i_kernels *kernels, const vem_model *narrow,
                              vem_model *wide);
void vem_i_leading_free(vem_i_leading *leading);

#endif
