/* What an index pays and finds: the curve of recall against rows scanned. */
#ifndef VEM_METRICS_INDEX_H
#define VEM_METRICS_INDEX_H

#include "data/view.h"
#include "model/model.h"

struct vem_index {
    vem_index_summary summary;
    int32_t lists; /* of a row */
    int32_t count; /* of points */
    vem_index_point *points;
};

/* The summary is that of these labels (`lists` for each of the rows; -1 for none); no points yet. */
vem_status vem_i_index_new(vem_i_run *run, const int32_t *labels, int64_t rows,
                           int32_t lists, int32_t clusters, vem_index **index);
/* The points. `means` are balls in the units of the view, one for each list; `neighbors` the rows that
 * each query should find, summary.neighbors of them. */
vem_status vem_i_index_probe(vem_i_run *run, vem_index *index, const int32_t *labels,
                             const vem_view *queries, const vem_model *means,
                             const int64_t *neighbors);
/* Where a query scans so many rows, between two points; NAN beyond them. */
vem_index_point vem_i_index_between(const vem_index *index, double rows);

#endif
