/* The maker of a view whose items are rows: one private, centred copy in the compute
 * type. */
#ifndef VEM_DATA_POINTS_H
#define VEM_DATA_POINTS_H

#include "data/data.h"
#include "data/pass.h"
#include "data/support.h"
#include "data/unit.h"
#include "data/view.h"

typedef struct vem_i_points {
    vem_view view;
    void *x;
    vem_i_mapping *spill; /* the file that x rests in; NULL: memory from vem_i_alloc */
    double *origin;
    double *scale; /* NULL: columns are not rescaled */
    double *deviations;
    double *mean; /* of the rows as the view has them, in the units of the data; NULL: the
                       origin was given */
    double *
        mass; /* NULL: every row weighs 1. Of processes that share rows: of all of them, until these
                 are put in order */
    double *log_base; /* NULL: all 0 */
    uint32_t *rows;   /* which row of the data an item is; NULL: the same number */
    const vem_data *
        data; /* the rows as stored (NULL: others were made of these), and what became of their lengths */
    int normalize;
    int64_t *bounds; /* of sparse rows in another order: their starts, then their ends;
                         NULL: those of the data */
} vem_i_points;

typedef struct vem_i_points_request {
    int64_t first, count; /* rows; count 0: all */
    int64_t whole,
        halo; /* of so many that processes share, the last so many the next one's
                             (together.h); 0: these are a whole */
    vem_precision precision;
    int normalize;   /* each row to length 1 */
    int standardize; /* each column to variance 1 */
    int whiten; /* the same, but only to compute with: distances and models are told in the
                   units of the data. With `scale`: by that instead. */
    int shaped; /* a variance for each column will be told in the units of the data */
    int even; /* one power of two for all columns, only to compute with, where the squares of
                 the values are too small for the compute type */
    const double *origin; /* d values given, or NULL: the (weighted) mean of the rows, or
                             what outliers cannot move (origin.c) */
    const double *scale;  /* d values given, or NULL: by `standardize` */
    const vem_i_support
        *support; /* rows of counts: they are checked, and neither moved nor
                                     divided; deviations are means. NULL: any numbers */
    /* The least variance the rows will be measured by: a share of their own, or given.
     * Costs are squared distances over it and must be numbers of the compute type. */
    double floor_share, least_variance;
    /* The copy is of the type of the data, which is one of these, and `origin` is subtracted as rows
     * are read. Not with normalize, standardize, whiten, scale; and not where `even` finds
     * values that have to be divided: then they are widened after all. */
    vem_i_stored_type stored;
    int spill;         /* the copy rests in a temporary file */
    const char *phase; /* for the progress function */
} vem_i_points_request;

/* Reads every value once or twice: NaN, infinities and values whose squares overflow or
 * vanish in the compute type are refused with row and column. */
vem_status vem_i_points_new(vem_i_run *run, const vem_data *data,
                            const vem_i_points_request *request, vem_i_points **points);
/* The same run dry (base/memory.h), but for the rows, their masses and their log base measures. Of the
 * data the sizes are looked at, and whether there are weights. */
void vem_i_points_plan(vem_i_run *dry, const vem_data *data,
                       const vem_i_points_request *request);
void vem_i_points_free(vem_i_points *points);
/* From the mean of the rows of a pass to the origin of their view, in place; shift: how far
 * the mean lies from it. */
vem_status vem_i_origin_settle(const vem_i_pass *p, double *origin, double *shift);
/* `count` of n items, one from each of equal slices of the mass (NULL: all 1). */
void vem_i_pick_by_mass(const double *mass, int64_t n, int count, int64_t *picked);
/* The same of the items of a view, of all processes, by their numbers in the whole. */
vem_status vem_i_view_pick_by_mass(vem_i_run *run, const vem_view *view, int count,
                                   int64_t *picked);
/* The median, and (NULL or) the spread of the middle four fifths; reorders the values. */
double vem_i_median(double *values, int count, double *spread);
/* Means and variances of the columns of a view (d values each), in its units, and the mean of the
 * latter, as a few outliers cannot move them: else the view's own (middle.c). */
vem_status vem_i_view_middle(vem_i_run *run, const vem_view *view, double *mean,
                             double *variances, double *variance);
/* A view that was divided by the deviations of its columns, times *units (d, the caller frees
 * them), is as if divided by those that a few outliers cannot move. NULL: it is so already. */
vem_status vem_i_view_units(vem_i_run *run, const vem_view *view, double **units);
/* Room for the order of the rows, if there is none: which they were and, where they are sparse, where
 * they begin and end. */
vem_status vem_i_points_keep_order(vem_i_run *run, vem_i_points *points);
/* Item i becomes what item order[i] was; or, with a length above 1, so many items in a row do, and what
 * is left at the end stays. After a failure the points are of no use. */
vem_status vem_i_points_reorder(vem_i_run *run, vem_i_points *points,
                                const uint32_t *order, int64_t length);
/* Of processes that share the rows: the items become rows `rows` of the data, which it takes over. All
 * processes do it. */
vem_status vem_i_points_fetch(vem_i_run *run, vem_i_points *points, uint32_t *rows);
/* The same for rows that were made of others: each of its own rows goes to its place (data/together.h), with its mass. */
vem_status vem_i_points_move(vem_i_run *run, vem_i_points *points, const int64_t *places);
/* How rows of a type may rest; PLAIN: only in that of the arithmetic. */
vem_i_stored_type vem_i_stored_of(vem_dtype type);
/* Bytes the copy takes, in the type of the arithmetic. */
uint64_t vem_i_points_bytes(int64_t n, int32_t d, vem_precision precision);

/* Number of distinct rows of positive mass, counted no further than `enough`. */
vem_status vem_i_count_distinct(vem_i_run *run, const vem_view *view, int64_t enough,
                                int64_t *distinct);

#endif
