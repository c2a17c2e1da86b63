/* Sizes that follow from the sizes of a problem, at both sides of every bound: cells and how deep the first
 * of them lie, and the starts of a few clusters. */
#define CONTEXT_THREADS 1
#include "asked.h"

#include "fit/starts_plan.h"

static vem_options resolved_of(const char *list, int64_t n, int32_t d)
{
    const vem_options asked = asked_of(list);
    vem_options resolved;
    if (vem_options_resolve(ctx, &asked, n, d, VEM_FLOAT64, &resolved) != VEM_OK)
        fail_msg("%s: %s", list, vem_ctx_message(ctx));
    return resolved;
}

/* ---- cells ---- */

/* The first cells are as deep as 128 of them for each cluster need, or as there is room for. */
static void check_depth(int64_t cells, int64_t clusters)
{
    char list[100];
    snprintf(list, sizeof list, "family=diag clusters=%d cells=%d", (int)clusters,
             (int)cells);
    const vem_options o = resolved_of(list, 1 << 20, 2);
    int64_t depth = 0;
    while (INT64_C(1) << depth < 128 * clusters && INT64_C(1) << (depth + 1) <= cells)
        depth++;
    assert_int_equal(o.cells, cells);
    assert_int_equal(o.depth, depth);
}

static void first_cells_lie_so_deep(void **state)
{
    (void)state;
    for (int64_t clusters = 1; clusters <= 8; clusters++)
        for (int64_t power = 64; power <= 1 << 16; power *= 2)
            for (int64_t off = -1; off <= 1; off++)
                check_depth(power + off, clusters);
    assert_int_equal(resolved_of("family=diag clusters=2 cells=256", 10000, 2).depth, 8);
    assert_int_equal(resolved_of("family=diag clusters=2 cells=255", 10000, 2).depth, 7);
    assert_int_equal(resolved_of("family=diag clusters=2 cells=9999", 10000, 2).depth, 8);
    assert_int_equal(resolved_of("family=diag clusters=3 cells=9999", 10000, 2).depth, 9);
}

/* kd-em: a 16th of the rows, from 256 to 4096 for each cluster and 8192 at least; where that is more than the
 * least the tree is as deep as there is room. moore-em: 256 for each cluster, 8192 at least, but no more than
 * half of the rows, and 4 for each cluster. */
static const struct {
    const char *algorithm;
    int64_t clusters, n, cells, depth;
} preset_cells[] = {
    {"kd-em", 5, 1000, 8192, 10},         {"kd-em", 5, 131072, 8192, 10},
    {"kd-em", 5, 131088, 8193, 28},       {"kd-em", 5, 327680, 20480, 28},
    {"kd-em", 5, 327696, 20480, 28},      {"kd-em", 40, 131088, 10240, 13},
    {"kd-em", 40, 163840, 10240, 13},     {"kd-em", 40, 163856, 10241, 28},
    {"moore-em", 5, 1000, 500, 8},        {"moore-em", 5, 16382, 8191, 12},
    {"moore-em", 5, 16384, 8192, 13},     {"moore-em", 5, 1000000, 8192, 13},
    {"moore-em", 40, 1000000, 10240, 13}, {"moore-em", 150, 1000, 600, 9},
};

static void presets_take_so_many_cells(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof preset_cells / sizeof *preset_cells; k++) {
        char list[100];
        snprintf(list, sizeof list, "algorithm=%s clusters=%d", preset_cells[k].algorithm,
                 (int)preset_cells[k].clusters);
        const vem_options o = resolved_of(list, preset_cells[k].n, 2);
        if (o.cells != preset_cells[k].cells || o.depth != preset_cells[k].depth)
            fail_msg("%s of %d rows: %d cells, depth %d", list, (int)preset_cells[k].n,
                     (int)o.cells, (int)o.depth);
    }
}

/* ---- starts ---- */

static const struct {
    const char *asked;
    int64_t n;
    int32_t d;
    int64_t rows, larger, runs, fresh;
} starts[] = {
    /* 256 rows for each cluster, and 2048 at least; all where that is more than half of them. 3.5 times the
     * work of a fit, in 3 to 18 runs, half of them fresh. */
    {"clusters=5", 4095, 10, 4095, 0, 3, 2},
    {"clusters=5", 4096, 10, 2048, 0, 7, 4},
    {"clusters=8", 4096, 10, 2048, 0, 7, 4},
    {"clusters=9", 4096, 10, 4096, 0, 3, 2},
    {"clusters=5", 20480, 10, 2048, 0, 18, 9},
    /* The best goes on with eight times as many for each cluster, an eighth of all at least. */
    {"clusters=5", 20482, 10, 2048, 10240, 18, 9},
    {"clusters=5", 81927, 10, 5120, 10240, 18, 9},
    {"clusters=5", 81928, 10, 5120, 10241, 18, 9},
    /* A 16th of many, up to 8192. */
    {"clusters=5", 32783, 10, 2048, 10240, 18, 9},
    {"clusters=5", 32784, 10, 2049, 10240, 18, 9},
    {"clusters=5", 1000000, 10, 8192, 125000, 18, 9},
    /* One run more for 16 clusters each; above that two are fresh. */
    {"clusters=16", 4100, 10, 4100, 0, 4, 2},
    {"clusters=17", 8703, 10, 8703, 0, 4, 2},
    {"clusters=17", 8704, 10, 4352, 0, 7, 2},
    {"clusters=64", 10000, 10, 10000, 0, 7, 2},
    {"clusters=65", 10000, 10, 0, 0, 0, 0},
    {"clusters=1", 10000, 10, 0, 0, 0, 0},
    {"clusters=5 swaps=0", 10000, 10, 0, 0, 0, 0},
    {"clusters=5 algorithm=kmeans", 10000, 10, 0, 0, 0, 0},
    /* With shapes 512 for each, 5 times the work in 4 to 16 runs, a quarter of them fresh. */
    {"clusters=5 family=diag", 5119, 10, 5119, 0, 5, 2},
    {"clusters=5 family=diag", 5120, 10, 2560, 0, 10, 2},
    {"clusters=5 family=diag", 100000, 10, 6250, 20480, 16, 4},
    {"clusters=5 family=full", 5120, 10, 2560, 0, 10, 2},
    {"clusters=5 family=full", 100000, 10, 6250, 20480, 24, 6},
    /* Of matrices 16 for each column, if that is more. */
    {"clusters=5 family=full", 5439, 34, 5439, 0, 5, 2},
    {"clusters=5 family=full", 5440, 34, 2720, 0, 10, 2},
    /* Of counts 128. */
    {"clusters=5 family=poisson", 4096, 10, 2048, 0, 10, 5},
    {"clusters=32 family=poisson", 8191, 10, 8191, 0, 5, 3},
    {"clusters=32 family=poisson", 8192, 10, 4096, 0, 10, 5},
};

static void starts_by_sizes(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        const vem_options o = resolved_of(starts[k].asked, starts[k].n, starts[k].d);
        const vem_i_starts_plan p =
            vem_i_starts_of(&o, o.algorithm == VEM_AUTO, 0, starts[k].n, starts[k].d,
                            starts[k].d);
        if (p.rows != starts[k].rows || p.larger != starts[k].larger ||
            p.runs != starts[k].runs || p.fresh != starts[k].fresh)
            print_error("%s of %d rows of %d: %d rows, %d, %d runs, %d fresh\n",
                        starts[k].asked, (int)starts[k].n, (int)starts[k].d, (int)p.rows,
                        (int)p.larger, (int)p.runs, (int)p.fresh);
        assert_int_equal(p.rows, starts[k].rows);
        assert_int_equal(p.larger, starts[k].larger);
        assert_int_equal(p.runs, starts[k].runs);
        assert_int_equal(p.fresh, starts[k].fresh);
    }
}

/* Of a coreset there are 3 runs at least and 3 times the work; on cells as many as the first of them allow. */
static void starts_of_fewer(void **state)
{
    (void)state;
    const vem_options o = resolved_of("clusters=5", 4096, 10);
    const vem_i_starts_plan p = vem_i_starts_of(&o, 1, 1, 4096, 10, 10);
    assert_int_equal(p.rows, 2048);
    assert_int_equal(p.runs, 6);
    static const struct {
        int64_t depth, cells, rows, runs;
        int32_t d;
    } cases[] = {
        {10, 8192, 1024, 18, 10},   {13, 8192, 8192, 18, 10},   {14, 8192, 8192, 18, 10},
        {13, 8192, 8192, 18, 1017}, {13, 8192, 8192, 17, 1018}, {13, 8192, 8192, 3, 6103},
        {13, 8192, 0, 0, 6104},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        vem_options cells = o;
        cells.cells = cases[k].cells;
        cells.depth = cases[k].depth;
        const vem_i_starts_plan q = vem_i_starts_on_cells(&cells, 1, cases[k].d);
        assert_int_equal(q.rows, cases[k].rows);
        assert_int_equal(q.runs, cases[k].runs);
        assert_int_equal(q.fresh, (q.runs + 1) / 2);
        assert_int_equal(vem_i_starts_on_cells(&cells, 0, cases[k].d).runs, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_cells_lie_so_deep),
        cmocka_unit_test(presets_take_so_many_cells),
        cmocka_unit_test(starts_by_sizes),
        cmocka_unit_test(starts_of_fewer),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
