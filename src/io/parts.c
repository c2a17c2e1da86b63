/* Several files as one data set: each is read by itself, then their rows are moved, one file
 * after the other, to memory of our own (or a temporary file). A file is let go as soon as its
 * rows have moved. */
#include <string.h>

#include "base/memory.h"
#include "base/spill.h"
#include "io/io.h"
#include "model/model.h"

typedef struct job {
    vem_i_run *run;
    const char *const *paths;
    int32_t count;
    vem_data **parts;
    vem_data *all;
    char *values; /* of `all` */
} job;

/* ---- reading ---- */

/* Columns of later files are picked like those of the first: by its names, where both have
 * names. */
static vem_status read_parts(job *j, const vem_read_options *wanted)
{
    vem_read_options options = *wanted;
    vem_model like = {0};
    options.weights = NULL;
    for (int32_t p = 0; p < j->count; p++) {
        vem_status status =
            vem_i_data_read_rows(j->run, j->paths[p], &options, &j->parts[p]);
        if (status != VEM_OK)
            return status;
        if (p > 0 && j->parts[p]->d != j->parts[0]->d)
            return vem_i_fail(j->run, VEM_BAD_DATA,
                              "%s has %d columns, but %s has %d; files that are read as "
                              "one have the same.",
                              j->paths[p], j->parts[p]->d, j->paths[0], j->parts[0]->d);
        if (j->parts[p]->sparse.starts)
            return vem_i_fail(j->run, VEM_BAD_DATA,
                              "%s is sparse, and sparse rows are read from one file.",
                              j->paths[p]);
        if (p == 0 && j->parts[0]->names) {
            like.d = j->parts[0]->d;
            like.table = vem_i_data_table(j->parts[0]);
            like.table.decide = 1;
            if (!like.table.ids && wanted->model) {
                like.table.ids = wanted->model->table.ids;
                like.table.id_count = wanted->model->table.id_count;
            }
            if (!wanted->columns && !wanted->id && wanted->model) {
                like.table.picked = wanted->model->table.picked;
                like.table.picked_id = wanted->model->table.picked_id;
            }
            options.model = &like;
        }
    }
    return VEM_OK;
}

/* One type for all: their own, or the float that holds every value of each as it is. */
static vem_dtype common_type(const job *j)
{
    static const int wide[] = {[VEM_FLOAT64] = 1,
                               [VEM_INT32] = 1,
                               [VEM_INT64] = 1,
                               [VEM_UINT32] = 1,
                               [VEM_BFLOAT16] = 0};
    const vem_dtype first = j->parts[0]->type;
    int same = 1, needs_double = 0;
    for (int32_t p = 0; p < j->count; p++) {
        same &= j->parts[p]->type == first;
        needs_double |= wide[j->parts[p]->type];
    }
    return same ? first : needs_double ? VEM_FLOAT64 : VEM_FLOAT32;
}

/* ---- joining ---- */

static vem_status describe(job *j)
{
    vem_data *all = j->all, *first = j->parts[0];
    const char *format = first->format;
    int64_t n = 0;
    vem_status status =
        vem_i_take_zeroed(j->run, &all->parts, (size_t)j->count, sizeof *all->parts);
    for (int32_t p = 0; status == VEM_OK && p < j->count; p++) {
        all->parts[p].first = n;
        all->parts[p].header = j->parts[p]->header;
        all->parts[p].decimal = j->parts[p]->decimal;
        n += j->parts[p]->n;
        all->missing += j->parts[p]->missing;
        if (strcmp(j->parts[p]->format, format) != 0)
            format = "several";
        status = vem_i_names_text(j->run, j->paths[p], &all->parts[p].name);
        if (status == VEM_OK)
            all->part_count = p + 1;
    }
    if (status == VEM_OK)
        status =
            vem_i_take(j->run, &all->numbers, (size_t)first->d, sizeof *all->numbers);
    if (status != VEM_OK)
        return status;
    for (int32_t c = 0; c < first->d; c++)
        all->numbers[c] = vem_i_data_column_number(first, c);
    all->n = n;
    all->d = first->d;
    all->type = common_type(j);
    all->column_stride = (int64_t)vem_i_dtype_bytes(all->type);
    all->row_stride = all->column_stride * all->d;
    all->format = format;
    all->header = first->header;
    all->decimal = first->decimal;
    return VEM_OK;
}

/* Of each column the advice of the first part that has one. */
static vem_status move_advice(job *j)
{
    vem_status status = VEM_OK;
    for (int32_t p = 0; status == VEM_OK && p < j->count; p++) {
        if (j->parts[p]->advice && !j->all->advice)
            status = vem_i_take_zeroed(j->run, &j->all->advice, (size_t)j->all->d,
                                       sizeof *j->all->advice);
        for (int32_t c = 0; status == VEM_OK && c < j->all->d; c++)
            if (j->all->advice && !j->all->advice[c])
                j->all->advice[c] = vem_data_column_advice(j->parts[p], c);
    }
    return status;
}

static void move_rows(const job *j, const vem_data *part, char *out)
{
    enum { BLOCK = 256 };
    const vem_data *all = j->all;
    for (int64_t first = 0; first < part->n; first += BLOCK) {
        const int64_t rows = part->n - first < BLOCK ? part->n - first : BLOCK;
        char *to = out + first * all->row_stride;
        if (part->type == all->type)
            for (int64_t i = 0; i < rows; i++)
                vem_i_data_copy_row(part, first + i, to + i * all->row_stride);
        else
            vem_i_data_load(part, first, rows,
                            all->type == VEM_FLOAT32 ? VEM_SINGLE : VEM_DOUBLE, to,
                            all->d);
        vem_i_residence_check(j->run);
    }
}

/* Weights of the parts that have them (coresets), 1 for the rows of others. */
static vem_status move_weights(job *j)
{
    int any = 0;
    for (int32_t p = 0; p < j->count; p++)
        any |= j->parts[p]->weights != NULL;
    if (!any)
        return VEM_OK;
    vem_status status =
        vem_i_take(j->run, &j->all->weights, (size_t)j->all->n, sizeof(double));
    double *out = j->all->weights;
    for (int32_t p = 0; status == VEM_OK && p < j->count; p++)
        for (int64_t i = 0; i < j->parts[p]->n; i++)
            *out++ = j->parts[p]->weights ? j->parts[p]->weights[i] : 1;
    return status;
}

/* Which id of a part has this name, or, where there are no names, this number; -1: none. */
static int32_t find_id(const vem_i_ids *ids, const vem_i_ids *like, int32_t k)
{
    if (!ids || (!ids->names != !like->names && ids->count != like->count))
        return -1;
    if (!ids->names || !like->names)
        return k < ids->count ? k : -1;
    for (int32_t i = 0; i < ids->count; i++)
        if (vem_i_names_same(ids->names[i], like->names[k]))
            return i;
    return -1;
}

/* Id k of row i: empty in a part that has none. */
static const char *id_of(const vem_data *part, const vem_i_ids *like, int32_t k,
                         int64_t i)
{
    const int32_t own = find_id(part->ids, like, k);
    return own < 0 ? "" : vem_data_id(part, own, i);
}

static size_t id_bytes(const vem_data *part, const vem_i_ids *like)
{
    size_t bytes = 0;
    for (int64_t i = 0; i < part->n; i++)
        for (int32_t k = 0; k < like->count; k++)
            bytes += strlen(id_of(part, like, k, i)) + 1;
    return bytes;
}

/* The text of the ids of the first part that has some, empty in parts that do not. */
static vem_status move_ids(job *j)
{
    const vem_i_ids *first = NULL;
    size_t bytes = 0;
    for (int32_t p = 0; !first && p < j->count; p++)
        first = j->parts[p]->ids;
    if (!first)
        return VEM_OK;
    for (int32_t p = 0; p < j->count; p++)
        bytes += id_bytes(j->parts[p], first);
    const size_t places = (size_t)j->all->n * (size_t)first->count * sizeof(int64_t);
    vem_i_ids *made;
    vem_status status = vem_i_take_zeroed(j->run, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    j->all->ids = made;
    made->count = first->count;
    status = vem_i_spill_take(j->run, &made->places, places + bytes, 1, &made->spill);
    if (status == VEM_OK && first->names)
        status = vem_i_names_list(j->run, (const char *const *)first->names, first->count,
                                  &made->names);
    if (status != VEM_OK)
        return status;
    made->text = (char *)made->places + places;
    char *at = made->text;
    int64_t *place = made->places;
    for (int32_t p = 0; p < j->count; p++)
        for (int64_t i = 0; i < j->parts[p]->n; i++)
            for (int32_t k = 0; k < made->count; k++) {
                *place++ = at - made->text;
                at = stpcpy(at, id_of(j->parts[p], first, k, i)) + 1;
            }
    return VEM_OK;
}

/* Do all of them lie in files, of one type? Then several processes need not have them all in memory,
 * and each reads its own rows where they lie. */
static int may_stay(const job *j)
{
    int stay = j->run->ctx->comm != NULL;
    for (int32_t p = 0; p < j->count; p++) {
        const vem_data *part = j->parts[p];
        stay &= part->type == j->parts[0]->type && part->mapping && part->mapping->path &&
                !part->kept;
    }
    return stay;
}

static vem_status take_room(job *j)
{
    vem_data *all = j->all;
    size_t bytes = 0;
    vem_status status = VEM_OK;
    if (__builtin_mul_overflow((size_t)all->n, (size_t)all->row_stride, &bytes))
        status = vem_i_fail_memory(j->run, SIZE_MAX);
    if (status == VEM_OK)
        status = vem_i_spill_take(j->run, &j->values, bytes, 1, &all->mapping);
    if (status != VEM_OK)
        return status;
    all->base = j->values;
    all->owned = all->mapping ? NULL : j->values;
    return VEM_OK;
}

static vem_status join(job *j)
{
    vem_data *all = j->all;
    const int stay = may_stay(j);
    vem_status status = describe(j);
    if (status == VEM_OK && !stay)
        status = take_room(j);
    if (status == VEM_OK)
        status = move_weights(j);
    if (status == VEM_OK)
        status = move_ids(j);
    if (status == VEM_OK)
        status = move_advice(j);
    const vem_i_names table = vem_i_data_table(j->parts[0]);
    vem_i_names names = {0};
    if (status == VEM_OK)
        status = vem_i_names_copy(j->run, &table, &names);
    if (status != VEM_OK)
        return status;
    vem_i_data_take_table(all, &names);
    if (stay) {
        all->pieces = j->parts;
        j->parts = NULL;
        return VEM_OK;
    }
    for (int32_t p = 0; p < j->count; p++) {
        move_rows(j, j->parts[p], j->values + all->parts[p].first * all->row_stride);
        vem_data_free(j->parts[p]);
        j->parts[p] = NULL;
    }
    return VEM_OK;
}

vem_status vem_i_data_join(vem_i_run *run, const char *const *paths, int32_t count,
                           const vem_read_options *wanted, vem_data **data)
{
    job j = {.run = run, .paths = paths, .count = count};
    vem_status status =
        vem_i_take_zeroed(run, &j.parts, (size_t)count, sizeof(vem_data *));
    if (status == VEM_OK)
        status = vem_i_data_new(run, &j.all);
    if (status == VEM_OK)
        status = read_parts(&j, wanted);
    if (status == VEM_OK)
        status = join(&j);
    for (int32_t p = 0; j.parts && p < count; p++)
        vem_data_free(j.parts[p]);
    vem_i_free(j.parts);
    if (status == VEM_OK)
        *data = j.all;
    else
        vem_data_free(j.all);
    return status;
}
