/* How many probes find the right clusters of a sample. That tells the recall of every number
 * of probes at once.
 *
 * With P probes an item looks into its Q(P) nearest regions, and finds the clusters of the P
 * nearest of their buckets. For a cluster whose bucket is in the q-th nearest region, and
 * has r(Q) - 1 nearer ones in the Q nearest regions,
 *
 *     it is found   where q <= Q(P) and r(Q(P)) <= P.
 *
 * r grows with Q, so that a cluster may be lost again by a few more probes. What is counted is
 * the least P from which on it always is found: then misses never increase with P. */
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "search/guided.h"

typedef struct task {
    const vem_i_buckets *buckets;
    const vem_view *view;
    const int32_t *right;
    int32_t top;
    /* Per thread. */
    void *panels, *norms, *costs, *coarse; /* costs of buckets and of regions */
    int32_t *rank;                         /* regions: how many are nearer */
    int32_t *nearer;                       /* regions: nearer buckets, by that rank */
    int64_t *found;                        /* buckets */
} task;

/* How many regions are nearer to item p. */
static void rank_regions(const vem_i_kernels *kernels, const void *costs, int32_t p,
                         int32_t regions, int32_t *rank)
{
    for (int64_t r = 0; r < regions; r++) {
        const double own = vem_i_value(kernels, costs, r * VEM_I_BLOCK + p);
        rank[r] = 0;
        for (int64_t k = 0; k < regions; k++)
            rank[r] += vem_i_value(kernels, costs, k * VEM_I_BLOCK + p) < own;
    }
}

/* The least number of probes from which on a bucket of item p is always met. `nearer`:
 * scratch. */
static int32_t probes_for(const vem_i_buckets *b, const void *costs, int32_t p,
                          int32_t bucket, const int32_t *rank, int32_t *nearer)
{
    const vem_i_kernels *kernels = b->scorer.kernels;
    const double own = vem_i_value(kernels, costs, (int64_t)bucket * VEM_I_BLOCK + p);
    int32_t place = 0, before = 1, probes = b->count;
    memset(nearer, 0, (size_t)b->regions * sizeof *nearer);
    for (int32_t r = 0; r < b->regions; r++) {
        const int32_t begin = b->region_starts[r], end = b->region_starts[r + 1];
        int32_t count = 0;
        for (int64_t k = begin; k < end; k++)
            count += vem_i_value(kernels, costs, k * VEM_I_BLOCK + p) < own;
        nearer[rank[r]] += count;
        before += count;
        if (bucket >= begin && bucket < end)
            place = rank[r];
    }
    /* From all regions downwards; `before` is r(Q). */
    for (int32_t reach = b->regions; probes > 1; probes--) {
        for (; reach > b->reach[probes - 1]; reach--)
            before -= nearer[reach - 1];
        if (place >= reach || before > probes - 1)
            break;
    }
    return probes;
}

static void run_block(void *arg, int64_t number, int thread)
{
    const task *t = arg;
    const vem_view *view = t->view;
    const vem_i_buckets *b = t->buckets;
    const int64_t begin = number * VEM_I_BLOCK;
    const size_t block = (size_t)thread * VEM_I_BLOCK * view->kernels->element;
    char *panels = (char *)t->panels + block * (size_t)view->d;
    char *norms = (char *)t->norms + block;
    char *costs = (char *)t->costs + block * (size_t)b->count;
    char *coarse = (char *)t->coarse + block * (size_t)b->regions;
    int32_t *rank = t->rank + (int64_t)thread * b->regions;
    int32_t *nearer = t->nearer + (int64_t)thread * b->regions;
    int64_t *found = t->found + (int64_t)thread * b->count;
    int32_t n = view->n - begin < VEM_I_BLOCK ? (int32_t)(view->n - begin) : VEM_I_BLOCK;
    vem_i_items items = vem_i_items_at(view, begin, NULL, n);
    vem_i_items_pack(view, NULL, panels, norms, &items);
    b->coarse.family->score_tile(&b->coarse, &items, 0, b->regions, coarse, VEM_I_BLOCK);
    b->scorer.family->score_tile(&b->scorer, &items, 0, b->count, costs, VEM_I_BLOCK);
    for (int32_t p = 0; p < n; p++) {
        rank_regions(view->kernels, coarse, p, b->regions, rank);
        for (int32_t r = 0; r < t->top; r++) {
            const int32_t c = t->right[(begin + p) * t->top + r];
            if (c >= 0)
                found[probes_for(b, costs, p, b->bucket_of[c], rank, nearer) - 1]++;
        }
    }
}

vem_status vem_i_guided_rank(vem_i_run *run, const vem_i_guided *guided,
                             const vem_view *view, const int32_t *right, int32_t top,
                             int64_t *found)
{
    const size_t buckets = (size_t)guided->buckets.count, threads = (size_t)run->threads;
    const size_t regions = (size_t)guided->buckets.regions;
    const size_t block = VEM_I_BLOCK * view->kernels->element;
    task t = {.buckets = &guided->buckets, .view = view, .right = right, .top = top};
    const vem_i_room list[] = {
        {&t.panels, threads, block * (size_t)view->d, 0},
        {&t.norms, threads, block, 0},
        {&t.costs, threads * buckets, block, 0},
        {&t.coarse, threads * regions, block, 0},
        {&t.rank, threads * regions, sizeof *t.rank, 0},
        {&t.nearer, threads * regions, sizeof *t.nearer, 0},
        {&t.found, threads * buckets, sizeof *t.found, 1},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK) {
        vem_i_parallel_light(run, vem_i_shards(view->n, VEM_I_BLOCK),
                             (double)VEM_I_BLOCK * (double)buckets * view->d, run_block,
                             &t);
        for (size_t k = 0; k < buckets; k++) {
            found[k] = 0;
            for (size_t i = 0; i < threads; i++) /* whole numbers: in any order */
                found[k] += t.found[i * buckets + k];
        }
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
