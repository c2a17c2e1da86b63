/* Checks of one kernel table against the reference table, usable from cmocka and from a
 * plain main (emulated processors). Each returns the number of mismatches and tells the
 * first few on standard error. */
#ifndef VEM_TESTS_KERNEL_CHECKS_H
#define VEM_TESTS_KERNEL_CHECKS_H

#include "kernels/kernels.h"

typedef struct kernel_check {
    const char *name;
    int (*run)(const vem_i_kernels *table);
} kernel_check;

extern const kernel_check kernel_checks[]; /* ends with a NULL name */

/* ---- shared by the files of checks ---- */

/* The reference of the same precision, the unit roundoff and smallest normal number of T.
 */
const vem_i_kernels *kernel_reference(const vem_i_kernels *table);
double kernel_epsilon(const vem_i_kernels *table);
double kernel_tiny(const vem_i_kernels *table);

/* Exactly `count` values of T, so that the address sanitizer sees an overread. Exits when
 * memory is out. Free with free. */
void *kernel_values(const vem_i_kernels *table, int64_t count);
static inline double kernel_get(const vem_i_kernels *table, const void *values,
                                int64_t at)
{
    return table->precision == VEM_DOUBLE ? ((const double *)values)[at]
                                          : (double)((const float *)values)[at];
}
static inline void kernel_set(const vem_i_kernels *table, void *values, int64_t at,
                              double value)
{
    if (table->precision == VEM_DOUBLE)
        ((double *)values)[at] = value;
    else
        ((float *)values)[at] = (float)value;
}
/* The values as doubles, in new memory. */
double *kernel_doubles(const vem_i_kernels *table, const void *values, int64_t count);
/* Repeatable numbers: uniform in (-1, 1), and integers in [0, below). */
double kernel_uniform(void);
int64_t kernel_below(int64_t below);
void kernel_seed(uint64_t seed);
void kernel_fill(const vem_i_kernels *table, void *values, int64_t count, double size);
/* Integers of at most `size` in absolute value: exact arithmetic and many ties. */
void kernel_fill_integers(const vem_i_kernels *table, void *values, int64_t count,
                          int size);
/* What pack of this table makes of n x d rows, ld apart; norms are filled if not NULL. */
void *kernel_panels(const vem_i_kernels *table, const void *x, int64_t ld, int32_t n,
                    int32_t d, void *norms);
int32_t kernel_slots(const vem_i_kernels *table, int32_t n);

/* Tell a mismatch (the first few) and give 1. `where` names the grid point. */
int kernel_mismatch(const vem_i_kernels *table, const char *what, const char *where,
                    int64_t item, double got, double want, double bound);

int check_pack(const vem_i_kernels *table);
int check_gather(const vem_i_kernels *table);
int check_dot_top_exact(const vem_i_kernels *table);
int check_dot_top_rounded(const vem_i_kernels *table);
int check_select_top(const vem_i_kernels *table);
int check_iso_tile(const vem_i_kernels *table);
int check_diag_tile(const vem_i_kernels *table);
int check_full_tile(const vem_i_kernels *table);
int check_iso_pairs(const vem_i_kernels *table);
int check_diag_pairs(const vem_i_kernels *table);
int check_full_pairs(const vem_i_kernels *table);
int check_sparse(const vem_i_kernels *table);
int check_dot_tile(const vem_i_kernels *table);
int check_dot_pairs(const vem_i_kernels *table);
int check_linear(const vem_i_kernels *table);
int check_distances(const vem_i_kernels *table);
int check_softmax(const vem_i_kernels *table);
int check_exp(const vem_i_kernels *table);
int check_iso_rows(const vem_i_kernels *table);
int check_collect(const vem_i_kernels *table);
int check_spread(const vem_i_kernels *table);
int check_recenter(const vem_i_kernels *table);
int check_bytes(const vem_i_kernels *table);
int check_stored(const vem_i_kernels *table);

/* The grid; each list ends with 0. grid_items() replaces the negative entries of grid_n
 * by sizes around the panel. grid_thin() takes a smaller grid, for slow (emulated)
 * processors. */
extern const int32_t *grid_d, *grid_n, *grid_m, *grid_top;
int32_t grid_items(const vem_i_kernels *table, int32_t n);
void grid_thin(void);

#endif
