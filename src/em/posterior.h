/* The clusters each item holds, and with what probability: the sparse soft assignment.
 *
 * Sparse searches store `width` = C' clusters per item, most probable first, and (for
 * C' > 1) q times mass. Dense ones store only the most probable cluster: their q live in
 * a block's scratch and go straight into the statistics. */
#ifndef VEM_EM_POSTERIOR_H
#define VEM_EM_POSTERIOR_H

#include "base/record.h"
#include "search/search.h"

typedef struct vem_i_posterior {
    int64_t n;
    int32_t width;
    int32_t *held; /* n x width; -1: none */
    void *q;       /* n x width values of T, mass included; NULL: hard or dense */
    int known;     /* it is filled: by an E-step, or by what the seeding knew */
    /* For moves, where asked for: the best cluster that is not held, -1: none, and by how
     * much less probable it is than all that is held together:
     *     gap = log sum_{c in K} p(c, x) - log p(next, x). */
    int32_t *next;
    void *gap; /* of T */
    double
        *log_sums; /* n, borrowed: log sum_{c in K} exp(-v/2) of each item; NULL: none */
} vem_i_posterior;

vem_status vem_i_posterior_new(vem_i_run *run, const vem_view *view,
                               const vem_i_search_spec *search,
                               vem_i_posterior *posterior);
void vem_i_posterior_free(vem_i_posterior *posterior);
/* Items hold one cluster each, to begin with. */
void vem_i_posterior_start(vem_i_posterior *posterior, const int32_t *labels);
/* Room for `next` and `gap`. */
vem_status vem_i_posterior_look_further(vem_i_run *run, const vem_view *view,
                                        vem_i_posterior *posterior);
/* Take over what a block found; the number of items whose held set changed. */
int32_t vem_i_posterior_store(vem_i_posterior *posterior, const vem_i_block *block);
/* Of so many items the first cluster that each holds, which stays when the loop is gone; the caller
 * frees it. */
vem_status vem_i_first_held_new(vem_i_run *run, int64_t items, int32_t **labels);

#endif
