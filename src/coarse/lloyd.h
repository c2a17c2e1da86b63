/* A few steps of k-means over rows: how coarse buckets are made.
 *
 *     step   every row to its nearest center, then every center to the mean of its rows
 *
 * A center without rows stays where it is. Means are sums in double in the order of the rows.
 * Whoever makes buckets says which rows, where the centers begin, how near is measured and
 * how sure of that it must be. */
#ifndef VEM_COARSE_LLOYD_H
#define VEM_COARSE_LLOYD_H

#include "model/family.h"

typedef struct vem_i_lloyd {
    const vem_view *view; /* the rows */
    const double *wide;   /* NULL, or the rows before rounding: row i is number list[i] */
    const int32_t *list;
    vem_model *centers;
    vem_i_scorer *scorer; /* of the centers */
    int by_shape;         /* nearness by the shapes of the centers; 0: plain distances */
    int sure;             /* of the nearest center (coarse/nearest.h) */
    const vem_progress *told;
    int32_t *bucket_of;        /* rows */
    int32_t *starts, *members; /* buckets + 1, and rows: those of a bucket together */
    int64_t pairs;             /* distances taken are added */
} vem_i_lloyd;

/* The buckets of rows, those of the steps or of others, for centers as they are. squares: as
 * in coarse/nearest.h. */
vem_status vem_i_lloyd_assign(vem_i_run *run, vem_i_lloyd *lloyd, const vem_view *view,
                              int32_t *bucket_of, void *squares);
/* A stop is VEM_STOPPED, without a message. */
vem_status vem_i_lloyd_run(vem_i_run *run, vem_i_lloyd *lloyd, int steps);

#endif
