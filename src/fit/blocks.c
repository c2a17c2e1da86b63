/* --blocks: for whom, and how rows come into them. */
#include "base/memory.h"
#include "base/rng.h"
#include "fit/attempt_inside.h"

vem_status vem_i_settle_blocks(vem_i_run *run, int64_t usual, vem_options *o)
{
    if (o->blocks == VEM_AUTO)
        o->blocks = usual > 0 ? usual : 1;
    if (o->clusters == 1)
        o->blocks = 1; /* whose posteriors are known */
    if (o->blocks == 1)
        return VEM_OK;
    if (!vem_i_holds_all(o) && o->held >= o->clusters)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--blocks is %lld, but blocks keep statistics of rows that hold all "
            "clusters, and --search %s need not find all of them: use --search all.",
            (long long)o->blocks, vem_choice_name("search", o->search));
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

/* Rows in random order, so that blocks are samples of all. Up to PIECE of them stay together where a
 * block still has many pieces: moving single rows of a large set would take as long as the fit. */
enum { PIECE = 64, PIECES = 256 };

vem_status vem_i_attempt_shuffle(vem_i_attempt *a)
{
    const vem_view *view = a->view;
    const int64_t most = view->n / a->programme->options.blocks / PIECES;
    const int64_t length = most < 1 ? 1 : most < PIECE ? most : PIECE;
    const int64_t n = view->n / length;
    uint32_t *order = NULL;
    if (!vem_i_programme_shuffles(a->programme) || !a->points || a->points->rows ||
        view->n > UINT32_MAX)
        return VEM_OK;
    vem_status status = vem_i_take(a->run, &order, (size_t)n, sizeof *order);
    if (status != VEM_OK)
        return status;
    vem_i_rng rng = vem_i_rng_at(a->seed, VEM_RNG_BLOCKS, 0, 0);
    for (int64_t i = 0; i < n; i++) { /* Fisher and Yates, from inside out */
        const int64_t k = (int64_t)vem_i_rng_below(&rng, (uint64_t)i + 1);
        order[i] = (uint32_t)i;
        order[i] = order[k];
        order[k] = (uint32_t)i;
    }
    status = vem_i_points_reorder(a->run, a->points, order, length);
    vem_i_free(order);
    return status;
}
