/* Models between the units of the data and those of a view. */
#ifndef VEM_MODEL_UNITS_H
#define VEM_MODEL_UNITS_H

#include "data/view.h"
#include "model/family.h"

/* A copy of `model` (units of the data) about the origin and in the scale of the view, in
 * `family`, which must be able to express it. */
vem_status vem_i_model_to_view(vem_i_run *run, const vem_model *model,
                               const vem_view *view, const vem_i_family *family,
                               vem_model **out);
/* In place: from the units of the view to those of the data. */
vem_status vem_i_model_to_data(vem_i_run *run, const vem_view *view, vem_model *model);
/* One shape, in place: from the units of the data to those of a view with this scale. Round ones need
 * the same for all columns. */
void vem_i_shape_to_view(const vem_i_family *family, int32_t d, const double *scale,
                         double *shape);
/* What the M-step of a fit of these rows must respect: prior, mass, and the floor of the
 * family. The view has the deviations of its columns and outlives the result. */
vem_i_constraints vem_i_constraints_of(const vem_view *view, const vem_options *options,
                                       const vem_i_family *family);
/* Refuses a model, in the units of the view, that lies so far from the rows, or has so small
 * variances beside that, that a cost would be no number of the compute type. */
vem_status vem_i_model_check_range(vem_i_run *run, const vem_model *model,
                                   const vem_view *view);

/* Covariance of columns i and j in cluster c, in the units of the data. */
double vem_i_model_covariance(const vem_model *model, int64_t cluster, int32_t i,
                              int32_t j);
/* Deviation of column j in cluster c: a number even where its square is none. */
double vem_i_model_deviation(const vem_model *model, int64_t cluster, int32_t j);

#endif
