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
    int lines_before; /* `begin`: 1, if a line "sep=;" is left out */
    char separator;
    char decimal;    /* '.' or ',' */
    int quotes;      /* there is a '"' somewhere, so lines must be walked with care */
    int32_t stored;  /* fields in a line */
    int32_t d;       /* fields kept */
    int32_t *target; /* column in the result of a stored field; -1: skipped */
    char **names;    /* of the stored fields, one block; NULL: no header */
    /* Not NULL: what is no number is NaN. For each column that is kept, which advice its texts
     * called for, as bits, which do not depend on the order in which rows are read. */
    uint16_t *met;
    int counts;              /* a mean can stand for no value */
    vem_header header;       /* as asked for */
    const vem_i_names *like; /* whose columns are wanted; NULL: no one's */
    vem_i_columns columns;
    int32_t *slot; /* which id a stored field is; -1: none. NULL: ids are not kept */
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
/* What a field holds. A missing value is NaN in *value; words of `vem_missing`. */
typedef enum vem_i_csv_kind {
    VEM_I_TEXT = 0,
    VEM_I_NUMBER,
    VEM_I_MISSING
} vem_i_csv_kind;
vem_i_csv_kind vem_i_csv_kind_of(const vem_i_csv *csv, const vem_i_field *field,
                                 double *value);
/* Of a text that would be a number without a sign in it: which sign? */
typedef enum vem_i_csv_sign {
    VEM_I_NO_SIGN = 0,
    VEM_I_PERCENT,  /* 12 % */
    VEM_I_THOUSANDS /* 1,234,567 or 1 234.5 */
} vem_i_csv_sign;
vem_i_csv_sign vem_i_csv_sign_of(const vem_i_field *field);

/* ---- csv_sniff.c: what kind of table it is ---- */

/* Leaves out what is in front of the table: a byte order mark, and a line "sep=;" as spreadsheets
 * write and understand it, which sets the separator. */
void vem_i_csv_skip_marks(vem_i_csv *csv);
/* Where csv->decimal is ',', that is no separator. */
char vem_i_csv_sniff(const vem_i_csv *csv);
/* The decimal sign of a table whose separator is known. */
char vem_i_csv_sniff_decimal(const vem_i_csv *csv);

/* ---- csv_header.c: the first row, and which columns are kept ---- */

/* `first` is the first row: fills in rows, stored, d, columns, names. */
vem_status vem_i_csv_head(vem_i_run *run, vem_i_csv *csv, const char *first,
                          const char *columns, const char *id);
/* The fields of the row at `first` as names, in one block of memory, and how many. */
vem_status vem_i_csv_names(vem_i_run *run, const vem_i_csv *csv, const char *first,
                           char ***names, int32_t *count);
/* The names of `count` columns in one block of memory. */
vem_status vem_i_csv_some_names(vem_i_run *run, const vem_i_csv *csv,
                                const int32_t *which, int32_t count, char ***names);

/* ---- csv_ids.c: the text of id columns ---- */

/* Bytes that the ids of the row at `at` take, and to put them at *out, which has room up to
 * `room`: their places, from `text` on, and how far *out moved on. 0: there is no room. */
int64_t vem_i_csv_id_bytes(const vem_i_csv *csv, const char *at);
int vem_i_csv_put_ids(const vem_i_csv *csv, const char *at, const char *text, char **out,
                      const char *room, int64_t *places);
/* Room for so many rows and bytes of text. */
vem_status vem_i_csv_ids_new(vem_i_run *run, const vem_i_csv *csv, int64_t rows,
                             int64_t bytes, vem_i_ids **ids);

/* ---- csv_rows.c: the values ---- */

/* Where the values of some rows go, and what became of them. The file may change at any
 * moment, so that the second look finds more than the first: nothing goes beyond `rows` rows
 * and `room`. */
typedef struct vem_i_csv_part {
    int64_t rows;      /* that were counted */
    int64_t id_bytes;  /* and what their ids take */
    double *values;    /* rows x d */
    int64_t *places;   /* of the ids; NULL: they are not kept */
    const char *text;  /* that places count from */
    char *out;         /* where the first id goes */
    const char *room;  /* and where the last must end */
    const char *wrong; /* the first row that is wrong, or NULL */
    int64_t wrong_row; /* its number in this part */
    int64_t missing;   /* values */
    int changed;       /* there are not as many rows or bytes as were counted */
} vem_i_csv_part;

/* Rows that begin in [at, end): fills in how many, and id_bytes. `end` is the beginning of a
 * line. */
void vem_i_csv_count(const vem_i_csv *csv, const char *at, const char *end,
                     vem_i_csv_part *part);
/* Their values, up to the first that is wrong. */
void vem_i_csv_values(const vem_i_csv *csv, const char *at, const char *end,
                      vem_i_csv_part *part);
/* The sentence that may make numbers of such texts; NULL: there is none. */
const char *vem_i_csv_advice(uint16_t met);
/* The first column of the row that begins at `at` with a text where a number should be, and its
 * field; -1: there is none. */
int32_t vem_i_csv_text_of(const vem_i_csv *csv, const char *at, vem_i_field *field);
/* The sentence for that row, the row'th from 0. `advice`: what comes after the one that says that a
 * text is not a number; NULL: what is usual. */
vem_status vem_i_csv_explain(vem_i_run *run, const vem_i_csv *csv, const char *at,
                             int64_t row, const char *advice);

/* ---- csv_text.c: the same of a text where a number should be, with what may help ---- */

vem_status vem_i_csv_explain_text(vem_i_run *run, const vem_i_csv *csv, const char *at,
                                  int64_t row);

#endif
