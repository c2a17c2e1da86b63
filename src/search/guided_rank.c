/* Where the right clusters of a sample stand in the order of its items' cells. That tells
 * the recall and the work of every number of probes at once. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "search/guided.h"

typedef struct near_cell {
    double cost;
    int32_t cell;
} near_cell;

typedef struct task {
    const vem_i_cells *cells;
    const vem_view *view;
    const int32_t *right;
    int32_t top;
    /* Per thread. */
    void *panels, *norms, *costs;
    near_cell *near;        /* cells */
    int64_t *found, *tried; /* cells */
} task;

static int compare_near(const void *a_, const void *b_)
{
    const near_cell *a = a_, *b = b_;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return a->cell < b->cell ? -1 : a->cell > b->cell;
}

static void rank_item(const task *t, int64_t item, const near_cell *near, int64_t *found,
                      int64_t *tried)
{
    for (int32_t k = 0; k < t->cells->count; k++) {
        int32_t cell = near[k].cell;
        tried[k] += t->cells->starts[cell + 1] - t->cells->starts[cell];
        for (int32_t r = 0; r < t->top; r++) {
            int32_t c = t->right[item * t->top + r];
            found[k] += c >= 0 && t->cells->cell_of[c] == cell;
        }
    }
}

static void run_block(void *arg, int64_t number, int thread)
{
    const task *t = arg;
    const vem_view *view = t->view;
    const vem_i_kernels *kernels = view->kernels;
    const vem_i_scorer *scorer = &t->cells->scorer;
    const int64_t cells = t->cells->count, begin = number * VEM_I_BLOCK;
    const size_t block = (size_t)thread * VEM_I_BLOCK * kernels->element;
    char *panels = (char *)t->panels + block * (size_t)view->d;
    char *norms = (char *)t->norms + block,
         *costs = (char *)t->costs + block * (size_t)cells;
    near_cell *near = t->near + thread * cells;
    int32_t n = view->n - begin < VEM_I_BLOCK ? (int32_t)(view->n - begin) : VEM_I_BLOCK;
    kernels->pack(vem_i_view_row(view, begin), view->ld, NULL, n, view->d, NULL, panels,
                  norms);
    scorer->family->score_tile(scorer, panels, n, 0, (int32_t)cells, costs, VEM_I_BLOCK);
    for (int32_t p = 0; p < n; p++) {
        for (int32_t k = 0; k < cells; k++)
            near[k] =
                (near_cell){vem_i_value(kernels, costs, (int64_t)k * VEM_I_BLOCK + p), k};
        qsort(near, (size_t)cells, sizeof *near, compare_near);
        rank_item(t, begin + p, near, t->found + thread * cells,
                  t->tried + thread * cells);
    }
}

vem_status vem_i_guided_rank(vem_ctx *ctx, const vem_i_guided *guided,
                             const vem_view *view, const int32_t *right, int32_t top,
                             int64_t *found, int64_t *tried)
{
    const size_t cells = (size_t)guided->cells.count, threads = (size_t)ctx->threads;
    const size_t block = VEM_I_BLOCK * view->kernels->element;
    task t = {.cells = &guided->cells, .view = view, .right = right, .top = top};
    vem_status status = vem_i_take(ctx, &t.panels, threads, block * (size_t)view->d);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t.norms, threads, block);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t.costs, threads * cells, block);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t.near, threads * cells, sizeof *t.near);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(ctx, &t.found, threads * cells, sizeof *t.found);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(ctx, &t.tried, threads * cells, sizeof *t.tried);
    if (status == VEM_OK) {
        vem_i_parallel_light(ctx, vem_i_shards(view->n, VEM_I_BLOCK),
                             (double)VEM_I_BLOCK * (double)cells * view->d, run_block,
                             &t);
        for (size_t k = 0; k < cells; k++) {
            found[k] = tried[k] = 0;
            for (size_t i = 0; i < threads; i++) { /* whole numbers: in any order */
                found[k] += t.found[i * cells + k];
                tried[k] += t.tried[i * cells + k];
            }
        }
    }
    vem_i_free(t.panels);
    vem_i_free(t.norms);
    vem_i_free(t.costs);
    vem_i_free(t.near);
    vem_i_free(t.found);
    vem_i_free(t.tried);
    return status;
}
