/* The clusters of least cost among all, without a matrix of distances.
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
#include "coarse/nearest.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "coarse/dots.h"

void vem_i_tiles_top(const vem_i_scorer *s, int by_dots, const vem_i_items *items,
                     const void *norms, int32_t first, int32_t end, int32_t number,
                     int32_t top, void *tile, void *costs, int32_t *index, int64_t ldv)
{
    const int32_t n = (int32_t)items->n;
    if (by_dots) {
#define FROM(array, width) ((const char *)(array) + (size_t)(first * (width)) * element)
        const size_t element = s->kernels->element;
        s->kernels->dot_top(items->panels, norms, n, s->d, FROM(s->means, s->ldc), s->ldc,
                            FROM(s->norms, 1), FROM(s->scale, 1), FROM(s->bias, 1),
                            end - first, number, top, costs, index, ldv);
#undef FROM
        return;
    }
    for (int32_t c = first; c < end; c += VEM_I_TILE) {
        int32_t count = end - c < VEM_I_TILE ? end - c : VEM_I_TILE;
        s->family->score_tile(s, items, c, count, tile, ldv);
        s->kernels->select_top(tile, NULL, n, count, number + c - first, top, costs,
                               index, ldv);
    }
}

/* ---- sure ---- */

vem_i_block_shape vem_i_closest_shape(int32_t held)
{
    return (vem_i_block_shape){.items = VEM_I_BLOCK,
                               .packed = VEM_I_BLOCK,
                               .rows = (size_t)held + 1,
                               .tile_rows = VEM_I_TILE,
                               .again_rows = held ? (size_t)held + 1 : 0};
}

/* Lists of packed items of the block. */
static void find(vem_i_block *block, int by_dots, const vem_i_items *items,
                 const void *norms, int32_t top, void *costs, int32_t *index)
{
    const vem_i_scorer *s = block->scorer;
    vem_i_block_clear(s->kernels, costs, index, top, VEM_I_BLOCK, VEM_I_BLOCK);
    vem_i_tiles_top(s, by_dots, items, norms, 0, s->clusters, 0, top, block->tile, costs,
                    index, VEM_I_BLOCK);
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

static void look_again(vem_i_block *block, int32_t keep, int32_t count)
{
    const vem_i_again *a = &block->again;
    const vem_view *view = block->view;
    const vem_i_kernels *kernels = view->kernels;
    vem_i_items items = vem_i_items_at(view, block->first, a->items, count);
    vem_i_items_pack(view, NULL, a->panels, a->norms, &items);
    find(block, 0, &items, a->norms, keep, a->costs, a->index);
    vem_i_lists_move(kernels, keep, count, (const int32_t *)a->items, block->costs,
                     block->index, block->capacity, a->costs, a->index, 1);
}

void vem_i_block_closest(vem_i_block *block, int32_t held, int32_t extra)
{
    const vem_i_scorer *s = block->scorer;
    const int32_t keep = held + extra;
    const int dots = vem_i_is_plain(s->family) && s->d > VEM_I_DIRECT_MAX;
    find(block, dots, &block->items, block->norms, dots ? held + 1 : keep, block->costs,
         block->index);
    if (!dots)
        return;
    int32_t doubtful = list_doubtful(held, block, block->again.items);
    s->family->score_pairs(s, &block->items, keep, block->index, block->costs,
                           block->capacity);
    if (keep > 1)
        vem_i_block_sort(block, keep);
    if (doubtful > 0)
        look_again(block, keep, doubtful);
}

/* ---- of a view ---- */

typedef struct task {
    vem_i_block *blocks; /* per thread */
    int sure;
    int32_t *labels;
    char *squares;
} task;

/* The rough nearest of the items of a block; those without one get the first. */
static void find_roughly(vem_i_block *block, int squares)
{
    const vem_i_scorer *s = block->scorer;
    const int dots = vem_i_by_dots(s);
    vem_i_block_clear(s->kernels, block->costs, block->index, 1, VEM_I_BLOCK,
                      VEM_I_BLOCK);
    memset(block->index, 0, VEM_I_BLOCK * sizeof *block->index);
    vem_i_tiles_top(s, dots, &block->items, block->norms, 0, s->clusters, 0, 1,
                    block->tile, block->costs, block->index, VEM_I_BLOCK);
    if (squares && dots) /* the dot form's may be below 0 */
        s->family->score_pairs(s, &block->items, 1, block->index, block->costs,
                               VEM_I_BLOCK);
}

static void run_block(void *arg, int64_t number, int thread)
{
    const task *t = arg;
    vem_i_block *block = &t->blocks[thread];
    const int64_t begin = number * VEM_I_BLOCK, left = block->view->n - begin;
    const size_t element = block->view->kernels->element;
    vem_i_block_load(block, begin, left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK);
    if (t->sure)
        vem_i_block_closest(block, 1, 0);
    else
        find_roughly(block, t->squares != NULL);
    for (int32_t p = 0; p < block->n; p++) /* models and rows are checked: always found */
        t->labels[begin + p] = block->index[p] < 0 ? 0 : block->index[p];
    if (t->squares)
        memcpy(t->squares + (size_t)begin * element, block->costs,
               (size_t)block->n * element);
}

vem_status vem_i_nearest(vem_i_run *run, const vem_view *view, const vem_i_scorer *scorer,
                         int sure, const vem_progress *told, int32_t *labels,
                         void *squares)
{
    task t = {.sure = sure, .labels = labels, .squares = squares};
    const vem_i_block_shape shape = vem_i_closest_shape(sure ? 1 : 0);
    vem_status status =
        vem_i_take_structs(run, &t.blocks, (size_t)run->threads, sizeof *t.blocks);
    for (int i = 0; status == VEM_OK && i < run->threads; i++)
        status = vem_i_block_new(run, &shape, view, scorer, i, &t.blocks[i]);
    const double work = (double)VEM_I_BLOCK * scorer->clusters * view->d;
    if (status == VEM_OK && !run->counted &&
        vem_i_parallel_watched(run, vem_i_shards(view->n, VEM_I_BLOCK), work, run_block,
                               &t, told, VEM_I_SKIP))
        status = VEM_STOPPED;
    for (int i = 0; t.blocks && i < run->threads; i++)
        vem_i_block_free(&t.blocks[i]);
    vem_i_free(t.blocks);
    return status;
}
