/* The estimated graph where waves are those of several processes.
 *
 * What a wave finds joins the averages of what came before it, and which of them are kept depends on that
 * order. So each process keeps what its waves have found (sums for pairs of clusters: little beside the
 * touches) until the step is over. Then the averages go from process to process, some ranges of clusters
 * at a time, and each joins what it has found to them, wave by wave. The last one makes the graph of them, and tells
 * all. */
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "search/graph.h"

/* Averages that are handed on at a time, in bytes; and of what is told all. */
enum { PIECE = 1 << 18, TOLD = 1 << 27 };

/* Room for what waves mostly find: a sum for each neighbor that a cluster could keep, and for each cluster
 * that was drawn. It grows where they find more. */
static int64_t expected(const vem_i_estimated *g)
{
    const vem_i_search *s = &g->graph.search;
    const int64_t items = s->view->n < g->strip_capacity * VEM_I_WAVE
                              ? s->view->n
                              : g->strip_capacity * VEM_I_WAVE,
                  waves = vem_i_shards(s->view->n, items), clusters = s->scorer->clusters,
                  drawn = items * s->spec.explore + clusters * (g->slots + 1),
                  touched = items * vem_i_graph_candidates(&s->spec) + clusters;
    return vem_i_shards(waves * (drawn < touched ? drawn : touched), VEM_I_RANGES);
}

vem_status vem_i_learned_new(vem_i_estimated *g)
{
    vem_i_run *run = g->graph.search.run;
    vem_status status =
        vem_i_take_structs(run, &g->found, VEM_I_RANGES, sizeof *g->found);
    const int64_t capacity = expected(g);
    for (int64_t r = 0; status == VEM_OK && r < VEM_I_RANGES; r++) {
        status = vem_i_take(run, &g->found[r].slots, (size_t)capacity,
                            sizeof *g->found[r].slots);
        g->found[r].capacity = capacity;
    }
    return status;
}

void vem_i_learned_free(vem_i_estimated *g)
{
    for (int64_t r = 0; g->found && r < VEM_I_RANGES; r++)
        vem_i_free(g->found[r].slots);
    vem_i_free(g->found);
}

/* 0: there is no memory. */
static int make_room(vem_i_learned *f, int64_t more)
{
    if (f->count + more <= f->capacity)
        return 1;
    const int64_t capacity = 2 * (f->count + more);
    vem_i_slot *slots = vem_i_alloc((size_t)capacity, sizeof *slots);
    if (!slots)
        return 0;
    if (f->count > 0)
        memcpy(slots, f->slots, (size_t)f->count * sizeof *slots);
    vem_i_free(f->slots);
    f->slots = slots;
    f->capacity = capacity;
    return 1;
}

void vem_i_learned_keep(vem_i_learned *f, const vem_i_notes *m, int32_t cluster,
                        int32_t touched)
{
    if (f->lost || !make_room(f, touched + 1)) {
        f->lost = 1;
        return;
    }
    vem_i_slot *head = f->slots + f->count, *to = head + 1;
    for (int32_t i = 0; i < touched; i++) {
        const vem_i_far *one = &m->others[m->listed[i]];
        if (one->mark == m->stamp) /* is not the cluster itself */
            *to++ = (vem_i_slot){m->listed[i], one->count, one->sum};
    }
    *head = (vem_i_slot){.other = cluster, .count = (int32_t)(to - head - 1)};
    f->count += to - head;
}

/* Ranges that are handed on together, counted from this one. */
typedef struct piece {
    vem_i_estimated *graph;
    int64_t range;
} piece;

static void join_range(void *arg, int64_t task, int thread)
{
    const piece *p = arg;
    vem_i_estimated *g = p->graph;
    vem_i_notes *m = g->graph.search.blocks[thread].scratch;
    vem_i_learned *f = &g->found[p->range + task];
    for (const vem_i_slot *head = f->slots, *end = head + f->count; head < end;
         head += 1 + head->count) {
        vem_i_estimated_mark(g, m);
        for (int32_t i = 0; i < head->count; i++) {
            const vem_i_slot *one = head + 1 + i;
            m->others[one->other] = (vem_i_far){one->sum, one->count, m->stamp};
            m->listed[i] = one->other;
        }
        vem_i_estimated_join(g, m, head->other, head->count);
    }
    f->count = 0;
}

/* The averages of clusters [from, to), as those before have left them, then with what was found here. */
static void hand_on(vem_i_estimated *g, int64_t range, int64_t ranges)
{
    vem_i_comm *comm = g->graph.search.run->comm;
    const int64_t from = vem_i_range_first(g, range),
                  to = vem_i_range_first(g, range + ranges);
    const size_t used = (size_t)(to - from) * sizeof *g->used,
                 bytes = (size_t)(to - from) * (size_t)g->slots * sizeof *g->evidence;
    vem_i_slot *evidence = g->evidence + from * g->slots;
    if (comm->rank > 0) {
        comm->receive(comm, comm->rank - 1, g->used + from, used);
        comm->receive(comm, comm->rank - 1, evidence, bytes);
        if (comm->failed)
            return;
    } else {
        memset(evidence, 0, bytes); /* what is sent is said again in the same bytes */
    }
    vem_i_parallel_light(g->graph.search.run, ranges, (double)bytes, join_range,
                         &(piece){g, range});
    if (comm->rank < comm->size - 1) {
        comm->send(comm, comm->rank + 1, g->used + from, used);
        comm->send(comm, comm->rank + 1, evidence, bytes);
    }
}

void vem_i_learned_settle(vem_i_estimated *g)
{
    vem_i_run *run = g->graph.search.run;
    vem_i_comm *comm = run->comm;
    for (int64_t r = 0; r < VEM_I_RANGES; r++)
        if (g->found[r].lost)
            vem_i_comm_fail(comm, vem_i_fail(run, VEM_NO_MEMORY,
                                             "There is no memory for what the search "
                                             "has learned from %lld rows.",
                                             (long long)g->graph.search.view->n));
    const int64_t each = g->slots * (int64_t)sizeof *g->evidence;
    for (int64_t r = 0, ranges = 0; r < VEM_I_RANGES && !comm->failed; r += ranges) {
        for (ranges = 1;
             r + ranges < VEM_I_RANGES &&
             (vem_i_range_first(g, r + ranges + 1) - vem_i_range_first(g, r)) * each <=
                 PIECE;)
            ranges++;
        if (vem_i_range_first(g, r + ranges) > vem_i_range_first(g, r))
            hand_on(g, r, ranges);
    }
    if (comm->failed)
        return;
    if (comm->rank == comm->size - 1)
        vem_i_estimated_renew(g);
    const size_t clusters = (size_t)g->graph.clusters,
                 count = clusters * (size_t)g->graph.reach * sizeof *g->graph.neighbors;
    for (size_t from = 0; from < count; from += TOLD)
        comm->broadcast(comm, comm->size - 1, (char *)g->graph.neighbors + from,
                        count - from < TOLD ? count - from : TOLD);
    memset(g->used, 0, clusters * sizeof *g->used);
}

/* ---- Kept until the next state (comm/comm.h) ---- */

int vem_i_learned_list(const vem_i_search *search, vem_i_kept *list)
{
    const vem_i_estimated *g = (const vem_i_estimated *)search;
    int count = 0;
    for (int64_t r = 0; g->found && r < VEM_I_RANGES; r++) {
        const vem_i_learned *f = &g->found[r];
        list[count++] = (vem_i_kept){f->slots, (size_t)f->count * sizeof *f->slots};
    }
    return count;
}

static int is_cluster(const vem_i_estimated *g, int32_t c)
{
    return c >= 0 && c < g->graph.clusters;
}

/* Does list follow list up to the end, of clusters that there are, range after range? A file says so. */
static int is_whole(const vem_i_estimated *g, const vem_i_slot *head,
                    const vem_i_slot *end)
{
    const int64_t clusters = g->graph.clusters;
    int64_t range = 0;
    for (; head < end; head += 1 + head->count) {
        const int64_t last = range;
        if (!is_cluster(g, head->other) || head->count < 0 || head->count >= clusters ||
            head->count >= end - head)
            return 0;
        range = head->other * VEM_I_RANGES / clusters;
        for (int32_t k = 1; k <= head->count; k++)
            if (!is_cluster(g, head[k].other))
                return 0;
        if (range < last)
            return 0;
    }
    return 1;
}

/* Which range a head is of is told by its cluster. */
int vem_i_learned_again(vem_i_search *search, const vem_i_kept *kept)
{
    vem_i_estimated *g = (vem_i_estimated *)search;
    const vem_i_slot *head = kept->bytes, *end = head + kept->count / sizeof *head;
    int64_t range = 0;
    if (kept->count % sizeof *head || !is_whole(g, head, end))
        return 0;
    for (; head < end; head += 1 + head->count) {
        while (head->other >= vem_i_range_first(g, range + 1))
            range++;
        vem_i_learned *f = &g->found[range];
        if (f->lost || !make_room(f, 1 + head->count)) {
            f->lost = 1;
            break;
        }
        memcpy(f->slots + f->count, head, (size_t)(1 + head->count) * sizeof *head);
        f->count += 1 + head->count;
    }
    return 1;
}
