/* Text tables, in two passes over chunks cut at line ends: count the rows of each chunk,
 * then parse each chunk into its place. Cuts depend on the file alone, so the result and
 * the error reported (the earliest) do not depend on the number of threads. */
#include "io/csv.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/spill.h"

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
    int64_t *first_row; /* before the sums are taken: rows of chunk k at k+1 */
    const char **wrong; /* first wrong row of each chunk, or NULL */
    double *values;
    int64_t start; /* chunk of task 0 */
} job;

static void count_task(void *arg, int64_t task, int thread)
{
    const job *work = arg;
    const int64_t k = work->start + task;
    (void)thread;
    work->first_row[k + 1] = vem_i_csv_count(work->csv, work->cuts[k], work->cuts[k + 1]);
}

static void value_task(void *arg, int64_t task, int thread)
{
    const job *work = arg;
    const int64_t k = work->start + task;
    (void)thread;
    work->wrong[k] = vem_i_csv_values(work->csv, work->cuts[k], work->cuts[k + 1],
                                      work->values + work->first_row[k] * work->csv->d);
}

static vem_status run(vem_ctx *ctx, job *work, vem_i_task task, int64_t chunks,
                      int64_t done, int64_t total)
{
    for (work->start = 0; work->start < chunks; work->start += CHUNKS_A_CALL) {
        const int64_t left = chunks - work->start;
        const vem_progress told = {.phase = "read",
                                   .done = done + work->start,
                                   .total = total};
        if (vem_i_progress(ctx, &told, 0))
            return vem_i_fail(ctx, VEM_STOPPED, "Reading %s was stopped.",
                              work->csv->name);
        vem_i_parallel(ctx, left < CHUNKS_A_CALL ? left : CHUNKS_A_CALL, task, work);
    }
    return VEM_OK;
}

/* cuts[k]: the first line that begins at or after k chunks. Quotes may hide line ends, so
 * with them every line is walked. */
static void cut(vem_ctx *ctx, const vem_i_csv *csv, const char **cuts, int64_t chunks)
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
        vem_i_residence_check(ctx);
    }
}

static vem_status read_values(vem_ctx *ctx, job *work, int64_t chunks, vem_data *data)
{
    const vem_i_csv *csv = work->csv;
    cut(ctx, csv, work->cuts, chunks);
    vem_status status = run(ctx, work, count_task, chunks, 0, 2 * chunks);
    if (status != VEM_OK)
        return status;
    work->first_row[0] = 0;
    for (int64_t k = 0; k < chunks; k++)
        work->first_row[k + 1] += work->first_row[k];
    const int64_t n = work->first_row[chunks];
    if (n == 0)
        return vem_i_fail(ctx, VEM_BAD_DATA, "%s has a header, but no rows.", csv->name);
    size_t count;
    if (__builtin_mul_overflow((size_t)n, (size_t)csv->d, &count))
        return vem_i_fail_memory(ctx, SIZE_MAX);
    vem_i_mapping *spill = NULL;
    status = vem_i_spill_take(ctx, &work->values, count, sizeof *work->values, &spill);
    if (status != VEM_OK)
        work->values = NULL;
    if (status == VEM_OK)
        status = run(ctx, work, value_task, chunks, chunks, 2 * chunks);
    for (int64_t k = 0; k < chunks && status == VEM_OK; k++)
        if (work->wrong[k])
            status =
                vem_i_csv_explain(ctx, csv, work->wrong[k],
                                  work->first_row[k] + vem_i_csv_count(csv, work->cuts[k],
                                                                       work->wrong[k]));
    if (status != VEM_OK) {
        if (!spill)
            vem_i_free(work->values);
        vem_i_mapping_free(spill);
        return status;
    }
    data->type = VEM_FLOAT64;
    data->n = n;
    data->d = csv->d;
    data->base = (const char *)work->values;
    data->column_stride = sizeof(double);
    data->row_stride = (int64_t)sizeof(double) * csv->d;
    data->owned = spill ? NULL : work->values;
    data->mapping = spill;
    data->format = "csv";
    return VEM_OK;
}

static vem_status read_rows(vem_ctx *ctx, const vem_i_csv *csv, vem_data *data)
{
    const int64_t chunks =
        vem_i_shards(csv->end - csv->rows, CHUNK) + (csv->rows == csv->end);
    job work = {.csv = csv};
    vem_status status =
        vem_i_take(ctx, &work.cuts, (size_t)chunks + 1, sizeof *work.cuts);
    if (status == VEM_OK)
        status =
            vem_i_take(ctx, &work.first_row, (size_t)chunks + 1, sizeof *work.first_row);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(ctx, &work.wrong, (size_t)chunks, sizeof *work.wrong);
    if (status == VEM_OK)
        status = read_values(ctx, &work, chunks, data);
    vem_i_free(work.cuts);
    vem_i_free(work.first_row);
    vem_i_free(work.wrong);
    return status;
}

/* The fields of the first row as names, in one block of memory. */
static vem_status read_names(vem_ctx *ctx, vem_i_csv *csv, const char *first)
{
    const size_t text = (size_t)(vem_i_csv_line_end(csv, first) - first);
    const size_t pointers = (size_t)csv->stored * sizeof(char *);
    vem_status status =
        vem_i_take(ctx, &csv->names, pointers + text + (size_t)csv->stored, 1);
    if (status != VEM_OK)
        return status;
    char *at = (char *)csv->names + pointers;
    for (int32_t j = 0; j < csv->stored; j++) {
        const vem_i_field field = vem_i_csv_field(csv, first);
        csv->names[j] = at;
        at += vem_i_csv_unquote(&field, at, SIZE_MAX) + 1;
        first = field.next;
    }
    return VEM_OK;
}

/* The names of the columns kept, for the data. */
static vem_status keep_names(vem_ctx *ctx, const vem_i_csv *csv, const int32_t *chosen,
                             char ***names)
{
    const size_t pointers = (size_t)csv->d * sizeof(char *);
    size_t bytes = pointers;
    for (int32_t j = 0; j < csv->d; j++)
        bytes += strlen(csv->names[chosen ? chosen[j] : j]) + 1;
    vem_status status = vem_i_take(ctx, names, bytes, 1);
    if (status != VEM_OK)
        return status;
    char *at = (char *)*names + pointers;
    for (int32_t j = 0; j < csv->d; j++) {
        (*names)[j] = at;
        at = stpcpy(at, csv->names[chosen ? chosen[j] : j]) + 1;
    }
    return VEM_OK;
}

/* Is any of the chosen fields (NULL: any field) of this row text? Empty ones tell
 * nothing. */
static int has_text(const vem_i_csv *csv, const char *at, const int32_t *chosen,
                    int32_t count)
{
    for (int32_t j = 0; j < csv->stored; j++) {
        const vem_i_field field = vem_i_csv_field(csv, at);
        double value;
        int relevant = chosen == NULL;
        at = field.next;
        if (field.text == field.text_end || vem_i_csv_number(&field, &value))
            continue;
        for (int32_t k = 0; k < count && !relevant; k++)
            relevant = chosen[k] == j;
        if (relevant)
            return 1;
    }
    return 0;
}

/* Is the first row a header, and which columns are kept? Text makes it a header, except
 * text in columns that are told by number to be left out: those are ids in a table
 * without a header. */
static vem_status choose_columns(vem_ctx *ctx, vem_i_csv *csv, const char *first,
                                 const vem_read_options *options, int32_t **chosen)
{
    const char *columns = options ? options->columns : NULL;
    const char *id = options ? options->id : NULL;
    csv->rows = first;
    if (has_text(csv, first, NULL, 0)) {
        if ((columns || id) &&
            vem_i_columns_resolve(NULL, csv->name, columns, id, NULL, csv->stored, chosen,
                                  &csv->d) == VEM_OK) {
            if (!has_text(csv, first, *chosen, csv->d))
                return VEM_OK;
            vem_i_free(*chosen);
            *chosen = NULL;
        }
        const char *line_end = vem_i_csv_line_end(csv, first);
        csv->rows = line_end < csv->end ? line_end + 1 : csv->end;
        vem_status status = read_names(ctx, csv, first);
        if (status != VEM_OK)
            return status;
    }
    return vem_i_columns_resolve(ctx, csv->name, columns, id, csv->names, csv->stored,
                                 chosen, &csv->d);
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

static vem_status read_table(vem_ctx *ctx, vem_i_csv *csv,
                             const vem_read_options *options, int32_t **chosen,
                             vem_data *data)
{
    const char *first = vem_i_csv_next_row(csv, csv->begin);
    if (first == csv->end)
        return vem_i_fail(ctx, VEM_BAD_DATA, "%s holds no rows.", csv->name);
    if (!is_closed(csv, first))
        return vem_i_csv_explain(ctx, csv, first, 0);
    csv->stored = vem_i_csv_field_count(csv, first);
    vem_status status = choose_columns(ctx, csv, first, options, chosen);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &csv->target, (size_t)csv->stored, sizeof *csv->target);
    if (status != VEM_OK)
        return status;
    for (int32_t j = 0; j < csv->stored; j++)
        csv->target[j] = *chosen ? -1 : j;
    for (int32_t j = 0; *chosen && j < csv->d; j++)
        csv->target[(*chosen)[j]] = j;
    char **names = NULL;
    if (csv->names)
        status = keep_names(ctx, csv, *chosen, &names);
    if (status == VEM_OK)
        status = read_rows(ctx, csv, data);
    if (status != VEM_OK) {
        vem_i_free(names);
        return status;
    }
    data->names = names;
    if (*chosen) { /* kept for messages: a column goes by its number in the file */
        for (int32_t j = 0; j < csv->d; j++)
            (*chosen)[j]++;
        data->numbers = *chosen;
        *chosen = NULL;
    }
    return VEM_OK;
}

static int has_quotes(vem_ctx *ctx, const char *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += CHUNK) {
        if (memchr(bytes + at, '"', size - at < CHUNK ? size - at : CHUNK))
            return 1;
        vem_i_residence_check(ctx);
    }
    return 0;
}

vem_status vem_i_csv_parse(vem_ctx *ctx, const char *name, const char *bytes, size_t size,
                           char separator, const vem_read_options *options,
                           vem_data *data)
{
    if (size >= 2 &&
        (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return vem_i_fail(ctx, VEM_UNSUPPORTED,
                          "%s is text in UTF-16; save it as UTF-8 or ASCII.", name);
    vem_i_csv csv = {.name = name, .begin = bytes, .end = bytes + size};
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        csv.begin += 3;
    csv.quotes = has_quotes(ctx, bytes, size);
    csv.separator = separator ? separator : vem_i_csv_sniff(&csv);
    int32_t *chosen = NULL;
    vem_status status = read_table(ctx, &csv, options, &chosen, data);
    vem_i_free(chosen);
    vem_i_free(csv.names);
    vem_i_free(csv.target);
    return status;
}
