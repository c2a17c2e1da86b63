/* Sparse matrices as scipy.sparse.save_npz writes them: arrays format (text), shape, and
 *
 *     csr, csc   indptr, indices, data    entries row by row, or column by column
 *     coo        row, col, data           entries in any order */
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { TOGETHER = 4096 };

typedef enum layout { CSR, CSC, COO, LAYOUTS } layout;
static const char *const layout_names[LAYOUTS] = {"csr", "csc", "coo"};

typedef struct parts {
    vem_i_run *run;
    const char *path;
    layout kind;
    int64_t n, d, entries;
    vem_data *major; /* indptr, or the rows of coo */
    vem_data *minor; /* indices, or the columns of coo */
    vem_data *values;
} parts;

static vem_status get(parts *p, vem_i_npz *npz, const char *name, vem_data **data)
{
    int rank = 0;
    int64_t dims[4] = {1};
    vem_status status = vem_i_npz_get(p->run, npz, name, data, &rank, dims);
    if (status == VEM_BAD_DATA && rank == 1 && dims[0] == 0)
        return vem_i_fail(
            p->run, VEM_BAD_DATA,
            "%s holds a sparse matrix without values: its array %s is empty, "
            "and so are all its rows.",
            p->path, name);
    if (status == VEM_OK && rank != 1)
        status = vem_i_fail(p->run, VEM_BAD_DATA,
                            "Array %s of %s has %d dimensions, but 1 is needed.", name,
                            p->path, rank);
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

static vem_status read_sizes(parts *p, vem_i_npz *npz)
{
    vem_data *shape = NULL;
    char text[8];
    vem_status status = vem_i_npz_text(p->run, npz, "format", text, sizeof text);
    if (status != VEM_OK)
        return status;
    while (p->kind < LAYOUTS && strcmp(layout_names[p->kind], text) != 0)
        p->kind++;
    if (p->kind == LAYOUTS)
        return vem_i_fail(
            p->run, VEM_UNSUPPORTED,
            "%s is a sparse matrix of format %s; vem reads csr, csc and coo.", p->path,
            text);
    status = get(p, npz, "shape", &shape);
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

static vem_status read_arrays(parts *p, vem_i_npz *npz)
{
    vem_status status = get(p, npz, p->kind == COO ? "row" : "indptr", &p->major);
    if (status == VEM_OK)
        status = get(p, npz, p->kind == COO ? "col" : "indices", &p->minor);
    if (status == VEM_OK)
        status = get(p, npz, "data", &p->values);
    if (status != VEM_OK)
        return status;
    const int64_t lines = p->kind == CSR ? p->n : p->d,
                  wanted = p->kind == COO ? p->values->n : lines + 1;
    p->entries = p->values->n;
    if (p->minor->n != p->entries || p->major->n != wanted)
        return vem_i_fail(p->run, VEM_BAD_DATA,
                          "%s is no sparse matrix: the sizes of its arrays do not fit "
                          "each other.",
                          p->path);
    return VEM_OK;
}

/* indptr says where the values of each line begin and the last ones end: from 0 on, never
 * falling, to the number of values. */
static vem_status check_starts(const parts *p)
{
    double starts[TOGETHER];
    int64_t before = 0;
    for (int64_t first = 0; first < p->major->n; first += TOGETHER) {
        const int64_t left = p->major->n - first,
                      count = left < TOGETHER ? left : TOGETHER;
        vem_i_data_load(p->major, first, count, VEM_DOUBLE, starts, 1);
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
    double values[TOGETHER], minor[TOGETHER], major[TOGETHER];
    int64_t line = -1, end = 0; /* of csr and csc: where the line ends */
    for (int64_t first = 0; first < p->entries; first += TOGETHER) {
        const int64_t left = p->entries - first,
                      count = left < TOGETHER ? left : TOGETHER;
        vem_i_data_load(p->values, first, count, VEM_DOUBLE, values, 1);
        vem_i_data_load(p->minor, first, count, VEM_DOUBLE, minor, 1);
        if (p->kind == COO)
            vem_i_data_load(p->major, first, count, VEM_DOUBLE, major, 1);
        for (int64_t i = 0; i < count; i++) {
            /* A mapped file may have changed since it was checked. */
            while (p->kind != COO && first + i >= end && line + 2 < p->major->n)
                end = whole(p->major, ++line + 1);
            const double a = p->kind == COO ? major[i] : (double)line, b = minor[i];
            if (!is_whole(fabs(a)))
                return refuse_index(p, "row", first + i, a);
            if (!is_whole(fabs(b)))
                return refuse_index(p, p->kind == COO ? "col" : "indices", first + i, b);
            const vem_status status =
                take(p, put, (int64_t)a, (int64_t)b, values[i], maker);
            if (status != VEM_OK)
                return status;
        }
        vem_i_residence_check(p->run);
    }
    return VEM_OK;
}

int vem_i_npz_is_sparse(const vem_i_npz *npz)
{
    return vem_i_npz_has(npz, "format") && vem_i_npz_has(npz, "shape") &&
           vem_i_npz_has(npz, "data");
}

vem_status vem_i_npz_get_sparse(vem_i_run *run, const char *path, vem_i_npz *npz,
                                vem_data *data)
{
    parts p = {.run = run, .path = path};
    vem_i_sparse_maker maker = {0};
    vem_status status = read_sizes(&p, npz);
    if (status == VEM_OK)
        status = read_arrays(&p, npz);
    if (status == VEM_OK)
        status = vem_i_sparse_begin(run, path, p.n, p.d, p.entries, &maker);
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
    vem_data_free(p.major);
    vem_data_free(p.minor);
    vem_data_free(p.values);
    if (status == VEM_OK) {
        data->type = VEM_FLOAT64;
        data->n = p.n;
        data->d = (int32_t)p.d;
        data->format = "npz";
    }
    return status;
}
