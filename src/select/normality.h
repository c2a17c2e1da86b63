/* Are these numbers a sample of a normal distribution? */
#ifndef VEM_SELECT_NORMALITY_H
#define VEM_SELECT_NORMALITY_H

#include <stdint.h>

/* The statistic of Anderson and Darling with mean and deviation from the sample,
 * corrected for its size; puts the numbers in order. 0 where they are all the same. */
double vem_i_anderson_darling(double *values, int64_t n);
/* What it exceeds by chance once in ten thousand samples. */
#define VEM_I_NORMAL_LIMIT 1.8692

#endif
