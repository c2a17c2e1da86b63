/* The means of a model under fewer centres, level by level: the noun vem_hierarchy. */
#ifndef VEM_MODEL_CENTRES_H
#define VEM_MODEL_CENTRES_H

#include "data/data.h"
#include "model/model.h"

enum { VEM_I_CENTRES_LEVELS = 8 };

struct vem_hierarchy {
    int32_t clusters, levels, nodes, d;
    vem_metric metric;                       /* of the model: all levels have it */
    double *vectors;                         /* nodes x d, in the units of the data */
    double *mass;                            /* nodes */
    int32_t *parents;                        /* nodes; -1: at the top */
    int32_t *level_of;                       /* nodes; 0: clusters */
    int32_t first[VEM_I_CENTRES_LEVELS + 1]; /* node of each level */
};

/* Level 0, with room for all; also on failure it is the caller's to free. */
vem_status vem_i_centres_new(vem_i_run *run, const vem_model *model, int32_t levels,
                             vem_hierarchy **made);
/* Nodes of the level, at most. */
int32_t vem_i_centres_wanted(const vem_hierarchy *h, int32_t level);
/* The nodes of a level as rows, with their masses as weights. */
vem_status vem_i_centres_rows(vem_i_run *run, const vem_hierarchy *h, int32_t level,
                              vem_data **rows);
/* Those of the model's means that are nearest to a node of the level become the next one. number: a
 * value of scratch for each cluster of the model. */
void vem_i_centres_append(vem_hierarchy *h, int32_t level, const vem_model *model,
                          const int32_t *nearest, int32_t *number);

#endif
