/* The memory behind the shared lists, and what happens between the steps. */
#include <string.h>

#include "base/memory.h"
#include "search/groups.h"

static int32_t shortlist_for(int32_t clusters)
{
    return clusters < VEM_I_SHORTLIST ? clusters : VEM_I_SHORTLIST;
}

static void free_lister(vem_i_lister *l)
{
    vem_i_scorer_free(&l->some);
    vem_i_free(l->list);
    vem_i_free(l->costs);
    vem_i_free(l->index);
    vem_i_free(l->tile);
    vem_i_free(l->cell_costs);
    vem_i_free(l->cell_index);
    vem_i_free(l->cells);
    vem_i_free(l->near_means);
    vem_i_free(l->near_norms);
    vem_i_free(l->starts);
    vem_i_free(l->chosen);
    vem_i_free(l->items);
    vem_i_free(l->far);
    vem_i_free(l->far_items);
}

static vem_status take_lister(vem_ctx *ctx, const vem_i_search *search,
                              const vem_i_scorer *scorer, int32_t probe, vem_i_lister *l)
{
    size_t element = scorer->kernels->element, rows = (size_t)search->held + 1;
    size_t clusters = (size_t)scorer->clusters, cells = (size_t)probe * VEM_I_GROUP_ITEMS;
    size_t packed = (size_t)probe * VEM_I_BLOCK;
    vem_status status =
        vem_i_scorer_new(ctx, scorer->kernels, scorer->family->kind,
                         shortlist_for(scorer->clusters), scorer->d, &l->some);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->list, clusters, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->costs, VEM_I_BLOCK, rows * element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->index, VEM_I_BLOCK, rows * sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->tile, VEM_I_BLOCK, VEM_I_TILE * element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->cell_costs, packed, element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->cell_index, packed, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->cells, cells, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->near_means, VEM_I_NEAR_CELLS,
                            (size_t)scorer->d * element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->near_norms, VEM_I_NEAR_CELLS, element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->starts, clusters + 1, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->chosen, VEM_I_GROUP_ITEMS, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->items, VEM_I_BLOCK, sizeof(uint32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->far, VEM_I_GROUP_ITEMS, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &l->far_items, VEM_I_GROUP_ITEMS, sizeof(uint32_t));
    l->place = -1;
    return status;
}

vem_status vem_i_groups_new(vem_ctx *ctx, const vem_i_search *search,
                            const vem_view *view, const vem_i_scorer *scorer,
                            vem_i_groups **groups)
{
    if (view->n > UINT32_MAX)
        return vem_i_fail(
            ctx, VEM_UNSUPPORTED,
            "--search groups takes 4294967295 rows at most, but there are %lld.",
            (long long)view->n);
    vem_i_groups *g = vem_i_calloc(1, sizeof *g);
    if (!g)
        return vem_i_fail_memory(ctx, sizeof *g);
    g->ctx = ctx;
    g->reach = search->group_reach;
    g->most_probe = search->probe < VEM_I_PROBE_MAX ? search->probe : VEM_I_PROBE_MAX;
    vem_status status =
        vem_i_hierarchy_new(ctx, view->kernels, scorer->clusters, scorer->d,
                            vem_i_group_size(scorer->clusters), &g->hierarchy);
    if (status == VEM_OK)
        status = vem_i_tour_new(ctx, view->n, scorer->clusters, &g->tour);
    if (status == VEM_OK)
        status =
            vem_i_take_zeroed(ctx, &g->listers, (size_t)ctx->threads, sizeof *g->listers);
    for (int i = 0; status == VEM_OK && i < ctx->threads; i++)
        status = take_lister(ctx, search, scorer, g->most_probe, &g->listers[i]);
    if (status != VEM_OK) {
        vem_i_groups_free(g);
        return status;
    }
    *groups = g;
    return VEM_OK;
}

void vem_i_groups_free(vem_i_groups *g)
{
    if (!g)
        return;
    for (int i = 0; g->listers && i < g->ctx->threads; i++)
        free_lister(&g->listers[i]);
    vem_i_free(g->listers);
    vem_i_hierarchy_free(&g->hierarchy);
    vem_i_tour_free(&g->tour);
    vem_i_free(g);
}

uint64_t vem_i_groups_bytes(const vem_ctx *ctx, const vem_i_search *search,
                            vem_family_kind family, int64_t n, int32_t clusters,
                            int32_t d, const vem_i_kernels *kernels)
{
    uint64_t element = kernels->element, rows = (uint64_t)search->held + 1;
    uint64_t lister =
        vem_i_scorer_bytes(family, shortlist_for(clusters), d, kernels->element) +
        8 * (uint64_t)clusters + VEM_I_NEAR_CELLS * ((uint64_t)d + 1) * element +
        VEM_I_BLOCK * (rows * (element + 4) + VEM_I_TILE * element + 4) +
        VEM_I_BLOCK * (uint64_t)search->probe * (element + 4) +
        VEM_I_GROUP_ITEMS * ((uint64_t)search->probe * 4 + 12);
    return vem_i_hierarchy_bytes(ctx, kernels, clusters, d) +
           vem_i_tour_bytes(n, clusters) + (uint64_t)ctx->threads * lister;
}

void vem_i_groups_order(vem_i_groups *g, const int32_t *held, int32_t width)
{
    if (!g->sorted)
        vem_i_hierarchy_sort(&g->hierarchy);
    g->sorted = 1;
    vem_i_tour_sort(&g->tour, g->hierarchy.clusters, held, width, g->hierarchy.rank);
    g->ordered = 1;
}

int64_t vem_i_groups_prepare(vem_i_groups *g, const vem_i_scorer *scorer,
                             const int32_t *held, int32_t width,
                             const vem_i_groups_plan *plan)
{
    int64_t pairs = 0;
    for (int i = 0; i < g->ctx->threads; i++)
        g->listers[i].place = -1;
    g->probe = plan->probe < g->most_probe ? plan->probe : g->most_probe;
    g->far = plan->far;
    if (!held && g->probe == 0)
        g->probe = 1; /* shared lists need to know where the items are */
    if (g->probe > 0 || g->hierarchy.cells == 0) {
        pairs += vem_i_hierarchy_build(&g->hierarchy, scorer, 1);
        g->sorted = 1;
        g->ordered = g->listed = 0;
    }
    if (!g->sorted)
        vem_i_hierarchy_sort(&g->hierarchy);
    g->sorted = 1;
    if (g->probe == 0 && (plan->fresh || !g->listed)) {
        pairs += vem_i_hierarchy_near(&g->hierarchy, scorer, g->reach);
        g->listed = 1;
    }
    if (held && !g->ordered)
        vem_i_groups_order(g, held, width);
    return pairs;
}

int32_t vem_i_groups_stretch(const vem_i_groups *g, int64_t position, int64_t end,
                             int32_t *place)
{
    int64_t most = end - position;
    most = most < VEM_I_GROUP_ITEMS ? most : VEM_I_GROUP_ITEMS;
    *place = 0;
    if (g->probe)
        return (int32_t)most;
    /* The last group that begins at or before the position and is not empty. */
    const vem_i_hierarchy *h = &g->hierarchy;
    int32_t low = 0, high = h->groups;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (g->tour.starts[h->group_starts[middle]] <= position)
            low = middle;
        else
            high = middle;
    }
    *place = low;
    int64_t rest = g->tour.starts[h->group_starts[low + 1]] - position;
    /* Items that hold nothing come last and share the last list. */
    return (int32_t)(rest > 0 && rest < most ? rest : most);
}
