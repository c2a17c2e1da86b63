/* A text where a number should be: the sentence that says where it is gets an advice that fits the
 * column. Is it one bad value of many, or a column of text, and which other columns are text, too?
 * Only for tables that are refused, so the rows may be looked at once more. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/csv.h"

enum { LOOKED_AT = 1 << 26 }; /* bytes of the table, at most */

/* Values and texts among them of each stored field; missing ones are neither. */
typedef struct tally {
    int64_t values, texts;
} tally;

static int whole_table(const vem_i_csv *csv, tally *columns)
{
    const char *at = vem_i_csv_next_row(csv, csv->rows);
    while (at < csv->end && at - csv->rows < LOOKED_AT) {
        vem_i_field field = {.next = at};
        for (int32_t j = 0; field.next && j < csv->stored; j++) {
            double value;
            field = vem_i_csv_field(csv, field.next);
            const vem_i_csv_kind kind = vem_i_csv_kind_of(csv, &field, &value);
            columns[j].values += kind != VEM_I_MISSING;
            columns[j].texts += kind == VEM_I_TEXT;
        }
        const char *end = vem_i_csv_line_end(csv, at);
        at = end < csv->end ? vem_i_csv_next_row(csv, end + 1) : csv->end;
    }
    return at >= csv->end;
}

static int is_text(const tally *column)
{
    return column->texts > 0 && 2 * column->texts >= column->values;
}

/* The columns of text as --id takes them: by name where all have a plain one. */
static int list_columns(const vem_i_csv *csv, const tally *columns, char *list,
                        size_t size)
{
    int count = 0, named = csv->names != NULL;
    size_t used = 0;
    for (int32_t j = 0; named && j < csv->stored; j++)
        if (csv->target[j] >= 0 && is_text(&columns[j]))
            named =
                csv->names[j][0] && !strpbrk(csv->names[j], ", \t\"'$`\\&;()<>|*?!#~");
    list[0] = '\0';
    for (int32_t j = 0; j < csv->stored && used + 70 < size; j++) {
        if (csv->target[j] < 0 || !is_text(&columns[j]))
            continue;
        const char *comma = count++ ? "," : "";
        if (named)
            used += (size_t)snprintf(list + used, size - used, "%s%.60s", comma,
                                     csv->names[j]);
        else
            used +=
                (size_t)snprintf(list + used, size - used, "%s%" PRId32, comma, j + 1);
    }
    return count;
}

static void advise(const vem_i_csv *csv, int32_t j, int64_t row, const tally *columns,
                   int whole, char *text, size_t size)
{
    char list[400];
    if (!is_text(&columns[j])) {
        snprintf(text, size,
                 "%s%" PRId64 " of %" PRId64
                 " values of this column %s: correct %s, or leave "
                 "%s empty and say --missing drop%s.",
                 whole ? "" : "Of the first rows, ", columns[j].texts, columns[j].values,
                 columns[j].texts == 1 ? "is no number" : "are no numbers",
                 columns[j].texts == 1 ? "it" : "them",
                 columns[j].texts == 1 ? "it" : "them", csv->counts ? "" : " or mean");
        return;
    }
    const int count = list_columns(csv, columns, list, sizeof list);
    int32_t texts = 0;
    for (int32_t i = 0; i < csv->stored; i++)
        texts += csv->target[i] >= 0 && is_text(&columns[i]);
    if (texts == csv->d && (row > 0 || csv->names)) {
        snprintf(text, size, "%s (vem info lists the columns).",
                 texts > 1 ? "All columns that are taken are text"
                           : "The column is text, and no other is taken");
        return;
    }
    snprintf(text, size, "%s%s left out with --id %s (vem info lists the columns).",
             row == 0 && !csv->names ? "If this row names the columns, say --header yes. "
                                     : "",
             count > 1 ? "Columns of text are" : "A column of text is", list);
}

vem_status vem_i_csv_explain_text(vem_i_run *run, const vem_i_csv *csv, const char *at,
                                  int64_t row)
{
    char advice[600];
    vem_i_field field;
    double value;
    const int32_t j = vem_i_csv_text_of(csv, at, &field);
    if (j < 0 || csv->met)
        return vem_i_csv_explain(run, csv, at, row, NULL);
    vem_i_csv other = *csv;
    other.decimal = csv->decimal == ',' ? '.' : ',';
    const int decimal = vem_i_csv_kind_of(&other, &field, &value) == VEM_I_NUMBER;
    tally *columns;
    if (decimal || vem_i_csv_sign_of(&field) != VEM_I_NO_SIGN ||
        vem_i_take_zeroed(NULL, &columns, (size_t)csv->stored, sizeof *columns) != VEM_OK)
        return vem_i_csv_explain(run, csv, at, row, NULL);
    const int whole = whole_table(csv, columns);
    advise(csv, j, row, columns, whole, advice, sizeof advice);
    vem_i_free(columns);
    return vem_i_csv_explain(run, csv, at, row, advice);
}
