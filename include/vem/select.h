/* How many clusters, and how sure that is: vem_select, paths of mixtures, stability, flows.
 *
 * A part of vem.h, which includes it: rules of ownership, NULL, sizes and threads stand there. */
#ifndef VEM_VEM_H
#include "vem.h"
#elif !defined(VEM_VEM_SELECT_H)
#define VEM_VEM_SELECT_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- How many clusters ---- */

/* X(NAME, symbol, name, what it does): the methods, in the order of their numbers: a new one comes
 * last. */
#define VEM_SELECT_TABLE(X)                                                              \
    X(BAYES, bayes, "bayes",                                                             \
      "Bayesian k-means: clusters are divided and joined as long as the evidence of "    \
      "rows and labels rises")                                                           \
    X(VB, vb, "vb", "the same with soft assignments: variational Bayes")                 \
    X(BIC, bic, "bic", "the same for a mixture, as long as BIC falls")                   \
    X(ICL, icl, "icl", "the same with each row in one cluster, as long as ICL falls")    \
    X(KMEANS_BIC, kmeans_bic, "kmeans-bic",                                              \
      "the same for k-means, as long as BIC falls")                                      \
    X(GMEANS, gmeans, "gmeans",                                                          \
      "k-means, clusters divided in two as long as rows are no normal sample")           \
    X(SWEEP, sweep, "sweep",                                                             \
      "a fit of each number of clusters, from the one before it; of these the least "    \
      "BIC")                                                                             \
    X(GREEDY, greedy, "greedy",                                                          \
      "one cluster more at a time, where the free energy gains most; of all numbers "    \
      "the one of the least BIC")
#define VEM_SELECT_VALUE(NAME, symbol, name, what) VEM_SELECT_##NAME,
/* How vem_select goes about it; VEM_SELECT_COUNT is how many methods there are. */
typedef enum vem_select_method {
    VEM_SELECT_TABLE(VEM_SELECT_VALUE) VEM_SELECT_COUNT
} vem_select_method;
#undef VEM_SELECT_VALUE

/* The conjugate prior of Gaussian clusters: weights ~ Dirichlet(count); the precision of a cluster ~
 * Wishart with `dof` degrees of freedom and the inverse scale `scale`; its mean ~ normal about `mean`
 * with `strength` times that precision. What is 0 or NULL is chosen from the data: by vem_select in a
 * way that does not depend on the units of the columns, by vem_agglomerate in one that follows a
 * common unit of all of them; the rest is in the units of the data. */
typedef struct vem_prior_options {
    size_t size;                 /* sizeof(vem_prior_options) */
    double strength, dof, count; /* 0: chosen */
    const double *mean;          /* a value for each column */
    const double
        *scale; /* 1 value (for all columns alike), one for each column, or a matrix */
    int64_t
        scale_values; /* 1, as many as columns, or their square, where there is a scale */
    int64_t mean_values; /* as many as columns, where there is a mean */
} vem_prior_options;

/* How to look for the number of clusters. */
typedef struct vem_select_options {
    size_t size;              /* sizeof(vem_select_options) */
    vem_select_method method; /* by which criterion, and how */
    int32_t min_clusters;     /* of what may be chosen; 0: 1 */
    int32_t
        max_clusters; /* 0: 20 for greedy and sweep, else as many as the rows could tell apart */
    const vem_prior_options *prior; /* for bayes and vb; NULL: all of it is chosen */
    const int32_t *numbers; /* sweep: which, ascending; NULL: all of min to max (20) */
    int64_t number_count;   /* how many `numbers` has */
    double holdout; /* share of the rows that are not fitted but measured; 0: none */
    const int32_t
        *families;        /* several (vem_family_kind): the one with the best objective is
                                chosen, too; NULL: that of the options */
    int64_t family_count; /* how many `families` has */
} vem_select_options;

/* Mixtures of several numbers of clusters of the same rows. */
typedef struct vem_path vem_path;

/* One of them. Criteria are as in vem_scores: lower is better. What was not measured (after a stop,
 * or where time was over) is NAN; then aic and bic of greedy and sweeps take free_energy for
 * log_likelihood, and those of other methods, whose free energy is another, are NAN too. */
typedef struct vem_path_point {
    int32_t clusters; /* how many it has */
    int64_t steps;    /* E-steps until it was found, from the first mixture on */
    /* Per unit of mass, of the rows that were fitted. With bayes and vb it is the log evidence, with bic,
     * icl and kmeans-bic F less what parameters cost. */
    double free_energy;
    double log_likelihood; /* per unit of mass, of all rows */
    double
        log_likelihood_se; /* its standard error; 0: exact. Above 0 all that was measured is
                                      of a sample of the rows */
    int64_t parameters;    /* vem_model_parameters */
    double entropy, aic, bic, icl; /* as in vem_scores */
    double objective; /* by which one of them is chosen: see vem_path_summary */
    double held_out;  /* likelihood of a row that was held out; NAN: none was */
    double seconds;   /* what a sweep took for it, not in files; else NAN */
} vem_path_point;

/* Which was chosen, by what, and how sure that is. */
typedef struct vem_path_summary {
    size_t size;              /* sizeof(vem_path_summary) */
    vem_select_method method; /* that made the path */
    const char
        *criterion;   /* "BIC", "hard ICL", "log evidence", ... as tables are headed */
    int lower;        /* less of it is better */
    int tested;       /* not the objective but a test chose: next is 0 */
    int32_t count;    /* mixtures */
    int32_t clusters; /* of the chosen one */
    double objective; /* of the chosen one; NAN: the path is empty */
    int32_t
        next; /* clusters of the best other one; 0: there is none, and margin is NAN */
    double margin; /* by how much the chosen one is better. Below 0: min_clusters kept the
                      other one from being chosen */
    double
        mass; /* rows that the objective counts: the sum of their weights; of a coreset as
                    many as these are worth, which is fewer (but with BIC as it is measured).
                    0: not known, of an older file */
    int32_t
        held_out_clusters; /* of the largest likelihood of rows that were held out; 0: none
                                  were. It does not choose */
    /* Most clusters that were allowed, or with greedy that insertions came to: where the chosen one has as
     * many, more may be better. 0: not known, of a file. */
    int64_t limit;
    /* The objective is a criterion of the mixtures as they were measured, BIC; 0: it is what the search
     * went by, the free energy with what its prior or its parameters cost. */
    int measured;
    /* Clusters of the chosen one whose variances only the floor of the options keeps from falling: their
     * likelihood, and with it the margin, is what the floor makes of it. 0 where all clusters of `next`
     * have such too, as with a column that is constant, and of a file. */
    int64_t floored;
} vem_path_summary;

/* Finds the number of clusters: mixtures of several numbers of them in one run (of 1, 2, ...
 * max_clusters with greedy), of which `model` is the best by what the method goes by. Of the
 * options clusters and algorithm are not the caller's to set (full
 * covariances, with bayes and vb those of columns where there are fewer than 5 rows for each, and
 * fitted weights unless said), restarts must be 1 and measure may be sample: all
 * rows are measured without it, but for the mixtures of a path by which nothing is chosen, of which a
 * sample is where all rows would take more distances than the search. Where rows do not suffice for so many clusters, the path is shorter;
 * after a stop, or where time was over, it is what was found. `model`, `path` and `report` may be
 * NULL. */
VEM_API vem_status vem_select(vem_ctx *ctx, const vem_data *data,
                              const vem_options *options,
                              const vem_select_options *select, vem_model **model,
                              vem_path **path, vem_report **report);
/* How often the same is found: selections on random parts of the rows, compared with the
 * model that was chosen from all of them. */
typedef struct vem_stability {
    size_t size;       /* sizeof(vem_stability) */
    int32_t resamples; /* how many, at least 1 */
    double share;      /* of the rows in each, below 1; 0: 0.9 */
    int32_t *clusters; /* room for `resamples` numbers: how many each found; or NULL */
    double *ari; /* the same: agreement of its labels with those of the model; or NULL */
    /* From here on results. */
    int32_t done; /* resamples that came to their end */
    int64_t rows; /* in each of them */
    double clusters_mean, clusters_sd, ari_mean, ari_sd; /* NAN: too few were done */
} vem_stability;

/* `options` and `select` as for vem_select, which gave `model`; the seed draws the resamples
 * and the fits of each. Rows keep their weights. Where the progress function stops it, or
 * `time` is over, the results are those of the resamples that were done. */
VEM_API vem_status vem_select_stability(vem_ctx *ctx, const vem_data *data,
                                        const vem_options *options,
                                        const vem_select_options *select,
                                        const vem_model *model, vem_stability *stability);
/* Frees a path. */
VEM_API void vem_path_free(vem_path *path);
/* How many mixtures it holds. */
VEM_API int32_t vem_path_count(const vem_path *path);
/* By the number of clusters, ascending; NULL: there are not so many. */
VEM_API const vem_path_point *vem_path_at(const vem_path *path, int32_t index);
/* Clusters of the one that was chosen. */
VEM_API int32_t vem_path_chosen(const vem_path *path);
/* Fills in `summary`, whose size is set. */
VEM_API vem_status vem_path_describe(vem_ctx *ctx, const vem_path *path,
                                     vem_path_summary *summary);
/* The mixture of so many clusters, as a model of its own. */
VEM_API vem_status vem_path_pick(vem_ctx *ctx, const vem_path *path, int32_t clusters,
                                 vem_model **model);
/* How members move between mixtures of a path: labels of the same rows under each of some
 * of them. */
typedef struct vem_flows vem_flows;
/* Which mixtures and rows flows are counted for. */
typedef struct vem_flow_options {
    size_t size;      /* sizeof(vem_flow_options) */
    int32_t mixtures; /* at most so many, evenly apart and with the chosen one; 0: 12 */
    int64_t rows; /* at most about so many, a sample of all by their weights; 0: 20,000 */
    int64_t seed; /* of the sample */
    vem_precision precision; /* of the labels */
} vem_flow_options;
/* Rows that two clusters of neighbouring mixtures have in common. */
typedef struct vem_flow {
    int32_t from, to; /* a cluster of one mixture, and of the next one */
    double share;     /* of the mass of the rows that both have; above 0 */
} vem_flow;

/* Counts them, of the rows of `data`. */
VEM_API vem_status vem_path_flows(vem_ctx *ctx, const vem_path *path,
                                  const vem_data *data, const vem_flow_options *options,
                                  vem_flows **flows);
/* Frees flows. */
VEM_API void vem_flows_free(vem_flows *flows);
/* How many mixtures. */
VEM_API int32_t vem_flows_count(const vem_flows *flows);
/* The clusters of one of them, ascending with the mixtures; 0: there is no such. */
VEM_API int32_t vem_flows_clusters(const vem_flows *flows, int32_t mixture);
/* Rows of the sample. */
VEM_API int64_t vem_flows_rows(const vem_flows *flows);
/* The share of the rows in each cluster of a mixture; they add up to 1. */
VEM_API const double *vem_flows_shares(const vem_flows *flows, int32_t mixture);
/* From a mixture to the next, by `from` and then `to`, *count of them, that add up to 1.
 * NULL: there is none after it. */
VEM_API const vem_flow *vem_flows_at(const vem_flows *flows, int32_t mixture,
                                     int64_t *count);
/* A picture (.svg): the objective against the number of clusters, and below it the flows,
 * each cluster as high as its share, unless `flows` is NULL. */
VEM_API vem_status vem_path_draw(vem_ctx *ctx, const vem_path *path,
                                 const vem_flows *flows, const char *file);
/* A model file with a path beside the model, in arrays whose names begin with path_: what reads
 * models reads the model. */
VEM_API vem_status vem_path_write(vem_ctx *ctx, const vem_path *path,
                                  const vem_model *model, const char *file);
/* The path of such a file. */
VEM_API vem_status vem_path_read(vem_ctx *ctx, const char *file, vem_path **path);
/* Is there one in the file? Never fails. */
VEM_API int vem_file_has_path(const char *file);

#ifdef __cplusplus
}
#endif

#endif
