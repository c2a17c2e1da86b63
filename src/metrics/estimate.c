/* The weighted mean of values y over all rows, R = sum_i w_i y_i / W, from a stratified
 * sample without replacement (data/sample.c), by the combined ratio estimator (Cochran,
 * Sampling Techniques, 3rd ed., 6.11). With N_h rows in stratum h, n_h of them in the sample,
 *
 *     Y^ = sum_h N_h/n_h sum_{i in h} w_i y_i,   W^ = sum_h N_h/n_h sum_{i in h} w_i
 *     R^ = Y^ / W^
 *
 *     V(R^) = 1/W^^2 sum_h N_h^2 (1 - n_h/N_h) s_h^2 / n_h,
 *
 * s_h^2 the variance within the stratum of  e_i = w_i (y_i - R^).  The ratio removes the
 * scatter of the weights themselves, which would swamp that of a log-likelihood of -300 +- 5;
 * with equal weights it is the mean of a simple random sample and V is unbiased, otherwise
 * both are right up to a term of 1/n. Strata taken whole have n_h = N_h and add nothing to V:
 * a sample that is everything gives R with error 0. */
#include "metrics/estimate.h"

#include <math.h>

static double weight_of(const vem_i_sample *s, int64_t i)
{
    return s->weights ? s->weights[i] : 1;
}

static double factor(const vem_i_sample *s, int h)
{
    return (double)s->count[h] / (double)s->taken[h];
}

vem_i_estimate vem_i_estimate_mean(const vem_i_sample *s, const double *values)
{
    /* About the first value, so that a mean far from 0 loses no digits. */
    const double about = values[0];
    double sum[VEM_I_STRATA] = {0}, masses[VEM_I_STRATA] = {0},
           squares[VEM_I_STRATA] = {0};
    for (int64_t i = 0; i < s->size; i++) {
        sum[s->strata[i]] += weight_of(s, i) * (values[i] - about);
        masses[s->strata[i]] += weight_of(s, i);
    }
    double total = 0, mass = 0;
    for (int h = 0; h < VEM_I_STRATA; h++) {
        if (s->taken[h] == 0)
            continue;
        total += factor(s, h) * sum[h];
        mass += factor(s, h) * masses[h];
    }
    const double ratio = total / mass;
    /* Means of e within the strata, then squares about them. */
    for (int h = 0; h < VEM_I_STRATA; h++)
        sum[h] = s->taken[h] ? (sum[h] - ratio * masses[h]) / (double)s->taken[h] : 0;
    for (int64_t i = 0; i < s->size; i++) {
        int h = s->strata[i];
        double e = weight_of(s, i) * (values[i] - about - ratio) - sum[h];
        squares[h] += e * e;
    }
    double variance = 0;
    for (int h = 0; h < VEM_I_STRATA; h++) {
        double count = (double)s->count[h], taken = (double)s->taken[h];
        if (s->taken[h] < s->count[h])
            variance += count * (count - taken) * squares[h] / (taken * (taken - 1));
    }
    return (vem_i_estimate){.mean = about + ratio, .error = sqrt(variance) / mass};
}
