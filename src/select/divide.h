/* The number of clusters by dividing and joining them, as long as an objective gains. */
#ifndef VEM_SELECT_DIVIDE_H
#define VEM_SELECT_DIVIDE_H

#include "select/groups.h"
#include "select/select.h"

/* From one cluster; the objective is that of the selection's method. */
vem_status vem_i_divide(vem_i_selection *selection, vem_i_objective *objective);

#endif
