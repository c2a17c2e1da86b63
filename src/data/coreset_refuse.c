/* Rows of which no coreset can be made: values that are no numbers, rows without a direction where these
 * count, and values whose squares overflow. */
#include <math.h>

#include "base/memory.h"
#include "comm/comm.h"
#include "data/coreset.h"
#include "data/missing.h"
#include "data/pass.h"
#include "data/unit.h"

static void load(vem_i_chunk chunk, int64_t i, double *row)
{
    vem_i_data_load(chunk.data, chunk.first + i, 1, VEM_DOUBLE, row, chunk.data->d);
}

static int32_t first_column(const double *row, int32_t d)
{
    int32_t j = 0;
    while (j < d && isfinite(row[j]))
        j++;
    return j;
}

/* The first bad row of the chunk, which is in `row` then; its count: there is none. */
static int64_t first_bad(vem_i_chunk chunk, int normalize, double *row)
{
    for (int64_t i = 0; i < chunk.count; i++) {
        load(chunk, i, row);
        if (first_column(row, chunk.data->d) < chunk.data->d ||
            (normalize == VEM_I_DIRECTIONS && vem_i_row_is_zero(row, chunk.data->d)))
            return i;
    }
    return chunk.count;
}

static vem_status refuse_row(vem_i_run *run, vem_i_chunk chunk, int64_t i,
                             const double *row)
{
    const int64_t number =
        chunk.data->indices ? chunk.data->indices[chunk.first + i] : chunk.at + i;
    const int32_t j = first_column(row, chunk.data->d);
    char place[160];
    if (j == chunk.data->d)
        return vem_i_refuse_zeros(run, number);
    vem_i_data_place(chunk.data, number, j, place, sizeof place);
    return vem_i_data_refuse(run, chunk.data, 0, place, row[j]);
}

vem_status vem_i_refuse_bad(vem_i_run *run, vem_i_chunk chunk, int normalize)
{
    double *row = NULL;
    vem_status status = vem_i_take(run, &row, (size_t)chunk.data->d, sizeof *row);
    if (status != VEM_OK)
        return status;
    const int64_t i = first_bad(chunk, normalize, row);
    if (i < chunk.count)
        status = refuse_row(run, chunk, i, row);
    vem_i_free(row);
    return status;
}

/* The value that lies farthest from 0: its row in the chunk, and its column. */
typedef struct far {
    double size;
    int64_t row;
    int32_t column;
} far;

static far farthest(vem_i_chunk chunk, double *row)
{
    far f = {.size = -1};
    for (int64_t i = 0; i < chunk.count; i++) {
        load(chunk, i, row);
        for (int32_t j = 0; j < chunk.data->d; j++)
            if (fabs(row[j]) > f.size)
                f = (far){fabs(row[j]), i, j};
    }
    return f;
}

/* For the message that squares overflow. */
static vem_status refuse_large(vem_i_run *run, vem_i_chunk chunk, double *row)
{
    const far f = farthest(chunk, row);
    char place[160];
    vem_i_data_place(chunk.data, chunk.at + f.row, f.column, place, sizeof place);
    return vem_i_fail(run, VEM_BAD_DATA,
                      "%s lies %.3g from 0; squares of distances to the mean overflow: "
                      "rescale the data.",
                      place, f.size);
}

/* The row to be named, of all processes. Each can read it. */
static vem_i_chunk named(vem_i_run *run, vem_i_chunk chunk, int normalize, double *row)
{
    vem_i_comm *comm = run->comm;
    const int64_t bad = first_bad(chunk, normalize, row);
    int64_t at = bad < chunk.count ? chunk.at + bad : INT64_MAX;
    comm->combine(comm, VEM_I_LEAST_INT, &at, 1);
    if (at == INT64_MAX) {
        const far f = farthest(chunk, row);
        double size = f.size;
        comm->combine(comm, VEM_I_MOST_REAL, &size, 1);
        at = f.size >= size ? chunk.at + f.row : INT64_MAX;
        comm->combine(comm, VEM_I_LEAST_INT, &at, 1);
    }
    at = at < chunk.data->n ? at : 0; /* another process is gone */
    return (vem_i_chunk){chunk.data, at, 1, at};
}

vem_status vem_i_refuse_moments(vem_i_run *run, vem_i_chunk chunk, int normalize)
{
    double *row = NULL;
    vem_status status = vem_i_take(run, &row, (size_t)chunk.data->d, sizeof *row);
    if (status != VEM_OK)
        return status;
    if (run->comm)
        chunk = named(run, chunk, normalize, row);
    status = vem_i_refuse_bad(run, chunk, normalize);
    if (status == VEM_OK)
        status = refuse_large(run, chunk, row);
    vem_i_free(row);
    return status;
}
