/* What the tests of trees share. */
#ifndef VEM_TESTS_TREES_H
#define VEM_TESTS_TREES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "model/dendrogram.h"

#include "context.h"
#include "golden.h"

typedef struct case_of {
    vem_dendrogram_options tree;
    vem_options options;
    const double *weights;
} case_of;

static inline case_of plain_case(vem_dendrogram_method method)
{
    case_of c = {.tree = {.size = sizeof c.tree, .method = method}};
    vem_options_init(&c.options);
    return c;
}

static inline vem_dendrogram *grow(const case_of *c, const double *x, int64_t n,
                                   int32_t d)
{
    vem_data *data;
    vem_dendrogram *tree = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, n, d, 0, 0, &data), VEM_OK);
    if (c->weights)
        assert_int_equal(vem_data_set_weights(ctx, data, c->weights, n), VEM_OK);
    if (vem_agglomerate(ctx, data, &c->options, &c->tree, &tree) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    vem_data_free(data);
    return tree;
}

static inline void draw_rows(double *x, int64_t count, uint64_t seed)
{
    vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 0, 0);
    for (int64_t i = 0; i < count; i++)
        x[i] = vem_i_rng_normal(&rng);
}

#endif
