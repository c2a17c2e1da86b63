/* The verb `sample`: rows drawn from a mixture. */
#include <inttypes.h>

#include "use/draw.h"

vem_status vem_sample(vem_ctx *ctx, const vem_model *model, uint64_t seed, int64_t first,
                      int64_t n, double *rows, int32_t *labels)
{
    VEM_I_NEED(ctx, ctx, model, rows);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    if (n < 1 || first < 0 || first > INT64_MAX - n)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "%" PRId64 " rows from row %" PRId64
            " on were asked for, but at least 1 row from 0 on can be drawn.",
            n, first);
    return vem_i_draw(run, model, seed, first, n, rows, labels);
}
