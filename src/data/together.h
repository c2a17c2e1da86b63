/* Rows of which other processes have the rest.
 *
 * A process has the rows [first, first + n) of the whole. The last `halo` of them are those of the
 * next one too: it is there that shards end which begin among its own rows. A shard is counted by the
 * process that has its first item, and that one has all of it. So whatever is added up shard by shard
 * can be added up in the order of one process (comm/comm.h), for shards of any size. Shards that begin
 * before `first` or in the halo are gone through, because what their items hold is wanted here, but
 * they are not counted.
 *
 * Of one process the halo is empty, all shards are counted, and these functions are what they say of
 * one. */
#ifndef VEM_DATA_TOGETHER_H
#define VEM_DATA_TOGETHER_H

#include "base/record.h"
#include "comm/comm.h"
#include "data/view.h"

/* Its own items: [0, this). */
static inline int64_t vem_i_view_own(const vem_view *view)
{
    return view->n - view->halo;
}

/* Of the shards of so many items that meet the view: those that it counts, [*from, *to). */
static inline void vem_i_own_shards(int64_t first, int64_t own, int64_t per,
                                    int64_t *from, int64_t *to)
{
    *from = first % per != 0;
    *to = vem_i_shards(first % per + own, per);
}

/* The sum of a number for each shard (those of the view), of all processes: vem_i_sum. */
double vem_i_view_sum(const vem_i_run *run, const vem_view *view, int64_t per,
                      const double *values);
/* Is item number `number` of the whole one of its own? */
static inline int vem_i_view_has(const vem_view *view, int64_t number)
{
    return number >= view->first && number < view->first + vem_i_view_own(view);
}
/* Which items a process has: the first, how many of its own, and with the halo. */
typedef struct vem_i_extent {
    int64_t first, own, all;
} vem_i_extent;
/* Those of all processes, in their order. */
void vem_i_view_extents(const vem_i_run *run, const vem_view *view, vem_i_extent *places);

/* Rows of the whole by their numbers, d values of type T each, side by side. */
void vem_i_view_rows(const vem_i_run *run, const vem_view *view, const int64_t *numbers,
                     int64_t count, void *rows);
/* Of processes that share items with masses: the items at which the masses of all, one after the other, exceed these
 * targets, which ascend, by their numbers. */
vem_status vem_i_view_pick(vem_i_run *run, const vem_view *view, const double *targets,
                           int64_t count, int64_t *picked);
/* `values` of some items (by their numbers), one for each item of the view, to all. */
void vem_i_view_values(const vem_i_run *run, const vem_view *view, const double *values,
                       const int64_t *numbers, int64_t count, double *out);

/* The values of `count` rows, of so many bytes each, to whoever has their places in the whole among its rows or in its
 * halo. All processes together name every place once. */
vem_status vem_i_view_exchange(vem_i_run *run, const vem_view *view, int64_t count,
                               const int64_t *places, const void *values, size_t bytes,
                               void *out);

/* `each` values of every row, in a state (base/record.h); the checks of vem_i_record_indices and
 * vem_i_record_elements (values of T). */
void vem_i_record_row_indices(vem_i_record *record, const vem_view *view,
                              const char *name, int32_t *values, size_t each, int64_t low,
                              int64_t high);
void vem_i_record_row_elements(vem_i_record *record, const vem_view *view,
                               const char *name, void *values, size_t each, double low,
                               double high);
/* One for each row; vem_i_record_elements. */
void vem_i_record_row_floats(vem_i_record *record, const vem_view *view, const char *name,
                             float *values, double low, double high);
/* One number below `end` for each row. */
void vem_i_record_row_numbers(vem_i_record *record, const vem_view *view,
                              const char *name, uint32_t *values, int64_t end);

#endif
