/* The C' clusters of least cost among all, without a matrix of distances.
 *
 * For the shared isotropic family in more than a few dimensions the workhorse is the dot
 * form |x|^2 - 2 x.mu + |mu|^2, fused with the selection. It cancels, so it only proposes:
 * every list keeps one cluster more than will be held, and where the bound on its rounding
 * (dots.h) leaves it open whether a cluster was left out that is nearer than one that was
 * kept, the item is looked at again by direct differences over all clusters. The costs of
 * what is held always come from direct differences. So the result is that of the direct
 * form, at the price of the dot form, and F is monotone whatever the scale of the data.
 *
 * Other families and low dimensions score tiles by direct differences and select from
 * those. */
#include <math.h>
#include <string.h>

#include "search/dots.h"
#include "search/search.h"

/* A step that compares all rows with all clusters does nothing else, and is faster. */
static const double WORK = 0.6;

/* Items of a block that are scored a second time, or at their old cluster. */
typedef struct again {
    void *panels, *norms, *costs;
    int32_t *index;
    uint32_t *items;
} again;

static size_t list_scratch(const vem_i_search_spec *spec, int32_t d,
                           const vem_i_kernels *kernels, void *of, vem_i_room *list)
{
    again *a = of;
    const size_t rows = (size_t)spec->held + 1, element = kernels->element;
    const vem_i_room arrays[] = {
        {&a->panels, VEM_I_BLOCK, (size_t)d * element, 0},
        {&a->norms, VEM_I_BLOCK, element, 0},
        {&a->costs, VEM_I_BLOCK, rows * element, 0},
        {&a->index, VEM_I_BLOCK, rows * sizeof(int32_t), 0},
        {&a->items, VEM_I_BLOCK, sizeof(uint32_t), 0},
    };
    memcpy(list, arrays, sizeof arrays);
    return VEM_I_COUNT(arrays);
}

static vem_i_block_shape shape(const vem_i_search_spec *spec,
                               const vem_i_kernels *kernels)
{
    (void)kernels;
    return (vem_i_block_shape){.items = VEM_I_BLOCK,
                               .packed = VEM_I_BLOCK,
                               .rows = (size_t)spec->held + 1,
                               .tile_rows = VEM_I_TILE};
}

static double work(const vem_i_search_spec *spec, double n, double pair)
{
    (void)pair;
    return WORK * n * spec->clusters;
}

/* +inf and -1 in the first `rows` rows. */
static void clear_lists(const vem_i_kernels *kernels, void *costs, int32_t *index,
                        int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        vem_i_store(kernels, costs, i, INFINITY);
        index[i] = -1;
    }
}

/* Lists from tiles of direct costs. */
static void find_direct(vem_i_block *block, const void *panels, int32_t n, int32_t top,
                        void *costs, int32_t *index)
{
    const vem_i_scorer *scorer = block->scorer;
    int32_t clusters = scorer->clusters, ldv = block->capacity;
    clear_lists(scorer->kernels, costs, index, (int64_t)top * ldv);
    for (int32_t c = 0; c < clusters; c += VEM_I_TILE) {
        int32_t count = clusters - c < VEM_I_TILE ? clusters - c : VEM_I_TILE;
        scorer->family->score_tile(scorer, panels, n, c, count, block->tile, ldv);
        scorer->kernels->select_top(block->tile, NULL, n, count, c, top, costs, index,
                                    ldv);
    }
}

/* Items for which the dot form cannot tell what is kept from what is left out. */
static int32_t list_doubtful(int32_t held, const vem_i_block *block, uint32_t *items)
{
    const vem_i_scorer *s = block->scorer;
    const vem_i_kernels *kernels = s->kernels;
    const vem_i_dot_guard guard =
        vem_i_dot_guard_for(kernels, s->d, vem_i_value(kernels, s->scale, 0));
    int64_t ldv = block->capacity, out = held * ldv;
    int32_t count = 0;
    for (int32_t p = 0; p < block->n; p++) {
        if (block->index[out + p] < 0)
            continue; /* everything that lives is held */
        double longest = 0;
        for (int64_t at = p; at < out; at += ldv)
            longest = fmax(longest, vem_i_value(kernels, s->norms, block->index[at]));
        if (vem_i_dot_doubtful(&guard, vem_i_value(kernels, block->norms, p), longest,
                               vem_i_value(kernels, block->costs, out - ldv + p),
                               vem_i_value(kernels, block->costs, out + p)))
            items[count++] = (uint32_t)p;
    }
    return count;
}

static void look_again(vem_i_block *block, const again *a, int32_t keep, int32_t count)
{
    const vem_view *view = block->view;
    const vem_i_kernels *kernels = view->kernels;
    kernels->pack(vem_i_view_row(view, block->first), view->ld, a->items, count, view->d,
                  NULL, a->panels, a->norms);
    find_direct(block, a->panels, count, keep, a->costs, a->index);
    for (int32_t r = 0; r < keep; r++)
        for (int32_t k = 0; k < count; k++) {
            int64_t from = (int64_t)r * block->capacity + k;
            int64_t to = (int64_t)r * block->capacity + a->items[k];
            block->index[to] = a->index[from];
            vem_i_store(kernels, block->costs, to, vem_i_value(kernels, a->costs, from));
        }
}

static void find_by_dots(const vem_i_search *search, vem_i_block *block, const again *a)
{
    const vem_view *view = block->view;
    const vem_i_scorer *s = block->scorer;
    const vem_i_kernels *kernels = s->kernels;
    int32_t top = search->spec.held + 1, ldv = block->capacity;
    int32_t keep = search->spec.held + search->extra;
    clear_lists(kernels, block->costs, block->index, (int64_t)top * ldv);
    kernels->dot_top(block->panels, block->norms, block->n, s->d, s->means, s->ldc,
                     s->norms, s->scale, s->bias, s->clusters, 0, top, block->costs,
                     block->index, ldv);
    int32_t doubtful = list_doubtful(search->spec.held, block, a->items);
    kernels->iso_pairs(vem_i_view_row(view, block->first), view->ld, NULL, block->n, s->d,
                       s->means, s->ldc, s->scale, s->bias, keep, block->index,
                       block->costs, ldv);
    if (keep > 1)
        vem_i_block_sort(block, keep);
    if (doubtful > 0)
        look_again(block, a, keep, doubtful);
}

/* lazy-k-means: an item leaves its cluster a only for a b with (1 + margin) d_b < d_a. */
static void stay_within_margin(double margin, vem_i_block *block, const again *a,
                               const int32_t *before)
{
    const vem_view *view = block->view;
    const vem_i_scorer *s = block->scorer;
    const vem_i_kernels *kernels = s->kernels;
    double factor = (1 + margin) * (1 + margin);
    int32_t ldv = block->capacity;
    kernels->iso_pairs(vem_i_view_row(view, block->first), view->ld, NULL, block->n, s->d,
                       s->means, s->ldc, s->scale, s->bias, 1, before, a->costs, ldv);
    for (int32_t p = 0; p < block->n; p++) {
        double own = vem_i_value(kernels, a->costs, p);
        if (before[p] >= 0 && !(factor * vem_i_value(kernels, block->costs, p) < own)) {
            block->index[p] = before[p];
            vem_i_store(kernels, block->costs, p, own);
        }
    }
}

static void find(vem_i_search *search, vem_i_block *block, const int32_t *before)
{
    const vem_i_scorer *s = block->scorer;
    const again *a = block->scratch;
    if (vem_i_is_plain(s->family) && s->d > VEM_I_DIRECT_MAX)
        find_by_dots(search, block, a);
    else
        find_direct(block, block->panels, block->n, search->spec.held + search->extra,
                    block->costs, block->index);
    block->pairs +=
        (int64_t)block->n * s->clusters; /* a second look is at the same pairs */
    if (search->spec.margin > 0 && before)
        stay_within_margin(search->spec.margin, block, a, before);
}

const vem_i_search_type vem_i_search_type_closest = {.size = sizeof(vem_i_search),
                                                     .scratch_size = sizeof(again),
                                                     .scratch = list_scratch,
                                                     .shape = shape,
                                                     .work = work,
                                                     .next_block = vem_i_search_next,
                                                     .find = find};
