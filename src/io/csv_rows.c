#include "io/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "io/number.h"

/* Nearly every line begins with a digit or a sign. Blanks, line ends, '#' and '"' come
 * before them in ASCII; those lines are looked at more closely. */
static inline const char *next_row(const vem_i_csv *csv, const char *at, const char *end)
{
    return at<end && * at> '#' ? at : vem_i_csv_next_row(csv, at);
}

void vem_i_csv_count(const vem_i_csv *csv, const char *at, const char *end,
                     vem_i_csv_part *part)
{
    int64_t rows = 0;
    while ((at = next_row(csv, at, end)) < end) {
        rows++;
        if (csv->slot)
            part->id_bytes += vem_i_csv_id_bytes(csv, at);
        at = vem_i_csv_line_end(csv, at);
        if (at < end)
            at++;
    }
    part->rows = rows;
}

/* What may help with a text where a number should be. */
enum {
    ADVICE_TEXT = 0,
    ADVICE_PERCENT,
    ADVICE_THOUSANDS,
    ADVICE_COMMA_OR_THOUSANDS,
    ADVICE_POINT_OR_THOUSANDS,
    ADVICE_COMMA,
    ADVICE_POINT,
    ADVICE_FIELDS_OR_THOUSANDS,
    ADVICE_FIELDS,
    ADVICES
};
#define COMMAS_PART_FIELDS                                                               \
    "Commas part the fields of this table, so they cannot be decimal commas as well: "   \
    "save it with semicolons between the fields, or with decimal points."
static const char *const usual_advice[ADVICES] = {
    [ADVICE_TEXT] = "A column of text is left out with --id or --columns.",
    [ADVICE_PERCENT] = "Write percentages without their sign, 12.5 for 12.5 %.",
    [ADVICE_THOUSANDS] = "Write numbers without signs between their thousands, 1234567 "
                         "for 1,234,567.",
    [ADVICE_COMMA_OR_THOUSANDS] = "If the comma parts thousands, write 1234 for 1,234; "
                                  "if it is a decimal comma, say --decimal ,.",
    [ADVICE_POINT_OR_THOUSANDS] = "If the point parts thousands, write 1234 for 1.234; "
                                  "if it is a decimal point, say --decimal '.'.",
    [ADVICE_COMMA] = "If it has a decimal comma, say --decimal ,.",
    [ADVICE_POINT] = "If it has a decimal point, say --decimal '.'.",
    [ADVICE_FIELDS_OR_THOUSANDS] =
        "If the comma parts thousands, write 1234 for 1,234. " COMMAS_PART_FIELDS,
    [ADVICE_FIELDS] = COMMAS_PART_FIELDS,
};

static int advice_for(const vem_i_csv *csv, const vem_i_field *field)
{
    vem_i_csv other = *csv;
    double value;
    other.decimal = csv->decimal == ',' ? '.' : ',';
    const vem_i_csv_sign sign = vem_i_csv_sign_of(field);
    const int thousands = sign == VEM_I_THOUSANDS;
    if (sign == VEM_I_PERCENT)
        return ADVICE_PERCENT;
    if (vem_i_csv_kind_of(&other, field, &value) != VEM_I_NUMBER)
        return thousands ? ADVICE_THOUSANDS : ADVICE_TEXT;
    if (other.decimal == csv->separator)
        return thousands ? ADVICE_FIELDS_OR_THOUSANDS : ADVICE_FIELDS;
    if (other.decimal == ',')
        return thousands ? ADVICE_COMMA_OR_THOUSANDS : ADVICE_COMMA; /* 1,234 */
    return thousands ? ADVICE_POINT_OR_THOUSANDS : ADVICE_POINT;
}

const char *vem_i_csv_advice(uint16_t met)
{
    for (int i = ADVICE_PERCENT; i < ADVICES; i++)
        if (met >> i & 1)
            return usual_advice[i];
    return NULL;
}

/* A field the short way does not do: skipped, quoted, missing or wrong. Where the next one
 * begins, the next line after the last, or NULL if it is wrong. */
static const char *read_field(const vem_i_csv *csv, const char *at, int last,
                              int32_t target, double *out, int64_t *missing)
{
    const vem_i_field field = vem_i_csv_field(csv, at);
    if (!field.closed)
        return NULL;
    if (target >= 0) {
        const vem_i_csv_kind kind = vem_i_csv_kind_of(csv, &field, &out[target]);
        if (kind == VEM_I_TEXT && !csv->met)
            return NULL;
        if (kind == VEM_I_TEXT) {
            out[target] = NAN;
            __atomic_fetch_or(&csv->met[target], (uint16_t)(1 << advice_for(csv, &field)),
                              __ATOMIC_RELAXED);
        }
        *missing += kind != VEM_I_NUMBER;
    }
    if (last)
        return field.next                   ? NULL
               : field.line_end == csv->end ? csv->end
                                            : field.line_end + 1;
    return field.next;
}

/* Where the next line begins, or NULL when something is wrong with this one. Must agree
 * with vem_i_csv_field, which explains what is wrong. Built once for each decimal sign. */
static inline __attribute__((always_inline)) const char *
read_row(const vem_i_csv *csv, const char *at, char decimal, double *out,
         int64_t *missing)
{
    const char *end = csv->end;
    const char separator = csv->separator;
    const char other_blank = separator == '\t' ? ' ' : '\t';
    for (int32_t j = 0; j < csv->stored; j++) {
        const int last = j + 1 == csv->stored;
        const int32_t target = csv->target[j];
        while (at < end && (*at == ' ' || *at == other_blank))
            at++;
        const char *const field = at;
        double value;
        const char *p = target >= 0 ? vem_i_number_with(at, end, decimal, &value) : NULL;
        if (!p) {
            at = read_field(csv, at, last, target, out, missing);
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
            at = p == end ? end : *p == '\n' ? p + 1 : NULL;
        } else if (separator == ' ') {
            at = p == behind || p == end || *p == '\n' || *p == '\r' ? NULL : p;
        } else {
            at = p < end && *p == separator ? p + 1 : NULL;
        }
        /* It begins like a number and is none: 2024-01-01, 12 kg. */
        if (!at && !(at = read_field(csv, field, last, target, out, missing)))
            return NULL;
    }
    return at;
}

static inline __attribute__((always_inline)) void read_rows(const vem_i_csv *csv,
                                                            const char *at,
                                                            const char *end, char decimal,
                                                            vem_i_csv_part *part)
{
    double *out = part->values;
    int64_t row = 0, missing = 0;
    for (; (at = next_row(csv, at, end)) < end; row++, out += csv->d) {
        const char *next =
            row < part->rows ? read_row(csv, at, decimal, out, &missing) : NULL;
        if (!next && row < part->rows) {
            part->wrong = at;
            part->wrong_row = row;
            return;
        }
        if (!next || (part->places &&
                      !vem_i_csv_put_ids(csv, at, part->text, &part->out, part->room,
                                         part->places + row * csv->columns.id_count))) {
            part->changed = 1;
            return;
        }
        at = next;
    }
    part->missing = missing;
    part->changed = row < part->rows;
}

void vem_i_csv_values(const vem_i_csv *csv, const char *at, const char *end,
                      vem_i_csv_part *part)
{
    if (csv->decimal == ',')
        read_rows(csv, at, end, ',', part);
    else
        read_rows(csv, at, end, '.', part);
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

static int64_t line_number(vem_i_run *run, const vem_i_csv *csv, const char *at)
{
    int64_t line = 1 + csv->lines_before;
    for (const char *p = csv->begin; (p = memchr(p, '\n', (size_t)(at - p))); p++) {
        line++;
        vem_i_residence_check(run);
    }
    return line;
}

int32_t vem_i_csv_text_of(const vem_i_csv *csv, const char *at, vem_i_field *field)
{
    for (int32_t j = 0; at && j < csv->stored; j++) {
        double value;
        *field = vem_i_csv_field(csv, at);
        at = field->next;
        if (csv->target[j] >= 0 && vem_i_csv_kind_of(csv, field, &value) == VEM_I_TEXT)
            return j;
    }
    return -1;
}

vem_status vem_i_csv_explain(vem_i_run *run, const vem_i_csv *csv, const char *at,
                             int64_t row, const char *advice)
{
    char place[400], text[48], column[80] = "", name[VEM_I_SHOWN];
    snprintf(place, sizeof place, "%.300s, row %" PRId64 " (line %" PRId64 ")", csv->name,
             row + 1, line_number(run, csv, at));
    int32_t fields = 0;
    for (const char *p = at; p; fields++) {
        const vem_i_field field = vem_i_csv_field(csv, p);
        if (!field.closed)
            return vem_i_fail(run, VEM_BAD_DATA,
                              "%s, column %" PRId32
                              ": a quote is opened and never closed.",
                              place, fields + 1);
        p = field.next;
    }
    if (csv->stored && fields != csv->stored)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s has %" PRId32 " fields, but the first row has %" PRId32 ".",
                          place, fields, csv->stored);
    vem_i_field field;
    const int32_t j = vem_i_csv_text_of(csv, at, &field);
    if (j < 0)
        return vem_i_fail(run, VEM_BAD_DATA, "%s changed while it was read.", csv->name);
    if (csv->names && csv->names[j][0])
        snprintf(column, sizeof column, " (%s)",
                 vem_i_names_shown(csv->names[j], strlen(csv->names[j]), name));
    quote_text(&field, text, sizeof text);
    const int unnamed = !advice && row == 0 && !csv->names;
    return vem_i_fail(run, VEM_BAD_DATA,
                      "%s, column %" PRId32 "%s: \"%s\" is not a number. %s%s", place,
                      j + 1, column, text,
                      advice ? advice : usual_advice[advice_for(csv, &field)],
                      unnamed ? " If this row names the columns, say --header yes." : "");
}
