#include "data/unit.h"

#include <float.h>
#include <math.h>

/* Four sums at a time: they do not wait for each other. */
static double sum_of_squares(const double *row, int32_t d)
{
    double sums[4] = {0};
    int32_t j = 0;
    for (; j + 4 <= d; j += 4)
        for (int32_t k = 0; k < 4; k++)
            sums[k] += row[j + k] * row[j + k];
    for (; j < d; j++)
        sums[0] += row[j] * row[j];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void vem_i_normalize_row(double *row, int32_t d)
{
    double sum = sum_of_squares(row, d);
    if (!(sum > 1e-200 && sum < 1e200)) { /* squares may have vanished or overflowed */
        double largest = 0;
        for (int32_t j = 0; j < d; j++)
            largest = fmax(largest, fabs(row[j]));
        if (largest == 0)
            return;   /* a row of zeros has no direction; it stays */
        int exponent; /* a power of two: no digit is lost */
        frexp(largest, &exponent);
        for (int32_t j = 0; j < d; j++)
            row[j] = ldexp(row[j], -exponent);
        sum = sum_of_squares(row, d);
    }
    double inverse = 1 / sqrt(sum);
    for (int32_t j = 0; j < d; j++)
        row[j] *= inverse;
}

int vem_i_row_is_zero(const double *row, int32_t d)
{
    for (int32_t j = 0; j < d; j++)
        if (row[j] != 0)
            return 0;
    return 1;
}

void vem_i_row_to_length(int normalize, double *row, int32_t d)
{
    if (normalize == VEM_I_AS_THEY_ARE)
        return;
    vem_i_normalize_row(row, d);
    if (normalize == VEM_I_DIRECTIONS && vem_i_row_is_zero(row, d))
        for (int32_t j = 0; j < d; j++)
            row[j] = NAN;
}

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
