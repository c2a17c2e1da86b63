/* Rows as stored: in memory, borrowed, or mapped from a file. Readers in src/io fill this
 * in; nothing after vem_i_data_load asks what the dtype, the order or the file format
 * was. */
#ifndef VEM_DATA_DATA_H
#define VEM_DATA_DATA_H

#include "base/names.h"
#include "base/residence.h"
#include "data/sparse.h"

/* The text of the id columns, for all rows that were read. Everything is owned. */
typedef struct vem_i_ids {
    int32_t count;   /* columns */
    char **names;    /* in one block; NULL: no header */
    int64_t *places; /* rows x count: where in `text` one begins; it ends with a NUL */
    char *text;      /* in the block of `places` */
    vem_i_mapping *spill; /* the block rests in this file; NULL: from vem_i_alloc */
} vem_i_ids;
void vem_i_ids_free(vem_i_ids *ids);

/* One of several files that were read as one. */
typedef struct vem_i_part {
    int64_t first; /* its first row */
    char *name;    /* owned */
    vem_header header;
    char decimal;
} vem_i_part;

struct vem_data {
    vem_dtype type;
    int swapped; /* bytes of a value are in the other order */
    int64_t n;
    int32_t d;        /* columns after --columns and --id */
    const char *base; /* row 0, column 0 as stored */
    vem_i_sparse
        sparse; /* or rows of which zeros are left out; then there is no base. Owned */
    int64_t row_stride;    /* bytes */
    int64_t column_stride; /* bytes */
    int32_t *columns;      /* stored column of column j; NULL: j. Owned. */
    int32_t *numbers;      /* column of the file that column j was, from 1, for messages;
                              NULL: `columns` tells, or it is j + 1. Owned. */
    double *weights;       /* owned; NULL: all 1 */
    int64_t *indices;      /* of a coreset: the row that row i was. Owned; NULL: none */
    int64_t *kept;         /* which of the rows read row i was. Owned; NULL: the same */
    vem_i_mapping *kept_spill; /* the file that `kept` rests in; NULL: memory. Owned */
    int64_t rows_read;         /* where `kept` is, with the rows left out */
    int64_t missing;           /* values that were missing */
    double *means;             /* d: what they became. Owned; NULL: nothing */
    vem_header header;         /* of a text table; AUTO: it was none */
    char decimal;              /* of a text table; 0: it was none */
    const char **advice;       /* d sentences, static, or NULL. Owned; NULL: none */
    vem_i_ids *ids;            /* text of the id columns. Owned; NULL: none */
    char **names;              /* d column names in one block, owned; NULL: none */
    char **id_names; /* of the columns left out as ids, one block, owned; NULL: none */
    int32_t id_name_count;
    char *picked, *picked_id; /* how columns were asked for. Owned; NULL: not */
    struct vem_i_part *parts; /* the files that are one here. Owned; NULL: one file */
    int32_t part_count;
    struct vem_data *
        *pieces;            /* or the rows of each of them lie there, and there is no base
                                 (data_pieces.c). Owned */
    const char *format;     /* static string: "npy", "csv", ... */
    void *owned;            /* memory from vem_i_alloc to free, or NULL */
    vem_i_mapping *mapping; /* the file the values lie in, or NULL. Owned. */
};

/* The names of its columns, borrowed. */
vem_i_names vem_i_data_table(const vem_data *data);
/* They become those of `table`, whose memory is taken over (picked and means too). */
void vem_i_data_take_table(vem_data *data, vem_i_names *table);
/* Are these the type and the sizes of rows? */
vem_status vem_i_sizes_check(vem_i_run *run, vem_dtype type, int64_t n, int32_t d);
/* A zeroed handle, for readers. */
vem_status vem_i_data_new(vem_i_run *run, vem_data **data);
/* Free what the data own, but not the handle. */
void vem_i_data_release(vem_data *data);
/* A mapped file will not be read for a while: its pages need not stay in memory. */
void vem_i_data_rest(const vem_data *data);
/* Check n weights (`source` names them in messages) and keep a copy. */
vem_status vem_i_data_weigh(vem_i_run *run, vem_data *data, const char *source,
                            const double *weights, int64_t n);
/* Rows first .. first+count-1 as float or double (by `to`), ld elements apart in `out`.
 * Converts and swaps; checks nothing. Safe from parallel tasks. */
void vem_i_data_load(const vem_data *data, int64_t first, int64_t count, vem_precision to,
                     void *out, int64_t ld);
/* Number of a column in the file it came from, from 1. */
int32_t vem_i_data_column_number(const vem_data *data, int32_t column);
/* Values that are stored of a row, at least 1: d, or of sparse rows how many on average. */
static inline int64_t vem_i_data_row_values(const vem_data *data)
{
    const int64_t values =
        data->sparse.starts ? data->sparse.starts[data->n] / data->n : data->d;
    return values < 1 ? 1 : values;
}

/* Number of a row of the data that were read, from 0: a coreset knows where its rows are
 * from. */
int64_t vem_i_data_row_number(const vem_data *data, int64_t row);
/* "Row 3, column 2 (height)" for messages; `number` counts from 0. */
void vem_i_data_place(const vem_data *data, int64_t number, int32_t column, char *text,
                      size_t size);
/* The values of a row as stored, side by side and in this machine's byte order. */
void vem_i_data_copy_row(const vem_data *data, int64_t row, char *out);
/* Bytes of one stored value. */
size_t vem_i_dtype_bytes(vem_dtype type);
/* Is single precision the usual arithmetic for such values? It holds every one of them. */
int vem_i_dtype_is_single(vem_dtype type);

/* Of rows that lie in pieces. They are freed, and there are none. */
void vem_i_pieces_free(vem_data *data);
/* Who has a row, and which row it is there. */
const vem_data *vem_i_piece_of(const vem_data *data, int64_t row, int64_t *local);
/* vem_i_data_load. */
void vem_i_pieces_load(const vem_data *data, int64_t first, int64_t count,
                       vem_precision to, void *out, int64_t ld);
/* Rows of floats, packed and in this machine's byte order: where they lie, or copied to `scratch`. */
const char *vem_i_pieces_rows(const vem_data *data, int64_t first, int64_t count,
                              void *scratch);

#endif
