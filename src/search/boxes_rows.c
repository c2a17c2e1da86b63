/* Rows of a node of a walk over boxes: their labels, and their part of the statistics.
 *
 * Rows that are not decided with their box are scored by the kernels of the plain
 * sweep, gathered from the scorer, so that costs have the same bits; of equal costs
 * the lowest number wins. Where that sweep takes the dot form (coarse/nearest.c), a
 * row whose two best costs are as near as their rounding is given to the sweep itself. */
#include <math.h>
#include <string.h>

#include "base/residence.h"
#include "coarse/nearest.h"
#include "search/boxes_inside.h"

static int32_t at_most(int64_t value, int32_t most)
{
    return value < most ? (int32_t)value : most;
}

/* ---- statistics ---- */

/* The statistics that a walker adds those of a cluster to. */
static vem_i_stats *stats_of(const vem_i_walk *t, const vem_i_walker *k, int32_t c)
{
    const int64_t slot = k->task == VEM_I_ABOVE ? VEM_I_BOXES_TASKS : k->task;
    uint8_t *touched = t->touched + slot * t->scorer->capacity + c;
    vem_i_stats *stats = &t->partial[slot];
    if (!*touched)
        vem_i_stats_clear_cluster(stats, c);
    *touched = 1;
    return stats;
}

void vem_i_walk_add_node(const vem_i_walk *t, const vem_i_walker *k, int32_t node,
                         int32_t c)
{
    const vem_i_boxes *b = t->boxes;
    const int64_t d = t->scorer->d;
    for (int64_t j = 0; j < d; j++)
        k->work[j] = b->means[node * d + j] - vem_i_about(t->scorer, c, j);
    const vem_i_shift shift = {.e = k->work, .mass = 1, .distance = 1};
    vem_i_moments_add(t->scorer->family, (int32_t)d, b->sums + node * b->stride, &shift,
                      vem_i_stats_mass(stats_of(t, k, c), c));
}

static void add_rows(const vem_i_walk *t, vem_i_walker *k, int64_t first,
                     const uint32_t *rows, int32_t n, int32_t c, int thread)
{
    const vem_i_scorer *s = t->scorer;
    const vem_i_kernels *kernels = s->kernels;
    const double *mass = t->boxes->view.mass;
    vem_i_items items = vem_i_items_at(&t->boxes->view, first, rows, n);
    for (int32_t p = 0; p < n; p++)
        vem_i_store(kernels, k->q, p, mass ? mass[first + rows[p]] : 1);
    if (s->family->collect_rows) {
        s->family->collect_rows(s, &items, k->q, c, stats_of(t, k, c));
        return;
    }
    vem_i_items_pack(&t->boxes->view, NULL, k->panels, NULL, &items);
    s->family->collect_tile(s, &items, k->q, c, thread, stats_of(t, k, c));
}

/* ---- labels ---- */

static void put_label(const vem_i_walk *t, vem_i_walker *k, int64_t place, int32_t c)
{
    const double *mass = t->boxes->view.mass;
    int32_t *held = t->held + t->boxes->tree->order[place];
    /* An item without mass is as good as absent: it must not keep a fit going. */
    k->count.changed += (!t->known || *held != c) && (!mass || mass[place] > 0);
    *held = c;
}

void vem_i_walk_label_all(const vem_i_walk *t, vem_i_walker *k, int32_t node, int32_t c)
{
    const vem_i_tree *tree = t->boxes->tree;
    const int64_t end = tree->first[node] + tree->rows[node];
    /* The last walk wrote the same, and nobody else since. */
    const int there = t->same && t->stamp[node] + 1 == t->step && t->label[node] == c;
    t->stamp[node] = t->step;
    t->label[node] = c;
    k->count.bulk += tree->rows[node];
    if (there)
        return;
    for (int64_t place = tree->first[node]; place < end; place++)
        put_label(t, k, place, c);
}

/* ---- rows of a leaf ---- */

/* The `top` least costs of packed rows among listed clusters, by their places in the
 * list. */
static void find_best(const vem_i_walk *t, vem_i_walker *k, const vem_i_items *items,
                      const int32_t *list, int32_t m, int32_t top)
{
    const vem_i_scorer *s = t->scorer;
    vem_i_block_clear(s->kernels, k->best, k->index, top, VEM_I_BLOCK, VEM_I_BLOCK);
    for (int32_t first = 0; first < m; first += VEM_I_TILE) {
        const int32_t some = m - first < VEM_I_TILE ? m - first : VEM_I_TILE;
        vem_i_scorer_gather(s, list + first, some, NULL, &k->some);
        s->family->score_tile(&k->some, items, 0, some, k->tile, VEM_I_BLOCK);
        s->kernels->select_top(k->tile, NULL, (int32_t)items->n, some, first, top,
                               k->best, k->index, VEM_I_BLOCK);
    }
    k->count.scored += items->n * m;
}

/* Can the two best of row p be told apart by direct differences, so that the dot form
 * with its second look says the same? Costs of distances are off by no more than a
 * share of themselves. */
static int is_sure(const vem_i_walk *t, const vem_i_walker *k, int32_t p)
{
    const vem_i_kernels *kernels = t->scorer->kernels;
    if (k->index[p] < 0 || k->index[VEM_I_BLOCK + p] < 0)
        return k->index[p] >= 0;
    const double best = vem_i_value(kernels, k->best, p),
                 next = vem_i_value(kernels, k->best, VEM_I_BLOCK + p);
    return next - best > 2 * (t->coster.own + 3 * t->coster.kernel) * (best + next);
}

/* What a plain sweep says of one row of the view; -1: nothing. */
static int32_t sweep_row(const vem_i_walk *t, vem_i_walker *k, int64_t item, int thread)
{
    vem_i_block *block = &t->blocks[thread];
    vem_i_block_load(block, item, 1);
    vem_i_block_closest(block, 1, 0);
    k->count.scored += t->scorer->clusters;
    return block->index[0];
}

/* Rows by what they got; rows without mass come last. */
static void sort_rows(const vem_i_walk *t, vem_i_walker *k, const int32_t *got,
                      int64_t first, int32_t n, int32_t m)
{
    const double *mass = t->boxes->view.mass;
    int32_t *ends = k->places + 1;
    memset(k->places, 0, ((size_t)m + 2) * sizeof *k->places);
#define CLASS(p) (got[p] < 0 || (mass && !(mass[first + (p)] > 0)) ? m : got[p])
    for (int32_t p = 0; p < n; p++)
        ends[CLASS(p)]++;
    for (int32_t i = 0, sum = 0; i <= m; i++) {
        const int32_t count = ends[i];
        ends[i] = sum;
        sum += count;
    }
    for (int32_t p = 0; p < n; p++)
        k->sorted[ends[CLASS(p)]++] = (uint32_t)p;
#undef CLASS
}

/* Rows whose cost under the owner is below what any other candidate costs in this box
 * need no more than that one score. Their places among the candidates into k->got; the
 * others, with -1, are listed. Returns how many. */
static int32_t scan_owner(const vem_i_walk *t, vem_i_walker *k, const vem_i_items *items,
                          const int32_t *list, int32_t m)
{
    const vem_i_kernels *kernels = t->scorer->kernels;
    const int32_t n = (int32_t)items->n;
    const vem_i_box_cost *own = &k->costs[k->owner];
    double limit = INFINITY;
    int32_t left = 0;
    for (int32_t i = 0; i < m; i++)
        if (i != k->owner)
            limit = fmin(limit, k->costs[i].low - k->costs[i].slack);
    const int hopeful = m > 1 && limit - own->slack > own->low;
    if (hopeful)
        find_best(t, k, items, list + k->owner, 1, 1);
    for (int32_t p = 0; p < n; p++) {
        const int decided =
            hopeful && vem_i_value(kernels, k->best, p) < limit - own->slack;
        k->got[p] = decided ? k->owner : -1;
        if (!decided)
            k->sorted[left++] = (uint32_t)p;
    }
    return left;
}

/* The rows that are listed in k->sorted, by all candidates. */
static void score_listed(const vem_i_walk *t, vem_i_walker *k, int64_t first,
                         int32_t count, const int32_t *list, int32_t m, int thread)
{
    const vem_i_scorer *s = t->scorer;
    const int dots = vem_i_is_plain(s->family) && s->d > VEM_I_DIRECT_MAX;
    vem_i_items items = vem_i_items_at(&t->boxes->view, first, k->sorted, count);
    vem_i_items_pack(&t->boxes->view, NULL, k->panels, NULL, &items);
    find_best(t, k, &items, list, m, dots ? 2 : 1);
    for (int32_t i = 0; i < count; i++) {
        const int32_t p = (int32_t)k->sorted[i];
        k->got[p] = k->index[i];
        if (!dots || is_sure(t, k, i))
            continue;
        const int32_t c = sweep_row(t, k, t->boxes->tree->order[first + p], thread);
        int32_t at = 0; /* what is dropped cannot be it */
        while (at < m && list[at] != c)
            at++;
        k->got[p] = at < m ? at : -1;
    }
}

/* Labels of some rows of a leaf, into k->got and where they are held. Returns the
 * candidate that all rows with a mass hold, as those before them do (`only`; NONE:
 * there were none), else MIXED. */
enum { MIXED = -1, NONE = -2 };

static int32_t label_rows(const vem_i_walk *t, vem_i_walker *k, int64_t first, int32_t n,
                          const int32_t *list, int32_t m, int32_t only, int thread)
{
    const double *mass = t->boxes->view.mass;
    vem_i_items items = vem_i_items_at(&t->boxes->view, first, NULL, n);
    vem_i_items_pack(&t->boxes->view, NULL, k->panels, NULL, &items);
    const int32_t count = scan_owner(t, k, &items, list, m);
    if (count > 0)
        score_listed(t, k, first, count, list, m, thread);
    for (int32_t p = 0; p < n; p++) {
        put_label(t, k, first + p, k->got[p] < 0 ? -1 : list[k->got[p]]);
        if (k->got[p] == only || (mass && !(mass[first + p] > 0)))
            continue;
        only = only == NONE ? k->got[p] : MIXED;
    }
    return only;
}

/* The candidates that rows hold, from their labels. */
static void look_up(const vem_i_walk *t, vem_i_walker *k, int64_t first, int32_t n,
                    const int32_t *list, int32_t m)
{
    for (int32_t i = 0; i < m; i++)
        k->places[list[i]] = i;
    for (int32_t p = 0; p < n; p++) {
        const int32_t c = t->held[t->boxes->tree->order[first + p]];
        k->got[p] = c < 0 ? -1 : k->places[c];
    }
}

void vem_i_walk_label_leaf(const vem_i_walk *t, vem_i_walker *k, int32_t node,
                           const int32_t *list, int32_t m, int thread)
{
    const vem_i_tree *tree = t->boxes->tree;
    const int64_t first = tree->first[node], n = tree->rows[node];
    int32_t only = NONE;
    for (int64_t i = 0; i < n; i += VEM_I_BLOCK)
        only = label_rows(t, k, first + i, at_most(n - i, VEM_I_BLOCK), list, m, only,
                          thread);
    if (only >= 0) { /* the moments of all are known */
        vem_i_walk_add_node(t, k, node, list[only]);
        return;
    }
    for (int64_t i = 0; only == MIXED && i < n; i += VEM_I_BLOCK) {
        const int32_t some = at_most(n - i, VEM_I_BLOCK);
        if (n > VEM_I_BLOCK)
            look_up(t, k, first + i, some, list, m);
        sort_rows(t, k, k->got, first + i, some, m);
        for (int32_t c = 0; c < m; c++) {
            const int32_t begin = k->places[c], end = k->places[c + 1];
            if (end > begin)
                add_rows(t, k, first + i, k->sorted + begin, end - begin, list[c],
                         thread);
        }
    }
    vem_i_residence_check(t->run);
}
