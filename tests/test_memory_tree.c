/* Every allocation of a tree may fail: then the verb says so and gives nothing, or it
 * could do without and gives the same as ever. */
#include <unistd.h>

#include "memory_digests.h"
#include "model/dendrogram.h"

enum { N = 40, D = 6 };

static vem_data *rows;
static grid_data made_rows;
static vem_dendrogram *tree;
static vem_dendrogram_options wanted;
static char drawn[64];
static char file[] = "/tmp/vem_tree_XXXXXX.npz", text[] = "/tmp/vem_tree_XXXXXX.json";

static void mix_tree(uint64_t *digest, const vem_dendrogram *t)
{
    mix(digest, t->merges, (size_t)(t->leaves - 1) * sizeof *t->merges);
    if (t->leaf_of)
        mix(digest, t->leaf_of, (size_t)t->rows * sizeof *t->leaf_of);
}

static vem_status grow(uint64_t *digest)
{
    vem_options o;
    vem_dendrogram *t = NULL;
    vem_options_init(&o);
    const vem_status status = vem_agglomerate(ctx, rows, &o, &wanted, &t);
    if (status == VEM_OK)
        mix_tree(digest, t);
    vem_dendrogram_free(t);
    return status;
}

static vem_status write_file(uint64_t *digest)
{
    (void)digest;
    return vem_dendrogram_write(ctx, tree, file);
}

static vem_status read_file(uint64_t *digest)
{
    vem_dendrogram *t = NULL;
    const vem_status status = vem_dendrogram_read(ctx, file, &t);
    if (status == VEM_OK)
        mix_tree(digest, t);
    vem_dendrogram_free(t);
    return status;
}

static vem_status cut(uint64_t *digest)
{
    int32_t labels[N];
    const vem_status status = vem_dendrogram_cut(ctx, tree, 5, labels);
    if (status == VEM_OK)
        mix(digest, labels, sizeof labels);
    return status;
}

static vem_status measure(uint64_t *digest)
{
    int64_t classes[N];
    vem_dendrogram_agreement purity = {.size = sizeof purity};
    for (int i = 0; i < N; i++)
        classes[i] = i % 3;
    const vem_status status = vem_dendrogram_purity(ctx, tree, classes, N, &purity);
    if (status == VEM_OK)
        mix(digest, &purity.pairs, sizeof purity.pairs);
    return status;
}

static vem_status newick(uint64_t *digest)
{
    (void)digest;
    return vem_dendrogram_write_newick(ctx, tree, NULL, text);
}

static vem_status for_r(uint64_t *digest)
{
    (void)digest;
    return vem_dendrogram_write_r(ctx, tree, NULL, text);
}

static vem_status picture(uint64_t *digest)
{
    (void)digest;
    return vem_dendrogram_draw(ctx, tree, NULL, 3, drawn);
}

static void every_allocation(void **state)
{
    (void)state;
    made_rows = grid_data_new(SET_SEPARATED, WEIGHTS_REAL, N, D, 5);
    rows = grid_borrow(ctx, &made_rows);
    const int npz = mkstemps(file, 4), json = mkstemps(text, 5);
    assert_true(npz >= 0 && json >= 0);
    snprintf(drawn, sizeof drawn, "%s.svg", text);
    close(npz);
    close(json);
    for (int method = 0; method < VEM_DENDROGRAM_COUNT; method++)
        for (int way = 0; way < (method == VEM_DENDROGRAM_BAYES ? 3 : 1); way++)
            for (int64_t leaves = 0; leaves <= 15; leaves += 15) {
                vem_options o;
                wanted = (vem_dendrogram_options){.size = sizeof wanted,
                                                  .method = (vem_dendrogram_method)method,
                                                  .pairs = (vem_pairs_method)way,
                                                  .leaves = leaves};
                vem_options_init(&o);
                each_allocation("grow", grow, 10);
                assert_int_equal(vem_agglomerate(ctx, rows, &o, &wanted, &tree), VEM_OK);
                each_allocation("write_file", write_file, 1);
                each_allocation("read_file", read_file, 3);
                each_allocation("cut", cut, 2);
                each_allocation("measure", measure, 5);
                each_allocation("newick", newick, 2);
                each_allocation("for_r", for_r, 2);
                each_allocation("picture", picture, 4);
                vem_dendrogram_free(tree);
            }
    unlink(file);
    unlink(text);
    unlink(drawn);
    vem_data_free(rows);
    grid_data_free(&made_rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
