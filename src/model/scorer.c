#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "model/evidence.h"
#include "model/spread.h"

/* A cluster below this share of the mass is empty: dividing by it would only make noise.
 */
static const double EMPTY_SHARE = 1e-200;

static vem_i_state state_of(const vem_i_family *family, int32_t d, size_t element)
{
    return family->state ? family->state(d, element) : (vem_i_state){0};
}

vem_status vem_i_scorer_new(vem_i_run *run, const vem_i_kernels *kernels,
                            vem_i_shape shape, vem_i_scorer *scorer)
{
    const vem_i_state state = state_of(shape.family, shape.d, kernels->element);
    vem_i_scorer made = {.kernels = kernels,
                         .wide = run->ctx->kernels_double,
                         .family = shape.family,
                         .clusters = shape.clusters,
                         .capacity = shape.capacity,
                         .d = shape.d,
                         .ldc = shape.d,
                         .lda = state.one ? 0 : state.a,
                         .ldb = state.b,
                         .work_size = state.work};
    const size_t count = (size_t)shape.capacity, element = kernels->element;
    vem_status status =
        vem_i_take_zeroed(run, &made.means, count, (size_t)shape.d * element);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &made.bias, count, element);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &made.scale, count, element);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &made.norms, count, element);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &made.bias_wide, count, sizeof(double));
    if (status == VEM_OK && state.a)
        status = vem_i_take_zeroed(run, &made.a, state.one ? 1 : count,
                                   (size_t)state.a * element);
    if (status == VEM_OK && state.b)
        status = vem_i_take_zeroed(run, &made.b, count, (size_t)state.b * element);
    if (status == VEM_OK && state.work)
        status = vem_i_take(run, &made.work, (size_t)run->threads,
                            (size_t)made.work_size * sizeof(double));
    if (status != VEM_OK) {
        vem_i_scorer_free(&made);
        return status;
    }
    made.about = made.means;
    *scorer = made;
    return VEM_OK;
}

vem_status vem_i_scorer_for(vem_i_run *run, const vem_view *view, vem_i_shape shape,
                            vem_i_scorer *scorer)
{
    vem_status status = vem_i_scorer_new(run, view->kernels, shape, scorer);
    if (status == VEM_OK)
        scorer->beyond = view->beyond;
    if (status == VEM_OK && vem_i_view_is_sparse(view)) {
        scorer->by_column = 1;
        scorer->lda = shape.capacity;
    }
    return status;
}

void vem_i_scorer_free(vem_i_scorer *scorer)
{
    vem_i_free(scorer->means);
    vem_i_free(scorer->nearer);
    vem_i_free(scorer->bias);
    vem_i_free(scorer->scale);
    vem_i_free(scorer->norms);
    vem_i_free(scorer->a);
    vem_i_free(scorer->b);
    vem_i_free(scorer->precisions);
    vem_i_free(scorer->bias_wide);
    vem_i_free(scorer->work);
    memset(scorer, 0, sizeof *scorer);
}

/* ---- some of the clusters ---- */

static void gather_values(const vem_i_kernels *kernels, const void *from,
                          const int32_t *list, int32_t count, void *to)
{
    if (kernels->precision == VEM_SINGLE)
        for (int32_t i = 0; i < count; i++)
            ((float *)to)[i] = ((const float *)from)[list[i]];
    else
        for (int32_t i = 0; i < count; i++)
            ((double *)to)[i] = ((const double *)from)[list[i]];
}

static void gather_rows(const void *from, size_t row, const int32_t *list, int32_t count,
                        void *to)
{
    for (int32_t i = 0; i < count; i++)
        memcpy((char *)to + (size_t)i * row, (const char *)from + (size_t)list[i] * row,
               row);
}

void vem_i_scorer_gather(const vem_i_scorer *from, const int32_t *list, int32_t count,
                         const void *origin, vem_i_scorer *to)
{
    const vem_i_kernels *kernels = from->kernels;
    const size_t element = kernels->element;
    const vem_i_state state = state_of(from->family, from->d, element);
    to->clusters = count;
    to->base = from->base;
    gather_values(kernels, from->bias, list, count, to->bias);
    if (from->family->dots)
        gather_values(kernels, from->scale, list, count, to->scale);
    if (!state.b) /* else b has the means in it */
        kernels->gather(from->means, from->ldc, list, count, from->d, origin, to->means,
                        to->ldc, to->norms);
    if (state.one)
        memcpy(to->a, from->a, (size_t)state.a * element);
    else if (state.a)
        gather_rows(from->a, (size_t)state.a * element, list, count, to->a);
    if (state.b)
        gather_rows(from->b, (size_t)state.b * element, list, count, to->b);
    if (from->precisions && from->ldp == 0)
        memcpy(to->precisions, from->precisions,
               (size_t)vem_i_spread_values(from->family->needs, from->d) * element);
    else if (from->precisions)
        gather_rows(from->precisions, (size_t)from->ldp * element, list, count,
                    to->precisions);
}

/* ---- from a model ---- */

enum { PREPARED_TOGETHER = 256 };

typedef struct preparation {
    const vem_model *model;
    vem_i_scorer *scorer;
} preparation;

/* The means and their squared lengths, from what was stored after rounding. */
static void prepare_some(void *arg, int64_t task, int thread)
{
    (void)thread;
    const preparation *p = arg;
    const vem_i_kernels *kernels = p->scorer->kernels;
    int64_t d = p->model->d, begin = task * PREPARED_TOGETHER;
    int64_t end = begin + PREPARED_TOGETHER;
    end = end < p->model->clusters ? end : p->model->clusters;
    vem_i_narrow(kernels, p->model->means + begin * d, (end - begin) * d,
                 (char *)p->scorer->means + (size_t)(begin * d) * kernels->element);
    for (int64_t c = begin; c < end; c++) {
        double norm = 0;
        for (int64_t j = 0; j < d; j++) {
            double value = vem_i_value(kernels, p->scorer->means, c * d + j);
            norm += value * value;
        }
        vem_i_store(kernels, p->scorer->norms, c, norm);
    }
}

static void prepare_means(vem_i_run *run, const vem_model *model, vem_i_scorer *scorer)
{
    preparation p = {model, scorer};
    scorer->about = scorer->family->shape_axes < 0 ? NULL : scorer->means;
    vem_i_parallel_light(run, vem_i_shards(model->clusters, PREPARED_TOGETHER),
                         3.0 * PREPARED_TOGETHER * model->d, prepare_some, &p);
}

void vem_i_scorer_prepare(vem_i_run *run, const vem_model *model, vem_i_scorer *scorer)
{
    scorer->clusters = model->clusters;
    prepare_means(run, model, scorer);
    scorer->family->prepare(run, model, scorer);
    vem_i_scorer_prepare_spread(run, scorer);
    /* The common part stays in double, so that costs of the compute type keep their
     * digits. */
    double base = INFINITY;
    for (int32_t c = 0; c < model->clusters; c++)
        base = fmin(base, scorer->bias_wide[c]);
    scorer->base = isfinite(base) ? base : 0;
    for (int32_t c = 0; c < model->clusters; c++)
        vem_i_store(scorer->kernels, scorer->bias, c,
                    scorer->bias_wide[c] - scorer->base);
}

void vem_i_scorer_prepare_means(vem_i_run *run, const vem_model *model,
                                vem_i_scorer *scorer)
{
    if (vem_i_has_matrices(scorer->family))
        prepare_means(run, model, scorer); /* what it has of matrices knows no means */
    else
        vem_i_scorer_prepare(run, model, scorer);
}

void vem_i_scorer_prepare_distances(vem_i_run *run, const vem_model *model,
                                    const double *factors, vem_i_scorer *scorer)
{
    scorer->clusters = model->clusters;
    prepare_means(run, model, scorer);
    scorer->base = 0;
    for (int32_t c = 0; c < model->clusters; c++)
        vem_i_store(scorer->kernels, scorer->bias, c, 0);
    scorer->family->prepare_distances(model, factors, scorer);
}

static double rounded(const vem_i_kernels *kernels, double value)
{
    return kernels->precision == VEM_SINGLE ? (double)(float)value : value;
}

/* The same on the sphere: to s = S / |S|, or with b = relax - 1 beyond it, to the direction of
 * s + b (s - a), a the old mean. That is as near to s as a is: with t the angle from a to s, it has
 * 1 + b (1 - cos t) >= |cos t| along s and b sin t <= sin t across. So S . mu does not fall. Returns 0
 * where the rows have no common direction. */
static int move_on_sphere(const vem_i_scorer *scorer, const double *first, int32_t c,
                          double mass, const vem_i_constraints *constraints, double *mean)
{
    const vem_i_sphere *sphere = &constraints->sphere;
    const double beyond = constraints->relax - 1;
    double square = 0, relaxed = 0;
    for (int32_t j = 0; j < scorer->d; j++) {
        const double to = vem_i_about(scorer, c, j) + first[j] / mass;
        const double x = vem_i_sphere_out(sphere, to, j);
        square += x * x;
    }
    const double length = sqrt(square);
    if (!(length > vem_i_sphere_least(scorer->kernels->precision)))
        return 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t j = 0; j < scorer->d; j++) {
            const double about = vem_i_about(scorer, c, j);
            const double s =
                vem_i_sphere_out(sphere, about + first[j] / mass, j) / length;
            const double x = s + beyond * (s - vem_i_sphere_out(sphere, about, j));
            if (pass == 0)
                relaxed += x * x;
            else
                mean[j] = rounded(scorer->kernels,
                                  vem_i_sphere_in(sphere, x / sqrt(relaxed), j));
        }
    return 1;
}

double vem_i_move_mean(const vem_i_scorer *scorer, const vem_i_stats *stats, int32_t c,
                       const vem_i_constraints *constraints, double *mean)
{
    double mass = *vem_i_stats_mass(stats, c);
    if (!(mass > EMPTY_SHARE * constraints->total_mass))
        return 0;
    const double *first = vem_i_stats_first(stats, c);
    const vem_i_conjugate *prior = constraints->conjugate;
    if (constraints->sphere.origin) {
        move_on_sphere(scorer, first, c, mass, constraints, mean);
        return mass;
    }
    for (int32_t j = 0; j < stats->d; j++) {
        const double about = vem_i_about(scorer, c, j);
        double to = about + constraints->relax * (first[j] / mass);
        if (prior)
            to += prior->strength * (prior->mean[j] - to) /
                  (prior->strength + mass * prior->mass_unit);
        mean[j] = rounded(scorer->kernels, to);
    }
    return mass;
}

vem_status vem_i_scorer_part(vem_i_run *run, vem_i_scorer *scorer)
{
    size_t row = (size_t)scorer->ldc * scorer->kernels->element;
    if (!scorer->nearer) {
        vem_status status =
            vem_i_take(run, &scorer->nearer, (size_t)scorer->capacity, row);
        if (status != VEM_OK)
            return status;
    }
    if (run->counted)
        return VEM_OK;
    if (scorer->about != scorer->nearer)
        memcpy(scorer->nearer, scorer->means, (size_t)scorer->clusters * row);
    scorer->about = scorer->nearer;
    return VEM_OK;
}

int vem_i_scorer_approach(const vem_i_scorer *scorer, int32_t c, const double *mean)
{
    int moves = 0;
    for (int64_t j = 0; j < scorer->d; j++) {
        const int64_t at = c * scorer->ldc + j;
        const double value = rounded(scorer->kernels, mean[j]);
        moves |= value != vem_i_value(scorer->kernels, scorer->nearer, at);
        vem_i_store(scorer->kernels, scorer->nearer, at, value);
    }
    return moves;
}

void vem_i_maximize_weights(const vem_i_stats *stats,
                            const vem_i_constraints *constraints, vem_model *model)
{
    if (constraints->prior == VEM_PRIOR_EVEN)
        return; /* prices change by moves alone */
    /* Probabilities of single precision add up to 1 within rounding only: the masses are
     * divided by their own sum, which is the maximum of sum_c N_c log pi_c, too. */
    double total = 0;
    for (int32_t c = 0; c < model->clusters; c++)
        total += *vem_i_stats_mass(stats, c);
    for (int32_t c = 0; c < model->clusters; c++) {
        if (constraints->prior == VEM_PRIOR_FLAT || constraints->shared) {
            model->weights[c] = 1.0 / model->clusters;
        } else {
            double share = total > 0 ? *vem_i_stats_mass(stats, c) / total : 0;
            model->weights[c] = share > EMPTY_SHARE ? share : 0;
        }
    }
}
