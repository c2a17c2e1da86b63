/* vem: clustering as maximisation of one free energy.
 *
 *     F(K, theta) = sum_i  w_i  log  sum_{c in K_i}  p(c, x_i | theta)
 *
 * This is the only public header. Nouns are opaque handles: a context, data, a model and
 * a report. Verbs return a vem_status; when it is not VEM_OK, vem_ctx_message() holds one
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
 * are 0 for a program that does not know them. (vem_options must have the library's own size:
 * compile again.)
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
 * `resume` is of vem_checkpoint, `init` is `start` of vem_fit. */
#ifndef VEM_VEM_H
#define VEM_VEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VEM_VERSION_MAJOR 0
#define VEM_VERSION_MINOR 2
#define VEM_VERSION_PATCH 0
#define VEM_VERSION "0.2.0"

#if defined(__GNUC__)
#define VEM_API __attribute__((visibility("default")))
#else
#define VEM_API
#endif

/* ---- Status ---- */

typedef enum vem_status {
    VEM_OK = 0,
    VEM_BAD_OPTION,  /* an option or argument is out of its bounds, or two contradict */
    VEM_BAD_DATA,    /* a value, a shape or a file's content is wrong */
    VEM_NO_MEMORY,   /* memory could not be had */
    VEM_IO_ERROR,    /* the system refused: absent file, full disk, permission */
    VEM_UNSUPPORTED, /* right, but not in this build */
    VEM_STOPPED /* the progress function, or the option time, stopped work that has no
                        partial result */
} vem_status;

VEM_API const char *vem_status_name(vem_status status);
VEM_API const char *vem_version(void);

/* ---- Context: threads, kernels, progress, last message ---- */

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
    const char *phase;
    int64_t done, total;
    int64_t step, max_steps;
    double free_energy;
    double seconds;    /* since the verb began */
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

VEM_API vem_status vem_ctx_new(vem_ctx **ctx);
VEM_API void vem_ctx_free(vem_ctx *ctx);
VEM_API const char *vem_ctx_message(const vem_ctx *ctx);
/* threads = 0: all cores the process may use. Results do not depend on it. */
VEM_API vem_status vem_ctx_set_threads(vem_ctx *ctx, int threads);
VEM_API int vem_ctx_threads(const vem_ctx *ctx);
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
VEM_API void vem_array_free(vem_ctx *ctx, void *array);
/* The file that an address lies in, where this context has it mapped as input, else NULL. A
 * handler of SIGBUS may ask: the file became shorter while it was read. */
VEM_API const char *vem_ctx_mapped_file(const vem_ctx *ctx, const void *address);
/* Instruction set of the kernels in use: "baseline", "avx2", "avx512", "neon",
 * "reference". Chosen once when the context is made; the environment variable VEM_CPU
 * overrides it. */
VEM_API const char *vem_ctx_cpu(const vem_ctx *ctx);

/* ---- Data: rows as stored ---- */

typedef struct vem_data vem_data;

typedef enum vem_dtype {
    VEM_FLOAT32 = 0,
    VEM_FLOAT64,
    VEM_UINT8,
    VEM_INT32,
    VEM_INT64,
    VEM_FLOAT16, /* IEEE half */
    VEM_INT8,
    VEM_INT16,
    VEM_UINT16,
    VEM_UINT32
} vem_dtype;

/* Is the first row of a text table its header? */
typedef enum vem_header {
    VEM_HEADER_AUTO = 0, /* where it holds more words than numbers */
    VEM_HEADER_YES,
    VEM_HEADER_NO
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
    vem_missing missing;
    char decimal; /* of numbers in text, '.' or ','; 0: '.', or ',' if a table with
                     semicolons has it */
    int keep_ids; /* keep the text of the id columns of a text table, for vem_data_id */
    /* With VEM_MISSING_MEAN: what missing values become, for each column that is kept. NULL:
     * the means that `model` has of its columns (without vem_model_column_means those of the
     * mixture), without a model the (weighted) means of the values that are there. */
    const double *means;
    int32_t means_count;
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

/* The format is found from the ending: .npy .csv .tsv .txt .fvecs .bvecs .fbin .u8bin, each
 * also compressed by gzip (.csv.gz), FILE.h5:/path, a coreset .npz, or "-" for CSV on standard
 * input. */
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
VEM_API void vem_data_free(vem_data *data);
VEM_API int64_t vem_data_rows(const vem_data *data);
VEM_API int32_t vem_data_columns(const vem_data *data);
VEM_API vem_dtype vem_data_dtype(const vem_data *data);
/* NULL when every row weighs 1. */
VEM_API const double *vem_data_weights(const vem_data *data);
/* Of a coreset: the row of the data that each row was (n of them). NULL for other data. */
VEM_API const int64_t *vem_data_indices(const vem_data *data);
/* Rows that were read, with those that VEM_MISSING_DROP left out; and which of them, from 0,
 * row i of the data was. */
VEM_API int64_t vem_data_rows_read(const vem_data *data);
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
/* The same of each of several files that were read as one (vem_data_header and vem_data_decimal
 * are those of the first), by their order, from 0. */
VEM_API vem_header vem_data_part_header(const vem_data *data, int32_t part);
VEM_API char vem_data_part_decimal(const vem_data *data, int32_t part);
/* With keep_ids: how many id columns are kept; the name of one (or NULL: no header); its text
 * in a row, counted as vem_data_rows_read counts. */
VEM_API int32_t vem_data_ids(const vem_data *data);
VEM_API const char *vem_data_id_name(const vem_data *data, int32_t id);
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

enum { VEM_AUTO = -1 }; /* a choice or number left to the preset, or to us */

typedef enum vem_algorithm {
    VEM_ALGORITHM_KMEANS = 0,
    VEM_ALGORITHM_LAZY_KMEANS,
    VEM_ALGORITHM_KMEANS_C,
    VEM_ALGORITHM_GMM,
    VEM_ALGORITHM_VAR_KMEANS_X,
    VEM_ALGORITHM_VAR_KMEANS_S,
    VEM_ALGORITHM_VAR_GMM_X,
    VEM_ALGORITHM_VAR_GMM_S,
    VEM_ALGORITHM_LWCS_KMEANS,
    VEM_ALGORITHM_VC_GMM,
    VEM_ALGORITHM_KD_EM,
    VEM_ALGORITHM_GREEDY,
    VEM_ALGORITHM_INCREMENTAL_EM,
    VEM_ALGORITHM_MOORE_EM
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

#define VEM_FAMILY_KIND_ROW(kind, symbol, name, what) kind,
#define VEM_FAMILY_CHOICE_ROW(kind, symbol, name, what) "|" name
#define VEM_FAMILY_COUNT_ROW(kind, symbol, name, what) +1

typedef enum vem_family_kind { VEM_FAMILY_TABLE(VEM_FAMILY_KIND_ROW) } vem_family_kind;
enum { VEM_FAMILIES = 0 VEM_FAMILY_TABLE(VEM_FAMILY_COUNT_ROW) };

typedef enum vem_prior_kind { VEM_PRIOR_FLAT = 0, VEM_PRIOR_FREE } vem_prior_kind;
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
typedef enum vem_search_kind {
    VEM_SEARCH_TABLE(VEM_SEARCH_VALUE) VEM_SEARCH_COUNT
} vem_search_kind;
#undef VEM_SEARCH_VALUE
/* "all|closest|..." */
#define VEM_SEARCH_CHOICE(NAME, name, whole) "|" #name
#define VEM_SEARCH_CHOICES (&(VEM_SEARCH_TABLE(VEM_SEARCH_CHOICE))[1])
typedef enum vem_seeding {
    VEM_SEED_RANDOM = 0,
    VEM_SEED_PLUSPLUS,
    VEM_SEED_PLUSPLUS_GREEDY,
    VEM_SEED_AFKMC2,
    VEM_SEED_TWO_LEVEL /* ours: its cost grows with the root of the number of clusters */
} vem_seeding;
typedef enum vem_empty_policy {
    VEM_EMPTY_KEEP = 0,
    VEM_EMPTY_DROP,
    VEM_EMPTY_RESEED
} vem_empty_policy;
typedef enum vem_finish { VEM_FINISH_SOFT = 0, VEM_FINISH_HARD } vem_finish;
typedef enum vem_measure_kind {
    VEM_MEASURE_NONE = 0,
    VEM_MEASURE_EXACT, /* of all rows */
    VEM_MEASURE_SAMPLE /* estimated from some rows, with standard errors */
} vem_measure_kind;
/* Of the arithmetic. Verbs that use a model take VEM_AUTO, too: single for data of float32 and
 * uint8, else double, as a fit without the option does. Single is about twice as fast; double is
 * for likelihoods that are compared to more than five digits. */
typedef enum vem_precision { VEM_SINGLE = 0, VEM_DOUBLE } vem_precision;

/* X(kind, field, default, low, high, choices, argument, help)
 * kind: INT (int64_t), REAL (double), CHOICE (int), FLAG (int, 0 or 1).
 * An argument in brackets may
 * be left out; the choice after the default is meant then.
 * The command-line name is the field with '-' for '_'. A default of VEM_AUTO means that
 * the preset or the data decide. This macro is long because the struct, the defaults, the
 * range checks, --help, the man page and the language bindings are all derived from it.
 */
#define VEM_OPTION_TABLE(X)                                                              \
    X(INT, clusters, VEM_AUTO, 1, 2147483000, NULL, "C", "number of clusters")           \
    X(CHOICE, algorithm, VEM_AUTO, 0, 0,                                                 \
      "kmeans|lazy-kmeans|kmeans-c|gmm|var-kmeans-x|var-kmeans-s|var-gmm-x|var-gmm-s|"   \
      "lwcs-kmeans|vc-gmm|kd-em|greedy|incremental-em|moore-em",                         \
      "NAME", "a paper's algorithm, exactly; options beside it override it")             \
    X(CHOICE, family, VEM_AUTO, 0, 0, &(VEM_FAMILY_TABLE(VEM_FAMILY_CHOICE_ROW))[1],     \
      "NAME", "what a cluster looks like")                                               \
    X(CHOICE, prior, VEM_AUTO, 0, 0, "flat|free", "NAME",                                \
      "weights of the clusters: all 1/C, or fitted (iso-shared: flat, the others: "      \
      "free)")                                                                           \
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
      "type of the arithmetic (default: single for f4 and u1 input, else double)")       \
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

#define VEM_OPTION_INT int64_t
#define VEM_OPTION_REAL double
#define VEM_OPTION_CHOICE int
#define VEM_OPTION_FLAG int
#define VEM_OPTION_MEMBER(kind, field, def, low, high, choices, argument, help)          \
    VEM_OPTION_##kind field;

typedef struct vem_options {
    size_t size; /* sizeof(vem_options), set by vem_options_init */
    VEM_OPTION_TABLE(VEM_OPTION_MEMBER)
} vem_options;

typedef enum vem_option_kind {
    VEM_KIND_INT,
    VEM_KIND_REAL,
    VEM_KIND_CHOICE,
    VEM_KIND_FLAG
} vem_option_kind;

typedef struct vem_option_info {
    const char *name; /* as on the command line, without "--" */
    vem_option_kind kind;
    double default_value; /* VEM_AUTO: decided by preset or data */
    double low, high;
    const char *choices;  /* "a|b|c" for VEM_KIND_CHOICE */
    const char *argument; /* what help calls its value; NULL for a flag */
    const char *help;
} vem_option_info;

VEM_API void vem_options_init(vem_options *options);
VEM_API int vem_option_count(void);
VEM_API const vem_option_info *vem_option_at(int index);
/* Set one option from text, checked against its bounds. */
VEM_API vem_status vem_options_set(vem_ctx *ctx, vem_options *options, const char *name,
                                   const char *value);
/* Value of an option as text ("auto" when left open). Returns 0 when there is no such
 * option. */
VEM_API int vem_options_get(const vem_options *options, const char *name, char *text,
                            size_t capacity);
/* Fill in everything that was left open, from the preset and from the size of the data,
 * and check the whole. vem_fit does this itself; call it to see what a fit would do. */
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

/* What a family says of the variances: a shape is a number (axes 0), a number for each column
 * (1) or a matrix (2), and there is one for all clusters (shared 1) or one for each. -1: there
 * is none (families of counts), or no such family. */
VEM_API int vem_family_axes(vem_family_kind family);
VEM_API int vem_family_shared(vem_family_kind family);
/* Arrays are copied. `weights` may be NULL (1/C each). `variances`: C shapes, or one that is
 * shared, of D^axes doubles each: iso-shared 1, iso C, diag C*D, full C*D*D, diag-shared D,
 * full-shared D*D. Families of counts have none (NULL); their means are all their parameters:
 * bernoulli probabilities of 1, poisson rates, multinomial shares that add up to 1. */
VEM_API vem_status vem_model_new(vem_ctx *ctx, vem_family_kind family, int32_t clusters,
                                 int32_t d, const double *means, const double *weights,
                                 const double *variances, vem_model **model);
VEM_API vem_status vem_model_copy(vem_ctx *ctx, const vem_model *model, vem_model **copy);
VEM_API void vem_model_free(vem_model *model);
VEM_API vem_family_kind vem_model_family(const vem_model *model);
VEM_API int32_t vem_model_clusters(const vem_model *model);
VEM_API int32_t vem_model_columns(const vem_model *model);
VEM_API const double *vem_model_means(const vem_model *model);     /* C x D */
VEM_API const double *vem_model_weights(const vem_model *model);   /* C */
VEM_API const double *vem_model_variances(const vem_model *model); /* see vem_model_new */
VEM_API size_t vem_model_variance_count(const vem_model *model);
/* Under --standardize: D factors by which columns are divided before distances are taken;
 * NULL otherwise. Variances of diag, full and their shared forms are in the data's units all the
 * same; those
 * of the isotropic families are in the divided ones (column j: variances * scale_j^2), as
 * is the quantisation error. */
VEM_API const double *vem_model_scale(const vem_model *model);
VEM_API vem_status vem_model_set_scale(vem_ctx *ctx, vem_model *model,
                                       const double *scale);
/* Whether the weights of the clusters were fitted (free) or are 1/C (flat). A new model is
 * flat where all its weights are 1/C, else free. */
VEM_API vem_prior_kind vem_model_prior(const vem_model *model);
VEM_API void vem_model_set_prior(vem_model *model, vem_prior_kind prior);
/* Numbers that were fitted: means (of multinomial D - 1 a cluster), variances and, under a free
 * prior, C - 1 weights. */
VEM_API int64_t vem_model_parameters(const vem_model *model);
/* Rows are divided by their length before they meet the model. */
VEM_API int vem_model_normalizes(const vem_model *model);
VEM_API void vem_model_set_normalizes(vem_model *model, int normalizes);
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
/* Columns that were ids in the data of the fit, and their names. */
VEM_API int32_t vem_model_ids(const vem_model *model);
VEM_API const char *vem_model_id_name(const vem_model *model, int32_t id);
/* Free-form JSON that travels with the model file ("meta"); NULL when there is none. */
VEM_API const char *vem_model_meta(const vem_model *model);
VEM_API vem_status vem_model_set_meta(vem_ctx *ctx, vem_model *model, const char *json);
VEM_API vem_status vem_model_read(vem_ctx *ctx, const char *path, vem_model **model);
VEM_API vem_status vem_model_write(vem_ctx *ctx, const vem_model *model,
                                   const char *path);

/* ---- Fit ---- */

typedef enum vem_outcome {
    VEM_OUTCOME_CONVERGED = 0,
    VEM_OUTCOME_STEP_LIMIT,
    VEM_OUTCOME_STOPPED, /* by the progress function */
    VEM_OUTCOME_BUDGET /* by a limit of time: the model is that of the last whole step. With
                            steps = 0 it is the seeding's, free_energy is NAN and there are
                            no labels */
} vem_outcome;

VEM_API const char *vem_outcome_name(vem_outcome outcome);

typedef struct vem_trace_step {
    int64_t step; /* 1, 2, ... E-steps of the loop; <= 0: steps before the first M-step */
    double free_energy; /* per unit of mass, of the model that entered this step */
    int64_t pairs;      /* (row, cluster) scores of this step */
    int64_t changed;    /* rows whose held set changed; -1 where it is not known */
    int64_t empty;      /* clusters that held nothing */
    const char *
        move; /* "swap", "drop", "reseed", "insert" or "finish" when something acted on the
                         clusters after this step, "refine" or "descend" on cells; else NULL */
    int64_t
        moved; /* clusters, or cells, it acted on; descend: nodes that were divided on the
                       way to the cells of the next step */
    double seconds; /* of this step */
} vem_trace_step;

typedef struct vem_report vem_report;

typedef struct vem_summary {
    size_t size;
    vem_outcome outcome;
    int64_t n;
    int32_t d;
    int32_t clusters; /* may be fewer than asked for under --empty drop */
    double rows_used; /* rows with a positive weight, of the coreset where there is one */
    int64_t steps, init_steps;
    double free_energy, free_energy_first; /* per unit of mass */
    int64_t scored_pairs, seed_pairs, reduce_pairs;
    double quantization_error, /* NAN of counts, too: their clusters are no places */
        log_likelihood;        /* NAN unless measured; log_likelihood per mass */
    double quantization_error_se,
        log_likelihood_se; /* their standard errors; 0: exact, over all rows */
    double quantization_error_coreset,
        log_likelihood_coreset; /* NAN but after a fit on a coreset: what it says itself */
    int64_t measured_rows;      /* rows that were measured */
    double seconds_reduce, seconds_seed, seconds_em, seconds_measure, seconds_total;
    uint64_t peak_bytes; /* resident size of the process at its highest */
    int64_t restart;     /* which of the restarts was kept, from 1 */
    int64_t items; /* weighted items the loop ran on: n, the coreset's rows, or cells */
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
} vem_summary;

/* `start`: a model to start from (its family may be simpler than the one asked for), or
 * NULL. The model given back is the one whose free energy is reported. `model` and `report` may
 * be NULL. */
VEM_API vem_status vem_fit(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                           const vem_model *start, vem_model **model,
                           vem_report **report);
/* Fits that outlast the machine: with a checkpoint set, the fits of this context
 * (vem_fit, vem_stream_model) write their state to a file after the seeding, then every so
 * often, and at their end; a stop by the progress function counts as an end. The file is
 * replaced whole or not at all. A fit that resumes from it with the same data and options
 * gives the same bits as one that was never interrupted (docs/long-runs.md). */
typedef void (*vem_notice_fn)(void *user, int warning, const char *sentence);
typedef struct vem_checkpoint {
    size_t size;      /* sizeof(vem_checkpoint) */
    const char *path; /* copied */
    double seconds;   /* between two states; 0: one before every step */
    int resume;       /* go on from the file, if it is there */
    /* Told what a person may want to know: that the file could not be written (warning 1;
     * the fit goes on, the old file stays), where the fit goes on from. NULL: nobody. */
    vem_notice_fn notice;
    void *user;
} vem_checkpoint;
/* NULL: none. */
VEM_API vem_status vem_ctx_set_checkpoint(vem_ctx *ctx, const vem_checkpoint *checkpoint);
/* What vem_fit would take; it refuses with VEM_NO_MEMORY where `bytes` exceeds `allowed`. */
typedef struct vem_forecast {
    size_t size;
    uint64_t bytes;   /* beside the input, at the peak */
    uint64_t spilled; /* and in temporary files, because it does not fit; 0: none */
    uint64_t allowed; /* what --memory leaves, else what the machine has; 0: not known */
    double seconds; /* about: counted work at usual rates, for a usual number of steps */
} vem_forecast;
VEM_API vem_status vem_plan_fit(vem_ctx *ctx, const vem_data *data,
                                const vem_options *options, const vem_model *start,
                                vem_forecast *forecast);
/* Told by vem_fit before it takes anything, from the same look at options, rows and machine as
 * its fit; also where it then refuses. NULL: nobody. */
typedef void (*vem_forecast_fn)(void *user, const vem_forecast *forecast);
VEM_API void vem_ctx_set_forecast(vem_ctx *ctx, vem_forecast_fn forecast, void *user);
VEM_API void vem_report_free(vem_report *report);
VEM_API const vem_summary *vem_report_summary(const vem_report *report);
/* As resolved: what was left open is filled in. */
VEM_API const vem_options *vem_report_options(const vem_report *report);
VEM_API int64_t vem_report_trace_count(const vem_report *report);
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

/* ---- How many clusters ---- */

/* X(NAME, symbol, name, what it does): the methods, in the order of their numbers: a new one comes
 * last. */
#define VEM_SELECT_TABLE(X)                                                              \
    X(BAYES, bayes, "bayes",                                                             \
      "Bayesian k-means: clusters are divided and joined as long as the evidence of "    \
      "rows and labels rises")                                                           \
    X(VB, vb, "vb", "the same with soft assignments: variational Bayes")                 \
    X(BIC, bic, "bic", "the same for a mixture, as long as BIC falls")                   \
    X(ICL, icl, "icl", "the same with each row in one cluster, as long as ICL falls")    \
    X(KMEANS_BIC, kmeans_bic, "kmeans-bic",                                              \
      "the same for k-means, as long as BIC falls")                                      \
    X(GMEANS, gmeans, "gmeans",                                                          \
      "k-means, clusters divided in two as long as rows are no normal sample")           \
    X(SWEEP, sweep, "sweep",                                                             \
      "a fit of each number of clusters, from the one before it; of these the least "    \
      "BIC")                                                                             \
    X(GREEDY, greedy, "greedy",                                                          \
      "one cluster more at a time, where the free energy gains most; of all numbers "    \
      "the one of the least BIC")
#define VEM_SELECT_VALUE(NAME, symbol, name, what) VEM_SELECT_##NAME,
typedef enum vem_select_method {
    VEM_SELECT_TABLE(VEM_SELECT_VALUE) VEM_SELECT_COUNT
} vem_select_method;
#undef VEM_SELECT_VALUE

/* The conjugate prior of Gaussian clusters: weights ~ Dirichlet(count); the precision of a cluster ~
 * Wishart with `dof` degrees of freedom and the inverse scale `scale`; its mean ~ normal about `mean`
 * with `strength` times that precision. What is 0 or NULL is chosen from the data: by vem_select in a
 * way that does not depend on the units of the columns, by vem_agglomerate in one that follows a
 * common unit of all of them; the rest is in the units of the data. */
typedef struct vem_prior_options {
    size_t size; /* sizeof(vem_prior_options) */
    double strength, dof, count;
    const double *mean; /* a value for each column */
    const double
        *scale; /* 1 value (for all columns alike), one for each column, or a matrix */
    int64_t scale_values;
    int64_t mean_values; /* as many as columns, where there is a mean */
} vem_prior_options;

typedef struct vem_select_options {
    size_t size; /* sizeof(vem_select_options) */
    vem_select_method method;
    int32_t min_clusters; /* of what may be chosen; 0: 1 */
    int32_t
        max_clusters; /* 0: 20 for greedy and sweep, else as many as the rows could tell apart */
    const vem_prior_options *prior; /* for bayes and vb; NULL: all of it is chosen */
    const int32_t *numbers; /* sweep: which, ascending; NULL: all of min to max (20) */
    int64_t number_count;
    double holdout; /* share of the rows that are not fitted but measured; 0: none */
} vem_select_options;

/* Mixtures of several numbers of clusters of the same rows. */
typedef struct vem_path vem_path;

/* One of them. Criteria are as in vem_scores: lower is better. What was not measured (after a stop,
 * or where time was over) is NAN; then aic and bic take free_energy for log_likelihood. */
typedef struct vem_path_point {
    int32_t clusters;
    int64_t steps;            /* E-steps until it was found, from the first mixture on */
    double free_energy;       /* per unit of mass, of the rows that were fitted */
    double log_likelihood;    /* per unit of mass, of all rows */
    double log_likelihood_se; /* its standard error; 0: exact */
    int64_t parameters;
    double entropy, aic, bic, icl;
    double objective; /* by which one of them is chosen: see vem_path_summary */
    double
        held_out; /* likelihood of a row that was held out; NAN: none was. Not in files, */
    double seconds; /* nor is what a sweep took for it; else NAN */
} vem_path_point;

/* Which was chosen, by what, and how sure that is. */
typedef struct vem_path_summary {
    size_t size; /* sizeof(vem_path_summary) */
    vem_select_method method;
    const char
        *criterion;   /* "BIC", "hard ICL", "log evidence", ... as tables are headed */
    int lower;        /* less of it is better */
    int tested;       /* not the objective but a test chose: next is 0 */
    int32_t count;    /* mixtures */
    int32_t clusters; /* of the chosen one */
    double objective; /* of the chosen one; NAN: the path is empty */
    int32_t
        next; /* clusters of the best other one; 0: there is none, and margin is NAN */
    double margin; /* by how much the chosen one is better. Below 0: min_clusters kept the
                      other one from being chosen */
    double mass;   /* sum of the weights of the rows; 0: not known, of an older file */
} vem_path_summary;

/* Finds the number of clusters: mixtures of several numbers of them in one run (of 1, 2, ...
 * max_clusters with greedy), of which `model` is the best by what the method goes by. Of the
 * options clusters and algorithm are not the caller's to set (full
 * covariances and fitted weights unless said), restarts must be 1 and measure may be sample: all
 * rows are measured without it. Where rows do not suffice for so many clusters, the path is shorter;
 * after a stop, or where time was over, it is what was found. `model`, `path` and `report` may be
 * NULL. */
VEM_API vem_status vem_select(vem_ctx *ctx, const vem_data *data,
                              const vem_options *options,
                              const vem_select_options *select, vem_model **model,
                              vem_path **path, vem_report **report);
/* How often the same is found: selections on random parts of the rows, compared with the
 * model that was chosen from all of them. */
typedef struct vem_stability {
    size_t size;       /* sizeof(vem_stability) */
    int32_t resamples; /* how many, at least 1 */
    double share;      /* of the rows in each, below 1; 0: 0.9 */
    int32_t *clusters; /* room for `resamples` numbers: how many each found; or NULL */
    double *ari; /* the same: agreement of its labels with those of the model; or NULL */
    /* From here on results. */
    int32_t done; /* resamples that came to their end */
    int64_t rows; /* in each of them */
    double clusters_mean, clusters_sd, ari_mean, ari_sd; /* NAN: too few were done */
} vem_stability;

/* `options` and `select` as for vem_select, which gave `model`; the seed draws the resamples
 * and the fits of each. Rows keep their weights. Where the progress function stops it, or
 * `time` is over, the results are those of the resamples that were done. */
VEM_API vem_status vem_select_stability(vem_ctx *ctx, const vem_data *data,
                                        const vem_options *options,
                                        const vem_select_options *select,
                                        const vem_model *model, vem_stability *stability);
VEM_API void vem_path_free(vem_path *path);
VEM_API int32_t vem_path_count(const vem_path *path);
/* By the number of clusters, ascending; NULL: there are not so many. */
VEM_API const vem_path_point *vem_path_at(const vem_path *path, int32_t index);
/* Clusters of the one that was chosen. */
VEM_API int32_t vem_path_chosen(const vem_path *path);
/* Fills in `summary`, whose size is set. */
VEM_API vem_status vem_path_describe(vem_ctx *ctx, const vem_path *path,
                                     vem_path_summary *summary);
/* The mixture of so many clusters, as a model of its own. */
VEM_API vem_status vem_path_pick(vem_ctx *ctx, const vem_path *path, int32_t clusters,
                                 vem_model **model);
/* How members move between mixtures of a path: labels of the same rows under each of some
 * of them. */
typedef struct vem_flows vem_flows;
typedef struct vem_flow_options {
    size_t size;      /* sizeof(vem_flow_options) */
    int32_t mixtures; /* at most so many, evenly apart and with the chosen one; 0: 12 */
    int64_t rows; /* at most about so many, a sample of all by their weights; 0: 20,000 */
    int64_t seed; /* of the sample */
    vem_precision precision;
} vem_flow_options;
typedef struct vem_flow {
    int32_t from, to; /* a cluster of one mixture, and of the next one */
    double share;     /* of the mass of the rows that both have; above 0 */
} vem_flow;

VEM_API vem_status vem_path_flows(vem_ctx *ctx, const vem_path *path,
                                  const vem_data *data, const vem_flow_options *options,
                                  vem_flows **flows);
VEM_API void vem_flows_free(vem_flows *flows);
/* Mixtures, and the clusters of one of them, ascending; 0: there is no such. */
VEM_API int32_t vem_flows_count(const vem_flows *flows);
VEM_API int32_t vem_flows_clusters(const vem_flows *flows, int32_t mixture);
/* Rows of the sample. */
VEM_API int64_t vem_flows_rows(const vem_flows *flows);
/* The share of the rows in each cluster of a mixture; they add up to 1. */
VEM_API const double *vem_flows_shares(const vem_flows *flows, int32_t mixture);
/* From a mixture to the next, by `from` and then `to`, *count of them, that add up to 1.
 * NULL: there is none after it. */
VEM_API const vem_flow *vem_flows_at(const vem_flows *flows, int32_t mixture,
                                     int64_t *count);
/* A picture (.svg): the objective against the number of clusters, and below it the flows,
 * each cluster as high as its share, unless `flows` is NULL. */
VEM_API vem_status vem_path_draw(vem_ctx *ctx, const vem_path *path,
                                 const vem_flows *flows, const char *file);
/* A model file with a path beside the model, in arrays whose names begin with path_: what reads
 * models reads the model. */
VEM_API vem_status vem_path_write(vem_ctx *ctx, const vem_path *path,
                                  const vem_model *model, const char *file);
VEM_API vem_status vem_path_read(vem_ctx *ctx, const char *file, vem_path **path);
/* Is there one in the file? Never fails. */
VEM_API int vem_file_has_path(const char *file);

/* ---- Trees of merges ---- */

/* X(NAME, name, what it does): which two clusters are joined next. A new one comes
 * last. */
#define VEM_DENDROGRAM_TABLE(X)                                                          \
    X(BAYES, bayes, "the two whose union has the most evidence beside their own")        \
    X(SINGLE, single, "the two whose nearest rows are nearest")                          \
    X(COMPLETE, complete, "the two whose farthest rows are nearest")                     \
    X(AVERAGE, average, "the two whose rows are nearest on average")
/* X(NAME, name, what it does): how the closest pair is kept, for bayes. The tree is
 * the same (conga: but where costs are tied), the work is not. */
#define VEM_PAIRS_TABLE(X)                                                               \
    X(FASTPAIR, fastpair, "each cluster knows the nearest of those that came later")     \
    X(CONGA, conga, "conga lines")                                                       \
    X(BRUTE, brute, "all pairs, before every merge")
#define VEM_DENDROGRAM_VALUE(NAME, name, what) VEM_DENDROGRAM_##NAME,
#define VEM_PAIRS_VALUE(NAME, name, what) VEM_PAIRS_##NAME,
typedef enum vem_dendrogram_method {
    VEM_DENDROGRAM_TABLE(VEM_DENDROGRAM_VALUE) VEM_DENDROGRAM_COUNT
} vem_dendrogram_method;
typedef enum vem_pairs_method {
    VEM_PAIRS_TABLE(VEM_PAIRS_VALUE) VEM_PAIRS_COUNT
} vem_pairs_method;
#undef VEM_DENDROGRAM_VALUE
#undef VEM_PAIRS_VALUE
/* NULL: there is none. */
VEM_API const char *vem_dendrogram_method_name(vem_dendrogram_method method);
VEM_API const char *vem_pairs_method_name(vem_pairs_method method);

typedef struct vem_dendrogram_options {
    size_t size; /* sizeof(vem_dendrogram_options) */
    vem_dendrogram_method method;
    vem_pairs_method pairs;
    int64_t
        leaves; /* leaves are the clusters of a fit with so many, by k-means; 0: rows */
    const vem_prior_options *prior; /* of bayes; NULL: all of it is chosen */
} vem_dendrogram_options;

/* A tree: leaves 0 .. N-1 are rows or groups of rows, merge k (0 .. N-2) joins nodes a
 * < b into node N + k. */
typedef struct vem_dendrogram vem_dendrogram;

typedef struct vem_dendrogram_merge {
    int64_t a, b;
    double
        delta; /* what it costs: a distance, or evidence lost (below 0: won), T(K) apart */
    double log_evidence; /* of the clustering after it; NAN but for bayes */
    double height;       /* the largest delta so far, shifted to be 0 or more */
    int64_t size;        /* leaves under it */
} vem_dendrogram_merge;

typedef struct vem_dendrogram_info {
    size_t size;
    vem_dendrogram_method method;
    vem_pairs_method pairs; /* bayes */
    int64_t n;              /* rows */
    int32_t d;
    int64_t leaves;
    int64_t distances;          /* that were measured, costs of merges included */
    double log_evidence_leaves; /* of the leaves as clusters; NAN but for bayes */
    int64_t clusters;           /* of the most evidence on the path; 0: not known */
    double log_evidence;        /* of those */
    double prior_strength, prior_dof, prior_count; /* of bayes, as they were */
    double prior_scale;                            /* the mean of the diagonal of B0 */
    double seconds_load, seconds_leaves, seconds_merge, seconds_total;
    uint64_t peak_bytes;
} vem_dendrogram_info;

/* Agglomerative clustering to the root. Of the options standardize, normalize,
 * threads, memory, time and seed count, and for bayes family (full unless said, or
 * diag or iso). A stop, or the end of time, leaves no tree (VEM_STOPPED). */
VEM_API vem_status vem_agglomerate(vem_ctx *ctx, const vem_data *data,
                                   const vem_options *options,
                                   const vem_dendrogram_options *tree_options,
                                   vem_dendrogram **tree);
VEM_API void vem_dendrogram_free(vem_dendrogram *tree);
VEM_API int64_t vem_dendrogram_leaves(const vem_dendrogram *tree);
VEM_API int64_t vem_dendrogram_rows(const vem_dendrogram *tree);
/* A merge, by its number; NULL: there is none. (Each by itself: the struct may grow.) */
VEM_API const vem_dendrogram_merge *vem_dendrogram_at(const vem_dendrogram *tree,
                                                      int64_t merge);
/* The leaf of each row; NULL: leaves are the rows. */
VEM_API const int32_t *vem_dendrogram_leaf_of_rows(const vem_dendrogram *tree);
/* The id of a leaf that is a row: the text of the first id column of the data; NULL: none. */
VEM_API const char *vem_dendrogram_id(const vem_dendrogram *tree, int64_t leaf);
VEM_API const vem_dendrogram_info *vem_dendrogram_summary(const vem_dendrogram *tree);
/* A sentence a line about what is other than one may expect; "": nothing. */
VEM_API const char *vem_dendrogram_notes(const vem_dendrogram *tree);
/* Labels of all rows for so many clusters, numbered by their first leaves; 0: those of
 * the most evidence. */
VEM_API vem_status vem_dendrogram_cut(vem_ctx *ctx, const vem_dendrogram *tree,
                                      int64_t clusters, int32_t *labels);
/* .npz with linkage (N-1, 4) as scipy's, delta and log_evidence (N-1) and, where
 * leaves are groups, leaves (one a row). Ids of the leaves are in its meta. Files of
 * others with a right linkage are read, too. */
VEM_API vem_status vem_dendrogram_write(vem_ctx *ctx, const vem_dendrogram *tree,
                                        const char *path);
VEM_API vem_status vem_dendrogram_read(vem_ctx *ctx, const char *path,
                                       vem_dendrogram **tree);
/* Newick text, branches as long as heights differ. `names`: one for each leaf, or
 * NULL: their ids, or where they have none their numbers, from 0. */
VEM_API vem_status vem_dendrogram_write_newick(vem_ctx *ctx, const vem_dendrogram *tree,
                                               const char *const *names,
                                               const char *path);
/* An hclust of R: by the ending, text for R's dget() (.R), or merge, height, order and
 * labels as .json. */
VEM_API vem_status vem_dendrogram_write_r(vem_ctx *ctx, const vem_dendrogram *tree,
                                          const char *const *names, const char *path);
/* A picture (.svg), the clusters of a cut in colors (0: none). Of large trees the
 * upper part, with the numbers of leaves below. */
VEM_API vem_status vem_dendrogram_draw(vem_ctx *ctx, const vem_dendrogram *tree,
                                       const char *const *names, int64_t clusters,
                                       const char *path);

/* How well a tree keeps known classes together: the mean share of their class in the
 * smallest subtree that holds both of two rows of one class. */
typedef struct vem_dendrogram_agreement {
    size_t size;
    double pairs; /* over all pairs of rows of one class; NAN: there is none */
    double rows;  /* over all rows, and then their class-mates (Heller and Ghahramani) */
    double pair_count;
} vem_dendrogram_agreement;
/* Classes of all rows, any integers. */
VEM_API vem_status vem_dendrogram_purity(vem_ctx *ctx, const vem_dendrogram *tree,
                                         const int64_t *classes, int64_t n,
                                         vem_dendrogram_agreement *result);

/* ---- Statistics that add up ---- */

/* One E-step of a model over some rows: all that an M-step needs to know of them. Those of
 * disjoint parts of the data add up to those of the whole, so any scheduler can spread a
 * fit over machines: accumulate each part, merge, take the next model, repeat. */
typedef struct vem_stats vem_stats;

typedef struct vem_stats_summary {
    size_t size;
    vem_family_kind family;
    vem_prior_kind prior;
    vem_search_kind search; /* all or closest */
    vem_precision precision;
    int32_t clusters, d, held;
    double floor;       /* share of the variance of all rows, as in vem_fit */
    double mass;        /* sum of the weights */
    double free_energy; /* per unit of mass, of the model the step was made with */
    double
        squared_error; /* weighted sum over rows and held clusters of q |x - mean|^2: the
                             quantisation error where one cluster is held */
    int64_t rows, rows_used, pairs;
    int64_t parts; /* calls of vem_accumulate that were added up */
    int64_t empty; /* clusters that held nothing */
} vem_stats_summary;

/* Of the options, family, prior, held, search (all or closest), floor, precision,
 * normalize, threads, and a preset that sets them, count; where the search is left open it
 * is an exact one. Refused: coreset, standardize (a model's own scale is used), a margin, and
 * the searches that need to know what rows held before. A part may have fewer rows than the
 * model has clusters. */
VEM_API vem_status vem_accumulate(vem_ctx *ctx, const vem_model *model,
                                  const vem_data *data, const vem_options *options,
                                  vem_stats **stats);
VEM_API void vem_stats_free(vem_stats *stats);
VEM_API void vem_stats_describe(const vem_stats *stats, vem_stats_summary *summary);
/* The model that the step was made with, borrowed. */
VEM_API const vem_model *vem_stats_model(const vem_stats *stats);
/* to += from; both must have been made with the same model and options. */
VEM_API vem_status vem_stats_add(vem_ctx *ctx, vem_stats *to, const vem_stats *from);
/* The M-step: what one step of vem_fit over all the rows gives, to rounding. A cluster that
 * held nothing keeps its mean and shape. */
VEM_API vem_status vem_stats_next(vem_ctx *ctx, const vem_stats *stats,
                                  vem_model **model);
/* .npz with mass, first, second and totals, and the model; numpy.load opens it. */
VEM_API vem_status vem_stats_read(vem_ctx *ctx, const char *path, vem_stats **stats);
VEM_API vem_status vem_stats_write(vem_ctx *ctx, const vem_stats *stats,
                                   const char *path);
/* The sum of files, one at a time in memory. It has the same bits whatever the order of
 * the paths. */
VEM_API vem_status vem_stats_merge(vem_ctx *ctx, const char *const *paths, int64_t count,
                                   vem_stats **stats);

/* ---- Streams ---- */

/* Rows that come in batches and are not kept: a weighted coreset of all rows so far, in
 * memory that grows with the logarithm of their number (docs/math/streaming.md). */
typedef struct vem_stream vem_stream;

typedef struct vem_stream_options {
    size_t size; /* sizeof(vem_stream_options) */
    int64_t
        bucket; /* m: rows of a bucket; the coreset is about m to m log2(n / m) rows */
    int64_t seed;
    int normalize; /* each row to length 1 as it comes in */
} vem_stream_options;

VEM_API vem_status vem_stream_new(vem_ctx *ctx, const vem_stream_options *options,
                                  vem_stream **stream);
VEM_API void vem_stream_free(vem_stream *stream);
/* Takes the rows (and weights) of a batch; the first batch fixes the columns and the type:
 * single where it is float32 or uint8, else double. Bad values are refused before any row is
 * taken. Should memory run out in the middle, vem_stream_rows tells how many rows were
 * taken, and nothing is lost. */
VEM_API vem_status vem_stream_add(vem_ctx *ctx, vem_stream *stream,
                                  const vem_data *batch);
VEM_API int64_t vem_stream_rows(const vem_stream *stream); /* taken so far */
VEM_API int64_t vem_stream_kept(const vem_stream *stream); /* rows in memory */
VEM_API double vem_stream_mass(const vem_stream *stream);  /* exact sum of the weights */
/* The coreset as data of its own, with weights and vem_data_indices. */
VEM_API vem_status vem_stream_coreset(vem_ctx *ctx, const vem_stream *stream,
                                      vem_data **coreset);
/* A fit of the coreset, as vem_fit; give the last model as `start` to track the stream. */
VEM_API vem_status vem_stream_model(vem_ctx *ctx, const vem_stream *stream,
                                    const vem_options *options, const vem_model *start,
                                    vem_model **model, vem_report **report);

/* ---- Use of a model ---- */

/* The `top` most probable clusters of each row, most probable first: clusters is n x top,
 * probabilities n x top or NULL. Probabilities are those of the full posterior: every
 * cluster is looked at. Rows and clusters so far apart, beside the cluster's least variance,
 * that the square of their distance would be no number of the precision are refused; so the
 * first label of every row is a cluster. (Of later ones -1: no more have a weight.) Of clusters
 * that are equally probable as computed the lowest number comes first; fits compute about another
 * origin, so that for a row exactly between two clusters a fit's label may be the other one. */
VEM_API vem_status vem_assign(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                              int32_t top, vem_precision precision, int32_t *clusters,
                              double *probabilities);

/* Probabilities of all clusters for each row: n x C, column c is cluster c. */
VEM_API vem_status vem_posterior(vem_ctx *ctx, const vem_model *model,
                                 const vem_data *data, vem_precision precision,
                                 double *probabilities);

typedef enum vem_assign_search {
    VEM_ASSIGN_AUTO =
        0,            /* guided where it reaches the recall for less work, else a scan */
    VEM_ASSIGN_SCAN,  /* every cluster */
    VEM_ASSIGN_GUIDED /* guided, whatever it costs; a scan only where lists are too long
                            (top > 64) */
} vem_assign_search;

/* How to assign. */
typedef struct vem_assign_options {
    size_t size; /* sizeof(vem_assign_options) */
    int32_t top; /* 0: 1 */
    vem_precision precision;
    vem_assign_search search;
    double recall; /* what a guided search must reach over all rows, with 99 % confidence,
                      above 0 and at most 1; 0: 0.999 */
    int32_t probes; /* buckets tried for a row; 0: as many as the goal needs */
    uint64_t seed;  /* of the buckets and of the sample */
} vem_assign_options;

/* What was done. Recall: the share of the `top` clusters a scan finds that the guided
 * search finds too, on rows of a sample for which both were run. `covered`: the mean
 * share of the posterior's mass that the tried clusters hold, on the same rows (NAN
 * without probabilities). A scan has recall 1, and recall_rows 0 when no sample was
 * needed to choose it. */
typedef struct vem_assign_report {
    size_t size;
    int guided; /* 0: every cluster was looked at */
    int32_t buckets, probes;
    double recall, covered;
    int64_t recall_rows;
    int64_t scored_pairs; /* of rows and clusters or buckets, and those of the sample */
    double recall_least;  /* of all rows, with 99 % confidence; 1 for a scan */
} vem_assign_report;

/* As vem_assign, but a row may be compared with the clusters of the coarse buckets nearest to
 * it only, as many as a measured recall needs. A guided search gives probabilities that
 * add up to 1 over the clusters tried for the row. `report` may be NULL. */
VEM_API vem_status vem_assign_guided(vem_ctx *ctx, const vem_model *model,
                                     const vem_data *data,
                                     const vem_assign_options *options, int32_t *clusters,
                                     double *probabilities, vem_assign_report *report);

/* log p(x) of each row under the mixture, in the units of the data: n values. */
VEM_API vem_status vem_log_densities(vem_ctx *ctx, const vem_model *model,
                                     const vem_data *data, vem_precision precision,
                                     double *log_densities);

typedef struct vem_scores {
    size_t size;
    double log_likelihood;     /* per unit of mass */
    double free_energy;        /* per unit of mass, with `held` clusters per row */
    double quantization_error; /* weighted sum of squared distances to the nearest mean */
    double bic;                /* parameters log(mass) - 2 mass log_likelihood */
    double mass;
    int64_t parameters; /* vem_model_parameters */
    int32_t held;
    double
        entropy; /* of the posteriors over all clusters, weighted sum over rows, nats */
    double aic;  /* 2 parameters - 2 mass log_likelihood; lower is better, as in BIC */
    double icl;  /* bic + 2 entropy */
} vem_scores;

/* held = 0: all clusters, then free_energy = log_likelihood. */
VEM_API vem_status vem_score(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                             int32_t held, vem_precision precision, vem_scores *scores);

/* Rows first .. first+n-1 of those that a seed draws from the mixture, in the units of the
 * data: rows is n x D, labels (n, or NULL) the clusters they were drawn from. A row depends
 * on the model, the seed and its number alone. */
VEM_API vem_status vem_sample(vem_ctx *ctx, const vem_model *model, uint64_t seed,
                              int64_t first, int64_t n, double *rows, int32_t *labels);

/* What was found: facts of one cluster. Numbers that need data are NAN, counts and rows -1
 * without. */
enum { VEM_SHOWN_COLUMNS = 3, VEM_SHOWN_ROWS = 3 };
typedef struct vem_cluster {
    size_t size;   /* sizeof(vem_cluster); of an array, that of the first counts */
    double weight; /* of the model */
    double spread; /* root of the mean over columns of (its variance / the column's); of
                      iso families: root of (its variance / the mean of the columns') */
    int32_t
        columns[VEM_SHOWN_COLUMNS]; /* in which its mean is farthest from that of all */
    double
        differences[VEM_SHOWN_COLUMNS]; /* (its mean - mean of all) / sd of the column */
    int32_t
        nearest; /* the other cluster that its mean most probably belongs to; -1: none */
    double overlap;  /* Bhattacharyya coefficient of the two, 0 to 1 */
    int64_t rows;    /* whose most probable cluster it is */
    double mass;     /* sum of their weights */
    double doubtful; /* share of that which belongs to it with a probability below 0.9 */
    int32_t rival;   /* the cluster with which its rows are most shared; -1: none */
    double shared;   /* how much: the rows that have the two as their best, each by the
                        probability of the second, as a share of the smaller mass */
    int64_t
        exemplars[VEM_SHOWN_ROWS]; /* rows of it that are nearest to its mean, from 0 */
} vem_cluster;

typedef struct vem_description {
    size_t size;     /* sizeof(vem_description) */
    double *means;   /* room for D means of the columns, or NULL */
    double *sds;     /* the same for standard deviations */
    double mass;     /* sum of the weights of the rows; NAN without data */
    double doubtful; /* share of it in doubtful rows */
    int approximate; /* rows were assigned by a guided search, with this recall */
    double recall, recall_least;
} vem_description;

/* Fills in `clusters` (C of them, the size of the first set) and `about`. `data` may be NULL: the means and deviations
 * of the columns are the mixture's then, else those of the rows. */
VEM_API vem_status vem_describe(vem_ctx *ctx, const vem_model *model,
                                const vem_data *data, vem_precision precision,
                                vem_cluster *clusters, vem_description *about);

typedef struct vem_agreement {
    size_t size;
    double nmi, ari, purity;
    int64_t clusters, classes;
} vem_agreement;

/* Compare two labellings of the same n rows; any integers may be labels. */
VEM_API vem_status vem_compare(vem_ctx *ctx, const int64_t *clusters,
                               const int64_t *classes, int64_t n,
                               vem_agreement *agreement);

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
/* The same for all rows that were read (vem_data_rows_read), -1 for those that were left out;
 * a .csv then has the text of their ids, too, where `data` kept it. */
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
VEM_API vem_status vem_soft_write_rows(vem_ctx *ctx, const char *path,
                                       const vem_data *data, const int32_t *clusters,
                                       const double *probabilities, int64_t n,
                                       int32_t top);
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

typedef enum vem_generator {
    VEM_BIRCH_GRID = 0,
    VEM_BIRCH_RANDOM,
    VEM_SEPARATED,
    VEM_TAU_SEPARATED
} vem_generator;

typedef struct vem_generate_options {
    size_t size;       /* sizeof(vem_generate_options) */
    int32_t clusters;  /* birch-grid: a square number */
    int32_t d;         /* 2 for birch */
    int64_t n;         /* rows; 0: 100 per cluster */
    double separation; /* c of separated, tau of tau-separated; 0: 2 */
    double box;        /* tau-separated: side of the box of centres in mean sds; 0: 30 */
    int64_t seed;
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
