/* Scratch for one block of items. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/residence.h"
#include "search/graph.h"
#include "search/groups.h"

/* Costs of a dense block should stay in a core's second-level cache. */
static const size_t DENSE_BYTES = 1 << 19;

int32_t vem_i_block_items(const vem_i_search *search, int32_t clusters,
                          const vem_i_kernels *kernels)
{
    if (search->kind == VEM_SEARCH_GROUPS)
        return VEM_I_GROUP_ITEMS;
    if (!search->dense)
        return VEM_I_BLOCK;
    size_t items = DENSE_BYTES / kernels->element / (size_t)clusters;
    size_t panel = (size_t)kernels->panel;
    items = items / panel * panel;
    return items < panel         ? kernels->panel
           : items > VEM_I_BLOCK ? VEM_I_BLOCK
                                 : (int32_t)items;
}

typedef struct sizes {
    size_t items, packed, rows, again_rows, tile_rows, trial_rows, column;
} sizes;

static sizes sizes_of(const vem_i_search *search, int32_t clusters,
                      const vem_i_kernels *kernels)
{
    sizes s = {.items = (size_t)vem_i_block_items(search, clusters, kernels)};
    /* Neighborhood searches score rows as they lie. */
    s.packed = search->reach ? 0 : s.items < VEM_I_BLOCK ? s.items : VEM_I_BLOCK;
    s.rows = search->dense ? (size_t)clusters : (size_t)search->held + 1;
    s.again_rows = search->dense ? 0 : s.rows;
    s.tile_rows = search->dense   ? 0
                  : search->reach ? (size_t)vem_i_graph_candidates(search, clusters)
                                  : VEM_I_TILE;
    /* A row more than can be tried: where the next one would go. */
    s.trial_rows = search->reach ? s.tile_rows + 1 : 0;
    if (search->kind == VEM_SEARCH_GROUPS) {
        s.tile_rows = s.trial_rows = 2 * (size_t)search->held + 1;
        s.again_rows = 0;
    }
    s.column = search->dense && search->held < clusters ? (size_t)clusters : 0;
    return s;
}

uint64_t vem_i_block_bytes(const vem_i_search *search, int32_t clusters, int32_t d,
                           const vem_i_kernels *kernels)
{
    sizes s = sizes_of(search, clusters, kernels);
    size_t element = kernels->element;
    size_t index = sizeof(int32_t), row = ((size_t)d + 1) * element;
    size_t lists = search->dense ? 0 : s.rows * index;
    size_t again = s.again_rows ? row + s.again_rows * (element + index) + index : 0;
    size_t before = search->kind == VEM_SEARCH_GROUPS ? (size_t)search->held * index : 0;
    return s.packed * row +
           s.items * (s.rows * element + lists + element + index + s.tile_rows * element +
                      s.trial_rows * index + again + before) +
           s.column * element;
}

vem_status vem_i_block_new(vem_ctx *ctx, const vem_i_search *search, const vem_view *view,
                           const vem_i_scorer *scorer, vem_i_block *block)
{
    const vem_i_kernels *kernels = view->kernels;
    sizes s = sizes_of(search, scorer->clusters, kernels);
    vem_i_block made = {.ctx = ctx,
                        .view = view,
                        .scorer = scorer,
                        .capacity = (int32_t)s.items};
    size_t element = kernels->element, row = (size_t)view->d * element;
    vem_status status = VEM_OK;
    if (s.packed)
        status = vem_i_take(ctx, &made.panels, s.packed, row);
    if (status == VEM_OK && s.packed)
        status = vem_i_take(ctx, &made.norms, s.packed, element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &made.costs, s.items, s.rows * element);
    if (status == VEM_OK && !search->dense)
        status = vem_i_take(ctx, &made.index, s.items, s.rows * sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &made.best, s.items, element);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &made.nearest, s.items, sizeof(int32_t));
    if (status == VEM_OK && s.tile_rows)
        status = vem_i_take(ctx, &made.tile, s.items, s.tile_rows * element);
    if (status == VEM_OK && s.again_rows) {
        status = vem_i_take(ctx, &made.again_panels, s.items, row);
        if (status == VEM_OK)
            status = vem_i_take(ctx, &made.again_norms, s.items, element);
        if (status == VEM_OK)
            status = vem_i_take(ctx, &made.again_costs, s.items, s.again_rows * element);
        if (status == VEM_OK)
            status = vem_i_take(ctx, &made.again_index, s.items,
                                s.again_rows * sizeof(int32_t));
        if (status == VEM_OK)
            status = vem_i_take(ctx, &made.again, s.items, sizeof(uint32_t));
    }
    if (status == VEM_OK && s.trial_rows) {
        status = vem_i_take(ctx, &made.trial, s.items, s.trial_rows * sizeof(int32_t));
        if (status == VEM_OK)
            status = vem_i_take(ctx, &made.drawn, (size_t)search->held, sizeof(int32_t));
    }
    if (status == VEM_OK && search->kind == VEM_SEARCH_GROUPS)
        status = vem_i_take(ctx, &made.before, s.items,
                            (size_t)search->held * sizeof(int32_t));
    if (status == VEM_OK && s.column)
        status = vem_i_take(ctx, &made.column, s.column, element);
    if (status != VEM_OK) {
        vem_i_block_free(&made);
        return status;
    }
    *block = made;
    return VEM_OK;
}

void vem_i_block_free(vem_i_block *block)
{
    vem_i_free(block->panels);
    vem_i_free(block->norms);
    vem_i_free(block->costs);
    vem_i_free(block->index);
    vem_i_free(block->best);
    vem_i_free(block->nearest);
    vem_i_free(block->tile);
    vem_i_free(block->again_panels);
    vem_i_free(block->again_norms);
    vem_i_free(block->again_costs);
    vem_i_free(block->again_index);
    vem_i_free(block->again);
    vem_i_free(block->trial);
    vem_i_free(block->drawn);
    vem_i_free(block->before);
    vem_i_free(block->column);
    memset(block, 0, sizeof *block);
}

void vem_i_block_load(vem_i_block *block, int64_t first, int32_t n)
{
    block->first = first;
    block->n = n;
    if (block->panels)
        block->view->kernels->pack(vem_i_view_row(block->view, first), block->view->ld,
                                   NULL, n, block->view->d, NULL, block->panels,
                                   block->norms);
}

void vem_i_block_take(vem_i_block *block, const uint32_t *items, int32_t n, int32_t place)
{
    block->items = items;
    block->n = n;
    block->place = place;
}

void vem_i_block_clear(const vem_i_kernels *kernels, void *costs, int32_t *index,
                       int32_t top, int64_t ldv, int32_t n)
{
    for (int64_t r = 0; r < top; r++) {
        memset(index + r * ldv, -1, (size_t)n * sizeof *index);
        if (kernels->precision == VEM_SINGLE)
            for (int64_t i = r * ldv; i < r * ldv + n; i++)
                ((float *)costs)[i] = INFINITY;
        else
            for (int64_t i = r * ldv; i < r * ldv + n; i++)
                ((double *)costs)[i] = INFINITY;
    }
}

/* Lists longer than the kernel keeps. */
static void keep_long(vem_i_block *block, int32_t p, int32_t rows, int32_t keep)
{
    const vem_i_kernels *kernels = block->scorer->kernels;
    int64_t ldv = block->capacity;
    int32_t kept = 0;
    for (int32_t r = 0; r < rows; r++) {
        double cost = vem_i_value(kernels, block->tile, r * ldv + p);
        int32_t cluster = block->trial[r * ldv + p];
        if (!(cost < INFINITY))
            continue; /* none, or a cluster of weight 0 */
        int32_t at = kept;
        for (; at > 0; at--) {
            int64_t above = (at - 1) * ldv + p;
            double other = vem_i_value(kernels, block->costs, above);
            if (other <= cost)
                break;
            if (at < keep) {
                vem_i_store(kernels, block->costs, above + ldv, other);
                block->index[above + ldv] = block->index[above];
            }
        }
        if (at < keep) {
            vem_i_store(kernels, block->costs, at * ldv + p, cost);
            block->index[at * ldv + p] = cluster;
            kept += kept < keep;
        }
    }
}

void vem_i_block_keep(vem_i_block *block, int32_t rows, int32_t keep)
{
    const vem_i_kernels *kernels = block->scorer->kernels;
    vem_i_block_clear(kernels, block->costs, block->index, keep, block->capacity,
                      block->n);
    if (keep <= VEM_I_TOP_MAX)
        kernels->select_top(block->tile, block->trial, block->n, rows, 0, keep,
                            block->costs, block->index, block->capacity);
    else
        for (int32_t p = 0; p < block->n; p++)
            keep_long(block, p, rows, keep);
}

void vem_i_block_sort(vem_i_block *block, int32_t held)
{
    const vem_i_kernels *kernels = block->view->kernels;
    int64_t ldv = block->capacity;
    for (int32_t p = 0; p < block->n; p++)
        for (int64_t r = 1; r < held; r++) {
            double cost = vem_i_value(kernels, block->costs, r * ldv + p);
            int32_t cluster = block->index[r * ldv + p];
            int64_t at = r;
            for (; at > 0; at--) {
                int64_t above = (at - 1) * ldv + p;
                double other = vem_i_value(kernels, block->costs, above);
                if (other < cost || (other == cost && block->index[above] <= cluster))
                    break;
                vem_i_store(kernels, block->costs, at * ldv + p, other);
                block->index[at * ldv + p] = block->index[above];
            }
            vem_i_store(kernels, block->costs, at * ldv + p, cost);
            block->index[at * ldv + p] = cluster;
        }
}

void vem_i_block_score_pairs(vem_i_block *block, int32_t rows, const int32_t *index,
                             void *costs)
{
    const vem_view *view = block->view;
    for (int32_t p = 0; p < block->n; p += VEM_I_BLOCK) {
        const int32_t n = block->n - p < VEM_I_BLOCK ? block->n - p : VEM_I_BLOCK;
        const void *x = block->items ? view->x : vem_i_view_row(view, block->first + p);
        block->scorer->family->score_pairs(block->scorer, x, view->ld,
                                           block->items ? block->items + p : NULL, n,
                                           rows, index + p,
                                           (char *)costs +
                                               (size_t)p * view->kernels->element,
                                           block->capacity);
        vem_i_residence_check(block->ctx);
    }
}

void vem_i_block_stay(const vem_i_search *search, vem_i_block *block,
                      const int32_t *before)
{
    int64_t ldv = block->capacity;
    for (int32_t p = 0; p < block->n; p++)
        for (int32_t r = 0; r < search->held; r++)
            block->index[r * ldv + p] = before[p * search->held + r];
    vem_i_block_score_pairs(block, search->held, block->index, block->costs);
    vem_i_block_sort(block, search->held);
}
