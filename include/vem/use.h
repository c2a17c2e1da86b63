/* What a model is good for: labels, probabilities, scores, samples, facts in words.
 *
 * A part of vem.h, which includes it: rules of ownership, NULL, sizes and threads stand there. */
#ifndef VEM_VEM_H
#include "vem.h"
#elif !defined(VEM_VEM_USE_H)
#define VEM_VEM_USE_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Use of a model ---- */

/* The `top` most probable clusters of each row, most probable first: clusters is n x top,
 * probabilities n x top or NULL. Probabilities are those of the full posterior: every
 * cluster is looked at. Rows and clusters so far apart, beside the cluster's least variance,
 * that the square of their distance would be no number of the precision are refused; so the
 * first label of every row is a cluster. (Of later ones -1: no more have a weight.) Of clusters
 * that are equally probable as computed the lowest number comes first; fits compute about another
 * origin, so that for a row exactly between two clusters a fit's label may be the other one. */
VEM_API vem_status vem_assign(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                              int32_t top, vem_precision precision, int32_t *clusters,
                              double *probabilities);

/* Probabilities of all clusters for each row: n x C, column c is cluster c. */
VEM_API vem_status vem_posterior(vem_ctx *ctx, const vem_model *model,
                                 const vem_data *data, vem_precision precision,
                                 double *probabilities);

/* Which clusters a row is compared with. */
typedef enum vem_assign_search {
    VEM_ASSIGN_AUTO =
        0,            /* guided where it reaches the recall for less work, else a scan */
    VEM_ASSIGN_SCAN,  /* every cluster */
    VEM_ASSIGN_GUIDED /* guided, whatever it costs; a scan only where lists are too long
                            (top > 64) */
} vem_assign_search;

/* How to assign. */
typedef struct vem_assign_options {
    size_t size;              /* sizeof(vem_assign_options) */
    int32_t top;              /* 0: 1 */
    vem_precision precision;  /* of the arithmetic */
    vem_assign_search search; /* VEM_ASSIGN_AUTO unless set */
    double recall; /* what a guided search must reach over all rows, with 99 % confidence,
                      above 0 and at most 1; 0: 0.999 */
    int32_t probes; /* buckets tried for a row; 0: as many as the goal needs */
    uint64_t seed;  /* of the buckets and of the sample */
} vem_assign_options;

/* What was done. Recall: the share of the `top` clusters a scan finds that the guided
 * search finds too, on rows of a sample for which both were run. `covered`: the mean
 * share of the posterior's mass that the tried clusters hold, on the same rows (NAN
 * without probabilities). A scan has recall 1, and recall_rows 0 when no sample was
 * needed to choose it. */
typedef struct vem_assign_report {
    size_t size;             /* sizeof(vem_assign_report) */
    int guided;              /* 0: every cluster was looked at */
    int32_t buckets, probes; /* of clusters; how many of them a row tried */
    double recall, covered;  /* measured on the sample */
    int64_t recall_rows;     /* rows of the sample */
    int64_t scored_pairs; /* of rows and clusters or buckets, and those of the sample */
    double recall_least;  /* of all rows, with 99 % confidence; 1 for a scan */
} vem_assign_report;

/* As vem_assign, but a row may be compared with the clusters of the coarse buckets nearest to
 * it only, as many as a measured recall needs. A guided search gives probabilities that
 * add up to 1 over the clusters tried for the row. `report` may be NULL. */
VEM_API vem_status vem_assign_guided(vem_ctx *ctx, const vem_model *model,
                                     const vem_data *data,
                                     const vem_assign_options *options, int32_t *clusters,
                                     double *probabilities, vem_assign_report *report);

/* log p(x) of each row under the mixture, in the units of the data: n values. */
VEM_API vem_status vem_log_densities(vem_ctx *ctx, const vem_model *model,
                                     const vem_data *data, vem_precision precision,
                                     double *log_densities);

/* What a model is worth on some rows. */
typedef struct vem_scores {
    size_t size;               /* sizeof(vem_scores) */
    double log_likelihood;     /* per unit of mass */
    double free_energy;        /* per unit of mass, with `held` clusters per row */
    double quantization_error; /* weighted sum of squared distances to the nearest mean */
    double bic;                /* parameters log(mass) - 2 mass log_likelihood */
    double mass;               /* sum of the weights of the rows */
    int64_t parameters;        /* vem_model_parameters */
    int32_t held;              /* clusters per row in free_energy */
    double
        entropy; /* of the posteriors over all clusters, weighted sum over rows, nats */
    double aic;  /* 2 parameters - 2 mass log_likelihood; lower is better, as in BIC */
    double icl;  /* bic + 2 entropy */
} vem_scores;

/* held = 0: all clusters, then free_energy = log_likelihood. */
VEM_API vem_status vem_score(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                             int32_t held, vem_precision precision, vem_scores *scores);

/* Rows first .. first+n-1 of those that a seed draws from the mixture, in the units of the
 * data: rows is n x D, labels (n, or NULL) the clusters they were drawn from. A row depends
 * on the model, the seed and its number alone. */
VEM_API vem_status vem_sample(vem_ctx *ctx, const vem_model *model, uint64_t seed,
                              int64_t first, int64_t n, double *rows, int32_t *labels);

/* Columns and rows that are named for a cluster. */
enum { VEM_SHOWN_COLUMNS = 3, VEM_SHOWN_ROWS = 3 };
/* Facts of one cluster. Numbers that need data are NAN, counts and rows -1 without. */
typedef struct vem_cluster {
    size_t size;   /* sizeof(vem_cluster); of an array, that of the first counts */
    double weight; /* of the model */
    double spread; /* root of the mean over columns of (its variance / the column's); of
                      iso families: root of (its variance / the mean of the columns') */
    int32_t
        columns[VEM_SHOWN_COLUMNS]; /* in which its mean is farthest from that of all */
    double
        differences[VEM_SHOWN_COLUMNS]; /* (its mean - mean of all) / sd of the column */
    int32_t
        nearest; /* the other cluster that its mean most probably belongs to; -1: none */
    double overlap;  /* Bhattacharyya coefficient of the two, 0 to 1 */
    int64_t rows;    /* whose most probable cluster it is */
    double mass;     /* sum of their weights */
    double doubtful; /* share of that which belongs to it with a probability below 0.9 */
    int32_t rival;   /* the cluster with which its rows are most shared; -1: none */
    double shared;   /* how much: the rows that have the two as their best, each by the
                        probability of the second, as a share of the smaller mass */
    int64_t
        exemplars[VEM_SHOWN_ROWS]; /* rows of it that are nearest to its mean, from 0 */
} vem_cluster;

/* Facts of all rows. */
typedef struct vem_description {
    size_t size;     /* sizeof(vem_description) */
    double *means;   /* room for D means of the columns, or NULL */
    double *sds;     /* the same for standard deviations */
    double mass;     /* sum of the weights of the rows; NAN without data */
    double doubtful; /* share of it in doubtful rows */
    int approximate; /* rows were assigned by a guided search, with this recall */
    double recall, recall_least; /* of that search; 1 otherwise */
} vem_description;

/* Fills in `clusters` (C of them, the size of the first set) and `about`. `data` may be NULL: the means and deviations
 * of the columns are the mixture's then, else those of the rows. */
VEM_API vem_status vem_describe(vem_ctx *ctx, const vem_model *model,
                                const vem_data *data, vem_precision precision,
                                vem_cluster *clusters, vem_description *about);

/* A fit that begins with `before` (vem_fit) and whose clusters keep their numbers: a cluster that lies
 * nearest to where a former one was, and nowhere nearer to another, has the number of that. Where each
 * row has one cluster, those that are hardly needed move to where rows are many (option swaps, 20 rounds
 * if nothing is said). No cluster is added or dropped. In distances (room for C, or NULL): how far
 * each is from where its number was, in the units of the data; in moved (the same): 1 where it does not
 * go on from there. */
VEM_API vem_status vem_update(vem_ctx *ctx, const vem_data *data,
                              const vem_options *options, const vem_model *before,
                              vem_model **model, vem_report **report, double *distances,
                              int32_t *moved);

/* How two labellings agree. */
typedef struct vem_agreement {
    size_t size;   /* sizeof(vem_agreement) */
    double nmi;    /* normalised mutual information */
    double ari;    /* adjusted Rand index */
    double purity; /* share of the rows that are of the largest class of their cluster */
    int64_t clusters, classes; /* how many different labels each has */
} vem_agreement;

/* Compare two labellings of the same n rows; any integers may be labels. */
VEM_API vem_status vem_compare(vem_ctx *ctx, const int64_t *clusters,
                               const int64_t *classes, int64_t n,
                               vem_agreement *agreement);

#ifdef __cplusplus
}
#endif

#endif
