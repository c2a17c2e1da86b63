/* Streams of rows: a coreset that is kept up to date, and fits of it. */
#include "data/stream.h"

#include "api/fitting.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/structs.h"
#include "data/unit.h"

vem_status vem_stream_new(vem_ctx *ctx, const vem_stream_options *options,
                          vem_stream **stream)
{
    VEM_I_NEED(ctx, ctx, options, stream);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_stream_options o;
    vem_status status = vem_i_struct_in(run, "vem_stream_options", options, &o, sizeof o);
    if (status != VEM_OK)
        return status;
    if (o.bucket < 2 || o.bucket > INT64_C(1) << 40)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The bucket of the stream is %lld rows, but it must lie between 2 and 2^40.",
            (long long)o.bucket);
    vem_stream *made;
    status = vem_i_take_zeroed(run, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    made->m = o.bucket;
    made->seed = (uint64_t)o.seed;
    if (!vem_choice_name("metric", o.metric)) {
        vem_i_free(made);
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The metric of the stream is %d, but it must be VEM_METRIC_L2 or "
            "VEM_METRIC_COSINE.",
            o.metric);
    }
    made->normalize = o.metric == VEM_METRIC_COSINE ? VEM_I_DIRECTIONS
                      : o.normalize                 ? VEM_I_LENGTH_1
                                                    : VEM_I_AS_THEY_ARE;
    *stream = made;
    return VEM_OK;
}

vem_status vem_stream_add(vem_ctx *ctx, vem_stream *stream, const vem_data *batch)
{
    VEM_I_NEED(ctx, ctx, stream, batch);
    return vem_i_stream_add(vem_i_begin(ctx, &(vem_i_verb){0}), stream, batch);
}

vem_status vem_stream_coreset(vem_ctx *ctx, const vem_stream *stream, vem_data **coreset)
{
    VEM_I_NEED(ctx, ctx, stream, coreset);
    return vem_i_stream_coreset(vem_i_begin(ctx, &(vem_i_verb){0}), stream, coreset);
}

vem_status vem_stream_model(vem_ctx *ctx, const vem_stream *stream,
                            const vem_options *options, const vem_model *start,
                            vem_model **model, vem_report **report)
{
    VEM_I_NEED(ctx, ctx, stream, options);
    vem_data *coreset;
    vem_options asked;
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_status status = vem_i_options_in(run, options, &asked);
    if (status == VEM_OK)
        status = vem_i_stream_coreset(run, stream, &coreset);
    if (status != VEM_OK)
        return status;
    if (stream->normalize)
        asked.normalize = 1; /* the rows are; the model must know */
    if (stream->normalize == VEM_I_DIRECTIONS)
        asked.metric = VEM_METRIC_COSINE;
    vem_i_fitting fitting = {.run = *run,
                             .data = coreset,
                             .asked = &asked,
                             .start = start};
    status = vem_i_fitting_run(&fitting, model, report);
    vem_data_free(coreset);
    return status;
}
