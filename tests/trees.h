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
#include <jansson.h>

#include "base/rng.h"
#include "model/dendrogram.h"

#include "context.h"

static inline json_t *golden_file(const char *name)
{
    char path[4096];
    const char *source = getenv("VEM_SOURCE");
    snprintf(path, sizeof path, "%s/tests/golden/%s", source ? source : ".", name);
    json_t *json = json_load_file(path, 0, NULL);
    assert_non_null(json);
    return json;
}

/* Numbers of a list of lists, or of numbers. */
static inline int64_t numbers_of(const json_t *list, double *out)
{
    int64_t count = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (json_is_array(one))
            count += numbers_of(one, out + count);
        else
            out[count++] = json_number_value(one);
    }
    return count;
}

static inline void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

typedef struct case_of {
    vem_tree_options tree;
    vem_options options;
    const double *weights;
} case_of;

static inline case_of plain_case(vem_tree_method method)
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
