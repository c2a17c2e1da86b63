#include <float.h>

#include "model/contract.h"
#include "model/counts.h"
#include "model/model.h"
#include "model/stats.h"

/* Sizes of spheres and ellipsoids along the columns are not negative. */
static void check_variances(vem_i_record *r, const vem_model *m)
{
    for (int32_t s = 0; s < vem_i_model_shapes(m); s++)
        for (int32_t j = 0;
             r->status == VEM_OK && j < vem_i_square_count(m->family, m->d); j++)
            if (vem_i_cluster_shape(m, s)[vem_i_variance_at(m, j)] < 0)
                vem_i_record_refuse(r, "variances");
}

/* Some cluster has a weight, or no row would have a nearest one. (Those of variational Bayes sum to
 * less than 1.) Means of counts are such. */
static void check_clusters(vem_i_record *r, const vem_model *m)
{
    const vem_i_counts *counts = m->family->counts;
    double sum = 0;
    for (int32_t c = 0; c < m->clusters; c++)
        sum += m->weights[c];
    if (!(sum > 0))
        vem_i_record_refuse(r, "weights");
    for (int64_t i = 0; counts && i < (int64_t)m->clusters * m->d; i++)
        if (!(m->means[i] >= 0 && m->means[i] <= counts->most))
            vem_i_record_refuse(r, "means");
}

void vem_i_model_record(vem_i_record *r, vem_model *model)
{
    int64_t clusters = model->clusters;
    const size_t d = (size_t)model->d;
    vem_i_record_count(r, "clusters", &clusters, 1, model->capacity);
    if (r->status != VEM_OK)
        return;
    model->clusters = (int32_t)clusters;
    const size_t count = (size_t)clusters;
    vem_i_record_reals(r, "means", model->means, count * d, -DBL_MAX, DBL_MAX);
    vem_i_record_reals(r, "weights", model->weights, count, 0, 1 + 1e-6);
    vem_i_record_reals(r, "variances", model->variances, vem_model_variance_count(model),
                       -DBL_MAX, DBL_MAX);
    if (r->reading && r->status == VEM_OK)
        check_clusters(r, model);
    if (r->reading && r->status == VEM_OK)
        check_variances(r, model);
}
