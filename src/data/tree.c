/* The tree of Verbeek, Nunnink and Vlassis (2006): cells of a bisecting tree.
 *
 * A node A stands for the items of its part of the view, with
 *
 *     n_A = sum w_i,   m_A = sum w_i x_i / n_A,
 *     V_A = sum w_i (V_i + (x_i - m_A) (x_i - m_A)') / n_A,
 *
 * of which V_A is kept whole, as its diagonal, as its trace, or not at all. It is
 * split by a hyperplane through m_A: orthogonal to the first principal axis v of its
 * items (left where v . (x - m_A) <= 0), which may then be moved halfway between the
 * means of the two sides, or to the column of largest variance, for which boxes are
 * kept as well. A leaf is a node whose items with a mass lie in one place, or one at
 * the greatest depth: the mean may cut off a few items at a time, and without a bound
 * on the depth a few outliers of ever larger scale would make each level cost as much
 * as the first.
 *
 * How it is made fast: the rows are copied once and then kept in the order of the
 * tree, so that every pass over a node goes over rows that lie together. A split is
 * three of them: which side (a bit for each row), a swap of rows on the wrong side,
 * sums of the children. Nodes of many rows are cut into pieces of a fixed size, over
 * which threads share the work; of the others each is a task's.
 *
 * Which item lies where depends on the splits of its ancestors alone. */
#include "data/tree.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/spill.h"
#include "data/tree_inside.h"

enum { DEPTH = 64, PIECE_ROWS = 32768, PIECE_VALUES = 1 << 20, LEAST_ROWS = 512 };

static size_t element_of(const vem_i_tree *tree)
{
    return tree->view->kernels->element;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- memory ---- */

/* Sizes that follow from the problem alone, but for those of threads. */
static void size_work(const vem_i_run *run, const vem_i_tree *tree, vem_i_tree_work *w)
{
    const vem_view *view = tree->view;
    const int64_t d = view->d, n = view->n;
    w->threads = run->threads;
    w->capacity = tree->spec.nodes;
    w->full = tree->spec.spread == VEM_I_SPREAD_FULL;
    const int64_t scatter = w->full ? d * (d + 1) / 2 : d;
    w->sums_doubles = 2 + d + scatter + (tree->spec.kind == VEM_I_TREE_BOXES ? 2 * d : 0);
    /* Pieces small enough to share, and so large that their sums take no more than the
     * rows. */
    int64_t rows = least(PIECE_ROWS, PIECE_VALUES / d);
    const int64_t enough = 4 * w->sums_doubles / d;
    rows = rows < enough ? enough : rows;
    rows = rows < LEAST_ROWS ? LEAST_ROWS : rows;
    w->piece_rows = (rows + 63) / 64 * 64;
    w->most_large = n > w->piece_rows ? n / w->piece_rows : 0;
    /* Of a node: its rows, then those of its children, whose last pieces may be short. */
    w->most_pieces = n / w->piece_rows + 2 * w->most_large + 1;
    w->spread_says = w->full && !view->spread;
    w->own_doubles = 2 * w->sums_doubles + 8 * d + 300;
    w->wide = vem_i_kernels_find(view->kernels->name, VEM_DOUBLE);
    w->block = w->full && d > VEM_I_TREE_PLAIN ? VEM_I_BLOCK : 0;
    w->own_row_doubles = w->block * (2 * d + 1);
}

static size_t rooms_of(vem_i_tree *tree, vem_i_room list[24])
{
    vem_i_tree_work *w = tree->work;
    const size_t n = (size_t)tree->view->n, nodes = (size_t)tree->spec.nodes,
                 d = (size_t)tree->view->d, threads = (size_t)w->threads,
                 words = (size_t)w->piece_rows / 64, large = (size_t)w->most_large,
                 pieces = (size_t)w->most_pieces;
    const int boxes = tree->spec.kind == VEM_I_TREE_BOXES;
    const vem_i_room rooms[] = {
        {&tree->x, tree->view->spilled ? 0 : n, d * element_of(tree), 0},
        {&tree->order, n, sizeof *tree->order, 0},
        {&tree->weights, tree->view->mass ? n : 0, sizeof *tree->weights, 0},
        {&tree->mass, nodes, sizeof *tree->mass, 0},
        {&tree->scatter, nodes, sizeof *tree->scatter, 0},
        {&tree->first, nodes, sizeof *tree->first, 0},
        {&tree->rows, nodes, sizeof *tree->rows, 0},
        {&tree->left, nodes, sizeof *tree->left, 0},
        {&tree->depth, nodes, sizeof *tree->depth, 0},
        {&tree->means, nodes, d * element_of(tree), 0},
        {&tree->spreads, tree->spread_ld ? nodes : 0,
         (size_t)tree->spread_ld * element_of(tree), 0},
        {&tree->boxes, boxes ? nodes : 0, 2 * d * element_of(tree), 0},
        {&w->column, boxes ? nodes : 0, sizeof *w->column, 0},
        {&w->list, nodes / 2 + 1, sizeof *w->list, 0},
        {&w->groups, nodes / 2 + 2, sizeof *w->groups, 0},
        {&w->large, large, sizeof *w->large, 0},
        {&w->axes, large, 2 * d * sizeof *w->axes, 0},
        {&w->sides, large ? n / 64 + large + 1 : 0, sizeof *w->sides, 0},
        {&w->pieces, pieces, sizeof *w->pieces, 0},
        {&w->piece_sums, pieces, (size_t)w->sums_doubles * sizeof *w->piece_sums, 0},
        {&w->own_sides, threads, words * sizeof *w->own_sides, 0},
        {&w->own, threads, (size_t)w->own_doubles * sizeof *w->own, 0},
        {&w->own_rows, w->block ? threads : 0,
         (size_t)w->own_row_doubles * sizeof *w->own_rows, 0},
    };
    memcpy(list, rooms, sizeof rooms);
    return VEM_I_COUNT(rooms);
}

void vem_i_tree_free(vem_i_tree *tree)
{
    if (!tree)
        return;
    if (tree->work) {
        vem_i_room rooms[24];
        if (tree->spill)
            tree->x = NULL;
        vem_i_free_rooms(rooms, rooms_of(tree, rooms));
        vem_i_free(tree->work);
    }
    vem_i_mapping_free(tree->spill);
    vem_i_free(tree);
}

/* ---- the root ---- */

static void copy_piece(void *arg, int64_t piece, int thread)
{
    const vem_i_tree *tree = arg;
    const vem_view *view = tree->view;
    const vem_i_tree_work *work = tree->work;
    const int64_t begin = piece * work->piece_rows,
                  end = least(begin + work->piece_rows, view->n);
    for (int64_t i = begin; i < end; i++) {
        vem_i_view_copy(view, i, vem_i_tree_row(tree, i));
        tree->order[i] = (uint32_t)i;
        if (tree->weights)
            tree->weights[i] = view->mass[i];
    }
    vem_i_tree_sum(tree, begin, end - begin, thread,
                   vem_i_tree_sums_in(tree,
                                      work->piece_sums + piece * work->sums_doubles));
}

static vem_status make_root(vem_i_run *run, vem_i_tree *tree)
{
    const vem_i_tree_work *work = tree->work;
    const int64_t pieces = vem_i_shards(tree->view->n, work->piece_rows);
    if (vem_i_parallel_watched(run, pieces, 8.0 * (double)work->piece_rows, copy_piece,
                               tree, NULL, VEM_I_SKIP))
        return vem_i_fail_stopped(run, "while the tree was built");
    const vem_i_tree_sums all = vem_i_tree_sums_in(tree, work->piece_sums);
    for (int64_t p = 1; p < pieces; p++)
        vem_i_tree_merge(tree, all,
                         vem_i_tree_sums_in(tree,
                                            work->piece_sums + p * work->sums_doubles));
    vem_i_tree_put(tree, 0, 0, 0, tree->view->n, all);
    tree->count = 1;
    return VEM_OK;
}

void vem_i_tree_put(const vem_i_tree *tree, int32_t node, int32_t depth, int64_t first,
                    int64_t rows, vem_i_tree_sums sums)
{
    const vem_i_kernels *kernels = tree->view->kernels;
    const int32_t d = tree->view->d;
    const double mass = *sums.mass, inverse = mass > 0 ? 1 / mass : 0;
    const int64_t values = tree->spread_ld;
    double trace = 0;
    for (int32_t j = 0; j < d; j++)
        trace += sums.scatter[tree->work->full ? (int64_t)j * (j + 3) / 2 : j];
    tree->mass[node] = mass;
    tree->scatter[node] = trace;
    tree->first[node] = first;
    tree->rows[node] = rows;
    tree->depth[node] = depth;
    const int split = rows > 1 && *sums.places > 0 && depth < tree->spec.depth;
    tree->left[node] = split ? VEM_I_TREE_OPEN : VEM_I_TREE_LEAF;
    vem_i_narrow(kernels, sums.mean, d,
                 (char *)tree->means + (size_t)(node * tree->ld) * kernels->element);
    if (values == 1 && tree->spec.spread == VEM_I_SPREAD_TRACE)
        vem_i_store(kernels, tree->spreads, node, trace * inverse);
    else
        for (int64_t k = 0; k < values; k++)
            vem_i_store(kernels, tree->spreads, node * values + k,
                        sums.scatter[k] * inverse);
    if (tree->boxes) {
        vem_i_narrow(kernels, sums.low, 2 * (int64_t)d,
                     (char *)tree->boxes +
                         (size_t)(2 * (int64_t)d * node) * kernels->element);
        tree->work->column[node] =
            vem_i_tree_widest(NULL, sums.scatter, d, tree->work->full);
    }
}

static vem_status take(vem_i_run *run, vem_i_tree *tree)
{
    vem_i_room rooms[24];
    vem_status status = vem_i_take_structs(run, &tree->work, 1, sizeof *tree->work);
    if (status != VEM_OK)
        return status;
    size_work(run, tree, tree->work);
    status = vem_i_take_rooms(run, rooms, rooms_of(tree, rooms));
    if (status == VEM_OK && tree->view->spilled && !run->counted) {
        status =
            vem_i_spill_new(run,
                            (size_t)(tree->view->n * tree->view->d) * element_of(tree),
                            &tree->spill);
        tree->x = status == VEM_OK ? tree->spill->bytes : NULL;
    }
    return status;
}

vem_status vem_i_tree_new(vem_i_run *run, const vem_view *view,
                          const vem_i_tree_spec *spec, vem_i_tree **tree)
{
    vem_i_tree *made;
    if (view->n > UINT32_MAX)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "A tree has room for %lld items, but there are %lld.",
                          (long long)UINT32_MAX, (long long)view->n);
    vem_status status = vem_i_take_structs(run, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    made->view = view;
    made->spec = *spec;
    made->spec.nodes = least(spec->nodes, least(2 * view->n - 1, INT32_MAX));
    made->spec.nodes = made->spec.nodes > 0 ? made->spec.nodes : 1;
    made->spec.depth = spec->depth > 0 ? spec->depth : DEPTH;
    made->ld = view->d;
    made->spread_ld = vem_i_spread_values(spec->spread, view->d);
    status = take(run, made);
    if (status == VEM_OK && !run->counted)
        status = make_root(run, made);
    if (status != VEM_OK) {
        vem_i_tree_free(made);
        return status;
    }
    *tree = made;
    return VEM_OK;
}
