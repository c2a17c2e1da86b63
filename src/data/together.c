#include "data/together.h"

#include <string.h>

#include "comm/files.h"

double vem_i_view_sum(const vem_i_run *run, const vem_view *view, int64_t per,
                      const double *values)
{
    int64_t from, to;
    if (!run->comm)
        return vem_i_sum(values, vem_i_view_shards(view, per));
    vem_i_own_shards(view->first, vem_i_view_own(view), per, &from, &to);
    return vem_i_comm_shards(run, values + from, to - from,
                             vem_i_shards(view->global_n, per));
}

/* A row as values of T, sparse ones too. */
static void copy_row(const vem_view *view, int64_t item, char *to)
{
    if (!vem_i_view_is_sparse(view)) {
        vem_i_view_copy(view, item, to);
        return;
    }
    const vem_i_sparse *s = &view->sparse;
    memset(to, 0, (size_t)view->d * view->kernels->element);
    for (int64_t e = s->starts[item]; e < s->ends[item]; e++)
        vem_i_store(view->kernels, to, s->columns[e], vem_i_sparse_value(s, e));
}

/* Everybody else has 0 there. */
void vem_i_view_rows(const vem_i_run *run, const vem_view *view, const int64_t *numbers,
                     int64_t count, void *rows)
{
    const size_t row = (size_t)view->d * view->kernels->element;
    for (int64_t k = 0; k < count; k++) {
        char *to = (char *)rows + (size_t)k * row;
        if (!run->comm || vem_i_view_has(view, numbers[k]))
            copy_row(view, numbers[k] - view->first, to);
        else
            memset(to, 0, row);
    }
    if (run->comm)
        run->comm->combine(run->comm, VEM_I_OR_BYTES, rows, (size_t)count * row);
}

void vem_i_view_values(const vem_i_run *run, const vem_view *view, const double *values,
                       const int64_t *numbers, int64_t count, double *out)
{
    memset(out, 0, (size_t)count * sizeof *out);
    for (int64_t k = 0; k < count; k++)
        if (!run->comm || vem_i_view_has(view, numbers[k]))
            out[k] = values[numbers[k] - view->first];
    if (run->comm)
        run->comm->combine(run->comm, VEM_I_OR_BYTES, out, (size_t)count * sizeof *out);
}

void vem_i_view_extents(const vem_i_run *run, const vem_view *view, vem_i_extent *places)
{
    const vem_i_extent here = {view->first, vem_i_view_own(view), view->n};
    size_t counts[VEM_I_MOST_PARTS];
    for (int p = 0; p < run->comm->size; p++)
        counts[p] = sizeof here;
    run->comm->gather(run->comm, &here, places, counts);
}
