/* Times of building a tree over rows, and what its cells leave.
 *
 *     tree FILE N D float|double THREADS REPEATS [KIND SPREAD CELLS]...
 *
 * FILE has N rows of D values as they are in memory; KIND is principal, boxes or
 * means, SPREAD none, trace, diag or full, CELLS the number of leaves (0: down to
 * single places). One line of JSON for each: the best seconds on the clock and of the
 * processor, nodes, depth, and the scatter inside the leaves as a share of that of all
 * rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data/tree.h"

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static int named(const char *word, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    fail("A kind is principal, boxes or means, a spread none, trace, diag or full.");
    return 0;
}

static void measure(vem_i_run *run, const vem_view *view, const vem_i_tree_spec *spec,
                    int64_t cells, int repeats)
{
    double best = 1e300, best_processor = 1e300, inside = 0;
    int64_t nodes = 0;
    int32_t depth = 0;
    for (int r = 0; r < repeats; r++) {
        vem_i_tree *tree;
        const double start = seconds_of(CLOCK_MONOTONIC),
                     processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        if (vem_i_tree_new(run, view, spec, &tree) != VEM_OK ||
            vem_i_tree_build(run, tree, cells, 0) != VEM_OK)
            fail(vem_ctx_message(run->ctx));
        const double taken = seconds_of(CLOCK_MONOTONIC) - start,
                     used = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processor;
        best = taken < best ? taken : best;
        best_processor = used < best_processor ? used : best_processor;
        nodes = tree->count;
        inside = 0;
        for (int64_t i = 0; i < nodes; i++) {
            depth = tree->depth[i] > depth ? tree->depth[i] : depth;
            if (tree->left[i] < 0)
                inside += tree->scatter[i];
        }
        inside /= tree->scatter[0] > 0 ? tree->scatter[0] : 1;
        vem_i_tree_free(tree);
    }
    printf("{\"seconds\": %.4f, \"processor\": %.4f, \"leaves\": %lld, \"depth\": %d, "
           "\"inside\": %.6g}\n",
           best, best_processor, (long long)(nodes + 1) / 2, depth, inside);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"principal", "boxes", "means"},
                             *const spreads[] = {"none", "trace", "diag", "full"};
    if (argc < 7)
        fail("tree FILE N D float|double THREADS REPEATS [KIND SPREAD CELLS]...");
    const vem_precision precision =
        strcmp(argv[4], "float") == 0 ? VEM_SINGLE : VEM_DOUBLE;
    vem_view view = {.kernels = vem_i_kernels_find(NULL, precision),
                     .n = atoll(argv[2]),
                     .d = atoi(argv[3]),
                     .mass_unit = 1};
    view.ld = view.d;
    view.global_n = view.used = view.n;
    view.total_mass = (double)view.n;
    const size_t row = (size_t)view.d * view.kernels->element;
    void *x = malloc((size_t)view.n * row);
    FILE *stream = fopen(argv[1], "rb");
    if (!x || !stream || fread(x, row, (size_t)view.n, stream) != (size_t)view.n)
        fail("The file cannot be read.");
    fclose(stream);
    view.x = x;
    vem_ctx *ctx;
    vem_i_verb verb;
    if (vem_ctx_new(&ctx) != VEM_OK || vem_ctx_set_threads(ctx, atoi(argv[5])) != VEM_OK)
        fail("No context.");
    vem_i_run *run = vem_i_begin(ctx, &verb);
    for (int a = 7; a + 2 < argc; a += 3) {
        const int64_t cells = atoll(argv[a + 2]) > 0 ? atoll(argv[a + 2]) : view.n;
        const vem_i_tree_spec spec = {.kind = (vem_i_tree_kind)named(argv[a], kinds, 3),
                                      .spread = (vem_i_spread_kind)named(argv[a + 1],
                                                                         spreads, 4),
                                      .nodes = 2 * cells - 1};
        measure(run, &view, &spec, cells, atoi(argv[6]));
    }
    vem_ctx_free(ctx);
    free(x);
    return 0;
}
