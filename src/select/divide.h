/* The number of clusters by dividing and joining them, as long as an objective gains. */
#ifndef VEM_SELECT_DIVIDE_H
#define VEM_SELECT_DIVIDE_H

#include "select/groups.h"
#include "select/select.h"

/* Of the family and the rows of a selection, without a prior or a price (methods.c). */
vem_i_objective vem_i_selection_objective(const vem_i_selection *selection);
/* From one cluster; the objective is that of the selection's method. */
vem_status vem_i_divide(vem_i_selection *selection, vem_i_objective *objective);
/* The best for each of these numbers, which ascend, each from the one before; the objective ranks
 * divisions. `first`: a fit of the first of them; its model is taken over. */
vem_status vem_i_divide_into(vem_i_selection *selection, vem_i_objective *objective,
                             vem_i_attempt *first, const int32_t *numbers, int64_t count);
/* What that takes beside the fits, with the mixtures that it keeps. */
uint64_t vem_i_divide_bytes(const vem_i_run *run, const vem_i_programme *programme,
                            int32_t d);

#endif
