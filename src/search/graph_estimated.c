/* The estimated graph (S of FL18): learned from the pairs the E-step scores anyway.
 *
 *     o(n)      nearest cluster of item n among those it tried
 *     dhat(c,t) = average of d(n,t) over items with o(n) = c that tried t,   dhat(c,c) =
 * 0 G_c       = c and the reach - 1 smallest dhat(c, .)
 *
 * A shard writes what its items touched; a wave of shards is merged cluster by cluster in
 * the order of the shards, so the averages do not depend on threads: all that a cluster's
 * items touched in the wave is added up first, in one cell for every other cluster. Each
 * cluster keeps a bounded number of averages (4 reach + 12) from wave to wave: when they
 * are all taken, one that is nearer than the farthest takes its place. A cluster that was
 * nobody's nearest keeps its G_c. */
#include <string.h>

#include "base/parallel.h"
#include "search/graph_inside.h"

void vem_i_graph_end_shard(vem_i_graph *g, int64_t slot, int thread, int64_t count)
{
    const vem_i_touch *from = g->fresh + thread * g->touch_capacity;
    vem_i_touch *to = g->touches + slot * g->touch_capacity;
    int64_t *starts = g->bucket_starts + slot * (VEM_I_BUCKETS + 1), at[VEM_I_BUCKETS];
    memset(starts, 0, (VEM_I_BUCKETS + 1) * sizeof *starts);
    /* An item's touches stand together, so most have the bucket of the one before. */
    int32_t last = -1;
    int64_t bucket = 0;
    for (int64_t i = 0; i < count; i++) {
        if (from[i].nearest != last)
            bucket = vem_i_bucket_of(g, last = from[i].nearest);
        starts[bucket + 1]++;
    }
    for (int b = 0; b < VEM_I_BUCKETS; b++) {
        starts[b + 1] += starts[b];
        at[b] = starts[b];
    }
    last = -1;
    for (int64_t i = 0; i < count; i++) {
        if (from[i].nearest != last)
            bucket = vem_i_bucket_of(g, last = from[i].nearest);
        to[at[bucket]++] = from[i];
    }
}

static double average(const vem_i_slot *slot)
{
    return slot->sum / slot->count;
}

/* Where the farthest of all averages of a cluster is. */
static int32_t farthest(const vem_i_slot *slots, int32_t count)
{
    int32_t place = 0;
    double most = average(&slots[0]);
    for (int32_t s = 1; s < count; s++) {
        double mean = average(&slots[s]);
        if (mean > most) {
            most = mean;
            place = s;
        }
    }
    return place;
}

/* What the items of a cluster touched in this wave joins the averages of the cluster. */
static void join(vem_i_graph *g, vem_i_merge *m, int32_t cluster, int32_t touched)
{
    vem_i_slot *slots = g->evidence + (int64_t)cluster * g->slots;
    int32_t used = g->used[cluster], worst = -1;
    for (int32_t s = 0; s < used; s++) {
        vem_i_cell *cell = &m->cells[slots[s].other];
        if (cell->mark != m->mark)
            continue;
        slots[s].sum += cell->sum;
        slots[s].count += cell->count;
        cell->mark = 0;
    }
    for (int32_t i = 0; i < touched; i++) {
        const vem_i_cell *cell = &m->cells[m->touched[i]];
        if (cell->mark != m->mark)
            continue;
        vem_i_slot fresh = {m->touched[i], cell->count, cell->sum};
        if (used < g->slots) {
            slots[used++] = fresh;
            continue;
        }
        if (worst < 0)
            worst = farthest(slots, used);
        if (average(&fresh) < average(&slots[worst])) {
            slots[worst] = fresh;
            worst = -1;
        }
    }
    g->used[cluster] = used;
}

static void merge_cluster(vem_i_graph *g, vem_i_merge *m, int32_t cluster, int32_t run)
{
    int32_t touched = 0;
    m->mark++;
    for (; run >= 0; run = m->runs[run].next)
        for (int32_t i = 0; i < m->runs[run].count; i++) {
            const vem_i_touch *touch = &m->runs[run].touches[i];
            vem_i_cell *cell = &m->cells[touch->other];
            if (cell->mark != m->mark) {
                *cell = (vem_i_cell){.mark = m->mark};
                m->touched[touched++] = touch->other;
            }
            cell->sum += (double)touch->distance;
            cell->count++;
        }
    join(g, m, cluster, touched);
}

typedef struct wave {
    vem_i_graph *graph;
    int64_t shards;
} wave;

/* Stretches of touches with the same nearest cluster are listed by cluster, in the order
 * of the shards. */
static void merge_bucket(void *arg, int64_t bucket, int thread)
{
    const wave *w = arg;
    vem_i_graph *g = w->graph;
    vem_i_merge *m = &g->merges[thread];
    int64_t first = (bucket * g->clusters + VEM_I_BUCKETS - 1) / VEM_I_BUCKETS;
    int64_t end = ((bucket + 1) * g->clusters + VEM_I_BUCKETS - 1) / VEM_I_BUCKETS;
    int32_t count = 0;
    for (int64_t c = 0; c < end - first; c++)
        m->heads[c] = -1;
    for (int64_t slot = 0; slot < w->shards; slot++) {
        const int64_t *starts = g->bucket_starts + slot * (VEM_I_BUCKETS + 1);
        const vem_i_touch *touches = g->touches + slot * g->touch_capacity;
        for (int64_t i = starts[bucket], next; i < starts[bucket + 1]; i = next) {
            int32_t nearest = touches[i].nearest;
            for (next = i + 1; next < starts[bucket + 1]; next++)
                if (touches[next].nearest != nearest)
                    break;
            int64_t c = nearest - first;
            m->runs[count] = (vem_i_run){touches + i, (int32_t)(next - i), -1};
            if (m->heads[c] < 0)
                m->heads[c] = count;
            else
                m->runs[m->tails[c]].next = count;
            m->tails[c] = count++;
        }
    }
    for (int64_t c = 0; c < end - first; c++)
        if (m->heads[c] >= 0)
            merge_cluster(g, m, (int32_t)(first + c), m->heads[c]);
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
