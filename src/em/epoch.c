/* An epoch of incremental EM.
 *
 *     for each block b:   q of its items from the model of now     F(q, theta) does not fall
 *                         theta from the statistics of all blocks  F(q, theta) does not fall
 *
 * The last of these M-steps is that of the loop, so that a step with one block is a step of EM. F is
 * the one of blocks.h, a lower bound of that of an E-step over all items.
 *
 * A stop ends it after the block at hand: the posteriors of the blocks after it are older, which F
 * allows for, and the E-step that ends the loop (em.c: collect) gives F and labels of this model. Where
 * states are written the epoch is made to its end, because there is none of its middle. */
#include "em/em.h"
#include "model/evidence.h"

/* The M-step between two blocks. Variances that are shared in the first steps of a fit stay so here;
 * they are never shared again. */
static void maximize(vem_i_em *em)
{
    em->constraints.shared = em->step <= em->shared_steps;
    em->constraints.relax = 1;
    vem_i_maximize(em->run, &em->scorer, &em->stats, &em->constraints, em->model);
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    em->midway = 1;
}

vem_i_estep_result vem_i_em_epoch(vem_i_em *em, const vem_progress *told)
{
    const int64_t count = vem_i_estep_blocks(em->estep)->used;
    vem_i_estep_result all = {0};
    for (int64_t b = 0; b < count; b++) {
        if (b > 0)
            maximize(em);
        const vem_i_estep_result one =
            vem_i_estep_run_block(em->estep, &em->posterior, b, &em->stats, em->may_skip);
        if (one.skipped)
            return one;
        all.log_sum = one.log_sum;
        all.pairs += one.pairs;
        all.changed += one.changed;
        vem_progress progress = *told;
        progress.done = b + 1;
        progress.total = count;
        vem_i_progress(em->run, &progress, 0);
        if (!em->run->ctx->checkpoint.path && vem_i_em_stopped(em))
            break;
    }
    return all;
}
