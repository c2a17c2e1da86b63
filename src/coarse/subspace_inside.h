/* Shared by the files of the subspace: finding axes, choosing how many, using them. */
#ifndef VEM_COARSE_SUBSPACE_INSIDE_H
#define VEM_COARSE_SUBSPACE_INSIDE_H

#include "coarse/subspace.h"

/* Rows that are projected together. */
enum { VEM_I_PROJECTED = 64 };

/* Some rows of the view, copied. */
typedef struct vem_i_axes_sample {
    int64_t n;
    int32_t d;
    const vem_i_kernels *kernels;
    void *x; /* n x d of T */
} vem_i_axes_sample;

/* The leading `wanted` principal axes of the sample about 0, the longest first: rows of
 * `axes`, wanted x d doubles. */
vem_status vem_i_axes_find(vem_i_run *run, const vem_i_axes_sample *sample,
                           int32_t wanted, double *axes);
/* n rows of d columns, ld apart, along `columns` axes: rows of out, `columns` apart. */
void vem_i_axes_project(const vem_i_kernels *kernels, const void *axes, int32_t d,
                        int32_t columns, const void *zeros, const void *rows, int64_t ld,
                        int64_t n, void *out);
/* How many of the packed axes serve, given a sample; 0: not even all. */
vem_status vem_i_axes_choose(vem_i_run *run, const vem_view *view,
                             const vem_i_axes_sample *sample, const void *axes,
                             int32_t most, const void *zeros, int32_t *columns);

#endif
