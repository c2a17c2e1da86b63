/* What a partition of the items is worth: a sum over its clusters, and something for how
 * many there are. Less is better. */
#ifndef VEM_SELECT_OBJECTIVE_H
#define VEM_SELECT_OBJECTIVE_H

#include "model/evidence.h"
#include "model/moments.h"

typedef struct vem_i_objective {
    const vem_i_family *family;
    int32_t d;
    vem_i_constraints
        constraints;  /* of its M-steps; under a conjugate prior evidence counts */
    double mass_unit; /* what a mass of 1 stands for */
    double total;     /* of all items, by that */
    double price;     /* of a parameter, in all; 0 under a conjugate prior */
    int tests; /* clusters are divided in two, where a test says that one is no normal sample */
} vem_i_objective;

/* Doubles of a group: a cluster as its mass, mean and scatter, one after the other (moments.h). */
int64_t vem_i_group_stride(const vem_i_objective *objective);
/* What some groups add up to. */
typedef struct vem_i_tally {
    double cost;     /* of each by itself, */
    double scatter;  /* and, where they share a variance, what it follows from */
    double clusters; /* that are not empty */
} vem_i_tally;

/* Of one; work: vem_i_objective_work doubles. */
vem_i_tally vem_i_group_tally(const vem_i_objective *objective, const double *group,
                              double *work);
/* What of it is for rows that the cluster lacks; where it is not 0, the cost is no more
 * than a rank. */
double vem_i_group_lack(const vem_i_objective *objective, const double *group);
int64_t vem_i_objective_work(const vem_i_objective *objective);
/* a + sign b. */
vem_i_tally vem_i_tally_add(vem_i_tally a, double sign, vem_i_tally b);
/* What a partition with this tally costs. */
double vem_i_objective_total(const vem_i_objective *objective, vem_i_tally tally);

#endif
