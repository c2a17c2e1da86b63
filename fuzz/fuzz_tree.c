/* Tree files: each input changes a right tree of five leaves, with right checksums, reads it, cuts it and
 * measures it. The first two bytes choose which array is malformed and how. */
#include <math.h>
#include <stdlib.h>

#include "archive.h"
#include "edits.h"
#include "fuzz.h"
#include "io/io.h"
#include "vem/vem.h"

enum { MERGES = 4, ROWS = 7 };

static vem_ctx *ctx;
static archive made;

vem_status __wrap_vem_i_npz_open(vem_i_run *c, const char *path, vem_i_npz **npz);
vem_status __wrap_vem_i_npz_open(vem_i_run *c, const char *path, vem_i_npz **npz)
{
    return vem_i_npz_parse(c, path, made.bytes, made.size, npz);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (vem_ctx_new(&ctx) != VEM_OK || vem_ctx_set_threads(ctx, 1) != VEM_OK)
        abort();
    return 0;
}

typedef struct sheet {
    double linkage[MERGES * 4], delta[MERGES], evidence[MERGES];
    int32_t leaves[ROWS + 1]; /* one more, for edits of whole words */
} sheet;

static const sheet right = {
    .linkage = {0, 1, 0, 2, 2, 3, 1.5, 2, 5, 6, 1.5, 4, 4, 7, 9, 5},
    .delta = {-1, 0.5, 0.25, 8},
    .evidence = {-9, -8, -7, -9},
    .leaves = {0, 1, 2, 3, 4, 4, 0},
};

static void build(const sheet *s, unsigned which, unsigned way)
{
    static const char *const odd_shapes[] = {"(0,)",   "(4611686018427387904, 4)",
                                             "(4, 3)", "()",
                                             "(16,)",  "(4, 0)"};
    static const char *const types[] = {"<f8", "<i8", "|u1", ">f8", "<f4", "|O"};
    static const char meta[] =
        "{\"kind\":\"tree\",\"method\":\"bayes\",\"log_evidence_leaves\":-12.5}";
    const struct {
        const char *name, *type, *shape;
        const void *values;
        size_t size;
    } arrays[] = {
        {"linkage", "<f8", "(4, 4)", s->linkage, sizeof s->linkage},
        {"delta", "<f8", "(4,)", s->delta, sizeof s->delta},
        {"log_evidence", "<f8", "(4,)", s->evidence, sizeof s->evidence},
        {"leaves", "<i4", "(7,)", s->leaves, ROWS * sizeof *s->leaves},
        {"meta", "|u1", "(60,)", meta, sizeof meta - 1},
    };
    enum { ARRAYS = sizeof arrays / sizeof *arrays };
    made.size = made.directory_size = 0;
    made.entries = 0;
    for (unsigned i = 0; i < ARRAYS; i++) {
        const int hit = which % (2 * ARRAYS) == i; /* as often none of them */
        if (hit && way % 16 == 15)
            continue;
        archive_add(&made, arrays[i].name,
                    hit && way % 16 > 6 && way % 16 < 13 ? types[way % 16 - 7]
                                                         : arrays[i].type,
                    hit && way % 16 > 0 && way % 16 < 7 ? odd_shapes[way % 16 - 1]
                                                        : arrays[i].shape,
                    arrays[i].values, arrays[i].size - (hit && way % 16 == 13));
    }
    archive_end(&made);
}

/* What is handed out is a tree. */
static void check_tree(const vem_dendrogram *tree)
{
    const int64_t n = vem_dendrogram_leaves(tree), rows = vem_dendrogram_rows(tree);
    const vem_merge *merges = vem_dendrogram_merges(tree);
    int32_t *labels = malloc((size_t)rows * sizeof *labels);
    int64_t *classes = calloc((size_t)rows, sizeof *classes);
    vem_tree_purity purity = {.size = sizeof purity};
    if (!labels || !classes || n < 2 || merges[n - 2].size != n)
        abort();
    for (int64_t k = 0; k < n - 1; k++)
        if (merges[k].a >= merges[k].b || merges[k].a < 0 || merges[k].b >= n + k ||
            !(merges[k].height >= 0))
            abort();
    for (int64_t clusters = 1; clusters <= n; clusters++) {
        if (vem_dendrogram_cut(ctx, tree, clusters, labels) != VEM_OK)
            abort();
        for (int64_t i = 0; i < rows; i++)
            if (labels[i] < 0 || labels[i] >= clusters)
                abort();
    }
    if (vem_dendrogram_purity(ctx, tree, classes, rows, &purity) != VEM_OK ||
        (rows > 1 && fabs(purity.pairs - 1) > 1e-12))
        abort();
    free(labels);
    free(classes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input in = {bytes, size};
    const unsigned which = fuzz_byte(&in), way = fuzz_byte(&in);
    const int untouched = in.left <= 3 && way % 16 == 0;
    sheet s = right;
    vem_dendrogram *tree = NULL;
    while (in.left > 3)
        fuzz_edit(&in, (char *)&s, sizeof s);
    build(&s, which, way);
    if (vem_dendrogram_read(ctx, "fuzz.npz", &tree) == VEM_OK)
        check_tree(tree);
    else if (vem_ctx_message(ctx)[0] == '\0' || untouched)
        abort(); /* an error without a sentence, or of a right file */
    vem_dendrogram_free(tree);
    return 0;
}
