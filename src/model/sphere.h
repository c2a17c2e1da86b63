/* Means that lie on the unit sphere: --metric cosine (docs/math/cosine.md). */
#ifndef VEM_MODEL_SPHERE_H
#define VEM_MODEL_SPHERE_H

#include "base/run.h"

/* Where the sphere is for whoever works in the units of a view: a mean m there is
 * unit * m + origin in those of the data, and that has length 1. */
typedef struct vem_i_sphere {
    const double *origin; /* d; NULL: means lie anywhere */
    double unit;
} vem_i_sphere;

/* Below this share of the mass a sum of directions is what rounding left of 0: it has none. */
double vem_i_sphere_least(vem_precision precision);
/* A mean of the view in the units of the data. */
static inline double vem_i_sphere_out(const vem_i_sphere *s, double value, int64_t j)
{
    return s->unit * value + s->origin[j];
}
/* The other way. */
static inline double vem_i_sphere_in(const vem_i_sphere *s, double value, int64_t j)
{
    return (value - s->origin[j]) / s->unit;
}
/* d values to the sphere, in place; where they have no direction, to the first axis. */
void vem_i_sphere_place(const vem_i_sphere *sphere, int32_t d, double *mean);

#endif
