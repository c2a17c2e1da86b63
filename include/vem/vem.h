/* vem: clustering as maximisation of one free energy.
 *
 *     F(K, theta) = sum_i  w_i  log  sum_{c in K_i}  p(c, x_i | theta)
 *
 * The only header to include: it has the nouns and vem_fit, and includes the other verbs
 * (select.h, tree.h, stats.h, use.h, files.h, index.h). Nouns are opaque handles: a context, data, a model
 * and a report. Verbs return a vem_status; when it is not VEM_OK, vem_ctx_message() holds one
 * sentence that says what was wrong, and no output argument was changed.
 *
 * Ownership. What comes through a pointer to a handle (vem_data **, vem_model **, ...), whatever
 * the verb is called, belongs to the caller, who frees it with the _free of its noun; arrays and
 * text that vem_labels_read, vem_classes_read, vem_classes_read_column and vem_generate give are
 * freed with free(), what vem_array_new gives with vem_array_free. What a function returns is
 * never the caller's: it belongs to the handle that was asked and lives until that is freed or
 * what was asked for is set anew (the message: until the next verb); without a handle it is
 * one of the arguments or lives as long as the program. Verbs keep copies, never their arguments,
 * but for the values of vem_data_borrow, and functions that are to be called with their `user`:
 * the caller keeps these alive. Handles and the context they were made with may be freed in any
 * order.
 *
 * NULL. Freeing NULL does nothing; asking NULL gives 0, NULL or an empty text
 * (vem_ctx_message says that the context is NULL). A verb that is
 * given NULL for something it needs returns VEM_BAD_OPTION and says for what. Outputs that may
 * be NULL because they are not wanted: model and report of vem_fit, vem_select (and its path) and
 * vem_stream_model, probabilities of vem_assign and vem_assign_guided, report of the latter, every output of
 * vem_generate. Without a context there is no message, only a status.
 *
 * Structs that you hand over by pointer begin with their size: zero-initialise them and set size
 * (vem_options: vem_options_init does both), whether they go in or come out; then set what you
 * need. Nothing is read or written beyond that size: members that later versions add at the end
 * are 0 for a program that does not know them, those of vem_options what they are by default.
 * Members that the library does not know yet must be 0, as vem_options_init leaves them.
 *
 * Threads. A context does one thing at a time, on threads of its own (vem_ctx_set_threads); calls of
 * several threads may take turns with it, and a verb leaves its settings as they were.
 * Contexts know nothing of each other: several threads may work at once, each with one. Handles
 * belong to no context; any number of threads may use the same one as long as it is not
 * changed, that is, given to a function that takes it without const. There is no global state.
 *
 * Indices of rows and clusters count from 0; messages for people count rows and columns
 * from 1. They name options as vem_options does, max_steps, or as the command does, --max-steps
 * (vem_ctx_set_dashes). `missing`, `columns`, `id`, `header` and `decimal` are of vem_read_options,
 * `resume` is of vem_checkpoint, `init` is `start` of vem_fit; `method`, `min_clusters`,
 * `max_clusters` and `holdout` are of vem_select_options, `leaves` of vem_dendrogram_options,
 * `neighbors` of vem_index_options, `prior_mean` and others `mean` and others of vem_prior_options; `pick` is vem_path_pick. */
#ifndef VEM_VEM_H
#define VEM_VEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version that was compiled against; vem_version() has the one that runs. */
#define VEM_VERSION_MAJOR 0
#define VEM_VERSION_MINOR 2
#define VEM_VERSION_PATCH 0
#define VEM_VERSION "0.2.0"

/* Public functions are visible in the shared library; nothing else is. */
#if defined(__GNUC__)
#define VEM_API __attribute__((visibility("default")))
#else
#define VEM_API
#endif

/* ---- Status ---- */

/* How a verb ended. */
typedef enum vem_status {
    VEM_OK = 0,      /* all is well */
    VEM_BAD_OPTION,  /* an option or argument is out of its bounds, or two contradict */
    VEM_BAD_DATA,    /* a value, a shape or a file's content is wrong */
    VEM_NO_MEMORY,   /* memory could not be had */
    VEM_IO_ERROR,    /* the system refused: absent file, full disk, permission */
    VEM_UNSUPPORTED, /* right, but not in this build */
    VEM_STOPPED /* the progress function, or the option time, stopped work that has no
                        partial result */
} vem_status;

/* A word or two for programs and logs; for people there is vem_ctx_message. */
VEM_API const char *vem_status_name(vem_status status);
/* The version of the library that runs, as VEM_VERSION. */
VEM_API const char *vem_version(void);

/* ---- Context: threads, kernels, progress, last message ---- */

/* Threads, kernels, progress function, limits and the last message: what verbs work
 * with. */
typedef struct vem_ctx vem_ctx;

/* What a progress function is told. `phase` is "read", "reduce", "seed", "em", "measure",
 * "assign", "sample", "divide" (of selections), "pair" and "merge" (of trees).
 * Within "em", step counts E-steps and free_energy is per unit of mass (NAN before the
 * first). `total` is 0 when the end is not known.
 *
 * What done and total count: "read" pieces of a file, or of the rows that are loaded; "reduce" rows;
 * "seed" clusters, or starts on a sample; "em" rows of the running step; "measure" and "assign"
 * rows, of all that the verb works on: done never falls within vem_assign, vem_posterior, vem_score
 * and vem_describe; "sample" pieces; "divide" clusters, or pairs of them, of a round of which nobody
 * knows how many follow. Only their ratio is meant to be shown. */
typedef struct vem_progress {
    const char *phase;       /* what is being done */
    int64_t done, total;     /* how far it is */
    int64_t step, max_steps; /* of the loop; the most there can be */
    double free_energy;      /* per unit of mass; NAN: not known yet */
    double seconds;          /* since the verb began */
    double steps_left; /* "em": about how many more until it has converged; 0: no idea */
    int64_t restart,
        restarts; /* of a fit: which of how many, from 1; steps count from 1 in
                                  each; 0 for other verbs */
    const struct vem_trace_step
        *last; /* "em": the last step that is complete, moves included; NULL: none yet */
    int32_t clusters,
        max_clusters; /* "em", where clusters are inserted: how many there are, and will
                         be; max_steps is of each number of them then. 0 for other fits */
    int64_t resample,
        resamples; /* of vem_select_stability: which of how many, from 1; else 0 */
} vem_progress;

/* Called from the thread that called the verb: at the end of every step (starts on a sample,
 * which are "seed", included), and otherwise a few times a second at most. A result other
 * than 0 asks to stop: vem_fit ends after the current step with a model and outcome
 * VEM_OUTCOME_STOPPED (where that step was of a sample, after one more over all rows); other
 * verbs return VEM_STOPPED. */
typedef int (*vem_progress_fn)(void *user, const vem_progress *progress);

/* A context, with a thread for each core that the process may use. */
VEM_API vem_status vem_ctx_new(vem_ctx **ctx);
/* Frees a context. */
VEM_API void vem_ctx_free(vem_ctx *ctx);
/* One sentence about what the last verb refused, and why. */
VEM_API const char *vem_ctx_message(const vem_ctx *ctx);
/* threads = 0: all cores the process may use. Results do not depend on it. */
VEM_API vem_status vem_ctx_set_threads(vem_ctx *ctx, int threads);
/* How many threads it has. */
VEM_API int vem_ctx_threads(const vem_ctx *ctx);
/* Who is told of progress, with `user`; NULL: nobody. */
VEM_API void vem_ctx_set_progress(vem_ctx *ctx, vem_progress_fn progress, void *user);
/* Most bytes of memory that may be resident while a verb runs, pages of mapped files
 * included; 0: what the machine can give. What does not fit rests in temporary files (in
 * VEM_TMPDIR, else TMPDIR, else /var/tmp); results have the same bits. --memory of vem_fit
 * overrides it. Set it before data are read. */
VEM_API vem_status vem_ctx_set_memory(vem_ctx *ctx, int64_t bytes);
/* Seconds of --time that are over when a fit begins, as by reading its data: fits and forecasts
 * from now on have so many fewer (0, as at first: none). Messages and reports tell --time as it
 * was asked for. */
VEM_API vem_status vem_ctx_set_spent(vem_ctx *ctx, double seconds);
/* 1: messages and reports name options as the command does, --max-steps; 0, as at first: as
 * vem_options does, max_steps. */
VEM_API void vem_ctx_set_dashes(vem_ctx *ctx, int dashes);
/* Room for results of so many bytes, not cleared: in memory, or in a temporary file where
 * memory is short. Free it with the same context. */
VEM_API vem_status vem_array_new(vem_ctx *ctx, size_t bytes, void **array);
/* Frees such room. */
VEM_API void vem_array_free(vem_ctx *ctx, void *array);
/* The file that an address lies in, where this context has it mapped as input, else NULL. A
 * handler of SIGBUS may ask: the file became shorter while it was read. */
VEM_API const char *vem_ctx_mapped_file(const vem_ctx *ctx, const void *address);
/* Instruction set of the kernels in use: "baseline", "avx2", "avx512", "neon",
 * "reference". Chosen once when the context is made; the environment variable VEM_CPU
 * overrides it. */
VEM_API const char *vem_ctx_cpu(const vem_ctx *ctx);

/* ---- Data: rows as stored ---- */

/* Rows as they are stored, with their weights and the names of columns. */
typedef struct vem_data vem_data;

/* Type of the values of rows. */
typedef enum vem_dtype {
    VEM_FLOAT32 = 0, /* float */
    VEM_FLOAT64,     /* double */
    VEM_UINT8,       /* uint8_t */
    VEM_INT32,       /* int32_t */
    VEM_INT64,       /* int64_t */
    VEM_FLOAT16,     /* IEEE half */
    VEM_INT8,        /* int8_t */
    VEM_INT16,       /* int16_t */
    VEM_UINT16,      /* uint16_t */
    VEM_UINT32,      /* uint32_t */
    VEM_BFLOAT16     /* the upper half of a float */
} vem_dtype;

/* Is the first row of a text table its header? */
typedef enum vem_header {
    VEM_HEADER_AUTO = 0, /* where it holds more words than numbers */
    VEM_HEADER_YES,      /* it is */
    VEM_HEADER_NO        /* it is data */
} vem_header;

/* What is done with missing values: NaN, and in text also NA, N/A, n.a., null, ? (in any case)
 * and a field with nothing in it. */
typedef enum vem_missing {
    VEM_MISSING_ERROR =
        0,            /* refused: text tables when they are read, else by the verbs */
    VEM_MISSING_DROP, /* rows that have one are left out; vem_data_row tells which stay */
    VEM_MISSING_MEAN, /* each is replaced by the mean of its column */
    VEM_MISSING_KEEP  /* they stay NaN, which most verbs refuse: to look at data */
} vem_missing;

/* A mixture: a family and its clusters with weights, means and variances. */
typedef struct vem_model vem_model;

/* How to read a file. */
typedef struct vem_read_options {
    size_t size; /* sizeof(vem_read_options) */
    const char *
        columns; /* "1,3,5-8" or "x,y": columns to keep, in this order (of names that hold
                       commas the longest that fits); NULL: all */
    const char *id;      /* "1" or "name,city": columns to leave out; NULL: none */
    const char *weights; /* file with one weight per row; NULL: every row weighs 1 */
    vem_header header;   /* of text tables */
    vem_missing missing; /* what is done with missing values */
    char decimal;        /* of numbers in text, '.' or ','; 0: '.', or ',' if a table with
                     semicolons has it */
    int keep_ids; /* keep the text of the id columns of a text table, for vem_data_id */
    /* With VEM_MISSING_MEAN: what missing values become, for each column that is kept. NULL:
     * the means that `model` has of its columns (without vem_model_column_means those of the
     * mixture), without a model the (weighted) means of the values that are there. */
    const double *means;
    int32_t means_count; /* how many `means` has */
    /* Rows for this model: where it and the file have names, its columns are picked by them, in
     * its order, others are left out, and its id columns are known again. Elsewhere as many
     * columns are needed as it has, or those that `columns` and `id` picked for the fit. NULL:
     * no model. */
    const vem_model *model;
    int text_is_missing; /* fields of a text table that are no numbers are missing values,
                            not refused: to look at a table */
    int counts; /* the rows are for a family of counts, or for its model: no mean can stand for a
                   missing value, and VEM_MISSING_MEAN is refused */
} vem_read_options;

/* The format is found from the ending: .npy .csv .tsv .txt .fvecs .bvecs .fbin .u8bin .i8bin, each
 * also compressed by gzip (.csv.gz), .safetensors (its only tensor of rows and columns, or
 * FILE.safetensors:NAME), FILE.h5:/path, a coreset .npz, or "-" for CSV on standard input. */
VEM_API vem_status vem_data_read(vem_ctx *ctx, const char *path,
                                 const vem_read_options *options, vem_data **data);
/* Several files as one: their rows one behind the other, in memory (or in a temporary file
 * where that is short). Columns of later files are picked by the names of the first, or must
 * be as many. `weights` and `missing` are those of all rows. */
VEM_API vem_status vem_data_read_parts(vem_ctx *ctx, const char *const *paths,
                                       int32_t count, const vem_read_options *options,
                                       vem_data **data);
/* A view of rows the caller keeps alive. Strides are in bytes; 0 means packed, row-major.
 * Either rows or columns lie whole behind each other (a stride may be negative), so that no value
 * is part of two; values need not be aligned. */
VEM_API vem_status vem_data_borrow(vem_ctx *ctx, vem_dtype type, const void *values,
                                   int64_t n, int32_t d, int64_t row_stride,
                                   int64_t column_stride, vem_data **data);
/* Sparse rows, copied: the values of row i are numbers starts[i] .. starts[i + 1] - 1 (starts has
 * n + 1), in columns[], in any order but none twice; all others are 0. For families of counts; the
 * other verbs say that they need dense rows. */
VEM_API vem_status vem_data_sparse(vem_ctx *ctx, int64_t n, int32_t d,
                                   const int64_t *starts, const int32_t *columns,
                                   const double *values, vem_data **data);
/* Copies n weights, all finite and >= 0 with a positive sum. NULL: all 1. A row of weight 0
 * changes no sum, but gets a label (the nearest cluster, as any row): a fit refuses it where its
 * values are too large for the arithmetic, as vem_assign does. */
VEM_API vem_status vem_data_set_weights(vem_ctx *ctx, vem_data *data,
                                        const double *weights, int64_t n);
/* Frees data; borrowed values stay. */
VEM_API void vem_data_free(vem_data *data);
/* How many rows it has. */
VEM_API int64_t vem_data_rows(const vem_data *data);
/* How many columns it has. */
VEM_API int32_t vem_data_columns(const vem_data *data);
/* Type of its values. */
VEM_API vem_dtype vem_data_dtype(const vem_data *data);
/* NULL when every row weighs 1. */
VEM_API const double *vem_data_weights(const vem_data *data);
/* Of a coreset: the row of the data that each row was (n of them). NULL for other data. */
VEM_API const int64_t *vem_data_indices(const vem_data *data);
/* Rows that were read, with those that VEM_MISSING_DROP left out. */
VEM_API int64_t vem_data_rows_read(const vem_data *data);
/* Which of the rows that were read, from 0, row i of the data was. */
VEM_API int64_t vem_data_row(const vem_data *data, int64_t i);
/* Results of the rows, `bytes` bytes each, to where those of the rows read belong: rows that were
 * left out get a copy of `absent`. `results` has room for vem_data_rows_read of them; in place. */
VEM_API vem_status vem_data_spread(vem_ctx *ctx, const vem_data *data, void *results,
                                   size_t bytes, const void *absent);
/* Values that were missing: replaced, kept as NaN, or in rows left out. */
VEM_API int64_t vem_data_missing(const vem_data *data);
/* What missing values became (one value a column), or NULL but after VEM_MISSING_MEAN; of a
 * coreset: those of its data. */
VEM_API const double *vem_data_means(const vem_data *data);
/* Did the table have a header (yes or no)? VEM_HEADER_AUTO: it was no text table. */
VEM_API vem_header vem_data_header(const vem_data *data);
/* The decimal sign of a text table, '.' or ','; 0: it was no text table. */
VEM_API char vem_data_decimal(const vem_data *data);
/* vem_data_header of each of several files that were read as one (it gives that of the
 * first), by their order, from 0. */
VEM_API vem_header vem_data_part_header(const vem_data *data, int32_t part);
/* The same of vem_data_decimal. */
VEM_API char vem_data_part_decimal(const vem_data *data, int32_t part);
/* With keep_ids: how many id columns are kept. */
VEM_API int32_t vem_data_ids(const vem_data *data);
/* The name of an id column, or NULL: no header. */
VEM_API const char *vem_data_id_name(const vem_data *data, int32_t id);
/* The text of an id column in a row, counted as vem_data_rows_read counts. */
VEM_API const char *vem_data_id(const vem_data *data, int32_t id, int64_t row);
/* Name of a column from the file's header, or NULL. */
VEM_API const char *vem_data_column_name(const vem_data *data, int32_t column);
/* With text_is_missing: what would make numbers of values of this column that were taken for
 * text because of a sign in them (between thousands, a percent sign, a decimal comma), one
 * sentence; else NULL. */
VEM_API const char *vem_data_column_advice(const vem_data *data, int32_t column);
/* Short name of the format it was read from ("npy", "csv", ..., "memory"). */
VEM_API const char *vem_data_format(const vem_data *data);
/* Rows first .. first+count-1 as doubles, packed. */
VEM_API vem_status vem_data_get(vem_ctx *ctx, const vem_data *data, int64_t first,
                                int64_t count, double *rows);

/* ---- Coresets: a weighted sample that stands for all rows ---- */

/* How rows are drawn. */
typedef enum vem_coreset_method {
    VEM_CORESET_LIGHTWEIGHT =
        0,              /* half by weight, half by squared distance to the mean */
    VEM_CORESET_UNIFORM /* by weight; rows that are not drawn are not looked at */
} vem_coreset_method;

/* `size` rows drawn independently, a row drawn twice being there twice, as data of their
 * own: rows of the same type, weights whose sum is that of all rows in the mean, and
 * vem_data_indices. size >= n: all rows with their own weights. The draw depends on the rows
 * and the seed, not on threads. */
VEM_API vem_status vem_coreset(vem_ctx *ctx, const vem_data *data, int64_t size,
                               vem_coreset_method method, int64_t seed,
                               vem_data **coreset);
/* .npz with rows, weights and indices, and the names of the columns where they have some, which
 * vem_data_read takes as data. */
VEM_API vem_status vem_coreset_write(vem_ctx *ctx, const vem_data *coreset,
                                     const char *path);

/* ---- Options: one table ---- */

/* A choice or number left to the preset, or to us. */
enum { VEM_AUTO = -1 };

/* Values of the option algorithm: presets of papers. VEM_AUTO: none. */
typedef enum vem_algorithm {
    VEM_ALGORITHM_KMEANS = 0,     /* Lloyd's algorithm */
    VEM_ALGORITHM_LAZY_KMEANS,    /* rows move only for a clear gain */
    VEM_ALGORITHM_KMEANS_C,       /* each row holds several nearest clusters */
    VEM_ALGORITHM_GMM,            /* EM for a mixture of Gaussians */
    VEM_ALGORITHM_VAR_KMEANS_X,   /* k-means that tries neighbors, exact ones */
    VEM_ALGORITHM_VAR_KMEANS_S,   /* k-means that tries neighbors, estimated ones */
    VEM_ALGORITHM_VAR_GMM_X,      /* the same with several clusters a row */
    VEM_ALGORITHM_VAR_GMM_S,      /* the same with several clusters a row */
    VEM_ALGORITHM_LWCS_KMEANS,    /* k-means on a coreset */
    VEM_ALGORITHM_VC_GMM,         /* var-gmm-s on a coreset */
    VEM_ALGORITHM_KD_EM,          /* EM on cells of a kd-tree */
    VEM_ALGORITHM_GREEDY,         /* one cluster more at a time */
    VEM_ALGORITHM_INCREMENTAL_EM, /* an M-step after each part of the rows */
    VEM_ALGORITHM_MOORE_EM        /* very fast EM: F may fall */
} vem_algorithm;

/* X(kind, symbol, name, what it is): one line for each family, in the order of their numbers,
 * which files and callers rely on: a new one comes last. The enum, the choices of --family and
 * the families themselves (src/model/family_*.c) are derived from it. */
#define VEM_FAMILY_TABLE(X)                                                              \
    X(VEM_ISO_SHARED, iso_shared, "iso-shared",                                          \
      "one variance for all clusters and dimensions")                                    \
    X(VEM_ISO, iso, "iso", "one variance per cluster")                                   \
    X(VEM_DIAG, diag, "diag", "one variance per cluster and dimension")                  \
    X(VEM_FULL, full, "full", "one covariance matrix per cluster")                       \
    X(VEM_DIAG_SHARED, diag_shared, "diag-shared",                                       \
      "one variance per dimension, for all clusters")                                    \
    X(VEM_FULL_SHARED, full_shared, "full-shared",                                       \
      "one covariance matrix for all clusters")                                          \
    X(VEM_BERNOULLI, bernoulli, "bernoulli", "columns of 0 and 1, a probability each")   \
    X(VEM_POISSON, poisson, "poisson", "counts, a rate for each column")                 \
    X(VEM_MULTINOMIAL, multinomial, "multinomial",                                       \
      "counts, a share of the row's total for each column")

/* What becomes of a row of that table. */
#define VEM_FAMILY_KIND_ROW(kind, symbol, name, what) kind,
#define VEM_FAMILY_CHOICE_ROW(kind, symbol, name, what) "|" name
#define VEM_FAMILY_COUNT_ROW(kind, symbol, name, what) +1

/* Values of the option family: what a cluster looks like. */
typedef enum vem_family_kind { VEM_FAMILY_TABLE(VEM_FAMILY_KIND_ROW) } vem_family_kind;
/* How many families there are. */
enum { VEM_FAMILIES = 0 VEM_FAMILY_TABLE(VEM_FAMILY_COUNT_ROW) };

/* Values of the option prior. */
typedef enum vem_prior_kind {
    VEM_PRIOR_FLAT = 0, /* every cluster weighs 1/C */
    VEM_PRIOR_FREE,     /* weights are fitted */
    VEM_PRIOR_EVEN      /* weights are prices of large clusters, and stay as they are */
} vem_prior_kind;
/* Values of the option balance that are no factor: 1 or more is the most that a cluster may hold,
 * as a multiple of the mean. */
enum {
    VEM_BALANCE_NONE = 0,  /* rows go to the nearest mean */
    VEM_BALANCE_SOFT = -2, /* large clusters cost more */
    VEM_BALANCE_AUTO = -3  /* by as much as the rows of an index gain from */
};
/* Values of the option metric: what is nearest. */
typedef enum vem_metric {
    VEM_METRIC_L2 = 0, /* by the distance */
    VEM_METRIC_COSINE  /* by the angle: rows and means are of length 1 */
} vem_metric;
/* X(NAME, name, whole): the searches. whole: every row tries every cluster, so that a step
 * needs nothing of the step before.
 *     exact      neighbors of what a row holds, by the distances of the means
 *     estimated  the same, neighbors learned from the scored pairs
 *     groups     lists shared by rows that lie together, and probes of buckets
 *     boxes      as closest, with the same labels; of hard fits box by box of a kd-tree */
#define VEM_SEARCH_TABLE(X)                                                              \
    X(ALL, all, 1)                                                                       \
    X(CLOSEST, closest, 1)                                                               \
    X(EXACT, exact, 0)                                                                   \
    X(ESTIMATED, estimated, 0)                                                           \
    X(GROUPS, groups, 0)                                                                 \
    X(BOXES, boxes, 1)
#define VEM_SEARCH_VALUE(NAME, name, whole) VEM_SEARCH_##NAME,
/* Values of the option search; VEM_SEARCH_COUNT is how many there are. */
typedef enum vem_search_kind {
    VEM_SEARCH_TABLE(VEM_SEARCH_VALUE) VEM_SEARCH_COUNT
} vem_search_kind;
#undef VEM_SEARCH_VALUE
/* "all|closest|..." */
#define VEM_SEARCH_CHOICE(NAME, name, whole) "|" #name
#define VEM_SEARCH_CHOICES (&(VEM_SEARCH_TABLE(VEM_SEARCH_CHOICE))[1])
/* Values of the option seeding: how the first means are chosen. */
typedef enum vem_seeding {
    VEM_SEED_RANDOM = 0,      /* rows at random */
    VEM_SEED_PLUSPLUS,        /* k-means++ */
    VEM_SEED_PLUSPLUS_GREEDY, /* k-means++, the best of a few draws each time */
    VEM_SEED_AFKMC2,          /* k-means++ by Markov chains */
    VEM_SEED_TWO_LEVEL /* ours: its cost grows with the root of the number of clusters */
} vem_seeding;
/* Values of the option empty: what happens to a cluster that holds nothing. */
typedef enum vem_empty_policy {
    VEM_EMPTY_KEEP = 0, /* it stays as it is */
    VEM_EMPTY_DROP,     /* there is one less */
    VEM_EMPTY_RESEED    /* it begins anew elsewhere */
} vem_empty_policy;
/* Values of the option finish. */
typedef enum vem_finish {
    VEM_FINISH_SOFT = 0, /* as the fit is; said to vem_select with bayes or icl: steps in
                            which rows share clusters follow */
    VEM_FINISH_HARD      /* steps in which each row has one cluster */
} vem_finish;
/* Values of the option measure. */
typedef enum vem_measure_kind {
    VEM_MEASURE_NONE = 0, /* nothing is measured */
    VEM_MEASURE_EXACT,    /* of all rows */
    VEM_MEASURE_SAMPLE    /* estimated from some rows, with standard errors */
} vem_measure_kind;
/* Of the arithmetic. Verbs that use a model take VEM_AUTO, too: single for data of float32,
 * float16, uint8 and int8, else double, as a fit without the option does. Single is about twice as fast; double is
 * for likelihoods that are compared to more than five digits. */
typedef enum vem_precision {
    VEM_SINGLE = 0, /* float */
    VEM_DOUBLE      /* double */
} vem_precision;

/* X(kind, field, default, low, high, choices, argument, help)
 * kind: INT (int64_t), REAL (double), CHOICE (int), FLAG (int, 0 or 1).
 * An argument in brackets may
 * be left out; the choice after the default is meant then.
 * The command-line name is the field with '-' for '_'. A default of VEM_AUTO means that
 * the preset or the data decide. This macro is long because the struct, the defaults, the
 * range checks, --help, the man page and the language bindings are all derived from it.
 * Programs that were compiled know where these options lie: new ones go into the next table.
 */
#define VEM_OPTION_TABLE_1(X)                                                            \
    X(INT, clusters, VEM_AUTO, 1, 2147483000, NULL, "C", "number of clusters")           \
    X(CHOICE, algorithm, VEM_AUTO, 0, 0,                                                 \
      "kmeans|lazy-kmeans|kmeans-c|gmm|var-kmeans-x|var-kmeans-s|var-gmm-x|var-gmm-s|"   \
      "lwcs-kmeans|vc-gmm|kd-em|greedy|incremental-em|moore-em",                         \
      "NAME", "a paper's algorithm, exactly; options beside it override it")             \
    X(CHOICE, family, VEM_AUTO, 0, 0, &(VEM_FAMILY_TABLE(VEM_FAMILY_CHOICE_ROW))[1],     \
      "NAME", "what a cluster looks like")                                               \
    X(CHOICE, prior, VEM_AUTO, 0, 0, "flat|free|even", "NAME",                           \
      "weights of the clusters: all 1/C, or fitted (iso-shared: flat, the others: "      \
      "free); even: those of the model given by init stay, as prices of balance")        \
    X(CHOICE, search, VEM_AUTO, 0, 0, VEM_SEARCH_CHOICES, "NAME",                        \
      "which clusters are tried for a row")                                              \
    X(INT, held, VEM_AUTO, 1, 2147483000, NULL, "C'",                                    \
      "clusters a row may belong to at once (1: hard, C: full EM)")                      \
    X(INT, reach, VEM_AUTO, 1, 2147483000, NULL, "G",                                    \
      "clusters in a neighborhood (search exact, estimated) or shared list (groups)")    \
    X(INT, explore, VEM_AUTO, 0, 1000000, NULL, "R",                                     \
      "clusters drawn at random per row and step (search exact or estimated)")           \
    X(INT, probe, VEM_AUTO, 1, 64, NULL, "P",                                            \
      "buckets of clusters that a row looks into when it probes (search groups)")        \
    X(INT, swaps, VEM_AUTO, 0, 1000000, NULL, "R",                                       \
      "rounds in which clusters that are hardly needed move to where they gain most; "   \
      "0 also leaves out the starts on a sample that few clusters get")                  \
    X(CHOICE, finish, VEM_AUTO, 0, 0, "soft|hard", "NAME",                               \
      "hard: a soft fit ends with steps in which each row has one cluster")              \
    X(REAL, margin, VEM_AUTO, 0, 1e6, NULL, "E",                                         \
      "a row moves only to a cluster nearer by this factor (needs held = 1)")            \
    X(INT, coreset, VEM_AUTO, 1, 9007199254740992, NULL, "N'",                           \
      "fit a lightweight coreset of this many rows instead of all rows")                 \
    X(INT, cells, VEM_AUTO, 0, 268435456, NULL, "M",                                     \
      "fit up to this many cells of a kd-tree instead of rows, each with its mean and "  \
      "spread: F is a lower bound of the likelihood of all rows, and rises as cells "    \
      "are divided where it gains most; 0: rows (default, but for 250,000 rows or more " \
      "whose values hardly ever come twice, with family full in 1 or 2 columns and up "  \
      "to 64 clusters, with diag in 1 to 3 and more clusters)")                          \
    X(INT, depth, VEM_AUTO, 0, 28, NULL, "L",                                            \
      "depth of the tree at which the first cells lie (with cells)")                     \
    X(INT, expand, VEM_AUTO, 1, 268435456, NULL, "E",                                    \
      "cells that are divided at a time (with cells; default: as many as promise much)") \
    X(REAL, gap, VEM_AUTO, 0, 1e300, NULL, "EPS",                                        \
      "with cells: stop dividing them when F is about EPS nats a row below the "         \
      "likelihood of the rows (those of the coreset, with coreset), or less")            \
    X(INT, blocks, VEM_AUTO, 1, 1000, NULL, "B",                                         \
      "incremental EM: rows in so many random parts, with an M-step after each of "      \
      "them (search all; incremental-em: 25, else 1)")                                   \
    X(REAL, tau, VEM_AUTO, 0, 1e300, NULL, "T",                                          \
      "moore-em: a node of the tree is divided where the density of a cluster varies "   \
      "in its box by more than T times the cluster's weight (0.5)")                      \
    X(CHOICE, seeding, VEM_AUTO, 0, 0,                                                   \
      "random|kmeans++|kmeans++-greedy|afkmc2|two-level", "NAME",                        \
      "how the first means are chosen")                                                  \
    X(INT, chain, VEM_AUTO, 1, 1000000, NULL, "M", "chain length of afkmc2")             \
    X(INT, init_steps, 0, 0, 1000000, NULL, "S", "E-steps before the first M-step")      \
    X(INT, restarts, 1, 1, 1000000, NULL, "R",                                           \
      "fits from different seeds; the best F is kept")                                   \
    X(REAL, tolerance, VEM_AUTO, 0, 1, NULL, "EPS",                                      \
      "stop when a step changes F by no more than EPS D / 2 for D columns (of k-means: " \
      "the squared error by EPS of itself); with --algorithm, and of counts, by EPS "    \
      "max(|F|, 0.001); "                                                                \
      "0: until nothing changes")                                                        \
    X(INT, max_steps, VEM_AUTO, 1, 1000000000, NULL, "T",                                \
      "most E-steps of the fit (its starts are not counted); the model is the one that " \
      "entered the last of them, so 1 gives the start back")                             \
    X(CHOICE, empty, VEM_AUTO, 0, 0, "keep|drop|reseed", "NAME",                         \
      "what happens to a cluster that holds nothing")                                    \
    X(REAL, floor, 1e-6, 1e-300, 1, NULL, "E",                                           \
      "least variance, as a share of that of all rows: of each column for diag and "     \
      "full, of their mean for iso; no less than 1.2e-7 in single precision and for "    \
      "full, than 2.1e-22 for other families in double; of counts the least "            \
      "probability "                                                                     \
      "or rate of a value in a cluster, as a share of that in all rows")                 \
    X(CHOICE, precision, VEM_AUTO, 0, 0, "single|double", "NAME",                        \
      "type of the arithmetic (default: single for f4, f2, u1 and i1 input, else "       \
      "double)")                                                                         \
    X(FLAG, standardize, 0, 0, 1, NULL, NULL,                                            \
      "each column to mean 0, variance 1; the model is given back in the data's units")  \
    X(FLAG, normalize, 0, 0, 1, NULL, NULL, "each row to length 1")                      \
    X(INT, threads, VEM_AUTO, 1, 4096, NULL, "P",                                        \
      "threads (default: all cores); the result is the same")                            \
    X(INT, memory, VEM_AUTO, 1, 9007199254740992, NULL, "BYTES",                         \
      "most memory, mapped pages of the input included: what does not fit rests in a "   \
      "temporary file; K, M, G and T are powers of 1024 (default: what the machine can " \
      "give)")                                                                           \
    X(REAL, time, VEM_AUTO, 1e-9, 1e18, NULL, "SECONDS",                                 \
      "end within about this time, with fewer rows and steps where it must be; what "    \
      "was "                                                                             \
      "given up is said")                                                                \
    X(INT, seed, 1, 0, 9007199254740992, NULL, "S", "seed of the random numbers")        \
    X(CHOICE, measure, VEM_MEASURE_NONE, 0, 0, "none|exact|sample", "[HOW]",             \
      "afterwards, quantisation error and log-likelihood of all rows: alone or exact, "  \
      "of "                                                                              \
      "every row; sample: estimated from some rows, with standard errors")
/* Options that came later, in the order in which they came. */
#define VEM_OPTION_TABLE_2(X)                                                            \
    X(REAL, balance, VEM_BALANCE_NONE, 1, 1e6, "none|soft|auto", "HOW",                  \
      "even clusters, for lists of an index: large ones cost more (soft), by as much "   \
      "as recall gains from (auto), or hold at most HOW times the mean, a number from "  \
      "1 on (with the costs of auto, however large it is; labels keep it, with "         \
      "--weights but for the heaviest row of a cluster; prediction knows the prices "    \
      "only)")                                                                           \
    X(CHOICE, metric, VEM_METRIC_L2, 0, 0, "l2|cosine", "NAME",                          \
      "cosine: rows are compared by their directions alone, and means are of length 1 "  \
      "(spherical k-means: sums of 2 (1 - cos) in place of squared distances; family "   \
      "iso-shared)")
/* All of them. */
#define VEM_OPTION_TABLE(X) VEM_OPTION_TABLE_1(X) VEM_OPTION_TABLE_2(X)

/* Types of the kinds; what becomes of a row of the table. */
#define VEM_OPTION_INT int64_t
#define VEM_OPTION_REAL double
#define VEM_OPTION_CHOICE int
#define VEM_OPTION_FLAG int
#define VEM_OPTION_MEMBER(kind, field, def, low, high, choices, argument, help)          \
    VEM_OPTION_##kind field;

/* What is asked of a fit: a member for each row of the table. */
typedef struct vem_options {
    size_t size; /* sizeof(vem_options), set by vem_options_init */
    VEM_OPTION_TABLE_1(VEM_OPTION_MEMBER)
    int : 32; /* fills what earlier programs have of the struct: the others lie behind it */
    VEM_OPTION_TABLE_2(VEM_OPTION_MEMBER)
} vem_options;

/* What values an option has. */
typedef enum vem_option_kind {
    VEM_KIND_INT,    /* whole numbers */
    VEM_KIND_REAL,   /* numbers */
    VEM_KIND_CHOICE, /* one of several words */
    VEM_KIND_FLAG    /* yes or no */
} vem_option_kind;

/* A row of the table. */
typedef struct vem_option_info {
    const char *name;     /* as on the command line, without "--" */
    vem_option_kind kind; /* of its values */
    double default_value; /* VEM_AUTO: decided by preset or data */
    double low, high;     /* bounds, both allowed; of numbers only */
    const char *choices;  /* "a|b|c" for VEM_KIND_CHOICE */
    const char *argument; /* what help calls its value; NULL for a flag */
    const char *help;     /* what it means, for people */
} vem_option_info;

/* Sets the size and every default. In the library itself (for programs that were compiled before the
 * macro below was there): of the options of VEM_OPTION_TABLE_1. */
VEM_API void vem_options_init(vem_options *options);
/* The same for a struct of so many bytes: nothing is written beyond them. */
VEM_API void vem_options_init_sized(vem_options *options, size_t size);
/* Of the struct that the program was compiled with. */
#define vem_options_init(options) vem_options_init_sized((options), sizeof(vem_options))
/* How many options there are. */
VEM_API int vem_option_count(void);
/* One of them, in the order of the table; NULL: there is none. */
VEM_API const vem_option_info *vem_option_at(int index);
/* Set one option from text, checked against its bounds. */
VEM_API vem_status vem_options_set(vem_ctx *ctx, vem_options *options, const char *name,
                                   const char *value);
/* Value of an option as text ("auto" when left open). Returns 0 when there is no such
 * option. */
VEM_API int vem_options_get(const vem_options *options, const char *name, char *text,
                            size_t capacity);
/* Fill in everything that was left open, from the preset and from the size of the data,
 * and check the whole, into a struct of the size of `options`. vem_fit does this itself; call it to
 * see what a fit would do. */
VEM_API vem_status vem_options_resolve(vem_ctx *ctx, const vem_options *options,
                                       int64_t n, int32_t d, vem_dtype type,
                                       vem_options *resolved);
/* Name of a choice's value, e.g. vem_choice_name("family", VEM_DIAG) is "diag"; NULL if
 * none. */
VEM_API const char *vem_choice_name(const char *option, int value);
/* Bytes a fit of these sizes needs beside the input, at its peak; weights of the rows take
 * 8 n more. */
VEM_API vem_status vem_plan(vem_ctx *ctx, const vem_options *options, int64_t n,
                            int32_t d, vem_dtype type, uint64_t *bytes);

/* ---- Model ---- */

/* What a family says of the variances: a shape is a number (0), a number for each column
 * (1) or a matrix (2). -1: there is none (families of counts), or no such family. */
VEM_API int vem_family_axes(vem_family_kind family);
/* 1: there is one shape for all clusters, 0: one for each; -1 as above. */
VEM_API int vem_family_shared(vem_family_kind family);
/* Arrays are copied. `weights` may be NULL (1/C each). `variances`: C shapes, or one that is
 * shared, of D^axes doubles each: iso-shared 1, iso C, diag C*D, full C*D*D, diag-shared D,
 * full-shared D*D. Families of counts have none (NULL); their means are all their parameters:
 * bernoulli probabilities of 1, poisson rates, multinomial shares that add up to 1. */
VEM_API vem_status vem_model_new(vem_ctx *ctx, vem_family_kind family, int32_t clusters,
                                 int32_t d, const double *means, const double *weights,
                                 const double *variances, vem_model **model);
/* A model of its own with the same numbers. */
VEM_API vem_status vem_model_copy(vem_ctx *ctx, const vem_model *model, vem_model **copy);
/* Frees a model. */
VEM_API void vem_model_free(vem_model *model);
/* Its family. */
VEM_API vem_family_kind vem_model_family(const vem_model *model);
/* How many clusters it has, C. */
VEM_API int32_t vem_model_clusters(const vem_model *model);
/* How many columns it has, D. */
VEM_API int32_t vem_model_columns(const vem_model *model);
VEM_API const double *vem_model_means(const vem_model *model);     /* C x D */
VEM_API const double *vem_model_weights(const vem_model *model);   /* C */
VEM_API const double *vem_model_variances(const vem_model *model); /* see vem_model_new */
/* How many doubles vem_model_variances has. */
VEM_API size_t vem_model_variance_count(const vem_model *model);
/* Under --standardize: D factors by which columns are divided before distances are taken;
 * NULL otherwise. Variances of diag, full and their shared forms are in the data's units all the
 * same; those
 * of the isotropic families are in the divided ones (column j: variances * scale_j^2), as
 * is the quantisation error. */
VEM_API const double *vem_model_scale(const vem_model *model);
/* D positive factors, copied; NULL: none. */
VEM_API vem_status vem_model_set_scale(vem_ctx *ctx, vem_model *model,
                                       const double *scale);
/* Whether the weights of the clusters were fitted (free), are 1/C (flat) or are prices (even). A
 * new model is flat where all its weights are 1/C, else free. */
VEM_API vem_prior_kind vem_model_prior(const vem_model *model);
/* Says which; the weights stay as they are. */
VEM_API void vem_model_set_prior(vem_model *model, vem_prior_kind prior);
/* Of an even model: what each cluster costs beside the distance, in nats, - log(C weight), into an
 * array of C. A row goes to the least |x - mean|^2 / (2 variance) + price (of iso and others the log
 * of the determinant comes in, too). Returns 0, and writes nothing, where the model is not even. */
VEM_API int vem_model_prices(const vem_model *model, double *prices);
/* Numbers that were fitted: means (of multinomial, and of metric cosine, D - 1 a cluster), variances and, under a free
 * prior, C - 1 weights. */
VEM_API int64_t vem_model_parameters(const vem_model *model);
/* Rows are divided by their length before they meet the model. */
VEM_API int vem_model_normalizes(const vem_model *model);
/* Says whether they are. */
VEM_API void vem_model_set_normalizes(vem_model *model, int normalizes);
/* What is nearest to a row. Of cosine the means are of length 1 and rows are divided by their length
 * (vem_model_normalizes is 1, too); a row of zeros has no direction, and verbs refuse it. */
VEM_API vem_metric vem_model_metric(const vem_model *model);
/* Says which. To cosine, means are divided by their lengths: a mean of 0 is refused, as are other
 * families than iso-shared, and a scale. From cosine to l2 rows are still normalized. */
VEM_API vem_status vem_model_set_metric(vem_ctx *ctx, vem_model *model,
                                        vem_metric metric);
/* Name of a column, or NULL: vem_fit takes them from the data. */
VEM_API const char *vem_model_column_name(const vem_model *model, int32_t column);
/* One for each column, copied; NULL: none. */
VEM_API vem_status vem_model_set_column_names(vem_ctx *ctx, vem_model *model,
                                              const char *const *names);
/* Means of the columns over the rows of the fit (D of them), or NULL where they are not known.
 * Rows that are read for the model with VEM_MISSING_MEAN get them in the place of missing values.
 * vem_fit sets them: to vem_data_means where values were replaced; on a coreset, and of rows
 * that are normalized, from a sample. */
VEM_API const double *vem_model_column_means(const vem_model *model);
/* One for each column, copied; NULL: none. */
VEM_API vem_status vem_model_set_column_means(vem_ctx *ctx, vem_model *model,
                                              const double *means);
/* How many columns were ids in the data of the fit. */
VEM_API int32_t vem_model_ids(const vem_model *model);
/* The name of one of them. */
VEM_API const char *vem_model_id_name(const vem_model *model, int32_t id);
/* Free-form JSON that travels with the model file ("meta"); NULL when there is none. */
VEM_API const char *vem_model_meta(const vem_model *model);
/* Sets it, copied; NULL: none. */
VEM_API vem_status vem_model_set_meta(vem_ctx *ctx, vem_model *model, const char *json);
/* Reads a model file (.npz). */
VEM_API vem_status vem_model_read(vem_ctx *ctx, const char *path, vem_model **model);
/* Writes one, which numpy.load opens. */
VEM_API vem_status vem_model_write(vem_ctx *ctx, const vem_model *model,
                                   const char *path);

/* ---- Fit ---- */

/* How a fit ended. */
typedef enum vem_outcome {
    VEM_OUTCOME_CONVERGED = 0, /* by its rule of stopping */
    VEM_OUTCOME_STEP_LIMIT,    /* by max_steps */
    VEM_OUTCOME_STOPPED,       /* by the progress function */
    VEM_OUTCOME_BUDGET /* by a limit of time: the model is that of the last whole step. With
                            steps = 0 it is the seeding's, free_energy is NAN and there are
                            no labels */
} vem_outcome;

/* "converged", "step-limit", "stopped" or "budget". */
VEM_API const char *vem_outcome_name(vem_outcome outcome);

/* One step of a fit. */
typedef struct vem_trace_step {
    int64_t step; /* 1, 2, ... E-steps of the loop; <= 0: steps before the first M-step */
    double free_energy; /* per unit of mass, of the model that entered this step */
    int64_t pairs;      /* (row, cluster) scores of this step */
    int64_t changed;    /* rows whose held set changed; -1 where it is not known */
    int64_t empty;      /* clusters that held nothing */
    const char *
        move; /* "swap", "drop", "reseed", "insert" or "finish" when something acted on the
                         clusters after this step ("price": what large ones cost, which F contains, so
                         that it may fall there; "cap": rows moved for --balance), "refine" or "descend" on cells; of vem_select
                         "split", "join", "split and join", "resplit" (two divided anew),
                         "settle" (steps to their end), "soften" (rows share clusters from
                         here on) or "beside" (on from a mixture of another number that was
                         better); else NULL */
    int64_t
        moved; /* clusters, or cells, it acted on (price, cap: rows); descend: nodes that were
                       divided on the way to the cells of the next step */
    double seconds; /* of this step */
} vem_trace_step;

/* What a fit did: summary, trace, labels, sentences. */
typedef struct vem_report vem_report;

/* What a fit did, in numbers. */
typedef struct vem_summary {
    size_t size;         /* sizeof(vem_summary) */
    vem_outcome outcome; /* how it ended */
    int64_t n;           /* rows */
    int32_t d;           /* columns */
    int32_t clusters;    /* may be fewer than asked for under --empty drop */
    double rows_used; /* rows with a positive weight, of the coreset where there is one */
    int64_t steps, init_steps; /* E-steps of the loop, and before the first M-step */
    double free_energy, free_energy_first; /* per unit of mass */
    int64_t scored_pairs, seed_pairs,
        reduce_pairs; /* (row, cluster) scores of all steps, of the seeding, of the
                         coreset */
    double quantization_error, /* NAN of counts, too: their clusters are no places */
        log_likelihood;        /* NAN unless measured; log_likelihood per mass */
    double quantization_error_se,
        log_likelihood_se; /* their standard errors; 0: exact, over all rows */
    double quantization_error_coreset,
        log_likelihood_coreset; /* NAN but after a fit on a coreset: what it says itself */
    int64_t measured_rows;      /* rows that were measured */
    double seconds_reduce, seconds_seed, seconds_em, seconds_measure,
        seconds_total;   /* of the parts of the work */
    uint64_t peak_bytes; /* resident size of the process at its highest */
    int64_t restart;     /* which of the restarts was kept, from 1 */
    int64_t items; /* weighted items the loop ran on: n, the coreset's rows, the different
                      rows where most come several times, or cells */
    int64_t resumed_step; /* the step a checkpoint let the fit go on at; 0: none */
    int64_t floored;      /* clusters whose variance (in some column, of full in some
                             direction) is as small as --floor lets it be */
    int64_t parameters;   /* numbers that were fitted */
    double entropy, aic, bic, icl; /* as in vem_scores; NAN unless measured */
    int64_t cells; /* of the tree that were fitted at the end; 0: rows were */
    double
        gap, /* of a fit on cells: how far F is below the log-likelihood of all rows (of those
                of the coreset, where one is fitted: of them F is a bound), */
        gap_se; /* and its standard error, 0: exact; NAN without cells */
    double
        seconds_tree; /* the tree under the cells; in none of the others but the total */
    double
        cv, /* of the masses of the clusters, by the labels: deviation over mean, and */
        largest; /* the greatest over the mean; NAN where there are no labels */
} vem_summary;

/* `start`: a model to start from (its family may be simpler than the one asked for), or
 * NULL. The model given back is the one whose free energy is reported. `model` and `report` may
 * be NULL. */
VEM_API vem_status vem_fit(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                           const vem_model *start, vem_model **model,
                           vem_report **report);
/* The first model of such a fit, by its seeding, and no step: clusters at rows of the data, of equal
 * weight and of one variance, which is a guess where the seeding does not tell it. A fit that starts
 * with it begins where vem_fit without a start would; for families with one variance for all clusters and
 * columns both then find the same means. With restarts it is that of the first. */
VEM_API vem_status vem_seed(vem_ctx *ctx, const vem_data *data,
                            const vem_options *options, vem_model **model);
/* Fits that outlast the machine: with a checkpoint set, the fits of this context
 * (vem_fit, vem_stream_model) write their state to a file after the seeding, then every so
 * often, and at their end; a stop by the progress function counts as an end. The file is
 * replaced whole or not at all. A fit that resumes from it with the same data and options
 * gives the same bits as one that was never interrupted (docs/long-runs.md). */
typedef void (*vem_notice_fn)(void *user, int warning, const char *sentence);
/* When and where the state of fits is written. */
typedef struct vem_checkpoint {
    size_t size;      /* sizeof(vem_checkpoint) */
    const char *path; /* copied */
    double seconds;   /* between two states; 0: one before every step */
    int resume;       /* go on from the file, if it is there */
    /* Told what a person may want to know: that the file could not be written (warning 1;
     * the fit goes on, the old file stays), where the fit goes on from. NULL: nobody. */
    vem_notice_fn notice;
    void *user; /* given to `notice` */
} vem_checkpoint;
/* NULL: none. */
VEM_API vem_status vem_ctx_set_checkpoint(vem_ctx *ctx, const vem_checkpoint *checkpoint);
/* What vem_fit would take; it refuses with VEM_NO_MEMORY where `bytes` exceeds `allowed`. */
typedef struct vem_forecast {
    size_t size;      /* sizeof(vem_forecast) */
    uint64_t bytes;   /* beside the input, at the peak */
    uint64_t spilled; /* and in temporary files, because it does not fit; 0: none */
    uint64_t allowed; /* what --memory leaves, else what the machine has; 0: not known */
    double seconds; /* about: counted work at usual rates, for a usual number of steps */
} vem_forecast;
/* Fills in `forecast`, whose size is set. */
VEM_API vem_status vem_plan_fit(vem_ctx *ctx, const vem_data *data,
                                const vem_options *options, const vem_model *start,
                                vem_forecast *forecast);
/* Told by vem_fit before it takes anything, from the same look at options, rows and machine as
 * its fit; also where it then refuses. NULL: nobody. */
typedef void (*vem_forecast_fn)(void *user, const vem_forecast *forecast);
/* Who is told. */
VEM_API void vem_ctx_set_forecast(vem_ctx *ctx, vem_forecast_fn forecast, void *user);
/* Frees a report. */
VEM_API void vem_report_free(vem_report *report);
/* The numbers. */
VEM_API const vem_summary *vem_report_summary(const vem_report *report);
/* As resolved: what was left open is filled in. Its size is that of the options of the fit, so that a
 * copy of it may be used as options, too. */
VEM_API const vem_options *vem_report_options(const vem_report *report);
/* How many steps the trace has. */
VEM_API int64_t vem_report_trace_count(const vem_report *report);
/* All of them, in their order. */
VEM_API const vem_trace_step *vem_report_trace(const vem_report *report);
/* Most probable held cluster of each row under the model given back (n labels). NULL after
 * a fit on a coreset: labels of all rows cost more than such a fit; vem_assign gives them.
 */
VEM_API const int32_t *vem_report_labels(const vem_report *report);
/* One sentence per choice the fit made by itself ("closest search, because ..."), '\n'
 * between. */
VEM_API const char *vem_report_choices(const vem_report *report);
/* One sentence per thing that is other than the caller may expect (a bound that binds, rows
 * given up for --time), '\n' between; "" when all is as asked. */
VEM_API const char *vem_report_notes(const vem_report *report);
/* The rule by which the fit ends, with its numbers: one sentence. */
VEM_API const char *vem_report_stopping(const vem_report *report);

#ifdef __cplusplus
}
#endif

/* The other verbs; each of these alone also gives all of them. */
#include "files.h"
#include "index.h"
#include "select.h"
#include "stats.h"
#include "tree.h"
#include "use.h"

#endif
