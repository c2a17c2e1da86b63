/* Labels of a tree that was cut, for all rows that were read: those that were left out
 * have none. */
#include "base/memory.h"
#include "io/io.h"
#include "model/dendrogram.h"

/* From the last to the first, because no row moves forward. */
static void spread(const vem_dendrogram *tree, int32_t *labels)
{
    int64_t i = tree->rows - 1;
    for (int64_t row = tree->rows_read - 1; row >= 0; row--) {
        const int there = i >= 0 && vem_dendrogram_row(tree, i) == row;
        labels[row] = there ? labels[i] : -1;
        i -= there;
    }
}

vem_status vem_dendrogram_write_labels(vem_ctx *ctx, const vem_dendrogram *tree,
                                       int64_t clusters, const char *path)
{
    VEM_I_NEED(ctx, ctx, tree, path);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    const int with_ids = tree->ids != NULL;
    int32_t *labels = NULL;
    const char **ids = NULL;
    const vem_i_room rooms[] = {
        {&labels, (size_t)tree->rows_read, sizeof *labels, 0},
        {&ids, with_ids ? (size_t)tree->rows_read : 0, sizeof *ids, 1},
    };
    vem_status status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status == VEM_OK)
        status = vem_dendrogram_cut(ctx, tree, clusters, labels);
    if (status == VEM_OK)
        spread(tree, labels);
    for (int64_t i = 0; status == VEM_OK && with_ids && i < tree->rows; i++)
        ids[vem_dendrogram_row(tree, i)] = tree->ids[i];
    if (status == VEM_OK)
        status = vem_i_labels_write_ids(run, path, labels, tree->rows_read,
                                        with_ids ? ids : NULL, tree->id_name);
    vem_i_free(labels);
    vem_i_free((void *)ids);
    return status;
}
