/* The most probable clusters of rows: by a scan (assign.c), by a guided search whose recall is measured
 * (assign_guided.c), and a second list for each row (assign_spill.c). */
#ifndef VEM_USE_ASSIGN_H
#define VEM_USE_ASSIGN_H

#include "metrics/chunks.h"

/* Where the result goes. */
typedef struct vem_i_assign {
    int32_t top;
    int32_t *clusters;     /* n x top; NULL: all of them, in their order (top = C) */
    double *probabilities; /* n x top or NULL */
} vem_i_assign;

/* Options are checked, and the report, which may be NULL, is filled in. */
vem_status vem_i_assign_guided(vem_i_run *run, const vem_model *model,
                               const vem_data *data, const vem_assign_options *options,
                               int32_t *clusters, double *probabilities,
                               vem_assign_report *report);
/* The same a chunk of rows at a time (vem_i_chunk_rows), each followed by `then`: clusters has room
 * for the lists of one chunk, and holds its lists then. */
vem_status vem_i_assign_each(vem_i_run *run, const vem_model *model, const vem_data *data,
                             const vem_assign_options *options, int32_t *clusters,
                             vem_i_chunk_fn then, void *arg);
/* Several processes have assigned their chunks: the first one gets all (assign_gather.c). */
vem_status vem_i_assign_gather(vem_i_run *run, const vem_data *data,
                               const vem_i_assign *out);
/* Two clusters of each row, and squares of the distances from them (or NULL). */
vem_status vem_i_assign_spill(vem_i_run *run, const vem_model *model,
                              const vem_data *data, double lambda,
                              vem_precision precision, int32_t *clusters,
                              double *squares);
vem_status vem_i_assign_check(vem_i_run *run, const vem_model *model, int32_t top);
/* One chunk, every cluster; arg is a vem_i_assign. */
vem_status vem_i_assign_scan(vem_i_run *run, void *arg, const vem_view *view,
                             const vem_model *model, int64_t first);
/* The best cluster of each row, within another verb. */
vem_status vem_i_label(vem_i_run *run, const vem_model *model, const vem_data *data,
                       vem_precision precision, int32_t *labels);

#endif
