/* How a model serves as the coarse quantiser of an index: vem_index_score and what it gives. */
#include "metrics/index.h"
#include "base/structs.h"
#include "io/io.h"
#include "metrics/neighbors.h"
#include "model/contract.h"
#include "use/lists.h"

enum { NEIGHBORS = 10 };

static vem_status check(vem_i_run *run, const vem_model *model, const vem_data *data,
                        const vem_data *queries, const vem_index_options *o)
{
    if (data->d != model->d || queries->d != model->d)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The model has %d columns, but the %s have %d.", model->d,
                          data->d != model->d ? "data" : "queries",
                          data->d != model->d ? data->d : queries->d);
    if (!model->family->has_places || data->sparse.starts || queries->sparse.starts)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "An index goes by distances, which %s has none of.",
                          model->family->has_places ? "a table of sparse rows"
                                                    : "a mixture of counts");
    if (o->lists != 1 && o->lists != 2)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Rows are to be in %d lists, but it must be 1 or 2.", o->lists);
    if (o->neighbors < 1 || o->neighbors > VEM_I_NEIGHBORS_MAX)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--neighbors is %d, but it must lie between 1 and %d.",
                          o->neighbors, VEM_I_NEIGHBORS_MAX);
    if (o->labels && o->lists == 2)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Rows are in two lists (--spill), or in those of given labels "
                          "(--lists), not both.");
    int64_t listed = 0;
    for (int64_t i = 0; o->labels && i < data->n; i++) {
        listed += o->labels[i] >= 0;
        if (o->labels[i] < -1 || o->labels[i] >= model->clusters)
            return vem_i_fail(run, VEM_BAD_DATA,
                              "Row %lld is in list %d, but the model has lists 0 to %d.",
                              (long long)vem_data_row(data, i) + 1, o->labels[i],
                              model->clusters - 1);
    }
    if (o->labels && listed == 0)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "All labels are -1: none of the %lld rows is in a list.",
                          (long long)data->n);
    if (data->n < o->neighbors)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "A query should find its %d nearest rows (--neighbors), but "
                          "there are only %lld.",
                          o->neighbors, (long long)data->n);
    if (queries->n < 1)
        return vem_i_fail(run, VEM_BAD_DATA, "There is no query.");
    return VEM_OK;
}

vem_status vem_index_score(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                           const vem_data *queries, vem_precision precision,
                           const vem_index_options *options, vem_index **index)
{
    VEM_I_NEED(ctx, ctx, model, data, queries, index);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_index_options o = {0};
    vem_status status =
        options ? vem_i_struct_in(run, "vem_index_options", options, &o, sizeof o)
                : VEM_OK;
    o.neighbors = o.neighbors == 0 ? NEIGHBORS : o.neighbors;
    o.lists = o.lists == 0 ? 1 : o.lists;
    if (status == VEM_OK)
        status = check(run, model, data, queries, &o);
    return status == VEM_OK
               ? vem_i_lists_measure(run, model, data, queries, precision, &o, index)
               : status;
}

vem_status vem_index_describe(vem_ctx *ctx, const vem_index *index,
                              vem_index_summary *summary)
{
    VEM_I_NEED(ctx, index, summary);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    const vem_status status =
        vem_i_struct_check(run, "vem_index_summary", summary, sizeof *summary);
    if (status == VEM_OK)
        vem_i_struct_out(&index->summary, summary, sizeof *summary);
    return status;
}

int32_t vem_index_count(const vem_index *index)
{
    return index ? index->count : 0;
}

const vem_index_point *vem_index_at(const vem_index *index, int32_t number)
{
    return index && number >= 0 && number < index->count ? &index->points[number] : NULL;
}

vem_status vem_index_scan(vem_ctx *ctx, const vem_index *index, double share,
                          vem_index_point *point)
{
    VEM_I_NEED(ctx, index, point);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    const vem_status status =
        vem_i_struct_check(run, "vem_index_point", point, sizeof *point);
    if (status != VEM_OK)
        return status;
    if (!(share > 0 && share <= 1))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "A share of the rows lies above 0 and is at most 1, which %g "
                          "does not.",
                          share);
    const vem_index_point found =
        vem_i_index_between(index, share * (double)index->summary.rows);
    vem_i_struct_out(&found, point, sizeof found);
    return VEM_OK;
}

vem_status vem_index_draw(vem_ctx *ctx, const vem_index *index, const char *file)
{
    VEM_I_NEED(ctx, ctx, index, file);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    return vem_i_index_picture(run, &index->summary, index->points, index->count, file);
}
