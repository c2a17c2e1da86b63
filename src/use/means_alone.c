/* A model of which only the means are left. */
#include "use/means_alone.h"

#include <math.h>
#include <string.h>

#include "data/unit.h"
#include "model/family.h"
#include "model/middle.h"

/* Costs are squares divided by it: by 1, or a power of four, which changes no digit. */
static double size_of(double extent)
{
    enum { LEAST = -500 }; /* whose square is a number */
    int exponent;
    if (vem_i_even_unit(VEM_SINGLE, extent) == 1)
        return 1;
    frexp(extent, &exponent);
    exponent = exponent > LEAST ? exponent : LEAST;
    return ldexp(1, 2 * exponent);
}

vem_status vem_i_means_alone(vem_i_run *run, const vem_model *model, vem_model **balls)
{
    double extent;
    vem_status status = vem_i_model_extent(run, model, &extent);
    if (status == VEM_OK)
        status = vem_i_model_blank(run,
                                   vem_i_shape_of(vem_i_family_of_distances(0),
                                                  model->clusters, model->d),
                                   balls);
    if (status != VEM_OK)
        return status;
    (*balls)->variances[0] = size_of(extent);
    (*balls)->normalizes = model->normalizes;
    memcpy((*balls)->means, model->means,
           (size_t)model->clusters * (size_t)model->d * sizeof *model->means);
    return VEM_OK;
}
