/* Measures of all rows: those of the chunks, added up in their order, which several processes keep. */
#include "base/memory.h"
#include "comm/comm.h"
#include "metrics/chunks.h"
#include "metrics/metrics.h"

typedef struct measured {
    double mass, log_likelihood, entropy, free_energy, quantization_error;
} measured;

typedef struct totals {
    int32_t held;
    measured *chunks;
    int64_t count;
} totals;

static vem_status add_chunk(vem_i_run *run, void *arg, const vem_view *view,
                            const vem_model *model, int64_t first)
{
    (void)first;
    totals *t = arg;
    vem_i_measures measures;
    vem_status status = vem_i_measure(run, view, model, t->held, &measures);
    if (status == VEM_OK)
        t->chunks[t->count++] =
            (measured){view->total_mass * view->mass_unit, measures.log_likelihood,
                       measures.entropy, measures.free_energy,
                       measures.quantization_error};
    return status;
}

static void add_up(void *arg, void *state)
{
    const totals *t = arg;
    measured *sum = state;
    for (int64_t k = 0; k < t->count; k++) {
        sum->mass += t->chunks[k].mass;
        sum->log_likelihood += t->chunks[k].log_likelihood;
        sum->entropy += t->chunks[k].entropy;
        sum->free_energy += t->chunks[k].free_energy;
        sum->quantization_error += t->chunks[k].quantization_error;
    }
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
    totals all = {.held = held == 0 ? model->clusters : held};
    measured t = {0};
    vem_status status =
        vem_i_take(run, &all.chunks, (size_t)(data->n / vem_i_chunk_rows(data->d)) + 1,
                   sizeof t);
    if (status == VEM_OK)
        status = vem_i_for_chunks(run, model, data, precision, "measure",
                                  all.held < model->clusters ? 3 : 2, add_chunk, &all);
    if (status == VEM_OK && run->comm)
        vem_i_comm_turn(run->comm, &t, sizeof t, add_up, &all);
    else if (status == VEM_OK)
        add_up(&all, &t);
    vem_i_free(all.chunks);
    if (status == VEM_OK)
        status = vem_i_comm_agree(run);
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
                           .held = all.held,
                           .entropy = t.entropy,
                           .aic = criteria.aic,
                           .icl = criteria.icl};
    return VEM_OK;
}
