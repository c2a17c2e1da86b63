/* Several starts on a sample, the best of which goes on with all rows (docs/math/starts.md). */
#ifndef VEM_FIT_STARTS_H
#define VEM_FIT_STARTS_H

#include "fit/attempt.h"

/* Leaves the best model in attempt->model, or NULL where the sample cannot tell
 * (attempt->missed says why); its distances are in attempt->seed_pairs. */
vem_status vem_i_starts_run(vem_i_attempt *attempt);

#endif
