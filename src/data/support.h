/* The values that rows may have where a family does not take every number, and what a row adds to
 * the log-likelihood under every cluster alike: the logarithm of its base measure. */
#ifndef VEM_DATA_SUPPORT_H
#define VEM_DATA_SUPPORT_H

#include "data/data.h"

typedef struct vem_i_support {
    double most;                                      /* whole numbers from 0 to this */
    const char *says;                                 /* "family NAME takes only ..." */
    double (*log_base)(const double *row, int32_t d); /* NULL: 0 */
} vem_i_support;

/* Looks at every value of n rows from row `first` on and names the first that may not be; log_base
 * (n values, or NULL): of each row. */
vem_status vem_i_support_read(vem_i_run *run, const vem_data *data,
                              const vem_i_support *support, int64_t first, int64_t n,
                              const char *phase, double *log_base);
/* That, run dry (base/memory.h); row_values as vem_i_data_row_values says. */
void vem_i_support_plan(vem_i_run *dry, int64_t n, int32_t d, int64_t row_values);

#endif
