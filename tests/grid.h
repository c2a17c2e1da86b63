/* What the tests of the engine share: small data sets, weights, common starts, fits, and
 * one generated grid of (family x prior x held x precision x weights x dimension x data).
 * Everything is a function of its arguments, so a failing case can be named and
 * repeated. */
#ifndef VEM_TESTS_GRID_H
#define VEM_TESTS_GRID_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/run.h"
#include "vem/vem.h"

typedef enum grid_set {
    SET_OVERLAPPING = 0,
    SET_SEPARATED,
    SET_DUPLICATES, /* every row three times */
    SET_CONSTANT,   /* the last column never varies (from d = 2 on) */
    SET_OFFSET,     /* 1e6 away from the origin */
    SET_HEAVY,      /* heavy tails */
    SET_COUNT
} grid_set;

typedef enum grid_weights {
    WEIGHTS_NONE = 0,
    WEIGHTS_INTEGER,
    WEIGHTS_ZEROS, /* every fifth row weighs nothing */
    WEIGHTS_REAL,
    WEIGHTS_COUNT
} grid_weights;

extern const char *const grid_set_names[SET_COUNT];
extern const char *const grid_weights_names[WEIGHTS_COUNT];

/* Families with shapes, and those of counts, which have none and take other rows: as each says of
 * itself, wherever its line stands in the table. */
static inline int grid_is_shaped(int family)
{
    return vem_family_axes((vem_family_kind)family) >= 0;
}
/* The next of them after this one, VEM_AUTO before the first; VEM_FAMILIES: there is no more. */
int grid_shaped_after(int family);
int grid_counts_after(int family);
/* How many have shapes, and one of them by its place among these. */
int grid_shaped_count(void);
vem_family_kind grid_shaped(int index);
/* Loops over them. Macros, as the rest of a `for` is the loop's own. */
#define GRID_EACH_SHAPED_AFTER(family, first)                                            \
    for (int family = grid_shaped_after(first); (family) < VEM_FAMILIES;                 \
         family = grid_shaped_after(family))
#define GRID_EACH_SHAPED(family) GRID_EACH_SHAPED_AFTER (family, VEM_AUTO)
#define GRID_EACH_COUNTS(family)                                                         \
    for (int family = grid_counts_after(VEM_AUTO); (family) < VEM_FAMILIES;              \
         family = grid_counts_after(family))

/* n x d rows from malloc. */
double *grid_rows(grid_set set, int64_t n, int32_t d, uint64_t seed);
/* n weights from malloc; NULL for WEIGHTS_NONE. */
double *grid_weigh(grid_weights kind, int64_t n, uint64_t seed);

/* A data set as the tests pass it around. */
typedef struct grid_data {
    int64_t n;
    int32_t d;
    double *x;
    double *weights; /* or NULL */
} grid_data;

grid_data grid_data_new(grid_set set, grid_weights weights, int64_t n, int32_t d,
                        uint64_t seed);
/* Are there enough distinct rows of so many columns for some clusters? Of bits not always. */
int grid_has_rows(vem_family_kind family, int32_t d);
/* Makes of the rows what the family takes: bits or counts, or what they are. */
void grid_suit(vem_family_kind family, grid_data *data);
void grid_data_free(grid_data *data);
/* tr(Cov) / d, weighted. */
double grid_variance(const grid_data *data);
/* Least variances (or, for full, least diagonal matrix) under --floor `share`: of balls a share
 * of that, else of each column's own variance; of counts the means of the columns. `floors` has
 * room for d. */
void grid_floors(const grid_data *data, vem_family_kind family, double share,
                 double *floors);

/* A start that needs no random numbers: `clusters` distinct rows of positive weight,
 * spread over the set, the variance of the data, weights 1/C. */
vem_model *grid_start(vem_ctx *ctx, const grid_data *data, vem_family_kind family,
                      int32_t clusters);

typedef struct grid_fit {
    vem_model *model;
    vem_report *report;
    const vem_summary *summary; /* of the report */
    const vem_options *options; /* as resolved */
    const vem_trace_step *trace;
    int64_t trace_count;
    const int32_t *labels;
} grid_fit;

/* Options with no choice left to the sizes: closest (or all, for held = C), tolerance 0,
 * empty clusters kept. */
vem_options grid_options(int64_t clusters, vem_family_kind family, vem_prior_kind prior,
                         int64_t held, vem_precision precision, int64_t max_steps);
/* A fit that must succeed. */
grid_fit grid_run(vem_ctx *ctx, const grid_data *data, const vem_options *options,
                  const vem_model *start);
/* A fit that may fail; `fit` is filled in for VEM_OK only. */
vem_status grid_try(vem_ctx *ctx, const grid_data *data, const vem_options *options,
                    const vem_model *start, grid_fit *fit);
void grid_fit_free(grid_fit *fit);
vem_scores grid_score(vem_ctx *ctx, const vem_model *model, const grid_data *data,
                      int32_t held, vem_precision precision);

/* One point of the grid. */
typedef struct grid_case {
    vem_family_kind family;
    vem_prior_kind prior;
    int32_t held, clusters;
    vem_precision precision;
    grid_weights weights;
    int32_t d;
    grid_set set;
} grid_case;

enum { GRID_CLUSTERS = 5, GRID_COLUMNS = 40 }; /* at most */
int grid_count(void);
grid_case grid_at(int index);
/* Cases to leave out between two that are run: a sanitized build takes every few. */
int grid_stride(void);
/* The least stride from this one on with which families, which change fastest in a grid, all have their
 * turn, however many the table has. */
int grid_turns(int stride);
/* The case in words, for messages; a static buffer. */
const char *grid_name(const grid_case *c);

/* The rows with their weights, not copied: all, or those from `first` to before `end`. */
vem_data *grid_borrow(vem_ctx *ctx, const grid_data *data);
vem_data *grid_borrow_rows(vem_ctx *ctx, const grid_data *data, int64_t first,
                           int64_t end);
/* Room for `count` zeros of `size` bytes, to be freed. */
void *grid_zeros(int64_t count, size_t size);
/* Every entry of a agrees with b within tolerance * max(size of b's entries, 1e-300). */
int grid_close(const double *a, const double *b, size_t count, double tolerance);
/* Means, weights and variances agree so; names what does not and fails. */
void grid_assert_models(const vem_model *a, const vem_model *b, double tolerance,
                        const char *what);
void grid_assert_near(double value, double expected, double tolerance, const char *what);

#endif
