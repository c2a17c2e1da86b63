/* What statistics cost under a model. Costs are linear in the moments, so that the sum of
 * w_i q_ic v(i,c) over all items needs no item:
 *
 *     V = sum_c  N_c bias_c + P_c . S_c          S_c the second moment about the mean of c
 *     counts:    N_c bias_c + a_c . f_c          f_c the first moment about 0
 *
 * With the entropy H = - sum w q log q of the posteriors they were taken with,
 *
 *     F(q, theta) = H(q) - V(q, theta) / 2,
 *
 * also where q is not the best for theta: parts of the rows may have theirs from other models. */
#include "model/family.h"

static double dot_counts(const vem_i_scorer *s, int32_t c, const double *first)
{
    double sum = 0;
    for (int64_t j = 0; j < s->d; j++)
        sum += first[j] * vem_i_value(s->kernels, s->a,
                                      s->by_column ? j * s->lda + c : c * s->lda + j);
    return sum;
}

static double dot_shape(const vem_i_scorer *s, int32_t c, const double *second)
{
    double sum = 0;
    for (int64_t k = 0; k < vem_i_second_count(s->family, s->d); k++)
        sum += second[k] * vem_i_value(s->kernels, s->precisions, c * s->ldp + k);
    return sum;
}

double vem_i_expected_cost(const vem_i_scorer *scorer, const vem_i_stats *stats)
{
    double sum = 0;
    for (int32_t c = 0; c < stats->clusters; c++) {
        const double mass = *vem_i_stats_mass(stats, c);
        if (!(mass > 0))
            continue; /* the bias of a weight of 0 is no number */
        sum += mass * (scorer->bias_wide[c] - scorer->base) +
               (scorer->family->shape_axes < 0
                    ? dot_counts(scorer, c, vem_i_stats_first(stats, c))
                    : dot_shape(scorer, c, vem_i_stats_second(stats, c)));
    }
    return sum;
}
