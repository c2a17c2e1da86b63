#include <float.h>

#include "base/parallel.h"
#include "model/contract.h"
#include "model/counts.h"
#include "model/model.h"
#include "model/stats.h"

/* What no M-step makes: weights that are no shares of 1, or none at all, so that no row would have a
 * nearest cluster (those of variational Bayes sum to less than 1); means of counts that are no
 * such; shapes that are none. */
static void check(vem_i_record *r, const vem_model *m)
{
    const vem_i_counts *counts = m->family->of_counts;
    const double sum = vem_i_sum(m->weights, m->clusters);
    if (!(sum > 0 && sum <= 1 + 1e-6))
        vem_i_record_refuse(r, "weights");
    for (int64_t i = 0; counts && i < (int64_t)m->clusters * m->d; i++)
        if (!(m->means[i] >= 0 && m->means[i] <= counts->most))
            vem_i_record_refuse(r, "means");
    if (r->status == VEM_OK && vem_i_model_check_shapes(r->run, m) != VEM_OK)
        vem_i_record_refuse(r, "variances");
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
        check(r, model);
}
