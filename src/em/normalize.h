/* Probabilities and sums of a block whose costs are known (estep.c). */
#ifndef VEM_EM_NORMALIZE_H
#define VEM_EM_NORMALIZE_H

#include "search/search.h"

/* sum + the costs of the nearest clusters. An item without mass has no part in it: it may be
 * anywhere, even at infinity. */
double vem_i_block_add_costs(const vem_i_search_spec *search, const vem_i_block *block,
                             double sum);
/* Costs become probabilities, and log_sum[p] = log sum exp(-cost / 2). */
void vem_i_block_normalize(const vem_i_search_spec *search, vem_i_block *block,
                           double *log_sum);
/* sum + the log sums of what has mass; by item into `kept`, or NULL. */
double vem_i_block_add_logs(const vem_i_block *block, const double *log_sum, double *kept,
                            double sum);

/* sum += - sum_i w_i sum_c q log q, of a dense search, after the costs became probabilities. */
double vem_i_block_add_entropy(const vem_i_block *block, double sum);

#endif
