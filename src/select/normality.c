/* With z_i = Phi of the standardised numbers in order,
 *
 *     A2 = -n - 1/n sum_i (2 i - 1) [log z_i + log(1 - z_(n+1-i))] ,   A2* = A2 (1 + 4/n - 25/n^2) ,
 *
 * 1 - Phi by the upper tail, so that no logarithm is of 0 before the deviation is 38. */
#include "select/normality.h"

#include <math.h>
#include <stdlib.h>

static const double ROOT_HALF = 0.70710678118654752440, LEAST = 1e-300;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double log_below(double x)
{
    return log(fmax(0.5 * erfc(-x * ROOT_HALF), LEAST));
}

double vem_i_anderson_darling(double *values, int64_t n)
{
    const double count = (double)n;
    double mean = 0, square = 0, sum = 0;
    for (int64_t i = 0; i < n; i++)
        mean += (values[i] - mean) / (double)(i + 1);
    for (int64_t i = 0; i < n; i++)
        square += (values[i] - mean) * (values[i] - mean);
    const double deviation = n > 1 ? sqrt(square / (count - 1)) : 0;
    if (!(deviation > 0))
        return 0;
    qsort(values, (size_t)n, sizeof *values, ascending);
    for (int64_t i = 0; i < n; i++)
        sum += (2 * (double)i + 1) * (log_below((values[i] - mean) / deviation) +
                                      log_below(-(values[n - 1 - i] - mean) / deviation));
    return (-count - sum / count) * (1 + 4 / count - 25 / (count * count));
}
