/* From a sparse posterior to statistics, in an order that does not depend on threads. */
#ifndef VEM_EM_COLLECT_H
#define VEM_EM_COLLECT_H

#include "em/posterior.h"
#include "search/tour.h"

typedef struct vem_i_collector vem_i_collector;

/* tour, rank: the items are kept in the order of their first cluster by somebody else, at
 * the time of every run; NULL: they are not. */
vem_status vem_i_collector_new(vem_ctx *ctx, const vem_view *view,
                               const vem_i_scorer *scorer, int32_t width,
                               const vem_i_tour *tour, const int32_t *rank,
                               vem_i_collector **collector);
void vem_i_collector_free(vem_i_collector *collector);
/* `toured`: there is a tour; `weighted`: items have masses. */
uint64_t vem_i_collector_bytes(const vem_ctx *ctx, vem_family_kind family, int64_t n,
                               int32_t clusters, int32_t d, int32_t width, size_t element,
                               int toured, int weighted);
/* `only` (C, NULL: all): clusters whose statistics are taken; the others keep theirs. */
void vem_i_collector_run(vem_i_collector *collector, const vem_i_posterior *posterior,
                         const uint8_t *only, vem_i_stats *stats);

#endif
