/* Conga lines (Eppstein, "Fast hierarchical clustering and other applications of
 * dynamic closest pairs").
 *
 * The objects S are in k <= log2 |S| subsets S_1 ... S_k, each with a graph: a path
 * through objects, made when the subset is, by
 *
 *     x0 in S_i;  from x in S_i to its nearest in S \ path;
 *     from other x to its nearest in S_i \ path;  until there is none
 *
 * Of the closest pair, look at the path made last that goes through either as a
 * member: when the earlier of the two chose its successor, the other could still be
 * chosen. So it is an edge, and the least edge of all is the closest pair.
 *
 * An inserted object is a subset of its own. When one is removed, all whose edge led
 * to it move to a new subset. When there are too many subsets, the two whose sizes are
 * nearest in ratio become one, with a new path. O(N log N) distances for an insertion,
 * O(N log^2 N) amortised for a removal, O(N) edges. */
#include <math.h>
#include <string.h>

#include "select/closest_pair.h"

enum { MOST_SUBSETS = 64 }; /* log2 of any number, and a few more for a moment */

typedef struct edge {
    int32_t from, to;
    int32_t graph;
    double distance;
} edge;

typedef struct conga {
    vem_i_closest base;
    int32_t *subset_of; /* -1: not in the set */
    int32_t *visited;   /* the path that an object is on: the number of its making */
    int32_t paths;
    int32_t size[MOST_SUBSETS]; /* objects of a subset; -1: there is no such subset */
    edge *edges;
    int64_t count, room;
} conga;

static size_t rooms(vem_i_closest *closest, vem_i_room *list)
{
    conga *c = (conga *)closest;
    const size_t count = (size_t)closest->capacity;
    c->room = c->room ? c->room : 2 * (int64_t)closest->capacity; /* it may have grown */
    list[0] = (vem_i_room){&c->subset_of, count, sizeof *c->subset_of, 0};
    list[1] = (vem_i_room){&c->visited, count, sizeof *c->visited, 1};
    list[2] = (vem_i_room){&c->edges, (size_t)c->room, sizeof *c->edges, 0};
    return 3;
}

static void clear(vem_i_closest *closest)
{
    conga *c = (conga *)closest;
    for (int i = 0; i < MOST_SUBSETS; i++)
        c->size[i] = -1;
    for (int32_t i = 0; i < closest->capacity; i++)
        c->subset_of[i] = -1;
}

static vem_status add_edge(conga *c, int32_t from, int32_t to, double distance,
                           int32_t graph)
{
    if (c->count == c->room) {
        edge *more;
        vem_status status =
            vem_i_take(c->base.run, &more, 2 * (size_t)c->room, sizeof *more);
        if (status != VEM_OK)
            return status;
        memcpy(more, c->edges, (size_t)c->count * sizeof *more);
        vem_i_free(c->edges);
        c->edges = more;
        c->room *= 2;
    }
    c->edges[c->count++] = (edge){from, to, graph, distance};
    return VEM_OK;
}

static int has_edges(const conga *c, int32_t graph)
{
    for (int64_t i = 0; i < c->count; i++)
        if (c->edges[i].graph == graph)
            return 1;
    return 0;
}

static int32_t free_slot(const conga *c)
{
    int32_t slot = 0;
    while (c->size[slot] >= 0)
        slot++;
    return slot;
}

/* The path of a subset whose members are marked. */
static vem_status build(conga *c, int32_t slot)
{
    vem_i_closest *base = &c->base;
    const int32_t path = ++c->paths, all = base->count;
    int32_t at = -1, steps = 0;
    vem_status status = VEM_OK;
    for (int32_t i = 0; i < all && at < 0; i++)
        if (c->subset_of[base->live[i]] == slot)
            at = base->live[i];
    while (at >= 0 && status == VEM_OK) {
        const int member = c->subset_of[at] == slot;
        vem_i_pair_found found;
        int64_t count = 0;
        if (path == 1) { /* half of the work; the others are parts of a merge */
            base->told.done = steps++;
            base->told.total = all;
        }
        c->visited[at] = path;
        for (int32_t i = 0; i < all; i++) {
            const int32_t y = base->live[i];
            if (c->visited[y] != path && (member || c->subset_of[y] == slot))
                base->list[count++] = y;
        }
        status = vem_i_closest_scan(base, at, base->list, count, &found);
        if (found.a < 0 || status != VEM_OK)
            break;
        const int32_t next = found.a == at ? found.b : found.a;
        status = add_edge(c, at, next, found.distance, slot);
        at = next;
    }
    return status;
}

static void drop_graph(conga *c, int32_t graph)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < c->count; i++)
        if (c->edges[i].graph != graph)
            c->edges[kept++] = c->edges[i];
    c->count = kept;
    c->size[graph] = -1;
}

/* Subsets in the order of their sizes, then slots; how many. */
static int sort_subsets(const conga *c, int32_t order[MOST_SUBSETS])
{
    int count = 0;
    for (int32_t i = 0; i < MOST_SUBSETS; i++) {
        if (c->size[i] < 0)
            continue;
        int at = count++;
        for (; at > 0 && c->size[order[at - 1]] > c->size[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

static vem_status shrink(conga *c)
{
    vem_status status = VEM_OK;
    int most = 0;
    while ((int64_t)2 << most <= c->base.count)
        most++;
    most = most < 1 ? 1 : most;
    for (int32_t i = 0; i < MOST_SUBSETS; i++)
        if (c->size[i] == 0 && !has_edges(c, i))
            c->size[i] = -1;
    while (status == VEM_OK) {
        int32_t order[MOST_SUBSETS];
        const int count = sort_subsets(c, order);
        if (count <= most)
            break;
        int best = 0;
        double least = INFINITY;
        for (int i = 0; i + 1 < count; i++) {
            const double smaller = c->size[order[i]] > 0 ? c->size[order[i]] : 1;
            const double ratio = c->size[order[i + 1]] / smaller;
            if (ratio < least) {
                least = ratio;
                best = i;
            }
        }
        const int32_t into = order[best], from = order[best + 1];
        const int32_t size = c->size[into] + c->size[from];
        for (int32_t i = 0; i < c->base.count; i++)
            if (c->subset_of[c->base.live[i]] == from)
                c->subset_of[c->base.live[i]] = into;
        drop_graph(c, from);
        drop_graph(c, into);
        c->size[into] = size;
        status = build(c, into);
        if (size == 0)
            c->size[into] = -1;
    }
    return status;
}

static vem_status begin(vem_i_closest *closest)
{
    conga *c = (conga *)closest;
    for (int32_t i = 0; i < closest->count; i++)
        c->subset_of[closest->live[i]] = 0;
    c->size[0] = closest->count;
    return build(c, 0);
}

static vem_status inserted(vem_i_closest *closest, int32_t object)
{
    conga *c = (conga *)closest;
    const int32_t slot = free_slot(c);
    c->subset_of[object] = slot;
    c->size[slot] = 1;
    const vem_status status = build(c, slot);
    return status == VEM_OK ? shrink(c) : status;
}

static vem_status removed(vem_i_closest *closest, int32_t object)
{
    conga *c = (conga *)closest;
    const int32_t slot = free_slot(c);
    int32_t moved = 0;
    int64_t kept = 0;
    c->size[c->subset_of[object]]--;
    c->subset_of[object] = -1;
    for (int64_t i = 0; i < c->count; i++) {
        const edge e = c->edges[i];
        if (e.from == object)
            continue;
        if (e.to != object) {
            c->edges[kept++] = e;
        } else if (c->subset_of[e.from] != slot) {
            c->size[c->subset_of[e.from]]--;
            c->subset_of[e.from] = slot;
            moved++;
        }
    }
    c->count = kept;
    vem_status status = VEM_OK;
    if (moved > 0) {
        c->size[slot] = moved;
        status = build(c, slot);
    }
    return status == VEM_OK ? shrink(c) : status;
}

static vem_status find(vem_i_closest *closest, vem_i_pair_found *pair)
{
    const conga *c = (const conga *)closest;
    for (int64_t i = 0; i < c->count; i++) {
        const edge *e = &c->edges[i];
        const vem_i_pair_found found = vem_i_pair_of(e->from, e->to, e->distance);
        if (vem_i_pair_before(found, *pair))
            *pair = found;
    }
    return VEM_OK;
}

const vem_i_closest_type vem_i_closest_type_conga = {
    .size = sizeof(conga),
    .rooms = rooms,
    .clear = clear,
    .begin = begin,
    .inserted = inserted,
    .removed = removed,
    .find = find,
};
