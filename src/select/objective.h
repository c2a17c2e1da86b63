/* What a partition of the items is worth: a sum over its clusters, and something for how many there
 * are. Less is better. */
#ifndef VEM_SELECT_OBJECTIVE_H
#define VEM_SELECT_OBJECTIVE_H

#include "model/evidence.h"

typedef struct vem_i_objective {
    const vem_i_family *family;
    int32_t d;
    vem_i_constraints
        constraints;  /* of its M-steps; under a conjugate prior evidence counts */
    double mass_unit; /* what a mass of 1 stands for */
    double total;     /* of all items, by that */
    double price;     /* of a parameter, in all; 0 under a conjugate prior */
} vem_i_objective;

/* A cluster as numbers: its mass, mean and scatter (evidence.h), one after the other. */
int64_t vem_i_group_stride(const vem_i_objective *objective);
/* out, which may be one of them, becomes both together. */
void vem_i_group_join(const vem_i_objective *objective, const double *a, const double *b,
                      double *out);
/* What it costs; work: vem_i_objective_work doubles. */
double vem_i_group_cost(const vem_i_objective *objective, const double *group,
                        double *work);
int64_t vem_i_objective_work(const vem_i_objective *objective);
/* What so many clusters cost beside that. */
double vem_i_objective_count(const vem_i_objective *objective, double clusters);

#endif
