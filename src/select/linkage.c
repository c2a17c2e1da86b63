/* Single, complete and average linkage on Euclidean distances, as scipy has them.
 *
 *     single    d(a+b, c) = min(d_ac, d_bc)
 *     complete  d(a+b, c) = max(d_ac, d_bc)
 *     average   d(a+b, c) = (n_a d_ac + n_b d_bc) / (n_a + n_b)       n: mass
 *
 * All three are reducible: the union of two clusters is no nearer to a third than the
 * nearer of them was. So two clusters that are nearest to each other can be joined at
 * once, and the merges sorted afterwards.
 *
 * Single linkage is a minimal spanning tree (Prim): O(N^2 D) time, O(N) memory. The
 * others follow a chain of nearest neighbors until two are each other's: O(N^2) time,
 * with the N (N - 1) / 2 distances in memory. Of equally near ones the first is taken,
 * but the one before in the chain where it is among them, which is what ends a chain. */
#include "select/linkage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { PIECE = 512 }; /* points that a task of a scan takes */

typedef struct joined {
    int32_t a, b; /* any leaf of either */
    int32_t order;
    double distance;
} joined;

typedef struct linkage {
    vem_i_run *run;
    const vem_i_leaf_points *points;
    int complete;
    joined *merges;
    int64_t made;
    int32_t *list; /* points that are still to be joined, ascending */
    int32_t count;
    double *near;   /* single: of a point, to the nearest of the tree */
    int32_t *of;    /* which that is */
    double *square; /* the others: distances of i > j, row by row */
    double *mass;   /* of clusters */
    int32_t *chain;
    /* The scan that runs. */
    int32_t from, into, gone;
    double from_mass, gone_mass;
    int32_t *best; /* place in the list, of each piece */
    double *least;
} linkage;

static double distance_of(const vem_i_leaf_points *p, int64_t i, int64_t j)
{
    const double *a = p->x + i * p->ld, *b = p->x + j * p->ld;
    double sum[4] = {0};
    int32_t k = 0;
    for (; k + 4 <= p->d; k += 4)
        for (int lane = 0; lane < 4; lane++) {
            const double difference = a[k + lane] - b[k + lane];
            sum[lane] += difference * difference;
        }
    for (; k < p->d; k++)
        sum[0] += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

static int64_t pieces_of(const linkage *l)
{
    return vem_i_shards(l->count, PIECE);
}

static int32_t piece_end(const linkage *l, int64_t piece)
{
    const int64_t end = (piece + 1) * PIECE;
    return (int32_t)(end < l->count ? end : l->count);
}

/* The least of all pieces: its place in the list. */
static int32_t best_place(const linkage *l)
{
    int32_t best = -1;
    double least = 0;
    for (int64_t piece = 0; piece < pieces_of(l); piece++)
        if (l->best[piece] >= 0 && (best < 0 || l->least[piece] < least)) {
            best = l->best[piece];
            least = l->least[piece];
        }
    return best;
}

static void leave_list(linkage *l, int32_t place)
{
    l->count--;
    memmove(l->list + place, l->list + place + 1,
            (size_t)(l->count - place) * sizeof *l->list);
}

/* Nobody needs half a tree. Merges get cheaper as there are fewer clusters. */
static int stopped(const linkage *l)
{
    const double n = (double)l->points->n, left = l->count;
    const vem_progress told = {.phase = "merge",
                               .done = (int64_t)(1e6 * (1 - left * left / (n * n))),
                               .total = 1000000,
                               .free_energy = NAN};
    return vem_i_progress(l->run, &told, 0);
}

/* ---- single ---- */

static void reach_piece(void *arg, int64_t piece, int thread)
{
    (void)thread;
    linkage *l = arg;
    int32_t best = -1;
    for (int32_t i = (int32_t)piece * PIECE; i < piece_end(l, piece); i++) {
        const int32_t x = l->list[i];
        const double distance = distance_of(l->points, l->from, x);
        if (distance < l->near[x]) {
            l->near[x] = distance;
            l->of[x] = l->from;
        }
        if (best < 0 || l->near[x] < l->near[l->list[best]])
            best = i;
    }
    l->best[piece] = best;
    l->least[piece] = l->near[l->list[best]];
}

static vem_status span(linkage *l)
{
    const double operations = (double)PIECE * 3 * (l->points->d + 4);
    for (int64_t i = 0; i < l->points->n; i++)
        l->near[i] = INFINITY;
    l->from = 0;
    leave_list(l, 0);
    while (l->count > 0) {
        vem_i_parallel_light(l->run, pieces_of(l), operations, reach_piece, l);
        const int32_t place = best_place(l), next = l->list[place];
        l->merges[l->made] = (joined){l->of[next], next, (int32_t)l->made, l->near[next]};
        l->made++;
        l->from = next;
        leave_list(l, place);
        if (stopped(l))
            return VEM_STOPPED;
    }
    return VEM_OK;
}

/* ---- complete and average ---- */

static double *cell(const linkage *l, int32_t i, int32_t j)
{
    const int64_t high = i > j ? i : j, low = i > j ? j : i;
    return &l->square[high * (high - 1) / 2 + low];
}

static void fill_row(void *arg, int64_t task, int thread)
{
    (void)thread;
    const linkage *l = arg;
    const int64_t row = l->points->n - 1 - task; /* long ones first */
    double *out = &l->square[row * (row - 1) / 2];
    for (int64_t j = 0; j < row; j++)
        out[j] = distance_of(l->points, row, j);
}

static void near_piece(void *arg, int64_t piece, int thread)
{
    (void)thread;
    linkage *l = arg;
    int32_t best = -1;
    double least = INFINITY;
    for (int32_t i = (int32_t)piece * PIECE; i < piece_end(l, piece); i++) {
        if (l->list[i] == l->from)
            continue;
        const double distance = *cell(l, l->from, l->list[i]);
        if (best < 0 || distance < least) {
            best = i;
            least = distance;
        }
    }
    l->best[piece] = best;
    l->least[piece] = least;
}

static double joined_distance(const linkage *l, double into, double gone)
{
    if (l->complete)
        return fmax(into, gone);
    const double all = l->from_mass + l->gone_mass;
    return all > 0 ? (l->from_mass * into + l->gone_mass * gone) / all
                   : 0.5 * (into + gone);
}

static void join_piece(void *arg, int64_t piece, int thread)
{
    (void)thread;
    linkage *l = arg;
    for (int32_t i = (int32_t)piece * PIECE; i < piece_end(l, piece); i++) {
        const int32_t x = l->list[i];
        if (x == l->into)
            continue;
        double *into = cell(l, l->into, x);
        *into = joined_distance(l, *into, *cell(l, l->gone, x));
    }
}

/* Two that are each other's nearest: the second takes the place of both. */
static void join(linkage *l, int32_t a, int32_t b, double distance)
{
    l->gone = a < b ? a : b;
    l->into = a < b ? b : a;
    l->merges[l->made] = (joined){l->gone, l->into, (int32_t)l->made, distance};
    l->made++;
    l->from_mass = l->mass[l->into];
    l->gone_mass = l->mass[l->gone];
    l->mass[l->into] += l->mass[l->gone];
    int32_t place = 0;
    while (l->list[place] != l->gone)
        place++;
    leave_list(l, place);
    vem_i_parallel_light(l->run, pieces_of(l), PIECE * 20.0, join_piece, l);
}

static vem_status follow(linkage *l)
{
    const vem_progress told = {.phase = "pair", .free_energy = NAN};
    const int64_t n = l->points->n;
    if (vem_i_parallel_watched(l->run, n - 1, 3.0 * l->points->d * (double)n / 2,
                               fill_row, l, &told, VEM_I_SKIP))
        return VEM_STOPPED;
    int32_t length = 0;
    while (l->count > 1) {
        if (length == 0)
            l->chain[length++] = l->list[0];
        l->from = l->chain[length - 1];
        if (stopped(l)) /* a chain may be as long as there are clusters */
            return VEM_STOPPED;
        vem_i_parallel_light(l->run, pieces_of(l), PIECE * 10.0, near_piece, l);
        int32_t next = l->list[best_place(l)];
        const double least = *cell(l, l->from, next);
        const int32_t before = length > 1 ? l->chain[length - 2] : -1;
        if (before >= 0 && *cell(l, l->from, before) <= least)
            next = before;
        if (next != before) {
            l->chain[length++] = next;
            continue;
        }
        length -= 2;
        join(l, l->from, before, least);
    }
    return VEM_OK;
}

/* ---- the tree ---- */

static int by_distance(const void *a, const void *b)
{
    const joined *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* `up`: leads from a leaf to the cluster that it is in; `node`: the number of that one
 * in the tree. */
static int32_t root_of(int32_t *up, int32_t x)
{
    while (up[x] != x)
        x = up[x] = up[up[x]];
    return x;
}

static void number_merges(linkage *l, double unit, vem_dendrogram *tree)
{
    const int64_t n = l->points->n;
    int32_t *up = l->list, *node = l->chain; /* not used any more */
    qsort(l->merges, (size_t)(n - 1), sizeof *l->merges, by_distance);
    for (int64_t i = 0; i < n; i++)
        up[i] = node[i] = (int32_t)i;
    for (int64_t k = 0; k < n - 1; k++) {
        const int32_t a = root_of(up, l->merges[k].a), b = root_of(up, l->merges[k].b);
        const int32_t low = node[a] < node[b] ? node[a] : node[b];
        const int32_t high = node[a] < node[b] ? node[b] : node[a];
        tree->merges[k] = (vem_dendrogram_merge){.a = low,
                                                 .b = high,
                                                 .delta = unit * l->merges[k].distance,
                                                 .log_evidence = NAN};
        up[a] = b;
        node[b] = (int32_t)(n + k);
    }
}

vem_status vem_i_linkage(vem_i_run *run, vem_dendrogram_method method,
                         const vem_i_leaf_points *points, double unit,
                         vem_dendrogram *tree)
{
    const int single = method == VEM_DENDROGRAM_SINGLE;
    const size_t n = (size_t)points->n, pieces = (size_t)vem_i_shards(points->n, PIECE);
    linkage l = {.run = run,
                 .points = points,
                 .complete = method == VEM_DENDROGRAM_COMPLETE,
                 .count = (int32_t)points->n};
    const vem_i_room rooms[] = {
        {&l.merges, n, sizeof *l.merges, 0},
        {&l.list, n, sizeof *l.list, 0},
        {&l.chain, n, sizeof *l.chain, 0},
        {&l.best, pieces, sizeof *l.best, 0},
        {&l.least, pieces, sizeof *l.least, 0},
        {&l.near, single ? n : 0, sizeof *l.near, 0},
        {&l.of, single ? n : 0, sizeof *l.of, 0},
        {&l.mass, single ? 0 : n, sizeof *l.mass, 0},
        {&l.square, single ? 0 : n * (n - 1) / 2, sizeof *l.square, 0},
    };
    vem_status status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    for (size_t i = 0; status == VEM_OK && l.list && i < n; i++) {
        l.list[i] = (int32_t)i;
        if (l.mass)
            l.mass[i] = points->mass ? points->mass[i] : 1;
    }
    if (status == VEM_OK && l.list)
        status = single ? span(&l) : follow(&l);
    if (status == VEM_OK && l.list) {
        number_merges(&l, unit, tree);
        tree->about.distances = (int64_t)n * ((int64_t)n - 1) / 2;
    }
    vem_i_free_rooms(rooms, VEM_I_COUNT(rooms));
    return status;
}
