/* Internal measures of a model on a view, exact over all items. */
#ifndef VEM_METRICS_METRICS_H
#define VEM_METRICS_METRICS_H

#include "em/estep.h"

/* Over the caller's weights, in the units of the data. */
typedef struct vem_i_posteriors_sums {
    double log_likelihood;
    double entropy; /* of the posteriors over all clusters, in nats */
} vem_i_posteriors_sums;

/* The sums, and (each NULL or n values) log p(x) and entropy of every item. */
vem_status vem_i_posteriors(vem_i_run *run, const vem_view *view, const vem_model *model,
                            double *log_likelihoods, double *entropies,
                            vem_i_posteriors_sums *sums);

/* With scikit-learn's sign, lower is better:
 *     AIC = 2 parameters - 2 L,  BIC = parameters log(mass) - 2 L,  ICL = BIC + 2 H. */
typedef struct vem_i_criteria {
    double aic, bic, icl;
} vem_i_criteria;
vem_i_criteria vem_i_criteria_of(int64_t parameters, double mass, double log_likelihood,
                                 double entropy);

typedef struct vem_i_measures {
    double log_likelihood;     /* sum over the mass, in the units of the data */
    double entropy;            /* the same, of the posteriors over all clusters */
    double free_energy;        /* the same with `held` clusters per item */
    double quantization_error; /* sum of w min_c |x - mu_c|^2, in the units of the
                                  data, or of the scale of a model that has one */
} vem_i_measures;

/* Sums are over the caller's weights. The model is in the units of the view. held = C:
 * free_energy is the log-likelihood. */
vem_status vem_i_measure(vem_i_run *run, const vem_view *view, const vem_model *model,
                         int32_t held, vem_i_measures *measures);

/* log p(x) in the units of the data, entropy, and min_c |x - mu_c|^2 in the units of
 * phi, of every item (n each). */
vem_status vem_i_measure_items(vem_i_run *run, const vem_view *view,
                               const vem_model *model, double *log_likelihoods,
                               double *entropies, double *distances);

#endif
