/* Log sums and distances of items that a search takes in an order of its own.
 *
 * A search that keeps items in the order of what they hold goes through them in that order, which is
 * another one in every step, and of several processes each has its own. So what an item has found is left in its
 * place, and added up afterwards, shard by shard in the order of the places: then the sums do not depend on
 * who lies beside whom, and are those of any other search that finds the same. It costs some bytes of each item, and
 * one pass over these. */
#include "em/estep_inside.h"

#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"

vem_status vem_i_estep_take_items(vem_i_estep *t)
{
    const size_t n = (size_t)t->view->n;
    vem_status status = vem_i_take(t->run, &t->costs, n, t->view->kernels->element);
    if (status == VEM_OK && t->search->spec.held > 1)
        status = vem_i_take(t->run, &t->logs, n, sizeof *t->logs);
    return status;
}

void vem_i_estep_leave_costs(const vem_i_estep *t, const vem_i_block *block)
{
    if (t->view->kernels->precision == VEM_SINGLE)
        for (int32_t p = 0; p < block->n; p++)
            ((float *)t->costs)[vem_i_block_item(block, p)] =
                ((const float *)block->costs)[p];
    else
        for (int32_t p = 0; p < block->n; p++)
            ((double *)t->costs)[vem_i_block_item(block, p)] =
                ((const double *)block->costs)[p];
}

void vem_i_estep_leave_logs(const vem_i_estep *t, const vem_i_block *block,
                            const double *log_sum)
{
    double *kept = t->posterior->log_sums;
    for (int32_t p = 0; t->logs && p < block->n; p++)
        t->logs[vem_i_block_item(block, p)] = log_sum[p];
    for (int32_t p = 0; kept && p < block->n; p++)
        kept[vem_i_block_item(block, p)] = log_sum[p];
}

/* An item without mass has no part in it: it may be anywhere, even at infinity. */
static void sum_shard(void *arg, int64_t shard, int thread)
{
    (void)thread;
    const vem_i_estep *t = arg;
    const vem_view *view = t->view;
    const vem_i_kernels *kernels = view->kernels;
    const int64_t begin = vem_i_view_shard(view, t->per_sum, shard),
                  end = vem_i_view_shard(view, t->per_sum, shard + 1);
    double distance = 0, logs = 0;
    for (int64_t i = begin; i < end && !view->mass; i++)
        distance += vem_i_value(kernels, t->costs, i);
    for (int64_t i = begin; i < end && !view->mass && t->logs; i++)
        logs += t->logs[i];
    for (int64_t i = begin; i < end && view->mass; i++) {
        const double w = view->mass[i];
        distance += w > 0 ? w * vem_i_value(kernels, t->costs, i) : 0;
        logs += w > 0 && t->logs ? w * t->logs[i] : 0;
    }
    t->shard_distance[shard] = distance;
    t->shard_log_sum[shard] = t->logs ? logs : -0.5 * distance;
}

void vem_i_estep_sum_items(vem_i_estep *t)
{
    if (t->type->ordered)
        vem_i_parallel_light(t->run, t->sums, 4.0 * (double)t->per_sum, sum_shard, t);
}
