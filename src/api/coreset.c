/* The verb `coreset`. */
#include "data/coreset.h"
#include "base/options.h"
#include "comm/comm.h"
#include "fit/processes.h"

/* Of several processes, each of which has some rows. */
static vem_status meet(vem_i_run *run, const vem_data *data, int64_t size, int64_t seed)
{
    vem_options asked;
    vem_options_init(&asked);
    asked.coreset = size;
    asked.seed = seed;
    vem_i_comm_join(run);
    return vem_i_processes_meet(run, data, &asked);
}

vem_status vem_coreset(vem_ctx *ctx, const vem_data *data, int64_t size,
                       vem_coreset_method method, int64_t seed, vem_data **coreset)
{
    VEM_I_NEED(ctx, ctx, data, coreset);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    if (!data)
        return vem_i_fail(run, VEM_BAD_OPTION, "A coreset needs data; they are NULL.");
    if (size < 1)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The size of the coreset is %lld, but it must be at least 1.",
                          (long long)size);
    if ((int)method < VEM_CORESET_LIGHTWEIGHT || method > VEM_CORESET_UNIFORM)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The method of the coreset is %d, but it must be 0 "
                          "(lightweight) or 1 (uniform).",
                          (int)method);
    const vem_i_coreset_request request = {.size = size,
                                           .method = method,
                                           .seed = (uint64_t)seed};
    vem_status status = meet(run, data, size, seed);
    if (status == VEM_OK)
        status = vem_i_coreset(run, data, &request, NULL, coreset);
    /* Rows go by the number they had in the file, with those that were left out. */
    for (int64_t i = 0; status == VEM_OK && data->kept && i < (*coreset)->n; i++)
        (*coreset)->indices[i] = data->kept[(*coreset)->indices[i]];
    return status;
}
