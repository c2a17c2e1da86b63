/* The verb `accumulate`: statistics of some rows under a model. */
#include "base/options.h"
#include "base/parallel.h"
#include "data/unit.h"
#include "fit/presets.h"
#include "search/search.h"
#include "use/sums.h"

static vem_status check_resolved(vem_i_run *run, const vem_options *o)
{
    if (o->coreset != VEM_AUTO)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Statistics are taken of all rows, not of a coreset: leave out "
                          "--coreset, or accumulate the output of vem coreset.");
    if (o->standardize)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--standardize divides columns by their deviation over all "
                          "rows, which a part does not know; the scale of the model, if "
                          "it has one, is used without it.");
    if (!vem_i_search_is_whole(o->search))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--search %s begins with what rows held in the step before, "
                          "which statistics do not keep: use --search closest or all.",
                          vem_choice_name("search", o->search));
    if (o->margin > 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--margin is %g, but it compares with what rows held in the "
                          "step before, which statistics do not keep: use --margin 0.",
                          o->margin);
    return VEM_OK;
}

static vem_status resolve(vem_i_run *run, const vem_model *model, const vem_data *data,
                          const vem_options *options, vem_options *resolved)
{
    vem_options asked = *options;
    if (model->d != data->d)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The model has %d columns, but the data have %d.", model->d,
                          data->d);
    if (options->clusters != VEM_AUTO && options->clusters != model->clusters)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--clusters is %lld, but the model has %d clusters.",
                          (long long)options->clusters, model->clusters);
    asked.clusters = model->clusters;
    asked.normalize = asked.normalize || model->normalizes;
    if (model->normalizes == VEM_I_DIRECTIONS)
        asked.metric = VEM_METRIC_COSINE;
    if (asked.family == VEM_AUTO && vem_i_is_ours(&asked))
        asked.family = (int)model->family->kind;
    if (options->balance != VEM_BALANCE_NONE)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--balance changes prices by the sizes of all clusters, which a "
            "part does not know: those of the model, if it has some, are "
            "kept without it.");
    if (asked.prior == VEM_AUTO && model->prior == VEM_PRIOR_EVEN)
        asked.prior = VEM_PRIOR_EVEN; /* its prices stay */
    vem_status status = vem_i_options_resolve(run, &asked, data->n, data->d, data->type,
                                              vem_i_data_row_values(data), resolved);
    if (status != VEM_OK)
        return status;
    if (asked.search == VEM_AUTO && vem_i_is_ours(&asked))
        resolved->search = vem_i_whole_search(resolved);
    return check_resolved(run, resolved);
}

vem_status vem_accumulate(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                          const vem_options *options, vem_stats **stats)
{
    VEM_I_NEED(ctx, ctx, model, data, options, stats);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_options asked = {0}, resolved = {0};
    vem_status status = vem_i_options_in(run, options, &asked);
    if (status == VEM_OK)
        status = resolve(run, model, data, &asked, &resolved);
    if (status == VEM_OK && resolved.threads > 0)
        run->threads = vem_i_threads_had((int)resolved.threads);
    if (status == VEM_OK && resolved.memory != VEM_AUTO)
        run->limit = (uint64_t)resolved.memory;
    if (status == VEM_OK)
        status = vem_i_sums_of_rows(run, model, data, &resolved, stats);
    return status;
}
