/* From the costs of a block to probabilities and log sums, and what they add to the sums of a shard,
 * item after item. Where all items weigh the same there is less to ask in these loops, which see
 * every item of every step. */
#include "em/normalize.h"

#include <math.h>

/* A hard item has q = 1; its cost is all there is to know. */
void vem_i_block_normalize(const vem_i_search_spec *search, vem_i_block *block,
                           double *log_sum)
{
    const vem_i_kernels *kernels = block->view->kernels;
    int32_t rows = search->dense ? block->scorer->clusters : search->held;
    if (rows == 1 && !search->dense) {
        if (kernels->precision == VEM_SINGLE)
            for (int32_t p = 0; p < block->n; p++)
                log_sum[p] = -0.5 * (double)((const float *)block->costs)[p];
        else
            for (int32_t p = 0; p < block->n; p++)
                log_sum[p] = -0.5 * ((const double *)block->costs)[p];
        return;
    }
    for (int32_t p = 0; p < block->n; p += VEM_I_BLOCK) {
        int32_t n = block->n - p < VEM_I_BLOCK ? block->n - p : VEM_I_BLOCK;
        double listed[VEM_I_BLOCK];
        const double *mass = NULL;
        if (block->view->mass && block->items.index) {
            for (int32_t k = 0; k < n; k++)
                listed[k] = block->view->mass[block->items.index[p + k]];
            mass = listed;
        } else if (block->view->mass) {
            mass = block->view->mass + block->first + p;
        }
        kernels->softmax((char *)block->costs + (size_t)p * kernels->element, n, rows,
                         block->capacity, mass, log_sum + p);
    }
}

double vem_i_block_add_costs(const vem_i_search_spec *search, const vem_i_block *block,
                             double sum)
{
    const vem_view *view = block->view;
    const void *best = search->dense ? block->best : block->costs;
    if (!view->mass && view->kernels->precision == VEM_SINGLE) {
        for (int32_t p = 0; p < block->n; p++)
            sum += (double)((const float *)best)[p];
        return sum;
    }
    for (int32_t p = 0; p < block->n; p++) {
        const double w = vem_i_view_mass(view, vem_i_block_item(block, p));
        if (w > 0)
            sum += w * vem_i_value(view->kernels, best, p);
    }
    return sum;
}

double vem_i_block_add_logs(const vem_i_block *block, const double *log_sum, double *kept,
                            double sum)
{
    const vem_view *view = block->view;
    for (int32_t p = 0; kept && p < block->n; p++)
        kept[vem_i_block_item(block, p)] = log_sum[p];
    for (int32_t p = 0; !view->mass && p < block->n; p++)
        sum += log_sum[p];
    for (int32_t p = 0; view->mass && p < block->n; p++) {
        const double w = vem_i_view_mass(view, vem_i_block_item(block, p));
        if (w > 0)
            sum += w * log_sum[p];
    }
    return sum;
}

double vem_i_block_add_entropy(const vem_i_block *block, double sum)
{
    const vem_i_kernels *kernels = block->view->kernels;
    for (int32_t p = 0; p < block->n; p++) {
        const double w = vem_i_view_mass(block->view, vem_i_block_item(block, p));
        for (int32_t c = 0; c < block->scorer->clusters; c++) {
            const double q =
                vem_i_value(kernels, block->costs, (int64_t)c * block->capacity + p);
            if (q > 0)
                sum -= q * log(q / w);
        }
    }
    return sum;
}
