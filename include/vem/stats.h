/* Fits over several machines, and over rows that come in batches: statistics that add up, and
 * streams.
 *
 * A part of vem.h, which includes it: rules of ownership, NULL, sizes and threads stand there. */
#ifndef VEM_VEM_H
#include "vem.h"
#elif !defined(VEM_VEM_STATS_H)
#define VEM_VEM_STATS_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Statistics that add up ---- */

/* One E-step of a model over some rows: all that an M-step needs to know of them. Those of
 * disjoint parts of the data add up to those of the whole, so any scheduler can spread a
 * fit over machines: accumulate each part, merge, take the next model, repeat. */
typedef struct vem_stats vem_stats;

/* What statistics say of the rows they are of, and how they were made. */
typedef struct vem_stats_summary {
    size_t size;               /* sizeof(vem_stats_summary) */
    vem_family_kind family;    /* of the model */
    vem_prior_kind prior;      /* flat, or fitted weights */
    vem_search_kind search;    /* all or closest */
    vem_precision precision;   /* of the arithmetic */
    int32_t clusters, d, held; /* of the model; its columns; clusters a row holds */
    double floor;              /* share of the variance of all rows, as in vem_fit */
    double mass;               /* sum of the weights */
    double free_energy;        /* per unit of mass, of the model the step was made with */
    double
        squared_error; /* weighted sum over rows and held clusters of q |x - mean|^2: the
                             quantisation error where one cluster is held */
    int64_t rows, rows_used,
        pairs;            /* all; those with a weight; scores of rows and clusters */
    int64_t parts;        /* calls of vem_accumulate that were added up */
    int64_t empty;        /* clusters that held nothing */
    uint64_t fingerprint; /* of the model, of how the step was made, and of the rows */
    int64_t part, of; /* as vem_stats_set_part told; 0: nobody did, or several parts */
} vem_stats_summary;

/* Of the options, family, prior, held, search (all or closest), floor, precision,
 * normalize, threads, and a preset that sets them, count; where the search is left open it
 * is an exact one. Refused: coreset, standardize (a model's own scale is used), a margin, and
 * the searches that need to know what rows held before. A part may have fewer rows than the
 * model has clusters. */
VEM_API vem_status vem_accumulate(vem_ctx *ctx, const vem_model *model,
                                  const vem_data *data, const vem_options *options,
                                  vem_stats **stats);
/* Frees statistics. */
VEM_API void vem_stats_free(vem_stats *stats);
/* Fills in `summary`, whose size is set. */
VEM_API void vem_stats_describe(const vem_stats *stats, vem_stats_summary *summary);
/* The model that the step was made with, borrowed. */
VEM_API const vem_model *vem_stats_model(const vem_stats *stats);
/* Says that these are the statistics of part 1, 2, ... of so many (at most 2^53). Without it parts are told
 * apart by their rows, so that two of the same rows are refused; none can be missed. */
VEM_API vem_status vem_stats_set_part(vem_ctx *ctx, vem_stats *stats, int64_t part,
                                      int64_t of);
/* VEM_BAD_DATA with a sentence that names what is missing, unless these are statistics of so
 * many parts; VEM_AUTO: of as many as numbered parts say there are. */
VEM_API vem_status vem_stats_expect(vem_ctx *ctx, const vem_stats *stats, int64_t parts);
/* to += from; both must have been made with the same model and options, of different parts of
 * the rows. */
VEM_API vem_status vem_stats_add(vem_ctx *ctx, vem_stats *to, const vem_stats *from);
/* The M-step: what one step of vem_fit over all the rows gives, to rounding. A cluster that
 * held nothing keeps its mean and shape. */
VEM_API vem_status vem_stats_next(vem_ctx *ctx, const vem_stats *stats,
                                  vem_model **model);
/* .npz with mass, first, second and totals, and the model; numpy.load opens it. */
VEM_API vem_status vem_stats_read(vem_ctx *ctx, const char *path, vem_stats **stats);
/* Writes such a file. */
VEM_API vem_status vem_stats_write(vem_ctx *ctx, const vem_stats *stats,
                                   const char *path);
/* The sum of files, one at a time in memory. It has the same bits whatever the order of
 * the paths. Parts that come twice are refused by the names of their files. */
VEM_API vem_status vem_stats_merge(vem_ctx *ctx, const char *const *paths, int64_t count,
                                   vem_stats **stats);

/* ---- Streams ---- */

/* Rows that come in batches and are not kept: a weighted coreset of all rows so far, in
 * memory that grows with the logarithm of their number (docs/math/streaming.md). */
typedef struct vem_stream vem_stream;

/* How a stream is kept. */
typedef struct vem_stream_options {
    size_t size; /* sizeof(vem_stream_options) */
    int64_t
        bucket;    /* m: rows of a bucket; the coreset is about m to m log2(n / m) rows */
    int64_t seed;  /* of the draws */
    int normalize; /* each row to length 1 as it comes in */
    int : 32;      /* what was padding stays unused */
    int metric;    /* vem_metric. cosine: to length 1, too; rows of zeros are refused */
} vem_stream_options;

/* A stream without rows. */
VEM_API vem_status vem_stream_new(vem_ctx *ctx, const vem_stream_options *options,
                                  vem_stream **stream);
/* Frees a stream. */
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

#ifdef __cplusplus
}
#endif

#endif
