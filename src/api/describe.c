/* The verb `describe`: what was found, cluster by cluster. */
#include "use/describe.h"

#include <string.h>

#include "base/memory.h"
#include "base/structs.h"
#include "metrics/chunks.h"

/* Into the caller's array, whose elements may be smaller or larger than ours. */
static void give_clusters(const vem_cluster *ours, int32_t count, vem_cluster *clusters)
{
    const size_t stride = clusters->size;
    char *at = (char *)clusters;
    for (int64_t c = 0; c < count; c++, at += stride) {
        memcpy(at, &stride, sizeof stride);
        vem_i_struct_out(&ours[c], at, sizeof *ours);
    }
}

static vem_status check(vem_i_run *run, const vem_model *model, const vem_data *data,
                        vem_precision precision)
{
    if ((int)precision < VEM_SINGLE || precision > VEM_DOUBLE)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The precision is %d, but it must be 0 or 1.", (int)precision);
    if (data && data->d != model->d)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The model has %d columns, but the data have %d.", model->d,
                          data->d);
    return VEM_OK;
}

vem_status vem_describe(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                        vem_precision precision, vem_cluster *clusters,
                        vem_description *about)
{
    VEM_I_NEED(ctx, ctx, model, clusters, about);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    precision = vem_i_precision_for(model, data, precision);
    vem_description out;
    vem_status status = vem_i_struct_in(run, "vem_description", about, &out, sizeof out);
    if (status == VEM_OK)
        status = vem_i_struct_check(run, "vem_cluster", clusters, sizeof *clusters);
    if (status == VEM_OK)
        status = check(run, model, data, precision);
    if (status != VEM_OK)
        return status;
    vem_cluster *ours = NULL;
    status = vem_i_take_zeroed(run, &ours, (size_t)model->clusters, sizeof *ours);
    if (status == VEM_OK)
        status = vem_i_describe(run, model, data, precision, ours, &out);
    if (status == VEM_OK) {
        give_clusters(ours, model->clusters, clusters);
        vem_i_struct_out(&out, about, sizeof out);
    }
    vem_i_free(ours);
    return status;
}
