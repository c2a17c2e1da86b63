/* What rows say under a model, as statistics that add up. */
#ifndef VEM_USE_SUMS_H
#define VEM_USE_SUMS_H

#include "model/part.h"

/* Statistics of all rows, as an E-step with these resolved options takes them. */
vem_status vem_i_sums_of_rows(vem_i_run *run, const vem_model *model,
                              const vem_data *data, const vem_options *resolved,
                              vem_stats **stats);

#endif
