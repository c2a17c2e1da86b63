#include "seed/nearest.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "search/search.h"

typedef struct task {
    const vem_view *view;
    vem_i_search search;
    vem_i_block *blocks; /* per thread */
    int32_t *labels;
    double *squares;
} task;

static void run_block(void *arg, int64_t number, int thread)
{
    task *t = arg;
    vem_i_block *block = &t->blocks[thread];
    int64_t begin = number * VEM_I_BLOCK, left = t->view->n - begin;
    vem_i_block_load(block, begin, left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK);
    t->search.find(&t->search, block, NULL);
    for (int32_t p = 0; p < block->n; p++) {
        t->labels[begin + p] = block->index[p];
        if (t->squares)
            t->squares[begin + p] = vem_i_value(t->view->kernels, block->costs, p);
    }
}

vem_status vem_i_nearest(vem_ctx *ctx, const vem_view *view, const vem_model *centers,
                         int32_t *labels, double *squares)
{
    vem_i_scorer scorer = {0};
    task t = {.view = view,
              .search = vem_i_search_closest(centers->clusters, 1, 0),
              .labels = labels,
              .squares = squares};
    size_t threads = (size_t)ctx->threads;
    vem_status status = vem_i_scorer_new(ctx, view->kernels, VEM_ISO_SHARED,
                                         centers->clusters, centers->d, &scorer);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(ctx, &t.blocks, threads, sizeof *t.blocks);
    for (size_t i = 0; status == VEM_OK && i < threads; i++)
        status = vem_i_block_new(ctx, &t.search, view, &scorer, &t.blocks[i]);
    if (status == VEM_OK) {
        double work = (double)VEM_I_BLOCK * centers->clusters * centers->d;
        vem_i_scorer_prepare_distances(ctx, centers, &scorer);
        vem_i_parallel_light(ctx, vem_i_shards(view->n, VEM_I_BLOCK), work, run_block,
                             &t);
    }
    for (size_t i = 0; t.blocks && i < threads; i++)
        vem_i_block_free(&t.blocks[i]);
    vem_i_free(t.blocks);
    vem_i_scorer_free(&scorer);
    return status;
}
