/* The estimated graph (S of FL18): learned from the pairs the E-step scores anyway.
 *
 *     o(n)      nearest cluster of item n among those it tried
 *     dhat(c,t) = average of d(n,t) over items with o(n) = c that tried t,   dhat(c,c) =
 * 0 G_c       = c and the reach - 1 smallest dhat(c, .)
 *
 * A shard writes what its items touched; a wave of shards is merged cluster by cluster in
 * the order of the shards, so the averages do not depend on threads. Each cluster keeps a
 * bounded number of averages (4 reach + 12): when they are all taken, a pair that is
 * nearer than the farthest average takes its place. A cluster that was nobody's nearest
 * keeps its G_c. */
#include <string.h>

#include "base/parallel.h"
#include "search/graph_inside.h"

void vem_i_graph_end_shard(vem_i_graph *g, int64_t slot, int thread, int64_t count)
{
    const vem_i_touch *from = g->fresh + thread * g->touch_capacity;
    vem_i_touch *to = g->touches + slot * g->touch_capacity;
    int64_t *starts = g->bucket_starts + slot * (VEM_I_BUCKETS + 1), at[VEM_I_BUCKETS];
    memset(starts, 0, (VEM_I_BUCKETS + 1) * sizeof *starts);
    for (int64_t i = 0; i < count; i++)
        starts[vem_i_bucket_of(g, from[i].nearest) + 1]++;
    for (int b = 0; b < VEM_I_BUCKETS; b++) {
        starts[b + 1] += starts[b];
        at[b] = starts[b];
    }
    for (int64_t i = 0; i < count; i++)
        to[at[vem_i_bucket_of(g, from[i].nearest)]++] = from[i];
}

static void add(vem_i_graph *g, const vem_i_touch *touch)
{
    vem_i_slot *slots = g->evidence + (int64_t)touch->nearest * g->slots;
    int32_t used = g->used[touch->nearest], s = 0;
    while (s < used && slots[s].other != touch->other)
        s++;
    if (s < used) {
        slots[s].sum += (double)touch->distance;
        slots[s].count++;
        return;
    }
    if (used == g->slots) {
        double farthest = -1e300;
        for (int32_t k = 0; k < used; k++) {
            double mean = slots[k].sum / slots[k].count;
            if (mean > farthest) {
                farthest = mean;
                s = k;
            }
        }
        if ((double)touch->distance >= farthest)
            return;
    } else {
        g->used[touch->nearest]++;
    }
    slots[s] = (vem_i_slot){touch->other, 1, (double)touch->distance};
}

typedef struct wave {
    vem_i_graph *graph;
    int64_t shards;
} wave;

static void merge_bucket(void *arg, int64_t bucket, int thread)
{
    (void)thread;
    const wave *w = arg;
    vem_i_graph *g = w->graph;
    for (int64_t slot = 0; slot < w->shards; slot++) {
        const int64_t *starts = g->bucket_starts + slot * (VEM_I_BUCKETS + 1);
        const vem_i_touch *touches = g->touches + slot * g->touch_capacity;
        for (int64_t i = starts[bucket]; i < starts[bucket + 1]; i++)
            add(g, &touches[i]);
    }
}

void vem_i_graph_end_wave(vem_i_graph *graph, int64_t shards)
{
    wave w = {.graph = graph, .shards = shards};
    vem_i_parallel_light(graph->ctx, VEM_I_BUCKETS, (double)(shards * 4096), merge_bucket,
                         &w);
}

static int contains(const int32_t *list, int32_t count, int32_t value)
{
    for (int32_t k = 0; k < count; k++)
        if (list[k] == value)
            return 1;
    return 0;
}

static void settle_cluster(vem_i_graph *g, int64_t cluster)
{
    vem_i_slot *slots = g->evidence + cluster * g->slots;
    int32_t used = g->used[cluster], reach = g->reach, kept = 1;
    int32_t *near = g->neighbors + cluster * reach;
    g->used[cluster] = 0;
    if (used == 0)
        return;
    /* The nearest first, by selection: reach is small. Ties go to the lowest cluster. */
    int32_t known = used < reach - 1 ? used : reach - 1;
    for (int32_t k = 0; k < known; k++) {
        int32_t best = k;
        for (int32_t s = k + 1; s < used; s++) {
            double a = slots[s].sum / slots[s].count,
                   b = slots[best].sum / slots[best].count;
            if (a < b || (a == b && slots[s].other < slots[best].other))
                best = s;
        }
        vem_i_slot swap = slots[k];
        slots[k] = slots[best];
        slots[best] = swap;
    }
    /* What is missing comes from the previous G_c, in order. It waits behind the averages
     * (there are more slots than reach) until those are written over it. */
    int32_t from_previous = 0, missing = reach - 1 - known;
    for (int32_t k = 1; k < reach && from_previous < missing; k++) {
        int32_t s = 0;
        while (s < known && slots[s].other != near[k])
            s++;
        if (s == known)
            slots[used + from_previous++].other = near[k];
    }
    for (int32_t k = 0; k < known; k++)
        near[kept++] = slots[k].other;
    for (int32_t k = 0; k < from_previous; k++)
        near[kept++] = slots[used + k].other;
    for (int32_t c = 0; kept < reach; c++)
        if (!contains(near, kept, c))
            near[kept++] = c;
}

enum { CLUSTERS_PER_TASK = 256 };

static void settle_range(void *arg, int64_t task, int thread)
{
    (void)thread;
    vem_i_graph *g = arg;
    int64_t begin = task * CLUSTERS_PER_TASK, end = begin + CLUSTERS_PER_TASK;
    for (int64_t c = begin; c < end && c < g->clusters; c++)
        settle_cluster(g, c);
}

void vem_i_graph_settle(vem_i_graph *graph)
{
    double work = (double)graph->slots * graph->reach * CLUSTERS_PER_TASK;
    if (graph->estimated)
        vem_i_parallel_light(graph->ctx, vem_i_shards(graph->clusters, CLUSTERS_PER_TASK),
                             work, settle_range, graph);
}
