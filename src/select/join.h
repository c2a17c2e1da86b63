/* Some groups joined, two by two, down to the number of them that costs least. */
#ifndef VEM_SELECT_JOIN_H
#define VEM_SELECT_JOIN_H

#include "select/objective.h"

enum { VEM_I_PARTS = 16 }; /* at most */

typedef struct vem_i_joining {
    const vem_i_objective *objective;
    vem_i_tally beside;  /* of all clusters beside these */
    int32_t least, most; /* groups that there may be in the end */
    double *groups;      /* count groups, stride apart, and room for one more; used up */
    int64_t stride;
    double *work; /* vem_i_objective_work doubles */
} vem_i_joining;

/* chosen[p]: the group that group p belongs to in the cheapest partition on the way,
 * itself or one of a lower number; -1 where it is empty. Returns what all clusters cost
 * then. */
double vem_i_join_down(const vem_i_joining *joining, int32_t count,
                       int32_t chosen[VEM_I_PARTS]);

#endif
