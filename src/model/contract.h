/* What a cluster looks like: the contract of the families.
 *
 * A family never sees an item by itself. It turns the model into a scorer (the model's
 * numbers in the compute type, as the kernels want them), scores and collects blocks
 * through kernels, and turns statistics into the next model. The cost of cluster c for
 * item i is
 *
 *     v(i,c) = -2 log p(c, x_i) - base,     base common to all clusters, kept in double,
 *
 * so smaller is better and  log p(c, x_i) = -(v(i,c) + base) / 2. An item with a spread S_i
 * stands for many points, and its cost is the mean of theirs: tr(P_c S_i) more, P_c the inverse
 * of the covariance. Its log base measure is the same for all clusters and no part of v. */
#ifndef VEM_MODEL_CONTRACT_H
#define VEM_MODEL_CONTRACT_H

#include "data/items.h"
#include "model/counts.h"
#include "model/shape.h"
#include "model/sphere.h"

typedef struct vem_i_stats vem_i_stats;

/* What the scorer of a family has besides the arrays that all have. */
typedef struct vem_i_state {
    int64_t a, b; /* values of T of a cluster in arrays of the family's own */
    int one;      /* 1: all clusters have the same row of a */
    int64_t work; /* doubles of scratch per thread */
} vem_i_state;

/* The model as one E-step uses it. Arrays of the compute type T unless said. */
typedef struct vem_i_scorer {
    const vem_i_kernels *kernels;
    const vem_i_kernels *wide; /* the kernels for double, whatever the compute type */
    const vem_i_family *family;
    int32_t clusters, d;
    int32_t capacity; /* clusters there is room for */
    int64_t ldc;      /* between rows of means */
    void *means;      /* C x ldc */
    void
        *about; /* C x ldc: what moments are taken about: the means, or `nearer`; NULL: 0,
                         where there are no second ones */
    void *nearer; /* NULL until a cluster moves too far for that (em/steady.h) */
    void *bias;   /* C; +inf for a cluster of weight 0 */
    void *scale;  /* where costs are distances: C, 1 / variance */
    void *norms;  /* C, squared lengths of the means */
    void *a, *b;  /* the family's own; rows lie lda and ldb apart (lda 0: one for all) */
    int64_t lda, ldb;
    int by_column; /* 1: for sparse items; rows of a are columns of the data, clusters side by side,
                      lda apart */
    void *precisions; /* inverse shapes as weights of a spread, rows ldp apart (0: one for
                         all); NULL: items have none (spread.h) */
    int64_t ldp;
    int at_means; /* items are scored by their means alone, and collected with their spread */
    double base;
    double *bias_wide; /* C doubles: bias before the common part is taken off */
    double *work;      /* scratch of work_size doubles per thread, between calls */
    int64_t work_size;
    vem_i_beyond beyond; /* of the items; only families of one variance meet such */
} vem_i_scorer;

/* What the M-step must respect. */
typedef struct vem_i_constraints {
    vem_prior_kind prior;
    double floor; /* least variance or eigenvalue (floor.c), in the units of the view
                            for the isotropic families, else in those of `units` */
    const double
        *units; /* d, or NULL: all 1. Deviations of the columns over all rows, in the
                            units of the view; of counts their means */
    double total_mass; /* W */
    double relax; /* the means move by this times the step to the maximum; 1: to it. From
                     1 to 2 the gain is less, and still a gain */
    const struct vem_i_conjugate *
        conjugate; /* prior of the parameters, which are a posterior then (evidence.h); or NULL */
    double
        price; /* what a parameter costs per unit of mass, off F: a criterion; 0: F alone */
    int shared; /* 1: one variance for all clusters and dimensions, and flat weights:
                   the first steps of a fit, before the shapes are freed */
    vem_i_sphere sphere; /* that the means lie on */
} vem_i_constraints;

struct vem_i_family {
    vem_family_kind kind;
    /* Layout: a cluster has a mean, a weight and a shape of D^shape_axes numbers, its variance,
     * those of the columns, or its covariance matrix. Everything that copies, converts,
     * checks, stores or counts parameters and moments is written over these two. */
    int shared;     /* 1: one shape for all clusters */
    int shape_axes; /* 0, 1, 2; -1: no shape, and no second moments */
    const vem_i_counts *
        of_counts; /* counts (counts.h), which have no shape; NULL: a density. Others ask in the
                       words below */
    vem_i_spread_kind
        needs; /* the least an item must tell of its spread, if it has one */
    /* Hints for those who decide how a fit is made. */
    int has_places; /* clusters lie at their means: how far a row is from these tells which it
                         belongs to, so that buckets, lists, groups and swaps, which go by distances,
                         serve */
    int may_be_scaled; /* rows may be moved and divided: what is fitted is the same in other units,
                          or a part of it */
    int gains_by_columns; /* F has the units of the columns, so that its value says nothing: what it
                             gains is compared with their number; else with F itself */
    int dots; /* costs are scaled squared distances, so that the dot form serves; and rows may
                      be stored narrower than T (vem_i_stored) */
    int by_column; /* shapes follow the units of the columns, so that the view may divide
                      each by its own; else they are in those of the model's scale */
    const vem_i_family
        *pooled; /* for buckets of clusters, which have the average shape */
    vem_i_state (*state)(int32_t d, size_t element);
    /* Fill the scorer's arrays for this model; clusters in parallel. */
    void (*prepare)(vem_i_run *run, const vem_model *model, vem_i_scorer *scorer);
    /* The same for plain squared distances, in units of `factors` (d values; NULL where the
     * family is not by column). NULL: not for that. */
    void (*prepare_distances)(const vem_model *model, const double *factors,
                              vem_i_scorer *scorer);
    /* The inverse of the shape of cluster c as weights of an item's spread, which is as `needs`
     * says: tr(P_c S) = row . S. After `prepare`; NULL where nothing is needed. */
    void (*precision)(const vem_i_scorer *scorer, int64_t c, void *row);
    /* Costs of clusters first .. first+count-1 for at most VEM_I_BLOCK packed items. */
    void (*score_tile)(const vem_i_scorer *scorer, const vem_i_items *items,
                       int32_t first, int32_t count, void *costs, int64_t ldv);
    /* Costs of listed pairs, items as they lie: cluster index[r * ldv + p] for item p,
     * r < m; -1 gives +inf. */
    void (*score_pairs)(const vem_i_scorer *scorer, const vem_i_items *items, int32_t m,
                        const int32_t *index, void *costs, int64_t ldv);
    /* Add packed items with weights q (n values of T) to one cluster. Calls at the same
     * time have different numbers `thread`, below the threads of the run. */
    void (*collect_tile)(const vem_i_scorer *scorer, const vem_i_items *items,
                         const void *q, int32_t cluster, int thread, vem_i_stats *stats);
    /* Add sparse items to all clusters, with weights q[c * ldq + p], to statistics that lie column by
     * column (stats.h). NULL: the family takes no sparse items. */
    void (*collect_sparse)(const vem_i_scorer *scorer, const vem_i_items *items,
                           const void *q, int64_t ldq, vem_i_stats *stats);
    /* The same for listed items as they lie (q NULL: all 1), any number of them, where the
     * family can do that without packing them; NULL: it cannot. */
    void (*collect_rows)(const vem_i_scorer *scorer, const vem_i_items *items,
                         const void *q, int32_t cluster, vem_i_stats *stats);
    /* The next model, in place. A cluster without mass keeps its mean and shape. */
    void (*maximize)(vem_i_run *run, const vem_i_scorer *scorer, const vem_i_stats *stats,
                     const vem_i_constraints *constraints, vem_model *model);
    /* v' P v / v' v, v the difference of two rows of T and P the inverse of the shape of
     * cluster c: what their squared distance is worth. Only where clusters share a shape: halves
     * of the others have shapes of their own (moves/shape.c). */
    double (*stretch)(const vem_i_scorer *scorer, int32_t c, const void *x,
                      const void *y);
};

/* ---- The families (families.c) ---- */

#define VEM_I_FAMILY_ROW(kind, symbol, name, what)                                       \
    extern const vem_i_family vem_i_family_##symbol;
VEM_FAMILY_TABLE(VEM_I_FAMILY_ROW)
/* By its name in files and options; NULL: there is none. */
const vem_i_family *vem_i_family_named(const char *name);
/* The one that measures plain squared distances, all columns alike or each by a factor. */
const vem_i_family *vem_i_family_of_distances(int by_column);
/* Is every mixture of the other one of this family too? */
int vem_i_can_express(const vem_i_family *family, const vem_i_family *other);
/* The nearest mean is the most probable cluster, under flat weights: k-means. */
static inline int vem_i_is_plain(const vem_i_family *family)
{
    return family->dots && family->shared;
}
/* Each cluster has a shape of its own: when it is divided its halves have theirs, what is priced is priced
 * by them, and one that is put anew needs one. */
static inline int vem_i_has_own_shapes(const vem_i_family *family)
{
    return !family->shared;
}
/* Rows are nearest to a cluster by a metric of its shape, other than the plain one. */
static inline int vem_i_has_metric(const vem_i_family *family)
{
    return !family->dots;
}
/* The values that rows may have; NULL: any number. */
static inline const vem_i_support *vem_i_support_of(const vem_i_family *family)
{
    return family->of_counts ? &family->of_counts->support : NULL;
}
/* Sparse rows can be scored and collected. */
static inline int vem_i_takes_sparse(const vem_i_family *family)
{
    return family->collect_sparse != NULL;
}
/* Means are shares of the columns in a row's total, whatever that is. */
static inline int vem_i_has_shares(const vem_i_family *family)
{
    return family->of_counts && family->of_counts->shares;
}
/* What makes of a row one whose squared distances tell what likelihoods would: for seeding. NULL: they
 * do as they are. */
typedef void vem_i_stabilizer(double *row, int32_t d);
static inline vem_i_stabilizer *vem_i_stabilizer_of(const vem_i_family *family)
{
    return family->of_counts ? family->of_counts->stabilize : NULL;
}
/* Draws a row of a cluster with this mean; total: of the row, where means are shares. NULL: rows are
 * normal about it. */
typedef void vem_i_drawer(vem_i_rng *rng, const double *mean, int32_t d, double total,
                          double *row);
static inline vem_i_drawer *vem_i_drawer_of(const vem_i_family *family)
{
    return family->of_counts ? family->of_counts->draw : NULL;
}
/* Counts that are not bits make costs of which single precision keeps too few digits. */
static inline int vem_i_is_wide(const vem_i_family *family)
{
    const vem_i_support *support = vem_i_support_of(family);
    return support && support->most > 1;
}
/* Clusters have variances, and statistics second moments. */
static inline int vem_i_has_shapes(const vem_i_family *family)
{
    return family->shape_axes >= 0;
}
/* Clusters are measured in one unit for all columns, that of the model's scale: columns of small
 * numbers tell little of them. */
static inline int vem_i_has_one_unit(const vem_i_family *family)
{
    return vem_i_has_shapes(family) && !family->by_column;
}
/* A shape is one variance for all columns. */
static inline int vem_i_is_round(const vem_i_family *family)
{
    return family->shape_axes == 0;
}
/* A shape is a variance for each column. */
static inline int vem_i_is_diagonal(const vem_i_family *family)
{
    return family->shape_axes == 1;
}
/* A shape is a covariance matrix, and a pair takes all products of two columns: d times the work of
 * others, for those who decide how a fit is made. */
static inline int vem_i_takes_products(const vem_i_family *family)
{
    return family->shape_axes == 2;
}
/* Each cluster has a matrix to be found, which takes rows by the number of columns. */
static inline int vem_i_has_matrices(const vem_i_family *family)
{
    return family->shape_axes == 2 && !family->shared;
}
/* As an array a shape has so many dimensions, of D each. */
static inline int vem_i_shape_rank(const vem_i_family *family)
{
    return family->shape_axes > 0 ? family->shape_axes : 0;
}

#endif
