#include "em/keep.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

vem_status vem_i_kept_new(vem_ctx *ctx, const vem_model *model, int64_t n, int32_t width,
                          vem_i_kept **kept)
{
    vem_i_kept *made;
    vem_status status = vem_i_take_zeroed(ctx, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    made->n = n;
    made->width = width;
    status =
        vem_i_model_blank(ctx, model->family, model->clusters, model->d, &made->model);
    if (status == VEM_OK)
        status =
            vem_i_take(ctx, &made->held, (size_t)n, (size_t)width * sizeof *made->held);
    if (status != VEM_OK) {
        vem_i_kept_free(made);
        return status;
    }
    *kept = made;
    return VEM_OK;
}

void vem_i_kept_free(vem_i_kept *kept)
{
    if (!kept)
        return;
    vem_model_free(kept->model);
    vem_i_free(kept->held);
    vem_i_free(kept);
}

uint64_t vem_i_kept_bytes(vem_family_kind family, int32_t clusters, int32_t d, int64_t n,
                          int32_t width)
{
    return (uint64_t)n * (uint64_t)width * sizeof(int32_t) +
           ((uint64_t)clusters * (uint64_t)(d + 1) +
            vem_i_variance_count(family, clusters, d)) *
               sizeof(double);
}

/* Clusters may have been dropped in between: `to` has room for all there ever were. */
static void copy_model(const vem_model *from, vem_model *to)
{
    const size_t clusters = (size_t)from->clusters, d = (size_t)from->d;
    memcpy(to->means, from->means, clusters * d * sizeof *to->means);
    memcpy(to->weights, from->weights, clusters * sizeof *to->weights);
    memcpy(to->variances, from->variances,
           vem_i_variance_count(from->family, from->clusters, from->d) *
               sizeof *to->variances);
    to->clusters = from->clusters;
}

void vem_i_kept_save(vem_i_kept *kept, const vem_i_em *em)
{
    const vem_i_posterior *p = &em->posterior;
    copy_model(em->model, kept->model);
    if (kept->width == p->width)
        memcpy(kept->held, p->held,
               (size_t)kept->n * (size_t)p->width * sizeof *kept->held);
    else
        for (int64_t i = 0; i < kept->n; i++)
            kept->held[i] = p->held[i * p->width];
    kept->free_energy = em->free_energy;
}

void vem_i_kept_restore_held(const vem_i_kept *kept, vem_i_em *em)
{
    vem_i_posterior *p = &em->posterior;
    if (kept->width == p->width)
        memcpy(p->held, kept->held,
               (size_t)kept->n * (size_t)p->width * sizeof *kept->held);
    else
        for (int64_t i = 0; i < kept->n; i++)
            p->held[i * p->width] = kept->held[i];
}

void vem_i_kept_restore(const vem_i_kept *kept, vem_i_em *em)
{
    copy_model(kept->model, em->model);
    vem_i_kept_restore_held(kept, em);
    em->free_energy = kept->free_energy;
}

static int kind_of(const vem_i_stage *stage)
{
    return stage->swap ? 2 : stage->step.probe > 0 ? 1 : 0;
}

void vem_i_kept_begin(vem_i_kept *kept)
{
    kept->began = vem_i_clock();
}

void vem_i_kept_lasted(vem_i_kept *kept, const vem_i_stage *stage, int whole)
{
    double *lasted = &kept->lasted[kind_of(stage)];
    if (whole || *lasted <= 0)
        *lasted = vem_i_clock() - kept->began;
}

int vem_i_kept_too_late(const vem_i_kept *kept, const vem_ctx *ctx,
                        const vem_i_stage *stage)
{
    double expected = kept->lasted[kind_of(stage)];
    for (int k = 0; k < VEM_I_STEP_KINDS && kept->lasted[kind_of(stage)] <= 0; k++)
        expected = fmax(expected, kept->lasted[k]);
    return vem_i_clock() + expected > ctx->deadline;
}
