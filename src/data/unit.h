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
/* To length 1; a row of zeros stays. */
void vem_i_normalize_row(double *row, int32_t d);
/* The least variance whose inverse, and costs made with it, are numbers of the compute type
 * with room to spare. */
double vem_i_safe_variance(vem_precision precision);

#endif
