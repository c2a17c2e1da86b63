/* The penalty on uneven sizes, which --balance takes from F (docs/math/balance.md). */
#ifndef VEM_MOVES_PENALTY_H
#define VEM_MOVES_PENALTY_H

#include "em/em.h"

/* Of a cluster of x times the mean size, per t: x log x - x, whose slope is log x, or the tangent at a
 * sixteenth of the mean where that is larger. */
double vem_i_penalty(double x);
double vem_i_penalty_slope(double x);
/* As a mean over the clusters: of masses, which add up to that of the view. */
double vem_i_penalty_of(const vem_i_em *em, const double *sizes);

/* F less the penalty is known to so many digits, as a share. */
double vem_i_penalty_rounding(const vem_i_em *em);
/* Between the least and the largest price, in nats: exp of less that is still a number. */
#define VEM_I_PRICE_SPAN 600.0

/* t to begin with: a multiple of the median gap of the items, after an E-step that has looked
 * further. room: VEM_I_PENALTY_TOLD of them. */
typedef struct vem_i_told_gap {
    double gap, mass;
} vem_i_told_gap;
enum { VEM_I_PENALTY_TOLD = 16384 };
double vem_i_penalty_strength(const vem_i_em *em, vem_i_told_gap *room);

#endif
