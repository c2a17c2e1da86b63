/* From rows as stored to the engine's copy.
 *
 * Pass 1 checks every value and takes the weighted mean m of the rows (and, for
 * standardisation, pass 2 their variance about it); the last pass writes (x - m) / scale
 * in the compute type; where outliers have moved the mean away from most rows, about what
 * they cannot move (origin.c). Centring happens in double before the values are narrowed, so an
 * offset that is large beside the spread of the data costs no digits.
 *
 * The sums for the mean are taken about the first row that has a mass: a row of weight 0 is
 * not there for sums, but it gets a label, so that its values must be in range. */
#include "data/points.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/spill.h"
#include "comm/comm.h"
#include "data/pass.h"
#include "data/points_inside.h"

/* Weights whose scale would not survive the compute type are divided by a power of two
 * near their mean; others are taken as they are. Every process has those of all rows, and looks at
 * all of them. */
vem_status vem_i_points_weigh(vem_i_run *run, const vem_i_pass *p, vem_i_points *points)
{
    enum { PLAIN = 32 }; /* powers of two from 1 that do no harm */
    vem_view *view = &points->view;
    const int64_t n = vem_i_pass_rows(p), before = p->whole ? p->first : 0;
    view->mass_unit = 1;
    view->used = n;
    if (!p->data->weights)
        return VEM_OK;
    const double *weights = p->data->weights + (p->first - before);
    double mean = 0;
    view->used = 0;
    for (int64_t i = 0; i < n; i++)
        if (weights[i] > 0)
            mean += (weights[i] - mean) / (double)++view->used;
    int exponent = 0;
    frexp(mean, &exponent);
    if (exponent > -PLAIN && exponent < PLAIN)
        exponent = 0;
    vem_status status = vem_i_take(run, &points->mass, (size_t)n, sizeof(double));
    if (status != VEM_OK)
        return status;
    view->mass_unit = ldexp(1, exponent);
    for (int64_t i = 0; i < n; i++)
        points->mass[i] = ldexp(weights[i], -exponent);
    view->mass = points->mass + before;
    return VEM_OK;
}

/* The sum of the rows overflowed, so there is no mean to speak of: what lies far from the
 * first row is named instead. */
static vem_status refuse_sum(vem_i_pass *p, const vem_i_points_request *request,
                             double *total)
{
    double mass;
    p->squares = 1;
    vem_status status = vem_i_pass_run(p, request->phase, total, &mass);
    return status == VEM_OK ? vem_i_range_check(p, request, 1) : status;
}

/* From the sums of squares of the columns. */
static void settle_variances(vem_view *view, const double *squares, double *deviations)
{
    double sum = 0;
    for (int32_t j = 0; j < view->d; j++) {
        const double variance = view->total_mass > 0 ? squares[j] / view->total_mass : 0;
        deviations[j] = variance > 0 ? sqrt(variance) : 1;
        sum += squares[j];
    }
    view->variance = view->total_mass > 0 ? sum / view->total_mass / view->d : 0;
}

/* The least variance of a column must be a number in the units of the data, too. */
static vem_status check_units(const vem_i_pass *p, const vem_i_points_request *request,
                              const double *scale)
{
    const double share =
        fmax(request->floor_share, vem_i_safe_variance(request->precision));
    for (int32_t j = 0; scale && request->shaped && request->floor_share > 0 && j < p->d;
         j++)
        if (!(scale[j] * scale[j] * share > DBL_MIN / DBL_EPSILON)) {
            return vem_i_fail(p->run, VEM_BAD_DATA,
                              "Column %d has a deviation of %.3g, and %.3g of its square "
                              "vanishes even in double precision: rescale the column.",
                              vem_i_data_column_number(p->data, j), scale[j], share);
        }
    return VEM_OK;
}

/* What columns are divided by, from the sums of their squares about the origin, of which the
 * mean lies `shift` away. Columns whose squares have vanished are looked at again in a small
 * unit: one that varies is not taken for a constant. */
static vem_status settle_scale(vem_i_pass *p, const vem_i_points_request *request,
                               const double *shift, double *total, double mass,
                               vem_i_points *points)
{
    const double small = 0x1p-600;
    double *unit = points->scale;
    int again = 0;
    for (int32_t j = 0; j < p->d; j++) {
        unit[j] = mass > 0 && total[j] / mass < DBL_MIN / DBL_EPSILON ? small : 1;
        again |= unit[j] < 1;
    }
    if (again) {
        p->divisor = unit;
        vem_status status = vem_i_pass_run(p, request->phase, total, &mass);
        p->divisor = NULL;
        if (status != VEM_OK)
            return status;
    }
    for (int32_t j = 0; j < p->d; j++) {
        const double off =
            shift ? shift[j] / unit[j] : 0; /* from the origin to the mean */
        const double variance = mass > 0 ? total[j] / mass - off * off : 0;
        if (variance > 0)
            unit[j] *= sqrt(variance);
        else /* a constant column */
            unit[j] = request->whiten ? vem_i_column_unit(0, points->origin[j]) : 1;
    }
    return VEM_OK;
}

/* The last pass: writes the copy, and takes variances about the mean, which lies `shift`
 * (NULL: 0) from the origin. */
static vem_status write_copy(vem_i_pass *p, const char *phase, const double *shift,
                             double *total, vem_i_points *points)
{
    vem_view *view = &points->view;
    p->divisor = points->scale;
    p->out = points->x;
    p->as_stored = view->stored != VEM_I_STORED_PLAIN;
    vem_status status = vem_i_pass_run(p, phase, total, &view->total_mass);
    if (status != VEM_OK)
        return status;
    for (int32_t j = 0; j < p->d; j++) { /* from the origin to the mean */
        double off = shift ? shift[j] / (points->scale ? points->scale[j] : 1) : 0;
        total[j] -= view->total_mass * off * off;
    }
    view->extreme = vem_i_pass_extreme(p);
    settle_variances(view, total, points->deviations);
    return VEM_OK;
}

static vem_status take_rows(vem_i_run *run, int spill, size_t rows, size_t row,
                            vem_i_points *points)
{
    size_t bytes;
    if (!(spill || run->ctx->spills_all) || __builtin_mul_overflow(rows, row, &bytes))
        return vem_i_take(run, &points->x, rows, row);
    vem_status status = vem_i_spill_new(run, bytes, &points->spill);
    if (status == VEM_OK)
        points->x = points->spill->bytes;
    return status;
}

static void free_rows(vem_i_points *points)
{
    if (!points->spill)
        vem_i_free(points->x);
    vem_i_mapping_free(points->spill);
    points->spill = NULL;
    points->x = NULL;
}

/* Rows that were to stay as they are stored become rows of T. */
static vem_status widen_rows(vem_i_run *run, int spill, vem_i_points *points)
{
    vem_view *view = &points->view;
    free_rows(points);
    const vem_status status = take_rows(run, spill, (size_t)view->n,
                                        (size_t)view->d * view->kernels->element, points);
    view->stored = VEM_I_STORED_PLAIN;
    view->x = points->x;
    return status;
}

/* The same again, divided by one number, where the values are too small as they are. */
static vem_status write_even(vem_i_pass *p, const vem_i_points_request *request,
                             const double *shift, double *total, vem_i_points *points)
{
    vem_view *view = &points->view;
    const double deviation =
        view->variance >= DBL_MIN / DBL_EPSILON ? sqrt(view->variance) : view->extreme;
    const double unit = vem_i_even_unit(request->precision, deviation);
    if (unit == 1)
        return VEM_OK;
    vem_status status =
        vem_i_take(p->run, &points->scale, (size_t)p->d, sizeof *points->scale);
    if (status == VEM_OK && view->stored)
        status = widen_rows(p->run, request->spill, points);
    if (status != VEM_OK)
        return status;
    for (int32_t j = 0; j < p->d; j++)
        points->scale[j] = unit;
    view->scale = points->scale;
    view->whitened = 1;
    return write_copy(p, request->phase, shift, total, points);
}

static vem_status fill(vem_i_run *run, const vem_data *data,
                       const vem_i_points_request *request, vem_i_points *points,
                       vem_i_pass *p, double *total)
{
    int32_t d = p->d;
    double *first = total + d, *shift = NULL, mass;
    vem_status status = vem_i_points_weigh(run, p, points);
    if (status != VEM_OK)
        return status;
    p->mass = points->view.mass;
    if (request->origin) {
        memcpy(points->origin, request->origin, (size_t)d * sizeof(double));
    } else {
        const double *masses = vem_i_pass_masses(p);
        int64_t present = 0;
        while (masses && present < vem_i_pass_rows(p) - 1 && !(masses[present] > 0))
            present++;
        vem_i_data_load(data, (p->whole ? 0 : p->first) + present, 1, VEM_DOUBLE, first,
                        d);
        for (int32_t j = 0; j < d; j++)
            first[j] = isfinite(first[j]) ? first[j] : 0; /* the pass names the place */
        if (p->normalize) /* of zeros, too: the pass names them */
            vem_i_normalize_row(first, d);
        p->center = first;
        if ((status = vem_i_pass_run(p, request->phase, total, &mass)) != VEM_OK)
            return status;
        for (int32_t j = 0; j < d; j++)
            points->origin[j] = first[j] + (mass > 0 ? total[j] / mass : 0);
        for (int32_t j = 0; j < d; j++)
            if (!isfinite(points->origin[j]))
                return refuse_sum(p, request, total);
        shift = first;
        memcpy(points->mean, points->origin, (size_t)d * sizeof(double));
        if (request->support) {
            memcpy(shift, points->mean, (size_t)d * sizeof(double));
            memset(points->origin, 0, (size_t)d * sizeof(double));
        } else if ((status = vem_i_origin_settle(p, points->origin, shift)) != VEM_OK)
            return status;
    }
    p->center = points->origin;
    p->squares = 1;
    if (request->scale) {
        memcpy(points->scale, request->scale, (size_t)d * sizeof(double));
    } else if (request->standardize || request->whiten) {
        if ((status = vem_i_pass_run(p, request->phase, total, &mass)) != VEM_OK)
            return status;
        vem_i_points_request wide = {.precision = VEM_DOUBLE};
        if ((status = vem_i_range_check(p, &wide, 1)) != VEM_OK)
            return status;
        status = settle_scale(p, request, shift, total, mass, points);
        if (status != VEM_OK)
            return status;
    }
    status = write_copy(p, request->phase, shift, total, points);
    if (status == VEM_OK && request->support && points->mean)
        memcpy(points->deviations, points->mean, (size_t)d * sizeof(double));
    if (status == VEM_OK && request->even && !points->scale)
        status = write_even(p, request, shift, total, points);
    if (status != VEM_OK)
        return status;
    status = check_units(p, request, points->scale);
    if (status == VEM_OK)
        status = vem_i_range_check(p, request, points->view.variance);
    if (status == VEM_OK)
        status = vem_i_range_check_absent(p, request, &points->view);
    return status;
}

/* The log base measures of the rows, and what they weigh. */
typedef struct bases {
    const vem_i_pass *p;
    const double *log_base;
} bases;

/* `sums`: of the masses, and of their products. */
static void add_bases(void *arg, void *sums)
{
    const bases *b = arg;
    const vem_i_pass *p = b->p;
    double *mass = sums, *sum = mass + 1;
    for (int64_t i = 0; b->log_base && i < p->n - p->halo; i++) {
        const double w = p->data->weights ? p->data->weights[p->first + i] : 1;
        *mass += w;
        *sum += w * b->log_base[i];
    }
}

/* Values are checked before anything is made of them. */
static vem_status read_counts(vem_i_run *run, const vem_i_points_request *request,
                              const vem_i_pass *p, vem_i_points *points)
{
    vem_view *view = &points->view;
    double sums[2] = {0};
    vem_status status = VEM_OK;
    if (request->support->log_base)
        status = vem_i_take(run, &points->log_base, (size_t)p->n, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_support_read(run, p->data, request->support, p->first, p->n,
                                    request->phase, points->log_base);
    bases own = {p, points->log_base};
    if (status == VEM_OK && p->whole && run->comm)
        vem_i_comm_turn(run->comm, sums, sizeof sums, add_bases, &own);
    else if (status == VEM_OK)
        add_bases(&own, sums);
    view->log_base = points->log_base;
    view->log_base_mean = sums[0] > 0 ? sums[1] / sums[0] : 0;
    return status;
}

static vem_i_pass pass_of(vem_i_run *run, const vem_data *data,
                          const vem_i_points_request *request)
{
    return (vem_i_pass){.run = run,
                        .data = data,
                        .first = request->first,
                        .n = request->count > 0 ? request->count
                                                : data->n - request->first,
                        .whole = request->whole,
                        .halo = request->halo,
                        .d = data->d,
                        .normalize = request->normalize,
                        .kernels = request->precision == VEM_SINGLE
                                       ? run->ctx->kernels_single
                                       : run->ctx->kernels_double};
}

/* What is known of the columns, which stays, and what the passes work in; *total: 2 d values of
 * scratch. Of sparse rows there is no pass. */
static vem_status take_columns(vem_i_pass *p, const vem_i_points_request *request,
                               vem_i_points *made, double **total)
{
    const size_t columns = (size_t)p->d;
    const int scales = request->standardize || request->whiten || request->scale;
    const vem_i_room list[] = {
        {&made->origin, columns, sizeof(double), 1},
        {&made->scale, scales ? columns : 0, sizeof(double), 0},
        {&made->deviations, columns, sizeof(double), 0},
        {&made->mean, request->origin ? 0 : columns, sizeof(double), 0},
        {total, 2 * columns, sizeof(double), 0},
    };
    const vem_status status = vem_i_take_rooms(p->run, list, VEM_I_COUNT(list));
    return status == VEM_OK && !p->data->sparse.starts ? vem_i_pass_new(p) : status;
}

void vem_i_points_plan(vem_i_run *dry, const vem_data *data,
                       const vem_i_points_request *request)
{
    vem_i_pass p = pass_of(dry, data, request);
    vem_i_points none = {0};
    double *total = NULL;
    take_columns(&p, request, &none, &total);
    vem_i_pass_free(&p);
}

vem_status vem_i_points_new(vem_i_run *run, const vem_data *data,
                            const vem_i_points_request *request, vem_i_points **points)
{
    int32_t d = data->d;
    if (data->sparse.starts && !request->support)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The rows are sparse, and only families of counts (bernoulli, "
                          "poisson, multinomial) take such rows.");
    vem_i_pass p = pass_of(run, data, request);
    double *total = NULL;
    vem_i_points *made = vem_i_calloc(1, sizeof *made);
    vem_status status = made ? VEM_OK : vem_i_fail_memory(run, sizeof *made);
    if (status == VEM_OK && !data->sparse.starts)
        status =
            take_rows(run, request->spill, (size_t)p.n,
                      (size_t)d * (request->stored ? vem_i_stored_bytes(request->stored)
                                                   : p.kernels->element),
                      made);
    if (status == VEM_OK)
        status = take_columns(&p, request, made, &total);
    if (status == VEM_OK) {
        made->data = data;
        made->normalize = request->normalize;
        made->view = (vem_view){.kernels = p.kernels,
                                .x = made->x,
                                .stored = request->stored,
                                .n = p.n,
                                .ld = d,
                                .d = d,
                                .first = p.whole ? p.first : 0,
                                .global_n = p.whole ? p.whole : p.n,
                                .halo = p.halo,
                                .spilled = made->spill != NULL,
                                .spill = made->spill,
                                .origin = made->origin,
                                .scale = made->scale,
                                .whitened = request->whiten,
                                .deviations = made->deviations};
        if (request->support)
            status = read_counts(run, request, &p, made);
        if (status == VEM_OK && data->sparse.starts)
            status = vem_i_points_fill_sparse(run, &p, made);
        else if (status == VEM_OK)
            status = fill(run, data, request, made, &p, total);
    }
    vem_i_pass_free(&p);
    vem_i_free(total);
    if (status == VEM_OK)
        *points = made;
    else
        vem_i_points_free(made);
    return status;
}

void vem_i_points_free(vem_i_points *points)
{
    if (!points)
        return;
    free_rows(points);
    vem_i_free(points->origin);
    vem_i_free(points->scale);
    vem_i_free(points->deviations);
    vem_i_free(points->mean);
    vem_i_free(points->mass);
    vem_i_free(points->log_base);
    vem_i_free(points->rows);
    vem_i_free(points->bounds);
    vem_i_free(points);
}

vem_i_stored_type vem_i_stored_of(vem_dtype type)
{
    return type == VEM_UINT8      ? VEM_I_STORED_U1
           : type == VEM_INT8     ? VEM_I_STORED_I1
           : type == VEM_FLOAT16  ? VEM_I_STORED_F2
           : type == VEM_BFLOAT16 ? VEM_I_STORED_BF
                                  : VEM_I_STORED_PLAIN;
}

uint64_t vem_i_points_bytes(int64_t n, int32_t d, vem_precision precision)
{
    return (uint64_t)n * (uint64_t)d *
           (precision == VEM_SINGLE ? sizeof(float) : sizeof(double));
}
