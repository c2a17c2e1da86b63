/* Heights. Merge k joins two clusters at a cost delta_k. Costs of linkages never fall
 * from merge to merge; those of evidence may, and may be negative. Pictures, scipy and
 * R want heights that neither fall nor are negative:
 *
 *     height_k = max_{j <= k} delta_j - min(0, delta_0)
 *
 * Cuts go by the order of the merges, not by heights: K clusters are what there was
 * before the last K - 1 of them. */
#include "model/dendrogram.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { NOTES = 4096 };

vem_status vem_i_dendrogram_new(vem_i_run *run, int64_t leaves, int64_t rows, int grouped,
                                vem_dendrogram **tree)
{
    vem_dendrogram *made;
    vem_status status = vem_i_take_structs(run, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    made->leaves = leaves;
    made->rows = made->rows_read = rows;
    const vem_i_room rooms[] = {
        {&made->merges, (size_t)(leaves - 1), sizeof *made->merges, 1},
        {&made->leaf_of, grouped ? (size_t)rows : 0, sizeof *made->leaf_of, 1},
        {&made->notes, NOTES, 1, 1},
    };
    status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status != VEM_OK) {
        vem_dendrogram_free(made);
        return status;
    }
    made->about = (vem_dendrogram_info){.size = sizeof made->about,
                                        .family = -1,
                                        .n = rows,
                                        .leaves = leaves,
                                        .log_evidence_leaves = NAN,
                                        .log_evidence = NAN};
    *tree = made;
    return VEM_OK;
}

vem_status vem_i_dendrogram_leave_out(vem_i_run *run, int64_t rows_read,
                                      vem_dendrogram *tree)
{
    tree->rows_read = rows_read;
    return vem_i_take(run, &tree->row_of, (size_t)tree->rows, sizeof *tree->row_of);
}

void vem_dendrogram_free(vem_dendrogram *tree)
{
    if (!tree)
        return;
    vem_i_free(tree->merges);
    vem_i_free(tree->leaf_of);
    vem_i_free(tree->row_of);
    vem_i_free((void *)tree->ids);
    vem_i_free(tree->id_name);
    vem_i_free(tree->notes);
    vem_i_free(tree);
}

void vem_i_dendrogram_note(vem_dendrogram *tree, const char *format, ...)
{
    const size_t used = strlen(tree->notes);
    va_list list;
    if (used + 2 > NOTES)
        return;
    if (used > 0)
        tree->notes[used] = '\n';
    va_start(list, format);
    vsnprintf(tree->notes + used + (used > 0), NOTES - used - 1, format, list);
    va_end(list);
}

/* Every node but the root is joined once, to one that is there before. `joined`: 2 N -
 * 1 zeros. */
static vem_status check_ids(vem_i_run *run, const char *source,
                            const vem_dendrogram *tree, uint8_t *joined)
{
    const int64_t n = tree->leaves;
    for (int64_t k = 0; k < n - 1; k++) {
        const vem_dendrogram_merge *m = &tree->merges[k];
        const int64_t ids[2] = {m->a, m->b};
        for (int side = 0; side < 2; side++) {
            if (ids[side] < 0 || ids[side] >= n + k)
                return vem_i_fail(run, VEM_BAD_DATA,
                                  "%s holds no tree: merge %" PRId64
                                  " joins node %" PRId64
                                  ", but the nodes before it are 0 to %" PRId64 ".",
                                  source, k + 1, ids[side], n + k - 1);
            if (joined[ids[side]]++)
                return vem_i_fail(run, VEM_BAD_DATA,
                                  "%s holds no tree: node %" PRId64
                                  " is joined twice, the second time by merge %" PRId64
                                  ".",
                                  source, ids[side], k + 1);
        }
    }
    return VEM_OK;
}

static void settle_sizes(vem_dendrogram *tree)
{
    const int64_t n = tree->leaves;
    for (int64_t k = 0; k < n - 1; k++) {
        vem_dendrogram_merge *m = &tree->merges[k];
        if (m->a > m->b) {
            const int64_t a = m->a;
            m->a = m->b;
            m->b = a;
        }
        m->size = (m->a < n ? 1 : tree->merges[m->a - n].size) +
                  (m->b < n ? 1 : tree->merges[m->b - n].size);
    }
}

static void settle_heights(vem_dendrogram *tree)
{
    double most = tree->merges[0].delta;
    const double base = most < 0 ? most : 0;
    for (int64_t k = 0; k < tree->leaves - 1; k++) {
        most = fmax(most, tree->merges[k].delta);
        tree->merges[k].height = most - base;
    }
}

/* Of all numbers of clusters on the path the one of the largest evidence; of equal
 * ones the fewest. */
static void settle_evidence(vem_dendrogram *tree)
{
    vem_dendrogram_info *about = &tree->about;
    about->clusters = 0;
    about->log_evidence = NAN;
    if (!isfinite(about->log_evidence_leaves))
        return;
    about->clusters = tree->leaves;
    about->log_evidence = about->log_evidence_leaves;
    for (int64_t k = 0; k < tree->leaves - 1; k++)
        if (tree->merges[k].log_evidence >= about->log_evidence) {
            about->log_evidence = tree->merges[k].log_evidence;
            about->clusters = tree->leaves - 1 - k;
        }
}

vem_status vem_i_dendrogram_settle(vem_i_run *run, const char *source,
                                   vem_dendrogram *tree)
{
    uint8_t *joined;
    vem_status status = vem_i_take_zeroed(run, &joined, 2 * (size_t)tree->leaves, 1);
    if (status == VEM_OK && joined) {
        status = check_ids(run, source, tree, joined);
        vem_i_free(joined);
    }
    if (status != VEM_OK || run->counted)
        return status;
    settle_sizes(tree);
    settle_heights(tree);
    settle_evidence(tree);
    return VEM_OK;
}

void vem_i_dendrogram_places(const vem_dendrogram *tree, const int64_t *weights,
                             int64_t *start, int64_t *size)
{
    const int64_t n = tree->leaves;
    for (int64_t i = 0; i < n; i++)
        size[i] = weights ? weights[i] : 1;
    for (int64_t k = 0; k < n - 1; k++)
        size[n + k] = size[tree->merges[k].a] + size[tree->merges[k].b];
    start[2 * n - 2] = 0;
    for (int64_t k = n - 2; k >= 0; k--) { /* a node comes before what it was made of */
        const vem_dendrogram_merge *m = &tree->merges[k];
        start[m->a] = start[n + k];
        start[m->b] = start[n + k] + size[m->a];
    }
}

const char *vem_i_dendrogram_leaf_name(const vem_dendrogram *tree,
                                       const char *const *names, int64_t leaf,
                                       char number[VEM_I_LEAF_NUMBER])
{
    if (names && names[leaf])
        return names[leaf];
    if (tree->ids && !tree->leaf_of)
        return tree->ids[leaf];
    snprintf(number, VEM_I_LEAF_NUMBER, "%" PRId64, leaf);
    return number;
}

/* ---- Cuts ---- */

vem_status vem_i_dendrogram_clusters(vem_i_run *run, const vem_dendrogram *tree,
                                     int64_t clusters, int32_t *cluster_of_leaf)
{
    const int64_t n = tree->leaves, made = n - clusters; /* merges */
    int32_t *top, *number = NULL; /* the node of a cut that one lies under; its number */
    vem_status status = vem_i_take(run, &top, (size_t)(n + made), sizeof *top);
    if (status != VEM_OK)
        return status;
    status = vem_i_take(run, &number, (size_t)(n + made), sizeof *number);
    if (status == VEM_OK) {
        int32_t count = 0;
        for (int64_t i = 0; i < n + made; i++) {
            top[i] = (int32_t)i;
            number[i] = -1;
        }
        for (int64_t k = made - 1; k >= 0; k--) {
            top[tree->merges[k].a] = top[n + k];
            top[tree->merges[k].b] = top[n + k];
        }
        for (int64_t i = 0; i < n; i++) {
            if (number[top[i]] < 0)
                number[top[i]] = count++;
            cluster_of_leaf[i] = number[top[i]];
        }
    }
    vem_i_free(top);
    vem_i_free(number);
    return status;
}

static vem_status cut_rows(vem_i_run *run, const vem_dendrogram *tree, int64_t clusters,
                           int32_t *labels)
{
    int32_t *of_leaf;
    if (!tree->leaf_of)
        return vem_i_dendrogram_clusters(run, tree, clusters, labels);
    vem_status status = vem_i_take(run, &of_leaf, (size_t)tree->leaves, sizeof *of_leaf);
    if (status != VEM_OK)
        return status;
    status = vem_i_dendrogram_clusters(run, tree, clusters, of_leaf);
    for (int64_t i = 0; status == VEM_OK && i < tree->rows; i++)
        labels[i] = of_leaf[tree->leaf_of[i]];
    vem_i_free(of_leaf);
    return status;
}

vem_status vem_dendrogram_cut(vem_ctx *ctx, const vem_dendrogram *tree, int64_t clusters,
                              int32_t *labels)
{
    VEM_I_NEED(ctx, ctx, tree, labels);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    if (clusters == 0 && tree->about.clusters == 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The tree has no evidence that would say how many clusters "
                          "there are (its method is %s): say it with --clusters.",
                          vem_dendrogram_method_name(tree->about.method));
    if (clusters == 0)
        clusters = tree->about.clusters;
    if (clusters < 1 || clusters > tree->leaves)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--clusters is %" PRId64 ", but a tree of %" PRId64
                          " leaves can be cut into 1 to %" PRId64 " clusters.",
                          clusters, tree->leaves, tree->leaves);
    return cut_rows(run, tree, clusters, labels);
}

/* ---- What it says of itself ---- */

#define NAME(NAME, name, what) #name,
static const char *const methods[] = {VEM_DENDROGRAM_TABLE(NAME)};
static const char *const ways[] = {VEM_PAIRS_TABLE(NAME)};
#undef NAME

const char *vem_dendrogram_method_name(vem_dendrogram_method method)
{
    return (int)method >= 0 && method < VEM_DENDROGRAM_COUNT ? methods[method] : NULL;
}

const char *vem_pairs_method_name(vem_pairs_method method)
{
    return (int)method >= 0 && method < VEM_PAIRS_COUNT ? ways[method] : NULL;
}

int64_t vem_dendrogram_leaves(const vem_dendrogram *tree)
{
    return tree ? tree->leaves : 0;
}

int64_t vem_dendrogram_rows(const vem_dendrogram *tree)
{
    return tree ? tree->rows : 0;
}

const vem_dendrogram_merge *vem_dendrogram_at(const vem_dendrogram *tree, int64_t merge)
{
    return tree && merge >= 0 && merge < tree->leaves - 1 ? &tree->merges[merge] : NULL;
}

const int32_t *vem_dendrogram_leaf_of_rows(const vem_dendrogram *tree)
{
    return tree ? tree->leaf_of : NULL;
}

int64_t vem_dendrogram_rows_read(const vem_dendrogram *tree)
{
    return tree ? tree->rows_read : 0;
}

int64_t vem_dendrogram_row(const vem_dendrogram *tree, int64_t i)
{
    return tree && tree->row_of && i >= 0 && i < tree->rows ? tree->row_of[i] : i;
}

const char *vem_dendrogram_id(const vem_dendrogram *tree, int64_t leaf)
{
    return tree && tree->ids && !tree->leaf_of && leaf >= 0 && leaf < tree->leaves
               ? tree->ids[leaf]
               : NULL;
}

const vem_dendrogram_info *vem_dendrogram_summary(const vem_dendrogram *tree)
{
    return tree ? &tree->about : NULL;
}

const char *vem_dendrogram_notes(const vem_dendrogram *tree)
{
    return tree ? tree->notes : "";
}
