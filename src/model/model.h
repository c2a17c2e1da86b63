/* A mixture: C clusters of one family. Always in double and, at the public boundary, in
 * the units of the data. Inside a fit the same struct is used in the units and about the
 * origin of the view (src/data/view.h). */
#ifndef VEM_MODEL_MODEL_H
#define VEM_MODEL_MODEL_H

#include "base/ctx.h"
#include "base/names.h"
#include "base/record.h"

struct vem_model {
    vem_family_kind family;
    int32_t clusters;
    int32_t d;
    double *means;        /* C x D */
    double *weights;      /* C, sum 1 */
    double *variances;    /* iso-shared 1, iso C, diag C x D, full C x D x D */
    double *scale;        /* D or NULL; see vem_model_scale in vem.h */
    vem_prior_kind prior; /* free: the weights were fitted */
    int normalizes;
    vem_i_names table; /* of the columns; its count and owner are not used */
    char *meta;        /* JSON or NULL; from malloc */
};

/* What stands for missing values in rows for this model, from vem_i_alloc: the means of its
 * columns, or of the mixture where it does not know them (an old file, one made by hand). NULL
 * where neither is in the units of the data: the clusters are of rows of length 1. */
vem_status vem_i_model_fill(vem_ctx *ctx, const vem_model *model, double **fill);
/* Variances of one model: how many doubles. 0 on overflow. */
size_t vem_i_variance_count(vem_family_kind family, int32_t clusters, int32_t d);
/* Numbers that a fit of such a mixture finds: the one place that counts them. */
int64_t vem_i_parameter_count(vem_family_kind family, vem_prior_kind prior,
                              int32_t clusters, int32_t d);
/* All weights are 1/C, to rounding. */
int vem_i_weights_are_flat(const double *weights, int32_t clusters);
/* A model with allocated, zeroed arrays and weights 1/C. */
vem_status vem_i_model_blank(vem_ctx *ctx, vem_family_kind family, int32_t clusters,
                             int32_t d, vem_model **model);

/* The names of a model's columns, borrowed, with their number. */
vem_i_names vem_i_model_table(const vem_model *model);
/* What is not finite is never given back nor written. */
vem_status vem_i_model_check_finite(vem_ctx *ctx, const vem_model *model);

/* One variance for everything: of the first cluster and column, and setting it for all.
 */
double vem_i_model_variance(const vem_model *model);
void vem_i_model_set_variance(vem_model *model, double variance);

/* Clusters (as many as there is room for, at most), means, weights and variances. */
void vem_i_model_record(vem_i_record *record, vem_model *model);

#endif
