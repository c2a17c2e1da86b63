/* What a cap comes to. */
#ifndef VEM_MOVES_CAP_BOUNDS_H
#define VEM_MOVES_CAP_BOUNDS_H

#include <stdint.h>

/* Masses are multiples of the unit. */
typedef struct vem_i_cap_bounds {
    int alike;          /* rows weigh the same, or nothing */
    double unit;        /* what they weigh, then; else 1 */
    int64_t count;      /* of rows that weigh something */
    double most, least; /* with these it is kept */
    double full; /* a cluster takes no row once it has that; the last may take it above */
} vem_i_cap_bounds;

/* mass: of n rows; NULL: 1 each. */
vem_i_cap_bounds vem_i_cap_bounds_of(const double *mass, int64_t n, int32_t clusters,
                                     double cap);

#endif
