/* What the mixtures of a path are worth. After a stop, or without time, they are not
 * measured: then the free energy of what was fitted stands for the likelihood in AIC and
 * BIC. */
#include <math.h>

#include "metrics/measure.h"
#include "metrics/metrics.h"
#include "model/units.h"
#include "select/select.h"

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

vem_status vem_i_path_measure(vem_i_run *run, const vem_data *data, const vem_view *view,
                              const vem_options *options, int reduced,
                              const vem_summary *summary, vem_path *path)
{
    vem_status status = VEM_OK;
    for (int32_t i = 0; status == VEM_OK && i < path->count; i++) {
        vem_path_point *p = &path->points[i];
        vem_summary s = *summary;
        status = measure_model(run, data, view, options, reduced, path->models[i], &s);
        p->parameters = s.parameters;
        p->log_likelihood = s.log_likelihood;
        p->log_likelihood_se = s.log_likelihood_se;
        p->entropy = s.entropy;
        p->aic = s.aic;
        p->bic = s.bic;
        p->icl = s.icl;
        if (isnan(p->log_likelihood)) {
            const double mass = view->total_mass * view->mass_unit;
            const vem_i_criteria criteria =
                vem_i_criteria_of(p->parameters, mass, mass * p->free_energy, NAN);
            p->aic = criteria.aic;
            p->bic = criteria.bic;
        }
    }
    return status;
}
