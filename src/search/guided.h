/* The best clusters of rows without a look at all of them: only the clusters of the P
 * coarse buckets nearest to a row are tried. */
#ifndef VEM_SEARCH_GUIDED_H
#define VEM_SEARCH_GUIDED_H

#include "coarse/buckets.h"

typedef struct vem_i_guided {
    vem_i_buckets buckets;
    vem_i_scorer
        scorer; /* the clusters of positive weight, in the order of the buckets */
    /* The same with means about the centers of their buckets, and lengths of those, where the
     * dot form is used; its other arrays are those of `scorer`. means NULL: tiles are scored
     * by direct differences. */
    vem_i_scorer local;
} vem_i_guided;

/* The model is in the units of the views whose items will be searched. */
vem_status vem_i_guided_new(vem_i_run *run, const vem_i_kernels *kernels,
                            const vem_model *model, int32_t buckets, uint64_t seed,
                            vem_i_guided *guided);
void vem_i_guided_free(vem_i_guided *guided);

/* Longest lists. */
enum { VEM_I_GUIDED_TOP = VEM_I_TOP_MAX - 1 };

/* Buckets that hold at least `top` clusters whichever they are. */
int32_t vem_i_guided_least(const vem_i_guided *guided, int32_t top);

/* How many probes find the right clusters of the items of a view: for found[p] of the
 * clusters in `right` (n x top, -1: none) p + 1 are enough, and any more; it has room for all
 * buckets. */
vem_status vem_i_guided_rank(vem_i_run *run, const vem_i_guided *guided,
                             const vem_view *view, const int32_t *right, int32_t top,
                             int64_t *found);

/* The `top` best clusters among those of the `probes` nearest buckets of each item, best
 * first (n x top; -1 where the model has fewer of positive weight), and (NULL or n x top)
 * their probabilities, which add up to 1 over the clusters that were tried. */
vem_status vem_i_guided_find(vem_i_run *run, const vem_i_guided *guided,
                             const vem_view *view, int32_t probes, int32_t top,
                             int32_t *clusters, double *probabilities, int64_t *pairs);

#endif
