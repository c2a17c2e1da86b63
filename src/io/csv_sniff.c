#include "io/csv.h"

#include <string.h>

#include "base/plain.h"

/* Can it part fields? No letter or digit, nothing that numbers or quotes are made of. */
static int parts_fields(char c)
{
    return c == '\t' || (c >= ' ' && c <= '~' && strchr(" ;,|:!/&^~@$*=", c));
}

void vem_i_csv_skip_marks(vem_i_csv *csv)
{
    if (csv->end - csv->begin >= 3 && memcmp(csv->begin, "\xef\xbb\xbf", 3) == 0)
        csv->begin += 3;
    const char *p = csv->begin;
    const int quoted = p < csv->end && *p == '"';
    p += quoted;
    if (csv->end - p < 5 + quoted || !vem_i_same_word(p, p + 4, "sep=") ||
        !parts_fields(p[4]) || (quoted && p[5] != '"'))
        return;
    const char separator = p[4];
    p += 5 + quoted;
    while (p < csv->end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == separator))
        p++; /* a spreadsheet may have filled the line up with empty fields */
    if (p < csv->end && *p != '\n')
        return;
    csv->separator = separator;
    csv->begin = p < csv->end ? p + 1 : p;
    csv->lines_before = 1;
}

static int32_t count_with(const vem_i_csv *csv, char separator, const char *at)
{
    vem_i_csv trial = *csv;
    trial.separator = separator;
    return vem_i_csv_field_count(&trial, at);
}

/* A title of several words over one column, rather than a row of which the next is short.
 */
static int lone_title(const vem_i_csv *csv, const char *first, const char *second)
{
    vem_i_csv trial = *csv;
    trial.separator = ' ';
    trial.decimal = csv->decimal ? csv->decimal : '.';
    const vem_i_field word = vem_i_csv_field(&trial, first);
    double value;
    return vem_i_csv_field_count(&trial, second) == 1 &&
           vem_i_csv_kind_of(&trial, &word, &value) == VEM_I_TEXT;
}

/* The separator for which the first two rows have the same number of fields, more than
 * one. Tab and ';' come before ',' because a comma beside them is rather a decimal comma,
 * than a separator. Blanks come last. */
char vem_i_csv_sniff(const vem_i_csv *csv)
{
    static const char candidates[] = {'\t', ';', ',', ' '};
    const char *first = vem_i_csv_next_row(csv, csv->begin);
    const char *second = vem_i_csv_line_end(csv, first);
    second = second < csv->end ? vem_i_csv_next_row(csv, second + 1) : csv->end;
    char most = csv->decimal == ',' ? ';' : ',';
    int32_t most_count = 1;
    for (int i = 0; i < 4; i++) {
        if (candidates[i] == csv->decimal)
            continue;
        const int32_t count = count_with(csv, candidates[i], first);
        if (count < 2)
            continue;
        if (second == csv->end || count_with(csv, candidates[i], second) == count)
            return candidates[i];
        /* A row is short or long: the likeliest separator, so that the message makes
         * sense. Blanks count only where nothing else parts the fields. */
        if (candidates[i] == ' ' && (most_count > 1 || lone_title(csv, first, second)))
            continue;
        if (count > most_count) {
            most = candidates[i];
            most_count = count;
        }
    }
    return most;
}

/* ',' where semicolons part the fields, one of the first rows has a number with it, and none
 * has one with a '.'. */
char vem_i_csv_sniff_decimal(const vem_i_csv *csv)
{
    enum { ROWS = 1000 };
    vem_i_csv with_point = *csv, with_comma = *csv;
    int commas = 0;
    with_point.decimal = '.';
    with_comma.decimal = ',';
    const char *at = csv->begin;
    for (int row = 0; csv->separator == ';' && row < ROWS; row++) {
        at = vem_i_csv_next_row(csv, at);
        if (at == csv->end)
            break;
        vem_i_field field = {.next = at};
        while (field.next) {
            double value;
            field = vem_i_csv_field(csv, field.next);
            const int point =
                vem_i_csv_kind_of(&with_point, &field, &value) != VEM_I_TEXT;
            const int comma =
                vem_i_csv_kind_of(&with_comma, &field, &value) != VEM_I_TEXT;
            if (point && !comma)
                return '.';
            commas |= comma && !point;
        }
        at = field.line_end < csv->end ? field.line_end + 1 : csv->end;
    }
    return commas ? ',' : '.';
}
