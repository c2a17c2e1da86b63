/* The graph's memory, its random beginning, and what happens when clusters are dropped or
 * put elsewhere. */
#include "search/graph.h"

#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "search/graph_inside.h"
#include "search/hierarchy.h"

/* Touches of one shard, at most: items per shard follow from it. */
static const int64_t SHARD_TOUCHES = 1 << 15;
enum { WAVE = 64, MOST_SHARD_ITEMS = 1024 };

int32_t vem_i_graph_candidates(const vem_i_search *search, int32_t clusters)
{
    int64_t most = (int64_t)search->held * search->reach + search->explore;
    return most < clusters ? (int32_t)most : clusters;
}

int64_t vem_i_graph_shard(const vem_i_search *search, int32_t clusters)
{
    int64_t items = SHARD_TOUCHES / vem_i_graph_candidates(search, clusters);
    return items < 1 ? 1 : items > MOST_SHARD_ITEMS ? MOST_SHARD_ITEMS : items;
}

/* Averages kept per cluster. With no more clusters than this the graph is the exact
 * average over all touched pairs. */
static int32_t slots_for(const vem_i_search *search)
{
    return 4 * search->reach + 12;
}

/* Clusters of one bucket, at most. */
static size_t bucket_clusters(int32_t clusters)
{
    return (size_t)clusters / VEM_I_BUCKETS + 1;
}

static vem_status merge_new(vem_ctx *ctx, int32_t clusters, int32_t slots, vem_i_merge *m)
{
    size_t count = (size_t)clusters, own = bucket_clusters(clusters);
    vem_status status = vem_i_take_zeroed(ctx, &m->cells, count, sizeof *m->cells);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &m->touched, count + 1, sizeof *m->touched);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &m->averages, (size_t)slots, sizeof *m->averages);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &m->heads, own, sizeof *m->heads);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &m->tails, own, sizeof *m->tails);
    return status;
}

static uint64_t merge_bytes(int32_t clusters, int32_t slots)
{
    return (uint64_t)clusters * (sizeof(vem_i_cell) + sizeof(int32_t)) +
           (uint64_t)slots * sizeof(double) +
           2 * bucket_clusters(clusters) * sizeof(int32_t);
}

static void merge_free(vem_i_merge *m)
{
    vem_i_free(m->cells);
    vem_i_free(m->touched);
    vem_i_free(m->averages);
    vem_i_free(m->heads);
    vem_i_free(m->tails);
}

void vem_i_graph_draw(vem_i_graph *graph, int32_t cluster)
{
    vem_i_rng rng =
        vem_i_rng_at(graph->seed, VEM_RNG_GRAPH, graph->step, (uint64_t)cluster);
    int32_t *near = graph->neighbors + (int64_t)cluster * graph->reach;
    near[0] = cluster;
    vem_i_rng_distinct(&rng, graph->clusters, cluster, graph->reach - 1, near + 1);
}

vem_status vem_i_graph_new(vem_ctx *ctx, const vem_i_search *search, const vem_view *view,
                           const vem_i_scorer *scorer, vem_i_graph **graph)
{
    vem_i_graph *g = vem_i_calloc(1, sizeof *g);
    if (!g)
        return vem_i_fail_memory(ctx, sizeof *g);
    int32_t clusters = scorer->clusters;
    *g = (vem_i_graph){.ctx = ctx,
                       .clusters = clusters,
                       .reach = search->reach < clusters ? search->reach : clusters,
                       .estimated = search->kind == VEM_SEARCH_ESTIMATED,
                       .seed = search->seed,
                       .slots = slots_for(search),
                       .wave = WAVE};
    g->run_capacity = vem_i_graph_shard(search, clusters);
    g->touch_capacity = g->run_capacity * vem_i_graph_candidates(search, clusters);
    size_t count = (size_t)clusters, threads = (size_t)ctx->threads;
    size_t touch = (size_t)g->touch_capacity * sizeof(vem_i_touch);
    size_t run = (size_t)g->run_capacity * sizeof(vem_i_run);
    vem_status status =
        vem_i_take(ctx, &g->neighbors, count, (size_t)g->reach * sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take_zeroed(ctx, &g->stamps, threads, count * sizeof(uint32_t));
    if (status == VEM_OK)
        status = vem_i_take_zeroed(ctx, &g->marks, threads, sizeof(uint32_t));
    if (g->estimated) {
        if (status == VEM_OK)
            status = vem_i_take(ctx, &g->evidence, count,
                                (size_t)g->slots * sizeof(vem_i_slot));
        if (status == VEM_OK)
            status = vem_i_take_zeroed(ctx, &g->used, count, sizeof(int32_t));
        if (status == VEM_OK)
            status = vem_i_take(ctx, &g->touches, WAVE, touch);
        if (status == VEM_OK)
            status = vem_i_take(ctx, &g->runs, WAVE, run);
        if (status == VEM_OK)
            status = vem_i_take(ctx, &g->fresh, threads, run);
        if (status == VEM_OK)
            status = vem_i_take(ctx, &g->bucket_starts, WAVE,
                                (VEM_I_BUCKETS + 1) * sizeof(int64_t));
        if (status == VEM_OK)
            status = vem_i_take_zeroed(ctx, &g->merges, threads, sizeof *g->merges);
        for (size_t i = 0; status == VEM_OK && i < threads; i++)
            status = merge_new(ctx, clusters, g->slots, &g->merges[i]);
    } else if (status == VEM_OK) {
        vem_i_search nearest = vem_i_graph_nearest_search(clusters, g->reach);
        status = vem_i_take_zeroed(ctx, &g->blocks, threads, sizeof *g->blocks);
        for (size_t i = 0; status == VEM_OK && i < threads; i++)
            status = vem_i_block_new(ctx, &nearest, view, scorer, &g->blocks[i]);
    }
    if (status != VEM_OK) {
        vem_i_graph_free(g);
        return status;
    }
    for (int32_t c = 0; c < clusters; c++)
        vem_i_graph_draw(g, c);
    *graph = g;
    return VEM_OK;
}

void vem_i_graph_free(vem_i_graph *g)
{
    if (!g)
        return;
    for (int i = 0; g->blocks && i < g->ctx->threads; i++)
        vem_i_block_free(&g->blocks[i]);
    for (int i = 0; g->merges && i < g->ctx->threads; i++)
        merge_free(&g->merges[i]);
    vem_i_free(g->merges);
    vem_i_free(g->blocks);
    vem_i_free(g->neighbors);
    vem_i_free(g->stamps);
    vem_i_free(g->marks);
    vem_i_free(g->evidence);
    vem_i_free(g->used);
    vem_i_free(g->touches);
    vem_i_free(g->runs);
    vem_i_free(g->fresh);
    vem_i_free(g->bucket_starts);
    vem_i_free(g);
}

uint64_t vem_i_graph_bytes(const vem_ctx *ctx, const vem_i_search *search,
                           int32_t clusters, int32_t d, const vem_i_kernels *kernels)
{
    uint64_t threads = (uint64_t)ctx->threads, count = (uint64_t)clusters;
    uint64_t reach = (uint64_t)search->reach;
    uint64_t bytes = count * (reach * sizeof(int32_t) + threads * sizeof(uint32_t)) +
                     threads * sizeof(uint32_t);
    if (search->kind == VEM_SEARCH_ESTIMATED) {
        uint64_t runs = (uint64_t)vem_i_graph_shard(search, clusters);
        uint64_t touches = runs * (uint64_t)vem_i_graph_candidates(search, clusters);
        return bytes +
               count *
                   ((uint64_t)slots_for(search) * sizeof(vem_i_slot) + sizeof(int32_t)) +
               WAVE * touches * sizeof(vem_i_touch) +
               (WAVE + threads) * runs * sizeof(vem_i_run) +
               threads * merge_bytes(clusters, slots_for(search)) +
               WAVE * (VEM_I_BUCKETS + 1) * sizeof(int64_t);
    }
    vem_i_search nearest = vem_i_graph_nearest_search(clusters, search->reach);
    return bytes + threads * vem_i_block_bytes(&nearest, clusters, d, kernels);
}

uint32_t vem_i_graph_marks(vem_i_graph *g, int thread, int32_t count)
{
    uint32_t *last = &g->marks[thread];
    if (*last > UINT32_MAX - (uint32_t)count) {
        memset(g->stamps + (int64_t)thread * g->clusters, 0,
               (size_t)g->clusters * sizeof *g->stamps);
        *last = 0;
    }
    uint32_t first = *last + 1;
    *last += (uint32_t)count;
    return first;
}

vem_status vem_i_graph_start(vem_i_graph *g, const vem_i_scorer *scorer, int64_t *pairs)
{
    if (!g->estimated || g->reach == 1)
        return VEM_OK;
    vem_i_hierarchy h;
    vem_status status =
        vem_i_hierarchy_new(g->ctx, scorer->kernels, scorer->clusters, scorer->d, 1, &h);
    if (status != VEM_OK)
        return status;
    *pairs += vem_i_hierarchy_build(&h, scorer, 1);
    *pairs += vem_i_hierarchy_near(&h, scorer, g->reach);
    for (int32_t i = 0; i < g->clusters; i++) {
        int32_t cluster = h.members[i]; /* groups of one: their number is the place */
        int32_t *own = g->neighbors + (int64_t)cluster * g->reach, kept = 1;
        const int32_t *near = h.near + (int64_t)i * VEM_I_TOP_MAX;
        for (int32_t k = 0; k < h.near_count && kept < g->reach; k++)
            if (near[k] >= 0 && near[k] != i)
                own[kept++] = h.members[near[k]];
        /* What was drawn at random stands where the cells had too few. */
    }
    vem_i_hierarchy_free(&h);
    return VEM_OK;
}

void vem_i_graph_renumber(vem_i_graph *g, const int32_t *map, int32_t clusters)
{
    int32_t before = g->clusters, reach = g->reach < clusters ? g->reach : clusters;
    g->clusters = clusters;
    for (int32_t c = 0; c < before; c++) {
        if (map[c] < 0)
            continue;
        /* Rows only move to lower places, so this may be done in place. */
        const int32_t *from = g->neighbors + (int64_t)c * g->reach;
        int32_t *to = g->neighbors + (int64_t)map[c] * reach, kept = 0;
        for (int32_t k = 0; k < g->reach && kept < reach; k++)
            if (map[from[k]] >= 0)
                to[kept++] = map[from[k]];
        for (int32_t c2 = 0; kept < reach; c2++) {
            int32_t k = 0;
            while (k < kept && to[k] != c2)
                k++;
            if (k == kept)
                to[kept++] = c2;
        }
    }
    g->reach = reach;
}

void vem_i_graph_place(vem_i_graph *g, int32_t cluster, int32_t beside)
{
    if (!g->estimated || g->reach == 1 || cluster == beside)
        return;
    int32_t *own = g->neighbors + (int64_t)cluster * g->reach, kept = 2;
    int32_t *other = g->neighbors + (int64_t)beside * g->reach, at = 1;
    own[1] = beside;
    for (int32_t k = 1; k < g->reach && kept < g->reach; k++)
        if (other[k] != cluster)
            own[kept++] = other[k];
    /* In front, so that several clusters put beside the same one do not drive each other
     * out; the last neighbor makes room. */
    while (at < g->reach - 1 && other[at] != cluster)
        at++;
    memmove(other + 2, other + 1, (size_t)(at - 1) * sizeof *other);
    other[1] = cluster;
}
