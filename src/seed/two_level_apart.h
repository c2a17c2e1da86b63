/* Rows of several processes, brought together by their buckets: each process owns some buckets, and gets
 * all rows of these, in the order of the whole. */
#ifndef VEM_SEED_TWO_LEVEL_APART_H
#define VEM_SEED_TWO_LEVEL_APART_H

#include "data/view.h"

typedef struct vem_i_owned {
    int32_t from, to;  /* the buckets */
    vem_view view;     /* their rows, bucket after bucket */
    int64_t *numbers;  /* n: which rows of the whole these are */
    int32_t *labels;   /* n: their buckets */
    char *squares, *x; /* n, T: as they came; the rows */
    double *mass;      /* n, or NULL */
    int64_t *counts;   /* of each bucket, all its rows */
} vem_i_owned;

/* labels, squares (T): of the rows of the view, those of its halo too. */
vem_status vem_i_owned_new(vem_i_run *run, const vem_view *view, int32_t buckets,
                           const int32_t *labels, const void *squares,
                           vem_i_owned *owned);
void vem_i_owned_free(vem_i_owned *owned);
/* Is the bucket one of its own? NULL: one process has all. */
static inline int vem_i_owns(const vem_i_owned *owned, int64_t bucket)
{
    return !owned || (bucket >= owned->from && bucket < owned->to);
}

#endif
