/* Sums that clusters own, of processes that share the items.
 *
 * One process takes the items of a cluster in their order, so many at a time, each lot in the type of the
 * items and then into the sum in double. Where a lot begins depends on how many items the cluster has in
 * all that come before. So the processes do it one after the other: each takes over the sums, and of every
 * cluster the items that were too few for a lot, puts its own behind them, takes the lots that are full,
 * and hands on what is left; the last one tells all. A lot ends, too, where a wave of items does, which
 * are cut by the numbers in the whole.
 *
 * Hard items that stand in order already (toured) are one wave, however many they are. There each cluster's
 * first and last process are agreed upon before. With the first one the sums of a cluster begin, and so it takes its
 * rows at once, before it is its turn; with the last one the last lot ends. Where clusters lie together, few rows
 * wait, and nearly all sums are made by all processes at the same time.
 *
 * These sums cost a C-th of what it takes to find the clusters, and so it does not matter much that they
 * are not made at once. What is handed on is C s sums, and less than a lot of rows for each cluster. */
#include "em/collect_inside.h"

#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/together.h"

/* Items of clusters that wait for more: values of T, one cluster behind the other. */
typedef struct waiting {
    int64_t *starts; /* C + 1 */
    char *rows, *q;  /* q: NULL where all weigh 1 */
} waiting;

typedef struct handing {
    vem_i_collector *t;
    waiting had, left;
    int ends;       /* the wave does, with these items */
    int64_t *last;  /* toured: the last process that has some of a cluster, times -1; */
    int64_t *first; /* the first one */
    double *others; /* the sums of those before it */
    int early;      /* it is not its turn yet */
    char *desks;    /* per thread: a lot of rows, and their weights */
} handing;

static int64_t lot_of(const vem_i_collector *t)
{
    return t->scorer->family->collect_rows ? VEM_I_COLLECT_TOGETHER : VEM_I_BLOCK;
}

static size_t row_bytes(const vem_i_collector *t)
{
    return (size_t)t->view->d * t->view->kernels->element;
}

/* Those of a cluster, in `entries`. */
static int64_t first_of(const vem_i_collector *t, int32_t c)
{
    if (t->toured)
        return t->tour->starts[t->tour->rank[c]];
    return c ? t->ends[c - 1] : 0;
}

static int64_t end_of(const vem_i_collector *t, int32_t c)
{
    if (!t->toured)
        return t->ends[c];
    return t->only && !t->only[c] ? first_of(t, c)
                                  : t->tour->starts[t->tour->rank[c] + 1];
}

/* Will there be no more of it in this lot? */
static int is_last(const handing *h, int32_t c)
{
    return h->ends || (h->last && -h->last[c] <= h->t->run->comm->rank);
}

/* Does it begin here, in a process whose turn comes later? */
static int is_begun(const handing *h, int32_t c)
{
    const int rank = h->t->run->comm->rank;
    return h->first && rank > 0 && h->first[c] == rank;
}

/* How many of a cluster will wait. */
static int64_t stay_of(const handing *h, int32_t c)
{
    const vem_i_collector *t = h->t;
    const int64_t all =
        h->had.starts[c + 1] - h->had.starts[c] + end_of(t, c) - first_of(t, c);
    return is_last(h, c) ? 0 : all % lot_of(t);
}

/* ---- those that wait ---- */

static vem_status waiting_starts(const vem_i_collector *t, waiting *w)
{
    *w = (waiting){0};
    return vem_i_take_zeroed(t->run, &w->starts, (size_t)t->scorer->clusters + 1,
                             sizeof *w->starts);
}

static vem_status waiting_room(const vem_i_collector *t, waiting *w)
{
    const size_t count = (size_t)w->starts[t->scorer->clusters];
    vem_status status = VEM_OK;
    if (count > 0)
        status = vem_i_take(t->run, &w->rows, count, row_bytes(t));
    if (status == VEM_OK && count > 0 && t->q)
        status = vem_i_take(t->run, &w->q, count, t->view->kernels->element);
    return status;
}

static void waiting_free(waiting *w)
{
    vem_i_free(w->starts);
    vem_i_free(w->rows);
    vem_i_free(w->q);
    *w = (waiting){0};
}

static void hand_on(const vem_i_collector *t, const waiting *w)
{
    vem_i_comm *comm = t->run->comm;
    const int to = comm->rank + 1;
    const size_t clusters = (size_t)t->scorer->clusters,
                 count = (size_t)w->starts[clusters];
    comm->send(comm, to, t->stats->block,
               clusters * (size_t)t->stats->stride * sizeof(double));
    comm->send(comm, to, w->starts, (clusters + 1) * sizeof *w->starts);
    if (count > 0)
        comm->send(comm, to, w->rows, count * row_bytes(t));
    if (count > 0 && t->q)
        comm->send(comm, to, w->q, count * t->view->kernels->element);
}

/* Of clusters that have begun here the others have no sums. */
static void join_others(const handing *h)
{
    vem_i_stats *stats = h->t->stats;
    const size_t bytes = (size_t)stats->stride * sizeof(double);
    for (int64_t c = 0; c < h->t->scorer->clusters; c++)
        if (!is_begun(h, (int32_t)c))
            memcpy(stats->block + c * stats->stride, h->others + c * stats->stride,
                   bytes);
}

static vem_status take_over(handing *h)
{
    const vem_i_collector *t = h->t;
    waiting *w = &h->had;
    vem_i_comm *comm = t->run->comm;
    const int from = comm->rank - 1;
    const size_t clusters = (size_t)t->scorer->clusters;
    comm->receive(comm, from, h->others ? h->others : t->stats->block,
                  clusters * (size_t)t->stats->stride * sizeof(double));
    if (h->others)
        join_others(h);
    comm->receive(comm, from, w->starts, (clusters + 1) * sizeof *w->starts);
    const vem_status status = comm->failed ? vem_i_comm_lost(t->run) : waiting_room(t, w);
    if (status != VEM_OK)
        return status;
    const size_t count = (size_t)w->starts[clusters];
    if (count > 0)
        comm->receive(comm, from, w->rows, count * row_bytes(t));
    if (count > 0 && t->q)
        comm->receive(comm, from, w->q, count * t->view->kernels->element);
    return VEM_OK;
}

/* ---- one cluster ---- */

/* Copies `count` of those that waited, and entries from `from` on, side by side. */
static void put_together(const handing *h, int32_t c, int64_t waited, int64_t from,
                         int64_t count, char *rows, char *q)
{
    const vem_i_collector *t = h->t;
    const size_t row = row_bytes(t), element = t->view->kernels->element;
    const size_t first = (size_t)h->had.starts[c], n = (size_t)waited;
    if (n > 0)
        memcpy(rows, h->had.rows + first * row, n * row);
    if (n > 0 && q)
        memcpy(q, h->had.q + first * element, n * element);
    for (int64_t k = 0; k < count; k++)
        vem_i_view_copy(t->view, t->first + t->entries[from + k],
                        rows + (n + (size_t)k) * row);
    if (q && count > 0)
        memcpy(q + n * element, (const char *)t->q + (size_t)from * element,
               (size_t)count * element);
}

/* A lot that began before these items. */
static void take_lot(const handing *h, int32_t c, int64_t waited, int64_t from,
                     int64_t count, int thread)
{
    const vem_i_collector *t = h->t;
    const vem_i_family *family = t->scorer->family;
    const size_t lot = (size_t)lot_of(t), element = t->view->kernels->element;
    char *rows = h->desks + (size_t)thread * lot * (row_bytes(t) + element),
         *q = t->q ? rows + lot * row_bytes(t) : NULL;
    put_together(h, c, waited, from, count, rows, q);
    vem_i_items items = {.n = waited + count, .x = rows, .ld = t->view->d};
    if (family->collect_rows) {
        family->collect_rows(t->scorer, &items, q, c, t->stats);
        return;
    }
    void *panels = (char *)t->panels + (size_t)thread * VEM_I_BLOCK * row_bytes(t);
    vem_i_items_pack(t->view, NULL, panels, NULL, &items);
    family->collect_tile(t->scorer, &items, q, c, thread, t->stats);
}

static void take_cluster(const handing *h, int32_t c, int thread)
{
    const vem_i_collector *t = h->t;
    const size_t element = t->view->kernels->element;
    int64_t from = first_of(t, c), waited = h->had.starts[c + 1] - h->had.starts[c];
    const int64_t end = end_of(t, c), stay = stay_of(h, c);
    int64_t full = waited + end - from - stay; /* in lots */
    if (is_begun(h, c) != h->early) {
        from += h->early ? 0 : full; /* they are taken */
        full = 0;
    }
    if (waited > 0 && full > 0) {
        const int64_t lot = full < lot_of(t) ? full : lot_of(t), own = lot - waited;
        take_lot(h, c, waited, from, own, thread);
        from += own;
        full -= lot;
        waited = 0;
    }
    if (full > 0) {
        vem_i_collector_take(t, t->first, c, from, from + full, thread, t->stats);
        from += full;
    }
    if (stay > 0 && !h->early) {
        const size_t at = (size_t)h->left.starts[c];
        put_together(h, c, waited, from, end - from, h->left.rows + at * row_bytes(t),
                     t->q ? h->left.q + at * element : NULL);
    }
}

static void take_some(void *arg, int64_t task, int thread)
{
    const handing *h = arg;
    const int64_t begin = task * VEM_I_COLLECT_CLUSTERS,
                  end = begin + VEM_I_COLLECT_CLUSTERS;
    for (int64_t c = begin; c < end && c < h->t->scorer->clusters; c++)
        take_cluster(h, (int32_t)c, thread);
}

/* ---- all of them ---- */

static void take_all(handing *h)
{
    vem_i_parallel(h->t->run,
                   vem_i_shards(h->t->scorer->clusters, VEM_I_COLLECT_CLUSTERS),
                   take_some, h);
}

/* The own items of one wave, or of a part of it. */
static vem_status take_wave(handing *h)
{
    vem_i_collector *t = h->t;
    t->ends = t->toured ? NULL : vem_i_collector_sort(t);
    vem_status status = waiting_starts(t, &h->left);
    for (int32_t c = 0; status == VEM_OK && c < t->scorer->clusters; c++)
        h->left.starts[c + 1] = h->left.starts[c] + stay_of(h, c);
    if (status == VEM_OK)
        status = waiting_room(t, &h->left);
    if (status == VEM_OK)
        take_all(h);
    waiting_free(&h->had);
    h->had = h->left;
    h->left = (waiting){0};
    return status;
}

static vem_status take_own(handing *h)
{
    vem_i_collector *t = h->t;
    const vem_view *view = t->view;
    const int64_t own = vem_i_view_own(view);
    vem_status status = VEM_OK;
    if (t->toured) {
        h->ends = t->run->comm->rank == t->run->comm->size - 1;
        return take_wave(h);
    }
    for (t->first = 0; t->first < own && status == VEM_OK; t->first += t->count) {
        const int64_t number = view->first + t->first,
                      next = (number / t->wave + 1) * t->wave,
                      stop = next < view->global_n ? next : view->global_n;
        t->count = stop - number < own - t->first ? stop - number : own - t->first;
        h->ends = number + t->count == stop;
        status = take_wave(h);
    }
    return status;
}

/* Which processes are the first and the last of each cluster; what begins here is taken. */
static vem_status begin_early(handing *h)
{
    vem_i_collector *t = h->t;
    vem_i_comm *comm = t->run->comm;
    const size_t clusters = (size_t)t->scorer->clusters;
    vem_status status = vem_i_take(t->run, &h->last, 2 * clusters, sizeof *h->last);
    if (status == VEM_OK && comm->rank > 0)
        status = vem_i_take(t->run, &h->others, clusters,
                            (size_t)t->stats->stride * sizeof *h->others);
    if (status != VEM_OK)
        return status;
    h->first = h->last + clusters;
    for (int32_t c = 0; c < t->scorer->clusters; c++) {
        const int some = end_of(t, c) > first_of(t, c);
        h->last[c] = some ? -comm->rank : 0;
        h->first[c] = some ? comm->rank : comm->size;
    }
    comm->combine(comm, VEM_I_LEAST_INT, h->last, 2 * clusters);
    t->first = 0;
    h->early = 1;
    if (!comm->failed)
        take_all(h);
    h->early = 0;
    return VEM_OK;
}

vem_status vem_i_collector_count_apart(const vem_i_collector *t)
{
    const size_t lots = (size_t)t->scorer->clusters * (size_t)(lot_of(t) - 1),
                 items = (size_t)t->view->n * (size_t)t->width;
    char *none = NULL;
    vem_status status = vem_i_take(t->run, &none, 2 * (lots < items ? lots : items),
                                   row_bytes(t) + t->view->kernels->element);
    if (status == VEM_OK)
        status = vem_i_take(t->run, &none, (size_t)t->run->threads * (size_t)lot_of(t),
                            row_bytes(t) + t->view->kernels->element);
    if (status == VEM_OK && t->toured)
        status = vem_i_take(t->run, &none, (size_t)t->scorer->clusters,
                            (size_t)vem_i_stats_stride(t->scorer->family, t->view->d) *
                                sizeof(double));
    return status;
}

void vem_i_collector_run_apart(vem_i_collector *t)
{
    vem_i_comm *comm = t->run->comm;
    const int last = comm->size - 1;
    const size_t sums = (size_t)t->scorer->clusters * (size_t)t->stats->stride;
    handing h = {.t = t};
    vem_status status =
        vem_i_take(t->run, &h.desks, (size_t)t->run->threads * (size_t)lot_of(t),
                   row_bytes(t) + t->view->kernels->element);
    if (status == VEM_OK)
        status = waiting_starts(t, &h.had);
    if (status == VEM_OK && t->toured)
        status = begin_early(&h);
    if (status == VEM_OK && comm->rank > 0)
        status = take_over(&h);
    if (status == VEM_OK)
        status = take_own(&h);
    if (status == VEM_OK && comm->rank < last)
        hand_on(t, &h.had);
    if (status != VEM_OK)
        vem_i_comm_fail(comm, status); /* which is told where all meet */
    comm->broadcast(comm, last, t->stats->block, sums * sizeof(double));
    waiting_free(&h.had);
    waiting_free(&h.left);
    vem_i_free(h.desks);
    vem_i_free(h.last);
    vem_i_free(h.others);
}
