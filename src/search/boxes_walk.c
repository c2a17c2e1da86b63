/* One step over boxes: the labels of all rows, and the statistics of what they hold.
 *
 *     walk(node, candidates)      from the root, with all clusters
 *         w = the candidate that costs least in the middle of the box
 *         drop every c that costs more than some other one for each x of the box
 *         one left:  it is the label of all rows of the node, whose moments it takes
 *         children:  walk(each child, what is left)
 *         a leaf:    its rows are scored under w, by the kernels of a plain sweep; those
 *                    that cost more than another candidate may in this box, under all
 *
 * (Kurihara and Welling 2009; Pelleg and Moore 1999 for distances.) A cluster is
 * dropped if its least cost over the box is above the greatest of another, or, which
 * takes longer and is told apart only then, if the difference of the two costs stays
 * positive. Both hold for costs as the kernels compute them, and for those without
 * rounding (model/box_cost.c): so the labels are those of the plain sweep, also where
 * that takes the dot form, which decides by either. Rows of equal costs are never
 * decided together: the strict comparison leaves both clusters, and the leaf takes the
 * lower number.
 *
 * The walk down to the roots of the tasks is made first, by one thread; then each task
 * walks its own subtrees. Each has statistics of its own, which are added in order:
 * the bits do not depend on threads. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "search/boxes_inside.h"

/* The bounds of m candidates over the box of a node; k->owner: the one of least cost
 * in its middle. Returns the least of what they cost at most. */
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

/* Closer: is candidate i worse than the owner for each x? Its slopes take a second
 * look, which is spared where second order alone forbids an answer. */
static int is_worse(const vem_i_walk *t, vem_i_walker *k, const int32_t *kept, int32_t i)
{
    const vem_i_box box = {k->center, k->half};
    const vem_i_box_cost *own = &k->costs[k->owner], *other = &k->costs[i];
    const double slack = other->slack + own->slack;
    if (vem_i_takes_products(t->scorer->family) &&
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

/* Those of m candidates that are the best for some x of the box, as far as can be
 * told, in their order, with their costs in k->costs. Returns how many. The owner is
 * always among them. */
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
    if (k->task != VEM_I_ABOVE || t->boxes->roots[k->root] != node)
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
    vem_i_walk_add_node(t, k, node, c);
    if (k->task != VEM_I_ABOVE) {
        vem_i_walk_label_all(t, k, node, c);
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
        vem_i_walk_label_leaf(t, k, node, room, left, thread);
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
            vem_i_walk_label_all(t, k, b->roots[r], t->decided[r]);
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
    k->task = VEM_I_ABOVE;
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

void vem_i_walk_run(vem_i_walk *t, int32_t *held, int known, int same,
                    const vem_progress *told, int may_skip, vem_i_stats *stats,
                    vem_i_labelled *result)
{
    const vem_i_scorer *s = t->scorer;
    const double n = (double)t->boxes->tree->view->n;
    t->held = held;
    t->known = known;
    t->same = same;
    t->step++;
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
