/* Additive sufficient statistics, one flat block of doubles.
 *
 * Cluster c has `stride` doubles: its mass  N_c = sum_i w_i q_ic,  the first moment
 * sum_i w_i q_ic (x_i - mu_c)  (d values), and the second moment about the same mu_c (1
 * value for the isotropic families, d for diag, d (d + 1) / 2 for full). mu_c is the mean
 * with which the E-step was made, so statistics of disjoint items add up as long as they
 * share a model, and a large offset of a cluster costs no digits. */
#ifndef VEM_MODEL_STATS_H
#define VEM_MODEL_STATS_H

#include "base/ctx.h"

typedef struct vem_i_stats {
    int32_t clusters, d;
    int64_t stride;
    double *block; /* clusters x stride */
} vem_i_stats;

/* Doubles of second moment per cluster. */
int64_t vem_i_second_count(vem_family_kind family, int32_t d);
vem_status vem_i_stats_new(vem_ctx *ctx, vem_family_kind family, int32_t clusters,
                           int32_t d, vem_i_stats *stats);
void vem_i_stats_free(vem_i_stats *stats);
void vem_i_stats_clear(vem_i_stats *stats);
void vem_i_stats_clear_cluster(vem_i_stats *stats, int32_t c);
/* to += from. */
void vem_i_stats_add(vem_i_stats *to, const vem_i_stats *from);

static inline double *vem_i_stats_mass(const vem_i_stats *stats, int32_t c)
{
    return stats->block + c * stats->stride;
}
static inline double *vem_i_stats_first(const vem_i_stats *stats, int32_t c)
{
    return stats->block + c * stats->stride + 1;
}
static inline double *vem_i_stats_second(const vem_i_stats *stats, int32_t c)
{
    return stats->block + c * stats->stride + 1 + stats->d;
}

#endif
