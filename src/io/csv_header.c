/* The first row of a table: is it a header?
 *
 * Told by the caller, or found from the fields of the columns that are kept (an id may be text
 * without a header):
 *   - the model's names, or names that were given and are no numbers of columns, are there:
 *     a header;
 *   - words and no numbers: a header;
 *   - words and numbers: a header if there are more words. A row of data with one word in it
 *     is refused later, with row and column;
 *   - rising years behind an id, and no such row below them: a header;
 *   - else data. Words for missing values, and empty fields, tell nothing. */
#include "io/csv.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* The fields of the first row as names, in one block of memory. `copy` is that row alone, which
 * no one else writes to. */
static vem_status read_names(vem_ctx *ctx, const vem_i_csv *copy, char ***names)
{
    const size_t text = (size_t)(copy->end - copy->begin);
    const size_t pointers = (size_t)copy->stored * sizeof(char *);
    vem_status status = vem_i_take(ctx, names, pointers + text + (size_t)copy->stored, 1);
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

vem_status vem_i_csv_some_names(vem_ctx *ctx, const vem_i_csv *csv, const int32_t *which,
                                int32_t count, char ***names)
{
    const size_t pointers = (size_t)count * sizeof(char *);
    size_t bytes = pointers;
    for (int32_t j = 0; j < count; j++)
        bytes += strlen(csv->names[which ? which[j] : j]) + 1;
    vem_status status = vem_i_take(ctx, names, bytes, 1);
    if (status != VEM_OK)
        return status;
    char *at = (char *)*names + pointers;
    for (int32_t j = 0; j < count; j++) {
        (*names)[j] = at;
        at = stpcpy(at, csv->names[which ? which[j] : j]) + 1;
    }
    return VEM_OK;
}

/* Are the fields that are kept, two or more, rising years? */
static int has_years(const vem_i_csv *csv, const char *at, const char *kept)
{
    double before = 1799;
    int count = 0;
    for (int32_t j = 0; j < csv->stored; j++) {
        double value;
        if (!at)
            return 0;
        const vem_i_field field = vem_i_csv_field(csv, at);
        at = field.next;
        if (!kept[j])
            continue;
        if (vem_i_csv_kind_of(csv, &field, &value) != VEM_I_NUMBER || value <= before ||
            value > 2199 || value != floor(value))
            return 0;
        before = value;
        count++;
    }
    return count > 1;
}

/* Years above a table that has an id, which is why no field that is kept is a word. */
static int years_on_top(const vem_i_csv *csv, const vem_i_csv *copy,
                        const vem_i_columns *columns, const char *kept)
{
    if (columns->id_count == 0 || !has_years(copy, copy->begin, kept))
        return 0;
    const char *next = csv->rows + (copy->end - copy->begin);
    next = next < csv->end ? vem_i_csv_next_row(csv, next + 1) : csv->end;
    return next < csv->end && !has_years(csv, next, kept);
}

/* More words than numbers in the columns that are kept, or years? */
static vem_status look(vem_ctx *ctx, const vem_i_csv *csv, const vem_i_csv *copy,
                       const vem_i_columns *columns, int *header)
{
    int64_t words = 0, numbers = 0;
    /* "1,5" and "5 %" are no names, though they may be no numbers either. */
    vem_i_csv other = *copy;
    other.decimal = copy->decimal == ',' ? '.' : ',';
    char *kept;
    vem_status status = vem_i_take_zeroed(ctx, &kept, (size_t)copy->stored, 1);
    if (status != VEM_OK)
        return status;
    for (int32_t k = 0; columns->chosen && k < columns->count; k++)
        kept[columns->chosen[k]] = 1;
    const char *at = copy->begin;
    for (int32_t j = 0; j < copy->stored; j++) {
        const vem_i_field field = vem_i_csv_field(copy, at);
        double value;
        at = field.next;
        if (columns->chosen && !kept[j])
            continue;
        const vem_i_csv_kind kind = vem_i_csv_kind_of(copy, &field, &value);
        const int number = kind == VEM_I_NUMBER ||
                           vem_i_csv_sign_of(&field) != VEM_I_NO_SIGN ||
                           vem_i_csv_kind_of(&other, &field, &value) == VEM_I_NUMBER;
        numbers += number;
        words += kind == VEM_I_TEXT && !number;
    }
    *header = words > numbers || years_on_top(csv, copy, columns, kept);
    vem_i_free(kept);
    return VEM_OK;
}

static vem_status find_header(vem_ctx *ctx, const vem_i_csv *csv, const vem_i_csv *copy,
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
    vem_status status = look(ctx, csv, copy, &found, header);
    vem_i_columns_free(&found);
    return status;
}

static vem_status choose(vem_ctx *ctx, vem_i_csv *csv, const vem_i_csv *copy,
                         const char *columns, const char *id)
{
    char **names;
    vem_status status = read_names(ctx, copy, &names);
    if (status != VEM_OK)
        return status;
    int header = 0;
    status = find_header(ctx, csv, copy, names, columns, id, &header);
    if (header) {
        csv->names = names;
        csv->rows += copy->end - copy->begin;
        if (csv->rows < csv->end)
            csv->rows++; /* the line end */
    } else {
        vem_i_free(names);
    }
    if (status == VEM_OK)
        status = vem_i_columns_like(ctx, csv->name, csv->like, columns, id, csv->names,
                                    csv->stored, &csv->columns);
    csv->d = csv->columns.count;
    return status;
}

vem_status vem_i_csv_head(vem_ctx *ctx, vem_i_csv *csv, const char *first,
                          const char *columns, const char *id)
{
    /* It is looked at several times, so it is copied: the file may change meanwhile. */
    const size_t length = (size_t)(vem_i_csv_line_end(csv, first) - first);
    char *row;
    vem_status status = vem_i_take(ctx, &row, length, 1);
    if (status != VEM_OK)
        return status;
    memcpy(row, first, length);
    vem_i_csv copy = *csv;
    copy.begin = row;
    copy.end = row + length;
    copy.stored = vem_i_csv_field_count(&copy, row);
    csv->stored = copy.stored;
    csv->rows = first;
    status = choose(ctx, csv, &copy, columns, id);
    vem_i_free(row);
    return status;
}
