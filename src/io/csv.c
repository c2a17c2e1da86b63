/* Text tables, in two passes over chunks cut at line ends: count the rows of each chunk,
 * then parse each chunk into its place. Cuts depend on the file alone, so the result and
 * the error reported (the earliest) do not depend on the number of threads. */
#include "io/csv.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/spill.h"
#include "model/model.h"

#ifndef VEM_CSV_CHUNK /* the fuzz target makes it small, to meet many cuts */
#define VEM_CSV_CHUNK (1 << 18)
#endif

enum {
    CHUNK = VEM_CSV_CHUNK,
    CHUNKS_A_CALL = 256 /* between two calls of the progress function */
};

/* Shared by the tasks; task k works on [cuts[k], cuts[k+1]). */
typedef struct job {
    const vem_i_csv *csv;
    const char **cuts;
    vem_i_csv_part *parts;
    int64_t start; /* chunk of task 0 */
} job;

static void count_task(void *arg, int64_t task, int thread)
{
    const job *work = arg;
    const int64_t k = work->start + task;
    (void)thread;
    vem_i_csv_count(work->csv, work->cuts[k], work->cuts[k + 1], &work->parts[k]);
}

static void value_task(void *arg, int64_t task, int thread)
{
    const job *work = arg;
    const int64_t k = work->start + task;
    (void)thread;
    vem_i_csv_values(work->csv, work->cuts[k], work->cuts[k + 1], &work->parts[k]);
}

static vem_status in_parallel(vem_i_run *run, job *work, vem_i_task task, int64_t chunks,
                              int64_t done, int64_t total)
{
    for (work->start = 0; work->start < chunks; work->start += CHUNKS_A_CALL) {
        const int64_t left = chunks - work->start;
        const vem_progress told = {.phase = "read",
                                   .done = done + work->start,
                                   .total = total};
        if (vem_i_progress(run, &told, 0))
            return vem_i_fail(run, VEM_STOPPED, "Reading %s was stopped.",
                              work->csv->name);
        vem_i_parallel(run, left < CHUNKS_A_CALL ? left : CHUNKS_A_CALL, task, work);
    }
    return VEM_OK;
}

/* cuts[k]: the first line that begins at or after k chunks. Quotes may hide line ends, so
 * with them every line is walked. */
static void cut(vem_i_run *run, const vem_i_csv *csv, const char **cuts, int64_t chunks)
{
    const char *at = csv->rows;
    cuts[0] = at;
    cuts[chunks] = csv->end;
    for (int64_t k = 1; k < chunks; k++) {
        const char *least = csv->rows + k * CHUNK;
        while (at < least) {
            if (!csv->quotes)
                at = least - 1;
            const char *end = vem_i_csv_line_end(csv, at);
            at = end < csv->end ? end + 1 : csv->end;
        }
        cuts[k] = at;
        vem_i_residence_check(run);
    }
}

/* Each part gets its place in the values and the ids. */
static void deal_out(const job *work, int64_t chunks, double *values, vem_i_ids *ids)
{
    int64_t row = 0, at = 0;
    for (int64_t k = 0; k < chunks; k++) {
        vem_i_csv_part *part = &work->parts[k];
        part->values = values + row * work->csv->d;
        if (ids) {
            part->places = ids->places + row * ids->count;
            part->text = ids->text;
            part->out = ids->text + at;
            part->room = part->out + part->id_bytes;
        }
        row += part->rows;
        at += part->id_bytes;
    }
}

/* What the parts met: the earliest fault counts. */
static vem_status judge(vem_i_run *run, const job *work, int64_t chunks, vem_data *data)
{
    int64_t first = 0;
    data->missing = 0;
    for (int64_t k = 0; k < chunks; k++) {
        const vem_i_csv_part *part = &work->parts[k];
        if (part->wrong)
            return vem_i_csv_explain_text(run, work->csv, part->wrong,
                                          first + part->wrong_row);
        if (part->changed)
            return vem_i_fail(run, VEM_BAD_DATA, "%s changed while it was read.",
                              work->csv->name);
        first += part->rows;
        data->missing += part->missing;
    }
    return VEM_OK;
}

/* The second pass, into `values`, and the ids where they are kept. */
static vem_status fill(vem_i_run *run, job *work, int64_t chunks, int64_t n,
                       double *values, vem_data *data)
{
    int64_t id_bytes = 0;
    vem_i_ids *ids = NULL;
    vem_status status = VEM_OK;
    for (int64_t k = 0; k < chunks; k++)
        id_bytes += work->parts[k].id_bytes;
    if (work->csv->slot)
        status = vem_i_csv_ids_new(run, work->csv, n, id_bytes, &ids);
    if (status == VEM_OK) {
        deal_out(work, chunks, values, ids);
        status = in_parallel(run, work, value_task, chunks, chunks, 2 * chunks);
    }
    if (status == VEM_OK)
        status = judge(run, work, chunks, data);
    if (status == VEM_OK)
        data->ids = ids;
    else
        vem_i_ids_free(ids);
    return status;
}

static vem_status read_values(vem_i_run *run, job *work, int64_t chunks, vem_data *data)
{
    const vem_i_csv *csv = work->csv;
    cut(run, csv, work->cuts, chunks);
    vem_status status = in_parallel(run, work, count_task, chunks, 0, 2 * chunks);
    if (status != VEM_OK)
        return status;
    int64_t n = 0;
    for (int64_t k = 0; k < chunks; k++)
        n += work->parts[k].rows;
    if (n == 0)
        return vem_i_fail(run, VEM_BAD_DATA, "%s has a header, but no rows.", csv->name);
    size_t count;
    if (__builtin_mul_overflow((size_t)n, (size_t)csv->d, &count))
        return vem_i_fail_memory(run, SIZE_MAX);
    vem_i_mapping *spill = NULL;
    double *values = NULL;
    status = vem_i_spill_take(run, &values, count, sizeof *values, &spill);
    if (status != VEM_OK)
        return status;
    status = fill(run, work, chunks, n, values, data);
    if (status != VEM_OK) {
        if (!spill)
            vem_i_free(values);
        vem_i_mapping_free(spill);
        return status;
    }
    data->type = VEM_FLOAT64;
    data->n = n;
    data->d = csv->d;
    data->base = (const char *)values;
    data->column_stride = sizeof(double);
    data->row_stride = (int64_t)sizeof(double) * csv->d;
    data->owned = spill ? NULL : values;
    data->mapping = spill;
    data->format = "csv";
    data->decimal = csv->decimal;
    data->header = csv->names ? VEM_HEADER_YES : VEM_HEADER_NO;
    return VEM_OK;
}

static vem_status read_rows(vem_i_run *run, const vem_i_csv *csv, vem_data *data)
{
    const int64_t chunks =
        vem_i_shards(csv->end - csv->rows, CHUNK) + (csv->rows == csv->end);
    job work = {.csv = csv};
    vem_status status =
        vem_i_take(run, &work.cuts, (size_t)chunks + 1, sizeof *work.cuts);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &work.parts, (size_t)chunks, sizeof *work.parts);
    if (status == VEM_OK)
        status = read_values(run, &work, chunks, data);
    vem_i_free(work.cuts);
    vem_i_free(work.parts);
    return status;
}

static int is_closed(const vem_i_csv *csv, const char *at)
{
    int closed = 1;
    while (at && closed) {
        const vem_i_field field = vem_i_csv_field(csv, at);
        closed = field.closed;
        at = field.next;
    }
    return closed;
}

/* Where the stored fields go: to a column, to an id, nowhere. */
static vem_status aim(vem_i_run *run, vem_i_csv *csv, int keep_ids, int text_is_missing)
{
    const vem_i_columns *columns = &csv->columns;
    vem_status status =
        vem_i_take(run, &csv->target, (size_t)csv->stored, sizeof *csv->target);
    if (status == VEM_OK && text_is_missing)
        status = vem_i_take_zeroed(run, &csv->met, (size_t)csv->d, sizeof *csv->met);
    if (status != VEM_OK)
        return status;
    for (int32_t j = 0; j < csv->stored; j++)
        csv->target[j] = columns->chosen ? -1 : j;
    for (int32_t j = 0; columns->chosen && j < csv->d; j++)
        csv->target[columns->chosen[j]] = j;
    if (!keep_ids || columns->id_count == 0)
        return VEM_OK;
    status = vem_i_take(run, &csv->slot, (size_t)csv->stored, sizeof *csv->slot);
    for (int32_t j = 0; status == VEM_OK && j < csv->stored; j++)
        csv->slot[j] = -1;
    for (int32_t k = 0; status == VEM_OK && k < columns->id_count; k++)
        csv->slot[columns->ids[k]] = k;
    return status;
}

static vem_status read_table(vem_i_run *run, vem_i_csv *csv,
                             const vem_read_options *options, vem_data *data)
{
    const char *first = vem_i_csv_next_row(csv, csv->begin);
    if (first == csv->end)
        return vem_i_fail(run, VEM_BAD_DATA, "%s holds no rows.", csv->name);
    if (!is_closed(csv, first))
        return vem_i_csv_explain(run, csv, first, 0, NULL);
    vem_status status = vem_i_csv_head(run, csv, first, options->columns, options->id);
    if (status == VEM_OK)
        status = aim(run, csv, options->keep_ids, options->text_is_missing);
    if (status != VEM_OK)
        return status;
    char **names = NULL;
    int32_t *chosen = csv->columns.chosen;
    if (csv->names)
        status = vem_i_csv_some_names(run, csv, chosen, csv->d, &names);
    char **id_names = NULL;
    if (status == VEM_OK && csv->names && csv->columns.id_count)
        status = vem_i_csv_some_names(run, csv, csv->columns.ids, csv->columns.id_count,
                                      &id_names);
    const char **advice = NULL;
    if (status == VEM_OK && csv->met)
        status = vem_i_take(run, &advice, (size_t)csv->d, sizeof *advice);
    if (status == VEM_OK)
        status = read_rows(run, csv, data);
    if (status != VEM_OK) {
        vem_i_free(names);
        vem_i_free(id_names);
        vem_i_free(advice);
        return status;
    }
    for (int32_t j = 0; advice && j < csv->d; j++)
        advice[j] = vem_i_csv_advice(csv->met[j]);
    data->advice = advice;
    data->names = names;
    data->id_names = id_names;
    data->id_name_count = id_names ? csv->columns.id_count : 0;
    if (chosen) { /* kept for messages: a column goes by its number in the file */
        for (int32_t j = 0; j < csv->d; j++)
            chosen[j]++;
        data->numbers = chosen;
        csv->columns.chosen = NULL;
    }
    return VEM_OK;
}

static int has_quotes(vem_i_run *run, const char *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += CHUNK) {
        if (memchr(bytes + at, '"', size - at < CHUNK ? size - at : CHUNK))
            return 1;
        vem_i_residence_check(run);
    }
    return 0;
}

vem_status vem_i_csv_parse(vem_i_run *run, const char *name, const char *bytes,
                           size_t size, char separator, const vem_read_options *options,
                           vem_data *data)
{
    if (size >= 2 &&
        (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return vem_i_fail(run, VEM_UNSUPPORTED,
                          "%s is text in UTF-16; save it as UTF-8 or ASCII.", name);
    const vem_read_options plain = {.size = sizeof plain};
    if (!options)
        options = &plain;
    vem_i_csv csv = {.name = name,
                     .begin = bytes,
                     .end = bytes + size,
                     .separator = separator,
                     .decimal = options->decimal,
                     .counts = options->counts,
                     .header = options->header};
    vem_i_names table;
    if (options->model) {
        table = vem_i_model_table(options->model);
        csv.like = &table;
    }
    vem_i_csv_skip_marks(&csv);
    csv.quotes = has_quotes(run, bytes, size);
    if (!csv.separator)
        csv.separator = vem_i_csv_sniff(&csv);
    if (!csv.decimal)
        csv.decimal = vem_i_csv_sniff_decimal(&csv);
    vem_status status = read_table(run, &csv, options, data);
    vem_i_columns_free(&csv.columns);
    vem_i_free(csv.names);
    vem_i_free(csv.target);
    vem_i_free(csv.slot);
    vem_i_free(csv.met);
    return status;
}
