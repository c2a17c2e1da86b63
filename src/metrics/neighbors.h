/* The rows nearest to queries. */
#ifndef VEM_METRICS_NEIGHBORS_H
#define VEM_METRICS_NEIGHBORS_H

#include "data/points.h"

/* The `count` rows nearest to each query, the nearest first, of equally near ones the first of
 * the data: queries x count numbers of rows. `request` says how the rows are looked at (origin,
 * precision, length 1), and the view of the queries was made by the same. There are no fewer rows
 * than `count`, which is at most VEM_I_NEIGHBORS_MAX. */
enum { VEM_I_NEIGHBORS_MAX = 64 };
vem_status vem_i_neighbors(vem_i_run *run, const vem_data *data,
                           const vem_i_points_request *request, const vem_view *queries,
                           int32_t count, int64_t *neighbors);

#endif
