#include "metrics/chunks.h"

#include <math.h>

#include "base/memory.h"
#include "base/spill.h"
#include "base/whole.h"
#include "comm/comm.h"
#include "model/middle.h"
#include "model/units.h"

/* Values of a chunk, 32 MB as doubles, and rows. Sums are taken by chunks, so that these do
 * not depend on how much memory there is. */
static const int64_t CHUNK_VALUES = 1 << 22, CHUNK_ROWS = 1 << 17;

vem_precision vem_i_precision_for(const vem_model *model, const vem_data *data,
                                  vem_precision precision)
{
    if ((int)precision != VEM_AUTO)
        return precision;
    return !data || !model || vem_i_is_wide(model->family) ||
                   !vem_i_dtype_is_single(data->type)
               ? VEM_DOUBLE
               : VEM_SINGLE;
}

static vem_status check(vem_i_run *run, const vem_model *model, const vem_data *data,
                        vem_precision precision)
{
    if (precision != VEM_SINGLE && precision != VEM_DOUBLE)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The precision is %d, but it must be %d (single) or %d (double).",
            (int)precision, (int)VEM_SINGLE, (int)VEM_DOUBLE);
    if (model->d != data->d)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The model has %d columns, but the data have %d.", model->d,
                          data->d);
    return VEM_OK;
}

/* What the columns are divided by, so that how well a model can be computed does not depend on
 * their units: those of a model with a variance for each by powers of two near their
 * deviations, those of balls by one for all, and only where it is needed. NULL: as the model
 * says itself. */
static vem_status units_of(vem_i_run *run, const vem_model *model,
                           vem_precision precision, const double *origin, double **units)
{
    const int64_t d = model->d;
    const int balls = !model->family->by_column;
    double largest = 0;
    *units = NULL;
    if (model->scale || !model->family->may_be_scaled)
        return VEM_OK;
    const vem_status status = vem_i_take(run, units, (size_t)d, sizeof **units);
    if (status != VEM_OK)
        return status;
    vem_i_model_deviations(model, origin, *units);
    for (int64_t j = 0; j < d; j++)
        largest = fmax(largest, (*units)[j]);
    const double unit = balls ? vem_i_even_unit(precision, largest) : 1;
    if (balls && unit == 1) {
        vem_i_free(*units);
        *units = NULL;
        return VEM_OK;
    }
    for (int64_t j = 0; j < d; j++) {
        const double deviation = (*units)[j];
        int exponent;
        frexp(deviation, &exponent);
        (*units)[j] = balls                                  ? unit
                      : deviation > 0 && isfinite(deviation) ? ldexp(1, exponent)
                                                             : 1;
    }
    return VEM_OK;
}

/* The least variance of a column in a cluster, in the units of the view. One for all columns is
 * in those of the model's own scale already. */
static double least_variance(const vem_model *model, const double *scale)
{
    double least = INFINITY;
    const int divided = scale && scale == model->scale && !model->family->by_column;
    for (int32_t k = 0; k < vem_i_model_shapes(model); k++)
        for (int32_t j = 0; j < vem_i_square_count(model->family, model->d); j++) {
            const double s = scale && !divided ? scale[j] : 1;
            least =
                fmin(least,
                     vem_i_cluster_shape(model, k)[vem_i_variance_at(model, j)] / s / s);
        }
    return least;
}

/* `inside`: the model in the units of the view, which are those of all chunks; made with the
 * first. */
static vem_status one_chunk(vem_i_run *run, const vem_model *model, const vem_data *data,
                            const vem_i_points_request *request, vem_i_chunk_fn work,
                            void *arg, vem_model **inside)
{
    vem_i_points *points;
    vem_i_points_request wanted = *request;
    /* Only where there is a limit: a chunk is small. */
    wanted.spill =
        run->limit && vem_i_spill_wanted(run, vem_i_points_bytes(request->count, data->d,
                                                                 request->precision));
    vem_status status = vem_i_points_new(run, data, &wanted, &points);
    if (status != VEM_OK)
        return status;
    if (!*inside) {
        status = vem_i_model_to_view(run, model, &points->view, model->family, inside);
        /* Variances that the compute type cannot divide by are raised, as in a fit. */
        const vem_i_constraints least = {.floor =
                                             vem_i_safe_variance(request->precision)};
        if (status == VEM_OK)
            status = vem_i_floor_model(run, &least, *inside);
    }
    if (status == VEM_OK)
        status = vem_i_model_check_range(run, *inside, &points->view);
    if (status == VEM_OK)
        status = work(run, arg, &points->view, *inside, request->first);
    vem_i_points_free(points);
    return status;
}

int64_t vem_i_chunk_rows(int32_t d)
{
    int64_t rows = CHUNK_VALUES / d;
    rows = rows < CHUNK_ROWS ? rows : CHUNK_ROWS;
    return rows < VEM_I_BLOCK ? VEM_I_BLOCK : rows;
}

static int64_t rows_of(const vem_data *data)
{
    return data->sparse.starts ? CHUNK_ROWS : vem_i_chunk_rows(data->d);
}

void vem_i_chunks_of(const vem_data *data, int rank, int size, int64_t *first,
                     int64_t *end)
{
    const int64_t n = data->n, rows = rows_of(data);
    const int64_t chunks = vem_i_shards(n, rows);
    *first = chunks * rank / size * rows;
    *end = chunks * (rank + 1) / size * rows;
    *end = *end < n ? *end : n;
}

/* Those of the process that has most of them: so often all of them meet. */
static int64_t most_chunks(const vem_i_run *run, const vem_data *data)
{
    const int64_t chunks = vem_i_shards(data->n, rows_of(data));
    return run->comm ? vem_i_shards(chunks, run->comm->size) : chunks;
}

/* Several processes stop between two chunks, all of them at the same one. */
static vem_status meet(vem_i_run *run)
{
    const vem_status status = vem_i_comm_agree(run);
    return status == VEM_OK && run->peers && run->watch->stop
               ? vem_i_fail_stopped(run, "while rows were gone through")
               : status;
}

vem_status vem_i_for_chunks(vem_i_run *run, const vem_model *model, const vem_data *data,
                            vem_precision precision, const char *phase, int passes,
                            vem_i_chunk_fn work, void *arg)
{
    precision = vem_i_precision_for(model, data, precision);
    vem_status status = check(run, model, data, precision);
    if (status != VEM_OK)
        return status;
    double *origin;
    if ((status = vem_i_take(run, &origin, (size_t)model->d, sizeof *origin)) != VEM_OK)
        return status;
    vem_i_model_center(model, origin);
    double *units;
    if ((status = units_of(run, model, precision, origin, &units)) != VEM_OK) {
        vem_i_free(origin);
        return status;
    }
    const double *scale = units ? units : model->scale;
    vem_model *inside = NULL;
    const int64_t rows = rows_of(data);
    vem_i_run alone = vem_i_comm_alone(run); /* a chunk is one process's */
    int64_t begin = 0, end = data->n;
    if (run->comm)
        vem_i_chunks_of(data, run->comm->rank, run->comm->size, &begin, &end);
    const int owner = vem_i_whole_begin(run, phase, data->n);
    const int64_t most = most_chunks(run, data);
    int64_t first = begin;
    for (int64_t chunk = 0; chunk < most && status == VEM_OK; chunk++, first += rows) {
        if ((status = meet(run)) != VEM_OK || first >= end)
            continue;
        vem_i_points_request request = {.first = first,
                                        .count = data->n - first < rows ? data->n - first
                                                                        : rows,
                                        .precision = precision,
                                        .normalize = model->normalizes,
                                        .origin = origin,
                                        .whiten = units != NULL,
                                        .scale = scale,
                                        .support = vem_i_support_of(model->family),
                                        .least_variance = least_variance(model, scale),
                                        .phase = "read"};
        const vem_i_whole was =
            vem_i_whole_narrow(run, (double)first / (double)data->n,
                               (double)(first + request.count) / (double)data->n, passes);
        status = one_chunk(&alone, model, data, &request, work, arg, &inside);
        vem_i_whole_widen(run, &was);
    }
    vem_i_whole_end(run, owner);
    vem_model_free(inside);
    vem_i_free(units);
    vem_i_free(origin);
    return status == VEM_OK ? meet(run) : status;
}
