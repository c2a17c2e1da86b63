/* Every cluster sums its own items: no locks, and one order whatever the threads.
 *
 * The (item, cluster) entries are counting-sorted by cluster, keeping the order of the
 * items; then each cluster takes its list, block by block. Two ways to cut the work,
 * chosen by size:
 *
 *   sharded   few clusters: fixed shards of items, each with statistics of its own, added
 *             up in the order of the shards. Parallel even when one cluster has all items.
 *   owned     many clusters: one sort over all items of a wave, clusters in parallel, sums
 *             straight into the result. Takes no memory per shard.
 *   toured    hard items of equal mass that already stand in order: no sort at all. */
#include "em/collect_inside.h"

#include <string.h>

#include "base/bucket_sort.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "data/together.h"

enum {
    SHARDS = 64,       /* sharded: most pieces the items are cut into */
    SHARD_ITEMS = 1024 /* and the least items in one */
};
int64_t vem_i_collect_wave = INT64_C(1) << 22;
uint64_t vem_i_collect_sharded = UINT64_C(64) << 20;

static uint64_t stats_bytes(const vem_i_family *family, int32_t clusters, int32_t d)
{
    return (uint64_t)clusters * (uint64_t)vem_i_stats_stride(family, d) * sizeof(double);
}

static int64_t shards_for(const vem_i_family *family, int64_t n, int32_t clusters,
                          int32_t d)
{
    if (stats_bytes(family, clusters, d) > vem_i_collect_sharded / SHARDS)
        return 0;
    int64_t shards = vem_i_shards(n, SHARD_ITEMS);
    return shards < SHARDS ? shards : SHARDS;
}

int64_t vem_i_collector_shard(const vem_i_family *family, int64_t n, int32_t clusters,
                              int32_t d)
{
    const int64_t shards = shards_for(family, n, clusters, d);
    return shards ? vem_i_shards(n, shards) : 0;
}

static int64_t wave_items(int64_t n, int32_t width)
{
    int64_t items = vem_i_collect_wave / width;
    return items < n ? items : n;
}

/* Weight of an entry of the posterior, as T in the sorted list; 0 entries are left out.
 */
static int entry_counts(const vem_i_collector *t, int64_t item, int64_t entry)
{
    const int32_t cluster = t->posterior->held[entry];
    if (cluster < 0 || (t->only && !t->only[cluster]))
        return 0;
    const vem_i_kernels *kernels = t->view->kernels;
    if (t->posterior->q)
        return vem_i_value(kernels, t->posterior->q, entry) > 0;
    return vem_i_view_mass(t->view, item) > 0;
}

static void place_entry(vem_i_collector *t, int64_t base, int64_t item, int64_t entry,
                        int64_t at)
{
    t->entries[at] = (uint32_t)(item - base);
    if (!t->q)
        return;
    const vem_i_kernels *kernels = t->view->kernels;
    double weight = t->posterior->q ? vem_i_value(kernels, t->posterior->q, entry)
                                    : vem_i_view_mass(t->view, item);
    vem_i_store(kernels, t->q, at, weight);
}

/* Does each item have one entry, of weight 1? */
static int plain(const vem_i_collector *t)
{
    return t->width == 1 && !t->q && !t->only && !t->posterior->q && !t->view->mass;
}

/* The posteriors, where they are floats and all clusters are asked for: what is below is much of a step on a
 * sample of rows. */
static const float *plain_floats(const vem_i_collector *t)
{
    return t->q && !t->only && t->view->kernels->precision == VEM_SINGLE ? t->posterior->q
                                                                         : NULL;
}

/* Count entries per cluster over items [begin, end) into counts[cluster + 1]; counts[0] is the
 * caller's. */
static void count_entries(const vem_i_collector *t, int64_t begin, int64_t end,
                          int64_t *counts)
{
    const int32_t *held = t->posterior->held;
    memset(counts, 0, ((size_t)t->scorer->clusters + 1) * sizeof *counts);
    if (plain(t)) {
        for (int64_t i = begin; i < end; i++)
            counts[held[i] + 1]++;
        return;
    }
    const float *q = plain_floats(t);
    for (int64_t e = begin * t->width; q && e < end * t->width; e++)
        if (held[e] >= 0 && q[e] > 0)
            counts[held[e] + 1]++;
    for (int64_t i = begin; !q && i < end; i++)
        for (int64_t e = i * t->width; e < (i + 1) * t->width; e++)
            if (entry_counts(t, i, e))
                counts[held[e] + 1]++;
}

/* Put the entries of items [begin, end) where their clusters come, at[cluster], and move that on. */
static void place_entries(vem_i_collector *t, int64_t base, int64_t begin, int64_t end,
                          int64_t *at)
{
    const int32_t *held = t->posterior->held;
    if (plain(t)) {
        for (int64_t i = begin; i < end; i++)
            if (held[i] >= 0)
                t->entries[at[held[i]]++] = (uint32_t)(i - base);
        return;
    }
    const float *q = plain_floats(t);
    for (int64_t i = begin; i < end; i++)
        for (int64_t e = i * t->width; e < (i + 1) * t->width; e++)
            if (q && held[e] >= 0 && q[e] > 0) {
                const int64_t place = at[held[e]]++;
                t->entries[place] = (uint32_t)(i - base);
                ((float *)t->q)[place] = q[e];
            } else if (!q && entry_counts(t, i, e)) {
                place_entry(t, base, i, e, at[held[e]]++);
            }
}

/* One cluster takes n listed items, counted from item `base`, some at a time. */
static void take_rows(const vem_i_collector *t, int64_t base, const uint32_t *list,
                      const char *q, int64_t n, int32_t cluster, vem_i_stats *stats)
{
    const vem_i_scorer *s = t->scorer;
    for (int64_t i = 0; i < n; i += VEM_I_COLLECT_TOGETHER) {
        const vem_i_items items =
            vem_i_items_at(t->view, base, list + i,
                           n - i < VEM_I_COLLECT_TOGETHER ? n - i
                                                          : VEM_I_COLLECT_TOGETHER);
        s->family->collect_rows(s, &items, q ? q + (size_t)i * s->kernels->element : NULL,
                                cluster, stats);
        vem_i_residence_check(t->run);
    }
}

static void *thread_panels(const vem_i_collector *t, int thread)
{
    size_t bytes = VEM_I_BLOCK * (size_t)t->view->d * t->view->kernels->element;
    return (char *)t->panels + (size_t)thread * bytes;
}

void vem_i_collector_take(const vem_i_collector *t, int64_t base, int32_t cluster,
                          int64_t from, int64_t to, int thread, vem_i_stats *stats)
{
    if (from == to)
        return;
    const vem_i_scorer *s = t->scorer;
    const vem_i_kernels *kernels = s->kernels;
    const char *q = t->q ? (const char *)t->q + (size_t)from * kernels->element : NULL;
    if (s->family->collect_rows) {
        take_rows(t, base, t->entries + from, q, to - from, cluster, stats);
        return;
    }
    void *panels = thread_panels(t, thread);
    for (int64_t e = from; e < to; e += VEM_I_BLOCK) {
        int32_t n = to - e < VEM_I_BLOCK ? (int32_t)(to - e) : VEM_I_BLOCK;
        vem_i_items items = vem_i_items_at(t->view, base, t->entries + e, n);
        vem_i_items_pack(t->view, NULL, panels, NULL, &items);
        s->family->collect_tile(s, &items, q, cluster, thread, stats);
        q += (size_t)n * kernels->element;
        vem_i_residence_check(t->run);
    }
}

static void run_shard(void *arg, int64_t task, int thread)
{
    vem_i_collector *t = arg;
    const int64_t shard = t->from + task;
    int32_t clusters = t->scorer->clusters;
    const int64_t begin = vem_i_view_shard(t->view, t->per_shard, shard),
                  end = vem_i_view_shard(t->view, t->per_shard, shard + 1);
    int64_t *starts = t->starts + thread * (clusters + 1), *ends = starts + 1;
    count_entries(t, begin, end, starts);
    starts[0] = begin * t->width;
    vem_i_bucket_places(ends, clusters, 1, 0, starts[0]);
    place_entries(t, begin, begin, end, ends);
    vem_i_stats *stats = &t->partial[shard];
    stats->clusters = clusters;
    vem_i_stats_clear(stats);
    for (int32_t c = 0; c < clusters; c++)
        vem_i_collector_take(t, begin, c, starts[c], starts[c + 1], thread, stats);
}

static void piece_range(const vem_i_collector *t, int64_t piece, int64_t *begin,
                        int64_t *end)
{
    *begin = t->first + t->count * piece / VEM_I_COLLECT_PIECES;
    *end = t->first + t->count * (piece + 1) / VEM_I_COLLECT_PIECES;
}

static void count_piece(void *arg, int64_t piece, int thread)
{
    (void)thread;
    vem_i_collector *t = arg;
    int64_t begin, end;
    piece_range(t, piece, &begin, &end);
    count_entries(t, begin, end, t->starts + piece * (t->scorer->clusters + 1));
}

static void place_piece(void *arg, int64_t piece, int thread)
{
    (void)thread;
    vem_i_collector *t = arg;
    int64_t begin, end, *at = t->starts + piece * (t->scorer->clusters + 1) + 1;
    piece_range(t, piece, &begin, &end);
    place_entries(t, t->first, begin, end, at);
}

static void take_clusters(void *arg, int64_t task, int thread)
{
    vem_i_collector *t = arg;
    int32_t clusters = t->scorer->clusters;
    const int64_t *ends = t->ends;
    int64_t begin = task * VEM_I_COLLECT_CLUSTERS, end = begin + VEM_I_COLLECT_CLUSTERS;
    for (int64_t c = begin; c < end && c < clusters; c++)
        vem_i_collector_take(t, t->first, (int32_t)c, c ? ends[c - 1] : 0, ends[c],
                             thread, t->stats);
}

const int64_t *vem_i_collector_sort(vem_i_collector *t)
{
    int32_t clusters = t->scorer->clusters;
    vem_i_parallel(t->run, VEM_I_COLLECT_PIECES, count_piece, t);
    vem_i_bucket_places(t->starts + 1, clusters, VEM_I_COLLECT_PIECES, clusters + 1, 0);
    vem_i_parallel(t->run, VEM_I_COLLECT_PIECES, place_piece, t);
    /* The last piece ends where the next cluster begins. */
    return t->starts + (VEM_I_COLLECT_PIECES - 1) * (int64_t)(clusters + 1) + 1;
}

static void run_wave(vem_i_collector *t)
{
    const int32_t clusters = t->scorer->clusters;
    t->ends = vem_i_collector_sort(t);
    vem_i_parallel(t->run, vem_i_shards(clusters, VEM_I_COLLECT_CLUSTERS), take_clusters,
                   t);
}

/* Rows of a toured cluster are those of the whole view. */
static void take_toured(void *arg, int64_t task, int thread)
{
    (void)thread;
    vem_i_collector *t = arg;
    const vem_i_scorer *s = t->scorer;
    int64_t begin = task * VEM_I_COLLECT_CLUSTERS, end = begin + VEM_I_COLLECT_CLUSTERS;
    for (int64_t c = begin; c < end && c < s->clusters; c++) {
        if (t->only && !t->only[c])
            continue;
        const int64_t *start = t->tour->starts + t->tour->rank[c];
        vem_i_stats_clear_cluster(t->stats, (int32_t)c);
        if (start[1] > start[0])
            take_rows(t, 0, t->tour->items + start[0], NULL, start[1] - start[0],
                      (int32_t)c, t->stats);
    }
}

static const double *shard_block(const void *arg, int64_t shard)
{
    const vem_i_collector *t = arg;
    return t->partial[shard].block;
}

void vem_i_collector_run(vem_i_collector *t, const vem_i_posterior *posterior,
                         const vem_i_tour *tour, const uint8_t *only, vem_i_stats *stats)
{
    t->posterior = posterior;
    t->tour = tour;
    t->stats = stats;
    t->only = only;
    if (t->toured && !t->run->comm) {
        vem_i_parallel(t->run, vem_i_shards(t->scorer->clusters, VEM_I_COLLECT_CLUSTERS),
                       take_toured, t);
        return;
    }
    for (int32_t c = 0; c < stats->clusters; c++)
        if (!only || only[c])
            vem_i_stats_clear_cluster(stats, c);
    if (t->shards) {
        double work = (double)t->per_shard * (double)t->width * (double)t->view->d;
        vem_i_own_shards(t->view->first, vem_i_view_own(t->view), t->per_shard, &t->from,
                         &t->to);
        vem_i_parallel_light(t->run, t->to - t->from, work, run_shard, t);
        if (t->run->comm)
            vem_i_comm_sum(t->run->comm, stats->block, stats->clusters * stats->stride,
                           &(vem_i_own_blocks){shard_block, t, t->from, t->to});
        for (int64_t s = t->from; !t->run->comm && s < t->to; s++)
            vem_i_stats_add(stats, &t->partial[s]);
        return;
    }
    if (t->run->comm) {
        t->entries = t->toured ? tour->items : t->entries;
        vem_i_collector_run_apart(t);
        t->entries = t->toured ? NULL : t->entries;
        return;
    }
    for (t->first = 0; t->first < t->view->n; t->first += t->per_shard) {
        int64_t left = t->view->n - t->first;
        t->count = left < t->per_shard ? left : t->per_shard;
        run_wave(t);
    }
}

int vem_i_collector_is_sharded(const vem_i_collector *t)
{
    return t && t->shards > 0;
}

int64_t vem_i_collector_empty(vem_i_collector *t, const vem_i_posterior *posterior)
{
    int64_t empty = 0;
    t->posterior = posterior;
    t->only = NULL;
    if (t->toured || !plain(t) || t->run->comm)
        return -1;
    count_entries(t, 0, t->view->n, t->starts);
    for (int32_t c = 0; c < t->scorer->clusters; c++)
        empty += t->starts[c + 1] == 0;
    return empty;
}

vem_status vem_i_collector_new(vem_i_run *run, const vem_view *view,
                               const vem_i_scorer *scorer, int32_t width, int toured,
                               vem_i_collector **collector)
{
    vem_i_collector *t;
    vem_status status = vem_i_take_structs(run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    t->run = run;
    t->view = view;
    t->scorer = scorer;
    t->width = width;
    if (toured && width == 1 && !view->mass && scorer->family->collect_rows) {
        t->toured = 1;
        *collector = t;
        return run->comm && run->counted ? vem_i_collector_count_apart(t) : VEM_OK;
    }
    const vem_i_family *family = scorer->family;
    int32_t clusters = scorer->clusters, d = view->d;
    t->shards = shards_for(family, view->global_n, clusters, d);
    if (t->shards) {
        t->per_shard = vem_i_shards(view->global_n, t->shards);
        t->shards = vem_i_view_shards(view, t->per_shard);
    } else {
        t->wave = wave_items(view->global_n, width);
        t->per_shard = t->wave < view->n ? t->wave : view->n;
    }
    size_t element = view->kernels->element, columns = (size_t)scorer->capacity + 1;
    size_t sorted = (size_t)(t->shards ? view->n : t->per_shard) * (size_t)width;
    size_t tables = t->shards ? (size_t)run->threads : VEM_I_COLLECT_PIECES;
    status = vem_i_take(run, &t->entries, sorted, sizeof *t->entries);
    if (status == VEM_OK && (width > 1 || view->mass || !scorer->family->collect_rows))
        status = vem_i_take(run, &t->q, sorted, element);
    if (status == VEM_OK)
        status = vem_i_take(run, &t->starts, tables, columns * sizeof(int64_t));
    if (status == VEM_OK && !vem_i_view_is_sparse(view))
        status = vem_i_take(run, &t->panels, (size_t)run->threads,
                            VEM_I_BLOCK * (size_t)d * element);
    if (status == VEM_OK && !t->shards && run->comm && run->counted)
        status = vem_i_collector_count_apart(t);
    if (status == VEM_OK && t->shards)
        status =
            vem_i_take_structs(run, &t->partial, (size_t)t->shards, sizeof *t->partial);
    for (int64_t s = 0; status == VEM_OK && s < t->shards; s++)
        status = vem_i_stats_new(run, vem_i_scorer_shape(scorer), &t->partial[s]);
    if (status == VEM_OK)
        *collector = t;
    else
        vem_i_collector_free(t);
    return status;
}

void vem_i_collector_free(vem_i_collector *t)
{
    if (!t)
        return;
    for (int64_t s = 0; t->partial && s < t->shards; s++)
        vem_i_stats_free(&t->partial[s]);
    vem_i_free(t->partial);
    vem_i_free(t->entries);
    vem_i_free(t->q);
    vem_i_free(t->starts);
    vem_i_free(t->panels);
    vem_i_free(t);
}
