/* Shared by the files of the leading axes: finding them, choosing how many, rows along them. */
#ifndef VEM_COARSE_LEADING_INSIDE_H
#define VEM_COARSE_LEADING_INSIDE_H

#include "coarse/leading.h"

/* Axes come in multiples of this: whole panels of the kernels. */
enum { VEM_I_AXES = 32 };
/* Rows that are projected together. */
enum { VEM_I_PROJECTED = 64 };

/* Some rows of the view, copied: so many samples one after the other. */
typedef struct vem_i_axes_sample {
    int64_t n;
    int32_t d;
    int32_t parts;
    const vem_i_kernels *kernels;
    void *x; /* n x d of T */
} vem_i_axes_sample;

/* The leading `wanted` principal axes of the sample about 0, the longest first: rows of
 * `axes`, wanted x d doubles. */
vem_status vem_i_axes_find(vem_i_run *run, const vem_i_axes_sample *sample,
                           int32_t wanted, double *axes);
/* n rows of `inner` values, ld apart, times `count` packed rows (VEM_I_BLOCK at most, a multiple
 * of the panel): rows of out, ldo apart. zeros: VEM_I_PROJECTED of T. */
void vem_i_axes_project(const vem_i_kernels *kernels, const void *packed, int32_t inner,
                        int32_t count, const void *zeros, const void *rows, int64_t ld,
                        int64_t n, void *out, int64_t ldo);
/* How many of the packed axes serve, given a sample; 0: not even all. *distance: the mean squared
 * distance of its rows from their centers. */
vem_status vem_i_axes_choose(vem_i_run *run, const vem_i_axes_sample *sample,
                             const void *packed, int32_t most, const void *zeros,
                             int32_t *axes, double *distance, int64_t *pairs);

#endif
