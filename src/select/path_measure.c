/* What the mixtures of a path are worth. After a stop, or without time, they are not
 * measured. Where they are chosen by BIC, the free energy of what was fitted stands for the
 * likelihood in AIC and BIC then; where F holds evidence or a price of parameters, it is no
 * likelihood, and there are no criteria. */
#include <math.h>

#include "metrics/measure.h"
#include "metrics/metrics.h"
#include "model/units.h"
#include "select/select.h"

/* Rows of a sample, at least, where the mixtures of a path share what measuring may
 * take. */
static const int64_t LEAST_ROWS = 4096;

/* Measuring a mixture takes N C distances twice, and a path of fifteen mixtures of a
 * thousand clusters took longer than the search that made it. Where nothing is chosen by
 * the measures they are of a sample, the same for all mixtures, if all rows would take more
 * distances than the search did; together they take as many as the sample of one fit may
 * (metrics/measure.c), but not fewer rows than LEAST_ROWS. */
static int is_long(const vem_summary *s, int64_t n, const vem_path *path)
{
    double clusters = 0;
    for (int32_t i = 0; i < path->count; i++)
        clusters += path->points[i].clusters;
    return n > LEAST_ROWS && 2 * (double)n * clusters > (double)s->scored_pairs;
}

static vem_summary share_of(const vem_summary *summary, int64_t n, int32_t count)
{
    vem_summary s = *summary;
    const double whole = (double)vem_i_sample_size(summary, n);
    const double rows = fmax(whole / count, (double)LEAST_ROWS), share = rows / whole;
    s.scored_pairs = (int64_t)((double)s.scored_pairs * share);
    s.seed_pairs = (int64_t)((double)s.seed_pairs * share);
    return s;
}

static vem_status measure_model(vem_i_run *run, const vem_data *data,
                                const vem_view *view, const vem_options *options,
                                int reduced, const vem_model *model, vem_summary *s)
{
    vem_model *copy = NULL;
    vem_status status = vem_i_measure_view(run, view, model, options, reduced, s);
    if (status == VEM_OK && (reduced || options->measure == VEM_MEASURE_SAMPLE))
        status = vem_model_copy(run->ctx, model, &copy);
    if (status == VEM_OK && copy)
        status = vem_i_model_to_data(run, view, copy);
    if (status == VEM_OK && copy) {
        vem_model_set_normalizes(copy, options->normalize);
        status = vem_i_measure_data(run, data, copy, options, reduced, s);
    }
    vem_model_free(copy);
    return status;
}

static void put(const vem_summary *s, vem_path_point *p)
{
    p->log_likelihood = s->log_likelihood;
    p->log_likelihood_se = s->log_likelihood_se;
    p->entropy = s->entropy;
    p->aic = s->aic;
    p->bic = s->bic;
    p->icl = s->icl;
}

void vem_i_path_know(const vem_summary *summary, vem_path *path)
{
    const int32_t at = vem_i_path_find(path, path->chosen);
    if (at >= 0 && isfinite(summary->log_likelihood))
        put(summary, &path->points[at]);
}

vem_status vem_i_path_measure(vem_i_run *run, const vem_data *data, const vem_view *view,
                              const vem_options *asked, int reduced,
                              const vem_summary *summary, int shared, vem_path *path)
{
    vem_status status = VEM_OK;
    vem_options options = *asked;
    vem_summary each = *summary;
    if (shared && options.measure != VEM_MEASURE_NONE &&
        is_long(summary, data->n, path)) {
        options.measure = VEM_MEASURE_SAMPLE;
        each = share_of(summary, data->n, path->count);
    }
    for (int32_t i = 0; status == VEM_OK && i < path->count; i++) {
        vem_path_point *p = &path->points[i];
        vem_summary s = each;
        status = measure_model(run, data, view, &options, reduced, path->models[i], &s);
        p->parameters = s.parameters;
        put(&s, p);
        if (isnan(p->log_likelihood) && !shared) {
            const double mass = view->total_mass * view->mass_unit;
            const vem_i_criteria criteria =
                vem_i_criteria_of(p->parameters, mass, mass * p->free_energy, NAN);
            p->aic = criteria.aic;
            p->bic = criteria.bic;
        }
    }
    return status;
}
