/* Scratch for one block of items. */
#include "coarse/block.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/residence.h"

enum { ARRAYS = 13 };

static void list_arrays(const vem_i_block_shape *s, int32_t d,
                        const vem_i_kernels *kernels, vem_i_block *b, vem_i_room *list)
{
    const size_t items = (size_t)s->items, element = kernels->element;
    const size_t lists = s->dense ? 0 : s->rows, index = sizeof(int32_t);
    const size_t again = s->again_rows ? items : 0;
    vem_i_again *a = &b->again;
    const vem_i_room arrays[ARRAYS] = {
        {&b->panels, s->packed, (size_t)d * element, 0},
        {&b->norms, s->packed, element, 0},
        {&b->costs, items, s->rows * element, 0},
        {&b->index, lists, items * index, 0},
        {&b->best, s->dense ? items : 0, element, 0},
        {&b->nearest, s->dense ? items : 0, index, 0},
        {&b->tile, s->tile_rows, items * element, 0},
        {&b->trial, s->trial_rows, items * index, 0},
        {&a->panels, again, (size_t)d * element, 0},
        {&a->norms, again, element, 0},
        {&a->costs, again, s->again_rows * element, 0},
        {&a->index, again, s->again_rows * index, 0},
        {&a->items, again, sizeof(uint32_t), 0},
    };
    memcpy(list, arrays, sizeof arrays);
}

vem_status vem_i_block_new(vem_i_run *run, const vem_i_block_shape *shape,
                           const vem_view *view, const vem_i_scorer *scorer, int thread,
                           vem_i_block *block)
{
    vem_i_room list[ARRAYS];
    vem_i_block_shape unpacked = *shape;
    if (vem_i_view_is_sparse(view))
        unpacked.packed = unpacked.again_rows = 0;
    *block = (vem_i_block){.run = run,
                           .view = view,
                           .scorer = scorer,
                           .thread = thread,
                           .capacity = shape->items};
    list_arrays(&unpacked, view->d, view->kernels, block, list);
    return vem_i_take_rooms(run, list, ARRAYS);
}

void vem_i_block_free(vem_i_block *block)
{
    vem_i_room list[ARRAYS];
    if (!block->view)
        return; /* was not made */
    list_arrays(&(vem_i_block_shape){0}, 0, block->view->kernels, block, list);
    vem_i_free_rooms(list, ARRAYS);
}

void vem_i_block_load(vem_i_block *block, int64_t first, int32_t n)
{
    block->first = first;
    block->n = n;
    block->items = vem_i_items_at(block->view, first, NULL, n);
    if (block->panels)
        vem_i_items_pack(block->view, NULL, block->panels, block->norms, &block->items);
}

void vem_i_block_take(vem_i_block *block, const uint32_t *items, int32_t n)
{
    block->items = vem_i_items_at(block->view, 0, items, n);
    block->n = n;
}

void vem_i_block_clear(const vem_i_kernels *kernels, void *costs, int32_t *index,
                       int32_t top, int64_t ldv, int64_t n)
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

/* One value of each of n columns (NULL: 0, 1, ...) to a packed row, or back. */
#define MOVE(T, there, here)                                                             \
    for (int32_t k = 0; k < n; k++) {                                                    \
        T *a = (T *)(there) + (columns ? columns[k] : k), *b = (T *)(here) + k;          \
        *(back ? a : b) = *(back ? b : a);                                               \
    }

void vem_i_lists_move(const vem_i_kernels *kernels, int32_t top, int32_t n,
                      const int32_t *columns, void *costs, int32_t *index, int64_t ldv,
                      void *packed, int32_t *packed_index, int back)
{
    for (int64_t r = 0; r < top; r++) {
        const int64_t from = r * ldv, to = r * VEM_I_BLOCK;
        MOVE(int32_t, index + from, packed_index + to)
        if (kernels->precision == VEM_SINGLE)
            MOVE(float, (float *)costs + from, (float *)packed + to)
        else
            MOVE(double, (double *)costs + from, (double *)packed + to)
    }
}
#undef MOVE

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
    const uint32_t *list = block->items.index;
    for (int32_t p = 0; p < block->n; p += VEM_I_BLOCK) {
        const int32_t n = block->n - p < VEM_I_BLOCK ? block->n - p : VEM_I_BLOCK;
        const vem_i_items items =
            vem_i_items_at(view, list ? 0 : block->first + p, list ? list + p : NULL, n);
        block->scorer->family->score_pairs(block->scorer, &items, rows, index + p,
                                           (char *)costs +
                                               (size_t)p * view->kernels->element,
                                           block->capacity);
        vem_i_residence_check(block->run);
    }
}

void vem_i_block_stay(vem_i_block *block, int32_t held, const int32_t *before)
{
    int64_t ldv = block->capacity;
    for (int32_t p = 0; p < block->n; p++)
        for (int32_t r = 0; r < held; r++)
            block->index[r * ldv + p] = before[p * held + r];
    vem_i_block_score_pairs(block, held, block->index, block->costs);
    vem_i_block_sort(block, held);
}
