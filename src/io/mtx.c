/* Matrix Market: text that begins with
 *
 *     %%MatrixMarket matrix coordinate real|integer|unsigned-integer|pattern general
 *
 * then comments (%), then rows, columns and entries, then a line for each entry: row, column
 * (both from 1) and, but for pattern, value. It is read twice: to count the entries of each row,
 * and to put them. */
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "io/number.h"

typedef struct parser {
    vem_i_run *run;
    const char *name, *at, *end;
    int64_t line;
    int pattern, integer; /* what the first line says of values */
} parser;

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(parser *p)
{
    while (p->at < p->end && is_blank(*p->at))
        p->at++;
}

/* To the next line that says something. 0: there is none. */
static int next_line(parser *p)
{
    for (;;) {
        skip_blanks(p);
        if (p->at == p->end)
            return 0;
        if (*p->at != '\n' && *p->at != '%')
            return 1;
        const char *line = memchr(p->at, '\n', (size_t)(p->end - p->at));
        p->at = line ? line + 1 : p->end;
        p->line++;
    }
}

/* A whole number that may be an index or a size; -1: there is none. */
static int64_t whole(parser *p)
{
    int64_t value = 0;
    skip_blanks(p);
    const char *first = p->at;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p->at - '0', &value))
            return -1;
    return p->at > first ? value : -1;
}

static int line_ends(parser *p)
{
    skip_blanks(p);
    return p->at == p->end || *p->at == '\n';
}

/* The words of the first line, in any case. */
static vem_status read_banner(parser *p)
{
    static const char *const fields[] = {"pattern", "real", "integer",
                                         "unsigned-integer" /* scipy's */};
    char words[5][32] = {{0}};
    int found = 0;
    while (found < 5 && !line_ends(p)) {
        size_t length = 0;
        for (; p->at < p->end && !is_blank(*p->at) && *p->at != '\n'; p->at++)
            if (length < sizeof words[0] - 1)
                words[found][length++] =
                    (char)(*p->at | (*p->at >= 'A' && *p->at <= 'Z' ? 0x20 : 0));
        found++;
    }
    if (found < 5 || strcmp(words[0], "%%matrixmarket") != 0 || !line_ends(p))
        return vem_i_fail(p->run, VEM_BAD_DATA,
                          "%s is no Matrix Market file: its first line does not begin "
                          "with %%%%MatrixMarket and have four more words.",
                          p->name);
    if (strcmp(words[1], "matrix") != 0 || strcmp(words[2], "coordinate") != 0 ||
        strcmp(words[4], "general") != 0)
        return vem_i_fail(p->run, VEM_UNSUPPORTED,
                          "%s holds a %s %s that is %s; vem reads a matrix coordinate "
                          "that is general.",
                          p->name, words[1], words[2], words[4]);
    for (int i = 0; i < 4; i++)
        if (strcmp(words[3], fields[i]) == 0) {
            p->pattern = i == 0;
            p->integer = i >= 2;
            return VEM_OK;
        }
    return vem_i_fail(p->run, VEM_UNSUPPORTED,
                      "%s holds values that are %s; vem reads real, integer, "
                      "unsigned-integer and pattern.",
                      p->name, words[3]);
}

static vem_status refuse_line(const parser *p, const char *what)
{
    return vem_i_fail(p->run, VEM_BAD_DATA, "%s, line %" PRId64 " %s.", p->name, p->line,
                      what);
}

/* nan or inf, in any case, with or without a sign. */
static int is_no_value(const parser *p)
{
    const char *at = p->at + (p->at < p->end && (*p->at == '-' || *p->at == '+'));
    return p->end - at >= 3 &&
           (strncasecmp(at, "nan", 3) == 0 || strncasecmp(at, "inf", 3) == 0);
}

/* All entries, from the line after the sizes on. */
static vem_status walk(parser *p, int64_t entries, int put, vem_i_sparse_maker *maker)
{
    for (int64_t e = 0; e < entries; e++) {
        double value = 1;
        if (!next_line(p))
            return vem_i_fail(p->run, VEM_BAD_DATA,
                              "%s is truncated: it says that it has %" PRId64
                              " values, but ends after %" PRId64 ".",
                              p->name, entries, e);
        const int64_t row = whole(p), column = row < 0 ? -1 : whole(p);
        if (column < 0)
            return refuse_line(p, "does not begin with a row and a column, from 1");
        skip_blanks(p);
        if (!p->pattern) {
            const char *after = vem_i_number_with(p->at, p->end, '.', &value);
            if (!after && is_no_value(p))
                return refuse_line(p, "holds no number after row and column, but NaN or "
                                      "an infinite value: what sparse rows leave out is "
                                      "0, and all else has to be a number");
            if (!after)
                return refuse_line(p, "has no number after row and column");
            if (p->integer && isfinite(value) && fabs(value) >= 0x1p53)
                return refuse_line(
                    p, "holds a whole number of 2^53 or more, of which double "
                       "precision has not each one; real in the first "
                       "line lets it be rounded");
            p->at = after;
        }
        if (!line_ends(p))
            return refuse_line(p, "goes on after its value");
        if (put) {
            vem_i_sparse_put(maker, row - 1, column - 1, value);
        } else {
            const vem_status status =
                vem_i_sparse_count(maker, row - 1, column - 1, value);
            if (status != VEM_OK)
                return status;
        }
        if (e % 4096 == 0)
            vem_i_residence_check(p->run);
    }
    return next_line(p) ? refuse_line(p, "comes after the last value that was announced")
                        : VEM_OK;
}

vem_status vem_i_mtx_parse(vem_i_run *run, const char *name, const char *bytes,
                           size_t size, vem_data *data)
{
    parser p = {.run = run, .name = name, .at = bytes, .end = bytes + size, .line = 1};
    vem_i_sparse_maker maker = {0};
    vem_status status = read_banner(&p);
    if (status != VEM_OK)
        return status;
    if (!next_line(&p))
        return vem_i_fail(run, VEM_BAD_DATA, "%s is truncated: it ends before its sizes.",
                          name);
    const int64_t n = whole(&p), d = n < 0 ? -1 : whole(&p),
                  entries = d < 0 ? -1 : whole(&p);
    if (entries < 0 || !line_ends(&p))
        return refuse_line(&p,
                           "does not say how many rows, columns and values there are");
    /* "1 1\n" is the shortest. */
    if (entries > (int64_t)((size + 1) / 4))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s says that it has %" PRId64
                          " values, but its %zu bytes cannot hold them.",
                          name, entries, size);
    status = vem_i_sparse_begin(run, name, n, d, entries, &maker);
    const parser first = p;
    if (status == VEM_OK)
        status = walk(&p, entries, 0, &maker);
    if (status == VEM_OK)
        status = vem_i_sparse_allot(&maker);
    p = first;
    if (status == VEM_OK)
        status = walk(&p, entries, 1, &maker);
    if (status == VEM_OK)
        status = vem_i_sparse_end(&maker, &data->sparse);
    vem_i_sparse_maker_free(&maker);
    if (status == VEM_OK) {
        data->type = VEM_FLOAT64;
        data->n = n;
        data->d = (int32_t)d;
        data->format = "mtx";
    }
    return status;
}
