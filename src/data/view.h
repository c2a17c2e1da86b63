/* Weighted items as the engine sees them: mean, mass and spread.
 * A plain struct that owns nothing. Values are about `origin` and divided by `scale`.
 *
 * Whatever depends on the number of an item or on how many there are (random keys, the sizes of
 * shards) takes the global ones, so that a view of some rows of a whole does with each of them
 * what a view of all does. A sample is a whole of its own. */
#ifndef VEM_DATA_VIEW_H
#define VEM_DATA_VIEW_H

#include <assert.h>

#include "base/parallel.h"
#include "base/residence.h"
#include "data/sparse.h"
#include "kernels/kernels.h"

/* How the points that an item stands for lie about its mean: nothing is said (they all are
 * there), the trace of their covariance, its diagonal (d values), or its lower triangle by rows
 * (d (d + 1) / 2); in the units of the view. */
typedef enum vem_i_spread_kind {
    VEM_I_SPREAD_NONE,
    VEM_I_SPREAD_TRACE,
    VEM_I_SPREAD_DIAG,
    VEM_I_SPREAD_FULL
} vem_i_spread_kind;

/* Values of it. */
static inline int64_t vem_i_spread_values(vem_i_spread_kind kind, int32_t d)
{
    return kind == VEM_I_SPREAD_FULL    ? (int64_t)d * (d + 1) / 2
           : kind == VEM_I_SPREAD_DIAG  ? d
           : kind == VEM_I_SPREAD_TRACE ? 1
                                        : 0;
}

/* What a view leaves out of its rows: so many columns, in which means are 0, and the mean square of
 * the rows there, per unit of mass (coarse/leading.h). */
typedef struct vem_i_beyond {
    int32_t columns;
    double square;
} vem_i_beyond;

typedef struct vem_view {
    const vem_i_kernels *kernels; /* of the type of x */
    const void *x;                /* n rows of d values of type T, ld apart, */
    vem_i_stored_type
        stored; /* or of a narrower one, as the data have them: then values of T are
                                 made as rows are read, about `origin`, and scale is NULL */
    vem_i_sparse sparse; /* or n rows of which zeros are left out; then x is NULL */
    int64_t n, ld;
    int32_t d;
    vem_i_beyond beyond; /* 0: nothing */
    int64_t first,
        global_n; /* the number of item 0 in the whole, and the items of that */
    int64_t halo; /* items at the end that another process counts (data/together.h) */
    vem_i_spread_kind spread_kind;
    const void
        *spread; /* n rows of type T, spread_ld apart; NULL where the kind is none */
    int64_t spread_ld;
    const double *log_base; /* n: mean log base measure of an item's points, for families
                               of counts; NULL: all 0 */
    double log_base_mean;   /* over the mass of all items */
    int spilled;            /* x rests in a temporary file: going back and forth costs */
    vem_i_mapping *spill;   /* that file; NULL: none */
    const double *mass;     /* n, or NULL: all 1 */
    double mass_unit; /* a power of two: the caller's weight is mass times this, so that
                           masses are near 1 whatever scale the weights have */
    double total_mass;
    int64_t used;         /* items with a positive mass */
    double variance;      /* tr(Cov) / d, in the units of the view */
    double extreme;       /* the largest |value| of x */
    const double *origin; /* d */
    const double *scale;  /* d, or NULL: all 1 */
    int whitened; /* scale is only what is computed with: people are told distances in the
                     units of the data */
    const double
        *deviations; /* d: of the columns, in the units of the view; 1 for a constant
                                 one. NULL where no fit will ask */
} vem_view;

/* Bytes of a value of x. */
static inline size_t vem_i_view_element(const vem_view *view)
{
    return view->stored ? vem_i_stored_bytes(view->stored) : view->kernels->element;
}

/* The temporary file that its rows are in, or NULL: a view of others may be a copy of this one. */
static inline vem_i_mapping *vem_i_view_file(const vem_view *view)
{
    const vem_i_mapping *s = view->spill;
    const char *x = view->x;
    return s && x && x >= s->bytes && x < s->bytes + s->size ? view->spill : NULL;
}

/* Where a row lies, whatever it is stored in. */
static inline const void *vem_i_view_place(const vem_view *view, int64_t item)
{
    return (const char *)view->x +
           (size_t)item * (size_t)view->ld * vem_i_view_element(view);
}

static inline vem_i_stored vem_i_view_how(const vem_view *view)
{
    return (vem_i_stored){view->stored, view->origin};
}

/* A row of T where it lies: of views that are of T (samples, cells, chunks). */
static inline const void *vem_i_view_row(const vem_view *view, int64_t item)
{
    assert(!view->stored);
    return vem_i_view_place(view, item);
}

/* A row as d values of T, wherever it lies. */
static inline void vem_i_view_copy(const vem_view *view, int64_t item, void *out)
{
    const void *row = vem_i_view_place(view, item);
    const vem_i_stored how = vem_i_view_how(view);
    if (view->stored)
        view->kernels->stored_load(&how, row, view->ld, NULL, 1, view->d, out, view->d);
    else
        memcpy(out, row, (size_t)view->d * view->kernels->element);
}

/* Squared distances of n rows from `first` on to m centers of T: out[c * ldo + i]. */
static inline void vem_i_view_distances(const vem_view *view, int64_t first, int64_t n,
                                        const void *centers, int64_t ldc, int32_t m,
                                        void *out, int64_t ldo)
{
    const void *rows = vem_i_view_place(view, first);
    const vem_i_stored how = vem_i_view_how(view);
    if (view->stored)
        view->kernels->stored_distances(&how, rows, view->ld, n, view->d, centers, ldc, m,
                                        out, ldo);
    else
        view->kernels->distances(rows, view->ld, n, view->d, centers, ldc, m, out, ldo);
}

static inline int vem_i_view_is_sparse(const vem_view *view)
{
    return view->sparse.starts != NULL;
}

/* Values that a row has, on average and at least 1: d, or of sparse rows fewer. */
int64_t vem_i_view_row_values(const vem_view *view);

/* Columns of the rows, those that are left out too: what F is told for. */
static inline double vem_i_view_columns(const vem_view *view)
{
    return (double)view->d + view->beyond.columns;
}

static inline double vem_i_view_mass(const vem_view *view, int64_t item)
{
    return view->mass ? view->mass[item] : 1.0;
}

/* A digest (base/record.h) that goes on with the values and the mass of an item. */
uint64_t vem_i_view_mix(const vem_view *view, int64_t item, uint64_t sum);

/* n rows drawn from a view, or copies of them: a whole of its own, in which each weighs 1 and
 * nothing but its place is known. */
static inline vem_view vem_i_view_drawn(const vem_view *view, const void *x, int64_t ld,
                                        int64_t n)
{
    vem_view drawn = *view;
    drawn.x = x;
    drawn.stored = VEM_I_STORED_PLAIN;
    drawn.sparse = (vem_i_sparse){0};
    drawn.ld = ld;
    drawn.n = drawn.used = drawn.global_n = n;
    drawn.first = drawn.halo = 0;
    drawn.spilled = 0;
    drawn.mass = drawn.log_base = NULL;
    drawn.log_base_mean = 0;
    drawn.total_mass = (double)n;
    drawn.spread = NULL;
    drawn.spread_kind = VEM_I_SPREAD_NONE;
    return drawn;
}

/* What random numbers of an item are keyed by. */
static inline uint64_t vem_i_view_key(const vem_view *view, int64_t item)
{
    return (uint64_t)(view->first + item);
}

/* Shards of `per` items each, cut by global numbers: how many of them meet the view, and the
 * item with which one of these begins. It ends where the next begins. */
static inline int64_t vem_i_view_shards(const vem_view *view, int64_t per)
{
    return vem_i_shards(view->first % per + view->n, per);
}
static inline int64_t vem_i_view_shard(const vem_view *view, int64_t per, int64_t shard)
{
    const int64_t begin = shard * per - view->first % per;
    return begin < 0 ? 0 : begin < view->n ? begin : view->n;
}

/* Value j of a row of type T. */
static inline double vem_i_value(const vem_i_kernels *kernels, const void *row, int64_t j)
{
    return kernels->precision == VEM_SINGLE ? (double)((const float *)row)[j]
                                            : ((const double *)row)[j];
}

/* Value j of item i. */
static inline double vem_i_view_value(const vem_view *view, int64_t item, int32_t j)
{
    const void *row = vem_i_view_place(view, item);
    if (!view->stored)
        return vem_i_value(view->kernels, row, j);
    const double value = vem_i_stored_value(view->stored, row, j) - view->origin[j];
    return view->kernels->precision == VEM_SINGLE ? (double)(float)value : value;
}

/* Store value i of an array of type T. */
static inline void vem_i_store(const vem_i_kernels *kernels, void *array, int64_t i,
                               double value)
{
    if (kernels->precision == VEM_SINGLE)
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* Write n doubles as values of type T. */
void vem_i_narrow(const vem_i_kernels *kernels, const double *values, int64_t n,
                  void *out);
/* And back. */
void vem_i_widen(const vem_i_kernels *kernels, const void *values, int64_t n,
                 double *out);

/* Item i as doubles. */
void vem_i_view_widen(const vem_view *view, int64_t item, double *out);

/* log of the factor between densities in the units of the view and those of the data. */
double vem_i_view_log_jacobian(const vem_view *view);
/* What is added to the mean log-likelihood of the view for that of the data: this, and the mean
 * log base measure. */
static inline double vem_i_view_log_shift(const vem_view *view)
{
    return vem_i_view_log_jacobian(view) + view->log_base_mean;
}

#endif
