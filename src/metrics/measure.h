/* --measure: what a model is worth on all rows, exactly or from a sample of them. */
#ifndef VEM_METRICS_MEASURE_H
#define VEM_METRICS_MEASURE_H

#include "data/data.h"
#include "data/view.h"
#include "model/model.h"

typedef struct vem_i_sampled {
    double quantization_error, quantization_error_se;
    double log_likelihood, log_likelihood_se; /* per unit of mass */
    double entropy, mass;                     /* weighted sums */
    int64_t rows;                             /* of the sample */
} vem_i_sampled;

/* From about `size` of the rows; the model is in the units of the data. */
vem_status vem_i_measure_sample(vem_i_run *run, const vem_data *data,
                                const vem_model *model, vem_precision precision,
                                int64_t size, uint64_t seed, vem_i_sampled *sampled);
/* Rows of the sample that a fit with this summary can afford. */
int64_t vem_i_sample_size(const vem_summary *summary, int64_t n);

/* Two halves of --measure, by the resolved options; they fill in the summary.
 * Stopped by the caller: the measures are only missing.
 *
 * With the model in the units of the view: all rows exactly, or the coreset's own estimate. */
vem_status vem_i_measure_view(vem_i_run *run, const vem_view *view,
                              const vem_model *model, const vem_options *options,
                              int reduced, vem_summary *summary);
/* With the model in the units of the data: whatever that left open. */
vem_status vem_i_measure_data(vem_i_run *run, const vem_data *data,
                              const vem_model *model, const vem_options *options,
                              int reduced, vem_summary *summary);
/* Bytes beside the view, for n rows of which the fit may have seen a coreset. */
uint64_t vem_i_measure_bytes(const vem_i_run *run, const vem_options *options, int64_t n,
                             int32_t d, vem_dtype type, int reduced, int weighted);

#endif
