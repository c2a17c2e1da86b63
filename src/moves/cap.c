/* Sizes that are promised, by the cheapest moves there are: a problem of transport, and
 * an auction.
 *
 * Each cluster has a price, 0 at first. A row without a place bids for the cluster of
 * its list where cost and price are least: up to what the next best would cost it, and a
 * little over. A cluster that is full turns out whoever has bid least, and its price is
 * what the lowest of those who stay has bid. So nobody is more than that little from
 * what is best for it, and all together are from the least cost there is, because prices
 * rise only where clusters are full (Bertsekas). Lists are short where there are many
 * clusters. But a list tells what no other cluster costs less than, as prices only rise:
 * who has come to that looks at all clusters again.
 *
 * The last rows may have to go far, and prices rise by small steps all over until they
 * do. So bids come to an end. With few clusters, whose lists have all, what is left then
 * is done along shortest paths (cap_paths.c), and so are, with cap = 1, clusters that
 * lack rows: the result is the least cost. With many, rows without a place take the best
 * that has room; and with cap = 1 there are as many places as rows.
 *
 * Rows of several weights: a cluster is full at cap times the mean or above, and turns
 * out rows only if it stays so. Some cluster is below as long as a row is left: so this
 * ends, too. */
#include "moves/cap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "moves/cap_bounds.h"
#include "moves/cap_paths.h"

/* Rows bid at most so often, as a multiple of all of them. */
enum { BIDS = 4 };
/* What a bid is above the next best: the median gap, but no more than this share of D /
 * 2, which is what a row costs; where lists have all clusters, next to nothing. */
static const double OVER = 0.05, HARDLY_OVER = 1e-6;
/* Places of rows that are looked at along paths, where lists are short. */
static const double PATH_WORK = 2e6;
/* Rows that tell the median gap. */
enum { TOLD = 4096 };
/* Rows that are looked at between two looks whether it shall end. */
enum { LOOK_EVERY = 1 << 16 };

/* A row that holds a place, up to this price, in the heap of its cluster. */
typedef struct bidder {
    double bid;
    uint32_t left, right;
} bidder;

typedef struct caps {
    vem_i_cap_rows rows;
    vem_i_cap_paths paths;
    vem_i_cap_bounds bounds;
    double over;
    double *room;       /* C: what a cluster takes: full, or the least */
    bidder *bidders;    /* n */
    uint32_t *lowest;   /* C: who leaves first; VEM_I_NO_ROW: nobody has bid */
    uint32_t *nowhere;  /* n: rows that have no place, waiting to bid, */
    uint32_t *beyond;   /* ... and those whose list does not reach far enough */
    double *told_gaps;  /* TOLD */
    double *kept_price; /* C */
    int64_t nowhere_count, beyond_count;
    int64_t looked, told; /* rows so far */
} caps;

/* Between pieces of work somebody may want an end, or time be over. */
static int ended(caps *t, int64_t looked)
{
    t->looked += looked;
    if (t->looked - t->told < LOOK_EVERY)
        return 0;
    t->told = t->looked;
    return vem_i_progress(t->rows.run, &(vem_progress){.phase = "cap", .done = t->looked},
                          0);
}

/* ---- bids ---- */

static int leaves_before(const caps *t, uint32_t a, uint32_t b)
{
    return t->bidders[a].bid != t->bidders[b].bid ? t->bidders[a].bid < t->bidders[b].bid
                                                  : a < b;
}

/* Two heaps as one: along the right sides, whose nodes change sides. */
static uint32_t join(caps *t, uint32_t a, uint32_t b)
{
    uint32_t top = VEM_I_NO_ROW, *at = &top;
    while (a != VEM_I_NO_ROW && b != VEM_I_NO_ROW) {
        if (leaves_before(t, b, a)) {
            const uint32_t other = a;
            a = b;
            b = other;
        }
        bidder *first = &t->bidders[a];
        *at = a;
        a = first->right;
        first->right = first->left;
        at = &first->left;
    }
    *at = a != VEM_I_NO_ROW ? a : b;
    return top;
}

static void hold(caps *t, uint32_t row, int32_t c, double bid)
{
    t->bidders[row] = (bidder){bid, VEM_I_NO_ROW, VEM_I_NO_ROW};
    t->lowest[c] = join(t, t->lowest[c], row);
}

/* Whoever bid least goes, as long as the cluster stays full without. */
static void let_go(caps *t, int32_t c)
{
    vem_i_cap_rows *r = &t->rows;
    for (;;) {
        const uint32_t row = t->lowest[c];
        if (row == VEM_I_NO_ROW || r->masses[c] - vem_i_cap_mass(r, row) < t->room[c])
            break;
        t->lowest[c] = join(t, t->bidders[row].left, t->bidders[row].right);
        vem_i_cap_leave(r, row);
        t->nowhere[t->nowhere_count++] = row;
    }
    if (t->lowest[c] != VEM_I_NO_ROW && r->masses[c] >= t->room[c])
        r->price[c] = fmax(r->price[c], t->bidders[t->lowest[c]].bid);
}

/* The best place of a row, and what the next best costs (INFINITY: there is none). */
static int32_t best_place(const vem_i_cap_rows *r, uint32_t row, double *cost,
                          double *next)
{
    int32_t best = -1;
    *cost = *next = INFINITY;
    for (int32_t k = 0; k < r->width; k++) {
        const double there = vem_i_cap_cost(r, row, k);
        if (there < *cost) {
            *next = *cost;
            *cost = there;
            best = k;
        } else if (there < *next) {
            *next = there;
        }
    }
    return best;
}

/* A row that no cluster is best for: where it is least too much. */
static void enter_lightest(caps *t, uint32_t row)
{
    const double *masses = t->rows.masses;
    int32_t lightest = 0;
    for (int32_t c = 1; c < t->rows.clusters; c++)
        if (masses[c] < masses[lightest])
            lightest = c;
    vem_i_cap_enter_any(&t->rows, row, lightest);
}

/* A row without a place bids for the best, or waits for a longer list. */
static void bid(caps *t, uint32_t row)
{
    vem_i_cap_rows *r = &t->rows;
    double cost, next;
    const int32_t best = best_place(r, row, &cost, &next);
    const double horizon = r->all ? INFINITY : (double)r->horizon[row];
    if (cost > horizon) {
        t->beyond[t->beyond_count++] = row;
        return;
    }
    if (best < 0) { /* its costs are beyond all numbers */
        enter_lightest(t, row);
        return;
    }
    const int32_t c = vem_i_cap_at(r, row, best);
    next = fmin(next, horizon);
    vem_i_cap_enter(r, row, best);
    hold(t, row, c, isinf(next) ? INFINITY : r->price[c] + (next - cost) + t->over);
    let_go(t, c);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All rows hold what is best for them, up to the price of what is next to it. */
static void begin_bids(caps *t)
{
    vem_i_cap_rows *r = &t->rows;
    const int64_t n = r->view->n, step = n / TOLD + 1;
    int64_t told = 0;
    for (int32_t c = 0; c < r->clusters; c++)
        t->lowest[c] = VEM_I_NO_ROW;
    for (int64_t i = 0; i < n; i++) {
        double cost, next;
        if (!(vem_i_view_mass(r->view, i) > 0)) /* it is in nobody's way */
            continue;
        const int32_t best = best_place(r, (uint32_t)i, &cost, &next);
        const double gap = next - cost;
        if (best < 0) /* nor can it leave */
            continue;
        if (best != r->own[i])
            vem_i_cap_move(r, (uint32_t)i, best);
        hold(t, (uint32_t)i, r->labels[i], gap);
        if (i % step == 0 && gap > 0 && isfinite(gap))
            t->told_gaps[told++] = gap;
    }
    qsort(t->told_gaps, (size_t)told, sizeof *t->told_gaps, compare);
    t->over = told > 0 ? t->told_gaps[told / 2] : 1;
    t->over = r->all ? HARDLY_OVER * t->over : fmin(t->over, OVER * 0.5 * r->view->d);
    for (int32_t c = 0; c < r->clusters; c++)
        let_go(t, c);
}

/* 1: somebody wanted an end. */
static int take_bids(caps *t)
{
    vem_i_cap_rows *r = &t->rows;
    int stopped = 0;
    int64_t left = BIDS * r->view->n;
    begin_bids(t);
    while (!stopped && left > 0 && t->nowhere_count > 0) {
        for (; t->nowhere_count > 0 && left > 0 && !stopped; left--) {
            bid(t, t->nowhere[--t->nowhere_count]);
            stopped = ended(t, 1);
        }
        if (stopped || t->nowhere_count > 0 || t->beyond_count == 0)
            break;
        stopped = vem_i_cap_rows_scan(r, t->beyond, t->beyond_count) ||
                  ended(t, t->beyond_count);
        memcpy(t->nowhere, t->beyond, (size_t)t->beyond_count * sizeof *t->beyond);
        t->nowhere_count = t->beyond_count;
        t->beyond_count = 0;
    }
    memcpy(t->nowhere + t->nowhere_count, t->beyond,
           (size_t)t->beyond_count * sizeof *t->beyond);
    t->nowhere_count += t->beyond_count;
    return stopped;
}

/* Who has found nothing is where it costs least, too many or not. */
static void place_all(caps *t)
{
    for (int64_t k = 0; k < t->nowhere_count; k++) {
        double cost, next;
        const int32_t best = best_place(&t->rows, t->nowhere[k], &cost, &next);
        if (best < 0) /* its list was made when all clusters were full */
            enter_lightest(t, t->nowhere[k]);
        else
            vem_i_cap_enter(&t->rows, t->nowhere[k], best);
    }
    t->nowhere_count = 0;
}

/* ---- the rest ---- */

/* Prices of clusters that take no more: beyond all costs. */
static void close_full(caps *t)
{
    vem_i_cap_rows *r = &t->rows;
    for (int32_t c = 0; c < r->clusters; c++)
        t->kept_price[c] = r->price[c];
    for (int32_t c = 0; c < r->clusters; c++)
        r->price[c] = r->masses[c] < t->room[c] ? 0 : INFINITY;
}

/* Rows that have found nothing after so many bids go to the nearest of those clusters
 * that have room. */
static int place_rest(caps *t)
{
    vem_i_cap_rows *r = &t->rows;
    int stopped = 0;
    close_full(t);
    for (int64_t left; !stopped && t->nowhere_count > 0; t->nowhere_count = left) {
        if (!r->all)
            stopped = vem_i_cap_rows_scan(r, t->nowhere, t->nowhere_count);
        stopped = stopped || ended(t, t->nowhere_count);
        if (stopped)
            break;
        left = 0;
        for (int64_t k = 0; k < t->nowhere_count; k++) {
            const uint32_t row = t->nowhere[k];
            double cost, next;
            const int32_t best = best_place(r, row, &cost, &next);
            if (!isfinite(cost)) { /* all of its list have become full */
                t->nowhere[left++] = row;
                continue;
            }
            const int32_t c = vem_i_cap_at(r, row, best);
            vem_i_cap_enter(r, row, best);
            if (!(r->masses[c] < t->room[c]))
                r->price[c] = INFINITY;
        }
        if (left == t->nowhere_count) { /* masses do not add up to the last digit */
            for (int64_t k = 0; k < left; k++)
                enter_lightest(t, t->nowhere[k]);
            left = 0;
        }
    }
    for (int32_t c = 0; c < r->clusters; c++)
        r->price[c] = t->kept_price[c];
    return stopped;
}

/* Paths, as many rounds of them as may be. 1: somebody wanted an end. */
static int follow_paths(caps *t, int fill)
{
    const double work = (double)t->rows.view->n * t->rows.width;
    int64_t rounds = t->rows.all ? INT64_MAX : (int64_t)(PATH_WORK / work);
    for (; rounds > 0 && vem_i_cap_wanting(&t->paths, fill) > 0; rounds--) {
        const int64_t looked = vem_i_cap_paths_looked(&t->paths);
        if (vem_i_cap_paths_go(&t->paths, fill) == 0)
            break;
        if (ended(t, vem_i_cap_paths_looked(&t->paths) - looked))
            return 1;
    }
    return 0;
}

/* What clusters hold beyond their room has no place: who came last. */
static void turn_out(caps *t)
{
    vem_i_cap_rows *r = &t->rows;
    for (int32_t c = 0; c < r->clusters; c++)
        while (r->masses[c] > t->room[c]) {
            const uint32_t row = r->prev[r->first[c]];
            vem_i_cap_leave(r, row);
            t->nowhere[t->nowhere_count++] = row;
        }
}

/* ---- all of it ---- */

/* As many places as there are rows: one more than the least for the largest. */
static void share_rest(caps *t)
{
    const vem_i_cap_rows *r = &t->rows;
    const double least = t->bounds.least;
    int64_t rest = t->bounds.count - (int64_t)least * r->clusters;
    double at = 0;
    for (int32_t c = 0; c < r->clusters; c++) {
        t->room[c] = least;
        at = fmax(at, r->masses[c]);
    }
    while (rest > 0) { /* by sizes, the largest first */
        double below = -1;
        for (int32_t c = 0; c < r->clusters; c++) {
            if (rest > 0 && r->masses[c] == at) {
                t->room[c] = least + 1;
                rest--;
            } else if (r->masses[c] < at) {
                below = fmax(below, r->masses[c]);
            }
        }
        at = below;
    }
}

static void settle_bounds(caps *t, double cap)
{
    const vem_view *view = t->rows.view;
    const vem_i_cap_bounds b =
        vem_i_cap_bounds_of(view->mass, view->n, t->rows.clusters, cap);
    t->bounds = b;
    t->paths.most = b.most;
    t->paths.least = b.least;
    for (int32_t c = 0; c < t->rows.clusters; c++)
        t->room[c] = b.full;
    if (b.least > 0 && !t->rows.all)
        share_rest(t);
}

/* Returns 1 if all of it was done. */
static int run_caps(caps *t, double cap)
{
    settle_bounds(t, cap);
    int stopped = vem_i_cap_rows_list(&t->rows);
    if (stopped) /* rows are where they were */
        return 0;
    stopped = take_bids(t);
    if (t->bounds.alike) {
        place_all(t);
        vem_i_cap_paths_begin(&t->paths);
        stopped = stopped || follow_paths(t, 0) || follow_paths(t, 1);
        if (!stopped &&
            vem_i_cap_wanting(&t->paths, 0) + vem_i_cap_wanting(&t->paths, 1) > 0)
            turn_out(t);
    }
    stopped = stopped || place_rest(t);
    place_all(t);
    return !stopped;
}

int vem_i_cap_is_kept(const vem_view *view, int32_t clusters, double cap,
                      const int32_t *labels, double *masses)
{
    const vem_i_cap_bounds b = vem_i_cap_bounds_of(view->mass, view->n, clusters, cap);
    int kept = 1;
    memset(masses, 0, (size_t)clusters * sizeof *masses);
    for (int64_t i = 0; i < view->n; i++)
        if (labels[i] >= 0 && labels[i] < clusters)
            masses[labels[i]] += vem_i_view_mass(view, i) / b.unit;
    for (int32_t c = 0; c < clusters; c++)
        kept &= masses[c] <= b.most && masses[c] >= b.least;
    return kept;
}

vem_status vem_i_cap(vem_i_run *run, const vem_view *view, const vem_model *model,
                     double cap, int32_t *labels, double *prices, int *kept,
                     const vem_i_cap_lister *lister)
{
    caps t = {0};
    const size_t clusters = (size_t)model->clusters, n = (size_t)view->n;
    const vem_i_room list[] = {
        {&t.room, clusters, sizeof *t.room, 0},
        {&t.bidders, n, sizeof *t.bidders, 0},
        {&t.lowest, clusters, sizeof *t.lowest, 0},
        {&t.nowhere, n, sizeof *t.nowhere, 0},
        {&t.beyond, n, sizeof *t.beyond, 0},
        {&t.kept_price, clusters, sizeof *t.kept_price, 0},
        {&t.told_gaps, TOLD, sizeof *t.told_gaps, 0},
    };
    *kept = 1;
    vem_status status = vem_i_cap_rows_new(run, view, model, labels, &t.rows);
    if (status == VEM_OK)
        status = vem_i_cap_paths_new(&t.rows, &t.paths);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && !run->counted) {
        t.rows.lister = lister;
        *kept = run_caps(&t, cap);
        memcpy(prices, t.rows.price, clusters * sizeof *prices);
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    if (t.paths.rows)
        vem_i_cap_paths_free(&t.paths);
    vem_i_cap_rows_free(&t.rows);
    return status;
}
