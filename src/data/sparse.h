/* Rows of which only the values other than 0 are kept, one row after another (vem_i_sparse in
 * kernels/kernels.h): making and reading them. */
#ifndef VEM_DATA_SPARSE_H
#define VEM_DATA_SPARSE_H

#include "kernels/kernels.h"

/* The same from row `first` on. */
static inline vem_i_sparse vem_i_sparse_from(vem_i_sparse s, int64_t first)
{
    if (s.starts) {
        s.starts += first;
        s.ends += first;
    }
    return s;
}

/* Entries of n rows. */
static inline int64_t vem_i_sparse_entries(vem_i_sparse s, int64_t n)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < n; i++)
        entries += s.ends[i] - s.starts[i];
    return entries;
}

/* Row i of d values. */
static inline void vem_i_sparse_widen(const vem_i_sparse *s, int64_t i, int32_t d,
                                      double *row)
{
    for (int32_t j = 0; j < d; j++)
        row[j] = 0;
    for (int64_t e = s->starts[i]; e < s->ends[i]; e++)
        row[s->columns[e]] = vem_i_sparse_value(s, e);
}

/* Made in two passes over whatever holds the entries, in any order: `count` each, `allot`, `put`
 * each, `end`. */
typedef struct vem_i_sparse_maker {
    vem_i_run *run;
    const char *name; /* for messages */
    int64_t n, count; /* rows, entries so far */
    int32_t d;
    int ones, small, narrow; /* all values are 1, or bytes, or floats */
    uint64_t first, second;  /* sums of all that was counted, and of all that was put */
    int64_t *starts;
    int32_t *columns;
    uint8_t *bytes;
    float *values;
    double *wide;
} vem_i_sparse_maker;

/* Sizes as a file says them, of `entries` that it can hold. On failure free it as well. */
vem_status vem_i_sparse_begin(vem_i_run *run, const char *name, int64_t n, int64_t d,
                              int64_t entries, vem_i_sparse_maker *maker);
/* row and column from 0; refused where they are not there, or the value is not finite. */
vem_status vem_i_sparse_count(vem_i_sparse_maker *maker, int64_t row, int64_t column,
                              double value);
vem_status vem_i_sparse_allot(vem_i_sparse_maker *maker);
void vem_i_sparse_put(vem_i_sparse_maker *maker, int64_t row, int64_t column,
                      double value);
/* Sorts the rows. Two entries in one place are refused, and so are passes that did not meet the same
 * entries in the same order. The arrays are the caller's. */
vem_status vem_i_sparse_end(vem_i_sparse_maker *maker, vem_i_sparse *sparse);
void vem_i_sparse_maker_free(vem_i_sparse_maker *maker);

#endif
