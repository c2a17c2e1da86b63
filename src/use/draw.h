/* Rows drawn from a mixture. */
#ifndef VEM_USE_DRAW_H
#define VEM_USE_DRAW_H

#include "model/model.h"

/* Rows first .. first + n - 1 of those that the seed gives, n x D, and their clusters (or NULL). */
vem_status vem_i_draw(vem_i_run *run, const vem_model *model, uint64_t seed,
                      int64_t first, int64_t n, double *rows, int32_t *labels);

#endif
