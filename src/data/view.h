/* Weighted items as the engine sees them: mean and mass (a cell will add its spread).
 * A plain struct that owns nothing. Values are about `origin` and divided by `scale`. */
#ifndef VEM_DATA_VIEW_H
#define VEM_DATA_VIEW_H

#include "kernels/kernels.h"

typedef struct vem_view {
    const vem_i_kernels *kernels; /* of the type of x */
    const void *x;                /* n rows of d values of type T, ld apart */
    int64_t n, ld;
    int32_t d;
    int spilled;        /* x rests in a temporary file: going back and forth costs */
    const double *mass; /* n, or NULL: all 1 */
    double mass_unit;   /* a power of two: the caller's weight is mass times this, so that
                           masses are near 1 whatever scale the weights have */
    double total_mass;
    int64_t used;         /* items with a positive mass */
    double variance;      /* tr(Cov) / d, in the units of the view */
    double extreme;       /* the largest |value| of x */
    const double *origin; /* d */
    const double *scale;  /* d, or NULL: all 1 */
    int whitened; /* scale is only what is computed with: people are told distances in the
                     units of the data */
    const double
        *deviations; /* d: of the columns, in the units of the view; 1 for a constant
                                 one. NULL where no fit will ask */
} vem_view;

static inline const void *vem_i_view_row(const vem_view *view, int64_t item)
{
    return (const char *)view->x +
           (size_t)item * (size_t)view->ld * view->kernels->element;
}

static inline double vem_i_view_mass(const vem_view *view, int64_t item)
{
    return view->mass ? view->mass[item] : 1.0;
}

/* Value j of a row of type T. */
static inline double vem_i_value(const vem_i_kernels *kernels, const void *row, int64_t j)
{
    return kernels->precision == VEM_SINGLE ? (double)((const float *)row)[j]
                                            : ((const double *)row)[j];
}

/* Store value i of an array of type T. */
static inline void vem_i_store(const vem_i_kernels *kernels, void *array, int64_t i,
                               double value)
{
    if (kernels->precision == VEM_SINGLE)
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* Write n doubles as values of type T. */
void vem_i_narrow(const vem_i_kernels *kernels, const double *values, int64_t n,
                  void *out);

/* log of the factor between densities in the units of the view and those of the data. */
double vem_i_view_log_jacobian(const vem_view *view);

#endif
