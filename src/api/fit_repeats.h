/* Fits of rows that come several times. */
#ifndef VEM_API_FIT_REPEATS_H
#define VEM_API_FIT_REPEATS_H

#include "api/fitting.h"

/* Before anything else: `data` become the different rows, where that is the same fit for less. */
vem_status vem_i_fit_merge(vem_i_fitting *fitting);
/* When all is measured: what is told is of all rows again. */
void vem_i_fit_unmerge(vem_i_fitting *fitting);

#endif
