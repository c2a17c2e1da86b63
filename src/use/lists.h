/* What queries find in the lists that a model puts rows into. */
#ifndef VEM_USE_LISTS_H
#define VEM_USE_LISTS_H

#include "data/data.h"
#include "model/model.h"

/* Dense rows and queries, lists, neighbors and labels as they must be. */
vem_status vem_i_lists_measure(vem_i_run *run, const vem_model *model,
                               const vem_data *data, const vem_data *queries,
                               vem_precision precision, const vem_index_options *options,
                               vem_index **index);

#endif
