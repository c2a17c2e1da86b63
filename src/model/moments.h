/* Moments of clusters, whatever of a second moment a family keeps: its trace, the sum of squares of
 * each column, or the lower triangle by rows (stats.h). Nobody else asks how they lie. A scatter is
 * a second moment about the cluster's own mean. */
#ifndef VEM_MODEL_MOMENTS_H
#define VEM_MODEL_MOMENTS_H

#include "model/contract.h"
#include "model/stats.h"

/* A cluster's mean and scatter from its statistics about `about` (d values, or NULL: 0). Returns its
 * mass. */
double vem_i_moments_of(const vem_i_stats *stats, int32_t c, const vem_i_family *family,
                        const double *about, double *mean, double *scatter);
/* Back: a cluster's statistics, `to`, about a place that lies e (d values) before its mean; and what
 * a group is, its mass, mean and scatter, one after the other. */
void vem_i_moments_put(const vem_i_family *family, int32_t d, const double *group,
                       const double *e, double *to);
/* The group of two; `out` may be one of them. */
void vem_i_moments_join(const vem_i_family *family, int32_t d, const double *a,
                        const double *b, double *out);

/* Moments of a cluster, wherever its mean and scatter lie. */
typedef struct vem_i_moments {
    double mass;
    double *mean, *scatter;
} vem_i_moments;

/* Mean and scatter of the two together, which may be those of one of them. Symmetric, so that the bits
 * do not depend on who asks. Not for families that take products. */
void vem_i_moments_unite(const vem_i_family *family, int32_t d, const vem_i_moments *a,
                         const vem_i_moments *b, double *mean, double *scatter);
/* Adds at most VEM_I_BLOCK packed items with weights q, of double, to moments about `mean`. Returns
 * their mass. */
double vem_i_moments_collect(const vem_i_kernels *wide, const vem_i_family *family,
                             const double *panels, const double *q, int32_t n, int32_t d,
                             const double *mean, double *first, double *second);
/* Have both families the same second moments? */
static inline int vem_i_moments_alike(const vem_i_family *a, const vem_i_family *b)
{
    return a->shape_axes == b->shape_axes;
}
/* A second moment into an array as large as a shape, of a matrix both triangles; and back, from the
 * lower one. */
void vem_i_moments_write(const vem_i_family *family, int32_t d, const double *second,
                         double *shape);
void vem_i_moments_read(const vem_i_family *family, int32_t d, const double *shape,
                        double *second);

#endif
