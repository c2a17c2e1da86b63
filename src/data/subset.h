/* A weighted sample of the items of a view, as a view of its own. */
#ifndef VEM_DATA_SUBSET_H
#define VEM_DATA_SUBSET_H

#include "data/points.h"
#include "data/subset_apart.h"

/* Items whose chances are added up before they join the sum. */
enum { VEM_I_SUBSET_SHARD = 1024 };

/* `size` draws (fewer than there are items), a function of the seed and the items alone. Origin
 * and scale are those of `view`, which must outlive it: models of one are models of the other.
 * even: by the weights alone, as squared distances tell little of counts. Of sparse rows the sample
 * knows where they are; they stay. Of several processes each gets the draws of `place`, or all (NULL). */
vem_status vem_i_subset_new(vem_i_run *run, const vem_view *view, int64_t size, int even,
                            uint64_t seed, const vem_i_span *place,
                            vem_i_points **subset);
/* All rows of a view of several processes, for each of them. */
vem_status vem_i_subset_all(vem_i_run *run, const vem_view *view, vem_i_points **all);
/* Draws of one item, which follow each other, become one item of all their mass. For samples of
 * different rows that are not sparse. */
void vem_i_subset_join(vem_i_points *subset);

#endif
