/* Candidates shared by items that lie together, scored as dense tiles.
 *
 *     lists   the items whose first cluster is in group g try the clusters of the groups
 *             nearest to g: one gathered set of clusters for all of them
 *     probe   every item tries the clusters of the P cells nearest to itself; items of a
 *             stretch are sorted by cell, so that a cell too is one gathered set. Where
 *             only some probe, those far from their cluster, and cells are many, they
 *             look only at the cells near the one they are in
 *
 * For the isotropic families in more than a few dimensions tiles take the dot form about
 * a local origin, the mean of the group or cell, where it loses few digits; the others
 * score by direct differences. Tiles only propose: what an item held and what was
 * proposed are scored by direct differences, and the C' best of those are held. So F
 * cannot fall, whatever the lists miss. */
#include "search/groups.h"

#include <math.h>
#include <string.h>

#include "base/residence.h"

/* An item that wants many cells looks at all: at least so many must be near for each. */
enum { FEW_OF_NEAR = 8 };

static int by_dots(const vem_i_scorer *s)
{
    return s->family->dots && s->d > VEM_I_DIRECT_MAX;
}

/* ---- a few clusters, together ---- */

/* Make l->some hold these clusters of the scorer, about `origin` where dots are taken. */
static void gather(vem_i_lister *l, const vem_i_scorer *s, const int32_t *list,
                   int32_t count, const void *origin)
{
    l->origin = by_dots(s) ? origin : NULL;
    vem_i_scorer_gather(s, list, count, l->origin, &l->some);
}

/* Packed items against the gathered clusters, numbered from `first`. */
static void score(const vem_i_lister *l, const vem_i_block *block, int32_t n,
                  int32_t first, int32_t top, void *costs, int32_t *index, int64_t ldv)
{
    const vem_i_scorer *s = &l->some;
    if (by_dots(s)) {
        s->kernels->dot_top(block->panels, block->norms, n, s->d, s->means, s->ldc,
                            s->norms, s->scale, s->bias, s->clusters, first, top, costs,
                            index, ldv);
        return;
    }
    for (int32_t c = 0; c < s->clusters; c += VEM_I_TILE) {
        int32_t count = s->clusters - c < VEM_I_TILE ? s->clusters - c : VEM_I_TILE;
        s->family->score_tile(s, block->panels, n, c, count, l->tile, VEM_I_BLOCK);
        if (ldv == VEM_I_BLOCK) {
            s->kernels->select_top(l->tile, NULL, n, count, first + c, top, costs, index,
                                   ldv);
            continue;
        }
        /* The kernel wants one stride for both: the lists come here and go back. */
        size_t element = s->kernels->element;
        for (int32_t r = 0; r < top; r++) {
            memcpy((char *)l->costs + (size_t)(r * VEM_I_BLOCK) * element,
                   (char *)costs + (size_t)(r * ldv) * element, (size_t)n * element);
            memcpy(l->index + (size_t)(r * VEM_I_BLOCK), index + r * ldv,
                   (size_t)n * sizeof *index);
        }
        s->kernels->select_top(l->tile, NULL, n, count, first + c, top, l->costs,
                               l->index, VEM_I_BLOCK);
        for (int32_t r = 0; r < top; r++) {
            memcpy((char *)costs + (size_t)(r * ldv) * element,
                   (char *)l->costs + (size_t)(r * VEM_I_BLOCK) * element,
                   (size_t)n * element);
            memcpy(index + r * ldv, l->index + (size_t)(r * VEM_I_BLOCK),
                   (size_t)n * sizeof *index);
        }
    }
}

static void pack(const vem_i_lister *l, vem_i_block *block, const uint32_t *items,
                 int32_t n)
{
    const vem_view *view = block->view;
    vem_i_residence_check(block->ctx); /* rows may lie anywhere */
    view->kernels->pack(view->x, view->ld, items, n, view->d, l->origin, block->panels,
                        block->norms);
}

static void *column(const vem_i_block *block, void *rows, int64_t at)
{
    return (char *)rows + (size_t)at * block->view->kernels->element;
}

/* From numbers in a list to clusters. */
static void name(vem_i_block *block, const int32_t *list, int32_t top)
{
    for (int32_t r = 0; r < top; r++) {
        int32_t *index = block->index + (int64_t)r * block->capacity;
        for (int32_t p = 0; p < block->n; p++)
            index[p] = index[p] < 0 ? -1 : list[index[p]];
    }
}

/* ---- lists ---- */

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
}

static void try_list(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                     int32_t top)
{
    const vem_i_scorer *s = block->scorer;
    const vem_i_hierarchy *h = &g->hierarchy;
    const void *origin = (const char *)h->group_means +
                         (size_t)l->group * (size_t)h->d * h->kernels->element;
    if (l->place != l->group) {
        list_group(g, l, l->group);
        l->place = l->group;
        if (l->count <= VEM_I_SHORTLIST)
            gather(l, s, l->list, l->count, origin);
    }
    for (int32_t j = 0; j < l->count; j += VEM_I_SHORTLIST) {
        int32_t some = l->count - j < VEM_I_SHORTLIST ? l->count - j : VEM_I_SHORTLIST;
        if (l->count > VEM_I_SHORTLIST)
            gather(l, s, l->list + j, some, origin);
        for (int32_t p = 0; p < block->n; p += VEM_I_BLOCK) {
            int32_t n = block->n - p < VEM_I_BLOCK ? block->n - p : VEM_I_BLOCK;
            pack(l, block, block->items + p, n);
            score(l, block, n, j, top, column(block, block->costs, p), block->index + p,
                  block->capacity);
        }
    }
    name(block, l->list, top);
    block->pairs += (int64_t)block->n * l->count;
}

/* ---- probe ---- */

/* Cells nearest to the items from `begin` on, before `end`: of all cells, or of those near
 * cell `around`. */
static void find_cells_of(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                          const uint32_t *items, int32_t begin, int32_t end,
                          int32_t around, int32_t probe)
{
    const vem_i_hierarchy *h = &g->hierarchy;
    const vem_i_kernels *kernels = h->kernels;
    const int32_t *near = NULL;
    const void *means = h->cell_means, *norms = h->cell_norms;
    int32_t looked = h->cells;
    l->origin = NULL;
    if (around >= 0) {
        near = h->cells_near + (int64_t)around * VEM_I_NEAR_CELLS;
        l->origin = (const char *)h->cell_means +
                    (size_t)around * (size_t)h->d * kernels->element;
        means = l->near_means;
        norms = l->near_norms;
        looked = h->near_cells;
        kernels->gather(h->cell_means, h->d, near, looked, h->d, l->origin, l->near_means,
                        h->d, l->near_norms);
    }
    for (int32_t p = begin; p < end; p += VEM_I_BLOCK) {
        int32_t n = end - p < VEM_I_BLOCK ? end - p : VEM_I_BLOCK;
        vem_i_block_clear(kernels, l->cell_costs, l->cell_index, probe, VEM_I_BLOCK, n);
        pack(l, block, items + p, n);
        kernels->dot_top(block->panels, block->norms, n, h->d, means, h->d, norms,
                         h->ones, h->zeros, looked, 0, probe, l->cell_costs,
                         l->cell_index, VEM_I_BLOCK);
        for (int32_t r = 0; r < probe; r++)
            for (int32_t k = 0; k < n; k++) {
                int32_t found = l->cell_index[r * VEM_I_BLOCK + k];
                found = found < 0 ? 0 : found;
                l->cells[r * VEM_I_GROUP_ITEMS + p + k] = near ? near[found] : found;
            }
    }
    block->pairs += (int64_t)(end - begin) * looked;
}

/* The cell of the cluster that an item held first: of item k of those that probe, which is
 * in column columns[k] (NULL: k). */
static int32_t cell_of(const vem_i_groups *g, const vem_i_block *block,
                       const int32_t *columns, int32_t k)
{
    int32_t first = block->trial[columns ? columns[k] : k];
    return first < 0 ? -1 : g->hierarchy.cell_of[first];
}

/* The cells nearest to each item. Where all items probe they look at all cells: some may
 * have far to go. Later only some do (columns), and where there are many cells, those near
 * the one an item is in will do. Items stand in the order of their cells. */
static void find_cells(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                       const uint32_t *items, const int32_t *columns, int32_t count,
                       int32_t probe)
{
    const vem_i_hierarchy *h = &g->hierarchy;
    int near =
        columns && vem_i_hierarchy_is_large(h) && FEW_OF_NEAR * probe <= VEM_I_NEAR_CELLS;
    for (int32_t begin = 0, end; begin < count; begin = end) {
        int32_t around = near ? cell_of(g, block, columns, begin) : -1;
        end = near ? begin + 1 : count;
        while (end < count && cell_of(g, block, columns, end) == around)
            end++;
        find_cells_of(g, l, block, items, begin, end, around, probe);
    }
}

/* Columns of the block by their cell, in order. */
static void sort_columns(const vem_i_groups *g, vem_i_lister *l, const int32_t *cells,
                         int32_t n)
{
    int32_t count = g->hierarchy.cells;
    memset(l->starts, 0, ((size_t)count + 1) * sizeof *l->starts);
    for (int32_t p = 0; p < n; p++)
        l->starts[cells[p] + 1]++;
    for (int32_t b = 0; b < count; b++)
        l->starts[b + 1] += l->starts[b];
    for (int32_t p = 0; p < n; p++)
        l->chosen[l->starts[cells[p]]++] = p;
    for (int32_t b = count; b > 0; b--)
        l->starts[b] = l->starts[b - 1];
    l->starts[0] = 0;
}

/* Lists of chosen columns to the packed block, and back. */
static void move_lists(const vem_i_lister *l, vem_i_block *block, const int32_t *chosen,
                       int32_t n, int32_t top, int back)
{
    for (int32_t r = 0; r < top; r++) {
        int64_t from = (int64_t)r * block->capacity, to = (int64_t)r * VEM_I_BLOCK;
        for (int32_t k = 0; k < n; k++) {
            int32_t *there = &block->index[from + chosen[k]], *here = &l->index[to + k];
            *(back ? there : here) = *(back ? here : there);
        }
        if (block->view->kernels->precision == VEM_SINGLE) {
            float *block_costs = block->costs, *costs = l->costs;
            for (int32_t k = 0; k < n; k++) {
                float *there = &block_costs[from + chosen[k]], *here = &costs[to + k];
                *(back ? there : here) = *(back ? here : there);
            }
        } else {
            double *block_costs = block->costs, *costs = l->costs;
            for (int32_t k = 0; k < n; k++) {
                double *there = &block_costs[from + chosen[k]], *here = &costs[to + k];
                *(back ? there : here) = *(back ? here : there);
            }
        }
    }
}

static void try_cell(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                     const uint32_t *items, int32_t cell, int32_t top)
{
    const vem_i_hierarchy *h = &g->hierarchy;
    const int32_t *chosen = l->chosen + l->starts[cell];
    int32_t count = l->starts[cell + 1] - l->starts[cell];
    int32_t begin = h->cell_starts[cell], end = h->cell_starts[cell + 1];
    const void *origin =
        (const char *)h->cell_means + (size_t)cell * (size_t)h->d * h->kernels->element;
    for (int32_t j = begin; j < end; j += VEM_I_SHORTLIST) {
        int32_t some = end - j < VEM_I_SHORTLIST ? end - j : VEM_I_SHORTLIST;
        gather(l, block->scorer, h->members + j, some, origin);
        for (int32_t p = 0; p < count; p += VEM_I_BLOCK) {
            int32_t n = count - p < VEM_I_BLOCK ? count - p : VEM_I_BLOCK;
            for (int32_t k = 0; k < n; k++)
                l->items[k] = items[chosen[p + k]];
            move_lists(l, block, chosen + p, n, top, 0);
            pack(l, block, l->items, n);
            score(l, block, n, j, top, l->costs, l->index, VEM_I_BLOCK);
            move_lists(l, block, chosen + p, n, top, 1);
        }
    }
    block->pairs += (int64_t)count * (end - begin);
}

/* Items that are farther from their cluster than items are on average: most of what a
 * probe can gain is theirs. Returns how many, their columns and the items. */
static int32_t choose_far(const vem_i_groups *g, vem_i_lister *l,
                          const vem_i_block *block)
{
    int32_t count = 0;
    for (int32_t p = 0; p < block->n; p++)
        if (vem_i_value(g->hierarchy.kernels, block->tile, p) >= g->far) {
            l->far[count] = p;
            l->far_items[count++] = block->items[p];
        }
    return count;
}

/* What was found for the chosen items goes to their columns. Columns are never to the left
 * of where the results lie, so this may be done in place, from the right. */
static void spread_out(const vem_i_lister *l, vem_i_block *block, int32_t count,
                       int32_t top)
{
    for (int32_t r = 0; r < top; r++) {
        int32_t *index = block->index + (int64_t)r * block->capacity, k = count - 1;
        for (int32_t p = block->n - 1; p >= 0; p--)
            index[p] = k >= 0 && l->far[k] == p ? index[k--] : -1;
    }
}

static void try_cells(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                      int only_far, int32_t top)
{
    const vem_i_hierarchy *h = &g->hierarchy;
    int32_t probe = g->probe < h->cells ? g->probe : h->cells;
    int32_t n = only_far ? choose_far(g, l, block) : block->n;
    const uint32_t *items = only_far ? l->far_items : block->items;
    find_cells(g, l, block, items, only_far ? l->far : NULL, n, probe);
    for (int32_t r = 0; r < probe; r++) {
        sort_columns(g, l, l->cells + (int64_t)r * VEM_I_GROUP_ITEMS, n);
        for (int32_t b = 0; b < h->cells; b++)
            if (l->starts[b + 1] > l->starts[b] &&
                h->cell_starts[b + 1] > h->cell_starts[b])
                try_cell(g, l, block, items, b, top);
    }
    name(block, h->members, top);
    if (only_far)
        spread_out(l, block, n, top);
    l->place = -1;
}

/* ---- the search ---- */

/* Costs of `rows` trials from row `first` on, by direct differences. */
static void score_trials(vem_i_block *block, int32_t first, int32_t rows)
{
    int64_t at = (int64_t)first * block->capacity;
    vem_i_block_score_pairs(block, rows, block->trial + at,
                            column(block, block->tile, at));
}

static void try_held(int32_t held, vem_i_block *block, const int32_t *before)
{
    for (int32_t r = 0; r < held; r++)
        for (int32_t p = 0; p < block->n; p++)
            block->trial[(int64_t)r * block->capacity + p] = before[p * held + r];
    score_trials(block, 0, held);
}

/* What was proposed, except what was held. */
static void try_proposed(vem_i_block *block, int32_t held, int32_t top)
{
    int64_t ldv = block->capacity;
    for (int32_t r = 0; r < top; r++)
        for (int32_t p = 0; p < block->n; p++) {
            int32_t cluster = block->index[r * ldv + p];
            for (int32_t k = 0; k < held; k++)
                if (block->trial[k * ldv + p] == cluster)
                    cluster = -1;
            block->trial[(held + r) * ldv + p] = cluster;
        }
    score_trials(block, held, top);
}

/* What is held comes first among the trials, so that it wins ties. */
void vem_i_groups_find(vem_i_search *search, vem_i_block *block, const int32_t *before)
{
    const vem_i_groups *g = (const vem_i_groups *)search;
    vem_i_lister *l = block->scratch;
    int32_t held = before ? search->spec.held : 0;
    int32_t keep = search->spec.held + search->extra;
    int32_t top = keep < block->scorer->clusters ? keep : block->scorer->clusters;
    if (before)
        try_held(held, block, before);
    vem_i_block_clear(block->view->kernels, block->costs, block->index, top,
                      block->capacity, block->n);
    if (g->probe)
        try_cells(g, l, block, before && g->far > -INFINITY, top);
    else
        try_list(g, l, block, top);
    try_proposed(block, held, top);
    vem_i_block_keep(block, held + top, keep);
}
