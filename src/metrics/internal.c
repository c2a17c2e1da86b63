/* Exact measures: one E-step each, without statistics; log-likelihood and entropy are in
 * posteriors.c.
 *
 *     F   = sum_i w_i log sum_{c in K_i} p(c, x_i)    the C' best clusters of each item
 *     phi = sum_i w_i min_c |x_i - mu_c|^2            plain distances, whatever the
 *                                                     family, in the units of the data
 *                                                     (divided ones under --standardize) */
#include <math.h>

#include "base/memory.h"
#include "metrics/metrics.h"

/* Columns that were divided only to compute with count in distances as the data have them:
 * by factors (d) of at most 1 times a power of two, so that squares of the compute type do
 * not overflow. NULL: all columns were divided by `unit`. */
static vem_status distance_factors(vem_i_run *run, const vem_view *view, double **factors,
                                   double *unit)
{
    int exponent = 0, even = 1;
    double most = 0;
    for (int32_t j = 0; j < view->d; j++) {
        most = fmax(most, view->scale[j]);
        even &= view->scale[j] == view->scale[0];
    }
    *factors = NULL;
    *unit = most;
    if (even)
        return VEM_OK;
    vem_status status = vem_i_take(run, factors, (size_t)view->d, sizeof(double));
    if (status != VEM_OK)
        return status;
    frexp(most, &exponent);
    *unit = ldexp(1, exponent);
    for (int32_t j = 0; j < view->d; j++)
        (*factors)[j] = view->scale[j] / *unit;
    return VEM_OK;
}

/* One E-step with a scorer of its own. `plain`: squared distances instead of costs.
 * `items` (n, or NULL): log sum exp(-v/2) of each. */
static vem_status step(vem_i_run *run, const vem_view *view, const vem_model *model,
                       int plain, const vem_i_search_spec *search, const char *phase,
                       double *items, vem_i_estep_result *result, double *base)
{
    vem_i_scorer scorer = {0};
    vem_i_posterior posterior = {0};
    vem_i_estep *estep = NULL;
    const int divided = plain && view->whitened && view->scale;
    double *factors = NULL, unit = 1;
    vem_status status = VEM_OK;
    if (divided && (status = distance_factors(run, view, &factors, &unit)) != VEM_OK)
        return status;
    const vem_i_family *family = !plain ? model->family
                                 : run->counted
                                     ? vem_i_family_of_distances(model->family->by_column)
                                     : vem_i_family_of_distances(factors != NULL);
    status = vem_i_scorer_for(run, view,
                              vem_i_shape_of(family, model->clusters, model->d), &scorer);
    if (status == VEM_OK)
        status = vem_i_posterior_new(run, view, search, &posterior);
    if (status == VEM_OK)
        status = vem_i_estep_new(run, view, &scorer, search, 0, &estep);
    if (status == VEM_OK && !run->counted) {
        vem_progress told = {.phase = phase, .free_energy = NAN};
        if (plain)
            vem_i_scorer_prepare_distances(run, model, factors, &scorer);
        else
            vem_i_scorer_prepare(run, model, &scorer);
        *base = scorer.base;
        posterior.log_sums = items;
        *result = vem_i_estep_run(estep, &posterior, NULL, &told, 1);
        if (plain)
            result->distance = result->distance * unit * unit;
        for (int64_t i = 0; items && plain && i < view->n; i++)
            items[i] = items[i] * unit * unit;
        if (result->skipped)
            status = vem_i_fail_stopped(run, "while distances were measured");
    }
    vem_i_estep_free(estep);
    vem_i_posterior_free(&posterior);
    vem_i_scorer_free(&scorer);
    vem_i_free(factors);
    return status;
}

static vem_status log_sum(vem_i_run *run, const vem_view *view, const vem_model *model,
                          int32_t held, double *value)
{
    vem_i_search_spec search = vem_i_search_closest(model->clusters, held, 0);
    vem_i_estep_result result;
    double base;
    vem_status status =
        step(run, view, model, 0, &search, "measure", NULL, &result, &base);
    if (status == VEM_OK)
        *value = view->mass_unit *
                 (result.log_sum +
                  view->total_mass * (vem_i_view_log_shift(view) - 0.5 * base));
    return status;
}

/* sum of w min_c |x - mu_c|^2 by itself, and the distances it took. */
static vem_status quantization_error(vem_i_run *run, const vem_view *view,
                                     const vem_model *model, const char *phase,
                                     double *error, int64_t *pairs)
{
    vem_i_search_spec nearest = vem_i_search_closest(model->clusters, 1, 0);
    vem_i_estep_result result;
    double base;
    vem_status status = step(run, view, model, 1, &nearest, phase, NULL, &result, &base);
    if (status == VEM_OK && !run->counted) {
        *error = result.distance * view->mass_unit;
        *pairs = result.pairs;
    }
    return status;
}

vem_status vem_i_measure(vem_i_run *run, const vem_view *view, const vem_model *model,
                         int32_t held, vem_i_measures *measures)
{
    vem_i_measures out;
    vem_i_posteriors_sums sums = {0};
    const uint64_t before = vem_i_counted(run);
    vem_status status = vem_i_posteriors(run, view, model, NULL, NULL, &sums);
    const uint64_t first = vem_i_count_back(run, before);
    if (status != VEM_OK)
        return status;
    out.log_likelihood = out.free_energy = sums.log_likelihood;
    out.entropy = sums.entropy;
    if (held < model->clusters &&
        (status = log_sum(run, view, model, held, &out.free_energy)) != VEM_OK)
        return status;
    int64_t pairs;
    out.quantization_error = NAN; /* where clusters are no places */
    if (model->family->has_places)
        status = quantization_error(run, view, model, "measure", &out.quantization_error,
                                    &pairs);
    vem_i_count_least(run, first);
    if (status != VEM_OK)
        return status;
    *measures = out;
    return VEM_OK;
}

vem_status vem_i_measure_items(vem_i_run *run, const vem_view *view,
                               const vem_model *model, double *log_likelihoods,
                               double *entropies, double *distances)
{
    vem_i_search_spec nearest = vem_i_search_closest(model->clusters, 1, 0);
    vem_i_posteriors_sums sums;
    vem_i_estep_result result;
    double base;
    vem_status status =
        vem_i_posteriors(run, view, model, log_likelihoods, entropies, &sums);
    if (status == VEM_OK && model->family->has_places)
        status =
            step(run, view, model, 1, &nearest, "measure", distances, &result, &base);
    for (int64_t i = 0; status == VEM_OK && i < view->n; i++)
        distances[i] = model->family->has_places
                           ? -2 * distances[i] /* of a hard item the sum is exp(-v/2) */
                           : NAN;
    return status;
}
