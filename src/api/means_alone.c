/* A model of which only the means are left. */
#include "api/means_alone.h"

#include "model/family.h"

vem_status vem_i_means_alone(vem_i_run *run, const vem_model *model, const double *origin,
                             vem_model **balls)
{
    const int64_t d = model->d;
    const vem_status status =
        vem_i_model_blank(run,
                          vem_i_shape_of(vem_i_family_of_distances(0), model->clusters,
                                         model->d),
                          balls);
    if (status != VEM_OK)
        return status;
    (*balls)->variances[0] = 1;
    (*balls)->normalizes = model->normalizes;
    for (int64_t i = 0; i < model->clusters * d; i++)
        (*balls)->means[i] = model->means[i] - (origin ? origin[i % d] : 0);
    return VEM_OK;
}
