#include "io/csv.h"

#include <inttypes.h>
#include <string.h>

#include "io/number.h"

/* Nearly every line begins with a digit or a sign. Blanks, line ends, '#' and '"' come
 * before them in ASCII; those lines are looked at more closely. */
static inline const char *next_row(const vem_i_csv *csv, const char *at, const char *end)
{
    return at<end && * at> '#' ? at : vem_i_csv_next_row(csv, at);
}

int64_t vem_i_csv_count(const vem_i_csv *csv, const char *at, const char *end)
{
    int64_t rows = 0;
    while ((at = next_row(csv, at, end)) < end) {
        rows++;
        at = vem_i_csv_line_end(csv, at);
        if (at < end)
            at++;
    }
    return rows;
}

/* A field the short way does not do: skipped, quoted or wrong. Where the next one begins,
 * the next line after the last, or NULL if it is wrong. */
static const char *read_field(const vem_i_csv *csv, const char *at, int last,
                              double *value)
{
    const vem_i_field field = vem_i_csv_field(csv, at);
    if (!field.closed || (value && !vem_i_csv_number(&field, value)))
        return NULL;
    if (last)
        return field.next                   ? NULL
               : field.line_end == csv->end ? csv->end
                                            : field.line_end + 1;
    return field.next;
}

/* Where the next line begins, or NULL when something is wrong with this one. Must agree
 * with vem_i_csv_field, which explains what is wrong. */
static const char *read_row(const vem_i_csv *csv, const char *at, double *out)
{
    const char *end = csv->end;
    const char separator = csv->separator;
    const char other_blank = separator == '\t' ? ' ' : '\t';
    for (int32_t j = 0; j < csv->stored; j++) {
        const int last = j + 1 == csv->stored;
        const int32_t target = csv->target[j];
        while (at < end && (*at == ' ' || *at == other_blank))
            at++;
        double value;
        const char *p = target >= 0 ? vem_i_number(at, end, &value) : NULL;
        if (!p) {
            at = read_field(csv, at, last, target >= 0 ? &out[target] : NULL);
            if (!at)
                return NULL;
            continue;
        }
        out[target] = value;
        if (p < end && *p == separator && !last && separator != ' ') {
            at = p + 1;
            continue;
        }
        const char *behind = p;
        while (p < end && (*p == ' ' || *p == other_blank))
            p++;
        if (last) {
            if (p < end && *p == '\r')
                p++;
            if (p < end && *p != '\n')
                return NULL;
            at = p < end ? p + 1 : end;
        } else if (separator == ' ') {
            if (p == behind || p == end || *p == '\n' || *p == '\r')
                return NULL;
            at = p;
        } else {
            if (p == end || *p != separator)
                return NULL;
            at = p + 1;
        }
    }
    return at;
}

const char *vem_i_csv_values(const vem_i_csv *csv, const char *at, const char *end,
                             double *out)
{
    while ((at = next_row(csv, at, end)) < end) {
        const char *next = read_row(csv, at, out);
        if (!next)
            return at;
        at = next;
        out += csv->d;
    }
    return NULL;
}

/* Text found, short enough and clean enough to stand in a sentence. */
static void quote_text(const vem_i_field *field, char *out, size_t capacity)
{
    const size_t length = vem_i_csv_unquote(field, out, capacity);
    size_t kept = length < capacity ? length : capacity - 1;
    if (length >= capacity) { /* cut between characters, not inside one of UTF-8 */
        kept -= 3;
        while (kept > 0 && ((unsigned char)out[kept] & 0xc0) == 0x80)
            kept--;
        memcpy(out + kept, "...", 4);
    }
    for (size_t i = 0; i < kept; i++)
        if ((unsigned char)out[i] < 0x20 || out[i] == 0x7f)
            out[i] = '?';
}

static int64_t line_number(vem_ctx *ctx, const vem_i_csv *csv, const char *at)
{
    int64_t line = 1;
    for (const char *p = csv->begin; (p = memchr(p, '\n', (size_t)(at - p))); p++) {
        line++;
        vem_i_residence_check(ctx);
    }
    return line;
}

vem_status vem_i_csv_explain(vem_ctx *ctx, const vem_i_csv *csv, const char *at,
                             int64_t row)
{
    char place[400], text[48], column[80] = "";
    snprintf(place, sizeof place, "%.300s, row %" PRId64 " (line %" PRId64 ")", csv->name,
             row + 1, line_number(ctx, csv, at));
    int32_t fields = 0;
    for (const char *p = at; p; fields++) {
        const vem_i_field field = vem_i_csv_field(csv, p);
        if (!field.closed)
            return vem_i_fail(ctx, VEM_BAD_DATA,
                              "%s, column %" PRId32
                              ": a quote is opened and never closed.",
                              place, fields + 1);
        p = field.next;
    }
    if (fields != csv->stored)
        return vem_i_fail(ctx, VEM_BAD_DATA,
                          "%s has %" PRId32 " fields, but the first row has %" PRId32 ".",
                          place, fields, csv->stored);
    for (int32_t j = 0; j < csv->stored; j++) {
        const vem_i_field field = vem_i_csv_field(csv, at);
        double value;
        at = field.next;
        if (csv->target[j] < 0 || vem_i_csv_number(&field, &value))
            continue;
        if (csv->names && csv->names[j][0])
            snprintf(column, sizeof column, " (%.60s)", csv->names[j]);
        quote_text(&field, text, sizeof text);
        if (text[0] == '\0')
            return vem_i_fail(ctx, VEM_BAD_DATA, "%s, column %" PRId32 "%s is empty.",
                              place, j + 1, column);
        return vem_i_fail(ctx, VEM_BAD_DATA,
                          "%s, column %" PRId32 "%s: \"%s\" is not a number.", place,
                          j + 1, column, text);
    }
    return vem_i_fail(ctx, VEM_BAD_DATA, "%s cannot be read.", place);
}
