/* What was found, cluster by cluster. */
#ifndef VEM_USE_DESCRIBE_H
#define VEM_USE_DESCRIBE_H

#include "data/data.h"
#include "model/model.h"

/* Of each cluster of the model (clusters: as many, from 0), and of all. Without data (NULL) what
 * rows say is not known. The arrays of `about` are the caller's, or NULL. */
vem_status vem_i_describe(vem_i_run *run, const vem_model *model, const vem_data *data,
                          vem_precision precision, vem_cluster *clusters,
                          vem_description *about);

#endif
