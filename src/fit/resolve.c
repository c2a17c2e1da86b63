/* What a model to start from, and the number of rows, say about the options. */
#include "fit/resolve.h"

#include "data/unit.h"
#include "fit/cells_plan.h"
#include "fit/presets.h"
#include "fit/programme.h"
#include "model/family.h"
#include "search/search.h"

static vem_status check_start(vem_i_run *run, const vem_data *data,
                              const vem_options *options, const vem_model *start)
{
    if (start->d != data->d)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The model to start from has %d columns, but the data have %d.",
                          start->d, data->d);
    if (options->clusters != VEM_AUTO && options->clusters != start->clusters)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--clusters is %lld, but the model to start from has %d clusters.",
            (long long)options->clusters, start->clusters);
    return VEM_OK;
}

/* What is done with sparse rows, and by whom. */
static vem_status check_sparse(vem_i_run *run, const vem_options *o, int64_t n)
{
    if (vem_i_reduces(o, n))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The rows are sparse, and a coreset of them would not be: fit all "
            "rows.");
    if (!vem_i_takes_sparse(vem_i_family_of(o->family)))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The rows are sparse, and family %s does not take such rows: "
                          "bernoulli, poisson and multinomial do.",
                          vem_choice_name("family", o->family));
    if (!vem_i_search_is_whole(o->search))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The rows are sparse, and --search %s does not take such rows: all "
            "and closest do.",
            vem_choice_name("search", o->search));
    if (o->cells > 0)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The rows are sparse, and a tree would make them dense: --cells "
            "and --algorithm kd-em do not take such rows.");
    return VEM_OK;
}

vem_status vem_i_fit_resolve(vem_i_run *run, const vem_data *data,
                             const vem_options *options, const vem_model *start,
                             vem_options *resolved)
{
    vem_options asked = *options;
    if (!start && asked.prior == VEM_PRIOR_EVEN)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--prior is even, which keeps the weights of a model to start "
                          "from, but there is none: use --init MODEL, or --prior flat or "
                          "free.");
    if (start) {
        vem_status status = check_start(run, data, options, start);
        if (status != VEM_OK)
            return status;
        asked.clusters = start->clusters;
        asked.normalize = asked.normalize || start->normalizes;
        if (start->normalizes == VEM_I_DIRECTIONS)
            asked.metric = VEM_METRIC_COSINE;
        if (asked.metric == VEM_METRIC_COSINE && start->scale)
            return vem_i_fail(
                run, VEM_BAD_OPTION,
                "--metric is cosine, but columns of the model to start from "
                "are divided by their deviations (--standardize).");
        if (asked.swaps == VEM_AUTO)
            asked.swaps = 0; /* a given start is a place to stay near */
        if (asked.family == VEM_AUTO && vem_i_is_ours(&asked))
            asked.family = (int)start->family->kind;
    }
    vem_status status = vem_i_options_resolve(run, &asked, data->n, data->d, data->type,
                                              vem_i_data_row_values(data), resolved);
    if (status == VEM_OK && start && resolved->swaps > 0 &&
        vem_i_wants_hard_start(resolved, 0))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--swaps is %lld, but with --init it needs another search than all, and with "
            "--search closest at most %d held clusters, fewer than there are.",
            (long long)resolved->swaps, (int)VEM_I_SPARSE_MAX);
    if (status == VEM_OK && data->sparse.starts)
        status = check_sparse(run, resolved, data->n);
    if (status == VEM_OK && data->n < resolved->clusters)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "There are fewer rows than clusters: %lld rows, %lld clusters.",
                          (long long)data->n, (long long)resolved->clusters);
    if (status == VEM_OK)
        status = vem_i_choose_cells(run, data, resolved);
    return status;
}

vem_status vem_options_resolve(vem_ctx *ctx, const vem_options *options, int64_t n,
                               int32_t d, vem_dtype type, vem_options *resolved)
{
    VEM_I_NEED(ctx, options, resolved);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    vem_options asked, out;
    vem_status status = vem_i_options_in(run, options, &asked);
    if (status == VEM_OK)
        status = vem_i_options_resolve(run, &asked, n, d, type, d, &out);
    if (status == VEM_OK)
        vem_i_options_out(&out, options->size, resolved);
    return status;
}
