/* What a guided search knows of a model: its clusters in the order of their buckets. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "coarse/nearest.h"
#include "search/guided.h"

/* The clusters of positive weight as a model of their own, by bucket. */
static vem_status order_model(vem_i_run *run, const vem_model *model,
                              const vem_i_buckets *buckets, vem_model **out)
{
    vem_model *made;
    vem_status status =
        vem_i_model_blank(run, vem_i_shape_of(model->family, buckets->clusters, model->d),
                          &made);
    if (status != VEM_OK)
        return status;
    /* The shape that all may share, or the first one, which comes again. */
    memcpy(made->variances, model->variances,
           (size_t)vem_i_shape_values(model->family, model->d) * sizeof(double));
    for (int32_t i = 0; i < buckets->clusters; i++)
        vem_i_model_put(model, buckets->order[i], made, i);
    *out = made;
    return VEM_OK;
}

/* mu - m and its squared length, from both as they are stored in the compute type. */
static void center_means(vem_i_guided *g)
{
    const vem_i_kernels *kernels = g->scorer.kernels;
    const int64_t d = g->scorer.d;
    for (int64_t k = 0; k < g->buckets.count; k++)
        for (int64_t c = g->buckets.starts[k]; c < g->buckets.starts[k + 1]; c++) {
            double norm = 0;
            for (int64_t j = 0; j < d; j++) {
                vem_i_store(kernels, g->local.means, c * d + j,
                            vem_i_value(kernels, g->scorer.means, c * d + j) -
                                vem_i_value(kernels, g->buckets.scorer.means, k * d + j));
                double stored = vem_i_value(kernels, g->local.means, c * d + j);
                norm += stored * stored;
            }
            vem_i_store(kernels, g->local.norms, c, norm);
        }
}

vem_status vem_i_guided_new(vem_i_run *run, const vem_i_kernels *kernels,
                            const vem_model *model, int32_t buckets, uint64_t seed,
                            vem_i_guided *guided)
{
    vem_i_guided made = {0};
    vem_model *ordered = NULL;
    int dots = 0;
    vem_status status =
        vem_i_buckets_new(run, kernels, model, buckets, seed, &made.buckets);
    if (status == VEM_OK)
        status = order_model(run, model, &made.buckets, &ordered);
    if (status == VEM_OK)
        status = vem_i_scorer_new(run, kernels, vem_i_model_shape(ordered), &made.scorer);
    if (status == VEM_OK) {
        vem_i_scorer_prepare(run, ordered, &made.scorer);
        dots = vem_i_by_dots(&made.scorer);
    }
    if (dots) {
        made.local = made.scorer;
        made.local.means = made.local.norms = NULL;
        status = vem_i_take(run, &made.local.means, (size_t)ordered->clusters,
                            (size_t)model->d * kernels->element);
    }
    if (status == VEM_OK && dots)
        status = vem_i_take(run, &made.local.norms, (size_t)ordered->clusters,
                            kernels->element);
    if (status == VEM_OK && dots)
        center_means(&made);
    vem_model_free(ordered);
    if (status == VEM_OK)
        *guided = made;
    else
        vem_i_guided_free(&made);
    return status;
}

void vem_i_guided_free(vem_i_guided *guided)
{
    vem_i_buckets_free(&guided->buckets);
    vem_i_scorer_free(&guided->scorer);
    vem_i_free(guided->local.means);
    vem_i_free(guided->local.norms);
    memset(guided, 0, sizeof *guided);
}

int32_t vem_i_guided_least(const vem_i_guided *guided, int32_t top)
{
    /* The smallest buckets first: counted by size, up to `top`. */
    int32_t sizes[VEM_I_GUIDED_TOP + 1] = {0}, least = 0, held = 0;
    for (int32_t k = 0; k < guided->buckets.count; k++) {
        int32_t size = guided->buckets.starts[k + 1] - guided->buckets.starts[k];
        sizes[size < top ? size : top]++;
    }
    for (int32_t size = 1; size <= top && held < top; size++)
        for (int32_t k = 0; k < sizes[size] && held < top; k++, least++)
            held += size;
    return least;
}
