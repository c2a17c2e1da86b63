/* Agglomerative clustering: a tree of merges, cut where it has the most evidence.
 *
 *     cc cut_tree.c $(pkg-config --cflags --libs vem) && ./a.out customers.csv name tree.nwk
 *
 * Reads a table, whose column of ids (the second word) names the leaves; the tree is written as
 * Newick text when there is a third. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <vem/vem.h>

/* The first few members of each cluster of the best cut. */
static vem_status show(vem_ctx *ctx, const vem_dendrogram *tree)
{
    enum { SHOWN = 4 };
    const vem_dendrogram_info *info = vem_dendrogram_summary(tree);
    int32_t *labels = malloc(sizeof *labels * (size_t)info->n);
    if (!labels)
        return VEM_NO_MEMORY;
    const vem_status status = vem_dendrogram_cut(ctx, tree, 0, labels);
    printf("%" PRId64 " rows, %" PRId64 " merges, %" PRId64 " clusters\n", info->n,
           info->leaves - 1, info->clusters);
    for (int32_t c = 0; status == VEM_OK && c < info->clusters; c++) {
        printf("cluster %" PRId32 ":", c);
        int shown = 0;
        for (int64_t i = 0; i < info->n && shown < SHOWN; i++)
            if (labels[i] == c) {
                const char *id = vem_dendrogram_id(tree, i);
                printf(" %s", id ? id : "?");
                shown++;
            }
        printf(" ...\n");
    }
    free(labels);
    return status;
}

int main(int count, char **words)
{
    if (count < 3) {
        fprintf(stderr, "usage: %s TABLE.csv ID-COLUMN [TREE.nwk]\n", words[0]);
        return 2;
    }
    vem_ctx *ctx = NULL;
    vem_data *data = NULL;
    vem_dendrogram *tree = NULL;
    vem_options options;
    vem_options_init(&options);
    options.standardize = 1;
    const vem_read_options how = {.size = sizeof how, .id = words[2], .keep_ids = 1};
    const vem_dendrogram_options grow = {.size = sizeof grow,
                                         .method = VEM_DENDROGRAM_BAYES};
    vem_status status = vem_ctx_new(&ctx);
    if (status == VEM_OK)
        status = vem_data_read(ctx, words[1], &how, &data);
    if (status == VEM_OK)
        status = vem_agglomerate(ctx, data, &options, &grow, &tree);
    if (status == VEM_OK)
        status = show(ctx, tree);
    if (status == VEM_OK && count > 3)
        status = vem_dendrogram_write_newick(ctx, tree, NULL, words[3]);
    if (status != VEM_OK)
        fprintf(stderr, "%s\n", vem_ctx_message(ctx));
    vem_dendrogram_free(tree);
    vem_data_free(data);
    vem_ctx_free(ctx);
    return status != VEM_OK;
}
