/* Rows that come in batches, kept as a coreset by merge-and-reduce: the noun vem_stream. */
#ifndef VEM_DATA_STREAM_H
#define VEM_DATA_STREAM_H

#include "data/data.h"

enum { VEM_I_STREAM_LEVELS = 64 };

typedef struct vem_i_stream_bucket {
    void *x; /* rows of the stream's type; NULL: there is none */
    double *weights;
    int64_t *indices;
    int64_t n;
} vem_i_stream_bucket;

struct vem_stream {
    int64_t m;
    uint64_t seed;
    int normalize;
    int32_t d; /* 0: nothing came yet */
    vem_dtype type;
    vem_i_stream_bucket open;
    vem_i_stream_bucket levels[VEM_I_STREAM_LEVELS];
    vem_i_stream_bucket
        pending; /* a full bucket on its way to level `place`, after a failure */
    int place;
    int64_t rows, reductions;
    double mass, mass_rest; /* the rest is what the sum of the weights lost to rounding */
};

/* Batches have the columns of the first. On failure the rows before stay, and none is lost. */
vem_status vem_i_stream_add(vem_i_run *run, vem_stream *stream, const vem_data *batch);
/* What it keeps, as data that own it: there is some. */
vem_status vem_i_stream_coreset(vem_i_run *run, const vem_stream *stream,
                                vem_data **coreset);

#endif
