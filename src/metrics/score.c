#include "metrics/chunks.h"
#include "metrics/metrics.h"

typedef struct totals {
    int32_t held;
    double mass, log_likelihood, entropy, free_energy, quantization_error;
} totals;

static vem_status add_chunk(vem_i_run *run, void *arg, const vem_view *view,
                            const vem_model *model, int64_t first)
{
    (void)first;
    totals *t = arg;
    vem_i_measures measures;
    vem_status status = vem_i_measure(run, view, model, t->held, &measures);
    if (status != VEM_OK)
        return status;
    t->mass += view->total_mass * view->mass_unit;
    t->log_likelihood += measures.log_likelihood;
    t->entropy += measures.entropy;
    t->free_energy += measures.free_energy;
    t->quantization_error += measures.quantization_error;
    return VEM_OK;
}

vem_status vem_i_score(vem_i_run *run, const vem_model *model, const vem_data *data,
                       int32_t held, vem_precision precision, vem_scores *scores)
{
    if (held < 0 || held > model->clusters)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--held is %d, but it must lie between 0 (all) and the %d clusters of the "
            "model.",
            held, model->clusters);
    totals t = {.held = held == 0 ? model->clusters : held};
    vem_status status = vem_i_for_chunks(run, model, data, precision, "measure",
                                         t.held < model->clusters ? 3 : 2, add_chunk, &t);
    if (status != VEM_OK)
        return status;
    const int64_t parameters = vem_model_parameters(model);
    const vem_i_criteria criteria =
        vem_i_criteria_of(parameters, t.mass, t.log_likelihood, t.entropy);
    *scores = (vem_scores){.size = sizeof *scores,
                           .log_likelihood = t.log_likelihood / t.mass,
                           .free_energy = t.free_energy / t.mass,
                           .quantization_error = t.quantization_error,
                           .bic = criteria.bic,
                           .mass = t.mass,
                           .parameters = parameters,
                           .held = t.held,
                           .entropy = t.entropy,
                           .aic = criteria.aic,
                           .icl = criteria.icl};
    return VEM_OK;
}
