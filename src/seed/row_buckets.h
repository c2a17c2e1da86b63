/* Coarse buckets: a rough k-means partition of the rows, from a sample of them. */
#ifndef VEM_SEED_ROW_BUCKETS_H
#define VEM_SEED_ROW_BUCKETS_H

#include "data/view.h"

/* Rows of the sample for each bucket. */
enum { VEM_I_BUCKET_SAMPLE = 32 };

/* labels: the bucket of every row, with room for the sample, too, where several processes have the
 * rows; squares (T): about its squared distance to the bucket's mean; pairs: distances taken are
 * added. When a stop is requested, *done is 0 and labels say nothing. */
vem_status vem_i_row_buckets(vem_i_run *run, const vem_view *view, int32_t buckets,
                             uint64_t seed, const vem_progress *told, int32_t *labels,
                             void *squares, int64_t *pairs, int *done);
/* `count` rows with chances proportional to mass, in order of rows: one from each of
 * `count` slices of equal mass. A row heavier than a slice comes more than once. `step`
 * keeps the random numbers of different uses apart. Of the rows of several processes: their numbers in
 * the whole. */
vem_status vem_i_by_mass(vem_i_run *run, const vem_view *view, int64_t count,
                         uint64_t seed, uint32_t step, int64_t *items);

#endif
