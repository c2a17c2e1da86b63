/* From what the items of a wave touched to averages, and from those to the next graph.
 *
 * All that a cluster's items touched in the wave is added up first, in one sum for every other
 * cluster. Each cluster keeps a bounded number of averages (4 reach + 12) from wave to wave:
 * when they are all taken, one that is nearer than the farthest takes its place. A cluster
 * that was nobody's nearest keeps its G_c. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "search/graph.h"

static double average(const vem_i_slot *slot)
{
    return slot->sum / slot->count;
}

/* Where the farthest of all averages of a cluster is. */
static int32_t farthest(const double *averages, int32_t count)
{
    int32_t place = 0;
    for (int32_t s = 1; s < count; s++)
        if (averages[s] > averages[place])
            place = s;
    return place;
}

void vem_i_estimated_join(vem_i_estimated *g, vem_i_notes *m, int32_t cluster,
                          int32_t touched)
{
    vem_i_slot *slots = g->evidence + (int64_t)cluster * g->slots;
    int32_t used = g->used[cluster], worst = -1;
    for (int32_t s = 0; s < used; s++) {
        vem_i_far *one = &m->others[slots[s].other];
        if (one->mark != m->stamp)
            continue;
        slots[s].sum += one->sum;
        slots[s].count += one->count;
        one->mark = 0;
    }
    for (int32_t i = 0; i < touched; i++) {
        const vem_i_far *one = &m->others[m->listed[i]];
        if (one->mark != m->stamp)
            continue;
        vem_i_slot fresh = {m->listed[i], one->count, one->sum};
        if (used < g->slots) {
            slots[used++] = fresh;
            continue;
        }
        if (worst < 0) {
            for (int32_t s = 0; s < used; s++)
                m->averages[s] = average(&slots[s]);
            worst = farthest(m->averages, used);
        }
        if (average(&fresh) < m->averages[worst]) {
            slots[worst] = fresh;
            m->averages[worst] = average(&fresh);
            worst = farthest(m->averages, used);
        }
    }
    g->used[cluster] = used;
}

static const vem_i_touch *touches_of(const vem_i_estimated *g, int32_t strip)
{
    return g->touches + strip / g->strip_capacity * g->touch_capacity +
           g->strips[strip].first;
}

/* Bytes of an item's touches that are fetched before they are needed. */
enum { PREFETCHED = 192 };

void vem_i_estimated_mark(const vem_i_estimated *g, vem_i_notes *m)
{
    if (m->stamp == UINT32_MAX) {
        memset(m->others, 0, (size_t)g->graph.clusters * sizeof *m->others);
        m->stamp = 0;
    }
    m->stamp++;
}

static void merge_cluster(vem_i_estimated *g, vem_i_notes *m, int64_t range,
                          int32_t cluster, int32_t strip)
{
    int32_t touched = 0;
    vem_i_estimated_mark(g, m);
    for (int32_t next; strip >= 0; strip = next) {
        const vem_i_strip *r = &g->strips[strip];
        const vem_i_touch *touches = touches_of(g, strip);
        next = r->next;
        if (next >= 0) { /* somewhere else in a wave's worth of touches */
            const char *ahead = (const char *)touches_of(g, next);
            for (size_t at = 0; at < PREFETCHED; at += 64)
                __builtin_prefetch(ahead + at);
        }
        for (int32_t i = 0; i < r->count; i++) {
            if (!(touches[i].distance < INFINITY))
                continue;
            /* No branch on whether the cluster is new, which nothing could foretell: there is
             * room to list one that is not. */
            vem_i_far *one = &m->others[touches[i].other];
            int fresh = one->mark != m->stamp;
            m->listed[touched] = touches[i].other;
            touched += fresh;
            one->sum = (fresh ? 0 : one->sum) + (double)touches[i].distance;
            one->count = (fresh ? 0 : one->count) + 1;
            one->mark = m->stamp;
        }
    }
    m->others[cluster].mark = 0; /* itself is no neighbor */
    if (g->found)
        vem_i_learned_keep(&g->found[range], m, cluster, touched);
    else
        vem_i_estimated_join(g, m, cluster, touched);
}

typedef struct wave {
    vem_i_estimated *graph;
    int64_t shards;
} wave;

/* Items are listed by their nearest cluster, in the order of the shards. */
static void merge_range(void *arg, int64_t range, int thread)
{
    const wave *w = arg;
    vem_i_estimated *g = w->graph;
    vem_i_notes *m = g->graph.search.blocks[thread].scratch;
    const int64_t first = vem_i_range_first(g, range),
                  end = vem_i_range_first(g, range + 1);
    for (int64_t c = 0; c < end - first; c++)
        m->heads[c] = -1;
    for (int64_t slot = 0; slot < w->shards; slot++) {
        const int64_t *starts = g->range_starts + slot * (VEM_I_RANGES + 1);
        int64_t base = slot * g->strip_capacity;
        for (int64_t strip = base + starts[range]; strip < base + starts[range + 1];
             strip++) {
            int64_t c = g->strips[strip].nearest - first;
            g->strips[strip].next = -1;
            if (m->heads[c] < 0)
                m->heads[c] = (int32_t)strip;
            else
                g->strips[m->tails[c]].next = (int32_t)strip;
            m->tails[c] = (int32_t)strip;
        }
    }
    for (int64_t c = 0; c < end - first; c++)
        if (m->heads[c] >= 0)
            merge_cluster(g, m, range, (int32_t)(first + c), m->heads[c]);
}

void vem_i_estimated_merge(vem_i_search *search, int64_t shards)
{
    wave w = {.graph = (vem_i_estimated *)search, .shards = shards};
    vem_i_parallel_light(search->run, VEM_I_RANGES, (double)(shards * 4096), merge_range,
                         &w);
}

static int contains(const int32_t *list, int32_t count, int32_t value)
{
    for (int32_t k = 0; k < count; k++)
        if (list[k] == value)
            return 1;
    return 0;
}

static void settle_cluster(vem_i_estimated *g, int64_t cluster)
{
    vem_i_slot *slots = g->evidence + cluster * g->slots;
    int32_t used = g->used[cluster], reach = g->graph.reach, kept = 1;
    int32_t *near = g->graph.neighbors + cluster * reach;
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
    vem_i_estimated *g = arg;
    int64_t begin = task * CLUSTERS_PER_TASK, end = begin + CLUSTERS_PER_TASK;
    for (int64_t c = begin; c < end && c < g->graph.clusters; c++)
        settle_cluster(g, c);
}

void vem_i_estimated_renew(vem_i_estimated *g)
{
    double work = (double)g->slots * g->graph.reach * CLUSTERS_PER_TASK;
    vem_i_parallel_light(g->graph.search.run,
                         vem_i_shards(g->graph.clusters, CLUSTERS_PER_TASK), work,
                         settle_range, g);
}

void vem_i_estimated_settle(vem_i_search *search, int found)
{
    vem_i_estimated *g = (vem_i_estimated *)search;
    if (found && g->found)
        vem_i_learned_settle(g);
    else if (found)
        vem_i_estimated_renew(g);
}
