/* --blocks: how many, for whom, and how rows come into them. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "fit/attempt_inside.h"

enum { BLOCKS = 25 }; /* the best of those that Verbeek, Nunnink and Vlassis tried */

vem_status vem_i_settle_blocks(vem_i_run *run, vem_options *o)
{
    if (o->blocks == VEM_AUTO)
        o->blocks = o->algorithm == VEM_ALGORITHM_INCREMENTAL_EM ? BLOCKS : 1;
    if (o->blocks == 1)
        return VEM_OK;
    if (!vem_i_holds_all(o))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--blocks is %lld, but blocks keep statistics of rows that hold all "
            "clusters, and here they hold %lld of %lld: use --search all.",
            (long long)o->blocks, (long long)o->held, (long long)o->clusters);
    if (vem_i_grows(o))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--blocks is %lld, but --algorithm greedy weighs a cluster more "
            "with all rows at once.",
            (long long)o->blocks);
    return VEM_OK;
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Each row to a random block, all of one size; within a block they keep their order. */
vem_status vem_i_attempt_shuffle(vem_i_attempt *a)
{
    const vem_view *view = a->view;
    const int64_t n = view->n, each = vem_i_shards(n, a->programme->options.blocks);
    uint32_t *order = NULL;
    if (!vem_i_programme_shuffles(a->programme) || !a->points || a->points->rows ||
        vem_i_view_is_sparse(view) || n > UINT32_MAX)
        return VEM_OK;
    vem_status status = vem_i_take(a->run, &order, (size_t)n, sizeof *order);
    if (status != VEM_OK)
        return status;
    vem_i_rng rng = vem_i_rng_at(a->seed, VEM_RNG_BLOCKS, 0, 0);
    for (int64_t i = 0; i < n; i++) { /* Fisher and Yates, from inside out */
        const int64_t k = (int64_t)vem_i_rng_below(&rng, (uint64_t)i + 1);
        order[i] = order[k];
        order[k] = (uint32_t)i;
    }
    for (int64_t b = 0; b * each < n; b++)
        qsort(order + b * each, (size_t)(n - b * each < each ? n - b * each : each),
              sizeof *order, compare);
    status = vem_i_points_reorder(a->run, a->points, order);
    vem_i_free(order);
    return status;
}
