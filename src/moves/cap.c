/* Sizes that are promised, by the cheapest moves there are.
 *
 * Rows that all weigh the same: a problem of transport, solved by successive shortest
 * paths. An edge from a to b costs what its cheapest row does; a path from a cluster
 * that has too many to one that has room moves a row along each of its edges, so that
 * only its ends change their sizes. As long as every path is a shortest one, the costs
 * stay the least for the sizes there are. With potentials y the reduced costs  more(a,
 * b) + y_a - y_b  stay at or above 0, and Dijkstra's algorithm ends at the first
 * cluster with room (y of such is 0, of others at most 0). Each path takes one row
 * from what is too many, so it ends. With cap = 1 paths that end where rows lack
 * follow, and begin at any cluster that has one to spare.
 *
 * Rows of several weights go straight to a cluster that is not above cap times the
 * mean, the cheapest per unit of mass first, as long as one is above that by more than
 * the heaviest row. Some cluster is not above the mean, and takes any row without
 * becoming too heavy: so this ends, too.
 *
 * Edges lead to the clusters nearest by their means. Where none leads to room, all
 * clusters with room are tried (vem_i_cap_far). What the search of a fit has
 * overlooked may make a reduced cost negative: it counts as 0 then. So it does where
 * several rows go the same way before it is looked for again, which is done where
 * there are many clusters. */
#include "moves/cap.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "moves/cap_graph.h"

/* Rows that go the same way, one after the other, before the way is looked for again:
 * with many clusters, where looking is what takes the time. */
enum { BATCH = 16 };
/* Moves between two looks whether it shall end. */
enum { LOOK_EVERY = 256 };
static const double SHARE = 0.25; /* or this of what is too many, if that is more */

typedef struct caps {
    vem_i_cap_graph graph;
    int32_t clusters;
    int alike;         /* rows weigh the same */
    double most;       /* that a cluster may hold, of mass */
    double least;      /* with cap = 1, and rows alike: that it must */
    double full;       /* of more it takes no row */
    int64_t batch;     /* rows that go the same way: 1 where edges lead to all clusters */
    double *potential; /* C: y */
    /* The search at hand. */
    double *distance; /* C */
    int32_t *from;    /* C: the cluster before it, -1: it begins there */
    int32_t *heap,
        *at; /* C: by distance; and the place in it, -1: not reached, -2: done with */
    int32_t *done; /* C: in order, count_done */
    int32_t count, count_done;
    unsigned char *open; /* C */
    int64_t moves;       /* so far */
} caps;

/* ---- a heap, the nearest cluster first ---- */

static int nearer(const caps *t, int32_t a, int32_t b)
{
    return t->distance[a] != t->distance[b] ? t->distance[a] < t->distance[b] : a < b;
}

static void put(caps *t, int32_t place, int32_t c)
{
    t->heap[place] = c;
    t->at[c] = place;
}

static void rise(caps *t, int32_t place)
{
    const int32_t c = t->heap[place];
    for (; place > 0 && nearer(t, c, t->heap[(place - 1) / 2]); place = (place - 1) / 2)
        put(t, place, t->heap[(place - 1) / 2]);
    put(t, place, c);
}

static int32_t take_nearest(caps *t)
{
    const int32_t found = t->heap[0], last = t->heap[--t->count];
    t->at[found] = -2;
    t->done[t->count_done++] = found;
    if (t->count == 0)
        return found;
    int32_t place = 0;
    for (;;) {
        int32_t child = 2 * place + 1;
        if (child + 1 < t->count && nearer(t, t->heap[child + 1], t->heap[child]))
            child++;
        if (child >= t->count || !nearer(t, t->heap[child], last))
            break;
        put(t, place, t->heap[child]);
        place = child;
    }
    put(t, place, last);
    return found;
}

static void reach(caps *t, int32_t c, int32_t from, double distance)
{
    if (t->at[c] == -2 || (t->at[c] >= 0 && !(distance < t->distance[c])))
        return;
    t->distance[c] = distance;
    t->from[c] = from;
    if (t->at[c] < 0) {
        t->at[c] = t->count;
        t->heap[t->count++] = c;
    }
    rise(t, t->at[c]);
}

/* ---- paths ---- */

static void begin(caps *t)
{
    for (int32_t k = 0; k < t->count; k++)
        t->at[t->heap[k]] = -1;
    for (int32_t k = 0; k < t->count_done; k++)
        t->at[t->done[k]] = -1;
    t->count = t->count_done = 0;
}

static void look_on(caps *t, int32_t a)
{
    vem_i_cap_graph *g = &t->graph;
    vem_i_cap_look(g, a);
    for (int64_t slot = 0; slot < g->reach; slot++) {
        const int64_t at = (int64_t)a * g->reach + slot;
        const int32_t b = g->near[at];
        if (g->listed[at])
            reach(t, b, a,
                  t->distance[a] + fmax(0, (double)vem_i_cap_least(g, at) +
                                               t->potential[a] - t->potential[b]));
    }
}

/* From where it was begun to the nearest cluster below this mass; -1: there is no way. */
static int32_t find_way(caps *t, double below)
{
    while (t->count > 0) {
        const int32_t c = take_nearest(t);
        if (t->graph.masses[c] < below && t->from[c] >= 0)
            return c;
        look_on(t, c);
    }
    return -1;
}

static void go(caps *t, int32_t to)
{
    vem_i_cap_graph *g = &t->graph;
    /* From the end, so that no row that has come goes on at once. */
    for (int32_t b = to, a; (a = t->from[b]) >= 0; b = a) {
        int64_t slot = (int64_t)a * g->reach;
        while (g->near[slot] != b)
            slot++;
        vem_i_cap_move(g, vem_i_cap_row(g, slot), b);
    }
}

/* Is there a row for each edge of it? */
static int is_way(const caps *t, int32_t to)
{
    const vem_i_cap_graph *g = &t->graph;
    for (int32_t b = to, a; (a = t->from[b]) >= 0; b = a) {
        int64_t slot = (int64_t)a * g->reach;
        while (g->near[slot] != b)
            slot++;
        if (!g->listed[slot])
            return 0;
    }
    return 1;
}

/* To any cluster with room, where edges lead to none. */
static int go_far(caps *t, int32_t from, double below)
{
    int32_t to;
    for (int32_t c = 0; c < t->clusters; c++)
        t->open[c] = c != from && t->graph.masses[c] < below;
    const uint32_t row = vem_i_cap_far(&t->graph, from, t->open, &to);
    if (row != VEM_I_NO_ROW)
        vem_i_cap_move(&t->graph, row, to);
    return row != VEM_I_NO_ROW;
}

/* ---- rows alike ---- */

static void empty_one(caps *t, int32_t c)
{
    begin(t);
    reach(t, c, -1, 0);
    const int32_t to = find_way(t, t->most);
    if (to < 0) {
        go_far(t, c, t->most);
        return;
    }
    const double length = t->distance[to];
    const double excess = t->graph.masses[c] - t->most;
    int64_t rows = t->batch == 1 ? 1 : (int64_t)fmax((double)t->batch, SHARE * excess);
    do
        go(t, to);
    while (--rows > 0 && t->graph.masses[c] > t->most && t->graph.masses[to] < t->most &&
           is_way(t, to));
    for (int32_t k = 0; k < t->count_done; k++)
        t->potential[t->done[k]] += t->distance[t->done[k]] - length;
}

/* The first cluster that has some to spare, where rows must come from afar. */
static int fill_from_afar(caps *t, int32_t lacks)
{
    double least = INFINITY;
    int32_t giver = -1;
    for (int32_t c = 0; c < t->clusters; c++) { /* the nearest of them */
        const int64_t d = t->graph.model->d;
        const double *a = t->graph.model->means + c * d,
                     *b = t->graph.model->means + lacks * d;
        double sum = 0;
        for (int64_t j = 0; j < d; j++)
            sum += (a[j] - b[j]) * (a[j] - b[j]);
        if (t->graph.masses[c] > t->least && sum < least) {
            least = sum;
            giver = c;
        }
    }
    return giver >= 0 && go_far(t, giver, t->least);
}

/* Where all have enough, 0. */
static int fill_one(caps *t)
{
    int32_t lacks = 0;
    while (lacks < t->clusters && t->graph.masses[lacks] >= t->least)
        lacks++;
    if (lacks == t->clusters)
        return 0;
    begin(t);
    for (int32_t c = 0; c < t->clusters; c++)
        if (t->graph.masses[c] > t->least)
            reach(t, c, -1, fmax(0, -t->potential[c]));
    const int32_t to = find_way(t, t->least);
    if (to < 0)
        return fill_from_afar(t, lacks);
    const double length = t->distance[to];
    go(t, to);
    for (int32_t c = 0; c < t->clusters; c++)
        t->potential[c] += t->at[c] == -2 ? t->distance[c] : length;
    return 1;
}

/* ---- rows of several weights ---- */

/* The cheapest row of a cluster per unit of mass, straight to one that is not full. */
static int lighten(caps *t, int32_t c)
{
    vem_i_cap_graph *g = &t->graph;
    int64_t best = -1;
    vem_i_cap_look(g, c);
    for (int64_t at = (int64_t)c * g->reach; at < (int64_t)(c + 1) * g->reach; at++)
        if (g->listed[at] && g->masses[g->near[at]] <= t->full &&
            (best < 0 || vem_i_cap_least(g, at) < vem_i_cap_least(g, best)))
            best = at;
    if (best < 0)
        return go_far(t, c, nextafter(t->full, INFINITY));
    vem_i_cap_move(g, vem_i_cap_row(g, best), g->near[best]);
    return 1;
}

/* ---- all of it ---- */

/* Some moves at a time: between them somebody may want an end, or time be over. */
static int ended(caps *t)
{
    return ++t->moves % LOOK_EVERY == 0 &&
           vem_i_progress(t->graph.run, &(vem_progress){.phase = "cap", .done = t->moves},
                          0);
}

/* Returns 1 if all of it was done. */
static int run_caps(caps *t)
{
    for (int32_t c = 0; c < t->clusters; c++)
        while (t->graph.masses[c] > t->most) {
            if (ended(t))
                return 0;
            if (t->alike)
                empty_one(t, c);
            else if (!lighten(t, c))
                break;
        }
    while (t->alike && fill_one(t))
        if (ended(t))
            return 0;
    return 1;
}

/* Rows alike: masses are numbers of them in units of their weight. */
static void settle_bounds(caps *t, const vem_view *view, double cap)
{
    double heaviest = 0, lightest = INFINITY;
    for (int64_t i = 0; i < view->n; i++) {
        heaviest = fmax(heaviest, vem_i_view_mass(view, i));
        lightest = fmin(lightest, vem_i_view_mass(view, i));
    }
    const double mean = view->total_mass / t->clusters;
    t->alike = view->mass == NULL || (heaviest == 1 && lightest == 1);
    t->full = cap * mean;
    t->most = t->alike ? fmax(floor(t->full * (1 + 1e-12)), ceil(mean))
                       : t->full * (1 + 1e-12) + heaviest;
    t->least = t->alike && cap == 1 ? floor(mean) : 0;
    t->batch = t->graph.reach == t->clusters - 1 ? 1 : BATCH;
}

vem_status vem_i_cap(vem_i_run *run, const vem_view *view, const vem_model *model,
                     double cap, int32_t *labels, int64_t *moved, int *kept)
{
    caps t = {.clusters = model->clusters};
    const size_t clusters = (size_t)model->clusters;
    int32_t *before = NULL;
    const vem_i_room list[] = {
        {&t.potential, clusters, sizeof *t.potential, 1},
        {&t.distance, clusters, sizeof *t.distance, 0},
        {&t.from, clusters, sizeof *t.from, 0},
        {&t.heap, clusters, sizeof *t.heap, 0},
        {&t.at, clusters, sizeof *t.at, 0},
        {&t.done, clusters, sizeof *t.done, 0},
        {&t.open, clusters, 1, 0},
        {&before, (size_t)view->n, sizeof *before, 0},
    };
    *moved = 0;
    *kept = 1;
    if (model->clusters < 2)
        return VEM_OK;
    vem_status status = vem_i_cap_graph_new(run, view, model, labels, &t.graph);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && !run->counted) {
        memcpy(before, labels, (size_t)view->n * sizeof *before);
        memset(t.at, -1, clusters * sizeof *t.at);
        settle_bounds(&t, view, cap);
        *kept = run_caps(&t);
        for (int64_t i = 0; i < view->n; i++)
            *moved += labels[i] != before[i];
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    vem_i_cap_graph_free(&t.graph);
    return status;
}
