/* The last whole step, to go back to when time runs out, or a stop is asked for, in the middle
 * of the next one; and how long steps last. It watches a loop where there is a deadline, or where
 * a step is so long that a stop should not wait for its end. */
#ifndef VEM_EM_LAST_STEP_H
#define VEM_EM_LAST_STEP_H

#include "em/em.h"

typedef struct vem_i_last_step vem_i_last_step;

/* After vem_i_em_new: becomes the loop's last observer and lets it give up steps. NULL where
 * none of that is wanted. */
vem_status vem_i_last_step_new(vem_i_em *em, vem_i_last_step **made);
void vem_i_last_step_free(vem_i_last_step *last);
/* Operations of a step from which on a stop leaves it in its middle; tests change it. */
extern double vem_i_worth_leaving;

#endif
