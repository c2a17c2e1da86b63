#include "moves/halves.h"

#include "model/spread.h"

enum { FEWEST = 4 };

vem_status vem_i_halves_new(vem_i_run *run, const vem_i_em *em, vem_i_halves *halves)
{
    const vem_i_shape two = vem_i_shape_of(em->model->family, 2, em->model->d);
    vem_status status = vem_i_model_blank(run, two, &halves->model);
    if (status == VEM_OK)
        status = vem_i_scorer_new(run, em->view->kernels, two, &halves->scorer);
    if (status == VEM_OK && em->view->spread_kind != VEM_I_SPREAD_NONE)
        status = vem_i_scorer_take_spread(run, &halves->scorer);
    if (status == VEM_OK)
        status = vem_i_stats_new(run, two, &halves->stats);
    return status;
}

void vem_i_halves_free(vem_i_halves *halves)
{
    vem_model_free(halves->model);
    vem_i_scorer_free(&halves->scorer);
    vem_i_stats_free(&halves->stats);
}

int64_t vem_i_halves_fewest(const vem_model *model)
{
    return vem_i_has_matrices(model->family) ? 2 * ((int64_t)model->d + 1) : FEWEST;
}
