/* Clusters of a model that goes on from another keep their numbers. */
#ifndef VEM_USE_NUMBERS_H
#define VEM_USE_NUMBERS_H

#include "data/data.h"
#include "model/model.h"

/* The clusters of `model`, as many as before, and the labels of n rows (or NULL) get the numbers of
 * those that they continue. How far each mean went, and is it none that went on? (C each, or NULL.) */
vem_status vem_i_numbers_keep(vem_i_run *run, const vem_model *before, vem_model *model,
                              int32_t *labels, int64_t n, double *distances,
                              int32_t *moved);

#endif
