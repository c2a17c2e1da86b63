/* Scorers, and what the families share. Their contract is in contract.h. */
#ifndef VEM_MODEL_FAMILY_H
#define VEM_MODEL_FAMILY_H

#include "model/contract.h"
#include "model/linalg.h"
#include "model/model.h"
#include "model/stats.h"

/* ---- Scorers (scorer.c) ---- */

vem_status vem_i_scorer_new(vem_i_run *run, const vem_i_kernels *kernels,
                            vem_i_shape shape, vem_i_scorer *scorer);
/* For the items of a view, which may be sparse. */
vem_status vem_i_scorer_for(vem_i_run *run, const vem_view *view, vem_i_shape shape,
                            vem_i_scorer *scorer);
void vem_i_scorer_free(vem_i_scorer *scorer);
/* The shape it was made for, with the clusters that there are now. */
static inline vem_i_shape vem_i_scorer_shape(const vem_i_scorer *scorer)
{
    return (vem_i_shape){scorer->family, scorer->clusters, scorer->capacity, scorer->d};
}
/* Make the scorer agree with the model, whose clusters may be fewer or, up to its capacity, more
 * than they were. */
void vem_i_scorer_prepare(vem_i_run *run, const vem_model *model, vem_i_scorer *scorer);
/* The same where only means have changed since it was prepared: matrices are not factored again. */
void vem_i_scorer_prepare_means(vem_i_run *run, const vem_model *model,
                                vem_i_scorer *scorer);
/* Make a scorer of such a family measure plain squared distances, base 0: v = |x - mean|^2 or,
 * with factors, v = sum_j (factor_j (x_j - mean_j))^2. */
void vem_i_scorer_prepare_distances(vem_i_run *run, const vem_model *model,
                                    const double *factors, vem_i_scorer *scorer);
/* Some clusters of one scorer into another, about `origin` (or NULL: 0), to be scored as
 * tiles. */
void vem_i_scorer_gather(const vem_i_scorer *from, const int32_t *list, int32_t count,
                         const void *origin, vem_i_scorer *to);

/* What the moments of column j of cluster c are about. */
static inline double vem_i_about(const vem_i_scorer *scorer, int32_t c, int64_t j)
{
    return scorer->about
               ? vem_i_value(scorer->kernels, scorer->about, c * scorer->ldc + j)
               : 0;
}

/* Shared by the families. */
#define VEM_I_LOG_2PI 1.8378770664093454836
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
vem_status vem_i_scorer_part(vem_i_run *run, vem_i_scorer *scorer);
/* The mean of a cluster that begins at a row, in place: the row, but of counts, of which most
 * values would be impossible then, half way between it and the mean of all rows. Items that are
 * means of several rows go to the sphere, where there is one. */
void vem_i_begin_at_row(const vem_i_family *family, const vem_i_constraints *constraints,
                        int32_t d, double *mean);
/* sum w q v of the items that the statistics, about the means, were taken of (expected.c). Families
 * with a shape need their precisions (spread.h). */
double vem_i_expected_cost(const vem_i_scorer *scorer, const vem_i_stats *stats);
/* Weights of the clusters after the M-step. */
void vem_i_maximize_weights(const vem_i_stats *stats,
                            const vem_i_constraints *constraints, vem_model *model);

/* ---- The floor (floor.c) ---- */

/* Least variance of column j (diag), and of a variance that all columns share. */
double vem_i_floor_column(const vem_i_constraints *constraints, int64_t j);
double vem_i_floor_shared(const vem_i_constraints *constraints, int32_t d);
/* A covariance matrix no less than the floor, in place; `work` as above. What tr(Sigma^-1 S) / N
 * of rows that have the matrix before lacks of d then (vem_i_floor_eigenvalues). */
double vem_i_floor_covariance(double *matrix, int32_t d,
                              const vem_i_constraints *constraints, double *work);
/* Doubles of scratch for a matrix and its floor, where the family has such; else 0. */
int64_t vem_i_covariance_work(const vem_i_family *family, int32_t d);
/* log|Sigma| + tr(Sigma^-1 S) / N - D of a cluster of this mass N with the scatter S (moments.h), Sigma
 * the best there is under the floor; work: vem_i_covariance_work doubles. by_column: what the
 * columns say alone, of a matrix for which there are too few rows. */
double vem_i_floor_log_det(const vem_i_family *family, int32_t d,
                           const vem_i_constraints *constraints, double mass,
                           const double *scatter, int by_column, double *work);
/* All clusters of a model. */
vem_status vem_i_floor_model(vem_i_run *run, const vem_i_constraints *constraints,
                             vem_model *model);
/* Has a mean come to an end where every row that lies elsewhere is impossible? The floor of families of
 * counts keeps it from there. */
int vem_i_excludes_rows(const vem_i_constraints *constraints, const vem_model *model);
/* Clusters that would be smaller, in some direction, without the floor, and the share of all rows
 * that they have. */
vem_status vem_i_floor_count(vem_i_run *run, const vem_i_constraints *constraints,
                             const vem_model *model, int64_t *count, double *share);

#endif
