/* Moments about means that are near enough for the M-step to keep its digits. */
#ifndef VEM_EM_STEADY_H
#define VEM_EM_STEADY_H

#include "em/estep.h"

/* Called between an E-step and the M-step of these constraints. Where the step of a cluster
 * is so long beside its spread that the second moment about the new mean would be lost in
 * rounding, its statistics are taken again, about a mean that is near the new one; what is
 * held, and with which probability, stays. Adds the pairs that a dense search scores again. */
vem_status vem_i_steady(vem_i_run *run, vem_i_estep *estep, vem_i_posterior *posterior,
                        const vem_i_constraints *constraints, vem_i_scorer *scorer,
                        vem_i_stats *stats, int64_t *pairs);
/* What it takes then: that part of the scorer, and these. Taken where it happens, as hardly any fit
 * comes to it; plans count it (fit/memory_plan.c). */
typedef struct vem_i_steady_room {
    uint8_t *only; /* per cluster */
    double *mean;  /* d */
} vem_i_steady_room;
vem_status vem_i_steady_room_new(vem_i_run *run, vem_i_scorer *scorer, int32_t clusters,
                                 vem_i_steady_room *room);
void vem_i_steady_room_free(vem_i_steady_room *room);

#endif
