/* Statistics of parts: what they say, their sum, and the next model. */
#include "base/structs.h"
#include "io/io.h"
#include "model/family.h"
#include "model/part.h"

/* ---- what they say ---- */

void vem_stats_describe(const vem_stats *stats, vem_stats_summary *summary)
{
    if (!summary)
        return;
    vem_stats_summary found = {0};
    if (!stats) {
        vem_i_struct_out(&found, summary, sizeof found);
        return;
    }
    const vem_model *model = stats->model;
    int64_t empty = 0;
    for (int32_t c = 0; c < model->clusters; c++)
        empty += !(*vem_i_stats_mass(&stats->sums, c) > 0);
    found =
        (vem_stats_summary){.size = sizeof found,
                            .family = model->family->kind,
                            .prior = stats->prior,
                            .search = stats->search,
                            .precision = stats->precision,
                            .clusters = model->clusters,
                            .d = model->d,
                            .held = stats->held,
                            .floor = stats->floor,
                            .mass = stats->mass,
                            .free_energy = stats->free_energy / stats->mass,
                            .squared_error = stats->squared_error,
                            .rows = stats->rows,
                            .rows_used = stats->rows_used,
                            .pairs = stats->pairs,
                            .parts = stats->parts,
                            .empty = empty,
                            .fingerprint = vem_i_part_fingerprint(stats),
                            .part = stats->marks.count == 1 ? stats->marks.list->part : 0,
                            .of = stats->marks.of};
    vem_i_struct_out(&found, summary, sizeof found);
}

const vem_model *vem_stats_model(const vem_stats *stats)
{
    return stats ? stats->model : NULL;
}

/* ---- sums ---- */

vem_status vem_stats_add(vem_ctx *ctx, vem_stats *to, const vem_stats *from)
{
    VEM_I_NEED(ctx, ctx, to, from);
    return vem_i_part_add(vem_i_begin(ctx, &(vem_i_verb){0}), to, from);
}

vem_status vem_stats_set_part(vem_ctx *ctx, vem_stats *stats, int64_t part, int64_t of)
{
    VEM_I_NEED(ctx, ctx, stats);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    if (part < 1 || of < part)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Part %lld of %lld: parts are numbered from 1 to how many "
                          "there are.",
                          (long long)part, (long long)of);
    if (of > VEM_I_MOST_COUNT)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Part %lld of %lld: there are no more than 2^53 parts.",
                          (long long)part, (long long)of);
    if (stats->marks.count != 1)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "These are statistics of %lld parts, which have their numbers "
                          "or have none.",
                          (long long)stats->marks.count);
    stats->marks.of = of;
    stats->marks.list->part = part;
    return VEM_OK;
}

vem_status vem_stats_expect(vem_ctx *ctx, const vem_stats *stats, int64_t parts)
{
    VEM_I_NEED(ctx, ctx, stats);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    const vem_i_marks *marks = &stats->marks;
    if (marks->of > 0 && parts != VEM_AUTO && parts != marks->of)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%lld parts are expected, but these are parts of %lld.",
                          (long long)parts, (long long)marks->of);
    if (marks->of > 0 && marks->count < marks->of) {
        char missing[256];
        vem_i_marks_missing(marks, missing, sizeof missing);
        return vem_i_fail(run, VEM_BAD_DATA, "Of %lld parts %lld %s missing: %s.",
                          (long long)marks->of, (long long)(marks->of - marks->count),
                          marks->of - marks->count == 1 ? "is" : "are", missing);
    }
    if (parts != VEM_AUTO && parts != stats->parts)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%lld parts are expected, but there are %lld.",
                          (long long)parts, (long long)stats->parts);
    return VEM_OK;
}

vem_status vem_stats_merge(vem_ctx *ctx, const char *const *paths, int64_t count,
                           vem_stats **stats)
{
    VEM_I_NEED(ctx, ctx, paths, stats);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    if (count < 1)
        return vem_i_fail(run, VEM_BAD_OPTION, "There are no statistics to merge.");
    for (int64_t i = 0; i < count; i++)
        if (!paths[i])
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "vem_stats_merge needs a path, but it is NULL.");
    return vem_i_stats_merge(run, paths, count, stats);
}

vem_status vem_stats_next(vem_ctx *ctx, const vem_stats *stats, vem_model **model)
{
    VEM_I_NEED(ctx, ctx, stats, model);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    if (!(stats->mass > 0))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The statistics are of no mass: there is nothing to fit.");
    return vem_i_part_next(run, stats, model);
}
