/* Measures of a fit.
 *
 * exact    two E-steps over all rows: L with all clusters held, phi with the nearest. Each
 *          costs N C distances, often more than the fit.
 * sample   the same over a stratified sample (data/sample.c) and the combined ratio estimator
 *          with its standard error (metrics/estimate.c). Its size follows from the distances
 *          that the fit took: the two scans take at most a twentieth of these, but there are
 *          at least 1024 rows, and at most 131072 (or 2^24 values), where the standard error
 *          of a mean is a fourhundredth of the scatter of the rows. Where that is all rows it
 *          is exact, and the standard error is 0.
 *
 * After a fit on a coreset the coreset's own estimate stands beside either: the same sums over
 * its weighted rows (or a sample of them). It is what the fit looked at, so it flatters the
 * model. */
#include "metrics/measure.h"

#include <math.h>

#include "base/memory.h"
#include "comm/comm.h"
#include "data/sample_rows.h"
#include "metrics/chunks.h"
#include "metrics/estimate.h"
#include "metrics/metrics.h"

static const double SHARE = 0.05; /* of the distances of the fit */
static const int64_t LEAST_ROWS = 1024, MOST_ROWS = 1 << 17, MOST_VALUES = 1 << 24;

static int64_t most_rows(int32_t d)
{
    int64_t rows = MOST_VALUES / d;
    rows = rows < MOST_ROWS ? rows : MOST_ROWS;
    return rows > LEAST_ROWS ? rows : LEAST_ROWS;
}

int64_t vem_i_sample_size(const vem_summary *s, int64_t n)
{
    double pairs = (double)s->scored_pairs + (double)s->seed_pairs;
    double rows = SHARE * pairs / (2.0 * s->clusters);
    int64_t most = most_rows(s->d);
    int64_t size = rows < (double)most ? (int64_t)rows : most;
    size = size > LEAST_ROWS ? size : LEAST_ROWS;
    return size < n ? size : n;
}

/* ---- a sample ---- */

typedef struct values {
    double *log_likelihoods, *entropies, *distances;
} values;

static vem_status measure_chunk(vem_i_run *run, void *arg, const vem_view *view,
                                const vem_model *model, int64_t first)
{
    const values *v = arg;
    return vem_i_measure_items(run, view, model, v->log_likelihoods + first,
                               v->entropies + first, v->distances + first);
}

/* What measuring a sample takes beside the scans of its rows. */
typedef struct sampling {
    vem_i_sample sample;
    vem_i_sampled_rows some;
    values v;
} sampling;

static void sampling_free(sampling *s)
{
    vem_i_sample_free(&s->sample);
    vem_i_sample_rows_free(&s->some);
    vem_i_free(s->v.log_likelihoods);
    vem_i_free(s->v.entropies);
    vem_i_free(s->v.distances);
}

static vem_status sampling_new(vem_i_run *run, const vem_data *data, int64_t size,
                               uint64_t seed, sampling *s)
{
    *s = (sampling){0};
    vem_status status =
        vem_i_sample_new(run, data->weights, data->n, size, seed, &s->sample);
    if (status == VEM_OK)
        status = vem_i_sample_rows(run, data, &s->sample, &s->some);
    const size_t rows = (size_t)s->sample.size;
    const vem_i_room list[] = {
        {&s->v.log_likelihoods, rows, sizeof(double), 0},
        {&s->v.entropies, rows, sizeof(double), 0},
        {&s->v.distances, rows, sizeof(double), 0},
    };
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status != VEM_OK)
        sampling_free(s);
    return status;
}

vem_status vem_i_measure_sample(vem_i_run *run, const vem_data *data,
                                const vem_model *model, vem_precision precision,
                                int64_t size, uint64_t seed, vem_i_sampled *sampled)
{
    sampling s;
    vem_status status = sampling_new(run, data, size, seed, &s);
    if (status != VEM_OK)
        return status;
    status = vem_i_for_chunks(run, model, &s.some.data, precision, "measure", 2,
                              measure_chunk, &s.v);
    if (status == VEM_OK) {
        vem_i_estimate l = vem_i_estimate_mean(&s.sample, s.v.log_likelihoods);
        vem_i_estimate phi = vem_i_estimate_mean(&s.sample, s.v.distances);
        vem_i_estimate h = vem_i_estimate_mean(&s.sample, s.v.entropies);
        const double mass = s.sample.mass * s.sample.unit;
        *sampled = (vem_i_sampled){.quantization_error = mass * phi.mean,
                                   .quantization_error_se = mass * phi.error,
                                   .log_likelihood = l.mean,
                                   .log_likelihood_se = l.error,
                                   .entropy = mass * h.mean,
                                   .mass = mass,
                                   .rows = s.sample.size};
    }
    sampling_free(&s);
    return status;
}

/* ---- what the fit asks for ---- */

static vem_status exact_view(vem_i_run *run, const vem_view *view, const vem_model *model,
                             vem_i_sampled *exact)
{
    vem_i_measures measures;
    vem_status status = vem_i_measure(run, view, model, model->clusters, &measures);
    const double mass = view->total_mass * view->mass_unit;
    if (status == VEM_OK)
        *exact = (vem_i_sampled){.quantization_error = measures.quantization_error,
                                 .log_likelihood = measures.log_likelihood / mass,
                                 .entropy = measures.entropy,
                                 .mass = mass,
                                 .rows = view->global_n};
    return status;
}

/* What was measured of all rows, and what follows from it. */
static void put_measures(const vem_i_sampled *m, vem_summary *s)
{
    s->quantization_error = m->quantization_error;
    s->quantization_error_se = m->quantization_error_se;
    s->log_likelihood = m->log_likelihood;
    s->log_likelihood_se = m->log_likelihood_se;
    s->measured_rows = m->rows;
    const vem_i_criteria criteria =
        vem_i_criteria_of(s->parameters, m->mass, m->mass * m->log_likelihood,
                          m->entropy);
    s->entropy = m->entropy;
    s->aic = criteria.aic;
    s->bic = criteria.bic;
    s->icl = criteria.icl;
}

static vem_status measure_coreset(vem_i_run *run, const vem_view *view,
                                  const vem_model *model, const vem_options *o,
                                  vem_summary *s)
{
    const int64_t size = vem_i_sample_size(s, view->n);
    /* A sample is taken of the view's own numbers, whose distances may be in other units. */
    vem_i_sampled sampled;
    if (o->measure == VEM_MEASURE_EXACT || size == view->n || view->whitened) {
        const vem_status measured = exact_view(run, view, model, &sampled);
        if (measured == VEM_OK) {
            s->quantization_error_coreset = sampled.quantization_error;
            s->log_likelihood_coreset = sampled.log_likelihood;
        }
        return measured;
    }
    /* The view's own numbers as data. */
    const size_t element = view->kernels->element;
    double *mass = NULL;
    vem_status status = VEM_OK;
    if (view->mass)
        status = vem_i_take(run, &mass, (size_t)view->n, sizeof *mass);
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0; mass && i < view->n; i++)
        mass[i] = view->mass[i];
    const vem_data rows = {.type = element == sizeof(float) ? VEM_FLOAT32 : VEM_FLOAT64,
                           .n = view->n,
                           .d = view->d,
                           .base = view->x,
                           .row_stride = view->ld * (int64_t)element,
                           .column_stride = (int64_t)element,
                           .weights = mass,
                           .format = "memory"};
    status = vem_i_measure_sample(run, &rows, model, view->kernels->precision, size,
                                  (uint64_t)o->seed, &sampled);
    vem_i_free(mass);
    if (status == VEM_OK) {
        s->quantization_error_coreset = sampled.quantization_error * view->mass_unit;
        s->log_likelihood_coreset =
            sampled.log_likelihood + vem_i_view_log_jacobian(view);
    }
    return status;
}

vem_status vem_i_measure_view(vem_i_run *run, const vem_view *view,
                              const vem_model *model, const vem_options *o, int reduced,
                              vem_summary *s)
{
    s->quantization_error = s->log_likelihood = NAN;
    s->quantization_error_se = s->log_likelihood_se = NAN;
    s->quantization_error_coreset = s->log_likelihood_coreset = NAN;
    s->entropy = s->aic = s->bic = s->icl = NAN;
    s->parameters = vem_i_parameter_count(model->family, (vem_prior_kind)o->prior,
                                          model->clusters, model->d) -
                    (o->metric == VEM_METRIC_COSINE ? model->clusters : 0);
    const int here =
        reduced ? o->measure != VEM_MEASURE_NONE : o->measure == VEM_MEASURE_EXACT;
    if (!here || run->watch->stop)
        return VEM_OK;
    const double clock = vem_i_clock();
    vem_status status;
    if (reduced) {
        status = measure_coreset(run, view, model, o, s);
    } else {
        vem_i_sampled exact;
        status = exact_view(run, view, model, &exact);
        if (status == VEM_OK)
            put_measures(&exact, s);
    }
    s->seconds_measure = vem_i_clock() - clock;
    return status == VEM_STOPPED ? VEM_OK : status;
}

vem_status vem_i_measure_data(vem_i_run *run, const vem_data *data,
                              const vem_model *model, const vem_options *o, int reduced,
                              vem_summary *s)
{
    const int here =
        reduced ? o->measure != VEM_MEASURE_NONE : o->measure == VEM_MEASURE_SAMPLE;
    if (!here || run->watch->stop)
        return VEM_OK;
    const double clock = vem_i_clock();
    const vem_precision precision = (vem_precision)o->precision;
    const int64_t size =
        o->measure == VEM_MEASURE_SAMPLE ? vem_i_sample_size(s, data->n) : data->n;
    vem_i_sampled sampled = {.rows = data->n};
    vem_status status;
    if (size < data->n) { /* small: of several processes each takes all of it */
        vem_i_run alone = vem_i_comm_alone(run);
        status = vem_i_measure_sample(&alone, data, model, precision, size,
                                      (uint64_t)o->seed, &sampled);
    } else {
        vem_scores scores;
        vem_i_run whole = vem_i_comm_whole(run); /* a coreset is what all have */
        status = vem_i_score(&whole, model, data, model->clusters, precision, &scores);
        if (status == VEM_OK) {
            sampled.quantization_error = scores.quantization_error;
            sampled.log_likelihood = scores.log_likelihood;
            sampled.entropy = scores.entropy;
            sampled.mass = scores.mass;
        }
    }
    if (status == VEM_OK)
        put_measures(&sampled, s);
    s->seconds_measure += vem_i_clock() - clock;
    return status == VEM_STOPPED ? VEM_OK : status;
}

/* Of a view of so many rows: the scans, and factors of columns. */
static uint64_t scan_bytes(const vem_i_run *run, const vem_options *o,
                           const vem_i_kernels *kernels, int64_t rows, int32_t d)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(run, &bytes);
    const vem_view view = {
        .kernels = kernels, .n = rows, .global_n = rows, .ld = d, .d = d};
    const vem_model model = {.family = vem_i_family_of(o->family),
                             .clusters = (int32_t)o->clusters,
                             .d = d};
    vem_i_measures none;
    vem_i_measure(&dry, &view, &model, model.clusters, &none);
    return bytes + (uint64_t)d * sizeof(double);
}

uint64_t vem_i_measure_bytes(const vem_i_run *run, const vem_options *o, int64_t n,
                             int32_t d, vem_dtype type, int reduced, int weighted)
{
    if (o->measure == VEM_MEASURE_NONE)
        return 0;
    const vem_precision precision = (vem_precision)o->precision;
    const vem_i_kernels *kernels =
        precision == VEM_SINGLE ? run->ctx->kernels_single : run->ctx->kernels_double;
    if (o->measure == VEM_MEASURE_EXACT && !reduced)
        return scan_bytes(run, o, kernels, n, d);
    int64_t rows = vem_i_chunk_rows(d);
    uint64_t sample = 0;
    if (o->measure == VEM_MEASURE_SAMPLE && most_rows(d) < n) {
        rows = most_rows(d);
        vem_i_run dry = vem_i_run_dry(run, &sample);
        double one = 1; /* stands for weights, at which nobody looks */
        const vem_data all = {.type = type,
                              .n = n,
                              .d = d,
                              .weights = weighted ? &one : NULL};
        sampling none;
        if (sampling_new(&dry, &all, rows, 0, &none) == VEM_OK)
            sampling_free(&none);
    }
    rows = rows < n ? rows : n;
    const vem_i_shape shape =
        vem_i_shape_of(vem_i_family_of(o->family), (int32_t)o->clusters, d);
    return scan_bytes(run, o, kernels, rows, d) + sample +
           vem_i_model_bytes(run, shape) + /* in the units of a chunk's view */
           vem_i_points_bytes(rows, d, precision) +
           (weighted ? (uint64_t)rows * sizeof(double) : 0) +
           (vem_i_support_of(shape.family) ? (uint64_t)rows * sizeof(double) : 0);
}
