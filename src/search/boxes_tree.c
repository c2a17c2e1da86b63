/* The tree of vem_i_boxes, the moments of its nodes, and how it is shared out.
 *
 * Nodes are cut at the mean of the column of largest variance until they are small.
 * Moments are kept in double about the mean of the node, whatever the type of the
 * rows: what is narrow in a cluster must not drown in what is wide (family_full.c).
 * Those of a node come from its children, those of a leaf from its rows. Roots and
 * tasks follow from the sizes alone. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "model/moments.h"
#include "search/boxes.h"

/* Few rows make many boxes, more make a walk end in more rows that are looked at one
 * by one: by measurement (docs/constants.md). Of many columns the moments of a node
 * would take more than its rows. */
enum { LEAF_COLUMNS = 16, LEAST = 32, MOST = 256, WIDE_COLUMNS = 4 };

static int64_t leaf_for(int32_t d)
{
    const int64_t rows = LEAF_COLUMNS * (int64_t)d, wide = WIDE_COLUMNS * (int64_t)d;
    const int64_t some = rows < LEAST ? LEAST : rows < MOST ? rows : MOST;
    return some > wide ? some : wide;
}

/* Cuts at the mean leave some two thirds of a leaf in each. Where there is no more
 * room, nodes stay larger. */
static int64_t nodes_for(int64_t n, int64_t leaf)
{
    return 2 * (2 * vem_i_shards(n, leaf) + 1) - 1;
}

static size_t rooms_of(vem_i_boxes *t, vem_i_room list[3])
{
    const size_t nodes = (size_t)t->tree->spec.nodes;
    const vem_i_room rooms[] = {
        {&t->sums, nodes, (size_t)t->stride * sizeof(double), 0},
        {&t->means, nodes, (size_t)t->tree->view->d * sizeof(double), 0},
        {&t->roots, nodes, sizeof *t->roots, 0},
    };
    memcpy(list, rooms, sizeof rooms);
    return VEM_I_COUNT(rooms);
}

void vem_i_boxes_free(vem_i_boxes *t)
{
    vem_i_room list[3];
    if (!t)
        return;
    if (t->tree)
        vem_i_free_rooms(list, rooms_of(t, list));
    vem_i_tree_free(t->tree);
    vem_i_free(t);
}

/* ---- the tree ---- */

/* `list` has room for all nodes. */
static vem_status divide(vem_i_run *run, vem_i_tree *tree, int64_t leaf, int32_t *list)
{
    for (int64_t from = 0, end; from < tree->count; from = end) {
        int64_t count = 0;
        end = tree->count;
        for (int64_t node = from; node < end; node++)
            if (tree->left[node] == VEM_I_TREE_OPEN && tree->rows[node] > leaf)
                list[count++] = (int32_t)node;
        vem_status status = vem_i_tree_split(run, tree, list, count);
        if (status != VEM_OK)
            return status;
    }
    return VEM_OK;
}

/* ---- moments ---- */

typedef struct summing {
    vem_i_boxes *boxes;
    const vem_i_kernels *wide;
    double *own; /* per thread: rows and panels of a block, weights, sums */
    int64_t own_size;
} summing;

static void add_block(const summing *s, const double *rows, const double *q, int32_t n,
                      double *panels, const double *mean, double *sums)
{
    const int32_t d = s->boxes->tree->view->d;
    double *first = sums + 1, *second = first + d;
    s->wide->pack(rows, d, NULL, n, d, NULL, panels, NULL);
    sums[0] += vem_i_moments_collect(s->wide, s->boxes->family, panels, q, n, d, mean,
                                     first, second);
}

static void sum_leaf(const summing *s, int64_t node, int thread)
{
    const vem_i_boxes *t = s->boxes;
    const vem_i_tree *tree = t->tree;
    const vem_i_kernels *kernels = tree->view->kernels;
    const int64_t d = tree->view->d, first = tree->first[node], n = tree->rows[node];
    double *rows = s->own + thread * s->own_size, *panels = rows + VEM_I_BLOCK * d,
           *q = panels + VEM_I_BLOCK * d, *sum = q + VEM_I_BLOCK, *squares = sum + d,
           *mean = t->means + node * d, *sums = t->sums + node * t->stride;
    const double *weights = tree->weights ? tree->weights + first : NULL;
    const void *x = (const char *)tree->x + (size_t)(first * d) * kernels->element;
    vem_i_widen(kernels, x, d, mean);
    memset(sum, 0, 2 * (size_t)d * sizeof *sum);
    kernels->moments(x, d, n, (int32_t)d, weights, mean, sum, squares);
    for (int64_t j = 0; tree->mass[node] > 0 && j < d; j++)
        mean[j] += sum[j] / tree->mass[node];
    memset(sums, 0, (size_t)t->stride * sizeof *sums);
    for (int64_t i = 0; i < n; i += VEM_I_BLOCK) {
        const int64_t some = n - i < VEM_I_BLOCK ? n - i : VEM_I_BLOCK;
        for (int64_t p = 0; p < some; p++)
            q[p] = weights ? weights[i + p] : 1;
        vem_i_widen(kernels, (const char *)x + (size_t)(i * d) * kernels->element,
                    some * d, rows);
        add_block(s, rows, q, (int32_t)some, panels, mean, sums);
    }
}

static void sum_some(void *arg, int64_t node, int thread)
{
    const summing *s = arg;
    if (s->boxes->tree->left[node] < 0)
        sum_leaf(s, node, thread);
}

/* A node from its children. e: d. */
static void merge(const vem_i_boxes *t, int64_t node, double *e)
{
    const int64_t d = t->tree->view->d, left = t->tree->left[node];
    double *mean = t->means + node * d, *sums = t->sums + node * t->stride;
    const double a = t->sums[left * t->stride], b = t->sums[(left + 1) * t->stride];
    const double share = a + b > 0 ? b / (a + b) : 0.5;
    for (int64_t j = 0; j < d; j++) {
        const double low = t->means[left * d + j], high = t->means[(left + 1) * d + j];
        mean[j] = low + share * (high - low);
    }
    memset(sums, 0, (size_t)t->stride * sizeof *sums);
    for (int64_t child = left; child < left + 2; child++) {
        for (int64_t j = 0; j < d; j++)
            e[j] = t->means[child * d + j] - mean[j];
        const vem_i_shift shift = {.e = e, .mass = 1, .distance = 1};
        vem_i_moments_add(t->family, (int32_t)d, t->sums + child * t->stride, &shift,
                          sums);
    }
}

static vem_status sum_nodes(vem_i_run *run, vem_i_boxes *t)
{
    const int64_t d = t->tree->view->d;
    summing s = {.boxes = t,
                 .wide = run->ctx->kernels_double,
                 .own_size = VEM_I_BLOCK * (2 * d + 1) + 2 * d};
    vem_status status =
        vem_i_take(run, &s.own, (size_t)run->threads, (size_t)s.own_size * sizeof *s.own);
    if (status == VEM_OK && !run->counted) {
        vem_i_parallel_light(run, t->tree->count, (double)(t->leaf * t->stride), sum_some,
                             &s);
        for (int64_t node = t->tree->count - 1; node >= 0; node--)
            if (t->tree->left[node] >= 0)
                merge(t, node, s.own);
    }
    vem_i_free(s.own);
    return status;
}

/* ---- tasks ---- */

/* The highest nodes of no more than a share of the rows, from left to right. */
static void find_roots(vem_i_boxes *t)
{
    const vem_i_tree *tree = t->tree;
    const int64_t share = tree->view->n / VEM_I_BOXES_TASKS;
    int32_t way[VEM_I_BOXES_DEPTH + 2];
    int depth = 0;
    way[0] = 0;
    while (depth >= 0) {
        const int32_t node = way[depth--];
        if (tree->left[node] < 0 || tree->rows[node] <= share) {
            t->roots[t->root_count++] = node;
        } else {
            way[++depth] = tree->left[node] + 1;
            way[++depth] = tree->left[node];
        }
    }
}

static void share_out(vem_i_boxes *t)
{
    const int64_t n = t->tree->view->n;
    for (int64_t r = 0; r < t->root_count; r++) {
        const int64_t begin = t->tree->first[t->roots[r]];
        if (t->tasks == 0 || begin * VEM_I_BOXES_TASKS >= t->tasks * n)
            t->starts[t->tasks++] = r;
    }
    t->starts[t->tasks] = t->root_count;
}

static vem_status make(vem_i_run *run, const vem_view *view, vem_i_boxes *t)
{
    const vem_i_tree_spec spec = {.kind = VEM_I_TREE_BOXES,
                                  .spread = VEM_I_SPREAD_NONE,
                                  .nodes = nodes_for(view->n, t->leaf),
                                  .depth = VEM_I_BOXES_DEPTH};
    vem_i_room list[3];
    vem_status status = vem_i_tree_new(run, view, &spec, &t->tree);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, rooms_of(t, list));
    if (status == VEM_OK && !run->counted)
        status = divide(run, t->tree, t->leaf, t->roots);
    if (status == VEM_OK)
        status = sum_nodes(run, t);
    if (status != VEM_OK || run->counted)
        return status;
    t->view = *view;
    t->view.x = t->tree->x;
    t->view.stored = VEM_I_STORED_PLAIN;
    t->view.ld = view->d;
    t->view.mass = t->tree->weights;
    find_roots(t);
    share_out(t);
    return VEM_OK;
}

vem_status vem_i_boxes_new(vem_i_run *run, const vem_view *view,
                           const vem_i_family *family, int64_t leaf, vem_i_boxes **boxes)
{
    vem_i_boxes *t;
    vem_status status = vem_i_take_structs(run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    t->family = family;
    t->leaf = leaf > 0 ? leaf : leaf_for(view->d);
    t->stride = vem_i_stats_stride(family, view->d);
    status = make(run, view, t);
    if (status == VEM_OK)
        *boxes = t;
    else
        vem_i_boxes_free(t);
    return status;
}
