/* What values are divided by before they are computed with, so that the range of the compute
 * type does not matter. */
#ifndef VEM_DATA_UNIT_H
#define VEM_DATA_UNIT_H

#include "base/ctx.h"

/* What a column is divided by so that nothing depends on its units: its deviation. A constant
 * column is measured by its own value, or by 1 where that is 0 or out of all proportion. */
double vem_i_column_unit(double variance, double mean);
/* The power of two that values of this deviation are divided by together: 1 where their
 * squares, and small shares of these, are numbers of the compute type. */
double vem_i_even_unit(vem_precision precision, double deviation);
/* What becomes of the lengths of rows (`normalize` of requests and passes). */
enum {
    VEM_I_AS_THEY_ARE = 0,
    VEM_I_LENGTH_1, /* each row to length 1; a row of zeros stays */
    VEM_I_DIRECTIONS /* the same, but a row of zeros has no direction: 0 / 0 is NaN, which passes
                        refuse with the number of the row */
};
/* What the options of a fit say of them. */
static inline int vem_i_normalize_of(const vem_options *options)
{
    return options->metric == VEM_METRIC_COSINE ? VEM_I_DIRECTIONS
           : options->normalize                 ? VEM_I_LENGTH_1
                                                : VEM_I_AS_THEY_ARE;
}
/* To length 1; a row of zeros stays. Factors that are powers of two change no bit of it. */
void vem_i_normalize_row(double *row, int32_t d);
/* As one of the three says. */
void vem_i_row_to_length(int normalize, double *row, int32_t d);
/* Is every value 0? */
int vem_i_row_is_zero(const double *row, int32_t d);
/* The least variance whose inverse, and costs made with it, are numbers of the compute type
 * with room to spare. */
double vem_i_safe_variance(vem_precision precision);

#endif
