/* The E-step.
 *
 *     q(i,c) = exp(-v(i,c)/2) / sum_{c' in K_i} exp(-v(i,c')/2),   c in K_i
 *     F      = sum_i w_i [ log sum_{c in K_i} exp(-v(i,c)/2) - base/2 ]
 *
 * The items are cut into shards, the shards into blocks. A sparse search leaves its lists
 * in the posterior and the statistics are taken afterwards, cluster by cluster
 * (collect.c); a dense one has the probabilities of all clusters in its scratch and adds
 * the block to the statistics of its shard at once. Shards depend on the sizes alone and
 * are added up in order. */
#include "em/estep.h"

#include <math.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "em/collect.h"
#include "search/graph.h"
#include "search/groups.h"

enum {
    SPARSE_SHARD = 4 * VEM_I_BLOCK, /* items of a shard that keeps no statistics */
    DENSE_SHARDS = 64
};
/* Operations of a shard in which it is worth to look at the clock between blocks. */
static const double WORTH_LOOKING = 1e7;
/* Statistics of all dense shards together stay below this where that leaves a few shards.
 */
static const uint64_t DENSE_BYTES = UINT64_C(256) << 20;

struct vem_i_estep {
    vem_ctx *ctx;
    const vem_view *view;
    const vem_i_scorer *scorer;
    vem_i_search search;
    int64_t shards, per_shard;
    vem_i_block *blocks; /* one per thread */
    double *log_sums;    /* per thread: one block */
    int32_t capacity;    /* items of a block */
    vem_i_step_plan plan;
    double average;       /* cost of the nearest held cluster in the last step */
    vem_i_stats *partial; /* dense: one per shard */
    vem_i_collector *collector;
    double *shard_log_sum, *shard_distance;
    int64_t *shard_pairs, *shard_changed;
    /* Of the run at hand. */
    vem_i_posterior *posterior;
    int again;                /* score what is held, search nothing */
    const vem_progress *told; /* NULL: nobody; items are counted */
    int may_leave;            /* a stop ends a shard in its middle */
    _Atomic int64_t items_done;
    _Atomic int left; /* one was */
    int64_t wave;     /* shards run together */
    int64_t wave_first;
};

static int64_t dense_shards(vem_family_kind family, int64_t n, int32_t clusters,
                            int32_t d)
{
    uint64_t bytes =
        (uint64_t)clusters * (uint64_t)(1 + d + vem_i_second_count(family, d)) * 8;
    int64_t shards = (int64_t)(DENSE_BYTES / bytes);
    shards = shards < 4 ? 4 : shards > DENSE_SHARDS ? DENSE_SHARDS : shards;
    int64_t most = vem_i_shards(n, VEM_I_BLOCK);
    return shards < most ? shards : most;
}

/* A hard item has q = 1; its cost is all there is to know. */
static void normalize(const vem_i_estep *t, vem_i_block *block, double *log_sum)
{
    const vem_i_kernels *kernels = t->view->kernels;
    int32_t rows = t->search.dense ? t->scorer->clusters : t->search.held;
    if (rows == 1 && !t->search.dense) {
        for (int32_t p = 0; p < block->n; p++)
            log_sum[p] = -0.5 * vem_i_value(kernels, block->costs, p);
        return;
    }
    for (int32_t p = 0; p < block->n; p += VEM_I_BLOCK) {
        int32_t n = block->n - p < VEM_I_BLOCK ? block->n - p : VEM_I_BLOCK;
        double listed[VEM_I_BLOCK];
        const double *mass = NULL;
        if (t->view->mass && block->items) {
            for (int32_t k = 0; k < n; k++)
                listed[k] = t->view->mass[block->items[p + k]];
            mass = listed;
        } else if (t->view->mass) {
            mass = t->view->mass + block->first + p;
        }
        kernels->softmax((char *)block->costs + (size_t)p * kernels->element, n, rows,
                         block->capacity, mass, log_sum + p);
    }
}

/* What moves want to know: the next best cluster, and how far behind it is. */
static void store_next(const vem_i_estep *t, const vem_i_block *block,
                       const double *log_sum)
{
    const vem_i_kernels *kernels = t->view->kernels;
    int64_t row = (int64_t)t->search.held * block->capacity;
    for (int32_t p = 0; p < block->n; p++) {
        int64_t item = vem_i_block_item(block, p);
        int32_t next = block->index[row + p];
        double cost = next < 0 ? INFINITY : vem_i_value(kernels, block->costs, row + p);
        t->posterior->next[item] = next;
        vem_i_store(kernels, t->posterior->gap, item, 0.5 * cost + log_sum[p]);
    }
}

/* The next items of a shard, from position i on: as they lie, or as the groups want
 * them. What they held comes back. */
static const int32_t *load(const vem_i_estep *t, vem_i_block *block, int64_t i,
                           int64_t end)
{
    const vem_i_posterior *posterior = t->posterior;
    int32_t width = posterior->width;
    const vem_i_groups *groups = t->search.groups;
    if (!groups) {
        vem_i_block_load(block, i,
                         end - i < block->capacity ? (int32_t)(end - i)
                                                   : block->capacity);
        return posterior->known ? posterior->held + i * width : NULL;
    }
    int32_t place, n = vem_i_groups_stretch(groups, i, end, &place);
    vem_i_block_take(block, groups->tour.items + i, n, place);
    if (!posterior->known)
        return NULL;
    for (int64_t p = 0; p < n; p++)
        for (int64_t r = 0; r < width; r++)
            block->before[p * width + r] =
                posterior->held[(int64_t)block->items[p] * width + r];
    return block->before;
}

static void collect_dense(const vem_i_estep *t, const vem_i_block *block,
                          vem_i_stats *stats)
{
    size_t row = (size_t)block->capacity * t->view->kernels->element;
    for (int32_t c = 0; c < t->scorer->clusters; c++)
        t->scorer->family->collect_tile(t->scorer, block->panels,
                                        (const char *)block->costs + (size_t)c * row,
                                        block->n, c, block->thread, stats);
}

static void begin_shard(vem_i_estep *t, vem_i_block *block, int64_t shard, int thread)
{
    const vem_i_graph *graph = t->search.graph;
    block->pairs = 0;
    block->thread = thread;
    if (graph)
        vem_i_graph_begin_shard(graph, shard - t->wave_first, block);
    if (t->partial) {
        t->partial[shard].clusters = t->scorer->clusters;
        vem_i_stats_clear(&t->partial[shard]);
    }
}

/* Between two blocks of a shard: tells how far it is, and whether to end here. */
static int leave(vem_i_estep *t, int64_t items, int thread)
{
    const int64_t n = t->view->n;
    const int64_t counted = items + atomic_fetch_add(&t->items_done, items);
    const int64_t done = counted < n ? counted : n;
    if (thread == 0 && t->told) {
        vem_progress progress = *t->told;
        progress.done = done;
        progress.total = n;
        vem_i_progress(t->ctx, &progress, 0);
    }
    if (t->ctx->stop_requested)
        t->left = 1;
    return t->ctx->stop_requested;
}

static void run_shard(void *arg, int64_t task, int thread)
{
    vem_i_estep *t = arg;
    int64_t shard = t->wave_first + task;
    vem_i_block *block = &t->blocks[thread];
    double *log_sum = t->log_sums + (int64_t)thread * t->capacity;
    vem_i_posterior *posterior = t->posterior;
    int64_t begin = shard * t->per_shard, end = begin + t->per_shard, changed = 0;
    end = end < t->view->n ? end : t->view->n;
    double total = 0, distance = 0;
    begin_shard(t, block, shard, thread);
    for (int64_t i = begin; i < end; i += block->n) {
        if (t->may_leave && leave(t, block->n, thread))
            break;
        const int32_t *before = load(t, block, i, end);
        if (t->again && !t->search.dense)
            vem_i_block_stay(&t->search, block, before);
        else
            t->search.find(&t->search, block, before);
        const void *best = t->search.dense ? block->best : block->costs;
        for (int32_t p = 0; p < block->n; p++) {
            double w = vem_i_view_mass(t->view, vem_i_block_item(block, p));
            if (w > 0)
                distance += w * vem_i_value(t->view->kernels, best, p);
        }
        normalize(t, block, log_sum);
        for (int32_t p = 0; p < block->n; p++) {
            double w = vem_i_view_mass(t->view, vem_i_block_item(block, p));
            if (w > 0) /* an item without mass may be anywhere, even at infinity */
                total += w * log_sum[p];
            if (posterior->log_sums)
                posterior->log_sums[vem_i_block_item(block, p)] = log_sum[p];
        }
        if (t->search.extra && !t->again)
            store_next(t, block, log_sum);
        changed += vem_i_posterior_store(posterior, &t->search, block);
        if (t->partial)
            collect_dense(t, block, &t->partial[shard]);
        vem_i_residence_check(t->ctx);
    }
    t->shard_log_sum[shard] = total;
    t->shard_distance[shard] = distance;
    t->shard_pairs[shard] = block->pairs;
    t->shard_changed[shard] = changed;
    if (t->search.graph && t->search.graph->estimated && !t->again)
        vem_i_graph_end_shard(t->search.graph, task, block);
}

/* All shards: at once, or, where a graph learns from them, in waves that it merges in
 * order. Returns 1 when a stop left some out. */
static int run_shards(vem_i_estep *t, const vem_progress *told, int may_skip)
{
    vem_i_graph *graph = t->search.graph && !t->again ? t->search.graph : NULL;
    int learns = graph && graph->estimated;
    int64_t items = t->view->n < t->per_shard ? t->view->n : t->per_shard;
    int64_t tried = t->search.reach
                        ? vem_i_graph_candidates(&t->search, t->scorer->clusters)
                    : t->search.groups ? t->search.group_reach
                                       : t->scorer->clusters;
    double work = (double)items * (double)tried * (double)t->view->d;
    int64_t wave = learns ? graph->wave : t->shards;
    /* Where a shard is long, a stop does not wait for its end. */
    t->may_leave = may_skip == VEM_I_SKIP && !learns && work >= WORTH_LOOKING;
    t->told = t->may_leave ? told : NULL;
    t->items_done = 0;
    t->left = 0;
    for (t->wave_first = 0; t->wave_first < t->shards; t->wave_first += wave) {
        int64_t left = t->shards - t->wave_first, tasks = left < wave ? left : wave;
        if (vem_i_parallel_watched(t->ctx, tasks, work, run_shard, t,
                                   learns || t->may_leave ? NULL : told, may_skip) ||
            t->left)
            return 1;
        if (learns)
            vem_i_graph_end_wave(graph, tasks);
    }
    if (graph)
        vem_i_graph_settle(graph);
    return 0;
}

static vem_i_estep_result run(vem_i_estep *t, vem_i_posterior *posterior,
                              vem_i_stats *stats, const vem_progress *told, int may_skip)
{
    t->posterior = posterior;
    vem_i_estep_result result = {0};
    t->search.extra = t->plan.look_further && posterior->next != NULL;
    if (t->search.graph && !t->again)
        result.pairs = vem_i_graph_prepare(t->search.graph, t->scorer);
    if (t->search.groups && !t->again)
        result.pairs = vem_i_groups_prepare(
            t->search.groups, t->scorer, posterior->known ? posterior->held : NULL,
            posterior->width,
            &(vem_i_groups_plan){.probe = t->plan.probe,
                                 .fresh = t->plan.fresh,
                                 .far = t->plan.only_far ? t->average : -INFINITY});
    result.skipped = run_shards(t, told, may_skip);
    if (result.skipped)
        return result;
    posterior->known = 1;
    result.log_sum = vem_i_sum(t->shard_log_sum, t->shards);
    result.distance = vem_i_sum(t->shard_distance, t->shards);
    t->average = result.distance / t->view->total_mass;
    for (int64_t s = 0; s < t->shards; s++) {
        result.pairs += t->shard_pairs[s];
        result.changed += t->shard_changed[s];
    }
    if (t->search.groups)
        t->search.groups->ordered = 0;
    if (stats)
        vem_i_estep_collect(t, posterior, stats);
    return result;
}

void vem_i_estep_collect(vem_i_estep *t, const vem_i_posterior *posterior,
                         vem_i_stats *stats)
{
    vem_i_groups *groups = t->search.groups;
    stats->clusters = t->scorer->clusters;
    if (t->partial) {
        vem_i_stats_clear(stats);
        for (int64_t s = 0; s < t->shards; s++)
            vem_i_stats_add(stats, &t->partial[s]);
        return;
    }
    if (groups && !groups->ordered)
        vem_i_groups_order(groups, posterior->held, posterior->width);
    vem_i_collector_run(t->collector, posterior, NULL, stats);
}

int64_t vem_i_estep_recollect(vem_i_estep *t, vem_i_posterior *posterior,
                              const uint8_t *only, vem_i_stats *stats)
{
    if (!t->partial) {
        vem_i_collector_run(t->collector, posterior, only, stats);
        return 0;
    }
    return vem_i_estep_again(t, posterior, stats).pairs;
}

vem_status vem_i_estep_start(vem_i_estep *t, int64_t *pairs)
{
    return t->search.graph ? vem_i_graph_start(t->search.graph, t->scorer, pairs)
                           : VEM_OK;
}

void vem_i_estep_plan(vem_i_estep *t, const vem_i_step_plan *plan)
{
    t->plan = *plan;
}

struct vem_i_groups *vem_i_estep_groups(vem_i_estep *t)
{
    return t->search.groups;
}

vem_i_estep_result vem_i_estep_run(vem_i_estep *t, vem_i_posterior *posterior,
                                   vem_i_stats *stats, const vem_progress *told,
                                   int may_skip)
{
    t->again = 0;
    return run(t, posterior, stats, told, may_skip);
}

vem_i_estep_result vem_i_estep_again(vem_i_estep *t, vem_i_posterior *posterior,
                                     vem_i_stats *stats)
{
    t->again = 1;
    return run(t, posterior, stats, NULL, 0);
}

void vem_i_estep_renumber(vem_i_estep *t, vem_i_posterior *posterior, const int32_t *map,
                          int32_t clusters)
{
    for (int64_t e = 0; e < posterior->n * posterior->width; e++)
        if (posterior->held[e] >= 0)
            posterior->held[e] = map[posterior->held[e]];
    if (t->search.graph)
        vem_i_graph_renumber(t->search.graph, map, clusters);
    if (t->search.groups)
        vem_i_hierarchy_forget(&t->search.groups->hierarchy);
}

void vem_i_estep_beside(vem_i_estep *t, int32_t cluster, int32_t beside)
{
    vem_i_groups *groups = t->search.groups;
    if (t->search.graph)
        vem_i_graph_place(t->search.graph, cluster, beside);
    if (groups) {
        vem_i_hierarchy_move(&groups->hierarchy, cluster, beside);
        groups->ordered = groups->listed = groups->sorted = 0;
    }
}

void vem_i_estep_place(vem_i_estep *t, vem_i_posterior *posterior, int32_t cluster,
                       int64_t item)
{
    if (!t->search.graph && !t->search.groups)
        return;
    int32_t width = posterior->width, *held = posterior->held + item * width, r = 0;
    if (held[0] >= 0)
        vem_i_estep_beside(t, cluster, held[0]);
    while (r < width - 1 && held[r] != cluster)
        r++;
    held[r] = cluster;
}

void vem_i_estep_record(vem_i_record *r, vem_i_estep *t, const vem_i_posterior *posterior,
                        int32_t clusters)
{
    VEM_I_RECORD(r, "average", t->average);
    if (t->search.graph)
        vem_i_graph_record(r, t->search.graph, clusters);
    if (t->search.groups)
        vem_i_groups_record(r, t->search.groups, clusters,
                            posterior->known ? posterior->held : NULL, posterior->width);
}

static vem_status take_shards(vem_i_estep *t)
{
    size_t shards = (size_t)t->shards;
    vem_status status = vem_i_take(t->ctx, &t->shard_log_sum, shards, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(t->ctx, &t->shard_distance, shards, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(t->ctx, &t->shard_pairs, shards, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_take(t->ctx, &t->shard_changed, shards, sizeof(int64_t));
    return status;
}

vem_status vem_i_estep_new(vem_ctx *ctx, const vem_view *view, const vem_i_scorer *scorer,
                           const vem_i_search *search, int collect, vem_i_estep **estep)
{
    vem_i_estep *t = vem_i_calloc(1, sizeof *t);
    if (!t)
        return vem_i_fail_memory(ctx, sizeof *t);
    t->ctx = ctx;
    t->view = view;
    t->scorer = scorer;
    t->search = *search;
    vem_family_kind family = scorer->family->kind;
    int32_t clusters = scorer->clusters, d = view->d;
    int dense_stats = search->dense && collect;
    t->per_shard = dense_stats
                       ? vem_i_shards(view->n, dense_shards(family, view->n, clusters, d))
                   : search->kind == VEM_SEARCH_GROUPS ? VEM_I_GROUP_ITEMS
                   : search->reach ? vem_i_graph_shard(search, clusters)
                                   : SPARSE_SHARD;
    t->shards = vem_i_shards(view->n, t->per_shard);
    t->capacity = vem_i_block_items(search, clusters, view->kernels);
    t->average = -INFINITY;
    vem_status status = take_shards(t);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t->log_sums, (size_t)ctx->threads,
                            (size_t)t->capacity * sizeof(double));
    if (status == VEM_OK)
        status =
            vem_i_take_zeroed(ctx, &t->blocks, (size_t)ctx->threads, sizeof *t->blocks);
    for (int i = 0; status == VEM_OK && i < ctx->threads; i++)
        status = vem_i_block_new(ctx, search, view, scorer, &t->blocks[i]);
    if (status == VEM_OK && search->reach)
        status = vem_i_graph_new(ctx, search, view, scorer, &t->search.graph);
    if (status == VEM_OK && search->kind == VEM_SEARCH_GROUPS)
        status = vem_i_groups_new(ctx, search, view, scorer, &t->search.groups);
    if (status == VEM_OK && dense_stats) {
        status =
            vem_i_take_zeroed(ctx, &t->partial, (size_t)t->shards, sizeof *t->partial);
        for (int64_t s = 0; status == VEM_OK && s < t->shards; s++)
            status = vem_i_stats_new(ctx, family, clusters, d, &t->partial[s]);
    } else if (status == VEM_OK && collect) {
        status = vem_i_collector_new(ctx, view, scorer, search->held,
                                     t->search.groups ? &t->search.groups->tour : NULL,
                                     t->search.groups ? t->search.groups->hierarchy.rank
                                                      : NULL,
                                     &t->collector);
    }
    if (status != VEM_OK) {
        vem_i_estep_free(t);
        return status;
    }
    *estep = t;
    return VEM_OK;
}

void vem_i_estep_free(vem_i_estep *t)
{
    if (!t)
        return;
    for (int i = 0; t->blocks && i < t->ctx->threads; i++)
        vem_i_block_free(&t->blocks[i]);
    for (int64_t s = 0; t->partial && s < t->shards; s++)
        vem_i_stats_free(&t->partial[s]);
    vem_i_collector_free(t->collector);
    vem_i_graph_free(t->search.graph);
    vem_i_groups_free(t->search.groups);
    vem_i_free(t->partial);
    vem_i_free(t->blocks);
    vem_i_free(t->log_sums);
    vem_i_free(t->shard_log_sum);
    vem_i_free(t->shard_distance);
    vem_i_free(t->shard_pairs);
    vem_i_free(t->shard_changed);
    vem_i_free(t);
}

uint64_t vem_i_estep_bytes(const vem_ctx *ctx, const vem_i_search *search,
                           const vem_i_kernels *kernels, vem_family_kind family,
                           int64_t n, int32_t clusters, int32_t d, int weighted)
{
    uint64_t stats =
        (uint64_t)clusters * (uint64_t)(1 + d + vem_i_second_count(family, d)) * 8;
    uint64_t blocks =
        (uint64_t)ctx->threads * vem_i_block_bytes(search, clusters, d, kernels);
    if (search->reach)
        blocks += vem_i_graph_bytes(ctx, search, clusters, d, kernels);
    if (search->kind == VEM_SEARCH_GROUPS)
        blocks += vem_i_groups_bytes(ctx, search, family, n, clusters, d, kernels);
    if (search->dense)
        return blocks + (uint64_t)dense_shards(family, n, clusters, d) * stats;
    return blocks + vem_i_collector_bytes(ctx, family, n, clusters, d, search->held,
                                          kernels->element,
                                          search->kind == VEM_SEARCH_GROUPS, weighted);
}
