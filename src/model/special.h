/* The gamma function's relatives that evidence is made of. */
#ifndef VEM_MODEL_SPECIAL_H
#define VEM_MODEL_SPECIAL_H

#include <stdint.h>

/* log Gamma(x), x > 0, without the global sign of the C library's. */
double vem_i_log_gamma(double x);
/* psi(x) = d/dx log Gamma(x), x > 0. */
double vem_i_digamma(double x);
/* log Gamma_d(x) = d (d - 1) / 4 log pi + sum_{j < d} log Gamma(x - j / 2), x > (d - 1) / 2. */
double vem_i_log_gamma_of(double x, int32_t d);
/* Its derivative, sum_{j < d} psi(x - j / 2). */
double vem_i_digamma_of(double x, int32_t d);

#endif
