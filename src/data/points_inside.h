/* Rows that the arithmetic cannot hold are refused, with row, column and value (range.c). */
#ifndef VEM_DATA_POINTS_INSIDE_H
#define VEM_DATA_POINTS_INSIDE_H

#include "data/points.h"

/* After a pass that summed squares; `variance`: of the rows, in the units of the view. */
vem_status vem_i_range_check(const vem_i_pass *p, const vem_i_points_request *request,
                             double variance);
/* The same for rows of weight 0 in the view, of which the passes tell nothing; its `extreme`
 * counts them from then on. */
vem_status vem_i_range_check_absent(const vem_i_pass *p,
                                    const vem_i_points_request *request, vem_view *view);

/* Masses from the weights of the rows of a pass. */
vem_status vem_i_points_weigh(vem_i_run *run, const vem_i_pass *p, vem_i_points *points);
/* The view of sparse rows: they are not copied (points_sparse.c). */
vem_status vem_i_points_fill_sparse(vem_i_run *run, const vem_i_pass *p,
                                    vem_i_points *points);

#endif
