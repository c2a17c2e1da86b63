/* What the tests of coresets share. */
#ifndef VEM_TESTS_CORESET_CHECKS_H
#define VEM_TESTS_CORESET_CHECKS_H

#include "data/coreset.h"
#include "grid.h"

/* A coreset that must succeed. */
vem_data *coreset_draw(vem_ctx *ctx, const vem_data *rows, int64_t size,
                       vem_coreset_method method, int64_t seed);
/* The definition of the chances, in the plainest words; from malloc. w NULL: all 1. */
double *coreset_chances(const double *x, const double *w, int64_t n, int32_t d);
double coreset_total(const double *values, int64_t n);
/* Every draw carries its row, as it was, and the weight w / (N' q). */
void coreset_assert_draws(vem_ctx *ctx, const vem_data *rows, const vem_data *coreset,
                          const double *q, double tolerance);

#endif
