#include "kernel_checks.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int32_t all_d[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 64, 90, 100, 0};
/* -1, -2, -3: one less than a panel, a panel, one more. */
static const int32_t all_n[] = {1, 2, -1, -2, -3, 63, 256, 0};
static const int32_t all_m[] = {1, 2, 5, 6, 7, 11, 12, 13, 25, 100, 0};
static const int32_t all_top[] = {1, 2, 3, 5, 17, 65, 0};
static const int32_t few_d[] = {1, 2, 3, 4, 8, 9, 16, 31, 0};
static const int32_t few_n[] = {1, -1, -3, 63, 0};
static const int32_t few_m[] = {1, 5, 12, 13, 25, 0};

const int32_t *grid_d = all_d, *grid_n = all_n, *grid_m = all_m, *grid_top = all_top;

void grid_thin(void)
{
    grid_d = few_d;
    grid_n = few_n;
    grid_m = few_m;
}

const kernel_check kernel_checks[] = {
    {"pack", check_pack},
    {"gather", check_gather},
    {"dot_top, exact", check_dot_top_exact},
    {"dot_top, rounded", check_dot_top_rounded},
    {"select_top", check_select_top},
    {"iso_tile", check_iso_tile},
    {"diag_tile", check_diag_tile},
    {"full_tile", check_full_tile},
    {"iso_pairs", check_iso_pairs},
    {"diag_pairs", check_diag_pairs},
    {"full_pairs", check_full_pairs},
    {"dot_tile", check_dot_tile},
    {"sparse rows", check_sparse},
    {"dot_pairs", check_dot_pairs},
    {"linear", check_linear},
    {"distances", check_distances},
    {"softmax", check_softmax},
    {"exp inside softmax", check_exp},
    {"iso_rows", check_iso_rows},
    {"spread", check_spread},
    {"recenter", check_recenter},
    {"bytes", check_bytes},
    {"rows as they are stored", check_stored},
    {"collect", check_collect},
    {NULL, NULL},
};

int32_t grid_items(const vem_i_kernels *table, int32_t n)
{
    return n < 0 ? (table->panel - 2 - n > 3 ? table->panel - 2 - n : 3) : n;
}

const vem_i_kernels *kernel_reference(const vem_i_kernels *table)
{
    return vem_i_kernels_find("reference", table->precision);
}

double kernel_epsilon(const vem_i_kernels *table)
{
    return table->precision == VEM_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
}

double kernel_tiny(const vem_i_kernels *table)
{
    return table->precision == VEM_DOUBLE ? DBL_MIN : (double)FLT_MIN;
}

void *kernel_values(const vem_i_kernels *table, int64_t count)
{
    void *values = malloc((size_t)count * table->element);
    if (!values) {
        fprintf(stderr, "Out of memory in a test.\n");
        exit(1);
    }
    return values;
}

double *kernel_doubles(const vem_i_kernels *table, const void *values, int64_t count)
{
    double *out = malloc((size_t)count * sizeof *out);
    if (!out) {
        fprintf(stderr, "Out of memory in a test.\n");
        exit(1);
    }
    for (int64_t i = 0; i < count; ++i)
        out[i] = kernel_get(table, values, i);
    return out;
}

static uint64_t state = 1;

void kernel_seed(uint64_t seed)
{
    state = seed * 0x9e3779b97f4a7c15u + 1;
}

static uint64_t next_bits(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

double kernel_uniform(void)
{
    return (double)(int64_t)next_bits() * 0x1p-63;
}

int64_t kernel_below(int64_t below)
{
    return (int64_t)(next_bits() >> 16) % below;
}

void kernel_fill(const vem_i_kernels *table, void *values, int64_t count, double size)
{
    for (int64_t i = 0; i < count; ++i)
        kernel_set(table, values, i, size * kernel_uniform());
}

void kernel_fill_integers(const vem_i_kernels *table, void *values, int64_t count,
                          int size)
{
    for (int64_t i = 0; i < count; ++i)
        kernel_set(table, values, i, (double)(kernel_below(2 * size + 1) - size));
}

int32_t kernel_slots(const vem_i_kernels *table, int32_t n)
{
    return (n + table->panel - 1) / table->panel * table->panel;
}

void *kernel_panels(const vem_i_kernels *table, const void *x, int64_t ld, int32_t n,
                    int32_t d, void *norms)
{
    void *panels = kernel_values(table, (int64_t)kernel_slots(table, n) * d);
    table->pack(x, ld, NULL, n, d, NULL, panels, norms);
    return panels;
}

int kernel_mismatch(const vem_i_kernels *table, const char *what, const char *where,
                    int64_t item, double got, double want, double bound)
{
    static int told = 0;
    if (told < 20) {
        ++told;
        fprintf(stderr, "%s, %s: %s at %s, item %lld is %.17g, not %.17g (bound %.3g).\n",
                table->name, table->precision == VEM_DOUBLE ? "double" : "single", what,
                where, (long long)item, got, want, bound);
    }
    return 1;
}
