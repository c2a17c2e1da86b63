/* A mixture: C clusters of one family. Always in double and, at the public boundary, in
 * the units of the data. Inside a fit the same struct is used in the units and about the
 * origin of the view (src/data/view.h). */
#ifndef VEM_MODEL_MODEL_H
#define VEM_MODEL_MODEL_H

#include "base/names.h"
#include "base/record.h"
#include "base/run.h"
#include "model/shape.h"

struct vem_model {
    const vem_i_family *family; /* this and the next three: its shape */
    int32_t clusters;
    int32_t capacity; /* clusters there is room for */
    int32_t d;
    double *means;     /* C x D */
    double *weights;   /* C, sum 1 */
    double *variances; /* C shapes of D^axes, one that is shared, or none (gaussian.c) */
    double
        offset; /* inside a fit: what F has beside the log sums of the rows, per unit of mass, for
                      what the parameters cost (evidence.c); else 0 */
    double *scale;        /* D or NULL; see vem_model_scale in vem.h */
    vem_prior_kind prior; /* free: the weights were fitted */
    int normalizes; /* what becomes of the lengths of rows (data/unit.h). VEM_I_DIRECTIONS: the
                       means are of length 1, too; whoever sets that sees to it (directions.c) */
    vem_i_names table; /* of the columns; its count and owner are not used */
    char *meta;        /* JSON or NULL; from malloc */
};

/* What stands for missing values in rows for this model, from vem_i_alloc: the means of its
 * columns, or of the mixture where it does not know them (an old file, one made by hand). NULL
 * where neither is in the units of the data: the clusters are of rows of length 1. */
vem_status vem_i_model_fill(vem_i_run *run, const vem_model *model, double **fill);
/* The mean total of a row, where the means of clusters are shares of it: of the rows that the model
 * was fitted to. 0: it does not know. */
double vem_i_model_total(const vem_model *model);
/* A model with allocated, zeroed arrays and weights 1/C. */
vem_status vem_i_model_blank(vem_i_run *run, vem_i_shape shape, vem_model **model);
uint64_t vem_i_model_bytes(const vem_i_run *run, vem_i_shape shape);
/* The shape of a model without room for more clusters, and with the room that it has. */
vem_i_shape vem_i_model_shape(const vem_model *model);
vem_i_shape vem_i_model_shape_with_room(const vem_model *model);
/* Mean, weight and own shape of cluster c of one model become those of cluster `at` of another
 * of the same family, or of the same model. A shape that all clusters share is left alone. `at` may
 * be one more than there are, where there is room: then there are that many. */
void vem_i_model_put(const vem_model *from, int32_t c, vem_model *to, int32_t at);
/* Weights become shares of their sum. */
void vem_i_normalize_weights(vem_model *model);
/* Clusters, means, weights and shapes: `to` has room for them. */
void vem_i_model_assign(const vem_model *from, vem_model *to);

/* The names of a model's columns, borrowed, with their number. */
vem_i_names vem_i_model_table(const vem_model *model);
/* What is not finite is never given back nor written. */
vem_status vem_i_model_check_finite(vem_i_run *run, const vem_model *model);

/* The means of a model in the units of the data to length 1; those that have it stay as they are.
 * Refused: a mean of 0, a family whose clusters are not round and alike, columns that were divided
 * by their deviations. After a failure the model is as it was. */
vem_status vem_i_model_to_sphere(vem_i_run *run, vem_model *model);

/* The share of rows that a cluster is expected to have: its weight, but where that is a price all are
 * expected to have as many. */
double vem_i_model_share(const vem_model *model, int64_t c);

/* ---- Shapes (gaussian.c) ---- */

/* Doubles of all shapes, SIZE_MAX on overflow; and of one. */
size_t vem_i_variance_count(const vem_i_family *family, int32_t clusters, int32_t d);
int64_t vem_i_shape_values(const vem_i_family *family, int32_t d);
/* Numbers that a fit of such a mixture finds: the one place that counts them. Even weights are given,
 * or prices, which make sizes alike and no likelihood larger. */
int64_t vem_i_parameter_count(const vem_i_family *family, vem_prior_kind prior,
                              int32_t clusters, int32_t d);
/* Where in a shape the variance of a column is. */
int64_t vem_i_shape_at(const vem_i_family *family, int32_t d, int64_t column);
/* A shape from one number for all columns, one for each, or D x D: as many as were given. 0: none
 * of these, or more than the family has. */
int vem_i_shape_from(const vem_i_family *family, int32_t d, const double *given,
                     int64_t count, double *shape);
/* How many shapes there are, the one of cluster c, and where in it the variance of a column
 * is. */
int32_t vem_i_model_shapes(const vem_model *model);
double *vem_i_cluster_shape(const vem_model *model, int64_t c);
int64_t vem_i_variance_at(const vem_model *model, int64_t column);
/* One variance for everything: of the first cluster and column, and setting it for all. */
double vem_i_model_variance(const vem_model *model);
void vem_i_model_set_variance(vem_model *model, double variance);
/* Variances are positive, and covariance matrices positive definite. */
vem_status vem_i_model_check_shapes(vem_i_run *run, const vem_model *model);
/* Room for one matrix, where shapes are such; else NULL. */
vem_status vem_i_model_matrix_room(vem_i_run *run, const vem_model *model, double **work);
/* Is every variance, or eigenvalue, of cluster c no less than `least`? work: as above. */
int vem_i_cluster_has_least(const vem_model *model, int64_t c, double least,
                            double *work);

/* Clusters (as many as there is room for, at most), means, weights and variances. */
void vem_i_model_record(vem_i_record *record, vem_model *model);

#endif
