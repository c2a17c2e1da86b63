#include <float.h>

#include "model/model.h"

/* Sizes of spheres and ellipsoids along the columns are not negative. */
static void check_variances(vem_i_record *r, const vem_model *m)
{
    const size_t d = (size_t)m->d, count = vem_model_variance_count(m);
    const size_t stride = m->family == VEM_FULL ? d + 1 : 1;
    const size_t block = m->family == VEM_FULL ? d * d : count;
    for (size_t first = 0; r->status == VEM_OK && first < count; first += block)
        for (size_t i = 0; i < block; i += stride)
            if (m->variances[first + i] < 0)
                vem_i_record_refuse(r, "variances");
}

void vem_i_model_record(vem_i_record *r, vem_model *model)
{
    int64_t clusters = model->clusters;
    const size_t d = (size_t)model->d;
    vem_i_record_count(r, "clusters", &clusters, 1, model->clusters);
    if (r->status != VEM_OK)
        return;
    model->clusters = (int32_t)clusters;
    const size_t count = (size_t)clusters;
    vem_i_record_reals(r, "means", model->means, count * d, -DBL_MAX, DBL_MAX);
    vem_i_record_reals(r, "weights", model->weights, count, 0, 1 + 1e-6);
    vem_i_record_reals(r, "variances", model->variances, vem_model_variance_count(model),
                       -DBL_MAX, DBL_MAX);
    if (r->reading && r->status == VEM_OK)
        check_variances(r, model);
}
