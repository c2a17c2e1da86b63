/* From rows as stored to the engine's copy.
 *
 * Pass 1 checks every value and takes the weighted mean m of the rows (and, for
 * standardisation, pass 2 their variance about it); the last pass writes (x - m) / scale
 * in the compute type. Centring happens in double before the values are narrowed, so an
 * offset that is large beside the spread of the data costs no digits.
 *
 * Sums are taken per shard, about the first row, and combined in the order of the shards.
 */
#include "data/points.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"

enum { LOAD_ROWS = 64 }; /* rows converted at a time: their doubles stay in the cache */

typedef struct pass {
    vem_ctx *ctx;
    const vem_data *data;
    int64_t first, n, per_shard;
    int32_t d;
    int normalize;
    const double *mass;    /* NULL: 1 */
    const double *center;  /* subtracted */
    const double *divisor; /* NULL: 1 */
    double *scratch;       /* LOAD_ROWS x d per thread */
    double *sums;          /* shards x d: of values, or of squares */
    double *extreme;       /* shards: largest |value| written */
    int64_t *place;        /* shards: where that is */
    double *masses;        /* shards */
    int64_t *bad; /* shards: place of the first value that is not finite, or -1 */
    int squares;  /* sum squares instead of values */
    const vem_i_kernels *kernels;
    char *out; /* NULL: nothing is written */
} pass;

void vem_i_normalize_row(double *row, int32_t d)
{
    double largest = 0, sum = 0;
    for (int32_t j = 0; j < d; j++)
        largest = fmax(largest, fabs(row[j]));
    if (largest == 0)
        return; /* a row of zeros has no direction; it stays */
    for (int32_t j = 0; j < d; j++) {
        row[j] /= largest; /* first, so that squares neither overflow nor vanish */
        sum += row[j] * row[j];
    }
    double inverse = 1 / sqrt(sum);
    for (int32_t j = 0; j < d; j++)
        row[j] *= inverse;
}

static void run_shard(void *arg, int64_t shard, int thread)
{
    pass *p = arg;
    int32_t d = p->d;
    int64_t begin = shard * p->per_shard, end = begin + p->per_shard;
    if (end > p->n)
        end = p->n;
    double *rows = p->scratch + (int64_t)thread * LOAD_ROWS * d,
           *sum = p->sums + shard * d;
    memset(sum, 0, (size_t)d * sizeof *sum);
    double mass = 0, extreme = -1;
    p->bad[shard] = -1;
    for (int64_t i = begin; i < end; i += LOAD_ROWS) {
        int64_t count = end - i < LOAD_ROWS ? end - i : LOAD_ROWS;
        vem_i_data_load(p->data, p->first + i, count, VEM_DOUBLE, rows, d);
        for (int64_t r = 0; r < count; r++) {
            double *row = rows + r * d, probe = 0;
            for (int32_t j = 0; j < d; j++)
                probe += row[j] * 0; /* NaN if any value is NaN or infinite */
            if (probe != 0) {
                int32_t j = 0;
                while (isfinite(row[j]))
                    j++;
                p->bad[shard] = (i + r) * d + j;
                return;
            }
            if (p->normalize)
                vem_i_normalize_row(row, d);
            for (int32_t j = 0; j < d; j++)
                row[j] -= p->center[j];
            if (p->divisor)
                for (int32_t j = 0; j < d; j++)
                    row[j] /= p->divisor[j];
            double w = p->mass ? p->mass[i + r] : 1;
            if (w > 0) {
                mass += w;
                if (p->squares)
                    for (int32_t j = 0; j < d; j++)
                        sum[j] += w * row[j] * row[j];
                else
                    for (int32_t j = 0; j < d; j++)
                        sum[j] += w * row[j];
            }
            double largest = 0;
            for (int32_t j = 0; j < d; j++)
                largest = fabs(row[j]) > largest ? fabs(row[j]) : largest;
            if (largest > extreme) {
                extreme = largest;
                p->place[shard] = i + r;
            }
        }
        if (p->out)
            vem_i_narrow(p->kernels, rows, count * d,
                         p->out + (size_t)(i * d) * p->kernels->element);
    }
    p->masses[shard] = mass;
    p->extreme[shard] = extreme;
}

/* "Row 3, column 2 (height)" of value `column` of row `row` of the view. */
static void name_place(const pass *p, int64_t row, int32_t column, char *text,
                       size_t size)
{
    vem_i_data_place(p->data, vem_i_data_row_number(p->data, p->first + row), column,
                     text, size);
}

/* Run one pass; `total` receives d sums. */
static vem_status run(pass *p, double *total, const char *phase)
{
    int64_t shards = vem_i_shards(p->n, p->per_shard);
    vem_progress told = {.phase = phase, .free_energy = NAN};
    double work = (double)(p->n < p->per_shard ? p->n : p->per_shard) * p->d;
    if (vem_i_parallel_watched(p->ctx, shards, work, run_shard, p, &told, 1))
        return vem_i_fail(p->ctx, VEM_STOPPED, "Stopped while the data were read.");
    memset(total, 0, (size_t)p->d * sizeof *total);
    for (int64_t s = 0; s < shards; s++) {
        if (p->bad[s] >= 0) {
            int64_t row = p->bad[s] / p->d;
            int32_t column = (int32_t)(p->bad[s] % p->d);
            double *values = p->scratch; /* large enough for one row */
            char place[160];
            vem_i_data_load(p->data, p->first + row, 1, VEM_DOUBLE, values, p->d);
            name_place(p, row, column, place, sizeof place);
            return vem_i_fail(p->ctx, VEM_BAD_DATA, "%s is %s.", place,
                              isnan(values[column]) ? "NaN" : "infinite");
        }
        for (int32_t j = 0; j < p->d; j++)
            total[j] += p->sums[s * p->d + j];
    }
    return VEM_OK;
}

/* The largest value a pass wrote, and its row. */
static double extreme_of(const pass *p, int64_t *row)
{
    double extreme = -1;
    for (int64_t s = 0; s < vem_i_shards(p->n, p->per_shard); s++)
        if (p->extreme[s] > extreme) {
            extreme = p->extreme[s];
            *row = p->place[s];
        }
    return extreme;
}

/* The value of a row that lies farthest from `center`. */
static int32_t farthest_column(const pass *p, int64_t row)
{
    double *values = p->scratch, largest = -1;
    int32_t column = 0;
    vem_i_data_load(p->data, p->first + row, 1, VEM_DOUBLE, values, p->d);
    if (p->normalize)
        vem_i_normalize_row(values, p->d);
    for (int32_t j = 0; j < p->d; j++) {
        double off = fabs(values[j] - p->center[j]) / (p->divisor ? p->divisor[j] : 1);
        if (!(off <= largest)) {
            largest = off;
            column = j;
        }
    }
    return column;
}

/* Squares of the values, and those over the least variance, must neither overflow nor
 * vanish in the compute type. */
static vem_status check_range(const pass *p, const vem_i_points_request *request,
                              double variance)
{
    int single = request->precision == VEM_SINGLE;
    double top = single ? FLT_MAX : DBL_MAX;
    double bottom = single ? FLT_MIN / FLT_EPSILON : DBL_MIN / DBL_EPSILON;
    const char *type = vem_choice_name("precision", request->precision);
    const char *advice =
        single ? "use --precision double or rescale the data" : "rescale the data";
    int64_t row = 0;
    double extreme = extreme_of(p, &row), square = 16 * extreme * extreme * p->d;
    double least = fmax(request->floor_share * variance, request->least_variance);
    if (least > 0)
        least = fmax(least, vem_i_safe_variance(request->precision));
    char place[160];
    name_place(p, row, farthest_column(p, row), place, sizeof place);
    if (!(square <= top))
        return vem_i_fail(
            p->ctx, VEM_BAD_DATA,
            "%s lies %.3g from the mean; squares of that size overflow in %s "
            "precision: %s.",
            place, extreme, type, advice);
    if (least > 0 && !(square / least <= top))
        return vem_i_fail(
            p->ctx, VEM_BAD_DATA,
            "%s lies %.3g from the mean, too far beside a variance of %.3g: their "
            "ratio overflows in %s precision: %s.",
            place, extreme, least, type, advice);
    if (!request->origin && extreme > 0 && variance < bottom)
        return vem_i_fail(
            p->ctx, VEM_BAD_DATA,
            "%s lies %.3g from the mean and no value lies farther; squares of "
            "that size vanish in %s precision: %s.",
            place, extreme, type, advice);
    return VEM_OK;
}

/* Weights whose scale would not survive the compute type are divided by a power of two
 * near their mean; others are taken as they are. */
static vem_status scale_masses(vem_ctx *ctx, const pass *p, vem_i_points *points)
{
    enum { PLAIN = 32 }; /* powers of two from 1 that do no harm */
    vem_view *view = &points->view;
    view->mass_unit = 1;
    view->used = p->n;
    if (!p->data->weights)
        return VEM_OK;
    const double *weights = p->data->weights + p->first;
    double mean = 0;
    view->used = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (weights[i] > 0)
            mean += (weights[i] - mean) / (double)++view->used;
    int exponent = 0;
    frexp(mean, &exponent);
    if (exponent > -PLAIN && exponent < PLAIN)
        exponent = 0;
    vem_status status = vem_i_take(ctx, &points->mass, (size_t)p->n, sizeof(double));
    if (status != VEM_OK)
        return status;
    view->mass_unit = ldexp(1, exponent);
    for (int64_t i = 0; i < p->n; i++)
        points->mass[i] = ldexp(weights[i], -exponent);
    view->mass = points->mass;
    return VEM_OK;
}

static vem_status fill(vem_ctx *ctx, const vem_data *data,
                       const vem_i_points_request *request, vem_i_points *points, pass *p)
{
    int32_t d = p->d;
    double *total = p->scratch + (int64_t)ctx->threads * LOAD_ROWS * d,
           *first = total + d;
    vem_status status = scale_masses(ctx, p, points);
    if (status != VEM_OK)
        return status;
    p->mass = points->view.mass;
    if (request->origin) {
        memcpy(points->origin, request->origin, (size_t)d * sizeof(double));
    } else {
        vem_i_data_load(data, p->first, 1, VEM_DOUBLE, first, d);
        for (int32_t j = 0; j < d; j++)
            first[j] = isfinite(first[j]) ? first[j] : 0; /* the pass names the place */
        if (p->normalize)
            vem_i_normalize_row(first, d);
        p->center = first;
        if ((status = run(p, total, request->phase)) != VEM_OK)
            return status;
        double mass = vem_i_sum(p->masses, vem_i_shards(p->n, p->per_shard));
        for (int32_t j = 0; j < d; j++)
            points->origin[j] = first[j] + (mass > 0 ? total[j] / mass : 0);
        for (int32_t j = 0; j < d; j++)
            if (!isfinite(points->origin[j]))
                return check_range(p, request, 1); /* about the first row instead */
    }
    p->center = points->origin;
    p->squares = 1;
    if (request->scale) {
        memcpy(points->scale, request->scale, (size_t)d * sizeof(double));
    } else if (request->standardize) {
        if ((status = run(p, total, request->phase)) != VEM_OK)
            return status;
        vem_i_points_request wide = {.precision = VEM_DOUBLE};
        if ((status = check_range(p, &wide, 1)) != VEM_OK)
            return status;
        double mass = vem_i_sum(p->masses, vem_i_shards(p->n, p->per_shard));
        for (int32_t j = 0; j < d; j++) {
            double variance = mass > 0 ? total[j] / mass : 0;
            points->scale[j] = variance > 0 ? sqrt(variance) : 1; /* a constant column */
        }
    }
    p->divisor = points->scale;
    p->out = points->x;
    if ((status = run(p, total, request->phase)) != VEM_OK)
        return status;
    vem_view *view = &points->view;
    view->total_mass = vem_i_sum(p->masses, vem_i_shards(p->n, p->per_shard));
    double squares = 0;
    for (int32_t j = 0; j < d; j++)
        squares += total[j];
    view->variance = view->total_mass > 0 ? squares / view->total_mass / d : 0;
    return check_range(p, request, view->variance);
}

vem_status vem_i_points_new(vem_ctx *ctx, const vem_data *data,
                            const vem_i_points_request *request, vem_i_points **points)
{
    int32_t d = data->d;
    pass p = {.ctx = ctx, .data = data, .first = request->first, .d = d};
    p.n = request->count > 0 ? request->count : data->n - request->first;
    p.normalize = request->normalize;
    p.kernels =
        request->precision == VEM_SINGLE ? ctx->kernels_single : ctx->kernels_double;
    /* About a megabyte of doubles each, so that there is work for many threads and the
     * sums of all shards stay small beside the data. */
    p.per_shard = (1 << 17) / d;
    p.per_shard = p.per_shard < LOAD_ROWS ? LOAD_ROWS : p.per_shard;
    int64_t shards = vem_i_shards(p.n, p.per_shard);
    vem_i_points *made = vem_i_calloc(1, sizeof *made);
    size_t rows = (size_t)p.n, columns = (size_t)d, threads = (size_t)ctx->threads;
    vem_status status = made ? VEM_OK : vem_i_fail_memory(ctx, sizeof *made);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &made->x, rows, columns * p.kernels->element);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(ctx, &made->origin, columns, sizeof(double));
    if (status == VEM_OK && (request->standardize || request->scale))
        status = vem_i_take(ctx, &made->scale, columns, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &p.scratch, threads * LOAD_ROWS + 2,
                            columns * sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &p.sums, (size_t)shards, columns * sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &p.extreme, (size_t)shards, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &p.masses, (size_t)shards, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &p.bad, (size_t)shards, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_take_zeroed(ctx, &p.place, (size_t)shards, sizeof(int64_t));
    if (status == VEM_OK) {
        made->view = (vem_view){.kernels = p.kernels,
                                .x = made->x,
                                .n = p.n,
                                .ld = d,
                                .d = d,
                                .origin = made->origin,
                                .scale = made->scale};
        status = fill(ctx, data, request, made, &p);
    }
    vem_i_free(p.scratch);
    vem_i_free(p.sums);
    vem_i_free(p.extreme);
    vem_i_free(p.masses);
    vem_i_free(p.bad);
    vem_i_free(p.place);
    if (status != VEM_OK) {
        vem_i_points_free(made);
        return status;
    }
    *points = made;
    return VEM_OK;
}

void vem_i_points_free(vem_i_points *points)
{
    if (!points)
        return;
    vem_i_free(points->x);
    vem_i_free(points->origin);
    vem_i_free(points->scale);
    vem_i_free(points->mass);
    vem_i_free(points->rows);
    vem_i_free(points);
}

double vem_i_safe_variance(vem_precision precision)
{
    return precision == VEM_SINGLE ? 1e-30 : 1e-150;
}

uint64_t vem_i_points_bytes(int64_t n, int32_t d, vem_precision precision)
{
    return (uint64_t)n * (uint64_t)d *
           (precision == VEM_SINGLE ? sizeof(float) : sizeof(double));
}

void vem_i_narrow(const vem_i_kernels *kernels, const double *values, int64_t n,
                  void *out)
{
    if (kernels->precision == VEM_DOUBLE) {
        memcpy(out, values, (size_t)n * sizeof(double));
        return;
    }
    float *narrow = out;
    for (int64_t i = 0; i < n; i++)
        narrow[i] = (float)values[i];
}

double vem_i_view_log_jacobian(const vem_view *view)
{
    double sum = 0;
    if (view->scale)
        for (int32_t j = 0; j < view->d; j++)
            sum -= log(view->scale[j]);
    return sum;
}
