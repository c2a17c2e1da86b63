/* Several starts on a sample, the best of which goes on with all rows (docs/math/starts.md). */
#ifndef VEM_API_STARTS_H
#define VEM_API_STARTS_H

#include "api/course.h"

/* What is tried before the loops over all rows. */
typedef struct vem_i_starts_plan {
    int64_t
        rows; /* of the sample; as many as there are: all of them, no sample is drawn */
    int64_t larger; /* of the sample on which the best goes on; 0: none */
    int64_t
        runs; /* fits of the sample: the first `fresh` begin with a seeding, the others */
    int64_t fresh; /* with the best so far, some clusters moved elsewhere */
} vem_i_starts_plan;

/* By the sizes alone. runs = 0: there are no starts. `ours`: no preset, and no model to start
 * from; `reduced`: the items are a coreset. */
vem_i_starts_plan vem_i_starts_of(const vem_options *resolved, int ours, int reduced,
                                  int64_t n, int32_t d);
/* The options of a run. */
vem_options vem_i_starts_options(const vem_options *resolved);
/* Leaves the best model in c->model, or NULL where the sample cannot tell (c->missed says why);
 * its distances are in c->seed_pairs. `cut`: a stop was requested before the last run. */
vem_status vem_i_starts_run(vem_i_course *c, int *cut);

#endif
