/* A model meets rows chunk by chunk, so that using it takes little memory beside the
 * input. */
#ifndef VEM_METRICS_CHUNKS_H
#define VEM_METRICS_CHUNKS_H

#include "data/points.h"
#include "model/model.h"

/* What is done with one chunk: its view, the model in that view's units, and its first
 * row. */
typedef vem_status (*vem_i_chunk_fn)(vem_i_run *run, void *arg, const vem_view *view,
                                     const vem_model *model, int64_t first);

/* VEM_AUTO: what the type of the data suggests. */
vem_precision vem_i_precision_for(const vem_model *model, const vem_data *data,
                                  vem_precision precision);

/* Rows of a chunk. */
int64_t vem_i_chunk_rows(int32_t d);
/* The rows of those that process `rank` of `size` has: several processes share them. */
void vem_i_chunks_of(const vem_data *data, int rank, int size, int64_t *first,
                     int64_t *end);
/* Progress is told as rows of all in this phase; `run` makes so many passes over a chunk. */
vem_status vem_i_for_chunks(vem_i_run *run, const vem_model *model, const vem_data *data,
                            vem_precision precision, const char *phase, int passes,
                            vem_i_chunk_fn work, void *arg);

/* As vem_score, for use inside a verb that has begun. */
vem_status vem_i_score(vem_i_run *run, const vem_model *model, const vem_data *data,
                       int32_t held, vem_precision precision, vem_scores *scores);

#endif
