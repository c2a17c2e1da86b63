/* What values are divided by before they are computed with, so that the range of the compute
 * type does not matter. */
#include <float.h>
#include <math.h>

#include "data/points.h"

double vem_i_column_unit(double variance, double mean)
{
    const double least = 1e-12,
                 most = 1e60; /* below, it may be what rounding left of 0 */
    if (variance > 0)
        return sqrt(variance);
    return fabs(mean) > least && fabs(mean) < most ? fabs(mean) : 1;
}

double vem_i_safe_variance(vem_precision precision)
{
    return precision == VEM_SINGLE ? 1e-30 : 1e-150;
}

double vem_i_even_unit(vem_precision precision, double deviation)
{
    /* Floors, as shares of the variance, lie above what is safe, and there is as much room
     * for rows that lie far outside. */
    const int least = precision == VEM_SINGLE ? -20 : -100;
    int exponent;
    frexp(deviation, &exponent);
    if (!(deviation > 0) || !isfinite(deviation) || exponent >= least)
        return 1;
    return ldexp(1, exponent - least);
}
