/* Partitions that the runs of the starts have met.
 *
 * Several runs often come to the same clusters, and where each of them has weighed its swaps anew they go
 * the same way: a run that comes to a partition which an earlier one had at the same point, before swaps
 * were weighed, has nothing to add and ends. (With soft items the mixtures need not be the same then, only
 * the most probable cluster of every item.) */
#ifndef VEM_FIT_MET_H
#define VEM_FIT_MET_H

#include "em/em.h"

enum { VEM_I_MET_MOST = 512, VEM_I_MET_CLUSTERS = 64 };

typedef struct vem_i_met {
    uint64_t digests[VEM_I_MET_MOST];
    int count, earlier; /* all of them; those of earlier runs */
} vem_i_met;

/* A run begins. */
void vem_i_met_begin(vem_i_met *met);
/* Was the partition of the loop met by an earlier run in this kind of stage? Else it is noted. */
int vem_i_met_before(vem_i_met *met, int stage, const vem_i_em *em);

#endif
