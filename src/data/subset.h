/* A weighted sample of the items of a view, as a view of its own. */
#ifndef VEM_DATA_SUBSET_H
#define VEM_DATA_SUBSET_H

#include "data/points.h"

/* `size` draws (fewer than there are items), a function of the seed and the items alone. Origin
 * and scale are those of `view`, which must outlive it: models of one are models of the other.
 * even: by the weights alone, as squared distances tell little of counts. Of sparse rows the sample
 * knows where they are; they stay. */
vem_status vem_i_subset_new(vem_i_run *run, const vem_view *view, int64_t size, int even,
                            uint64_t seed, vem_i_points **subset);

#endif
