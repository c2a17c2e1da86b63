#include "io/csv.h"

#include <math.h>
#include <string.h>

#include "base/plain.h"
#include "io/number.h"

static int is_blank(const vem_i_csv *csv, char c)
{
    return c == ' ' || (c == '\t' && csv->separator != '\t');
}

/* At the '\r' of a "\r\n" or of a '\r' that ends the file, which belong to the line's
 * end. */
static int is_return(const vem_i_csv *csv, const char *at)
{
    return *at == '\r' && (at + 1 == csv->end || at[1] == '\n');
}

/* Behind the closing quote, or the end of the file. */
static const char *skip_quoted(const vem_i_csv *csv, const char *at, int *closed)
{
    const char *p = at + 1;
    *closed = 1;
    while (p < csv->end) {
        p = memchr(p, '"', (size_t)(csv->end - p));
        if (!p)
            break;
        if (p + 1 == csv->end || p[1] != '"')
            return p + 1;
        p += 2;
    }
    *closed = 0;
    return csv->end;
}

vem_i_field vem_i_csv_field(const vem_i_csv *csv, const char *at)
{
    const char *p = at, *end = csv->end;
    vem_i_field field = {.closed = 1};
    while (p < end && is_blank(csv, *p))
        p++;
    field.text = p;
    if (p < end && *p == '"') {
        field.quoted = 1;
        p = skip_quoted(csv, p, &field.closed);
    }
    while (p < end && *p != '\n' && *p != csv->separator && !is_return(csv, p) &&
           !(csv->separator == ' ' && *p == '\t'))
        p++;
    field.text_end = p;
    while (field.text_end > field.text && is_blank(csv, field.text_end[-1]))
        field.text_end--;
    if (csv->separator == ' ')
        while (p < end && is_blank(csv, *p))
            p++;
    if (p < end && is_return(csv, p))
        p++;
    if (p == end || *p == '\n')
        field.line_end = p;
    else
        field.next = csv->separator == ' ' ? p : p + 1;
    return field;
}

const char *vem_i_csv_line_end(const vem_i_csv *csv, const char *at)
{
    if (at == csv->end)
        return at;
    const char *newline = memchr(at, '\n', (size_t)(csv->end - at));
    const char *end = newline ? newline : csv->end;
    if (!csv->quotes || *at == '#' || !memchr(at, '"', (size_t)(end - at)))
        return end;
    vem_i_field field;
    do {
        field = vem_i_csv_field(csv, at);
        at = field.next;
    } while (at);
    return field.line_end;
}

const char *vem_i_csv_next_row(const vem_i_csv *csv, const char *at)
{
    while (at < csv->end) {
        const char *p = at;
        while (p < csv->end && (*p == ' ' || *p == '\t' || *p == '\r'))
            p++;
        if (p < csv->end && *p != '\n' && *at != '#')
            return at;
        if (p < csv->end && *p != '\n')
            p = memchr(p, '\n', (size_t)(csv->end - p));
        if (!p || p == csv->end)
            break;
        at = p + 1;
    }
    return csv->end;
}

int32_t vem_i_csv_field_count(const vem_i_csv *csv, const char *at)
{
    int32_t count = 0;
    while (at && count < INT32_MAX) {
        at = vem_i_csv_field(csv, at).next;
        count++;
    }
    return count;
}

size_t vem_i_csv_unquote(const vem_i_field *field, char *out, size_t capacity)
{
    const char *p = field->text, *end = field->text_end;
    size_t length = 0;
    const int quoted = field->quoted && field->closed && end - p >= 2 && end[-1] == '"';
    if (quoted) {
        p++;
        end--;
    }
    for (; p < end; p++, length++) {
        if (quoted && *p == '"' && p + 1 < end && p[1] == '"')
            p++;
        if (length + 1 < capacity)
            out[length] = *p;
    }
    if (capacity)
        out[length < capacity ? length : capacity - 1] = '\0';
    return length;
}

static int is_missing(const char *at, const char *end)
{
    static const char *const words[] = {"na", "nan", "n/a", "n.a.", "null", "?"};
    if (at == end)
        return 1;
    if (end - at > 4)
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vem_i_same_word(at, end, words[i]))
            return 1;
    return 0;
}

vem_i_csv_kind vem_i_csv_kind_of(const vem_i_csv *csv, const vem_i_field *field,
                                 double *value)
{
    const char *p = field->text, *end = field->text_end;
    if (field->quoted && end - p >= 2 && end[-1] == '"') {
        p++;
        end--;
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        while (p < end && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
    }
    *value = NAN;
    if (is_missing(p, end))
        return VEM_I_MISSING;
    if (vem_i_number_with(p, end, csv->decimal, value) == end)
        return VEM_I_NUMBER;
    if (vem_i_number_word(p, end, value) != end)
        return VEM_I_TEXT;
    return isnan(*value) ? VEM_I_MISSING : VEM_I_NUMBER; /* "-nan" */
}

/* Bytes of a sign that people put between thousands; 0: it is none. */
static int thousands_sign(const char *at)
{
    static const char *const signs[] = {",",
                                        ".",
                                        " ",
                                        "'",
                                        "\xc2\xa0", /* blanks that do not break */
                                        "\xe2\x80\xaf",
                                        "\xe2\x80\x89",  /* a thin one */
                                        "\xe2\x80\x99"}; /* an apostrophe */
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(at, signs[i], strlen(signs[i])) == 0)
            return (int)strlen(signs[i]);
    return 0;
}

/* 1 to 3 digits, then groups of 3 behind the same sign, then decimals or none. */
static int has_thousands(const char *text)
{
    static const char digits[] = "0123456789";
    const char *p = text + (*text == '-' || *text == '+');
    const size_t count = strspn(p, digits);
    const char *sign = p + count;
    const int length = thousands_sign(sign);
    if (count < 1 || count > 3 || !length)
        return 0;
    for (p = sign; strncmp(p, sign, (size_t)length) == 0; p += 3) {
        p += length;
        if (strspn(p, digits) != 3)
            return 0;
    }
    if (*p == '.' || *p == ',') {
        p++;
        p += strspn(p, digits);
    }
    return *p == '\0';
}

vem_i_csv_sign vem_i_csv_sign_of(const vem_i_field *field)
{
    char text[64];
    double value;
    size_t length = vem_i_csv_unquote(field, text, sizeof text);
    if (length >= sizeof text || strlen(text) != length)
        return VEM_I_NO_SIGN;
    const int percent = length > 0 && text[length - 1] == '%';
    length -= (size_t)percent;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    if (percent && length > 1 && memcmp(text + length - 2, "\xc2\xa0", 2) == 0)
        length -= 2;
    text[length] = '\0';
    const char *at = text + strspn(text, " \t"), *end = text + length;
    const int thousands = has_thousands(at);
    if (percent && (thousands || vem_i_number_with(at, end, '.', &value) == end ||
                    vem_i_number_with(at, end, ',', &value) == end))
        return VEM_I_PERCENT;
    return thousands && !percent ? VEM_I_THOUSANDS : VEM_I_NO_SIGN;
}
