/* Tree files: each input changes a right tree of five leaves, with right checksums, reads it, cuts it and
 * measures it. The first two bytes choose which array is malformed and how. */
#include <math.h>

#include "archive_target.h"
#include "edits.h"

enum { MERGES = 4, ROWS = 7 };

typedef struct sheet {
    double linkage[MERGES * 4], delta[MERGES], evidence[MERGES];
    int32_t leaves[ROWS];
    int32_t letter; /* of an id; '[': one id too many, and no text */
} sheet;

static const sheet right = {
    .linkage = {0, 1, 0, 2, 2, 3, 1.5, 2, 5, 6, 1.5, 4, 4, 7, 9, 5},
    .delta = {-1, 0.5, 0.25, 8},
    .evidence = {-9, -8, -7, -9},
    .leaves = {0, 1, 2, 3, 4, 4, 0},
    .letter = 'a',
};

static void build(const sheet *s, unsigned which, unsigned way)
{
    static const char *const odd_shapes[TARGET_SHAPES] = {
        "(0,)", "(4611686018427387904, 4)", "(4, 3)", "()", "(16,)", "(4, 0)"};
    char meta[256];
    const int letters =
        snprintf(meta, sizeof meta,
                 "{\"kind\":\"tree\",\"method\":\"bayes\",\"log_evidence_leaves\":-12.5,"
                 "\"leaf_ids\":[\"%c\",\"\",\"c\",\"d\",\"%s]}",
                 s->letter >= 'a' && s->letter <= 'z' ? s->letter : '?',
                 s->letter == '[' ? "e\",7" : "e\"");
    char length[32];
    snprintf(length, sizeof length, "(%zu,)", (size_t)letters);
    const target_array arrays[] = {
        {"linkage", "<f8", "(4, 4)", s->linkage, sizeof s->linkage, 0},
        {"delta", "<f8", "(4,)", s->delta, sizeof s->delta, 0},
        {"log_evidence", "<f8", "(4,)", s->evidence, sizeof s->evidence, 0},
        {"leaves", "<i4", "(7,)", s->leaves, sizeof s->leaves, 0},
        {"meta", "|u1", length, meta, (size_t)letters, 0},
    };
    enum { ARRAYS = sizeof arrays / sizeof *arrays };
    target_build(arrays, ARRAYS, which % (2 * ARRAYS), way, odd_shapes);
}

/* What is handed out is a tree. */
static void check_tree(const vem_dendrogram *tree)
{
    const int64_t n = vem_dendrogram_leaves(tree), rows = vem_dendrogram_rows(tree);
    int32_t *labels = malloc((size_t)rows * sizeof *labels);
    int64_t *classes = calloc((size_t)rows, sizeof *classes);
    vem_dendrogram_agreement purity = {.size = sizeof purity};
    if (!labels || !classes || n < 2 || vem_dendrogram_at(tree, n - 2)->size != n)
        abort();
    for (int64_t k = 0; k < n - 1; k++) {
        const vem_dendrogram_merge *m = vem_dendrogram_at(tree, k);
        if (m->a >= m->b || m->a < 0 || m->b >= n + k || !(m->height >= 0))
            abort();
    }
    for (int64_t i = 0; vem_dendrogram_id(tree, 0) && i < n; i++)
        if (strlen(vem_dendrogram_id(tree, i)) > 1)
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
    target_begin();
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
