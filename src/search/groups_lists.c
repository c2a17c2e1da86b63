/* Lists: items whose first cluster is in one group try the clusters of the groups near it.
 *
 * Where bounds are kept (bounds.h), only items that may change meet the list (groups_stay.c), and
 * learn their bounds anew from the two best that they find. */
#include "search/groups_inside.h"

#include <string.h>

#include "coarse/nearest.h"

/* ---- the list ---- */

static void list_group(const vem_i_groups *g, vem_i_lister *l, int32_t group)
{
    const vem_i_hierarchy *h = &g->hierarchy;
    const int32_t *near = h->near + (int64_t)group * VEM_I_TOP_MAX;
    l->count = 0;
    for (int32_t k = 0; k < h->near_count && near[k] >= 0; k++) {
        int32_t begin = h->group_starts[near[k]], end = h->group_starts[near[k] + 1];
        memcpy(l->list + l->count, h->members + begin,
               (size_t)(end - begin) * sizeof *l->list);
        l->count += end - begin;
    }
    l->gathered = NULL;
}

/* Lists that are too long to be gathered at once have no bounds. */
static int keeps_bounds(const vem_i_groups *g, const vem_i_lister *l)
{
    return g->bounds.plain && l->count <= VEM_I_SHORTLIST;
}

static const void *origin_of(const vem_i_groups *g, const vem_i_lister *l)
{
    const vem_i_hierarchy *h = &g->hierarchy;
    return (const char *)h->group_means +
           (size_t)l->group * (size_t)h->d * h->kernels->element;
}

/* ---- tiles ---- */

static void gather_once(const vem_i_groups *g, vem_i_lister *l, const vem_i_block *block,
                        const int32_t *list)
{
    if (l->gathered != list)
        vem_i_lister_gather(l, block->scorer, list, l->count, origin_of(g, l));
    l->gathered = list;
}

void vem_i_lister_meet(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                       const int32_t *list, int32_t count, int32_t n)
{
    const vem_i_kernels *kernels = block->view->kernels;
    gather_once(g, l, block, list);
    vem_i_block_clear(kernels, l->best, l->best_index, 2, VEM_I_GROUP_ITEMS, n);
    for (int32_t p = 0; p < n; p += VEM_I_BLOCK) {
        const int32_t few = n - p < VEM_I_BLOCK ? n - p : VEM_I_BLOCK;
        const vem_i_items items = vem_i_lister_pack(l, block, l->far_items + p, few);
        vem_i_tiles_top(&l->some, 1, &items, block->norms, 0, count, 0, 2, NULL,
                        vem_i_lister_column(block, l->best, p), l->best_index + p,
                        VEM_I_GROUP_ITEMS);
        memcpy(vem_i_lister_column(block, l->norms, p), block->norms,
               (size_t)few * kernels->element);
    }
    block->pairs += (int64_t)n * count;
}

/* The first n chosen items against the list, some of it at a time. */
static void score_list(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                       int32_t n, int32_t top)
{
    for (int32_t j = 0; j < l->count; j += VEM_I_SHORTLIST) {
        const int32_t some =
            l->count - j < VEM_I_SHORTLIST ? l->count - j : VEM_I_SHORTLIST;
        if (l->count > VEM_I_SHORTLIST)
            vem_i_lister_gather(l, block->scorer, l->list + j, some, origin_of(g, l));
        else
            gather_once(g, l, block, l->list);
        for (int32_t p = 0; p < n; p += VEM_I_BLOCK) {
            const int32_t few = n - p < VEM_I_BLOCK ? n - p : VEM_I_BLOCK;
            const vem_i_items items = vem_i_lister_pack(l, block, l->far_items + p, few);
            vem_i_lister_score(l, block, &items, NULL, j, top,
                               vem_i_lister_column(block, block->costs, p),
                               block->index + p);
        }
    }
    block->pairs += (int64_t)n * l->count;
}

/* ---- who is scored ---- */

static int32_t choose_all(vem_i_lister *l, const vem_i_block *block)
{
    for (int32_t p = 0; p < block->n; p++) {
        l->far[p] = p;
        l->far_items[p] = block->items.index[p];
    }
    return block->n;
}

void vem_i_groups_try_list(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                           const int32_t *before, int32_t top)
{
    const int fresh = l->place != l->group;
    if (fresh)
        list_group(g, l, l->group);
    l->place = l->group;
    const int keeps = keeps_bounds(g, l);
    /* Where moves want to know the second best of all items, all are scored. */
    if (g->bounds.usable && keeps && before && !g->search.extra)
        l->scored = vem_i_groups_choose_unsure(g, l, block, before, fresh);
    else
        l->scored = choose_all(l, block);
    if (keeps && l->scored > 0) {
        vem_i_lister_meet(g, l, block, l->list, l->count, l->scored);
        for (int64_t r = 0; r < top; r++)
            memcpy(block->index + r * block->capacity,
                   l->best_index + r * VEM_I_GROUP_ITEMS,
                   (size_t)l->scored * sizeof *block->index);
    } else if (l->scored > 0) {
        score_list(g, l, block, l->scored, top);
    }
    vem_i_lister_name(block, l->list, l->scored, top);
    if (l->scored < block->n)
        vem_i_lister_put_back(l, block, l->scored, top);
}

void vem_i_groups_note(const vem_i_groups *g, const vem_i_lister *l,
                       const vem_i_block *block)
{
    const vem_i_bounds *b = &g->bounds;
    const int keeps = keeps_bounds(g, l);
    for (int32_t k = 0; b->plain && k < l->scored; k++) {
        const int32_t p = l->far[k], now = block->index[p];
        const int64_t item = block->items.index[p];
        /* Another group has another list. */
        const int known = keeps && now >= 0 && g->hierarchy.group_of[now] == l->group;
        b->of[item] = known ? now : -1;
        b->lower[item] = known ? vem_i_lister_reached(g, l, k, l->list, now) : 0;
    }
}
