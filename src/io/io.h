/* Readers and writers. One file per format; each reader fills a vem_data.
 *
 * A reader is found by the ending of the path, checks that the file is what it claims to
 * be (sizes against the file's length, with 64-bit checked products) and maps it where
 * the format allows. Messages name the file, and the row and column where there is one.
 */
#ifndef VEM_IO_IO_H
#define VEM_IO_IO_H

#include <stdio.h>

#include "base/run.h"
#include "base/system.h"
#include "data/data.h"

/* ---- Files (file.c, output.c) ---- */

/* A file under construction. It has no name until commit gives it one (or, where the
 * system cannot do that, a temporary name beside `path`), so that a reader sees the old
 * file or the whole new one. A target that is no regular file (a pipe, /dev/stdout) gets
 * the bytes at commit, in one go. */
typedef struct vem_i_output vem_i_output;
vem_status vem_i_output_open(vem_i_run *run, const char *path, vem_i_output **output);
/* Can seek, always. What goes to a path that ends with .gz is compressed at commit. */
FILE *vem_i_output_stream(vem_i_output *output);
/* Flush, sync, rename; frees `output` in any case. On failure the temporary file is gone
 * and the old file untouched. */
vem_status vem_i_output_commit(vem_i_run *run, vem_i_output *output);
void vem_i_output_cancel(vem_i_output *output);

/* All of one stream to the other, compressed. 0: it failed. (gzip.c) */
int vem_i_gzip(FILE *from, FILE *to);

/* A whole file in memory or mapped, read-only. */
typedef struct vem_i_file {
    const char *bytes;
    size_t size;
    vem_i_mapping *mapping; /* NULL: `bytes` is from vem_i_alloc */
} vem_i_file;
vem_status vem_i_file_open(vem_i_run *run, const char *path, vem_i_file *file);
/* What a file compressed by gzip holds, in memory, or in a temporary file where that is too
 * small. */
vem_status vem_i_file_inflate(vem_i_run *run, const char *path, vem_i_file *file);
vem_status vem_i_file_from_stdin(vem_i_run *run, vem_i_file *file);
void vem_i_file_close(vem_i_file *file);
/* From now on `data` keeps the bytes alive. */
void vem_i_file_give(vem_i_file *file, vem_data *data);

/* Does the path end so, whatever the case? `ending` with its dot. */
int vem_i_path_ends(const char *path, const char *ending);
int vem_i_big_endian(void);

/* ---- Parsers ---- */

/* Parsers over bytes already in hand: what the fuzz targets call. `name` is for messages.
 * On success `data` borrows from `bytes` where it can (base points into it) or owns a
 * copy; on failure it owns nothing. separator 0: found from the first lines. */
vem_status vem_i_npy_parse(vem_i_run *run, const char *name, const char *bytes,
                           size_t size, vem_data *data);
vem_status vem_i_csv_parse(vem_i_run *run, const char *name, const char *bytes,
                           size_t size, char separator, const vem_read_options *options,
                           vem_data *data);
/* As vem_classes_read_column; all memory is from malloc. */
typedef struct vem_i_classes {
    int64_t *classes, n;
    char *column; /* that they were taken from; NULL: there is but one */
} vem_i_classes;
vem_status vem_i_classes_parse(vem_i_run *run, const char *name, const char *bytes,
                               size_t size, char separator, int64_t rows,
                               const char *column, vem_i_classes *out);
vem_status vem_i_vecs_parse(vem_i_run *run, const char *name, const char *bytes,
                            size_t size, vem_dtype type, vem_data *data);
vem_status vem_i_bin_parse(vem_i_run *run, const char *name, const char *bytes,
                           size_t size, vem_dtype type, vem_data *data);
vem_status vem_i_mtx_parse(vem_i_run *run, const char *name, const char *bytes,
                           size_t size, vem_data *data);
/* `tensor`: its name; NULL: the only one, or the only one of two axes. */
vem_status vem_i_safetensors_parse(vem_i_run *run, const char *name, const char *bytes,
                                   size_t size, const char *tensor, vem_data *data);
vem_status vem_i_hdf5_read(vem_i_run *run, const char *file, const char *dataset,
                           vem_data *data);

/* --columns and --id resolved to columns of the file, from 0. */
typedef struct vem_i_columns {
    int32_t *chosen; /* to keep, in order; NULL: all. From vem_i_alloc, as `ids` */
    int32_t count;
    int32_t *ids; /* in the order they were named */
    int32_t id_count;
} vem_i_columns;
/* `names` are the `stored` names of the file's columns, or NULL. */
vem_status vem_i_columns_resolve(vem_i_run *run, const char *name, const char *columns,
                                 const char *id, char *const *names, int32_t stored,
                                 vem_i_columns *found);
/* The columns that `like` has (NULL: as above). By name where both have names: in its order,
 * without what it does not have; else as many. */
vem_status vem_i_columns_like(vem_i_run *run, const char *name, const vem_i_names *like,
                              const char *columns, const char *id, char *const *names,
                              int32_t stored, vem_i_columns *found);
void vem_i_columns_free(vem_i_columns *columns);

/* ---- .npy and .npz ---- */

/* What the header of an .npy says; dims[0 .. rank-1]. */
typedef struct vem_i_npy {
    vem_dtype type;
    int swapped;
    int fortran;
    int rank;
    int64_t dims[4];
    const char *values;
    size_t bytes; /* of the values */
} vem_i_npy;
/* Checks the header and that the values are all there. */
vem_status vem_i_npy_open(vem_i_run *run, const char *name, const char *bytes,
                          size_t size, vem_i_npy *npy);
/* The .npy header for an array, C order, little-endian, padded with spaces to 64 bytes and
 * `blocks` times 64 more (0, or with rank 1 up to 2); its length. */
size_t vem_i_npy_header(vem_dtype type, int rank, const int64_t dims[4], int blocks,
                        char out[256]);

/* Arrays of an .npz, by name. */
typedef struct vem_i_npz vem_i_npz;
vem_status vem_i_npz_open(vem_i_run *run, const char *path, vem_i_npz **npz);
/* `bytes` must outlive the handle. */
vem_status vem_i_npz_parse(vem_i_run *run, const char *name, const void *bytes,
                           size_t size, vem_i_npz **npz);
int vem_i_npz_has(const vem_i_npz *npz, const char *name);
/* The array's values in memory from vem_i_alloc, as a vem_data that owns them.
 * dims[0..*rank-1], rank <= 4, also where it is refused because one of them is 0. A rank-1 array has n = its length, d = 1; higher ranks
 * fold into n x (rest). */
vem_status vem_i_npz_get(vem_i_run *run, vem_i_npz *npz, const char *name,
                         vem_data **data, int *rank, int64_t dims[4]);
/* An array of one axis that is read from its first value to the last, and not held: up to
 * VEM_I_STREAM values at a time, no more than there are. With the last ones it is known that all of
 * them are right. rank and length (of the first axis) are told where it has no values, too. */
enum { VEM_I_STREAM = 4096 };
typedef struct vem_i_npz_stream vem_i_npz_stream;
vem_status vem_i_npz_stream_open(vem_i_run *run, const vem_i_npz *npz, const char *name,
                                 vem_i_npz_stream **stream, int *rank, int64_t *length);
vem_status vem_i_npz_stream_next(vem_i_npz_stream *stream, int64_t count, double *values);
void vem_i_npz_stream_close(vem_i_npz_stream *stream);
/* The text of an array of one string. */
vem_status vem_i_npz_text(vem_i_run *run, vem_i_npz *npz, const char *name, char *out,
                          size_t size);
/* Are there the arrays of a sparse matrix as scipy writes it, and its rows (npz_sparse.c). */
int vem_i_npz_is_sparse(const vem_i_npz *npz);
vem_status vem_i_npz_get_sparse(vem_i_run *run, const char *path, vem_i_npz *npz,
                                vem_data *data);
void vem_i_npz_close(vem_i_npz *npz);

/* One array for vem_i_npz_write. */
typedef struct vem_i_array {
    const char *name;
    vem_dtype type;
    const void *values;
    int rank;
    int64_t dims[4];
} vem_i_array;
/* Stored, not compressed; the same arrays give the same bytes. */
vem_status vem_i_npz_write(vem_i_run *run, const char *path, const vem_i_array *arrays,
                           int count);

/* ---- Trees of centres (hierarchy_file.c) ---- */

/* .npz: vectors, parents, levels; .csv: id, parent, vector. */
/* vem_labels_write_rows. */
vem_status vem_i_labels_write(vem_i_run *run, const char *path, const vem_data *data,
                              const int32_t *labels, int64_t n);
vem_status vem_i_centres_write(vem_i_run *run, const char *path, int32_t nodes, int32_t d,
                               const double *vectors, const int32_t *parents,
                               const int32_t *levels);

/* ---- Labels (labels.c, results.c) ---- */

/* What one number a row means: the cluster that was found, or the class that was known
 * before. Our files of either kind say so, lest one replaces the other: a table by its
 * header, an .npy by the spaces behind its header, so many blocks of 64 bytes more than are
 * needed. The format allows them, and nobody else writes them. */
typedef enum vem_i_labelling {
    VEM_I_NOT_OURS = 0,
    VEM_I_LABELS,
    VEM_I_CLASSES
} vem_i_labelling;
/* The first line of the table, without columns of ids. */
const char *vem_i_labelling_header(vem_i_labelling kind);

/* A text table (compressed, from a pipe or standard input, too), opened once. *separator is 0
 * where the lines decide. Anything else is not opened: *is_text is 0. */
vem_status vem_i_text_open(vem_i_run *run, const char *path, vem_i_file *file,
                           char *separator, int *is_text);

/* ---- Models inside an .npz (model_file.c) ---- */

struct vem_model;
/* The model in `npz`, checked. */
vem_status vem_i_model_get(vem_i_run *run, const char *path, vem_i_npz *npz,
                           struct vem_model **model);
/* Are there the arrays of a model? Those of a family without variances need meta to tell it. */
int vem_i_npz_is_model(const vem_i_npz *npz);
/* Means, weights and, where there are, variances and scale; how many. */
enum { VEM_I_MODEL_ARRAYS = 4 };
int vem_i_model_arrays(const struct vem_model *model,
                       vem_i_array arrays[VEM_I_MODEL_ARRAYS]);
/* As vem_labels_write, with one id for each row beside it (NULL: none), under a name (NULL: id_1). */
vem_status vem_i_labels_write_ids(vem_i_run *run, const char *path, const int32_t *labels,
                                  int64_t n, const char *const *ids, const char *name);

/* The model as a file, with up to VEM_I_MORE_ARRAYS arrays beside it that readers of models do not
 * look at. */
enum { VEM_I_MORE_ARRAYS = 16 };
vem_status vem_i_model_write(vem_i_run *run, const struct vem_model *model,
                             const char *path, const vem_i_array *more, int more_count);
/* An array as doubles, from vem_i_alloc. */
vem_status vem_i_npz_doubles(vem_i_run *run, vem_i_npz *npz, const char *name, int *rank,
                             int64_t dims[4], double **values);
/* Does it hold a tree of merges? (tree_file.c) */
int vem_i_npz_is_tree(const vem_i_npz *npz);
/* Does it hold the statistics of some rows, beside a model? */
int vem_i_npz_is_stats(const vem_i_npz *npz);
/* As vem_stats_read, for use inside a verb that has begun. */
vem_status vem_i_stats_read(vem_i_run *run, const char *path, vem_stats **stats);
/* The sum of at least one file, each of which is read twice, in an order that is that of their sums. */
vem_status vem_i_stats_merge(vem_i_run *run, const char *const *paths, int64_t count,
                             vem_stats **stats);
/* As vem_labels_read, likewise. */
vem_status vem_i_labels_read(vem_i_run *run, const char *path, int64_t **labels,
                             int64_t *n);

/* A coreset file as data (coreset_file.c). */
vem_status vem_i_coreset_read(vem_i_run *run, const char *path, vem_data *data);
/* Weights of the rows of `data`, from rows of one column. */
vem_status vem_i_weights_take(vem_i_run *run, const char *source, const vem_data *from,
                              vem_data *data);

/* The rows and columns of one file; weights and missing values as they are in it. */
vem_status vem_i_data_read_rows(vem_i_run *run, const char *path,
                                const vem_read_options *wanted, vem_data **data);
/* Those of several, one behind the other (parts.c). */
vem_status vem_i_data_join(vem_i_run *run, const char *const *paths, int32_t count,
                           const vem_read_options *wanted, vem_data **data);
/* As vem_data_read, for use inside a verb that has begun. */
vem_status vem_i_data_read(vem_i_run *run, const char *path,
                           const vem_read_options *options, vem_data **data);

/* ---- pictures ---- */

/* A path that is not empty, `about` what vem_path_describe says of it; flows or NULL. */
vem_status vem_i_path_picture(vem_i_run *run, const vem_path *path,
                              const vem_path_summary *about, const vem_flows *flows,
                              const char *file);
/* The curve of an index. */
vem_status vem_i_index_picture(vem_i_run *run, const vem_index_summary *summary,
                               const vem_index_point *points, int32_t count,
                               const char *file);

#endif
