/* The conjugate prior of a Gaussian mixture, the evidence of clusters under it, and the M-step of
 * a loop, which is another where there is one. */
#ifndef VEM_MODEL_EVIDENCE_H
#define VEM_MODEL_EVIDENCE_H

#include "model/family.h"

/* In the units of a view. Families with a shape of their own for each cluster have one. */
typedef struct vem_i_conjugate {
    const vem_i_family *family;
    int32_t d;
    double
        mass_unit; /* what a mass of 1 stands for (view.h): evidence counts the caller's */
    double strength; /* xi0 */
    double dof;      /* eta0, more than D - 1 for matrices, else more than 0 */
    double count;    /* phi0 */
    double *mean;    /* d: m0 */
    double *scale;   /* B0: a number, one for each column, or a matrix */
    /* What follows from these (vem_i_conjugate_settle). */
    double *factor;  /* Cholesky factor of a matrix B0; else NULL */
    double log_det;  /* of B0 */
    double log_norm; /* log Gamma_D(eta0 / 2), of all columns */
} vem_i_conjugate;

/* Room for a prior; its numbers are set by the caller, and then settled. VEM_BAD_OPTION: they are no
 * prior. Takes nothing but for `run`. */
vem_status vem_i_conjugate_new(vem_i_run *run, const vem_i_family *family, int32_t d,
                               vem_i_conjugate *conjugate);
vem_status vem_i_conjugate_settle(vem_i_run *run, vem_i_conjugate *conjugate);
void vem_i_conjugate_free(vem_i_conjugate *conjugate);
/* Has the family evidence? */
int vem_i_has_evidence(const vem_i_family *family);

/* Minus the log evidence of a cluster, F_c, of this mass (of the view) about its own mean, with its
 * scatter as statistics have it: the trace, by column, or the lower triangle by rows; work:
 * vem_i_covariance_work doubles (family.h). 0 for an empty one. */
double vem_i_evidence_of(const vem_i_conjugate *conjugate, double mass,
                         const double *mean, const double *scatter, double *work);
/* T(K): what all the rows, of this mass, add to that in so many clusters. */
double vem_i_evidence_count(const vem_i_conjugate *conjugate, double mass,
                            double clusters);
/* The M-step of a loop: that of the family with the price of its parameters or, under a conjugate
 * prior, the best q(theta), as a mixture whose scores are the expected ones. The offset of the model
 * is set. */
void vem_i_maximize(vem_i_run *run, const vem_i_scorer *scorer, const vem_i_stats *stats,
                    const vem_i_constraints *constraints, vem_model *model);

#endif
