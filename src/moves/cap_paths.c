/* Shortest paths over the clusters. The edge from a to b is the row of a that costs
 * least more in b, prices included; where prices are as they should be no edge is below
 * 0. What search or haste has left below counts as 0.
 *
 * Distances r are to the nearest cluster that wants rows: one that has room, if others
 * have too many; one that lacks some, if all have room enough. All prices rise by r
 * then. So edges stay at or above 0, all on shortest ways are 0, and any number of rows
 * may go along these, as long as each edge is gone once: all that is the least cost for
 * the sizes there are. That prices are 0 where a cluster has neither too many nor too
 * few is seen to by one more node: clusters with room lead to it for less their price,
 * and it leads to clusters that can spare a row for their price.
 *
 * Where there are many clusters and few such ways at a time, edges are gone again, by
 * the next row, until an eighth of what is wanted is done. That is not the least cost
 * any more, but concerns the last few rows. */
#include "moves/cap_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"

/* Of what is wanted, the part that one round does at least where lists are short. */
enum { PART = 8 };
enum { END = -1, BY_LAST = -2 };

double vem_i_cap_wanting(const vem_i_cap_paths *p, int fill)
{
    double sum = 0;
    for (int32_t c = 0; c < p->rows->clusters; c++)
        sum += fill ? fmax(0, p->least - p->rows->masses[c])
                    : fmax(0, p->rows->masses[c] - p->most);
    return sum;
}

/* ---- edges ---- */

static int compare_edges(const void *a, const void *b)
{
    const vem_i_cap_edge *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* Where lists have all clusters, from what is known of them. */
static void know_edges(void *arg, int64_t cluster, int thread)
{
    (void)thread;
    vem_i_cap_paths *p = arg;
    const int32_t a = (int32_t)cluster;
    const double *price = p->rows->price;
    vem_i_cap_edge *edges = p->edges + (int64_t)a * p->reach;
    int32_t kept = 0;
    vem_i_cap_edges_look(&p->least_of, a);
    for (int32_t b = 0; b < p->rows->clusters; b++) {
        if (b == a)
            continue;
        const vem_i_cap_step step = vem_i_cap_edges_least(&p->least_of, a, b);
        const double length = step.more + (price[b] - price[a]);
        if (step.row != VEM_I_NO_ROW)
            edges[kept++] = (vem_i_cap_edge){a, b, step.row, (float)fmax(0, length)};
    }
    p->count[a] = kept;
}

static void find_edges(void *arg, int64_t cluster, int thread)
{
    vem_i_cap_paths *p = arg;
    const vem_i_cap_rows *r = p->rows;
    const int32_t a = (int32_t)cluster;
    const int64_t mine = (int64_t)thread * r->clusters;
    float *nearest = p->nearest + mine;
    uint32_t *cheapest = p->cheapest + mine;
    int32_t *met = p->met + mine, count = 0;
    for (uint32_t row = r->first[a]; row != VEM_I_NO_ROW;
         row = vem_i_cap_next(r, a, row)) {
        const double own = vem_i_cap_cost(r, row, r->own[row]);
        if (!(vem_i_cap_mass(r, row) > 0)) /* a path of such rows leads nowhere */
            continue;
        for (int32_t k = 0; k < r->width; k++) {
            const int32_t b = vem_i_cap_at(r, row, k);
            if (b < 0 || k == r->own[row])
                continue;
            const float more = (float)fmax(0, vem_i_cap_cost(r, row, k) - own);
            if (!isfinite(more))
                continue;
            if (isinf(nearest[b])) {
                met[count++] = b;
            } else if (more > nearest[b] || (more == nearest[b] && row > cheapest[b])) {
                continue;
            }
            nearest[b] = more;
            cheapest[b] = row;
        }
    }
    vem_i_cap_edge *edges = p->edges + (int64_t)a * p->reach;
    int32_t kept = 0, worst = 0;
    for (int32_t k = 0; k < count; k++) {
        const int32_t b = met[k];
        const vem_i_cap_edge edge = {a, b, cheapest[b], nearest[b]};
        nearest[b] = INFINITY;
        if (kept == p->reach && compare_edges(&edge, &edges[worst]) >= 0)
            continue;
        edges[kept < p->reach ? kept++ : worst] = edge;
        if (kept == p->reach) {
            worst = 0;
            for (int32_t e = 1; e < kept; e++)
                if (compare_edges(&edges[e], &edges[worst]) > 0)
                    worst = e;
        }
    }
    p->count[a] = kept;
}

static void sort_edges(vem_i_cap_paths *p)
{
    const int32_t clusters = p->rows->clusters;
    memset(p->starts, 0, ((size_t)clusters + 1) * sizeof *p->starts);
    for (int32_t a = 0; a < clusters; a++)
        for (int32_t e = 0; e < p->count[a]; e++)
            p->starts[p->edges[(int64_t)a * p->reach + e].to]++;
    for (int64_t b = 0, sum = 0; b <= clusters;
         b++) { /* where those of b end, then begin */
        sum += b < clusters ? p->starts[b] : 0;
        p->starts[b] = sum;
    }
    for (int32_t a = clusters - 1; a >= 0; a--)
        for (int32_t e = p->count[a] - 1; e >= 0; e--) {
            const int64_t edge = (int64_t)a * p->reach + e;
            p->into[--p->starts[p->edges[edge].to]] = edge;
        }
}

/* ---- a heap, the nearest first ---- */

static int nearer(const vem_i_cap_paths *p, int32_t a, int32_t b)
{
    return p->distance[a] != p->distance[b] ? p->distance[a] < p->distance[b] : a < b;
}

static void put(vem_i_cap_paths *p, int32_t place, int32_t c)
{
    p->heap[place] = c;
    p->at[c] = place;
}

static int32_t take_nearest(vem_i_cap_paths *p)
{
    const int32_t found = p->heap[0], last = p->heap[--p->size];
    p->at[found] = -2; /* done with */
    if (p->size == 0)
        return found;
    int32_t place = 0;
    for (;;) {
        int32_t child = 2 * place + 1;
        if (child + 1 < p->size && nearer(p, p->heap[child + 1], p->heap[child]))
            child++;
        if (child >= p->size || !nearer(p, p->heap[child], last))
            break;
        put(p, place, p->heap[child]);
        place = child;
    }
    put(p, place, last);
    return found;
}

static void reach(vem_i_cap_paths *p, int32_t c, int64_t next, double distance)
{
    if (p->at[c] == -2 || !(distance < p->distance[c]))
        return;
    p->distance[c] = distance;
    if (c < p->rows->clusters)
        p->next[c] = next;
    int32_t place = p->at[c] >= 0 ? p->at[c] : p->size++;
    for (; place > 0; place = (place - 1) / 2) {
        const int32_t above = p->heap[(place - 1) / 2];
        if (!nearer(p, c, above))
            break;
        put(p, place, above);
    }
    put(p, place, c);
}

/* ---- distances ---- */

static int has_room(const vem_i_cap_paths *p, int32_t c)
{
    return p->rows->masses[c] < p->most;
}

static void find_distances(vem_i_cap_paths *p, int fill)
{
    const vem_i_cap_rows *r = p->rows;
    const int32_t last = r->clusters;
    for (int32_t c = 0; c <= last; c++) {
        p->distance[c] = INFINITY;
        p->at[c] = -1;
    }
    p->size = 0;
    if (fill)
        for (int32_t c = 0; c < last; c++) {
            if (r->masses[c] < p->least)
                reach(p, c, END, 0);
        }
    else
        reach(p, last, END, 0);
    while (p->size > 0) {
        const int32_t b = take_nearest(p);
        const double here = p->distance[b];
        if (b == last) {
            for (int32_t c = 0; c < last; c++)
                if (has_room(p, c))
                    reach(p, c, fill ? BY_LAST : END, here + fmax(0, -r->price[c]));
            continue;
        }
        for (int64_t k = p->starts[b]; k < p->starts[b + 1]; k++) {
            const vem_i_cap_edge *edge = &p->edges[p->into[k]];
            reach(p, edge->from, p->into[k], here + (double)edge->length);
        }
        if (fill && r->masses[b] > p->least)
            reach(p, last, END, here + fmax(0, r->price[b]));
    }
}

/* Distances that are not known count as the largest that is. */
static void raise_prices(vem_i_cap_paths *p)
{
    const int32_t clusters = p->rows->clusters;
    double far = 0;
    for (int32_t c = 0; c < clusters; c++)
        if (!isinf(p->distance[c]))
            far = fmax(far, p->distance[c]);
    const double less = isinf(p->distance[clusters]) ? 0 : p->distance[clusters];
    for (int32_t c = 0; c < clusters; c++)
        p->rows->price[c] += fmin(far, p->distance[c]) - less;
}

/* ---- ways ---- */

/* The row of the edge; where it has gone, the one that goes for least now. */
static uint32_t row_of(const vem_i_cap_paths *p, const vem_i_cap_edge *edge, int again)
{
    const vem_i_cap_rows *r = p->rows;
    if (r->labels[edge->row] == edge->from)
        return edge->row;
    uint32_t best = VEM_I_NO_ROW;
    double least = INFINITY;
    for (uint32_t row = again ? r->first[edge->from] : VEM_I_NO_ROW; row != VEM_I_NO_ROW;
         row = vem_i_cap_next(r, edge->from, row))
        for (int32_t k = 0; k < r->width; k++)
            if (vem_i_cap_at(r, row, k) == edge->to && vem_i_cap_mass(r, row) > 0) {
                const double more =
                    vem_i_cap_cost(r, row, k) - vem_i_cap_cost(r, row, r->own[row]);
                if (best == VEM_I_NO_ROW || more < least ||
                    (more == least && row < best)) {
                    best = row;
                    least = more;
                }
            }
    return best;
}

/* The whole way from a cluster. 0: an edge of it has no row, or its end wants none. */
static int go(vem_i_cap_paths *p, int32_t from, int fill, int again)
{
    vem_i_cap_rows *r = p->rows;
    int32_t end = from;
    for (; p->next[end] >= 0; end = p->edges[p->next[end]].to)
        if (row_of(p, &p->edges[p->next[end]], again) == VEM_I_NO_ROW)
            return 0;
    if (p->next[end] != END || end == from ||
        !(fill ? r->masses[end] < p->least : has_room(p, end)))
        return 0;
    for (int32_t a = from; p->next[a] >= 0;) {
        const vem_i_cap_edge *edge = &p->edges[p->next[a]];
        const uint32_t row = row_of(p, edge, again);
        int32_t place = 0;
        while (vem_i_cap_at(r, row, place) != edge->to)
            place++;
        vem_i_cap_move(r, row, place);
        if (r->all)
            vem_i_cap_edges_came(&p->least_of, row);
        a = edge->to;
    }
    return 1;
}

static int gives(const vem_i_cap_paths *p, int32_t c, int fill)
{
    return p->rows->masses[c] > (fill ? p->least : p->most);
}

static int compare_keys(const void *a, const void *b, const double *key)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return key[x] != key[y] ? (key[x] < key[y] ? -1 : 1) : (x > y) - (x < y);
}

/* Where rows are taken from, the shortest way first: a heap is sorted, because a
 * comparison needs the keys. */
static int32_t find_givers(vem_i_cap_paths *p, int fill)
{
    const vem_i_cap_rows *r = p->rows;
    int32_t count = 0;
    for (int32_t c = 0; c < r->clusters; c++) {
        if (!gives(p, c, fill) || isinf(p->distance[c]) || p->next[c] == BY_LAST)
            continue;
        /* In `distance` still those before the prices rose: price and way together. */
        p->key[c] = p->distance[c] + (fill ? fmax(0, p->key[c]) : 0);
        int32_t at = count++;
        for (; at > 0; at = (at - 1) / 2) { /* the farthest on top */
            const int32_t above = p->order[(at - 1) / 2];
            if (compare_keys(&c, &above, p->key) <= 0)
                break;
            p->order[at] = above;
        }
        p->order[at] = c;
    }
    for (int32_t left = count - 1; left > 0; left--) {
        const int32_t top = p->order[0], c = p->order[left];
        int32_t at = 0;
        for (;;) {
            int32_t child = 2 * at + 1;
            if (child + 1 < left &&
                compare_keys(&p->order[child + 1], &p->order[child], p->key) > 0)
                child++;
            if (child >= left || compare_keys(&p->order[child], &c, p->key) <= 0)
                break;
            p->order[at] = p->order[child];
            at = child;
        }
        p->order[at] = c;
        p->order[left] = top;
    }
    return count;
}

int64_t vem_i_cap_paths_go(vem_i_cap_paths *p, int fill)
{
    vem_i_cap_rows *r = p->rows;
    const double wanting = vem_i_cap_wanting(p, fill);
    if (!(wanting > 0))
        return 0;
    p->rounds++;
    const int64_t enough = r->all ? 1 : (int64_t)ceil(wanting / PART);
    if (r->all)
        vem_i_parallel_light(r->run, r->clusters, r->clusters, know_edges, p);
    else
        vem_i_parallel_light(r->run, r->clusters,
                             2.0 * (double)r->view->n / r->clusters * r->width,
                             find_edges, p);
    sort_edges(p);
    find_distances(p, fill);
    memcpy(p->key, r->price, (size_t)r->clusters * sizeof *p->key);
    raise_prices(p);
    const int32_t givers = find_givers(p, fill);
    /* Filling: of the ways of the one node only the shortest is on all. */
    int64_t gone = 0;
    const int32_t sure = fill && givers > 0 ? 1 : givers;
    for (int32_t k = 0; k < sure; k++)
        gone += go(p, p->order[k], fill, 0);
    for (int again = 1; again && gone < enough;) {
        again = 0;
        for (int32_t k = 0; k < givers && gone < enough; k++)
            if (gives(p, p->order[k], fill) && go(p, p->order[k], fill, 1)) {
                gone++;
                again = 1;
            }
    }
    return gone;
}

void vem_i_cap_paths_begin(vem_i_cap_paths *p)
{
    p->rounds = 0;
    if (p->rows->all)
        vem_i_cap_edges_clear(&p->least_of);
}

int64_t vem_i_cap_paths_looked(const vem_i_cap_paths *p)
{
    const vem_i_cap_rows *r = p->rows;
    int64_t places = 0;
    for (int32_t c = 0; r->all && c < r->clusters; c++)
        places += p->least_of.looked[c];
    return p->rounds * (r->all ? r->clusters : r->view->n) + places / r->width;
}

/* ---- memory ---- */

enum { ARRAYS = 13 };

static void list_arrays(vem_i_cap_paths *p, vem_i_room *list)
{
    const size_t clusters = (size_t)p->rows->clusters, reach_ = (size_t)p->reach;
    const size_t threads = (size_t)p->rows->run->threads;
    const vem_i_room arrays[ARRAYS] = {
        {&p->edges, clusters, reach_ * sizeof *p->edges, 0},
        {&p->count, clusters, sizeof *p->count, 0},
        {&p->starts, clusters + 1, sizeof *p->starts, 0},
        {&p->into, clusters, reach_ * sizeof *p->into, 0},
        {&p->distance, clusters + 1, sizeof *p->distance, 0},
        {&p->next, clusters, sizeof *p->next, 0},
        {&p->heap, clusters + 1, sizeof *p->heap, 0},
        {&p->at, clusters + 1, sizeof *p->at, 0},
        {&p->order, clusters, sizeof *p->order, 0},
        {&p->key, clusters, sizeof *p->key, 0},
        {&p->nearest, threads, clusters * sizeof *p->nearest, 0},
        {&p->cheapest, threads, clusters * sizeof *p->cheapest, 0},
        {&p->met, threads, clusters * sizeof *p->met, 0},
    };
    memcpy(list, arrays, sizeof arrays);
}

void vem_i_cap_paths_free(vem_i_cap_paths *p)
{
    vem_i_room list[ARRAYS];
    list_arrays(p, list);
    vem_i_free_rooms(list, ARRAYS);
    vem_i_cap_edges_free(&p->least_of);
}

vem_status vem_i_cap_paths_new(vem_i_cap_rows *rows, vem_i_cap_paths *p)
{
    const int32_t others = rows->clusters - 1;
    vem_i_room list[ARRAYS];
    *p = (vem_i_cap_paths){.rows = rows,
                           .least_of = {.rows = rows},
                           .reach = others < VEM_I_CAP_EDGES ? others : VEM_I_CAP_EDGES};
    list_arrays(p, list);
    vem_status status = vem_i_take_rooms(rows->run, list, ARRAYS);
    if (status == VEM_OK)
        status = vem_i_cap_edges_new(rows, &p->least_of);
    const int64_t all = (int64_t)rows->run->threads * rows->clusters;
    for (int64_t k = 0; p->nearest && k < all; k++)
        p->nearest[k] = INFINITY;
    return status;
}
