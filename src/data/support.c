#include "data/support.h"

#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "comm/comm.h"
#include "data/missing.h"

enum { SHARD_VALUES = 1 << 15 };

typedef struct task {
    vem_i_run *run;
    const vem_data *data;
    const vem_i_support *support;
    int64_t first, n, per_shard;
    double *rows;     /* per thread: one row */
    double *log_base; /* n, or NULL */
    int32_t *bad;     /* n shards: column of the first bad value; -1: none */
    int64_t *bad_row; /* and its row */
} task;

static int may_be(const vem_i_support *support, double value)
{
    return value >= 0 && value <= support->most && value == floor(value);
}

static void read_shard(void *arg, int64_t shard, int thread)
{
    const task *t = arg;
    const int32_t d = t->data->d;
    double *row = t->rows + (int64_t)thread * d;
    const int64_t begin = shard * t->per_shard, end = begin + t->per_shard;
    const vem_i_sparse *sparse = &t->data->sparse;
    t->bad[shard] = -1;
    for (int64_t i = begin; i < end && i < t->n; i++) {
        int32_t count =
            d; /* zeros that are left out are counts, and add nothing to the base */
        const int64_t at = sparse->starts ? sparse->starts[t->first + i] : 0;
        if (sparse->starts) {
            count = (int32_t)(sparse->ends[t->first + i] - at);
            for (int32_t j = 0; j < count; j++)
                row[j] = vem_i_sparse_value(sparse, at + j);
        } else {
            vem_i_data_load(t->data, t->first + i, 1, VEM_DOUBLE, row, d);
        }
        for (int32_t j = 0; j < count; j++)
            if (!may_be(t->support, row[j])) {
                t->bad[shard] = sparse->starts ? sparse->columns[at + j] : j;
                t->bad_row[shard] = i;
                return;
            }
        if (t->log_base)
            t->log_base[i] = t->support->log_base(row, count);
    }
    vem_i_residence_check(t->run);
}

static vem_status refuse(const task *t, int64_t row, int32_t column)
{
    char place[160];
    vem_i_data_place(t->data, vem_i_data_row_number(t->data, t->first + row), column,
                     place, sizeof place);
    vem_i_data_load(t->data, t->first + row, 1, VEM_DOUBLE, t->rows, t->data->d);
    const double value = t->rows[column];
    if (!isfinite(value))
        return vem_i_data_refuse(t->run, t->data, 1, place, value);
    return vem_i_fail(t->run, VEM_BAD_DATA, "%s is %.6g%s, but %s.", place, value,
                      t->data->means ? " (missing values became means of their columns)"
                                     : "",
                      t->support->says);
}

static int64_t rows_together(int64_t row_values)
{
    return row_values < SHARD_VALUES ? SHARD_VALUES / row_values : 1;
}

/* `values` of a row are looked at. */
static vem_status take_room(task *t, int64_t n, int32_t d, int64_t values)
{
    t->n = n;
    t->per_shard = rows_together(values);
    const size_t shards = (size_t)vem_i_shards(n, t->per_shard);
    const vem_i_room list[] = {
        {&t->rows, (size_t)t->run->threads, (size_t)d * sizeof *t->rows, 0},
        {&t->bad, shards, sizeof *t->bad, 0},
        {&t->bad_row, shards, sizeof *t->bad_row, 0},
    };
    return vem_i_take_rooms(t->run, list, VEM_I_COUNT(list));
}

static void free_room(task *t)
{
    vem_i_free(t->rows);
    vem_i_free(t->bad);
    vem_i_free(t->bad_row);
}

void vem_i_support_plan(vem_i_run *dry, int64_t n, int32_t d, int64_t row_values)
{
    task t = {.run = dry};
    take_room(&t, n, d, row_values);
    free_room(&t);
}

vem_status vem_i_support_read(vem_i_run *run, const vem_data *data,
                              const vem_i_support *support, int64_t first, int64_t n,
                              const char *phase, double *log_base)
{
    const int64_t values = vem_i_data_row_values(data);
    task t = {.run = run,
              .data = data,
              .support = support,
              .first = first,
              .log_base = support->log_base ? log_base : NULL};
    const vem_progress told = {.phase = phase, .free_energy = NAN};
    vem_status status = take_room(&t, n, data->d, values);
    const int64_t shards = vem_i_shards(n, t.per_shard);
    if (status == VEM_OK &&
        vem_i_parallel_watched(run, shards, (double)t.per_shard * (double)values,
                               read_shard, &t, &told, 1))
        status = vem_i_fail_stopped(run, "while the data were read");
    int64_t bad = INT64_MAX; /* the first: as a place in the whole */
    for (int64_t s = shards; status == VEM_OK && s-- > 0;)
        bad = t.bad[s] >= 0 ? (first + t.bad_row[s]) * data->d + t.bad[s] : bad;
    if (status == VEM_OK && run->comm)
        run->comm->combine(run->comm, VEM_I_LEAST_INT, &bad, 1);
    if (status == VEM_OK && bad < INT64_MAX)
        status = refuse(&t, bad / data->d - first, (int32_t)(bad % data->d));
    free_room(&t);
    return status;
}
