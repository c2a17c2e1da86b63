/* What a cluster looks like: the contract of the families.
 *
 * A family never sees an item by itself. It turns the model into a scorer (the model's
 * numbers in the compute type, as the kernels want them), scores and collects blocks
 * through kernels, and turns statistics into the next model. The cost of cluster c for
 * item i is
 *
 *     v(i,c) = -2 log p(c, x_i) - base,     base common to all clusters, kept in double,
 *
 * so smaller is better and  log p(c, x_i) = -(v(i,c) + base) / 2. */
#ifndef VEM_MODEL_FAMILY_H
#define VEM_MODEL_FAMILY_H

#include "data/view.h"
#include "model/model.h"
#include "model/stats.h"

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
    int64_t ldc;  /* between rows of means */
    void *means;  /* C x ldc */
    void *about;  /* C x ldc: what moments are taken about: the means, or `nearer` */
    void *nearer; /* NULL until a cluster moves too far for that (em/steady.h) */
    void *bias;   /* C; +inf for a cluster of weight 0 */
    void *scale;  /* where costs are distances: C, 1 / variance */
    void *norms;  /* C, squared lengths of the means */
    void *a, *b;  /* the family's own; rows lie lda and ldb apart (lda 0: one for all) */
    int64_t lda, ldb;
    double base;
    double *bias_wide; /* C doubles: bias before the common part is taken off */
    double *work;      /* scratch of work_size doubles per thread, between calls */
    int64_t work_size;
} vem_i_scorer;

/* What the M-step must respect. */
typedef struct vem_i_constraints {
    vem_prior_kind prior;
    double floor; /* least variance or eigenvalue (floor.c), in the units of the view
                            for the isotropic families, else in those of `units` */
    const double
        *units; /* d, or NULL: all 1. Deviations of the columns over all rows, in the
                            units of the view */
    double total_mass; /* W */
    double relax; /* the means move by this times the step to the maximum; 1: to it. From
                     1 to 2 the gain is less, and still a gain */
    int shared;   /* 1: one variance for all clusters and dimensions, and flat weights:
                   the first steps of a fit, before the shapes are freed */
} vem_i_constraints;

struct vem_i_family {
    vem_family_kind kind;
    /* Layout: a cluster has a mean, a weight and a shape of D^axes numbers, its variance,
     * those of the columns, or its covariance matrix. Everything that copies, converts,
     * checks, stores or counts parameters and moments is written over these two. */
    int shared; /* 1: one shape for all clusters */
    int axes;   /* 0, 1, 2 */
    /* Hints for those who decide how a fit is made. */
    int dots;      /* costs are scaled squared distances, so that the dot form serves */
    int by_column; /* shapes follow the units of the columns, so that the view may divide
                      each by its own; else they are in those of the model's scale */
    const vem_i_family *pooled; /* for cells of clusters, which have the average shape */
    vem_i_state (*state)(int32_t d, size_t element);
    /* Fill the scorer's arrays for this model; clusters in parallel. */
    void (*prepare)(vem_ctx *ctx, const vem_model *model, vem_i_scorer *scorer);
    /* The same for plain squared distances, in units of `factors` (d values; NULL where the
     * family is not by column). NULL: not for that. */
    void (*prepare_distances)(const vem_model *model, const double *factors,
                              vem_i_scorer *scorer);
    /* Costs of clusters first .. first+count-1 for a block of n packed items. */
    void (*score_tile)(const vem_i_scorer *scorer, const void *panels, int32_t n,
                       int32_t first, int32_t count, void *costs, int64_t ldv);
    /* Costs of listed pairs: cluster index[r * ldv + p] for row items[p] of x (NULL: row
     * p), r < m; -1 gives +inf. */
    void (*score_pairs)(const vem_i_scorer *scorer, const void *x, int64_t ld,
                        const uint32_t *items, int32_t n, int32_t m, const int32_t *index,
                        void *costs, int64_t ldv);
    /* Add a block of packed items with weights q (n values of T) to one cluster. Calls at
     * the same time have different numbers `thread`, below the threads of the context. */
    void (*collect_tile)(const vem_i_scorer *scorer, const void *panels, const void *q,
                         int32_t n, int32_t cluster, int thread, vem_i_stats *stats);
    /* The same for listed rows of x (items NULL never; q NULL: all 1), where the family
     * can do that without packing them; NULL: it cannot. */
    void (*collect_rows)(const vem_i_scorer *scorer, const void *x, int64_t ld,
                         const uint32_t *items, const void *q, int64_t n, int32_t cluster,
                         vem_i_stats *stats);
    /* The next model, in place. A cluster without mass keeps its mean and shape. */
    void (*maximize)(vem_ctx *ctx, const vem_i_scorer *scorer, const vem_i_stats *stats,
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
/* Each cluster has a matrix to be found, which takes rows by the number of columns. */
static inline int vem_i_has_matrices(const vem_i_family *family)
{
    return family->axes == 2 && !family->shared;
}

/* ---- Scorers (scorer.c) ---- */

/* There is room for the clusters of the shape, not for its capacity. */
vem_status vem_i_scorer_new(vem_ctx *ctx, const vem_i_kernels *kernels, vem_i_shape shape,
                            vem_i_scorer *scorer);
void vem_i_scorer_free(vem_i_scorer *scorer);
/* Make the scorer agree with the model (whose clusters may have become fewer). */
void vem_i_scorer_prepare(vem_ctx *ctx, const vem_model *model, vem_i_scorer *scorer);
/* Make a scorer of such a family measure plain squared distances, base 0: v = |x - mean|^2 or,
 * with factors, v = sum_j (factor_j (x_j - mean_j))^2. */
void vem_i_scorer_prepare_distances(vem_ctx *ctx, const vem_model *model,
                                    const double *factors, vem_i_scorer *scorer);
uint64_t vem_i_scorer_bytes(const vem_i_family *family, int32_t clusters, int32_t d,
                            size_t element);
/* Some clusters of one scorer into another, about `origin` (or NULL: 0), to be scored as
 * tiles. */
void vem_i_scorer_gather(const vem_i_scorer *from, const int32_t *list, int32_t count,
                         const void *origin, vem_i_scorer *to);

/* Shared by the families. */
/* What a sum of positive terms in double may be off by, as a share of it: a chain of no more
 * than 64 additions in a kernel (kernels.h), and some more to meet the others. */
#define VEM_I_SUM_ERROR (256 * 0x1p-53)
/* Move the mean of cluster c to  a + relax * delta,  where the moments are about a and
 * delta = first moment / mass, as a number of the compute type: what the E-step will see.
 * Returns the mass; 0 and no move when the cluster is empty.
 *
 * The new mean is not the mean of what is held, then, but lies `rest` from it, and the second
 * moments about it are S_ij - N delta_i delta_j + N rest_i rest_j. Rounding to the nearest
 * number of the type is the best such mean of each column (nearer the optimum than the old
 * one, which was such a number too), so F does not fall by it. */
double vem_i_move_mean(const vem_i_scorer *scorer, const vem_i_stats *stats, int32_t c,
                       const vem_i_constraints *constraints, double *mean);
/* rest_j, after that. */
static inline double vem_i_rest(const vem_i_scorer *scorer, int32_t c, int32_t j,
                                double mean, double delta)
{
    return mean - vem_i_value(scorer->kernels, scorer->about, c * scorer->ldc + j) -
           delta;
}
/* A second moment about the new mean: S - moved + rest, and no less than what the rounding of
 * S in double leaves uncertain. Sums of a fit are about a mean so near (em/steady.h) that
 * this is nothing; from statistics alone (vem_stats_next) a step far beyond the spread
 * leaves a variance that is too large rather than one that has collapsed, and the step after
 * it is exact. */
static inline double vem_i_second_about(double second, double moved, double rest)
{
    const double about = second - moved, least = VEM_I_SUM_ERROR * second;
    return (about > least ? about : least) + rest;
}
/* The moments of cluster c will be about this mean, rounded to the compute type. 0: it is
 * what they are about already. Memory for that is taken by vem_i_scorer_part. */
int vem_i_scorer_approach(const vem_i_scorer *scorer, int32_t c, const double *mean);
vem_status vem_i_scorer_part(vem_ctx *ctx, vem_i_scorer *scorer);
/* Bytes of scratch per thread. */
uint64_t vem_i_scorer_work_bytes(const vem_i_family *family, int32_t d, size_t element);
/* Weights of the clusters after the M-step. */
void vem_i_maximize_weights(const vem_i_stats *stats,
                            const vem_i_constraints *constraints, vem_model *model);

/* Dense symmetric matrices, lower triangle of a full row-major d x d array. */
/* Cholesky factor in place (lower). 0 when not positive definite. */
int vem_i_cholesky(double *matrix, int32_t d);
/* Inverse of a lower triangular matrix in place. */
void vem_i_invert_lower(double *matrix, int32_t d);
/* Eigenvalues and, as the rows of `vectors` (d x d), their eigenvectors, in no order. The
 * lower triangle and the diagonal are used up; work: 3 d. 0: they were not found, which takes
 * numbers at the edge of the type. */
int vem_i_eigen(double *matrix, int32_t d, double *values, double *vectors, double *work);
/* Eigenvalues no less than `floor`, nor than what rounding can tell from 0 beside the
 * largest; in place, both triangles written. A Cholesky factorisation says first whether
 * there is anything to do. */
void vem_i_floor_eigenvalues(double *matrix, int32_t d, double floor, double *work);
/* Doubles of work for that. */
int64_t vem_i_floor_work(int32_t d);

/* ---- The floor (floor.c) ---- */

/* Least variance of column j (diag), and of a variance that all columns share. */
double vem_i_floor_column(const vem_i_constraints *constraints, int64_t j);
double vem_i_floor_shared(const vem_i_constraints *constraints, int32_t d);
/* A covariance matrix no less than the floor, in place; `work` as above. */
void vem_i_floor_covariance(double *matrix, int32_t d,
                            const vem_i_constraints *constraints, double *work);
/* All clusters of a model. */
vem_status vem_i_floor_model(vem_ctx *ctx, const vem_i_constraints *constraints,
                             vem_model *model);
/* Clusters that would be smaller, in some direction, without the floor. */
vem_status vem_i_floor_count(vem_ctx *ctx, const vem_i_constraints *constraints,
                             const vem_model *model, int64_t *count);

#endif
