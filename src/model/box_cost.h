/* What clusters cost over a box, as the kernels would say it for any row in it.
 *
 * Bounds are certified: they hold for the costs that score_tile computes, in the type
 * of the rows and on every instruction set, and for the costs without rounding
 * (docs/math/boxes.md). */
#ifndef VEM_MODEL_BOX_COST_H
#define VEM_MODEL_BOX_COST_H

#include "model/family.h"

/* The clusters of a scorer in double. */
typedef struct vem_i_box_coster {
    const vem_i_scorer *scorer;
    int64_t ldf;     /* between factors; 0: one for all */
    double *centers; /* C x d: means; of axes 1 what is subtracted, mean / sd */
    /* C x ldf: of axes 1 the 1 / sd, of axes 2 the inverse Cholesky factor by rows; NULL:
     * axes 0. */
    double *factors;
    double *bias, *scale; /* C */
    double kernel, own;   /* roundings of the kernels and ours, as shares (box_cost.c) */
    double tiny, limit;   /* below and beyond which the type has no such numbers */
} vem_i_box_coster;

/* Of a scorer that is a density. Can run dry. */
vem_status vem_i_box_coster_new(vem_i_run *run, const vem_i_scorer *scorer,
                                vem_i_box_coster *coster);
void vem_i_box_coster_free(vem_i_box_coster *coster);
/* The scorer is another. */
void vem_i_box_coster_prepare(vem_i_run *run, vem_i_box_coster *coster);

/* A box: all x with |x_j - center_j| <= half_j. */
typedef struct vem_i_box {
    const double *center, *half; /* d */
} vem_i_box;
/* The smallest around low_j <= x_j <= high_j (values of T, d of low and then of high). */
void vem_i_box_around(const vem_i_kernels *kernels, const void *low, int32_t d,
                      double *center, double *half);

typedef struct vem_i_box_cost {
    double middle;    /* at the center */
    double low, high; /* of all x in the box */
    double slack;     /* that these and a cost as it is computed may be off by */
    double bend;      /* the most that second order adds to the cost; axes 2 */
} vem_i_box_cost;

void vem_i_box_cost_of(const vem_i_box_coster *coster, int32_t c, vem_i_box box,
                       vem_i_box_cost *cost);
/* The slopes of cluster c at the center, into d values; work: d. */
void vem_i_box_slopes(const vem_i_box_coster *coster, int32_t c, vem_i_box box,
                      double *work, double *slopes);
/* No less than this does cluster c cost more than cluster w, for every x in the box;
 * slopes of both. More than the slack of both together: for each x w is strictly
 * better. */
double vem_i_box_margin(const vem_i_box_coster *coster, vem_i_box box, int32_t c,
                        const vem_i_box_cost *of_c, const double *slopes_c, int32_t w,
                        const vem_i_box_cost *of_w, const double *slopes_w);

/* sum w v of what hard statistics, about the means, were taken of, by the numbers of
 * the scorer themselves: the precisions of expected.c are rounded to the type, beside
 * which a narrow cluster of floats would not be told. work: d values. */
double vem_i_box_held_cost(const vem_i_box_coster *coster, const vem_i_stats *stats,
                           double *work);

#endif
