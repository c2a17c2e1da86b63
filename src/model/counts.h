/* What families of counts say besides the contract (contract.h): the means of their clusters are
 * all their parameters, costs are linear in the item, and rows have whole numbers.
 *
 *     v(i,c) = bias_c + sum_j x_ij a_cj
 *
 * So an item that stands for many points has the mean of their costs at its mean, whatever their
 * spread, and the log base measure of points enters F by its mean (view->log_base). */
#ifndef VEM_MODEL_COUNTS_H
#define VEM_MODEL_COUNTS_H

#include "base/rng.h"
#include "data/support.h"
#include "model/shape.h"

struct vem_i_constraints;

typedef struct vem_i_counts {
    vem_i_support support;
    int shares; /* 1: means are the shares of the columns in a row's total, whatever that is, and
                   add up to 1 */
    double most; /* of a mean */
    /* The nearest mean, by likelihood, that the constraints allow; in place. */
    void (*limit)(const struct vem_i_constraints *constraints, int32_t d, double *mean);
    /* A row in place such that squared distances tell what likelihoods would: for seeding. */
    void (*stabilize)(double *row, int32_t d);
    /* Variance of a column of this mean; of shares, of a row of one count. */
    double (*variance)(double mean);
    /* log sum_x sqrt(p(x | a) p(x | b)); total: of a row, where means are shares. */
    double (*log_affinity)(const double *a, const double *b, int32_t d, double total);
    void (*draw)(vem_i_rng *rng, const double *mean, int32_t d, double total,
                 double *row);
} vem_i_counts;

extern const vem_i_counts vem_i_counts_bernoulli, vem_i_counts_poisson,
    vem_i_counts_multinomial;

/* No mean is taken to be smaller, nor (up to 1) nearer to 1: their logarithms are finite. */
#define VEM_I_LEAST_MEAN 1e-12

#endif
