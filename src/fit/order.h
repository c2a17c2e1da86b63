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
vem_status vem_i_order_by(vem_i_run *run, vem_i_points *points, int32_t clusters,
                          const vem_i_tour *tour, int32_t *labels);
/* Rows and labels in the order of these, of all processes. */
vem_status vem_i_order_rows(vem_i_run *run, vem_i_points *points, int32_t clusters,
                            int32_t *labels);
/* Of several processes, the same in two steps, where rows were made of others, which are put in the order of
 * these: the places of the others, to be freed, and the labels by them; then the others. */
vem_status vem_i_order_places(vem_i_run *run, const vem_i_points *made, int32_t clusters,
                              int32_t *labels, int64_t **places);
vem_status vem_i_order_bring(vem_i_run *run, vem_i_points *points, const int64_t *places,
                             int32_t *labels);
/* And where it is known which rows they are; takes the list over. */
vem_status vem_i_order_take(vem_i_run *run, vem_i_points *points, uint32_t *rows);
/* Labels by row of the data, in place. */
vem_status vem_i_order_back(vem_i_run *run, const vem_i_points *points, int32_t *labels);

#endif
