/* Nodes of a tree are split: the small ones each by one task, the large ones in
 * pieces. */
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/tree_inside.h"

enum { GROUP_ROWS = 4096, GROUP_NODES = 64 };

typedef struct splitting {
    vem_i_run run;
    vem_i_tree *tree;
    int64_t count, groups, large, pieces;
    int32_t base; /* candidate i gets children base + 2 i and the next */
} splitting;

static int try_parallel(splitting *s, int64_t tasks, double operations, vem_i_task work)
{
    return vem_i_parallel_watched(&s->run, tasks, operations, work, s, NULL, VEM_I_SKIP);
}

static int is_large(const vem_i_tree *tree, int32_t node)
{
    return tree->rows[node] > tree->work->piece_rows;
}

/* ---- one task ---- */

/* Cut and make children of it; 0: all mass is on one side. */
static int cut_alone(const vem_i_tree *tree, int32_t node, int32_t slot,
                     const vem_i_tree_cut *cut, uint64_t *sides, double *own, int thread)
{
    const int64_t first = tree->first[node], rows = tree->rows[node];
    const int64_t right = vem_i_tree_sides(tree, cut, first, rows, sides);
    if (right == 0 || right == rows)
        return 0;
    vem_i_tree_swap(tree, first, sides, 0, rows - right, rows - right);
    const vem_i_tree_sums a = vem_i_tree_sums_in(tree, own),
                          b = vem_i_tree_sums_in(tree, own + tree->work->sums_doubles);
    vem_i_tree_sum(tree, first, rows - right, thread, a);
    vem_i_tree_sum(tree, first + rows - right, right, thread, b);
    if (!(*a.mass > 0) || !(*b.mass > 0))
        return 0;
    const int32_t depth = tree->depth[node] + 1;
    vem_i_tree_put(tree, slot, depth, first, rows - right, a);
    vem_i_tree_put(tree, slot + 1, depth, first + rows - right, right, b);
    return 1;
}

/* A slot of no rows: the node was not split. */
static void split_alone(const vem_i_tree *tree, int32_t node, int32_t slot,
                        uint64_t *sides, int by_axis, int thread)
{
    const vem_i_tree_work *work = tree->work;
    const int64_t d = tree->view->d;
    /* The sums of a call, two sums, axis and center, and what the axis needs. */
    double *own = work->own + thread * work->own_doubles + d,
           *axis = own + 2 * work->sums_doubles;
    vem_i_tree_cut cut = {.axis = axis, .center = axis + d};
    if (by_axis) {
        vem_i_tree_axis(tree, node, axis + 2 * d, &cut);
        if (cut_alone(tree, node, slot, &cut, sides, own, thread))
            return;
    }
    if (!vem_i_tree_middle(tree, node, axis + 2 * d, &cut) ||
        !cut_alone(tree, node, slot, &cut, sides, own, thread))
        tree->rows[slot] = 0;
}

static void split_group(void *arg, int64_t group, int thread)
{
    const splitting *s = arg;
    const vem_i_tree_work *work = s->tree->work;
    uint64_t *sides = work->own_sides + thread * (work->piece_rows / 64);
    for (int32_t i = work->groups[group]; i < work->groups[group + 1]; i++)
        if (!is_large(s->tree, work->list[i]))
            split_alone(s->tree, work->list[i], s->base + 2 * i, sides, 1, thread);
}

/* ---- pieces ---- */

static void find_axis(void *arg, int64_t number, int thread)
{
    const splitting *s = arg;
    const vem_i_tree_work *work = s->tree->work;
    vem_i_tree_large *large = &work->large[number];
    vem_i_tree_axis(s->tree, large->node, work->own + thread * work->own_doubles,
                    &large->cut);
}

static void tell_sides(void *arg, int64_t number, int thread)
{
    const splitting *s = arg;
    const vem_i_tree_piece *piece = &s->tree->work->pieces[number];
    const vem_i_tree_large *large = &s->tree->work->large[piece->large];
    (void)thread;
    vem_i_tree_sides(s->tree, &large->cut, s->tree->first[large->node] + piece->begin,
                     piece->rows, large->sides + piece->begin / 64);
}

static void swap_piece(void *arg, int64_t number, int thread)
{
    const splitting *s = arg;
    const vem_i_tree_piece *piece = &s->tree->work->pieces[number];
    const vem_i_tree_large *large = &s->tree->work->large[piece->large];
    const int64_t end = piece->begin + piece->rows;
    (void)thread;
    if (large->left > piece->begin)
        vem_i_tree_swap(s->tree, s->tree->first[large->node], large->sides, piece->begin,
                        end < large->left ? end : large->left, piece->from);
}

static void sum_piece(void *arg, int64_t number, int thread)
{
    const splitting *s = arg;
    const vem_i_tree_work *work = s->tree->work;
    const vem_i_tree_piece *piece = &work->pieces[number];
    vem_i_tree_sum(s->tree, piece->begin, piece->rows, thread,
                   vem_i_tree_sums_in(s->tree,
                                      work->piece_sums + number * work->sums_doubles));
}

static void merge_large(void *arg, int64_t number, int thread)
{
    const splitting *s = arg;
    const vem_i_tree *tree = s->tree;
    const vem_i_tree_work *work = tree->work;
    const vem_i_tree_large *large = &work->large[number];
    const int64_t begins[3] = {large->sums, large->sums + large->sums_left,
                               large->sums + large->sums_left + large->sums_right};
    vem_i_tree_sums sums[2];
    int made = large->left > 0 && large->left < tree->rows[large->node];
    for (int side = 0; made && side < 2; side++) {
        double *at = work->piece_sums + begins[side] * work->sums_doubles;
        sums[side] = vem_i_tree_sums_in(tree, at);
        for (int64_t p = begins[side] + 1; p < begins[side + 1]; p++) {
            at += work->sums_doubles;
            vem_i_tree_merge(tree, sums[side], vem_i_tree_sums_in(tree, at));
        }
    }
    if (made && *sums[0].mass > 0 && *sums[1].mass > 0) {
        const int64_t first = tree->first[large->node], left = large->left;
        const int32_t depth = tree->depth[large->node] + 1;
        vem_i_tree_put(tree, large->slot, depth, first, left, sums[0]);
        vem_i_tree_put(tree, large->slot + 1, depth, first + left,
                       tree->rows[large->node] - left, sums[1]);
    } else {
        split_alone(tree, large->node, large->slot, large->sides, 0, thread);
    }
}

/* The place behind the first `count` bits of 0 from `place` on. */
static int64_t pass_zeros(const uint64_t *sides, int64_t place, int64_t count)
{
    while (count > 0) {
        const int64_t left = 64 - place % 64;
        const int64_t zeros = left - vem_i_tree_count_right(sides, place, place + left);
        if (left == 64 && zeros <= count) {
            place += 64;
            count -= zeros;
        } else {
            count -= !(sides[place / 64] >> (place % 64) & 1);
            place++;
        }
    }
    return place;
}

/* How many rows go left, and which of those that lie too far right each piece swaps. */
static void count_sides(const vem_i_tree *tree, vem_i_tree_large *large)
{
    const int64_t rows = tree->rows[large->node];
    large->left = rows - vem_i_tree_count_right(large->sides, 0, rows);
    int64_t place = large->left;
    for (int64_t p = large->piece; p < large->piece + large->pieces; p++) {
        vem_i_tree_piece *piece = &tree->work->pieces[p];
        const int64_t end = piece->begin + piece->rows;
        if (piece->begin >= large->left)
            break;
        piece->from = place;
        place = pass_zeros(large->sides, place,
                           vem_i_tree_count_right(large->sides, piece->begin,
                                                  end < large->left ? end : large->left));
    }
}

static int64_t cut_pieces(const vem_i_tree_work *work, int32_t large, int64_t begin,
                          int64_t rows, int64_t piece)
{
    const int64_t pieces = vem_i_shards(rows, work->piece_rows);
    for (int64_t p = 0; p < pieces; p++) {
        const int64_t at = p * work->piece_rows, left = rows - at;
        work->pieces[piece + p] =
            (vem_i_tree_piece){.large = large,
                               .begin = begin + at,
                               .rows = left < work->piece_rows ? left : work->piece_rows};
    }
    return pieces;
}

static int split_large(splitting *s)
{
    vem_i_tree *tree = s->tree;
    const vem_i_tree_work *work = tree->work;
    const double operations = 10.0 * (double)(work->piece_rows * tree->view->d);
    uint64_t *sides = work->sides;
    int64_t pieces = 0;
    for (int64_t i = 0; i < s->large; i++) {
        vem_i_tree_large *large = &work->large[i];
        large->sides = sides;
        sides += vem_i_shards(tree->rows[large->node], 64);
        large->cut.axis = work->axes + 2 * i * tree->view->d;
        large->cut.center = large->cut.axis + tree->view->d;
        large->piece = pieces;
        large->pieces = cut_pieces(work, (int32_t)i, 0, tree->rows[large->node], pieces);
        pieces += large->pieces;
    }
    if (try_parallel(s, s->large, operations, find_axis) ||
        try_parallel(s, pieces, operations, tell_sides))
        return 1;
    for (int64_t i = 0; i < s->large; i++)
        count_sides(tree, &work->large[i]);
    if (try_parallel(s, pieces, operations, swap_piece))
        return 1;
    pieces = 0;
    for (int64_t i = 0; i < s->large; i++) {
        vem_i_tree_large *large = &work->large[i];
        const int64_t first = tree->first[large->node];
        large->sums = pieces;
        large->sums_left = cut_pieces(work, (int32_t)i, first, large->left, pieces);
        pieces += large->sums_left;
        large->sums_right = cut_pieces(work, (int32_t)i, first + large->left,
                                       tree->rows[large->node] - large->left, pieces);
        pieces += large->sums_right;
    }
    return try_parallel(s, pieces, operations, sum_piece) ||
           try_parallel(s, s->large, operations, merge_large);
}

/* ---- all of them ---- */

static void list_nodes(splitting *s, const int32_t *nodes, int64_t count)
{
    const vem_i_tree *tree = s->tree;
    vem_i_tree_work *work = tree->work;
    const int64_t room = (work->capacity - tree->count) / 2;
    int64_t rows = 0, begun = 0;
    for (int64_t i = 0; i < count && s->count < room; i++)
        if (tree->left[nodes[i]] == VEM_I_TREE_OPEN)
            work->list[s->count++] = nodes[i];
    s->base = (int32_t)tree->count;
    work->groups[0] = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const int32_t node = work->list[i];
        if (is_large(tree, node))
            work->large[s->large++] =
                (vem_i_tree_large){.node = node, .slot = s->base + 2 * (int32_t)i};
        else
            rows += tree->rows[node];
        if (rows >= GROUP_ROWS || i + 1 - begun == GROUP_NODES || i + 1 == s->count) {
            work->groups[++s->groups] = (int32_t)i + 1;
            rows = 0;
            begun = i + 1;
        }
    }
}

static void move_node(const vem_i_tree *tree, int64_t to, int64_t from)
{
    const size_t element = tree->view->kernels->element;
    const int64_t d = tree->view->d;
    tree->mass[to] = tree->mass[from];
    tree->scatter[to] = tree->scatter[from];
    tree->first[to] = tree->first[from];
    tree->rows[to] = tree->rows[from];
    tree->left[to] = tree->left[from];
    tree->depth[to] = tree->depth[from];
#define MOVE(array, values)                                                              \
    memcpy((char *)(array) + (size_t)(to * (values)) * element,                          \
           (char *)(array) + (size_t)(from * (values)) * element,                        \
           (size_t)(values)*element)
    MOVE(tree->means, d);
    if (tree->spreads)
        MOVE(tree->spreads, tree->spread_ld);
    if (tree->boxes) {
        MOVE(tree->boxes, 2 * d);
        tree->work->column[to] = tree->work->column[from];
    }
#undef MOVE
}

/* Children get their numbers; those of nodes that could not be split leave no gap. */
static void number_children(const splitting *s)
{
    vem_i_tree *tree = s->tree;
    for (int64_t i = 0; i < s->count; i++) {
        const int32_t node = tree->work->list[i];
        const int64_t slot = s->base + 2 * i;
        if (tree->rows[slot] == 0) {
            tree->left[node] = VEM_I_TREE_LEAF;
            continue;
        }
        if (slot != tree->count) {
            move_node(tree, tree->count, slot);
            move_node(tree, tree->count + 1, slot + 1);
        }
        tree->left[node] = (int32_t)tree->count;
        tree->count += 2;
    }
}

vem_status vem_i_tree_split(vem_i_run *run, vem_i_tree *tree, const int32_t *nodes,
                            int64_t count)
{
    splitting s = {.run = *run, .tree = tree};
    if (s.run.threads > tree->work->threads)
        s.run.threads = tree->work->threads;
    list_nodes(&s, nodes, count);
    if (s.count == 0)
        return VEM_OK;
    const double operations =
        20.0 * (double)tree->view->d * ((double)tree->view->n / (double)tree->count + 10);
    if ((s.large > 0 && split_large(&s)) ||
        try_parallel(&s, s.groups, operations, split_group))
        return vem_i_fail_stopped(run, "while the tree was built");
    number_children(&s);
    return VEM_OK;
}
