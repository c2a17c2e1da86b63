/* Additive sufficient statistics, one flat block of doubles.
 *
 * Cluster c has `stride` doubles: its mass  N_c = sum_i w_i q_ic,  the first moment
 * sum_i w_i q_ic (x_i - mu_c)  (d values), and the second moment about the same mu_c: what a
 * shape of so many axes needs of it, its trace, its diagonal, or its lower triangle by rows,
 * 1, d or d (d + 1) / 2 values, also where all clusters share one shape; families without shapes
 * have none, and their first moments are about 0. mu_c is the mean
 * with which the E-step was made, so statistics of disjoint items add up as long as they
 * share a model, and a large offset of a cluster costs no digits. */
#ifndef VEM_MODEL_STATS_H
#define VEM_MODEL_STATS_H

#include "model/shape.h"

typedef struct vem_i_stats {
    int32_t clusters, d;
    int64_t stride;
    double *block; /* clusters x stride */
    int by_column; /* 1: stride x clusters instead, for sums of sparse items */
} vem_i_stats;

/* Doubles of a cluster: mass, first and second moment; and of the second moment alone. */
int64_t vem_i_stats_stride(const vem_i_family *family, int32_t d);
int64_t vem_i_second_count(const vem_i_family *family, int32_t d);
/* Those of a cluster that are sums of squares, and where the one of a column is. */
int32_t vem_i_square_count(const vem_i_family *family, int32_t d);
int64_t vem_i_square_at(const vem_i_family *family, int64_t column);
vem_status vem_i_stats_new(vem_i_run *run, vem_i_shape shape, vem_i_stats *stats);
void vem_i_stats_free(vem_i_stats *stats);
void vem_i_stats_clear(vem_i_stats *stats);
void vem_i_stats_clear_cluster(vem_i_stats *stats, int32_t c);
/* to += from. */
void vem_i_stats_add(vem_i_stats *to, const vem_i_stats *from);

/* How moments of a cluster are moved to another place, and then to other units. Those of shapes
 * without columns (axes 0) are squared distances: where each column has a scale, in its units. */
typedef struct vem_i_shift {
    const double *e;     /* d: what they are about now minus what they will be; NULL: 0 */
    const double *scale; /* axes 0: d that distances are divided by; NULL: 1 */
    double mass;         /* units: masses are multiplied by it, */
    const double *units; /* d, columns by these (NULL: 1), */
    double distance;     /* and, for axes 0, squared distances by this */
} vem_i_shift;

/* to += from, a cluster's mass, first and second moment, after
 *     f <- f + N e,     S <- S + f e' + e f' + N e e'      (f before the change),
 * which takes nothing away from a sum of squares but rounding. */
void vem_i_moments_add(const vem_i_family *family, int32_t d, const double *from,
                       const vem_i_shift *shift, double *to);

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
