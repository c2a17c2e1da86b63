/* The clusters that items are in, as numbers (objective.h), with their items side by
 * side. */
#ifndef VEM_SELECT_PARTITION_H
#define VEM_SELECT_PARTITION_H

#include "search/tour.h"
#include "select/parts.h"

typedef struct vem_i_partition {
    int32_t count, capacity;
    int64_t stride;
    double *groups;       /* capacity x stride */
    vem_i_tally *tallies; /* of each, */
    vem_i_tally all;      /* and of all */
    double
        *seen; /* the mass it had when it was found best undivided; NAN: not looked at */
    vem_i_tour
        tour; /* items of group g: tour.items[tour.starts[g] .. tour.starts[g + 1]) */
    int32_t *identity;
} vem_i_partition;

vem_status vem_i_partition_new(vem_i_run *run, const vem_i_objective *objective,
                               int64_t n, int32_t capacity, vem_i_partition *groups);
void vem_i_partition_free(vem_i_partition *groups);
double *vem_i_partition_at(const vem_i_partition *groups, int32_t at);
/* Of the labels of all items; the model has as many clusters, near the items of each. */
void vem_i_partition_read(vem_i_run *run, vem_i_parts *parts, const int32_t *labels,
                          const vem_model *model, vem_i_partition *groups);
/* The best parameters for these groups, as a model with room for them, by the objective's
 * M-step. */
vem_status vem_i_partition_model(vem_i_run *run, const vem_i_objective *objective,
                                 const vem_i_kernels *kernels,
                                 const vem_i_partition *groups, vem_model **model);

#endif
