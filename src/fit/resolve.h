/* The options of a fit. */
#ifndef VEM_FIT_RESOLVE_H
#define VEM_FIT_RESOLVE_H

#include "data/data.h"
#include "model/model.h"

/* The options of a fit of these data from this start (NULL: none), or why it cannot be. */
vem_status vem_i_fit_resolve(vem_i_run *run, const vem_data *data,
                             const vem_options *options, const vem_model *start,
                             vem_options *resolved);

#endif
