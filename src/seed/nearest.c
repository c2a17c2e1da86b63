#include "seed/nearest.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "search/search.h"

typedef struct task {
    const vem_view *view;
    const vem_i_scorer *scorer;
    char *scratch; /* per thread: panels, norms, costs of a tile, best, index */
    size_t scratch_size;
    int32_t *labels;
    char *squares;
} task;

static size_t block_scratch(const vem_i_kernels *kernels, int32_t d)
{
    return VEM_I_BLOCK *
           (((size_t)d + 2 + VEM_I_TILE) * kernels->element + sizeof(int32_t));
}

static void run_block(void *arg, int64_t number, int thread)
{
    const task *t = arg;
    const vem_view *view = t->view;
    const vem_i_scorer *s = t->scorer;
    const vem_i_kernels *kernels = view->kernels;
    size_t column = VEM_I_BLOCK * kernels->element;
    char *panels = t->scratch + (size_t)thread * t->scratch_size;
    char *norms = panels + (size_t)view->d * column, *best = norms + column;
    char *costs = best + column;
    int32_t *index = (int32_t *)(void *)(costs + VEM_I_TILE * column);
    int64_t begin = number * VEM_I_BLOCK, left = view->n - begin;
    int32_t n = left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK;
    for (int32_t p = 0; p < VEM_I_BLOCK; p++) {
        vem_i_store(kernels, best, p, INFINITY);
        index[p] = 0;
    }
    kernels->pack(vem_i_view_row(view, begin), view->ld, NULL, n, view->d, NULL, panels,
                  norms);
    if (view->d > VEM_I_DIRECT_MAX) {
        kernels->dot_top(panels, norms, n, view->d, s->means, s->ldc, s->norms, s->scale,
                         s->bias, s->clusters, 0, 1, best, index, VEM_I_BLOCK);
    } else {
        for (int32_t c = 0; c < s->clusters; c += VEM_I_TILE) {
            int32_t count = s->clusters - c < VEM_I_TILE ? s->clusters - c : VEM_I_TILE;
            s->family->score_tile(s, panels, n, c, count, costs, VEM_I_BLOCK);
            kernels->select_top(costs, NULL, n, count, c, 1, best, index, VEM_I_BLOCK);
        }
    }
    memcpy(t->labels + begin, index, (size_t)n * sizeof *index);
    if (t->squares && view->d > VEM_I_DIRECT_MAX) /* the dot form's may be below 0 */
        kernels->iso_pairs(vem_i_view_row(view, begin), view->ld, NULL, n, view->d,
                           s->means, s->ldc, s->scale, s->bias, 1, index, best,
                           VEM_I_BLOCK);
    if (t->squares)
        memcpy(t->squares + (size_t)begin * kernels->element, best,
               (size_t)n * kernels->element);
}

uint64_t vem_i_nearest_bytes(const vem_ctx *ctx, const vem_i_kernels *kernels,
                             int32_t clusters, int32_t d)
{
    return (uint64_t)ctx->threads * block_scratch(kernels, d) +
           vem_i_scorer_bytes(vem_i_family_of_distances(0), clusters, d,
                              kernels->element);
}

vem_status vem_i_nearest(vem_ctx *ctx, const vem_view *view, const vem_model *centers,
                         const vem_progress *told, int32_t *labels, void *squares)
{
    vem_i_scorer scorer = {0};
    task t = {.view = view,
              .scorer = &scorer,
              .scratch_size = block_scratch(view->kernels, view->d),
              .labels = labels,
              .squares = squares};
    const vem_i_shape shape =
        vem_i_shape_of(vem_i_family_of_distances(0), centers->clusters, centers->d);
    vem_status status = vem_i_scorer_new(ctx, view->kernels, shape, &scorer);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t.scratch, (size_t)ctx->threads, t.scratch_size);
    if (status == VEM_OK) {
        double work = (double)VEM_I_BLOCK * centers->clusters * centers->d;
        vem_i_scorer_prepare_distances(ctx, centers, NULL, &scorer);
        if (vem_i_parallel_watched(ctx, vem_i_shards(view->n, VEM_I_BLOCK), work,
                                   run_block, &t, told, VEM_I_SKIP))
            status = VEM_STOPPED;
    }
    vem_i_free(t.scratch);
    vem_i_scorer_free(&scorer);
    return status;
}
