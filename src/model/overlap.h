/* How much two clusters have in common. */
#ifndef VEM_MODEL_OVERLAP_H
#define VEM_MODEL_OVERLAP_H

#include "model/model.h"

/* Doubles of work that vem_i_clusters_overlap needs; 0: none. */
size_t vem_i_clusters_overlap_room(const vem_model *model);
/* Bhattacharyya coefficient of clusters a and b, 0 to 1. */
double vem_i_clusters_overlap(const vem_model *model, int64_t a, int64_t b, double *work);

#endif
