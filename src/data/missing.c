/* Missing values: refused, left out with their rows, or replaced by means.
 *
 * One pass finds where they are and, for means, takes the weighted sums of what is there; if it
 * finds any, a second pass writes the rows that stay to memory of our own (in place, where the
 * rows are in such memory already). Shards of rows are cut by the sizes alone. The first pass
 * tells each shard how many rows it may write: a mapped file can change between the two. */
#include "data/missing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/spill.h"

enum { SHARD_VALUES = 1 << 16, MOST_SHARDS = 256, BLOCK_VALUES = 1 << 12 };

/* To rows that the caller has in memory no one can say how to read them. */
#define ADVICE_MEMORY                                                                    \
    "Leave such rows out, or put numbers in their place, before the data are borrowed."
#define ADVICE_COUNTS "--missing drop leaves such rows out."
#define ADVICE                                                                           \
    "--missing drop leaves such rows out, --missing mean puts the mean of the column "   \
    "in "                                                                                \
    "their place."

typedef struct shard {
    int64_t values, rows;       /* missing; rows that have one */
    int64_t first_row, written; /* of the first; rows that stayed */
    int32_t first_column;
    int32_t changed;
} shard;

typedef struct work {
    vem_i_run *run;
    const vem_data *data;
    int64_t per_shard, per_block, shards;
    shard *found;
    double *scratch; /* per thread: a block of rows */
    double
        *sums; /* shards x 2 d: weighted sums of each column, and their weights; NULL */

    /* The second pass. */
    int drop;
    const double *means;
    void *out; /* of the type `to` */
    vem_precision to;
    int64_t *kept;
    int64_t *starts; /* row that each shard writes first */
} work;

static int64_t end_of(const work *w, int64_t s)
{
    const int64_t end = (s + 1) * w->per_shard;
    return end < w->data->n ? end : w->data->n;
}

static double *scratch_of(const work *w, int thread)
{
    return w->scratch + (int64_t)thread * w->per_block * w->data->d;
}

/* ---- Where they are ---- */

static void find_in_row(const work *w, int64_t s, int64_t i, const double *row)
{
    shard *f = &w->found[s];
    const int32_t d = w->data->d;
    int64_t missing = 0;
    double *sum = w->sums ? w->sums + s * 2 * d : NULL;
    const double weight = w->data->weights ? w->data->weights[i] : 1;
    for (int32_t j = 0; j < d; j++) {
        if (isnan(row[j])) {
            if (f->values == 0 && missing == 0) {
                f->first_row = i;
                f->first_column = j;
            }
            missing++;
        } else if (sum) {
            sum[j] += weight * row[j];
            sum[d + j] += weight;
        }
    }
    f->values += missing;
    f->rows += missing > 0;
}

static void find_task(void *arg, int64_t s, int thread)
{
    const work *w = arg;
    double *rows = scratch_of(w, thread);
    const int32_t d = w->data->d;
    for (int64_t i = s * w->per_shard, end = end_of(w, s); i < end; i += w->per_block) {
        const int64_t count = end - i < w->per_block ? end - i : w->per_block;
        vem_i_data_load(w->data, i, count, VEM_DOUBLE, rows, d);
        for (int64_t k = 0; k < count; k++)
            find_in_row(w, s, i + k, rows + k * d);
        vem_i_residence_check(w->run);
    }
}

static void work_free(work *w)
{
    vem_i_free(w->found);
    vem_i_free(w->scratch);
    vem_i_free(w->sums);
    vem_i_free(w->starts);
}

/* The first pass; free `w` in any case. */
static vem_status find(vem_i_run *run, const vem_data *data, int sums, work *w)
{
    const int64_t n = data->n, d = data->d;
    int64_t per = SHARD_VALUES / d + 1;
    per = per < n / MOST_SHARDS ? n / MOST_SHARDS : per;
    *w = (work){.run = run, .data = data, .per_shard = per};
    w->shards = vem_i_shards(n, per);
    w->per_block = BLOCK_VALUES / d + 1;
    const size_t threads = run ? (size_t)run->threads : 1;
    vem_status status =
        vem_i_take_zeroed(run, &w->found, (size_t)w->shards, sizeof *w->found);
    if (status == VEM_OK)
        status = vem_i_take(run, &w->scratch, threads * (size_t)w->per_block,
                            (size_t)d * sizeof(double));
    if (status == VEM_OK && sums)
        status = vem_i_take_zeroed(run, &w->sums, 2 * (size_t)w->shards,
                                   (size_t)d * sizeof(double));
    if (status != VEM_OK)
        return status;
    const vem_progress told = {.phase = "read", .free_energy = NAN};
    if (vem_i_parallel_watched(run, w->shards, (double)(per * d), find_task, w, &told,
                               VEM_I_SKIP))
        return vem_i_fail_stopped(run, "while the data were read");
    return VEM_OK;
}

static shard total_of(const work *w)
{
    shard total = {0};
    for (int64_t s = 0; s < w->shards; s++) {
        const shard *f = &w->found[s];
        if (total.values == 0) {
            total.first_row = f->first_row;
            total.first_column = f->first_column;
        }
        total.values += f->values;
        total.rows += f->rows;
    }
    return total;
}

/* ---- What to do ---- */

/* A column without a value in it, which neither of the remedies helps; needs the sums. */
static int32_t empty_column(const work *w)
{
    const int32_t d = w->data->d;
    for (int32_t j = 0; w->sums && j < d; j++) {
        double mass = 0;
        for (int64_t s = 0; s < w->shards; s++)
            mass += w->sums[s * 2 * d + d + j];
        if (mass == 0)
            return j;
    }
    return -1;
}

static vem_status refuse_empty(vem_i_run *run, const char *name, const vem_data *data,
                               int32_t j)
{
    const char *column = vem_data_column_name(data, j);
    const int named = column && *column;
    char shown[VEM_I_SHOWN] = "";
    if (named)
        vem_i_names_shown(column, strlen(column), shown);
    const int32_t number = vem_i_data_column_number(data, j);
    return vem_i_fail(run, VEM_BAD_DATA,
                      "%s: column %" PRId32 "%s%s%s has no values at all; --id %" PRId32
                      " leaves it out.",
                      name, number, named ? " (" : "", shown, named ? ")" : "", number);
}

static vem_status refuse(vem_i_run *run, const char *name, int counts,
                         const vem_data *data, const shard *total)
{
    char place[160];
    vem_i_data_place(data, total->first_row, total->first_column, place, sizeof place);
    if (data->part_count == 0) /* else it begins with the name of a file */
        place[0] = 'r';        /* inside a sentence */
    return vem_i_fail(run, VEM_BAD_DATA,
                      "%s: %" PRId64 " %s missing, in %" PRId64 " of %" PRId64
                      " rows; the first in %s. %s",
                      name, total->values, total->values == 1 ? "value is" : "values are",
                      total->rows, data->n, place, counts ? ADVICE_COUNTS : ADVICE);
}

/* Means of the columns: those given, or of the values that are there. */
static vem_status find_means(vem_i_run *run, const char *name, const work *w,
                             const double *given, int32_t given_count, double *means)
{
    const int32_t d = w->data->d;
    if (given && given_count != d)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%" PRId32 " means were given for missing values, but %s has "
                          "%" PRId32 " columns.",
                          given_count, name, d);
    for (int32_t j = 0; j < d; j++) {
        double sum = 0, mass = 0;
        for (int64_t s = 0; !given && s < w->shards; s++) {
            sum += w->sums[s * 2 * d + j];
            mass += w->sums[s * 2 * d + d + j];
        }
        means[j] = given ? given[j] : sum / mass;
        if (!isfinite(means[j])) {
            char place[160];
            vem_i_data_place(w->data, 0, j, place, sizeof place);
            return vem_i_fail(
                run, VEM_BAD_DATA,
                "%s: %s has no mean that could stand for missing values: %s.", name,
                strchr(place, ',') + 2,
                given       ? "the one given is not finite"
                : mass == 0 ? "all its values are missing, or weigh nothing"
                            : "its sum is not finite");
        }
    }
    return VEM_OK;
}

/* One row that stays, to where it belongs. */
static void put_row(const work *w, int64_t to, const double *row)
{
    const int32_t d = w->data->d;
    for (int32_t j = 0; j < d; j++) {
        const double value = isnan(row[j]) ? w->means[j] : row[j];
        if (w->to == VEM_SINGLE)
            ((float *)w->out)[to * d + j] = (float)value;
        else
            ((double *)w->out)[to * d + j] = value;
    }
}

static int has_gap(const double *row, int32_t d)
{
    for (int32_t j = 0; j < d; j++)
        if (isnan(row[j]))
            return 1;
    return 0;
}

static void write_task(void *arg, int64_t s, int thread)
{
    const work *w = arg;
    double *rows = scratch_of(w, thread);
    const int32_t d = w->data->d;
    const int64_t begin = s * w->per_shard, end = end_of(w, s);
    const int64_t most = w->starts[s + 1];
    int64_t to = w->starts[s];
    for (int64_t i = begin; i < end; i += w->per_block) {
        const int64_t count = end - i < w->per_block ? end - i : w->per_block;
        vem_i_data_load(w->data, i, count, VEM_DOUBLE, rows, d);
        for (int64_t k = 0; k < count; k++) {
            if (w->drop && has_gap(rows + k * d, d))
                continue;
            if (to == most) {
                w->found[s].changed = 1;
                return;
            }
            put_row(w, to, rows + k * d);
            if (w->kept)
                w->kept[to] = i + k;
            to++;
        }
        vem_i_residence_check(w->run);
    }
    w->found[s].changed = to < most;
}

/* The second pass. In place a row goes where rows before it were, so shards take turns. */
static vem_status write_rows(vem_i_run *run, const char *name, work *w, int in_place)
{
    vem_status status =
        vem_i_take(run, &w->starts, (size_t)w->shards + 1, sizeof *w->starts);
    if (status != VEM_OK)
        return status;
    w->starts[0] = 0;
    for (int64_t s = 0; s < w->shards; s++)
        w->starts[s + 1] = w->starts[s] + end_of(w, s) - s * w->per_shard -
                           (w->drop ? w->found[s].rows : 0);
    if (in_place && w->drop)
        for (int64_t s = 0; s < w->shards; s++)
            write_task(w, s, 0);
    else
        vem_i_parallel(run, w->shards, write_task, w);
    for (int64_t s = 0; s < w->shards; s++)
        if (w->found[s].changed)
            return vem_i_fail(run, VEM_BAD_DATA, "%s changed while it was read.", name);
    return VEM_OK;
}

/* Numbers of the columns for messages, when the stored columns are gone. */
static vem_status keep_numbers(vem_i_run *run, vem_data *data)
{
    if (!data->columns || data->numbers)
        return VEM_OK;
    vem_status status =
        vem_i_take(run, &data->numbers, (size_t)data->d, sizeof *data->numbers);
    for (int32_t j = 0; status == VEM_OK && j < data->d; j++)
        data->numbers[j] = data->columns[j] + 1;
    return status;
}

/* `data` gets the rows at `values`, of which there are n. */
static void take_over(vem_data *data, const work *w, vem_i_mapping *spill, int in_place,
                      int64_t n)
{
    const int64_t width = w->to == VEM_SINGLE ? sizeof(float) : sizeof(double);
    for (int64_t i = 0; w->kept && data->weights && i < n; i++)
        data->weights[i] = data->weights[w->kept[i]];
    if (w->kept) {
        data->rows_read = data->n;
        data->n = n;
    }
    data->kept = w->kept;
    if (in_place)
        return;
    vem_i_pieces_free(data);
    vem_i_mapping_free(data->mapping);
    vem_i_free(data->owned);
    vem_i_free(data->columns);
    data->columns = NULL;
    data->mapping = spill;
    data->owned = spill ? NULL : w->out;
    data->base = w->out;
    data->type = w->to == VEM_SINGLE ? VEM_FLOAT32 : VEM_FLOAT64;
    data->swapped = 0;
    data->column_stride = width;
    data->row_stride = width * data->d;
}

/* Packed values of the engine's types in memory of our own, from its beginning? */
static int is_ours(const vem_data *data)
{
    const int64_t width = (int64_t)vem_i_dtype_bytes(data->type);
    const int ours = data->mapping
                         ? !data->mapping->path && data->base == data->mapping->bytes
                         : data->owned && data->base == data->owned;
    return ours && (data->type == VEM_FLOAT32 || data->type == VEM_FLOAT64) &&
           !data->swapped && !data->columns && data->column_stride == width &&
           data->row_stride == width * data->d;
}

static vem_status rewrite(vem_i_run *run, const char *name, work *w, int64_t n,
                          vem_data *data)
{
    const int in_place = is_ours(data);
    const size_t width = data->type == VEM_FLOAT64 ? sizeof(double) : sizeof(float);
    vem_i_mapping *spill = NULL, *kept_spill = NULL;
    w->to = data->type == VEM_FLOAT64 ? VEM_DOUBLE : VEM_SINGLE;
    vem_status status = keep_numbers(run, data);
    if (status == VEM_OK && w->drop)
        status = vem_i_spill_take(run, &w->kept, (size_t)n, sizeof *w->kept, &kept_spill);
    if (in_place)
        memcpy(&w->out, &data->base, sizeof w->out); /* drops the const */
    else if (status == VEM_OK)
        status =
            vem_i_spill_take(run, &w->out, (size_t)n, (size_t)data->d * width, &spill);
    if (status == VEM_OK)
        status = write_rows(run, name, w, in_place);
    if (status == VEM_OK) {
        data->kept_spill = kept_spill;
        take_over(data, w, spill, in_place, n);
        return VEM_OK;
    }
    if (!kept_spill)
        vem_i_free(w->kept);
    if (!spill && !in_place)
        vem_i_free(w->out);
    vem_i_mapping_free(kept_spill);
    vem_i_mapping_free(spill);
    return status;
}

/* Rows are left out, or values replaced. */
static vem_status treat(vem_i_run *run, const char *name, work *w, const double *means,
                        int32_t means_count, vem_data *data)
{
    const shard total = total_of(w);
    if (w->drop && total.rows == data->n)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s: all %" PRId64
                          " rows have a missing value, so none would be "
                          "left.",
                          name, data->n);
    double *made = NULL;
    vem_status status = VEM_OK;
    if (!w->drop)
        status = vem_i_take(run, &made, (size_t)data->d, sizeof *made);
    if (status == VEM_OK && !w->drop)
        status = find_means(run, name, w, means, means_count, made);
    w->means = made;
    if (status == VEM_OK && total.values > 0)
        status = rewrite(run, name, w, data->n - (w->drop ? total.rows : 0), data);
    if (status != VEM_OK) {
        vem_i_free(made);
        return status;
    }
    vem_i_free(data->means);
    data->means = made;
    data->missing = total.values;
    return VEM_OK;
}

static int may_miss(vem_dtype type)
{
    return type == VEM_FLOAT32 || type == VEM_FLOAT64 || type == VEM_FLOAT16 ||
           type == VEM_BFLOAT16;
}

vem_status vem_i_missing(vem_i_run *run, const char *name, vem_missing missing,
                         int counts, const double *means, int32_t means_count,
                         vem_data *data)
{
    if (data->sparse.starts &&
        (missing == VEM_MISSING_DROP || missing == VEM_MISSING_MEAN))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--missing is %s, but the rows of %s are sparse: what they leave "
            "out is 0, and nothing is missing. Leave --missing out.",
            missing == VEM_MISSING_DROP ? "drop" : "mean", name);
    if (counts && missing == VEM_MISSING_MEAN)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--missing is mean, but the family is one of counts, and a mean "
            "is no count: say --missing drop, or put counts in their place "
            "in %s.",
            name);
    if (missing == VEM_MISSING_KEEP ||
        (missing == VEM_MISSING_ERROR && data->missing == 0) ||
        (missing == VEM_MISSING_DROP && !may_miss(data->type)))
        return VEM_OK;
    work w;
    vem_status status = find(run, data, !means, &w);
    const int32_t empty = status == VEM_OK ? empty_column(&w) : -1;
    if (empty >= 0 && data->weights == NULL && data->n > 1) {
        status = refuse_empty(run, name, data, empty);
    } else if (status == VEM_OK && missing == VEM_MISSING_ERROR) {
        const shard total = total_of(&w);
        status = refuse(run, name, counts, data, &total);
    } else if (status == VEM_OK) {
        w.drop = missing == VEM_MISSING_DROP;
        status = treat(run, name, &w, means, means_count, data);
    }
    work_free(&w);
    return status;
}

vem_status vem_i_data_refuse(vem_i_run *run, const vem_data *data, int counts,
                             const char *place, double value)
{
    work w;
    if (!isnan(value))
        return vem_i_fail(run, VEM_BAD_DATA, "%s is infinite.", place);
    vem_status status = find(run, data, 0, &w);
    if (status == VEM_OK) {
        const shard total = total_of(&w);
        status =
            vem_i_fail(run, VEM_BAD_DATA,
                       "%s is NaN. %" PRId64 " %s missing, in %" PRId64 " of %" PRId64
                       " rows. %s",
                       place, total.values, total.values == 1 ? "value is" : "values are",
                       total.rows, data->n,
                       strcmp(data->format, "memory") == 0 ? ADVICE_MEMORY
                       : counts                            ? ADVICE_COUNTS
                                                           : ADVICE);
    }
    work_free(&w);
    return status;
}
