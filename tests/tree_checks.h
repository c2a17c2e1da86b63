/* What the tests of trees share: views of a test's rows, and the laws of a tree. */
#ifndef VEM_TESTS_TREE_CHECKS_H
#define VEM_TESTS_TREE_CHECKS_H

#include "data/points.h"
#include "data/tree.h"
#include "grid.h"
#include "run.h"

typedef struct tree_case {
    grid_data data;
    vem_data *rows;
    vem_i_points *points; /* its view is what trees stand over */
} tree_case;

void tree_case_new(tree_case *c, vem_ctx *ctx, grid_set set, grid_weights weights,
                   int64_t n, int32_t d, vem_precision precision, uint64_t seed);
void tree_case_free(tree_case *c);

vem_i_tree *tree_made(vem_ctx *ctx, const vem_view *view, vem_i_tree_kind kind,
                      vem_i_spread_kind spread, int64_t nodes, int32_t depth);
/* The same, split until only leaves are left. */
vem_i_tree *tree_whole(vem_ctx *ctx, const vem_view *view, vem_i_tree_kind kind,
                       vem_i_spread_kind spread, int32_t depth);

/* Every law that holds for a tree at any time. */
void tree_check(const vem_i_tree *tree);
/* The same nodes to the last bit; their numbers may differ. */
void tree_check_same(const vem_i_tree *a, const vem_i_tree *b);

#endif
