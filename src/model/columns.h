/* What a model knows of its columns after a fit. */
#ifndef VEM_MODEL_COLUMNS_H
#define VEM_MODEL_COLUMNS_H

#include "data/points.h"
#include "model/model.h"

/* Names, ids and how they were picked: those of the data, or of the start (or NULL) where they
 * have none. Means: what missing values became, else those of the rows. */
vem_status vem_i_model_know_columns(vem_i_run *run, const vem_data *data,
                                    const vem_i_points *points, const vem_model *start,
                                    vem_model *model);

#endif
