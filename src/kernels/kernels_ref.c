/* The reference kernels: each entry of the table in plain C, in the order of kernels.h.
 *
 * These loops are the definition that every other table is tested against, and the table
 * behind VEM_CPU=reference. Inner sums run in double for both types, so that a difference
 * from a vector kernel is that kernel's rounding. */
#include "kernels/kernels.h"
#include "kernels/tables.h"

#include <math.h>

enum { PANEL = 8 };

/* Element (item p, dimension j) of a block of panels. */
#define SLOT(p, j, d)                                                                    \
    ((int64_t)((p) / PANEL) * PANEL * (d) + (int64_t)(j)*PANEL + (p) % PANEL)

#define T float
#define NAME(x) x##_single
#define PRECISION VEM_SINGLE
#include "kernels/kernels_ref.inc"
#undef T
#undef NAME
#undef PRECISION

#define T double
#define NAME(x) x##_double
#define PRECISION VEM_DOUBLE
#include "kernels/kernels_ref.inc"
