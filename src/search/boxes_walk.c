/* One step over boxes: the labels of all rows, and the statistics of what they hold.
 *
 *     walk(node, candidates)      from the root, with all clusters
 *         w = the candidate that costs least in the middle of the box
 *         drop every c that costs more than some other one for each x of the box
 *         one left:    it is the label of all rows of the node, and its moments are those of the node
 *         children:    walk(each child, what is left)
 *         a leaf:      its rows are scored under w, by the kernels of a plain sweep; those that
 *                      cost more than another candidate may in this box, under all that are left
 *
 * (Kurihara and Welling 2009; Pelleg and Moore 1999 for distances.) A cluster is dropped if its least cost over
 * the box is above the greatest of another, or, which takes longer and is told apart only then, if
 * the difference of the two costs stays positive. Both hold for costs as the kernels compute them, and for those
 * without rounding (model/box_cost.c): so the labels are those of the plain sweep, also where that takes the
 * dot form, which decides by either. Rows of equal costs are never decided together: the strict
 * comparison leaves both clusters, and the leaf takes the lower number.
 *
 * Where the plain sweep takes the dot form (coarse/nearest.c), a row of a leaf whose two best costs are as near as
 * their rounding is given to that sweep itself.
 *
 * The walk down to the roots of the tasks is made first, by one thread; then each task walks its own subtrees. Each
 * has statistics of its own, which are added in order: the bits do not depend on threads. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/residence.h"
#include "coarse/nearest.h"
#include "search/boxes.h"

/* Most roots: on each level of the tree no more than TASKS nodes are above one. */
enum { MOST_ROOTS = VEM_I_BOXES_TASKS * VEM_I_BOXES_DEPTH + 1, ABOVE = -1 };

struct vem_i_walker {
    int32_t *lists;        /* candidates, those of a child behind those of its parent */
    vem_i_box_cost *costs; /* of the candidates of a node */
    double *center, *half; /* of its box: d each */
    double *slopes, *others, *work;
    vem_i_scorer some; /* up to VEM_I_TILE candidates */
    void *panels, *tile, *best, *q;
    int32_t *index;
    int32_t *got;    /* of the rows of a block: which candidate they hold */
    int32_t *places; /* C + 2: where rows of a candidate begin */
    uint32_t *sorted;
    int64_t task; /* whose statistics it adds to; ABOVE: what is above them */
    int64_t root; /* ABOVE: the next root */
    int32_t
        owner;  /* of the candidates of the node, the one of least cost in its middle */
    int looked; /* its slopes are known */
    vem_i_labelled count;
};

/* ---- memory ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static size_t rooms_of_walker(const vem_i_walk *t, vem_i_walker *k, vem_i_room list[15])
{
    const vem_i_scorer *s = t->scorer;
    const size_t c = (size_t)s->capacity, d = (size_t)s->d, real = sizeof(double),
                 element = s->kernels->element, block = VEM_I_BLOCK;
    const vem_i_room rooms[] = {
        {&k->lists, c, (VEM_I_BOXES_DEPTH + 2) * sizeof *k->lists, 0},
        {&k->costs, c, sizeof *k->costs, 0},
        {&k->center, d, real, 0},
        {&k->half, d, real, 0},
        {&k->slopes, d, real, 0},
        {&k->others, d, real, 0},
        {&k->work, d, real, 0},
        {&k->panels, block, d * element, 0},
        {&k->tile, block, VEM_I_TILE * element, 0},
        {&k->best, block, 2 * element, 0},
        {&k->q, block, element, 0},
        {&k->index, block, 2 * sizeof *k->index, 0},
        {&k->got, block, sizeof *k->got, 0},
        {&k->places, c + 2, sizeof *k->places, 0},
        {&k->sorted, block, sizeof *k->sorted, 0},
    };
    memcpy(list, rooms, sizeof rooms);
    return VEM_I_COUNT(rooms);
}

static size_t rooms_of(vem_i_walk *t, vem_i_room list[4])
{
    const size_t roots = (size_t)least(MOST_ROOTS, t->boxes->tree->spec.nodes),
                 c = (size_t)t->scorer->capacity;
    const vem_i_room rooms[] = {
        {&t->touched, VEM_I_BOXES_TASKS + 1, c, 0},
        {&t->alive, roots, (size_t)t->words * sizeof *t->alive, 0},
        {&t->decided, roots, sizeof *t->decided, 0},
        {&t->work, (size_t)t->scorer->d, sizeof *t->work, 0},
    };
    memcpy(list, rooms, sizeof rooms);
    return VEM_I_COUNT(rooms);
}

static vem_status take_walker(vem_i_walk *t, vem_i_walker *k)
{
    vem_i_shape shape = vem_i_scorer_shape(t->scorer);
    vem_i_room list[15];
    shape.clusters = shape.capacity = (int32_t)least(shape.capacity, VEM_I_TILE);
    vem_i_run alone = vem_i_run_alone(t->run); /* no scratch for other threads */
    vem_status status = vem_i_take_rooms(t->run, list, rooms_of_walker(t, k, list));
    return status == VEM_OK
               ? vem_i_scorer_new(&alone, t->scorer->kernels, shape, &k->some)
               : status;
}

vem_status vem_i_walk_new(vem_i_run *run, const vem_i_boxes *boxes,
                          const vem_i_scorer *scorer, vem_i_block *blocks,
                          vem_i_walk **walk)
{
    vem_i_walk *t;
    vem_i_room list[4];
    vem_status status = vem_i_take_structs(run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    t->run = run;
    t->boxes = boxes;
    t->scorer = scorer;
    t->blocks = blocks;
    t->words = vem_i_shards(scorer->capacity, 64);
    status = vem_i_box_coster_new(run, scorer, &t->coster);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, rooms_of(t, list));
    if (status == VEM_OK)
        status = vem_i_take_structs(run, &t->walkers, (size_t)run->threads,
                                    sizeof *t->walkers);
    for (int i = 0; status == VEM_OK && i < run->threads; i++)
        status = take_walker(t, &t->walkers[i]);
    if (status == VEM_OK)
        status = vem_i_take_structs(run, &t->partial, VEM_I_BOXES_TASKS + 1,
                                    sizeof *t->partial);
    for (int i = 0; status == VEM_OK && i <= VEM_I_BOXES_TASKS; i++)
        status = vem_i_stats_new(run, vem_i_scorer_shape(scorer), &t->partial[i]);
    if (status == VEM_OK)
        *walk = t;
    else
        vem_i_walk_free(t);
    return status;
}

void vem_i_walk_free(vem_i_walk *t)
{
    vem_i_room list[15];
    if (!t)
        return;
    for (int i = 0; t->walkers && i < t->run->threads; i++) {
        vem_i_free_rooms(list, rooms_of_walker(t, &t->walkers[i], list));
        vem_i_scorer_free(&t->walkers[i].some);
    }
    for (int i = 0; t->partial && i <= VEM_I_BOXES_TASKS; i++)
        vem_i_stats_free(&t->partial[i]);
    vem_i_free_rooms(list, rooms_of(t, list));
    vem_i_box_coster_free(&t->coster);
    vem_i_free(t->walkers);
    vem_i_free(t->partial);
    vem_i_free(t);
}

/* ---- statistics ---- */

/* The statistics that a walker adds those of a cluster to. */
static vem_i_stats *stats_of(const vem_i_walk *t, const vem_i_walker *k, int32_t c)
{
    const int64_t slot = k->task == ABOVE ? VEM_I_BOXES_TASKS : k->task;
    uint8_t *touched = t->touched + slot * t->scorer->capacity + c;
    vem_i_stats *stats = &t->partial[slot];
    if (!*touched)
        vem_i_stats_clear_cluster(stats, c);
    *touched = 1;
    return stats;
}

static void add_node(const vem_i_walk *t, const vem_i_walker *k, int32_t node, int32_t c)
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

static void label_all(const vem_i_walk *t, vem_i_walker *k, int32_t node, int32_t c)
{
    const vem_i_tree *tree = t->boxes->tree;
    const int64_t end = tree->first[node] + tree->rows[node];
    for (int64_t place = tree->first[node]; place < end; place++)
        put_label(t, k, place, c);
    k->count.bulk += tree->rows[node];
}

/* ---- rows of a leaf ---- */

/* The `top` least costs of packed rows among listed clusters, by their places in the list. */
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

/* Can the two best of row p be told apart by direct differences, so that the dot form with its
 * second look says the same? Costs of distances are off by no more than a share of themselves. */
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

/* Rows whose cost under the owner is below what any other candidate costs in this box need no more than that one
 * score. Their places among the candidates into k->got; the others, with -1, are listed. Returns how many. */
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

static void label_rows(const vem_i_walk *t, vem_i_walker *k, int64_t first, int32_t n,
                       const int32_t *list, int32_t m, int thread)
{
    vem_i_items items = vem_i_items_at(&t->boxes->view, first, NULL, n);
    vem_i_items_pack(&t->boxes->view, NULL, k->panels, NULL, &items);
    const int32_t count = scan_owner(t, k, &items, list, m);
    if (count > 0)
        score_listed(t, k, first, count, list, m, thread);
    for (int32_t p = 0; p < n; p++)
        put_label(t, k, first + p, k->got[p] < 0 ? -1 : list[k->got[p]]);
    sort_rows(t, k, k->got, first, n, m);
    for (int32_t i = 0; i < m; i++) {
        const int32_t begin = k->places[i], end = k->places[i + 1];
        if (end > begin)
            add_rows(t, k, first, k->sorted + begin, end - begin, list[i], thread);
    }
}

static void label_leaf(const vem_i_walk *t, vem_i_walker *k, int32_t node,
                       const int32_t *list, int32_t m, int thread)
{
    const vem_i_tree *tree = t->boxes->tree;
    const int64_t first = tree->first[node], n = tree->rows[node];
    for (int64_t i = 0; i < n; i += VEM_I_BLOCK)
        label_rows(t, k, first + i, n - i < VEM_I_BLOCK ? (int32_t)(n - i) : VEM_I_BLOCK,
                   list, m, thread);
    vem_i_residence_check(t->run);
}

/* ---- the walk ---- */

/* The bounds of m candidates over the box of a node; k->owner: the one of least cost in its middle. Returns
 * the least of what they cost at most. */
static double bound(const vem_i_walk *t, vem_i_walker *k, int32_t node,
                    const int32_t *list, int32_t m)
{
    const vem_i_tree *tree = t->boxes->tree;
    const vem_i_kernels *kernels = tree->view->kernels;
    const int64_t d = t->scorer->d;
    const vem_i_box box = {k->center, k->half};
    double most = INFINITY;
    vem_i_box_around(kernels,
                     (const char *)tree->boxes +
                         (size_t)(2 * d * node) * kernels->element,
                     (int32_t)d, k->center, k->half);
    k->owner = 0;
    for (int32_t i = 0; i < m; i++) {
        vem_i_box_cost *cost = &k->costs[i];
        vem_i_box_cost_of(&t->coster, list[i], box, cost);
        most = fmin(most, cost->high + cost->slack);
        if (cost->middle < k->costs[k->owner].middle)
            k->owner = i;
    }
    k->count.bounds += m;
    return most;
}

/* Closer: is candidate i worse than the owner for each x? Its slopes take a second look, which is spared where
 * second order alone forbids an answer. */
static int is_worse(const vem_i_walk *t, vem_i_walker *k, const int32_t *kept, int32_t i)
{
    const vem_i_box box = {k->center, k->half};
    const vem_i_box_cost *own = &k->costs[k->owner], *other = &k->costs[i];
    const double slack = other->slack + own->slack;
    if (t->scorer->family->axes == 2 &&
        !(other->middle - own->middle - own->bend > slack))
        return 0;
    if (!k->looked) {
        vem_i_box_slopes(&t->coster, kept[k->owner], box, k->work, k->slopes);
        k->looked = 1;
        k->count.bounds++;
    }
    vem_i_box_slopes(&t->coster, kept[i], box, k->work, k->others);
    k->count.bounds++;
    return vem_i_box_margin(&t->coster, box, kept[i], other, k->others, kept[k->owner],
                            own, k->slopes) > slack;
}

/* Candidate i stays, as number `left`. */
static void stay(vem_i_walker *k, int32_t c, int32_t i, int32_t *kept, int32_t left)
{
    k->costs[left] = k->costs[i];
    k->owner = i == k->owner ? left : k->owner;
    kept[left] = c;
}

/* Those of m candidates that are the best for some x of the box, as far as can be told, in their order, with their
 * costs in k->costs. Returns how many. The owner is always among them. */
static int32_t keep(const vem_i_walk *t, vem_i_walker *k, int32_t node,
                    const int32_t *list, int32_t m, int32_t *kept)
{
    const double most = bound(t, k, node, list, m);
    int32_t left = 0;
    for (int32_t i = 0; i < m; i++)
        if (!(k->costs[i].low - k->costs[i].slack > most)) {
            stay(k, list[i], i, kept, left);
            left++;
        }
    if (left < 2 || !(k->costs[k->owner].slack < INFINITY))
        return left;
    const int32_t tried = left;
    left = 0;
    k->looked = 0;
    for (int32_t i = 0; i < tried; i++)
        if (i == k->owner || !is_worse(t, k, kept, i)) {
            stay(k, kept[i], i, kept, left);
            left++;
        }
    return left;
}

static void walk(const vem_i_walk *t, vem_i_walker *k, int32_t node, const int32_t *list,
                 int32_t m, int32_t *room, int thread);

/* Above the roots: a root is left to its task, with what is left for it. */
static int leave_root(const vem_i_walk *t, vem_i_walker *k, int32_t node,
                      const int32_t *list, int32_t m)
{
    if (k->task != ABOVE || t->boxes->roots[k->root] != node)
        return 0;
    uint64_t *alive = t->alive + k->root * t->words;
    memset(alive, 0, (size_t)t->words * sizeof *alive);
    for (int32_t i = 0; i < m; i++)
        alive[list[i] / 64] |= UINT64_C(1) << (list[i] % 64);
    t->decided[k->root++] = -1;
    return 1;
}

/* All rows of a node have one label; above the roots their tasks write it. */
static void decide(const vem_i_walk *t, vem_i_walker *k, int32_t node, int32_t c)
{
    const vem_i_tree *tree = t->boxes->tree;
    add_node(t, k, node, c);
    if (k->task != ABOVE) {
        label_all(t, k, node, c);
        return;
    }
    const int64_t end = tree->first[node] + tree->rows[node];
    while (k->root < t->boxes->root_count && tree->first[t->boxes->roots[k->root]] < end)
        t->decided[k->root++] = c;
}

static void walk(const vem_i_walk *t, vem_i_walker *k, int32_t node, const int32_t *list,
                 int32_t m, int32_t *room, int thread)
{
    if (leave_root(t, k, node, list, m))
        return;
    const int32_t child = t->boxes->tree->left[node];
    const int32_t left = keep(t, k, node, list, m, room);
    /* No cost of the one that is left leaves the range of its type. */
    if (left == 1 && k->costs[0].slack < INFINITY) {
        decide(t, k, node, room[0]);
    } else if (child >= 0) {
        walk(t, k, child, room, left, room + left, thread);
        walk(t, k, child + 1, room, left, room + left, thread);
    } else {
        label_leaf(t, k, node, room, left, thread);
    }
}

static void run_task(void *arg, int64_t task, int thread)
{
    const vem_i_walk *t = arg;
    vem_i_walker *k = &t->walkers[thread];
    const vem_i_boxes *b = t->boxes;
    k->task = task;
    for (int64_t r = b->starts[task]; r < b->starts[task + 1]; r++) {
        int32_t m = 0;
        if (t->decided[r] >= 0) {
            label_all(t, k, b->roots[r], t->decided[r]);
            continue;
        }
        for (int32_t c = 0; c < t->scorer->clusters; c++)
            if (t->alive[r * t->words + c / 64] >> (c % 64) & 1)
                k->lists[m++] = c;
        walk(t, k, b->roots[r], k->lists, m, k->lists + m, thread);
    }
}

/* Down to the roots of the tasks. A cluster of weight 0 is nobody's. */
static void run_above(vem_i_walk *t)
{
    vem_i_walker *k = &t->walkers[0];
    int32_t m = 0;
    k->task = ABOVE;
    k->root = 0;
    for (int32_t c = 0; c < t->scorer->clusters; c++)
        if (t->coster.bias[c] < INFINITY)
            k->lists[m++] = c;
    walk(t, k, 0, k->lists, m, k->lists + m, 0);
}

static void sum_up(const vem_i_walk *t, vem_i_stats *stats)
{
    vem_i_stats_clear(stats);
    for (int64_t slot = 0; slot <= VEM_I_BOXES_TASKS; slot++)
        for (int32_t c = 0; c < stats->clusters; c++) {
            const double *from = vem_i_stats_mass(&t->partial[slot], c);
            double *to = vem_i_stats_mass(stats, c);
            for (int64_t i = 0;
                 t->touched[slot * t->scorer->capacity + c] && i < stats->stride; i++)
                to[i] += from[i];
        }
}

void vem_i_walk_run(vem_i_walk *t, int32_t *held, int known, const vem_progress *told,
                    int may_skip, vem_i_stats *stats, vem_i_labelled *result)
{
    const vem_i_scorer *s = t->scorer;
    const double n = (double)t->boxes->tree->view->n;
    t->held = held;
    t->known = known;
    *result = (vem_i_labelled){0};
    memset(t->touched, 0, (VEM_I_BOXES_TASKS + 1) * (size_t)s->capacity);
    for (int i = 0; i < t->run->threads; i++)
        t->walkers[i].count = (vem_i_labelled){0};
    vem_i_box_coster_prepare(t->run, &t->coster);
    run_above(t);
    result->skipped = vem_i_parallel_watched(t->run, t->boxes->tasks,
                                             n * s->d / (double)t->boxes->tasks, run_task,
                                             t, told, may_skip);
    for (int i = 0; i < t->run->threads; i++) {
        const vem_i_labelled *count = &t->walkers[i].count;
        result->changed += count->changed;
        result->bounds += count->bounds;
        result->scored += count->scored;
        result->bulk += count->bulk;
    }
    if (result->skipped)
        return;
    stats->clusters = s->clusters;
    sum_up(t, stats);
    result->cost = vem_i_box_held_cost(&t->coster, stats, t->work);
}
