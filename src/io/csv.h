/* Text tables: what the files csv*.c share.
 *
 * A line is a row unless it is blank or begins with '#'. Fields are parted by one
 * separator, or (separator ' ') by any run of blanks. Blanks around a field do not count.
 * A field that begins with '"' runs to the next single '"' ("" stands for one quote) and
 * may hold separators and line ends; quotes elsewhere are text. */
#ifndef VEM_IO_CSV_H
#define VEM_IO_CSV_H

#include "io/io.h"

typedef struct vem_i_csv {
    const char *name; /* for messages */
    const char *begin, *end;
    const char *rows; /* the first line behind the header */
    char separator;
    int quotes;      /* there is a '"' somewhere, so lines must be walked with care */
    int32_t stored;  /* fields in a line */
    int32_t d;       /* fields kept */
    int32_t *target; /* column in the result of a stored field; -1: skipped */
    char **names;    /* of the stored fields, one block; NULL: no header */
} vem_i_csv;

/* One field of a line. */
typedef struct vem_i_field {
    const char *text; /* without blanks around it; with its quotes, if quoted */
    const char *text_end;
    int quoted;
    int closed; /* 0: quoted, and the file ends before the quote does */
    const char
        *next; /* where the next field begins; NULL: this was the last of the line */
    const char *line_end; /* when next is NULL: at the '\n', or the end of the file */
} vem_i_field;

/* ---- csv_lines.c: where lines and fields begin and end ---- */

vem_i_field vem_i_csv_field(const vem_i_csv *csv, const char *at);
/* At the '\n' that ends the line that begins at `at`, or the end of the file. */
const char *vem_i_csv_line_end(const vem_i_csv *csv, const char *at);
/* The next line from `at` on that is a row, or the end of the file. */
const char *vem_i_csv_next_row(const vem_i_csv *csv, const char *at);
int32_t vem_i_csv_field_count(const vem_i_csv *csv, const char *at);
/* Unquoted copy, cut to fit, NUL-terminated; its length (before cutting). */
size_t vem_i_csv_unquote(const vem_i_field *field, char *out, size_t capacity);
/* The field's number; 0 if it is not exactly one. */
int vem_i_csv_number(const vem_i_field *field, double *value);

/* ---- csv_sniff.c: what kind of table it is ---- */

char vem_i_csv_sniff(const vem_i_csv *csv);

/* ---- csv_rows.c: the values ---- */

/* Rows that begin in [at, end): how many. `end` is the beginning of a line. */
int64_t vem_i_csv_count(const vem_i_csv *csv, const char *at, const char *end);
/* Their values into `out`, packed. NULL, or the beginning of the first row that is wrong.
 */
const char *vem_i_csv_values(const vem_i_csv *csv, const char *at, const char *end,
                             double *out);
/* The sentence for the row that begins at `at`, the row'th from 0. */
vem_status vem_i_csv_explain(vem_ctx *ctx, const vem_i_csv *csv, const char *at,
                             int64_t row);

#endif
