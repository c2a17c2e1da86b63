/* Agglomerative clustering: vem_agglomerate, trees of merges, their cuts and files.
 *
 * A part of vem.h, which includes it: rules of ownership, NULL, sizes and threads stand there. */
#ifndef VEM_VEM_H
#include "vem.h"
#elif !defined(VEM_VEM_TREE_H)
#define VEM_VEM_TREE_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Trees of merges ---- */

/* X(NAME, name, what it does): which two clusters are joined next. A new one comes
 * last. */
#define VEM_DENDROGRAM_TABLE(X)                                                          \
    X(BAYES, bayes, "the two whose union has the most evidence beside their own")        \
    X(SINGLE, single, "the two whose nearest rows are nearest")                          \
    X(COMPLETE, complete, "the two whose farthest rows are nearest")                     \
    X(AVERAGE, average, "the two whose rows are nearest on average")
/* X(NAME, name, what it does): how the closest pair is kept, for bayes. The tree is
 * the same (conga: but where costs are tied), the work is not. */
#define VEM_PAIRS_TABLE(X)                                                               \
    X(FASTPAIR, fastpair, "each cluster knows the nearest of those that came later")     \
    X(CONGA, conga, "conga lines")                                                       \
    X(BRUTE, brute, "all pairs, before every merge")
#define VEM_DENDROGRAM_VALUE(NAME, name, what) VEM_DENDROGRAM_##NAME,
#define VEM_PAIRS_VALUE(NAME, name, what) VEM_PAIRS_##NAME,
/* Which two clusters are joined; VEM_DENDROGRAM_COUNT is how many methods there are. */
typedef enum vem_dendrogram_method {
    VEM_DENDROGRAM_TABLE(VEM_DENDROGRAM_VALUE) VEM_DENDROGRAM_COUNT
} vem_dendrogram_method;
/* How they are found; VEM_PAIRS_COUNT is how many ways there are. */
typedef enum vem_pairs_method {
    VEM_PAIRS_TABLE(VEM_PAIRS_VALUE) VEM_PAIRS_COUNT
} vem_pairs_method;
#undef VEM_DENDROGRAM_VALUE
#undef VEM_PAIRS_VALUE
/* As in options; NULL: there is none. */
VEM_API const char *vem_dendrogram_method_name(vem_dendrogram_method method);
/* The same for how pairs are kept. */
VEM_API const char *vem_pairs_method_name(vem_pairs_method method);

/* How to build a tree. */
typedef struct vem_dendrogram_options {
    size_t size;                  /* sizeof(vem_dendrogram_options) */
    vem_dendrogram_method method; /* which two are joined */
    vem_pairs_method pairs;       /* how they are found, for bayes */
    int64_t
        leaves; /* leaves are the clusters of a fit with so many, by k-means; 0: rows */
    const vem_prior_options *prior; /* of bayes; NULL: all of it is chosen */
} vem_dendrogram_options;

/* A tree: leaves 0 .. N-1 are rows or groups of rows, merge k (0 .. N-2) joins nodes a
 * < b into node N + k. */
typedef struct vem_dendrogram vem_dendrogram;

/* Two nodes that become one. */
typedef struct vem_dendrogram_merge {
    int64_t a, b; /* the nodes it joins */
    double
        delta; /* what it costs: a distance, or evidence lost (below 0: won), T(K) apart */
    double log_evidence; /* of the clustering after it; NAN but for bayes */
    double height;       /* the largest delta so far, shifted to be 0 or more */
    int64_t size;        /* leaves under it */
} vem_dendrogram_merge;

/* What a tree is, and what it took. */
typedef struct vem_dendrogram_info {
    size_t size;                  /* sizeof(vem_dendrogram_info) */
    vem_dendrogram_method method; /* by which clusters were joined */
    vem_pairs_method pairs;       /* bayes */
    int64_t n;                    /* rows */
    int32_t d;                    /* columns */
    int64_t leaves;               /* how many there are */
    int64_t distances;            /* that were measured, costs of merges included */
    double log_evidence_leaves;   /* of the leaves as clusters; NAN but for bayes */
    int64_t clusters;             /* of the most evidence on the path; 0: not known */
    double log_evidence;          /* of those */
    double prior_strength, prior_dof, prior_count; /* of bayes, as they were */
    double prior_scale;                            /* the mean of the diagonal of B0 */
    double seconds_load, seconds_leaves, seconds_merge,
        seconds_total;   /* of the parts of the work */
    uint64_t peak_bytes; /* resident size of the process at its highest */
    int family; /* of bayes, a vem_family_kind; -1: it has none, or its file does not say */
    int units; /* of the columns: 1 as they are, 2 each of variance 1 (standardize), 3 rows of
                  length 1 (normalize); 0: its file does not say */
} vem_dendrogram_info;

/* Agglomerative clustering to the root. Of the options standardize, normalize,
 * threads, memory, time and seed count, and for bayes family (full, or diag or iso; unless
 * said diag where there are fewer than 10 rows for each column, else full). A stop, or the end of
 * time, leaves no tree (VEM_STOPPED). */
VEM_API vem_status vem_agglomerate(vem_ctx *ctx, const vem_data *data,
                                   const vem_options *options,
                                   const vem_dendrogram_options *tree_options,
                                   vem_dendrogram **tree);
/* Frees a tree. */
VEM_API void vem_dendrogram_free(vem_dendrogram *tree);
/* How many leaves it has; there is one merge less. */
VEM_API int64_t vem_dendrogram_leaves(const vem_dendrogram *tree);
/* How many rows are under its root. */
VEM_API int64_t vem_dendrogram_rows(const vem_dendrogram *tree);
/* A merge, by its number; NULL: there is none. (Each by itself: the struct may grow.) */
VEM_API const vem_dendrogram_merge *vem_dendrogram_at(const vem_dendrogram *tree,
                                                      int64_t merge);
/* The leaf of each row; NULL: leaves are the rows. */
VEM_API const int32_t *vem_dendrogram_leaf_of_rows(const vem_dendrogram *tree);
/* Rows that were read, with those that were left out (missing = drop). */
VEM_API int64_t vem_dendrogram_rows_read(const vem_dendrogram *tree);
/* Which of them row i of the tree is. */
VEM_API int64_t vem_dendrogram_row(const vem_dendrogram *tree, int64_t i);
/* The id of a leaf that is a row: the text of the first id column of the data; NULL: none. */
VEM_API const char *vem_dendrogram_id(const vem_dendrogram *tree, int64_t leaf);
/* What it is, and what it took. */
VEM_API const vem_dendrogram_info *vem_dendrogram_summary(const vem_dendrogram *tree);
/* A sentence a line about what is other than one may expect; "": nothing. */
VEM_API const char *vem_dendrogram_notes(const vem_dendrogram *tree);
/* Labels of all rows for so many clusters, numbered by their first leaves; 0: those of
 * the most evidence. */
VEM_API vem_status vem_dendrogram_cut(vem_ctx *ctx, const vem_dendrogram *tree,
                                      int64_t clusters, int32_t *labels);
/* The same as a file, as vem_labels_write_rows writes it: all rows that were read, with the text of
 * the first id column. */
VEM_API vem_status vem_dendrogram_write_labels(vem_ctx *ctx, const vem_dendrogram *tree,
                                               int64_t clusters, const char *path);
/* .npz with linkage (N-1, 4) as scipy's, delta and log_evidence (N-1) and, where
 * leaves are groups, leaves (one a row); where rows were left out, rows: those that were not.
 * Ids of leaves that are rows are in its meta, those of the rows of groups in row_ids. Files of others with a right linkage are read, too. */
VEM_API vem_status vem_dendrogram_write(vem_ctx *ctx, const vem_dendrogram *tree,
                                        const char *path);
/* Reads such a file. */
VEM_API vem_status vem_dendrogram_read(vem_ctx *ctx, const char *path,
                                       vem_dendrogram **tree);
/* Newick text, branches as long as heights differ. `names`: one for each leaf, or
 * NULL: their ids, or where they have none their numbers, from 0. */
VEM_API vem_status vem_dendrogram_write_newick(vem_ctx *ctx, const vem_dendrogram *tree,
                                               const char *const *names,
                                               const char *path);
/* An hclust of R: by the ending, text for R's dget() (.R), or merge, height, order and
 * labels as .json. */
VEM_API vem_status vem_dendrogram_write_r(vem_ctx *ctx, const vem_dendrogram *tree,
                                          const char *const *names, const char *path);
/* A picture (.svg), the clusters of a cut in colors (0: none). Of large trees the
 * upper part, with the numbers of leaves below. */
VEM_API vem_status vem_dendrogram_draw(vem_ctx *ctx, const vem_dendrogram *tree,
                                       const char *const *names, int64_t clusters,
                                       const char *path);

/* How well a tree keeps known classes together: the mean share of their class in the
 * smallest subtree that holds both of two rows of one class. */
typedef struct vem_dendrogram_agreement {
    size_t size;  /* sizeof(vem_dendrogram_agreement) */
    double pairs; /* over all pairs of rows of one class; NAN: there is none */
    double rows;  /* over all rows, and then their class-mates (Heller and Ghahramani) */
    double pair_count; /* how many pairs there are */
} vem_dendrogram_agreement;
/* Classes of all rows, any integers. */
VEM_API vem_status vem_dendrogram_purity(vem_ctx *ctx, const vem_dendrogram *tree,
                                         const int64_t *classes, int64_t n,
                                         vem_dendrogram_agreement *result);

#ifdef __cplusplus
}
#endif

#endif
