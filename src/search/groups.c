/* Candidates shared by items that lie together, scored as dense tiles.
 *
 *     lists   the items whose first cluster is in group g try the clusters of the groups
 *             nearest to g: one gathered set of clusters for all of them
 *     probe   every item tries the clusters of the P buckets nearest to itself; items of a
 *             stretch are sorted by bucket, so that a bucket too is one gathered set. Where
 *             only some probe, those far from their cluster, and buckets are many, they
 *             look only at the buckets near the one they are in
 *
 * For the isotropic families in more than a few dimensions tiles take the dot form about
 * a local origin, the mean of the group or bucket, where it loses few digits; the others
 * score by direct differences. Tiles only propose: what an item held and what was
 * proposed are scored by direct differences, and the C' best of those are held. So F
 * cannot fall, whatever the lists miss. */
#include "search/groups.h"

#include <math.h>
#include <string.h>

#include "base/bucket_sort.h"
#include "base/residence.h"
#include "coarse/nearest.h"

/* An item that wants many buckets looks at all: at least so many must be near for each. */
enum { FEW_OF_NEAR = 8 };

/* ---- a few clusters, together ---- */

void vem_i_lister_gather(vem_i_lister *l, const vem_i_scorer *s, const int32_t *list,
                         int32_t count, const void *origin)
{
    l->origin = vem_i_by_dots(s) ? origin : NULL;
    vem_i_scorer_gather(s, list, count, l->origin, &l->some);
}

void vem_i_lister_score(const vem_i_lister *l, const vem_i_block *block,
                        const vem_i_items *items, const int32_t *columns, int32_t first,
                        int32_t top, void *costs, int32_t *index)
{
    const vem_i_scorer *s = &l->some;
    const int32_t n = (int32_t)items->n;
    const int dots = vem_i_by_dots(s);
    const int64_t ldv = block->capacity;
    if (dots && !columns) {
        vem_i_tiles_top(s, dots, items, block->norms, 0, s->clusters, first, top, NULL,
                        costs, index, ldv);
        return;
    }
    vem_i_lists_move(s->kernels, top, n, columns, costs, index, ldv, l->costs, l->index,
                     0);
    vem_i_tiles_top(s, dots, items, block->norms, 0, s->clusters, first, top, l->tile,
                    l->costs, l->index, VEM_I_BLOCK);
    vem_i_lists_move(s->kernels, top, n, columns, costs, index, ldv, l->costs, l->index,
                     1);
}

vem_i_items vem_i_lister_pack(const vem_i_lister *l, const vem_i_block *block,
                              const uint32_t *list, int32_t n)
{
    vem_i_items items = vem_i_items_at(block->view, 0, list, n);
    vem_i_residence_check(block->run); /* rows may lie anywhere */
    vem_i_items_pack(block->view, l->origin, block->panels, block->norms, &items);
    return items;
}

void vem_i_lister_name(vem_i_block *block, const int32_t *list, int32_t n, int32_t top)
{
    for (int32_t r = 0; r < top; r++) {
        int32_t *index = block->index + (int64_t)r * block->capacity;
        for (int32_t p = 0; p < n; p++)
            index[p] = index[p] < 0 ? -1 : list[index[p]];
    }
}

/* Columns are never to the left of where the results lie, so this may be done in place, from
 * the right. */
void vem_i_lister_put_back(const vem_i_lister *l, vem_i_block *block, int32_t count,
                           int32_t top)
{
    for (int32_t r = 0; r < top; r++) {
        int32_t *index = block->index + (int64_t)r * block->capacity, k = count - 1;
        for (int32_t p = block->n - 1; p >= 0; p--)
            index[p] = k >= 0 && l->far[k] == p ? index[k--] : -1;
    }
}

/* ---- probe ---- */

/* Buckets nearest to the items from `begin` on, before `end`: of all, or of those near bucket
 * `around`. */
static void find_buckets_of(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                            const uint32_t *items, int32_t begin, int32_t end,
                            int32_t around, int32_t probe)
{
    const vem_i_hierarchy *h = &g->hierarchy;
    const vem_i_kernels *kernels = h->kernels;
    const int32_t *near = NULL;
    const void *means = h->bucket_means, *norms = h->bucket_norms;
    int32_t looked = h->buckets;
    l->origin = NULL;
    if (around >= 0) {
        near = h->buckets_near + (int64_t)around * VEM_I_NEAR_BUCKETS;
        l->origin = (const char *)h->bucket_means +
                    (size_t)around * (size_t)h->d * kernels->element;
        means = l->near_means;
        norms = l->near_norms;
        looked = h->near_buckets;
        kernels->gather(h->bucket_means, h->d, near, looked, h->d, l->origin,
                        l->near_means, h->d, l->near_norms);
    }
    for (int32_t p = begin; p < end; p += VEM_I_BLOCK) {
        int32_t n = end - p < VEM_I_BLOCK ? end - p : VEM_I_BLOCK;
        vem_i_block_clear(kernels, l->bucket_costs, l->bucket_index, probe, VEM_I_BLOCK,
                          n);
        vem_i_lister_pack(l, block, items + p, n);
        kernels->dot_top(block->panels, block->norms, n, h->d, means, h->d, norms,
                         h->ones, h->zeros, looked, 0, probe, l->bucket_costs,
                         l->bucket_index, VEM_I_BLOCK);
        for (int32_t r = 0; r < probe; r++)
            for (int32_t k = 0; k < n; k++) {
                int32_t found = l->bucket_index[r * VEM_I_BLOCK + k];
                found = found < 0 ? 0 : found;
                l->buckets[r * VEM_I_GROUP_ITEMS + p + k] = near ? near[found] : found;
            }
    }
    block->pairs += (int64_t)(end - begin) * looked;
}

/* The bucket of the cluster that an item held first: of item k of those that probe, which is
 * in column columns[k] (NULL: k). */
static int32_t bucket_of(const vem_i_groups *g, const vem_i_block *block,
                         const int32_t *columns, int32_t k)
{
    int32_t first = block->trial[columns ? columns[k] : k];
    return first < 0 ? -1 : g->hierarchy.bucket_of[first];
}

/* The buckets nearest to each item. Where all items probe they look at all buckets: some may
 * have far to go. Later only some do (columns), and where there are many buckets, those near
 * the one an item is in will do. Items stand in the order of their buckets. */
static void find_buckets(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                         const uint32_t *items, const int32_t *columns, int32_t count,
                         int32_t probe)
{
    const vem_i_hierarchy *h = &g->hierarchy;
    int near = columns && vem_i_hierarchy_is_large(h) &&
               FEW_OF_NEAR * probe <= VEM_I_NEAR_BUCKETS;
    for (int32_t begin = 0, end; begin < count; begin = end) {
        int32_t around = near ? bucket_of(g, block, columns, begin) : -1;
        end = near ? begin + 1 : count;
        while (end < count && bucket_of(g, block, columns, end) == around)
            end++;
        find_buckets_of(g, l, block, items, begin, end, around, probe);
    }
}

/* Columns of the block by their bucket, in order. */
static void sort_columns(const vem_i_groups *g, vem_i_lister *l, const int32_t *buckets,
                         int32_t n)
{
    vem_i_bucket_sort(buckets, 0, NULL, n, g->hierarchy.buckets, l->starts, l->chosen);
    l->starts[g->hierarchy.buckets] = n;
}

static void try_bucket(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                       const uint32_t *items, int32_t bucket, int32_t top)
{
    const vem_i_hierarchy *h = &g->hierarchy;
    const int32_t *chosen = l->chosen + l->starts[bucket];
    int32_t count = l->starts[bucket + 1] - l->starts[bucket];
    int32_t begin = h->bucket_starts[bucket], end = h->bucket_starts[bucket + 1];
    const void *origin = (const char *)h->bucket_means +
                         (size_t)bucket * (size_t)h->d * h->kernels->element;
    for (int32_t j = begin; j < end; j += VEM_I_SHORTLIST) {
        int32_t some = end - j < VEM_I_SHORTLIST ? end - j : VEM_I_SHORTLIST;
        vem_i_lister_gather(l, block->scorer, h->members + j, some, origin);
        for (int32_t p = 0; p < count; p += VEM_I_BLOCK) {
            int32_t n = count - p < VEM_I_BLOCK ? count - p : VEM_I_BLOCK;
            for (int32_t k = 0; k < n; k++)
                l->items[k] = items[chosen[p + k]];
            const vem_i_items packed = vem_i_lister_pack(l, block, l->items, n);
            vem_i_lister_score(l, block, &packed, chosen + p, j, top, block->costs,
                               block->index);
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
            l->far_items[count++] = block->items.index[p];
        }
    return count;
}

static void try_buckets(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                        int only_far, int32_t top)
{
    const vem_i_hierarchy *h = &g->hierarchy;
    int32_t probe = g->probe < h->buckets ? g->probe : h->buckets;
    int32_t n = only_far ? choose_far(g, l, block) : block->n;
    const uint32_t *items = only_far ? l->far_items : block->items.index;
    find_buckets(g, l, block, items, only_far ? l->far : NULL, n, probe);
    for (int32_t r = 0; r < probe; r++) {
        sort_columns(g, l, l->buckets + (int64_t)r * VEM_I_GROUP_ITEMS, n);
        for (int32_t b = 0; b < h->buckets; b++)
            if (l->starts[b + 1] > l->starts[b] &&
                h->bucket_starts[b + 1] > h->bucket_starts[b])
                try_bucket(g, l, block, items, b, top);
    }
    vem_i_lister_name(block, h->members, n, top);
    if (only_far)
        vem_i_lister_put_back(l, block, n, top);
    l->place = -1;
}

/* ---- the search ---- */

/* Costs of `rows` trials from row `first` on, by direct differences. */
static void score_trials(vem_i_block *block, int32_t first, int32_t rows)
{
    int64_t at = (int64_t)first * block->capacity;
    vem_i_block_score_pairs(block, rows, block->trial + at,
                            vem_i_lister_column(block, block->tile, at));
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
        try_buckets(g, l, block, before && g->far > -INFINITY, top);
    else
        vem_i_groups_try_list(g, l, block, before, top);
    try_proposed(block, held, top);
    vem_i_block_keep(block, held + top, keep);
    if (!g->probe)
        vem_i_groups_note(g, l, block);
}
