/* Sparse matrices as scipy.sparse.save_npz writes them: arrays format (text), shape, and
 *
 *     csr, csc   indptr, indices, data    entries row by row, or column by column
 *     coo        row, col, data           entries in any order
 *
 * The entries are read twice, to count those of each row and to put them, and never held beside the
 * rows that are made of them. */
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

typedef enum layout { CSR, CSC, COO, LAYOUTS } layout;
static const char *const layout_names[LAYOUTS] = {"csr", "csc", "coo"};

/* One value after another of the arrays that have one for each entry. */
typedef enum stream_kind { VALUES, MINOR, MAJOR, STREAMS } stream_kind;

typedef struct parts {
    vem_i_run *run;
    const char *path;
    vem_i_npz *npz;
    layout kind;
    int64_t n, d, entries;
    vem_data *starts; /* indptr; NULL: coo */
    vem_i_npz_stream *streams[STREAMS];
} parts;

static const char *name_of(const parts *p, stream_kind kind)
{
    if (kind == VALUES)
        return "data";
    return kind == MAJOR ? "row" : p->kind == COO ? "col" : "indices";
}

static vem_status check_axes(const parts *p, vem_status status, const char *name,
                             int rank, int64_t length)
{
    if (status == VEM_BAD_DATA && rank == 1 && length == 0)
        return vem_i_fail(p->run, VEM_BAD_DATA,
                          "%s holds a sparse matrix without values: its array %s is "
                          "empty, and so are all its rows.",
                          p->path, name);
    if (status == VEM_OK && rank != 1)
        return vem_i_fail(p->run, VEM_BAD_DATA,
                          "Array %s of %s has %d dimensions, but 1 is needed.", name,
                          p->path, rank);
    return status;
}

static vem_status get(const parts *p, const char *name, vem_data **data)
{
    int rank = 0;
    int64_t dims[4] = {1};
    const vem_status status = vem_i_npz_get(p->run, p->npz, name, data, &rank, dims);
    return check_axes(p, status, name, rank, dims[0]);
}

static void close_streams(parts *p)
{
    for (int k = 0; k < STREAMS; k++) {
        vem_i_npz_stream_close(p->streams[k]);
        p->streams[k] = NULL;
    }
}

/* At their first values, and as long as each other. */
static vem_status open_streams(parts *p)
{
    vem_status status = VEM_OK;
    close_streams(p);
    for (int k = 0; status == VEM_OK && k < (p->kind == COO ? STREAMS : MAJOR); k++) {
        const char *name = name_of(p, (stream_kind)k);
        int rank = 0;
        int64_t length = 1;
        status =
            vem_i_npz_stream_open(p->run, p->npz, name, &p->streams[k], &rank, &length);
        status = check_axes(p, status, name, rank, length);
        if (k == VALUES)
            p->entries = length;
        if (status == VEM_OK && length != p->entries)
            status = vem_i_fail(p->run, VEM_BAD_DATA,
                                "%s is no sparse matrix: array %s has %" PRId64
                                " numbers, but there are %" PRId64 " values.",
                                p->path, name, length, p->entries);
    }
    return status;
}

/* Is it one that can be a place or a size? */
static int is_whole(double value)
{
    return value >= 0 && value < 0x1p53 && value == floor(value);
}

/* A whole number of an array; -1: it is none. */
static int64_t whole(const vem_data *data, int64_t at)
{
    double value;
    vem_i_data_load(data, at, 1, VEM_DOUBLE, &value, 1);
    return is_whole(value) ? (int64_t)value : -1;
}

static vem_status read_sizes(parts *p)
{
    vem_data *shape = NULL;
    char text[8];
    vem_status status = vem_i_npz_text(p->run, p->npz, "format", text, sizeof text);
    if (status != VEM_OK)
        return status;
    while (p->kind < LAYOUTS && strcmp(layout_names[p->kind], text) != 0)
        p->kind++;
    if (p->kind == LAYOUTS)
        return vem_i_fail(
            p->run, VEM_UNSUPPORTED,
            "%s is a sparse matrix of format %s; vem reads csr, csc and coo.", p->path,
            text);
    status = get(p, "shape", &shape);
    if (status == VEM_OK && shape->n == 2) {
        p->n = whole(shape, 0);
        p->d = whole(shape, 1);
        if (p->n < 0 || p->d < 0)
            status = vem_i_fail(p->run, VEM_BAD_DATA,
                                "Array shape of %s holds a number that is no number of "
                                "rows or columns.",
                                p->path);
    } else if (status == VEM_OK) {
        status =
            vem_i_fail(p->run, VEM_BAD_DATA,
                       "Array shape of %s has %" PRId64 " numbers, but 2 are needed.",
                       p->path, shape->n);
    }
    vem_data_free(shape);
    return status;
}

/* indptr says where the values of each line begin and the last ones end: from 0 on, never
 * falling, to the number of values. */
static vem_status check_starts(const parts *p)
{
    const int64_t lines = p->kind == CSR ? p->n : p->d;
    double starts[VEM_I_STREAM];
    int64_t before = 0;
    if (p->starts->n != lines + 1)
        return vem_i_fail(p->run, VEM_BAD_DATA,
                          "%s is no sparse matrix: array indptr has %" PRId64
                          " numbers, but "
                          "%" PRId64 " are needed for %" PRId64 " %s.",
                          p->path, p->starts->n, lines + 1, lines,
                          p->kind == CSR ? "rows" : "columns");
    for (int64_t first = 0; first < p->starts->n; first += VEM_I_STREAM) {
        const int64_t left = p->starts->n - first,
                      count = left < VEM_I_STREAM ? left : VEM_I_STREAM;
        vem_i_data_load(p->starts, first, count, VEM_DOUBLE, starts, 1);
        for (int64_t i = 0; i < count; i++) {
            const double start = starts[i];
            if (!is_whole(start))
                return vem_i_fail(p->run, VEM_BAD_DATA,
                                  "Array indptr of %s holds %.10g as number %" PRId64
                                  ", which is no place of a value.",
                                  p->path, start, first + i + 1);
            if (first + i == 0 && start != 0)
                return vem_i_fail(p->run, VEM_BAD_DATA,
                                  "Array indptr of %s does not begin with 0.", p->path);
            if ((int64_t)start < before)
                return vem_i_fail(p->run, VEM_BAD_DATA,
                                  "Array indptr of %s falls: number %" PRId64
                                  " is %" PRId64 ", and the one before it %" PRId64 ".",
                                  p->path, first + i + 1, (int64_t)start, before);
            before = (int64_t)start;
        }
    }
    if (before != p->entries)
        return vem_i_fail(p->run, VEM_BAD_DATA,
                          "Array indptr of %s ends with %" PRId64
                          ", but there are %" PRId64 " values%s.",
                          p->path, before, p->entries,
                          before < p->entries
                              ? " (prune() in scipy leaves out the others)"
                              : "");
    return VEM_OK;
}

static vem_status refuse_index(const parts *p, const char *name, int64_t entry,
                               double value)
{
    return vem_i_fail(p->run, VEM_BAD_DATA,
                      "Array %s of %s holds %.10g as number %" PRId64
                      ", but rows and columns are whole numbers below 2^53.",
                      name, p->path, value, entry + 1);
}

static vem_status take(parts *p, int put, int64_t major, int64_t minor, double value,
                       vem_i_sparse_maker *maker)
{
    const int64_t row = p->kind == CSC ? minor : major,
                  column = p->kind == CSC ? major : minor;
    if (!put)
        return vem_i_sparse_count(maker, row, column, value);
    vem_i_sparse_put(maker, row, column, value);
    return VEM_OK;
}

/* Every entry; those of one line of csr or csc after another. */
static vem_status walk(parts *p, int put, vem_i_sparse_maker *maker)
{
    double some[STREAMS][VEM_I_STREAM];
    int64_t line = -1, end = 0; /* of csr and csc: where the line ends */
    vem_status status = open_streams(p);
    for (int64_t first = 0; status == VEM_OK && first < p->entries;
         first += VEM_I_STREAM) {
        const int64_t left = p->entries - first,
                      count = left < VEM_I_STREAM ? left : VEM_I_STREAM;
        for (int k = 0; status == VEM_OK && k < STREAMS; k++)
            if (p->streams[k])
                status = vem_i_npz_stream_next(p->streams[k], count, some[k]);
        for (int64_t i = 0; status == VEM_OK && i < count; i++) {
            while (p->starts && first + i >= end && line + 2 < p->starts->n)
                end = whole(p->starts, ++line + 1);
            const double a = p->starts ? (double)line : some[MAJOR][i];
            const double b = some[MINOR][i];
            if (!is_whole(fabs(a)))
                status = refuse_index(p, name_of(p, MAJOR), first + i, a);
            else if (!is_whole(fabs(b)))
                status = refuse_index(p, name_of(p, MINOR), first + i, b);
            else
                status = take(p, put, (int64_t)a, (int64_t)b, some[VALUES][i], maker);
        }
        vem_i_residence_check(p->run);
    }
    return status;
}

int vem_i_npz_is_sparse(const vem_i_npz *npz)
{
    return vem_i_npz_has(npz, "format") && vem_i_npz_has(npz, "shape") &&
           vem_i_npz_has(npz, "data");
}

vem_status vem_i_npz_get_sparse(vem_i_run *run, const char *path, vem_i_npz *npz,
                                vem_data *data)
{
    parts p = {.run = run, .path = path, .npz = npz};
    vem_i_sparse_maker maker = {0};
    vem_status status = read_sizes(&p);
    if (status == VEM_OK)
        status = open_streams(&p); /* which says how many entries there are */
    if (status == VEM_OK)
        status = vem_i_sparse_begin(run, path, p.n, p.d, p.entries, &maker);
    if (status == VEM_OK && p.kind != COO)
        status = get(&p, "indptr", &p.starts);
    if (status == VEM_OK && p.kind != COO)
        status = check_starts(&p);
    if (status == VEM_OK)
        status = walk(&p, 0, &maker);
    if (status == VEM_OK)
        status = vem_i_sparse_allot(&maker);
    if (status == VEM_OK)
        status = walk(&p, 1, &maker);
    if (status == VEM_OK)
        status = vem_i_sparse_end(&maker, &data->sparse);
    vem_i_sparse_maker_free(&maker);
    close_streams(&p);
    vem_data_free(p.starts);
    if (status == VEM_OK) {
        data->type = VEM_FLOAT64;
        data->n = p.n;
        data->d = (int32_t)p.d;
        data->format = "npz";
    }
    return status;
}
