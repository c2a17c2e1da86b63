/* What each step of a fit does besides the E- and M-step: probes, swaps, over-relaxation.
 *
 *     find     steps that put the items near the right clusters (groups: probes),
 *              over-relaxed
 *     swap     a round of swaps, then a step that lets the clusters settle; as long as the
 *              swaps promise enough, and at most the rounds asked for
 *     price    with --balance, in a loop of its own: prices of large clusters change after
 *              every step, for so many rounds, or until that gains nothing
 *     settle   plain steps until the fit has converged
 *
 * Without swaps and groups there is nothing to plan: every step is plain and may be the
 * last. The over-relaxed M-step  mu += a (mean - mu), 1 < a < 2,  raises F less than the
 * plain one, but it raises it (the quadratic gain is 2a - a^2 of the full one), and over
 * several steps it is faster. */
#ifndef VEM_EM_SCHEDULE_H
#define VEM_EM_SCHEDULE_H

#include "em/estep.h"

typedef struct vem_i_step {
    vem_i_step_plan plan;
    int swap;
    double relax;
    int may_end;
} vem_i_step;

typedef struct vem_i_schedule {
    int groups;     /* the search has lists and probes */
    int placed;     /* every item holds a cluster that is near, to begin with */
    int crowded;    /* few items per cluster: probes cost much and move little */
    int probe;      /* buckets of a probe */
    int64_t rounds; /* of swaps, or prices, at most */
    double enough;  /* gain in F per unit of mass that makes another round worth it */
    /* State. */
    enum { VEM_I_FIND, VEM_I_SWAP, VEM_I_CALM, VEM_I_SETTLE, VEM_I_PRICE } phase;
    int64_t count; /* steps of this phase, or rounds */
} vem_i_schedule;

/* All items have looked around before the loop: it begins with the last phase, and without a probe
 * unless they have not looked often. */
void vem_i_schedule_settle(vem_i_schedule *schedule, int probes);
vem_i_step vem_i_schedule_next(vem_i_schedule *schedule);
/* What the swaps of this step promised, in F per unit of mass. */
void vem_i_schedule_gain(vem_i_schedule *schedule, double gain);

#endif
