#include "model/model.h"

void vem_i_model_record(vem_i_record *r, vem_model *model)
{
    int64_t clusters = model->clusters;
    const size_t d = (size_t)model->d;
    vem_i_record_count(r, "clusters", &clusters, 1, model->clusters);
    if (r->status != VEM_OK)
        return;
    model->clusters = (int32_t)clusters;
    const size_t count = (size_t)clusters;
    vem_i_record_block(r, "means", model->means, count * d, sizeof(double));
    vem_i_record_block(r, "weights", model->weights, count, sizeof(double));
    vem_i_record_block(r, "variances", model->variances,
                       vem_i_variance_count(model->family, model->clusters, model->d),
                       sizeof(double));
}
