/* How well a tree keeps classes together.
 *
 *     purity(i, j) = share of their class in the smallest subtree with i and j
 *     pairs        = mean of purity(i, j) over the pairs of one class  (Kurihara and Welling)
 *     rows         = mean over i, then over its class-mates j  (Heller and Ghahramani)
 *
 * A node with children that hold a_l and b_l rows of class l is the smallest subtree
 * of a_l b_l pairs, whose purity is (a_l + b_l) / size; a leaf of several rows is that
 * of the pairs inside it. Both means follow from sums over classes; a class of one row
 * has no pairs.
 *
 * Counts are kept along heavy paths: from a node down to the larger child until a
 * leaf. Upwards from there, the rows of the smaller children are added one after the
 * other, so that a row is looked at O(log n) times however deep the tree is, with one
 * counter for each class. */
#include <inttypes.h>
#include <math.h>

#include "base/bucket_sort.h"
#include "base/memory.h"
#include "base/structs.h"
#include "metrics/numbering.h"
#include "model/dendrogram.h"

typedef struct purity {
    const vem_dendrogram *tree;
    int64_t *class_of;     /* of rows, numbered */
    int64_t *rows_of_leaf; /* how many */
    int64_t *start, *size; /* of nodes, in the order of the leaves, in rows */
    int64_t *order;        /* classes of the rows in that order */
    int64_t *count,
        *added;    /* of classes: on the path so far, and in the part that is added */
    int64_t *seen; /* classes of that part */
    double *sum;   /* of classes: purities of their pairs */
    int64_t *class_size;
    int64_t classes;
} purity;

/* Rows from `begin` on, which are one part: pairs with what is counted (or, in a leaf,
 * inside the part). */
static void add_part(purity *p, int64_t begin, int64_t rows, int64_t size, int leaf)
{
    int64_t classes = 0;
    for (int64_t i = begin; i < begin + rows; i++)
        if (p->added[p->order[i]]++ == 0)
            p->seen[classes++] = p->order[i];
    for (int64_t i = 0; i < classes; i++) {
        const int64_t l = p->seen[i];
        const double a = (double)p->count[l], b = (double)p->added[l];
        const double pairs = leaf ? 0.5 * b * (b - 1) : a * b;
        p->sum[l] += pairs * ((a + b) / (double)size);
        p->count[l] += p->added[l];
        p->added[l] = 0;
    }
}

/* The path of a node that is the root or a smaller child. `path`: room for its nodes. */
static void climb(purity *p, int64_t top, int64_t *path)
{
    const int64_t n = p->tree->leaves;
    int64_t length = 0, node = top;
    while (node >= n) {
        const vem_dendrogram_merge *m = &p->tree->merges[node - n];
        path[length++] = node;
        node = p->size[m->a] >= p->size[m->b] ? m->a : m->b;
    }
    add_part(p, p->start[node], p->size[node], p->size[node], 1);
    while (length > 0) {
        const int64_t parent = path[--length];
        const vem_dendrogram_merge *m = &p->tree->merges[parent - n];
        const int64_t other = m->a == node ? m->b : m->a;
        add_part(p, p->start[other], p->size[other], p->size[parent], 0);
        node = parent;
    }
    for (int64_t i = p->start[top]; i < p->start[top] + p->size[top]; i++)
        p->count[p->order[i]] = 0;
}

static void climb_all(purity *p, int64_t *path)
{
    const int64_t n = p->tree->leaves;
    climb(p, 2 * n - 2, path);
    for (int64_t k = 0; k < n - 1; k++) {
        const vem_dendrogram_merge *m = &p->tree->merges[k];
        climb(p, p->size[m->a] >= p->size[m->b] ? m->b : m->a, path);
    }
}

/* Classes of the rows in the order of the leaves. */
static void order_rows(purity *p)
{
    const vem_dendrogram *t = p->tree;
    for (int64_t i = 0; i < t->rows; i++)
        p->rows_of_leaf[t->leaf_of ? t->leaf_of[i] : i]++;
    vem_i_dendrogram_places(t, p->rows_of_leaf, p->start, p->size);
    for (int64_t i = 0; i < t->leaves; i++)
        p->rows_of_leaf[i] = p->start[i];
    for (int64_t i = 0; i < t->rows; i++)
        p->order[p->rows_of_leaf[t->leaf_of ? t->leaf_of[i] : i]++] = p->class_of[i];
}

static void finish(const purity *p, vem_dendrogram_agreement *found)
{
    double sum = 0, pairs = 0, rows = 0, of_rows = 0;
    for (int64_t l = 0; l < p->classes; l++) {
        const double size = (double)p->class_size[l], own = 0.5 * size * (size - 1);
        if (own <= 0)
            continue;
        sum += p->sum[l];
        pairs += own;
        of_rows += size * (p->sum[l] / own);
        rows += size;
    }
    found->pairs = pairs > 0 ? sum / pairs : NAN;
    found->rows = rows > 0 ? of_rows / rows : NAN;
    found->pair_count = pairs;
}

static vem_status measure(vem_i_run *run, purity *p, const int64_t *classes,
                          vem_dendrogram_agreement *found)
{
    const size_t rows = (size_t)p->tree->rows, leaves = (size_t)p->tree->leaves;
    int64_t *path = NULL;
    vem_status status = vem_i_take(run, &p->class_of, rows, sizeof(int64_t));
    if (status == VEM_OK)
        status =
            vem_i_number_labels(run, classes, p->tree->rows, p->class_of, &p->classes);
    const vem_i_room rooms[] = {
        {&p->rows_of_leaf, leaves, sizeof(int64_t), 1},
        {&p->start, 2 * leaves, sizeof(int64_t), 0},
        {&p->size, 2 * leaves, sizeof(int64_t), 0},
        {&p->order, rows, sizeof(int64_t), 0},
        {&p->count, (size_t)p->classes, sizeof(int64_t), 1},
        {&p->added, (size_t)p->classes, sizeof(int64_t), 1},
        {&p->seen, (size_t)p->classes, sizeof(int64_t), 0},
        {&p->class_size, (size_t)p->classes, sizeof(int64_t), 1},
        {&p->sum, (size_t)p->classes, sizeof(double), 1},
        {&path, leaves, sizeof(int64_t), 0},
    };
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status == VEM_OK) {
        for (size_t i = 0; i < rows; i++)
            p->class_size[p->class_of[i]]++;
        order_rows(p);
        climb_all(p, path);
        finish(p, found);
    }
    vem_i_free_rooms(rooms, VEM_I_COUNT(rooms));
    vem_i_free(p->class_of);
    return status;
}

vem_status vem_dendrogram_purity(vem_ctx *ctx, const vem_dendrogram *tree,
                                 const int64_t *classes, int64_t n,
                                 vem_dendrogram_agreement *result)
{
    VEM_I_NEED(ctx, ctx, tree, classes, result);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    vem_dendrogram_agreement found;
    vem_status status =
        vem_i_struct_in(run, "vem_dendrogram_agreement", result, &found, sizeof found);
    if (status != VEM_OK)
        return status;
    if (n != tree->rows)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "There are %" PRId64 " classes, but the tree is of %" PRId64
                          " rows.",
                          n, tree->rows);
    purity p = {.tree = tree};
    status = measure(run, &p, classes, &found);
    if (status == VEM_OK)
        vem_i_struct_out(&found, result, sizeof found);
    return status;
}
