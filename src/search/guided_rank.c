/* Where the right clusters of a sample stand in the order of its items' buckets. That tells
 * the recall and the work of every number of probes at once. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "search/guided.h"

typedef struct near_bucket {
    double cost;
    int32_t bucket;
} near_bucket;

typedef struct task {
    const vem_i_buckets *buckets;
    const vem_view *view;
    const int32_t *right;
    int32_t top;
    /* Per thread. */
    void *panels, *norms, *costs;
    near_bucket *near;      /* buckets */
    int64_t *found, *tried; /* buckets */
} task;

static int compare_near(const void *a_, const void *b_)
{
    const near_bucket *a = a_, *b = b_;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return a->bucket < b->bucket ? -1 : a->bucket > b->bucket;
}

static void rank_item(const task *t, int64_t item, const near_bucket *near,
                      int64_t *found, int64_t *tried)
{
    for (int32_t k = 0; k < t->buckets->count; k++) {
        int32_t bucket = near[k].bucket;
        tried[k] += t->buckets->starts[bucket + 1] - t->buckets->starts[bucket];
        for (int32_t r = 0; r < t->top; r++) {
            int32_t c = t->right[item * t->top + r];
            found[k] += c >= 0 && t->buckets->bucket_of[c] == bucket;
        }
    }
}

static void run_block(void *arg, int64_t number, int thread)
{
    const task *t = arg;
    const vem_view *view = t->view;
    const vem_i_kernels *kernels = view->kernels;
    const vem_i_scorer *scorer = &t->buckets->scorer;
    const int64_t buckets = t->buckets->count, begin = number * VEM_I_BLOCK;
    const size_t block = (size_t)thread * VEM_I_BLOCK * kernels->element;
    char *panels = (char *)t->panels + block * (size_t)view->d;
    char *norms = (char *)t->norms + block,
         *costs = (char *)t->costs + block * (size_t)buckets;
    near_bucket *near = t->near + thread * buckets;
    int32_t n = view->n - begin < VEM_I_BLOCK ? (int32_t)(view->n - begin) : VEM_I_BLOCK;
    vem_i_items items = vem_i_items_at(view, begin, NULL, n);
    vem_i_items_pack(view, NULL, panels, norms, &items);
    scorer->family->score_tile(scorer, &items, 0, (int32_t)buckets, costs, VEM_I_BLOCK);
    for (int32_t p = 0; p < n; p++) {
        for (int32_t k = 0; k < buckets; k++)
            near[k] =
                (near_bucket){vem_i_value(kernels, costs, (int64_t)k * VEM_I_BLOCK + p),
                              k};
        qsort(near, (size_t)buckets, sizeof *near, compare_near);
        rank_item(t, begin + p, near, t->found + thread * buckets,
                  t->tried + thread * buckets);
    }
}

vem_status vem_i_guided_rank(vem_i_run *run, const vem_i_guided *guided,
                             const vem_view *view, const int32_t *right, int32_t top,
                             int64_t *found, int64_t *tried)
{
    const size_t buckets = (size_t)guided->buckets.count, threads = (size_t)run->threads;
    const size_t block = VEM_I_BLOCK * view->kernels->element;
    task t = {.buckets = &guided->buckets, .view = view, .right = right, .top = top};
    const vem_i_room list[] = {
        {&t.panels, threads, block * (size_t)view->d, 0},
        {&t.norms, threads, block, 0},
        {&t.costs, threads * buckets, block, 0},
        {&t.near, threads * buckets, sizeof *t.near, 0},
        {&t.found, threads * buckets, sizeof *t.found, 1},
        {&t.tried, threads * buckets, sizeof *t.tried, 1},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK) {
        vem_i_parallel_light(run, vem_i_shards(view->n, VEM_I_BLOCK),
                             (double)VEM_I_BLOCK * (double)buckets * view->d, run_block,
                             &t);
        for (size_t k = 0; k < buckets; k++) {
            found[k] = tried[k] = 0;
            for (size_t i = 0; i < threads; i++) { /* whole numbers: in any order */
                found[k] += t.found[i * buckets + k];
                tried[k] += t.tried[i * buckets + k];
            }
        }
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
