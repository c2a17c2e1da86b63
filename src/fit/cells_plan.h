/* Cells where nobody asked for them, and how many clusters those have that were asked for. */
#ifndef VEM_FIT_CELLS_PLAN_H
#define VEM_FIT_CELLS_PLAN_H

#include "base/options.h"
#include "data/data.h"

/* By the sizes and a look at the rows, for resolved options of a fit of them: cells, where those pay
 * and lose nothing. */
vem_status vem_i_choose_cells(vem_i_run *run, const vem_data *data,
                              vem_options *resolved);
/* The most clusters that a fit of so many cells takes, where these are fewer than rows. */
int64_t vem_i_clusters_of_cells(int64_t cells);

#endif
