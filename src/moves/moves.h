/* Moves beside the loop: they act on model and posterior and are named in the trace. */
#ifndef VEM_MOVES_MOVES_H
#define VEM_MOVES_MOVES_H

#include "em/em.h"

/* The policy for clusters that hold nothing; NULL for VEM_EMPTY_KEEP. */
vem_i_policy vem_i_empty_policy(vem_empty_policy policy);

/* Rounds of swaps (swap.c). A round follows an E-step that looked further; it changes model
 * and posterior, not the statistics. Returns how many clusters moved, and what that
 * promises: the gain of F in all. */
struct vem_i_swaps;
vem_status vem_i_swaps_new(vem_i_em *em, struct vem_i_swaps **swaps);
void vem_i_swaps_free(struct vem_i_swaps *swaps);
int64_t vem_i_swap_round(struct vem_i_swaps *swaps, double *promised);
uint64_t vem_i_swaps_bytes(const vem_ctx *ctx, const vem_i_search_spec *search,
                           const vem_i_family *family, int64_t n, int32_t clusters,
                           int32_t d, size_t element);

/* Weights that sum to 1. */
void vem_i_normalize_weights(vem_model *model);

#endif
