/* The first row of a table: is it a header?
 *
 * Told by the caller, or found from the fields of the columns that are kept (an id may be text
 * without a header):
 *   - the model's names, or names that were given and are no numbers of columns, are there:
 *     a header;
 *   - words and no numbers: a header;
 *   - words and numbers: a header if there are more words. A row of data with one word in it
 *     is refused later, with row and column;
 *   - percentages and no other numbers, and no percentage in the rows below: a header. (Signs
 *     between thousands tell nothing: a number below 1000 has none.)
 *   - rising years behind an id, and fewer than half of the rows below are such: a header;
 *   - else data. Words for missing values, and empty fields, tell nothing. */
#include "io/csv.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* The fields of the first row as names, in one block of memory. `copy` is that row alone, which
 * no one else writes to. */
static vem_status read_names(vem_i_run *run, const vem_i_csv *copy, char ***names)
{
    const size_t text = (size_t)(copy->end - copy->begin);
    const size_t pointers = (size_t)copy->stored * sizeof(char *);
    vem_status status = vem_i_take(run, names, pointers + text + (size_t)copy->stored, 1);
    if (status != VEM_OK)
        return status;
    char *at = (char *)*names + pointers;
    const char *field_at = copy->begin;
    for (int32_t j = 0; j < copy->stored; j++) {
        const vem_i_field field = vem_i_csv_field(copy, field_at);
        (*names)[j] = at;
        at += vem_i_csv_unquote(&field, at, SIZE_MAX) + 1;
        field_at = field.next;
    }
    return VEM_OK;
}

vem_status vem_i_csv_some_names(vem_i_run *run, const vem_i_csv *csv,
                                const int32_t *which, int32_t count, char ***names)
{
    const size_t pointers = (size_t)count * sizeof(char *);
    size_t bytes = pointers;
    for (int32_t j = 0; j < count; j++)
        bytes += strlen(csv->names[which ? which[j] : j]) + 1;
    vem_status status = vem_i_take(run, names, bytes, 1);
    if (status != VEM_OK)
        return status;
    char *at = (char *)*names + pointers;
    for (int32_t j = 0; j < count; j++) {
        (*names)[j] = at;
        at = stpcpy(at, csv->names[which ? which[j] : j]) + 1;
    }
    return VEM_OK;
}

enum { ROWS = 100 }; /* below the first that are looked at */

/* What a row of the columns that are kept holds. */
typedef struct row_kinds {
    int32_t words, numbers, percentages, missing;
    int rising_years; /* all of its numbers, if there are any */
} row_kinds;

/* All columns where `kept` is NULL. */
static row_kinds kinds_of(const vem_i_csv *csv, const char *at, const char *kept)
{
    row_kinds found = {0};
    double before = 1799;
    int rising = 1;
    /* "1,5" and "1,234" are no names, though they may be no numbers either. */
    vem_i_csv other = *csv;
    other.decimal = csv->decimal == ',' ? '.' : ',';
    for (int32_t j = 0; at && j < csv->stored; j++) {
        const vem_i_field field = vem_i_csv_field(csv, at);
        double value, unused;
        at = field.next;
        if (kept && !kept[j])
            continue;
        const vem_i_csv_kind kind = vem_i_csv_kind_of(csv, &field, &value);
        const vem_i_csv_sign sign = vem_i_csv_sign_of(&field);
        if (kind == VEM_I_MISSING) {
            found.missing++;
            continue;
        }
        if (kind == VEM_I_NUMBER || sign == VEM_I_THOUSANDS ||
            (sign == VEM_I_NO_SIGN &&
             vem_i_csv_kind_of(&other, &field, &unused) == VEM_I_NUMBER))
            found.numbers++;
        else if (sign == VEM_I_PERCENT)
            found.percentages++;
        else
            found.words++;
        rising = rising && kind == VEM_I_NUMBER && value > before && value <= 2199 &&
                 value == floor(value);
        before = value;
    }
    found.rising_years = rising && found.numbers > 0;
    return found;
}

/* Of the rows below the first: how many have something in a column that is kept, how many of
 * those have percentages, and how many are years. */
typedef struct rows_below {
    int rows, percentages, years;
} rows_below;

static rows_below look_below(const vem_i_csv *csv, const vem_i_csv *copy,
                             const char *kept)
{
    rows_below found = {0};
    const char *at = csv->rows + (copy->end - copy->begin);
    for (int row = 0; row < ROWS && at < csv->end; row++) {
        at = vem_i_csv_next_row(csv, at + 1);
        if (at == csv->end)
            break;
        const row_kinds kinds = kinds_of(csv, at, kept);
        found.rows += kinds.words + kinds.numbers + kinds.percentages > 0;
        found.percentages += kinds.percentages > 0;
        found.years += kinds.rising_years;
        at = vem_i_csv_line_end(csv, at);
    }
    return found;
}

/* Is the row, which has not more words than numbers, a header? */
static int stands_out(const vem_i_csv *csv, const vem_i_csv *copy,
                      const vem_i_columns *columns, const row_kinds *first,
                      const char *kept)
{
    const int percentages = first->percentages > 0 && first->numbers == 0;
    /* Where there is an id, no field that is kept need be a word. */
    const int years = columns->id_count > 0 && first->rising_years &&
                      first->numbers > 1 && first->missing == 0;
    if (!percentages && !years)
        return 0;
    const rows_below below = look_below(csv, copy, kept);
    if (percentages)
        return below.rows > 0 && below.percentages == 0;
    return below.rows > 0 && 2 * below.years < below.rows;
}

/* More words than numbers in the columns that are kept, or what no row below is like? */
static vem_status look(vem_i_run *run, const vem_i_csv *csv, const vem_i_csv *copy,
                       const vem_i_columns *columns, int *header)
{
    char *kept = NULL;
    if (columns->chosen) {
        vem_status status = vem_i_take_zeroed(run, &kept, (size_t)copy->stored, 1);
        if (status != VEM_OK)
            return status;
        for (int32_t k = 0; k < columns->count; k++)
            kept[columns->chosen[k]] = 1;
    }
    const row_kinds first = kinds_of(copy, copy->begin, kept);
    *header = first.words > first.numbers + first.percentages ||
              stands_out(csv, copy, columns, &first, kept);
    vem_i_free(kept);
    return VEM_OK;
}

static vem_status find_header(vem_i_run *run, const vem_i_csv *csv, const vem_i_csv *copy,
                              char **names, const char *columns, const char *id,
                              int *header)
{
    vem_i_columns found = {0};
    *header = csv->header == VEM_HEADER_YES;
    if (csv->header != VEM_HEADER_AUTO)
        return VEM_OK;
    if (csv->like && csv->like->columns && !columns &&
        vem_i_columns_like(NULL, csv->name, csv->like, NULL, id, names, csv->stored,
                           &found) == VEM_OK) {
        *header = 1;
        vem_i_columns_free(&found);
        return VEM_OK;
    }
    if (vem_i_columns_resolve(NULL, csv->name, columns, id, NULL, csv->stored, &found) !=
            VEM_OK &&
        vem_i_columns_resolve(NULL, csv->name, columns, id, names, csv->stored, &found) ==
            VEM_OK) {
        *header = 1;
        vem_i_columns_free(&found);
        return VEM_OK;
    }
    /* Where neither fits, all columns: that makes the message. */
    vem_status status = look(run, csv, copy, &found, header);
    vem_i_columns_free(&found);
    return status;
}

/* It is looked at several times, so it is copied: the file may change meanwhile. */
static vem_status copy_row(vem_i_run *run, const vem_i_csv *csv, const char *first,
                           char **row, vem_i_csv *copy)
{
    const size_t length = (size_t)(vem_i_csv_line_end(csv, first) - first);
    vem_status status = vem_i_take(run, row, length, 1);
    if (status != VEM_OK)
        return status;
    memcpy(*row, first, length);
    *copy = *csv;
    copy->begin = *row;
    copy->end = *row + length;
    copy->stored = vem_i_csv_field_count(copy, *row);
    return VEM_OK;
}

vem_status vem_i_csv_names(vem_i_run *run, const vem_i_csv *csv, const char *first,
                           char ***names, int32_t *count)
{
    char *row = NULL;
    vem_i_csv copy;
    vem_status status = copy_row(run, csv, first, &row, &copy);
    if (status == VEM_OK)
        status = read_names(run, &copy, names);
    if (status == VEM_OK)
        *count = copy.stored;
    vem_i_free(row);
    return status;
}

static vem_status choose(vem_i_run *run, vem_i_csv *csv, const vem_i_csv *copy,
                         const char *columns, const char *id)
{
    char **names;
    vem_status status = read_names(run, copy, &names);
    if (status != VEM_OK)
        return status;
    int header = 0;
    status = find_header(run, csv, copy, names, columns, id, &header);
    if (header) {
        csv->names = names;
        csv->rows += copy->end - copy->begin;
        if (csv->rows < csv->end)
            csv->rows++; /* the line end */
    } else {
        vem_i_free(names);
    }
    if (status == VEM_OK)
        status = vem_i_columns_like(run, csv->name, csv->like, columns, id, csv->names,
                                    csv->stored, &csv->columns);
    csv->d = csv->columns.count;
    return status;
}

vem_status vem_i_csv_head(vem_i_run *run, vem_i_csv *csv, const char *first,
                          const char *columns, const char *id)
{
    char *row = NULL;
    vem_i_csv copy;
    vem_status status = copy_row(run, csv, first, &row, &copy);
    if (status != VEM_OK)
        return status;
    csv->stored = copy.stored;
    csv->rows = first;
    status = choose(run, csv, &copy, columns, id);
    vem_i_free(row);
    return status;
}
