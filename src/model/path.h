/* Mixtures of several numbers of clusters of the same rows, with what each is worth: the noun
 * vem_path. While they are found the models are in the units of the view, then in those of the
 * data. */
#ifndef VEM_MODEL_PATH_H
#define VEM_MODEL_PATH_H

#include "model/model.h"

struct vem_path {
    int32_t count, capacity;
    vem_path_point *points;   /* by the number of clusters, ascending */
    vem_model **models;       /* of each; borrowed by nobody */
    int32_t chosen;           /* clusters of the one that was chosen; 0: none */
    vem_select_method method; /* that found it */
    double mass;              /* sum of the weights of all rows; 0: not known */
    int64_t limit;   /* most clusters that were allowed; 0: not known, of a file */
    int64_t floored; /* of the chosen one, as in vem_path_summary */
};

/* Room for so many numbers of clusters. */
vem_status vem_i_path_new(vem_i_run *run, int32_t capacity, vem_path **path);
/* A path of so many mixtures, run dry (base/memory.h): of the largest that there may be, as no two
 * have as many clusters. */
void vem_i_path_plan(vem_i_run *dry, vem_i_shape shape, int32_t count);
/* Keeps a copy of the mixture, unless there is a better one of as many clusters. */
vem_status vem_i_path_add(vem_i_run *run, vem_path *path, const vem_model *model,
                          double free_energy, int64_t steps);
/* Takes the mixture over (also on failure) as the last of the path. */
vem_status vem_i_path_append(vem_i_run *run, vem_path *path, const vem_path_point *point,
                             vem_model *model);
/* The number of the mixture of so many clusters; -1: there is none. */
int32_t vem_i_path_find(const vem_path *path, int32_t clusters);
/* Clusters of the best objective (the least if `lower`) among those of at least `least`; without any such
 * the most. 0: the path is empty. */
int32_t vem_i_path_best(const vem_path *path, int32_t least, int lower);
/* The number of the best mixture but for the chosen one, and by how much that is better; -1: there is none,
 * and the margin is NAN. */
int32_t vem_i_path_next(const vem_path *path, int lower, double *margin);
/* The state of a path that is being found. Read, it is empty before; models have this shape but
 * for their clusters, of which there are no more than shape.capacity. */
void vem_i_path_record(vem_i_record *record, vem_path *path, vem_i_shape shape);

#endif
