/* psi by  psi(x) = psi(x + 1) - 1 / x  up to where the asymptotic series
 *
 *     psi(x) = log x - 1 / (2 x) - sum_k B_2k / (2 k x^2k)
 *
 * has more digits than a double: with eight terms its error is below 1e-17 from x = 12 on. */
#define _DEFAULT_SOURCE /* lgamma_r */
#include "model/special.h"

#include <math.h>

#include "base/plain.h"

static const double LOG_PI = 1.1447298858494001741, FAR = 12;

double vem_i_log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

double vem_i_digamma(double x)
{
    static const double terms[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                   1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
    double before = 0;
    while (x < FAR) {
        before += 1 / x;
        x += 1;
    }
    const double y = 1 / (x * x);
    double series = 0;
    for (int k = 7; k >= 0; k--)
        series = (series + terms[k]) * y;
    return log(x) - 0.5 / x - series - before;
}

double vem_i_log_gamma_of(double x, int32_t d)
{
    double sum = 0.25 * d * (d - 1.0) * LOG_PI;
    for (int32_t j = 0; j < d; j++)
        sum += vem_i_log_gamma(x - 0.5 * j);
    return sum;
}

double vem_i_digamma_of(double x, int32_t d)
{
    double sum = 0;
    for (int32_t j = 0; j < d; j++)
        sum += vem_i_digamma(x - 0.5 * j);
    return sum;
}
