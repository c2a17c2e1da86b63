/* The verb `flows`: how rows move between the mixtures of a path. */
#include "select/flows.h"

#include "base/structs.h"

static vem_status check(vem_i_run *run, const vem_path *path, const vem_data *data,
                        const vem_flow_options *o)
{
    if (o->mixtures < 0 || o->rows < 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Flows between %d mixtures, of %lld rows, were asked for, but "
                          "neither may be negative.",
                          o->mixtures, (long long)o->rows);
    if (path->count == 0)
        return vem_i_fail(run, VEM_BAD_OPTION, "The path has no mixtures.");
    if (path->models[0]->d != data->d)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The mixtures have %d columns, but the data have %d.",
                          path->models[0]->d, data->d);
    return VEM_OK;
}

vem_status vem_path_flows(vem_ctx *ctx, const vem_path *path, const vem_data *data,
                          const vem_flow_options *options, vem_flows **flows)
{
    VEM_I_NEED(ctx, ctx, path, data, options, flows);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_flow_options o = {0};
    vem_status status = vem_i_struct_in(run, "vem_flow_options", options, &o, sizeof o);
    if (status == VEM_OK)
        status = check(run, path, data, &o);
    return status == VEM_OK ? vem_i_path_flows(run, path, data, &o, flows) : status;
}
