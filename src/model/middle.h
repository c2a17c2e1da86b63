/* Where the clusters of a model lie, and how far rows of it lie from there. */
#ifndef VEM_MODEL_MIDDLE_H
#define VEM_MODEL_MIDDLE_H

#include "model/model.h"

/* The middle of the model's means (d values), which a few clusters cannot move: near where
 * the data are, and the origin of the view of every chunk. */
void vem_i_model_center(const vem_model *model, double *origin);
/* Deviations of the columns about the origin (d values each), of rows of this model. */
void vem_i_model_deviations(const vem_model *model, const double *origin,
                            double *deviations);
/* How far rows of this model lie from there, in the column where they lie farthest. */
vem_status vem_i_model_extent(vem_i_run *run, const vem_model *model, double *extent);

#endif
