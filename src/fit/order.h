/* Rows put in the order of the clusters that hold them: from then on most of what a step reads lies
 * together. */
#ifndef VEM_FIT_ORDER_H
#define VEM_FIT_ORDER_H

#include "data/points.h"
#include "search/tour.h"

/* The order of n rows by their labels, -1 last. */
vem_status vem_i_order_of(vem_i_run *run, int64_t n, int32_t clusters,
                          const int32_t *labels, vem_i_tour *tour);
/* Rows and labels into that order. */
vem_status vem_i_order_rows(vem_i_run *run, vem_i_points *points, int32_t clusters,
                            const vem_i_tour *tour, int32_t *labels);

#endif
