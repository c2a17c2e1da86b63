/* Files of labels, classes and numbers; words for people; generated data.
 *
 * A part of vem.h, which includes it: rules of ownership, NULL, sizes and threads stand there. */
#ifndef VEM_VEM_H
#include "vem.h"
#elif !defined(VEM_VEM_FILES_H)
#define VEM_VEM_FILES_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Files ---- */

/* n x columns labels or integers from .npy, .csv or .txt; memory from malloc, free with
 * free().*/
VEM_API vem_status vem_labels_read(vem_ctx *ctx, const char *path, int64_t **labels,
                                   int64_t *n);
/* Classes of rows, which in text may be words: each gets a number, in the order in which they
 * come first. `rows` is how many are expected (0: not known); text with one line more has a
 * header. Of several columns the one named label, class, cluster, target, truth or species
 * counts. Any other file is read by vem_labels_read. */
VEM_API vem_status vem_classes_read(vem_ctx *ctx, const char *path, int64_t rows,
                                    int64_t **classes, int64_t *n);
/* The same from a column of a text table by its name or number, as in `columns` of
 * vem_read_options (NULL: as above). *taken becomes the name of the column that was taken, free
 * with free(), or NULL where the file has only one; `taken` may be NULL. */
VEM_API vem_status vem_classes_read_column(vem_ctx *ctx, const char *path, int64_t rows,
                                           const char *column, int64_t **classes,
                                           int64_t *n, char **taken);
/* .npy (int32), .csv or .csv.gz by the ending. A label of -1, of a row that was left out, is empty in
 * .csv. A .csv has the header row,label; rows count from 1
 * there, labels from 0 as everywhere. vem_labels_read takes both. */
VEM_API vem_status vem_labels_write(vem_ctx *ctx, const char *path, const int32_t *labels,
                                    int64_t n);
/* The same for all rows that were read (vem_data_rows_read), -1 for those that were left out: where
 * rows were, vem_data_spread comes first, which puts the labels of the others where they belong; a .csv then has the text of their ids, too, where `data` kept it. */
VEM_API vem_status vem_labels_write_rows(vem_ctx *ctx, const char *path,
                                         const vem_data *data, const int32_t *labels,
                                         int64_t n);
/* As vem_labels_write, for classes that are known: what rows were drawn from. A .csv has the
 * header row,class. */
VEM_API vem_status vem_classes_write(vem_ctx *ctx, const char *path,
                                     const int32_t *classes, int64_t n);
/* .npz (clusters, probabilities), .csv or .csv.gz by the ending; a .csv begins with the row. */
VEM_API vem_status vem_soft_write(vem_ctx *ctx, const char *path, const int32_t *clusters,
                                  const double *probabilities, int64_t n, int32_t top);
/* The same for all rows that were read, as vem_labels_write_rows; a .csv then has their
 * ids, too. */
VEM_API vem_status vem_soft_write_rows(vem_ctx *ctx, const char *path,
                                       const vem_data *data, const int32_t *clusters,
                                       const double *probabilities, int64_t n,
                                       int32_t top);
/* What vem_assign_spill gives for all rows that were read: .npz (clusters, squares), .csv or .csv.gz by the ending. data
 * may be NULL, and then n are all rows. */
VEM_API vem_status vem_spill_write_rows(vem_ctx *ctx, const char *path,
                                        const vem_data *data, const int32_t *clusters,
                                        const double *squares, int64_t n);
/* Doubles or floats as .npy or .csv by the ending. */
VEM_API vem_status vem_array_write(vem_ctx *ctx, const char *path, vem_dtype type,
                                   const void *values, int64_t n, int32_t d);
/* The same; a .csv begins with the names of the columns (d of them), column_1, column_2, ... where
 * they are NULL. */
VEM_API vem_status vem_array_write_named(vem_ctx *ctx, const char *path, vem_dtype type,
                                         const void *values, int64_t n, int32_t d,
                                         const char *const *names);
/* One field of a .csv, in quotes where it needs them. */
VEM_API void vem_csv_put(FILE *stream, const char *text);
/* Any text, whole or not at all. */
VEM_API vem_status vem_text_write(vem_ctx *ctx, const char *path, const char *text,
                                  size_t length);
/* Does the file look like one that vem_labels_write, or vem_classes_write, wrote? Never fails.
 * (An .npy by its header, in which they leave more spaces than others.) */
VEM_API int vem_file_is_labels(const char *path);
/* The same of vem_classes_write. */
VEM_API int vem_file_is_classes(const char *path);
/* What a file holds: "data", "model", "statistics", "tree", "state" (of --checkpoint) or
 * "unknown". Never fails. */
VEM_API const char *vem_file_kind(const char *path);

/* ---- Words for people ---- */

/* Which of `count` names a mistyped word was meant to be, or NULL when none is near. */
VEM_API const char *vem_name_nearest(const char *word, const char *const *names,
                                     int count);
/* The end of a sentence about such a word: "; did you mean --floor?", `before` being "--", or
 * where no name is near `otherwise`. */
VEM_API const char *vem_name_hint(const char *word, const char *const *names, int count,
                                  const char *before, const char *otherwise,
                                  char text[128]);
/* Bytes of the character of UTF-8 that begins here, 1 to 4; 0: it is none. */
VEM_API int vem_utf8_length(const char *text);
/* 1610612736 as "1.50 GiB": powers of 1024, as --memory counts. */
VEM_API const char *vem_bytes_print(double bytes, char text[32]);

/* ---- Generated data ---- */

/* Data sets whose truth is known. */
typedef enum vem_generator {
    VEM_BIRCH_GRID = 0, /* round clusters of like size on a square lattice */
    VEM_BIRCH_RANDOM,   /* the same with centres anywhere in a square */
    VEM_SEPARATED,      /* long ones, c-separated (Dasgupta) */
    VEM_TAU_SEPARATED   /* long ones, tau mean deviations apart (Kurihara and Welling) */
} vem_generator;

/* What vem_generate makes. */
typedef struct vem_generate_options {
    size_t size;       /* sizeof(vem_generate_options) */
    int32_t clusters;  /* birch-grid: a square number */
    int32_t d;         /* 2 for birch */
    int64_t n;         /* rows; 0: 100 per cluster */
    double separation; /* c of separated, tau of tau-separated; 0: 2 */
    double box;        /* tau-separated: side of the box of centres in mean sds; 0: 30 */
    int64_t seed;      /* of the random numbers */
} vem_generate_options;

/* rows (n x d doubles), labels (n) and centres (clusters x d): from malloc, free with free(); any
 * of them, n and d may be NULL. */
VEM_API vem_status vem_generate(vem_ctx *ctx, vem_generator kind,
                                const vem_generate_options *options, int64_t *n,
                                int32_t *d, double **rows, int32_t **labels,
                                double **centers);

#ifdef __cplusplus
}
#endif

#endif
