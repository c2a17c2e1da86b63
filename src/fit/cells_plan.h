/* Cells where nobody asked for them. */
#ifndef VEM_FIT_CELLS_PLAN_H
#define VEM_FIT_CELLS_PLAN_H

#include "base/options.h"
#include "data/data.h"

/* By the sizes and a look at the rows, for resolved options of a fit of them: cells, where those pay
 * and lose nothing. */
vem_status vem_i_choose_cells(vem_i_run *run, const vem_data *data,
                              vem_options *resolved);

#endif
