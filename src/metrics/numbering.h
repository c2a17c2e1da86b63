/* Numbers for labels, which may be any integers: a hash table. */
#ifndef VEM_METRICS_NUMBERING_H
#define VEM_METRICS_NUMBERING_H

#include "base/run.h"

/* Labels become 0 .. *count-1 in the order of their first row. */
vem_status vem_i_number_labels(vem_i_run *run, const int64_t *labels, int64_t n,
                               int64_t *numbers, int64_t *count);

#endif
