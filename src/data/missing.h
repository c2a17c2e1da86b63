/* Missing values: NaN in rows as stored. */
#ifndef VEM_DATA_MISSING_H
#define VEM_DATA_MISSING_H

#include "data/data.h"

/* Treats them as `missing` says. `name` is for messages; rows for a family of `counts` take no
 * means, and sparse rows have nothing missing that could be treated; `means` (or NULL) are what they become
 * with VEM_MISSING_MEAN. Weights are there already: they line up with all rows, and with
 * VEM_MISSING_DROP those of the rows left out go too. Several files that are one data set are
 * joined first. */
vem_status vem_i_missing(vem_i_run *run, const char *name, vem_missing missing,
                         int counts, const double *means, int32_t means_count,
                         vem_data *data);
/* The sentence for a value that is not finite; `place` names the first. Goes through all rows
 * to say how many are missing. Sparse rows have none: they are refused when they are read. */
vem_status vem_i_data_refuse(vem_i_run *run, const vem_data *data, int counts,
                             const char *place, double value);

#endif
